"""G1 stand: keep a humanoid on its feet by the angles that its motors are to hold; it starts disturbed.

The Unitree G1 of the example `g1`. Each sole touches the floor by four spheres. An action shifts the angles that proportional
and derivative control of every joint holds, from a pose with bent knees; that control alone falls after a second or two.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import mobod as mb

from ...integrator import SemiExplicitEuler
from ..task import Task

#: A pose with bent knees, of each side.
POSE = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
#: Corners of a sole in the frame of its link, and the radius of the spheres there; m.
CORNERS = [(x, y, -0.025) for x in (-0.055, 0.125) for y in (-0.025, 0.025)]
RADIUS = 0.01
RUBBER = mb.contact.Material(stiffness=2e6, dissipation=1.0, static_friction=0.9, dynamic_friction=0.8)
#: Inertia of each motor and its gear, kg m^2; gains of legs and waist, of ankles, and of arms; shift of an action of 1, rad.
ROTOR, GAINS, SHIFT = 0.02, {"": (100.0, 4.0), "ankle": (25.0, 1.0), "arm": (25.0, 1.0)}, 0.5
FALLEN = 0.45  # height of the pelvis, m
NUM = 29


def _read() -> tuple[Any, Any, Any, Any]:
    """Of each joint, in the order of speeds: the pose, stiffness, damping and the motor's torque."""
    model = mb.load_urdf(Path(str(mb.examples.g1.__file__)), floating_base=True)
    pose, stiffness, damping, torque = np.zeros((4, NUM))
    for name, joint in model.joints.items():
        if name not in model.speeds:
            continue
        k = model.speeds[name] - 6
        part = name.removesuffix("_joint").split("_", 1)[1]
        pose[k] = POSE.get(part, 0.0)
        kind = "ankle" if "ankle" in name else "arm" if any(w in name for w in ("shoulder", "elbow", "wrist")) else ""
        stiffness[k], damping[k] = GAINS[kind]
        torque[k] = joint.limit.effort if joint.limit is not None else 0.0
    return pose, stiffness, damping, torque


_POSE, _STIFFNESS, _DAMPING, _TORQUE = _read()


def build() -> tuple[Any, ...]:
    """The robot in its pose with the soles on the floor; what is observed of it beside q and u is the pelvis and the soles."""
    model = mb.load_urdf(Path(str(mb.examples.g1.__file__)), floating_base=True)
    matter, bodies = model.matter, model.bodies
    feet = [bodies[f"{side}_ankle_roll_link"] for side in ("left", "right")]
    for name, joint in model.joints.items():
        if name in model.speeds:
            bodies[joint.child].set_default_rotor_inertia([ROTOR])
    for foot in feet:
        for corner in CORNERS:
            mb.force.SmoothSphereHalfSpace(
                model.forces, foot, corner, RADIUS, matter.ground, mb.Transform(), RUBBER, transition_velocity=0.1
            )
    state = model.default_state()
    q = state.q.copy()
    q[7:] = _POSE
    state.q = q
    model.system.realize(state, mb.Stage.POSITION)
    lowest = min(foot.find_station_location_in_ground(state, c)[2] for foot in feet for c in CORNERS) - RADIUS
    q[6] -= lowest + 0.001
    state.q = q
    return model.system, state, [(bodies["pelvis"], (0.0, 0.0, 0.0)), *((foot, (0.0, 0.0, -0.035)) for foot in feet)]


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """Angles off by up to 0.05 rad, and a push."""
    for i in range(NUM):
        q[7 + i] += 0.1 * (random[i] - 0.5)
    for k in range(3):
        u[k] = 0.4 * (random[NUM + k] - 0.5)
        u[3 + k] = 0.4 * (random[NUM + 3 + k] - 0.5)
    u[5] = 0.0


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """Torques of the motors, none of them on the pelvis itself."""
    for i in range(6):
        forces[i] = 0.0
    for i in range(NUM):
        torque = _STIFFNESS[i] * (_POSE[i] + SHIFT * action[i] - q[7 + i]) - _DAMPING[i] * u[6 + i]
        forces[6 + i] = min(max(torque, -_TORQUE[i]), _TORQUE[i])


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """Height, the vertical in the pelvis, its speeds, joints' angles from the pose and rates, and the soles from the pelvis."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    out[0] = q[6]
    out[1], out[2], out[3] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    for k in range(6):
        out[4 + k] = u[k]
    for i in range(NUM):
        out[10 + i], out[10 + NUM + i] = q[7 + i] - _POSE[i], u[6 + i]
    for foot in range(2):
        for k in range(3):
            out[10 + 2 * NUM + 3 * foot + k] = points[1 + foot, k] - points[0, k]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """1 for standing upright and still, less for leaning, speed and effort."""
    upright = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])
    speed, effort = 0.0, 0.0
    for k in range(6):
        speed += u[k] * u[k]
    for i in range(NUM):
        effort += action[i] * action[i]
    return float(upright * math.exp(-0.5 * speed) - 0.01 * effort)


def fails(q: Any, u: Any, points: Any, goal: Any) -> bool:
    """The pelvis is low, or tilted by over 60 degrees."""
    return bool(q[6] < FALLEN or 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]) < 0.5)


TASK = Task(
    build=build,
    low=[-1.0] * NUM,
    high=[1.0] * NUM,
    start=start,
    num_random=NUM + 6,
    act=act,
    observe=observe,
    num_observations=10 + 2 * NUM + 6,
    reward=reward,
    fails=fails,
    interval=0.02,
    control_interval=0.005,
    step_size=0.001,
    integrator=SemiExplicitEuler,
    max_episode_steps=500,
)
