"""Witnesses in kernels: a kind's value and rate after each step, by address, compiled when a simulation first watches the kind.

What `Witness.pack` gives begins in `witness_integers` at i and in `witness_numbers` at n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial
from ..algebra.scalar import load, store
from ..compiling import Routine, generic
from ..function.users import routine_of_kind


def by_address(look: Callable[..., Any]) -> Routine:
    """The routine of ``look(model, i, n) -> (value, rate)`` of a record that is realized; it may stand in any file."""
    return routine_of_kind(_witness, look)


def _witness(look: Callable[..., Any]) -> Callable[..., int]:
    def witness(model: Any, i: int, n: int) -> int:
        value, rate = look(model, i, n)
        store(model.witness_values, 0, 0, value)
        store(model.witness_values, 0, 1, rate)
        return 0

    return witness


@generic
def number(model: Any, n: int) -> Any:
    """One number."""
    return load(model.witness_numbers, n, 0)


@generic
def vector(model: Any, n: int) -> Any:
    """Three numbers."""
    return number(model, n), number(model, n + 1), number(model, n + 2)


@generic
def station(model: Any, b: int, s: Any) -> Any:
    """Location and velocity in Ground of the point *s* of body b."""
    r = mat33.mul_vec(load9(model.R_GB, b, 0), s)
    w, v = load_spatial(model.V_GB, b)
    return vec3.add(load3(model.p_GB, b, 0), r), vec3.add(v, vec3.cross(w, r))
