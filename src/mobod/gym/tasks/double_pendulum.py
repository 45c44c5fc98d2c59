"""Double pendulum: swing it up by a motor in the elbow alone, the acrobot of Spong 1995."""

from __future__ import annotations

import math
from typing import Any

import mobod as mb

from ..task import Task

TORQUE = 15.0


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Two rods of 1 kg and 1 m, hanging straight down at zero angles."""
    system = mb.MultibodySystem("double pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    hinge = mb.Transform((0, 0.5, 0))
    upper = mb.mobilizer.Pin(matter.ground, rod("#4477aa"), X_BM=hinge, name="upper")
    mb.mobilizer.Pin(upper, rod("#ee7733"), X_PF=mb.Transform((0, -0.5, 0)), X_BM=hinge, name="lower")
    return system, system.realize_topology()


def rod(color: str) -> mb.body.Rigid:
    """A uniform rod along y about its middle."""
    made = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.0, 0.5)))
    made.add_decoration(mb.decoration.Cylinder(0.04, 0.5, color=color))
    return made


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """Near to hanging at rest."""
    for i in range(2):
        q[i] = 0.2 * random[i] - 0.1
        u[i] = 0.2 * random[2 + i] - 0.1


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """The motor's torque, in the elbow."""
    forces[0] = 0.0
    forces[1] = TORQUE * action[0]


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """Cosines and sines of the angles, and their rates."""
    for i in range(2):
        out[2 * i], out[2 * i + 1], out[4 + i] = math.cos(q[i]), math.sin(q[i]), u[i]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """The tip's height, 1 at the top and -1 at the bottom, less a little for speed and torque."""
    height = -0.5 * (math.cos(q[0]) + math.cos(q[0] + q[1]))
    return float(height - 1e-3 * (u[0] * u[0] + u[1] * u[1]) - 0.01 * action[0] * action[0])


TASK = Task(
    build=build,
    low=[-1.0],
    high=[1.0],
    start=start,
    num_random=4,
    act=act,
    observe=observe,
    num_observations=6,
    reward=reward,
    interval=0.05,
    step_size=0.01,
    max_episode_steps=200,
)
