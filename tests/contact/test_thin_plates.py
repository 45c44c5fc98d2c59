"""No step passes through a thin plate, however fast the ball, whatever the accuracy, the tilt and the way in."""

import numpy as np
import pytest

import mobod as mb
from mobod import integrator as kinds

HARD = 2e11


def shot(shape, plate, X_plate, place, velocity, *, spin=(0.0, 0.0, 0.0), mass=0.01):
    """A system with a plate on Ground and something that flies, and its state."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(HARD, 0.0)
    matter.ground.add_contact_surface(mb.contact.Surface(plate, material), X_plate)
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(0.01))))
    body.add_contact_surface(mb.contact.Surface(shape, material))
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, place)
    body.set_u_to_fit_angular_velocity(state, spin)
    body.set_u_to_fit_linear_velocity(state, velocity)
    return system, body, state


def fly(system, state, time, kind=kinds.RungeKuttaMerson, **settings):
    """Step to a time; the integrator."""
    integrator = kind(system, **settings)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(time)
    return integrator


@pytest.mark.parametrize("accuracy", [0.5, 1e-2, 1e-5])
@pytest.mark.parametrize("kind", [kinds.RungeKuttaMerson, kinds.RungeKuttaFeldberg, kinds.RungeKutta3, kinds.Verlet])
def test_a_ball_at_100_meters_a_second_bounces_off_a_plate_of_a_millimeter(kind, accuracy):
    plate = mb.contact.Brick((0.5, 0.5, 0.0005))
    system, body, state = shot(mb.contact.Sphere(0.005), plate, mb.Transform(), (0, 0, 50.0), (0, 0, -100.0))
    integrator = fly(system, state, 0.6, kind, accuracy=accuracy)
    end = integrator.get_state()
    system.realize(end)
    assert body.get_body_velocity(end)[1][2] > 0.0
    assert integrator.get_num_steps_attempted() < 600


@pytest.mark.parametrize("number", range(12))
def test_shots_at_a_tilted_plate(number, make, rng):
    """The plate is tilted any way, and hit anywhere but near its rim; the ball is small, or a brick or a capsule that spins."""
    R = make.rotation()
    X = mb.Transform(R, rng.uniform(-1.0, 1.0, 3))
    half = 0.5, 0.5, 0.0005
    spin = (0.0, 0.0, 0.0)
    if number % 3 == 0:
        shape = mb.contact.Sphere(0.005)
    elif number % 3 == 1:
        shape, spin = mb.contact.Sphere(0.02), rng.uniform(-50.0, 50.0, 3)
    else:
        shape, spin = mb.contact.Capsule(0.004, 0.01), rng.uniform(-50.0, 50.0, 3)
    n = np.asarray(R)[:, 2]
    target = X @ np.array([*rng.uniform(-0.3, 0.3, 2), 0.0])
    along = np.asarray(R)[:, 0] * rng.uniform(-1.0, 1.0) + np.asarray(R)[:, 1] * rng.uniform(-1.0, 1.0)
    velocity = 10.0 ** rng.uniform(0.0, 2.5) * (n + along)
    time = max(10.0 ** rng.uniform(-3.0, 0.0), 0.05 / np.linalg.norm(velocity))
    system, body, state = shot(shape, mb.contact.Brick(half), X, target - time * velocity, velocity, spin=spin)
    integrator = fly(system, state, 2.0 * time, accuracy=10.0 ** rng.uniform(-4.0, -1.0))
    end = integrator.get_state()
    system.realize(end)
    assert body.get_body_velocity(end)[1] @ n < 0.9 * (velocity @ n)
    assert (body.get_body_origin_location(end) - target) @ n < 0.0


def test_flight_past_a_plate_costs_nothing():
    # it stays 5 cm above a plate of 10 m that is tilted: boxes along the axes of Ground would overlap all the way
    R = mb.Rotation.about_axis(0.5, "y")
    along, n = np.asarray(R)[:, 0], np.asarray(R)[:, 2]
    plate = mb.contact.Brick((5.0, 5.0, 0.0005))
    system, _, state = shot(mb.contact.Sphere(0.005), plate, mb.Transform(R), 0.05 * n - 4.0 * along, 100.0 * along)
    integrator = fly(system, state, 0.08, accuracy=1e-3)
    assert integrator.get_num_steps_taken() < 12
