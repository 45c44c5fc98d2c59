"""CantileverFreeBeam: the tip of a slender beam on its root. F is at the root, M at the tip, and the beam is along z.

    R_FM = Rx(q0) Ry(q1) Rz(q2)     p_FM = L (2/3 q1, -2/3 q0, 1 - 4/15 (q0^2 + q1^2))     q_dot = u
    H_FM = [the axes of the angles; L (0, -2/3, -8/15 q0), L (2/3, 0, -8/15 q1), 0]
    HDot_FM = [their rates; L (0, 0, -8/15 u0), L (0, 0, -8/15 u1), 0]

3 coordinates, 3 speeds. The tip is where the slope and the deflection of a beam with a force across its end are: Euler and
Bernoulli's w'(s) = theta (2 s/L - s^2/L^2), so that w(L) = 2/3 theta L, and it comes nearer by the integral of w'^2 / 2, which
is 4/15 theta^2 L. (Under a force F the slope is theta = F L^2 / 2 E I: a torsional spring 4 E I / 3 L on q0 and on q1 makes the
beam.) Source: Gere and Timoshenko, Mechanics of Materials, on cantilever beams; the axes of the angles: `algebra.euler_xyz`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import euler_xyz, rotation
from ..algebra.arrays import Array
from ..algebra.scalar import zero
from ..body import Body
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..value import Rotation, Transform
from ..value.checks import finite, shown
from ..value.rows import in_rows, positive
from ._named import coordinates, speeds
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS, by_address


@generic
def transform(q: Any, p: Any) -> Any:  # X_FM
    bend, drop = 2.0 / 3.0 * p[0], 4.0 / 15.0 * p[0]
    return (
        rotation.body_fixed_xyz(q[0], q[1], q[2]),
        (bend * q[1], -bend * q[0], p[0] - drop * (q[0] * q[0] + q[1] * q[1])),
    )


@generic
def hinge(q: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(q[0])
    bend, drop = 2.0 / 3.0 * p[0], 8.0 / 15.0 * p[0]
    x, y, z = euler_xyz.rate_columns(q)
    return (x, (o, -bend + o, -drop * q[0])), (y, (bend + o, o, -drop * q[1])), (z, (o, o, o))


@generic
def bias(q: Any, u: Any, H: Any, p: Any) -> Any:  # HDot_FM u, expressed in F
    o = zero(q[0])
    drop = 8.0 / 15.0 * p[0]
    return euler_xyz.rates_of_columns(u, H[1][0], H[2][0]), (o, o, -drop * (u[0] * u[0] + u[1] * u[1]))


kinematics = by_address(transform, hinge, bias, num_q=3, num_u=3, num_parameters=1)


def _positive(what: str, value: Any) -> float:
    """A finite number above zero."""
    length = finite(what, value)
    if length <= 0.0:
        raise ModelError(f"{what} has to be positive, got {shown(value)}. What has no length is a Gimbal")
    return length


in_rows(_positive)(positive)


class CantileverFreeBeam(MobilizedBody):
    """The tip of a beam on its root: two angles of bending, which also deflect the tip, and one of twist.

    F is at the beam's root and M at its tip, *length* along z when the beam is straight. The coordinates are the tip's
    body-fixed angles about x, y, z; its place follows, to second order, as that of an Euler-Bernoulli beam with a force across
    its end: 2/3 length a radian of slope. The mobilizer is geometry alone: springs on its coordinates make it elastic, with
    stiffness 4 E I / (3 length) for bending and G J / length for twist.

    Good for slopes of some tenths of a radian; beyond, the formulas stay regular, but a real beam bends differently.

    Parameters
    ----------
    length : float, optional
        Length of the straight beam, greater than zero. A state can change it, `set_length`.

    Raises
    ------
    ModelError
        If the length is not finite or not greater than zero.
    TypeError
        If the length is not a number.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.CantileverFreeBeam(matter.ground, ball, length=2.0)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.0, 0.3, 0.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([0.4  , 0.   , 1.952])
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=3,
        num_u=3,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        num_parameters=1,
        kinematics=kinematics,
    )

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        *,
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
        length: float = 1.0,
    ) -> None:
        self.default_numbers = self.declared(name, length=length)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)

    get_default_length, set_default_length, get_length, set_length = parameters.scalar(
        "length", "length", _positive, "the beam's length"
    ).accessors()
    get_default_angles, set_default_angles, get_angles, set_angles = coordinates(
        "angles", 0, 3, "the tip's angles about x, y, z, body-fixed", "angle"
    )
    get_rates, set_rates = speeds("rates", 0, 3, "the angles' rates", "angle/time")

    def _fit_rotation(self, R: Rotation, q: Array, parameters: Array) -> None:
        q[:] = R.to_body_fixed_xyz()

    def _fit_translation(self, p: Array, q: Array, parameters: Array) -> None:
        """Bend the beam in the plane of p, to the slope t that is nearest; the twist stays.

        The square of the distance, over L^2, is (2/3 t - d)^2 + (1 - z - 4/15 t^2)^2, with d the distance of p from the z
        axis over L: least where 64/225 t^3 + (8/9 - 16/15 (1 - z)) t = 4/3 d.
        """
        x, y, z = _in_lengths(p, parameters)
        d = float(np.hypot(x, y))
        roots = np.roots([64.0 / 225.0, 0.0, 8.0 / 9.0 - 16.0 / 15.0 * (1.0 - z), -4.0 / 3.0 * d])
        slopes = np.append(np.abs(roots.real), 0.0)
        slope = slopes[np.argmin((2.0 / 3.0 * slopes - d) ** 2 + (1.0 - z - 4.0 / 15.0 * slopes**2) ** 2)]
        if d == 0.0:  # any plane is as good
            x, y = (q[1], -q[0]) if np.hypot(q[0], q[1]) > 0.0 else (1.0, 0.0)
            d = float(np.hypot(x, y))
        q[:2] = -slope * y / d, slope * x / d

    def _fit_place(self, p: Array, q: Array, parameters: Array) -> None:
        """Among the q of one orientation, whole turns and (q0 + pi, pi - q1, q2 + pi), choose the place nearest to p."""
        target, unit = _in_lengths(p, parameters), (1.0,)
        wanted, best, nearest = np.array(q), np.inf, np.array(q)
        self._fit_translation(p, wanted, parameters)
        for angles in (q, np.array([q[0] + np.pi, np.pi - q[1], np.remainder(q[2], 2.0 * np.pi) - np.pi])):
            turns = np.round((wanted - angles) / (2.0 * np.pi))
            for first in turns[0] + (-1.0, 0.0, 1.0):
                for second in turns[1] + (-1.0, 0.0, 1.0):
                    candidate = angles + 2.0 * np.pi * np.array([first, second, 0.0])
                    misfit = float(np.linalg.norm(np.array(transform(candidate, unit)[1]) - target))
                    if misfit < best * (1.0 - 1e-12):
                        best, nearest = misfit, candidate
        q[:] = nearest

    def _fit_translation_reversed(self, p: Array, q: Array, parameters: Array) -> None:
        """The root as seen from the tip, -R^T p_MF: least squares from the present q and, unless that will do, from a table."""
        from scipy.optimize import least_squares  # not needed by `import mobod`, and slow

        target, unit = _in_lengths(p, parameters), (1.0,)

        def misfit(q: Array) -> Array:
            R, p_MF = transform(q, unit)
            return target + np.reshape(R, (3, 3)).T @ p_MF

        def jacobian(q: Array) -> Array:
            R, p_MF = transform(q, unit)
            w, v = np.reshape(hinge(tuple(q), unit), (3, 2, 3)).transpose(1, 0, 2)
            return np.reshape(R, (3, 3)).T @ (v - np.cross(w, p_MF)).T

        def nearest(start: Array) -> tuple[float, Array]:
            found = least_squares(misfit, start, jacobian, method="lm", ftol=1e-15, xtol=1e-15, gtol=1e-15)
            return float(np.linalg.norm(found.fun)), found.x

        best, q[:] = nearest(q.copy())
        if best > 1e-12 * (1.0 + np.linalg.norm(target)):
            for start in _reversed_starts(target, q[2]):
                left, found = nearest(start)
                if left < best - 1e-9:
                    best, q[:] = left, found


def _reversed_starts(target: Array, twist: float) -> list[Array]:
    """The most promising places of a table, over slope and plane of bending; each with its best twist."""
    # |p|^2 = 1 - 4/45 s + 16/225 s^2 with s the square of the slope, and never less than at s = 5/8
    slope = np.sqrt(0.625 + 3.75 * np.sqrt(max(float(target @ target) - 35.0 / 36.0, 0.0)))
    slopes, planes = np.linspace(0.0, slope + 2.0, 41)[1:, None], np.linspace(0.0, 2.0 * np.pi, 49)[:-1]
    a, b = slopes * np.cos(planes), slopes * np.sin(planes)
    R, (x, y, z) = rotation.body_fixed_xyz(a, b, np.zeros_like(a)), transform((a, b, a), (1.0,))[1]
    u, v, w = (R[i] * x + R[i + 3] * y + R[i + 6] * z for i in range(3))  # the tip's place in its frame, but for the twist
    off = (np.hypot(u, v) - np.hypot(target[0], target[1])) ** 2 + (w + target[2]) ** 2
    around = [np.roll(off, 1, 1), np.roll(off, -1, 1), np.vstack([off[1:], off[-1:]]), np.vstack([off[:1], off[:-1]])]
    valleys = np.argwhere(off <= np.min(around, axis=0)).tolist()
    places = sorted(valleys, key=lambda place: float(off[*place]))[:4]
    twists = np.arctan2(v, u) - np.arctan2(-target[1], -target[0])
    return [
        np.array([a[i, k], b[i, k], twist + np.remainder(twists[i, k] - twist + np.pi, 2.0 * np.pi) - np.pi]) for i, k in places
    ]


def _in_lengths(p_FM: Array, p: Array) -> Array:
    """p_FM over the beam's length; one too large to compute with is reduced."""
    with np.errstate(over="ignore"):
        return np.clip(p_FM / p[0], -1e12, 1e12)
