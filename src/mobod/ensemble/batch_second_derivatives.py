"""Second derivatives of the dynamics of many states, eight at a time in lanes, where the rigid sweep is all.

Of tau(q, u, udot), what is missing for udot, with weights l, and of udot(x) that is without anything missing but forces f, of
x = (q, u, f), with weights w and l = M^-1 w:

    l . tau'' by differences of l . (tau_q, tau_u, M) along q and u         udot'' = -(l . tau'' + B^T X + X^T B)

with X = udot', and B those of l . M along q. tau is affine in udot, and M knows q alone: nothing else differs from zero.
Source of the first derivatives: `derivative.sweep`.
"""

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import absolute, load, maximum, one, sqrt, store, zero
from ..compiling import compiled, generic
from ..derivative import sweep
from ..derivative.residual import clear
from ..state.fields import Record
from ..state.validity import ARTICULATED, EVERYTHING, KINEMATICS, NO_RATES, POSITIONS, UNCHECKED
from ..tree import inverse_dynamics, inverse_mass_matrix
from .batch import realize_eight
from .batch_operators import put, take
from .chunks import shared


# fmt: off
@generic
def _sweep(
    model: Record, massive: bool, udot: Any, of_tree: Any, A: Any, bodies: Any, speeds: Any, columns: Any, D: Any
) -> None:
    # fmt: on
    """tau_q, tau_u and, where asked for, M, one below the other, at *udot*. Needs kinematics."""
    slopes, bent, body_of = of_tree
    n, none = model.nu, bodies[:0]
    inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot, A)
    sweep.sweep(
        model, A, udot, sweep.gravity(model), none, bent, slopes, bent[:0], bent, none, bodies, speeds, columns,
        D[:n], D[n : 2 * n],
    )
    if massive:
        sweep.put_mass(model, True, bent[:0], body_of, speeds, columns, 0, 0, D[2 * n :])


@generic
def _add_weighed(n: int, weights: Any, D: Any, first: int, end: int, sign: Any, row: int, S: Any) -> None:
    """Weights times matrices *first* to before *end* of those in *D*, times a sign, added to a *row* of each weight's block."""
    for k in range(weights.shape[0]):
        for part in range(first, end):
            for j in range(n):
                total = zero(sign)
                for i in range(n):
                    total = total + load(weights, k, i) * load(D, part * n + i, j)
                at = 2 * n * k + row
                store(S, at, part * n + j, load(S, at, part * n + j) + sign * total)


# fmt: off
@generic
def _differences(
    model: Record, address: int, step: float, udot: Any, of_tree: Any, scratch: Any, weights: Any, D: Any, S: Any
) -> None:
    # fmt: on
    """Rows by q, then by u, of l . tau'' by q, u and udot, of each weight."""
    n, (A, bodies, speeds, columns) = model.nu, scratch
    for row in range(2 * n):
        rows, i, known = model.q, row, 0
        if row >= n:
            rows, i, known = model.u, row - n, POSITIONS
        if row == n:
            call_routine(address, model, 0, POSITIONS | UNCHECKED)
        x = load(rows, i, 0)
        size = maximum(one(x), absolute(x))  # as `second_differences.steps`
        if row < n:
            size = sqrt(sqrt(size))
        h = step * size
        for side in range(2):
            sign = (1.0 - 2.0 * side) * one(x)
            store(rows, i, 0, x + sign * h)
            call_routine(address, model, known, KINEMATICS | NO_RATES | UNCHECKED)
            _sweep(model, row < n, udot, of_tree, A, bodies, speeds, columns, D)
            if row < n:
                _add_weighed(n, weights, D, 0, 3, sign / (h + h), row, S)
            else:
                _add_weighed(n, weights, D, 1, 2, sign / (h + h), row, S)
        store(rows, i, 0, x)


@generic
def _times_slopes(n: int, S: Any, first: int, i: int, X: Any, c: int) -> Any:
    """A row of B times column c of X, by q, u and f."""
    total = zero(load(X, 0, 0))
    for j in range(n):
        total = total + load(S, first + i, 2 * n + j) * load(X, j, c)
    return total


@generic
def _put(n: int, k: int, of_forward: bool, S: Any, X: Any, H: Any) -> None:
    """The second derivatives of weight k, as `calc_second_derivatives` gives them, into a row of *H*."""
    first, width, sign = 2 * n * k, 3 * n, 1.0
    if of_forward:
        sign = -1.0
    o = zero(load(X, 0, 0))
    for i in range(width * width):
        store(H, k, i, o)
    for i in range(n):
        for j in range(n):
            x = 0.5 * (load(S, first + i, j) + load(S, first + j, i))
            y, z = load(S, first + i, n + j), load(S, first + i, 2 * n + j)
            if of_forward:
                x = x + _times_slopes(n, S, first, i, X, j) + _times_slopes(n, S, first, j, X, i)
                y, z = y + _times_slopes(n, S, first, i, X, n + j), _times_slopes(n, S, first, i, X, 2 * n + j)
            store(H, k, width * i + j, sign * x)
            store(H, k, width * i + n + j, sign * y)
            store(H, k, width * (n + j) + i, sign * y)
            store(H, k, width * i + 2 * n + j, sign * z)
            store(H, k, width * (2 * n + j) + i, sign * z)
            x = load(S, first + n + i, n + j) + load(S, first + n + j, n + i)
            store(H, k, width * (n + i) + n + j, 0.5 * sign * x)


# fmt: off
@compiled
def calc_second_derivatives(
    block: Any, address: int, share: Any, states: Any, step: float, of_forward: bool, of_tree: Any, w: Any, u_dot: Any,
    w8: Any, udot: Any, A: Any, bodies: Any, speeds: Any, columns: Any, work: Any, M_inv: Any, weights: Any, D: Any, X: Any,
    S: Any, H: Any, out: Any,
) -> None:
    # fmt: on
    """Those of weights times udot by (q, u, f), or times what is missing for *u_dot* by (q, u, udot), a square a weight."""
    model = attach(block)
    n = model.nu
    for g in shared(share):
        first = 8 * g
        o = zero(load(model.time, 0, 0))
        take(w, first, w8)
        clear(weights, o)
        clear(D, o)
        clear(S, o)
        if of_forward:
            realize_eight(model, address, EVERYTHING | NO_RATES, first, states)
            inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
            for i in range(n):
                store(udot, i, 0, load(model.u_dot, i, 0))
            _sweep(model, False, udot, of_tree, A, bodies, speeds, columns, D)
            for i in range(n):
                for j in range(n):
                    m = load(M_inv, i, j)
                    store(X, i, 2 * n + j, m)
                    for k in range(weights.shape[0]):
                        store(weights, k, i, load(weights, k, i) + m * load(w8, k * n + j, 0))
                    x, y = o, o
                    for k in range(n):
                        m = load(M_inv, i, k)
                        x, y = x - m * load(D, k, j), y - m * load(D, n + k, j)
                    store(X, i, j, x)
                    store(X, i, n + j, y)
        else:
            realize_eight(model, address, KINEMATICS | NO_RATES, first, states)
            take(u_dot, first, udot)
            for k in range(weights.shape[0]):
                for i in range(n):
                    store(weights, k, i, load(w8, k * n + i, 0))
        _differences(model, address, step, udot, of_tree, (A, bodies, speeds, columns), weights, D, S)
        for k in range(weights.shape[0]):
            _put(n, k, of_forward, S, X, H)
        put(H, first, out)
