"""Runs of states one by one on threads, in the integrator's compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Kernel, among_many
from ..event.scheduled import Scheduled
from ..integrator import Integrator
from ..integrator.watch import Watch
from ..simulation.run import integrator_settings, make_integrator
from ..state.state import State
from ..stepping import record as rk
from ..system.projection import share_weights
from ..value.stage import Stage
from . import batch_state_runs as runs
from .lane_runs import contact_events, is_watched, remembered_of, watched_events
from .lanes.layout import FINISHED, FIRST_ROW, NOT_CALLED, QUEUE_SIZE, SUSPECT, UNFINISHED, Data
from .schedule import Schedule, why_failed


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
        self.calls_python = state.system.calls_python
        self.of_each = of_each
        if state.resources is not None and state.resources.weights:
            share_weights(state)
        self._state, self._own, self._integrator = state, own, integrator
        self.workers: list[StateWorker] = []

    def make_workers(self, count: int) -> None:
        """Allocate arrays for this many threads, unless they are there."""
        while len(self.workers) < count:
            self.workers.append(self.make_worker())

    def call_reporters(self, schedule: Schedule, failed: Callable[[int, str], None]) -> None:
        """Let workers call reporters that are due on the way; *failed* is told of states of which one raises an error."""
        self.calls_python = True
        for worker in self.workers:
            worker.schedule, worker.failed = schedule, failed

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
        self._own, at = np.zeros(numbers), 0
        state.system.realize(state, Stage.INSTANCE)
        for name, array in own.items():
            rows, columns = array.shape[1:3]
            one = state.own_fields[name] = self._own[at : at + rows * columns].reshape(rows, columns)
            state.record.share(name, one)
            at += rows * columns
        self._integrator = made = make_integrator(state.system, integrator_settings(integrator))
        made.begin_compiled(state)
        self._block, self._queue = state.block, np.zeros(QUEUE_SIZE, np.int64)
        self._settings, self.choices = made.control.copy(), made.counts.copy()
        self._remembered, self._no_energies = remembered_of(state), np.zeros(0)
        self._calls_python = state.system.calls_python
        #: When reporters are due that are called on the way, and what is told of errors of theirs.
        self.schedule: Schedule | None = None
        self.failed: Callable[[int, str], None] | None = None
        #: Witnesses, which the loop looks at.
        self._watch = self._make_watch()
        self._code: tuple[Any, ...] | None = None

    def _make_watch(self) -> Watch | None:
        made = self._integrator
        system = made.get_state().system
        watched = watched_events(system, contact_events(system, made))
        if not watched:
            return None
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
                if self.schedule is not None:
                    control[rk.TARGET] = self.schedule.reporters[s]
                status = advance(block, work, self._table(row), control, counts, times, data.results[row], self._no_energies)
                left -= int(counts[rk.STEPS]) - before
                if status == rk.REACHED and self.schedule is not None:
                    status = self._report(s, float(times[-1]))
                if status in (rk.PAUSED, rk.COLLAPSED):
                    continue
            left -= 1
            if status == rk.SUSPECT:
                status = SUSPECT
            retire(block, status, share[1], *after)
        return UNFINISHED

    def _report(self, s: int, end: float) -> int:
        """Call the reporters that are due where state *s* has come to: PAUSED, or REACHED where none is up to the *end*."""
        integrator, schedule = self._integrator, self.schedule
        assert schedule is not None and self.failed is not None
        time = float(schedule.reporters[s])
        if time > end:
            return rk.REACHED
        try:
            integrator.leave_at(time)
            schedule.report(s, integrator.get_state())
        except Exception as error:
            work, _, control, _ = integrator.arguments()
            control[rk.TIME], work[rk.Y] = time, integrator.get_state().y_values
            self.failed(s, why_failed(s, error))
            return NOT_CALLED
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
