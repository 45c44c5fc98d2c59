"""Panda reach: bring the hand of the arm to a point, by the speeds that its joints are to have; gravity is compensated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import mobod as mb

from ...integrator import SemiExplicitEuler
from ..task import Task

HOME = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8])
#: Speed that an action of 1 asks for, rad/s; gain, Nm s/rad; and torque of the motors.
FASTEST, GAIN, TORQUE = 1.5, 20.0, np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
ROTOR = 0.1  # inertia of motor and gear, kg m^2
HAND = "panda_hand_tcp"


def build() -> tuple[Any, ...]:
    """The arm of the example, with rotors; its hand is the point that is observed."""
    path = Path(str(mb.examples.panda.__file__))
    model = mb.load_urdf(path, joint_limits=True)
    joints = [model.bodies[f"panda_link{i}"] for i in range(1, 8)]
    for body in joints:
        body.set_default_rotor_inertia([ROTOR])
    bodies = {body: 1.0 for body in model.matter.bodies[1:]}
    mb.force.GravityCompensation(model.forces, bodies, (0, 0, -9.81))
    state = model.default_state()
    q = state.q.copy()
    q[:7] = HOME
    state.q = q
    return model.system, state, [(model.bodies[HAND], (0.0, 0.0, 0.0))]


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """A pose near home, at rest, and a point in front of the arm."""
    for i in range(7):
        q[i] = HOME[i] + 0.4 * (random[i] - 0.5)
    angle, reach = 2.0 * (random[7] - 0.5), 0.35 + 0.3 * random[8]
    goal[0], goal[1], goal[2] = reach * math.cos(angle), reach * math.sin(angle), 0.2 + 0.5 * random[9]


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """Torques that bring the joints to the speeds asked for, as far as the motors can."""
    for i in range(7):
        torque = GAIN * (FASTEST * action[i] - u[i])
        forces[i] = min(max(torque, -TORQUE[i]), TORQUE[i])


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """Angles, rates, the hand's place and the way from it to the goal."""
    for i in range(7):
        out[i], out[7 + i] = q[i], u[i]
    for k in range(3):
        out[14 + k], out[17 + k] = points[0, k], goal[k] - points[0, k]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """Less the distance to the goal, and a little for the effort."""
    square, effort = 0.0, 0.0
    for k in range(3):
        square += (goal[k] - points[0, k]) ** 2
    for i in range(7):
        effort += action[i] * action[i]
    return -math.sqrt(square) - 0.01 * effort


TASK = Task(
    build=build,
    low=[-1.0] * 7,
    high=[1.0] * 7,
    start=start,
    num_random=10,
    num_goals=3,
    act=act,
    observe=observe,
    num_observations=20,
    reward=reward,
    interval=0.04,
    control_interval=0.004,
    step_size=0.002,
    integrator=SemiExplicitEuler,
    max_episode_steps=100,
)
