"""Ellipsoid: M's origin moves over an ellipsoid that is fixed in F, led by M's z axis. 4 coordinates (or 3), 3 speeds.

With radii a, b, c along F's axes, D = diag(a, b, c), and n = R_FM z, M's z axis in F:

R_FM = R(q)   p_FM = D n, that is (a nx, b ny, c nz)   H_FM = [1; D [e1 x n, e2 x n, e3 x n]]   q and u as of a Ball, w = u
HDot_FM u = [0; D (w x (w x n))]

p_FM is on the ellipsoid, for |D^-1 p_FM| = |n| = 1. Source: Simbody 3.7, of which this is the definition. n is the outward
normal there where the radii are equal, and where n is along an axis of F; elsewhere the normal is along D^-1 n.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import vec3
from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import one, zero
from ..body import Body
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..value import Rotation, Transform
from ..value.checks import shaped
from ..value.rows import in_rows
from ._by_orientation import by_orientation
from ._named import speeds
from ._quaternions import Turning
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS


def on_ellipsoid(radii: Array, p: Array, start: Array) -> Array:
    """The unit vector n for which D n, D = diag(radii), is nearest to p; of several the one that *start* suggests.

    At the nearest point x, p - x is along the normal D^-2 x: x_i = r_i^2 p_i / (r_i^2 + t), and t is the root of
    sum (x_i / r_i)^2 = 1 beyond minus the smallest r^2, where the sum falls from infinity, or from what the other axes give if
    p has nothing along the smallest. Source: Eberly 2013, "Distance from a point to an ellipse, an ellipsoid, or a
    hyperellipsoid". With w = 1 + t / r_min^2 nothing cancels near the end of that range, and halving log(w) finds the root
    to rounding whatever the magnitudes.
    """
    least = float(radii.min())
    ratio = radii / least
    excess = (ratio - 1.0) * (ratio + 1.0)  # (r / r_min)^2 - 1: zero for the shortest radii
    pull = np.abs(p) / least * ratio  # of n_i = pull_i / (w + excess_i)
    short = excess == 0.0
    long_part = pull[~short] / excess[~short]
    rest = 1.0 - float(long_part @ long_part)
    nearest_axis = math.hypot(*pull[short])
    n = np.zeros(3)
    if nearest_axis == 0.0 and rest > 0.0:  # p is on the plane (or line, or point) whose nearest points are two or more
        n[~short] = long_part
        n[short] = math.sqrt(rest) * _direction(start[short])
        return np.where(short, n, np.copysign(n, p))
    low, high = max(nearest_axis, float((pull - excess).max())), math.hypot(*pull)
    for _ in range(100):
        w = math.sqrt(low) * math.sqrt(high) if low > 0.0 else 0.5 * high
        if not low < w < high:
            break
        n = pull / (w + excess)
        if math.hypot(*n) > 1.0:
            low = w
        else:
            high = w
    n = np.copysign(pull / (high + excess), p)
    return np.asarray(n / math.hypot(*n))


def on_mohrs_circles(radii: Array, along: float, across: float, start: Array) -> Array:
    """The unit vector n for which n.D n, and the length of the rest of D n, are nearest to *along* and *across*.

    These are the normal and the shear stress on a plane if D = diag(radii) is the stress: what they can be is the region
    between Mohr's three circles, over the differences of the radii as diameters, so that the nearest point follows directly.
    Signs, and directions left free where radii are equal, are those of *start*. Source: Mohr's circles in three dimensions, as
    in Timoshenko and Goodier 1951.
    """
    order = np.argsort(-radii)
    d1, d2, d3 = radii[order]
    x, y = float(along), abs(float(across))
    squares = np.zeros(3)
    pairs = ((0, 2, 1.0), (0, 1, -1.0), (1, 2, -1.0))
    for i, k, side in pairs:  # outside the largest circle, or inside one of the others: onto it
        center, radius = 0.5 * (radii[order[i]] + radii[order[k]]), 0.5 * (radii[order[i]] - radii[order[k]])
        if side * (math.hypot(x - center, y) - radius) > 0.0:
            angle = math.atan2(y, x - center)
            squares[i], squares[k] = math.cos(0.5 * angle) ** 2, math.sin(0.5 * angle) ** 2
            break
    else:
        # the point itself: x = sum m d, x^2 + y^2 = sum m d^2 for the squares m of n; the ones next to a small gap sum up well
        if d1 == d3:
            squares[0] = 1.0
        elif d1 - d2 < d2 - d3:
            squares[2] = ((d1 - x) * (d2 - x) + y * y) / ((d1 - d3) * (d2 - d3))
            squares[0] = ((x - d2) * (x - d3) + y * y) / ((d1 - d2) * (d1 - d3)) if d1 > d2 else 0.0
            squares[0] = min(max(squares[0], 0.0), 1.0 - squares[2])
            squares[1] = 1.0 - squares[0] - squares[2]
        else:
            squares[0] = ((x - d2) * (x - d3) + y * y) / ((d1 - d2) * (d1 - d3))
            squares[2] = ((d1 - x) * (d2 - x) + y * y) / ((d1 - d3) * (d2 - d3)) if d2 > d3 else 0.0
            squares[2] = min(max(squares[2], 0.0), 1.0 - squares[0])
            squares[1] = 1.0 - squares[0] - squares[2]
    n = np.zeros(3)
    n[order] = np.sqrt(np.maximum(squares, 0.0))
    n = np.copysign(n, start)
    for radius in set(radii.tolist()):  # equal radii leave a circle of solutions, or the whole sphere
        same = radii == radius
        if np.count_nonzero(same) > 1:
            n[same] = math.hypot(*n[same]) * _direction(start[same])
    return np.asarray(n / math.hypot(*n))


def turn_between(a: Array, b: Array, spare: Array) -> tuple[float, Array]:
    """Angle and axis of the least turn from unit vector a to unit vector b; half a turn is about *spare*, normal to a."""
    axis = np.cross(a, b)
    sine = math.hypot(*axis)
    return math.atan2(sine, float(a @ b)), axis / sine if sine > 0.0 else spare


def within(size: float, p: Array) -> Array:
    """p, or where its largest entry exceeds *size*, the vector along p whose largest entry is *size*."""
    if np.any(np.isnan(p)):
        raise ValueError(f"a place to fit has to be three numbers, got {p}")
    if np.any(np.isinf(p)):
        return size * np.where(np.isinf(p), np.sign(p), 0.0)
    largest = float(np.abs(p).max())
    return p if largest <= size else size * (p / largest)


def _direction(v: Array) -> Array:
    """v made a unit vector, and the first axis where it is zero."""
    length = math.hypot(*v)
    if length > 0.0:
        return np.asarray(v / length)
    axis = np.zeros(len(v))
    axis[0] = 1.0
    return axis


@generic
def place(R: Any, rest: Any, radii: Any) -> Any:  # p_FM
    return radii[0] * R[2], radii[1] * R[5], radii[2] * R[8]


@generic
def hinge(R: Any, rest: Any, radii: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(R[0]), one(R[0])
    x, y, z = _sliding((R[2], R[5], R[8]), radii)
    return ((i, o, o), x), ((o, i, o), y), ((o, o, i), z)


@generic
def bias(u: Any, H: Any, radii: Any) -> Any:  # HDot_FM u, expressed in F
    o, (a, b, c) = zero(u[0]), radii
    v = vec3.add_scaled(vec3.add_scaled(vec3.scale(u[0], H[0][1]), u[1], H[1][1]), u[2], H[2][1])
    x, y, z = vec3.cross(u, (v[0] / a, v[1] / b, v[2] / c))
    return (o, o, o), (a * x, b * y, c * z)


@generic
def _sliding(n: Any, radii: Any) -> Any:  # D (e x n) for the three axes e of F
    o = zero(n[0])
    a, b, c = radii
    return (o, -b * n[2], c * n[1]), (a * n[2], o, -c * n[0]), (-a * n[1], b * n[0], o)


_functions = by_orientation(place, hinge, bias, num_u=3, num_parameters=3)


def _radii(what: str, value: Any) -> Array:
    """Three numbers that are not zero."""
    radii = shaped(what, value, (3,))
    if _finite_and_not_zero(radii) is None:
        raise ModelError(f"{what} have to be three finite numbers that are not zero, along F's x, y and z; got {value!r}")
    return radii


@in_rows(_radii)
def _finite_and_not_zero(values: Array) -> Array | None:
    return values if ((values != 0.0) & np.isfinite(values)).all() else None


class Ellipsoid(Turning):
    """Turn as a Ball does; M's z axis then moves M's origin over an ellipsoid that is fixed in F and centered on its origin.

    With R_FM = 1, M's origin is at the top of the ellipsoid, at (0, 0, radii[2]).

    Parameters
    ----------
    radii : sequence of 3 floats
        Half axes of the ellipsoid along F's x, y and z; length. A negative one mirrors the place along its axis, as models of
        left and right shoulders have it. A state can change them.

    Raises
    ------
    ModelError
        If a radius is zero or not finite, or what every mobilizer refuses.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Ellipsoid(matter.ground, ball, radii=(0.1, 0.2, 0.3))
    >>> state = system.realize_topology()
    >>> joint.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.5, 'x'))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> float(joint.get_body_origin_location(state)[2].round(3))
    0.263
    """

    facts = Facts(BY_ADDRESS, num_q=4, num_u=3, num_parameters=3, constant_hinge=False, **_functions._asdict())

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        *,
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
        radii: ArrayLike = (1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0),
    ) -> None:
        self.default_numbers = self.declared(name, radii=radii)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)

    get_default_radii, set_default_radii, get_radii, set_radii = parameters.vector(
        "radii", "length", "the half axes along F's x, y and z", _radii
    ).accessors()
    get_angular_velocity, set_angular_velocity = speeds(
        "angular_velocity", 0, 3, "u: w_FM in F, or w_MF in M of a reversed mobilizer", "angle/time", "w_FM"
    )

    def _fit_place(self, p: Array, q: Array, radii: Array) -> None:
        """Nothing to fit: the orientation determines the place."""

    def _fit_translation(self, p: Array, q: Array, radii: Array) -> None:
        """Turn M least so that its z axis n takes p_FM = D n nearest to p."""
        R, half = Rotation.from_quaternion(q), np.abs(radii)
        n = on_ellipsoid(half, np.sign(radii) * within(1e100 * float(half.max()), p), R.z_axis)
        q[:] = (Rotation.about_axis(*turn_between(R.z_axis, n, R.x_axis)) @ R).to_quaternion()

    def _fit_translation_reversed(self, p: Array, q: Array, radii: Array) -> None:
        """The same where the ellipsoid is fixed in M, and led by F's z axis n in M: p_FM = -R_MF^T D n.

        Its part along F's z is -n.D n, so that what can be reached is a figure of revolution about F's z axis: n determines the
        height and the distance from this axis, and a turn about n the direction.
        """
        R, size = Rotation.from_quaternion(q), float(np.abs(radii).max())
        target = -within(1e100 * size, p)
        if np.linalg.norm(~R @ (radii * R.z_axis) - target) <= 1e-13 * (size + np.linalg.norm(target)):
            return  # reached already; below, square roots of rounding errors would turn M needlessly
        n = on_mohrs_circles(radii, target[2], np.hypot(target[0], target[1]), R.z_axis)
        R = Rotation.about_axis(*turn_between(R.z_axis, n, R.x_axis)) @ R
        have = ~R @ (radii * n)
        turn = np.arctan2(have[1], have[0]) - np.arctan2(target[1], target[0])
        q[:] = (R @ Rotation.about_axis(turn, (0.0, 0.0, 1.0))).to_quaternion()
