"""The factor L L^T of a symmetric positive matrix of blocks, one for each tree that touches something.

The order of elimination is that of least degree, found anew when the pattern has changed; blocks are dense. Source: George and
Liu 1989, The evolution of the minimum degree ordering algorithm; the blocks are those of a supernode each.

``node_of_tree`` and ``tree_of_node`` number trees by their place in the order. Of column k, ``values`` has the block of the
diagonal at ``diagonal_value[k]``, and the blocks of the rows ``row[e]`` at ``first_value[e]``, e from ``first_row[k]`` to
``first_row[k + 1]``, in rising order, each by rows.
"""

from __future__ import annotations

from typing import Any

from ...compiling import generic
from . import space as names


@generic
def size_of(space: Any, node: int) -> int:
    """The number of speeds of a node."""
    t = space.tree_of_node[node]
    return space.first_speed[t + 1] - space.first_speed[t]


@generic
def find_pattern(space: Any) -> None:
    """Number the trees that touch, and lay out the factor; ``counts`` say what room that needs."""
    counts, pairs = space.counts, space.pairs
    trees = space.node_of_tree.shape[0]
    pattern, filled = space.pattern, space.filled
    # which trees touch, and each other: kept from one step to the next, as long as it is the same
    for a in range(trees):
        for b in range(trees):
            filled[a, b] = 0
    for i in range(counts[names.POINTS]):
        a, b = pairs[i, names.TREE_1], pairs[i, names.TREE_2]
        if a >= 0:
            filled[a, a] = 1
        if b >= 0:
            filled[b, b] = 1
        if a >= 0 and b >= 0 and a != b:
            filled[a, b] = filled[b, a] = 1
    same = counts[names.HAS_PATTERN] == 1
    for a in range(trees):
        for b in range(trees):
            if pattern[a, b] != filled[a, b]:
                pattern[a, b] = filled[a, b]
                same = False
    if not same:
        _eliminate(space, trees)


@generic
def _eliminate(space: Any, trees: int) -> None:
    """The order of least degree, and the rows of each column."""
    counts, filled, degree = space.counts, space.filled, space.degree
    order, position = space.tree_of_node, space.node_of_tree
    nodes, rows, room = 0, 0, space.row.shape[0]
    for a in range(trees):
        position[a] = -1
        degree[a] = -1
        if filled[a, a] == 1:
            degree[a] = -1
            for b in range(trees):
                degree[a] += filled[a, b]
    while True:
        best = -1
        for a in range(trees):
            if degree[a] >= 0 and position[a] < 0 and (best < 0 or degree[a] < degree[best]):
                best = a
        if best < 0:
            break
        begin = rows
        for b in range(trees):
            if b != best and filled[best, b] == 1 and position[b] < 0:
                if rows < room:
                    space.row[rows] = b
                rows += 1
        if rows <= room:
            for i in range(begin, rows):
                a = space.row[i]
                degree[a] -= 1
                for j in range(begin, i):
                    b = space.row[j]
                    if filled[a, b] == 0:
                        filled[a, b] = filled[b, a] = 1
                        degree[a] += 1
                        degree[b] += 1
        position[best] = nodes
        order[nodes] = best
        space.first_row[nodes] = begin
        nodes += 1
    space.first_row[nodes] = rows
    counts[names.NODES] = nodes
    counts[names.NEED_ROWS] = rows
    counts[names.HAS_PATTERN] = 0
    if rows > room:
        counts[names.NEED_VALUES] = 0
        return
    at = 0
    for k in range(nodes):
        n = size_of(space, k)
        space.diagonal_value[k] = at
        at += n * n
        begin, end = space.first_row[k], space.first_row[k + 1]
        for e in range(begin, end):  # by place in the order, rising
            node, j = position[space.row[e]], e
            while j > begin and space.row[j - 1] > node:
                space.row[j] = space.row[j - 1]
                j -= 1
            space.row[j] = node
        for e in range(begin, end):
            space.first_value[e] = at
            at += n * size_of(space, space.row[e])
    counts[names.NEED_VALUES] = at
    counts[names.HAS_PATTERN] = 1


@generic
def place_of(space: Any, row: int, column: int) -> int:
    """Where the values of a block below the diagonal are."""
    e = space.first_row[column]
    while space.row[e] != row:
        e += 1
    return space.first_value[e]


@generic
def dense_cholesky(x: Any, at: int, n: int, column: Any) -> None:
    """The lower half of n rows of n from x[at] on becomes its factor, with the inverse of the diagonal on the diagonal.

    *column* is scratch: so that the inner loop runs along rows of both, and several entries are computed at once.
    """
    for k in range(n):
        inverse = 1.0 / max(x[at + k * n + k], 1e-300) ** 0.5
        x[at + k * n + k] = inverse
        for i in range(k + 1, n):
            value = x[at + i * n + k] * inverse
            x[at + i * n + k] = value
            column[i] = value
            row = at + i * n
            for j in range(k + 1, i + 1):
                x[row + j] -= value * column[j]


@generic
def dense_forward(x: Any, at: int, n: int, right: Any, first: int) -> None:
    """Right becomes L^-1 right."""
    for i in range(n):
        row = at + i * n
        total = right[first + i]
        for k in range(i):
            total -= x[row + k] * right[first + k]
        right[first + i] = total * x[row + i]


@generic
def dense_backward(x: Any, at: int, n: int, right: Any, first: int) -> None:
    """Right becomes L^-T right."""
    for i in range(n - 1, -1, -1):
        row = at + i * n
        total = right[first + i] * x[row + i]
        right[first + i] = total
        for k in range(i):
            right[first + k] -= x[row + k] * total


@generic
def factor(space: Any) -> None:
    """The values become those of L."""
    values = space.values
    for k in range(space.counts[names.NODES]):
        n, at = size_of(space, k), space.diagonal_value[k]
        dense_cholesky(values, at, n, space.vectors[names.COLUMN])
        begin, end = space.first_row[k], space.first_row[k + 1]
        for e in range(begin, end):  # L_ik = A_ik L_kk^-T
            block = space.first_value[e]
            for r in range(size_of(space, space.row[e])):
                dense_forward(values, at, n, values, block + r * n)
        for e in range(begin, end):
            i, block = space.row[e], space.first_value[e]
            rows = size_of(space, i)
            for d in range(begin, e):
                j = space.row[d]
                _subtract(values, place_of(space, i, j), block, rows, space.first_value[d], size_of(space, j), n)
            _subtract(values, space.diagonal_value[i], block, rows, block, rows, n)


@generic
def _subtract(values: Any, out: int, a: int, rows: int, b: int, columns: int, n: int) -> None:
    """The block at *out* loses A B^T."""
    if n == 6:  # a free body
        for i in range(rows):
            p = a + 6 * i
            x0, x1, x2 = values[p], values[p + 1], values[p + 2]
            x3, x4, x5 = values[p + 3], values[p + 4], values[p + 5]
            for j in range(columns):
                q = b + 6 * j
                values[out + i * columns + j] -= (
                    x0 * values[q]
                    + x1 * values[q + 1]
                    + x2 * values[q + 2]
                    + x3 * values[q + 3]
                    + x4 * values[q + 4]
                    + x5 * values[q + 5]
                )
        return
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(n):
                total += values[a + i * n + k] * values[b + j * n + k]
            values[out + i * columns + j] -= total


@generic
def solve_factored(space: Any, x: Any) -> None:
    """x becomes the solution, in the order of trees."""
    values, nodes = space.values, space.counts[names.NODES]
    for k in range(nodes):
        n, first = size_of(space, k), space.first_speed[space.tree_of_node[k]]
        dense_forward(values, space.diagonal_value[k], n, x, first)
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other = space.first_speed[space.tree_of_node[i]]
            for r in range(size_of(space, i)):
                total = 0.0
                for c in range(n):
                    total += values[block + r * n + c] * x[first + c]
                x[other + r] -= total
    for k in range(nodes - 1, -1, -1):
        n, first = size_of(space, k), space.first_speed[space.tree_of_node[k]]
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other = space.first_speed[space.tree_of_node[i]]
            for r in range(size_of(space, i)):
                y = x[other + r]
                for c in range(n):
                    x[first + c] -= values[block + r * n + c] * y
        dense_backward(values, space.diagonal_value[k], n, x, first)


__all__ = [
    "dense_backward",
    "dense_cholesky",
    "dense_forward",
    "factor",
    "find_pattern",
    "place_of",
    "size_of",
    "solve_factored",
]
