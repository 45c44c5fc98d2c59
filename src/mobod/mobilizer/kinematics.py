"""Pose, velocity and acceleration of a body: in Ground, in another body, and its stations and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..state.validity import KINEMATICS, POSITIONS
from ..value import Rotation, Transform
from ..value.checks import stations
from ..value.frames import frame
from ..value.stage import ACCELERATION
from .fitting import Fitting
from .matrices import cross_by

if TYPE_CHECKING:
    from ..state.state import State
    from .base import MobilizedBody


class Kinematics(Fitting):
    """The part of `MobilizedBody` that gives its pose and motion."""

    # ------------------------------------------------------------------------------------------ state access

    # Drawing and control call these once a body and step: the common case is checked here, the rest in State.
    # Those that others build on take the name of the method that was *asked* for, for error messages, and return views.

    def pose_in_ground(self, state: State, asked: str) -> tuple[Array, Array]:
        """R_GB and p_GB, in the record."""
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, asked)
        b = self.index
        return state.R_GB[b], state.record.p_GB[b]

    def rotation_in_ground(self, state: State, asked: str) -> Array:
        """R_GB, in the record."""
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, asked)
        return state.R_GB[self.index]

    def velocity_in_ground(self, state: State, asked: str) -> Array:
        """V_GB, in the record."""
        if state.valid & KINEMATICS != KINEMATICS or state.token is not self.matter.token:
            state.need_velocities(self, asked)
        return state.V_GB[self.index]

    def acceleration_in_ground(self, state: State, asked: str) -> Array:
        """A_GB, in the record."""
        if state.stage_number < ACCELERATION or state.token is not self.matter.token:
            state.need_accelerations(self, asked)
        return state.A_GB[self.index]

    def get_body_transform(self, state: State) -> Transform:
        """X_GB, the pose of the body's frame in Ground. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].get_body_transform(state).p.round(3)
        array([ 0.94, -1.72,  0.  ])
        """
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_body_transform")
        b = self.index
        return Transform.trusted(state.R_GB[b].copy(), state.record.p_GB[b].copy())

    def get_body_rotation(self, state: State) -> Rotation:
        """R_GB, the orientation of the body in Ground: ``R_GB @ v`` is in Ground what v is in the body. Needs POSITION."""
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_body_rotation")
        return Rotation.trusted(state.R_GB[self.index].copy())

    def get_body_origin_location(self, state: State) -> Array:
        """p_GB ``(3,)``, length: the body's origin from Ground's, in Ground. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].get_body_origin_location(state).round(3)
        array([ 0.94, -1.72,  0.  ])
        """
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_body_origin_location")
        return state.record.p_GB[self.index].copy()

    def get_mobilizer_transform(self, state: State) -> Transform:
        """X_FM, the pose of M in F, also where the mobilizer is reversed. Needs POSITION."""
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_mobilizer_transform")
        b = self.index
        return Transform.trusted(state.R_FM[b].copy(), state.record.p_FM[b].copy())

    def get_body_velocity(self, state: State) -> Array:
        """V_GB ``(2, 3)``: angular velocity, and velocity of the body's origin, in Ground. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].get_body_velocity(state).round(3)
        array([[0.   , 0.   , 3.   ],
               [3.25 , 2.228, 0.   ]])
        """
        if state.valid & KINEMATICS != KINEMATICS or state.token is not self.matter.token:
            state.need_velocities(self, "get_body_velocity")
        return state.V_GB[self.index].copy()

    def get_body_angular_velocity(self, state: State) -> Array:
        """w_GB ``(3,)``, angle/time: the angular velocity of the body in Ground, expressed there. Needs VELOCITY."""
        return self.velocity_in_ground(state, "get_body_angular_velocity")[0].copy()

    def get_body_origin_velocity(self, state: State) -> Array:
        """v_GB ``(3,)``, length/time: of the body's origin, in Ground. Needs VELOCITY."""
        return self.velocity_in_ground(state, "get_body_origin_velocity")[1].copy()

    def get_mobilizer_velocity(self, state: State) -> Array:
        """V_FM ``(2, 3)``: velocity of M in F, expressed in F, also where the mobilizer is reversed. Needs VELOCITY."""
        if state.valid & KINEMATICS != KINEMATICS or state.token is not self.matter.token:
            state.need_velocities(self, "get_mobilizer_velocity")
        return self.matter.mobilizer_velocity(state, self.index)

    def get_body_acceleration(self, state: State) -> Array:
        """A_GB ``(2, 3)``: angular acceleration, and acceleration of the body's origin, in Ground. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].get_body_acceleration(state).shape
        (2, 3)
        """
        if state.stage_number < ACCELERATION or state.token is not self.matter.token:
            state.need_accelerations(self, "get_body_acceleration")
        return state.A_GB[self.index].copy()

    def get_body_angular_acceleration(self, state: State) -> Array:
        """The angular acceleration ``(3,)`` of the body in Ground, expressed there; angle/time^2. Needs ACCELERATION."""
        return self.acceleration_in_ground(state, "get_body_angular_acceleration")[0].copy()

    def get_body_origin_acceleration(self, state: State) -> Array:
        """The acceleration ``(3,)`` of the body's origin, in Ground; length/time^2. Needs ACCELERATION."""
        return self.acceleration_in_ground(state, "get_body_origin_acceleration")[1].copy()

    def get_mobilizer_acceleration(self, state: State) -> Array:
        """A_FM ``(2, 3)``: the derivative of V_FM, taken and expressed in F: H_FM udot + HDot_FM u. Needs ACCELERATION."""
        if state.stage_number < ACCELERATION or state.token is not self.matter.token:
            state.need_accelerations(self, "get_mobilizer_acceleration")
        return self.matter.mobilizer_acceleration(state, self.index)

    def get_h_fm_col(self, state: State, ux: int) -> Array:
        """Column *ux* of H_FM ``(2, 3)``: velocity of M in F a unit of that speed, in F. Needs POSITION.

        `IndexError` where the mobilizer has no speed of that number.
        """
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_h_fm_col")
        at = self.which_coordinate(state.tree.u_slices[self.index], ux, "u")
        return state.H_FM[at].copy()

    def get_h_col(self, state: State, ux: int) -> Array:
        """Column *ux* of H_PB_G ``(2, 3)``: velocity of B in P a unit of that speed, in Ground. Needs POSITION.

        The linear row is that of B's origin. `IndexError` where the mobilizer has no speed of that number.
        """
        if not state.valid & POSITIONS or state.token is not self.matter.token:
            state.need_positions(self, "get_h_col")
        at = self.which_coordinate(state.tree.u_slices[self.index], ux, "u")
        return state.H[at].copy()

    # ------------------------------------------------------------------------------------------ relative to another body

    def _other(self, mobod: Any) -> MobilizedBody:
        return self.matter.find_body(mobod)

    def _relative_velocity(self, state: State, A: MobilizedBody, asked: str) -> tuple[Array, Array, Array]:
        """w_AB and v_AB, expressed in A, and R_AB."""
        V_GB, V_GA = self.velocity_in_ground(state, asked), A.velocity_in_ground(state, asked)
        (R_GB, p_GB), (R_GA, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        V = V_GB - V_GA
        V[1] -= (p_GB - p_GA) @ cross_by(V_GA[0])
        w, v = V @ R_GA
        return w, v, R_GA.T @ R_GB

    def _relative_acceleration(self, state: State, A: MobilizedBody, asked: str) -> tuple[Array, Array]:
        """The angular acceleration of this body in A and that of its origin, expressed in A."""
        A_GB, A_GA = self.acceleration_in_ground(state, asked), A.acceleration_in_ground(state, asked)
        V_GB, V_GA = self.velocity_in_ground(state, asked), A.velocity_in_ground(state, asked)
        (_, p_GB), (R_GA, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        p, turning, V = p_GB - p_GA, cross_by(V_GA[0]), V_GB - V_GA
        # derivative in A of V_AB = V_B - V_A - (0, w_A x p): that in Ground, less w_A x V_AB
        V_turned = V @ turning
        relative = A_GB - A_GA - V_turned
        relative[1] -= V_turned[1] + p @ (cross_by(A_GA[0]) - turning @ turning)
        w_dot, v_dot = relative @ R_GA
        return w_dot, v_dot

    def find_body_transform_in_another_body(self, state: State, in_body_a: Any) -> Transform:
        """X_AB, the pose of this body in A. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_transform_in_another_body(state, upper).p.round(3)
        array([ 0.389, -0.921,  0.   ])
        """
        A, asked = self._other(in_body_a), "find_body_transform_in_another_body"
        (R_GB, p_GB), (R_GA, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        return Transform.trusted(R_GA.T @ R_GB, (p_GB - p_GA) @ R_GA)

    def find_body_rotation_in_another_body(self, state: State, in_body_a: Any) -> Rotation:
        """R_AB, the orientation of this body in A. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_rotation_in_another_body(state, upper).to_angle_axis()[0]
        0.4
        """
        R_GA = self._other(in_body_a).rotation_in_ground(state, "find_body_rotation_in_another_body")
        return Rotation.trusted(R_GA.T @ self.rotation_in_ground(state, "find_body_rotation_in_another_body"))

    def find_body_origin_location_in_another_body(self, state: State, to_body_a: Any) -> Array:
        """p_AB ``(3,)``, length: this body's origin from A's, in A. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_origin_location_in_another_body(state, upper).round(3)
        array([ 0.389, -0.921,  0.   ])
        """
        asked = "find_body_origin_location_in_another_body"
        R_GA, p_GA = self._other(to_body_a).pose_in_ground(state, asked)
        return (self.pose_in_ground(state, asked)[1] - p_GA) @ R_GA

    def find_body_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """V_AB ``(2, 3)``, velocity of this body in A, expressed in A. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_velocity_in_another_body(state, upper).shape
        (2, 3)
        """
        w, v, _ = self._relative_velocity(state, self._other(in_body_a), "find_body_velocity_in_another_body")
        return np.array([w, v])

    def find_body_angular_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """w_AB ``(3,)``, angle/time: the angular velocity of this body in A, expressed in A. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_angular_velocity_in_another_body(state, upper).round(3)
        array([0., 0., 2.])
        """
        return self._relative_velocity(state, self._other(in_body_a), "find_body_angular_velocity_in_another_body")[0]

    def find_body_origin_velocity_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """v_AB ``(3,)``, length/time: of this body's origin in A, expressed in A. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_origin_velocity_in_another_body(state, upper).round(3)
        array([1.842, 0.779, 0.   ])
        """
        return self._relative_velocity(state, self._other(in_body_a), "find_body_origin_velocity_in_another_body")[1]

    def find_body_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """A_AB ``(2, 3)``, the derivative of V_AB in A, expressed in A. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_acceleration_in_another_body(state, upper).shape
        (2, 3)
        """
        asked = "find_body_acceleration_in_another_body"
        return np.array(self._relative_acceleration(state, self._other(in_body_a), asked))

    def find_body_angular_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """Angular acceleration ``(3,)`` of this body in A, expressed in A; angle/time^2. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_angular_acceleration_in_another_body(state, upper).round(3)
        array([  0.   ,   0.   , -13.071])
        """
        asked = "find_body_angular_acceleration_in_another_body"
        return self._relative_acceleration(state, self._other(in_body_a), asked)[0]

    def find_body_origin_acceleration_in_another_body(self, state: State, in_body_a: Any) -> Array:
        """Acceleration ``(3,)`` of this body's origin in A, expressed in A; length/time^2. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_body_origin_acceleration_in_another_body(state, upper).shape
        (3,)
        """
        asked = "find_body_origin_acceleration_in_another_body"
        return self._relative_acceleration(state, self._other(in_body_a), asked)[1]

    # ------------------------------------------------------------------------------------------ stations and frames

    def moving_in_ground(
        self, state: State, asked: str, order: int, p: Array, v: Array | None = None, a: Array | None = None
    ) -> list[Array]:
        """Location of points p of this body in Ground, and as many derivatives as *order* says.

        Where they move on the body, v and a are the derivatives of p there.
        """
        # the highest stage first: it is the one that the method asked for needs
        A = self.acceleration_in_ground(state, asked) if order > 1 else None
        V = self.velocity_in_ground(state, asked) if order > 0 else None
        R_GB, p_GB = self.pose_in_ground(state, asked)
        r = p @ R_GB.T
        found = [p_GB + r]
        if V is not None:
            turning = cross_by(V[0])
            found.append(V[1] + r @ turning)
            if v is not None:
                v = v @ R_GB.T
                found[1] += v
        if A is not None:
            found.append(A[1] + r @ (cross_by(A[0]) + turning @ turning))
            if v is not None:
                found[2] += 2.0 * (v @ turning)
            if a is not None:
                found[2] += a @ R_GB.T
        return found

    def find_station_location_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Location in Ground of a station ``(3,)`` fixed on the body, or of each of several ``(n, 3)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_station_location_in_ground(state, (0, 0.5, 0)).round(3)
        array([ 0.618, -1.338,  0.   ])
        """
        R_GB, p_GB = self.pose_in_ground(state, "find_station_location_in_ground")
        return p_GB + stations("station_on_b", station_on_b) @ R_GB.T

    def find_station_location_in_another_body(self, state: State, station_on_b: ArrayLike, to_body_a: Any) -> Array:
        """Location of a station ``(3,)`` of this body, or of each of several ``(n, 3)``, from A's origin, in A. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_location_in_another_body(state, (0, 0.5, 0), upper).round(3)
        array([ 0.195, -0.461,  0.   ])
        """
        asked = "find_station_location_in_another_body"
        return self.location_in(state, self._other(to_body_a), asked, stations("station_on_b", station_on_b))

    def location_in(self, state: State, A: Kinematics, asked: str, p: Array) -> Array:
        (R_GB, p_GB), (R_GA, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        return (p_GB + p @ R_GB.T - p_GA) @ R_GA

    def find_station_velocity_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Velocity of a station ``(3,)``, or of each of several ``(n, 3)``, fixed on the body, in Ground. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_station_velocity_in_ground(state, (0, 0.5, 0)).round(3)
        array([2.103, 1.262, 0.   ])
        """
        return self.moving_in_ground(state, "find_station_velocity_in_ground", 1, stations("station_on_b", station_on_b))[1]

    def find_station_velocity_in_another_body(self, state: State, station_on_b: ArrayLike, in_body_a: Any) -> Array:
        """Velocity in A of a station ``(3,)``, or of each of several ``(n, 3)``, fixed on this body. Needs VELOCITY.

        Expressed in A: the derivative there of `find_station_location_in_another_body`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_velocity_in_another_body(state, (0, 0.5, 0), upper).round(3)
        array([0.921, 0.389, 0.   ])
        """
        asked = "find_station_velocity_in_another_body"
        return self._velocity_in(state, self._other(in_body_a), asked, stations("station_on_b", station_on_b))

    def _velocity_in(self, state: State, A: MobilizedBody, asked: str, p: Array, v: Array | None = None) -> Array:
        """Velocity in A, expressed there, of points at p of this body, which move on it with v."""
        w_AB, v_AB, R_AB = self._relative_velocity(state, A, asked)
        result: Array = v_AB + (p @ R_AB.T) @ cross_by(w_AB)
        if v is not None:
            result += v @ R_AB.T
        return result

    def find_station_acceleration_in_ground(self, state: State, station_on_b: ArrayLike) -> Array:
        """Acceleration of a station ``(3,)``, or of each of several ``(n, 3)``, in Ground. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_station_acceleration_in_ground(state, (0, 0.5, 0)).round(3)
        array([-3.736,  2.245,  0.   ])
        """
        return self.moving_in_ground(state, "find_station_acceleration_in_ground", 2, stations("station_on_b", station_on_b))[2]

    def find_station_acceleration_in_another_body(self, state: State, station_on_b: ArrayLike, in_body_a: Any) -> Array:
        """Acceleration in A of a station ``(3,)``, or of each of several ``(n, 3)``, fixed on this body. Needs ACCELERATION.

        Expressed in A: the second derivative there of `find_station_location_in_another_body`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_acceleration_in_another_body(state, (0, 0.5, 0), upper).round(3)
        array([-6.798, -0.703,  0.   ])
        """
        asked = "find_station_acceleration_in_another_body"
        return self._acceleration_in(state, self._other(in_body_a), asked, stations("station_on_b", station_on_b))

    def _acceleration_in(
        self, state: State, A: MobilizedBody, asked: str, p: Array, v: Array | None = None, a: Array | None = None
    ) -> Array:
        """Acceleration in A, expressed there, of points at p of this body, which move on it with v and a."""
        w_dot, v_dot = self._relative_acceleration(state, A, asked)
        w_AB, _, R_AB = self._relative_velocity(state, A, asked)
        turning = cross_by(w_AB)
        result: Array = v_dot + (p @ R_AB.T) @ (cross_by(w_dot) + turning @ turning)
        if v is not None:
            result += 2.0 * ((v @ R_AB.T) @ turning)
        if a is not None:
            result += a @ R_AB.T
        return result

    def find_station_location_and_velocity_in_ground(self, state: State, location_on_b: ArrayLike) -> tuple[Array, Array]:
        """Location and velocity of a station ``(3,)``, or of each of several ``(n, 3)``, in Ground. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> p, v = system.matter.bodies["lower"].find_station_location_and_velocity_in_ground(state, (0, 0.5, 0))
        >>> p.round(3), v.round(3)
        (array([ 0.618, -1.338,  0.   ]), array([2.103, 1.262, 0.   ]))
        """
        asked = "find_station_location_and_velocity_in_ground"
        r, v = self.moving_in_ground(state, asked, 1, stations("location_on_b", location_on_b))
        return r, v

    def find_station_location_velocity_and_acceleration_in_ground(
        self, state: State, location_on_b: ArrayLike
    ) -> tuple[Array, Array, Array]:
        """Location, velocity and acceleration of a station ``(3,)``, or of each of several ``(n, 3)``, in Ground.

        Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> arm = system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> p, v, a = arm.find_station_location_velocity_and_acceleration_in_ground(state, (0, 0.5, 0))
        >>> p.round(3), v.round(3)
        (array([ 0.618, -1.338,  0.   ]), array([2.103, 1.262, 0.   ]))
        """
        asked = "find_station_location_velocity_and_acceleration_in_ground"
        r, v, a = self.moving_in_ground(state, asked, 2, stations("location_on_b", location_on_b))
        return r, v, a

    def find_mass_center_location_in_ground(self, state: State) -> Array:
        """Location of the body's mass center in Ground ``(3,)``; length. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_mass_center_location_in_ground(state).round(3)
        array([ 0.94, -1.72,  0.  ])
        """
        R_GB, p_GB = self.pose_in_ground(state, "find_mass_center_location_in_ground")
        return p_GB + R_GB @ state.record.com[self.index]

    def find_mass_center_location_in_another_body(self, state: State, to_body_a: Any) -> Array:
        """Location of the body's mass center ``(3,)``, from A's origin, in A; length. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_mass_center_location_in_another_body(state, upper).round(3)
        array([ 0.389, -0.921,  0.   ])
        """
        A, asked = self._other(to_body_a), "find_mass_center_location_in_another_body"
        self.pose_in_ground(state, asked)  # a state of another system may not have such a body
        return self.location_in(state, A, asked, state.record.com[self.index])

    def find_station_at_ground_point(self, state: State, location_in_g: ArrayLike) -> Array:
        """The station ``(3,)``, or ``(n, 3)``, of this body that is at a point given in Ground. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_station_at_ground_point(state, (1, 0, 0)).round(3)
        array([1.154, 1.277, 0.   ])
        """
        R_GB, p_GB = self.pose_in_ground(state, "find_station_at_ground_point")
        return (stations("location_in_g", location_in_g) - p_GB) @ R_GB

    def find_station_at_another_body_station(self, state: State, from_body_a: Any, station_on_a: ArrayLike) -> Array:
        """The station ``(3,)``, or ``(n, 3)``, of this body, in its frame, where a station of A is. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_at_another_body_station(state, upper, (0, 1, 0)).round(3)
        array([0.389, 1.921, 0.   ])
        """
        A, asked = self._other(from_body_a), "find_station_at_another_body_station"
        return A.location_in(state, self, asked, stations("station_on_a", station_on_a))

    def find_station_at_another_body_origin(self, state: State, from_body_a: Any) -> Array:
        """The station ``(3,)`` of this body, in its frame, where A's origin is. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_at_another_body_origin(state, upper).round(3)
        array([0., 1., 0.])
        """
        A, asked = self._other(from_body_a), "find_station_at_another_body_origin"
        (R_GB, p_GB), (_, p_GA) = self.pose_in_ground(state, asked), A.pose_in_ground(state, asked)
        return (p_GA - p_GB) @ R_GB

    def find_station_at_another_body_mass_center(self, state: State, from_body_a: Any) -> Array:
        """The station ``(3,)`` of this body, in its frame, where A's mass center is. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.find_station_at_another_body_mass_center(state, upper).round(3)
        array([0., 1., 0.])
        """
        A, asked = self._other(from_body_a), "find_station_at_another_body_mass_center"
        self.pose_in_ground(state, asked)
        A.pose_in_ground(state, asked)
        return A.location_in(state, self, asked, state.record.com[A.index])

    def find_frame_transform_in_ground(self, state: State, frame_on_b: Transform) -> Transform:
        """Pose in Ground of a frame fixed on the body. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_frame_transform_in_ground(state, mb.Transform((0, 1, 0))).p.round(3)
        array([ 0.296, -0.955,  0.   ])
        """
        X = frame("frame_on_b", frame_on_b)
        R_GB, p_GB = self.pose_in_ground(state, "find_frame_transform_in_ground")
        return Transform.trusted(R_GB @ np.asarray(X.R), p_GB + R_GB @ X.p)

    def find_frame_velocity_in_ground(self, state: State, frame_on_b: Transform) -> Array:
        """Velocity ``(2, 3)`` in Ground of a frame fixed on the body: of its turning and of its origin. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_frame_velocity_in_ground(state, mb.Transform((0, 1, 0))).round(3)
        array([[0.   , 0.   , 3.   ],
               [0.955, 0.296, 0.   ]])
        """
        origin, asked = np.asarray(frame("frame_on_b", frame_on_b).p), "find_frame_velocity_in_ground"
        v = self.moving_in_ground(state, asked, 1, origin)[1]
        return np.array([self.velocity_in_ground(state, asked)[0], v])

    def find_frame_acceleration_in_ground(self, state: State, frame_on_b: Transform) -> Array:
        """Acceleration ``(2, 3)`` in Ground of a frame fixed on the body. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].find_frame_acceleration_in_ground(state, mb.Transform((0, 1, 0))).shape
        (2, 3)
        """
        origin, asked = np.asarray(frame("frame_on_b", frame_on_b).p), "find_frame_acceleration_in_ground"
        a = self.moving_in_ground(state, asked, 2, origin)[2]
        return np.array([self.acceleration_in_ground(state, asked)[0], a])

    def express_vector_in_ground_frame(self, state: State, vector_in_b: ArrayLike) -> Array:
        """A vector ``(3,)``, or several ``(n, 3)``, given in the body's axes, in Ground's. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].express_vector_in_ground_frame(state, (0, 1, 0)).round(3)
        array([-0.644,  0.765,  0.   ])
        """
        R_GB = self.rotation_in_ground(state, "express_vector_in_ground_frame")
        return stations("vector_in_b", vector_in_b) @ R_GB.T

    def express_ground_vector_in_body_frame(self, state: State, vector_in_g: ArrayLike) -> Array:
        """A vector ``(3,)``, or several ``(n, 3)``, given in Ground's axes, in the body's. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].express_ground_vector_in_body_frame(state, (0, 1, 0)).round(3)
        array([0.644, 0.765, 0.   ])
        """
        R_GB = self.rotation_in_ground(state, "express_ground_vector_in_body_frame")
        return stations("vector_in_g", vector_in_g) @ R_GB

    def express_vector_in_another_body_frame(self, state: State, vector_in_b: ArrayLike, in_body_a: Any) -> Array:
        """A vector ``(3,)``, or several ``(n, 3)``, given in this body's axes, in A's. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> upper, arm = system.matter.bodies["upper"], system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.express_vector_in_another_body_frame(state, (0, 1, 0), upper).round(3)
        array([-0.389,  0.921,  0.   ])
        """
        A, asked = self._other(in_body_a), "express_vector_in_another_body_frame"
        R_GB, R_GA = self.rotation_in_ground(state, asked), A.rotation_in_ground(state, asked)
        return stations("vector_in_b", vector_in_b) @ R_GB.T @ R_GA
