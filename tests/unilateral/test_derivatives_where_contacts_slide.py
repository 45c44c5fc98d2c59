"""Derivatives of states in which rigid contacts slide by events: friction follows normal forces, and turns with the slip."""

import numpy as np
import pytest
from touching_models import G, point_on_slope

import mobod as mb


def sliding(system, state):
    """The state as a run begins with it, in which contacts slide."""
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    found = stepper.state.copy()
    system.realize(found)
    assert any(contact.is_sliding(found) for contact in system.matter.unilateral_contacts)
    return found


def table(rng, slip):
    """A table on one, two or three of its feet, on which a link swings, with slips of about that size."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -G), name="gravity")
    body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(0.2, 0.24, 0.3)))
    top = mb.mobilizer.Free(matter.ground, body, name="top")
    frame = mb.Transform(mb.Rotation.about_axis(1.0, (1, 0.3, 0)), (0.1, 0, 0.3))
    link = mb.body.Rigid(mb.MassProperties(0.5, (0, 0, 0), mb.Inertia(0.02, 0.02, 0.03)))
    link = mb.mobilizer.Pin(top, link, X_PF=frame, X_BM=mb.Transform((0, 0.3, 0)), name="link")
    mb.force.MobilityLinearSpring(forces, link, 0, 5.0, 0.1, name="spring")
    feet = [(-0.5, -0.4, -0.25), (0.5, -0.4, -0.25), (0.0, 0.5, -0.25)][: rng.integers(1, 4)]
    friction = {"static_friction": 0.25, "dynamic_friction": 0.2, "viscous_friction": 0.03}
    for foot in feet:
        mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, top, foot, **friction)
    state = system.realize_topology()
    top.set_q(state, (1, 0, 0, 0, 0, 0, 0.25))
    w = rng.normal(0, 0.3, 3) if len(feet) == 1 else np.zeros(3)
    top.set_u(state, (*w, *((*(slip * rng.normal(size=2)), 0.0) - np.cross(w, feet[0]))))
    return system, sliding(system, state)


def moved(state, change, value, h):
    """The derivative of a value of states that *change* moves, by differences of fourth order."""

    def at(x):
        other = state.copy()
        change(other, x)
        return value(other)

    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("slip", [1.0, 1e-2, 1e-4])
def test_a_point_that_hardly_slides(slip):
    """Across the slip v its friction turns: mu g cos / v, far beyond the steps of differences."""
    angle, mu = np.arctan(0.5), 0.2
    system, state, mass = point_on_slope(angle, mu)
    n, along = np.array([np.sin(angle), 0.0, np.cos(angle)]), np.array([np.cos(angle), 0.0, -np.sin(angle)])
    mass.set_velocity(state, slip * along)
    state = sliding(system, state)
    found = system.calc_forward_dynamics_derivatives(state)
    across = np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(found.u, -mu * G * np.cos(angle) / slip * np.outer(across, across), rtol=1e-12, atol=1e-10)
    expected = np.eye(3) - np.outer(n, n) + mu * np.outer(along, n)  # what lifts takes friction away
    np.testing.assert_allclose(found.mobility_forces, expected, atol=1e-13)


@pytest.mark.parametrize("slip", [1.0, 1e-2, 1e-4])
def test_derivatives_are_differences(rng, slip):
    system, state = table(rng, slip)
    nu, u_dot = len(state.u), np.array(state.u_dot)
    found, inverse = system.calc_forward_dynamics_derivatives(state), system.calc_inverse_dynamics_derivatives(state, u_dot)
    slides = [one for one in system.matter.unilateral_contacts if one.is_sliding(state)]
    h = 2e-3 * min(1.0, *(float(np.hypot(*one.get_slip_velocity(state))) for one in slides))

    def accelerations(other):
        system.realize(other)
        return np.array(other.u_dot)

    def missing(other):
        system.realize(other, mb.Stage.DYNAMICS)
        return system.calc_inverse_dynamics(other, u_dot)

    def along_q(other, x):
        other.q = other.q + x * system.matter.multiply_by_n(state, False, np.eye(nu)[k])
        system.normalize_quaternions(other)

    def along_u(other, x):
        other.u = other.u + x * np.eye(nu)[k]

    for k in range(nu):
        for change, by, of_inverse in ((along_q, found.q, inverse.q), (along_u, found.u, inverse.u)):
            expected = moved(state, change, accelerations, h)
            np.testing.assert_allclose(by[:, k], expected, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(by).max()))
            np.testing.assert_allclose(of_inverse[:, k], moved(state, change, missing, 1e-3), atol=1e-8)

    def heavier(other, x):
        top = mb.MassProperties(2.0 + x, (0, 0, 0), mb.Inertia(0.2, 0.24, 0.3))
        other.system.matter.get_mobilized_body(1).set_body_mass_properties(other, top)

    def stiffer(other, x):
        other.system.forces.get_force("spring").set_stiffness(other, 5.0 + x)

    of_parameters = system.calc_parameter_derivatives(state, ["top.mass", "spring.stiffness"])
    for k, change in enumerate((heavier, stiffer)):
        np.testing.assert_allclose(of_parameters[:, k], moved(state, change, accelerations, 1e-2), atol=1e-8)
    many = mb.Ensemble(system, 2, state=state)
    many.realize()
    of_many = many.calc_forward_dynamics_derivatives()
    for part, single in zip(of_many, found, strict=True):
        np.testing.assert_allclose(part[1], single, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(single).max(initial=0.0)))
    model = mb.linearize(system, state)
    np.testing.assert_allclose(model.A[nu:, nu : 2 * nu], found.u, atol=1e-12 * max(1.0, np.abs(found.u).max()))
    assert model.by_differences == []
