"""Measure what force elements cost: a realization with very many of them, less one with none, divided by their number.

Ten thousand springs between a hundred bodies; a mechanism of thirty bodies with a hundred springs and bushings each; and how
long a program waits that sets a force and realizes accelerations, over and over.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mobod as mb

from .measure import summary
from .report import Target, cell_of_time, print_table, run_as_script


def bodies(n: int, rng: np.random.Generator):
    """A system of n free bodies in a cloud, or a tree of pins and gimbals where n is small."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0, 0), mb.UnitInertia(1, 1, 1)))
    for b in range(n):
        kind = mb.mobilizer.Free if n > 50 else (mb.mobilizer.Pin, mb.mobilizer.Gimbal)[b % 2]
        parent = 0 if n > 50 else int(rng.integers(0, b + 1))
        kind(matter.bodies[parent], body, X_PF=mb.Transform(rng.uniform(-1, 1, 3)))
    return system, matter, forces


def add_springs(matter, forces, n: int, rng: np.random.Generator) -> None:
    """Springs between bodies drawn at random."""
    for _ in range(n):
        one, two = rng.choice(matter.get_num_bodies(), 2, replace=False)
        mb.force.TwoPointLinearSpring(
            forces, matter.bodies[int(one)], rng.uniform(-1, 1, 3), matter.bodies[int(two)], rng.uniform(-1, 1, 3), 10.0, 1.0
        )


def add_bushings(matter, forces, n: int, rng: np.random.Generator) -> None:
    """Bushings between bodies drawn at random."""
    for _ in range(n):
        one, two = rng.choice(matter.get_num_bodies(), 2, replace=False)
        frame = mb.Transform(rng.uniform(-1, 1, 3))
        mb.force.LinearBushing(forces, int(one), frame, int(two), mb.Transform(), np.full(6, 10.0), np.full(6, 1.0))


def state_of(system, rng: np.random.Generator) -> mb.State:
    """A random state."""
    state = system.realize_topology()
    state.q = rng.uniform(-0.5, 0.5, len(state.q))
    system.project_q(state)
    state.u = rng.uniform(-1, 1, len(state.u))
    system.realize(state)
    return state


def time_of(function, rounds: int) -> list[float]:
    """Seconds of each call, in batches that are long enough to be timed."""
    function()
    start = time.perf_counter()
    function()
    repeats = max(1, int(2e-3 / max(time.perf_counter() - start, 1e-7)))
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            function()
        found.append((time.perf_counter() - start) / repeats)
    return found


def realizing(system, state, *, change: str = "q"):
    """A function that realizes accelerations after a change of q, or of u alone."""
    q, u = state.q.copy(), state.u.copy()

    def realize() -> None:
        if change == "q":
            state.q = q
        else:
            state.u = u
        system.realize(state)

    return realize


def measure(options: argparse.Namespace) -> dict:
    """Time everything in one run."""
    rounds = 5 if options.quick else 30
    rng = np.random.default_rng(0)
    found: dict[str, dict] = {}

    def each(name: str, n: int, kinds, count: int, change: str = "q") -> None:
        plain, _, _ = bodies(n, np.random.default_rng(1))
        system, matter, forces = bodies(n, np.random.default_rng(1))
        for kind in kinds:
            kind(matter, forces, count, rng)
        without = realizing(plain, state_of(plain, rng), change=change)
        with_them = realizing(system, state_of(system, rng), change=change)
        difference = np.array(time_of(with_them, rounds)) - min(time_of(without, rounds))
        found[name] = summary([list(1e9 * difference / (count * len(kinds)))])

    each("a spring of 10,000, 100 bodies", 100, [add_springs], 10_000)
    each("the same, u alone changed", 100, [add_springs], 10_000, "u")
    each("a spring of 100, 30 bodies", 30, [add_springs], 100)
    each("a bushing of 100, 30 bodies", 30, [add_bushings], 100)

    system, matter, forces = bodies(30, np.random.default_rng(1))
    motor = mb.force.MobilityDiscreteForce(forces, matter.bodies[1], 0)
    state = state_of(system, rng)
    found["to set a discrete force"] = summary(
        [[1e9 * s for s in time_of(lambda: motor.set_mobility_force(state, 1.0), rounds)]]
    )

    def control() -> None:
        motor.set_mobility_force(state, 1.0)
        system.realize(state)

    found["to set it and realize 30 bodies"] = summary([[1e9 * s for s in time_of(control, rounds)]])
    return {"notes": [], "nanoseconds": found}


def show(results: dict) -> list[Target]:
    """Print what an element costs."""
    seconds = results["nanoseconds"]
    rows = [[name, cell_of_time(timing)] for name, timing in seconds.items()]
    print_table("Nanoseconds: minimum (median ± spread)", ["what", "ns"], rows)
    spring = seconds.get("a spring of 10,000, 100 bodies", {}).get("min")
    return [Target("a spring of 10,000, ns", spring, 40.0, at_least=False)]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
