"""The factor of a symmetric positive matrix of blocks, one for each tree that touches something.

The order of elimination is that of least degree, larger trees before smaller ones, found anew when the pattern has changed.
Within a tree the speeds farthest out are eliminated first: a block of the diagonal becomes L^T L, with rows of L along
paths (`space`). Sources: George and Liu 1989, The evolution of the minimum degree ordering algorithm; Featherstone 2005 (the
factor of a tree); Liu 1990, The role of elimination trees (what a coupling between two branches puts above what).

``node_of_tree`` and ``tree_of_node`` number trees by their place in the order. Beside its block of the diagonal, column k of
the factor has in ``values`` the blocks of the rows ``row[e]`` at ``first_value[e]``, e from ``first_row[k]`` to
``first_row[k + 1]``, in rising order. A block lies column by column.
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
    counts, pairs, columns = space.counts, space.pairs, space.columns
    trees, nu = space.node_of_tree.shape[0], space.inboard.shape[0]
    pattern, filled, above = space.pattern, space.filled, space.found_above
    for k in range(nu):
        above[k] = space.inboard[k]
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
        begin, middle, end = pairs[i, names.BEGIN], pairs[i, names.MIDDLE], pairs[i, names.END]
        if a == b and begin < middle and middle < end:
            _put_above(above, columns[middle - 1], columns[end - 1])
    same = counts[names.HAS_PATTERN] == 1
    for a in range(trees):
        for b in range(trees):
            if pattern[a, b] != filled[a, b]:
                pattern[a, b] = filled[a, b]
                same = False
    for k in range(nu):
        if space.wanted[k] != above[k]:
            space.wanted[k] = above[k]
            same = False
    if not same:
        _eliminate(space, trees)


@generic
def _put_above(above: Any, a: int, b: int) -> None:
    """Let the paths of two speeds become one."""
    while a >= 0 and a != b:
        if a < b:
            a, b = b, a
        if above[a] < b:
            above[a], b = b, above[a]
        a = above[a]
        if b < 0:
            return


@generic
def _lay_out(space: Any) -> None:
    """Rows along paths; of a tree that gets something from one eliminated before all speeds are on one path."""
    above = space.above
    for k in range(above.shape[0]):
        above[k] = space.wanted[k]
    for e in range(space.first_row[space.counts[names.NODES]]):
        t = space.tree_of_node[space.row[e]]
        for k in range(space.first_speed[t] + 1, space.first_speed[t + 1]):
            above[k] = k - 1
    names.find_rows_along(above, space.depth, space.first_entry, space.column)


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
        best, size = -1, 0
        for a in range(trees):
            if degree[a] >= 0 and position[a] < 0:
                n = space.first_speed[a + 1] - space.first_speed[a]
                if best < 0 or degree[a] < degree[best] or (degree[a] == degree[best] and n > size):
                    best, size = a, n
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
    for k in range(nodes):
        begin, end = space.first_row[k], space.first_row[k + 1]
        for e in range(begin, end):  # by place in the order, rising
            node, j = position[space.row[e]], e
            while j > begin and space.row[j - 1] > node:
                space.row[j] = space.row[j - 1]
                j -= 1
            space.row[j] = node
    _lay_out(space)
    at = space.first_entry[space.inboard.shape[0]]
    for k in range(nodes):
        n = size_of(space, k)
        for e in range(space.first_row[k], space.first_row[k + 1]):
            space.first_value[e] = at
            at += n * size_of(space, space.row[e])
    counts[names.VALUES] = counts[names.NEED_VALUES] = at
    counts[names.HAS_PATTERN] = 1


@generic
def place_of(space: Any, row: int, column: int) -> int:
    """Where the values of a block below the diagonal are."""
    e = space.first_row[column]
    while space.row[e] != row:
        e += 1
    return space.first_value[e]


@generic
def factor_tree(space: Any, x: Any, t: int) -> None:
    """The rows of a tree in x become those of L, with the inverse of the diagonal on the diagonal."""
    first_entry, column = space.first_entry, space.column
    for k in range(space.first_speed[t + 1] - 1, space.first_speed[t] - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        inverse = 1.0 / max(x[row + n], 1e-300) ** 0.5
        x[row + n] = inverse
        for d in range(n):
            x[row + d] *= inverse
        for d in range(n):
            value, other = x[row + d], first_entry[column[row + d]]
            for e in range(d + 1):
                x[other + e] -= value * x[row + e]


@generic
def outward(space: Any, x: Any, t: int, right: Any) -> None:
    """Of the speeds of a tree, right becomes L^-1 right, from Ground on."""
    first_entry, column = space.first_entry, space.column
    for k in range(space.first_speed[t], space.first_speed[t + 1]):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        total = right[k]
        for d in range(n):
            total -= x[row + d] * right[column[row + d]]
        right[k] = total * x[row + n]


@generic
def inward(space: Any, x: Any, t: int, right: Any) -> None:
    """Of the speeds of a tree, right becomes L^-T right, from the last one on."""
    first_entry, column = space.first_entry, space.column
    for k in range(space.first_speed[t + 1] - 1, space.first_speed[t] - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        total = right[k] * x[row + n]
        right[k] = total
        for d in range(n):
            right[column[row + d]] -= x[row + d] * total


@generic
def factor(space: Any) -> None:
    """The values become those of L."""
    values = space.values
    for k in range(space.counts[names.NODES]):
        t, n = space.tree_of_node[k], size_of(space, k)
        factor_tree(space, values, t)
        begin, end = space.first_row[k], space.first_row[k + 1]
        for e in range(begin, end):
            _eliminate_from(space, t, space.first_value[e], size_of(space, space.row[e]))
        for e in range(begin, end):
            i, block = space.row[e], space.first_value[e]
            rows = size_of(space, i)
            for d in range(begin, e):
                j = space.row[d]
                _subtract(values, place_of(space, i, j), space.first_value[d], size_of(space, j), block, rows, n)
            _subtract_own(space, space.tree_of_node[i], block, rows, n)


@generic
def _eliminate_from(space: Any, t: int, block: int, rows: int) -> None:
    """A block A of other rows by the speeds of a tree becomes A L^-1."""
    values, first_entry, column, first = space.values, space.first_entry, space.column, space.first_speed[t]
    for k in range(space.first_speed[t + 1] - 1, first - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        own, inverse = block + (k - first) * rows, values[row + n]
        for r in range(rows):
            values[own + r] *= inverse
        for d in range(n):
            value, other = values[row + d], block + (column[row + d] - first) * rows
            for r in range(rows):
                values[other + r] -= value * values[own + r]


@generic
def _subtract(values: Any, out: int, a: int, columns: int, b: int, rows: int, n: int) -> None:
    """The block at *out*, of *rows* by *columns*, loses B A^T, each of n columns."""
    if n == 6 and rows == 6:  # free bodies
        for c in range(columns):
            y = out + 6 * c
            y0, y1, y2, y3, y4, y5 = values[y], values[y + 1], values[y + 2], values[y + 3], values[y + 4], values[y + 5]
            for k in range(6):
                x, z = values[a + k * columns + c], b + 6 * k
                y0 -= x * values[z]
                y1 -= x * values[z + 1]
                y2 -= x * values[z + 2]
                y3 -= x * values[z + 3]
                y4 -= x * values[z + 4]
                y5 -= x * values[z + 5]
            values[y], values[y + 1], values[y + 2], values[y + 3], values[y + 4], values[y + 5] = y0, y1, y2, y3, y4, y5
        return
    for k in range(n):
        for c in range(columns):
            x = values[a + k * columns + c]
            for r in range(rows):
                values[out + c * rows + r] -= x * values[b + k * rows + r]


@generic
def _subtract_own(space: Any, t: int, block: int, rows: int, n: int) -> None:
    """The block of the diagonal of a tree, whose speeds are on one path, loses A A^T, A of n columns."""
    values, first, first_entry = space.values, space.first_speed[t], space.first_entry
    for k in range(n):
        a = block + k * rows
        for r in range(rows):
            x, row = values[a + r], first_entry[first + r]
            for c in range(r + 1):
                values[row + c] -= x * values[a + c]


@generic
def solve_factored(space: Any, x: Any) -> None:
    """x becomes the solution, in the order of trees."""
    values, nodes = space.values, space.counts[names.NODES]
    for k in range(nodes):
        n, t = size_of(space, k), space.tree_of_node[k]
        first = space.first_speed[t]
        inward(space, values, t, x)
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other, rows = space.first_speed[space.tree_of_node[i]], size_of(space, i)
            for c in range(n):
                y = x[first + c]
                for r in range(rows):
                    x[other + r] -= values[block + c * rows + r] * y
    for k in range(nodes - 1, -1, -1):
        n, t = size_of(space, k), space.tree_of_node[k]
        first = space.first_speed[t]
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other, rows = space.first_speed[space.tree_of_node[i]], size_of(space, i)
            for c in range(n):
                total = 0.0
                for r in range(rows):
                    total += values[block + c * rows + r] * x[other + r]
                x[first + c] -= total
        outward(space, values, t, x)


__all__ = ["factor", "factor_tree", "find_pattern", "inward", "outward", "place_of", "size_of", "solve_factored"]
