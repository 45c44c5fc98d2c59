"""Kinds that the switch calls by address: a kind's functions made into one routine, compiled when a model first has the kind.

A routine gets the record, the body's index and a number: twice the row for X_FM, plus 1 for the velocity step. At positions
it stores X_FM and the kind's own hinge columns, at velocities their rate; a kind with an N of its own (`Facts.has_matrix_n`)
stores this and its inverse at positions, NDot at velocities. It knows nothing of directions: the switch turns what it
stored round. What it returns is of no account.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._jit import Routine, generic, routine
from ._access import STORE_COLUMNS, VECTORS, store_transform

#: The `kind` of all mobilizers that are called by address.
BY_ADDRESS = -1


def by_address(
    transform: Callable[..., Any],
    hinge: Callable[..., Any],
    hinge_dot: Callable[..., Any] | None = None,
    *,
    num_q: int,
    num_u: int,
    num_parameters: int = 0,
) -> Routine:
    """The routine of a kind with q_dot = u: ``transform(q)``, ``hinge(q)`` and ``hinge_dot(q, u)``.

    A kind with parameters takes them as a last tuple: ``transform(q, p)``, ``hinge(q, p)``, ``hinge_dot(q, u, p)``.
    """
    load_q, load_u, load_p = VECTORS[num_q], VECTORS[num_u], VECTORS[num_parameters]
    store_columns = STORE_COLUMNS[num_u]
    with_p = num_parameters > 0
    X, H = transform if with_p else _of_q(transform), hinge if with_p else _of_q(hinge)
    HDot = _leave if hinge_dot is None else _storing(hinge_dot if with_p else _of_q_and_u(hinge_dot), load_u, store_columns)

    def kinematics(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        q, p = load_q(model.q, i), load_p(model.parameters, model.first_parameter[b])
        if what % 2 == 0:
            store_transform(model, what // 2, X(q, p))
            store_columns(own_columns(model, b), k, H(q, p))
        else:
            HDot(model, b, q, k, p)
        return 0

    kinematics.__module__, kinematics.__qualname__ = transform.__module__, "kinematics"  # the name of its file in the cache
    return routine(kinematics)


@generic
def own_columns(model: Any, b: int) -> Any:
    """Where the kind's own hinge columns go: those of F in M if the mobilizer is reversed."""
    columns = model.H_FM
    if model.reversed[b] == 1:
        columns = model.H_MF
    return columns


@generic
def own_columns_dot(model: Any, b: int) -> Any:
    """Where their rates go."""
    columns = model.HDot_FM
    if model.reversed[b] == 1:
        columns = model.HDot_MF
    return columns


def _of_q(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def of_q_and_p(q: Any, p: Any) -> Any:
        return function(q)

    return of_q_and_p


def _of_q_and_u(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def of_q_u_and_p(q: Any, u: Any, p: Any) -> Any:
        return function(q, u)

    return of_q_u_and_p


def _storing(
    hinge_dot: Callable[..., Any], load_u: Callable[..., Any], store_columns: Callable[..., Any]
) -> Callable[..., Any]:
    @generic
    def store_hinge_dot(model: Any, b: int, q: Any, k: int, p: Any) -> None:
        store_columns(own_columns_dot(model, b), k, hinge_dot(q, load_u(model.u, k), p))

    return store_hinge_dot


@generic
def _leave(model: Any, b: int, q: Any, k: int, p: Any) -> None:
    """The rate of constant columns, which the record has had as zero from its beginning."""
