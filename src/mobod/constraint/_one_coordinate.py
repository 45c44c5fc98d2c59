"""What constraints of one coordinate, or of one speed, of a mobilizer share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from ..errors import ModelError
from ._floats import OneAcceleration
from .base import Constraint, finite, one_of

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


class OfOneCoordinate(OneAcceleration):
    """A constraint of one q, or of one u: *letter* says of which."""

    _letter = "q"

    def __init__(
        self,
        mobod: MobilizedBody,
        which: int,
        *,
        equations: tuple[int, int, int],
        matter: Any = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        facts = getattr(mobod, "facts", None)
        n = 0 if facts is None else facts.num_q if self._letter == "q" else facts.num_u
        self._which = one_of(f"a {type(self).__name__}", f"which_{self._letter}", mobod, which, n)
        super().__init__([], [mobod], equations=equations, matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_mobilized_body_index(self) -> int:
        """Index of the body whose mobilizer it is of."""
        return self._mobilizers[0].get_mobilized_body_index()

    def _integers(self) -> list[int]:
        return [self._which]

    def _check_coordinates(self, num_q: Sequence[int]) -> None:
        if self._letter == "q":
            check_coordinate(self, self._mobilizers[0], self._which, num_q)


class OfOneValue(OfOneCoordinate):
    """One that holds a coordinate, a speed or an acceleration at a value, which a state can change."""

    _what = "value"

    def __init__(
        self,
        mobod: MobilizedBody,
        which: int,
        value: float,
        *,
        equations: tuple[int, int, int],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        self._value = finite(f"the {self._what} of a {type(self).__name__}", value)
        super().__init__(mobod, which, equations=equations, disabled_by_default=disabled_by_default, name=name)

    def get_default_value(self) -> float:
        """The value in a default state."""
        return self._value

    def set_default_value(self, value: float) -> Self:
        """Change the value of a default state; a topological change."""
        self._value = finite(f"the {self._what} of {self._name!r}", value)
        self._matter._invalidate_topology()
        return self

    def get_value(self, state: State) -> float:
        """The value in this state. Needs MODEL."""
        return float(self._number_run(state, f"get_{self._what}")[0])

    def set_value(self, state: State, value: float) -> None:
        """Change the value in this state alone, which falls to MODEL at most."""
        number = finite(f"the {self._what} of {self._name!r}", value)
        self._change_numbers(state, f"set_{self._what}", 0, [number])

    def _numbers(self) -> list[float]:
        return [self._value]


def check_coordinate(constraint: Constraint, body: MobilizedBody, which: int, num_q: Sequence[int]) -> None:
    """Refuse a coordinate that is not there where angles are in a quaternion's place."""
    n = num_q[body.get_mobilized_body_index()]
    if which >= n:
        raise ModelError(
            f"{constraint!r} is of coordinate {which} of {body.name!r}, which has {n} with angles in place of its quaternion; "
            "index those that the modelling choice has, or keep quaternions"
        )
