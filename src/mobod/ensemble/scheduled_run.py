"""ScheduledRun: runs of many states in lanes, from one time at which handlers or reporters of a state are due to the next.

Where one is due the state leaves its lane, Python is called, and it takes a lane again: with the step that it had before, as a
time stepper goes on after an event. One that handlers make other than what all share goes on alone.
"""

# ruff: noqa: SLF001  (a run is a part of its ensemble, in a class of its own)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..stepping import record as rk
from .failures import Reasons
from .lanes import layout
from .schedule import Handled, Schedule

if TYPE_CHECKING:
    from ..state.state import State
    from .lane_runs import LaneRuns

#: What a state goes on with: its next step, and what that depends on.
_NEXT = slice(layout.NEXT_SIZE, layout.NEXT_STRAIN + 1)
_REACHED = slice(layout.LAST_SIZE, layout.LAST_STRAIN + 1)


class ScheduledRun:
    """The progress of the states of a run between the times at which Python has something to do.

    Parameters
    ----------
    ensemble : Ensemble
    run : _Run
        What is known of all, and where results go.
    lanes : LaneRuns
    schedule : Schedule
    """

    def __init__(self, ensemble: Any, run: Any, lanes: LaneRuns, schedule: Schedule) -> None:
        self._ensemble, self._run, self._lanes, self._schedule = ensemble, run, lanes, schedule

    def go(self, which: npt.NDArray[np.int64], results: Array, first: int) -> npt.NDArray[np.int64]:
        """Take some states to their ends, or to where each has to go on alone, which then is SUSPECT.

        *first* is the first state of those whose rows there are. Returns states that have not been run: those with reporters
        that are due within steps, at times at which these do not end; and, of a method that goes on by the step before, those
        for which anything is due.
        """
        ensemble, run, schedule = self._ensemble, self._run, self._schedule
        times, ends = ensemble._time[: len(ensemble), 0], np.broadcast_to(run.times[:, -1], (len(ensemble),))
        schedule.begin(times, ensemble._lend_realized)
        reported = schedule.reporters[which] <= ends[which]
        for k in np.flatnonzero(schedule.reporters[which] <= times[which]).tolist():  # those at the start are called there
            i = int(which[k])
            reported[k] = schedule.has_reports_after(i, float(times[i]), ends[i], ensemble._lend_realized)
        if not self._lanes.hands_over:
            reported |= np.minimum(schedule.handlers, schedule.reporters)[which] <= ends[which]
        alone, which = which[reported], which[~reported]
        out = np.ones(len(ensemble), bool)
        out[which] = False
        reasons, going, outcome = Reasons(np.zeros(len(ensemble), np.int64), np.zeros((len(ensemble), 0))), which, run.outcome
        while len(going):
            run.onward[:, layout.STOP_AT] = np.minimum(schedule.handlers, schedule.reporters)
            ensemble._run_compiled(run, self._lanes, results, first, going, run.onward)
            status = outcome[going, layout.STATUS]
            done = (status == layout.WAITS) | (status == rk.REACHED)
            out[going[~done]] = True
            out[[i for i in going.tolist() if i in run.terminations]] = True
            run.hand_over(going[~done & (status != layout.TERMINATED) & (status != layout.NOT_CALLED)])
            handled = ensemble._do_what_is_due(schedule, ends, out, reasons, True)
            for i, one in handled.items():
                self._take(i, one, out)
            going = np.flatnonzero(~out & (times < ends))
        for i, reason in reasons.of_states.items():
            run.reasons[i], outcome[i, layout.STATUS] = reason, layout.NOT_CALLED
        return alone

    def _take(self, i: int, handled: Handled, out: npt.NDArray[np.bool_]) -> None:
        """Take over the changes that handlers have made in state i."""
        ensemble, run = self._ensemble, self._run
        time = float(ensemble._time[i, 0])
        if handled.account is not None:
            run.log_of(i).add_account(time, handled.account, "scheduled")
        if handled.ends is not None:
            run.ended(i, time, handled.ends)
        elif handled.changed:
            self._lanes.restart(run.onward[i], time)
            if i in ensemble._departures:
                out[i] = True
                run.goes_alone(i)

    def ask_again(self, i: int, state: State) -> None:
        """An event has changed state i, by which others may be due at other times."""
        schedule = self._schedule
        schedule.ask_of(i, state, schedule.handlers[i] <= state.time, schedule.reporters[i] <= state.time)
        self._run.onward[i, layout.STOP_AT] = min(schedule.handlers[i], schedule.reporters[i])

    def done(self, i: int) -> tuple[bool, bool]:
        """True of handlers, and of reporters, if those that are due at the time of state i have been called."""
        time, schedule = self._ensemble._time[i, 0], self._schedule
        return bool(schedule.handlers[i] > time), bool(schedule.reporters[i] > time)
