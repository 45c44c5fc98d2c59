"""OfTime: base of constraints that make one coordinate, or one speed, a given function of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ..function import Function, _routine
from .of_function import body_named, check_function
from .one_coordinate import OfOneCoordinate

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .base import AnyBody


class OfTime(OfOneCoordinate):
    """A constraint of one q, or of one u, and a function of time.

    Its integers are which one, then the function's number.
    """

    depends_on_time = True
    _equations: ClassVar[tuple[int, int, int]]
    #: The derivatives that its equations need.
    _derivatives: ClassVar[int]

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        mobod: AnyBody,
        which: int,
        *,
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        who = f"a {type(self).__name__}"
        self.function = check_function(who, function, 1, self._derivatives, "time")
        super().__init__(
            body_named(who, matter, mobod),
            which,
            equations=self._equations,
            matter=matter,
            disabled_by_default=disabled_by_default,
            name=name,
        )

    def get_function(self) -> Function:
        """The function of time."""
        return self.function

    @property
    def used_functions(self) -> Sequence[_routine.Use]:  # type: ignore[override]
        """The functions that the record keeps: its own."""
        return [(self.function, [0])]

    def pack_integers(self) -> list[int]:
        return [self.which_coordinate, self.first_function]
