"""Free: any pose of M in F. 7 coordinates (or 6), 6 speeds. Source: Seth et al. 2010; Diebel 2006.

q is the quaternion of R_FM (or its body-fixed x-y-z angles), then p_FM; u is w_FM, then v_FM, both expressed in F
H_FM = 1, constant in F   q_dot = N(q) u, N as of a Ball and 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import generic
from ..algebra import quaternion, rotation
from ..algebra.scalar import one, zero
from ..value import Rotation, Transform
from ._by_address import by_address
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State

KIND = 8


@generic
def transform(orientation: Any, p_FM: Any) -> Any:  # X_FM, of a quaternion and a translation
    return quaternion.to_rotation(orientation), p_FM


@generic
def transform_euler(angles: Any, p_FM: Any) -> Any:  # X_FM, of angles and a translation
    return rotation.body_fixed_xyz(angles[0], angles[1], angles[2]), p_FM


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return (
        ((i, o, o), (o, o, o)),
        ((o, i, o), (o, o, o)),
        ((o, o, i), (o, o, o)),
        ((o, o, o), (i, o, o)),
        ((o, o, o), (o, i, o)),
        ((o, o, o), (o, o, i)),
    )


def _transform(q: Any) -> Any:
    return transform(q[:4], q[4:])


@generic
def _transform_euler(q: Any) -> Any:
    return transform_euler(q[:3], q[3:])


# of the variant with angles
kinematics = by_address(_transform_euler, hinge, num_q=6, num_u=6)


class Free(MobilizedBody):
    """Move in any way: a quaternion (or three angles) and p_FM; angular and linear velocity in F."""

    facts = Facts(
        KIND,
        num_q=7,
        num_u=6,
        transform=_transform,
        hinge=hinge,
        kinematics=kinematics,
        transform_euler=_transform_euler,
        turns_in_every_way=True,
    )

    def get_default_transform(self) -> Transform:
        """X_FM of a default state."""
        return Transform(Rotation.from_quaternion(self._default_q[:4]), self._default_q[4:])

    def set_default_transform(self, X_FM: Transform) -> Free:
        """Change X_FM of a default state; a topological change."""
        self.set_default_q([*X_FM.R.to_quaternion(), *X_FM.p])
        return self

    def get_transform(self, state: State) -> Transform:
        """The pose that q stands for: X_FM, or X_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state)

    def set_transform(self, state: State, X_FM: Transform) -> None:
        """Set q to a pose: X_FM, or X_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_transform, X_FM)

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set the orientation and leave the translation; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, R_FM)

    def get_translation(self, state: State) -> Array:
        """The translation ``(3,)`` that q stands for. Needs MODEL."""
        return self.get_q_as_vector(state)[-3:]

    def set_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set the translation and leave the orientation; the state falls to TIME at most."""
        self._fit(state, self._fit_translation, self._vector("translation", p_FM, 3))

    def get_velocity(self, state: State) -> Array:
        """u as a spatial vector ``(2, 3)``: V_FM in F, or V_MF in M of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state).reshape(2, 3)

    def set_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u from a spatial vector ``(2, 3)``; the state falls to POSITION at most."""
        V = np.asarray(V_FM, dtype=np.float64)
        if V.shape != (2, 3):
            raise ValueError(f"a velocity is a spatial vector (2, 3), got shape {V.shape}")
        self.set_u(state, V.ravel())

    def set_angular_velocity(self, state: State, w_FM: ArrayLike) -> None:
        """Set the angular part of u; the state falls to POSITION at most."""
        self.set_u(state, [*self._vector("angular velocity", w_FM, 3), *self.get_u_as_vector(state)[3:]])

    def set_linear_velocity(self, state: State, v_FM: ArrayLike) -> None:
        """Set the linear part of u; the state falls to POSITION at most."""
        self.set_u(state, [*self.get_u_as_vector(state)[:3], *self._vector("linear velocity", v_FM, 3)])

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:4] = R.to_quaternion()

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[4:] = p
