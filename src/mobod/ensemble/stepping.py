"""Stepping all states by the same duration, for loops in Python: of learning, of control."""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES
from ..errors import ModelError
from ..event.triggered import Triggered
from ..integrator import Integrator, RungeKuttaMerson
from ..integrator.hindrances import acting_delays
from ..measure.delay import Delay
from ..simulation.event_log import EventLog
from ..simulation.events import Events, joined
from ..simulation.simulate import integrator_named
from ..simulation.time_stepper import TimeStepper
from ..state.state import State
from ..state.validity import ARTICULATED
from ..stepping import record as rk
from ..system.system import MultibodySystem
from ..value.callers import callers_level
from ..value.checks import instance, number, positive
from ..value.stage import Stage
from .enabled_sets import EnabledSets
from .failures import Reasons
from .gradients import Gradients
from .lane_events import LaneEvents
from .lane_runs import LaneRuns, go_on_alone, why_one_by_one
from .lanes import contact, layout
from .one_by_one import KeptSteppers, following_of
from .schedule import Schedule
from .states import keep_memory_of
from .work_sharing import Task, by_chunks

#: Largest local error of a step, unless a caller says.
ACCURACY = 1e-3
#: Attempts at steps between two looks at whether the user has interrupted.
_ATTEMPTS = 4096


class Stepping(Gradients):
    """The part of `Ensemble` that steps."""

    __slots__ = ("_happened", "_kept_lanes", "_step_plan")

    @property
    def events(self) -> Events:
        """The events of the last call of `step`, a row each with its ``state``; those of the first state first.

        See `mobod.simulation.Events`. The motions that `simulate` returns have their own; copies, and what is
        read from a pickle, begin without.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> arm = system.matter.bodies["lower"]
        >>> system.add_event_handler(mb.event.LockWhen(arm, mb.event.Coordinate(arm, 0, 0.0), name="latch"))
        >>> ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
        >>> ensemble.q = [(1.0, -0.1), (1.0, 0.1)]
        >>> ensemble.step(0.2, accuracy=1e-6)
        >>> [(one.state, one.name, one.kind) for one in ensemble.events]
        [(0, 'latch', 'triggered'), (0, 'lower', 'locked')]
        """
        return joined(getattr(self, "_happened", {}))

    def step(
        self,
        duration: float,
        *,
        integrator: Integrator | type[Integrator] | str | None = None,
        accuracy: float | None = None,
        fixed_step_size: float | None = None,
        mobility_forces: npt.ArrayLike | None = None,
    ) -> None:
        """Advance all states by *duration*, each with its own steps; for loops in Python.

        Parameters
        ----------
        duration : float
            From each state's time on; its last step ends there.
        integrator : Integrator, class or str, optional
            `RungeKuttaMerson` unless given; of one that is made, its settings count.
        accuracy : float, optional
            Largest local error of a step; 1e-3 unless given. With *fixed_step_size* no error is controlled, and this is what
            constraints are kept to, a tenth of it, and what `BDF` and `Verlet` iterate to.
        fixed_step_size : float, optional
            Take steps of this size, and control no error: the fastest.
        mobility_forces : (n, nu) array_like, optional
            Generalized forces beside those of the elements, held for the duration; a row that all states share, ``(nu,)``,
            will do. They are not part of what `realize` computes.

        Raises
        ------
        ValueError, TypeError
            If an argument makes no sense, which it names; the states are then as they were.
        TopologyError
            If the system was changed after the ensemble was made.

        Notes
        -----
        A state that cannot go on stays where its last good step ended, is marked in `failed`, and is tried again by the next
        call. The others are not affected. Each state's result has the same bits whatever the others are. Steps go on from call
        to call, as those of a `TimeStepper` do, with the size that the error of the last one permits; in a copy of the
        ensemble, after `reset`, and where times are assigned, they begin anew. Where states are stepped one by one, each has a
        `TimeStepper` (31 kB a state and more), and begins anew where `set_each` has changed a parameter of that state, too.

        Handlers and reporters of scheduled events are called for each state at its time, and states are in lanes in between;
        they are asked for their next times where a state begins, and after each event. Those of witnesses are called while a
        state keeps its lane, unless they make it unlike the others. `events` says what happened.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 16, state=state)
        >>> for _ in range(10):
        ...     ensemble.step(0.01, fixed_step_size=0.005, mobility_forces=-0.1 * ensemble.u)
        >>> np.allclose(ensemble.time, 0.1)
        True
        """
        self._template.check_owner(self._system, "Ensemble.step")
        plan = self._plan_of_steps(integrator, accuracy, fixed_step_size, mobility_forces is not None)
        if type(duration) is not float or not 0.0 < duration < np.inf:
            duration = positive("duration", duration, ValueError)
            if duration == np.inf:
                raise ValueError("duration has to be finite, got inf")
        forces = _NO_FORCES if mobility_forces is None else self._forces_of_each(mobility_forces)
        self._changed(Stage.INSTANCE)
        self._happened: dict[int, Events] = {}
        if plan.lanes is None:
            self._step_kept(plan, duration, forces)
            return
        lanes = plan.lanes
        lanes.refresh(self._own_changes)
        last, task = self._n, plan.task
        if task is None:
            called = _Called(self, plan) if plan.schedule is not None or lanes.called else None
            task = plan.task = _Stepping(lanes, last, self._variables, forces, plan, called)
        np.add(self._time[:, 0], duration, out=task.ends)
        if mobility_forces is not None:
            task.forces[...] = forces
        called = task.called
        if called is not None:
            if called.is_used:  # by a call that was interrupted
                called.begin()
            if plan.schedule is not None and plan.schedule.has_changed:
                called.events.begin()
        overridden, threads = _NONE, 1 if lanes.calls_python else self._threads
        status = plan.outcome[:last, layout.STATUS]
        apart = plan.violated and {i for i, kept in plan.violated.items() if kept == (self._begun[i], self._time[i, 0])}
        if not (self._overrides or apart):
            self._helpers.share(task, threads)
        else:
            overridden = np.array(sorted({*self._overrides, *apart}), np.int64)
            onward = plan.onward[overridden] if len(plan.onward) else plan.onward
            with self._hidden(overridden):
                self._helpers.share(task, threads)
            if called is not None:
                plan.onward[overridden] = onward
                waiting = np.array([i not in apart and lanes.sets.of(i) is not None for i in overridden.tolist()])
                status[overridden[waiting]], overridden = layout.WAITS, overridden[~waiting]
        # `any` takes 2 us, as ten states do, and hardly ever one waits
        while called is not None and np.count_nonzero(status) and (status == layout.WAITS).any():
            for runs, which in lanes.sets.sorted(np.flatnonzero(status == layout.WAITS).tolist()):
                own = _Stepping(runs, len(which), self._variables, task.forces, plan, called, task.ends, which)
                self._helpers.share(own, threads)
        self._failed[:last, 0] = status
        if np.count_nonzero(status):
            self._failed[:last, 0] = status != rk.REACHED
            self._reasons = Reasons(status, np.zeros((last, 0)) if mobility_forces is None else forces)
            self._reasons.of_states = {} if called is None else called.reasons
            self._step_alone(plan, np.union1d(np.flatnonzero(go_on_alone(lanes, status)), overridden), task.ends, forces)
        if called is not None and called.is_used:
            self._take_logs(called)
            called.begin()
        if plan.delays:
            plan.delays = self._tell_delays(plan.delays)

    def _begin_delays(self) -> list[Delay]:
        """The measures that are late, of which no state has taken a step yet that is longer."""
        delays = acting_delays(self._system)
        for one in delays:
            one.begin_runs(*self._kept_by_measures())
        return delays

    def _tell_delays(self, delays: list[Delay]) -> list[Delay]:
        """Warn of delays within which steps of a state have been longer; the others are left to be told of."""
        left = []
        for one in delays:
            steps = one.longest_steps(*self._kept_by_measures())
            most = int(steps.argmax())
            if not steps[most] > 0.0:
                left.append(one)
                continue
            text = f"state {most} of the ensemble: {one.say_longest(float(steps[most]))}"
            warnings.warn(text, RuntimeWarning, stacklevel=callers_level())
        return left

    def _kept_by_measures(self) -> list[Array]:
        """The numbers that measures of all states remember, and will when their next steps begin, a row a state."""
        counts = self._template.tree.counts
        first, size = counts["control_size"], counts["measure_memory_size"]
        return [self._memory[: self._n, at : at + size] for at in (first, first + size)]

    @contextlib.contextmanager
    def _hidden(self, which: npt.NDArray[np.int64]) -> Iterator[None]:
        """Hide states from lanes, which cannot compute them: without numbers they end where they begin."""
        if not len(which):
            yield
            return
        before = [part[which] for part in self._variables]
        for part in self._variables[1:5]:
            part[which] = np.nan
        try:
            yield
        finally:
            for part, values in zip(self._variables, before, strict=True):
                part[which] = values

    def _plan_of_steps(self, integrator: Any, accuracy: Any, fixed: Any, holds: bool) -> _StepPlan:
        """The plan for these arguments: the last one, if these are the same."""
        plan: _StepPlan | None = getattr(self, "_step_plan", None)
        contacts = self._system.get_matter_subsystem().unilateral_contacts
        # of contacts whose coefficients have changed it is found out anew what they do.
        key = (integrator, accuracy, fixed, holds, b"".join([one.numbers.tobytes() for one in contacts]))
        events = self._system.event_handlers, self._system.event_reporters
        if plan is None or plan.key != key or plan.own_places is not self._own_places or plan.events != events:
            made = make_integrator(self._system, integrator, accuracy, fixed)
            self._note_cost(made, False)
            self._check_inertia(made)
            lanes = self._lane_runs(made, holds)
            plan = self._step_plan = _StepPlan(key, self._own_places, made, lanes, len(self._q), events)
            if lanes is not None:
                plan.delays = self._begin_delays()
                plan.schedule = self._schedule_of(made.accuracy, events)
                if plan.schedule is not None:
                    plan.schedule.has_changed = True  # of which this plan does not know
        elif isinstance(integrator, Integrator) and plan.lanes is not None:
            plan.lanes.take_settings(integrator)
        return plan

    def _note_cost(self, integrator: Integrator, watches: bool, functions: Sequence[str] = ()) -> None:
        """Say once of a system, and of each reason, that many states are simulated one by one."""
        reason = why_one_by_one(self._template, integrator, watches, functions)
        said = _said.setdefault(self._system, set())
        if reason is None or self._n == 1 or reason.what in said:
            return
        said.add(reason.what)
        cost = "on one thread, " if self._system.calls_with_states else ""
        cost += "each as by mobod.simulate, some hundred times slower than in compiled code"
        remedy = f"; {reason.remedy}" if reason.remedy else ""
        message = f"{reason.what}: its states are simulated one by one, {cost}{remedy}"
        warnings.warn(message, RuntimeWarning, stacklevel=callers_level())

    def _check_inertia(self, integrator: Integrator) -> None:
        """Raise `ModelError` where massless links leave a mobility no inertia in both the first state and the last.

        So it is in all, where states do not differ in masses: links that happen to be in line are so in one state.
        """
        moving = np.asarray(self._template.tree.num_u) > 0
        if self._template.field("mass")[moving].all() or not self._own.keys().isdisjoint(("mass", "rotor_inertia")):
            return
        refused: ModelError | None = None
        for i in (0, self._n - 1):
            state = self._state(i, overridden=False)
            try:
                self._system.realize(state, Stage.POSITION)
                self._system.compute(state, ARTICULATED)
            except ModelError:  # as the run finds of this state
                return
            try:
                integrator.check_inertia(state)
                return
            except ModelError as error:
                refused = error
        if refused is not None:
            raise refused

    def _lane_runs(
        self, integrator: Integrator, holds: bool, controller: Any = None, ends: Any = None, watches: bool = False
    ) -> LaneRuns | None:
        """Data with which threads run states in lanes; None where they are run one by one."""
        if why_one_by_one(self._template, integrator, watches) is not None:
            return None
        # making them takes a millisecond: those of the last run will do if that was of the same kind
        key = type(integrator), integrator.counts.tobytes(), integrator.fixed_step_size is None, holds
        kept: tuple[Any, ...] = getattr(self, "_kept_lanes", (None, None, None))
        watched = bool(self._system.event_handlers) or any(isinstance(one, Triggered) for one in self._system.event_reporters)
        plain = watches and controller is None and ends is None and not watched
        if plain and kept[0] == key and kept[1] is self._own_places:
            lanes: LaneRuns = kept[2]
            lanes.take_settings(integrator)
        else:
            gravity_alone = self._reduced.ground_acceleration is not None
            given = self._own, gravity_alone, integrator, holds, controller, ends
            lanes = LaneRuns(self._template, *given)
            lanes.sets = EnabledSets(self, lanes, given)
        if plain:
            self._kept_lanes = key, self._own_places, lanes
        lanes.refresh(self._own_changes)
        self._make_ready(lanes, self._template)
        return lanes

    def _make_ready(self, lanes: LaneRuns, state: State) -> None:
        """Make workers for all threads, for runs of states like one."""
        whole = functools.partial(self._whole_record, state)
        lanes.make_workers(min(self._threads, self._groups), whole if lanes.whole else self._reduced.new_record)

    def _schedule_of(self, accuracy: float, events: tuple[list[Any], list[Any]]) -> Schedule | None:
        """The schedule of handlers and reporters, as the last call has left it; None where there are none."""
        known: Schedule | None = self._schedule
        if not Schedule.of(self._system):
            self._schedule = None
        elif known is None or known.events != events or known.accuracy != accuracy:
            self._schedule = Schedule(self._system, self._n, accuracy)
        return self._schedule

    def _take_logs(self, called: _Called) -> None:
        """Take what has happened to states in lanes."""
        for i, log in called.logs.items():
            self._note_events(i, log)

    def _step_alone(self, plan: _StepPlan, which: npt.NDArray[np.int64], ends: Array, forces: Array) -> None:
        """Step some states each for itself, with steppers that are kept."""
        if not len(which):
            return
        kept, schedule, reasons = self._kept_steppers(plan), plan.schedule, self._reasons
        assert reasons is not None

        def work(_: int, begin: int, end: int) -> None:
            for i in which[begin:end].tolist():
                time = float(self._time[i, 0])
                row = time, *(part[i] for part in self._variables[1:]), self._begun[i]
                done = (False, False) if schedule is None else (schedule.handlers[i] > time, schedule.reporters[i] > time)
                following = plan.following(i)
                held = forces[i] if len(forces) else None
                own = b"".join(lanes[i // LANES, ..., i % LANES].tobytes() for lanes in self._own.values())
                known = plan.knows_contacts(i, time)
                state, why, log = kept.step(i, row, self._state, float(ends[i]), held, done, own, following, known)
                self._put_back(i, state)
                self._note_events(i, log)
                self._failed[i] = why is not None
                if why is not None:
                    reasons.of_states[i] = why
                plan.violated.pop(i, None)
                if why is None and kept.counts_from_violated(i):
                    plan.violated[i] = self._begun[i], state.time
                elif plan.lanes is not None and plan.lanes.sets.takes_back(state, self._overrides.get(i), why is None):
                    stepper = kept.pop(i)  # the next call has it in a lane
                    plan.lanes.sets.begin(i, state)
                    if stepper is not None and (plan.lanes.adaptive or i in self._overrides):
                        plan.follow(i, stepper)
                    if schedule is not None and stepper is not None:
                        handled, reported = stepper.is_dealt_with
                        schedule.ask_of(i, stepper.state, not handled, not reported)

        self._helpers.share_all(Task(by_chunks(work), len(which)), 1 if self._system.calls_with_states else self._threads)

    def _note_events(self, i: int, log: EventLog | None) -> None:
        """Something may have happened to state *i* in this call, of which its log tells."""
        if log is None:
            return
        found = Events(log.take()[0], list(log.labels))
        if len(found):
            if i in self._happened:
                both = joined({0: self._happened[i], 1: found})
                found = Events(both.rows, both.labels)
            self._happened[i] = found

    def _kept_steppers(self, plan: _StepPlan) -> KeptSteppers:
        """The steppers of states that are stepped each for itself; new ones where other parameters than before are theirs."""
        stamp = self._own_places, self._of_subsystems
        if plan.kept is None or any(a is not b for a, b in zip(plan.stamp, stamp, strict=True)):
            plan.kept, plan.stamp = KeptSteppers(self._system, plan.integrator, self._template), stamp
        return plan.kept

    def _step_kept(self, plan: _StepPlan, duration: float, forces: Array) -> None:
        """Step all states each for itself."""
        self._reasons = Reasons(np.full(self._n, rk.NOT_FINITE), forces if len(forces) else np.zeros((self._n, 0)))
        self._step_alone(plan, np.arange(self._n), self._time[: self._n, 0] + duration, forces)

    def _put_back(self, i: int, state: Any) -> None:
        """Store the end of a run as state *i*."""
        self._time[i, 0], self._q[i], self._u[i] = state.time, state.q_values, state.u_values
        record = state.record
        if self._z.shape[1]:
            self._z[i] = state.z_values
        if self._memory.shape[1]:
            keep_memory_of(record, self._memory[i])
        if self.particles.shape[1]:
            self.particles[i] = np.concatenate([record.particle_location, record.particle_velocity])[:, 0]
        self._keep_memory(i, state)
        self._keep_overrides(i, state)


#: What a state goes on with: its next step, and what that depends on.
_NEXT = slice(layout.NEXT_SIZE, layout.REACH + 1)
_NO_FORCES = np.zeros((0, 0))
_NONE = np.zeros(0, np.int64)
#: No times of reports, and no rows for them.
_NO_REPORTS = np.zeros((1, 0)), np.zeros((1, 0, 0))


class _StepPlan:
    """Arrays and kernels that steps with the same arguments share."""

    def __init__(
        self,
        key: tuple[Any, ...],
        own_places: Any,
        integrator: Integrator,
        lanes: LaneRuns | None,
        padded: int,
        events: tuple[list[Any], list[Any]],
    ) -> None:
        self.events = tuple(list(one) for one in events)
        self.schedule: Schedule | None = None
        self.key, self.own_places, self.integrator, self.lanes = key, own_places, integrator, lanes
        self.task: _Stepping | None = None
        #: Measures that are late, and have not been told of.
        self.delays: list[Delay] = []
        self.kept: KeptSteppers | None = None
        self.stamp: tuple[Any, ...] = ()
        #: States whose contacts were violated where their intervals began, which go alone until these end: how often each was
        #: begun anew, and its time.
        self.violated: dict[int, tuple[int, float]] = {}
        self.outcome, self.reached = np.zeros((padded, layout.OUTCOMES), np.int64), np.zeros((padded, layout.REACHED_SIZE))
        #: How each state goes on where the last call has left it.
        goes_on = lanes is not None and (lanes.adaptive or any(events) or bool(lanes.called))
        self.onward: Array = layout.new_onward(padded if goes_on else 0)
        #: The impulses of each state's last step, where contact is stepped.
        self.impulses = np.full((padded if lanes is not None and lanes.stepped is not None else 0, contact.ROW_SIZE), np.nan)

    def begin_anew(self, which: npt.NDArray[np.int64]) -> None:
        """Reset the step sizes of states, to be chosen as where a run begins."""
        if len(self.onward):
            self.onward[which, layout.LEFT_AT] = np.nan
        if len(self.impulses):
            self.impulses[which, contact.LEFT_AT] = np.nan

    def knows_contacts(self, i: int, time: float) -> bool:
        """True if it is known what contacts do that are closed in state *i*, which goes on alone."""
        return bool(len(self.onward) and self.onward[i, layout.LEFT_AT] == time and self.onward[i, layout.CONTACTS])

    def following(self, i: int) -> tuple[float, ...] | None:
        """With what state *i* goes on alone that has begun in a lane; None where it begins."""
        if self.lanes is None or not self.lanes.adaptive:
            return None
        return tuple(self.onward[i, _NEXT].tolist())

    def follow(self, i: int, stepper: TimeStepper) -> None:
        """Continue state *i* in a lane from where a stepper has come to."""
        self.onward[i, layout.LEFT_AT] = stepper.state.time
        self.onward[i, _NEXT] = following_of(stepper)
        self.onward[i, layout.CONTACTS] = layout.SETTLED


class _Stepping(Task):
    """Steps with the same arrays, again and again: helpers that are awake go on with the next call without a word.

    Parameters
    ----------
    lanes : LaneRuns
    n : int
        How many states.
    variables : tuple of arrays
        The states'.
    forces : array
        Of the shape of those that are held.
    plan : _StepPlan
    called : _Called, optional
        What events in lanes come to.
    ends : array, optional
        Of another task, whose forces these then are, too: of all states.
    which : array of int
        The states that are stepped; all where it is empty.

    Attributes
    ----------
    ends, forces : array
        Until when the next call goes, a number a state, and the forces that are held meanwhile.
    """

    def __init__(
        self,
        lanes: LaneRuns,
        n: int,
        variables: tuple[Array, ...],
        forces: Array,
        plan: _StepPlan,
        called: _Called | None,
        ends: Array | None = None,
        which: npt.NDArray[np.int64] = _NONE,
    ) -> None:
        self.called = called
        self.ends: Array = np.zeros(len(plan.outcome)) if ends is None else ends
        self.forces = np.zeros(forces.shape) if ends is None else forces
        data = (*variables, self.forces, lanes.of_each, self.ends, *_NO_REPORTS, plan.outcome, plan.reached)
        data += which, plan.onward, plan.impulses

        def work(number: int, chunks: Any, calls: Any) -> None:
            one = lanes.workers[number]
            one.begin()
            while (status := one.go(_ATTEMPTS, (number, chunks, calls), data)) != layout.FINISHED:
                if status == layout.ASKS:
                    assert called is not None
                    called.events.answer(one)

        super().__init__(work, n, LANES)


class _Called:
    """The `Owner` of the `LaneEvents` of a call of `step`: what becomes of states at these. It keeps no ensemble alive."""

    def __init__(self, ensemble: Any, plan: _StepPlan) -> None:
        assert plan.lanes is not None
        self._ensemble, self._lock = weakref.ref(ensemble), threading.Lock()
        self._lanes, self._integrator, self._schedule, self._outcome = plan.lanes, plan.integrator, plan.schedule, plan.outcome
        self.onward = plan.onward
        self.begin()

    def begin(self) -> None:
        """Nothing has happened yet."""
        self._events: LaneEvents | None = None
        self.reasons: dict[int, str] = {}
        self.logs: dict[int, EventLog] = {}

    @property
    def is_used(self) -> bool:
        """True if something has happened."""
        return self._events is not None

    @property
    def events(self) -> LaneEvents:
        """Who calls Python: one for all threads, made when it is first asked for."""
        with self._lock:
            if self._events is None:
                self._events = LaneEvents(self._ensemble(), self._lanes, self._integrator, self, self._schedule, True)
            return self._events

    def log_of(self, i: int) -> EventLog:
        """The log of state *i*."""
        if i not in self.logs:
            self.logs[i] = EventLog(self._integrator.system)
        return self.logs[i]

    def ended(self, i: int, time: float, handler: Any) -> None:
        """A handler has ended the run of state *i*."""
        self._outcome[i, layout.STATUS] = rk.REACHED

    def failed(self, i: int, why: str) -> None:
        """A part in Python has raised an error."""
        self._outcome[i, layout.STATUS], self.reasons[i] = layout.NOT_CALLED, why

    def goes_alone(self, i: int, changed: bool) -> None:
        """State *i* is to go on alone: as it is, or as handlers have *changed* it."""
        self._outcome[i, layout.STATUS] = layout.SUSPECT

    def waits(self, i: int, state: State) -> None:
        """State *i* is to go on in a lane of the constraints that are enabled in it."""
        self._outcome[i, layout.STATUS] = layout.WAITS


#: Why states are simulated one by one, as was said of systems.
_said: weakref.WeakKeyDictionary[MultibodySystem, set[str]] = weakref.WeakKeyDictionary()


def make_integrator(system: MultibodySystem, kind: Any, accuracy: Any, fixed: Any) -> Integrator:
    """The integrator that *kind*, one that is made, a class, a name or None, stands for.

    Raises
    ------
    ValueError
        If there is none of that name, or a setting is given beside an integrator that has its own.
    TypeError
        If *kind* is something else.
    """
    if kind is None:
        kind = RungeKuttaMerson
    if isinstance(kind, str):
        kind = integrator_named(kind)
    if isinstance(kind, type) and issubclass(kind, Integrator):
        settings: dict[str, Any] = {} if fixed is None else {"fixed_step_size": number("fixed_step_size", fixed)}
        return kind(system, accuracy=ACCURACY if accuracy is None else number("accuracy", accuracy), **settings)
    instance("integrator", kind, Integrator, "mobod.integrator.BDF(system), a class or its name")
    if kind.system is not system:
        raise ModelError("the integrator is of another system than the ensemble")
    for name, value in (("accuracy", accuracy), ("fixed_step_size", fixed)):
        if value is not None and value != getattr(kind, name):
            raise ValueError(
                f"{name}={value!r} beside an integrator that has its own, {getattr(kind, name)}: give it to the integrator, or "
                f"give the class, integrator={type(kind).__name__}"
            )
    return kind
