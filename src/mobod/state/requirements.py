"""The checks before a state is read: that it belongs to the system, and has reached the stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import StageError, TopologyError
from ..value.stage import ACCELERATION, INSTANCE, MODEL, Stage
from . import validity
from .storage import Storage

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem, Tree


class PartOfMatter(Protocol):
    """The part of a mobilized body that a state reads."""

    index: int
    matter: SimbodyMatterSubsystem

    @property
    def name(self) -> str: ...  # noqa: D102


class Requirements(Storage):
    """The part of `State` that checks system and stage."""

    __slots__ = ()

    def refuse(self, asked: str, needed: Stage, reached: int | None = None) -> None:
        """Raise `StageError` with what was asked, the stage needed, the stage reached, and the call that realizes it."""
        raise StageError(
            f"{asked} needs Stage.{needed.name}; "
            f"this state is at {Stage(self.stage_number if reached is None else reached).name}; "
            f"call system.realize(state, Stage.{needed.name})"
        )

    def check_owner(self, system: Any, asked: str) -> None:
        """Raise `TopologyError` unless the state is of *system* as it is now."""
        if self.system is not system:
            raise TopologyError(f"{asked}: this state is of another system ({self.system!r})")
        if self.version != system.topology_version:
            raise TopologyError(
                f"{asked}: the system was changed after this state was made; "
                "call state = system.realize_topology() for a new one"
            )

    def tree_of(self, mobod: PartOfMatter, asked: str) -> Tree:
        """The state's tree, for a body of its system, at MODEL or above."""
        if self.token is not mobod.matter.token:
            self.check_owner(mobod.matter.system, f"{asked} of {mobod.name!r}")
        if self.stage_number < MODEL:
            self.refuse_model(asked)
        return self.tree

    def refuse_model(self, asked: str) -> None:
        """Raise `StageError`: *asked* needs MODEL."""
        raise StageError(
            f"{asked} needs Stage.MODEL; this state is at {Stage(self.stage_number).name}; call system.realize_model(state)"
        )

    def need_instance(self, mobod: PartOfMatter, asked: str) -> None:
        """Raise `StageError` unless the state, of the body's system, is at INSTANCE or above."""
        self.tree_of(mobod, asked)
        if self.stage_number < INSTANCE:
            self.refuse(asked, Stage.INSTANCE)

    def need_positions(self, mobod: PartOfMatter, asked: str) -> None:
        """Raise `StageError` unless positions have been computed."""
        if self.token is not mobod.matter.token:
            self.check_owner(mobod.matter.system, f"{asked} of {mobod.name!r}")
        if not self.valid & validity.POSITIONS:
            self.refuse(asked, Stage.POSITION)

    def need_velocities(self, mobod: PartOfMatter, asked: str) -> None:
        """Raise `StageError` unless positions and velocities have been computed."""
        if self.token is not mobod.matter.token:
            self.check_owner(mobod.matter.system, f"{asked} of {mobod.name!r}")
        if self.valid & validity.KINEMATICS != validity.KINEMATICS:
            self.refuse(asked, Stage.VELOCITY)

    def need_accelerations(self, mobod: PartOfMatter, asked: str) -> None:
        """Raise `StageError` unless the state is at ACCELERATION or above."""
        if self.token is not mobod.matter.token:
            self.check_owner(mobod.matter.system, f"{asked} of {mobod.name!r}")
        if self.stage_number < ACCELERATION:
            self.refuse(asked, Stage.ACCELERATION)
