"""EdgeEdge: an edge of one body cannot pass through an edge of another. The gap is that of `constraint.LineOnLineContact`.

It counts only while the closest points are within the lengths of both edges.
"""

from __future__ import annotations

from ..constraint import LineOnLineContact
from ..constraint.base import AnyBody, Constraint
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import Transform
from . import _rows
from .between_bodies import BetweenBodies


class EdgeEdge(BetweenBodies):
    """An edge of a body across an edge of another.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        One of them may be given by its index or name, one may be Ground.
    frame1, frame2 : Transform
        Frames on these bodies: x along the edge, z out of the body, the origin in the middle of the edge.
    half_length1, half_length2 : float
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
    >>> along = mb.Transform(mb.Rotation.about_axis(1.570796, 'z'))
    >>> over = mb.Transform(mb.Rotation.about_axis(3.141593, 'x'))
    >>> part = mb.contact.EdgeEdge(matter.ground, along, 1.0, ball, over, 1.0)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.5
    """

    may_be_beside = True

    def __init__(
        self,
        body1: AnyBody,
        frame1: Transform,
        half_length1: float,
        body2: AnyBody,
        frame2: Transform,
        half_length2: float,
        restitution: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        def make(bodies: list[MobilizedBody], holds: bool, name: str) -> Constraint:
            one, other = bodies
            return LineOnLineContact(
                one, frame1, half_length1, other, frame2, half_length2, holds, disabled_by_default=True, name=name
            )

        super().__init__([body1, body2], make, restitution, (static_friction, dynamic_friction, viscous_friction), name)

    def is_within(self, state: State) -> bool:
        """True if the point midway between the closest points of the two lines is within both edges. Needs POSITION."""
        return _rows.find_overhang(state.block, self.normal.index) <= 0.0
