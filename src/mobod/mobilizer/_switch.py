"""From a mobilizer's kind to its code: a branch for the kinds that nearly all mechanisms are made of, a call for the others.

A branch loads q as scalars, calls the functions of the kind's file and stores what they return. Kinds whose hinge columns
are constant in F have no branch for them: `Tree` writes them once. Every further branch costs all users compile time, so
the other kinds are routines of their own, which are compiled when a model first has one, and called by address: `_by_address`.
A reversed mobilizer is its kind's own, turned round.
"""

from typing import Any

from .._jit import generic
from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, store3, store9
from ..algebra.record import call_routine
from ..algebra.scalar import load, zero
from . import ball, free, pin, planar, slider, translation, universal
from ._access import load_column, q1, q2, store_column, store_transform, vector3, vector4
from ._by_address import BY_ADDRESS


@generic
def position(model: Any, b: int, row: int) -> None:
    """Store X_FM of body b in *row*, and H_FM where it depends on q."""
    kind, i, columns = model.kind[b], model.first_q[b], model.H_FM
    if model.reversed[b] == 1:
        columns = model.H_MF
    if kind == pin.KIND:
        store_transform(model, row, pin.transform(q1(model, b)))
    elif kind == slider.KIND:
        store_transform(model, row, slider.transform(q1(model, b)))
    elif kind == universal.KIND:
        q = q2(model, b)
        store_transform(model, row, universal.transform(q))
        first, second = universal.hinge(q)
        store_column(columns, model.first_u[b], first)
        store_column(columns, model.first_u[b] + 1, second)
    elif kind == planar.KIND:
        store_transform(model, row, planar.transform(vector3(model.q, i)))
    elif kind == translation.KIND:
        store_transform(model, row, translation.transform(vector3(model.q, i)))
    elif kind == ball.KIND:
        store_transform(model, row, ball.transform(vector4(model.q, i)))
    elif kind == ball.KIND_EULER:
        store_transform(model, row, ball.transform_euler(vector3(model.q, i)))
    elif kind == free.KIND:
        store_transform(model, row, free.transform(vector4(model.q, i), vector3(model.q, i + 4)))
    elif kind == free.KIND_EULER:
        store_transform(model, row, free.transform_euler(vector3(model.q, i), vector3(model.q, i + 3)))
    elif kind == BY_ADDRESS:
        call_routine(model.kinematics[b], model, b, 2 * row)
    if model.reversed[b] == 1:
        _reverse_position(model, b, row)


@generic
def velocity(model: Any, b: int, row: int) -> None:
    """Store HDot_FM of body b, of which X_FM (in *row*) and H_FM are there; called only where it can differ from zero."""
    kind, k, columns = model.kind[b], model.first_u[b], model.HDot_FM
    if model.reversed[b] == 1:
        columns = model.HDot_MF
    if kind == universal.KIND:
        first, second = universal.hinge_dot(q2(model, b), (load(model.u, k, 0), load(model.u, k + 1, 0)))
        store_column(columns, k, first)
        store_column(columns, k + 1, second)
    elif kind == BY_ADDRESS:
        call_routine(model.kinematics[b], model, b, 2 * row + 1)
    if model.reversed[b] == 1:
        _reverse_velocity(model, b, row)


@generic
def _reverse_position(model: Any, b: int, row: int) -> None:
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
def _reverse_velocity(model: Any, b: int, row: int) -> None:
    """Turn HDot_MF round, in place: the derivative in F of what `_reverse_position` wrote.

    With w, v the new columns and w_FM their sum over u: w' = w_FM x w - R wdot_MF,
    v' = w_FM x v + R (wdot_MF x p_MF + w_MF x v_MF(u) - vdot_MF).
    """
    R = load9(model.R_FM, row, 0)
    p = vec3.neg(mat33.transpose_mul_vec(R, load3(model.p_FM, row, 0)))  # p_MF, in M
    o = zero(p[0])
    omega, p_dot = (o, o, o), (o, o, o)
    first, end = model.first_u[b], model.first_u[b] + model.num_u[b]
    for i in range(first, end):
        u = load(model.u, i, 0)
        omega = vec3.add_scaled(omega, u, load3(model.H_FM, i, 0))
        p_dot = vec3.add_scaled(p_dot, u, load3(model.H_MF, i, 3))
    for i in range(first, end):
        w_MF = load3(model.H_MF, i, 0)
        w, v = load_column(model.H_FM, i)
        w_dot, v_dot = load_column(model.HDot_MF, i)
        angular = vec3.sub(vec3.cross(omega, w), mat33.mul_vec(R, w_dot))
        bracket = vec3.sub(vec3.add(vec3.cross(w_dot, p), vec3.cross(w_MF, p_dot)), v_dot)
        linear = vec3.add(vec3.cross(omega, v), mat33.mul_vec(R, bracket))
        store_column(model.HDot_FM, i, (angular, linear))
