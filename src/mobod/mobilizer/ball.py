"""Ball: any orientation of M in F, origins together. 4 coordinates (or 3), 3 speeds. Source: Seth et al. 2010; Diebel 2006.

q is the quaternion of R_FM, or after a modelling choice the body-fixed x-y-z angles; u is w_FM, expressed in F
R_FM = R(q)   p_FM = 0   H_FM = [1; 0], constant in F   q_dot = N(q) u  (`algebra.quaternion`, `algebra.euler_xyz`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra import quaternion, rotation
from ..algebra.scalar import one, zero
from ..value import Rotation
from ._by_address import by_address
from ._drawn_as_ball import DrawnAsBall
from .base import Array, ArrayLike, Facts

if TYPE_CHECKING:
    from ..state import State

KIND = 6


@generic
def transform(q: Any) -> Any:  # X_FM, of a quaternion
    o = zero(q[0])
    return quaternion.to_rotation(q), (o, o, o)


@generic
def transform_euler(q: Any) -> Any:  # X_FM, of angles
    o = zero(q[0])
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((i, o, o), (o, o, o)), ((o, i, o), (o, o, o)), ((o, o, i), (o, o, o))


# of the variant with angles
kinematics = by_address(transform_euler, hinge, num_q=3, num_u=3)


class Ball(DrawnAsBall):
    """Turn in any way about the point that F and M share: a quaternion (or three angles), the angular velocity in F."""

    facts = Facts(
        KIND,
        num_q=4,
        num_u=3,
        transform=transform,
        hinge=hinge,
        kinematics=kinematics,
        transform_euler=transform_euler,
        turns_in_every_way=True,
    )

    def get_default_rotation(self) -> Rotation:
        """R_FM of a default state."""
        return Rotation.from_quaternion(self._default_q)

    def set_default_rotation(self, R_FM: Rotation) -> Ball:
        """Change R_FM of a default state; a topological change."""
        self.set_default_q(R_FM.to_quaternion())
        return self

    def get_rotation(self, state: State) -> Rotation:
        """The rotation that q stands for: R_FM, or R_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state).R

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q to a rotation: R_FM, or R_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, R_FM)

    def get_angular_velocity(self, state: State) -> Array:
        """u: w_FM ``(3,)`` in F, or w_MF in M of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state)

    def set_angular_velocity(self, state: State, w_FM: ArrayLike) -> None:
        """Set u; the state falls to POSITION at most."""
        self.set_u(state, w_FM)

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:4] = R.to_quaternion()
