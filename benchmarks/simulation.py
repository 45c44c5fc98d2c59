"""Measure what simulating 10 s costs and how far off it is: mobod beside Simbody, same integrator.

Both run Runge-Kutta-Merson with error control through a time stepper. The error is that after the
first second, before chaos, against the engine's own run at accuracy 1e-10, and these must agree. It
is the geometric mean over several starts: that of a single one is half luck. Beside it stands the
largest error at ten even times of a run that stops there to report. The two differ: stopping,
Simbody takes more steps (20 for 14 in the first second of the chain), mobod as many. The wall time
is that of a run that does not stop. Error and wall time belong together; neither says anything
alone.
"""

from __future__ import annotations

import argparse
import statistics

import numpy as np

from .engines import available_engines
from .measure import ratio, summary
from .models import Model, find_models
from .peers import build
from .peers.engine import Engine
from .peers.mobod import Mobod
from .peers.simbody import Simbody
from .report import Target, cell_of_time, print_table, run_as_script

ACCURACIES = (1e-3, 1e-6)
REFERENCE = 1e-10
SAMPLES = 10  # over the first second
ROUNDS = 7
STARTS = 6  # of which the errors are averaged
TIME = 10.0


def simulated_models() -> list[Model]:
    """Pick the 10-pin chain and the robot with a floating base, or the synthetic humanoid."""
    models, _ = find_models()
    floating = [model for model in models if model.floating_base]
    return [
        *(model for model in models if model.name == "pin10"),
        *(floating or [model for model in models if model.name == "humanoid"]),
    ]


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
        for _ in range(1 if quick else ROUNDS):
            for engine in engines:
                run = engine.simulate(q, u, TIME, float(accuracy), repeats=1 if quick else 2)
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


def measure(options: argparse.Namespace) -> dict:
    """Both models in the engines that simulate."""
    build.compile_slow = not options.quick
    engines, notes = available_engines()
    if Mobod in engines and (reason := Mobod.missing("TimeStepper")):
        engines.remove(Mobod)
        notes.append(f"{Mobod.name} left out: {reason}")
    engines = [engine for engine in engines if engine in (Mobod, Simbody)]
    notes = [n for n in notes if n.startswith((Mobod.name, Simbody.name))] + find_models()[1]
    models = {
        model.name: measure_model(model, [engine(model) for engine in engines], options.quick) for model in simulated_models()
    }
    failures = [
        f"{name}: the runs at {REFERENCE:.0e} differ by {result['references_differ']:.1e}"
        for name, result in models.items()
        if not result["references_differ"] <= 1e-7
    ]
    return {"notes": notes, "simulations": models, "disagreements": failures}


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
            targets.append(Target(f"{where}: wall time of Simbody / mobod", wall, 4.0))
            for kind, name in (("error", "after 1 s"), ("error_sampled", "reporting")):
                worse = ours[accuracy][kind] / theirs[accuracy][kind] if both else None
                title = f"{where}: error {name}, mobod / Simbody"
                targets.append(Target(title, worse, 1.0, at_least=False))
    columns = ["model", "accuracy", "engine", "wall time, ms"]
    columns += ["steps", "attempts", "evaluations", "error after 1 s", "reporting"]
    print_table(f"Simulating {TIME:g} s: minimum (median ± spread)", columns, rows)
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    raise SystemExit(1 if main()["disagreements"] else 0)
