"""A reversed mobilizer is its kind's own, turned round: of F in M as the kind wrote it, to M in F as the sweeps want it.

One routine for all kinds, compiled when a model first has a reversed mobilizer, and called by address.
"""

from typing import Any

from .._jit import generic, routine
from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, store3, store9
from ..algebra.scalar import load, zero
from ._access import load_column, store_column


@routine
def turn_round(model: Any, b: int, what: int) -> int:
    """Turn round what the kind stored for body b; *what* is as of a kind's routine, see `_by_address`."""
    if what % 2 == 0:
        _turn_position(model, b, what // 2)
    else:
        _turn_velocity(model, b, what // 2)
    return 0


@generic
def _turn_position(model: Any, b: int, row: int) -> None:
    """Turn the kind's own X_MF and H_MF (F in M, expressed in M) round, in place.

    R_FM = R_MF^T, p_FM = -R_FM p_MF, w_FM = -R_FM w_MF, v_FM = R_FM (w_MF x p_MF - v_MF), column by column.
    """
    R = mat33.transpose(load9(model.R_FM, row, 0))
    p = load3(model.p_FM, row, 0)
    store9(model.R_FM, row, 0, R)
    store3(model.p_FM, row, 0, vec3.neg(mat33.mul_vec(R, p)))
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        w, v = load_column(model.H_MF, i)
        turned = vec3.neg(mat33.mul_vec(R, w)), mat33.mul_vec(R, vec3.sub(vec3.cross(w, p), v))
        store_column(model.H_FM, i, turned)


@generic
def _turn_velocity(model: Any, b: int, row: int) -> None:
    """Turn HDot_MF u round: the derivative in F of what `_turn_position` wrote, each column times its speed.

    With w, v the new columns and w_FM, v_FM their sums over u: w' = w_FM x w - R wdot_MF, of which w_FM x w_FM is nothing, and
    v' = w_FM x v + R (wdot_MF x p_MF + w_MF x v_MF(u) - vdot_MF).
    """
    R = load9(model.R_FM, row, 0)
    p = vec3.neg(mat33.transpose_mul_vec(R, load3(model.p_FM, row, 0)))  # p_MF, in M
    o = zero(p[0])
    w_FM, v_FM, w_MF, v_MF = (o, o, o), (o, o, o), (o, o, o), (o, o, o)
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        u = load(model.u, i, 0)
        w, v = load_column(model.H_FM, i)
        w_FM, v_FM = vec3.add_scaled(w_FM, u, w), vec3.add_scaled(v_FM, u, v)
        w, v = load_column(model.H_MF, i)
        w_MF, v_MF = vec3.add_scaled(w_MF, u, w), vec3.add_scaled(v_MF, u, v)
    w_dot, v_dot = load_column(model.bias_MF, b)
    bracket = vec3.sub(vec3.add(vec3.cross(w_dot, p), vec3.cross(w_MF, v_MF)), v_dot)
    linear = vec3.add(vec3.cross(w_FM, v_FM), mat33.mul_vec(R, bracket))
    store_column(model.bias_FM, b, (vec3.neg(mat33.mul_vec(R, w_dot)), linear))
