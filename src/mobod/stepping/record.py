"""The arrays of a run: names of their places and rows, and `Run`, in which a kernel has them together.

Numbers of one state are in arrays without lanes, those of eight in arrays with: `load` and `load_lane` read either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algebra.scalar import load, num_lanes
from ..compiling import generic


class Run(NamedTuple):
    """The arrays of a run, as kernels hand them on.

    Attributes
    ----------
    plan : integers
        Addresses of routines, and choices: what does not change while the run goes on. Of one state `counts`, which begins so.
    settings : numbers
        What the integrator's settings are, in the places of `control`. Of one state `control` itself.
    control : numbers of each state
        Where the run is, and how its steps go.
    counts : integers of each state
        See `place`. Of one state `plan` itself.
    work : rows of y of each state
        The ends of the last step, rates of stages, errors.
    table : (stages + 2, stages + 1) numbers
        The method's, of a Runge-Kutta method.
    weights : numbers
        Of errors, one a variable; 0 for what is prescribed.
    held : a column of each state, or None
        Mobility forces that act beside those of the elements.
    """

    plan: Any
    settings: Any
    control: Any
    counts: Any
    work: Any
    table: Any
    weights: Any
    held: Any


@generic
def run_of(work: Any, table: Any, control: Any, counts: Any) -> Any:
    """The run of one state."""
    weights = work[work.shape[0] - 4]
    return Run(counts, control, control, counts, work, table, weights, None)


@generic
def place(run: Any, row: int, lane: int) -> int:
    """The place in `Run.counts` of one of those of a lane."""
    where: int = num_lanes(load(run.control, TIME, 0)) * row + lane
    return where


# ---------------------------------------------------------------------------------------------- `plan`, integers

#: Addresses of routines: what realizes; what prescribes, projects, and limits steps by contact, 0 where there is nothing to do.
ROUTINE, PRESCRIBER, PROJECTOR, LIMITER = range(4)
#: What is asked of the first for rates, bits of `state.validity`; the order of the estimate of errors; what `project` takes as
#: choices; the row of `work` with the rates foreseen at the end of a step.
WANTED, ERROR_ORDER, PROJECTION, FORESEEN = range(4, 8)
#: Choices, 1 or 0: whether an attempt leaves the record realized at its end, as with tables whose last stage is that; errors by
#: their mean square; whether reports are projected; whether steps end at reports; whether q_dot is u; whether there are
#: quaternions.
ENDS_AT_STAGE, MEAN_NORM, PROJECT_REPORTS, NO_INTERPOLATION, PLAIN_RATES, QUATERNIONS = range(8, 14)
#: Whether mobility forces are held beside those of the elements; addresses of what adds others, and of what Python keeps from
#: step to step, or 0; 1 where there are z, such as muscles' fibers, which relax so fast that stability bounds steps.
HOLDS, CONTROLLER, KEEPER, RELAXES = range(14, 18)
PLAN_SIZE = 18

# ---------------------------------------------------------------------------------------------- `counts`, of one state after it

STEPS, ATTEMPTS, EVALUATIONS, ERROR_FAILURES, REALIZATION_FAILURES, PROJECTION_FAILURES = range(PLAN_SIZE, PLAN_SIZE + 6)
CONVERGENCE_FAILURES, Q_PROJECTIONS, U_PROJECTIONS, ITERATIONS = range(PLAN_SIZE + 6, PLAN_SIZE + 10)
#: The next report, and the steps until control returns.
REPORT, LIMIT = range(PLAN_SIZE + 10, PLAN_SIZE + 12)
#: 1 where the next step is taken whatever its error; 1 after a step that may have missed a contact; where the caller has
#: changed the record since the last step, 1 and the bits of what is valid in it still, else 0.
FORCED, PASSES, CHANGED = range(PLAN_SIZE + 12, PLAN_SIZE + 15)
#: 1 where y as it is fulfils constraints, as the end of a step does, so that a run that goes on there is the run that was.
PROJECTED = PLAN_SIZE + 15
#: How many witnesses `witnesses` looks at after each step, 0 for none; below 0 the loop returns after each step, SUSPECT.
WATCHES = PLAN_SIZE + 16
#: The number of the state that steps, below 0 for none, and what it failed by where its last attempt was in vain.
STATE, FAILURE = PLAN_SIZE + 17, PLAN_SIZE + 18
#: Of the search for events: the address of its routine, 0 where the loop returns for it; that of a callback that looks where
#: Python finds y within a step, 0 where kernels do; 1 where values of witnesses need accelerations; how many witnesses there
#: are, and the addresses of their table and of what has been seen of them.
SEARCHER, LOOKER, NEEDS_RATES, WATCHED, TABLE_AT, SEEN_AT = range(PLAN_SIZE + 19, PLAN_SIZE + 25)
COUNTS_SIZE = PLAN_SIZE + 25

# ---------------------------------------------------------------------------------------------- `control`, numbers

#: The ends of the last step and its size, the size proposed for the next, the first one; where no step
#: goes beyond.
TIME, PREVIOUS_TIME, LAST_STEP, STEP, FIRST_STEP, FINAL_TIME = range(6)
#: Settings; FIXED_STEP is 0 where errors are controlled, TOLERANCE that of projection.
ACCURACY, TOLERANCE, MIN_STEP, MAX_STEP, FIXED_STEP = range(6, 11)
#: The size of steps below which the cause is looked for; the longest step from TIME that surfaces permit, below zero where it
#: is not known; the error of the last step as a part of the accuracy, 0 after an attempt that failed.
COLLAPSE, PERMITTED_STEP, LAST_ERROR = range(11, 14)
#: How much speaks for steps that are bounded by stability, since one was limited by a surface that came near.
STRAIN = 14
#: Of an attempt: its size, the time at its end, 1 where that is where steps have to end, and where surfaces that come near have
#: made it shorter; how often it has computed rates, its iterations, and a positive number where these do not converge.
SIZE, ARRIVAL, CLIPPED, LIMITED, EVALUATED, ITERATED, APART = range(15, 22)
#: Where the loop of one state returns, having reported nothing beyond, though times are left to report.
TARGET = 22
#: A time within the last step, at which y is wanted; up to where that step has been searched for events, and the first of them.
AT, SOUGHT, EVENT = range(23, 26)
#: Of an attempt: 0, or NaN where it failed; its error; 1 where it has become a step, where nobody wants the rates at its end;
#: and where surfaces may touch, what `errors.surprise` says.
SOUND, NORM, TAKEN, LAST, SURPRISE = range(26, 31)
CONTROL_SIZE = 31

# ---------------------------------------------------------------------------------------------- rows of `work`

Y_PREVIOUS, RATE_PREVIOUS, Y, RATE = range(4)
#: The stages' rates; the first stage's is that at y, row RATE.
FIRST_STAGE = 3
#: Rows after the stages': weights (0 for what is prescribed), the last attempt's errors, q_dot_dot of the last step's two ends.
ROWS_AFTER = 4

# ---------------------------------------------------------------------------------------------- how steps end

#: What loops over steps return.
REACHED, PAUSED, STEP_TOO_SMALL, NOT_FINITE, COLLAPSED, NOT_PROJECTED, NOT_TAKEN_UP, NOT_SAMPLED = range(8)
#: ... and before any report within a step in which a witness may have changed sign, or has.
SUSPECT, FOUND = 8, 9
#: What single steps of methods with loops of their own return.
DONE, NOT_REALIZED, NOT_CONVERGED = range(3)
