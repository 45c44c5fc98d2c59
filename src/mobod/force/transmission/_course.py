"""The course of a path, called like a function: by address, so that it is compiled once for all kinds of forces along paths.

Its integers and numbers are in the pools of functions, its stops in the scratch of functions, see `_stops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...algebra.scalar import store
from ...compiling import Routine, RoutineWithOneApart, generic
from ...function import routines
from ...function.base import FunctionKind
from ...function.users import routine_of_kind
from .. import one_coordinate
from ._geodesics import first_of_taut, tauten
from ._rounds import number_of_rows, wind, wind_one_or_eight
from ._stops import HEAD, LENGTH, STOPS, WIDTH, join_all, join_those_there, place_points
from ._taut import WIDE


def _course(follow: Callable[..., Any]) -> Callable[..., int]:
    def course(model: Any, f: int, what: int) -> int:
        follow(model, f)
        return 0

    return course


def _over_surfaces() -> Routine:
    whole = routine_of_kind(_course, wind).python

    def of_one(model: Any, f: int, beside: int) -> int:
        wind_one_or_eight(model, f, beside)
        return 0

    of_one.__module__, of_one.__qualname__ = whole.__module__, f"{whole.__qualname__}.of_one"
    return RoutineWithOneApart(whole, of_one)


@generic
def straight(model: Any, f: int) -> None:
    """A path over no surface."""
    i = model.function_first_integer[f]
    place_points(model, f)
    if model.function_integers[i + 2] == 1:
        join_those_there(model, model.function_integers[i])
    else:
        join_all(model, f)


@generic
def evaluate(model: Any, f: int) -> None:
    """A path whose length is a function, which has the number behind the course's."""
    i = model.function_first_integer[f] + HEAD
    n = model.function_integers[i]
    for k in range(n):
        j = i + 1 + 2 * k
        q = one_coordinate.value_of(model, model.function_integers[j], model.function_integers[j + 1])
        store(model.work_q, k, 0, q)
    store(model.function_value, LENGTH, 0, routines.value(model, f + 1, model.work_q, 0))
    for k in range(n):
        store(model.function_value, STOPS + k, 0, routines.gradient(model, f + 1, k))


class Course(FunctionKind):
    """The course of a path without surfaces; no function of any argument.

    Parameters
    ----------
    integers, numbers : list
        As `_stops` says.
    """

    routine = routine_of_kind(_course, straight)
    _names = ("integers", "numbers")
    _integers: list[int]
    _numbers: list[float]

    def __init__(self, integers: list[int], numbers: list[float]) -> None:
        self._keep(integers=integers, numbers=numbers)

    def get_argument_size(self) -> int:
        """Size of its scratch."""
        return STOPS + WIDTH * (self._integers[0] + 2 * self._integers[1])

    def get_max_derivative_order(self) -> int:
        """None."""
        return 0

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        raise NotImplementedError("a path's course is no function of numbers")

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return self._integers, self._numbers


class WrappingCourse(Course):
    """The course of a path over surfaces.

    Parameters
    ----------
    integers, numbers : list
        As `_stops` and `_rounds` say.
    """

    # `pack` is written beside each routine that it is for: one that is inherited may be another's (`holds_for`)
    routine = _over_surfaces()

    def get_argument_size(self) -> int:
        """Size of its scratch."""
        return number_of_rows(self._integers[0], self._integers[1])

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return self._integers, self._numbers


class TautCourse(WrappingCourse):
    """The course of a taut path over surfaces, along geodesics.

    Parameters
    ----------
    integers, numbers : list
        As `_stops` and `_geodesics` say.
    """

    routine = routine_of_kind(_course, tauten)

    def get_argument_size(self) -> int:
        """Size of its scratch."""
        n, m = self._integers[:2]
        return WIDE * (first_of_taut(n, m) + m)

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return self._integers, self._numbers


class FunctionCourse(Course):
    """No course: of a path whose length is a function of coordinates.

    Parameters
    ----------
    integers, numbers : list
        As `_stops` says; no numbers.
    """

    routine = routine_of_kind(_course, evaluate)

    def get_argument_size(self) -> int:
        """Size of its scratch."""
        return STOPS + self._integers[HEAD]

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return self._integers, self._numbers
