"""Solving: which solver answers, and what is said on the way."""

from __future__ import annotations

import time as _clock
from collections.abc import Callable, Mapping
from typing import Any

from ..algebra.arrays import Array
from ..value import checks
from . import ipopt, scipy_solver
from .solution import Program, Solution


def chosen_solver(name: str | None) -> str:
    """The solver of this name; IPOPT where that is there unless given."""
    if name is None:
        return "ipopt" if ipopt.is_there() else "scipy"
    checks.among("solver", name, ("ipopt", "scipy"))
    if name == "ipopt" and not ipopt.is_there():
        raise ImportError("IPOPT comes with CasADi: pip install 'mobod[casadi]'; or take solver='scipy'")
    return name


def solve(
    solver: str,
    program: Program,
    guess: Array,
    tolerance: float,
    max_iterations: int,
    options: Mapping[str, Any],
    show: Callable[[int, float, float], Any],
    exact: bool = True,
    multipliers: tuple[Array, Array] | None = None,
) -> Solution:
    """Solve a program from a guess by a solver of `chosen_solver`, as `ipopt.solve`."""
    if solver == "ipopt":
        return ipopt.solve(program, guess, tolerance, max_iterations, options, show, exact, multipliers)
    return scipy_solver.solve(program, guess, tolerance, max_iterations, options, show)


def shown(progress: Any) -> Callable[[int, float, float], Any]:
    """The function called with an iteration, the cost and the violation: prints a line a second where *progress* is True."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress is True, False or a callable of (iteration, cost, missed), not {progress!r}")
    if callable(progress):
        return progress
    last = 0.0

    def line(iteration: int, cost: float, missed: float) -> None:
        nonlocal last
        now = _clock.perf_counter()
        if progress is True and now - last > 1.0:
            last = now
            print(f"mobod: iteration {iteration}, cost {cost:.6g}, equations missed by {missed:.2g}", flush=True)

    return line
