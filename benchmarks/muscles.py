"""Measure what muscles cost: evaluations, forward runs, static optimization, derivatives, control, beside OpenSim's tools.

Rajagopal's model with 80 muscles, and gait2354's subject for computed muscle control and residual reduction, of a clone of
github.com/opensim-org/opensim-models that the environment variable MOBOD_LAB_FILES names. One evaluation is new q and u and all
up to accelerations. Forward runs fall for 0.2 s from the default pose, both integrators initialized before, in processor
seconds, by the same methods at the same accuracies: the least of 3 runs of OpenSim's `Manager` and of 9 of ours, which are so
much shorter. Each of its runs that is off by 1e-3 at most, and than which no other one of it is as exact for less, is compared
with our cheapest one whose coordinates at the end are as near to those of our tightest as its are to those of its tightest:
the least ratio counts. Static optimization is of a made-up motion of the legs, reserves of 100 N m or N; its cost is compared
with OpenSim's in the tests.
Derivatives of one state are multiples of those without muscles. OpenSim's columns need ``pip install opensim``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .peers.mobod import Mobod
from .report import Target, print_table, run_as_script

#: Microseconds of an evaluation, and of one in an ensemble; times the Manager; frames by second; times the bare model.
EVALUATION, IN_LANES, FORWARD, FRAMES, DERIVATIVES = 40.0, 6.0, 50.0, 2000.0, 3.0
STATES, FRAMES_OF_MOTION, FALL = 64, 250, 0.2
#: Forward runs of both, by each of these methods at each of these accuracies; and of our own, which are more exact at the same
#: one, at others on both sides, so that they reach the errors of OpenSim's. Errors above USEFUL, rad or m, count for nothing.
METHODS = "RungeKutta2", "RungeKutta3", "RungeKuttaFeldberg", "RungeKuttaMerson"
ACCURACIES = *(digit / 10**power for power in range(2, 6) for digit in (10, 5, 3, 2)), 1e-5
BEYOND, USEFUL, REFERENCE = (0.3, 0.2, 3e-6, 1e-6, 1e-7), 1e-3, {"own": 1e-10, "OpenSim": 1e-9}
RAJAGOPAL, GAIT = ("Models", "Rajagopal", "Rajagopal2016.osim"), ("Pipelines", "Gait2354_Simbody")


def least(call: Callable[[], Any], rounds: int) -> float:
    """Seconds of the fastest of some calls, after one."""
    call()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def evaluations(np: Any, mb: Any, model: Any, rounds: int) -> dict[str, float]:
    """Microseconds of one evaluation and of derivatives, alone and of a state of an ensemble; without muscles, too."""
    system, state, rng = model.system, model.default_state(), np.random.default_rng(0)
    system.realize(state)
    q = state.q + 0.05 * rng.normal(size=(STATES, len(state.q)))
    u = 0.3 * rng.normal(size=(STATES, len(state.u)))
    found = {}
    for name in ("muscles", "bare"):
        if name == "bare":
            for muscle in model.muscles.values():
                muscle.disable(state)
        ensemble = mb.Ensemble(system, STATES, state=state, threads=1)

        def alone(state: Any = state) -> None:
            for one, speed in zip(q, u, strict=True):
                state.q, state.u = one, speed
                system.realize(state)

        def in_lanes(ensemble: Any = ensemble) -> None:
            ensemble.q, ensemble.u = q, u
            ensemble.realize()

        def derivatives(state: Any = state) -> None:
            for one, speed in zip(q[:8], u[:8], strict=True):
                system.calc_forward_dynamics_derivatives(state, q=one, u=speed)

        found[name] = 1e6 * least(alone, rounds) / STATES
        found[f"{name} in lanes"] = 1e6 * least(in_lanes, rounds) / STATES
        found[f"{name}, derivatives"] = 1e6 * least(derivatives, rounds) / 8
    return found


def forward(np: Any, mb: Any, osim: Any, model: Any, path: Path, rounds: int) -> dict[str, float]:
    """Seconds and errors of runs of both."""
    state = model.default_state()
    model.equilibrate_muscles(state)

    def run(method: str, accuracy: float) -> tuple[float, Any]:
        stepper = mb.TimeStepper(model.system, getattr(mb.integrator, method)(model.system, accuracy=accuracy))
        stepper.initialize(state)
        start = time.process_time()
        stepper.step_to(FALL)
        return time.process_time() - start, np.array(stepper.state.q)

    found = errors_and_seconds(np, run, "own", ACCURACIES + BEYOND, 3 * rounds)
    if osim is None:
        return found
    loaded = osim.Model(str(path))

    def run_theirs(method: str, accuracy: float) -> tuple[float, Any]:
        begin = loaded.initSystem()
        loaded.equilibrateMuscles(begin)
        manager = osim.Manager(loaded)
        manager.setIntegratorMethod(getattr(osim.Manager, f"IntegratorMethod_{method}"))
        manager.setIntegratorAccuracy(accuracy)
        manager.initialize(begin)
        start = time.process_time()
        end = manager.integrate(FALL)
        return time.process_time() - start, np.array([one.getValue(end) for one in loaded.getCoordinateSet()])

    return found | errors_and_seconds(np, run_theirs, "OpenSim", ACCURACIES, rounds)


def errors_and_seconds(np: Any, run: Any, whose: str, accuracies: tuple[float, ...], rounds: int) -> dict[str, Any]:
    """The least seconds of some runs of each method at each accuracy, and their errors against the tightest of Merson's."""
    found, (_, reference) = {}, run("RungeKuttaMerson", REFERENCE[whose])
    for method in METHODS:
        for accuracy in accuracies if method != "RungeKutta2" else [one for one in accuracies if one > 1e-3]:  # dear below
            seconds, ends = zip(*(run(method, accuracy) for _ in range(rounds)), strict=True)
            found[f"{whose} {method} {accuracy:g}"] = min(seconds), float(np.abs(ends[0] - reference).max())
    return found


def times_the_manager(runs: dict[str, Any]) -> float | None:
    """The least ratio of OpenSim's seconds to those of the cheapest run as exact."""
    own, theirs = ([run for name, run in runs.items() if name.startswith(whose)] for whose in ("own", "OpenSim"))
    found = []
    for seconds, error in theirs:
        if 0.0 < error <= USEFUL and not any(cost < seconds and off <= error for cost, off in theirs):
            found.append(seconds / min(cost for cost, off in own if off <= error))
    return min(found) if found else None


def static_optimization(np: Any, mb: Any, model: Any, rounds: int) -> dict[str, float]:
    """Frames by second, and the sum of the costs."""
    t = np.linspace(0.0, 2.5, FRAMES_OF_MOTION)
    rows = {}
    for k, name in enumerate(model.coordinates):
        leg = any(part in name for part in ("hip", "knee_angle", "ankle")) and "beta" not in name
        rows[name] = (0.4 + 0.3 * np.sin(2 * np.pi * t + k) if "knee" in name else 0.1 * np.sin(2 * np.pi * t + k)) * leg
    motion, kept = mb.Table(t, rows), []
    seconds = least(lambda: kept.append(mb.static_optimization(model, motion, reserve=100.0)), rounds)
    return {"frames": len(t) / seconds, "cost": float(kept[-1].cost.sum())}


def tracking(mb: Any, osim: Any, folder: Path) -> dict[str, float]:
    """Seconds of both tools by the setup files of gait2354's pipeline, files read and written."""
    from mobod.cli.main import main

    place, found = folder.joinpath(*GAIT), {}
    for kind, tool in (("rra", "RRATool"), ("cmc", "CMCTool")):
        setup = next(iter(sorted(place.rglob(f"subject01_Setup_{kind.upper()}.xml"))), None)
        if setup is None:
            continue
        with tempfile.TemporaryDirectory() as out:
            start = time.perf_counter()
            main([kind, str(setup), "--results", out, "--quiet"])
            found[kind] = time.perf_counter() - start
            if osim is not None:
                theirs = getattr(osim, tool)(str(setup))
                theirs.setResultsDir(out)
                start = time.perf_counter()
                theirs.run()
                found[f"{kind} of OpenSim"] = time.perf_counter() - start
    return found


def measure(options: argparse.Namespace) -> dict:
    """All of it."""
    folder = os.environ.get("MOBOD_LAB_FILES")
    if not folder:
        return {"notes": ["left out: MOBOD_LAB_FILES names no clone of opensim-org/opensim-models"]}
    if reason := Mobod.missing("Ensemble"):
        return {"notes": [f"left out: {reason}"]}
    import numpy as np

    import mobod as mb

    notes, osim = [], None
    try:
        import opensim as osim

        osim.Logger.setLevelString("Off")
    except ImportError as error:
        notes.append(f"OpenSim left out: {error}; pip install opensim")
    rounds = 3 if options.quick else 12
    path = Path(folder).joinpath(*RAJAGOPAL)
    found: dict[str, Any] = {"notes": notes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mb.load_osim(path)
        found["evaluations"] = evaluations(np, mb, model, rounds)
        found["forward"] = forward(np, mb, osim, model, path, min(rounds, 3))
        found["static optimization"] = static_optimization(np, mb, model, rounds)
        found["tracking"] = {} if options.quick else tracking(mb, osim, Path(folder))
    return found


def show(results: dict) -> list[Target]:
    """Print the tables; the targets."""
    for note in results["notes"]:
        print(f"note: {note}")
    if "evaluations" not in results:
        return []
    one, runs, so = results["evaluations"], results["forward"], results["static optimization"]
    columns = ["", "one state", "a state of an Ensemble", "derivatives of one"]
    rows = [[name, *(f"{one[name + more]:.1f}" for more in ("", " in lanes", ", derivatives"))] for name in ("muscles", "bare")]
    print_table("Rajagopal, us", columns, rows)
    print_table("0.2 s forward", ["run", "ms", "error"], [[k, f"{1e3 * s:.1f}", f"{e:.1e}"] for k, (s, e) in runs.items()])
    print_table("Static optimization", ["frames/s", "cost"], [[f"{so['frames']:.0f}", f"{so['cost']:.6f}"]])
    tools = results["tracking"]
    if tools:
        print_table("gait2354, s", ["tool", "s"], [[name, f"{seconds:.2f}"] for name, seconds in tools.items()])
    targets = [
        Target("80 muscles, one evaluation, us", one["muscles"], EVALUATION, at_least=False),
        Target("80 muscles, a state of an Ensemble, us", one["muscles in lanes"], IN_LANES, at_least=False),
        Target("forward, times the Manager", times_the_manager(runs), FORWARD),
        Target("static optimization, frames/s", so["frames"], FRAMES),
        Target("derivatives / bare", one["muscles, derivatives"] / one["bare, derivatives"], DERIVATIVES, at_least=False),
    ]
    for kind in ("cmc", "rra"):
        if f"{kind} of OpenSim" in tools:
            targets.append(Target(f"{kind} / OpenSim's", tools[kind] / tools[f"{kind} of OpenSim"], 1.0, at_least=False))
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
