"""What constraints share that make one coordinate, or one speed, a given function of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..function import Function, _switch
from ._of_function import body_named, check_function
from ._one_coordinate import OfOneCoordinate

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ._interpreted import Interpreter
    from .base import AnyBody


class OfTime(OfOneCoordinate):
    """A constraint of one q, or of one u, and a function of time.

    Its integers are which one, then the function's bundle; its numbers are the bundle's. A user's function is Python's to
    evaluate, by an interpreter, and is in neither.
    """

    _depends_on_time = True
    #: The derivatives that its equations need.
    _derivatives: ClassVar[int]
    #: What writes its rows where the function is a user's.
    _in_python: ClassVar[type[Interpreter]]

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        mobod: AnyBody,
        which: int,
        *,
        equations: tuple[int, int, int],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        who = f"a {type(self).__name__}"
        self._function = check_function(who, function, 1, self._derivatives, "time")
        if not _switch.is_compiled(function):
            make: Any = self._in_python
            self._interpreter = make(self)
        super().__init__(
            body_named(who, matter, mobod),
            which,
            equations=equations,
            matter=matter,
            disabled_by_default=disabled_by_default,
            name=name,
        )

    def get_function(self) -> Function:
        """The function of time."""
        return self._function

    def _integers(self) -> list[int]:
        if self._interpreter is not None:
            return [self._which]
        return [self._which, *_switch.bundle([self._function], [[0]])[0]]

    def _numbers(self) -> list[float]:
        return [] if self._interpreter is not None else list(_switch.bundle([self._function], [[0]])[1])
