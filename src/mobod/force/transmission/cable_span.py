"""CableSpan: a taut cable over obstacles in a fixed order, as Simbody's class of that name.

Between two via points, or an end, it is the taut line of `_taut`: straight pieces, and geodesics of obstacles, so that

    l = sum of pieces        l' = -sum of (e_out - e_in) . v        T (e_behind - e_before) on an obstacle

In contrast to Simbody's it has no memory: each state is solved from a beginning of its own, so the same q gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import contact
from ...algebra.arrays import Array, ArrayLike
from ...errors import ModelError
from ...state.state import State
from ...value import Rotation, Transform, checks
from ...value.stage import Stage
from ..base import body_index
from ..subsystem import GeneralForceSubsystem
from ._geodesic import TOLERANCE, form_of, normal, shoot
from ._stops import OVER, PLACE, PULL, THERE, row
from ._taut import evaluate_all, evaluate_f, lifted, touched
from .path import Path
from .surfaces import PathWrap, WrapCapsule, WrapCylinder, WrapEllipsoid, WrapSphere, WrapTorus


class CableSpan(Path):
    """A taut cable from a point of one body to one of another, over obstacles and through via points in a fixed order.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    origin, termination : (MobilizedBody, (3,) array_like)
        Its ends, each a body and a station.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, IndexError, TopologyError
        If a body is none, or of another system, or a station no vector.

    Notes
    -----
    On an obstacle that its straight pieces would go through it is a geodesic that they touch, and the length is the least
    there is nearby: over the short way round, or past the obstacle's hint, which can be more than half a turn. It lifts off,
    and touches again, without a jump of length or forces; it jumps where the short way goes over to the other side. An
    obstacle with an end or via point inside counts for nothing, it may go through one that overlaps another, and hints with
    which no shortest way is found are left out: a `ModelWarning` says so, once, when a state is first realized or run so; a
    point on its surface is taken to be off it by 1e-10 of its distance from the middle. A torus may be touched in two places,
    with a straight piece between, and counts as two of 16 obstacles. Where no solution is found, as now and then where such
    places part, realizing a state is a `ModelError` that names cable and obstacle; in an ensemble its length is not a number,
    and `Ensemble.failures` and those of runs name it. Forces act on all bodies; springs, actuators and muscles act along it.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ground, lower = system.matter.ground, system.matter.bodies["lower"]
    >>> cable = mb.force.CableSpan(system.forces, (ground, (-1, 0, 0)), (lower, (1.5, 0.5, 0)))
    >>> pulley = cable.add_obstacle(ground, mb.Transform(p=(0, -0.6, 0)), mb.contact.Sphere(0.3), (0, 1, 0))
    >>> spring = mb.force.CableSpring(system.forces, cable, stiffness=10.0, slack_length=0.1)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> cable.is_in_contact_with_obstacle(state, pulley), bool(cable.calc_smoothness(state) < 1e-12)
    (True, True)
    """

    def __init__(self, forces: GeneralForceSubsystem, origin: Any, termination: Any, *, ratio: float = 1.0) -> None:
        self._points: list[Any] = [_end("origin", origin), _end("termination", termination)]
        self._obstacles: list[PathWrap] = []
        super().__init__(forces, self._points, ratio=ratio, wrapping="geodesic")

    def add_obstacle(
        self, body: Any, X_BS: Transform, shape: contact.Shape, contact_point_hint: ArrayLike | None = None
    ) -> int:
        """Add an obstacle behind all that is there, before the termination.

        Parameters
        ----------
        body : MobilizedBody
            What it is fixed to.
        X_BS : Transform
            The frame of its shape in the body.
        shape : contact.Sphere, contact.Ellipsoid, contact.Torus, contact.Capsule or contact.Cylinder
            Its surface; of a cylinder the side, which goes on beyond both ends.
        contact_point_hint : (3,) array_like, optional
            Past which point, in the shape's frame, the cable goes over it; the short way unless given.

        Returns
        -------
        int
            Its number among the obstacles.

        Raises
        ------
        ModelError
            If a force acts along the cable already, there are too many obstacles, or the shape has edges.
        """
        surface = _surface(body, X_BS, shape)
        self._check_free()
        found = [*self._obstacles, PathWrap(surface, first=len(self._points) - 2, hint=contact_point_hint)]
        Path.__init__(self, self.forces, self._points, found, ratio=self.numbers[0], wrapping="geodesic")
        self._obstacles = found
        return len(found) - 1

    def add_via_point(self, body: Any, station: ArrayLike) -> int:
        """Add a point through which the cable goes, behind all that is there; its number among the via points.

        Parameters
        ----------
        body : MobilizedBody
        station : (3,) array_like
            In the body.
        """
        self._check_free()
        found = [*self._points[:-1], _end("a via point", (body, station)), self._points[-1]]
        Path.__init__(self, self.forces, found, self._obstacles, ratio=self.numbers[0], wrapping="geodesic")
        self._points = found
        return len(found) - 3

    def get_num_obstacles(self) -> int:
        """Number of obstacles."""
        return len(self._obstacles)

    def get_num_via_points(self) -> int:
        """Number of via points."""
        return len(self._points) - 2

    def calc_length_dot(self, state: State) -> float:
        """The rate of the length. Needs VELOCITY."""
        return self.calc_speed(state)

    def calc_cable_power(self, state: State, tension: float) -> float:
        """The power of a tension on the bodies: minus the tension times the rate of the length. Needs VELOCITY."""
        return -checks.finite("tension", tension) * self.calc_speed(state)

    def calc_smoothness(self, state: State) -> float:
        """The greatest angle, in radians, by which it bends where it touches: below 1e-6, else there is no solution.

        Needs POSITION.
        """
        self._ready(state, "calc_smoothness", Stage.POSITION)
        self._call(state, 0)
        every, numbers, worst = self._of_taut(state), state.record.function_value[:, 0], 0.0
        for first in {first for first, _ in self.ranges}:
            over = [w for w, (other, _) in enumerate(self.ranges) if other == first]
            own, n = every[over].reshape(-1, 1), len(over)
            a, c = (lifted(own, n, tuple(numbers[row(k) + PLACE : row(k) + PLACE + 3])) for k in (first, first + 1))
            on = [i for i in range(n) if touched(own, i)]
            evaluate_all(own, n, TOLERANCE)  # what the last step has left, which solving does not look at again
            worst = max([worst, *(evaluate_f(own, i, 0, n, a, c) for i in on)])
        return float(worst)

    def is_in_contact_with_obstacle(self, state: State, obstacle: int) -> bool:
        """True if it touches an obstacle. Needs POSITION."""
        return bool(self._touches(state, obstacle))

    def calc_curve_segment_arc_length(self, state: State, obstacle: int) -> float:
        """The length over an obstacle; zero where it does not touch. Needs POSITION."""
        return float(sum(last[OVER] for _, last in self._touches(state, obstacle)))

    def calc_curve_segment_initial_frenet_frame(self, state: State, obstacle: int) -> Transform:
        """The Frenet frame where it first touches an obstacle, in Ground: x along, y outward, z across. Needs POSITION."""
        return self._frenet_frame(state, obstacle, last=False)

    def calc_curve_segment_final_frenet_frame(self, state: State, obstacle: int) -> Transform:
        """The same where it leaves the obstacle. Needs POSITION."""
        return self._frenet_frame(state, obstacle, last=True)

    def calc_curve_segment_resampled_points(self, state: State, obstacle: int, num_points: int) -> Array:
        """Points in Ground at equal distances along an obstacle, ends included, (num_points, 3). Needs POSITION.

        Where a torus is touched in two places, the piece between counts for nothing.
        """
        count = checks.integer("num_points", num_points)
        if count < 2:
            raise ValueError(f"num_points has to be 2 or more, got {num_points!r}")
        X_GS, surface = self._frame(state, obstacle)
        touches, sizes = self._touching(state, obstacle), tuple(_sizes(surface))
        ends = np.cumsum([last[OVER] for _, last in touches])
        found = [touches[0][0][PLACE : PLACE + 3]]
        for distance in np.linspace(0.0, ends[-1], count)[1:-1]:
            k = int(np.searchsorted(ends[:-1], distance))
            first, last = touches[k]
            x, t = ~X_GS @ first[PLACE : PLACE + 3], -np.asarray((~X_GS).R @ first[PULL : PULL + 3])
            own = form_of(surface.KIND, sizes), tuple(x), tuple(t), float(distance - ends[k] + last[OVER])
            found.append(X_GS @ np.array(shoot(surface.KIND, *own, TOLERANCE)[0]))
        return np.array([*found, touches[-1][1][PLACE : PLACE + 3]])

    def calc_curve_segment_unit_force(self, state: State, obstacle: int) -> Array:
        """Torque about the body's origin and force on it by an obstacle at unit tension, (2, 3) in Ground. Needs POSITION."""
        b = body_index(self.forces, "body of an obstacle", self._obstacle(obstacle).surface.body)
        return self._unit_force(state, b, [stop for touch in self._touches(state, obstacle) for stop in touch])

    def calc_origin_tangent_direction(self, state: State) -> Array:
        """Its direction at the origin, (3,) in Ground. Needs POSITION."""
        return self._point_stop(state, 0)[PULL : PULL + 3].copy()

    def calc_termination_tangent_direction(self, state: State) -> Array:
        """Its direction at the termination, (3,) in Ground. Needs POSITION."""
        return -self._point_stop(state, len(self._points) - 1)[PULL : PULL + 3]

    def calc_origin_unit_force(self, state: State) -> Array:
        """Torque about the body's origin and force at the origin at unit tension, (2, 3) in Ground. Needs POSITION."""
        return self._unit_force_at(state, 0)

    def calc_termination_unit_force(self, state: State) -> Array:
        """The same at the termination. Needs POSITION."""
        return self._unit_force_at(state, len(self._points) - 1)

    def calc_via_point_unit_force(self, state: State, via_point: int) -> Array:
        """The same at a via point. Needs POSITION."""
        return self._unit_force_at(state, 1 + checks.index_of(self.get_num_via_points(), via_point, self, "via points"))

    def calc_body_forces(self, state: State, tension: float) -> Array:
        """Torque and force on every body by a tension, (nb, 2, 3) in Ground, about the bodies' origins. Needs POSITION."""
        pull = checks.finite("tension", tension)
        found = np.zeros((self.forces.get_system().get_matter_subsystem().get_num_bodies(), 2, 3))
        for k, (body, _) in enumerate(self._points):
            found[body_index(self.forces, "body", body)] += pull * self._unit_force_at(state, k)
        for k, wrap in enumerate(self._obstacles):
            found[body_index(self.forces, "body", wrap.surface.body)] += pull * self.calc_curve_segment_unit_force(state, k)
        return found

    # ------------------------------------------------------------------------------------------ inside

    def _check_free(self) -> None:
        if self.user is not None:
            raise ModelError("a CableSpan gets its obstacles and via points before a force that acts along it")

    def _kind_of(self, surface: Any) -> str:
        return super()._kind_of(surface).removeprefix("Wrap")  # the shape that was given

    def _obstacle(self, obstacle: int) -> PathWrap:
        return checks.one_of(self._obstacles, obstacle, self, "obstacles")

    def _point_stop(self, state: State, k: int) -> Array:
        """The numbers of a stop."""
        self.calc_length(state)
        return np.asarray(state.record.function_value[row(k) : row(k + 1), 0])

    def _touches(self, state: State, obstacle: int) -> list[tuple[Array, Array]]:
        """The first and last stops of each place in which it touches."""
        self._obstacle(obstacle)
        stops = [len(self._points) + 2 * w for w, which in enumerate(self._which) if which == obstacle]
        pairs = [(self._point_stop(state, k).copy(), self._point_stop(state, k + 1).copy()) for k in stops]
        return [pair for pair in pairs if pair[0][THERE] > 0.5]

    def _touching(self, state: State, obstacle: int) -> list[tuple[Array, Array]]:
        touches = self._touches(state, obstacle)
        if not touches:
            raise ModelError(f"the cable does not touch obstacle {obstacle} in this state, which so has no frame")
        return touches

    def _frame(self, state: State, obstacle: int) -> tuple[Transform, Any]:
        surface = self._obstacle(obstacle).surface
        b = body_index(self.forces, "body", surface.body)
        X = Transform(state.R_GB[b], state.record.p_GB[b, :3].ravel())
        return X @ (Transform() if surface.frame is None else surface.frame), surface

    def _frenet_frame(self, state: State, obstacle: int, *, last: bool) -> Transform:
        touches = self._touching(state, obstacle)
        stop = touches[-1][1] if last else touches[0][0]
        X_GS, surface = self._frame(state, obstacle)
        x, sizes = ~X_GS @ stop[PLACE : PLACE + 3], tuple(_sizes(surface))
        n = np.asarray(X_GS.R) @ np.array(normal(surface.KIND, form_of(surface.KIND, sizes), tuple(x))[0])
        t = stop[PULL : PULL + 3] * (1.0 if last else -1.0)
        return Transform(Rotation(np.column_stack([t, n, np.cross(t, n)])), stop[PLACE : PLACE + 3])

    def _unit_force_at(self, state: State, k: int) -> Array:
        b = body_index(self.forces, "body", self._points[k][0])
        return self._unit_force(state, b, (self._point_stop(state, k),))

    def _unit_force(self, state: State, b: int, stops: Any) -> Array:
        origin, found = state.record.p_GB[b, :3].ravel(), np.zeros((2, 3))
        for stop in stops:
            force = stop[PULL : PULL + 3]
            found += [np.cross(stop[PLACE : PLACE + 3] - origin, force), force]
        return found


def _end(what: str, end: Any) -> tuple[Any, Any]:
    try:
        body, station = end
    except (TypeError, ValueError):
        raise TypeError(f"{what} of a CableSpan is a body and a station, (body, (x, y, z)); got {end!r}") from None
    return body, checks.vector(f"{what} of a CableSpan", station)


def _surface(body: Any, X_BS: Transform, shape: Any) -> Any:
    """The surface of a shape."""
    frame = checks.instance("X_BS of an obstacle", X_BS, Transform, "a Transform")
    if isinstance(shape, contact.Sphere):
        return WrapSphere(body=body, frame=frame, radius=shape.radius)
    if isinstance(shape, contact.Ellipsoid):
        return WrapEllipsoid(body=body, frame=frame, dimensions=shape.radii)
    if isinstance(shape, contact.Torus):
        return WrapTorus(body=body, frame=frame, inner_radius=shape.tube_radius, outer_radius=shape.torus_radius)
    if isinstance(shape, contact.Cylinder):
        return WrapCylinder(body=body, frame=frame, radius=shape.radius, length=1.0)  # endless, whatever its length
    if isinstance(shape, contact.Capsule):
        return WrapCapsule(body=body, frame=frame, radius=shape.radius, half_length=shape.half_length)
    if isinstance(shape, contact.Shape):
        why = "is no closed surface" if isinstance(shape, contact.HalfSpace | contact.HeightField) else "has edges"
        raise ModelError(
            f"an obstacle of a CableSpan is a Sphere, Ellipsoid, Torus, Capsule or Cylinder; {type(shape).__name__} {why}"
        )
    raise TypeError(f"the shape of an obstacle is one of mobod.contact, such as Sphere(0.1), not {shape!r}")


def _sizes(surface: Any) -> Array:
    sizes = surface.sizes()
    return np.array([*sizes, *[0.0] * (3 - len(sizes))])
