"""Measure what derivatives cost from Python: of forward dynamics, by q, u and forces, at a new q and u, beside Pinocchio.

mobod's `calc_forward_dynamics_derivatives` is given q and u, as Pinocchio's `computeABADerivatives` is given q, v and tau; step
by step these are assigned, the state realized, and then asked; or torques at all joints are set by `force.Actuators` before
each call. Inverse dynamics with gravity likewise, beside `rnea`. An `Ensemble`'s derivatives are written into the arrays of its
first ones (``out=``), as `computeABADerivatives` writes its data. Ratios are the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from .engines import available_engines, load
from .measure import QUICK, THOROUGH, Effort, empty_sweep, ratio, summary, time_calls
from .models import Model, find_models
from .operators import arguments
from .peers.engine import Engine
from .peers.mobod import Mobod
from .peers.pinocchio import Pinocchio
from .report import Target, cell_of_time, print_table, run_as_script

#: The first is there for inverse dynamics, where it shows what Python costs.
MODELS = ["pin1", "pin10", "pin30", "pin100", "panda", "g1"]
QUICK_MODELS = ["pin10", "pin30"]
STATES = 16
WHAT = ("derivatives", "inverse dynamics")
#: mobod's time for derivatives is to be at most this part of Pinocchio's; of one state of an `Ensemble` this.
LIMIT, LIMIT_OF_ENSEMBLE = 0.8, 0.15
ENSEMBLE, OF_ENSEMBLE = "an Ensemble's", 256


def calls_of_mobod(engine: Mobod) -> dict:
    """Functions of (q, u, udot), in mobod's own order."""
    state, system = engine.state, engine.system

    def derivatives(q, u, udot):
        return system.calc_forward_dynamics_derivatives(state, q=q, u=u)

    def inverse_dynamics(q, u, udot):
        return system.calc_inverse_dynamics(state, udot, q=q, u=u)

    return dict(zip(WHAT, (derivatives, inverse_dynamics), strict=True))


def calls_step_by_step(engine: Mobod) -> dict:
    """The same with q and u assigned, and the state realized, by calls of their own."""
    state, system, Stage = engine.state, engine.system, engine.mb.Stage
    velocity = Stage.VELOCITY

    def derivatives(q, u, udot):
        state.q = q
        state.u = u
        system.realize(state)
        return system.calc_forward_dynamics_derivatives(state)

    def inverse_dynamics(q, u, udot):
        state.q = q
        state.u = u
        system.realize(state, velocity)
        return system.calc_inverse_dynamics(state, udot)

    return dict(zip(WHAT, (derivatives, inverse_dynamics), strict=True))


def calls_with_efforts(model: Model) -> dict:
    """Derivatives alone, with torques at all joints set before each call: of a system of their own."""
    engine = Mobod(model)
    system, bodies = engine.system, engine.system.matter.bodies
    mobilities = [(body, k) for body in bodies for k in range(body.facts.num_u)]
    actuators = engine.mb.force.Actuators(system.forces, mobilities)
    state, efforts = system.realize_topology(), np.linspace(-1.0, 1.0, len(mobilities))

    def derivatives(q, u, udot):
        actuators.set_efforts(state, efforts)
        return system.calc_forward_dynamics_derivatives(state, q=q, u=u)

    return {WHAT[0]: derivatives}


def calls_of_pinocchio(engine: Pinocchio) -> dict:
    """Functions of (q, v, third), in Pinocchio's coordinates."""
    import pinocchio as pin

    model, data = engine.pin_model, engine.pin_data

    def derivatives(q, v, tau):
        return pin.computeABADerivatives(model, data, q, v, tau)

    def inverse_dynamics(q, v, v_dot):
        return pin.rnea(model, data, q, v, v_dot)

    return dict(zip(WHAT, (derivatives, inverse_dynamics), strict=True))


def time_ensemble(engine: Mobod, effort: Effort) -> list[float]:
    """Microseconds a state of an `Ensemble` on one thread, q and u given in the call."""
    n = OF_ENSEMBLE
    q, u = engine.native(*(np.array(part) for part in zip(*engine.model.random_states(n), strict=True)))
    ensemble = engine.ensemble(n, q, u)
    samples, out = [], ensemble.calc_forward_dynamics_derivatives(q=q, u=u)
    for _ in range(effort.repeats + 1):
        start = perf_counter()
        ensemble.calc_forward_dynamics_derivatives(q=q, u=u, out=out)
        samples.append(1e6 * (perf_counter() - start) / n)
    return samples[1:]


CALLS = {"mobod": calls_of_mobod, "Pinocchio": calls_of_pinocchio}
STEP_BY_STEP, WITH_EFFORTS = "mobod, step by step", "mobod, efforts set"


def measure_model(model: Model, engines: list[Engine], effort: Effort) -> dict:
    """Time both in every engine, round by round."""
    states = model.random_states(STATES)
    calls = {engine.name: CALLS[engine.name](engine) for engine in engines}
    given = {engine.name: arguments(engine, states) for engine in engines}
    for engine in engines:
        if isinstance(engine, Mobod):
            calls[STEP_BY_STEP], given[STEP_BY_STEP] = calls_step_by_step(engine), given[engine.name]
            calls[WITH_EFFORTS], given[WITH_EFFORTS] = calls_with_efforts(model), given[engine.name]
    rounds: dict[tuple[str, str], list[list[float]]] = {}
    for _ in range(effort.rounds):
        for what in WHAT:
            for name in (name for name in calls if what in calls[name]):
                times = time_calls(calls[name][what], given[name], effort.repeats, effort.seconds)
                rounds.setdefault((what, name), []).append(times)
        for engine in engines:
            if isinstance(engine, Mobod):
                rounds.setdefault((WHAT[0], ENSEMBLE), []).append(time_ensemble(engine, effort))
    result: dict[str, dict] = {what: {} for what in WHAT}
    for (what, name), samples in rounds.items():
        result[what][name] = summary(samples)
    return result


def measure(options: argparse.Namespace) -> dict:
    """Every model in both engines."""
    effort = QUICK if options.quick else THOROUGH
    known = {model.name for model in find_models()[0]}
    wanted = getattr(options, "models", None) or (QUICK_MODELS if options.quick else MODELS)
    models, notes = find_models([name for name in wanted if name in known])
    engines, missing = available_engines()
    engines = [engine for engine in engines if engine.name in CALLS]
    results = {}
    for model in models:
        loaded, left_out = load(model, engines)
        notes += left_out
        results[model.name] = measure_model(model, loaded, effort)
    return {
        "engines": {engine.name: engine.version() for engine in engines},
        "notes": list(dict.fromkeys(notes + missing)),
        "empty_call": summary([empty_sweep([()], effort.repeats, effort.seconds)]),
        "models": results,
    }


def show(results: dict) -> list[Target]:
    """Print the tables; the targets."""
    for note in results["notes"]:
        print(f"note: {note}")
    versions = ", ".join(f"{name} {version}" for name, version in results["engines"].items())
    print(f"\n{versions}; an empty call from Python {cell_of_time(results['empty_call'])} us\n")
    targets = []
    for what in WHAT:
        rows = []
        for name, times in results["models"].items():
            part = ratio(times[what].get("mobod"), times[what].get("Pinocchio"))
            ways = (*CALLS, STEP_BY_STEP, WITH_EFFORTS, ENSEMBLE) if what == "derivatives" else (*CALLS, STEP_BY_STEP)
            rows.append([name, *(cell_of_time(times[what].get(way)) for way in ways), part])
            if what == "derivatives" and name == "pin1":
                continue
            limit = LIMIT if what == "derivatives" else 1.0
            targets.append(Target(f"{name}: {what}, mobod / Pinocchio", part, limit, at_least=False))
            if WITH_EFFORTS in times[what]:
                part = ratio(times[what][WITH_EFFORTS], times[what].get("Pinocchio"))
                targets.append(Target(f"{name}: {what} with efforts set, mobod / Pinocchio", part, limit, at_least=False))
            if ENSEMBLE in times[what]:
                part = ratio(times[what][ENSEMBLE], times[what].get("Pinocchio"))
                targets.append(
                    Target(f"{name}: {what}, a state of an Ensemble / Pinocchio", part, LIMIT_OF_ENSEMBLE, at_least=False)
                )
        print_table(
            f"{what} at a new q and u from Python, us: minimum (median ± spread)",
            ["model", *ways, "ratio"],
            rows,
        )
    return targets


def add_options(parser: argparse.ArgumentParser) -> None:
    """Models by name."""
    parser.add_argument("--models", nargs="+", metavar="NAME", help="only these models")


def main(given: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, add_options, given)


if __name__ == "__main__":
    main()
