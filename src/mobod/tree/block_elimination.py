"""Block elimination of spherical and free joints, about M's origin: three or six mobilities at once.

A joint that leaves all rotations about M's origin free (Ball, Gimbal) transmits no torque there but the applied one. With the
articulated-body inertia P = [J F; F^T M] about M's origin, in Ground, and K = J^-1 F, the recursion of `acceleration` is

    P+ = [0 0; 0 M - F^T K]       Z+ = (tau; z_v + K^T (tau - z_w))       w' = J^-1 (tau - z_w) - K v'

with Z = (z_w; z_v), tau the applied torque, and w' the angular part of A', which does not depend on the parent's.

The hinge columns, H = [W 0; L V] about M's origin, come in at both ends only: f = H^T (tau; s) gives s = V f_v and
tau = W^-T (f_w - L^T s); and udot_w = W^-1 (w' - w'_P), udot_v = V^T (v' - v'_P - L udot_w). V is a rotation. Three mobilities
have no V, and L = 0. Where W is singular only udot is; forces and accelerations of other bodies are not. With six mobilities
the linear part M - F^T K is eliminated likewise, and only applied forces reach the parent.

Of the body's rows of `gain` the first has J^-1, the next two K, the fourth (M - F^T K)^-1; its `own_u_dot` has
J^-1 (tau - z_w), then v'. Derived from Featherstone 2008, section 7. This K is not Jain's.
"""

from typing import Any

from ..algebra import articulated, mat33, sym33, vec3
from ..algebra.memory import load3, load6, store3, store6
from ..algebra.scalar import store, where, zero
from ..compiling import generic
from ..mobilizer.access import put3, vector3
from ..state.fields import Record

# Values of the field `elimination`: how an articulated inertia is freed of a mobilizer's mobilities. All but NONE are odd:
# what a body's own has in common with ONE_BY_ONE, bit by bit, is ONE_BY_ONE: always right, and shared by states that differ.
#: Not at all: udot is prescribed, see `prescribed_mobilities`.
NONE = 0
#: One by one, see `algebra.articulated.eliminate`.
ONE_BY_ONE = 1
#: As a block, this and all that follow: three rotations about the axes of F, W = R_GF, as a Ball has.
BALL = 3
#: Six, about the axes of F and along them, L = 0, as a Free has.
FREE = 5
#: Three rotations about M's origin, about any axes.
GENERAL_BALL = 7
#: Six: three that turn M about any axes and may move its origin, then three that only move its origin.
GENERAL_FREE = 9

#: Three unit axes with a determinant below this are taken for dependent: some tens of roundings.
DEPENDENT = 1e-14


@generic
def axes(model: Record, i: int) -> Any:
    """W^T: its columns are the angular parts of columns i to i + 2 of H."""
    x, y, z = load3(model.H, i, 0), load3(model.H, i + 1, 0), load3(model.H, i + 2, 0)
    return *x, *y, *z


@generic
def inverse_axes(model: Record, b: int) -> Any:
    """W^-1, which is W^T where the axes are those of F; infinite where they are dependent."""
    W_inverse = axes(model, model.first_u[b])
    if model.elimination[b] >= GENERAL_BALL:
        W_inverse = _inverse_of_rows(W_inverse)
    return W_inverse


@generic
def _inverse_of_rows(A: Any) -> Any:
    """The inverse of A^T."""
    x, y, z = (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])
    yz, zx, xy = vec3.cross(y, z), vec3.cross(z, x), vec3.cross(x, y)
    d = vec3.dot(x, yz)
    d_inverse = 1.0 / where(d * d > DEPENDENT * DEPENDENT, d, zero(d))
    return *vec3.scale(d_inverse, yz), *vec3.scale(d_inverse, zx), *vec3.scale(d_inverse, xy)


@generic
def _linear_axes(model: Record, i: int) -> Any:
    """V^T: its columns are the linear parts of columns i + 3 to i + 5 of H."""
    x, y, z = load3(model.H, i + 3, 3), load3(model.H, i + 4, 3), load3(model.H, i + 5, 3)
    return *x, *y, *z


@generic
def _sliding(model: Record, b: int) -> Any:
    """L^T: linear parts of the first three columns, taken at M's origin."""
    i, r = model.first_u[b], load3(model.p_BM_G, b, 0)
    x = vec3.sub(load3(model.H, i, 3), vec3.cross(r, load3(model.H, i, 0)))
    y = vec3.sub(load3(model.H, i + 1, 3), vec3.cross(r, load3(model.H, i + 1, 0)))
    z = vec3.sub(load3(model.H, i + 2, 3), vec3.cross(r, load3(model.H, i + 2, 0)))
    return *x, *y, *z


@generic
def eliminate(model: Record, b: int, J: Any, F: Any, M: Any) -> Any:
    """Eliminate the mobilities of body b from P = (J, F, M) about its origin; the M of P+ = [0 0; 0 M] about M's origin."""
    i = model.first_u[b]
    if model.plain_outboard[b] == 0:
        J, F, M = articulated.shift(J, F, M, vec3.neg(load3(model.p_BM_G, b, 0)))
    M, J_inverse, K, d_inverse = articulated.eliminate_rotations(J, F, M)
    store6(model.gain, i, 0, J_inverse)
    store6(model.gain, i + 1, 0, (K[0], K[1], K[2], K[3], K[4], K[5]))
    store3(model.gain, i + 2, 0, (K[6], K[7], K[8]))
    store(model.d_inverse, i + 2, 0, d_inverse)
    if model.num_u[b] == 6:
        M_inverse, d_inverse = sym33.inverse(M)
        store6(model.gain, i + 3, 0, M_inverse)
        store(model.d_inverse, i + 5, 0, d_inverse)
    return M


@generic
def _load_K(model: Record, i: int) -> Any:
    a, b, c, d, e, f = load6(model.gain, i + 1, 0)
    g, h, k = load3(model.gain, i + 2, 0)
    return a, b, c, d, e, f, g, h, k


@generic
def torque_and_force(model: Record, b: int, f_w: Any, f_v: Any) -> Any:
    """(tau; s) of forces on the mobilities; s is not used where these are three."""
    force = f_v
    if model.num_u[b] == 6:
        force = mat33.transpose_mul_vec(_linear_axes(model, model.first_u[b]), f_v)
        if model.elimination[b] == GENERAL_FREE:
            f_w = vec3.sub(f_w, mat33.mul_vec(_sliding(model, b), force))
    return mat33.transpose_mul_vec(inverse_axes(model, b), f_w), force


@generic
def absorb_torque(model: Record, b: int, tau: Any, force: Any, zw: Any, zv: Any) -> Any:
    """`own_u_dot` in two threes, the second of six mobilities only, and Z+, from (tau; s) and Z = (zw; zv)."""
    _, _, own_w, own_v, zw, zv = absorb_with_rests(model, b, tau, force, zw, zv)
    return own_w, own_v, zw, zv


@generic
def absorb_with_rests(model: Record, b: int, tau: Any, force: Any, zw: Any, zv: Any) -> Any:
    """The same, after the torque and the force left over, tau - z_w and s - z_v'."""
    i = model.first_u[b]
    r = load3(model.p_BM_G, b, 0)
    rest = vec3.sub(tau, vec3.sub(zw, vec3.cross(r, zv)))
    own_w = sym33.mul_vec(load6(model.gain, i, 0), rest)
    zv = vec3.add(zv, mat33.transpose_mul_vec(_load_K(model, i), rest))
    own_v, rest_v = zv, zv
    if model.num_u[b] == 6:
        rest_v = vec3.sub(force, zv)
        own_v = sym33.mul_vec(load6(model.gain, i + 3, 0), rest_v)
        zv = force
    return rest, rest_v, own_w, own_v, vec3.add(tau, vec3.cross(r, zv)), zv


@generic
def release_own(model: Record, b: int, own_w: Any, own_v: Any, w: Any, v: Any) -> Any:
    """udot in two threes, the second of six mobilities only, and A', from `own_u_dot` and phi^T A'_P = (w; v)."""
    i = model.first_u[b]
    r = load3(model.p_BM_G, b, 0)
    v = vec3.add(v, vec3.cross(w, r))
    v_own = v
    if model.num_u[b] == 6:
        v_own = own_v
    w_own = vec3.sub(own_w, mat33.mul_vec(_load_K(model, i), v_own))
    udot_w, udot_v = mat33.mul_vec(inverse_axes(model, b), vec3.sub(w_own, w)), v_own
    if model.num_u[b] == 6:
        v = vec3.sub(v_own, v)
        if model.elimination[b] == GENERAL_FREE:
            v = vec3.sub(v, mat33.transpose_mul_vec(_sliding(model, b), udot_w))
        udot_v = mat33.mul_vec(_linear_axes(model, i), v)
    return udot_w, udot_v, w_own, vec3.add(v_own, vec3.cross(r, w_own))


@generic
def absorb(model: Record, b: int, f: Any, zw: Any, zv: Any) -> Any:
    """`acceleration.absorb` for a block."""
    i = model.first_u[b]
    f_v = zv
    if model.num_u[b] == 6:
        f_v = vector3(f, i + 3)
    tau, force = torque_and_force(model, b, vector3(f, i), f_v)
    own_w, own_v, zw, zv = absorb_torque(model, b, tau, force, zw, zv)
    put3(model.own_u_dot, i, own_w)
    if model.num_u[b] == 6:
        put3(model.own_u_dot, i + 3, own_v)
    return zw, zv


@generic
def release(model: Record, b: int, w: Any, v: Any, udot: Any) -> Any:
    """`acceleration.release` for a block."""
    i = model.first_u[b]
    own_v = v
    if model.num_u[b] == 6:
        own_v = vector3(model.own_u_dot, i + 3)
    udot_w, udot_v, w, v = release_own(model, b, vector3(model.own_u_dot, i), own_v, w, v)
    put3(udot, i, udot_w)
    if model.num_u[b] == 6:
        put3(udot, i + 3, udot_v)
    return w, v


def first_dependent(W: Any) -> int:
    """The first of three axes (3, 3), one a row, that depends on those before it; -1 if none does."""
    (x, y, z) = W
    if abs(vec3.dot(x, vec3.cross(y, z))) > DEPENDENT:
        return -1
    return 1 if vec3.dot(vec3.cross(x, y), vec3.cross(x, y)) <= DEPENDENT**2 else 2
