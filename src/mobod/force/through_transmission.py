"""Forces along a transmission; and those of a control, with an activation that is a z or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..compiling import Routine
from ..decoration.rubber_band_line import Line
from ..errors import ModelError
from ..state.state import State
from ..value import checks
from .base import Force
from .routines import by_address
from .subsystem import GeneralForceSubsystem
from .transmission.base import Functions, Transmission, check_transmission

_routines: dict[tuple[Callable[..., Any], Functions, bool], Routine] = {}


class AlongTransmission(Force):
    """A force along a transmission: an element's integers and numbers end with the transmission's, its ratio first.

    `make` is a static function of the class: ``make(functions, with_z)`` gives the element's functions, as `by_address` takes
    them, for a kind of transmission.
    """

    INNER = frozenset({"make", "num_z"})
    make: Callable[[Functions, bool], tuple[Callable[..., Any], ...]]

    _transmission: Transmission

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        transmission: Any,
        integers: Sequence[int],
        numbers: Sequence[float],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        through = check_transmission(forces, transmission)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._transmission = through
        through.serve(self)
        self.default_integers, self.default_numbers = [*integers, *through.integers], [*numbers, *through.numbers]

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine, compiled when a model first has such a force with a transmission of this kind."""
        key = self.make, self._transmission.FUNCTIONS, self.num_z > 0
        if key not in _routines:
            _routines[key] = by_address(*self.make(*key[1:]), with_z=key[2])
        return _routines[key]

    @property
    def reads_time(self) -> bool:
        """The path's functions are of coordinates."""
        return False

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies and mobilities of its transmission."""
        return self._transmission.reach()

    def calc_lines(self, state: State) -> list[Line]:
        """The transmission's, where it is a path."""
        return self._transmission.calc_lines(state)

    def get_transmission(self) -> Transmission:
        """Its transmission."""
        return self._transmission

    def calc_length(self, state: State) -> float:
        """The transmission's length. Needs POSITION."""
        self._check(state, "calc_length")
        return self._transmission.calc_length(state)

    def calc_speed(self, state: State) -> float:
        """The transmission's speed. Needs VELOCITY."""
        self._check(state, "calc_speed")
        return self._transmission.calc_speed(state)


class ThroughTransmission(AlongTransmission):
    """A force of a control and of a transmission's length and speed; its user's class has the law."""

    reads_positions_only = False

    _activates: bool

    @property
    def num_z(self) -> int:  # type: ignore[override]
        """One where it has an activation of its own."""
        return int(self._activates)

    @property
    def reads_z(self) -> bool:  # type: ignore[override]
        """True if it has an activation of its own."""
        return self._activates

    def get_activation(self, state: State) -> float | None:
        """Its z in this state, None where it has none. Needs MODEL."""
        self._check(state, "get_activation")
        return float(state.z_values[self.first_z]) if self.num_z else None

    def set_activation(self, state: State, value: float) -> None:
        """Set its z in this state; `ModelError` where it has none. Needs MODEL."""
        self._check(state, "set_activation")
        if not self.num_z:
            raise ModelError(f"{self!r} has no dynamics, and so no activation; set_control(state, value) sets its control")
        state.upd_z()[self.first_z] = checks.finite(f"activation of {self._name!r}", value)
