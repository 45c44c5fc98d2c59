"""Gimbal: rotation about x, then about the new y, then about the new z. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = Rx(q0) Ry(q1) Rz(q2)   p_FM = 0   H_FM = [x, Rx(q0) y, Rx(q0) Ry(q1) z; 0]   q_dot = u   (`algebra.euler_xyz`)

Where q1 is 90 degrees, the third axis lies along the first: the columns are dependent, and the mass matrix is singular.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra import euler_xyz, rotation
from ..algebra.scalar import zero
from ..value import Rotation
from ._by_address import BY_ADDRESS, by_address
from ._drawn_as_ball import DrawnAsBall
from ._singular import middle_angle
from .base import Array, ArrayLike, Facts

if TYPE_CHECKING:
    from ..state import State


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (o, o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(q[0])
    x, y, z = euler_xyz.rate_columns(q)
    return (x, (o, o, o)), (y, (o, o, o)), (z, (o, o, o))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o = zero(q[0])
    return euler_xyz.rates_of_columns(u, H[1][0], H[2][0]), (o, o, o)


kinematics = by_address(transform, hinge, bias, num_q=3, num_u=3)


class Gimbal(DrawnAsBall):
    """Turn about x, then about the new y, then about the new z: three angles, their rates as speeds.

    It reaches every orientation, as a Ball does, but at a middle angle of 90 degrees it has only two axes left to turn about.
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=3,
        num_u=3,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        turns_in_every_way=True,
        kinematics=kinematics,
    )

    def get_default_rotation(self) -> Rotation:
        """R_FM of a default state: the orientation of M in F that the default angles give."""
        return Rotation.from_body_fixed_xyz(self._default_q)

    def set_default_rotation(self, R_FM: Rotation) -> Gimbal:
        """Change the angles of a default state to those of R_FM; a topological change."""
        self.set_default_q(R_FM.to_body_fixed_xyz())
        return self

    def get_default_angles(self) -> Array:
        """The angles ``(3,)`` of a default state."""
        return self._default_q.copy()

    def set_default_angles(self, angles: ArrayLike) -> Gimbal:
        """Change the angles of a default state; a topological change."""
        self.set_default_q(angles)
        return self

    def get_rotation(self, state: State) -> Rotation:
        """The rotation that q stands for: R_FM, or R_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state).R

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q to a rotation: R_FM, or R_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, R_FM)

    def get_angles(self, state: State) -> Array:
        """The angles ``(3,)``. Needs MODEL."""
        return self.get_q_as_vector(state)

    def set_angles(self, state: State, angles: ArrayLike) -> None:
        """Set the angles; the state falls to TIME at most."""
        self.set_q(state, angles)

    def get_rates(self, state: State) -> Array:
        """The angles' rates ``(3,)``. Needs MODEL."""
        return self.get_u_as_vector(state)

    def set_rates(self, state: State, rates: ArrayLike) -> None:
        """Set the angles' rates; the state falls to POSITION at most."""
        self.set_u(state, rates)

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:] = R.to_body_fixed_xyz()

    def _singularity(self, state: State) -> str | None:
        angle = self.get_q_as_vector(state)[1]
        return middle_angle(self._title, 1, angle, "A Ball in its place has no such configuration")
