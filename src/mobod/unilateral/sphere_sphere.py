"""SphereSphere: two spheres cannot overlap. gap = |p| - radius1 - radius2, p being the way from center to center."""

from __future__ import annotations

import numpy.typing as npt

from ..constraint import SphereOnSphereContact
from ..constraint.base import AnyBody, Constraint
from ..mobilizer.base import MobilizedBody
from .between_bodies import BetweenBodies


class SphereSphere(BetweenBodies):
    """A sphere of a body beside a sphere of another.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        One of them may be given by its index or name, one may be Ground.
    center1, center2 : (3,) array_like
        The centers, each in its body's frame; length.
    radius1, radius2 : float
        Positive; length.
    restitution : float
        From 0 to 1.
    static_friction, dynamic_friction, viscous_friction : float
        Coefficients, see `UnilateralContact`.
    name : str, optional

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> part = mb.contact.SphereSphere(matter.ground, (0, 0, 0), 0.2, ball, (0, 0, 0), 0.1)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.2
    """

    def __init__(
        self,
        body1: AnyBody,
        center1: npt.ArrayLike,
        radius1: float,
        body2: AnyBody,
        center2: npt.ArrayLike,
        radius2: float,
        restitution: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        def make(bodies: list[MobilizedBody], holds: bool, name: str) -> Constraint:
            one, other = bodies
            return SphereOnSphereContact(
                one, center1, radius1, other, center2, radius2, holds, disabled_by_default=True, name=name
            )

        super().__init__([body1, body2], make, restitution, (static_friction, dynamic_friction, viscous_friction), name)
