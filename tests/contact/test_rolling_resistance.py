"""Rolling and spinning resistance, and surfaces that move, by closed forms: under steps with error control, and stepped.

A ball of radius R that rolls has a momentum of 7/5 m R^2 about its point of contact, of which the moment rho m g takes away

    a = 5/7 rho g / R

and one that spins 2/5 m R^2 about the normal. A ball that is set down on a belt is rubbed until it rolls on it: its momentum
about a line in the belt's plane stays zero, so that it goes on with 2/7 of the belt's velocity.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from touching_models_of_contact import METHODS, G, integrator_of, scene

import mobod as mb
from mobod import ModelError

R, RHO, SIGMA = 0.1, 2e-3, 3e-3
BALL = mb.contact.Sphere(R)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_rolls_as_far_as_its_resistance_lets_it(method):
    system, state, ball, _ = scene(BALL, method, rolling_friction=RHO)
    v = 0.3
    ball.set_u_to_fit_angular_velocity(state, (0.0, v / R, 0.0))
    ball.set_u_to_fit_linear_velocity(state, (v, 0.0, 0.0))
    a = 5.0 / 7.0 * RHO * G / R
    run = mb.simulate(system, state, 3.0, report_interval=1.0, integrator=integrator_of(system, method))
    way = [v * t - 0.5 * a * t * t for t in (0.0, 1.0, 2.0)] + [v * v / (2.0 * a)]
    # the transition rate, 0.01, and steps of 2 ms
    np.testing.assert_allclose(run.q[:, 4], way, rtol=0.01)
    assert np.abs(run.u[-1]).max() < 2e-3
    if method in ("stepped", "rigid", "dense"):
        mb.simulate(system, state, 0.1, integrator=(stepping := integrator_of(system, method)))
        row = stepping.get_contact_points()[0]
        np.testing.assert_allclose(row["moment"], (0.0, -RHO * row["force"][2], 0.0), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_spins_as_long_as_its_resistance_lets_it(method):
    system, state, ball, _ = scene(BALL, method, spinning_friction=SIGMA)
    ball.set_u_to_fit_angular_velocity(state, (0.0, 0.0, 10.0))
    run = mb.simulate(system, state, 2.0, report_interval=0.5, integrator=integrator_of(system, method))
    slower = SIGMA * G / (0.4 * R * R)
    np.testing.assert_allclose(run.u[:, 2], np.maximum(0.0, 10.0 - slower * run.time), atol=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_belt_goes_with_two_sevenths_of_its_velocity(method):
    """What the belt has along the normal does nothing."""
    system, state, _, _ = scene(BALL, method, velocity=(1.0, 0.5, 3.0))
    run = mb.simulate(system, state, 1.0, integrator=integrator_of(system, method))
    np.testing.assert_allclose(run.u[-1, 3:5], (2.0 / 7.0, 1.0 / 7.0), rtol=6e-3)  # the transition velocity


@pytest.mark.parametrize("method", METHODS)
def test_a_box_is_carried_along(method):
    """Friction mu m g brings it to the belt's speed c, by which time it is c^2 / (2 mu g) behind."""
    system, state, _, _ = scene(mb.contact.Brick((R, R, R)), method, velocity=(0.3, 0.0, 0.0))
    run = mb.simulate(system, state, 1.0, integrator=integrator_of(system, method))
    np.testing.assert_allclose(run.u[-1, 3:5], (0.3, 0.0), atol=2e-5)
    assert abs(run.u[-1, 5]) < (1e-4 if method == "bristle" else 2e-5)  # on bristles it still hops by some microns
    np.testing.assert_allclose(run.q[-1, 4], 0.3 - 0.3**2 / (2.0 * 0.5 * G), rtol=2e-3)


@pytest.mark.parametrize("kind", ["stribeck", "bristle"])
def test_a_state_can_have_another_velocity_of_a_belt(kind):
    system, state, _, contacts = scene(mb.contact.Brick((R, R, R)), kind, velocity=(0.3, 0.0, 0.0))
    method = integrator_of(system, kind)
    contacts.set_surface_velocity(state, "floor", (-0.2, 0.0, 0.0))
    assert contacts.get_surface_velocity(state, 0).tolist() == [-0.2, 0.0, 0.0]
    run = mb.simulate(system, state, 1.0, integrator=method)
    assert run.u[-1, 3] == pytest.approx(-0.2, abs=2e-5)
    assert contacts.get_surface_velocity(system.realize_topology(), "floor").tolist() == [0.3, 0.0, 0.0]
    last = run.states[-1]
    contacts.set_surface_velocity(last, "floor", (0.1, 0.0, 0.0))
    assert mb.simulate(system, last, 1.0, integrator=method).u[-1, 3] == pytest.approx(0.1, abs=2e-5)


@pytest.mark.parametrize(("name", "value"), [("nothing", (0, 0, 0)), ("floor", (0, 0)), ("thing", (1, 0, 0)), (7, (0, 0, 0))])
def test_a_velocity_that_cannot_be_set_is_refused(name, value):
    _, state, _, contacts = scene(BALL, "stribeck", velocity=(0.3, 0.0, 0.0))
    before = state.y.copy()
    with pytest.raises((ModelError, ValueError)):
        contacts.set_surface_velocity(state, name, value)
    assert contacts.get_surface_velocity(state, "floor").tolist() == [0.3, 0.0, 0.0]
    assert (state.y == before).all()


@pytest.mark.parametrize("wrong", [-1e-3, np.nan, np.inf])
@pytest.mark.parametrize("which", ["rolling_friction", "spinning_friction"])
def test_arms_are_not_negative(which, wrong):
    with pytest.raises(ModelError, match=which):
        mb.contact.Material(1e6, **{which: wrong})


def test_a_surface_s_velocity_is_three_numbers():
    for wrong in ((1.0, 2.0), "fast", (np.nan, 0.0, 0.0)):
        with pytest.raises((ModelError, TypeError, ValueError)):
            mb.contact.Surface(BALL, mb.contact.Material(1e6), velocity=wrong)


@pytest.mark.parametrize(
    "shape", [BALL, mb.contact.Brick((R, R, R)), mb.contact.Capsule(R, R)], ids=["ball", "brick", "capsule"]
)
def test_power_and_moments_balance(shape):
    """What bodies lose is the power; heat is that and the work of the belt's drive; lanes say the same as one state."""
    seed = 20261
    print("seed", seed)
    rng = np.random.default_rng(seed)
    belt = np.array((0.3, -0.2, 0.0))
    system, state, _, contacts = scene(shape, "stribeck", rolling_friction=RHO, spinning_friction=SIGMA, velocity=belt)
    states = []
    for _ in range(3):
        one = state.copy()
        one.u = rng.normal(size=6) * (3, 3, 3, 0.2, 0.2, 0.0)
        system.realize(one, mb.Stage.ACCELERATION)
        row, points = contacts.get_contacts(one)[0], contacts.get_contact_points(one)
        load, w = points["force"][:, 2].sum(), one.u[:3]
        across = np.array((w[0], w[1], 0.0))
        expected = -load * (RHO * across / np.hypot(w[0], w[1]) + SIGMA * np.sign(w[2]) * np.array((0.0, 0.0, 1.0)))
        arms = np.cross(points["point"] - row["point"], points["force"]).sum(axis=0)
        np.testing.assert_allclose(np.asarray(row["moment"]) - arms, expected, atol=1e-9 * load)
        states.append(one)
    ensemble = mb.Ensemble(system, 3)
    ensemble.q, ensemble.u = np.array([one.q for one in states]), np.array([one.u for one in states])
    ensemble.realize(mb.Stage.ACCELERATION)
    for k, one in enumerate(states):
        np.testing.assert_allclose(ensemble.u_dot[k], one.u_dot, rtol=1e-10, atol=1e-9)
    one, h = states[0], 1e-6
    d_u = system.calc_forward_dynamics_derivatives(one).u
    for k in range(6):
        ends = []
        for side in (h, -h):
            u = one.u.copy()
            u[k] += side
            other = one.copy()
            other.u = u
            system.realize(other, mb.Stage.ACCELERATION)
            ends.append(other.u_dot.copy())
        np.testing.assert_allclose(d_u[:, k], (ends[0] - ends[1]) / (2.0 * h), rtol=1e-5, atol=1e-4)


def test_what_is_struck_in_each_step_leaves_resistance_and_known_friction_elsewhere_as_they_are():
    """Four sliders between stops see to it that Python takes one step after the other, alone as for states in lanes."""
    system, _, ball, _ = scene(BALL, "rigid", rolling_friction=RHO)
    ground, one = ball.get_matter_subsystem().ground, mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(R))
    sliders = [mb.mobilizer.Slider(ground, mb.body.Rigid(one)) for _ in range(5)]
    for slider in sliders[:4]:
        mb.contact.HardStopUpper(slider, 0, 3.1e-3, restitution=1.0)
        mb.contact.HardStopLower(slider, 0, -3.1e-3, restitution=1.0)
    mb.contact.JointFriction(sliders[4], 0, 2.0, 0.25)
    state = system.realize_topology()
    ball.set_q_to_fit_translation(state, (0, 0, R))
    ball.set_u_to_fit_angular_velocity(state, (0.0, 3.0, 0.0))
    ball.set_u_to_fit_linear_velocity(state, (0.3, 0.0, 0.0))
    for k, slider in enumerate(sliders):
        slider.set_q(state, (k - 1.5) * 1.5e-3)
        slider.set_u(state, 1.0)
    run = mb.simulate(system, state, 0.5, integrator=integrator_of(system, "rigid"))
    assert run.u[-1, 3] == pytest.approx(0.3 - 5.0 / 7.0 * RHO * G / R * 0.5, abs=1e-3)  # the first step knows no load
    assert run.u[-1, -1] == pytest.approx(1.0 - 0.5 * 0.5, abs=1e-9)
    many = mb.Ensemble(system, 2, state=state).simulate(0.5, integrator=integrator_of(system, "rigid"))
    assert many.statistics["in_lanes"].all()
    np.testing.assert_allclose(many.u[:, -1], [run.u[-1]] * 2, rtol=0.0, atol=1e-12)


def test_the_balance_of_energy_closes_on_a_belt():
    """What contact takes from the bodies, the work of the drive included, is what they lose."""
    system, state, _, contacts = scene(
        BALL, "stribeck", rolling_friction=RHO, spinning_friction=SIGMA, velocity=(0.5, 0.0, 0.0)
    )
    u = state.u.copy()
    u[:3] = 1.0, -2.0, 5.0
    state.u = u
    run = mb.simulate(system, state, 0.5, integrator=mb.integrator.RungeKuttaMerson(system, accuracy=1e-7))
    assert run.audit.energy_error < 1e-5 * run.audit.energy_scale
    last = run.states[-1]
    system.realize(last, mb.Stage.VELOCITY)
    assert contacts.get_contacts(last)["power_dissipation"] > 0.0


def test_euler_s_disk_comes_down_in_finite_time():
    """Of a thin disk of radius a, see `tests/unilateral/test_eulers_disk`, the energy is 3/2 m g a sin(alpha).

    Its angular velocity 2 sqrt(g sin(alpha) / a) has the part cos(alpha) along the floor, against which acts rho m g:

        alpha' = -4 rho / (3 a) sqrt(g sin(alpha) / a)     it lies at t = 3 a / (2 rho) sqrt(a alpha_0 / g), nearly
    """
    a, half, alpha, rho = 0.05, 0.0002, 0.4, 2e-3
    across = a * a / 4.0 + half * half / 3.0
    inertia = mb.UnitInertia(across, across, a * a / 2.0)
    system, state, disk, _ = scene(mb.contact.Cylinder(a, half), "rigid", mu=1.0, rolling_friction=rho, inertia=inertia)
    height = a * np.sin(alpha) + half * np.cos(alpha)
    disk.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(alpha, "y"), (0, 0, height)))
    rate = 2.0 * np.sqrt(G * np.sin(alpha) / a)
    disk.set_u_to_fit_angular_velocity(state, rate * np.array((-np.cos(alpha), 0.0, np.sin(alpha))))
    method = mb.integrator.TimeStepping(system, fixed_step_size=5e-5)
    run = mb.simulate(system, state, 1.9, report_interval=0.1, integrator=method)
    tilts = []
    for one in run.states:
        system.realize(one, mb.Stage.POSITION)
        tilts.append(np.arccos(min(1.0, disk.express_vector_in_ground_frame(one, (0.0, 0.0, 1.0))[2])))
    law = solve_ivp(
        lambda t, y: -4.0 * rho / (3.0 * a) * np.sqrt(G * np.sin(np.maximum(y, 0.0)) / a),
        (0.0, 1.9), [alpha], t_eval=run.time, rtol=1e-8,
    ).y[0]  # fmt: skip
    # it nods about its mean, and the law is that of a slow descent
    np.testing.assert_allclose(tilts, law, atol=0.02)
    end = 1.5 * a / rho * np.sqrt(a * alpha / G)
    assert tilts[int(10 * end) - 1] > 5e-4
    assert tilts[int(10 * end) + 2] < 1e-6
    assert np.abs(run.u[-1]).max() < 1e-6
