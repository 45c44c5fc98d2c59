"""SciPy's solvers of nonlinear programs: SLSQP where there are few unknowns, the trust region of interior points otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .solution import Program, Solution

#: Up to how many unknowns matrices are dense.
_DENSE = 500


def solve(
    program: Program,
    guess: Array,
    tolerance: float,
    max_iterations: int,
    settings: Mapping[str, Any],
    show: Callable[[int, float, float], Any],
) -> Solution:
    """Solve a program from a guess, as `ipopt.solve`."""
    from scipy.optimize import Bounds, minimize

    fixed = program.low == program.high
    free = np.flatnonzero(~fixed)
    whole_guess = np.clip(guess, program.low, program.high)

    def whole(x: Array) -> Array:
        v = whole_guess.copy()
        v[free] = x
        return v

    count = 0

    def watch(x: Array, *_: Any) -> None:
        nonlocal count
        v = whole(x)
        g = program.constraints(v)
        show(count, program.cost(v), float(np.maximum(program.g_low - g, g - program.g_high).max(initial=0.0)))
        count += 1

    few = len(free) <= _DENSE
    found = minimize(
        lambda x: program.cost(whole(x)),
        whole_guess[free],
        jac=lambda x: program.gradient(whole(x))[free],
        bounds=Bounds(program.low[free], program.high[free]),
        constraints=_dense(program, whole, free) if few else _sparse(program, whole, free),
        method="SLSQP" if few else "trust-constr",
        callback=watch,
        options=(
            {"maxiter": max_iterations, "ftol": 1e-2 * tolerance, **settings}
            if few
            else {"maxiter": max_iterations, "gtol": tolerance, "xtol": 1e-12, **settings}
        ),
    )
    v = whole(found.x)
    g = program.constraints(v)
    missed = float(np.maximum(program.g_low - g, g - program.g_high).max(initial=0.0))
    success = bool(found.success if few else found.status in (1, 2)) and missed < max(100.0 * tolerance, 1e-5)
    return Solution(v, success, str(found.message).lower(), int(getattr(found, "nit", count)), None)


def _dense(program: Program, whole: Any, free: Any) -> list[dict[str, Any]]:
    equal = program.g_low == program.g_high
    low, high = ~equal & np.isfinite(program.g_low), ~equal & np.isfinite(program.g_high)

    def value(x: Array) -> Array:
        return program.constraints(whole(x))

    def slopes(x: Array) -> Array:
        v = whole(x)
        return program.jacobian_pattern.matrix(program.jacobian(v)).toarray()[: program.m, free]

    made = []
    for kind, rows, sign, origin in (("eq", equal, 1.0, "g_low"), ("ineq", low, 1.0, "g_low"), ("ineq", high, -1.0, "g_high")):
        if rows.any():
            bound = getattr(program, origin)[rows]
            made.append(
                {
                    "type": kind,
                    "fun": lambda x, rows=rows, sign=sign, bound=bound: sign * (value(x)[rows] - bound),
                    "jac": lambda x, rows=rows, sign=sign: sign * slopes(x)[rows],
                }
            )
    return made


def _sparse(program: Program, whole: Any, free: Any) -> Any:
    from scipy.optimize import NonlinearConstraint

    def second(x: Array, multipliers: Array) -> Any:
        upper = program.hessian_pattern.matrix(program.hessian(whole(x), 0.0, multipliers)).tocsr()[free][:, free]
        diagonal = upper.diagonal()
        found = upper + upper.T
        found.setdiag(diagonal)
        return found.tocsr()

    return NonlinearConstraint(
        lambda x: program.constraints(whole(x)),
        program.g_low,
        program.g_high,
        jac=lambda x: program.jacobian_pattern.matrix(program.jacobian(whole(x))).tocsr()[: program.m][:, free],
        hess=second,
    )
