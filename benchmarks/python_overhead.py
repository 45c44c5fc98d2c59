"""Measure what the Python around the compiled call costs at 10 pins.

From Python: assign q, assign u, realize to ACCELERATION; that, less the same work in a compiled
loop and less an empty call, is what setters, checks and the call into compiled code cost: the
median of the rounds' differences.
"""

from __future__ import annotations

import argparse
import statistics

from .measure import QUICK, THOROUGH, summary, time_calls
from .models import find_models
from .peers.build import Unavailable
from .peers.mobod import Mobod
from .report import Target, cell_of_time, print_table, run_as_script

LIMIT = 2.0  # microseconds
STATES = 16


def measure(options: argparse.Namespace) -> dict:
    """Time the whole, its parts from Python, and the compiled loop."""
    if reason := Mobod.missing():
        return {"notes": [f"mobod left out: {reason}"], "parts": {}}
    effort = QUICK if options.quick else THOROUGH
    engine = Mobod(find_models(["pin10"])[0][0])
    state, realize, notes = engine.state, engine.system.realize, []
    position = engine.mb.Stage.POSITION
    both = [engine.native(q, u) for q, u in engine.model.random_states(STATES)]

    def set_q(q, u):
        state.q = q

    def set_u(q, u):
        state.u = u

    calls = {
        "q, u, realize": engine.calls["realize"],
        "assign q": set_q,
        "assign u": set_u,
        "realize what is realized": lambda q, u: realize(state, position),
        "an empty call": lambda q, u: None,
    }
    samples: dict[str, list[list[float]]] = {}
    for _ in range(effort.rounds):
        for name, call in calls.items():
            engine.calls["realize"](*both[0])
            times = time_calls(call, both, effort.repeats, effort.seconds)
            samples.setdefault(name, []).append(times)
        try:
            loop = engine.compiled_loop(effort.repeats, effort.seconds)
            samples.setdefault("compiled loop", []).append(loop)
        except Unavailable as reason:
            notes = [str(reason)]
    return {"notes": notes, "parts": {name: summary(times) for name, times in samples.items()}}


def show(results: dict) -> list[Target]:
    """Print the parts and the difference."""
    for note in results["notes"]:
        print(f"note: {note}")
    parts = results["parts"]
    rows = [[name, cell_of_time(timing)] for name, timing in parts.items()]
    print_table("10 pins, us: minimum (median ± spread)", ["what", "us"], rows)
    overhead = None
    if "compiled loop" in parts:
        names = "q, u, realize", "compiled loop", "an empty call"
        rounds = zip(*(parts[name]["rounds"] for name in names), strict=True)
        overhead = statistics.median(whole - loop - empty for whole, loop, empty in rounds)
    return [Target("Python around the compiled call, us", overhead, LIMIT, at_least=False)]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
