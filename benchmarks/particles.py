"""Measure how fast particles move: particle-steps a second of processor time.

Steps of RungeKuttaMerson of a fixed size, of five evaluations each, for particles beside one pendulum: under gravity, in the
compiled loop; and with a force of a user's Python besides, that pulls each to the pendulum with arrays.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from .peers.mobod import Mobod
from .report import Target, print_table, run_as_script

NUMBERS = (100, 1_000, 10_000, 100_000)
PARTICLE_STEPS = 1_000_000  # in each measurement
QUICK_PARTICLE_STEPS = 100_000
REPEATS = 5
TARGET = 1e6


def build(mb: Any, np: Any, n: int, with_python: bool) -> tuple[Any, Any]:
    """A pendulum and *n* particles."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    arm = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(), X_BM=mb.Transform((0, 1, 0)), name="arm")
    matter.add_particles(1.0, np.random.default_rng(0).normal(size=(n, 3)))

    class Pull(mb.force.CustomImplementation):
        def calc_force(self, state: Any, body_forces: Any, particle_forces: Any, mobility_forces: Any) -> None:
            f = matter.get_all_particle_locations(state) - arm.get_body_origin_location(state)
            particle_forces -= f
            body_forces[arm, 1] += f.sum(axis=0)

    if with_python:
        mb.force.Custom(forces, Pull())
    return system, system.realize_topology()


def particle_steps_a_second(mb: Any, system: Any, state: Any, n: int, total: int) -> float:
    """The best of some runs, of processor time: others may use the machine."""
    steps, size, best = max(2, total // n), 1e-5, 0.0
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=size))
    stepper.initialize(state)
    stepper.step_to(size)
    for _ in range(REPEATS):
        before, clock = stepper.integrator.get_num_steps_taken(), time.process_time()
        stepper.step_to(stepper.time + steps * size)
        taken = stepper.integrator.get_num_steps_taken() - before
        best = max(best, taken * n / (time.process_time() - clock))
    return best


def measure(options: argparse.Namespace) -> dict:
    """All numbers of particles, in both kinds of systems."""
    if reason := Mobod.missing("TimeStepper"):
        return {"notes": [f"mobod left out: {reason}"], "rates": {}}
    import numpy as np

    import mobod as mb

    total = QUICK_PARTICLE_STEPS if options.quick else PARTICLE_STEPS
    rates: dict[str, list[float]] = {"gravity": [], "gravity, and a force from Python": []}
    for with_python, row in enumerate(rates.values()):
        for n in NUMBERS:
            system, state = build(mb, np, n, bool(with_python))
            row.append(particle_steps_a_second(mb, system, state, n, total))
    return {"notes": [], "rates": rates}


def show(results: dict) -> list[Target]:
    """Print the rates."""
    for note in results["notes"]:
        print(f"note: {note}")
    rates = results["rates"]
    if rates:
        rows = [[name, *(f"{rate / 1e6:.2f}" for rate in row)] for name, row in rates.items()]
        columns = ["forces", *(f"{n} particles" for n in NUMBERS)]
        print_table("Millions of particle-steps a second, of five evaluations each", columns, rows)
    gravity = rates.get("gravity")
    return [
        Target(f"particle-steps a second under gravity, {n} particles", gravity[i] if gravity else None, TARGET, at_least=True)
        for i, n in enumerate(NUMBERS)
        if n >= 1000
    ]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
