"""Operations of measures in kernels: called by address, compiled when a model first has the kind. `program` lists them.

An operation gets the record, the place of its integers in `measure_code`, and where its result goes in `measure_values`. Its
integers give the places of its numbers in `measure_numbers` and of other operations' results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.scalar import load, zero
from ..compiling import Routine, generic
from ..function.users import routine_of_kind


def by_address(operate: Callable[..., None]) -> Routine:
    """The routine of ``operate(model, i, out)``, which may stand in any file."""
    return routine_of_kind(_operation, operate)


def _operation(operate: Callable[..., None]) -> Callable[..., int]:
    def operation(model: Any, i: int, out: int) -> int:
        operate(model, i, out)
        return 0

    return operation


@generic
def number(model: Any, x: int) -> Any:
    """A number of the list's, as the record's scalar."""
    return load(model.measure_numbers, x, 0) + zero(load(model.time, 0, 0))


@generic
def result(model: Any, place: int) -> Any:
    """A result of an earlier operation."""
    return load(model.measure_values, place, 0)
