"""Dry friction along a transmission, of tendons and belts: the law of `MobilityDryFriction`, of a transmission's speed."""

from __future__ import annotations

from typing import Any

from ..algebra.order import size_of
from ..algebra.scalar import load
from ..compiling import generic
from . import mobility_dry_friction as law
from .pools import number
from .subsystem import GeneralForceSubsystem
from .through_transmission import AlongTransmission, Law
from .transmission.base import Transmission

#: After the law's numbers the transmission's, of which its ratio is the first.
RATIO = law.TRANSITION + 1


@generic
def along(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """f."""
    y = load(model.z, z, 0)
    s, g = law.bending(y, speed), law.falling(model, x, size_of(speed) / number(model, x + law.TRANSITION))
    bent = law.static(model, x) * law.limited(y) * (1.0 - (1.0 - g) * (1.0 - s))
    return -(bent + law.damping(model, x, y, speed))


@generic
def rate(model: Any, i: int, x: int, z: int, speed: Any) -> Any:
    """y'."""
    return law.bending(load(model.z, z, 0), speed) * speed / number(model, x + law.DEFLECTION)


@generic
def energy(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """Of the bristle."""
    return law.energy(model, i, x, z)


@generic
def power(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """Of sliding, and of damping."""
    y = load(model.z, z, 0)
    s, g = law.bending(y, speed), law.falling(model, x, size_of(speed) / number(model, x + law.TRANSITION))
    return (law.static(model, x) * law.limited(y) * (1.0 - s) * g + law.damping(model, x, y, speed)) * speed


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

    LAW = Law(along, RATIO, rate=rate, energy=energy, power=power)
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
