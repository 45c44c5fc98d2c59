"""Custom: a measure that its user writes, in Python."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..errors import ModelError
from ..stage import Stage
from . import _store
from .base import Measure, check_shape

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem

_HOOKS = {stage: f"realize_measure_{stage.name.lower()}" for stage in Stage if stage > Stage.EMPTY}


class CustomImplementation(abc.ABC):
    """What a user derives a measure from; then ``Custom(subsystem, implementation)`` makes it part of a system.

    1. `calc_cached_value` and `get_depends_on_stage` have to be there.
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
        """How many derivatives there are; none unless overridden."""
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


class Custom(Measure):
    """A measure that its user writes: derive from `CustomImplementation`, and pass an instance.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins.
    implementation : CustomImplementation
        The user's own; it may hold bodies, parameters, other measures.
    shape : () or (n,)
        Of the value: a number unless given.

    Raises
    ------
    TypeError
        If *implementation* is no such object.
    """

    def __init__(
        self,
        subsystem: Subsystem | None,
        implementation: CustomImplementation,
        *,
        shape: tuple[int, ...] = (),
        name: str | None = None,
    ) -> None:
        if not isinstance(implementation, CustomImplementation):
            raise TypeError(
                "implementation has to be an instance of a class derived from mobod.measure.CustomImplementation, "
                f"not {implementation!r}"
            )
        self._implementation = implementation
        self._places: list[int] = []
        self._begun = -1
        super().__init__(subsystem, check_shape(shape, "a Custom measure"), name=name)

    def get_implementation(self) -> CustomImplementation:
        """The user's own object."""
        return self._implementation

    def initialize(self, state: State) -> None:
        """Begin anew: the user's `CustomImplementation.initialize` is called with this state."""
        self._need_model(state, "initialize")
        self._implementation.initialize(state)
        _store.part(self._need_subsystem(), state).variables[self._begun].value = True

    # ------------------------------------------------------------------------------------------ for the base class

    def _calc(self, state: State, deriv_order: int) -> Any:
        owner = type(self._implementation).__name__
        if deriv_order >= self._implementation.get_num_cache_entries():
            value = self._implementation.get_uncached_value(state, deriv_order)
            return self._given(self._computed(value, f"get_uncached_value of {owner}, in"))
        subsystem = self._subsystem
        if subsystem is None or deriv_order >= len(self._places):  # nowhere to keep it
            value = self._implementation.calc_cached_value(state, deriv_order)
            return self._given(self._computed(value, f"calc_cached_value of {owner}, in"))
        resources, place = state._upd_resources(), self._places[deriv_order]
        entry = resources.part(subsystem._subsystem_index).entries[place]
        if not resources.is_realized(state, subsystem._subsystem_index, place):
            value = self._implementation.calc_cached_value(state, deriv_order)
            entry.value = self._computed(value, f"calc_cached_value of {owner}, in").copy()
            resources.mark(state, subsystem._subsystem_index, place)
        return self._given(entry.value)

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        return int(self._implementation.get_num_time_derivatives())

    def _depends_on(self, deriv_order: int) -> Stage:
        stage = self._implementation.get_depends_on_stage(deriv_order)
        if not isinstance(stage, Stage):
            raise ModelError(
                f"get_depends_on_stage of {type(self._implementation).__name__} has to return a Stage, not {stage!r}"
            )
        return stage

    def _has_own(self, method: str) -> bool:
        return getattr(type(self._implementation), method) is not getattr(CustomImplementation, method)

    def _takes_part(self) -> bool:
        return self._has_own("initialize") or any(
            self._has_own(hook) for stage, hook in _HOOKS.items() if stage > Stage.TOPOLOGY
        )

    def _allocate(self, state: State) -> None:
        subsystem = self._need_subsystem()
        self._places = [
            _store.allocate_entry(subsystem, state, max(self._depends_on(order), Stage.TOPOLOGY), None)
            for order in range(self._implementation.get_num_cache_entries())
        ]
        self._begun = _store.allocate_variable(subsystem, state, Stage.REPORT, False)
        self._implementation.realize_measure_topology(state)

    def _has_begun(self, state: State) -> bool:
        return bool(_store.part(self._need_subsystem(), state).variables[self._begun].value)

    def _begin(self, state: State) -> None:
        self.initialize(state)

    def _update(self, state: State, stage: Stage) -> None:
        getattr(self._implementation, _HOOKS[stage])(state)


__all__ = ["Custom", "CustomImplementation"]
