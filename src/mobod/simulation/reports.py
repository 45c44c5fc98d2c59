"""Reports: rows that the loop over steps writes on the way, and what is to be told of a run meanwhile."""

from __future__ import annotations

import time as _clock
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..integrator import Integrator
from ..integrator.quick import Quick
from ..state.state import State
from ..stepping import record as rk

#: How long a call takes at most, or little more, so that Ctrl-C, progress and checkpoints are looked at; s.
CALL = 0.1
_FEW, _MANY = 64, 1 << 30
#: Of runs that report nothing, which write to none of these.
_NEVER, _NO_ROW, _NO_ENERGIES = np.array([np.inf]), np.zeros((1, 1)), np.zeros(0)


class Reports:
    """Rows to be reported while a `TimeStepper` goes on.

    Parameters
    ----------
    times : (n,) array
        Of the rows; none unless given.
    results, energies : (n + 1, ny) and (n + 1,) array
        Where they go: one more than there are times, for what is never reported.
    pause : callable, optional
        Called now and then, with the state where steps and rows have come to.
    before_calls : callable, optional
        Called before anything in Python that belongs to the system, such as an event handler, is given the state.
    after_change : callable, optional
        Called with the state that event handlers have changed.
    account : callable, optional
        Called after each step with the time up to which the motion is known, and whether the step ends there.
    """

    def __init__(
        self,
        times: Array | None = None,
        results: Array | None = None,
        energies: Array | None = None,
        pause: Callable[[], None] | None = None,
        before_calls: Callable[[], None] | None = None,
        after_change: Callable[[State], None] | None = None,
        account: Callable[[float, bool], None] | None = None,
    ) -> None:
        self._times = _NEVER if times is None else np.empty(len(times) + 1)
        if times is not None:
            self._times[:-1], self._times[-1] = times, np.inf
        self._results = _NO_ROW if results is None else results[: len(self._times)]
        self._energies = _NO_ENERGIES if energies is None else energies[: len(self._times)]
        self._pause, self._before_calls, self._after_change = pause, before_calls, after_change
        #: Whether each step is told of, to `account`.
        self.accounts, self._account = account is not None, account
        #: How many have been made, and the time of the next.
        self.made, self.next_time = 0, float(self._times[0])
        #: How many steps are taken from one pause to the next, and how many a run has taken at the next one.
        self._limit, self._pause_at, self._paused = _FEW, -1, _clock.perf_counter()

    def step(self, integrator: Integrator, taken: int, most: int) -> int:
        """Take steps by the loop, at most so many beyond those *taken*, and report; returns its status."""
        if self._pause is not None:
            if self._pause_at < 0:
                self._pause_at = taken + self._limit
            most = min(most, self._pause_at - taken)
        return self._advance(integrator, len(self._times), min(most, 1) if self.accounts else most)

    def report(self, integrator: Integrator, time: float) -> None:
        """Make the rows up to a time within the last step that are not made yet."""
        if self.next_time <= time:
            self._advance(integrator, int(np.searchsorted(self._times, time, "right")), 0)

    def _advance(self, integrator: Integrator, n: int, most: int) -> int:
        counts, rows = integrator.counts, (self._times, self._results, self._energies)
        counts[rk.REPORT] = self.made
        if n < len(self._times):
            rows = self._times[:n], self._results[:n], self._energies[:n]
        status = integrator.advance(*rows, most)
        if counts[rk.REPORT] != self.made:
            self._count(counts)
        return status

    def go(self, quick: Quick, end: float) -> int:
        """Step by the loop to *end*, and not beyond, in one call, and report up to there; returns its status."""
        quick.counts[rk.REPORT] = self.made
        status = quick.go_through(end, self._times, self._results, self._energies)
        self._count(quick.counts)
        return status

    def _count(self, counts: Any) -> None:
        self.made = int(counts[rk.REPORT])
        self.next_time = float(self._times[self.made]) if self.made < len(self._times) else np.inf

    def is_pause_due(self, taken: int) -> bool:
        """True if it is time for a pause: after a tenth of a second or so, and sooner at first, by the steps *taken*."""
        if self._pause is None:
            return False
        return taken >= self._pause_at >= 0 or _clock.perf_counter() - self._paused > CALL

    def pause(self, taken: int) -> None:
        """Call the observers, after so many steps."""
        assert self._pause is not None
        self._pause()
        if _clock.perf_counter() - self._paused < CALL:
            self._limit = min(2 * self._limit, _MANY)
        self._pause_at, self._paused = taken + self._limit, _clock.perf_counter()

    def account(self, time: float, is_step_end: bool) -> None:
        """The motion is known up to a time."""
        if self._account is not None:
            self._account(time, is_step_end)

    def before_calls(self) -> None:
        """Python is about to be given the state."""
        if self._before_calls is not None:
            self._before_calls()

    def after_change(self, state: State) -> None:
        """Event handlers have changed the state."""
        if self._after_change is not None:
            self._after_change(state)
