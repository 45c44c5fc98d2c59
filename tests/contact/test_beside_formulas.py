"""Balls that slide, roll and spin on belts and slopes, and a brick that tips on a belt, beside their own equations of motion.

Where contact gives way by x a ball rolls on R - x / 2: of two like materials each gives way by half, and friction acts there. A
formula for a rigid ball is off by as much: where x is 4 % of R, a ball on a belt ends 2 % from it.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from touching_models_of_contact import METHODS, G, integrator_of, scene

import mobod as mb

R = 0.1
BALL = mb.contact.Sphere(R)
#: The depth at which the scene's ball of 2 kg rests, by Hertz's law: E* of two like materials is E / sqrt(8).
DEPTH = (2.0 * G / (4.0 / 3.0 * 1e7 / 8.0**0.5 * R**0.5)) ** (2.0 / 3.0)


def rolling(until, v, w, belt, mu, rho, sigma, lever):
    """Velocity and angular velocity of a ball, by Coulomb's law, a moment against rolling and one against spinning.

    All three are rounded off within 1e-6 of rest.
    """
    inertia = 0.4 * R * R

    def rate(t, y):
        v, w = y[:2], y[2:]
        slip = np.array((v[0] - lever * w[1], v[1] + lever * w[0])) - belt
        force = -mu * G * slip / np.sqrt(slip @ slip + 1e-12)
        against = -rho * G * w[:2] / np.sqrt(w[:2] @ w[:2] + 1e-12)
        spin = -sigma * G * w[2] / np.sqrt(w[2] * w[2] + 1e-12)
        return *force, *(np.array((lever * force[1] + against[0], against[1] - lever * force[0], spin)) / inertia)

    return solve_ivp(rate, (0.0, until), (*v, *w), method="Radau", rtol=1e-8, atol=1e-10).y[:, -1]


#: Time, velocity, angular velocity, the belt's velocity, mu, rho, sigma.
BELTS = {
    "rubs, then rolls": (2.0, (0.1, -0.4), (-2.0, 3.0, 1.4), (-0.6, 0.3), 0.6, 0.0, 0.0),
    "rolls slower": (1.0, (0.4, 0.2), (1.0, -4.0, 3.0), (0.5, -0.6), 0.3, 0.004, 0.002),
    "rubs all the time": (0.3, (-0.4, 0.3), (4.0, 4.0, -2.0), (0.6, 0.6), 0.1, 0.001, 0.002),
}


def on_belt(method, c, mu, rho, sigma):
    """The scene with a ball that lies on a belt, the distance from its middle to where friction acts, and an integrator."""
    system, state, ball, _ = scene(BALL, method, mu=mu, velocity=(*c, 0.0), rolling_friction=rho, spinning_friction=sigma)
    rigid = method in ("rigid", "dense")
    ball.set_q_to_fit_translation(state, (0, 0, R if rigid else R - DEPTH))
    if method in ("stribeck", "bristle"):
        return system, state, ball, R - 0.5 * DEPTH, integrator_of(system, method)
    method = mb.integrator.TimeStepping(system, fixed_step_size=1e-3 if method == "dense" else 2.5e-4)
    return system, state, ball, R if rigid else R - 0.5 * DEPTH, method


@pytest.mark.parametrize("belt", BELTS.values(), ids=BELTS)
@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_belt(method, belt):
    until, v, w, c, mu, rho, sigma = belt
    system, state, ball, lever, integrator = on_belt(method, c, mu, rho, sigma)
    ball.set_u_to_fit_angular_velocity(state, w)
    ball.set_u_to_fit_linear_velocity(state, (*v, 0.0))
    run = mb.simulate(system, state, until, integrator=integrator)
    expected = rolling(until, v, w, np.array(c), mu, rho, sigma, lever)
    # the first step has not touched yet, bristles have to bend, and below rates of transition friction and resistance are less
    atol = 5e-4 if method == "dense" else 2e-4
    np.testing.assert_allclose(run.u[-1, 3:5], expected[:2], atol=atol)
    np.testing.assert_allclose(run.u[-1, :3], expected[2:], atol=5e-3)


@pytest.mark.parametrize("method", ["stribeck", "rigid"])
def test_balls_on_a_belt_in_an_ensemble(method):
    starts = [belt[1:3] for belt in BELTS.values()]
    until, _, _, c, mu, rho, sigma = BELTS["rolls slower"]
    system, state, ball, lever, integrator = on_belt(method, c, mu, rho, sigma)
    states = []
    for v, w in starts:
        states.append(state.copy())
        ball.set_u_to_fit_angular_velocity(states[-1], w)
        ball.set_u_to_fit_linear_velocity(states[-1], (*v, 0.0))
    ensemble = mb.Ensemble(system, len(states))
    ensemble.q, ensemble.u = np.array([one.q for one in states]), np.array([one.u for one in states])
    run = ensemble.simulate(until, integrator=integrator)
    for k, (v, w) in enumerate(starts):
        expected = rolling(until, v, w, np.array(c), mu, rho, sigma, lever)
        np.testing.assert_allclose(run.u[k, -1, 3:5], expected[:2], atol=2e-4)


def a_body(method, shape, inertia, mu, slope=0.0, belt=None):
    """A body of 1 kg that only touches a stiff plane, along whose x gravity leans."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (G * np.sin(slope), 0, -G * np.cos(slope)))
    if method in ("stribeck", "bristle", "stepped"):
        friction = "bristle" if method == "bristle" else "stribeck"
        mb.CompliantContactSubsystem(system, friction=friction, transition_velocity=1e-3)
    stone = mb.contact.Material(1e8, 1.0, mu)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone, velocity=belt))
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), inertia)))
    body.add_contact_surface(mb.contact.Surface(shape, stone))
    if method in ("rigid", "events"):
        mb.contact.rigid(system, stepped=method == "rigid")
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0, 0, shape.bounds()[1][2]))
    if method in ("rigid", "stepped"):
        return system, state, mb.integrator.TimeStepping(system, fixed_step_size=5e-4)
    return system, state, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6)


@pytest.mark.parametrize("method", ["stribeck", "bristle", "stepped", "rigid", "events"])
def test_a_ball_slides_down_a_slope_until_it_rolls(method):
    """It slides by g (sin - mu cos) and spins up by 5/2 mu g cos / R until v = R w; from there it rolls by 5/7 g sin."""
    slope, mu, v, until = 0.3, 0.3, 0.5, 0.8
    system, state, integrator = a_body(method, BALL, mb.UnitInertia.sphere(R), mu, slope)
    u = state.u.copy()
    u[3] = v
    state.u = u
    run = mb.simulate(system, state, until, integrator=integrator)
    down, pressed = G * np.sin(slope), mu * G * np.cos(slope)
    late = v / (3.5 * pressed - down)
    rolls = v + (down - pressed) * late
    way, left = v * late + 0.5 * (down - pressed) * late**2, until - late
    exact = method == "events"
    np.testing.assert_allclose(run.u[-1, 3], rolls + 5.0 / 7.0 * down * left, atol=1e-5 if exact else 6e-4)
    np.testing.assert_allclose(R * run.u[-1, 1], run.u[-1, 3], atol=1e-5 if exact else 1.5e-3)
    np.testing.assert_allclose(
        run.q[-1, 4], way + rolls * left + 2.5 / 7.0 * down * left**2, atol=1e-6 if exact else 5e-4
    )  # a step counts from its beginning


@pytest.mark.parametrize("method", ["stribeck", "bristle", "stepped", "rigid"])
def test_a_brick_that_a_belt_tips_over(method):
    """On a belt that is faster it turns about its hind edge, at (x, 0), by the angle p; with the middle at (c, s) from there

    c = a cos p - h sin p,  s = a sin p + h cos p,  x'' = mu N + s p'' + c p'^2,  N = g + c p'' - s p'^2,  I p'' = N (mu s - c)
    """  # fmt: skip
    a, h, mu, until = 0.05, 0.15, 0.6, 0.25
    inertia = (a * a + h * h) / 3.0

    def rate(t, y):
        c, s = a * np.cos(y[1]) - h * np.sin(y[1]), a * np.sin(y[1]) + h * np.cos(y[1])
        arm = mu * s - c
        turns = (G - s * y[3] ** 2) * arm / (inertia - c * arm)
        load = G + c * turns - s * y[3] ** 2
        return y[2], y[3], mu * load + s * turns + c * y[3] ** 2, turns

    x, p, x_dot, p_dot = solve_ivp(rate, (0.0, until), (-a, 0.0, 0.0, 0.0), rtol=1e-10, atol=1e-12).y[:, -1]
    system, state, integrator = a_body(
        method, mb.contact.Brick((a, a, h)), mb.UnitInertia.brick((a, a, h)), mu, belt=(5.0, 0.0, 0.0)
    )
    run = mb.simulate(system, state, until, integrator=integrator)
    q, u = run.q[-1], run.u[-1]
    c, s = a * np.cos(p) - h * np.sin(p), a * np.sin(p) + h * np.cos(p)
    assert p > 1.4
    np.testing.assert_allclose((q[4], q[6]), (x + c, s), atol=5e-4)
    np.testing.assert_allclose(-2.0 * np.arctan2(q[2], q[0]), p, atol=3e-3)
    np.testing.assert_allclose((-u[1], u[3]), (p_dot, x_dot - s * p_dot), rtol=3e-3)
