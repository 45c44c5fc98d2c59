"""Pendulum: swing it up and keep it up, with a motor too weak to lift it at once."""

from __future__ import annotations

import math
from typing import Any

import mobod as mb

from ..task import Task

TORQUE, MASS, LENGTH = 2.0, 1.0, 1.0
FASTEST = 20.0


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """A uniform rod of 1 kg and 1 m on a hinge, upright at angle zero."""
    system = mb.MultibodySystem("pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10.0, 0))
    rod = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.0, LENGTH / 2)))
    rod.add_decoration(mb.decoration.Cylinder(0.04, LENGTH / 2, color="#ee7733"))
    mb.mobilizer.Pin(matter.ground, rod, X_BM=mb.Transform((0, -LENGTH / 2, 0)), name="pendulum")
    return system, system.realize_topology()


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """Any angle, a rate below 1."""
    q[0] = math.pi * (2.0 * random[0] - 1.0)
    u[0] = 2.0 * random[1] - 1.0


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """The motor's torque."""
    forces[0] = TORQUE * action[0]


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """Cosine and sine of the angle, and its rate."""
    out[0], out[1], out[2] = math.cos(q[0]), math.sin(q[0]), u[0]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """Less the squares of the angle from upright, of the rate and of the torque, weighted."""
    angle = q[0] - 2.0 * math.pi * math.floor(q[0] / (2.0 * math.pi) + 0.5)
    return float(-(angle * angle + 0.1 * u[0] * u[0] + 0.001 * (TORQUE * action[0]) ** 2))


TASK = Task(
    build=build,
    low=[-1.0],
    high=[1.0],
    start=start,
    num_random=2,
    act=act,
    observe=observe,
    num_observations=3,
    observation_low=[-1.0, -1.0, -FASTEST],
    observation_high=[1.0, 1.0, FASTEST],
    reward=reward,
    interval=0.05,
    step_size=0.05,
    max_episode_steps=200,
)
