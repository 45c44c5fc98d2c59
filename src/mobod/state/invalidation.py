"""The validity bits that are cleared when a variable, a parameter or a modelling choice changes."""

from __future__ import annotations

from ..value.stage import INSTANCE, MODEL, POSITION, TIME, TOPOLOGY, VELOCITY, Stage
from . import validity
from .requirements import Requirements

KEPT_BY_U, KEPT_BY_Z, KEPT_BY_TIME = ~validity.CLEARED_BY_U, ~validity.CLEARED_BY_Z, ~validity.CLEARED_BY_TIME


class Invalidation(Requirements):
    """The part of `State` that clears validity bits and lowers the stage."""

    __slots__ = ()

    def lower_to(self, stage: int) -> None:
        """Lower the state to *stage* if it is above."""
        if self.stage_number > stage:
            self.stage_number = stage

    def invalidate_q(self) -> None:
        """q changed: clears all validity bits; the state falls to TIME at most."""
        self.valid = 0
        if self.stage_number > TIME:
            self.stage_number = TIME

    def invalidate_u(self) -> None:
        """u changed: results that depend on q alone stay valid."""
        self.valid &= KEPT_BY_U
        if self.stage_number > POSITION:
            self.stage_number = POSITION

    def invalidate_z(self) -> None:
        """z changed: results that do not depend on z stay valid."""
        if self.tree.forces_read_z or self.system.calls_back:
            self.valid &= KEPT_BY_Z
        else:  # nobody reads z: forces, rates and accelerations are as they were
            self.valid &= ~validity.unchanged(Stage.DYNAMICS)
        self.lower_to(VELOCITY)

    def invalidate_instance(self) -> None:
        """An Instance variable changed."""
        self.valid, self.instance_token = 0, object()  # no list, which is made faster: those are equal to each other
        if self.force_cache:
            self.force_cache = {}
        if self.resources is not None:
            self.resources.invalidate(INSTANCE, self.stage_number)
        if self.stage_number > MODEL:
            self.stage_number = MODEL

    def invalidate_model(self) -> None:
        """A modelling choice changed."""
        self.valid, self.instance_token = 0, object()
        self.force_cache = {}
        if self.resources is not None:
            self.resources.invalidate(MODEL, self.stage_number)
        self.lower_to(TOPOLOGY)
