"""Measure plans of an acrobot's swing-up by IPOPT: `mobod.collocate`, `mobod.casadi`, and CasADi's own symbols.

The trapezoidal rule, 4 s, bounds on the torque, the least integral of the torque squared; second derivatives in all three.
Times are of the whole call, expressions and their derivatives included, in turns; iterations and costs stand beside them.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np

import mobod as mb

from .measure import ratio, summary
from .report import Target, cell_of_time, print_table, run_as_script

DURATION, LIMIT, TOLERANCE = 4.0, 20.0, 1e-6
END = np.array([np.pi, 0.0, 0.0, 0.0])
#: By intervals, how many times as long as CasADi's symbols take a plan may take.
ALLOWED = {50: 3.0, 200: 1.0}


def measure(options: argparse.Namespace) -> dict:
    """Seconds, iterations and costs, by intervals and way; nothing where CasADi is not there."""
    try:
        import casadi  # noqa: F401
    except ImportError:
        return {"plans": {}}
    return {"plans": {str(n): _of(n, 3 if options.quick else 9) for n in ALLOWED}}


def _of(n: int, rounds: int) -> dict:
    ways = {"symbols": _symbols, "collocate": _collocate, "callback": _callback}
    samples: dict[str, list[list[float]]] = {way: [] for way in ways}
    facts: dict[str, Any] = {}
    for _ in range(rounds + 1):
        for way, plan in ways.items():
            begin = perf_counter()
            facts[way] = plan(n)
            samples[way].append([1e6 * (perf_counter() - begin)])
    return {way: {**summary(times[1:]), "facts": facts[way]} for way, times in samples.items()}


def build() -> tuple[mb.MultibodySystem, mb.MobilizedBody]:
    """Two rods of 1 kg and 1 m, with a motor between them; and the second."""
    system = mb.MultibodySystem("acrobot")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(1 / 3, 0.01, 1 / 3)))
    upper = mb.mobilizer.Pin(matter.ground, rod, name="upper")
    return system, mb.mobilizer.Pin(upper, rod, X_PF=mb.Transform((0, -1, 0)), name="lower")


def _collocate(n: int) -> tuple[int, float]:
    system, lower = build()
    plan = mb.collocate(
        system,
        system.realize_topology(),
        DURATION,
        [(lower, 0)],
        cost=lambda controls: controls[0] ** 2,
        end=dict(zip(("upper.q", "lower.q", "upper.u", "lower.u"), END.tolist(), strict=True)),
        bounds={"lower.force": (-LIMIT, LIMIT)},
        intervals=n,
        scheme="trapezoidal",
        tolerance=TOLERANCE,
    )
    return plan.statistics["iterations"], plan.statistics["cost"]


def _callback(n: int) -> tuple[int, float]:
    import casadi

    import mobod.casadi

    u_dot = mobod.casadi.forward_dynamics(build()[0], nodes=n + 1)
    return _solved(n, lambda q, u, w: u_dot(q, u, casadi.vertcat(casadi.DM.zeros(1, n + 1), w)))


def _symbols(n: int) -> tuple[int, float]:
    import casadi

    q, u, w = casadi.SX.sym("q", 2), casadi.SX.sym("u", 2), casadi.SX.sym("w")
    own, mixed = 1 / 12 + 0.25, 0.5 * casadi.cos(q[1])
    bent, g = 0.5 * casadi.sin(q[1]), 9.81
    M = casadi.blockcat([[2 * own + 1 + 2 * mixed, own + mixed], [own + mixed, own]])
    bias = casadi.vertcat(-bent * (2 * u[0] * u[1] + u[1] ** 2), bent * u[0] ** 2)
    far = 0.5 * g * casadi.sin(q[0] + q[1])
    weight = casadi.vertcat(1.5 * g * casadi.sin(q[0]) + far, far)
    u_dot = casadi.Function("u_dot", [q, u, w], [casadi.solve(M, casadi.vertcat(0, w) - bias - weight)])
    return _solved(n, u_dot.map(n + 1))


def _solved(n: int, u_dot: Any) -> tuple[int, float]:
    """The plan by CasADi's own problem, with the accelerations of all nodes as columns."""
    import casadi

    problem, h = casadi.Opti(), DURATION / n
    x, w = problem.variable(4, n + 1), problem.variable(1, n + 1)
    F = casadi.vertcat(x[2:, :], u_dot(x[:2, :], x[2:, :], w))
    problem.subject_to(casadi.vec(x[:, 1:] - x[:, :-1] - h / 2 * (F[:, 1:] + F[:, :-1])) == 0)
    problem.subject_to(x[:, 0] == 0)
    problem.subject_to(x[:, n] == END)
    problem.subject_to(problem.bounded(-LIMIT, w, LIMIT))
    problem.minimize(h * (casadi.sumsqr(w) - 0.5 * w[0] ** 2 - 0.5 * w[n] ** 2))
    problem.set_initial(x, np.linspace(0.0 * END, END, n + 1).T)
    problem.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": TOLERANCE}})
    found = problem.solve()
    return found.stats()["iter_count"], float(found.value(problem.f))


def show(results: dict) -> list[Target]:
    """Print times, iterations and costs, and compare with what is asked."""
    rows, targets = [], []
    for n, ways in results["plans"].items():
        for way, times in ways.items():
            iterations, cost = times["facts"]
            slower = ratio(times, ways["symbols"])
            rows.append([n, way, cell_of_time(times), slower, iterations, f"{cost:.6f}"])
            if way != "symbols":
                what = f"plan with {n} intervals by {way}, times CasADi's symbols"
                targets.append(Target(what, slower, ALLOWED[int(n)], at_least=False))
    print_table(
        "Swing-up of an acrobot, us: minimum (median ± spread)",
        ["intervals", "way", "time", "times symbols", "iterations", "cost"],
        rows,
    )
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
