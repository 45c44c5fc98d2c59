"""LineOfAction: two bodies press or pull each other along lines that are fixed to a case. Teeth of gears, spans of belts.

l = sum of c q, with c = y.(v_1 - v_2) at unit speed of each coordinate between the bodies, of their material points at P
f y on body 1 and -f y on body 2, both at P; of teeth besides
|f| tan(alpha_n) / cos(beta)  apart, along x     f tan(beta)  along z

P and the axes x, y, z are a frame on the case. Where its coefficients c are the same in all poses, as about axes that are
fixed to the case, what goes along x and z does no work: it loads bearings alone.
Source: ISO 21771-1:2024, of the geometry of teeth; Johnson 1985, Contact Mechanics, section 8.4, of belts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...algebra import mat33, vec3
from ...algebra.arrays import Array
from ...algebra.memory import add_spatial, load3, load9
from ...algebra.scalar import where
from ...compiling import generic
from ...decoration.rubber_band_line import Line
from ...errors import ModelError
from ...mobilizer.base import Direction, MobilizedBody
from ...state.state import State
from ...value import Transform, checks
from ..base import body_index
from ..pools import number, numbers3
from ..subsystem import GeneralForceSubsystem
from . import coordinates
from .base import Transmission, placed
from .relative_pose import moves_both

#: A line's numbers: of what it carries, a share of f and what is there without it; P, the direction, what it has of its size.
SHARE, AT_REST, POINT, ALONG, APART, SIZE = 0, 1, 2, 5, 8, 11
#: By so much of the largest coefficients may differ from pose to pose, by rounding.
SAME = 1e-9


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """Integers and numbers: those of `coordinates`; then how many lines, the case, both bodies; and each line's numbers."""
    n = model.force_integers[i]
    j = i + 1 + 2 * n
    case, first, second = model.force_integers[j + 1], model.force_integers[j + 2], model.force_integers[j + 3]
    R, p = load9(model.R_GB, case, 0), load3(model.p_GB, case, 0)
    for k in range(model.force_integers[j]):
        line = x + n + SIZE * k
        carried = number(model, line + AT_REST) + number(model, line + SHARE) * f
        size = where(carried < 0.0, -carried, carried)
        push = vec3.scale(carried, numbers3(model, line + ALONG))
        push = mat33.mul_vec(R, vec3.add_scaled(push, size, numbers3(model, line + APART)))
        at, pull = vec3.add(p, mat33.mul_vec(R, numbers3(model, line + POINT))), vec3.neg(push)
        add_spatial(model.body_forces, first, vec3.cross(vec3.sub(at, load3(model.p_GB, first, 0)), push), push)
        add_spatial(model.body_forces, second, vec3.cross(vec3.sub(at, load3(model.p_GB, second, 0)), pull), pull)


class LinesOfAction(Transmission):
    """Several lines between two bodies, each with a share of the force, and with a force of its own.

    Parameters
    ----------
    forces : GeneralForceSubsystem
    case, first, second : int
        Indices of the bodies.
    lines : list of 11 numbers
        See above; of each P, the direction and what it has of the size, in the case's frame.
    ratio : float
    """

    INNER = frozenset({"ends", "slopes"})

    FUNCTIONS = (coordinates.length, coordinates.speed, apply)
    is_of_coordinates = True
    #: Both ends of each line, on the case, where pictures show it.
    ends: Sequence[tuple[Array, Array]] = ()

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        case: int,
        first: int,
        second: int,
        lines: Sequence[Sequence[float]],
        ratio: float = 1.0,
    ) -> None:
        if first == second:
            bodies = forces.get_system().get_matter_subsystem().body_list
            raise ModelError(f"first and second are both {bodies[first]!r}; a line of action is between two bodies")
        rows = np.array(lines, float)
        terms = _terms(forces, case, first, second, rows)
        integers = [len(terms), *(i for mobility in terms for i in mobility), len(rows), case, first, second]
        super().__init__(forces, integers, [*terms.values(), *rows.ravel().tolist()], ratio)

    def slopes(self) -> dict[tuple[int, int], float]:
        """The way of what touches for a unit of each coordinate, by body and number."""
        n = self.integers[0]
        places = zip(self.integers[1 : 2 * n : 2], self.integers[2 : 2 * n + 1 : 2], strict=True)
        return dict(zip(places, self.numbers[1 : n + 1], strict=True))

    def reach(self) -> tuple[list[int], list[int]]:
        n = 1 + 2 * self.integers[0]
        return self.integers[n + 1 : n + 4], self.integers[1:n:2]

    def calc_lines(self, state: State) -> list[Line]:
        case = self.integers[2 + 2 * self.integers[0]]
        return [((case, one), (case, other)) for one, other in self.ends]


class LineOfAction(LinesOfAction):
    """The line of action of two gears, or of a wheel and a rack, by which what bears their shafts is loaded.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    case_body : MobilizedBody
        What bears both, such as Ground, a gearbox or a carrier.
    frame : Transform
        On the case: its origin is the pitch point, where the wheels roll on each other, x leads from the first body to the
        second, y is the way of the first one's teeth that lengthens it, and z the first one's axis.
    first, second : MobilizedBody
        Both bodies, one of which may be Ground, as a ring.
    pressure_angle : float
        alpha_n, of the teeth's normal section, from zero to below pi/2; radians.
    helix_angle : float
        beta at the pitch point, above zero where the first one's teeth are right-handed, between -pi/2 and pi/2; radians.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, TopologyError
        If a body or a number is none, or of another system.
    ModelError
        If an angle is beyond its bounds, the bodies are one, or nothing between them moves along y at the pitch point, or what
        does so does it otherwise in other poses: its length is a sum of coordinates, each times a radius.

    Notes
    -----
    Of a force f along it the tangential force on the first body is F_t = f along y, the radial one F_t tan(alpha_n) /
    cos(beta) away from the second one, whatever the sign of f, and the axial one -F_t tan(beta) along z: with a torque T,
    F_t = T / r. Opposite forces act on the second body. Radial and axial ones do no work, and are borne by the joints:
    they are in `SimbodyMatterSubsystem.calc_mobilizer_reaction_forces`. A span of a belt has no pressure angle, and y
    along it.

    Radii are those of the default frames and pitches: it does not follow what a state changes of these.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> wheel = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.1, 0.02)))
    >>> pinion = mb.mobilizer.Pin(matter.ground, wheel)
    >>> gear = mb.mobilizer.Pin(matter.ground, wheel, X_PF=mb.Transform((0.3, 0, 0)))
    >>> place = mb.Transform((0.1, 0, 0))  # the pinion's radius is 0.1, the gear's 0.2
    >>> mesh = mb.force.transmission.LineOfAction(forces, matter.ground, place, pinion, gear, pressure_angle=np.radians(20.0))
    >>> teeth = mb.force.TransmissionSpring(forces, mesh, stiffness=1e5)
    >>> state = system.realize_topology()
    >>> state.q = -0.01, 0.0  # the gear's teeth push the pinion's forward by 100
    >>> system.realize(state)
    >>> bodies, _, _ = teeth.calc_force_contribution(state)
    >>> (bodies[pinion] + 0.0).round(1)
    array([[  0. ,   0. ,  10. ],
           [-36.4, 100. ,   0. ]])
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        case_body: MobilizedBody,
        frame: Transform,
        first: MobilizedBody,
        second: MobilizedBody,
        *,
        pressure_angle: float = 0.0,
        helix_angle: float = 0.0,
        ratio: float = 1.0,
    ) -> None:
        case, numbers = placed(forces, "case_body", case_body, frame)
        alpha, beta = checks.finite("pressure_angle", pressure_angle), checks.finite("helix_angle", helix_angle)
        for name, angle, least in (("pressure_angle", alpha, 0.0), ("helix_angle", beta, -0.5 * math.pi)):
            if not least <= angle < 0.5 * math.pi:
                low = "0" if least == 0.0 else "-pi/2"
                raise ModelError(
                    f"{name} is in radians, from {low} to pi/2, got {angle!r}; numpy.radians makes them of degrees"
                )
        R, p = np.reshape(numbers[:9], (3, 3)), numbers[9:]
        along, apart = R @ (0.0, 1.0, -math.tan(beta)), R @ (-math.tan(alpha) / math.cos(beta), 0.0, 0.0)
        bodies = body_index(forces, "first", first), body_index(forces, "second", second)
        super().__init__(forces, case, *bodies, [[1.0, 0.0, *p, *along, *apart]], ratio)


def _terms(forces: GeneralForceSubsystem, case: int, first: int, second: int, lines: Array) -> dict[tuple[int, int], float]:
    """The coefficients of all coordinates that move one of both bodies beside the other; the same in all poses."""
    bodies = forces.get_system().get_matter_subsystem().body_list
    between = [bodies[b] for b in _path(forces, first, second)]
    for body in between:
        if body.facts.has_quaternion or body.facts.has_matrix_n or body.interpreter is not None or body.is_of_users_functions:
            raise ModelError(
                f"{body!r} moves {bodies[first]!r} beside {bodies[second]!r}, and has no coordinates about fixed axes that "
                "teeth or a belt could turn; give it a Pin, a Slider or a Cylinder"
            )
    places, one, across = _slopes(forces, case, first, second, lines, 0.0)
    _, other, beyond = _slopes(forces, case, first, second, lines, 0.7)
    bound = SAME * float(np.abs([one, other]).max(initial=0.0))
    for (b, which), c, turned, beside in zip(places, one, other, np.maximum(abs(across), abs(beyond)), strict=True):
        if abs(turned - c) > bound:
            raise ModelError(
                f"coordinate {which} of {bodies[b]!r} moves what touches by {c:.6g} in one pose, by {turned:.6g} in another: "
                f"{bodies[first]!r} and {bodies[second]!r} have to turn about axes, or slide along lines, that are fixed to "
                f"the case, {bodies[case]!r}"
            )
        if beside > bound:
            raise ModelError(
                f"coordinate {which} of {bodies[b]!r} moves what touches along x of the frame, apart, for it is at "
                f"{lines[0, POINT:ALONG].tolist()} on {bodies[case]!r}: the pitch point has to be where x leads from one axis "
                "to the other, across both"
            )
    if not bound:
        raise ModelError(
            f"nothing moves {bodies[first]!r} beside {bodies[second]!r} along the line of action: the pitch point has to be "
            "off their axes, and y of its frame, or the span, across them"
        )
    return {place: float(c) for place, c in zip(places, one, strict=True) if abs(c) > bound}


def _path(forces: GeneralForceSubsystem, *ends: int) -> list[int]:
    """The bodies whose mobilizers move the ends beside each other, from the base outward."""
    bodies, root = forces.get_system().get_matter_subsystem().body_list, ends[0]
    for end in ends[1:]:
        root = moves_both(forces, root, end)
    found = set()
    for end in ends:
        while end != root:
            found.add(end)
            end = bodies[end].get_parent_mobilized_body().index
    return sorted(found)


def _slopes(
    forces: GeneralForceSubsystem, case: int, first: int, second: int, lines: Array, turned: float
) -> tuple[list[tuple[int, int]], Array, Array]:
    """The coordinates that move one of both bodies beside the other, and how, where all of them are turned by so much.

    That is v_1 - v_2 at P for unit speeds, along the direction, summed over lines times their shares; and along x.
    """
    bodies = forces.get_system().get_matter_subsystem().body_list
    origin = np.eye(3), np.zeros(3)
    poses: dict[int, tuple[Array, Array]] = {}
    columns: dict[int, list[Any]] = {}
    for b in _path(forces, case, first, second):
        poses[b], columns[b] = _step(bodies[b], poses.get(bodies[b].get_parent_mobilized_body().index, origin), turned)
    R, p = poses.get(case, origin)
    common, places, found = moves_both(forces, first, second), [], []
    for side, end in ((1.0, first), (-1.0, second)):
        for b in _path(forces, common, end):
            for which, (w, v) in enumerate(columns[b]):
                moved = side * (v + np.cross(w, p + lines[:, POINT:ALONG] @ R.T)) @ R
                places.append((b, which))
                found.append([lines[:, SHARE] @ (moved * lines[:, k : k + 3]).sum(axis=1) for k in (ALONG, APART)])
    slopes = np.reshape(found, (-1, 2))
    return places, slopes[:, 0], slopes[:, 1]


def _step(body: MobilizedBody, parent: tuple[Array, Array], turned: float) -> tuple[tuple[Array, Array], list[Any]]:
    """A body's pose in the base, from its parent's, and for a unit of each speed angular velocity and that of the origin."""
    q = tuple((body.default_q + turned * np.arange(1.0, 1.0 + len(body.default_q))).tolist()) or (0.0,)
    given = (q, tuple(body.pack_parameters())) if body.facts.num_parameters else (q,)
    R, p = np.reshape(body.facts.transform(*given)[0], (3, 3)), np.array(body.facts.transform(*given)[1])
    X_PF, X_BM = body.get_default_inboard_frame(), body.get_default_outboard_frame()
    R_F, p_F = parent[0] @ np.asarray(X_PF.R), parent[1] + parent[0] @ np.asarray(X_PF.p)
    columns = [(np.array(w), np.array(v) - np.cross(w, p)) for w, v in body.facts.hinge(*given)][: body.facts.num_u]
    if body.direction is Direction.REVERSE:  # of F in M, expressed in M; M in F then moves the other way
        R, p = R.T, -(R.T @ p)
        columns = [(-(R @ w), -(R @ v) - np.cross(-(R @ w), p)) for w, v in columns]
    in_base = [(R_F @ w, R_F @ v - np.cross(R_F @ w, p_F)) for w, v in columns]
    R_M, p_M = R_F @ R, p_F + R_F @ p
    R_B = R_M @ np.asarray(X_BM.R).T
    return (R_B, p_M - R_B @ np.asarray(X_BM.p)), in_base
