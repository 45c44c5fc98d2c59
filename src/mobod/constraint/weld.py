"""Weld: a frame of one body and a frame of another coincide: six equations of positions.

The first three are those of `ConstantOrientation`, the last three those of `Ball`, at the frames' origins: see these two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from .._jit import generic
from ..value import Transform
from . import _access, _orientation, ball
from ._parameters import BETWEEN, Equations, Line, Mark, display_size, transform
from .base import frame

if TYPE_CHECKING:
    from ..state import State
    from .base import AnyBody

Array = npt.NDArray[np.float64]


@generic
def positions(model: Any, c: int) -> None:
    """Parameters: both origins, then both rotations."""
    _orientation.write_positions(model, c, 6)
    ball.write_positions(model, c, 3)


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
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
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Notes
    -----
    The first three errors are cosines, of frame 2's x with frame 1's y, y with z and z with x; these are zero too where axes
    point the other way. The last three are lengths along the axes of the Ancestor body.
    """

    routine = _access.by_address(positions, velocities)
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
        first, second = frame("frame1", frame1), frame("frame2", frame2)
        self._values = [*first[9:], *second[9:], *first[:9], *second[:9]]
        super().__init__([body1, body2], equations=(6, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def _integers(self) -> list[int]:
        return [self.get_ancestor_mobilized_body().get_mobilized_body_index()]

    def get_body1_mobilized_body_index(self) -> int:
        """Index of the first body."""
        return self._bodies[0].get_mobilized_body_index()

    def get_body2_mobilized_body_index(self) -> int:
        """Index of the second body."""
        return self._bodies[1].get_mobilized_body_index()

    def get_default_frame_on_body1(self) -> Transform:
        """The frame on the first body that states start with."""
        return _frame(self._default(0, 24), 0)

    def get_default_frame_on_body2(self) -> Transform:
        """The frame on the second body that states start with."""
        return _frame(self._default(0, 24), 1)

    def set_default_frame_on_body1(self, frame1: Transform) -> Weld:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        return self._change(0, frame("frame1", frame1))

    def set_default_frame_on_body2(self, frame2: Transform) -> Weld:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        return self._change(1, frame("frame2", frame2))

    def _change(self, which: int, numbers: list[float]) -> Weld:
        self._set_default(3 * which, numbers[9:])
        self._set_default(6 + 9 * which, numbers[:9])
        return self

    def get_frame_on_body1(self, state: State) -> Transform:
        """The frame on the first body in this state. Needs MODEL."""
        return _frame(self._own(state, "get_frame_on_body1", 0, 24), 0)

    def get_frame_on_body2(self, state: State) -> Transform:
        """The frame on the second body in this state. Needs MODEL."""
        return _frame(self._own(state, "get_frame_on_body2", 0, 24), 1)

    def get_weld_reaction_on_body1(self, state: State) -> Array:
        """The torque and force on body 1, at its origin and in its frame ``(2, 3)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 0)

    def get_weld_reaction_on_body2(self, state: State) -> Array:
        """The torque and force on body 2, at its origin and in its frame ``(2, 3)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 1)

    def get_axis_display_length(self) -> float:
        """The length of the axes that pictures show; length. For drawing only."""
        return self._axis_display_length

    def set_axis_display_length(self, length: float) -> Weld:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._axis_display_length = display_size("length", length)
        return self

    def _marks(self, state: State) -> list[Mark]:
        r, frames = self._axis_display_length, (self.get_frame_on_body1(state), self.get_frame_on_body2(state))
        if r == 0.0:
            return []
        return [
            (body, decoration.Frame(size, X=X, line_width=width))
            for body, X, size, width in zip(self._bodies, frames, (r, 0.67 * r), (1.0, 3.0), strict=True)
        ]

    def _lines(self, state: State) -> list[Line]:
        body1, body2 = self._bodies
        return [(body1, self.get_frame_on_body1(state).p, body2, self.get_frame_on_body2(state).p, BETWEEN)]


def _frame(numbers: Array, which: int) -> Transform:
    return transform(np.concatenate([numbers[6 + 9 * which : 15 + 9 * which], numbers[3 * which : 3 * which + 3]]))
