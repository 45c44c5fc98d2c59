"""Linear quadratic regulators: against SciPy, closed forms and the cost that runs under them have."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import mobod as mb

POINT = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.3, 0.4, 0.5)))


def on_a_line(num=1):
    system = mb.MultibodySystem("line")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    sliders = [mb.mobilizer.Slider(matter.ground, POINT, name=f"slider_{i}") for i in range(num)]
    return system, sliders


def test_a_double_integrator_has_the_textbooks_gains():
    """Of the least integral of q^2 + r w^2: K = (r^-1/2, sqrt(2) r^-1/4); Anderson and Moore 1990, section 3.1."""
    system, (slider,) = on_a_line()
    state = system.realize_topology()
    for r in (0.01, 1.0, 30.0):
        found = mb.lqr(system, state, [(slider, 0)], {"slider_0.v": 1.0}, r)
        np.testing.assert_allclose(found.K, [[r**-0.5, np.sqrt(2.0) * r**-0.25]], rtol=1e-9)
        np.testing.assert_allclose(np.abs(found.eigenvalues), r**-0.25, rtol=1e-9)


def test_gains_are_scipys_and_inputs_may_be_settings():
    system, _ = mb.examples.swing_up.build_cart_and_pole()
    state, cart = system.realize_topology(), system.matter.bodies["cart"]
    Q, R, N = np.diag([3.0, 2.0, 0.5, 0.1]), 0.7, np.full((4, 1), 0.05)
    found = mb.lqr(system, state, [cart], Q, R, N=N)
    system.realize(state)
    model = mb.linearize(system, state, [(cart, 0)])
    P = solve_continuous_are(model.A, model.B, Q, np.eye(1) * R, s=N)
    np.testing.assert_allclose(found.P, P, rtol=1e-7)
    np.testing.assert_allclose(found.K, (model.B.T @ P + N.T) / R, rtol=1e-7)
    other = mb.lqr(system, state, ["motor.mobility_force"], Q, R, N=N)
    np.testing.assert_allclose(other.K, found.K, rtol=1e-9)
    with pytest.raises(mb.ModelError, match=r"motor.mobility_force.*is a setting"):
        other.add_to(system.forces, sample_time=0.01)
    moved = state.copy()
    moved.q, moved.u = (0.1, -0.2), (0.3, 0.4)
    np.testing.assert_allclose(other.calc_inputs(moved), -found.K @ [0.1, -0.2, 0.3, 0.4])
    assert np.isclose(found.calc_cost_to_go(moved), found.calc_costs_to_go([moved.q], [moved.u])[0])


@pytest.mark.parametrize("sample_time", [0.05, 0.8])
def test_a_sampled_regulator_costs_what_it_says_and_nothing_costs_less(sample_time):
    """The linear system is the model itself; the cost of a run, by quadrature of its parabolas, is x^T P x."""
    system, (slider,) = on_a_line()
    state = system.realize_topology()
    found = mb.lqr(system, state, [(slider, 0)], [1.0, 0.2], 0.3, sample_time=sample_time)
    nodes, weights = np.polynomial.legendre.leggauss(4)

    def cost(K):
        x, v, total = 1.0, -0.4, 0.0
        for _ in range(int(40 / sample_time)):
            w = -float(K @ [x, v])
            t = 0.5 * sample_time * (nodes + 1.0)
            rows = (x + v * t + 0.5 * w * t * t) ** 2 + 0.2 * (v + w * t) ** 2 + 0.3 * w * w
            total += 0.5 * sample_time * float(weights @ rows)
            x, v = x + sample_time * v + 0.5 * sample_time**2 * w, v + sample_time * w
        return total

    state.q, state.u = [1.0], [-0.4]
    least = cost(found.K[0])
    assert np.isclose(least, found.calc_cost_to_go(state), rtol=1e-9)
    for change in ([1e-2, 0], [-1e-2, 0], [0, 1e-2], [0, -1e-2]):
        assert cost(found.K[0] + change) > least
    found.add_to(system.forces)
    state = system.realize_topology()
    state.q, state.u = [1.0], [-0.4]
    motion = mb.simulate(system, state, 20.0, accuracy=1e-8, report_interval=sample_time)
    x = np.array([1.0, -0.4])
    for row in range(5):
        np.testing.assert_allclose([motion.q[row, 0], motion.u[row, 0]], x, atol=1e-9)
        w = -found.K[0] @ x
        x = np.array([x[0] + sample_time * x[1] + 0.5 * sample_time**2 * w, x[1] + sample_time * w])


@pytest.mark.parametrize("method", ["RungeKuttaMerson", "RungeKutta2", "BDF", "Verlet", "SemiExplicitEuler"])
def test_a_cart_and_pole_comes_to_rest_by_every_method(method):
    system, _ = mb.examples.swing_up.build_cart_and_pole()
    state, cart = system.realize_topology(), system.matter.bodies["cart"]
    found = mb.lqr(system, state, [(cart, 0)], 1.0, 0.1)
    found.add_to(system.forces, sample_time=0.01, limits=(-30, 30))
    state = system.realize_topology()
    state.q = 0.0, 0.4
    settings = {"fixed_step_size": 0.005} if method == "SemiExplicitEuler" else {"accuracy": 1e-4}
    motion = mb.simulate(system, state, 15.0, integrator=getattr(mb.integrator, method)(system, **settings))
    assert np.abs(motion.q[-1]).max() < 2e-3 and np.abs(motion.q[:, 1]).max() < 0.6
    loop = state.copy()
    loop.q = 0.0, 0.0
    system.realize(loop)
    model = mb.linearize(system, loop, [], closed_loop=True)
    np.testing.assert_allclose(np.sort_complex(model.calc_eigenvalues()), np.sort_complex(found.eigenvalues), rtol=1e-6)


def test_it_is_a_controller_of_ensembles_in_both_ways():
    system, _ = mb.examples.swing_up.build_cart_and_pole()
    state, cart = system.realize_topology(), system.matter.bodies["cart"]
    found = mb.lqr(system, state, [(cart, 0)], 1.0, 0.1)
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = np.column_stack([np.zeros(9), np.linspace(-0.4, 0.4, 9)])
    motions = ensemble.simulate(15.0, controller=found.controller, accuracy=1e-6)
    assert np.abs(motions.q[:, -1]).max() < 1e-3
    found.add_to(system.forces, sample_time=1e-3)
    sampled = mb.Ensemble(system, 9, state=system.realize_topology())
    sampled.q = np.column_stack([np.zeros(9), np.linspace(-0.4, 0.4, 9)])
    others = sampled.simulate(2.0, accuracy=1e-6, report_interval=0.5)
    assert not np.allclose(others.q[0, -1], 0.0, atol=1e-3)
    again = mb.Ensemble(*mb.examples.swing_up.build_cart_and_pole()[:1], 9)
    again.q = np.column_stack([np.zeros(9), np.linspace(-0.4, 0.4, 9)])
    np.testing.assert_allclose(
        others.q, again.simulate(2.0, controller=found.controller, accuracy=1e-6, report_interval=0.5).q, atol=0.01
    )


def test_what_holds_the_state_is_found():
    """A double pendulum held out, by both torques: they are those of its weight."""
    system, state = mb.examples.double_pendulum.build()
    state.q, state.u = (0.7, -0.4), (0, 0)
    system.realize(state)
    found = mb.lqr(system, state, None, 100.0, 1.0)
    np.testing.assert_allclose(found.efforts, -system.matter.calc_gravity_forces(state), atol=1e-9)
    upper = system.matter.bodies["upper"]
    with pytest.raises(mb.ModelError, match=r"u_dot of .* is .*find_equilibrium"):
        mb.lqr(system, state, [(upper, 0)], 1.0, 1.0)
    found.add_to(system.forces, sample_time=0.01)
    other = system.realize_topology()
    other.q = 0.8, -0.6
    assert np.abs(mb.simulate(system, other, 12.0).q[-1] - [0.7, -0.4]).max() < 1e-3


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_quaternion_and_its_negative_are_one_orientation(sign):
    """A body that floats, turned by 1 rad and moved: it comes back, the short way."""
    system = mb.MultibodySystem("satellite")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.mobilizer.Free(matter.ground, POINT, name="satellite")
    state = system.realize_topology()
    body.set_q(state, [0.6, 0.0, 0.8, 0.0, 1.0, 2.0, 3.0])
    held = np.array(state.q)
    found = mb.lqr(system, state, None, 1.0, 1.0)
    assert found.K.shape == (6, 12)

    def begin(state):
        half = np.array([np.cos(0.5), 0.0, 0.0, np.sin(0.5)])
        a, b = held[:4], half
        turned = [a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))]
        state.q = [*(sign * np.array(turned)), 1.3, 1.5, 3.2]
        return state

    ensemble = mb.Ensemble(system, 3, state=begin(state))
    motions = ensemble.simulate(15.0, controller=found.controller)
    found.add_to(system.forces, sample_time=0.01)
    motion = mb.simulate(system, begin(system.realize_topology()), 15.0)
    wanted = np.array([*(sign * held[:4]), *held[4:]])
    for q in (motion.q[-1], motions.q[1, -1]):
        np.testing.assert_allclose(q, wanted, atol=2e-3)


def test_closed_loops_are_held_by_their_independent_coordinates():
    """A four-bar with one motor: gains are finite, dependent ones zero, weights of dependent coordinates count."""
    system, state = mb.examples.four_bar.build()
    rest = mb.find_equilibrium(system, state)
    crank = system.matter.bodies["crank"]
    found = mb.lqr(system, rest, [(crank, 0)], 1.0, 1.0)
    assert np.isfinite(found.K).all() and np.count_nonzero(np.abs(found.K).sum(axis=0)) == 2 and found.K.shape == (1, 6)
    assert found.eigenvalues.real.max() < 0.0 and len(found.eigenvalues) == 2
    one = [float(name.startswith(tuple(found.model.state_names))) for name in found.state_names]
    assert np.abs(mb.lqr(system, rest, [(crank, 0)], one, 1.0).K).max() < np.abs(found.K).max()
    found.add_to(system.forces, sample_time=0.01)
    other = system.realize_topology()
    other.q = rest.q
    system.matter.bodies["crank"].set_u(other, [0.5])
    system.realize(other, mb.Stage.TIME)
    system.project(other)
    motion = mb.simulate(system, other, 30.0)
    assert np.abs(motion.u[0]).max() > 0.1 and np.abs(motion.q[-1] - np.array(rest.q)).max() < 2e-3


def test_states_may_be_left_out():
    """A wheel at speed: its angle does not matter, and without leave_out the message says so."""
    system, _ = on_a_line(2)
    state = system.realize_topology()
    state.u = 0.0, 2.0
    with pytest.raises(mb.ModelError, match=r"slider_1 moves at u = 2.*leave_out=\['slider_1.v'\]"):
        mb.lqr(system, state, None, 1.0, 1.0)
    found = mb.lqr(system, state, None, 1.0, 1.0, leave_out=["slider_1.v"])
    np.testing.assert_allclose(found.K, [[1, 0, np.sqrt(3), 0], [0, 0, 0, 1]], atol=1e-9)
    with pytest.raises(mb.ModelError, match=r"'slider_1.u' cannot be left out: the rate of 'slider_1.v'"):
        mb.lqr(system, state, None, 1.0, 1.0, leave_out=["slider_1.u"])
    found.add_to(system.forces, sample_time=0.01)
    run = system.realize_topology()
    run.q, run.u = (0.5, 7.0), (0.0, 1.0)
    np.testing.assert_allclose(mb.simulate(system, run, 12.0).u[-1], [0.0, 2.0], atol=1e-3)


def test_what_only_keeps_count_is_left_out_by_itself():
    """The energy that a bushing has dissipated is its z, which no input moves at rest; gains are those without it."""
    system, (slider,) = on_a_line(1)
    here = mb.Transform()
    gains = 6 * [2.0], 6 * [0.5]
    bushing = mb.force.LinearBushing(system.forces, system.matter.ground, here, slider, here, *gains, name="bushing")
    state = system.realize_topology()
    found = mb.lqr(system, state, None, 1.0, 0.3)
    A, B = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.array([[0.0], [1.0]])
    P = solve_continuous_are(A, B, np.eye(2), 0.3 * np.eye(1))
    np.testing.assert_allclose(found.K, np.hstack([B.T @ P / 0.3, [[0.0]]]), rtol=1e-9)
    (energy,) = set(found.state_names) - {"slider_0.v", "slider_0.u"}
    with pytest.raises(mb.ModelError, match=f"cannot steady {energy}"):
        mb.lqr(system, state, None, {"slider_0.v": 1.0, energy: 1.0}, 0.3)
    found.add_to(system.forces, sample_time=0.01)
    run = system.realize_topology()
    run.q = [0.5]
    motion = mb.simulate(system, run, 12.0)
    assert abs(motion.q[-1, 0]) < 1e-3 and bushing.get_dissipated_energy(motion.states[-1]) > 0.0


def test_an_integral_of_a_coordinate_takes_part():
    """It is a z, too, but one that the coordinate moves: no bystander. Gains are those of SciPy, with integral action."""
    system, (slider,) = on_a_line(1)
    mb.measure.Integrate(system.forces, mb.measure.Coordinate(system.forces, slider, 0))
    found = mb.lqr(system, system.realize_topology(), None, 1.0, 0.3)
    A, B = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([[0.0], [1.0], [0.0]])
    P = solve_continuous_are(A, B, np.eye(3), 0.3 * np.eye(1))
    np.testing.assert_allclose(found.K, B.T @ P / 0.3, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"Q": np.eye(3)}, ValueError, r"Q has to be 4 by 4, of slider_0.v.*\(3, 3\)"),
        ({"Q": {"slider_7.v": 1.0}}, ValueError, "weighs 'slider_7.v'; "),
        ({"Q": -1.0}, ValueError, "nowhere negative"),
        ({"Q": [[np.nan] * 4] * 4}, ValueError, "symmetric and finite"),
        ({"R": 0.0}, ValueError, "positive definite"),
        ({"sample_time": 0.0}, ValueError, "sample_time"),
        ({"Q": {"slider_0.v": 1.0}}, mb.ModelError, "nothing in Q weighs slider_1"),
        ({"inputs": [("slider_0", 0)]}, mb.ModelError, "cannot steady slider_1"),
        ({"inputs": []}, mb.ModelError, "0 inputs"),
        ({"leave_out": "slider_0.v"}, TypeError, "leave_out has to be a list"),
        ({"leave_out": ["x"]}, ValueError, "no independent state 'x'"),
    ],
)
def test_bad_arguments_are_named(change, error, text):
    system, _ = on_a_line(2)
    state = system.realize_topology()
    with pytest.raises(error, match=text):
        mb.lqr(system, state, **{"inputs": None, "Q": 1.0, "R": 1.0, **change})


def test_a_controller_needs_a_sample_time_under_which_it_is_stable():
    system, _ = on_a_line(1)
    found = mb.lqr(system, system.realize_topology(), None, 1.0, 1e-4)
    with pytest.raises(ValueError, match="give sample_time"):
        found.add_to(system.forces)
    with pytest.raises(ValueError, match=r"closed loop is unstable.*take at most"):
        found.add_to(system.forces, sample_time=1.0)
    with pytest.raises(mb.ModelError, match="gains have to be a matrix"):
        mb.control.StateFeedback(system.forces, gains=[1.0, 2.0], q=[0.0], sample_time=0.1)
    with pytest.raises(mb.ModelError, match="q has to be 1 numbers"):
        mb.control.StateFeedback(system.forces, gains=[[1.0, 2.0]], q=[0.0, 1.0], sample_time=0.1)
