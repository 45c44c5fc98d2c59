"""Kinds called by address: a kind's functions made into one routine, compiled when a model first has the kind.

A routine gets the record, the body's index and a number: twice the row for X_FM, plus 1 for the velocity step. At positions
it stores X_FM and the kind's own hinge columns, at velocities the bias HDot u: the columns' rates, taken and expressed in F,
each times its speed. A kind with an N of its own (`Facts.has_matrix_n`) stores this and its inverse at positions, NDot at
velocities. A routine ignores the mobilizer's direction: `dispatch` reverses what it stored. Its return value is unused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..algebra import vec3
from ..algebra.scalar import load, zero
from ..compiling import Routine, generic
from ..function.users import routine_of_kind
from .access import LOAD_COLUMNS, STORE_COLUMNS, VECTORS, asks_positions, load_column, row_of, store_column, store_transform

#: The `kind` of all mobilizers that are called by address.
BY_ADDRESS = -1


def by_address(
    transform: Callable[..., Any],
    hinge: Callable[..., Any],
    bias: Callable[..., Any] | None = None,
    *,
    num_q: int,
    num_u: int,
    num_parameters: int = 0,
) -> Routine:
    """The routine of a kind with q_dot = u: ``transform(q)``, ``hinge(q)``, and HDot u as ``bias(q, u, H)``, (angular, linear).

    H are the columns that ``hinge`` gave, so that their sines need not be computed again; without a bias they are constant.
    A kind with parameters takes them as a last tuple: ``transform(q, p)``, ``hinge(q, p)``, ``bias(q, u, H, p)``.
    """
    counts = num_q, num_u, num_parameters
    return routine_of_kind(partial(_kernel, counts), transform, hinge, bias, shape=counts)


def _kernel(
    counts: tuple[int, int, int], transform: Callable[..., Any], hinge: Callable[..., Any], bias: Callable[..., Any] | None
) -> Callable[..., int]:
    num_q, num_u, num_parameters = counts
    load_q, load_u, load_p = VECTORS[num_q], VECTORS[num_u], VECTORS[num_parameters]
    store_columns = STORE_COLUMNS[num_u]
    with_p = num_parameters > 0
    X, H = transform if with_p else _of_q(transform), hinge if with_p else _of_q(hinge)
    keep = _leave if bias is None else _keeping(bias if with_p else _of_q_u_and_columns(bias), load_u, LOAD_COLUMNS[num_u])

    def kinematics(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        q, p = load_q(model.q, i), load_p(model.parameters, model.first_parameter[b])
        if asks_positions(what):
            store_transform(model, row_of(what), X(q, p))
            store_columns(own_columns(model, b), k, H(q, p))
        else:
            keep(model, b, q, k, p)
        return 0

    return kinematics


@generic
def own_columns(model: Any, b: int) -> Any:
    """The field of the kind's own hinge columns: those of F in M if the mobilizer is reversed."""
    columns = model.H_FM
    if model.reversed[b] == 1:
        columns = model.H_MF
    return columns


@generic
def own_columns_dot(model: Any, b: int) -> Any:
    """The field of these columns' rates, one by one, for kinds made of users' functions: `check_custom` reads them."""
    columns = model.HDot_FM
    if model.reversed[b] == 1:
        columns = model.HDot_MF
    return columns


@generic
def own_bias(model: Any, b: int) -> Any:
    """Where, in row b, the kind's own HDot u goes."""
    rows = model.bias_FM
    if model.reversed[b] == 1:
        rows = model.bias_MF
    return rows


@generic
def keep_bias(model: Any, b: int) -> None:
    """Store HDot u of body b, the rates of whose own columns are in the record one by one."""
    rates, first = own_columns_dot(model, b), model.first_u[b]
    o = zero(load(model.V_GB, 0, 0))
    w, v = (o, o, o), (o, o, o)
    for i in range(first, first + model.num_u[b]):
        u = load(model.u, i, 0)
        w_dot, v_dot = load_column(rates, i)
        w, v = vec3.add_scaled(w, u, w_dot), vec3.add_scaled(v, u, v_dot)
    store_column(own_bias(model, b), b, (w, v))


def _of_q(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def of_q_and_p(q: Any, p: Any) -> Any:
        return function(q)

    return of_q_and_p


def _of_q_u_and_columns(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def of_all_and_p(q: Any, u: Any, H: Any, p: Any) -> Any:
        return function(q, u, H)

    return of_all_and_p


def _keeping(bias: Callable[..., Any], load_u: Callable[..., Any], load_columns: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def keep(model: Any, b: int, q: Any, k: int, p: Any) -> None:
        store_column(own_bias(model, b), b, bias(q, load_u(model.u, k), load_columns(own_columns(model, b), k), p))

    return keep


@generic
def _leave(model: Any, b: int, q: Any, k: int, p: Any) -> None:
    """Constant columns have no bias: the record's is zero from the start."""
