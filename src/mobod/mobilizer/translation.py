"""Translation: along the axes of F. 3 coordinates, 3 speeds. Source: Seth et al. 2010.

R_FM = 1   p_FM = q   H_FM = [0; 1], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import Any

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..compiling import generic
from ._named import coordinates, speeds
from .base import Facts, MobilizedBody

KIND = 5


@generic
def transform(q: Any) -> Any:  # X_FM
    return rotation.identity(q[0]), (q[0], q[1], q[2])


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return ((o, o, o), (i, o, o)), ((o, o, o), (o, i, o)), ((o, o, o), (o, o, i))


class Translation(MobilizedBody):
    """Move along the axes of F without turning: x, y, z.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Translation(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_q(state, (1.0, 2.0, 3.0))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([1., 2., 3.])
    """

    facts = Facts(KIND, num_q=3, num_u=3, transform=transform, hinge=hinge, slides_in_every_way=True)

    get_default_translation, set_default_translation, get_translation, set_translation = coordinates(
        "translation", 0, 3, "the translation p_FM", "length"
    )
    get_velocity, set_velocity = speeds("velocity", 0, 3, "its rate v_FM", "length/time", "velocity")

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[:] = p
