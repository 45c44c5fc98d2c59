"""Elements that a function of time may drive: what it gives is added to what a state sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..function import Function
from ..function.routines import Use
from ..value import checks
from .base import Force


class Driven(Force):
    """A force that a function of time may drive: integer `FLAG` of its own is the function's number, -1 without one."""

    INNER = frozenset({"FLAG"})

    FLAG: ClassVar[int]
    _drive: Function | None = None

    def _drive_by(self, what: str, function: Function | None, others: Sequence[Use] = ()) -> None:
        """Take a function of time for *what* it drives, behind the functions of others; None takes it away."""
        if function is not None:
            checks.instance("function", function, Function, "a function of time, of mobod.function")
            size = function.get_argument_size()
            if size != 1:
                raise ValueError(f"the {what} of {self!r} is a function of time alone; {function!r} has {size} arguments")
        self._drive = function
        self.used_functions = [*others, *([] if function is None else [(function, [0])])]
        self._forces.invalidate_topology()

    def pack_integers(self) -> list[int]:
        """Its integers, with the number of the function that drives it."""
        found = super().pack_integers()
        if self._drive is not None:
            found = [*found]
            found[self.FLAG] = self.first_function + len(self.used_functions) - 1
        return found
