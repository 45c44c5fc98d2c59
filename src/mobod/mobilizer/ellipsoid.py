"""Ellipsoid: M's origin moves over an ellipsoid that is fixed in F, led by M's z axis. 4 coordinates (or 3), 3 speeds.

With radii a, b, c along F's axes, D = diag(a, b, c), and n = R_FM z, M's z axis in F:

R_FM = R(q)   p_FM = D n, that is (a nx, b ny, c nz)   H_FM = [1; D [e1 x n, e2 x n, e3 x n]]   q and u as of a Ball, w = u
HDot_FM u = [0; D (w x (w x n))]

p_FM is on the ellipsoid, for |D^-1 p_FM| = |n| = 1. Source: Simbody 3.7, of which this is the definition. n is the outward
normal there where the radii are equal, and where n is along an axis of F; elsewhere the normal is along D^-1 n.
"""

from __future__ import annotations

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
from ._nearest import on_ellipsoid, on_mohrs_circles, turn_between, within
from ._quaternions import Turning
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS


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
