"""Measure what a second thread is worth to an Ensemble: realizing, and ten fixed steps, beside one thread and the machine.

Ten pins in 64 to 4,096 states, in turns 20 ms of calls with one thread and as many with two, as in a loop, after as many calls
as it takes to learn what pays; the median of the rounds' ratios. Then the same with pauses of 1 ms, in which threads sleep.
Beside it the limit that the machine and Python give: two processes, each on a core of its own, with half of the states each, at
the same time; they share nothing and wait for nothing. On a busy machine ``chrt -f 50`` before the command (Linux, root) keeps
the others away. Last, what setting parameters of each state takes, of several forms of array.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from time import perf_counter, sleep

import numpy as np

import mobod as mb

from .models import chain
from .peers import mobod as mobods
from .report import Target, print_table, run_as_script

SIZES = 64, 256, 1024, 4096
LEARNING, IN_A_ROW, ROUNDS, QUICK_ROUNDS = 140, 10, 40, 6
TURN, PAUSE = 0.02, 1e-3  # s
#: Two threads are to be worth this much from so many states on, and never less than nothing (noise apart).
GAIN, FROM, LOSS = 1.8, 256, 0.95
SETTING = 0.2  # us a state


def ensembles(states: int, *threads: int) -> list[mb.Ensemble]:
    """Ten pins in so many states, an ensemble for each number of threads."""
    system = mobods.build(chain("pins", "pin", 10))
    state = system.realize_topology()
    return [mb.Ensemble(system, states, state=state, threads=number) for number in threads]


def time_of(call, ensemble, rounds: int) -> float:
    """The median of times of ten calls, s."""
    times = []
    for _ in range(rounds):
        begin = perf_counter()
        for _ in range(IN_A_ROW):
            call(ensemble)
        times.append(perf_counter() - begin)
    return float(np.median(times))


def of_process(core: int, states: int, rounds: int, together, results) -> None:
    """What one of two processes does: `realize`, then `step`, on one core, while the other does."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})
    (ensemble,) = ensembles(states, 1)
    times = []
    for call in (realize, step):
        time_of(call, ensemble, 3)
        together.wait()
        times.append(time_of(call, ensemble, rounds))
    results.put(times)


def of_two_processes(states: int, rounds: int) -> tuple[float, float]:
    """How many times as fast two processes with half of the states each are as one with all: `realize`, and `step`."""
    (one,) = ensembles(states, 1)
    alone = []
    for call in (realize, step):
        time_of(call, one, 3)
        alone.append(time_of(call, one, rounds))
    spawn = multiprocessing.get_context("spawn")
    together, results = spawn.Barrier(2), spawn.Queue()
    processes = [spawn.Process(target=of_process, args=(core, states // 2, rounds, together, results)) for core in (0, 1)]
    for process in processes:
        process.start()
    halves = np.max([results.get(timeout=120) for _ in processes], axis=0)
    for process in processes:
        process.join()
    return alone[0] / halves[0], alone[1] / halves[1]


def turn(call, ensemble, calls: int, pause: float) -> float:
    """What so many calls take together, s, without the pauses between them."""
    spent = 0.0
    for _ in range(calls):
        begin = perf_counter()
        call(ensemble)
        spent += perf_counter() - begin
        if pause:
            sleep(pause)
    return spent


def gain(call, one, two, rounds: int, pause: float = 0.0) -> float:
    """The median of the ratios of times of one thread and of two."""
    for ensemble in (one, two):
        spent = turn(call, ensemble, LEARNING, pause)
    calls = max(3, round(TURN / max(spent / LEARNING, pause)))
    return float(np.median([turn(call, one, calls, pause) / turn(call, two, calls, pause) for _ in range(rounds)]))


def realize(ensemble) -> None:
    """Accelerations, at coordinates that count as new."""
    ensemble.upd_q()
    ensemble.realize()


def step(ensemble) -> None:
    """Ten fixed steps on from where they are: they swing from rest and cost the same at each time."""
    ensemble.step(0.01, fixed_step_size=0.001)


def of_setting(states: int = 4096) -> dict[str, float]:
    """Microseconds a state of `set_each`, by what is set."""
    system = mobods.build(chain("pins", "pin", 10))
    body = system.matter.bodies[5]
    motors = mb.force.Actuators(system.forces, [(body, 0)])
    spring = mb.force.MobilityLinearSpring(system.forces, body, 0, 1.0, 0.0)
    state = system.realize_topology()
    rng = np.random.default_rng(0)
    ten = np.zeros((states, 10))
    ten[:, 0], ten[:, 4:7] = rng.uniform(1, 2, states), 1.0
    frames = np.tile(np.eye(4), (states, 1, 1))
    what = {
        "mass properties": (body.set_body_mass_properties, ten),
        "frame": (body.set_inboard_frame, frames),
        "rotor inertia": (body.set_rotor_inertia, rng.uniform(0, 1, states)),
        "stiffness": (spring.set_stiffness, rng.uniform(0, 1, states)),
        "efforts": (motors.set_efforts, rng.uniform(0, 1, (states, 1))),
    }
    found = {}
    for name, (setter, values) in what.items():
        ensemble, times = mb.Ensemble(system, states, state=state), []
        for _ in range(7):
            begin = perf_counter()
            ensemble.set_each(setter, values)
            times.append(perf_counter() - begin)
        found[name] = 1e6 * min(times) / states
    return found


def measure(options: argparse.Namespace) -> dict:
    """All of it."""
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    sizes = {}
    for n in SIZES:
        one, two = ensembles(n, 1, 2)
        limit = of_two_processes(n, rounds)
        sizes[n] = {
            "realize": gain(realize, one, two, rounds),
            "with pauses": gain(realize, one, two, rounds, PAUSE),
            "two processes": limit[0],
            "ten steps": gain(step, one, two, max(rounds // 4, 3)),
            "two processes, ten steps": limit[1],
        }
    return {"gain": sizes, "setting": of_setting()}


def show(results: dict) -> list[Target]:
    """Print the tables; what was promised."""
    columns = list(next(iter(results["gain"].values())))
    rows = [[n, *one.values()] for n, one in results["gain"].items()]
    print_table("Two threads, times one, ten pins", ["states", *columns], rows)
    setting = results["setting"]
    print_table("set_each, us a state, 4,096 states", list(setting), [list(setting.values())])
    targets = []
    for n, one in results["gain"].items():
        for what in ("realize", "ten steps"):
            targets.append(Target(f"{what} of {n} states: two threads, times one", one[what], GAIN if int(n) >= FROM else LOSS))
    targets += [Target(f"set_each of {what}, us a state", us, SETTING, at_least=False) for what, us in setting.items()]
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
