"""StateAccess: a subsystem's part of a state: what it allocates there, reads and writes. `Subsystem` derives from it.

It is made of parts: `allocation`, `access_variables`, `access_slots`; here are stages, discrete variables and cache entries.
"""

from __future__ import annotations

from typing import Any

from ..errors import StageError
from ..value.stage import Stage
from .access_slots import SlotAccess
from .allocation import one_of, stage_given
from .resources import NEVER, index_in, named, own_copy
from .state import State

SAME: Any = object()


class StateAccess(SlotAccess):
    """A subsystem's access to its part of a state: variables, cache entries, slots; ``docs/how-to/subsystems.md`` uses it.

    Allocating needs a state below MODEL (q, u, z and discrete variables) or below INSTANCE (cache entries, errors, event
    triggers): do it in `Subsystem.realize_topology`, or in `Subsystem.realize_model` or `Subsystem.realize_instance` what
    depends on choices made in the state. The numbers that come back are places within the subsystem's own part.
    """

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    # ------------------------------------------------------------------------------------------ stages

    def get_stage(self, state: State) -> Stage:
        """The stage that this subsystem has reached in *state*.

        It is the state's stage; while a stage is being realized, the one below until this subsystem's hook has returned.
        """
        index = index_in(self, state, "get_stage")
        resources = state.resources
        return Stage(state.stage_number if resources is None else resources.stage_of(state, index))

    def advance_to_stage(self, state: State, stage: Stage) -> None:
        """Mark *stage* as computed by this subsystem; it has to be the one above the subsystem's present stage.

        `MultibodySystem.realize` does so when the subsystem's hook returns. A subsystem that was advanced before the system
        skips its hook of that stage, as long as nothing invalidates the stage.

        Raises
        ------
        StageError
            If *stage* is not one above the subsystem's own.
        """
        index = index_in(self, state, "advance_to_stage")
        wanted, now = stage_given("stage", stage), self.get_stage(state)
        if wanted != now + 1:
            raise StageError(
                f"advance_to_stage takes one step at a time: {self!r} is at {now.name} and cannot go to {wanted.name}"
            )
        state.upd_resources().advance(state, index, int(wanted))

    # ------------------------------------------------------------------------------------------ discrete variables

    def get_discrete_variable(self, state: State, index: int) -> Any:
        """The value of a discrete variable: the stored object, not to be changed. `IndexError` where there is none."""
        return one_of(self, state, "get_discrete_variable", "discrete variable", index).value

    def upd_discrete_variable(self, state: State, index: int, v: Any = SAME) -> Any:
        """The value of a discrete variable, to be changed in place; the stage it invalidates is invalidated, now.

        Parameters
        ----------
        state : State
        index : int
            As `allocate_discrete_variable` gave it.
        v : object, optional
            Replaces the value: for those that cannot change in place, such as numbers.

        Returns
        -------
        object
            The stored object. Fetch it again for each change.
        """
        variable = one_of(self, state, "upd_discrete_variable", "discrete variable", index)
        at = index_in(self, state, "upd_discrete_variable")
        if v is not SAME:
            variable.value = own_copy(v, state.system)
        assert state.resources is not None
        state.resources.change(at, int(index), state.time)
        state.invalidate_from(variable.invalidates)
        return variable.value

    def get_discrete_var_last_update_time(self, state: State, dx: int) -> float:
        """The time of a discrete variable's last change, by hand or by its own update; NaN before that; time."""
        return float(one_of(self, state, "get_discrete_var_last_update_time", "discrete variable", dx).last_update_time)

    def get_discrete_var_update_index(self, state: State, dx: int) -> int:
        """The cache entry that holds a variable's next value; `ValueError` where it does not update itself."""
        variable = one_of(self, state, "get_discrete_var_update_index", "discrete variable", dx)
        if variable.update < 0:
            raise ValueError(
                f"discrete variable {dx} of {self!r} does not update itself; "
                "allocate it with allocate_auto_update_discrete_variable"
            )
        return variable.update

    def get_discrete_var_update_value(self, state: State, dx: int) -> Any:
        """A variable's next value, the stored object; `StageError` where it is out of date."""
        return self.get_cache_entry(state, self.get_discrete_var_update_index(state, dx))

    def upd_discrete_var_update_value(self, state: State, dx: int, v: Any = SAME) -> Any:
        """A variable's next value, to be changed in place, or replaced by *v*; mark it as realized afterwards."""
        return self.upd_cache_entry(state, self.get_discrete_var_update_index(state, dx), v)

    def is_discrete_var_update_value_realized(self, state: State, dx: int) -> bool:
        """True if a variable's next value is up to date."""
        return self.is_cache_value_realized(state, self.get_discrete_var_update_index(state, dx))

    def mark_discrete_var_update_value_realized(self, state: State, dx: int) -> None:
        """Mark a variable's next value as up to date."""
        self.mark_cache_value_realized(state, self.get_discrete_var_update_index(state, dx))

    # ------------------------------------------------------------------------------------------ cache entries

    def get_cache_entry(self, state: State, index: int) -> Any:
        """The value of a cache entry: the stored object.

        Raises
        ------
        StageError
            If the value is out of date.
        IndexError
            If there is no such entry.
        """
        entry = one_of(self, state, "get_cache_entry", "cache entry", index)
        assert state.resources is not None
        if not state.resources.is_realized(state, index_in(self, state, "get_cache_entry"), int(index)):
            how = "compute it, with upd_cache_entry and mark_cache_value_realized"
            if entry.computed_by != NEVER:
                how = f"call system.realize(state, Stage.{named(entry.computed_by)}), or {how}"
            raise StageError(
                f"cache entry {index} of {self!r} is out of date: it depends on Stage.{named(entry.depends_on)}, "
                f"this state is at {named(state.stage_number)}; {how}"
            )
        return entry.value

    def upd_cache_entry(self, state: State, index: int, v: Any = SAME) -> Any:
        """The value of a cache entry, to be changed in place, or replaced by *v*; neither stage nor validity changes."""
        entry = one_of(self, state, "upd_cache_entry", "cache entry", index)
        if v is not SAME:
            entry.value = v
        return entry.value

    def is_cache_value_realized(self, state: State, cx: int) -> bool:
        """True if the value of a cache entry is up to date, so that `get_cache_entry` gives it."""
        one_of(self, state, "is_cache_value_realized", "cache entry", cx)
        assert state.resources is not None
        return state.resources.is_realized(state, index_in(self, state, "is_cache_value_realized"), int(cx))

    def mark_cache_value_realized(self, state: State, cx: int) -> None:
        """Mark the value of a cache entry as up to date, until something that it depends on changes.

        Raises
        ------
        StageError
            If the state is more than one stage below what the entry depends on, or another entry that it depends on is
            out of date.
        """
        entry = one_of(self, state, "mark_cache_value_realized", "cache entry", cx)
        index = index_in(self, state, "mark_cache_value_realized")
        assert state.resources is not None
        reached = max(state.stage_number, state.resources.stage_of(state, index))
        if reached < entry.depends_on - 1:
            state.refuse(f"mark_cache_value_realized of cache entry {cx} of {self!r}", Stage(entry.depends_on - 1))
        state.resources.mark(state, index, int(cx))

    def mark_cache_value_not_realized(self, state: State, cx: int) -> None:
        """Mark the value of a cache entry as out of date."""
        entry = one_of(self, state, "mark_cache_value_not_realized", "cache entry", cx)
        assert state.resources is not None
        state.resources.unmark(entry)
