"""CustomImplementation: base class of measures that users write in Python."""

from __future__ import annotations

import abc

import numpy.typing as npt

from ..errors import ModelError
from ..state.state import State
from ..value.abstract import Abstract
from ..value.stage import Stage

#: The hook of each stage.
HOOKS = {stage: f"realize_measure_{stage.name.lower()}" for stage in Stage if stage > Stage.EMPTY}


class CustomImplementation(Abstract):
    """Base class of measures in Python; ``Custom(subsystem, implementation)`` makes one part of a system.

    1. `calc_cached_value` and `get_depends_on_stage` are required.
    2. `get_num_time_derivatives`, where there are derivatives; those from `get_num_cache_entries` on come from
       `get_uncached_value`.
    3. `initialize` is called where a run begins; the ``realize_measure_*`` hooks when the system realizes a state to that
       stage. With one of these other than `realize_measure_topology`, the system is integrated by Python.

    Examples
    --------
    >>> class Power(mb.measure.CustomImplementation):  # doctest: +SKIP
    ...     def get_depends_on_stage(self, deriv_order):
    ...         return mb.Stage.DYNAMICS
    ...     def calc_cached_value(self, state, deriv_order):
    ...         return float(system.get_mobility_forces(state) @ state.u)
    """

    @abc.abstractmethod
    def get_depends_on_stage(self, deriv_order: int) -> Stage:
        """The stage that the value (order 0) or a derivative needs; it should be the same each time."""

    @abc.abstractmethod
    def calc_cached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """The value or a derivative at *state*, which is at the stage that it needs, and is not to be changed.

        The result is kept in the state until that stage is invalidated, so that all that it depends on has to invalidate it: a
        discrete variable that invalidates a higher stage only is overlooked.
        """

    def get_num_time_derivatives(self) -> int:
        """Number of derivatives; none unless overridden."""
        return 0

    def get_num_cache_entries(self) -> int:
        """For how many orders, from 0 on, results are kept in the state; for all unless overridden."""
        return self.get_num_time_derivatives() + 1

    def get_uncached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """A derivative for which nothing is kept."""
        raise ModelError(
            f"{type(self).__name__} keeps {self.get_num_cache_entries()} results; for derivative {deriv_order} it has to "
            "define get_uncached_value"
        )

    def initialize(self, state: State) -> None:
        """Called where a run begins, with a state of the run's own, at MODEL or above, which may be changed and realized."""

    def realize_measure_topology(self, state: State) -> None:
        """Called when the system's topology is realized; may allocate with the subsystem's ``allocate_*``."""

    def realize_measure_model(self, state: State) -> None:
        """Called when modelling choices are settled."""

    def realize_measure_instance(self, state: State) -> None:
        """Called at INSTANCE."""

    def realize_measure_time(self, state: State) -> None:
        """Called at TIME."""

    def realize_measure_position(self, state: State) -> None:
        """Called at POSITION."""

    def realize_measure_velocity(self, state: State) -> None:
        """Called at VELOCITY."""

    def realize_measure_dynamics(self, state: State) -> None:
        """Called at DYNAMICS."""

    def realize_measure_acceleration(self, state: State) -> None:
        """Called at ACCELERATION."""

    def realize_measure_report(self, state: State) -> None:
        """Called at REPORT."""
