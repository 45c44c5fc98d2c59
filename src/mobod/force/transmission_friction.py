"""Dry friction along a transmission, of tendons and belts: the law of `MobilityDryFriction`, of a transmission's speed."""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store
from ..compiling import Routine, generic
from ..decoration.rubber_band_line import Line
from ..state.state import State
from . import mobility_dry_friction as law
from .base import Force
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem
from .transmission.base import Functions, Transmission, check_transmission

#: After the law's numbers the transmission's, of which its ratio is the first.
RATIO = law.TRANSITION + 1


def _make(functions: Functions) -> tuple[Any, Any, Any]:
    _, speed, apply = functions

    @generic
    def along(model: Any, i: int, x: int) -> Any:
        return number(model, x + RATIO) * speed(model, i, x + RATIO + 1)

    @generic
    def add(model: Any, i: int, x: int, z: int) -> None:
        u, y = along(model, i, x), load(model.z, z, 0)
        s, g = law.bending(y, u), law.falling(model, x, law.size(u) / number(model, x + law.TRANSITION))
        bent = law.static(model, x) * law.limited(y) * (1.0 - (1.0 - g) * (1.0 - s))
        apply(model, i, x + RATIO + 1, -number(model, x + RATIO) * (bent + law.damping(model, x, y, u)))
        store(model.z_dot, z, 0, s * u / number(model, x + law.DEFLECTION))

    @generic
    def power(model: Any, i: int, x: int, z: int) -> Any:
        u, y = along(model, i, x), load(model.z, z, 0)
        s, g = law.bending(y, u), law.falling(model, x, law.size(u) / number(model, x + law.TRANSITION))
        return (law.static(model, x) * law.limited(y) * (1.0 - s) * g + law.damping(model, x, y, u)) * u

    for made in (along, add, power):
        made.__module__, made.__qualname__ = speed.__module__, f"friction.{made.__name__}"
    return add, law.energy, power


_routines: dict[Functions, Routine] = {}


class TransmissionFriction(Force):
    """Friction along a transmission: it holds up to a force, and slides at it. Its bristle is a z.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    transmission : force.transmission.Transmission
    friction_force : float
        Above zero.
    deflection, transition_velocity : float
        As `MobilityDryFriction` has them, of the transmission's length and speed.
    name : str, optional
    """

    num_z = 1
    reads_z = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        transmission: Transmission,
        friction_force: float,
        *,
        deflection: float = 1e-3,
        transition_velocity: float = 0.05,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        through = check_transmission(forces, transmission)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._transmission = through
        through.serve(self)
        numbers = [float(friction_force), 1.0, 0.0, float(deflection), float(transition_velocity)]
        self.default_integers, self.default_numbers = list(through.integers), [*numbers, *through.numbers]

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine, compiled when a model first has friction along a transmission of this kind."""
        functions = self._transmission.FUNCTIONS
        if functions not in _routines:
            _routines[functions] = by_address(*_make(functions), with_z=True)
        return _routines[functions]

    def calc_lines(self, state: State) -> list[Line]:
        """The transmission's, where it is a path."""
        return self._transmission.calc_lines(state)

    def reach(self) -> tuple[list[int], list[int]] | None:
        return self._transmission.reach()
