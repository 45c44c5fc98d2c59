"""Runs of states one by one on threads, in the integrator's compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Kernel, among_many
from ..event.scheduled import Scheduled
from ..event.watched import GAP, Watched
from ..force.contact.element import STEPPED
from ..integrator import Integrator
from ..integrator.watch import Watch
from ..simulation.run import integrator_settings, make_integrator
from ..state.state import State
from ..stepping import record as rk
from ..system.projection import share_weights
from ..unilateral.contact_events import contact_events
from ..value.stage import Stage
from . import batch_state_runs as runs
from .lane_runs import is_watched, remembered_of, share_own, watched_events
from .lanes.layout import (
    FINISHED,
    FIRST_ROW,
    LAST_SIZE,
    NEXT_SIZE,
    QUEUE_SIZE,
    ROWS,
    STATUS,
    SUSPECT,
    UNFINISHED,
    Data,
)
from .schedule import Schedule

if TYPE_CHECKING:
    from .lane_events import LaneEvents, Owner

#: Of a state whose outcome has been written by who was called for it.
_LEFT = -1


def are_compiled(state: State, integrator: Integrator) -> bool:
    """True if runs of states like *state* take place in compiled code from their beginnings to their ends.

    Of those with an event, or of which one cannot be excluded, `run_one` takes the place.
    """
    if not integrator.can_run_compiled(state):
        return False
    system, contacts = state.system, state.system.get_matter_subsystem().unilateral_contacts
    owners = [*system.event_handlers, *system.event_reporters]
    excluded = integrator.can_watch and not system.is_interpreted and not system.has_time_advanced_events()
    excluded = excluded and all(is_watched(one) or isinstance(one, Scheduled) for one in owners)
    excluded = excluded and integrator.internal_step_limit is None and not any(one.is_enabled(state) for one in contacts)
    return excluded or nothing_happens(state, integrator)


def nothing_happens(state: State, integrator: Integrator) -> bool:
    """True if there are neither events nor anything else at which Python takes part."""
    system = state.system
    return bool(
        not system.is_interpreted
        and not (system.event_handlers or system.event_reporters or system.has_time_advanced_events())
        and (integrator.steps_contacts or not system.get_matter_subsystem().unilateral_contacts)
        and integrator.internal_step_limit is None
    )


class StateRuns:
    """Runs one by one of one integrator: compiled, and ready for each thread.

    Parameters
    ----------
    state : State
        One of those to be run, with parameters of its own where they have such.
    own : dict
        The states' own parameters, by field.
    of_each : array
        These, a row a state.
    integrator : Integrator
    """

    #: So many states are taken at once.
    WIDTH = 1

    def __init__(self, state: State, own: dict[str, Array], of_each: Array, integrator: Integrator) -> None:
        self.adaptive = self.tries_alone = True
        self.hands_over = False
        #: There are neither unilateral contacts nor witnesses that Python is called for.
        self.contacts, self.called = None, list[Watched]()
        #: Nor are there lanes.
        self.sets: Any = None
        self.calls_python = state.system.calls_back
        self.of_each = of_each
        if state.resources is not None and state.resources.weights:
            share_weights(state)
        self._state, self._own, self._integrator = state, own, integrator
        self.workers: list[StateWorker] = []

    def make_workers(self, count: int) -> None:
        """Allocate arrays for this many threads, unless they are there."""
        while len(self.workers) < count:
            self.workers.append(self.make_worker())

    def call(self, events: LaneEvents, owner: Owner, schedule: Schedule) -> None:
        """Let workers call handlers and reporters that are due; states go on alone where these change more than variables."""
        self.calls_python = True
        for worker in self.workers:
            worker.called = events, owner, schedule

    @property
    def finds_events(self) -> bool:
        """True if the loop looks at witnesses, beyond whose events states go alone."""
        return int(self.workers[0].choices[rk.WATCHES]) != 0

    def make_worker(self) -> StateWorker:
        """The arrays of one thread."""
        return StateWorker(self._state.copy(), self._own, self.of_each.shape[1], self._integrator)


class StateWorker:
    """The arrays with which one thread takes states through their runs."""

    def __init__(self, state: State, own: dict[str, Array], numbers: int, integrator: Integrator) -> None:
        self._own, self._own_of_each = np.zeros(numbers), own
        state.system.realize(state, Stage.INSTANCE)
        share_own(state.record, own, self._own, state.own_fields)
        self._integrator = made = make_integrator(state.system, integrator_settings(integrator))
        made.begin_compiled(state)
        #: Forces that kernels leave out, and that act where Python is given the state.
        self._left_out = np.flatnonzero(state.field("force_enabled") == STEPPED)
        self._block, self._queue = state.block, np.zeros(QUEUE_SIZE, np.int64)
        self._settings, self.choices = made.control.copy(), made.counts.copy()
        self._remembered, self._no_energies = remembered_of(state), np.zeros(0)
        self._calls_python = state.system.calls_back
        #: What is called on the way, for whom, and when.
        self.called: tuple[LaneEvents, Owner, Schedule] | None = None
        #: Witnesses, which the loop looks at.
        self._watch = self._make_watch()
        self._code: tuple[Any, ...] | None = None
        #: The state as it was made, for the next ones once a handler has changed more than its variables, as by a lock.
        self._made, self._is_as_made = state.snapshot(), True

    def _make_anew(self) -> None:
        """Forget what a handler has changed in the state that has left."""
        state = self._integrator.get_state()
        state.revert(self._made)
        share_own(state.record, self._own_of_each, self._own, state.own_fields)
        self._made, self._is_as_made = state.snapshot(), True

    def _make_watch(self) -> Watch | None:
        made = self._integrator
        state = made.get_state()
        system = state.system
        watched = watched_events(state, None if made.steps_contacts else contact_events(state, made.accuracy))
        if not watched:
            return None
        for one in watched:  # a run that may begin at an event begins alone
            one.near = one.near or GAP
        watch = Watch(made, watched, system.get_default_time_scale())
        self.choices[rk.WATCHES] = watch.enter_loop(False)
        return watch

    def begin(self, first_row: int = 0) -> None:
        """Reset the queue, after an earlier run that was interrupted; the first state to come is *first_row*."""
        self._queue[:] = 0
        self._queue[FIRST_ROW], self._queue[runs.CURRENT] = first_row, -1

    def go(self, steps: int, share: tuple[Any, ...], data: tuple[Any, ...]) -> int:
        """Take states on their way, and others of *share*, on with so many steps: FINISHED or UNFINISHED."""
        if not self._calls_python:
            return self._go(steps, share[:2], Data(*data))
        with among_many():
            return self._go(steps, share[:2], Data(*data))

    def _go(self, left: int, share: tuple[Any, ...], data: Data) -> int:
        queue, (work, _, control, counts), block = self._queue, self._integrator.arguments(), self._block
        own, after = (queue, data, self._own, self._remembered, work, control, counts), (queue, data, work, control, counts)
        if self._code is None:  # dispatchers look at all of the arrays
            like = block, work, self._table(0), control, counts, data.times[0], data.results[0], self._no_energies
            codes = runs.take.code_for(block, *share, *own), self._kernel.code_for(*like)
            self._code = *codes, runs.retire.code_for(block, 0, share[1], *after)
        take, advance, retire = self._code
        while left > 0:
            status = rk.REACHED
            if queue[runs.CURRENT] < 0:
                if not self._is_as_made:
                    self._make_anew()
                control[:], counts[:] = self._settings, self.choices
                status = take(block, *share, *own)
                if queue[runs.CURRENT] < 0:
                    return FINISHED
                if status == rk.REACHED:
                    status = self._begin(int(queue[runs.CURRENT]))
            s = int(queue[runs.CURRENT])
            if status == rk.REACHED:
                counts[rk.LIMIT], before, row = left, int(counts[rk.STEPS]), s - int(queue[FIRST_ROW])
                times = data.times[s if len(data.times) > 1 else 0]
                self._aim(s, control)
                status = advance(block, work, self._table(row), control, counts, times, data.results[row], self._no_energies)
                left -= int(counts[rk.STEPS]) - before
                called = self._call(s, float(times[-1]), data) if status == rk.REACHED else status
                if called in (rk.PAUSED, rk.COLLAPSED):
                    continue
                if called == _LEFT:
                    kept, onward = int(data.outcome[s, STATUS]), data.reached[s, LAST_SIZE:].copy()
                    retire(block, SUSPECT, share[1], *after)
                    data.outcome[s, STATUS] = kept
                    if kept == SUSPECT:
                        data.reached[s, LAST_SIZE:] = onward
                    continue
            left -= 1
            if status == rk.SUSPECT:
                status = SUSPECT
            retire(block, status, share[1], *after)
        return UNFINISHED

    def _aim(self, s: int, control: Array) -> None:
        """Let the loop return where something is due next, and end a step where a handler is."""
        if self.called is not None:
            schedule = self.called[2]
            control[rk.TARGET] = min(schedule.handlers[s], schedule.reporters[s])
            control[rk.FINAL_TIME] = min(self._settings[rk.FINAL_TIME], schedule.handlers[s])

    def _call(self, s: int, end: float, data: Data) -> int:
        """Call what is due where state *s* has come to: PAUSED; REACHED where nothing is up to the *end*; or _LEFT."""
        integrator, (work, _, control, counts) = self._integrator, self._integrator.arguments()
        if self.called is None:
            return rk.REACHED
        events, owner, schedule = self.called
        handled, time = float(schedule.handlers[s]), float(min(schedule.handlers[s], schedule.reporters[s]))
        if time > end or (time == end == handled < schedule.reporters[s]):  # whose time is that of the next run
            return rk.REACHED
        state, row = integrator.get_state(), owner.onward[s]
        if len(self._left_out):
            state.own_field("force_enabled")[self._left_out] = 1
        integrator.leave_at(time)
        data.outcome[s, ROWS], row[NEXT_SIZE] = counts[rk.REPORT], control[rk.STEP]
        changed = events.happens(s, time, state=state)
        if changed is None:
            control[rk.TIME], work[rk.Y], self._is_as_made = time, state.y_values, False
            return _LEFT
        if len(self._left_out):
            state.own_field("force_enabled")[self._left_out] = STEPPED
        if changed:  # it goes on from there
            control[rk.STEP], control[rk.COLLAPSE], counts[rk.CHANGED] = row[NEXT_SIZE], 0.0, 1
        return rk.PAUSED

    @property
    def _kernel(self) -> Kernel:
        """The loop over steps."""
        return type(self._integrator).kernel

    def _table(self, row: int) -> Any:
        """The method's data in place of a table, for the run with this row of results."""
        return self._integrator.arguments()[1]

    def _begin(self, s: int) -> int:
        """Begin the method's own part of the run of state *s*, whose beginning is in the record: REACHED, or why not."""
        self._integrator.forget_steps()
        return rk.REACHED
