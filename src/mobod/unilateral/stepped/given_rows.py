"""Rows of any kind, of any columns, for the solver: what touches where an impact is, and in steps that kernels do not know.

All bodies are one tree of the space. Blocks are contacts, of one row, or of three with friction, and then others with up to two
rows, of an impulse no longer than a limit: friction of a known normal force, or without bound an equation.
"""

from __future__ import annotations

from typing import Any

from ...algebra.record import attach, call_routine
from ...compiling import compiled, generic
from ...tree.prescribed_mobilities import SOLVED
from . import block_factor as sparse, space as names
from .equations import ROUNDING
from .joints import find_pushes
from .solve import push_free, weigh

#: What `strike` comes to: impacts that have driven apart what touches, or not after so many rounds, or without a solution.
DRIVEN_APART, NOT_APART, NOT_FOUND = range(3)
# rows of its work: what is taken together, velocities and impulses of a part of it, and of what rows are coupled
_GAMMA, _AFTER, _BACK, _MORE, _FREE, _GROUP, _PART = range(7)
STRIKE_WORK = 7
#: A rate of approach that is none, as a part of the largest velocity before impacts.
_NO_RATE = 1e-9


@compiled
def find_push(block: Any, address: int, h: float, push: Any) -> bool:
    """The change of speeds within a step by springs and dampers of joints (`joints`); False where there are none."""
    model, space = attach(block), names.space_at(address)
    for i in range(model.nu):
        space.vectors[names.FREE, i] = 0.0
    if not find_pushes(model, space, h):
        return False
    weigh(model, space)
    push_free(space)
    for i in range(model.nu):
        push[i] = space.vectors[names.FREE, i]
    return True


@generic
def _put_columns(model: Any, space: Any, J: Any, starts: Any, contacts: int, begins: Any) -> None:
    """The rows' columns that are not zero, but for those of prescribed speeds."""
    at, pairs = 0, space.pairs
    for k in range(starts.shape[0] - 1):
        begins[k] = at
        first, n = starts[k], starts[k + 1] - starts[k]
        for b in range(1, model.nb):
            if model.prescribed[b] != SOLVED:
                continue
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                size = 0.0
                for j in range(n):
                    size += abs(J[first + j, i])
                if size == 0.0:
                    continue
                for j in range(3):
                    space.coefficients[j, at] = 0.0
                shift = _shift(k, n, contacts)
                for j in range(n):
                    space.coefficients[shift + j, at] = J[first + j, i]
                space.columns[at] = i
                at += 1
        begins[k + 1] = at
        _put_block(pairs, k, k, begins)


@generic
def _shift(k: int, n: int, contacts: int) -> int:
    """The first of a point's three rows of the n that block k has: contacts alone have a normal."""
    if k < contacts:
        return 0
    return 3 - n


@generic
def _put_block(pairs: Any, i: int, k: int, begins: Any) -> None:
    """Point i is block k."""
    pairs[i, names.FIRST], pairs[i, names.SECOND], pairs[i, names.OF] = k, k, i
    pairs[i, names.TREE_1], pairs[i, names.TREE_2], pairs[i, names.KIND] = 0, 0, names.GIVEN
    pairs[i, names.BEGIN], pairs[i, names.MIDDLE], pairs[i, names.END] = begins[k], begins[k], begins[k + 1]


@compiled
def lay_out(block: Any, address: int, J: Any, starts: Any, contacts: int, begins: Any, MinvJT: Any, W: Any) -> None:
    """Rows J ``(m, nu)``, from ``starts[k]`` on those of block k, become points' columns; and M^-1 J^T, and J M^-1 J^T."""
    model, space = attach(block), names.space_at(address)
    space.counts[names.POINTS] = starts.shape[0] - 1
    _put_columns(model, space, J, starts, contacts, begins)
    sparse.find_pattern(space)
    space.weighed[0] = 1
    weigh(model, space)
    x = space.vectors[names.SCRATCH]
    for k in range(starts.shape[0] - 1):
        for i in range(starts[k], starts[k + 1]):
            for c in range(model.nu):
                x[c] = 0.0
            for c in range(begins[k], begins[k + 1]):
                x[space.columns[c]] = J[i, space.columns[c]]
            sparse.solve_tree(space, space.factor_of_mass, 0, names.SCRATCH)
            for c in range(model.nu):
                MinvJT[c, i] = x[c]
    for k in range(starts.shape[0] - 1):
        for i in range(starts[k], starts[k + 1]):
            for j in range(i + 1):
                total = 0.0
                for c in range(begins[k], begins[k + 1]):
                    total += J[i, space.columns[c]] * MinvJT[space.columns[c], j]
                W[i, j] = W[j, i] = total


@compiled
def solve_rows(
    block: Any, address: int, blocks: Any, starts: Any, contacts: int, begins: Any, laws: Any, b: Any, gamma: Any
) -> bool:
    """*gamma*, where to begin, becomes the impulses of some *blocks*, of which *b* are the velocities without; whether found.

    Of each block *laws* have the coefficient of friction, the limit, -1 of contacts, the compliance, and the speed aimed at.
    """
    model, space = attach(block), names.space_at(address)
    points = space.points
    for i in range(blocks.shape[0]):
        k = blocks[i]
        _put_block(space.pairs, i, k, begins)
        for j in range(names.WIDTH):
            points[i, j] = 0.0
        points[i, names.FRICTION], points[i, names.LIMIT] = laws[k, 0], laws[k, 1]
        points[i, names.COMPLIANCE], points[i, names.TARGET] = laws[k, 2], laws[k, 3]
        shift = _shift(k, starts[k + 1] - starts[k], contacts)
        for j in range(starts[k], starts[k + 1]):
            points[i, names.IMPULSE + shift + j - starts[k]] = gamma[j]
            points[i, names.DRIFT + shift + j - starts[k]] = b[j]
    space.counts[names.POINTS] = blocks.shape[0]
    for i in range(model.nu):
        space.vectors[names.FREE, i] = space.vectors[names.SPEED, i] = 0.0
    found = call_routine(space.words[space.words.shape[0] - names.SOLVER], model, address, 0) == 1
    for i in range(blocks.shape[0]):
        k = blocks[i]
        shift = _shift(k, starts[k + 1] - starts[k], contacts)
        for j in range(starts[k], starts[k + 1]):
            gamma[j] = points[i, names.IMPULSE + shift + j - starts[k]]
    return found


# -------------------------------------------------------------------------------------------- impacts


@generic
def _add_product(W: Any, x: Any, y: Any) -> None:
    """y += W x."""
    for i in range(W.shape[0]):
        total = 0.0
        for j in range(W.shape[0]):
            total += W[i, j] * x[j]
        y[i] += total


@generic
def _some(problem: Any, taken: Any, laws: Any, b: Any, gamma: Any) -> bool:
    """*gamma* becomes the impulses of the blocks that are *taken*, of which b are the velocities without; whether found."""
    block, address, starts, contacts, begins, blocks = problem
    count = 0
    for i in range(gamma.shape[0]):
        gamma[i] = 0.0
    for k in range(taken.shape[0]):
        if taken[k] != 0:
            blocks[count] = k
            count += 1
    if count == 0 or attach(block).nu == 0:
        return True
    found: bool = solve_rows(block, address, blocks[:count], starts, contacts, begins, laws, b, gamma)
    return found


@generic
def _couple(W: Any, starts: Any, gamma: Any, back: Any, group: Any) -> None:
    """A number of each row, the same for rows that act and change each other's velocities, directly or by others."""
    for i in range(W.shape[0]):
        group[i] = float(i)
    changed = True
    while changed:
        changed = False
        for k in range(starts.shape[0] - 1):
            for i in range(starts[k], starts[k + 1]):
                acts = gamma[i] != 0.0 or back[i] != 0.0
                for j in range(W.shape[0]):
                    tied = acts and (gamma[j] != 0.0 or back[j] != 0.0)
                    tied = tied and abs(W[i, j]) > ROUNDING * (W[i, i] ** 0.5 * W[j, j] ** 0.5)
                    if (tied or starts[k] <= j < starts[k + 1]) and group[j] < group[i]:
                        group[i], changed = group[j], True


@generic
def _keep_energy(W: Any, starts: Any, v: Any, work: Any) -> None:
    """Shorten expanding impulses that leave more energy than there was, of what is coupled by itself.

    Impulses gamma, from v to those AFTER, bring gamma^T (v + after) / 2, which is below zero, and s times back bring
    s back^T after + s^2 back^T W back / 2. Equal restitutions without friction bring e^2 of what was taken.
    """
    gamma, after, back, pushed, group, part = work[_GAMMA], work[_AFTER], work[_BACK], work[_MORE], work[_GROUP], work[_PART]
    m, least, any_gain = W.shape[0], 0.0, False
    for i in range(m):
        pushed[i], part[i] = 0.0, 1.0
        least += ROUNDING * abs(gamma[i] * v[i])
    _add_product(W, back, pushed)
    for i in range(m):
        any_gain = any_gain or 0.5 * (gamma[i] * (v[i] + after[i]) + back[i] * (2.0 * after[i] + pushed[i])) > least
    if not any_gain:
        return
    _couple(W, starts, gamma, back, group)
    for one in range(m):
        taken = once = square = 0.0
        for i in range(m):
            if group[i] == float(one):
                taken -= 0.5 * gamma[i] * (v[i] + after[i])
                once += back[i] * after[i]
                square += back[i] * pushed[i]
        if once + 0.5 * square - taken > least:
            for i in range(m):
                if group[i] == float(one):
                    part[i] = 2.0 * taken / (once + (once * once + 2.0 * square * taken) ** 0.5)
    for i in range(m):
        back[i] *= part[i]


@generic
def _expand(problem: Any, law: Any, W: Any, work: Any, struck: Any) -> bool:
    """Add the friction and the bilateral impulses that go with the normal impulses BACK; whether these are found."""
    starts, contacts = problem[2], problem[3]
    laws, own_laws, free, back, more = law[0], law[1], work[_FREE], work[_BACK], work[_MORE]
    for i in range(free.shape[0]):
        free[i] = work[_AFTER, i]
    _add_product(W, back, free)
    for k in range(laws.shape[0]):
        for i in range(laws.shape[1]):
            own_laws[k, i] = laws[k, i]
        if k < contacts:
            own_laws[k, 1] = laws[k, 0] * back[starts[k]]
            if starts[k + 1] - starts[k] == 1:
                struck[k] = 0
    found = _some(problem, struck, own_laws, free, more)
    for i in range(back.shape[0]):
        back[i] += more[i]
    return found


@compiled
def strike(
    block: Any,
    address: int,
    rows: Any,
    laws: Any,
    bounces: Any,
    W: Any,
    taking: Any,
    v: Any,
    total: Any,
    work: Any,
    limits: Any,
) -> int:
    """Impacts at one instant: *v* becomes the velocities of rows after them, and *total* the impulses. See `Problem.strike`.

    *rows* are the first rows of blocks, the number of contacts and where columns begin; *laws* those of `solve_rows`, twice,
    for one to be changed; *bounces* restitutions and capture speeds; *taking* three rows of a number a block: 1 of what
    touches and of what takes part in any case, 1 of what is struck in the present round, and for places of blocks. *limits*
    are a rate of approach that is none, and the most rounds, after which what still approaches is stopped, or, where that is
    below zero, has no end; the number of rounds becomes the third, the first what was taken in its place. 1 becomes of what
    is struck that it stays: that it is no faster than its capture speed, or, after restitution, than a rate that is none, as
    one corner that stops may throw up another by a little, which comes back at once and throws up the first, and so on.
    """
    starts, contacts, begins = rows
    touches, struck, blocks = taking[0], taking[1], taking[2]
    problem = (block, address, starts, contacts, begins, blocks)
    m, tolerance = v.shape[0], limits[0]
    for i in range(m):
        total[i] = 0.0
        tolerance = max(tolerance, _NO_RATE * abs(v[i]))
    most, number = abs(limits[1]), 0.0
    while True:
        any_struck = has_friction = False
        for k in range(starts.shape[0] - 1):
            struck[k] = touches[k]
            if k < contacts:
                hit = touches[k] != 0 and bounces[k, 0] > 0.0 and v[starts[k]] < -max(bounces[k, 1], tolerance)
                struck[k] = 1 if hit else 0
                any_struck = any_struck or hit
                has_friction = has_friction or (hit and laws[0][k, 0] > 0.0)
            else:
                has_friction = has_friction or touches[k] != 0
        if not any_struck or (number == most and limits[1] >= 0.0):
            break
        if number == most:
            return NOT_APART
        gamma, after, back = work[_GAMMA], work[_AFTER], work[_BACK]
        if not _some(problem, struck, laws[0], v, gamma):
            return NOT_FOUND
        for i in range(m):
            after[i], back[i] = v[i], 0.0
        _add_product(W, gamma, after)
        for k in range(contacts):  # expansion: normal impulses are known, and limit friction
            if struck[k] != 0:
                back[starts[k]] = bounces[k, 0] * gamma[starts[k]]
        if has_friction and not _expand(problem, laws, W, work, struck):
            return NOT_FOUND
        _keep_energy(W, starts, v, work)
        for i in range(m):
            v[i] = after[i]
            total[i] += gamma[i] + back[i]
        _add_product(W, back, v)
        number += 1.0
    approaches = False
    for k in range(contacts):
        approaches = approaches or (touches[k] != 0 and v[starts[k]] < -tolerance)
    if approaches:
        if not _some(problem, touches, laws[0], v, work[_GAMMA]):
            return NOT_FOUND
        _add_product(W, work[_GAMMA], v)
        for i in range(m):
            total[i] += work[_GAMMA, i]
    limits[0], limits[2] = tolerance, number
    for k in range(contacts):
        slow = tolerance if number > 0.0 else max(bounces[k, 1], tolerance)
        struck[k] = 1 if touches[k] != 0 and v[starts[k]] <= slow else 0
    return DRIVEN_APART
