"""Distances between stations of two bodies, and points that move on them, with first and second rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..value.checks import stations
from .inertia import HasInertia

if TYPE_CHECKING:
    from ..state.state import State
    from .base import MobilizedBody


class Distances(HasInertia):
    """The part of `MobilizedBody` that measures distances to other bodies."""

    def calc_station_to_station_distance(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Distance between a station of this body and one of A. Needs POSITION.

        Parameters
        ----------
        state : State
        location_on_body_b : (3,) or (n, 3) array_like
            One station or several, in this body's frame.
        body_a : MobilizedBody or int
        location_on_body_a : (3,) or (n, 3) array_like
            In A's frame; one for all of the others, or as many as these.

        Returns
        -------
        float, or (n,) array where one of the locations is (n, 3)
            length.

        Raises
        ------
        StageError
            If the state is below POSITION.
        ValueError
            If the shapes are not those.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> round(arm.calc_station_to_station_distance(state, (0, 0, 0), system.matter.ground, (0, 0, 0)), 3)
        1.96
        """
        A, asked = self._other(body_a), "calc_station_to_station_distance"
        p_B, p_A = pairs(location_on_body_b, location_on_body_a)
        (R_GB, p_GB), (R_GA, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        return _length(p_GB + p_B @ R_GB.T - (p_GA + p_A @ R_GA.T))

    def calc_station_to_station_distance_time_derivative(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Rate of `calc_station_to_station_distance`, a float or ``(n,)``; length/time. Needs VELOCITY.

        Where the points coincide, the distance has a kink: it is the relative speed then.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> round(arm.calc_station_to_station_distance_time_derivative(state, (0, 0, 0), system.matter.ground, (0, 0, 0)), 3)
        -0.397
        """
        A, asked = self._other(body_a), "calc_station_to_station_distance_time_derivative"
        p_B, p_A = pairs(location_on_body_b, location_on_body_a)
        return _distance_rate(*self._apart(state, A, asked, 1, (p_B,), (p_A,)))

    def calc_station_to_station_distance_2nd_time_derivative(
        self, state: State, location_on_body_b: ArrayLike, body_a: Any, location_on_body_a: ArrayLike
    ) -> Any:
        """Second rate of `calc_station_to_station_distance`, a float or ``(n,)``; length/time^2. Needs ACCELERATION.

        Where the points coincide: the relative acceleration along the relative velocity, or its size where that is zero.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> here, ground = (0, 0, 0), system.matter.ground
        >>> round(arm.calc_station_to_station_distance_2nd_time_derivative(state, here, ground, here), 3)
        0.637
        """
        A, asked = self._other(body_a), "calc_station_to_station_distance_2nd_time_derivative"
        p_B, p_A = pairs(location_on_body_b, location_on_body_a)
        return _distance_second_rate(*self._apart(state, A, asked, 2, (p_B,), (p_A,)))

    def _apart(
        self, state: State, A: MobilizedBody, asked: str, order: int, on_b: Sequence[Array], on_a: Sequence[Array]
    ) -> list[Array]:
        """Vectors from points of A to points of this body, in Ground, with their derivatives up to *order*.

        *on_b* and *on_a* are locations on the bodies, with their derivatives there where the points move.
        """
        of_b = self.moving_in_ground(state, asked, order, *on_b)
        of_a = A.moving_in_ground(state, asked, order, *on_a)
        return [b - a for b, a in zip(of_b, of_a, strict=True)]

    # ------------------------------------------------------------------------------------------ points that move on bodies

    def calc_body_moving_point_velocity_in_body(
        self, state: State, location_on_body_b: ArrayLike, velocity_on_body_b: ArrayLike, in_body_a: Any
    ) -> Array:
        """Velocity in A of a point that moves on this body, expressed in A. Needs VELOCITY.

        Parameters
        ----------
        state : State
        location_on_body_b : (3,) or (n, 3) array_like
            Where the point is now, or several are, in this body's frame.
        velocity_on_body_b : (3,) or (n, 3) array_like
            Its velocity in this body's frame: the derivative of its location there.
        in_body_a : MobilizedBody or int

        Returns
        -------
        (3,) or (n, 3) array
            length/time: that of the station where the point is, and its own, turned into A.

        Raises
        ------
        StageError
            If the state is below VELOCITY.
        ValueError
            If the shapes are not those, or differ.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.calc_body_moving_point_velocity_in_body(state, (0, 0.5, 0), (0, 1, 0), upper).round(3)
        array([0.532, 1.31 , 0.   ])
        """
        p, v = alike(location_on_body_b=location_on_body_b, velocity_on_body_b=velocity_on_body_b)
        return self._velocity_in(state, self._other(in_body_a), "calc_body_moving_point_velocity_in_body", p, v)

    def calc_body_moving_point_acceleration_in_body(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        acceleration_on_body_b: ArrayLike,
        in_body_a: Any,
    ) -> Array:
        """Acceleration in A of a point that moves on this body, expressed in A. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b, acceleration_on_body_b : (3,) or (n, 3) array_like
            The point's location in this body's frame, and its first and second derivatives there.
        in_body_a : MobilizedBody or int

        Returns
        -------
        (3,) or (n, 3) array
            length/time^2: that of the station where the point is, its own, and between them Coriolis' 2 w_AB x v.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError
            If the shapes are not those, or differ.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.calc_body_moving_point_acceleration_in_body(state, (0, 0.5, 0), (0, 1, 0), (0, 0, 0), upper).round(3)
        array([-10.483,  -2.261,   0.   ])
        """
        p, v, a = alike(
            location_on_body_b=location_on_body_b,
            velocity_on_body_b=velocity_on_body_b,
            acceleration_on_body_b=acceleration_on_body_b,
        )
        return self._acceleration_in(state, self._other(in_body_a), "calc_body_moving_point_acceleration_in_body", p, v, a)

    def calc_moving_point_to_point_distance_time_derivative(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        body_a: Any,
        location_on_body_a: ArrayLike,
        velocity_on_body_a: ArrayLike,
    ) -> Any:
        """Rate of the distance between a point that moves on this body and one that moves on A. Needs VELOCITY.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b : (3,) or (n, 3) array_like
            Of the point on this body, in this body's frame, as in `calc_body_moving_point_velocity_in_body`.
        body_a : MobilizedBody or int
        location_on_body_a, velocity_on_body_a : (3,) or (n, 3) array_like
            Of the point on A, in A's frame; one for all of the others, or as many as these.

        Returns
        -------
        float, or (n,) array
            length/time; the relative speed where the points coincide.

        Raises
        ------
        StageError
            If the state is below VELOCITY.
        ValueError
            If the shapes are not those.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> ground = system.matter.ground
        >>> here, still, moving = (0, 0, 0), (0, 0, 0), (0, 1, 0)
        >>> round(arm.calc_moving_point_to_point_distance_time_derivative(state, here, moving, ground, here, still), 3)
        -1.377
        """
        A, asked = self._other(body_a), "calc_moving_point_to_point_distance_time_derivative"
        on_b = alike(location_on_body_b=location_on_body_b, velocity_on_body_b=velocity_on_body_b)
        on_a = alike(location_on_body_a=location_on_body_a, velocity_on_body_a=velocity_on_body_a)
        pairs(on_b[0], on_a[0])
        return _distance_rate(*self._apart(state, A, asked, 1, on_b, on_a))

    def calc_moving_point_to_point_distance_2nd_time_derivative(
        self,
        state: State,
        location_on_body_b: ArrayLike,
        velocity_on_body_b: ArrayLike,
        acceleration_on_body_b: ArrayLike,
        body_a: Any,
        location_on_body_a: ArrayLike,
        velocity_on_body_a: ArrayLike,
        acceleration_on_body_a: ArrayLike,
    ) -> Any:
        """Second rate of the distance between a point that moves on this body and one that moves on A. Needs ACCELERATION.

        Parameters
        ----------
        state : State
        location_on_body_b, velocity_on_body_b, acceleration_on_body_b : (3,) or (n, 3) array_like
            Of the point on this body, in this body's frame, as in `calc_body_moving_point_acceleration_in_body`.
        body_a : MobilizedBody or int
        location_on_body_a, velocity_on_body_a, acceleration_on_body_a : (3,) or (n, 3) array_like
            Of the point on A, in A's frame; one for all of the others, or as many as these.

        Returns
        -------
        float, or (n,) array
            length/time^2. Where the points coincide: the relative acceleration along the relative velocity, or its size where
            that is zero.

        Raises
        ------
        StageError
            If the state is below ACCELERATION.
        ValueError
            If the shapes are not those.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> here, still, moving = (0, 0, 0), (0, 0, 0), (0, 1, 0)
        >>> other = system.matter.ground, here, still, still
        >>> round(arm.calc_moving_point_to_point_distance_2nd_time_derivative(state, here, moving, still, *other), 3)
        1.054
        """
        A, asked = self._other(body_a), "calc_moving_point_to_point_distance_2nd_time_derivative"
        on_b = alike(
            location_on_body_b=location_on_body_b,
            velocity_on_body_b=velocity_on_body_b,
            acceleration_on_body_b=acceleration_on_body_b,
        )
        on_a = alike(
            location_on_body_a=location_on_body_a,
            velocity_on_body_a=velocity_on_body_a,
            acceleration_on_body_a=acceleration_on_body_a,
        )
        pairs(on_b[0], on_a[0])
        return _distance_second_rate(*self._apart(state, A, asked, 2, on_b, on_a))


def alike(**given: ArrayLike) -> list[Array]:
    """Vectors ``(3,)`` or ``(n, 3)``, all of one shape."""
    arrays = {what: stations(what, value) for what, value in given.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1:
        found = ", ".join(f"{what} {array.shape}" for what, array in arrays.items())
        raise ValueError(f"what is given of moving points has to have one shape, (3,) or (n, 3); got {found}")
    return list(arrays.values())


def pairs(on_b: ArrayLike, on_a: ArrayLike) -> tuple[Array, Array]:
    """Points of two bodies, equally many, or one for all of the other body's."""
    p_B, p_A = stations("location_on_body_b", on_b), stations("location_on_body_a", on_a)
    if p_B.ndim == p_A.ndim == 2 and len(p_B) != len(p_A) and 1 not in (len(p_B), len(p_A)):
        raise ValueError(
            "distances are between as many points of one body as of the other, or one (3,) and all of the other; got "
            f"location_on_body_b {p_B.shape} and location_on_body_a {p_A.shape}"
        )
    return p_B, p_A


def _length(r: Array) -> Any:
    """The length of a vector, or of each of several."""
    d = np.sqrt(np.sum(r * r, axis=-1))
    return float(d) if r.ndim == 1 else d


def _distance_rate(r: Array, v: Array) -> Any:
    """The rate of |r|: r.v / |r|, or |v| where r is zero."""
    d = np.asarray(_length(r))
    apart = d > 0.0
    rate = np.where(apart, np.sum(r * v, axis=-1) / np.where(apart, d, 1.0), _length(v))
    return float(rate) if r.ndim == 1 else rate


def _distance_second_rate(r: Array, v: Array, a: Array) -> Any:
    """The second rate of |r|: a.n + v'.v' / |r|, n along r and v' across it; where r is zero a.v / |v|, or |a| if v is too.

    v' itself is squared: |v|^2 - (v.n)^2 cancels to rounding for points that move along the line between them.
    """
    d, speed = np.asarray(_length(r)), np.asarray(_length(v))
    apart, moving = d > 0.0, speed > 0.0
    n = r / np.where(apart, d, 1.0)[..., None]
    across = v - np.sum(v * n, axis=-1, keepdims=True) * n
    far = np.sum(a * n, axis=-1) + np.sum(across * across, axis=-1) / np.where(apart, d, 1.0)
    near = np.where(moving, np.sum(a * v, axis=-1) / np.where(moving, speed, 1.0), _length(a))
    rate = np.where(apart, far, near)
    return float(rate) if r.ndim == 1 else rate
