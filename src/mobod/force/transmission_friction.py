"""Dry friction along a transmission, of tendons and belts: the law of `MobilityDryFriction`, of a transmission's speed."""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store
from ..compiling import generic
from . import mobility_dry_friction as law
from .pools import number
from .subsystem import GeneralForceSubsystem
from .through_transmission import AlongTransmission
from .transmission.base import Functions, Transmission

#: After the law's numbers the transmission's, of which its ratio is the first.
RATIO = law.TRANSITION + 1


def _make(functions: Functions, with_z: bool) -> tuple[Any, Any, Any]:
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


class TransmissionFriction(AlongTransmission):
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

    make = staticmethod(_make)
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
        numbers = [float(friction_force), 1.0, 0.0, float(deflection), float(transition_velocity)]
        self._connect(forces, transmission, [], numbers, disabled_by_default, name)
