"""Measure what udot at a new q and u costs: from Python, in a compiled loop, in a batch.

All engines are measured in turn, many rounds over; ratios are the median of the rounds' ratios.
mobod is called as a user calls it: q and u assigned to a State, then ``realize`` to ACCELERATION, or ``realize`` with both.
An Ensemble's time is for assigning q and u and realizing, on one thread, for one of its 4,096
states (512 of the largest model); the peers' figure beside it is their compiled loop.
"""

from __future__ import annotations

import argparse
import functools

from .engines import Engine, available_engines, disagreement, load
from .measure import QUICK, THOROUGH, Effort, empty_sweep, ratio, summary, time_calls
from .models import Model, find_models
from .peers import build
from .peers.build import Unavailable
from .peers.mobod import Mobod
from .report import Target, cell_of_time, print_table, run_as_script

QUICK_MODELS = ["pin1", "pin10", "pin30", "humanoid", "panda"]
STATES = 16  # different ones, called in turn
ENSEMBLE = 4096
ENSEMBLE_OF_LARGE = 512  # of models with more than LARGE bodies
LARGE = 300
PEERS = ("Simbody", "Pinocchio", "MuJoCo")


def measure_model(model: Model, engines: list[Engine], effort: Effort) -> dict:
    """Time one model in every engine, round by round.

    Returns
    -------
    dict
        ``times``: engine -> ``python``, ``loop``, ``ensemble`` -> summary; of an engine's several
        ways the fastest in each round counts. ``notes``: what could not be had.
    """
    states = model.random_states(STATES)
    arguments = {
        (engine.name, name): [engine.arguments(name, q, u) for q, u in states] for engine in engines for name in engine.calls
    }
    rounds: dict[tuple[str, str], list[list[float]]] = {}
    notes = set()
    for _ in range(effort.rounds):
        for engine in engines:
            ways = [
                time_calls(call, arguments[engine.name, name], effort.repeats, effort.seconds)
                for name, call in engine.calls.items()
            ]
            if ways:
                rounds.setdefault((engine.name, "python"), []).append(min(ways, key=min))
            compiled = {"loop": functools.partial(engine.compiled_loop, effort.repeats, effort.seconds)}
            if isinstance(engine, Mobod):
                n = ENSEMBLE if len(model.bodies) <= LARGE else ENSEMBLE_OF_LARGE
                compiled["ensemble"] = functools.partial(engine.ensemble_times, n, 2)
            for where, run in compiled.items():
                try:
                    rounds.setdefault((engine.name, where), []).append(run())
                except Unavailable as reason:
                    notes.add(f"{engine.name}: {reason}")
    times: dict[str, dict] = {engine.name: {} for engine in engines}
    for (name, where), samples in rounds.items():
        if samples:
            times[name][where] = summary(samples)
    return {"times": times, "notes": sorted(notes)}


def measure(options: argparse.Namespace) -> dict:
    """Every model in every engine."""
    effort = QUICK if options.quick else THOROUGH
    build.compile_slow = not options.quick
    names = options.models
    if options.quick and not names:
        known = {model.name for model in find_models()[0]}
        names = [name for name in QUICK_MODELS if name in known]
    models, notes = find_models(names)
    engines, missing = available_engines()
    notes += missing
    results = {}
    failures = []
    for model in models:
        loaded, left_out = load(model, engines)
        differences, wrong = disagreement(loaded)
        failures += wrong
        result = measure_model(model, loaded, effort)
        notes += left_out + result["notes"]
        results[model.name] = {
            "bodies": len(model.bodies),
            "differences": differences,
            "times": result["times"],
        }
    empty = empty_sweep(models[0].random_states(STATES), effort.repeats, effort.seconds)
    return {
        "engines": {engine.name: engine.version() for engine in engines},
        "notes": list(dict.fromkeys(notes)),
        "disagreements": failures,
        "empty_call": summary([empty]),
        "models": results,
    }


def time_of(result: dict, engine: str, where: str) -> dict | None:
    """Look up the summary of an engine's times, or None."""
    return result["times"].get(engine, {}).get(where)


def closest_peer(result: dict, where: str) -> float | None:
    """Compare mobod with its fastest rival: the least of its ratios to the peers."""
    ours = time_of(result, "mobod", where)
    ratios = [ratio(time_of(result, peer, where), ours) for peer in PEERS]
    return min((value for value in ratios if value is not None), default=None)


def targets_of(models: dict) -> list[Target]:
    """List what the project promised, model by model."""
    targets = []
    for name, result in models.items():
        n = result["bodies"]
        python, batch = (time_of(result, "mobod", where) for where in ("python", "ensemble"))
        if n >= 30 or name == "pin10":
            limit = 1.0 if n >= 30 else 1 / 1.2
            best = closest_peer(result, "python")
            targets.append(Target(f"{name}: from Python, best peer / mobod", best, limit))
        if name == "pin1" or (name.startswith("pin") and n >= 30):
            simbody = ratio(time_of(result, "Simbody", "loop"), python)
            limit = 1.0 if n == 1 else 4.0
            targets.append(Target(f"{name}: Simbody's C++ / mobod from Python", simbody, limit))
        best = closest_peer(result, "loop")
        targets.append(Target(f"{name}: compiled loop, best peer / mobod", best, 1.0))
        for peer, limit in zip(PEERS, (25.0, 6.0, 4.0), strict=True):
            speedup = ratio(time_of(result, peer, "loop"), batch)
            targets.append(Target(f"{name}: {peer}'s loop / Ensemble", speedup, limit))
    if {"pin100", "pin1000"} <= models.keys():
        for where in ("python", "loop"):
            large, small = (time_of(models[name], "mobod", where) for name in ("pin1000", "pin100"))
            # measured minutes apart, so by their minima
            grown = large["min"] / 1000 / (small["min"] / 100) if large and small else None
            title = f"time a body at 1000 / at 100, {where}"
            targets.append(Target(title, grown, 1.3, at_least=False))
    return targets


def show(results: dict) -> list[Target]:
    """Print the tables."""
    for note in results["notes"]:
        print(f"note: {note}")
    versions = ", ".join(f"{name} {version}" for name, version in results["engines"].items())
    print(f"\n{versions}; an empty call from Python {cell_of_time(results['empty_call'])} us\n")
    models, engines = results["models"], list(results["engines"])
    rows = [[name, *(worst_difference(result, engine) for engine in engines)] for name, result in models.items()]
    title = "Largest relative difference of udot from the first peer's"
    print_table(title, ["model", *engines], rows)
    for line in results["disagreements"]:
        print(f"DISAGREEMENT: {line}")
    for where, title in (("python", "called from Python"), ("loop", "in a compiled loop")):
        rows = [[name, *(cell_of_time(time_of(result, e, where)) for e in engines)] for name, result in models.items()]
        print_table(f"udot, us: minimum (median ± spread), {title}", ["model", *engines], rows)
    columns = ["model", "Ensemble, us a state"]
    columns += [f"{peer} / mobod" for peer in PEERS]
    rows = []
    for name, result in models.items():
        batch = time_of(result, "mobod", "ensemble")
        ratios = [ratio(time_of(result, peer, "loop"), batch) for peer in PEERS]
        rows.append([name, cell_of_time(batch), *ratios])
    print_table("Ensemble on one thread, beside the peers' compiled loops", columns, rows)
    return targets_of(models)


def worst_difference(result: dict, engine: str) -> float | None:
    """Find the largest difference among an engine's ways."""
    found = [d for name, d in result["differences"].items() if name.startswith(f"{engine}: ")]
    return max(found) if found else None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Models by name."""
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these models")


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, add_options, arguments)


if __name__ == "__main__":
    raise SystemExit(1 if main()["disagreements"] else 0)
