"""Measure a control loop in Python: set all torques, step by 1 ms of one fixed step, read q and u, beside `mujoco.mj_step`.

Both take a step of the same method, speeds by Euler's and coordinates by the new speeds, from the torques set in each period;
MuJoCo's contacts, limits and damping are switched off. Beside it, what setting the torques takes alone, and what a periodic
handler adds that does so: the least time of a run, less the least of its steps and of the handler itself. Ratios are the median
of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import dataclasses
from time import perf_counter

import numpy as np

from .measure import QUICK, THOROUGH, Effort, ratio, summary, time_calls
from .models import Model, find_models, tree
from .peers.mobod import _import, build
from .peers.mujoco import MuJoCo, build as build_for_mujoco
from .report import Target, cell_of_time, print_table, run_as_script

STEP = 1e-3
TORQUE = 1e-9
#: So few that some of the runs are not interrupted by other work of the machine.
PERIODS = 50
#: mobod's time for a period is to be at most this many times MuJoCo's; microseconds of the others.
LIMIT, SETTING, HANDLER = 1.5, 1.0, 3.0
#: Seconds for 6 s with a compiled controller.
CONTROLLED = 0.03


def models() -> list[Model]:
    """A cart with a pole, and the Panda where Pinocchio has it."""
    found, _ = find_models(None)
    chosen = [tree("cart_pole", ["slider", "pin"], [0, 1]), *[model for model in found if model.name == "panda"]]
    # in millions of steps without feedback, weight would make speeds grow until nothing is finite
    return [dataclasses.replace(model, gravity=(0.0, 0.0, 0.0)) for model in chosen]


def of_mobod(model: Model) -> dict:
    """Functions of nothing: the period, a step alone, and setting the torques alone."""
    mb, _ = _import()
    system = build(model)
    bodies = [body for body in system.matter.bodies[1:] if body.facts.num_u]
    motors = mb.force.Actuators(system.forces, [(body, 0) for body in bodies])
    state = system.realize_topology()
    state.q = model.random_state(0)[0]
    stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=STEP))
    stepper.initialize(state)
    torques = np.full(len(bodies), TORQUE)

    def period():
        state = stepper.state
        motors.set_efforts(state, torques)
        stepper.step(STEP)
        return state.q, state.u

    return {
        "period": period,
        "step": lambda: stepper.step(STEP),
        "set": lambda: motors.set_efforts(stepper.state, torques),
        "handler": _handler(mb, model, torques),
    }


def _handler(mb, model: Model, torques):
    """A run of some periods with a handler that sets the torques."""
    system = build(model)
    bodies = [body for body in system.matter.bodies[1:] if body.facts.num_u]
    motors = mb.force.Actuators(system.forces, [(body, 0) for body in bodies])

    class Controller(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            motors.set_efforts(state, torques)

    system.add_event_handler(Controller(STEP))
    state = system.realize_topology()
    state.q = model.random_state(0)[0]
    stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=STEP))
    stepper.initialize(state)
    return lambda: stepper.step_to(stepper.time + PERIODS * STEP)


def operational_space() -> list[float]:
    """Seconds that 6 s of a Panda's hand take, controlled at 1 kHz by a compiled law; from each tenth of a second."""
    mb, _ = _import()
    system, state = mb.examples.operational_space.build()
    stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=STEP))
    stepper.initialize(state)
    stepper.step_to(0.1)
    seconds = []
    for _ in range(59):
        start = perf_counter()
        stepper.step_to(stepper.time + 0.1)
        seconds.append(60.0 * (perf_counter() - start))
    return seconds


def of_mujoco(model: Model) -> dict:
    """The period and the step alone."""
    import mujoco

    made = build_for_mujoco(model)
    made.opt.timestep = STEP
    data = mujoco.MjData(made)
    data.qpos[:] = model.random_state(0)[0]
    torques = np.full(made.nv, TORQUE)

    def period():
        data.qfrc_applied[:] = torques
        mujoco.mj_step(made, data)
        return data.qpos, data.qvel

    return {"period": period, "step": lambda: mujoco.mj_step(made, data)}


def measure(options: argparse.Namespace) -> dict:
    """Time both, model by model, in turns."""
    effort: Effort = QUICK if options.quick else THOROUGH
    results: dict = {}
    for model in models():
        calls = {("mobod", name): call for name, call in of_mobod(model).items()}
        if not MuJoCo.missing():
            calls |= {("MuJoCo", name): call for name, call in of_mujoco(model).items()}
        whole_run = calls.pop(("mobod", "handler"))
        whole_run()
        rounds: dict = {key: [] for key in calls}
        runs = []
        for _ in range(effort.rounds):
            for key, call in calls.items():
                rounds[key].append(time_calls(call, [()], effort.repeats, effort.seconds))
            for _ in range(20):
                start = perf_counter()
                whole_run()
                runs.append(1e6 * (perf_counter() - start) / PERIODS)
        timings = {f"{name}, {what}": summary(times) for (name, what), times in rounds.items()}
        alone = min(runs) - timings["mobod, step"]["min"] - timings["mobod, set"]["min"]
        results[model.name] = {"timings": timings, "handler": alone}
    results["operational space"] = operational_space()
    return results


def show(results: dict) -> list[Target]:
    """Print the times, and what of them was promised."""
    rows, targets = [], []
    controlled = results["operational space"]
    targets.append(Target("6 s of a Panda in operational space, s", min(controlled), CONTROLLED, at_least=False))
    for name, result in ((name, one) for name, one in results.items() if name != "operational space"):
        timings = result["timings"]
        rows += [[name, what, cell_of_time(timing)] for what, timing in timings.items()]
        rows.append([name, "mobod, what a handler adds", f"{result['handler']:.2f}"])
        slower = ratio(timings["mobod, period"], timings.get("MuJoCo, period"))
        targets.append(Target(f"{name}, a period, times MuJoCo's", slower, LIMIT, at_least=False))
        targets.append(Target(f"{name}, setting the torques, us", timings["mobod, set"]["min"], SETTING, at_least=False))
        targets.append(Target(f"{name}, what a handler adds, us", result["handler"], HANDLER, at_least=False))
    print_table("a period of a loop in Python, us: minimum (median ± spread)", ["model", "what", "us"], rows)
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
