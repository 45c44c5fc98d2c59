"""Coordinates and speeds by a kind's own names: accessors of one q or u, or of a run of them, made of one declaration.

get_default_angle, set_default_angle, get_angle, set_angle = coordinate("angle", 0, "the angle about z", "angle")
get_rate, set_rate = speed("rate", 0, "the angular speed", "angle/time")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.parameters import ARRAYS, named
from ..state.state import State
from ..value.checks import number, shaped

E = TypeVar("E")


def coordinate(
    name: str, i: int, doc: str, unit: str, argument: str = ""
) -> tuple[Callable[[Any], float], Callable[[E, float], E], Callable[[Any, State], float], Callable[[Any, State, float], None]]:
    """``get_default_x(), set_default_x(v), get_x(state), set_x(state, v)`` of coordinate *i*."""

    def get_default(self: Any) -> Any:
        return float(self.default_q[i])

    def set_default(self: Any, value: Any) -> Any:
        return _with_default(self, slice(i, i + 1), number(f"{name} of {self.name!r}", value))

    def get(self: Any, state: State) -> Any:
        return self.get_one_q(state, i)

    def set_(self: Any, state: State, value: Any) -> None:
        if not state.put_q(self, value, i):
            self.set_one_q(state, i, number(f"{name} of {self.name!r}", value))

    return _four(name, argument or name, (get_default, set_default, get, set_), doc, unit, ("float", "float"))


def coordinates(
    name: str, first: int, n: int, doc: str, unit: str, argument: str = ""
) -> tuple[
    Callable[[Any], Array],
    Callable[[E, npt.ArrayLike], E],
    Callable[[Any, State], Array],
    Callable[[Any, State, npt.ArrayLike], None],
]:
    """The same of *n* coordinates, from *first* on."""
    part = slice(first, first + n)

    def get_default(self: Any) -> Any:
        return self.default_q[part].copy()

    def set_default(self: Any, value: Any) -> Any:
        return _with_default(self, part, shaped(f"{name} of {self.name!r}", value, (n,)))

    def get(self: Any, state: State) -> Any:
        return self.get_q_as_vector(state)[part]

    def set_(self: Any, state: State, value: Any) -> None:
        if not state.put_q(self, value, first, (n,), n):
            q = self.get_q_as_vector(state)
            q[part] = shaped(f"{name} of {self.name!r}", value, (n,))
            self.set_q(state, q)

    return _four(name, argument or name, (get_default, set_default, get, set_), f"{doc} ``({n},)``", unit, ARRAYS)


def speed(
    name: str, i: int, doc: str, unit: str, argument: str = "rate"
) -> tuple[Callable[[Any, State], float], Callable[[Any, State, float], None]]:
    """``get_x(state), set_x(state, v)`` of speed *i*."""

    def get(self: Any, state: State) -> Any:
        return self.get_one_u(state, i)

    def set_(self: Any, state: State, value: Any) -> None:
        if not state.put_u(self, value, i):
            self.set_one_u(state, i, number(f"{name} of {self.name!r}", value))

    return _two(name, argument, (get, set_), doc, unit, ("float", "float"), "POSITION")


def speeds(
    name: str, first: int, n: int, doc: str, unit: str, argument: str = "rates"
) -> tuple[Callable[[Any, State], Array], Callable[[Any, State, npt.ArrayLike], None]]:
    """The same of *n* speeds, from *first* on."""
    part = slice(first, first + n)

    def get(self: Any, state: State) -> Any:
        return self.get_u_as_vector(state)[part]

    def set_(self: Any, state: State, value: Any) -> None:
        if not state.put_u(self, value, first, (n,), n):
            u = self.get_u_as_vector(state)
            u[part] = shaped(f"{name} of {self.name!r}", value, (n,))
            self.set_u(state, u)

    return _two(name, argument, (get, set_), f"{doc} ``({n},)``", unit, ARRAYS, "POSITION")


def _with_default(body: Any, part: slice, values: Any) -> Any:
    q = body.default_q.copy()
    q[part] = values
    return body.set_default_q(q)


def _two(name: str, argument: str, made: Any, doc: str, unit: str, types: tuple[str, str], falls: str) -> Any:
    get, set_ = made
    said = f"Set {doc}; {unit}. The state falls to {falls} at most. NaN is found when it is realized."
    return (
        named(
            get, f"get_{name}", "", {"state": "State", "return": types[0]}, f"{doc[:1].upper()}{doc[1:]}; {unit}. Needs MODEL."
        ),
        named(set_, f"set_{name}", argument, {"state": "State", argument: types[1], "return": "None"}, said),
    )


def _four(name: str, argument: str, made: Any, doc: str, unit: str, types: tuple[str, str]) -> Any:
    said = f"{doc[:1].upper()}{doc[1:]}; {unit}. In a default state."
    changed = f"Change {doc}, in a default state; {unit}. A topological change. Returns the mobilized body."
    return (
        named(made[0], f"get_default_{name}", "", {"return": types[0]}, said),
        named(made[1], f"set_default_{name}", argument, {argument: types[1], "return": "Self"}, changed),
        *_two(name, argument, made[2:], doc, unit, types, "TIME"),
    )
