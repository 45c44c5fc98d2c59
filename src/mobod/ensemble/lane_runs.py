"""Runs in lanes, prepared for threads: the plan of a run, and the arrays of each worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.pointers import block_of
from ..algebra.record import LANES, aligned_zeros, in_each_lane
from ..compiling import UsersRoutine, among_many
from ..event.coordinate import Coordinate
from ..event.scheduled import Scheduled
from ..event.triggered import Triggered
from ..event.watched import Watched, is_compiled, of_triggered
from ..event.when import When
from ..integrator import BDF, Integrator, SemiExplicitEuler, SemiExplicitEuler2, TimeStepping, Verlet
from ..integrator.base import put_routines
from ..integrator.watch import pack
from ..integrator.weights import error_weights, measured_variables
from ..measure.base import Measure
from ..measure.integrate import Integrate
from ..measure.samples import NOWHERE
from ..mobilizer import q_rates
from ..state.fields import Record
from ..state.state import State
from ..state.validity import EVERYTHING, FORCES, KINEMATICS, NO_MOBILIZERS, UNCHECKED
from ..stepping import loop, record as rk
from ..stepping.witnesses import SEEN, SHIFT, WIDTH, WINDOW, WITH_RATES
from ..system.projection import share_weights
from ..system.system import MultibodySystem
from ..tree import sampling
from ..tree.prescribe import prescribe
from ..tree.realize import advance
from ..unilateral.contact_events import ContactEvents, contact_events
from ..unilateral.open_gap import OpenGapOfCoordinate
from ..unilateral.stepped import Stepped
from ..unilateral.stepped.space import copy_of, widened
from ..unilateral.stepped.step import step_eight, step_one
from ..value.stage import Stage
from .functions import Ender, EndWhere
from .lanes import layout, lending
from .lanes.run import run
from .lanes.struck import Striker
from .states import memory_of

_Measure = TypeVar("_Measure", bound=Measure)
#: The loops over steps that lanes have, by the kernel that an integrator has for one state.
METHODS = {
    loop.advance: layout.RUNGE_KUTTA,
    SemiExplicitEuler.kernel: layout.SEMI_EXPLICIT_EULER,
    SemiExplicitEuler2.kernel: layout.SEMI_EXPLICIT_EULER2,
    Verlet.kernel: layout.VERLET,
    TimeStepping.kernel: layout.CONTACT,
}

#: Of witnesses that look at a coordinate and its rate.
_OF_COORDINATES = frozenset((Coordinate.routine, OpenGapOfCoordinate.routine))


class Reason(NamedTuple):
    """Why runs are not in lanes, and what there is to do about it, if anything."""

    what: str
    remedy: str = ""


_COMPILE = "written as compiled functions they are as fast as the package's own, see docs/how-to/custom_forces.md"
_WATCH = (
    "a handler that derives from mobod.event.When, with a Coordinate, Speed, PlaneDistance or Gap to watch, leaves states in "
    "lanes until its event; forces that change at a fixed rate can be a law of mobod.control"
)


def _named(parts: list[Any]) -> str:
    """Some parts, for messages."""
    return ", ".join(map(repr, parts[:3])) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")


def why_one_by_one(state: State, integrator: Integrator, watches: bool = False, functions: Sequence[str] = ()) -> Reason | None:
    """Why runs of states like *state* are not in lanes but each for itself; None where they are.

    Systems whose events are found by compiled witnesses are in lanes, until one may have happened, and those with scheduled
    ones from one to the next; with *watches*, of `simulate`, where a run can be handed over. *functions* are its arguments
    that are given.
    """
    system = state.system
    settings = integrator
    lends = lends_states(state)
    if (system.is_interpreted or system.forces_in_python or system.measures_in_python) and not lends:
        parts = system.parts_in_python
        return Reason(f"parts of this system are in Python ({_named(parts) or 'measures'})", _COMPILE)
    if type(settings).kernel not in METHODS or not _steps_in_lanes(state, settings):
        return _why_alone(system, settings, watches, functions)
    owners = *system.event_handlers, *system.event_reporters
    open_ended = settings.final_time is None  # whose row is after the events of that time
    found = [
        one
        for one in owners
        if not (
            is_watched(one)
            or (lends and isinstance(one, Triggered))
            or (isinstance(one, Scheduled) and (open_ended or not watches))
        )
    ]
    if found:
        return Reason(f"events of this system are found by Python ({_named(found)})", _WATCH)
    if system.has_time_advanced_events():
        return Reason("this system has events whenever time advances")
    settings._apply()  # noqa: SLF001
    plain = settings.allow_interpolation and settings.counts[rk.PROJECTION] & 1 and settings.internal_step_limit is None
    return None if plain else Reason("this integrator's settings are for one state of this system at a time")


def _steps_in_lanes(state: State, integrator: Integrator) -> bool:
    """True if a method that lanes have takes all steps of states like *state* as lanes do."""
    if not isinstance(integrator, TimeStepping):
        return type(integrator).try_step is Integrator.try_step
    fixed = integrator.fixed_step_size is not None and type(integrator) is TimeStepping
    return fixed and integrator.can_run_compiled(state)


def go_on_alone(lanes: Any, status: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """True for states that go on alone from where lanes have left them.

    There an event may come, or accelerations jump, which steps of one state can pass. So do all that have failed where the
    system calls Python, which says there what it has raised.
    """
    if lanes.calls_python:
        return (status != rk.REACHED) & (status != layout.NOT_CALLED)
    return (status == layout.SUSPECT) | ((status == rk.STEP_TOO_SMALL) & lanes.tries_alone)


def lends_states(state: State) -> bool:
    """True if parts in Python can be lent the states of lanes: what they may read is in y, and in rows of memory.

    Variables of subsystems are not, but for those that stand for what measures keep there.
    """
    parts = {} if state.resources is None else state.resources.parts
    measures = acting_measures(state.system, Measure)
    kept = [one for one in measures if isinstance(one, Integrate) or one.memory_run is not None]
    return not state.system.is_interpreted and sum(len(part.variables) for part in parts.values()) == len(kept)


def is_watched(one: Any) -> bool:
    """True if lanes watch for the event of a handler."""
    return isinstance(one, When) and is_compiled(one) and one.witness.has_rate


def watched_events(state: State, contacts: ContactEvents | None) -> list[Watched]:
    """All that changes sign at events of states whose unilateral contacts are closed or open as those of *state*."""
    system = state.system
    owners = (*system.event_reporters, *system.event_handlers)
    triggered = [of_triggered(one) for one in owners if isinstance(one, Triggered)]
    found = [one for one in triggered if one.info.rising or one.info.falling]
    if contacts is not None:
        found += contacts.watched(state, in_lanes=True)
    return found


def _why_alone(system: MultibodySystem, integrator: Integrator, watches: bool, functions: Sequence[str]) -> Reason:
    """Why a method that lanes do not have runs each state for itself, where Python takes part."""
    if type(integrator) is not BDF:
        return Reason(f"{type(integrator).__name__} steps one state of this system at a time")
    if not watches:
        return Reason("BDF is stepped by a TimeStepper for each state", "with simulate it runs compiled")
    owners = *system.event_handlers, *system.event_reporters
    events = [one for one in owners if not (is_watched(one) or isinstance(one, Scheduled))]
    if events:
        return Reason(f"BDF finds events ({_named(events)}) by Python", _WATCH)
    if functions:
        return Reason(f"BDF calls {' and '.join(functions)} by Python", "without functions it runs compiled")
    return Reason("this BDF, or a part of this system, is for one state at a time")


def acting_measures(system: MultibodySystem, kind: type[_Measure]) -> list[_Measure]:
    """Measures of a kind that take part in steps, in the order in which they begin."""
    return [one for subsystem in system.subsystems for one in subsystem.acting_measures if isinstance(one, kind)]


def remembered_of(state: State) -> npt.NDArray[np.int64]:
    """The first place of the memory of each measure that remembers, and its size: a row each."""
    runs_of_memory = [one.memory_run for one in acting_measures(state.system, Measure) if one.memory_run is not None]
    return np.array([(one.start, one.stop - one.start) for one in runs_of_memory], np.int64).reshape(-1, 2)


def own_of_each(own: dict[str, Array]) -> Array:
    """States' own parameters, by field as ensembles have them: a row a state."""
    if not own:
        return np.zeros((0, 0))
    # in C's order, whatever that of the parts is: kernels are compiled for one
    return np.ascontiguousarray(
        np.concatenate([np.moveaxis(a, -1, 1).reshape(len(a) * LANES, -1) for a in own.values()], axis=1)
    )


def share_own(record: Record, own: dict[str, Array], numbers: Array, fields: dict[str, Array] | None = None) -> None:
    """Let a record, and a state's *fields*, have the parameters that each state has of its own in an array of *numbers*."""
    at = 0
    for name, array in own.items():
        rows, columns = array.shape[1:3]
        one = numbers[at : at + rows * columns].reshape(rows, columns, *numbers.shape[1:])
        record.share(name, one)
        if fields is not None:
            fields[name] = one
        at += rows * columns


class LaneRuns:
    """Runs in lanes of one integrator: compiled, and ready for each thread.

    Parameters
    ----------
    state : State
        Of the kind that all are.
    own : dict
        The states' own parameters, by field.
    gravity_alone : bool
        Whether the only force is gravity, as an acceleration of Ground in records of the reduced tree.
    integrator : Integrator
    holds : bool
        Whether mobility forces are held beside those of the elements.
    controller : UsersRoutine, optional
        What adds mobility forces: see `functions`.
    ends : EndWhere, optional
        What ends runs.
    base : LaneRuns, optional
        The runs of states in which other constraints are enabled: with these they share settings, the states' own parameters
        and what happens where contacts close.
    """

    #: So many states are taken at once.
    WIDTH = LANES

    def __init__(
        self,
        state: State,
        own: dict[str, Array],
        gravity_alone: bool,
        integrator: Integrator,
        holds: bool,
        controller: UsersRoutine | None = None,
        ends: EndWhere | None = None,
        base: Any = None,
    ) -> None:
        tree, counts = state.tree, state.tree.counts
        self.own = own
        in_lanes = {"in_lanes": True, "own_parameters": bool(self.own)}
        if state.resources is not None and state.resources.weights:
            share_weights(state)
        self.workers: list[LaneWorker] = []
        system = state.system
        #: What happens where unilateral contacts close.
        mine = None if base is not None or integrator.steps_contacts else contact_events(state, integrator.accuracy)
        self.contacts = mine if base is None else base.contacts
        self.watched, self.pools = self._witnesses(state, integrator, ends, in_lanes)
        #: Whether workers lend the states in their lanes to Python, and whether Python is called at all.
        self.lends = bool(system.forces_in_python or system.measures_in_python or self._in_python)
        self.calls_python = system.calls_back or self.lends
        #: Whether Python is called at events.
        self.has_events = len(self.watched) > 0 and (len(self.called) > 1 or ends is None)
        #: Whether Python takes steps in which contacts are struck, for each thread by itself.
        self.strikes = False
        self.holds = holds or controller is not None
        #: Whether records have to be of the whole tree; those of the reduced one will do where bodies are asked for nothing.
        self.whole = bool(self.own or self.has_events or counts["measure_code_size"] or counts["num_contact_elements"])
        self.whole = self.whole or self.lends or counts["num_controllers"] > 0 or base is not None
        #: A state of its own for each thread, in which controllers are sampled.
        self.single = state
        self.plan = np.zeros(layout.PLAN_SIZE, np.int64)
        self.settings = np.zeros(rk.CONTROL_SIZE) if base is None else base.settings
        wanted = EVERYTHING | UNCHECKED
        if gravity_alone and not self.whole:
            wanted &= ~FORCES
        if base is None:
            self.take_settings(integrator)
        plan = self.plan
        plan[: rk.PLAN_SIZE] = integrator.counts[: rk.PLAN_SIZE]
        put_routines(plan, state, integrator.fixed_step_size is None, **in_lanes)
        iterates = METHODS[type(integrator).kernel] == layout.VERLET
        # where speeds change and positions stay, mobilizers' poses are read once more
        plan[rk.WANTED] = wanted if state.has_known or iterates else wanted | NO_MOBILIZERS
        plan[rk.HOLDS] = holds
        plan[rk.CONTROLLER] = controller.address(**in_lanes) if controller is not None else 0
        plan[layout.ENDER] = len(self.called) - 1 if ends is not None else -1
        if counts["num_controllers"]:
            single = plan[layout.SINGLE :]
            single[rk.ROUTINE] = advance.address()
            single[rk.WANTED] = KINEMATICS * (self.calls_python or sampling.needs_kinematics(tree))
            single[rk.PRESCRIBER] = prescribe.address() if state.has_known else 0
        plan[layout.METHOD] = METHODS[type(integrator).kernel]
        plan[layout.NEEDS_RATES] = any(one.stage > Stage.VELOCITY for one in self.called)
        by_kernels = [one.witness for one in self.called if one not in self._in_python and one.witness is not None]
        by_speeds = len(by_kernels) == len(self.called) and all(one.rate_stage <= Stage.VELOCITY for one in by_kernels)
        plan[layout.BY_SPEEDS] = by_speeds
        plain_rates = bool((tree.fields["rates"] == q_rates.SAME).all())
        if plain_rates and by_kernels and by_speeds and all(one.routine in _OF_COORDINATES for one in by_kernels):
            plan[layout.BY_SPEEDS] = layout.OF_COORDINATES
        #: The elements and joints of steps with contact.
        self.stepped: Stepped | None = None
        if plan[layout.METHOD] == layout.CONTACT:
            self._take_contact(state, controller)
        #: Whether a state can go on alone from where a step in a lane begins: the errors of Verlet's depend on the step before.
        self.hands_over = not (iterates and integrator.fixed_step_size is None)
        plan[rk.PROJECT_REPORTS] &= bool(plan[rk.PROJECTOR] or plan[rk.QUATERNIONS])
        plan[rk.PLAIN_RATES] = plain_rates
        self.table = np.ascontiguousarray(integrator.table)
        self.weights = error_weights(state) * measured_variables(state)
        self.of_each = own_of_each(self.own) if base is None else base.of_each
        self._changes = 0
        #: The runs of each set of enabled constraints, where these are the ones that all share.
        self.sets: Any = None
        #: Where what each measure remembers begins, and its size.
        self.remembered = remembered_of(state)

    def _witnesses(
        self, state: State, integrator: Integrator, ends: EndWhere | None, in_lanes: dict[str, bool]
    ) -> tuple[npt.NDArray[np.int64], tuple[Any, Any]]:
        """The table of the system's witnesses, see `stepping.witnesses`, and the pools of integers and numbers."""
        system, instance = state.system, state.copy()
        system.realize(instance, Stage.INSTANCE)
        #: Those that Python is called for, in the order in which it is; and of these those that only Python knows.
        self.called = called = watched_events(instance, self.contacts)
        self._in_python = [one for one in called if one.owner is not self.contacts and not is_watched(one.owner)]
        if ends is not None:
            called.append(ends.watched())
        scale, count = system.get_default_time_scale(), len(called)
        for one in called:
            one.set_window(integrator.accuracy, scale)
        alone = [one in self._in_python or one.witness is None for one in called]
        self._callback = lending.watching(called)
        address = self._callback.address(**in_lanes) if any(alone) else 0
        differs = [1 if python else WITH_RATES * (one.rate is None) for one, python in zip(called, alone, strict=True)]
        rows = zip(called, alone, differs, [one.near for one in called], strict=True)
        integers, numbers = pack(rows, instance, count, 0, address, **in_lanes)
        pools = np.array(integers, np.int64), np.array(numbers, np.float64).reshape(-1, 1)
        return pools[0][: WIDTH * count], pools

    def _take_contact(self, state: State, controller: UsersRoutine | None) -> None:
        """Prepare steps of surfaces, and the record of one state, for those that a state takes alone."""
        self.stepped = Stepped(state.system)
        contacts = state.system.get_matter_subsystem().unilateral_contacts
        self.strikes = any(one.get_restitution() > 0.0 for one in contacts)
        self.routines = step_eight.address(in_lanes=True, own_parameters=True), step_one.address()
        single = self.plan[layout.SINGLE :]
        single[rk.ROUTINE], single[rk.WANTED] = advance.address(), EVERYTHING | UNCHECKED
        single[rk.HOLDS], single[rk.CONTROLLER] = True, controller.address() if controller is not None else 0
        single[rk.PRESCRIBER] = prescribe.address() if state.has_known else 0

    def refresh(self, changes: int) -> None:
        """Take over the states' own parameters, which have been changed so often, unless that has been done."""
        if changes != self._changes:
            self.of_each[:] = own_of_each(self.own)
            self._changes = changes

    def take_settings(self, integrator: Integrator) -> None:
        """Take over the integrator's settings."""
        integrator._apply()  # noqa: SLF001
        self.settings[:] = integrator.control
        self.settings[rk.STEP] = integrator.fixed_step_size or integrator.initial_step_size or 0.0

    @property
    def adaptive(self) -> bool:
        """True if steps are chosen by their errors."""
        return self.settings[rk.FIXED_STEP] == 0.0

    @property
    def tries_alone(self) -> bool:
        """True if a state that fails with steps too small is to go on alone, which may pass what lanes do not."""
        return self.adaptive or self.stepped is not None

    def make_workers(self, count: int, new_record: Callable[[], Record]) -> None:
        """Allocate arrays for this many threads, unless they are there."""
        while len(self.workers) < count:
            self.workers.append(LaneWorker(self, new_record()))


class LaneWorker:
    """The arrays with which one thread takes states through their runs."""

    def __init__(self, plan: LaneRuns, record: Record) -> None:
        stages = plan.table.shape[1] - 1
        self.plan, self.record, self.own = plan, record, aligned_zeros(plan.of_each.shape[1], LANES)
        share_own(record, plan.own, self.own)
        self.work = aligned_zeros(rk.FIRST_STAGE + stages + rk.ROWS_AFTER, record.ny, LANES)
        self.control = aligned_zeros(layout.CONTROL_ROWS, 1, LANES)
        self.marks = aligned_zeros(layout.MARK_ROWS, 1, LANES)
        self.held = aligned_zeros(record.nu, 1, LANES)
        self.lanes = np.full((rk.COUNTS_SIZE, LANES), -1, np.int64)
        self.queue = np.zeros(layout.QUEUE_SIZE, np.int64)
        if len(plan.called):
            integers, numbers = plan.pools
            record.share("witness_integers", integers)
            record.share("witness_numbers", in_each_lane(numbers) if plan.own else numbers)
        self.seen = aligned_zeros(SEEN * len(plan.called), 1, LANES)
        self.seen[WINDOW::SEEN] = np.reshape([one.window for one in plan.called], (-1, 1, 1))
        if plan.plan[layout.ENDER] >= 0:
            self.seen[SEEN * plan.plan[layout.ENDER] + SHIFT] = Ender.SHIFT
        self.kept = aligned_zeros(2 * record.measure_memory_size, 1, LANES)
        self.single, self.own_of_single = plan.single.copy(), np.zeros(len(self.own))
        #: Where lanes without states keep samples; and where lanes are told so, None where there are no samples.
        self._nowhere = np.zeros(len(memory_of(self.single.record)))
        self._homes: Array | None = None
        if record.measure_rings_size:
            self._homes, self._homes_of_none = record.measure_history[:NOWHERE], record.measure_history[NOWHERE : NOWHERE + 2]
            self._homes[...] = self._homes_of_none[...] = self._nowhere.ctypes.data
        self.lender: lending.Lender | None = None
        if plan.single.tree.counts["num_controllers"] or plan.lends or plan.stepped is not None:
            self._prepare_single(plan)
        self.spaces, self.held_of_single = np.zeros(0, np.int64), np.zeros(record.nu)
        self._blocks: list[Any] = []
        if plan.stepped is not None:
            self._make_spaces(plan)
        if plan.calls_python:
            own = self.own, self.own_of_single
            self.lender = lending.Lender(record, self.single, own, self.control, self.lanes, self.marks, plan.holds)
        self._run: Any = None
        self._calls_python = plan.calls_python or plan.strikes
        counts, of_plan = self.lanes.reshape(-1), (plan.table, plan.weights)
        run = rk.Run(plan.plan, plan.settings, self.control, counts, self.work, *of_plan, self.held)
        room = self.lanes, self.marks, self.queue, self.own, self.own_of_single
        of_contact = self.spaces, self.held_of_single
        self._crew = layout.Crew(run, *room, plan.watched, self.seen, plan.remembered, self.kept, *of_contact)

    def _prepare_single(self, plan: LaneRuns) -> None:
        """Give the state in which controllers are sampled, and which Python is lent, room for a lane's own parameters."""
        single = self.single
        single.system.realize(single, Stage.INSTANCE)
        share_own(single.record, plan.own, self.own_of_single, single.own_fields)
        if plan.own:
            for b in np.flatnonzero(single.field("massless")):
                single.leave_out("massless", int(b), True)

    def _make_spaces(self, plan: LaneRuns) -> None:
        """Allocate the lanes' workspaces, and exclude the forces of surfaces that time stepping handles from the records."""
        stepped = plan.stepped
        assert stepped is not None
        stepped.leave_out_forces(self.single)
        self.record.share("force_enabled", self.single.own_fields["force_enabled"])
        stepped.begin(self.single)
        made = stepped.space
        assert made is not None
        wide, each = widened(made), [copy_of(made) for _ in range(LANES)]
        addresses = np.array([one.words.ctypes.data for one in (wide, *each)])
        python = 0
        if plan.strikes:
            method = TimeStepping(self.single.system, fixed_step_size=1.0)
            self._striker = Striker(method, self.single, dict(zip(addresses[1:].tolist(), each, strict=True)))
            python = self._striker.callback.address()
        room = len(wide.keys)
        arrays = addresses, np.zeros(LANES, np.int64), np.zeros((LANES, room), np.int64), np.zeros(room, np.int64)
        block = block_of(arrays)
        self._blocks = [wide, each, arrays, block]
        self.spaces = np.array([plan.routines[0], block.ctypes.data, plan.routines[1], python, *addresses], np.int64)

    def begin(self, first_row: int = 0) -> None:
        """Reset the queue, after an earlier run that was interrupted; the first state to come is *first_row*."""
        self.lanes[rk.STATE] = -1
        if self._homes is not None:
            self._homes[...] = self._homes_of_none
        self.queue[:] = 0
        self.queue[layout.FIRST_ROW] = first_row

    def free(self, lane: int) -> None:
        """Take its state, which has come to its end or goes on alone, out of a lane."""
        self.lanes[rk.STATE, lane] = -1
        if self._homes is not None:
            self._homes[:, :, lane] = self._homes_of_none[:, :, lane]
        self.queue[layout.ENDED] += 1

    def go(self, attempts: int, share: tuple[Any, ...], data: tuple[Any, ...]) -> int:
        """Take states on their way, and others of *share*, on with so many attempts. What `lanes.run` returns."""
        self.queue[layout.LIMIT] = attempts
        arguments = self.record.block, self.single.block, self._crew, *share, layout.Data(*data)
        if self._run is None:
            self._run = run.code_for(*arguments)
        if not self._calls_python:
            return int(self._run(*arguments))
        with among_many():
            return int(self._run(*arguments))
