"""FreeLine: any motion of a line, M's z axis, that does not spin about itself. 7 coordinates (or 6), 5 speeds.

q is the quaternion of R_FM (or its body-fixed x-y-z angles), then p_FM
u is the x and y components of w_FM, expressed in M, then v_FM, expressed in F
H_FM = [x y 0; 0 0 1], x and y of M in F   HDot_FM u = 0   q_dot = N(q) u, N as of a LineOrientation and 1
Source: Seth et al. 2010; q and u as Simbody 3.7 defines them
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import one, zero
from ..compiling import generic
from . import _line
from ._by_orientation import by_orientation
from ._named import speeds
from ._quaternions import MovingByQuaternion
from .base import Facts
from .routines import BY_ADDRESS


@generic
def place(R: Any, rest: Any, p: Any) -> Any:  # p_FM
    return rest


@generic
def hinge(R: Any, rest: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(R[0]), one(R[0])
    x, y = _line.axes(R)
    none = o, o, o
    return (x, none), (y, none), (none, (i, o, o)), (none, (o, i, o)), (none, (o, o, i))


functions = by_orientation(place, hinge, num_u=5, num_rest=3)


class FreeLine(MovingByQuaternion):
    """Move a line, the z axis of M, in any way without spin about it: a quaternion (or three angles) and p_FM; five speeds.

    For bodies without inertia about a line, such as points on it: a Free would have a mobility without inertia. A body that has
    inertia about z does not spin about it either, as seen from F. Why q is the whole orientation: see `LineOrientation`.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.FreeLine(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_u(state, (0.1, 0.2, 1.0, 2.0, 3.0))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> joint.get_body_velocity(state).round(3)
    array([[0.1, 0.2, 0. ],
           [1. , 2. , 3. ]])
    """

    facts = Facts(
        BY_ADDRESS, num_q=7, num_u=5, constant_hinge=False, is_line=True, slides_in_every_way=True, **functions._asdict()
    )

    get_angular_velocity, set_angular_velocity = speeds(
        "angular_velocity",
        0,
        2,
        "the x and y components of w_FM in M, or of w_MF in F of a reversed mobilizer",
        "angle/time",
        "w_FM_M",
    )
    get_linear_velocity, set_linear_velocity = speeds(
        "linear_velocity", 2, 3, "v_FM in F, or v_MF in M of a reversed mobilizer", "length/time", "v_FM"
    )
