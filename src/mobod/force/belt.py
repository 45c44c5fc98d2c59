"""Belt: a flat or V-belt over two pulleys, which stretches, and slips at Euler's and Eytelwein's limit.

T1 / T2 <= e^(mu a)   T1 + T2 = 2 P      so that   T1 - T2 <= F = 2 P tanh(mu a / 2)

of the tensions of both spans, the pretension P, the coefficient of friction mu, and the smaller angle a of wrap. Below the
limit the spans are springs, T1 - T2 = 2 k s with s what the first pulley is ahead; beyond it the belt slides at F. Both by the
bristle of `mobility_dry_friction`, along s, whose stiffness at first is 15/8 F over its deflection.

Source: Johnson 1985, Contact Mechanics, section 8.4, of the limit; Eytelwein 1808.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from .base import body_index, mobility
from .subsystem import GeneralForceSubsystem
from .transmission.coordinates import Coordinates
from .transmission_friction import TransmissionFriction


class Belt(TransmissionFriction):
    """A belt between two pulleys, each on one coordinate: it stretches, and slips where it has to carry too much.

    Parameters
    ----------
    forces, disabled_by_default, name
        See `Force`.
    first, second : MobilizedBody
        The pulleys.
    radii : (2,) array_like
        Of both, above zero; length.
    pretension : float
        P, the tension of both spans at rest, above zero; force.
    friction : float
        The coefficient mu of friction on the pulleys, above zero; of a V-belt divided by the sine of half its angle.
    wrap_angle : float
        On how much of a pulley the belt lies, of the two the smaller one, above zero and at most 2 pi; radians.
    stiffness : float
        k of one span, above zero; force/length.
    crossed : bool
        Whether the pulleys turn in opposite directions.
    which_u_of_first, which_u_of_second : int
        Which of their mobilizers' coordinates, from 0; of one body two different ones.
    transition_velocity : float
        Of the bristle's damping, see `MobilityDryFriction`; length/time.

    Raises
    ------
    TypeError, ValueError, IndexError
        If a pulley, a number or a coordinate is none.
    ModelError
        If a number is not above zero, the wrap angle more than 2 pi, both pulleys are the same coordinate, or one has a
        quaternion.
    TopologyError
        If a pulley belongs to another system.

    Notes
    -----
    The belt has no mass: what it loses of its grip by centrifugal force is to be taken off the pretension. Its stretch is a z
    of the state.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> wheel = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.1, 0.02)))
    >>> motor, fan = (mb.mobilizer.Pin(matter.ground, wheel) for _ in range(2))
    >>> belt = mb.force.Belt(forces, motor, fan, (0.05, 0.1), pretension=100.0, friction=0.4, wrap_angle=2.8, stiffness=1e5)
    >>> round(belt.get_slip_force(), 1)
    101.6
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        first: MobilizedBody,
        second: MobilizedBody,
        radii: tuple[float, float],
        *,
        pretension: float,
        friction: float,
        wrap_angle: float,
        stiffness: float,
        crossed: bool = False,
        which_u_of_first: int = 0,
        which_u_of_second: int = 0,
        transition_velocity: float = 0.05,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        one, other = (checks.positive("radii", float(radius)) for radius in checks.array("radii", radii, (2,)))
        tension, angle = checks.positive("pretension", pretension), checks.positive("wrap_angle", wrap_angle)
        if angle > 2.0 * math.pi:
            raise ModelError(f"wrap_angle is in radians, at most 2 pi, got {wrap_angle!r}; numpy.radians makes them of degrees")
        limit = 2.0 * tension * math.tanh(0.5 * checks.positive("friction", friction) * angle)
        sign = 1.0 if checks.flag("crossed", crossed) else -1.0
        pulleys = []
        for said, body, which in (("first", first, which_u_of_first), ("second", second, which_u_of_second)):
            b = body_index(forces, said, body)
            if forces.get_system().get_matter_subsystem().body_list[b].facts.has_quaternion:
                raise ModelError(f"{said} is {body!r}, which has a quaternion and no angle that a belt could turn")
            pulleys.append(mobility(forces, body, which, f"which_u_of_{said}"))
        if pulleys[0] == pulleys[1]:
            raise ModelError(
                f"first and second are both coordinate {which_u_of_first} of {first!r}; a belt is over two pulleys"
            )
        terms = [(first, which_u_of_first, one), (second, which_u_of_second, sign * other)]
        super().__init__(
            forces,
            Coordinates(forces, terms),
            limit,
            deflection=15.0 / 16.0 * limit / checks.positive("stiffness", stiffness),
            transition_velocity=checks.positive("transition_velocity", transition_velocity),
            disabled_by_default=disabled_by_default,
            name=name,
        )
        self._first = forces.get_system().get_matter_subsystem().body_list[pulleys[0][0]]
        self._which, self._radius = which_u_of_first, one
        self._pretension, self._limit = tension, limit

    def get_slip_force(self) -> float:
        """F, the greatest difference of the tensions: where it slips."""
        return self._limit

    def calc_tensions(self, state: State) -> tuple[float, float]:
        """T1 and T2, of the span that the first pulley pulls as it turns forward, and of the other one. Needs VELOCITY.

        Both are 0 where it is disabled.
        """
        if self.is_disabled(state):
            return 0.0, 0.0
        u = self._first.get_first_u_index(state) + self._which
        carried = -float(np.asarray(self.calc_force_contribution(state)[2])[u]) / self._radius
        return self._pretension + 0.5 * carried, self._pretension - 0.5 * carried
