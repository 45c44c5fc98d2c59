"""Steps of `TimeStepping` in lanes: eight states at once by `unilateral.stepped.step`, and one by one those that stand alone.

Python takes those in which a contact with restitution is struck, see `struck`, and the state keeps its lane.

A lane has a space of its own, in which it keeps the impulses of its last step; where states go on in another run they are in
rows of `Data.impulses`: how many, the size of the step, the time at its end, then key, impulse and a of each point.
"""

from __future__ import annotations

from typing import Any

from ...algebra.pointers import integers1, numbers3
from ...algebra.record import call_for_own, call_routine
from ...algebra.scalar import load, load_lane, store, store_lane, zero
from ...compiling import NO_RESULT, apart, generic
from ...stepping import record as rk
from ...stepping.evaluate import evaluate, prescribe
from ...stepping.record import TIME, Y
from ...stepping.rows import set_row
from ...unilateral.stepped import space as names, step as steps
from ...unilateral.stepped.points import index_kept
from ...unilateral.stepped.space import MEASURES, TRIES, space_at
from . import layout as at
from .controllers import load_single

#: Words of a crew's `spaces`: addresses of `step_eight`, of its block, of `step_one`, of what Python does in its place, or 0,
#: of the wide space's block, then of the eight others'. None where the method is another.
EIGHT, BLOCK, ONE, BY_PYTHON, WIDE, FIRST = range(6)
SPACES_SIZE = FIRST + 8
#: Columns of a row of impulses.
KEPT, SIZE, LEFT_AT, POINTS, A_POINT = 0, 1, 2, 3, 5
ROW_SIZE = POINTS + A_POINT * names.MOST_IN_LANES


@apart
def _step_alone(model: Any, single: Any, crew: Any, lane: int, to: int, missed: bool) -> None:
    """A step of one lane in the record of one state, into the lane's row; APART is what `step_one` returns.

    Where the others' method has *missed* its solution, that is not tried first once more.
    """
    run, words = crew.run, crew.spaces
    plan, control = run.plan, run.control
    load_single(model, single, crew, lane)
    for i in range(model.nu):
        crew.held_of_single[i] = load_lane(run.held, i, 0, lane)
    status = rk.NOT_FINITE
    if evaluate(single, plan[at.SINGLE :], crew.held_of_single) == 0.0:
        space = space_at(words[FIRST + lane])
        space.measures[names.SIZE] = control[rk.SIZE, 0, lane]
        first = steps.MISSED if missed else 0
        status = call_routine(words[ONE], single, words[FIRST + lane], to + first)
        if status == names.CLOSES and words[BY_PYTHON] != 0:
            evaluate(single, plan[at.SINGLE :], crew.held_of_single)
            status = call_routine(words[BY_PYTHON], single, words[FIRST + lane], to)
            if status == NO_RESULT:
                status = names.NO_IMPULSES
        if status == 0:
            tries = numbers3(words[WIDE], TRIES)
            for i in range(model.ny):
                store_lane(tries, to, i, lane, space.tries[to, i])
    control[rk.APART, 0, lane] = float(status)


@apart
def attempt(model: Any, single: Any, crew: Any) -> Any:
    """An attempt in all lanes, at whose end the record's y is; APART is above 0 in lanes where it was in vain."""
    run, words = crew.run, crew.spaces
    control, work = run.control, run.work
    time, h = load(control, TIME, 0), load(control, rk.SIZE, 0)
    o = zero(h)
    if crew.queue[at.REALIZED] == 0:
        set_row(model, work, Y, time)
        evaluate(model, run.plan, run.held)
    crew.queue[at.REALIZED] = 0
    who = integers1(words[BLOCK], steps.WHO)
    for lane in range(8):
        who[lane] = 1 if crew.lanes[rk.STATE, lane] >= 0 else 0
    store(numbers3(words[WIDE], MEASURES), names.SIZE, 0, h)
    store(control, rk.APART, 0, o)
    store(control, rk.EVALUATED, 0, o)
    alone = call_for_own(words[EIGHT], model, words[BLOCK], 0)
    for lane in range(8):
        if alone & (1 << lane) != 0:
            missed = alone & (1 << (lane + steps.MISSED_BITS)) != 0
            _step_alone(model, single, crew, lane, 0, missed)
    set_row(model, numbers3(words[WIDE], TRIES), 0, time + h)
    prescribe(model, run.plan)  # before the end is projected
    return o


@generic
def take_impulses(crew: Any, lane: int, s: int, data: Any) -> None:
    """A lane that has taken state *s* has the impulses of its last step, where it goes on."""
    space, rows = space_at(crew.spaces[FIRST + lane]), data.impulses
    n, space.measures[names.LAST_STEP] = 0, 0.0
    if rows.shape[0] > s and rows[s, LEFT_AT] == data.time[s, 0]:
        n, space.measures[names.LAST_STEP] = int(rows[s, KEPT]), rows[s, SIZE]
        if n > space.kept_keys.shape[0]:
            n = 0
        for i in range(n):
            column = POINTS + A_POINT * i
            space.kept_keys[i] = int(rows[s, column])
            for j in range(4):
                space.kept[i, j] = rows[s, column + 1 + j]
    index_kept(space, n)


@generic
def put_impulses(crew: Any, lane: int, s: int, data: Any) -> None:
    """Keep the impulses of a lane's last step as those of state *s*, which has come to its end: of a few points."""
    space, rows = space_at(crew.spaces[FIRST + lane]), data.impulses
    if rows.shape[0] > s:
        n = space.counts[names.KEPT]
        if n > names.MOST_IN_LANES:
            n = 0
        rows[s, KEPT], rows[s, SIZE], rows[s, LEFT_AT] = float(n), space.measures[names.LAST_STEP], data.time[s, 0]
        for i in range(n):
            column = POINTS + A_POINT * i
            rows[s, column] = float(space.kept_keys[i])
            for j in range(4):
                rows[s, column + 1 + j] = space.kept[i, j]
