"""Bushing: any pose of M in F, by angles and a translation. 6 coordinates, 6 speeds. Source: Simbody 3.7's definition.

q is the body-fixed x-y-z angles of R_FM, then p_FM; u is their rates
R_FM = Rx(q0) Ry(q1) Rz(q2)   p_FM = (q3, q4, q5)   H_FM = [x, Rx(q0) y, Rx(q0) Ry(q1) z, 0; 0, 1]   q_dot = u

Where q1 is 90 degrees, the third axis lies along the first: the columns are dependent, and the mass matrix is singular.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra import euler_xyz, rotation
from ..algebra.scalar import one, zero
from ..value import Rotation, Transform
from ._by_address import BY_ADDRESS, by_address
from ._singular import middle_angle
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.body_fixed_xyz(q[0], q[1], q[2]), (q[3], q[4], q[5])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    x, y, z = euler_xyz.rate_columns(q)
    none = (o, o, o)
    return (x, none), (y, none), (z, none), (none, (i, o, o)), (none, (o, i, o)), (none, (o, o, i))


@generic
def bias(q: Any, u: Any, H: Any) -> Any:  # HDot_FM u, expressed in F
    o = zero(q[0])
    return euler_xyz.rates_of_columns(u, H[1][0], H[2][0]), (o, o, o)


kinematics = by_address(transform, hinge, bias, num_q=6, num_u=6)


class Bushing(MobilizedBody):
    """Move in any way, by three angles and p_FM: what a bushing's stiffness is commonly given for.

    It reaches every pose, as a Free body does, but at a middle angle of 90 degrees it has only two axes left to turn about.
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=6,
        num_u=6,
        transform=transform,
        hinge=hinge,
        constant_hinge=False,
        turns_in_every_way=True,
        kinematics=kinematics,
    )

    def get_default_transform(self) -> Transform:
        """X_FM of a default state."""
        return Transform(Rotation.from_body_fixed_xyz(self._default_q[:3]), self._default_q[3:])

    def set_default_transform(self, X_FM: Transform) -> Bushing:
        """Change the angles and the translation of a default state to those of X_FM; a topological change."""
        self.set_default_q([*X_FM.R.to_body_fixed_xyz(), *X_FM.p])
        return self

    def get_transform(self, state: State) -> Transform:
        """The pose that q stands for: X_FM, or X_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state)

    def set_transform(self, state: State, X_FM: Transform) -> None:
        """Set q to a pose: X_FM, or X_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_transform, X_FM)

    def get_angles(self, state: State) -> Array:
        """The angles ``(3,)``. Needs MODEL."""
        return self.get_q_as_vector(state)[:3]

    def set_angles(self, state: State, angles: ArrayLike) -> None:
        """Set the angles and leave the translation; the state falls to TIME at most."""
        self.set_q(state, [*self._vector("angles", angles, 3), *self.get_translation(state)])

    def get_translation(self, state: State) -> Array:
        """The translation ``(3,)`` that q stands for: p_FM, or p_MF of a reversed mobilizer. Needs MODEL."""
        return self.get_q_as_vector(state)[3:]

    def set_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set the translation and leave the angles; the state falls to TIME at most."""
        self.set_q(state, [*self.get_angles(state), *self._vector("translation", p_FM, 3)])

    def get_angular_rates(self, state: State) -> Array:
        """The angles' rates ``(3,)``, which are no angular velocity. Needs MODEL."""
        return self.get_u_as_vector(state)[:3]

    def set_angular_rates(self, state: State, rates: ArrayLike) -> None:
        """Set the angles' rates; the state falls to POSITION at most."""
        self.set_u(state, [*self._vector("angular rates", rates, 3), *self.get_velocity(state)])

    def get_velocity(self, state: State) -> Array:
        """The translation's rate ``(3,)``: v_FM in F, or v_MF in M of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state)[3:]

    def set_velocity(self, state: State, v_FM: ArrayLike) -> None:
        """Set the translation's rate; the state falls to POSITION at most."""
        self.set_u(state, [*self.get_angular_rates(state), *self._vector("velocity", v_FM, 3)])

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:3] = R.to_body_fixed_xyz()

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[3:] = p

    def _singularity(self, state: State) -> str | None:
        angle = self.get_q_as_vector(state)[1]
        return middle_angle(self._title, 1, angle, "A Free in its place has no such configuration")
