"""Measure whether memory grows over a million steps.

Resident memory of this process, read ten times along a million fixed steps of an integrator on a
double pendulum, and along a million states set and realized from Python. The first tenth is
warm-up.
"""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable
from pathlib import Path

from .models import chain
from .peers.mobod import Mobod
from .report import Target, print_table, run_as_script

STEPS = 1_000_000
QUICK_STEPS = 50_000
READINGS = 10
LIMIT = 1.0  # MiB between the first tenth and the end: allocators breathe
STEP_SIZE = 1e-3


def resident() -> float:
    """MiB of resident memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        import resource  # not Linux: the peak, which shows growth just as well

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def read_along(advance: Callable[[int], None]) -> list[float]:
    """Resident memory after each tenth of a run."""
    readings = []
    for tenth in range(READINGS):
        advance(tenth)
        gc.collect()
        readings.append(resident())
    return readings


def measure(options: argparse.Namespace) -> dict:
    """Both kinds of steps."""
    if reason := Mobod.missing("TimeStepper"):
        return {"notes": [f"mobod left out: {reason}"], "mebibytes": {}}
    steps = QUICK_STEPS if options.quick else STEPS
    engine = Mobod(chain("pin2", "pin", 2))
    mb, states = engine.mb, [engine.native(q, u) for q, u in engine.model.random_states(50)]
    integrator = mb.integrator.RungeKuttaMerson(engine.system, fixed_step_size=STEP_SIZE)
    stepper = mb.TimeStepper(engine.system, integrator)
    stepper.initialize(engine.state)

    def integrate(tenth: int) -> None:
        stepper.step_to((tenth + 1) * steps / READINGS * STEP_SIZE)

    def realize(tenth: int) -> None:
        for _ in range(steps // READINGS // len(states)):
            for q, u in states:
                engine.calls["realize"](q, u)

    mebibytes = {"integrator steps": read_along(integrate), "realizations": read_along(realize)}
    return {"notes": [], "steps": steps, "mebibytes": mebibytes}


def show(results: dict) -> list[Target]:
    """Print the readings."""
    for note in results["notes"]:
        print(f"note: {note}")
    readings = results["mebibytes"]
    if readings:
        columns = ["what", *(f"{10 * (i + 1)} %" for i in range(READINGS))]
        rows = [[name, *(f"{value:.1f}" for value in row)] for name, row in readings.items()]
        print_table(f"Resident memory along {results['steps']} steps, MiB", columns, rows)
    return [
        Target(
            f"growth over the {name}, MiB",
            readings[name][-1] - readings[name][0] if readings else None,
            LIMIT,
            at_least=False,
        )
        for name in ("integrator steps", "realizations")
    ]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
