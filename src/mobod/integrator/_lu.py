"""LU factors of a dense matrix, and solutions by them: for Newton's iteration inside compiled steps.

    P A = L U,  L of unit diagonal, both kept in A's place

by rows, four pivots at a time, so that most of the work is one pass over a row for four of those above it. Rows are exchanged
for the largest pivot. Source: Golub and Van Loan 2013, 3.4.
"""

from __future__ import annotations

from typing import Any

from ..compiling import compiled

#: Pivots of which a row takes the multiples in one pass.
PANEL = 4


@compiled
def factorize(a: Any, pivots: Any) -> int:
    """Put the factors of *a* in its place, and which row was exchanged for each into *pivots*; 0, or 1 where it is singular."""
    n = a.shape[0]
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        for k in range(begin, end):
            largest, p = abs(a[k, k]), k
            for i in range(k + 1, n):
                if abs(a[i, k]) > largest:
                    largest, p = abs(a[i, k]), i
            if not largest > 0.0:
                return 1
            pivots[k] = p
            if p != k:
                for j in range(n):
                    a[k, j], a[p, j] = a[p, j], a[k, j]
            inverse = 1.0 / a[k, k]
            for i in range(k + 1, n):
                a[i, k] = a[i, k] * inverse
                for j in range(k + 1, end):
                    a[i, j] = a[i, j] - a[i, k] * a[k, j]
        for k in range(begin, end):  # the panel's own rows, to the right of it
            for i in range(k + 1, end):
                factor = a[i, k]
                for j in range(end, n):
                    a[i, j] = a[i, j] - factor * a[k, j]
        if end - begin == PANEL:
            for i in range(end, n):
                f0, f1, f2, f3 = a[i, begin], a[i, begin + 1], a[i, begin + 2], a[i, begin + 3]
                for j in range(end, n):
                    taken = f0 * a[begin, j] + f1 * a[begin + 1, j] + f2 * a[begin + 2, j] + f3 * a[begin + 3, j]
                    a[i, j] = a[i, j] - taken
    return 0


@compiled
def solve(a: Any, pivots: Any, x: Any) -> None:
    """Solve by the factors: *x*, the right side, becomes the solution."""
    n = a.shape[0]
    for k in range(n):
        p = int(pivots[k])
        x[k], x[p] = x[p], x[k]
    for i in range(n):
        total = x[i]
        for j in range(i):
            total = total - a[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total = total - a[i, j] * x[j]
        x[i] = total / a[i, i]
