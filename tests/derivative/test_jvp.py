"""`jvp`: fields along any directions, beside closed forms; records are used again without what they had before."""

import numpy as np
import pytest

import mobod as mb
from mobod.derivative import equations
from mobod.derivative.coordinates import displacements
from mobod.derivative.jvp import Seed, jvp, kinematics


@pytest.fixture
def swinging():
    system, state = mb.examples.double_pendulum.build()
    state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    system.realize(state)
    return system, state


def test_poses_and_velocities_along_nine_directions(swinging, rng, close, derivative):
    """More than one pass; of a pose the change is the velocity at the direction as speeds."""
    system, state = swinging
    directions = rng.normal(size=(2, 9))
    found = jvp(state, {"q": directions}, kinematics, {"p_GB": 3, "V_GB": 3})
    assert found["p_GB"].shape == (3, 3, 9)
    for k in (0, 8):
        moving = state.copy()
        moving.u = directions[:, k]
        system.realize(moving, mb.Stage.VELOCITY)
        close(found["p_GB"][..., k], moving.record.V_GB[:, 3:], 1e-14)

        def at(h, k=k):
            other = state.copy()
            other.q = state.q + h * directions[:, k]
            system.realize(other, mb.Stage.VELOCITY)
            return np.array(other.record.V_GB)

        close(found["V_GB"][..., k], derivative(at), 1e-8)
    assert jvp(state, {"q": np.zeros((2, 0))}, kinematics, {"p_GB": 3})["p_GB"].shape == (3, 3, 0)


def test_a_record_is_used_again_without_its_seeds(swinging):
    """By a mass, then by q, and by nothing, of the same tree: each as if it came first."""
    _, state = swinging
    mass = [[Seed("mass", np.array([1]), np.array([0]), np.ones(1))]]
    by_q = equations.by_variables(state)
    by_mass = equations.of_equations(state, {}, of_model=mass)
    again = equations.by_variables(state)
    assert by_mass.residual.any()
    for part, other in zip(by_q[:-1], again[:-1], strict=True):
        np.testing.assert_array_equal(part, other)
    still = [[Seed("mass", np.array([1]), np.array([0]), np.zeros(1))]]
    assert not equations.of_equations(state, {}, of_model=still).residual.any()


def test_rates_of_many_integrals_are_written_over_nothing():
    """A hundred of them behind a spring's forces: the residual's derivatives are those without."""
    found = []
    for n in (0, 200):
        system, _ = mb.examples.double_pendulum.build()
        mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
        for _ in range(n):
            mb.measure.Integrate(system.matter, mb.measure.Constant(system.matter, 1e9))
        state = system.realize_topology()
        state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        system.realize(state)
        found.append(equations.by_variables(state).residual[:, :4])
    np.testing.assert_array_equal(*found)


def test_a_pass_that_fails_is_said_and_leaves_nothing_behind(swinging):
    _, state = swinging
    before = jvp(state, {"q": np.eye(2)}, kinematics, {"V_GB": 3})["V_GB"]

    def fails(record, kind):
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        jvp(state, {"q": np.eye(2), "u": 5.0 * np.eye(2)}, fails, {"V_GB": 3})
    np.testing.assert_array_equal(jvp(state, {"q": np.eye(2)}, kinematics, {"V_GB": 3})["V_GB"], before)


def test_displacements_of_quaternions_turn_as_speeds_do(make, close):
    """N of a ball's quaternion, from Rodrigues: q_dot = (0, w) q / 2, w in the parent's axes."""
    model = make.tree(1, [mb.mobilizer.Ball])
    model.made()
    state = model.randomize(mb.Stage.POSITION)
    e, x = state.q[0], state.q[1:4]
    cross = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    forward = 0.5 * np.vstack([-x, e * np.eye(3) - cross])
    close(displacements(state), forward, 1e-14)
