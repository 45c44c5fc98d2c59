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
from ..simulation.event_log import EventLog
from ..simulation.events import Events
from ..stepping import record as rk
from .ensemble_trajectory import Termination
from .failures import Reasons
from .lanes import layout
from .one_by_one import Onward
from .schedule import Handled, Schedule

if TYPE_CHECKING:
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
        n = len(ensemble)
        self._onward = np.zeros((n, layout.ONWARD_SIZE))
        self._onward[:, layout.LEFT_AT] = np.nan
        #: When the present interval of each began, and how far its steps may go after the next event: see `TimeStepper`.
        self._began, self._reach = ensemble._time[:n, 0].copy(), np.zeros(n)
        self._changed: set[int] = set()

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
        try:
            while len(going):
                self._onward[:, layout.STOP_AT] = np.minimum(schedule.handlers, schedule.reporters)
                ensemble._run_compiled(run, self._lanes, results, first, going, self._onward)
                status = outcome[going, layout.STATUS]
                done = (status == layout.WAITS) | (status == rk.REACHED)
                out[going[~done]] = True
                self._hand_over(going[~done & (status != layout.TERMINATED) & (status != layout.SUSPECT)])
                handled = ensemble._do_what_is_due(schedule, ends, out, reasons, True)
                for i, one in handled.items():
                    self._take(i, one, out)
                going = np.flatnonzero(~out & (times < ends))
        except BaseException:  # those on their way are where they began
            left = which[np.isin(outcome[which, layout.STATUS], (layout.WAITS, layout.SUSPECT))]
            run.begin_again(left)
            raise
        for i, reason in reasons.of_states.items():
            run.reasons[i], outcome[i, layout.STATUS] = reason, layout.NOT_CALLED
        return alone

    def _hand_over(self, which: npt.NDArray[np.int64]) -> None:
        """Continue states that fail in lanes alone, which finds out why: from where they are, as handlers have acted."""
        self._run.outcome[which, layout.STATUS] = layout.SUSPECT
        self._run.reached[which, layout.LAST_PART :] = 0.0

    def _take(self, i: int, handled: Handled, out: npt.NDArray[np.bool_]) -> None:
        """Take over the changes that handlers have made in state i."""
        ensemble, run = self._ensemble, self._run
        time = float(ensemble._time[i, 0])
        self._log(i, time, handled)
        if handled.ends is not None:
            name = getattr(handled.ends, "name", None) or handled.ends.get_name()
            y = np.concatenate([part[i] for part in ensemble._variables[1:5]])
            run.terminations[i] = Termination(time, f"{name} ended the simulation{getattr(handled.ends, '_why', '')}", y)
            run.outcome[i, layout.STATUS] = rk.REACHED
            run.reached[i, layout.REACHED_TIME] = time
        elif handled.changed:
            reach = self._reach[i] = max(time - self._began[i], 0.5 * self._reach[i])
            self._began[i], following = time, self._onward[i, _NEXT]
            if self._lanes.adaptive and reach > 0.0:
                following[0] = max(self._lanes.settings[rk.MIN_STEP], min(following[0], reach))
            following[1:] = 0.0
            if i in ensemble._departures:
                out[i] = True
                self._changed.add(i)
                run.outcome[i, layout.STATUS], run.reached[i, _REACHED] = layout.SUSPECT, following

    def _log(self, i: int, time: float, handled: Handled) -> None:
        """Add the changes of handlers to the events of state i."""
        log = EventLog(self._ensemble._system)
        if handled.account is not None:
            log.add_account(time, handled.account, "scheduled")
        self._run.add_events(i, Events(log.rows(), log.labels), np.zeros(len(log.rows()), np.int64))

    def onward(self, i: int, last_error: float, strain: float) -> Onward:
        """The data with which state i goes on alone."""
        time, schedule = self._ensemble._time[i, 0], self._schedule
        done = bool(schedule.handlers[i] > time), bool(schedule.reporters[i] > time)
        return Onward(float(self._began[i]), float(self._reach[i]), last_error, int(strain), done, i in self._changed)
