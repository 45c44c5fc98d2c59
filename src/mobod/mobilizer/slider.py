"""Slider: translation along the x axis that F and M share. 1 coordinate, 1 speed. Source: Seth et al. 2010.

R_FM = 1   p_FM = (q, 0, 0)   H_FM = [0; x], constant in F   q_dot = u
"""

from __future__ import annotations

from typing import Any

from ..algebra import rotation
from ..algebra.arrays import Array
from ..algebra.scalar import one, zero
from ..compiling import generic
from ._named import coordinate, speed
from .base import Facts, MobilizedBody

KIND = 2


@generic
def transform(q: Any) -> Any:  # X_FM
    o = zero(q[0])
    return rotation.identity(q[0]), (q[0], o, o)


@generic
def hinge(q: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(q[0]), one(q[0])
    return (((o, o, o), (i, o, o)),)


class Slider(MobilizedBody):
    """Slide along the x axis that F and M share: one length, one speed.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> joint = mb.mobilizer.Slider(matter.ground, ball)
    >>> state = system.realize_topology()
    >>> joint.set_length(state, 0.3)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> joint.get_body_origin_location(state).round(3)
    array([0.3, 0. , 0. ])
    """

    facts = Facts(KIND, num_q=1, num_u=1, transform=transform, hinge=hinge)

    get_default_length, set_default_length, get_length, set_length = coordinate(
        "length", 0, "the displacement along x", "length"
    )
    get_rate, set_rate = speed("rate", 0, "the speed", "length/time")

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[0] = p[0]
