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
from .joints import find_pushes
from .solve import push_free, weigh


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
