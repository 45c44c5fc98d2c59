"""Weld: no motion. F and M are one. 0 coordinates, 0 speeds.

R_FM = 1   p_FM = 0
"""

from __future__ import annotations

from typing import Any

from .base import Facts, MobilizedBody

KIND = 10


def transform(q: Any) -> Any:  # X_FM: the initial value in every record, so that `dispatch` needs no branch for it
    return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def hinge(q: Any) -> Any:  # no columns
    return ()


class Weld(MobilizedBody):
    """No motion: the frame M of the body stays on the frame F of its parent.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> fixed = mb.mobilizer.Weld(matter.ground, ball, X_PF=mb.Transform((1, 2, 3)))
    >>> state = system.realize_topology()
    >>> system.realize(state, mb.Stage.POSITION)
    >>> fixed.get_body_origin_location(state)
    array([1., 2., 3.])
    """

    facts = Facts(KIND, num_q=0, num_u=0, transform=transform, hinge=hinge)
