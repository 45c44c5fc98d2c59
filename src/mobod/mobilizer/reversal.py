"""Reversed mobilizers: from the kind's kinematics of F in M to those of M in F, which the sweeps use.

One routine for all kinds, compiled when a model first has a reversed mobilizer, and called by address.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, store3, store9
from ..algebra.scalar import load, zero
from ..compiling import generic, routine
from .access import asks_positions, load_column, row_of, store_column


@routine
def turn_round(model: Any, b: int, what: int) -> int:
    """Reverse the kinematics that the kind stored for body b; *what* is that of a kind's routine, see `routine`."""
    if asks_positions(what):
        _turn_position(model, b, row_of(what))
    else:
        _turn_velocity(model, b, row_of(what))
    return 0


@generic
def _turn_position(model: Any, b: int, row: int) -> None:
    """Replace the kind's X_MF and H_MF (F in M, expressed in M) by X_FM and H_FM.

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
    """Replace HDot_MF u by HDot_FM u: the derivative in F of the columns of `_turn_position`, each times its speed.

    With w, v the new columns and w_FM, v_FM their sums over u: w' = w_FM x w - R wdot_MF, where w_FM x w_FM = 0, and
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
