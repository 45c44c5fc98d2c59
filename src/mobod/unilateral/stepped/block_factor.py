"""The factors of a matrix of blocks with a symmetric pattern, one for each tree that touches something.

The order of elimination is that of least degree, larger trees before smaller ones, found anew when the pattern has changed.
Within a tree the speeds farthest out are eliminated first, along the paths of `space`. With pivots d and L and U unit triangles
the matrix is L^T d U, of which ``values`` has d U in its rows, 1 / d on the diagonal, and ``mirrored`` L^T d as if it were
transposed: where the matrix is symmetric these are the same, and one array serves as both. Without choice of pivots, as the
symmetric part is nearly always positive. Sources: George and Liu 1989, The evolution of the minimum degree ordering algorithm;
Featherstone 2005 (the factor of a tree); Liu 1990, The role of elimination trees (what a coupling between two branches puts
above what).

``node_of_tree`` and ``tree_of_node`` number trees by their place in the order. Beside its block of the diagonal, column k of
the factor has in ``values`` the blocks of the rows ``row[e]`` at ``first_value[e]``, e from ``first_row[k]`` to
``first_row[k + 1]``, in rising order. A block lies column by column.
"""

from __future__ import annotations

from typing import Any

from ...algebra.order import larger
from ...algebra.scalar import load, store, zero
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
        if pairs[i, names.KIND] == names.GIVEN:
            for c in range(begin + 1, end):
                _put_above(above, columns[c - 1], columns[c])
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
    """Merge the paths of two speeds in the elimination tree."""
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
    """The place of the values of a block below the diagonal."""
    e = space.first_row[column]
    while space.row[e] != row:
        e += 1
    return space.first_value[e]


@generic
def factor_tree(space: Any, x: Any, y: Any, both: bool, t: int) -> None:
    """The rows of a tree in x, and its columns in y where *both* are to be, become those of the factors."""
    first_entry, column = space.first_entry, space.column
    for k in range(space.first_speed[t + 1] - 1, space.first_speed[t] - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        pivot = load(x, row + n, 0)
        if not both:
            pivot = larger(pivot, zero(pivot) + 1e-300)
        inverse = 1.0 / pivot
        store(x, row + n, 0, inverse)
        for d in range(n):
            value, other = load(y, row + d, 0) * inverse, first_entry[column[row + d]]
            for e in range(d + 1):
                store(x, other + e, 0, load(x, other + e, 0) - value * load(x, row + e, 0))
            if both:
                value = load(x, row + d, 0) * inverse
                for e in range(d):
                    store(y, other + e, 0, load(y, other + e, 0) - value * load(y, row + e, 0))


@generic
def inward(space: Any, x: Any, y: Any, t: int, right: int) -> None:
    """Of the speeds of a tree, row *right* becomes d L^-T d^-1 right, from the last one on."""
    first_entry, column, vectors = space.first_entry, space.column, space.vectors
    for k in range(space.first_speed[t + 1] - 1, space.first_speed[t] - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        total = load(vectors, right, k) * load(x, row + n, 0)
        for d in range(n):
            c = column[row + d]
            store(vectors, right, c, load(vectors, right, c) - load(y, row + d, 0) * total)


@generic
def outward(space: Any, x: Any, t: int, right: int) -> None:
    """Of the speeds of a tree, row *right* becomes U^-1 d^-1 right, from Ground on."""
    first_entry, column, vectors = space.first_entry, space.column, space.vectors
    for k in range(space.first_speed[t], space.first_speed[t + 1]):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        total = load(vectors, right, k)
        for d in range(n):
            total = total - load(x, row + d, 0) * load(vectors, right, column[row + d])
        store(vectors, right, k, total * load(x, row + n, 0))


@generic
def solve_tree(space: Any, x: Any, t: int, right: int) -> None:
    """Of the speeds of a tree with symmetric rows x, row *right* of ``vectors`` becomes the solution."""
    inward(space, x, x, t, right)
    outward(space, x, t, right)


@generic
def factor(space: Any, x: Any, y: Any, both: bool) -> None:
    """The values in x, and in y where *both* are to be, become those of the factors."""
    for k in range(space.counts[names.NODES]):
        t, n = space.tree_of_node[k], size_of(space, k)
        factor_tree(space, x, y, both, t)
        begin, end = space.first_row[k], space.first_row[k + 1]
        for e in range(begin, end):
            _eliminate_from(space, x, y, both, t, space.first_value[e], size_of(space, space.row[e]))
        for e in range(begin, end):
            i, block = space.row[e], space.first_value[e]
            rows = size_of(space, i)
            for d in range(begin, e):
                j, other = space.row[d], space.first_value[d]
                out, columns = place_of(space, i, j), size_of(space, j)
                _subtract(space, t, y, out, x, other, columns, y, block, rows, n)
                if both:
                    _subtract(space, t, x, out, y, other, columns, x, block, rows, n)
            _subtract_own(space, t, x, y, both, space.tree_of_node[i], block, rows, n)


@generic
def _eliminate_from(space: Any, x: Any, y: Any, both: bool, t: int, block: int, rows: int) -> None:
    """Rows and columns of other trees lose what the speeds of a tree, as they are eliminated, take from its inboard ones."""
    first_entry, column, first = space.first_entry, space.column, space.first_speed[t]
    for k in range(space.first_speed[t + 1] - 1, first - 1, -1):
        row = first_entry[k]
        n = first_entry[k + 1] - row - 1
        own, inverse = block + (k - first) * rows, x[row + n]
        for d in range(n):
            other = block + (column[row + d] - first) * rows
            value = x[row + d] * inverse
            for r in range(rows):
                y[other + r] -= value * y[own + r]
            if both:
                value = y[row + d] * inverse
                for r in range(rows):
                    x[other + r] -= value * x[own + r]


@generic
def _inverse_pivot(space: Any, x: Any, k: int) -> float:
    return x[space.first_entry[k + 1] - 1]


@generic
def _subtract(space: Any, t: int, z: Any, out: int, x: Any, a: int, columns: int, y: Any, b: int, rows: int, n: int) -> None:
    """The block of z at *out*, of *rows* by *columns*, loses B d^-1 A^T, each of the n columns of a tree."""
    values, first = space.values, space.first_speed[t]
    if n == 6 and rows == 6:  # free bodies
        for c in range(columns):
            o = out + 6 * c
            z0, z1, z2, z3, z4, z5 = z[o], z[o + 1], z[o + 2], z[o + 3], z[o + 4], z[o + 5]
            for k in range(6):
                value, at = x[a + k * columns + c] * _inverse_pivot(space, values, first + k), b + 6 * k
                z0 -= value * y[at]
                z1 -= value * y[at + 1]
                z2 -= value * y[at + 2]
                z3 -= value * y[at + 3]
                z4 -= value * y[at + 4]
                z5 -= value * y[at + 5]
            z[o], z[o + 1], z[o + 2], z[o + 3], z[o + 4], z[o + 5] = z0, z1, z2, z3, z4, z5
        return
    for k in range(n):
        inverse = _inverse_pivot(space, values, first + k)
        for c in range(columns):
            value = x[a + k * columns + c] * inverse
            for r in range(rows):
                z[out + c * rows + r] -= value * y[b + k * rows + r]


@generic
def _subtract_own(space: Any, t: int, x: Any, y: Any, both: bool, other: int, block: int, rows: int, n: int) -> None:
    """Another tree, whose speeds are on one path, loses what it gets from the n columns of an eliminated one."""
    first, inner, first_entry = space.first_speed[other], space.first_speed[t], space.first_entry
    for k in range(n):
        a, inverse = block + k * rows, _inverse_pivot(space, x, inner + k)
        for r in range(rows):
            row, value = first_entry[first + r], y[a + r] * inverse
            for c in range(r + 1):
                x[row + c] -= value * x[a + c]
            if both:
                value = x[a + r] * inverse
                for c in range(r):
                    y[row + c] -= value * y[a + c]


@generic
def solve_factored(space: Any, x: Any, y: Any, row: int) -> None:
    """A row of ``vectors`` becomes the solution, in the order of trees."""
    nodes, right = space.counts[names.NODES], space.vectors[row]
    for k in range(nodes):
        n, t = size_of(space, k), space.tree_of_node[k]
        first = space.first_speed[t]
        inward(space, x, y, t, row)
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other, rows = space.first_speed[space.tree_of_node[i]], size_of(space, i)
            for c in range(n):
                value = right[first + c] * _inverse_pivot(space, x, first + c)
                for r in range(rows):
                    right[other + r] -= y[block + c * rows + r] * value
    for k in range(nodes - 1, -1, -1):
        n, t = size_of(space, k), space.tree_of_node[k]
        first = space.first_speed[t]
        for e in range(space.first_row[k], space.first_row[k + 1]):
            block, i = space.first_value[e], space.row[e]
            other, rows = space.first_speed[space.tree_of_node[i]], size_of(space, i)
            for c in range(n):
                total = 0.0
                for r in range(rows):
                    total += x[block + c * rows + r] * right[other + r]
                right[first + c] -= total
        outward(space, x, t, row)


@generic
def factor_trees(space: Any, x: Any, y: Any, both: bool) -> None:
    """`factor`, where no point is between two trees: in any scalar."""
    for k in range(space.counts[names.NODES]):
        factor_tree(space, x, y, both, space.tree_of_node[k])


@generic
def solve_trees(space: Any, x: Any, y: Any, row: int) -> None:
    """`solve_factored`, where no point is between two trees: in any scalar."""
    for k in range(space.counts[names.NODES]):
        t = space.tree_of_node[k]
        inward(space, x, y, t, row)
        outward(space, x, t, row)
