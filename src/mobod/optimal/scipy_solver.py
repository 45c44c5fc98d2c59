"""SciPy's solver of sparse nonlinear programs: interior points by a trust region, with exact second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .solution import Program, Solution


def solve(
    program: Program,
    guess: Array,
    tolerance: float,
    max_iterations: int,
    settings: Mapping[str, Any],
    show: Callable[[int, float, float], Any],
) -> Solution:
    """Solve a program from a guess, as `ipopt.solve`."""
    from scipy.optimize import Bounds, NonlinearConstraint, minimize
    from scipy.sparse import csr_array

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

    def slopes(v: Array) -> Any:
        return program.jacobian_pattern.matrix(program.jacobian(v)).tocsr()[: program.m][:, free]

    def second(x: Array, multipliers: Array) -> Any:
        """Of the Lagrangian: the cost's are found with the equations'."""
        upper = program.hessian_pattern.matrix(program.hessian(whole(x), 1.0, multipliers)).tocsr()[free][:, free]
        found = upper + upper.T
        found.setdiag(upper.diagonal())
        return found.tocsr()

    found = minimize(
        lambda x: program.cost(whole(x)),
        whole_guess[free],
        jac=lambda x: program.gradient(whole(x))[free],
        hess=lambda x: csr_array((len(free), len(free))),  # else SciPy learns a dense one
        bounds=Bounds(program.low[free], program.high[free]),
        constraints=NonlinearConstraint(
            lambda x: program.constraints(whole(x)), program.g_low, program.g_high, jac=lambda x: slopes(whole(x)), hess=second
        ),
        method="trust-constr",
        callback=watch,
        options={"maxiter": max_iterations, "gtol": 1e-2 * tolerance, "xtol": 1e-12, **settings},
    )
    v = whole(found.x)
    g = program.constraints(v)
    missed = float(np.maximum(program.g_low - g, g - program.g_high).max(initial=0.0))
    success = found.status in (1, 2) and missed < max(100.0 * tolerance, 1e-5)
    return Solution(v, success, str(found.message).lower(), int(getattr(found, "nit", count)), None)
