"""What constraints tell of their forces, beside those that Newton's and Euler's laws ask for of two free bodies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

MASS, ARM = (1.3, 0.7), ((0.1, -0.05, 0.02), (-0.03, 0.08, 0.1))


def vector(rng):
    return rng.normal(0.0, 0.3, 3)


def frame(rng):
    return mb.Transform(mb.Rotation.from_body_fixed_xyz(rng.uniform(-3.0, 3.0, 3)), vector(rng))


def wrench(body, state, mass, arm):
    """Torque about the origin and force in Ground, by the motion of a body with the inertia 0.4 m about its origin."""
    R, w, a = body.get_body_transform(state).R, body.get_body_angular_velocity(state), body.get_body_angular_acceleration(state)
    c = np.asarray(R) @ arm
    force = mass * np.asarray(body.find_station_acceleration_in_ground(state, arm))
    inertia = mass * (0.4 * np.eye(3) - c @ c * np.eye(3) + np.outer(c, c))
    return inertia @ a + np.cross(w, inertia @ w) + np.cross(c, force), force


KINDS = {
    "Ball": lambda rng, a, b: mb.constraint.Ball(a, vector(rng), b, vector(rng)),
    "Weld": lambda rng, a, b: mb.constraint.Weld(a, frame(rng), b, frame(rng)),
    "SphereOnPlaneContact": lambda rng, a, b: mb.constraint.SphereOnPlaneContact(a, frame(rng), b, vector(rng), 0.4, True),
    "SphereOnSphereContact": lambda rng, a, b: mb.constraint.SphereOnSphereContact(
        a, vector(rng), 0.3, b, vector(rng), 0.4, True
    ),
    "LineOnLineContact": lambda rng, a, b: mb.constraint.LineOnLineContact(a, frame(rng), 0.5, b, frame(rng), 0.6, True),
    "NoSlip1D": lambda rng, a, b: mb.constraint.NoSlip1D(0, vector(rng), rng.normal(size=3), a, b),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_forces_that_it_tells_are_those_of_the_motion(kind, rng):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bodies = [
        mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, arm, mb.UnitInertia.sphere(1.0))))
        for mass, arm in zip(MASS, ARM, strict=True)
    ]
    one = KINDS[kind](rng, *bodies)
    state = system.realize_topology()
    state.q, state.u = rng.normal(size=len(state.q)), rng.normal(size=len(state.u))
    system.realize(state)
    (torque1, force1), (torque2, force2) = (
        wrench(body, state, mass, np.array(arm)) for body, mass, arm in zip(bodies, MASS, ARM, strict=True)
    )
    R1, R2 = (np.asarray(body.get_body_transform(state).R) for body in bodies)
    if kind == "Ball":
        told = R1 @ one.get_ball_reaction_force_on_body1(state), R2 @ one.get_ball_reaction_force_on_body2(state)
        expected = force1, force2
    elif kind == "Weld":
        told = one.get_weld_reaction_on_body1(state) @ R1.T, one.get_weld_reaction_on_body2(state) @ R2.T
        expected = (torque1, force1), (torque2, force2)
    elif kind == "NoSlip1D":
        told = (one.get_force_at_contact_point(state) * one.get_direction(state),) * 2
        expected = -force1, force2
    else:
        name = {"SphereOnPlaneContact": "sphere", "SphereOnSphereContact": "sphere_b", "LineOnLineContact": "body_b"}[kind]
        told = (getattr(one, f"find_force_on_{name}_in_g")(state),)
        expected = (force2,)
    assert np.abs(expected[-1]).max() > 1e-6
    assert_allclose(told, expected, rtol=0, atol=1e-12)
