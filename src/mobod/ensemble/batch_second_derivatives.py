"""Second derivatives of the dynamics of many states, eight at a time in lanes, where the rigid sweep is all.

Of tau(q, u, udot), what is missing for udot, with weights l, and of udot(x) that is without anything missing but forces f, of
x = (q, u, f), with weights w and l = M^-1 w:

    udot'' = -(l . tau'' + B^T X + X^T B)

with X = udot', and B those of l . M along q. tau is affine in udot, and M knows q alone: nothing else differs from zero.
Source of the first derivatives: `derivative.sweep`; of l . tau'': `derivative.second_sweep`.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..derivative import second_sweep, sweep
from ..state.validity import ARTICULATED
from ..tree import inverse_dynamics, inverse_mass_matrix
from ..tree.matrix_sweep import clear
from .batch_operators import put, realize, take
from .chunks import shared


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
            x, y, z = load(S, first + i, j), load(S, first + i, n + j), load(S, first + i, 2 * n + j)
            if of_forward:
                x = x + _times_slopes(n, S, first, i, X, j) + _times_slopes(n, S, first, j, X, i)
                y, z = y + _times_slopes(n, S, first, i, X, n + j), _times_slopes(n, S, first, i, X, 2 * n + j)
            store(H, k, width * i + j, sign * x)
            store(H, k, width * i + n + j, sign * y)
            store(H, k, width * (n + j) + i, sign * y)
            store(H, k, width * i + 2 * n + j, sign * z)
            store(H, k, width * (2 * n + j) + i, sign * z)
            store(H, k, width * (n + i) + n + j, sign * load(S, first + n + i, n + j))


@generic
def _find_first(n: int, M_inv: Any, D: Any, X: Any) -> None:
    """X, by q, u and f."""
    for i in range(n):
        for j in range(n):
            x, y = zero(load(D, 0, 0)), zero(load(D, 0, 0))
            for k in range(n):
                m = load(M_inv, i, k)
                x, y = x - m * load(D, k, j), y - m * load(D, n + k, j)
            store(X, i, j, x)
            store(X, i, n + j, y)
            store(X, i, 2 * n + j, load(M_inv, i, j))


# fmt: off
@compiled
def calc_second_derivatives(
    block: Any, address: int, share: Any, states: Any, wanted: int, of_forward: bool, slopes: Any, bent: Any, w: Any,
    u_dot: Any, w8: Any, udot: Any, A: Any, bodies: Any, speeds: Any, columns: Any, pushed: Any, by_weights: Any, work: Any,
    M_inv: Any, weights: Any, D: Any, X: Any, S: Any, H: Any, out: Any,
) -> None:
    # fmt: on
    """Those of weights times udot by (q, u, f), or times what is missing for *u_dot* by (q, u, udot), a square a weight.

    After what is *wanted* of the states.
    """
    model = attach(block)
    n = model.nu
    for g in shared(share):
        first = 8 * g
        o = zero(load(model.time, 0, 0))
        take(w, first, w8)
        clear(D)
        clear(S)
        realize(model, address, wanted, first, states)
        if of_forward:
            inverse_mass_matrix.calc_m_inv(model, address, ARTICULATED, work, work, M_inv)
            for i in range(n):
                store(udot, i, 0, load(model.u_dot, i, 0))
        else:
            take(u_dot, first, udot)
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot, A)
        # gravity may be an acceleration of Ground's, see `lumped_welds`
        pull, none = vec3.add(sweep.gravity(model), load3(model.A_GB, 0, 3)), bodies[:0]
        sweep.sweep(model, A, udot, pull, none, bent, slopes, bent[:0], bent, none, bodies, speeds, columns, D[:n], D[n:])
        if of_forward:
            _find_first(n, M_inv, D, X)
        for k in range(weights.shape[0]):
            for i in range(n):
                x = load(w8, k * n + i, 0)
                if of_forward:
                    x = o
                    for j in range(n):
                        x = x + load(M_inv, i, j) * load(w8, k * n + j, 0)
                store(weights, k, i, x)
        for k in range(weights.shape[0]):
            second_sweep.sweep(
                model, A, udot, pull, slopes, weights, k, bodies, speeds, columns, pushed, by_weights, 2 * n * k, S
            )
            _put(n, k, of_forward, S, X, H)
        put(H, first, out)
