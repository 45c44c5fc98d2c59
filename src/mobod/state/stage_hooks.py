"""StageHooks: what users' Python implementations of mobilizers, motions, forces and constraints are told of stages."""

from __future__ import annotations

from typing import Any

from ..errors import StageError
from ..value.stage import Stage
from .state import State


class StageHooks:
    """Methods that the system calls when it realizes a state to a stage; they do nothing unless overridden.

    A mobilizer's are called before its methods for that stage are asked, so that they can compute what these share; a
    constraint's after the errors of that stage, and from TIME on only where it is not disabled. What is found at DYNAMICS or
    later cannot affect the motion.
    """

    def realize_topology(self, state: State) -> None:
        """Called when the system's topology is realized."""

    def realize_model(self, state: State) -> None:
        """Called when modelling choices are settled."""

    def realize_instance(self, state: State) -> None:
        """Called when the state reaches INSTANCE: what depends on parameters can be computed."""

    def realize_time(self, state: State) -> None:
        """Called when the state reaches TIME: what depends on time can be computed."""

    def realize_position(self, state: State) -> None:
        """Called when the state reaches POSITION; a mobilizer's, before H and N are asked for: its pose is there."""

    def realize_velocity(self, state: State) -> None:
        """Called when the state reaches VELOCITY; a mobilizer's, before HDot and NDot are asked for: its q_dot is there."""

    def realize_dynamics(self, state: State) -> None:
        """Called when the state reaches DYNAMICS: forces have been applied."""

    def realize_acceleration(self, state: State) -> None:
        """Called when the state reaches ACCELERATION; a constraint's multipliers are there."""

    def realize_report(self, state: State) -> None:
        """Called when the state reaches REPORT: compute what nothing else needs."""


def refuse_change(state: State, stage: int, part: Any) -> None:
    """Raise the error for a hook that has changed what stages before its own depend on."""
    raise StageError(
        f"{part!r} has changed the state while it was being realized to Stage.{Stage(stage).name}, so that only "
        f"{state.stage.name} is left of it; a hook computes from the state and changes none of its variables. Change it "
        "between realizations, or in an event handler, or have a variable that updates itself "
        "(allocate_auto_update_discrete_variable)"
    )
