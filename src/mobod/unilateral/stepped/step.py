"""A step of surfaces that touch: of one state, and of eight at once.

The record is realized where the step begins; y at its end goes into a row of ``tries``. Of eight states what touches is found
state by state. Where a state has few points, none of them between two trees and none that resists rolling, its problem is
solved beside the others', eight in a vector: points of the same surfaces and feature share a row, in the order of these, and
where a state lacks one its impulse is zero and stays so. Such zeros change no sum, and a state that has met stays as it is
while others go on: its bits do not depend on its neighbours. The others, and those that Newton's method on the law does not
solve, are stepped one by one, by `step_one`.
"""

from __future__ import annotations

from typing import Any

from ...algebra.pointers import integers1, integers2
from ...algebra.record import call_routine
from ...algebra.scalar import load, load_lane, store, store_lane
from ...compiling import apart, generic, routine
from ...mobilizer.q_rates import find_q_dot
from ...tree.project import any_positive
from . import space as names
from .equations import (
    NONE,
    STRUCK,
    add_equations,
    add_gaps,
    add_stick,
    closing,
    find_closing,
    slip_of_stick,
    stop_at_end,
)
from .joints import find_pushes
from .points import find_points, place_all, recall, remember, renew_limits
from .solve import find_problem, push_free, solve_in_lanes, weigh
from .space import space_at, wide_at

#: How often impulses are solved for in a step while the limits of rolling and spinning resistance change.
TURNS = 2
#: See `step_one`; and the bits of what `step_eight` returns are so many places farther for states for which that holds.
MISSED, MISSED_BITS = 16, 8
#: Places of arrays in the block of eight states: addresses of the wide space's block and of each state's; which of them take
#: part; the row of each state's points; scratch.
ADDRESSES, WHO, SLOTS, OWNERS = range(4)
#: Columns of points that a row of the wide space has of its states'.
_COPIED = (
    *range(names.SHIFT), *range(names.IMPULSE, names.IMPULSE + 3), names.LIMIT, *range(names.DRIFT, names.DRIFT + 3)
)  # fmt: skip
#: ... and that its states have of it, when it is solved.
_FOUND = (*range(names.IMPULSE, names.IMPULSE + 3), *range(names.V, names.V + 3), names.SHIFT)


@generic
def _begin(model: Any, space: Any, h: Any) -> bool:
    """Speeds, those without contact, and what joints do; whether these do anything."""
    vectors, place = space.vectors, space.place_of_speed
    for i in range(model.nu):
        u = load(model.u, i, 0)
        store(vectors, names.SPEED, place[i], u)
        store(vectors, names.FREE, place[i], u + h * load(model.u_dot, i, 0))
    return find_pushes(model, space, h)


@generic
def _end(model: Any, space: Any, result: int, moving: int, h: Any, to: int) -> None:
    """y a step on, by the speeds in a row of ``vectors``, and those of coordinates in another, into a row of ``tries``."""
    vectors, place, out = space.vectors, space.place_of_speed, space.tries
    first = model.whole_nq
    for i in range(model.ny):
        store(out, to, i, load(model.y, i, 0) + h * load(model.y_dot, i, 0))
    n = model.particle_size
    begin = model.ny - 2 * n
    for i in range(begin, begin + n):  # by their new velocities
        store(out, to, i, load(model.y, i, 0) + h * load(out, to, i + n))
    # q_dot by the new speeds, for which the record has them for a moment
    for turn in range(2):
        row = moving
        if turn == 1:
            row = names.SPEED
        for i in range(model.nu):
            store(model.u, i, 0, load(vectors, row, place[i]))
        for b in range(1, model.nb):
            find_q_dot(model, b)
        if turn == 0:
            for i in range(model.nu):
                store(out, to, first + i, load(vectors, result, place[i]))
            for i in range(model.nq):
                store(out, to, i, load(model.q, i, 0) + h * load(model.q_dot, i, 0))


@routine
def step_one(model: Any, block: int, to: int) -> int:
    """A step of one state, with the space whose block is at an address, into row *to*: 0, NO_ROOM, NO_IMPULSES or CLOSES.

    To *to* `MISSED` is added where Newton's method on the law has been tried in vain.
    """
    space, first = space_at(block), 0
    if to >= MISSED:
        first, to = 1, to - MISSED
    h = space.measures[names.SIZE]
    place_all(model, space)
    find_points(model, space, h, 0)
    surfaces, pushed = space.counts[names.POINTS], _begin(model, space, h)
    for at in range(space.gaps.shape[0]):
        space.gaps[at, names.TAKES_PART] = 0
    more, result, moving = find_closing(model, space, h, names.FREE), names.FREE, names.FREE
    while more != STRUCK:
        space.counts[names.POINTS] = surfaces
        add_gaps(model, space, h)
        if space.counts[names.POINTS] > 0 or pushed:
            add_equations(model, space)
        if space.counts[names.POINTS] == 0:
            if pushed:
                weigh(model, space)
        elif not find_problem(model, space):
            return names.NO_ROOM
        if pushed:
            push_free(space)
        if space.counts[names.POINTS] > 0:
            recall(space, h)
            if not _solve(model, block, first):
                space.counts[names.KEPT] = 0
                return names.NO_IMPULSES
            result, first = names.NEW, 0
        more, moving = NONE, result
        if result != names.FREE or pushed:
            more = find_closing(model, space, h, result)
        if more == NONE and result == names.NEW and stop_at_end(space, surfaces):
            for i in range(space.vectors.shape[1]):
                space.vectors[names.MOVING, i] = space.vectors[names.NEW, i]
            moving = names.MOVING
            if not _solve(model, block, 0):
                space.counts[names.KEPT] = 0
                return names.NO_IMPULSES
            more = find_closing(model, space, h, result)
        if more == NONE:
            break
        _begin(model, space, h)  # again, with what these speeds would close
    if more == STRUCK:
        return names.CLOSES
    if result == names.FREE:
        space.counts[names.KEPT] = 0
    else:
        remember(space)
        space.measures[names.LAST_STEP] = h
    _end(model, space, result, moving, h, to)
    return 0


@generic
def _solve(model: Any, block: int, first: int) -> bool:
    """The impulses of all points, with the limits of what resists rolling, which follow the normal impulses."""
    space, found = space_at(block), False
    for turn in range(TURNS):
        found = call_routine(space.words[space.words.shape[0] - names.SOLVER], model, block, first if turn == 0 else 0) == 1
        if not found or not renew_limits(space):
            break
    return found


# ---------------------------------------------------------------------------------------------- eight states


@generic
def _stands_alone(space: Any) -> bool:
    """True if a state's problem is not solved beside others."""
    n = space.counts[names.POINTS]
    if n > names.MOST_IN_LANES or n > space.keys.shape[0]:
        return True
    for i in range(n):
        one, two, kind = space.pairs[i, names.TREE_1], space.pairs[i, names.TREE_2], space.pairs[i, names.KIND]
        if (kind != names.CONTACT and kind != names.STICK) or (one >= 0 and two >= 0 and one != two):
            return True
    return False


@generic
def _is_tied(model: Any, space: Any) -> bool:
    """True if equations of constraints are to be solved with a state's points, or with what joints do."""
    return bool(model.num_groups[0] > 0 and (space.counts[names.POINTS] > 0 or space.joints.shape[0] > 0))


@generic
def _leave(wide: Any, who: Any, mark: Any, bits: int) -> int:
    """States that are marked take part no more; their *bits*, each moved to its place."""
    store(wide.vectors, names.SCRATCH, 0, mark)
    left = 0
    for lane in range(8):
        if who[lane] != 0 and load_lane(wide.vectors, names.SCRATCH, 0, lane) > 0.0:
            left, who[lane] = left | (bits << lane), 0
    return left


@apart
def _find_alone(model: Any, wide: Any, words: Any, who: Any) -> int:
    """The points of each state that takes part, with the impulses to begin with; which states stand alone, a bit each."""
    alone, sizes = 0, wide.measures
    for lane in range(8):
        if who[lane] != 0:
            find_points(model, space_at(words[1 + lane]), load_lane(sizes, names.SIZE, 0, lane), lane)
    for at in range(wide.sticks.shape[0]):
        store(wide.vectors, names.SCRATCH, 0, slip_of_stick(model, wide, at))
        for lane in range(8):
            if who[lane] != 0:
                slip, h = load_lane(wide.vectors, names.SCRATCH, 0, lane), load_lane(sizes, names.SIZE, 0, lane)
                add_stick(space_at(words[1 + lane]), at, slip, h)
    for lane in range(8):
        if who[lane] != 0:
            space, h = space_at(words[1 + lane]), load_lane(sizes, names.SIZE, 0, lane)
            if _is_tied(model, space) or _stands_alone(space):
                alone, who[lane] = alone | (1 << lane), 0
            else:
                recall(space, h)
    return alone


@generic
def _is_before(a: Any, i: int, key: int, b: Any, j: int, other: int) -> bool:
    """The order of rows: by surfaces, then by key."""
    if a[i, names.FIRST] != b[j, names.FIRST]:
        return bool(a[i, names.FIRST] < b[j, names.FIRST])
    if a[i, names.SECOND] != b[j, names.SECOND]:
        return bool(a[i, names.SECOND] < b[j, names.SECOND])
    return key < other


@generic
def _place_in(wide: Any, owners: Any, lane: int, space: Any, i: int) -> int:
    """The place of a state's point among the rows, or one it would have: not that of another point of this key and state."""
    at, n = 0, wide.counts[names.POINTS]
    while at < n:
        if not _is_before(wide.pairs, at, wide.keys[at], space.pairs, i, space.keys[i]):
            if _is_before(space.pairs, i, space.keys[i], wide.pairs, at, wide.keys[at]) or owners[at] != lane:
                break
        at += 1
    return at


@apart
def _share_rows(wide: Any, words: Any, who: Any, slots: Any, owners: Any) -> None:
    """The rows of the wide space, and where each state's points are among them."""
    wide.counts[names.POINTS] = 0
    for turn in range(2):
        for at in range(owners.shape[0]):
            owners[at] = -1
        for lane in range(8):
            if who[lane] == 0:
                continue
            space = space_at(words[1 + lane])
            for i in range(space.counts[names.POINTS]):
                at, n = _place_in(wide, owners, lane, space, i), wide.counts[names.POINTS]
                if turn == 0 and (at == n or _is_before(space.pairs, i, space.keys[i], wide.pairs, at, wide.keys[at])):
                    for k in range(n, at, -1):
                        wide.keys[k], owners[k] = wide.keys[k - 1], owners[k - 1]
                        for j in range(names.PAIRS_WIDTH):
                            wide.pairs[k, j] = wide.pairs[k - 1, j]
                    wide.keys[at] = space.keys[i]
                    for j in range(names.PAIRS_WIDTH):
                        wide.pairs[at, j] = space.pairs[i, j]
                    wide.counts[names.POINTS] = n + 1
                owners[at] = lane
                slots[lane, i] = at


@apart
def _gather(wide: Any, words: Any, who: Any, slots: Any) -> None:
    """The rows' numbers, from the states' points."""
    points = wide.points
    none = 0.0 * load(wide.vectors, names.FREE, 0)
    for i in range(wide.counts[names.POINTS]):
        for column in _COPIED:
            store(points, i, column, none)
        store(points, i, names.COMPLIANCE, none + 1.0)
        store(points, i, names.LIMIT, none - 1.0)
        store(points, i, names.LENGTH, none + 1.0)
    for lane in range(8):
        if who[lane] != 0:
            space = space_at(words[1 + lane])
            for i in range(space.counts[names.POINTS]):
                for column in _COPIED:
                    store_lane(points, slots[lane, i], column, lane, space.points[i, column])


@apart
def _scatter(wide: Any, words: Any, who: Any, slots: Any) -> None:
    """Copy impulses, velocities and a into the states' spaces, which keep them for the next step."""
    for lane in range(8):
        if who[lane] != 0:
            space = space_at(words[1 + lane])
            n = space.counts[names.POINTS]
            for i in range(n):
                row = slots[lane, i]
                for column in _FOUND:
                    space.points[i, column] = load_lane(wide.points, row, column, lane)
            if n > 0:
                space.counts[names.PROBLEMS] += 1
                remember(space)
            else:
                space.counts[names.KEPT] = 0
            space.measures[names.LAST_STEP] = load_lane(wide.measures, names.SIZE, 0, lane)


@routine
def step_eight(model: Any, block: int, to: int) -> int:
    """A step of eight states, see the places in the block, into row *to*; the bits of those that are `step_one`'s to step."""
    words, who = integers1(block, ADDRESSES), integers1(block, WHO)
    slots, owners = integers2(block, SLOTS), integers1(block, OWNERS)
    wide = wide_at(words[0])
    h, result = load(wide.measures, names.SIZE, 0), names.FREE
    place_all(model, wide)
    pushed = _begin(model, wide, h)
    alone = _find_alone(model, wide, words, who)
    if wide.gaps.shape[0] > 0:
        alone = alone | _leave(wide, who, closing(model, wide, h, names.FREE), 1)
    _share_rows(wide, words, who, slots, owners)
    if wide.counts[names.POINTS] > 0:
        _gather(wide, words, who, slots)
        find_problem(model, wide)  # for which there is room
        if pushed:
            push_free(wide)
        missed = solve_in_lanes(wide)
        result = names.NEW
        if any_positive(missed):
            alone = alone | _leave(wide, who, missed, 1 | (1 << MISSED_BITS))
    elif pushed:
        weigh(model, wide)
        push_free(wide)
    if wide.gaps.shape[0] > 0 and (pushed or result != names.FREE):
        alone = alone | _leave(wide, who, closing(model, wide, h, result), 1)
    _scatter(wide, words, who, slots)
    _end(model, wide, result, result, h, to)
    return alone
