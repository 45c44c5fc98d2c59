"""Cart and pole: keep the pole upright by pushing the cart; the numbers are those of Barto, Sutton and Anderson 1983."""

from __future__ import annotations

import math
from typing import Any

import mobod as mb

from ..task import Task

FORCE, LENGTH = 10.0, 1.0
TRACK, LEAN = 2.4, math.radians(12.0)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """A cart of 1 kg and a pole of 0.1 kg and 1 m on it, upright at angle zero."""
    system = mb.MultibodySystem("cart and pole")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    box = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.2, 0.1, 0.1))))
    box.add_decoration(mb.decoration.Brick((0.2, 0.1, 0.1), color="#4477aa"))
    rod = mb.body.Rigid(mb.MassProperties(0.1, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.0, LENGTH / 2)))
    rod.add_decoration(mb.decoration.Cylinder(0.02, LENGTH / 2, color="#ee7733"))
    cart = mb.mobilizer.Slider(matter.ground, box, name="cart")
    mb.mobilizer.Pin(cart, rod, X_BM=mb.Transform((0, -LENGTH / 2, 0)), name="pole")
    return system, system.realize_topology()


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """All four variables within 0.05 of zero."""
    for i in range(2):
        q[i] = 0.1 * random[i] - 0.05
        u[i] = 0.1 * random[2 + i] - 0.05


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """A force on the cart."""
    forces[0] = FORCE * action[0]
    forces[1] = 0.0


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """Place, speed, angle and rate."""
    out[0], out[1], out[2], out[3] = q[0], u[0], q[1], u[1]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """1 for each step."""
    return 1.0


def fails(q: Any, u: Any, points: Any, goal: Any) -> bool:
    """The pole leans by over 12 degrees, or the cart is off the track."""
    return bool(abs(q[0]) > TRACK or abs(q[1]) > LEAN)


TASK = Task(
    build=build,
    low=[-1.0],
    high=[1.0],
    start=start,
    num_random=4,
    act=act,
    observe=observe,
    num_observations=4,
    reward=reward,
    fails=fails,
    interval=0.02,
    step_size=0.01,
    max_episode_steps=500,
)
