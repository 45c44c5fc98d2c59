"""LineOrientation: any orientation of a line, M's z axis, that does not spin about itself. 4 coordinates (or 3), 2 speeds.

q is the quaternion of R_FM, or after a modelling choice the body-fixed x-y-z angles
u is the x and y components of w_FM, expressed in M
R_FM = R(q)   p_FM = 0   H_FM = [x y; 0], x and y of M in F   HDot_FM u = 0   q_dot = N(q) u, N as in `_line`
Source: Seth et al. 2010; q and u as Simbody 3.7 defines them
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import zero
from ..compiling import generic
from . import _line
from ._by_orientation import by_orientation
from ._named import speeds
from ._quaternions import Turning
from .base import Facts
from .routine import BY_ADDRESS


@generic
def place(R: Any, rest: Any, p: Any) -> Any:  # p_FM
    o = zero(R[0])
    return o, o, o


@generic
def hinge(R: Any, rest: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(R[0])
    x, y = _line.axes(R)
    return (x, (o, o, o)), (y, (o, o, o))


functions = by_orientation(place, hinge, num_u=2)


class LineOrientation(Turning):
    """Turn a line, the z axis of M, in any way about the point that F and M share, without spin about it.

    For bodies without inertia about a line, such as points on it: a Ball would have a mobility without inertia. A body that has
    inertia about z does not spin about it either, as seen from F.

    Notes
    -----
    Two angles would give the line's direction, but not without a singularity, and not M's rotation about the line: rotations
    about x and y in turn rotate M about z as well. So q is the whole orientation, a quaternion or by modelling choice three
    angles, singular where the second of them is a right angle.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.LineOrientation(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_u(state, (0.1, 0.2))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> joint.get_body_angular_velocity(state).round(3)
    array([0.1, 0.2, 0. ])
    """

    facts = Facts(BY_ADDRESS, num_q=4, num_u=2, constant_hinge=False, is_line=True, **functions._asdict())

    get_angular_velocity, set_angular_velocity = speeds(
        "angular_velocity",
        0,
        2,
        "u, the x and y components of w_FM in M, or of w_MF in F of a reversed mobilizer",
        "angle/time",
        "w_FM_M",
    )
