"""The arrays that stepping works in: made when a run begins, and again, larger, when more touches than there is room for.

Speeds are numbered tree by tree here: a tree is a body on Ground with all that is outboard of it, and its speeds are a run,
inboard ones first. Symmetric matrices of a tree have rows along paths: row k has the entries of the speeds above k, from
Ground on, and its own as the last. ``above[k]`` is the nearest of these, ``depth[k]`` how many there are, ``first_entry[k]``
where the row begins in ``mass`` and in the diagonal blocks of ``values``, ``column`` whose the entries are. Above k are
the speeds inboard of it, with which alone its mass matrix couples it; and where points couple two branches of a tree, one
branch is put above the other, so that the factor has no entries elsewhere. Source: Featherstone 2005, Int. J. Robotics
Research 24, 487.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...algebra.pointers import (
    WORDS,
    arrays_of,
    block_of,
    bytes1,
    bytes2,
    integers1,
    integers2,
    layout_of,
    numbers1,
    numbers2,
    numbers3,
)
from ...algebra.record import LANES, aligned_zeros
from ...compiling import compiled, generic

# places in `counts`: what there is in this step ...
(
    POINTS, COLUMNS, NODES, ROWS_OF_FACTOR, VALUES, KEPT, PAIRS, HAS_PATTERN,
    # ... what there was in the run: problems, outer iterations, Newton's steps, problems that did not reach the tolerance
    PROBLEMS, OUTER, NEWTON, UNCONVERGED,
    # ... what has to have room: points, columns, rows and values of the factor
    NEED_POINTS, NEED_COLUMNS, NEED_ROWS, NEED_VALUES,
    # ... the two surfaces of the point with the largest residual
    WORST_1, WORST_2,
    # ... the address of what Python does in place of `step_one`, 0 for nothing, and 1 where it has taken the last step
    BY_PYTHON, IS_PYTHONS,
) = range(20)  # fmt: skip
COUNTS_SIZE = 20
# places in `measures`: residual of the last problem, the largest in the run, each as a velocity; and as parts of the largest
# velocity there
RESIDUAL, LARGEST, RELATIVE, LARGEST_RELATIVE = range(4)
# ... the size of the step whose impulses are kept, and that of the step to be taken
LAST_STEP, SIZE = 4, 5
MEASURES_SIZE = 6

#: What a step returns beside 0: the space is too small; the impulses have not been found; a gap of unilateral contacts closes.
NO_ROOM, NO_IMPULSES, CLOSES = 10, 11, 12

# columns of `pairs`: surfaces; trees of their bodies, -1 for Ground; where the coefficients of the first one begin, those of
# the second, and one past these; the element's place among the stepped ones; what the row is; the contact that it is of
FIRST, SECOND, TREE_1, TREE_2, BEGIN, MIDDLE, END, ELEMENT, KIND, OF = range(10)
PAIRS_WIDTH = 10
# kinds: a contact; resistance to rolling, and to spinning, of one; two equations of a constraint, which is the first of
# `pairs`, from the row on that is the second; a unilateral contact, or friction of known normal force, by its constraint;
# rows that are given, see `given_rows`
CONTACT, ROLLING, SPINNING, EQUATIONS, GAP, STICK, GIVEN = range(7)
# columns of `points`: the point (3) in Ground; the frame of rows: normal, two tangents
POINT, FRAME = 0, 3
# ... depth, friction, compliance along the normal, the speed aimed at, a = mu |v_t|, its derivative's part
DEPTH, FRICTION, COMPLIANCE, TARGET, SHIFT, RATIO = range(12, 18)
# ... the size of W, the proximal method's r, v and its change along a step (3 each)
SCALE, R, IMPULSE, CENTER, V, CHANGE = 18, 19, 20, 23, 26, 29
# ... the derivative of the impulse by -v: nn, na, nb, aa, ab, bb, and an, bn where it is not symmetric
SLOPE = 32
# ... a of the proximal step before, and mu |v_t| that came of it
SHIFT_BEFORE, FOUND_BEFORE = 40, 41
# ... what it does in Newton's method on Coulomb's law
DOES = 42
# of resistance: the largest impulse, by the normal one, which contacts have below zero; it as a part of the normal impulse; the
# length that makes an angular velocity a velocity
LIMIT, ARM, LENGTH = 43, 44, 45
# what J u lacks of a row's velocities (3): those of materials that move along surfaces, and of prescribed motion
DRIFT = 46
# 1 / the size of W, and 1 / (1 + mu^2)
BY_SCALE, BY_CONE = 49, 50
# 1 where the error of a gap's constraint is the gap, -1 where it is minus that
SIGN_OF_GAP = 51
WIDTH = 52

# columns of `gaps`: the constraint of the gap, the sign of its error, 1 where edges may pass beside each other, the constraint
# with the rows of slip too, the address of the block of its coefficients, 1 where it takes part in this step
CLOSED_BY, SIGN, BESIDE, ROWS, NUMBERS, TAKES_PART = range(6)
GAPS_WIDTH = 6

# rows of `vectors`, in the order of trees: u + h udot without contact; u; M (v - that); the gradient, then Newton's step;
# M times this; the diagonal of M; scratch; the speeds found; what joints add to the diagonal of M, and to momentum; the
# speeds of coordinates within the step
FREE, SPEED, MOMENTUM, STEP, PUSHED, DIAGONAL, SCRATCH, NEW, ADDED, PUSH, MOVING = range(11)

#: To begin with.
_ROOM = 64
#: Points that a state may have to be solved beside others.
MOST_IN_LANES = 16


class Space(NamedTuple):
    """Arrays that kernels of stepping share, see the names above."""

    counts: Any
    measures: Any
    #: (k, 2): force elements, and 1 where these are rigid.
    elements: Any
    #: Forces on single mobilities, as in `force.slopes`.
    joints: Any
    tree_of_body: Any
    place_of_speed: Any
    #: (nt + 1,): where a tree's speeds begin.
    first_speed: Any
    #: (nu,): the speed inboard of each, -1 where there is none; what is above it by what touches, before and now; what is
    #: above it in the rows.
    inboard: Any
    wanted: Any
    found_above: Any
    above: Any
    depth: Any
    first_entry: Any
    column: Any
    #: (nt,): 1 where a tree's mass matrix is needed.
    weighed: Any
    mass: Any
    factor_of_mass: Any
    vectors: Any
    #: (3, ny): ends of steps that are tried.
    tries: Any
    keys: Any
    pairs: Any
    points: Any
    columns: Any
    coefficients: Any
    kept_keys: Any
    kept: Any
    slots: Any
    # ---- the sparse factor: nodes are trees that touch something, numbered as they are eliminated
    node_of_tree: Any
    tree_of_node: Any
    pattern: Any
    filled: Any
    degree: Any
    first_row: Any
    row: Any
    first_value: Any
    values: Any
    mirrored: Any
    #: Paths of constraints, see `equations.find_ties`; unilateral contacts.
    ties: Any
    gaps: Any
    #: Constraints of friction whose normal force is known, and this force with the coefficients.
    sticks: Any
    stick_numbers: Any
    #: Its own block, see `algebra.pointers`.
    words: Any


def make_space(
    fields: Any,
    ny: int,
    elements: Sequence[tuple[int, int]],
    joints: Any,
    ties: Any,
    gaps: Sequence[Sequence[int]],
    sticks: Sequence[tuple[int, Sequence[float]]],
    room: tuple[int, int] | None = None,
    in_one: bool = False,
) -> Space:
    """For a tree of bodies, force elements whose surfaces are stepped, forces on single mobilities, constraints and gaps.

    *sticks* are constraints of friction whose normal force is known, each with that and the coefficients. There is *room* for
    so many points and columns. With *in_one* all bodies are one tree, whose speeds are in the model's order, and whose points
    may have columns anywhere. What is returned is without its block.
    """
    points, columns = room or (_ROOM, 8 * _ROOM)
    parents, first_u, num_u = fields["parent"], fields["first_u"], fields["num_u"]
    nb, nu = len(parents), int(num_u.sum())
    tree_of_body = np.full(nb, -1, np.int64)
    trees = 0
    for b in range(1, nb):
        if parents[b] == 0 and not (in_one and trees):
            tree_of_body[b], trees = trees, trees + 1
        else:
            tree_of_body[b] = 0 if in_one else tree_of_body[parents[b]]
    sizes = np.zeros(trees, np.int64)
    within = np.zeros(nu, np.int64)
    for b in range(1, nb):
        t = tree_of_body[b]
        for i in range(int(first_u[b]), int(first_u[b] + num_u[b])):
            within[i] = sizes[t]
            sizes[t] += 1
    first_speed = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    place = within
    for b in range(1, nb):
        place[int(first_u[b]) : int(first_u[b] + num_u[b])] += first_speed[tree_of_body[b]]
    inboard = np.full(nu, -1, np.int64)
    last = np.full(nb, -1, np.int64)  # the last speed of each body, or of the nearest inboard one that has some
    for b in range(1, nb):
        last[b] = last[parents[b]]
        for i in range(int(first_u[b]), int(first_u[b] + num_u[b])):
            inboard[place[i]] = last[b]
            last[b] = place[i]
    masses = int((sizes * (sizes + 1) // 2).sum())
    return Space(
        np.zeros(COUNTS_SIZE, np.int64),
        np.zeros(MEASURES_SIZE),
        np.array(elements, np.int64).reshape(-1, 2),
        joints,
        tree_of_body,
        place,
        first_speed,
        inboard,
        inboard.copy(),
        inboard.copy(),
        *_rows_along(inboard, masses),
        np.zeros(trees, np.uint8),
        np.zeros(masses),
        np.zeros(masses),
        np.zeros((11, nu)),
        np.zeros((3, ny)),
        *_of_points(points),
        *_of_columns(columns),
        np.zeros(points, np.int64),
        np.zeros((points, 4)),
        np.full(4 * _ROOM, -1, np.int64),
        np.zeros(trees, np.int64),
        np.zeros(trees, np.int64),
        np.zeros((trees, trees), np.uint8),
        np.zeros((trees, trees), np.uint8),
        np.zeros(trees, np.int64),
        np.zeros(trees + 1, np.int64),
        np.zeros(_ROOM, np.int64),
        np.zeros(_ROOM, np.int64),
        np.zeros(masses + _ROOM),
        np.zeros(masses + _ROOM),
        ties,
        np.array(gaps, np.int64).reshape(-1, GAPS_WIDTH),
        np.array([c for c, _ in sticks], np.int64),
        np.array([numbers for _, numbers in sticks], np.float64).reshape(-1, 4),
        np.zeros(0, np.int64),
    )


def _rows_along(above: Any, most: int) -> tuple[Any, Any, Any, Any]:
    """``above, depth, first_entry, column`` for rows along the paths that are given, with room for *most* entries."""
    depth, first_entry, column = np.zeros(len(above), np.int64), np.zeros(len(above) + 1, np.int64), np.zeros(most, np.int64)
    find_rows_along(above, depth, first_entry, column)
    return above.copy(), depth, first_entry, column


@generic
def find_rows_along(above: Any, depth: Any, first_entry: Any, column: Any) -> None:
    """Lay out rows by what is above each speed."""
    at = 0
    for k in range(above.shape[0]):
        n = 0
        up = above[k]
        if up >= 0:
            n = depth[up] + 1
            for d in range(n):
                column[at + d] = column[first_entry[up] + d]
        depth[k], first_entry[k] = n, at
        column[at + n] = k
        at += n + 1
    first_entry[above.shape[0]] = at


#: Places of arrays in a space's block.
MEASURES, TRIES = Space._fields.index("measures"), Space._fields.index("tries")


_INTEGERS = dict.fromkeys(Space._fields, integers1) | dict.fromkeys(("elements", "joints", "pairs", "ties", "gaps"), integers2)
_BYTES = {"weighed": bytes1, "pattern": bytes2, "filled": bytes2}
_NUMBERS = {
    **dict.fromkeys(("measures", "mass", "factor_of_mass", "values", "mirrored"), numbers1),
    **dict.fromkeys(("vectors", "tries", "points", "coefficients", "kept", "stick_numbers"), numbers2),
}
#: Of the block of one state's space, and of eight states'.
_ONE = layout_of(Space, _INTEGERS | _BYTES | _NUMBERS)
_EIGHT = layout_of(Space, _INTEGERS | _BYTES | dict.fromkeys(_NUMBERS, numbers3))


@generic
def space_at(block: int) -> Space:
    """The space of one state whose block is at an address."""
    return arrays_of(block, _ONE)


@generic
def wide_at(block: int) -> Space:
    """The space of eight states whose block is at an address."""
    return arrays_of(block, _EIGHT)


#: The places in a block, from its end, of the addresses of what steps a state with the space, and of what solves for impulses.
ROUTINE, SOLVER = 2, 1


@generic
def address_in(words: Any) -> int:
    """The address of a block, which says where the block itself is, too."""
    return words[words.shape[0] - WORDS]


@generic
def address_of(space: Space) -> int:
    """The same, by the space that has the block."""
    return address_in(space.words)


def with_block(space: Space, routine: int = 0, solver: int = 0) -> Space:
    """With its block, for those that it is handed on to by address, and those of `step.step_one` and `solve.solve`."""
    block = np.concatenate([block_of(space[:-1]), np.zeros(WORDS, np.int64)])
    block[-WORDS], block[1 - WORDS], block[-ROUTINE], block[-SOLVER] = block.ctypes.data, len(block), routine, solver
    return space._replace(words=block)


def _routines(space: Space) -> tuple[int, int]:
    return int(space.words[-ROUTINE]), int(space.words[-SOLVER])


def copy_of(space: Space) -> Space:
    """One like it, with arrays of its own."""
    return with_block(Space(*(array.copy() for array in space)), *_routines(space))


def widened(space: Space) -> Space:
    """One like it for eight states, with room for `MOST_IN_LANES` points of each."""
    n, nu = 8 * MOST_IN_LANES, len(space.inboard)
    keys, pairs, points = _of_points(n)
    columns, coefficients = _of_columns(n * max(1, nu))
    made = space._replace(keys=keys, pairs=pairs, points=points, columns=columns, coefficients=coefficients)
    numbers = {
        name: aligned_zeros(*(array.shape if array.ndim == 2 else (len(array), 1)), LANES)
        for name, array in zip(Space._fields, made, strict=True)
        if array.dtype == np.float64
    }
    integers = {name: array.copy() for name, array in zip(Space._fields, made, strict=True) if array.dtype != np.float64}
    return with_block(Space(**numbers, **integers))


@compiled
def clear(address: int) -> None:
    """As it was made: nothing is known of steps before. The *address* is its block's, see `address_of`."""
    space = space_at(address)
    for i in range(space.counts.shape[0]):
        space.counts[i] = 0
    for i in range(space.measures.shape[0]):
        space.measures[i] = 0.0
    for k in range(space.inboard.shape[0]):
        space.wanted[k] = space.found_above[k] = space.above[k] = space.inboard[k]
    find_rows_along(space.above, space.depth, space.first_entry, space.column)


def _of_points(n: int) -> tuple[Any, Any, Array]:
    return np.zeros(n, np.int64), np.zeros((n, PAIRS_WIDTH), np.int64), np.zeros((n, WIDTH))


def _of_columns(n: int) -> tuple[Any, Array]:
    return np.zeros(n, np.int64), np.zeros((3, n))


def with_room(space: Space, points: int, columns: int) -> Space:
    """With room for so many, and nothing remembered; itself where it has that."""
    if points <= len(space.keys) and columns <= len(space.columns):
        return space
    keys, pairs, numbers = _of_points(points)
    where, coefficients = _of_columns(columns)
    space = space._replace(keys=keys, pairs=pairs, points=numbers, columns=where, coefficients=coefficients)
    return with_block(space, *_routines(space))


def enlarged(space: Space) -> Space:
    """With room for what is needed, and half as much again; what is remembered of the last step stays."""
    counts = space.counts
    if counts[NEED_POINTS] > len(space.keys):
        n = int(1.5 * counts[NEED_POINTS]) + 8
        keys, pairs, points = _of_points(n)
        slots = 1 << int(np.ceil(np.log2(4 * n)))
        kept_keys, kept = np.zeros(n, np.int64), np.zeros((n, 4))
        kept_keys[: len(space.kept_keys)], kept[: len(space.kept)] = space.kept_keys, space.kept
        space = space._replace(
            keys=keys, pairs=pairs, points=points, kept_keys=kept_keys, kept=kept, slots=np.full(slots, -1, np.int64)
        )  # impulses are not recalled once
    if counts[NEED_COLUMNS] > len(space.columns):
        columns, coefficients = _of_columns(int(1.5 * counts[NEED_COLUMNS]))
        space = space._replace(columns=columns, coefficients=coefficients)
    if counts[NEED_ROWS] > len(space.row):
        n = int(1.5 * counts[NEED_ROWS])
        space = space._replace(row=np.zeros(n, np.int64), first_value=np.zeros(n, np.int64))
        counts[HAS_PATTERN] = 0
    if counts[NEED_VALUES] > len(space.values):
        n = int(1.5 * counts[NEED_VALUES])
        space = space._replace(values=np.zeros(n), mirrored=np.zeros(n))
    return with_block(space, *_routines(space))
