"""Linear equations of recorded numbers: M x + G^T lambda = r, G x + b = 0, without pivoting, which no formula says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .recording import Recorded, Tape

#: Unknowns up to which they are quotients of determinants.
MOST_BY_DETERMINANTS = 4

Matrix = Sequence[Sequence[Recorded]]


def solved(
    tape: Tape, M: Matrix, right: Sequence[Recorded], G: Matrix, b: Sequence[Recorded], known: Mapping[int, Recorded]
) -> tuple[list[Recorded], bool]:
    """x, then lambda, and whether they are quotients of determinants; *known* are x that are given.

    Those that have to do with each other are solved for together: by determinants, or of more of them by elimination in the
    given order, the pivots of M being positive, and those of G M^-1 G^T after them negative.
    """
    n, m = len(right), len(b)
    free = [i for i in range(n) if i not in known]
    o = tape.number(0.0)
    A = [[M[i][j] for j in free] + [G[r][i] for r in range(m)] for i in free]
    A += [[G[r][j] for j in free] + [o] * m for r in range(m)]
    y = [_less(right[i], [M[i][j] for j in known], known) for i in free]
    y += [_less(-b[r], [G[r][j] for j in known], known) for r in range(m)]
    found, small = [o] * len(y), True
    for block in _blocks(A):
        few = len(block) <= MOST_BY_DETERMINANTS
        own, right_of = [[A[i][j] for j in block] for i in block], [y[i] for i in block]
        for i, one in zip(block, _by_determinants(tape, own, right_of) if few else _by_elimination(own, right_of), strict=True):
            found[i] = one
        small = small and few
    x = dict(zip(free, found, strict=False)) | dict(known)
    return [x[i] for i in range(n)] + found[len(free) :], small


def _blocks(A: Matrix) -> list[list[int]]:
    """The unknowns of a symmetric matrix, parted where no entry joins them."""
    left, blocks = set(range(len(A))), []
    while left:
        block, last = set(), {min(left)}
        while last:
            block |= last
            last = {j for i in last for j in left - block if not A[i][j].is_zero}
        left -= block
        blocks.append(sorted(block))
    return blocks


def _less(x: Recorded, row: Sequence[Recorded], known: Mapping[int, Recorded]) -> Recorded:
    for a, value in zip(row, known.values(), strict=True):
        x = x - a * value
    return x


def _by_determinants(tape: Tape, A: Matrix, y: Sequence[Recorded]) -> list[Recorded]:
    whole = _determinant(tape, A)
    replaced = [[[*row[:k], y[i], *row[k + 1 :]] for i, row in enumerate(A)] for k in range(len(y))]
    return [_determinant(tape, one) / whole for one in replaced]


def _determinant(tape: Tape, A: Matrix) -> Recorded:
    """By the first row (Laplace)."""
    if not A:
        return tape.number(1.0)
    total = tape.number(0.0)
    for j, x in enumerate(A[0]):
        minor = _determinant(tape, [[*row[:j], *row[j + 1 :]] for row in A[1:]])
        total = total + x * minor if j % 2 == 0 else total - x * minor
    return total


def _by_elimination(matrix: Matrix, right: Sequence[Recorded]) -> list[Recorded]:
    A, y = [list(row) for row in matrix], list(right)
    n = len(y)
    for k in range(n):
        for i in range(k + 1, n):
            factor = A[i][k] / A[k][k]
            for j in range(k, n):
                A[i][j] = A[i][j] - factor * A[k][j]
            y[i] = y[i] - factor * y[k]
    x = [y[0]] * n
    for k in range(n - 1, -1, -1):
        total = y[k]
        for j in range(k + 1, n):
            total = total - A[k][j] * x[j]
        x[k] = total / A[k][k]
    return x
