"""Weld: a frame of one body and a frame of another coincide: six equations of positions.

The first three are those of `ConstantOrientation`, the last three those of `Ball`, at the frames' origins: see these two.
"""

from __future__ import annotations

from typing import Any

from .. import decoration
from ..algebra.arrays import Array
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Transform
from . import _orientation, access, ball
from ._parameters import BETWEEN, Equations, Line, Mark, displayed, index_of
from .base import AnyBody


@generic
def positions(model: Any, c: int) -> None:
    """Parameters: both origins, then both rotations."""
    _orientation.write_positions(model, c, 6)
    ball.write_positions(model, c, 3)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    _orientation.write_velocities(model, c, 6)
    ball.write_velocities(model, c, 3)


class Weld(Equations):
    """Makes two frames coincide, as though the bodies were welded together: six equations of positions.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    frame1, frame2 : Transform
        The frames, each in its body's.

    Notes
    -----
    The first three errors are cosines, of frame 2's x with frame 1's y, y with z and z with x; these are zero too where axes
    point the other way. The last three are lengths along the axes of the Ancestor body.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.Weld(matter.ground, mb.Transform((1, 0, 0)), one, mb.Transform())
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.2, 0.9, 0.3))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([1., 0., 0.])
    """

    routine = access.by_address(positions, velocities)
    reads_ancestor = True
    _axis_display_length = 1.0

    def __init__(
        self,
        body1: AnyBody,
        frame1: Transform,
        body2: AnyBody,
        frame2: Transform,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, frame1=frame1, frame2=frame2)
        super().__init__([body1, body2], equations=(6, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def pack_integers(self) -> list[int]:
        return [self.get_ancestor_mobilized_body().get_mobilized_body_index()]

    get_body1_mobilized_body_index = index_of("body1", 0, "the first one")
    get_body2_mobilized_body_index = index_of("body2", 1, "the second one")
    get_default_frame1, set_default_frame1, get_frame1, set_frame1 = parameters.frame(
        "frame1", "the frame on the first body", argument="frame1", places=(*range(6, 15), 0, 1, 2)
    ).accessors()
    get_default_frame2, set_default_frame2, get_frame2, set_frame2 = parameters.frame(
        "frame2", "the frame on the second body", argument="frame2", places=(*range(15, 24), 3, 4, 5)
    ).accessors()

    def attach(self, state: State, *, impulse: bool = True) -> None:
        """Weld the bodies as they are in this state, which falls to MODEL at most: a gripper grasps. Needs POSITION.

        Frame 2 becomes what frame 1 is now, and the constraint is enabled: in a run by an impulse, as `enable` says, which is
        in the run's events. Nothing happens where it is enabled already.

        Parameters
        ----------
        state : State
        impulse : bool
            As `enable` takes it.
        """
        if self.is_disabled(state):
            body1, body2 = self.constrained_bodies
            X_G1, X_G2 = body1.get_body_transform(state), body2.get_body_transform(state)
            self.set_frame2(state, ~X_G2 @ X_G1 @ self.get_frame1(state))
            self.enable(state, impulse=impulse)

    def detach(self, state: State) -> None:
        """Release the weld in this state, which falls to MODEL at most; speeds stay. As `disable`."""
        self.disable(state)

    def get_weld_reaction_on_body1(self, state: State) -> Array:
        """The torque and force on body 1, at its origin and in its frame ``(2, 3)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 0)

    def get_weld_reaction_on_body2(self, state: State) -> Array:
        """The torque and force on body 2, at its origin and in its frame ``(2, 3)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 1)

    get_axis_display_length, set_axis_display_length = displayed(
        "axis_display_length", "length", "the length of the axes that pictures show; length"
    )

    def marks(self, state: State) -> list[Mark]:
        r, frames = self._axis_display_length, (self.get_frame1(state), self.get_frame2(state))
        if r == 0.0:
            return []
        return [
            (body, decoration.Frame(size, X=X, line_width=width))
            for body, X, size, width in zip(self.constrained_bodies, frames, (r, 0.67 * r), (1.0, 3.0), strict=True)
        ]

    def lines(self, state: State) -> list[Line]:
        body1, body2 = self.constrained_bodies
        return [(body1, self.get_frame1(state).p, body2, self.get_frame2(state).p, BETWEEN)]
