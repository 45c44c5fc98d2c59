"""Constant: the same value everywhere.

f = value
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..value import checks
from .base import FunctionKind, count


class Constant(FunctionKind):
    """The same everywhere.

    Parameters
    ----------
    value : float
        The value.
    argument_size : int
        The number of arguments that it takes, formally; 0 or more.

    Examples
    --------
    >>> Constant(2.5).calc_value(7)
    2.5
    """

    is_affine = True
    _names = ("value", "argument_size")
    _value: float
    _argument_size: int

    def __init__(self, value: float, argument_size: int = 1) -> None:
        self._keep(
            value=checks.finite("the value of a Constant", value),
            argument_size=count(argument_size, "the argument_size of a Constant", 0),
        )

    def get_argument_size(self) -> int:
        """Of how many arguments it is a function."""
        return self._argument_size

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        return 0.0 if components else self._value

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], [*[0.0] * self._argument_size, self._value]
