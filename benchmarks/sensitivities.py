"""Measure what sensitivities of a run cost: of one state, and of many, on one thread and on two.

Accuracy 1e-3, by all initial displacements and speeds, with a row at each end. A loop over
`mobod.simulate` beside `Ensemble.simulate`, of the same states, in turns.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import mobod as mb

from .measure import ratio, summary
from .report import Target, cell_of_time, print_table, run_as_script

#: Example, states, duration.
MODELS = [
    ("cart_pole", 256, 5.0),
    ("double_pendulum", 256, 2.0),
    ("four_bar", 64, 1.0),
    ("panda", 64, 0.2),
]
LOOPED = 8


def measure(options: argparse.Namespace) -> dict:
    """Microseconds a state, by model and way."""
    return {"models": {name: _times(name, n, time, 3 if options.quick else 9) for name, n, time in MODELS}}


def _times(name: str, n: int, duration: float, rounds: int) -> dict:
    system, state = getattr(mb.examples, name).build()
    settings = {"report_interval": duration, "sensitivities": ["q", "u"], "accuracy": 1e-3}

    def many(threads: int) -> mb.Ensemble:
        ensemble = mb.Ensemble(system, n, state=state, threads=threads)
        ensemble.u = ensemble.u + 0.2 * np.random.default_rng(0).normal(size=ensemble.u.shape)
        ensemble.project()
        return ensemble

    starts = [many(1).get_state(i) for i in range(LOOPED)]

    def loop() -> float:
        begin = perf_counter()
        for start in starts:
            mb.simulate(system, start, duration, **settings)
        return 1e6 * (perf_counter() - begin) / LOOPED

    def together(threads: int) -> float:
        ensemble = many(threads)
        begin = perf_counter()
        ensemble.simulate(duration, **settings)
        return 1e6 * (perf_counter() - begin) / n

    ways = {"loop": loop, "one thread": lambda: together(1), "two threads": lambda: together(2)}
    samples: dict[str, list[list[float]]] = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, call in ways.items():
            samples[way].append([call()])
    return {way: summary(times[1:]) for way, times in samples.items()}  # the first one compiles


def show(results: dict) -> list[Target]:
    """Print the times, and how many times as fast ensembles are."""
    rows = []
    for name, times in results["models"].items():
        cells = [cell_of_time(times[way]) for way in ("loop", "one thread", "two threads")]
        of_threads = ratio(times["one thread"], times["two threads"])
        rows.append([name, *cells, ratio(times["loop"], times["one thread"]), of_threads])
    columns = ["model", "mobod.simulate", "ensemble", "two threads", "ensemble is faster", "two threads are"]
    print_table("A run with sensitivities by q and u, us a state: minimum (median ± spread)", columns, rows)
    return []


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
