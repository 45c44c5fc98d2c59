"""Allocation of a subsystem in a state: variables, cache entries, slots for errors and event triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import StageError
from ..value.attributes import Sealed
from ..value.checks import instance, integer, numbers
from ..value.stage import Stage
from .resources import NEVER, CacheEntry, DiscreteVariable, Resources, index_in, named, own_copy, subsystem_order

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem
    from .state import State
    from .subsystem import Subsystem

    #: An entry or a variable of this subsystem by its index, or of any by subsystem and index.
    Reference = int | tuple[Subsystem, int]


class Allocation(Sealed):
    """The part of `StateAccess` that allocates."""

    # private methods have two underscores: classes of users' own derive from this one, and may call theirs as they like

    system: MultibodySystem | None
    subsystem_index: int

    def allocate_q(self, state: State, q_init: npt.ArrayLike) -> int:
        """Allocate coordinates; `realize_velocity` has to write their rates, `realize_acceleration` their second rates.

        Parameters
        ----------
        state : State
            Below MODEL.
        q_init : (n,) array_like
            Initial values, one for each coordinate to allocate.

        Returns
        -------
        int
            Index of the first one among the subsystem's own q; the others follow.

        Raises
        ------
        StageError
            If the state is at MODEL or above.
        ValueError
            If *q_init* is not a vector of finite numbers.
        """
        return self.__allocate_run(state, "q", q_init)

    def allocate_u(self, state: State, u_init: npt.ArrayLike) -> int:
        """Allocate speeds; `realize_acceleration` has to write their rates. As `allocate_q`."""
        return self.__allocate_run(state, "u", u_init)

    def allocate_z(self, state: State, z_init: npt.ArrayLike) -> int:
        """Allocate auxiliary variables; `realize_dynamics` has to write their rates. As `allocate_q`."""
        return self.__allocate_run(state, "z", z_init)

    def __allocate_run(self, state: State, name: str, init: npt.ArrayLike) -> int:
        index, resources, level = self.__allocating(state, f"allocate_{name}", Stage.MODEL)
        values = np.array(numbers(f"{name}_init", init, "a vector of numbers"), ndmin=1)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(f"{name}_init has to be a vector of finite numbers, one for each {name}; got {init!r}")
        part = resources.part(index)
        first = sum(len(run) for _, run in part.runs[name])
        if index == subsystem_order(state.system)[0]:
            tree = state.tree if state.stage_number >= Stage.MODEL else state.system.tree_for(state.pending_euler_angles)
            first += {"q": tree.nq, "u": tree.nu, "z": 0}[name]
        part.runs[name].append((level, values))
        return first

    def allocate_discrete_variable(self, state: State, stage: Stage, v: Any) -> int:
        """Allocate a variable that keeps its value until it is set.

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
            If *stage* is below MODEL: the topology belongs to the system, not to a state.
        """
        index, resources, level = self.__allocating(state, "allocate_discrete_variable", Stage.MODEL)
        invalidates = stage_given("stage", stage)
        if invalidates < Stage.MODEL:
            raise ValueError(f"a discrete variable can invalidate Stage.MODEL or one above, not {invalidates.name}")
        if invalidates == Stage.MODEL and level > Stage.EMPTY:
            raise StageError(
                f"allocate_discrete_variable needs a state below Stage.TOPOLOGY for a variable that invalidates MODEL; this "
                f"one is at {named(level)}, and what is allocated there goes with MODEL; call it in realize_topology"
            )
        variables = resources.part(index).variables
        variables.append(DiscreteVariable(own_copy(v, state.system), int(invalidates), level))
        return len(variables) - 1

    def allocate_auto_update_discrete_variable(self, state: State, invalidates: Stage, v: Any, update_depends_on: Stage) -> int:
        """Allocate a variable that takes its next value at the beginning of each integrator step.

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
        `upd_discrete_var_update_value` and mark it with `mark_discrete_var_update_value_realized`; if it is not marked at
        the end of a step, the variable keeps its value. As in Simbody, results should be computed from the next value and
        not from the variable, so that none changes when the two are exchanged.
        """
        index, resources, level = self.__allocating(state, "allocate_auto_update_discrete_variable", Stage.MODEL)
        first, depends_on = stage_given("invalidates", invalidates), stage_given("update_depends_on", update_depends_on)
        if first <= Stage.TIME:
            raise ValueError(f"a variable that updates itself has to invalidate a stage above TIME, not {first.name}")
        part = resources.part(index)
        variable = DiscreteVariable(own_copy(v, state.system), int(first), level)
        variable.update = len(part.entries)
        part.entries.append(CacheEntry(own_copy(v, state.system), int(depends_on), NEVER, level))
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
            Variables of the system whose changes make it out of date, whatever the stage. An entry with *depends_on*
            INSTANCE and ``"q"``, say, depends on q and stays valid when u or time changes.
        discrete_variables, cache_entries : sequence of int or (Subsystem, int)
            Its other prerequisites: own variables and entries by index, those of other subsystems as pairs.

        Returns
        -------
        int
            Its index among the subsystem's cache entries.

        Raises
        ------
        StageError
            If the state is at INSTANCE or above.
        ValueError
            If *computed_by* is below *depends_on*, or a prerequisite is computed at a later stage than the entry itself.
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
        """Allocate room for a value that is computed on demand, from Stage *earliest* on.

        Mark it with `mark_cache_value_realized` once it is computed. Otherwise as `allocate_cache_entry`.
        """
        wants = variables, discrete_variables, cache_entries
        return self.__allocate_entry(state, "allocate_lazy_cache_entry", earliest, None, v, wants)

    def __allocate_entry(
        self, state: State, asked: str, depends_on: Stage, computed_by: Stage | None, v: Any, wants: tuple[Any, Any, Any]
    ) -> int:
        index, resources, level = self.__allocating(state, asked, Stage.INSTANCE)
        first = stage_given("depends_on" if computed_by is not None else "earliest", depends_on)
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
                    f"cache entry {number} of {state.system.subsystems[other]!r} depends on {named(upstream.depends_on)}; "
                    f"an entry that depends on {first.name} cannot be computed from it"
                )
            prerequisites.append(("entry", other, number))
        entry = CacheEntry(own_copy(v, state.system), int(first), last, level, tuple(variables), tuple(prerequisites))
        entries = resources.part(index).entries
        entries.append(entry)
        resources.computing.add(last)
        return len(entries) - 1

    def __other(self, state: State, asked: str, what: str, reference: Reference) -> tuple[int, int]:
        """A reference to a variable or an entry, as (subsystem, index)."""
        owner, number = reference if isinstance(reference, tuple) else (self, reference)
        if not isinstance(owner, Allocation):
            raise TypeError(f"a {what} of another subsystem is named by (subsystem, index), not {reference!r}")
        one_of(owner, state, asked, what, number)
        return index_in(owner, state, asked), int(number)

    def allocate_q_err(self, state: State, nqerr: int) -> int:
        """Allocate slots for errors of constraints on q, which `realize_position` has to write.

        They are part of `State.q_err`. Projection, also an integrator's, corrects the matter's errors only: the subsystem has
        to bring its own q and u back to the manifold, say in `Subsystem.handle_events` after each step
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
        name = trigger_stage(stage)
        return self.__allocate_slots(state, "allocate_event_triggers_by_stage", name, ntriggers)

    def __allocate_slots(self, state: State, asked: str, name: str | int, count: int) -> int:
        index, resources, level = self.__allocating(state, asked, Stage.INSTANCE)
        n = integer("the number of slots", count)
        if n < 0:
            raise ValueError(f"the number of slots cannot be negative, got {n}")
        slots = resources.part(index).slots.setdefault(name, [])
        first = sum(one for _, one in slots)
        slots.append((level, n))
        return first

    def __allocating(self, state: State, asked: str, below: Stage) -> tuple[int, Resources, int]:
        """Index, resources and the stage of a subsystem that may allocate now."""
        index = index_in(self, state, asked)
        resources = state.upd_resources()
        level = resources.stage_of(state, index)
        if level >= below:
            hooks = "realize_topology or realize_model" if below == Stage.MODEL else "realize_topology to realize_instance"
            raise StageError(
                f"{asked} needs a state below Stage.{below.name}; this one is at {named(level)}; call it in {hooks}"
            )
        state.system.is_interpreted = True
        state.system.plain_routine = None
        return index, resources, level


def stage_given(what: str, value: Any) -> Stage:
    """A `Stage` that was passed in, checked."""
    instance(what, value, Stage, "Stage.DYNAMICS")
    return value


def trigger_stage(value: Any) -> int:
    """The number of a stage that can have event triggers."""
    stage = stage_given("stage", value)
    if stage < Stage.TOPOLOGY:
        raise ValueError("event triggers belong to Stage.TOPOLOGY or one above, not to EMPTY")
    return int(stage)


def one_of(subsystem: Allocation, state: State, asked: str, what: str, number: int) -> Any:
    """A discrete variable or a cache entry by its index."""
    index, n = index_in(subsystem, state, asked), integer(f"the index of a {what}", number)
    found: Sequence[Any] = ()
    if state.resources is not None:
        part = state.resources.part(index)
        found = part.variables if what == "discrete variable" else part.entries
    if not 0 <= n < len(found):
        there = f"there {'is' if len(found) == 1 else 'are'} {len(found)}, from 0 on" if found else "it has none"
        raise IndexError(f"{asked}: {subsystem!r} has no {what} {n} in this state; {there}")
    return found[n]
