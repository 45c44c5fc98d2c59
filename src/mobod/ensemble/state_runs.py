"""What threads need to take states through their runs one by one, in the integrator's compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import among_many
from ..integrator import Integrator
from ..simulation.run import integrator_settings, make_integrator
from ..system.projection import share_weights
from ..value.stage import Stage
from . import batch_state_runs as runs
from .lane_runs import remembered_of
from .lanes.layout import FIRST_ROW, LIMIT, QUEUE_SIZE

if TYPE_CHECKING:
    from ..compiling import Kernel
    from ..state.state import State


def are_compiled(state: State, integrator: Integrator) -> bool:
    """True if runs of states like *state* take place in compiled code from their beginnings to their ends."""
    return type(integrator).kernel in runs.RUNS and integrator.can_run_compiled(state) and nothing_happens(state, integrator)


def nothing_happens(state: State, integrator: Integrator) -> bool:
    """True if there are neither events nor anything else at which Python takes part."""
    system = state.system
    return bool(
        not system.is_interpreted
        and not (system.event_handlers or system.event_reporters or system.has_time_advanced_events())
        and not system.get_matter_subsystem().unilateral_contacts
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
        self.adaptive = self.hands_over = self.tries_alone = True
        self.calls_python = state.system.calls_python
        self.of_each = of_each
        if state.resources is not None and state.resources.weights:
            share_weights(state)
        self._state, self._own, self._integrator = state, own, integrator
        self.workers: list[Worker] = []

    @property
    def more(self) -> tuple[Any, ...]:
        """Results beside the variables."""
        return (np.zeros((0, 0, 0, 0)),)

    def make_workers(self, count: int) -> None:
        """Allocate arrays for this many threads, unless they are there."""
        while len(self.workers) < count:
            self.workers.append(self.make_worker())

    def make_worker(self) -> Worker:
        """The arrays of one thread."""
        return Worker(self._state.copy(), self._own, self.of_each.shape[1], self._integrator)


class Worker:
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
        self._queue = np.zeros(QUEUE_SIZE, np.int64)
        settings, choices = made.control.copy(), made.counts.copy()
        self._first: tuple[Any, ...] = (
            state.block,
            *made.arguments(),
            settings,
            choices,
            np.zeros(3),
            remembered_of(state),
            self._own,
            self._queue,
            None,
        )
        self._kernel = self.kernel_of(integrator)
        self._run: Any = None
        self._calls_python = state.system.calls_python

    def kernel_of(self, integrator: Integrator) -> Kernel:
        """What takes states through their runs."""
        return runs.RUNS[type(integrator).kernel]

    def begin(self, first_row: int = 0) -> None:
        """Let no state be on its way, of an earlier run that was interrupted; the first one to come is *first_row*."""
        self._queue[:] = 0
        self._queue[FIRST_ROW], self._queue[runs.CURRENT] = first_row, -1

    def go(self, steps: int, share: tuple[Any, ...], data: tuple[Any, ...]) -> int:
        """Take states on their way, and others of *share*, on with so many steps. What `batch_state_runs.run` returns."""
        self._queue[LIMIT] = steps
        if self._run is None:
            self._run = self._kernel.code_for(*self._first, *share, *data)
        if not self._calls_python:
            return int(self._run(*self._first, *share, *data))
        with among_many():
            return int(self._run(*self._first, *share, *data))
