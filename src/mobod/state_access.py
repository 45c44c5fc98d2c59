"""StateAccess: a subsystem's part of a state: what it allocates there, reads and writes. `Subsystem` derives from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import StageError
from .resources import NEVER, CacheEntry, DiscreteVariable, Resources, index_in, named, own_copy, subsystem_order
from .stage import Stage

if TYPE_CHECKING:
    from .state import State
    from .subsystem import Subsystem

    #: An entry or a variable of this subsystem by its index, or of any by subsystem and index.
    Reference = int | tuple[Subsystem, int]

Array = npt.NDArray[np.float64]

_SAME: Any = object()


class StateAccess:
    """What a subsystem has in each state: variables, cache entries, slots. See ``docs/subsystems.md`` for how it is used.

    Allocating needs a state below MODEL (q, u, z and discrete variables) or below INSTANCE (cache entries, errors, event
    triggers): do it in `Subsystem.realize_topology`, or in `Subsystem.realize_model` or `Subsystem.realize_instance` what
    depends on choices made in the state. The numbers that come back are places within the subsystem's own part.
    """

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    # ------------------------------------------------------------------------------------------ allocating

    def allocate_q(self, state: State, q_init: npt.ArrayLike) -> int:
        """Allocate coordinates, whose rates `realize_velocity` has to write, and whose second rates `realize_acceleration`.

        Parameters
        ----------
        state : State
            Below MODEL.
        q_init : (n,) array_like
            Their initial values; as many are allocated.

        Returns
        -------
        int
            Place of the first one among the subsystem's own q; the others follow.

        Raises
        ------
        StageError
            If the state is at MODEL or above.
        ValueError
            If *q_init* is not a vector of finite numbers.
        """
        return self.__allocate_run(state, "q", q_init)

    def allocate_u(self, state: State, u_init: npt.ArrayLike) -> int:
        """Allocate speeds, whose rates `realize_acceleration` has to write; as `allocate_q`."""
        return self.__allocate_run(state, "u", u_init)

    def allocate_z(self, state: State, z_init: npt.ArrayLike) -> int:
        """Allocate auxiliary variables, whose rates `realize_dynamics` has to write; as `allocate_q`."""
        return self.__allocate_run(state, "z", z_init)

    def __allocate_run(self, state: State, name: str, init: npt.ArrayLike) -> int:
        index, resources, level = self.__allocating(state, f"allocate_{name}", Stage.MODEL)
        try:
            values = np.array(init, dtype=np.float64, ndmin=1)
        except (TypeError, ValueError):
            raise TypeError(f"{name}_init has to be a vector of numbers, not {init!r}") from None
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(f"{name}_init has to be a vector of finite numbers, one for each {name}; got {init!r}")
        part = resources.part(index)
        first = sum(len(run) for _, run in part.runs[name])
        if index == subsystem_order(state._system)[0]:
            tree = state._tree if state._stage >= Stage.MODEL else state._system._tree(state._pending_euler_angles)
            first += {"q": tree.nq, "u": tree.nu, "z": 0}[name]
        part.runs[name].append((level, values))
        return first

    def allocate_discrete_variable(self, state: State, stage: Stage, v: Any) -> int:
        """Allocate a variable that changes only when someone changes it.

        Parameters
        ----------
        state : State
            Below MODEL.
        stage : Stage
            What changing it invalidates, with all stages above: the first stage whose results depend on it.
        v : object
            Its initial value, any Python object; states keep copies, which refer to the same system, bodies and forces.

        Returns
        -------
        int
            Its index among the subsystem's discrete variables.

        Raises
        ------
        StageError
            If the state is at MODEL or above; or at TOPOLOGY, where *stage* is MODEL: the variable would go with that stage.
        ValueError
            If *stage* is below MODEL: topology is no business of a state's.
        """
        index, resources, level = self.__allocating(state, "allocate_discrete_variable", Stage.MODEL)
        invalidates = _stage("stage", stage)
        if invalidates < Stage.MODEL:
            raise ValueError(f"a discrete variable can invalidate Stage.MODEL or one above, not {invalidates.name}")
        if invalidates == Stage.MODEL and level > Stage.EMPTY:
            raise StageError(
                f"allocate_discrete_variable needs a state below Stage.TOPOLOGY for a variable that invalidates MODEL; this "
                f"one is at {named(level)}, and what is allocated there goes with MODEL; call it in realize_topology"
            )
        variables = resources.part(index).variables
        variables.append(DiscreteVariable(own_copy(v, state._system), int(invalidates), level))
        return len(variables) - 1

    def allocate_auto_update_discrete_variable(self, state: State, invalidates: Stage, v: Any, update_depends_on: Stage) -> int:
        """Allocate a variable that takes its next value at the beginning of each step of an integrator.

        Parameters
        ----------
        state : State
            Below MODEL.
        invalidates : Stage
            What changing it by hand invalidates; above TIME. Its own updates invalidate nothing.
        v : object
            Its initial value.
        update_depends_on : Stage
            The first stage at which its next value can be computed.

        Returns
        -------
        int
            Its index among the subsystem's discrete variables.

        Raises
        ------
        StageError
            If the state is at MODEL or above.
        ValueError
            If *invalidates* is TIME or below.

        Notes
        -----
        The next value is a lazy cache entry (`get_discrete_var_update_index`). While a state is realized, compute it with
        `upd_discrete_var_update_value` and say so with `mark_discrete_var_update_value_realized`; where it is not marked at
        the end of a step, the variable stays as it is. As in Simbody, results should be computed from the next value and
        not from the variable, so that none changes when the two are exchanged.
        """
        index, resources, level = self.__allocating(state, "allocate_auto_update_discrete_variable", Stage.MODEL)
        first, depends_on = _stage("invalidates", invalidates), _stage("update_depends_on", update_depends_on)
        if first <= Stage.TIME:
            raise ValueError(f"a variable that updates itself has to invalidate a stage above TIME, not {first.name}")
        part = resources.part(index)
        variable = DiscreteVariable(own_copy(v, state._system), int(first), level)
        variable.update = len(part.entries)
        part.entries.append(CacheEntry(own_copy(v, state._system), int(depends_on), NEVER, level))
        part.variables.append(variable)
        return len(part.variables) - 1

    def allocate_cache_entry(
        self,
        state: State,
        depends_on: Stage,
        computed_by: Stage | None = None,
        v: Any = None,
        *,
        variables: Sequence[str] = (),
        discrete_variables: Sequence[Reference] = (),
        cache_entries: Sequence[Reference] = (),
    ) -> int:
        """Allocate room for a value that is computed from the state.

        Parameters
        ----------
        state : State
            Below INSTANCE.
        depends_on : Stage
            The first stage at which it can be computed; invalidating it makes the value out of date.
        computed_by : Stage, optional
            The stage by which the subsystem's own hook has computed it, so that it need not be marked; *depends_on* unless
            given.
        v : object
            Its initial value; give it by name where *computed_by* is left out.
        variables : sequence of {"q", "u", "z"}
            Variables of the system that make it out of date when they change, whatever the stage. With these a value can
            depend on q at Stage.INSTANCE, say, and outlive changes of u and time.
        discrete_variables, cache_entries : sequence of int or (Subsystem, int)
            What else it depends on: own variables and entries by index, those of others with their subsystem.

        Returns
        -------
        int
            Its index among the subsystem's cache entries.

        Raises
        ------
        StageError
            If the state is at INSTANCE or above.
        ValueError
            If *computed_by* is below *depends_on*, or an entry it depends on is there only later than itself.
        IndexError
            If there is no such variable or entry.
        """
        if computed_by is None:
            computed_by = depends_on
        elif not isinstance(computed_by, Stage):
            raise TypeError(f"computed_by has to be a Stage, not {computed_by!r}; give the entry's value as v=...")
        wants = variables, discrete_variables, cache_entries
        return self.__allocate_entry(state, "allocate_cache_entry", depends_on, computed_by, v, wants)

    def allocate_lazy_cache_entry(
        self,
        state: State,
        earliest: Stage,
        v: Any,
        *,
        variables: Sequence[str] = (),
        discrete_variables: Sequence[Reference] = (),
        cache_entries: Sequence[Reference] = (),
    ) -> int:
        """Allocate room for a value that is computed when someone asks for it, from Stage *earliest* on.

        Whoever computes it says so with `mark_cache_value_realized`. Otherwise as `allocate_cache_entry`.
        """
        wants = variables, discrete_variables, cache_entries
        return self.__allocate_entry(state, "allocate_lazy_cache_entry", earliest, None, v, wants)

    def __allocate_entry(
        self, state: State, asked: str, depends_on: Stage, computed_by: Stage | None, v: Any, wants: tuple[Any, Any, Any]
    ) -> int:
        index, resources, level = self.__allocating(state, asked, Stage.INSTANCE)
        first = _stage("depends_on" if computed_by is not None else "earliest", depends_on)
        if first < Stage.TOPOLOGY:
            raise ValueError("a cache entry depends on Stage.TOPOLOGY or one above, not EMPTY")
        last = NEVER if computed_by is None else int(computed_by)
        if last < first:
            raise ValueError(f"computed_by {named(last)} is below depends_on {first.name}, when it cannot be computed yet")
        variables, discrete_variables, cache_entries = wants
        for name in variables:
            if name not in ("q", "u", "z"):
                raise ValueError(f"variables are of 'q', 'u' and 'z', not {name!r}")
        prerequisites = [("variable", *self.__other(state, asked, "discrete variable", one)) for one in discrete_variables]
        for one in cache_entries:
            other, number = self.__other(state, asked, "cache entry", one)
            upstream = resources.part(other).entries[number]
            if upstream.depends_on > first:
                raise ValueError(
                    f"cache entry {number} of {state._system._subsystems[other]!r} depends on {named(upstream.depends_on)}; "
                    f"an entry that depends on {first.name} cannot be computed from it"
                )
            prerequisites.append(("entry", other, number))
        entry = CacheEntry(own_copy(v, state._system), int(first), last, level, tuple(variables), tuple(prerequisites))
        entries = resources.part(index).entries
        entries.append(entry)
        resources.computing.add(last)
        return len(entries) - 1

    def __other(self, state: State, asked: str, what: str, reference: Reference) -> tuple[int, int]:
        """A variable or entry that someone names, as (subsystem, index)."""
        owner, number = reference if isinstance(reference, tuple) else (self, reference)
        if not isinstance(owner, StateAccess):
            raise TypeError(f"a {what} of another subsystem is named by (subsystem, index), not {reference!r}")
        owner.__one(state, asked, what, number)
        return owner.__index(state, asked), int(number)

    def allocate_q_err(self, state: State, nqerr: int) -> int:
        """Allocate slots for errors of constraints on q, which `realize_position` has to write.

        They are told as part of `State.q_err`. Projection, of integrators too, is the matter's: who writes errors of their own
        brings their q and u back themselves, say in `Subsystem.handle_events` after each step
        (`MultibodySystem.set_has_time_advanced_events`).

        Parameters
        ----------
        state : State
            Below INSTANCE.
        nqerr : int
            How many.

        Returns
        -------
        int
            Place of the first one among the subsystem's own; the others follow.

        Raises
        ------
        StageError
            If the state is at INSTANCE or above.
        ValueError
            If the number is negative.
        """
        return self.__allocate_slots(state, "allocate_q_err", "q_err", nqerr)

    def allocate_u_err(self, state: State, nuerr: int) -> int:
        """Allocate slots for errors of constraints on u, which `realize_velocity` has to write; as `allocate_q_err`."""
        return self.__allocate_slots(state, "allocate_u_err", "u_err", nuerr)

    def allocate_u_dot_err(self, state: State, nudoterr: int) -> int:
        """Allocate slots for errors of constraints on udot and as many multipliers; as `allocate_q_err`.

        `realize_acceleration` has to write both.
        """
        return self.__allocate_slots(state, "allocate_u_dot_err", "u_dot_err", nudoterr)

    def allocate_event_triggers_by_stage(self, state: State, stage: Stage, ntriggers: int) -> int:
        """Allocate slots for functions whose zeros are events, which the hook of *stage* has to write; as `allocate_q_err`."""
        name = _trigger_stage(stage)
        return self.__allocate_slots(state, "allocate_event_triggers_by_stage", name, ntriggers)

    def __allocate_slots(self, state: State, asked: str, name: str | int, count: int) -> int:
        index, resources, level = self.__allocating(state, asked, Stage.INSTANCE)
        n = _integer("the number of slots", count)
        if n < 0:
            raise ValueError(f"the number of slots cannot be negative, got {n}")
        slots = resources.part(index).slots.setdefault(name, [])
        first = sum(one for _, one in slots)
        slots.append((level, n))
        return first

    def __allocating(self, state: State, asked: str, below: Stage) -> tuple[int, Resources, int]:
        """Index, resources and the stage of a subsystem that may allocate now."""
        index = self.__index(state, asked)
        resources = state._upd_resources()
        level = resources.stage_of(state, index)
        if level >= below:
            hooks = "realize_topology or realize_model" if below == Stage.MODEL else "realize_topology to realize_instance"
            raise StageError(
                f"{asked} needs a state below Stage.{below.name}; this one is at {named(level)}; call it in {hooks}"
            )
        state._system._is_interpreted = True
        return index, resources, level

    # ------------------------------------------------------------------------------------------ q, u, z

    def get_q_start(self, state: State) -> int:
        """Place of its first q within the system's. Needs MODEL."""
        return self.__place(state, "get_q_start", "q")[0]

    def get_n_q(self, state: State) -> int:
        """How many coordinates of the state this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_q", "q")[1]

    def get_u_start(self, state: State) -> int:
        """Place of its first u within the system's. Needs MODEL."""
        return self.__place(state, "get_u_start", "u")[0]

    def get_n_u(self, state: State) -> int:
        """How many speeds of the state this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_u", "u")[1]

    def get_z_start(self, state: State) -> int:
        """Place of its first z within the system's. Needs MODEL."""
        return self.__place(state, "get_z_start", "z")[0]

    def get_n_z(self, state: State) -> int:
        """How many auxiliary variables of the state this subsystem has. Needs MODEL."""
        return self.__place(state, "get_n_z", "z")[1]

    def get_q(self, state: State) -> Array:
        """Its coordinates ``(nq,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_q", "q", state._q_view)

    def get_u(self, state: State) -> Array:
        """Its speeds ``(nu,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u", "u", state._u_view)

    def get_z(self, state: State) -> Array:
        """Its auxiliary variables ``(nz,)``, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z", "z", state._z_view)

    def upd_q(self, state: State) -> Array:
        """Its coordinates as a writable view; the state falls to TIME at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_q", "q", state._q)
        state._invalidate_q()
        return view

    def upd_u(self, state: State) -> Array:
        """Its speeds as a writable view; the state falls to POSITION at most, now: fetch it again for each change."""
        view = self.__part(state, "upd_u", "u", state._u)
        state._invalidate_u()
        return view

    def upd_z(self, state: State) -> Array:
        """Its auxiliary variables as a writable view; the state falls to VELOCITY at most, now."""
        view = self.__part(state, "upd_z", "z", state._z)
        state._invalidate_z()
        return view

    def set_q(self, state: State, q: npt.ArrayLike) -> None:
        """Set its coordinates ``(nq,)``; the state falls to TIME at most. `ValueError` for a wrong length."""
        self.__set(state, "q", q, state._q)
        state._invalidate_q()

    def set_u(self, state: State, u: npt.ArrayLike) -> None:
        """Set its speeds ``(nu,)``; the state falls to POSITION at most. `ValueError` for a wrong length."""
        self.__set(state, "u", u, state._u)
        state._invalidate_u()

    def set_z(self, state: State, z: npt.ArrayLike) -> None:
        """Set its auxiliary variables ``(nz,)``; the state falls to VELOCITY at most. `ValueError` for a wrong length."""
        self.__set(state, "z", z, state._z)
        state._invalidate_z()

    def __set(self, state: State, name: str, value: npt.ArrayLike, whole: Array) -> None:
        part = self.__part(state, f"set_{name}", name, whole)
        array = np.asarray(value, dtype=np.float64)
        if array.shape != part.shape:
            raise ValueError(f"{self!r} has {part.size} {name}, shape {part.shape}; got {array.shape}")
        part[:] = array

    def get_q_dot(self, state: State) -> Array:
        """Rates of its q, as a read-only view. Needs VELOCITY."""
        return self.__part(state, "get_q_dot", "q", state._q_dot_view, Stage.VELOCITY)

    def get_u_dot(self, state: State) -> Array:
        """Rates of its u, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_u_dot", "u", state._u_dot_view, Stage.ACCELERATION)

    def get_z_dot(self, state: State) -> Array:
        """Rates of its z, as a read-only view. Needs DYNAMICS."""
        return self.__part(state, "get_z_dot", "z", state._z_dot_view, Stage.DYNAMICS)

    def get_q_dot_dot(self, state: State) -> Array:
        """Second rates of its q, as a read-only view. Needs ACCELERATION."""
        return self.__part(state, "get_q_dot_dot", "q", state._q_dot_dot_view, Stage.ACCELERATION)

    def upd_q_dot(self, state: State) -> Array:
        """Room for the rates of its q, for `realize_velocity` to write; no stage is lowered. Needs MODEL."""
        return self.__part(state, "upd_q_dot", "q", state._record.q_dot[:, 0])

    def upd_u_dot(self, state: State) -> Array:
        """Room for the rates of its u, for `realize_acceleration` to write; no stage is lowered. Needs MODEL."""
        return self.__part(state, "upd_u_dot", "u", state._record.u_dot[:, 0])

    def upd_z_dot(self, state: State) -> Array:
        """Room for the rates of its z, for `realize_dynamics` to write; no stage is lowered. Needs MODEL."""
        return self.__part(state, "upd_z_dot", "z", state._record.z_dot[:, 0])

    def upd_q_dot_dot(self, state: State) -> Array:
        """Room for the second rates of its q, for `realize_acceleration` to write; no stage is lowered. Needs MODEL."""
        return self.__part(state, "upd_q_dot_dot", "q", state._record.q_dot_dot[:, 0])

    def get_u_weights(self, state: State) -> Array:
        """Its part of `State.u_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_u_weights", "u", state.u_weights)

    def get_z_weights(self, state: State) -> Array:
        """Its part of `State.z_weights`, as a read-only view. Needs MODEL."""
        return self.__part(state, "get_z_weights", "z", state.z_weights)

    def __place(self, state: State, asked: str, name: str) -> tuple[int, int]:
        """Where its q, u or z start, and how many there are."""
        index = self.__index(state, asked)
        if state._stage < Stage.MODEL:
            state._refuse_model(asked)
        places = state._places()[name]
        return places[index]

    def __part(self, state: State, asked: str, name: str, whole: Array, needed: Stage = Stage.MODEL) -> Array:
        start, n = self.__place(state, asked, name)
        if state._stage < needed:
            state._refuse(asked, needed)
        return whole[start : start + n]

    # ------------------------------------------------------------------------------------------ errors and triggers

    def get_q_err_start(self, state: State) -> int:
        """Place of its first q error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_q_err_start", "q_err")[0]

    def get_n_q_err(self, state: State) -> int:
        """How many q errors it has. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_q_err", "q_err")[1]

    def get_u_err_start(self, state: State) -> int:
        """Place of its first u error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_err_start", "u_err")[0]

    def get_n_u_err(self, state: State) -> int:
        """How many u errors it has. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_err", "u_err")[1]

    def get_u_dot_err_start(self, state: State) -> int:
        """Place of its first udot error within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_u_dot_err_start", "u_dot_err")[0]

    def get_n_u_dot_err(self, state: State) -> int:
        """How many udot errors it has. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_u_dot_err", "u_dot_err")[1]

    def get_multipliers_start(self, state: State) -> int:
        """Place of its first multiplier within the system's. Needs INSTANCE."""
        return self.__slot_place(state, "get_multipliers_start", "multipliers")[0]

    def get_n_multipliers(self, state: State) -> int:
        """How many multipliers it has: one a udot error. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_multipliers", "multipliers")[1]

    def get_event_trigger_start_by_stage(self, state: State, stage: Stage) -> int:
        """Place of its first event trigger of *stage* within the system's of that stage. Needs INSTANCE."""
        return self.__slot_place(state, "get_event_trigger_start_by_stage", _trigger_stage(stage))[0]

    def get_n_event_triggers_by_stage(self, state: State, stage: Stage) -> int:
        """How many event triggers of *stage* it has. Needs INSTANCE."""
        return self.__slot_place(state, "get_n_event_triggers_by_stage", _trigger_stage(stage))[1]

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
        name = _trigger_stage(stage)
        return self.__slots(state, "get_event_triggers_by_stage", name, max(Stage(name), Stage.INSTANCE))

    def upd_q_err(self, state: State) -> Array:
        """Room for its errors of constraints on q, for `realize_position` to write; no stage is lowered. Needs INSTANCE.

        The matter's last ones are of its quaternions: these are computed when they are read, whatever is written here.
        """
        return self.__slots(state, "upd_q_err", "q_err")

    def upd_u_err(self, state: State) -> Array:
        """Room for its errors of constraints on u, for `realize_velocity` to write; no stage is lowered. Needs INSTANCE."""
        return self.__slots(state, "upd_u_err", "u_err")

    def upd_u_dot_err(self, state: State) -> Array:
        """Room for its errors of constraints on udot, for `realize_acceleration` to write. Needs INSTANCE."""
        return self.__slots(state, "upd_u_dot_err", "u_dot_err")

    def upd_multipliers(self, state: State) -> Array:
        """Room for its multipliers, for `realize_acceleration` to write; no stage is lowered. Needs INSTANCE."""
        return self.__slots(state, "upd_multipliers", "multipliers")

    def upd_event_triggers_by_stage(self, state: State, stage: Stage) -> Array:
        """Room for its event triggers of *stage*, for the hook of that stage to write; no stage is lowered. Needs INSTANCE."""
        return self.__slots(state, "upd_event_triggers_by_stage", _trigger_stage(stage))

    def get_q_err_weights(self, state: State) -> Array:
        """Its part of `State.q_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_q_err_weights", "q_err")
        return state.q_err_weights[start : start + n]

    def get_u_err_weights(self, state: State) -> Array:
        """Its part of `State.u_err_weights`, as a read-only view. Needs INSTANCE."""
        start, n = self.__slot_place(state, "get_u_err_weights", "u_err")
        return state.u_err_weights[start : start + n]

    def __slot_place(self, state: State, asked: str, name: str | int) -> tuple[int, int]:
        index = self.__index(state, asked)
        return state._slots(asked).slot_places[name][index]

    def __slots(self, state: State, asked: str, name: str | int, needed: Stage | None = None) -> Array:
        """A subsystem's run of slots: to be written, or read-only at a stage that is needed."""
        start, n = self.__slot_place(state, asked, name)
        whole = state._slots(asked).slots[name]
        if needed is None:
            return whole[start : start + n]
        if state._stage < needed:
            state._refuse(asked, needed)
        if isinstance(name, str):
            state._write_matters_own(name)
        view = whole[start : start + n]
        view.flags.writeable = False
        return view

    # ------------------------------------------------------------------------------------------ stages

    def get_stage(self, state: State) -> Stage:
        """How far this subsystem is realized in *state*.

        That is the state's stage; while a stage is being realized, one less until this subsystem's hook has returned.
        """
        index = self.__index(state, "get_stage")
        resources = state._resources
        return Stage(state._stage if resources is None else resources.stage_of(state, index))

    def advance_to_stage(self, state: State, stage: Stage) -> None:
        """Say that this subsystem has done its part of *stage*, one more than its own now.

        `MultibodySystem.realize` does so when the subsystem's hook returns. A subsystem that was advanced before the system
        is not asked again: its hook of that stage is not called, as long as nothing invalidates the stage.

        Raises
        ------
        StageError
            If *stage* is not one above the subsystem's own.
        """
        index = self.__index(state, "advance_to_stage")
        wanted, now = _stage("stage", stage), self.get_stage(state)
        if wanted != now + 1:
            raise StageError(
                f"advance_to_stage takes one step at a time: {self!r} is at {now.name} and cannot go to {wanted.name}"
            )
        state._upd_resources().advance(state, index, int(wanted))

    # ------------------------------------------------------------------------------------------ discrete variables

    def get_discrete_variable(self, state: State, index: int) -> Any:
        """The value of a discrete variable: the stored object, not to be changed. `IndexError` where there is none."""
        return self.__one(state, "get_discrete_variable", "discrete variable", index).value

    def upd_discrete_variable(self, state: State, index: int, v: Any = _SAME) -> Any:
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
        variable = self.__one(state, "upd_discrete_variable", "discrete variable", index)
        at = self.__index(state, "upd_discrete_variable")
        if v is not _SAME:
            variable.value = own_copy(v, state._system)
        assert state._resources is not None
        state._resources.change(at, int(index), state.time)
        state._invalidate_from(variable.invalidates)
        return variable.value

    def get_discrete_var_last_update_time(self, state: State, dx: int) -> float:
        """When a discrete variable was last changed, by hand or by its own update; NaN before that; time."""
        return float(self.__one(state, "get_discrete_var_last_update_time", "discrete variable", dx).last_update_time)

    def get_discrete_var_update_index(self, state: State, dx: int) -> int:
        """The cache entry that holds a variable's next value; `ValueError` where it does not update itself."""
        variable = self.__one(state, "get_discrete_var_update_index", "discrete variable", dx)
        if variable.update < 0:
            raise ValueError(
                f"discrete variable {dx} of {self!r} does not update itself; "
                "allocate it with allocate_auto_update_discrete_variable"
            )
        update: int = variable.update
        return update

    def get_discrete_var_update_value(self, state: State, dx: int) -> Any:
        """A variable's next value, the stored object; `StageError` where it is out of date."""
        return self.get_cache_entry(state, self.get_discrete_var_update_index(state, dx))

    def upd_discrete_var_update_value(self, state: State, dx: int, v: Any = _SAME) -> Any:
        """A variable's next value, to be changed in place, or replaced by *v*; mark it when it is there."""
        return self.upd_cache_entry(state, self.get_discrete_var_update_index(state, dx), v)

    def is_discrete_var_update_value_realized(self, state: State, dx: int) -> bool:
        """Whether a variable's next value is up to date."""
        return self.is_cache_value_realized(state, self.get_discrete_var_update_index(state, dx))

    def mark_discrete_var_update_value_realized(self, state: State, dx: int) -> None:
        """Say that a variable's next value is up to date."""
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
        entry = self.__one(state, "get_cache_entry", "cache entry", index)
        assert state._resources is not None
        if not state._resources.is_realized(state, self.__index(state, "get_cache_entry"), int(index)):
            how = "compute it, with upd_cache_entry and mark_cache_value_realized"
            if entry.computed_by != NEVER:
                how = f"call system.realize(state, Stage.{named(entry.computed_by)}), or {how}"
            raise StageError(
                f"cache entry {index} of {self!r} is out of date: it depends on Stage.{named(entry.depends_on)}, "
                f"this state is at {named(state._stage)}; {how}"
            )
        return entry.value

    def upd_cache_entry(self, state: State, index: int, v: Any = _SAME) -> Any:
        """The value of a cache entry, to be changed in place, or replaced by *v*; neither stage nor validity changes."""
        entry = self.__one(state, "upd_cache_entry", "cache entry", index)
        if v is not _SAME:
            entry.value = v
        return entry.value

    def is_cache_value_realized(self, state: State, cx: int) -> bool:
        """Whether the value of a cache entry is up to date, so that `get_cache_entry` gives it."""
        self.__one(state, "is_cache_value_realized", "cache entry", cx)
        assert state._resources is not None
        return state._resources.is_realized(state, self.__index(state, "is_cache_value_realized"), int(cx))

    def mark_cache_value_realized(self, state: State, cx: int) -> None:
        """Say that the value of a cache entry is up to date, until something changes that it depends on.

        Raises
        ------
        StageError
            If the state is more than one stage below what the entry depends on, or another entry that it depends on is
            out of date.
        """
        entry = self.__one(state, "mark_cache_value_realized", "cache entry", cx)
        index = self.__index(state, "mark_cache_value_realized")
        assert state._resources is not None
        reached = max(state._stage, state._resources.stage_of(state, index))
        if reached < entry.depends_on - 1:
            state._refuse(f"mark_cache_value_realized of cache entry {cx} of {self!r}", Stage(entry.depends_on - 1))
        state._resources.mark(state, index, int(cx))

    def mark_cache_value_not_realized(self, state: State, cx: int) -> None:
        """Say that the value of a cache entry is out of date."""
        entry = self.__one(state, "mark_cache_value_not_realized", "cache entry", cx)
        assert state._resources is not None
        state._resources.unmark(entry)

    # ------------------------------------------------------------------------------------------ checks

    def __index(self, state: State, asked: str) -> int:
        return index_in(self, state, asked)  # type: ignore[arg-type]

    def __one(self, state: State, asked: str, what: str, number: int) -> Any:
        """A discrete variable or a cache entry by its index."""
        index, n = self.__index(state, asked), _integer(f"the index of a {what}", number)
        found: Sequence[Any] = ()
        if state._resources is not None:
            part = state._resources.part(index)
            found = part.variables if what == "discrete variable" else part.entries
        if not 0 <= n < len(found):
            there = f"there {'is' if len(found) == 1 else 'are'} {len(found)}, from 0 on" if found else "it has none"
            raise IndexError(f"{asked}: {self!r} has no {what} {n} in this state; {there}")
        return found[n]


def _stage(what: str, value: Any) -> Stage:
    if not isinstance(value, Stage):
        raise TypeError(f"{what} has to be a Stage, such as Stage.DYNAMICS, not {value!r}")
    return value


def _trigger_stage(value: Any) -> int:
    stage = _stage("stage", value)
    if stage < Stage.TOPOLOGY:
        raise ValueError("event triggers belong to Stage.TOPOLOGY or one above, not to EMPTY")
    return int(stage)


def _integer(what: str, value: Any) -> int:
    try:
        number: int = value.__index__()
    except AttributeError:
        raise TypeError(f"{what} has to be an integer, not {value!r}") from None
    return number
