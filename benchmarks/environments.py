"""Measure what steps of environments for learning cost: planar hoppers, compliant and stepped contact, one and two threads.

A hopper of six coordinates, dampers and two spheres below its foot: as `SmoothSphereHalfSpace` with `SemiExplicitEuler` at
1 ms, and as surfaces with `TimeStepping` at 2 ms; a step of the environment is one step of the integrator, with new random
torques. Beside it a hopper with one element more, a spring from its thigh to its foot. Resets, observations and rewards
are counted. The least of several parts counts.
"""

from __future__ import annotations

import argparse
import functools
import math
from time import perf_counter

import numpy as np

import mobod as mb
import mobod.gym

from .report import Target, print_table, run_as_script

NUM_ENVS, PARTS, STEPS, QUICK_STEPS = 1024, 10, 20, 5
GOAL = 1e6  # steps of environments a second, on two threads
RUBBER = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=1.0, dynamic_friction=0.9)


def build(surfaces: bool, spring: bool = False) -> tuple[mb.MultibodySystem, mb.State]:
    """A hopper in the x-y plane, its foot a little above the floor."""
    system = mb.MultibodySystem("hopper")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))

    def rod(mass, half):
        return mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.05, half)))

    def pin(parent, body, above, below):
        return mb.mobilizer.Pin(parent, body, X_PF=mb.Transform((0, -above, 0)), X_BM=mb.Transform((0, below, 0)))

    torso = mb.mobilizer.Planar(matter.ground, rod(3.5, 0.2))
    thigh = pin(torso, rod(3.9, 0.225), 0.2, 0.225)
    leg = pin(thigh, rod(2.7, 0.25), 0.225, 0.25)
    center = (0.065, 0, 0)
    sole = mb.MassProperties(5.1, center, mb.UnitInertia.brick((0.195, 0.06, 0.06)).shift_from_centroid(center))
    foot = pin(leg, mb.body.Rigid(sole), 0.25, 0.06)
    for body in (thigh, leg, foot):
        body.set_default_rotor_inertia([0.05])
        mb.force.MobilityLinearDamper(forces, body, 0, 1.0)
    if spring:
        mb.force.TwoPointLinearSpring(forces, thigh, (0, 0, 0), foot, (0, 0, 0), 50.0, 0.5)
    floor = mb.Transform(mb.Rotation.about_axis(-math.pi / 2, "x"), (0, 0, 0))
    if surfaces:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), RUBBER), floor)
    for x in (-0.13, 0.26):
        if surfaces:
            foot.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.06), RUBBER), mb.Transform((x, 0, 0)))
        else:
            mb.force.SmoothSphereHalfSpace(forces, foot, (x, 0, 0), 0.06, matter.ground, floor, RUBBER, transition_velocity=0.1)
    if surfaces:
        mb.CompliantContactSubsystem(system)
    state = system.realize_topology()
    q = state.q.copy()
    q[2] = 1.25
    state.q = q
    return system, state


def start(random, q, u, goal):
    """Each hopper begins a little otherwise."""
    for i in range(6):
        q[i] += 0.01 * (random[i] - 0.5)
        u[i] += 0.01 * (random[6 + i] - 0.5)


def act(action, q, u, goal, forces):
    """Torques of three joints."""
    forces[0] = forces[1] = forces[2] = 0.0
    for i in range(3):
        forces[3 + i] = 100.0 * action[i]


def observe(q, u, points, goal, out):
    """All but where along x it is."""
    out[0] = q[0]
    for i in range(2, 6):
        out[i - 1] = q[i]
    for i in range(6):
        out[5 + i] = min(max(u[i], -10.0), 10.0)


def reward(q, u, action):
    """It lives, and moves along x."""
    return 1.0 + u[1] - 1e-3 * (action[0] ** 2 + action[1] ** 2 + action[2] ** 2)


def fails(q, u):
    """It has fallen."""
    return q[2] < 0.7 or abs(q[0]) > 0.5


CASES = {
    "compliant, SemiExplicitEuler, 1 ms": (functools.partial(build, False), mb.integrator.SemiExplicitEuler, 0.001),
    "surfaces, TimeStepping, 2 ms": (functools.partial(build, True), mb.integrator.TimeStepping, 0.002),
    "and a spring": (functools.partial(build, True, True), mb.integrator.TimeStepping, 0.002),
}


def time_of_a_step(case: str, threads: int, steps: int) -> float:
    """Seconds of the clock for a step of one environment."""
    made, integrator, size = CASES[case]
    task = mobod.gym.Task(
        build=made, low=[-1.0] * 3, high=[1.0] * 3, start=start, num_random=12, act=act, observe=observe, num_observations=11,
        reward=reward, fails=fails, interval=size, step_size=size, integrator=integrator, max_episode_steps=1000,
    )  # fmt: skip
    envs = mobod.gym.VectorEnv(task, NUM_ENVS, threads=threads)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (16, NUM_ENVS, 3))
    envs.reset(seed=1)
    for k in range(100):  # some have come down, and some have begun anew
        envs.step(actions[k % 16])
    times = []
    for _ in range(PARTS):
        begin = perf_counter()
        for k in range(steps):
            envs.step(actions[k % 16])
        times.append((perf_counter() - begin) / steps / NUM_ENVS)
    return min(times)


def measure(options: argparse.Namespace) -> dict:
    """All cases, on one thread and on two."""
    steps = QUICK_STEPS if options.quick else STEPS
    return {"seconds": {case: {threads: time_of_a_step(case, threads, steps) for threads in (1, 2)} for case in CASES}}


def show(results: dict) -> list[Target]:
    """Print the table; what was promised."""
    rows = [[case, *(1e6 * s for s in of.values()), 1e-6 / of[2]] for case, of in results["seconds"].items()]
    print_table(f"Hoppers, {NUM_ENVS:,} at once", ["model", "us a step, 1 thread", "2 threads", "1e6 steps/s, 2 threads"], rows)
    return [Target(f"steps a second of hoppers, {case}", 1.0 / of[2], GOAL) for case, of in results["seconds"].items()]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
