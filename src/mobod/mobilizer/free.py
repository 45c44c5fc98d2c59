"""Free: any pose of M in F. 7 coordinates (or 6), 6 speeds. Source: Seth et al. 2010; Diebel 2006.

q is the quaternion of R_FM (or its body-fixed x-y-z angles), then p_FM; u is w_FM, then v_FM, both expressed in F
H_FM = 1, constant in F   q_dot = N(q) u, N as of a Ball and 1
"""

from __future__ import annotations

from typing import Any

from ..algebra import quaternion, rotation
from ..algebra.arrays import Array, ArrayLike
from ..algebra.scalar import one, zero
from ..compiling import generic
from ..state.state import State
from ..value.checks import shaped
from ._named import speeds
from ._quaternions import MovingByQuaternion
from .base import Facts
from .routines import by_address

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


class Free(MovingByQuaternion):
    """Move in any way: a quaternion (or three angles) and p_FM; angular and linear velocity in F.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Free(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q_to_fit_transform(state, mb.Transform((1, 2, 3)))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_q(state)
    array([1., 0., 0., 0., 1., 2., 3.])
    """

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

    set_angular_velocity = speeds("angular_velocity", 0, 3, "the angular part of u", "angle/time", "w_FM")[1]
    set_linear_velocity = speeds("linear_velocity", 3, 3, "the linear part of u", "length/time", "v_FM")[1]

    def get_velocity(self, state: State) -> Array:
        """u as a spatial vector ``(2, 3)``: V_FM in F, or V_MF in M of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state).reshape(2, 3)

    def set_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u from a spatial vector ``(2, 3)``; the state falls to POSITION at most."""
        self.set_u(state, shaped(f"V_FM of {self._name!r}", V_FM, (2, 3)).ravel())
