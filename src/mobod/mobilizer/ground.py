"""Ground: body 0, that everything is connected to in the end and that does not move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..body import Ground as GroundBody
from ..errors import TopologyError
from ..value import Transform
from .base import Direction, Facts, MobilizedBody
from .weld import hinge, transform

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem

KIND = 0


class Ground(MobilizedBody):
    """Body 0 of a matter subsystem, which makes it; users do not. Its mass is infinite.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> system.matter.ground.is_ground(), system.matter.ground.index
    (True, 0)
    """

    facts = Facts(KIND, num_q=0, num_u=0, transform=transform, hinge=hinge)

    def __init__(self, matter: SimbodyMatterSubsystem) -> None:
        if not hasattr(matter, "adopt"):
            raise TypeError(f"Ground is made by its matter subsystem: take matter.ground; got {matter!r} for a subsystem")
        self._X_PF, self._X_BM = Transform(), Transform()
        self._direction = Direction.FORWARD
        self.body = GroundBody()
        self.parent = None
        self.default_q = self.default_rotors = self._initial_q()
        self.inboard_decorations: list[tuple[Transform, Any]] = []
        self.outboard_decorations: list[tuple[Transform, Any]] = []
        self.matter = matter
        self.index, self._name = matter.adopt(self, "ground")
        self.depth = 0
        self.base_body = self

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """Refuse: Ground has no mobilizer, and each matter subsystem has one Ground."""
        raise TopologyError("Ground cannot be cloned: it hangs on no parent; clone the bodies that hang on it")

    def __repr__(self) -> str:
        return "<Ground>"
