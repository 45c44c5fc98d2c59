"""Setters that take the values of many states at once: what `Ensemble.set_each` calls in place of a setter a state.

A declared parameter has this by its declaration. A setter that is written out says beside itself how a row a state becomes
numbers of the record:

    def numbers(element, template, values, present):
        return Rows([("force_numbers", slice(7, 9), values[:, :, None])])  # or None: then the setter is called for each state

    @of_each(numbers)
    def set_parameters(self, state, parameters): ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..algebra.arrays import Array
from ..value import rows
from ..value.stage import Stage
from .parameters import declared_by
from .state import State

F = TypeVar("F", bound=Callable[..., Any])
#: ``present(field, places)``: numbers of a field ``(rows, n)`` as the states have them now.
Present = Callable[[str, slice], Array]


class Rows(NamedTuple):
    """Values that a setter gives to many states."""

    #: Fields of the record, the rows of each, and the numbers ``(n, rows, columns)``.
    fields: list[tuple[str, Any, Array]]
    #: The first stage that the change invalidates.
    invalidates: Stage = Stage.INSTANCE
    #: A value such that what the setter then says may be left out of the sweeps may be left out for all the states.
    typical: Any = None
    #: By subsystem and index, what discrete variables become, a value a state.
    variables: Mapping[tuple[int, int], Sequence[Any]] = {}


def _call(setter: Any, state: State, value: Any) -> None:
    setter(state, value)


def of_each(
    make: Callable[[Any, State, Any, Present], Rows | None], *, alone: Callable[[Any, State, Any], None] = _call
) -> Callable[[F], F]:
    """Give a setter its form for arrays.

    Parameters
    ----------
    make : callable
        ``make(element, template, values, present)`` returns None where the setter has to be called for each state.
    alone : callable
        ``alone(setter, state, value)`` calls the setter with a row of such an array.
    """

    def declare(setter: F) -> F:
        vars(setter)["of_each"], vars(setter)["alone"] = make, alone
        return setter

    return declare


def caller_of(setter: Any) -> Callable[[Any, State, Any], None]:
    """The call of the setter with one of the values that `rows_of` takes."""
    return getattr(setter, "alone", _call)


def rows_of(setter: Any, template: State, values: Any, present: Present) -> Rows | None:
    """The rows that *setter* gives to many states, one of *values* each; None where it has to be called for each.

    Raises
    ------
    TypeError
        If it is an accessor that changes no state.
    """
    declared = declared_by(setter)
    if declared is not None:
        return _of_declared(*declared, template, values, present)
    make = getattr(setter, "of_each", None)
    return None if make is None else make(setter.__self__, template, values, present)


def _of_declared(element: Any, parameter: Any, template: State, values: Any, present: Present) -> Rows | None:
    """The numbers of a declared parameter."""
    field, first, count = element.number_place(template, f"set_{parameter.name}")
    check = getattr(parameter.check, "__wrapped__", parameter.check)
    if parameter.shape == (4, 4):
        values = rows.array_of_frames(values)
    array, in_rows = rows.as_array(values), rows.IN_ROWS.get(check)
    if array is None or in_rows is None:
        return None
    if array.shape[1:] != parameter.shape and parameter.shape != (4, 4):
        return None
    found = in_rows(array)
    if found is None:
        return None
    if parameter.is_alone_in(element) and parameter.in_a_run:  # the element's other numbers, of which it may have many, stay
        place = slice(first + parameter.first, first + parameter.end)
        return Rows([(field, place, found.reshape(len(found), -1)[:, :, None])], parameter.invalidates)
    numbers = _settled(element, parameter, present(field, slice(first, first + count)), found)
    return (
        None if numbers is None else Rows([(field, slice(first, first + count), numbers.T[:, :, None])], parameter.invalidates)
    )


def _settled(element: Any, parameter: Any, before: Array, found: Array) -> Array | None:
    """All numbers of an element ``(rows, n)`` with those of a parameter, and what follows; None where some are refused."""
    numbers = before.copy()
    try:
        parameter.put(numbers, found.T)
        if element.settle is not None:
            element.settle(repr(element.name), numbers)
        return numbers
    except Exception:  # one of them is refused, or this kind's rules are written for single numbers
        pass
    each = before.T.tolist()
    try:
        for row, value in zip(each, found, strict=True):
            parameter.put(row, value if parameter.shape else float(value))
            element.settle(repr(element.name), row)
    except Exception:
        return None
    return np.array(each).T


def numbers_at(field: str, first: int, values: Any, count: int, invalidates: Stage = Stage.INSTANCE) -> Rows | None:
    """A run of numbers of one column, from row *first* on; None unless there is a row of *count* finite ones a state."""
    array = rows.as_array(values)
    if array is None or array.shape[1:] != (count,) or not np.isfinite(array).all():
        return None
    return Rows([(field, slice(first, first + count), array[:, :, None])], invalidates)


def all_numbers(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    """All numbers of an element, a row a state."""
    field, first, count = element.number_place(template, "set_parameters")
    return numbers_at(field, first, values, count)
