"""Belt: a flat or V-belt over two pulleys, which stretches, and slips at Euler's and Eytelwein's limit.

T1 / T2 <= e^(mu a)   T1 + T2 = 2 P      so that   T1 - T2 <= F = 2 P tanh(mu a / 2)

of the tensions of both spans, the pretension P, the coefficient of friction mu, and the smaller angle a of wrap. Below the
limit the spans are springs, T1 - T2 = 2 k s with s what the first pulley is ahead; beyond it the belt slides at F. Both by the
bristle of `mobility_dry_friction`, along s, whose stiffness at first is 15/8 F over its deflection.

Where the belt lies is given by the pulleys' centers c on a case: a span leaves each pulley along a normal m of the axis,

m.(c_2 - c_1) = r_1 - r_2, or r_1 + r_2 if it is crossed      from c_1 + r_1 m to c_2 + r_2 m, or c_2 - r_2 m

and on the pulleys act T1 and T2 along both spans. Else r T1 and r T2 act on the coordinates.

Source: Johnson 1985, Contact Mechanics, section 8.4, of the limit; Eytelwein 1808.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import ArrayLike
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from .base import body_index, mobility
from .subsystem import GeneralForceSubsystem
from .transmission.base import Transmission
from .transmission.coordinates import Coordinates
from .transmission.line_of_action import LinesOfAction
from .transmission_friction import TransmissionFriction

#: By so much, of its size, what the pulleys' places say may differ from their radii and from a plane, by rounding.
_ROUNDING = 1e-9


class Belt(TransmissionFriction):
    """A belt between two pulleys, each on one coordinate: it stretches, and slips where it has to carry too much.

    Parameters
    ----------
    first, second : MobilizedBody
        The pulleys.
    radii : (2,) array_like
        Of both, above zero; length.
    pretension : float
        P, the tension of both spans at rest, above zero; force.
    friction : float
        The coefficient mu of friction on the pulleys, above zero; of a V-belt divided by the sine of half its angle.
    wrap_angle : float, optional
        On how much of a pulley the belt lies, of the two the smaller one, above zero and at most 2 pi; radians. Where the
        centers are given it may be left out.
    stiffness : float
        k of one span, above zero; force/length.
    crossed : bool
        Whether the pulleys turn in opposite directions.
    which_u_of_first, which_u_of_second : int
        Which of their mobilizers' coordinates, from 0; of one body two different ones.
    transition_velocity : float
        Of the bristle's damping, see `MobilityDryFriction`; length/time.
    case_body : MobilizedBody, optional
        What bears both pulleys. With it, the tensions pull the pulleys along the spans, and so load their joints.
    centers : (2, 3) array_like, optional
        The middles of both pulleys on the case; length.
    axis : (3,) array_like
        The direction of their axes on the case.

    Raises
    ------
    TypeError, ValueError, IndexError
        If a pulley, a number or a coordinate is none.
    ModelError
        If a number is not above zero, the wrap angle more than 2 pi, both pulleys are the same coordinate, or one has a
        quaternion; and if the centers are not on the pulleys' axes, not in a plane across these, or so near that no belt
        goes round both.
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
        wrap_angle: float | None = None,
        stiffness: float,
        crossed: bool = False,
        which_u_of_first: int = 0,
        which_u_of_second: int = 0,
        transition_velocity: float = 0.05,
        case_body: MobilizedBody | None = None,
        centers: ArrayLike | None = None,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        one, other = (checks.positive("radii", float(radius)) for radius in checks.array("radii", radii, (2,)))
        tension, crosses = checks.positive("pretension", pretension), checks.flag("crossed", crossed)
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
        along: Transmission
        if case_body is None:
            if centers is not None or wrap_angle is None:
                raise ModelError("a belt takes case_body and centers, both of them, or a wrap_angle")
            terms = [(first, which_u_of_first, one), (second, which_u_of_second, other if crosses else -other)]
            along = Coordinates(forces, terms)
        else:
            case = body_index(forces, "case_body", case_body)
            along, least = _spans(forces, case, pulleys, (one, other), centers, axis, crosses, tension)
            wrap_angle = least if wrap_angle is None else wrap_angle
        angle = checks.positive("wrap_angle", wrap_angle)
        if angle > 2.0 * math.pi:
            raise ModelError(f"wrap_angle is in radians, at most 2 pi, got {wrap_angle!r}; numpy.radians makes them of degrees")
        limit = 2.0 * tension * math.tanh(0.5 * checks.positive("friction", friction) * angle)
        super().__init__(
            forces,
            along,
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
        bodies, _, pushed = self.calc_force_contribution(state)
        pushed = pushed + self._first.matter.multiply_by_system_jacobian_transpose(state, bodies)
        carried = -float(pushed[u]) / self._radius
        return self._pretension + 0.5 * carried, self._pretension - 0.5 * carried


def _spans(
    forces: GeneralForceSubsystem,
    case: int,
    pulleys: Sequence[tuple[int, int]],
    radii: tuple[float, float],
    centers: Any,
    axis: Any,
    crossed: bool,
    tension: float,
) -> tuple[LinesOfAction, float]:
    """Both spans as lines of action, the one that the first pulley pulls forward before the other; the smaller wrap angle."""
    if centers is None:
        raise ModelError("a belt takes case_body and centers, both of them, or a wrap_angle")
    c, a = checks.array("centers", centers, (2, 3)), checks.unit("axis", axis)
    distance = float(np.linalg.norm(c[1] - c[0]))
    apart = radii[0] + radii[1] if crossed else radii[0] - radii[1]
    if distance <= abs(apart):
        raise ModelError(f"the centers are {distance:.6g} apart; a belt over these radii needs more than {abs(apart):.6g}")
    e = (c[1] - c[0]) / distance
    askew = distance * float(e @ a)
    if abs(askew) > _ROUNDING * distance:
        raise ModelError(f"the centers are not in a plane across the axis {a.tolist()}: they differ by {askew:.6g} along it")
    lines, ends = [], []
    for side, share in ((1.0, -0.5), (-1.0, 0.5)):
        m = apart / distance * e + side * math.sqrt(1.0 - (apart / distance) ** 2) * np.cross(a, e)
        end = c[0] + radii[0] * m, c[1] + (-radii[1] if crossed else radii[1]) * m
        d = (end[1] - end[0]) / np.linalg.norm(end[1] - end[0])
        lines.append([share, tension, *end[0], *d, 0.0, 0.0, 0.0])
        ends.append(end)
    spans = LinesOfAction(forces, case, pulleys[0][0], pulleys[1][0], lines)
    slopes = spans.slopes()
    if slopes.get(pulleys[0], 0.0) < 0.0:  # its mobilizer turns the other way about the axis
        lines = [[-line[0], *line[1:]] for line in reversed(lines)]
        spans = LinesOfAction(forces, case, pulleys[0][0], pulleys[1][0], lines)
        slopes = spans.slopes()
    for place, radius in zip(pulleys, radii, strict=True):
        slope = slopes.get(place, 0.0)
        if abs(abs(slope) - radius) > _ROUNDING * radius:
            body = forces.get_system().get_matter_subsystem().body_list[place[0]]
            raise ModelError(
                f"coordinate {place[1]} of {body!r} moves the belt by {slope:.6g}, not by its radius {radius:.6g}: the "
                "center has to be on its axis, and the axis along it"
            )
    spans.ends = ends
    angle = 2.0 * math.asin(abs(apart) / distance)
    return spans, math.pi + (angle if crossed else -angle)
