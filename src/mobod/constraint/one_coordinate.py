"""Bases of constraints of one coordinate, or of one speed, of a mobilizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from .base import Constraint, one_of
from .floats import OneAcceleration


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
        self.which_coordinate = one_of(f"a {type(self).__name__}", f"which_{self._letter}", mobod, which, n)
        super().__init__([], [mobod], equations=equations, matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_mobilized_body_index(self) -> int:
        """Index of the body whose mobilizer it is of."""
        return self.constrained_mobilizers[0].get_mobilized_body_index()

    def pack_integers(self) -> list[int]:
        return [self.which_coordinate]

    def check_coordinates(self, num_q: Sequence[int]) -> None:
        if self._letter == "q":
            check_coordinate(self, self.constrained_mobilizers[0], self.which_coordinate, num_q)


class OfOneValue(OfOneCoordinate):
    """One that holds a coordinate, a speed or an acceleration at a value, which a state can change."""

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
        self.default_numbers = self.declared(name, value=value)
        super().__init__(mobod, which, equations=equations, disabled_by_default=disabled_by_default, name=name)


class OfOneSpeed(OfOneValue):
    """One that holds a speed or an acceleration at a value."""

    _letter = "u"
    _equations: ClassVar[tuple[int, int, int]]

    def __init__(
        self, mobod: MobilizedBody, which_u: int, value: float, *, disabled_by_default: bool = False, name: str | None = None
    ) -> None:
        rows = self._equations
        super().__init__(mobod, which_u, value, equations=rows, disabled_by_default=disabled_by_default, name=name)

    def get_which_u(self) -> int:
        """The index of the speed in its mobilizer."""
        return self.which_coordinate


def check_coordinate(constraint: Constraint, body: MobilizedBody, which: int, num_q: Sequence[int]) -> None:
    """Refuse a coordinate that does not exist where angles are in a quaternion's place."""
    n = num_q[body.get_mobilized_body_index()]
    if which >= n:
        raise ModelError(
            f"{constraint!r} is of coordinate {which} of {body.name!r}, which has {n} with angles in place of its quaternion; "
            "index those that the modelling choice has, or keep quaternions"
        )
