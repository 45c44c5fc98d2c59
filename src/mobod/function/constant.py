"""Constant: the same everywhere.

f = value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._jit import generic
from ..algebra.scalar import load
from ..value import _checked
from .base import UNLIMITED, FunctionKind, count

KIND = 1


@generic
def value(numbers: Any, n: int) -> Any:
    """The number of the run that starts at n."""
    return load(numbers, n, 0)


class Constant(FunctionKind):
    """The same everywhere.

    Parameters
    ----------
    value : float
        The value.
    argument_size : int
        Of how many arguments it is formally a function; 0 or more.

    Examples
    --------
    >>> Constant(2.5).calc_value(7)
    2.5
    """

    KIND = KIND
    _names = ("value", "argument_size")
    _value: float
    _argument_size: int

    def __init__(self, value: float, argument_size: int = 1) -> None:
        self._keep(
            value=_checked.number(value, "the value of a Constant"),
            argument_size=count(argument_size, "the argument_size of a Constant", 0),
        )

    def get_argument_size(self) -> int:
        """Of how many arguments it is a function."""
        return self._argument_size

    def get_max_derivative_order(self) -> int:
        """Without limit: all derivatives are zero."""
        return UNLIMITED

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        return 0.0 if components else self._value

    def _packed(self) -> tuple[int, int, Sequence[float]]:
        return 1, 1, [self._value]
