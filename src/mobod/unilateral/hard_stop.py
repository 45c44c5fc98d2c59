"""A bound of a coordinate, held by `constraint.ConstantCoordinate`: `HardStopUpper` and `HardStopLower` share this."""

from __future__ import annotations

from ..constraint import ConstantCoordinate
from ..mobilizer.base import MobilizedBody
from ..state.of_each import of_each, rows_of
from ..state.state import State
from ..value import checks
from .base import UnilateralContact


class HardStop(UnilateralContact):
    """A bound of a coordinate."""

    _SIGN = 1
    normal: ConstantCoordinate

    def __init__(
        self, mobod: MobilizedBody, which_q: int, value: float, restitution: float = 0.0, *, name: str | None = None
    ) -> None:
        checks.between("restitution", restitution, 0.0, 1.0)
        checks.instance(f"mobod of a {type(self).__name__}", mobod, MobilizedBody, "mobod.mobilizer.Pin(...)")
        matter = mobod.get_matter_subsystem()
        own = matter.name_of_contact(type(self).__name__, name)
        held = ConstantCoordinate(mobod, which_q, value, disabled_by_default=True, name=f"{own}: normal")
        super().__init__(held, sign=self._SIGN, restitution=restitution, name=own)

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer has the stop."""
        return self.normal.constrained_mobilizers[0]

    def get_which_q(self) -> int:
        """The index of the coordinate in its mobilizer."""
        return self.normal.get_which_q()

    def get_value(self, state: State) -> float:
        """The value at which the stop is; angle or length. Needs MODEL."""
        return self.normal.get_value(state)

    @of_each(lambda stop, template, values, present: rows_of(stop.normal.set_position, template, values, present))
    def set_value(self, state: State, value: float) -> None:
        """Move the stop in this state, which falls to MODEL at most. Needs MODEL."""
        self.normal.set_value(state, value)
