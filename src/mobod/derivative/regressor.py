"""The regressor of the inertial parameters: inverse dynamics is linear in masses, first moments and inertias. Needs velocities.

    torque = I alpha + w x I w + (m c) x a        force = m a + alpha x (m c) + w x (w x (m c))

of a body about its origin, a less gravity, is a matrix times (m, m c, I), both in the body's frame; J^T of each column, along
the body's path to Ground, is a column of the regressor. Source: Atkeson, An and Hollerbach 1986.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial
from ..algebra.record import attach
from ..algebra.scalar import store, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from .sweep import gravity_on


@generic
def _put(model: Record, b: int, column: int, torque: Any, force: Any, Y: Any) -> None:
    """J^T of a force on body b into a column."""
    r = load3(model.p_GB, b, 0)
    at = b
    while at > 0:
        lever = vec3.sub(r, load3(model.p_GB, at, 0))
        about = vec3.add(torque, vec3.cross(lever, force))
        for i in range(model.first_u[at], model.first_u[at] + model.num_u[at]):
            store(Y, i, column, vec3.dot(load3(model.H, i, 0), about) + vec3.dot(load3(model.H, i, 3), force))
        at = model.parent[at]


@generic
def _put_moment(model: Record, b: int, column: int, c: Any, w: Any, alpha: Any, a: Any, Y: Any) -> None:
    """The column of a first moment c."""
    force = vec3.add(vec3.cross(alpha, c), vec3.cross(w, vec3.cross(w, c)))
    _put(model, b, column, vec3.cross(c, a), force, Y)


@generic
def _put_inertia(model: Record, b: int, column: int, R: Any, Ea: Any, w: Any, Ew: Any, Y: Any) -> None:
    """The column of an inertia E, from E alpha and E w in the body's frame."""
    o = zero(w[0])
    _put(model, b, column, mat33.mul_vec(R, vec3.add(Ea, vec3.cross(w, Ew))), (o, o, o), Y)


@compiled
def calc_regressor(block: Any, A: Any, Y: Any) -> None:
    """`fill`, of one state."""
    fill(attach(block), A, Y)


@generic
def fill(model: Record, A: Any, Y: Any) -> None:
    """Columns of all bodies but Ground, ten each, at accelerations *A* of the bodies; *Y* is zero before."""
    for b in range(1, model.nb):
        w = load3(model.V_GB, b, 0)
        alpha, a = load_spatial(A, b)
        a = vec3.sub(a, gravity_on(model, b))
        R = load9(model.R_GB, b, 0)
        o = zero(w[0])
        first = 10 * (b - 1)
        _put(model, b, first, (o, o, o), a, Y)
        _put_moment(model, b, first + 1, (R[0], R[3], R[6]), w, alpha, a, Y)
        _put_moment(model, b, first + 2, (R[1], R[4], R[7]), w, alpha, a, Y)
        _put_moment(model, b, first + 3, (R[2], R[5], R[8]), w, alpha, a, Y)
        x, e = mat33.transpose_mul_vec(R, alpha), mat33.transpose_mul_vec(R, w)
        _put_inertia(model, b, first + 4, R, (x[0], o, o), e, (e[0], o, o), Y)
        _put_inertia(model, b, first + 5, R, (o, x[1], o), e, (o, e[1], o), Y)
        _put_inertia(model, b, first + 6, R, (o, o, x[2]), e, (o, o, e[2]), Y)
        _put_inertia(model, b, first + 7, R, (x[1], x[0], o), e, (e[1], e[0], o), Y)
        _put_inertia(model, b, first + 8, R, (x[2], o, x[0]), e, (e[2], o, e[0]), Y)
        _put_inertia(model, b, first + 9, R, (o, x[2], x[1]), e, (o, e[2], e[1]), Y)
