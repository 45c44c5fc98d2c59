"""Kinds called by address whose first coordinates are the orientation of M in F, with hinge columns that depend on it.

Such a kind writes functions of R_FM and of *rest*, the coordinates after the orientation (an empty tuple where there are none):

    place(R, rest, p) -> p_FM      hinge(R, rest, p) -> columns of H_FM in F      bias(u, H, p) -> HDot_FM u in F

p is the tuple of its parameters, H the columns; a kind for which HDot_FM u is always zero has no bias. `by_orientation` makes
of them the functions of q that `Facts` takes, for quaternions and for angles, and one routine for both; the record says which
of the two the model uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..algebra import quaternion, rotation
from ..compiling import Routine, generic, routine
from .access import (
    LOAD_COLUMNS,
    STORE_COLUMNS,
    VECTORS,
    asks_positions,
    row_of,
    store_column,
    store_transform,
    vector3,
    vector4,
)
from .routine import own_bias, own_columns


class Oriented(NamedTuple):
    """Functions for a kind's `Facts`: ``Facts(BY_ADDRESS, ..., constant_hinge=False, **functions._asdict())``."""

    transform: Callable[..., Any]
    transform_euler: Callable[..., Any]
    hinge: Callable[..., Any]
    hinge_euler: Callable[..., Any]
    kinematics: Routine


def by_orientation(
    place: Callable[..., Any],
    hinge: Callable[..., Any],
    bias: Callable[..., Any] | None = None,
    *,
    num_u: int,
    num_rest: int = 0,
    num_parameters: int = 0,
) -> Oriented:
    """The functions of q and the routine of a kind that is written in terms of R_FM."""
    load_rest, load_u, load_p = VECTORS[num_rest], VECTORS[num_u], VECTORS[num_parameters]
    store_columns = STORE_COLUMNS[num_u]
    keep = _leave if bias is None else _keeping(bias, load_u, LOAD_COLUMNS[num_u])

    def kinematics(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p = load_p(model.parameters, model.first_parameter[b])
        if not asks_positions(what):
            keep(model, b, k, p)
            return 0
        if model.has_quaternion[b] == 1:
            R = quaternion.to_rotation(vector4(model.q, i))
            rest = load_rest(model.q, i + 4)
        else:
            x, y, z = vector3(model.q, i)
            R = rotation.body_fixed_xyz(x, y, z)
            rest = load_rest(model.q, i + 3)
        store_transform(model, row_of(what), (R, place(R, rest, p)))
        store_columns(own_columns(model, b), k, hinge(R, rest, p))
        return 0

    kinematics.__module__, kinematics.__qualname__ = place.__module__, "kinematics"  # the name of its file in the cache

    # these are for Python alone: `Facts` calls them with p where the kind has parameters
    def transform(q: Any, p: Any = ()) -> Any:
        R = quaternion.to_rotation(q[:4])
        return R, place(R, q[4:], p)

    def transform_euler(q: Any, p: Any = ()) -> Any:
        R = rotation.body_fixed_xyz(*q[:3])
        return R, place(R, q[3:], p)

    def hinge_of_q(q: Any, p: Any = ()) -> Any:
        return hinge(quaternion.to_rotation(q[:4]), q[4:], p)

    def hinge_of_angles(q: Any, p: Any = ()) -> Any:
        return hinge(rotation.body_fixed_xyz(*q[:3]), q[3:], p)

    return Oriented(transform, transform_euler, hinge_of_q, hinge_of_angles, routine(kinematics))


def _keeping(bias: Callable[..., Any], load_u: Callable[..., Any], load_columns: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def keep(model: Any, b: int, k: int, p: Any) -> None:
        store_column(own_bias(model, b), b, bias(load_u(model.u, k), load_columns(own_columns(model, b), k), p))

    return keep


@generic
def _leave(model: Any, b: int, k: int, p: Any) -> None:
    """No bias: the record's is zero from the start."""
