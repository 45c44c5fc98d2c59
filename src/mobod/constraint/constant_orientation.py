"""ConstantOrientation: a rotation of one body's frame and one of another's stay alike: three equations of positions.

The equations are those of `_orientation`.
"""

from __future__ import annotations

from typing import Any

from .. import decoration
from ..algebra.arrays import Array
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Rotation, Transform
from . import _orientation, access
from ._parameters import Equations, Mark, index_of
from .base import AnyBody


@generic
def positions(model: Any, c: int) -> None:
    """Parameters: the base's rotation, then the follower's."""
    _orientation.write_positions(model, c, 0)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    _orientation.write_velocities(model, c, 0)


class ConstantOrientation(Equations):
    """Keeps the axes of two bodies' rotations parallel: three equations of positions.

    Parameters
    ----------
    base_body, follower_body : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    base_rotation, follower_rotation : Rotation
        The rotations, each in its body's frame.

    Notes
    -----
    The errors are cosines: of the follower's x with the base's y, of y with z, and of z with x; these are zero too where axes
    point the other way. Multipliers are torques.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.ConstantOrientation(matter.ground, mb.Rotation(), one, mb.Rotation())
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.1, 'z'))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_q(state)[:4].round(3)
    array([1., 0., 0., 0.])
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        base_body: AnyBody,
        base_rotation: Rotation,
        follower_body: AnyBody,
        follower_rotation: Rotation,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, base_rotation=base_rotation, follower_rotation=follower_rotation)
        super().__init__([base_body, follower_body], equations=(3, 0, 0), disabled_by_default=disabled_by_default, name=name)

    get_base_mobilized_body_index = index_of("base", 0, "the base")
    get_follower_mobilized_body_index = index_of("follower", 1, "the follower")
    get_default_base_rotation, set_default_base_rotation, get_base_rotation, set_base_rotation = parameters.rotation(
        "base_rotation", "the rotation on the base"
    ).accessors()
    get_default_follower_rotation, set_default_follower_rotation, get_follower_rotation, set_follower_rotation = (
        parameters.rotation("follower_rotation", "the rotation on the follower").accessors()
    )

    def get_torque_on_follower_body(self, state: State) -> Array:
        """The torque on the follower, in its own frame ``(3,)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 1)[0]

    def marks(self, state: State) -> list[Mark]:
        rotations = self.get_base_rotation(state), self.get_follower_rotation(state)
        return [
            (body, decoration.Frame(size, X=Transform(R), line_width=width))
            for body, R, size, width in zip(self.constrained_bodies, rotations, (0.5, 0.35), (1.0, 3.0), strict=True)
        ]
