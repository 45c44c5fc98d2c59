"""TransmissionSpring: a spring and a damper along a transmission: on a joint, a tendon, between two frames.

x = l - high where l > high, l - low where l < low, else 0       v the transmission's speed, o that at which |x| grows
f = -x (k + k1 x + k2 x^2) max(0, 1 + c o) - v (d + d1 |v| + d2 v^2)       PE = x^2 (k/2 + k1 x/3 + k2 x^2/4)

With c a spring beyond its range is a stop: the force of Hunt and Crossley 1975, which grows from zero and never pulls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import ArrayLike
from ..algebra.scalar import where, zero
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import checks
from .actuator import checked_range
from .pools import number
from .subsystem import GeneralForceSubsystem
from .through_transmission import AlongTransmission, Law
from .transmission.base import Transmission

#: Numbers: k, d, c, then the two bounds of rest, k1 and k2, d1 and d2, then the ratio.
STIFFNESS, DAMPING, DISSIPATION, REST, HIGHER_STIFFNESS, HIGHER_DAMPING, RATIO = 0, 1, 2, 3, 5, 7, 9


@generic
def stretch(model: Any, x: int, length: Any) -> Any:
    """x."""
    low, high = number(model, x + REST), number(model, x + REST + 1)
    return where(length > high, length - high, where(length < low, length - low, zero(length)))


@generic
def spring(model: Any, x: int, s: Any) -> Any:
    """The spring's force."""
    k1, k2 = number(model, x + HIGHER_STIFFNESS), number(model, x + HIGHER_STIFFNESS + 1)
    return -s * (number(model, x + STIFFNESS) + s * (k1 + s * k2))


@generic
def give(model: Any, x: int, s: Any, v: Any) -> Any:
    """By what the spring's force is multiplied: more on the way out, less on the way back; 1 without dissipation."""
    factor = 1.0 + number(model, x + DISSIPATION) * where(s < 0.0, -v, v)
    return where(factor > 0.0, factor, zero(factor))


@generic
def drag(model: Any, x: int, v: Any) -> Any:
    """The damper's force."""
    size = where(v < 0.0, -v, v)
    d1, d2 = number(model, x + HIGHER_DAMPING), number(model, x + HIGHER_DAMPING + 1)
    return -v * (number(model, x + DAMPING) + size * (d1 + size * d2))


@generic
def stored(model: Any, x: int, s: Any) -> Any:
    """PE."""
    k1, k2 = number(model, x + HIGHER_STIFFNESS), number(model, x + HIGHER_STIFFNESS + 1)
    return s * s * (0.5 * number(model, x + STIFFNESS) + s * (k1 / 3.0 + s * 0.25 * k2))


@generic
def along(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """f."""
    s = stretch(model, x, length)
    return spring(model, x, s) * give(model, x, s, speed) + drag(model, x, speed)


@generic
def energy(model: Any, i: int, x: int, z: int, length: Any) -> Any:
    """PE."""
    return stored(model, x, stretch(model, x, length))


@generic
def power(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """The damper's power, and that of the spring's dissipation."""
    s = stretch(model, x, length)
    return -(drag(model, x, speed) + spring(model, x, s) * (give(model, x, s, speed) - 1.0)) * speed


class TransmissionSpring(AlongTransmission):
    """A spring and a damper along a transmission: an elastic tendon, a spring between coupled joints.

    Parameters
    ----------
    transmission : force.transmission.Transmission
        Whose length it is about.
    stiffness, damping : float
        Force by length, and by speed; any sign.
    rest_range : (float, float)
        Lengths at which the spring is slack; the same number twice for one that never is.
    dissipation : float
        c of a stop: one over a speed, zero or more; see Notes.
    higher_stiffness, higher_damping : (2,) array_like
        k1 and k2, d1 and d2: see Notes.

    Raises
    ------
    TypeError, ValueError
        If the transmission is none, or a number not finite.
    ModelError
        If the range is not in order.
    TopologyError
        If the transmission is made of bodies of another system.

    Notes
    -----
    With x the stretch beyond the range and v the speed, f = -x (k + k1 x + k2 x^2) - v (d + d1 abs(v) + d2 v^2), MuJoCo's
    law of springs and dampers. The first term is multiplied by max(0, 1 + c o), where o is the speed at which the stretch
    grows, as the force of a `MobilityLinearStop` is: it dissipates beyond the range alone, and is zero at its ends.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> terms = [(system.matter.bodies["upper"], 0, 1.0), (system.matter.bodies["lower"], 0, -1.0)]
    >>> belt = mb.force.transmission.Coordinates(system.forces, terms)
    >>> part = mb.force.TransmissionSpring(system.forces, belt, stiffness=10.0)
    >>> state = system.realize_topology()
    >>> state.q = 0.3, 0.4
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([ 1., -1.])
    """

    LAW = Law(along, RATIO, energy=energy, power=power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        transmission: Transmission,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest_range: tuple[float, float] = (0.0, 0.0),
        dissipation: float = 0.0,
        higher_stiffness: ArrayLike = (0.0, 0.0),
        higher_damping: ArrayLike = (0.0, 0.0),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        whose = "a TransmissionSpring" if name is None else repr(name)
        numbers = self.declared(name, stiffness=stiffness, damping=damping, dissipation=dissipation)
        numbers += checked_range(f"rest_range of {whose}", rest_range)
        for what, pair in (("higher_stiffness", higher_stiffness), ("higher_damping", higher_damping)):
            numbers += checks.array(f"{what} of {whose}", pair, (2,)).tolist()
        self._connect(forces, transmission, [], numbers, disabled_by_default, name)

    def get_default_rest_range(self) -> tuple[float, float]:
        """The lengths between which it has no force, in a default state."""
        low, high = self.default_numbers[3:5]
        return low, high

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "force/length", checks.finite, "the stiffness"
    ).accessors()
    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "force*time/length", checks.finite, "the damping"
    ).accessors()
    get_default_dissipation, set_default_dissipation, get_dissipation, set_dissipation = parameters.scalar(
        "dissipation", "time/length", checks.not_negative, "the dissipation of the spring, as of a stop"
    ).accessors()

    def calc_force(self, state: State) -> float:
        """The force along the transmission; zero where it is disabled. Needs VELOCITY."""
        length, speed, x = self.calc_length(state), self.calc_speed(state), self.span[2]
        if self.is_disabled(state):
            return 0.0
        s, v = stretch(state.record, x, np.float64(length)), np.float64(speed)
        return float(spring(state.record, x, s) * give(state.record, x, s, v) + drag(state.record, x, v))
