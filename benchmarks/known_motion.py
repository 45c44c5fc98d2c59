"""Measure what a mobilizer costs that is locked or driven, beside a free one.

A chain of 30 bodies of one kind, free and with every other mobilizer held in some way: one state's forward dynamics in a
compiled loop, and one of an Ensemble's. Both are measured in turn, round by round; ratios are medians of the rounds'.
"""

from __future__ import annotations

import argparse
import statistics
from time import perf_counter
from typing import Any

import numpy as np

from .measure import QUICK, THOROUGH
from .mobilizers import random_system
from .peers.mobod import Mobod, mobod_compiled_loop
from .report import Target, print_table, run_as_script

BODIES = 30
STATES = 4096
LIMIT = 1.0  # of a chain with locks, over the free one


def hold(mb: Any, way: str, system: Any) -> Any:
    """A state of the system with every other mobilizer held, realized."""
    bodies = system.matter.bodies[1::2]
    for body in bodies:
        if way == "steady":
            mb.motion.Steady(body, 0.3)
        elif way.startswith("sinusoid"):
            level = mb.Motion.Level.POSITION if way == "sinusoid of q" else mb.Motion.Level.VELOCITY
            mb.motion.Sinusoid(body, level, 0.3, 1.0, 0.2)
    state = system.realize_topology()
    if way == "locked":
        for body in bodies:
            body.lock(state)
    system.prescribe(state)
    system.realize(state)
    return state


def batch_time(ensemble: Any, q: Any, u: Any) -> float:
    """Seconds for one state of an Ensemble at new q and u."""
    start = perf_counter()
    ensemble.q, ensemble.u = q, u
    ensemble.realize()
    return (perf_counter() - start) / len(ensemble)


def measure(options: argparse.Namespace) -> dict:
    """Microseconds of the free chain, and each way's time over that."""
    if reason := Mobod.missing():
        return {"notes": [f"mobod left out: {reason}"], "ways": []}
    import mobod as mb

    effort = QUICK if options.quick else THOROUGH
    subjects: dict[tuple[str, str], Any] = {}
    kinds = [mb.mobilizer.Pin] if options.quick else [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Ball]
    for kind in kinds:
        for way in ("free", "locked", "steady", "sinusoid of u", "sinusoid of q"):
            if way == "sinusoid of q" and kind.facts.has_quaternion:
                continue
            rng = np.random.default_rng(7)
            system, _ = random_system(mb, [kind] * BODIES, list(range(BODIES)), rng)
            state = hold(mb, way, system)
            ensemble = mb.Ensemble(system, STATES, state=state)
            q = np.tile(state.q, (STATES, 1))
            subjects[kind.__name__, way] = system, state, ensemble, q, rng.normal(size=(STATES, len(state.u)))
    times: dict[tuple[str, str], list[tuple[float, float]]] = {key: [] for key in subjects}
    n = 100 if options.quick else 500
    for _ in range(effort.rounds):
        for key, (system, state, ensemble, q, u) in subjects.items():
            loop = min(mobod_compiled_loop(system, state, n) / n for _ in range(effort.repeats))
            times[key].append((1e6 * loop, 1e6 * min(batch_time(ensemble, q, u) for _ in range(2))))
    ways = []
    for (kind_name, way), found in times.items():
        pairs = list(zip(found, times[kind_name, "free"], strict=True))
        row: dict[str, Any] = {"kind": kind_name, "way": way}
        for k, where in enumerate(("loop", "ensemble")):
            row[where] = min(times[k] for times in found)
            row[f"{where} over free"] = statistics.median(one[k] / free[k] for one, free in pairs)
        ways.append(row)
    return {"notes": [], "ways": ways}


def show(results: dict) -> list[Target]:
    """Print a row for each way; the promise is about locks."""
    for note in results["notes"]:
        print(f"note: {note}")
    columns = ["loop", "loop over free", "ensemble", "ensemble over free"]
    rows = [[way["kind"], way["way"], *(way[column] for column in columns)] for way in results["ways"]]
    title = f"Chains of {BODIES}, every other mobilizer held; us an evaluation"
    print_table(title, ["kind", "every other one", *columns], rows)
    locked = max((way["loop over free"] for way in results["ways"] if way["way"] == "locked"), default=None)
    return [Target("half of the mobilizers locked, time over all free", locked, LIMIT, at_least=False)]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
