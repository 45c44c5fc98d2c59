"""Derivatives of accelerations from those of residual and errors, of one state or of eight in lanes.

    d(udot) = udot_R - P lambda    udot_R = -M^-1 d(residual)    lambda = (G P)^+ (G udot_R + d(errors))    P = M^-1 G^T

and where motions prescribe d(udot), udot_R = that - M^-1 (d(residual) + M that).
"""

from typing import Any

from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..state.fields import Record
from ..tree import constraint_operators


@generic
def add_products(A: Any, n: int, B: Any, m: int, end: int, factor: float, out: Any) -> None:
    """*factor* A B, added to *out*: n rows of m columns, m rows up to column *end*."""
    for i in range(0, n, 4):
        i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for j in range(end):
            o = zero(load(A, 0, 0))
            x0, x1, x2, x3 = o, o, o, o
            for k in range(m):
                b = load(B, k, j)
                x0, x1 = x0 + load(A, i, k) * b, x1 + load(A, i1, k) * b
                x2, x3 = x2 + load(A, i2, k) * b, x3 + load(A, i3, k) * b
            for r, x in enumerate((x0, x1, x2, x3)):
                if i + r < n:
                    store(out, i + r, j, load(out, i + r, j) + factor * x)


@generic
def constrain(
    model: Record, rows: Any, columns: int, M_inv: Any, E: Any, G: Any, P: Any, x: Any, W: Any, L: Any, D: Any
) -> None:
    """The part of multipliers, of the equations in *rows* alone, whose errors are in E."""
    n, m = model.nu, rows.shape[0]
    G[:] = 0.0
    constraint_operators.calc_g(model, G)
    for k in range(m):
        for i in range(n):
            total = zero(load(x, 0, 0))
            for j in range(n):
                total = total + load(M_inv, i, j) * load(G, rows[k], j)
            store(P, i, k, total)
            store(E, k, columns + i, 0.0)
        for r in range(m):  # by the factor that accelerations are found with
            store(x, rows[r], 0, 0.0)
        store(x, rows[k], 0, 1.0)
        constraint_operators.solve(model, x)
        for r in range(m):
            store(W, r, k, load(x, rows[r], 0))
    for k in range(m):  # E becomes G udot_R + E
        for j in range(columns + n):
            total = load(E, k, j)
            for i in range(n):
                total = total + load(G, rows[k], i) * load(D, i, j)
            store(E, k, j, total)
    L[:] = 0.0
    add_products(W, m, E, m, columns + n, 1.0, L)
    add_products(P, n, L, m, columns + n, -1.0, D)
