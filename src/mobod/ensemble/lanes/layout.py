"""Contents of the arrays of a run in lanes: names of their rows, columns and places.

Rows of *work* are those of `stepping.record`, of eight numbers a variable.
"""

from typing import Any, NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...stepping import record as rk

# rows of `lanes`, integers of each lane: those of `counts` in `stepping.record`, and before them, where one state has its plan,
# whether the run has ended, and how: see `states.leave`; whether its last step is to be searched for events; and whether it
# waits for Python, or has to begin anew with what Python has done
LEAVES, LEFT_AS, SEEKS, CALLS = range(4)
#: What the last of them says beside 0.
WAITING, ANEW = 1, 2
#: Columns of `outcome`: how the run ended, one of the statuses of `stepping.record`; reports made, and what else was
#: counted, in the order of the lanes' rows.
STATUS, ROWS = 0, 1
NUM_STEPS, NUM_ATTEMPTS, NUM_EVALUATIONS, NUM_ERROR_FAILURES, NUM_REALIZATION_FAILURES, NUM_PROJECTION_FAILURES = range(2, 8)
NUM_CONVERGENCE_FAILURES = 8
OUTCOMES = 9
#: A state that has not been run to its end, and one whose run was ended by a function.
NOT_RUN, TERMINATED = -1, 100
#: A state in whose next step a contact may close: it is to be run alone from where that begins. And one that has been run so,
#: and waits for a lane.
SUSPECT, WAITS = 101, 102
#: A state whose handler or reporter has raised an error; and one that is where Python is called.
NOT_CALLED, CALLED = 103, 104
# places in `queue`: the next state that a lane may take, one past the last of the chunk that was taken, attempts until control
# returns, the state of the first row of results, which is the first that chunks count, how many have ended, and 1 where the
# record is realized where steps begin
NEXT, STOP, LIMIT, FIRST_ROW, ENDED, REALIZED = range(6)
QUEUE_SIZE = 6
# what `run` returns: all are at their ends; attempts are used up; lanes wait for Python
FINISHED, UNFINISHED, ASKS = range(3)
# columns of `reached`: the time, and the size of the last step; of a state that is SUSPECT, or CALLED, the next one's, and what
# else that depends on
REACHED_TIME, LAST_SIZE, LAST_PART, LAST_STRAIN = range(4)
REACHED_SIZE = 4
# columns of `onward`, of states that go on: when handlers are to be called, beyond which no step goes, and when reporters; the
# time at which all else holds, at others a run begins; the next step's size, 0 where that is still to be chosen, and what else
# it depends on; when the present interval without events began, and how far a step may go after the next; and whether it has
# been found out what contacts do where the run began, SETTLED, and where it goes on, JUST
STOP_AT, REPORT_AT, LEFT_AT, NEXT_SIZE, NEXT_PART, NEXT_STRAIN, BEGAN, REACH, CONTACTS = range(9)
ONWARD_SIZE = 9
SETTLED, JUST = 1.0, 2.0
# rows of `control` after those of `stepping.record`: when the run ends; when the next controller is to be sampled; when
# handlers are to be called, and when reporters
END, SAMPLE, WAIT, REPORTER = range(rk.CONTROL_SIZE, rk.CONTROL_SIZE + 4)
CONTROL_ROWS = rk.CONTROL_SIZE + 4
# rows of `marks`: lanes that begin (GOES_ON where it is known what contacts do, ACTED where handlers have acted), that report,
# of whose state a part in Python has raised an error, that are between the ends of their step, and at whose witnesses Python is
# to look: at 1 for values, at 2 for rates, too
FRESH, DUE, RAISED, BETWEEN, LOOKS = range(5)
MARK_ROWS = 5
BEGINS, GOES_ON, ACTED = 1.0, 1.5, 2.0
# places in `plan` after those of `stepping.record`: the method, the number of the witness that ends runs or -1, 1 where values
# of witnesses need accelerations, 1 where neither they nor their rates do, or OF_COORDINATES, and where the plan of the record
# of one state begins, in which controllers are sampled
METHOD, ENDER, NEEDS_RATES, BY_SPEEDS, SINGLE = range(rk.PLAN_SIZE, rk.PLAN_SIZE + 5)
PLAN_SIZE = SINGLE + rk.PLAN_SIZE
#: What BY_SPEEDS is where coordinates are watched alone, whose rates are speeds: nothing is to be computed for them.
OF_COORDINATES = 2
# what METHOD is
RUNGE_KUTTA, SEMI_EXPLICIT_EULER, SEMI_EXPLICIT_EULER2, VERLET, CONTACT = range(5)


def new_onward(n: int) -> Array:
    """Rows of `Data.onward` of n states that begin, for which nothing is due."""
    rows = np.zeros((n, ONWARD_SIZE))
    rows[:, [STOP_AT, REPORT_AT]], rows[:, LEFT_AT] = np.inf, np.nan
    return rows


class Crew(NamedTuple):
    """A thread's arrays for runs, beside the record.

    Attributes
    ----------
    run : stepping.record.Run
        Of eight states.
    lanes, marks, queue
        See the names of their rows and places.
    own, own_of_single
        The lanes' own parameters, and those of the record in which controllers are sampled.
    watched, seen
        Witnesses, and what has been seen of them.
    remembered, kept
        Where what measures remember begins; scratch, and what they remembered before the attempts began.
    spaces, held_of_single
        Of steps with contact: addresses, see `contact`; and the mobility forces of the record of one state.
    """

    run: Any
    lanes: Any
    marks: Any
    queue: Any
    own: Any
    own_of_single: Any
    watched: Any
    seen: Any
    remembered: Any
    kept: Any
    spaces: Any
    held_of_single: Any


class Data(NamedTuple):
    """States of an ensemble, a row each, and what becomes of them.

    Attributes
    ----------
    time, q, u, z, particles, memory, forces, own_of_each
        Their variables, mobility forces held and own parameters.
    end
        Where each run ends: no step goes beyond, unless there are *times* of reports, of all alike or of each. A run then ends
        with the last of these, and steps do not depend on them.
    results, outcome, reached
        Rows of reports, and how the runs ended.
    which
        The states that are run, all of them where it is empty.
    onward
        Where there is such, states go on as that says, and Python is called when it says; how they went is left there.
    impulses
        Those of the last step, see `contact`, of states that go on.
    """

    time: Any
    q: Any
    u: Any
    z: Any
    particles: Any
    memory: Any
    forces: Any
    own_of_each: Any
    end: Any
    times: Any
    results: Any
    outcome: Any
    reached: Any
    which: Any
    onward: Any
    impulses: Any
