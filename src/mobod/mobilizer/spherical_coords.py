"""SphericalCoords: rotation about z, then about the y axis that this has turned, then translation along M's z (or x) axis.

    azimuth a = +-q0 + a0     zenith b = +-q1 + b0     R_FM = Rz(a) Ry(b)     p_FM = q2 e,  e = +-R_FM z (or +-R_FM x)
    H_FM = [w0, w1, 0; w0 x p, w1 x p, e]     w0 = +-z, w1 = +-Rz(a) y      q_dot = u
    HDot_FM u = [w'; w' x p + w x (w x p + 2 u2 e)]  with w = u0 w0 + u1 w1, w' = u0 u1 w0 x w1

3 coordinates, 3 speeds. At q2 = 0, and on the z axis, the first two columns only turn M: no singularity, unless M carries a
particle, which they then do not move. Source: Seth et al. 2010; signs, offsets and axis as in Simbody.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import mat33, rotation, vec3
from ..algebra.arrays import Array
from ..algebra.scalar import one, sincos, zero
from ..body import Body
from ..compiling import generic
from ..value import Rotation, Transform, checks
from ._named import coordinate, coordinates, speed, speeds
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS, by_address

#: Where the search for the best first angle starts. The trace has two periods a turn at most: no maximum is missed.
_STARTS = np.linspace(-np.pi, np.pi, 65)[:-1]


def about_z_then_y(M: Array) -> tuple[float, float]:
    """The angles a, b for which Rz(a) Ry(b) is nearest to the rotation M: those of the largest trace of M^T Rz(a) Ry(b).

    For one a the best b is known: the trace is A + B cos b + C sin b, with A, B, C linear in cos a and sin a. What is left,
    A + sqrt(B^2 + C^2), is maximized over a: the maxima of a table are bracketed, and bisection finds where the slope is zero.
    """

    def parts(a: Array) -> tuple[Array, Array, Array]:
        s, c = np.sin(a), np.cos(a)
        return c * M[1, 1] - s * M[0, 1], c * M[0, 0] + s * M[1, 0] + M[2, 2], c * M[0, 2] + s * M[1, 2] - M[2, 0]

    def merit(a: Array) -> Array:
        A, B, C = parts(a)
        return A + np.hypot(B, C)

    def slope(a: Array) -> Array:
        _, B, C = parts(a)
        s, c = np.sin(a), np.cos(a)
        A_dot, B_dot, C_dot = -s * M[1, 1] - c * M[0, 1], c * M[1, 0] - s * M[0, 0], c * M[1, 2] - s * M[0, 2]
        S = np.hypot(B, C)
        return A_dot + (B * B_dot + C * C_dot) / np.where(S > 0.0, S, 1.0)

    table, step = merit(_STARTS), _STARTS[1] - _STARTS[0]
    summits = _STARTS[(table >= np.roll(table, 1)) & (table >= np.roll(table, -1))]
    low, high = summits - step, summits + step
    for _ in range(60):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0.0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    found = 0.5 * (low + high)
    a = found[np.argmax(merit(found))]
    _, B, C = parts(a)
    return float(a), float(np.arctan2(C, B))


# parameters: sign and offset of the azimuth, of the zenith, and the radial axis: its x and z components in M


@generic
def transform(q: Any, p: Any) -> Any:  # X_FM
    R = rotation.about_z_then_y(p[0] * q[0] + p[1], p[2] * q[1] + p[3])
    return R, vec3.scale(q[2], _radial(R, p))


@generic
def hinge(q: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(q[0])
    w0, w1, e = _axes(q, p)
    p_FM = vec3.scale(q[2], e)
    return (w0, vec3.cross(w0, p_FM)), (w1, vec3.cross(w1, p_FM)), ((o, o, o), e)


@generic
def bias(q: Any, u: Any, H: Any, p: Any) -> Any:  # HDot_FM u, expressed in F
    (w0, v0), (w1, v1), (_, e) = H
    w = vec3.add_scaled(vec3.scale(u[0], w0), u[1], w1)
    turned = vec3.add_scaled(vec3.scale(u[0], v0), u[1], v1)  # w x p
    w_dot = vec3.scale(u[0] * u[1], vec3.cross(w0, w1))
    centripetal = vec3.cross(w, vec3.add_scaled(turned, 2.0 * u[2], e))
    return w_dot, vec3.add(centripetal, vec3.scale(q[2], vec3.cross(w_dot, e)))


@generic
def _radial(R: Any, p: Any) -> Any:
    """The axis that M slides along, in F."""
    return mat33.mul_vec(R, (p[4], 0.0 * p[4], p[5]))


@generic
def _axes(q: Any, p: Any) -> Any:
    """The axes that q0 and q1 turn about, and the one that q2 slides along, in F."""
    o, i = zero(q[0]), one(q[0])
    azimuth = p[0] * q[0] + p[1]
    s, c = sincos(azimuth)
    e = _radial(rotation.about_z_then_y(azimuth, p[2] * q[1] + p[3]), p)
    return (o, o, p[0] * i), (-p[2] * s, p[2] * c, o), e


kinematics = by_address(transform, hinge, bias, num_q=3, num_u=3, num_parameters=6)


class SphericalCoords(MobilizedBody):
    """Turn by an azimuth about z and a zenith about y, then slide along M's z or x axis: spherical coordinates.

    The coordinates are two angles and a radius. The azimuth is `q0 + azimuth_offset`, or `-q0 + azimuth_offset` where it is
    negated, and so is the zenith with `q1`; the accessors speak of q itself.

    Parameters
    ----------
    azimuth_offset, zenith_offset : float, optional
        Azimuth and zenith at q0 = 0 and q1 = 0, angles.
    azimuth_negated, zenith_negated : bool, optional
        Whether they fall as q0 and q1 grow.
    radial_axis : {"z", "x"}, optional
        The axis of M along which it slides. With ``"z"`` the zenith is that of physics, measured from the pole; with ``"x"``
        the negated zenith is a latitude.
    radial_negated : bool, optional
        Whether M moves against that axis as q2 grows.

    Raises
    ------
    ModelError
        If an offset is not finite.
    TypeError
        If an offset is not a number, or what should be a bool is none.
    ValueError
        If the radial axis is neither ``"x"`` nor ``"z"``.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.SphericalCoords(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (0.5, 0.8, 2.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([1.259, 0.688, 1.393])
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=3,
        num_u=3,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        num_parameters=6,
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
        azimuth_offset: float = 0.0,
        azimuth_negated: bool = False,
        zenith_offset: float = 0.0,
        zenith_negated: bool = False,
        radial_axis: str = "z",
        radial_negated: bool = False,
    ) -> None:
        self._azimuth_offset = checks.finite("the azimuth offset of SphericalCoords", azimuth_offset)
        self._zenith_offset = checks.finite("the zenith offset of SphericalCoords", zenith_offset)
        self._azimuth_negated = _yes_or_no(azimuth_negated, "azimuth_negated")
        self._zenith_negated = _yes_or_no(zenith_negated, "zenith_negated")
        self._radial_negated = _yes_or_no(radial_negated, "radial_negated")
        self._radial_axis = _x_or_z(radial_axis)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)

    def _settings(self) -> dict[str, Any]:
        return {
            "azimuth_offset": self._azimuth_offset,
            "azimuth_negated": self._azimuth_negated,
            "zenith_offset": self._zenith_offset,
            "zenith_negated": self._zenith_negated,
            "radial_axis": self._radial_axis,
            "radial_negated": self._radial_negated,
        }

    def pack_parameters(self) -> tuple[float, ...]:
        radial = _sign(self._radial_negated)
        x, z = (radial, 0.0) if self._radial_axis == "x" else (0.0, radial)
        azimuth, zenith = _sign(self._azimuth_negated), _sign(self._zenith_negated)
        return azimuth, self._azimuth_offset, zenith, self._zenith_offset, x, z

    # ------------------------------------------------------------------------------------------ choices

    def get_radial_axis(self) -> str:
        """The axis of M along which it slides: ``"x"`` or ``"z"``."""
        return self._radial_axis

    def set_radial_axis(self, axis: str) -> SphericalCoords:
        """Choose the axis of M along which it slides, ``"x"`` or ``"z"``; a topological change. Else `ValueError`."""
        self._radial_axis = _x_or_z(axis)
        self.instance_changed()
        return self

    def is_azimuth_negated(self) -> bool:
        """True if the azimuth is minus q0, plus the offset."""
        return self._azimuth_negated

    def set_negate_azimuth(self, should_negate: bool) -> SphericalCoords:
        """Choose whether the azimuth falls as q0 grows; a topological change."""
        self._azimuth_negated = _yes_or_no(should_negate, "should_negate")
        self.instance_changed()
        return self

    def is_zenith_negated(self) -> bool:
        """True if the zenith is minus q1, plus the offset."""
        return self._zenith_negated

    def set_negate_zenith(self, should_negate: bool) -> SphericalCoords:
        """Choose whether the zenith falls as q1 grows; a topological change."""
        self._zenith_negated = _yes_or_no(should_negate, "should_negate")
        self.instance_changed()
        return self

    def is_radial_negated(self) -> bool:
        """True if M moves against its radial axis as q2 grows."""
        return self._radial_negated

    def set_negate_radial(self, should_negate: bool) -> SphericalCoords:
        """Choose whether M moves against its radial axis as q2 grows; a topological change."""
        self._radial_negated = _yes_or_no(should_negate, "should_negate")
        self.instance_changed()
        return self

    # ------------------------------------------------------------------------------------------ coordinates

    get_default_angles, set_default_angles, get_angles, set_angles = coordinates(
        "angles", 0, 2, "the coordinates q0 and q1, before sign and offset turn them into azimuth and zenith", "angle", "a"
    )
    get_default_radius, set_default_radius, get_radius, set_radius = coordinate(
        "radius", 2, "the coordinate q2, before its sign", "length", "r"
    )
    get_angular_rates, set_angular_rates = speeds("angular_rates", 0, 2, "the rates of q0 and q1", "angle/time")
    get_radial_rate, set_radial_rate = speed("radial_rate", 2, "the rate of q2", "length/time")

    #: By the name that Simbody has for it.
    get_default_translation = get_default_radius

    # ------------------------------------------------------------------------------------------ fitting

    def _fit_rotation(self, R: Rotation, q: Array, parameters: Array) -> None:
        _set_angles(q, parameters, *about_z_then_y(np.asarray(R)))

    def _fit_place(self, p: Array, q: Array, parameters: Array) -> None:
        q[2] = p @ np.array(_axes(tuple(q.tolist()), tuple(parameters.tolist()))[2])

    def _fit_translation(self, p: Array, q: Array, parameters: Array) -> None:
        """Any place is reached in four ways: two orientations each for a positive and a negative radius.

        The one that M has is kept if it will do. Else the radius is positive, unless a negative one was there already but
        for rounding, and M turns as little as it can.
        """
        present = tuple(q.tolist()), tuple(parameters.tolist())
        R, e = np.array(transform(*present)[0]), np.array(_axes(*present)[2])
        distance, along = math.hypot(*p), float(p @ e)
        aside = math.hypot(*(p - along * e))
        if aside <= 1e-12 * distance:
            q[2] = along
            return
        sign = -1.0 if along < 0.0 and aside < 1e-6 * distance else 1.0
        x, y, z = sign * (parameters[4] + parameters[5]) * p  # where M's axis has to point
        across = np.hypot(x, y)
        azimuth = np.arctan2(y, x) if across > 0.0 else parameters[0] * q[0] + parameters[1]
        if parameters[4] != 0.0:
            zenith = np.arctan2(-z, across)
            ways = (azimuth, zenith), (azimuth + np.pi, np.pi - zenith)
        else:
            zenith = np.arctan2(across, z)
            ways = (azimuth, zenith), (azimuth + np.pi, -zenith)
        likeness = [float(R @ np.array(rotation.about_z_then_y(*map(float, way)))) for way in ways]  # traces
        _set_angles(q, parameters, *ways[int(np.argmax(likeness))])
        q[2] = sign * distance

    def _fit_translation_reversed(self, p: Array, q: Array, parameters: Array) -> None:
        q[2] = -(parameters[4] * p[0] + parameters[5] * p[2])  # p = -R_MF^T p_MF is on the radial axis, whatever the angles


def _set_angles(q: Array, p: Array, azimuth: float, zenith: float) -> None:
    """Set q0 and q1, between -pi and pi."""
    q[0], q[1] = (np.remainder(p[i] * (x - p[i + 1]) + np.pi, 2.0 * np.pi) - np.pi for i, x in ((0, azimuth), (2, zenith)))


def _sign(negated: bool) -> float:
    return -1.0 if negated else 1.0


def _yes_or_no(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} of SphericalCoords is True or False, not {value!r}")
    return bool(value)


def _x_or_z(axis: Any) -> str:
    if axis not in ("x", "z"):
        raise ValueError(f'the radial axis of SphericalCoords is "x" or "z", not {axis!r}')
    return str(axis)
