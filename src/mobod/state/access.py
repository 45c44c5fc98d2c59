"""StateAccess: a subsystem's part of a state: what it allocates there, reads and writes. `Subsystem` derives from it.

`allocation` has what is allocated; here are q, u, z and their rates, errors, multipliers and event triggers, stages, discrete
variables and cache entries.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import StageError
from ..value.checks import shaped
from ..value.stage import Stage
from .allocation import Allocation, one_of, stage_given, trigger_stage
from .resources import NEVER, index_in, named, own_copy
from .state import State

SAME: Any = object()


class StateAccess(Allocation):
    """A subsystem's access to its part of a state: variables, cache entries, slots; ``docs/how-to/subsystems.md`` uses it.

    Allocating needs a state below MODEL (q, u, z and discrete variables) or below INSTANCE (cache entries, errors, event
    triggers): do it in `Subsystem.realize_topology`, or in `Subsystem.realize_model` or `Subsystem.realize_instance` what
    depends on choices made in the state. The numbers that come back are places within the subsystem's own part.
    """

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    def get_q_start(self, state: State) -> int:
        """Place of its first q within the system's. Needs MODEL."""
        return self.__place(state, "get_q_start", "q")[0]

    def get_n_q(self, state: State) -> int:
        """Number of coordinates of the state that this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_q", "q")[1]

    def get_u_start(self, state: State) -> int:
        """Place of its first u within the system's. Needs MODEL."""
        return self.__place(state, "get_u_start", "u")[0]

    def get_n_u(self, state: State) -> int:
        """Number of speeds of the state that this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_u", "u")[1]

    def get_z_start(self, state: State) -> int:
        """Place of its first z within the system's. Needs MODEL."""
        return self.__place(state, "get_z_start", "z")[0]

    def get_n_z(self, state: State) -> int:
        """The number of auxiliary variables of the state that are this subsystem's. Needs MODEL."""
        return self.__place(state, "get_n_z", "z")[1]

    def get_q(self, state: State) -> Array:
        """Its coordinates ``(nq,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_q", "q", state.q_view)

    def get_u(self, state: State) -> Array:
        """Its speeds ``(nu,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u", "u", state.u_view)

    def get_z(self, state: State) -> Array:
        """Its auxiliary variables ``(nz,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z", "z", state.z_view)

    def upd_q(self, state: State) -> Array:
        """Its coordinates as a writable view; the state falls to TIME at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_q", "q", state.q_values)
        state.invalidate_q()
        return view

    def upd_u(self, state: State) -> Array:
        """Its speeds as a writable view; the state falls to POSITION at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_u", "u", state.u_values)
        state.invalidate_u()
        return view

    def upd_z(self, state: State) -> Array:
        """Its auxiliary variables as a writable view; the state falls to VELOCITY at most, now."""
        view = self.__part(state, "upd_z", "z", state.z_values)
        state.invalidate_z()
        return view

    def set_q(self, state: State, q: npt.ArrayLike) -> None:
        """Set its coordinates ``(nq,)``; the state falls to TIME at most. `ValueError` for a wrong length."""
        self.__set(state, "q", q, state.q_values)
        state.invalidate_q()

    def set_u(self, state: State, u: npt.ArrayLike) -> None:
        """Set its speeds ``(nu,)``; the state falls to POSITION at most. `ValueError` for a wrong length."""
        self.__set(state, "u", u, state.u_values)
        state.invalidate_u()

    def set_z(self, state: State, z: npt.ArrayLike) -> None:
        """Set its auxiliary variables ``(nz,)``; the state falls to VELOCITY at most. `ValueError` for a wrong length."""
        self.__set(state, "z", z, state.z_values)
        state.invalidate_z()

    def __set(self, state: State, name: str, value: npt.ArrayLike, whole: Array) -> None:
        part = self.__part(state, f"set_{name}", name, whole)
        part[:] = shaped(f"{name} of {self!r}", value, part.shape)

    def get_q_dot(self, state: State) -> Array:
        """Rates of its q, as a read-only view. Needs VELOCITY."""
        return self.__part(state, "get_q_dot", "q", state.q_dot_view, Stage.VELOCITY)

    def get_u_dot(self, state: State) -> Array:
        """Rates of its u, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_u_dot", "u", state.u_dot_view, Stage.ACCELERATION)

    def get_z_dot(self, state: State) -> Array:
        """Rates of its z, as a read-only view. Needs DYNAMICS."""
        return self.__part(state, "get_z_dot", "z", state.z_dot_view, Stage.DYNAMICS)

    def get_q_dot_dot(self, state: State) -> Array:
        """Second rates of its q, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_q_dot_dot", "q", state.q_dot_dot_view, Stage.ACCELERATION)

    def upd_q_dot(self, state: State) -> Array:
        """A writable view of the rates of its q, which `realize_velocity` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_q_dot", "q", state.record.q_dot[:, 0])

    def upd_u_dot(self, state: State) -> Array:
        """A writable view of the rates of its u, which `realize_acceleration` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_u_dot", "u", state.record.u_dot[:, 0])

    def upd_z_dot(self, state: State) -> Array:
        """A writable view of the rates of its z, which `realize_dynamics` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_z_dot", "z", state.record.z_dot[:, 0])

    def upd_q_dot_dot(self, state: State) -> Array:
        """A writable view of the second rates of its q, which `realize_acceleration` fills; lowers no stage. Needs MODEL."""
        return self.__part(state, "upd_q_dot_dot", "q", state.record.q_dot_dot[:, 0])

    def get_u_weights(self, state: State) -> Array:
        """Its part of `State.u_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u_weights", "u", state.u_weights)

    def get_z_weights(self, state: State) -> Array:
        """Its part of `State.z_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z_weights", "z", state.z_weights)

    def __place(self, state: State, asked: str, name: str) -> tuple[int, int]:
        """The first place of its q, u or z, and how many there are."""
        index = index_in(self, state, asked)
        if state.stage_number < Stage.MODEL:
            state.refuse_model(asked)
        return state.variable_places()[name][index]

    def __part(self, state: State, asked: str, name: str, whole: Array, needed: Stage = Stage.MODEL) -> Array:
        start, n = self.__place(state, asked, name)
        if state.stage_number < needed:
            state.refuse(asked, needed)
        return whole[start : start + n]

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    def get_q_err_start(self, state: State) -> int:
        """Place of its first q error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_q_err_start", "q_err")[0]

    def get_n_q_err(self, state: State) -> int:
        """The number of q errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_q_err", "q_err")[1]

    def get_u_err_start(self, state: State) -> int:
        """Place of its first u error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_err_start", "u_err")[0]

    def get_n_u_err(self, state: State) -> int:
        """The number of u errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_err", "u_err")[1]

    def get_u_dot_err_start(self, state: State) -> int:
        """Place of its first udot error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_dot_err_start", "u_dot_err")[0]

    def get_n_u_dot_err(self, state: State) -> int:
        """The number of udot errors of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_dot_err", "u_dot_err")[1]

    def get_multipliers_start(self, state: State) -> int:
        """Place of its first multiplier within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_multipliers_start", "multipliers")[0]

    def get_n_multipliers(self, state: State) -> int:
        """Number of multipliers that it has: one a udot error. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_multipliers", "multipliers")[1]

    def get_event_trigger_start_by_stage(self, state: State, stage: Stage) -> int:
        """Place of its first event trigger of *stage* within the system's of that stage. Needs INSTANCE."""
        return self.__slot_place(state, "get_event_trigger_start_by_stage", trigger_stage(stage))[0]

    def get_n_event_triggers_by_stage(self, state: State, stage: Stage) -> int:
        """The number of event triggers of *stage* of this subsystem. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_event_triggers_by_stage", trigger_stage(stage))[1]

    def get_q_err(self, state: State) -> Array:
        """Its errors of constraints on q, as a read-only view; the matter's end with its quaternions'. Needs POSITION."""
        return self.__slots(state, "get_q_err", "q_err", Stage.POSITION)

    def get_u_err(self, state: State) -> Array:
        """Its errors of constraints on u, as a read-only view. Needs VELOCITY."""
        return self.__slots(state, "get_u_err", "u_err", Stage.VELOCITY)

    def get_u_dot_err(self, state: State) -> Array:
        """Its errors of constraints on udot, as a read-only view. Needs ACCELERATION."""
        return self.__slots(state, "get_u_dot_err", "u_dot_err", Stage.ACCELERATION)

    def get_multipliers(self, state: State) -> Array:
        """Its multipliers, as a read-only view. Needs ACCELERATION."""
        return self.__slots(state, "get_multipliers", "multipliers", Stage.ACCELERATION)

    def get_event_triggers_by_stage(self, state: State, stage: Stage) -> Array:
        """Its event triggers of *stage*, as a read-only view. Needs that stage."""
        name = trigger_stage(stage)
        return self.__slots(state, "get_event_triggers_by_stage", name, max(Stage(name), Stage.INSTANCE))

    def upd_q_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on q, which `realize_position` fills; lowers no stage. Needs INSTANCE.

        The matter's last entries, for its quaternions, are computed when they are read; what is written there is lost.
        """
        return self.__slots(state, "upd_q_err", "q_err")

    def upd_u_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on u, for `realize_velocity`; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_u_err", "u_err")

    def upd_u_dot_err(self, state: State) -> Array:
        """A writable view of its errors of constraints on udot, which `realize_acceleration` fills. Needs INSTANCE."""
        return self.__slots(state, "upd_u_dot_err", "u_dot_err")

    def upd_multipliers(self, state: State) -> Array:
        """A writable view of its multipliers, which `realize_acceleration` fills; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_multipliers", "multipliers")

    def upd_event_triggers_by_stage(self, state: State, stage: Stage) -> Array:
        """A writable view of its event triggers of *stage*, which that stage's hook fills; lowers no stage. Needs INSTANCE."""
        return self.__slots(state, "upd_event_triggers_by_stage", trigger_stage(stage))

    def get_q_err_weights(self, state: State) -> Array:
        """Its part of `State.q_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_q_err_weights", "q_err")
        return state.q_err_weights[start : start + n]

    def get_u_err_weights(self, state: State) -> Array:
        """Its part of `State.u_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_u_err_weights", "u_err")
        return state.u_err_weights[start : start + n]

    def __slot_place(self, state: State, asked: str, name: str | int) -> tuple[int, int]:
        index = index_in(self, state, asked)
        return state.slots(asked).slot_places[name][index]

    def __slots(self, state: State, asked: str, name: str | int, needed: Stage | None = None) -> Array:
        """A subsystem's slots: writable, or read-only where *needed* is given and has been reached."""
        start, n = self.__slot_place(state, asked, name)
        whole = state.slots(asked).slots[name]
        if needed is None:
            return whole[start : start + n]
        if state.stage_number < needed:
            state.refuse(asked, needed)
        if isinstance(name, str):
            state.write_matters_own(name)
        view = whole[start : start + n]
        view.flags.writeable = False
        return view

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
