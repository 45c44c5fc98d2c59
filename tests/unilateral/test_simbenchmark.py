"""The models of SimBenchmark (Kang and Hwangbo 2018): errors are less than the least that it publishes of other engines.

`python -m benchmarks.simbenchmark` has all of them, docs/explanation/simbenchmark.md the table.
"""

import numpy as np
import pytest
from touching_models import G, empty, solid

import mobod as mb


def stone(friction):
    return mb.contact.Material(1e9, static_friction=friction)


def add(matter, mass, inertia, shape, friction=0.0):
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), inertia)))
    body.add_contact_surface(mb.contact.Surface(shape, stone(friction)))
    return body


@pytest.mark.parametrize("direction", [(0.5, 0.75**0.5), (0.0, 1.0)], ids=["oblique", "along y"])
def test_balls_roll_on_a_plate_that_is_pushed(direction):
    """Published: 4.1e-7 (RaiSim), 5.7e-9 and 4.9e-9 (Bullet), 3.1 and 7.7e-9 (ODE), 2.7e-3 (MuJoCo), 3.1 and 0.43 (DART)."""
    system, matter = empty()
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone(0.8 / 3)))
    half = (10.0, 10.0, 0.5)
    plate = add(matter, 10.0, mb.UnitInertia.brick(half), mb.contact.Brick(half), 0.8)
    balls = [add(matter, 1.0, mb.UnitInertia.sphere(0.5), mb.contact.Sphere(0.5), 0.8) for _ in range(25)]
    mb.force.ConstantForce(system.forces, plate, (0, 0, 0), 150.0 * np.array([*direction, 0.0]))
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    plate.set_q_to_fit_translation(state, (0, 0, 0.5 - 2e-5))
    for k, ball in enumerate(balls):
        ball.set_q_to_fit_translation(state, (2.0 * (k // 5) - 4.0, 2.0 * (k % 5) - 4.0, 1.5 - 6e-5))
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=1e-3)
    motion = mb.simulate(system, state, 4.0, integrator=integrator, report_interval=1e-3)
    pushed = 150.0 - 0.4 * 35.0 * G
    rolls = pushed / (3.5 * 10.0 + 25.0)
    speeds = np.concatenate([(pushed - 25.0 * rolls) / 10.0 * np.array([*direction, 0.0]), rolls * np.array([*direction, 0.0])])
    errors = np.hstack([motion.u[:, 3:6], motion.u[:, 9:12]]) - np.outer(motion.time, speeds)
    assert (errors**2).sum(axis=1).mean() < 4.9e-9


def test_a_ball_bounces_without_losses():
    """Published of 49 balls, J^2: 0.019 (RaiSim), 185 (ODE), 7e4 (Bullet, DART) at steps of 1 ms; here an event an impact."""
    system, matter = empty()
    ball = mb.mobilizer.Free(matter.ground, solid(10.0))
    mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 0.1, restitution=1.0, name="floor")
    state = system.realize_topology()
    ball.set_q_to_fit_translation(state, (0, 0, 5.0))
    integrator = mb.integrator.RungeKuttaMerson(system, accuracy=1e-3)
    motion = mb.simulate(system, state, 20.0, integrator=integrator, report_interval=0.1)
    energy = 10.0 * (0.5 * motion.u[:, 5] ** 2 + G * motion.q[:, 6])
    assert 49.0**2 * ((energy - energy[0]) ** 2).mean() < 1e-8


def test_balls_fall_in_a_heap_without_overlapping():
    """Published, m^2: 0.015 (RaiSim), 0.016 (ODE), 0.93 (MuJoCo), 37 (Bullet), 215 (DART) at steps of 10 ms for 10 s."""
    system, matter = empty()
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone(0.0)))
    balls = [add(matter, 10.0, mb.UnitInertia.sphere(0.1), mb.contact.Sphere(0.1)) for _ in range(216)]
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    rng = np.random.default_rng(42)
    for k, ball in enumerate(balls):
        place = 0.21 * np.array([k // 36, k // 6 % 6, k % 6]) + rng.uniform(0.0, 1e-3, 3) + (0.0, 0.0, 0.101)
        ball.set_q_to_fit_translation(state, place)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.01)
    motion = mb.simulate(system, state, 1.0, integrator=integrator, report_interval=0.02)
    upper = np.triu_indices(len(balls), 1)
    errors = []
    for q in motion.q:
        places = q.reshape(-1, 7)[:, 4:]
        apart = np.linalg.norm((places[:, None] - places)[upper], axis=1)
        errors.append((np.maximum(0.2 - apart, 0.0) ** 2).sum() + (np.maximum(0.1 - places[:, 2], 0.0) ** 2).sum())
    assert np.mean(errors) < 0.005
