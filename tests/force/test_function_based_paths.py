"""Paths whose length is a function of coordinates: in all scalars, beside closed forms and differences, and wrong input."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

T = mb.force.transmission
POLYNOMIAL = mb.function.MultivariatePolynomial([0.5, 0.1, 0.02, -0.03, 0.2, -0.1], 2, 2)


def arm(function=POLYNOMIAL, **options):
    """A double pendulum with a spring along a function of both angles."""
    system, _ = mb.examples.double_pendulum.build()
    bodies = [system.matter.bodies[name] for name in ("upper", "lower")]
    path = T.FunctionBasedPath(system.forces, function, [(body, 0) for body in bodies], **options)
    spring = mb.force.TransmissionSpring(system.forces, path, stiffness=10.0, damping=0.3)
    state = system.realize_topology()
    state.q, state.u = (0.3, -0.7), (1.1, 0.4)
    return system, state, path, spring


def test_length_speed_and_moment_arms_are_those_of_the_function():
    system, state, path, spring = arm(ratio=1.5)
    system.realize(state)
    x, y = state.q
    slope = np.array([-0.03 + 0.2 * y - 0.2 * x, 0.1 + 0.04 * y + 0.2 * x])
    length = 0.5 + 0.1 * y + 0.02 * y**2 - 0.03 * x + 0.2 * x * y - 0.1 * x**2
    assert path.calc_length(state) == pytest.approx(1.5 * length, rel=1e-14)
    assert path.calc_speed(state) == pytest.approx(1.5 * slope @ state.u, rel=1e-13)
    assert_allclose(path.calc_moment_arms(state), -1.5 * slope, rtol=1e-13)
    force = -10.0 * 1.5 * length - 0.3 * 1.5 * slope @ state.u
    assert_allclose(spring.calc_force_contribution(state)[2], force * 1.5 * slope, rtol=1e-12)
    assert path.calc_path_points(state).shape == (0, 3)


def test_energy_is_kept_along_it():
    system, _ = mb.examples.double_pendulum.build()
    bodies = [system.matter.bodies[name] for name in ("upper", "lower")]
    path = T.FunctionBasedPath(system.forces, POLYNOMIAL, [(body, 0) for body in bodies])
    mb.force.TransmissionSpring(system.forces, path, stiffness=10.0)
    state = system.realize_topology()
    state.q = 0.3, -0.7
    system.realize(state)
    before = system.calc_energy(state)
    run = mb.simulate(system, state, 1.0, accuracy=1e-10)
    state.q, state.u = run.q[-1], run.u[-1]
    system.realize(state)
    assert abs(run.q[-1] - run.q[0]).max() > 0.1
    assert system.calc_energy(state) == pytest.approx(before, abs=1e-7)


def test_lanes_and_tangents():
    """Lanes equal one state; derivatives of accelerations equal differences."""
    system, state, _, _ = arm()
    rng = np.random.default_rng(5)
    q, u = rng.uniform(-1, 1, (9, 2)), rng.normal(size=(9, 2))
    many = mb.Ensemble(system, 9)
    many.q, many.u = q, u
    many.realize()
    for k in range(9):
        state.q, state.u = q[k], u[k]
        system.realize(state)
        assert_allclose(many.u_dot[k], state.u_dot, rtol=1e-12, atol=1e-12)
    A = system.calc_forward_dynamics_derivatives(state)
    h = 1e-6
    for j in range(2):
        found = []
        for sign in (1, -1):
            state.q = q[8] + sign * h * np.eye(2)[j]
            system.realize(state)
            found.append(state.u_dot.copy())
        assert_allclose(A[0][:, j], (found[0] - found[1]) / (2 * h), rtol=1e-6, atol=1e-6)
        state.q = q[8]


def test_one_coordinate_of_an_affine_function_and_two_functions_beside_each_other():
    """An affine function has no routine; slopes of one path are not those of another that was evaluated in between."""
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = (system.matter.bodies[name] for name in ("upper", "lower"))
    straight = T.FunctionBasedPath(system.forces, mb.function.Linear([0.04, 1.0]), [(lower, 0)])
    bent = T.FunctionBasedPath(system.forces, POLYNOMIAL, [(lower, 0), (upper, 0)])
    for path in (straight, bent):
        mb.force.Actuator(system.forces, path, control=-2.0)
    state = system.realize_topology()
    state.q = 0.2, 0.5
    system.realize(state)
    assert straight.calc_length(state) == pytest.approx(1.02)
    assert_allclose(straight.calc_moment_arms(state), [0.0, -0.04])
    assert_allclose(system.forces.get_mobility_forces(state), 2.0 * sum(p.calc_moment_arms(state) for p in (straight, bent)))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_polynomials_of_several_arguments(n):
    """Beside the sum of its terms, in the order of OpenSim's coefficients: powers of the last argument rise first."""
    rng = np.random.default_rng(n)
    powers = [p for p in np.ndindex(*[4] * n) if sum(p) <= 3]
    c, x = rng.normal(size=len(powers)), rng.normal(size=n)
    f = mb.function.MultivariatePolynomial(c, n, 3)
    assert len(powers) == math.comb(n + 3, n)
    assert f(x) == pytest.approx(sum(ck * np.prod(x ** np.array(p)) for ck, p in zip(c, powers, strict=True)), rel=1e-12)


WRONG = {
    "arguments": (lambda s, a, b: T.FunctionBasedPath(s.forces, POLYNOMIAL, [(a, 0)]), ValueError, "each of its 1 coordinates"),
    "twice": (lambda s, a, b: T.FunctionBasedPath(s.forces, POLYNOMIAL, [(a, 0), (a, 0)]), mb.ModelError, "comes again"),
    "none": (lambda s, a, b: T.FunctionBasedPath(s.forces, POLYNOMIAL, []), mb.ModelError, "one coordinate or more"),
    "function": (lambda s, a, b: T.FunctionBasedPath(s.forces, 3.0, [(a, 0)]), TypeError, "function of a FunctionBasedPath"),
    "coordinate": (lambda s, a, b: T.FunctionBasedPath(s.forces, POLYNOMIAL, [(a, 0), (b, 1)]), IndexError, "which_q"),
    "coefficients": (lambda s, a, b: mb.function.MultivariatePolynomial([1.0, 2.0], 2, 2), mb.ModelError, "6 coefficients"),
    "dimension": (lambda s, a, b: mb.function.MultivariatePolynomial([1.0], 7, 0), ValueError, "from 1 to 6"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_wrong_input_is_told(case):
    make, error, text = case
    system, _ = mb.examples.double_pendulum.build()
    with pytest.raises(error, match=text):
        make(system, *(system.matter.bodies[name] for name in ("upper", "lower")))


def test_a_path_that_nothing_acts_along_cannot_be_asked():
    system, _ = mb.examples.double_pendulum.build()
    path = T.FunctionBasedPath(system.forces, mb.function.Linear([1.0, 0.0]), [(system.matter.bodies["lower"], 0)])
    state = system.realize_topology()
    system.realize(state)
    with pytest.raises(mb.ModelError, match="there is none yet"):
        path.calc_length(state)
