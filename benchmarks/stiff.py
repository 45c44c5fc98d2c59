"""Measure what an implicit method spares: a chain of ten links that damped bushings of 1e8 hold straight.

BDF simulates a second. RungeKuttaMerson's steps are as short as its stability asks all the way, so that a ten-thousandth of the
second tells how many it would take, and how long. The error of both is that of the speeds after that ten-thousandth, in which
the fast motions die away and the slow ones have begun, against RungeKuttaMerson at 1e-10.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import mobod as mb

from .measure import summary
from .report import Target, cell_of_time, print_table, run_as_script

LINKS = 10
STIFFNESS, DAMPING = 1e8, 1e5
ACCURACIES = (1e-3, 1e-6)
TIME, PIECE = 1.0, 1e-4
ROUNDS = 5


def chain() -> tuple[mb.MultibodySystem, mb.State]:
    """Links of 0.3 on pins, a bushing at each, set moving."""
    system = mb.MultibodySystem("chain of bushings")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    parent: mb.MobilizedBody = matter.ground
    for i in range(LINKS):
        frame, end = mb.Transform((0, -0.3, 0)) if i else mb.Transform(), mb.Transform((0, 0.3, 0))
        link = mb.mobilizer.Pin(parent, body, X_PF=frame, X_BM=end)
        mb.force.LinearBushing(forces, parent, frame, link, end, np.full(6, STIFFNESS), np.full(6, DAMPING))
        parent = link
    state = system.realize_topology()
    state.u = np.linspace(0.1, 1.0, LINKS)
    return system, state


def run(system, state, method, time: float) -> tuple[float, int, np.ndarray]:
    """Seconds, steps attempted, u at the end."""
    stepper = mb.TimeStepper(system, method)
    stepper.initialize(state)
    start = perf_counter()
    stepper.step_to(time)
    return perf_counter() - start, stepper.integrator.get_num_steps_attempted(), stepper.state.u.copy()


def measure(options: argparse.Namespace) -> dict:
    """Both methods at both accuracies."""
    system, state = chain()
    truth = run(system, state, mb.integrator.RungeKuttaMerson(system, accuracy=1e-10), PIECE)[2]
    rows = []
    for accuracy in ACCURACIES:
        row: dict = {"accuracy": f"{accuracy:.0e}"}
        for name in ("BDF", "RungeKuttaMerson"):
            kind = getattr(mb.integrator, name)
            scale, time = (1.0, TIME) if name == "BDF" else (TIME / PIECE, PIECE)
            error = np.abs(run(system, state, kind(system, accuracy=accuracy), PIECE)[2] - truth).max()
            seconds = []
            for _ in range(1 if options.quick else ROUNDS):
                spent, steps, _u = run(system, state, kind(system, accuracy=accuracy, final_time=time), time)
                seconds.append(spent * scale)
            row[name] = {"seconds": summary([seconds]), "steps": round(steps * scale), "error": float(error)}
        rows.append(row)
    return {"notes": [], "runs": rows}


def show(results: dict) -> list[Target]:
    """Print the table."""
    rows, targets = [], []
    for row in results["runs"]:
        for name in ("BDF", "RungeKuttaMerson"):
            found = row[name]
            rows.append([row["accuracy"], name, found["steps"], cell_of_time(found["seconds"]), found["error"]])
        ratio = row["RungeKuttaMerson"]["steps"] / row["BDF"]["steps"]
        targets.append(Target(f"steps of RungeKuttaMerson / BDF at {row['accuracy']}", ratio, 100.0))
    columns = [
        "accuracy",
        "method",
        "steps a second",
        "seconds a second: minimum (median ± spread)",
        f"error after {PIECE:g} s",
    ]
    print_table("A chain of ten links with bushings of 1e8", columns, rows)
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
