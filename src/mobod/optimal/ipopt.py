"""IPOPT, the interior-point method of CasADi's wheel, with sparse first and second derivatives.

Source: Wächter and Biegler 2006.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .casadi_arrays import array_callback
from .solution import Program, Solution

_CALM = {"print_level": 0, "sb": "yes"}
#: From a solution of nearly the same program, which may lie on its bounds: a start that is changed by 1e-3 takes 2 iterations,
#: in place of 5 to 7 by IPOPT's own 1e-3, and one that is the same none.
_WARM: dict[str, Any] = {"warm_start_init_point": "yes", "mu_init": 1e-6, "warm_start_mult_bound_push": 1e-9}
_WARM |= {f"warm_start_{what}_{how}": 1e-9 for what in ("bound", "slack_bound") for how in ("push", "frac")}


def is_there() -> bool:
    """True if CasADi can be imported."""
    try:
        import casadi  # noqa: F401
    except ImportError:
        return False
    return True


def solve(
    program: Program,
    guess: Array,
    tolerance: float,
    max_iterations: int,
    settings: Mapping[str, Any],
    show: Callable[[int, float, float], Any],
    exact: bool,
    multipliers: tuple[Array, Array] | None = None,
) -> Solution:
    """Solve a program from a guess; *show* gets the iteration, the cost, and how far equations and bounds are missed."""
    import casadi

    function, watcher = _classes()
    n, m = program.n, program.m
    pattern, hessian = program.jacobian_pattern, program.hessian_pattern
    J = casadi.Sparsity(*_ccs(pattern, max(m, 0), n))
    H = casadi.Sparsity(*_ccs(hessian, n, n))
    dense = casadi.Sparsity.dense
    x, p, g, one = dense(n, 1), dense(0, 1), dense(m, 1), dense(1, 1)
    parts = {
        "nlp": function(
            "nlp", [x, p], [one, g], lambda v, *_: (program.cost(v), program.constraints(v)), ["x", "p"], ["f", "g"]
        ),
        "grad_f": function("nlp_grad_f", [x, p], [one, x], lambda v, *_: (program.cost(v), program.gradient(v))),
        "jac_g": function("nlp_jac_g", [x, p], [g, J], lambda v, *_: (program.constraints(v), program.jacobian(v))),
        "hess_lag": function("nlp_hess_l", [x, p, one, g], [H], lambda v, _, f, lam: (program.hessian(v, float(f[0]), lam),)),
    }
    watch = watcher(n, m, program, show)
    more: dict[str, Any] = {"ipopt": {**_CALM, "tol": tolerance, "max_iter": max_iterations, **settings}}
    if exact:
        more["hess_lag"] = parts["hess_lag"]
    else:
        more["ipopt"].setdefault("hessian_approximation", "limited-memory")
    if multipliers is not None:
        more["ipopt"] = {**_WARM, **more["ipopt"]}
    solver = casadi.nlpsol(
        "plan",
        "ipopt",
        parts["nlp"],
        {
            "grad_f": parts["grad_f"],
            "jac_g": parts["jac_g"],
            "iteration_callback": watch,
            "print_time": False,
            "error_on_fail": False,
            "show_eval_warnings": False,
            "calc_lam_p": False,
            "no_nlp_grad": True,
            **more,
        },
    )
    given = {"x0": guess, "lbx": program.low, "ubx": program.high, "lbg": program.g_low, "ubg": program.g_high}
    if multipliers is not None:
        given |= {"lam_g0": multipliers[0], "lam_x0": multipliers[1]}
    found = solver(**given)
    if watch.error is not None:
        raise watch.error
    for part in parts.values():
        if part.error is not None and not isinstance(part.error, ArithmeticError):
            raise part.error
    status = solver.stats()
    return Solution(
        np.array(found["x"]).ravel(),
        bool(status["success"]),
        str(status["return_status"]).replace("_", " ").lower(),
        int(status["iter_count"]),
        (np.array(found["lam_g"]).ravel(), np.array(found["lam_x"]).ravel()),
    )


def _ccs(pattern: Any, rows: int, columns: int) -> tuple[int, int, list[int], list[int]]:
    counts = np.bincount(pattern.columns, minlength=columns)
    return rows, columns, [0, *np.cumsum(counts).tolist()], pattern.rows.tolist()


@functools.cache
def _classes() -> tuple[Any, Any]:
    """Callbacks of CasADi's: a function of arrays whose results are entries, and one that watches iterations."""
    import casadi

    base = array_callback()

    class Function(base):  # type: ignore[misc, valid-type]
        def __init__(self, name: str, takes: Any, gives: Any, compute: Any, inputs: Any = None, outputs: Any = None) -> None:
            base.__init__(self, takes, gives, compute)
            self._names = inputs, outputs
            self.error: BaseException | None = None
            self.construct(name, {})

        def get_name_in(self, i: int) -> str:
            return self._names[0][i] if self._names[0] else f"i{i}"

        def get_name_out(self, i: int) -> str:
            return self._names[1][i] if self._names[1] else f"o{i}"

        def eval_buffer(self, arguments: Any, results: Any) -> int:
            v = np.frombuffer(arguments[0], np.float64) if arguments[0] is not None else np.zeros(0)
            if not np.isfinite(v).all():  # a step of a line search, after equations that overflow: it takes a shorter one
                return 1
            try:
                return int(base.eval_buffer(self, arguments, results))
            except BaseException as error:
                self.error = error
                return 1

    names = [casadi.nlpsol_out(i) for i in range(casadi.nlpsol_n_out())]

    class Watcher(base):  # type: ignore[misc, valid-type]
        def __init__(self, n: int, m: int, program: Program, show: Any) -> None:
            sizes = {"f": 1, "x": n, "lam_x": n, "g": m, "lam_g": m}
            dense = casadi.Sparsity.dense
            base.__init__(self, [dense(sizes.get(name, 0), 1) for name in names], [dense(1, 1)], self._watch)
            self._program, self._show, self._count = program, show, 0
            self.error: BaseException | None = None
            self.construct("watch", {})

        def get_name_in(self, i: int) -> str:
            return names[i]

        def _watch(self, *given: Any) -> list[float]:
            """1 for IPOPT to stop."""
            try:
                named = dict(zip(names, given, strict=True))
                g, low, high = named["g"], self._program.g_low, self._program.g_high
                missed = float(np.maximum(low - g, g - high).max(initial=0.0))
                self._show(self._count, float(named["f"][0]), missed)
                self._count += 1
            except BaseException as error:
                self.error = error
                return [1.0]
            return [0.0]

    return Function, Watcher
