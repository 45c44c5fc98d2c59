"""Compliant contact in problems whose answers are known in closed form, or from the literature."""

import numpy as np
import pytest

import mobod as mb

G = 9.81


def solid_ball(matter, radius, material, mass=1.0):
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(radius))))
    body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(radius), material))
    return body


def row_of_balls(n, radius, stiffness):
    """Balls on a line along x, just touching, without friction or loss."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    steel = mb.contact.Material(stiffness)
    balls = [solid_ball(matter, radius, steel) for _ in range(n)]
    state = system.realize_topology()
    for i, one in enumerate(balls):
        one.set_q_to_fit_translation(state, (2 * radius * i, 0, 0))
    return system, state


def test_newtons_cradle_of_three_balls_that_touch():
    """Hertz's springs in a row, by the first one's speed (Herrmann and Seitz 1982, Am. J. Phys. 50, 977)."""
    system, state = row_of_balls(3, 0.05, 1e9)
    u = np.zeros(18)
    u[3] = 1.0
    state.u = u
    end = mb.simulate(system, state, 0.005, accuracy=1e-8).u[-1]
    np.testing.assert_allclose(end[3::6], [-0.07095, 0.07640, 0.99455], atol=2e-5)
    assert end[3::6].sum() == pytest.approx(1.0, abs=1e-9)


def test_how_deep_and_how_long_two_balls_touch():
    """Hertz: depth (15 m v^2 / (16 E* sqrt(R)))^(2/5), duration 2.94327 depth / v, of relative mass m and radius R."""
    radius, E, v = 0.05, 1e9, 0.3
    system, state = row_of_balls(2, radius, E)
    state.u = np.r_[0, 0, 0, v, 0, 0, np.zeros(6)]
    trajectory = mb.simulate(system, state, 2.5e-3, accuracy=1e-9, report_interval=1e-6)
    gap = trajectory.q[:, 11] - trajectory.q[:, 4] - 2 * radius
    m, R, stiffness = 0.5, radius / 2, E / 8**0.5
    depth = (15 * m * v * v / (16 * stiffness * R**0.5)) ** 0.4
    assert -gap.min() == pytest.approx(depth, rel=1e-5)
    touching = trajectory.time[gap < 0.0]
    assert touching[-1] - touching[0] == pytest.approx(2.94327 * depth / v, rel=2e-3)


@pytest.mark.parametrize("friction", ["stribeck", "bristle"])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_ball_rolls_down_a_slope_where_its_tangent_is_below_seven_halves_of_friction(factor, friction):
    """Rolling, it is accelerated by 5/7 g sin; sliding, by g (sin - mu cos), and turns slower than it moves."""
    mu, radius = 0.2, 0.05
    slope = np.arctan(3.5 * mu * factor)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (G * np.sin(slope), 0, -G * np.cos(slope)))
    mb.CompliantContactSubsystem(system, friction=friction, transition_velocity=1e-3)
    material = mb.contact.Material(1e9, 0.3, mu)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    ball = solid_ball(matter, radius, material)
    state = system.realize_topology()
    depth = (G * np.cos(slope) / (4 / 3 * 1e9 / 8**0.5 * radius**0.5)) ** (2 / 3)
    ball.set_q_to_fit_translation(state, (0, 0, radius - depth))
    end = mb.simulate(system, state, 0.5, accuracy=1e-6).u[-1]
    rolling, sliding = 5 / 7 * G * np.sin(slope), G * (np.sin(slope) - mu * np.cos(slope))
    assert end[3] == pytest.approx(0.5 * (rolling if factor < 1 else sliding), rel=3e-3)
    slip = end[3] - radius * end[1]
    assert abs(slip) < 5e-3 if factor < 1 else slip > 0.01


def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate():
    """Whatever its speed and place: its center moves on a circle (Weltner 1979, Am. J. Phys. 47, 984)."""
    rate, radius = 3.0, 0.05
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -G))
    mb.CompliantContactSubsystem(system, friction="bristle", transition_velocity=1e-3)
    material = mb.contact.Material(1e9, 0.3, 0.9)
    table = mb.mobilizer.Pin(matter.ground, mb.body.Rigid())
    table.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    mb.motion.Steady(table, rate)
    ball = solid_ball(matter, radius, material)
    state = system.realize_topology()
    depth = (G / (4 / 3 * 1e9 / 8**0.5 * radius**0.5)) ** (2 / 3)
    ball.set_q_to_fit_translation(state, (1.0, 0, radius - depth))
    ball.set_u_to_fit_linear_velocity(state, (0.3, 0.0, 0.0))
    # rolling: its lowest point moves with the table, w x (-radius z) = v_table - v
    ball.set_u_to_fit_angular_velocity(state, np.cross((0, 0, 1.0), (0.3, -rate, 0.0)) / radius)
    period = 2 * np.pi / (2 / 7 * rate)
    trajectory = mb.simulate(system, state, period, accuracy=1e-7, report_interval=period / 8)
    place, velocity = trajectory.q[:, 5:7], trajectory.u[:, 4:6]
    np.testing.assert_allclose(np.linalg.norm(velocity, axis=1), 0.3, rtol=5e-3)
    assert np.linalg.norm(place[-1] - place[0]) < 0.01
    turned = np.unwrap(np.arctan2(velocity[:, 1], velocity[:, 0]))
    assert turned[-1] - turned[0] == pytest.approx(2 * np.pi, rel=3e-3)
