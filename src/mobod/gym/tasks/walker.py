"""Walker: a planar biped with thighs, shanks and feet is to walk forward, by torques of its six joints."""

from __future__ import annotations

import math
from typing import Any

import mobod as mb

from ...integrator import SemiExplicitEuler
from ..task import Task

#: Torques of hips, knees and ankles, N m, and of the joints' limits: angle below, above, rad.
TORQUE = (120.0, 100.0, 50.0)
LIMITS = ((-1.2, 0.8), (0.02, 2.2), (-0.7, 0.7))
HEIGHT = 1.3  # of the torso's middle at the start, m
RUBBER = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=1.0, dynamic_friction=0.9)
SPEED = 1.0  # from which walking faster is not rewarded more


def part(mass: float, half: float, radius: float, color: str) -> mb.body.Rigid:
    """A rod along y about its middle."""
    made = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.cylinder_along_y(radius, half)))
    made.add_decoration(mb.decoration.Cylinder(radius, half, color=color))
    return made


def build() -> tuple[Any, ...]:
    """Torso on a planar joint; q are its angle, x and y, then hip, knee and ankle of each leg; a bent knee is positive."""
    system = mb.MultibodySystem("walker")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    torso = mb.mobilizer.Planar(matter.ground, part(20.0, 0.3, 0.08, "#4477aa"), name="torso")
    up = mb.Rotation.about_axis(-math.pi / 2, "x")  # z of the half-space along y of Ground
    for side, color in (("left", "#ee7733"), ("right", "#cc3311")):
        above: mb.MobilizedBody = torso
        place = mb.Transform((0, -0.3, 0))
        for bend, mass, half, radius in (("hip", 5.0, 0.225, 0.05), ("knee", 3.0, 0.225, 0.04)):
            top = mb.Transform((0, half, 0))
            # a knee turns the other way: positive is bent
            turn = mb.Rotation.about_axis(math.pi, "y") if bend == "knee" else mb.Rotation()
            above = mb.mobilizer.Pin(
                above,
                part(mass, half, radius, color),
                X_PF=mb.Transform(turn, place.p),
                X_BM=mb.Transform(turn, top.p),
                name=f"{side} {bend}",
            )
            place = mb.Transform((0, -half, 0))
        shape = mb.UnitInertia.brick((0.12, 0.03, 0.05)).shift_from_centroid((0.05, 0, 0))
        sole = mb.body.Rigid(mb.MassProperties(1.0, (0.05, 0, 0), shape))
        sole.add_decoration(mb.decoration.Brick((0.12, 0.03, 0.05), color=color), mb.Transform((0.05, 0, 0)))
        foot = mb.mobilizer.Pin(above, sole, X_PF=place, X_BM=mb.Transform((0, 0.05, 0)), name=f"{side} ankle")
        for x in (-0.05, 0.15):
            mb.force.SmoothSphereHalfSpace(
                forces, foot, (x, 0, 0), 0.03, matter.ground, mb.Transform(up, (0, 0, 0)), RUBBER, transition_velocity=0.1
            )
        for name, (low, high) in zip(("hip", "knee", "ankle"), LIMITS, strict=True):
            joint = next(body for body in matter.bodies if body.name == f"{side} {name}")
            mb.force.MobilityLinearStop(forces, joint, 0, 500.0, 1.0, low, high)
            joint.set_default_rotor_inertia([0.05])
    state = system.realize_topology()
    q = state.q.copy()
    q[2] = HEIGHT
    for leg in range(2):
        q[3 + 3 * leg : 6 + 3 * leg] = (0.2, 0.4, 0.2)
    state.q = q
    system.realize(state, mb.Stage.POSITION)
    feet = [b for b in matter.bodies if b.name.endswith("ankle")]
    lowest = min(b.find_station_location_in_ground(state, (x, 0, 0))[1] for b in feet for x in (-0.05, 0.15)) - 0.03
    q[2] -= lowest + 0.002
    state.q = q
    return system, state, [(feet[0], (0.05, -0.03, 0)), (feet[1], (0.05, -0.03, 0))]


def start(random: Any, q: Any, u: Any, goal: Any) -> None:
    """Every variable off by up to 0.05, but for the height."""
    for i in range(9):
        if i != 2:
            q[i] += 0.1 * (random[i] - 0.5)
        u[i] += 0.1 * (random[9 + i] - 0.5)


def act(action: Any, q: Any, u: Any, goal: Any, forces: Any) -> None:
    """Torques of the joints."""
    for i in range(3):
        forces[i] = 0.0
    for leg in range(2):
        for i in range(3):
            forces[3 + 3 * leg + i] = TORQUE[i] * action[3 * leg + i]


def observe(q: Any, u: Any, points: Any, goal: Any, out: Any) -> None:
    """All but the distance walked; speeds limited to 10; the heights of the feet."""
    out[0] = q[0]
    for i in range(2, 9):
        out[i - 1] = q[i]
    for i in range(9):
        out[8 + i] = min(max(u[i], -10.0), 10.0)
    out[17], out[18] = points[0, 1], points[1, 1]


def reward(q: Any, u: Any, points: Any, action: Any, goal: Any) -> float:
    """1 for not falling, the speed forward, and less for effort."""
    effort = 0.0
    for i in range(6):
        effort += action[i] * action[i]
    return float(1.0 + 2.0 * min(u[1], SPEED) - 0.02 * effort)


def fails(q: Any, u: Any, points: Any, goal: Any) -> bool:
    """The torso is low, or leans by over a radian."""
    return bool(q[2] < 0.8 or abs(q[0]) > 1.0)


TASK = Task(
    build=build,
    low=[-1.0] * 6,
    high=[1.0] * 6,
    start=start,
    num_random=18,
    act=act,
    observe=observe,
    num_observations=19,
    reward=reward,
    fails=fails,
    interval=0.02,
    step_size=0.001,
    integrator=SemiExplicitEuler,
    max_episode_steps=500,
)
