"""Measure what simulating 10 s costs and how far off it is: mobod beside Simbody and MuJoCo.

mobod and Simbody run Runge-Kutta-Merson with error control through a time stepper. The error is that after the
first second, before chaos, against the engine's own run at accuracy 1e-10, and these must agree. It
is the geometric mean over several starts: that of a single one is half luck. Beside it stands the
largest error at ten even times of a run that stops there to report. The two differ: stopping,
Simbody takes more steps (20 for 14 in the first second of the chain), mobod as many. The wall time
is that of a run that does not stop. Error and wall time belong together; neither says anything
alone.

MuJoCo's RK4 has steps of one size. Beside it stand mobod's runs of models without damping, and what
RK4 takes with as many steps as make its energy change as much.
"""

from __future__ import annotations

import argparse
import functools
import statistics
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .engines import available_engines
from .measure import ratio, summary
from .models import Model, damped, find_models, lattice, sprung_mechanism
from .peers import build
from .peers.engine import Engine
from .peers.mobod import Mobod
from .peers.mujoco import MuJoCo
from .peers.simbody import Simbody
from .report import Target, cell_of_time, print_table, run_as_script

ACCURACIES = (1e-3, 1e-6)
REFERENCE = 1e-10
SAMPLES = 10  # over the first second
ROUNDS = 7
PATIENCE = 60.0  # seconds that the rounds of one model at one accuracy may take; fewer are made where they take more
STARTS = 6  # of which the errors are averaged
TIME = 10.0
JOINT_DAMPING = 0.01  # torque by angular speed; the files' own is next to nothing
METHODS = ("RungeKuttaMerson", "RungeKuttaFeldberg")  # beside MuJoCo's RK4
MOST_STEPS = 409_600  # of it


def simulated_models(names: list[str] | None, quick: bool) -> list[Model]:
    """Pick the 10-pin chain, the robots with joint damping (or the synthetic humanoid), and those with springs."""
    models, _ = find_models()
    robots = [model for model in models if model.urdf] or [model for model in models if model.name == "humanoid"]
    chosen = [
        *(model for model in models if model.name == "pin10"),
        *(damped(model, JOINT_DAMPING) for model in robots),
        sprung_mechanism(),
        *([] if quick and not names else [lattice()]),
    ]
    return [model for model in chosen if not names or any(model.name.startswith(name) for name in names)]


def conservative_models(names: list[str] | None) -> list[Model]:
    """Pick those that MuJoCo can express: the 10-pin chain and the robot on a fixed base."""
    models, _ = find_models()
    chosen = [model for model in models if model.name == "pin10" or (model.urdf and not model.floating_base)]
    return [model for model in chosen if not names or any(model.name.startswith(name) for name in names)]


def start(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Moderate angles and speeds: a base that only falls would leave the joints at rest."""
    q, u = model.random_state(seed)
    q = 0.3 * q
    for body, iq, _ in model.mobilities():
        if body.kind in ("ball", "free"):
            q[iq] = [1.0, *[0.0] * (len(q[iq]) - 1)]
    return q, u


def difference(q: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference of any coordinate at any of the even times; angles are of order one."""
    return float(np.abs(q - reference).max())


def measure_errors(model: Model, engines: list[Engine], starts: int) -> tuple[dict, float]:
    """Compare the first second with the run at 1e-10, from several starts.

    Returns
    -------
    errors
        engine -> accuracy -> ``end`` and ``sampled`` -> one error a start.
    apart
        Largest difference of two engines' runs at 1e-10.
    """
    errors: dict = {engine.name: {f"{a:.0e}": {"end": [], "sampled": []} for a in ACCURACIES} for engine in engines}
    apart = 0.0
    for seed in range(starts):
        q, u = start(model, seed)
        references = [engine.simulate(q, u, 1.0, REFERENCE, SAMPLES)["q"] for engine in engines]
        apart = max(apart, *(difference(reference, references[0]) for reference in references))
        for engine, reference in zip(engines, references, strict=True):
            for accuracy in ACCURACIES:
                at_end = engine.simulate(q, u, 1.0, accuracy, 1)["q"]
                sampled = engine.simulate(q, u, 1.0, accuracy, SAMPLES)["q"]
                found = errors[engine.name][f"{accuracy:.0e}"]
                found["end"].append(difference(at_end[-1], reference[-1]))
                found["sampled"].append(difference(sampled, reference))
    return errors, apart


def measure_model(model: Model, engines: list[Engine], quick: bool) -> dict:
    """Wall times, counts and errors: engine -> accuracy -> numbers."""
    errors, apart = measure_errors(model, engines, 1 if quick else STARTS)
    results: dict[str, dict] = {engine.name: {} for engine in engines}
    q, u = start(model, 0)
    for accuracy in (f"{a:.0e}" for a in ACCURACIES):
        seconds: dict[str, list[list[float]]] = {engine.name: [] for engine in engines}
        for engine in engines:
            engine.simulate(q, u, 0.01, float(accuracy))  # compiles
        start_of_rounds = perf_counter()
        for done in range(1 if quick else ROUNDS):
            if done and (perf_counter() - start_of_rounds) * (done + 1) > done * PATIENCE:
                break
            for engine in engines:
                run = engine.simulate(q, u, TIME, float(accuracy), repeats=1 if quick or model.nu > 200 else 2)
                seconds[engine.name].append(run["seconds"])
                results[engine.name][accuracy] = {key: run[key] for key in ("steps", "attempts", "evaluations")}
        for engine in engines:
            results[engine.name][accuracy] |= {
                "seconds": summary(seconds[engine.name]),
                "errors": errors[engine.name][accuracy],
                "error": statistics.geometric_mean(errors[engine.name][accuracy]["end"]),
                "error_sampled": statistics.geometric_mean(errors[engine.name][accuracy]["sampled"]),
            }
    return {"engines": results, "references_differ": apart}


def smallest_error(result: dict) -> float:
    """Beside which the references have to agree: of any engine and accuracy."""
    return min(run["error"] for runs in result["engines"].values() for run in runs.values())


def compare_with_rk4(model: Model, quick: bool) -> list[dict]:
    """One row for each method and accuracy: its drift and wall time, and RK4's at the same drift."""
    ours, theirs = Mobod(model), MuJoCo(model)
    q, u = start(model, 0)
    drift_of = functools.cache(lambda steps: theirs.drift(q, u, TIME, steps, 100, 1)["drift"])
    rows = []
    for method in METHODS:
        for accuracy in ACCURACIES:
            drift = ours.drift(q, u, TIME, accuracy, method, 100, 1)["drift"]
            steps = steps_for(drift, drift_of)
            seconds: tuple[list, list] = ([], [])
            for _ in range(1 if quick else ROUNDS):
                run = ours.drift(q, u, TIME, accuracy, method, 1, 2)
                seconds[0].append(run["seconds"])
                seconds[1].append(theirs.drift(q, u, TIME, steps, 1, 2)["seconds"])
            rows.append(
                {
                    "method": method,
                    "accuracy": f"{accuracy:.0e}",
                    "drift": drift,
                    "steps": run["steps"],
                    "steps of RK4": steps,
                    "drift of RK4": drift_of(steps),
                    "seconds": summary(seconds[0]),
                    "seconds of RK4": summary(seconds[1]),
                }
            )
    return rows


def steps_for(drift: float, drift_of: Callable[[int], float]) -> int:
    """Find by bisection the least number of RK4's steps, in hundreds, that makes the drift no larger than this."""
    few, many = 0, 100
    while drift_of(many) > drift and many < MOST_STEPS:
        few, many = many, 2 * many
    while many - few > max(100, many // 16):
        middle = (few + many) // 200 * 100
        few, many = (few, middle) if drift_of(middle) <= drift else (middle, many)
    return many


def measure(options: argparse.Namespace) -> dict:
    """Every model in the engines that simulate."""
    build.compile_slow = not options.quick
    engines, notes = available_engines()
    if Mobod in engines and (reason := Mobod.missing("TimeStepper")):
        engines.remove(Mobod)
        notes.append(f"{Mobod.name} left out: {reason}")
    engines = [engine for engine in engines if engine in (Mobod, Simbody)]
    notes = [n for n in notes if n.startswith((Mobod.name, Simbody.name))] + find_models()[1]
    models = {
        model.name: measure_model(model, [engine(model) for engine in engines], options.quick)
        for model in simulated_models(options.models, options.quick)
    }
    reason = MuJoCo.missing() or MuJoCo.loop_missing()
    if reason:
        notes.append(f"{MuJoCo.name} left out: {reason}")
    beside_rk4 = {}
    if Mobod in engines and not reason:
        beside_rk4 = {model.name: compare_with_rk4(model, options.quick) for model in conservative_models(options.models)}
    failures = [
        f"{name}: the runs at {REFERENCE:.0e} differ by {result['references_differ']:.1e}"
        for name, result in models.items()
        if not result["references_differ"] <= max(1e-7, 0.1 * smallest_error(result))
    ]
    return {"notes": notes, "simulations": models, "beside RK4": beside_rk4, "disagreements": failures}


def show(results: dict) -> list[Target]:
    """Print the table."""
    for note in results["notes"]:
        print(f"note: {note}")
    for line in results["disagreements"]:
        print(f"DISAGREEMENT: {line}")
    rows, targets = [], []
    for model, result in results["simulations"].items():
        engines = result["engines"]
        for accuracy in (f"{a:.0e}" for a in ACCURACIES):
            for engine, runs in engines.items():
                run = runs[accuracy]
                milliseconds = {key: 1e3 * run["seconds"][key] for key in ("median", "min", "spread")}
                counts = [run["steps"], run["attempts"], run["evaluations"]]
                errors = run["error"], run["error_sampled"]
                rows.append([model, accuracy, engine, cell_of_time(milliseconds), *counts, *errors])
            ours, theirs = engines.get(Mobod.name), engines.get(Simbody.name)
            where, both = f"{model} at {accuracy}", ours and theirs
            wall = ratio(theirs[accuracy]["seconds"], ours[accuracy]["seconds"]) if both else None
            targets.append(Target(f"{where}: wall time of Simbody / mobod", wall, 5.0))
            for kind, name in (("error", "after 1 s"), ("error_sampled", "reporting")):
                worse = ours[accuracy][kind] / theirs[accuracy][kind] if both else None
                title = f"{where}: error {name}, mobod / Simbody"
                targets.append(Target(title, worse, 1.0, at_least=False))
    columns = ["model", "accuracy", "engine", "wall time, ms"]
    columns += ["steps", "attempts", "evaluations", "error after 1 s", "reporting"]
    print_table(f"Simulating {TIME:g} s: minimum (median ± spread)", columns, rows)
    return targets + show_rk4(results["beside RK4"])


def show_rk4(models: dict) -> list[Target]:
    """Print the table of equal drifts; of the methods, the faster one is what is promised of."""
    rows, targets = [], []
    for model, runs in models.items():
        for run in runs:
            times = [
                cell_of_time({key: 1e3 * run[which][key] for key in ("median", "min", "spread")})
                for which in ("seconds", "seconds of RK4")
            ]
            speed = ratio(run["seconds of RK4"], run["seconds"])
            counts = run["steps"], run["steps of RK4"], run["drift of RK4"]
            rows.append([model, run["method"], run["accuracy"], run["drift"], times[0], times[1], speed, *counts])
        for accuracy in (f"{a:.0e}" for a in ACCURACIES):
            ratios = [ratio(run["seconds of RK4"], run["seconds"]) or 0.0 for run in runs if run["accuracy"] == accuracy]
            targets.append(Target(f"{model} at {accuracy}: wall time of MuJoCo's RK4 at equal drift / mobod", max(ratios), 1.0))
    columns = ["model", "method", "accuracy", "drift", "mobod, ms", "RK4, ms", "ratio", "steps", "RK4's steps", "RK4's drift"]
    if rows:
        print_table(f"Energy's drift over {TIME:g} s beside MuJoCo's RK4", columns, rows)
    return targets


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which models."""
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only models whose names begin so")


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, add_options, arguments)


if __name__ == "__main__":
    raise SystemExit(1 if main()["disagreements"] else 0)
