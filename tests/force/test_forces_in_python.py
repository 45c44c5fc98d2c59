"""Forces in Python, called back by compiled steps: numbers of compiled ones, state by state in ensembles, errors as raised."""

import warnings

import numpy as np
import pytest

import mobod as mb


class Spring(mb.force.CustomImplementation):
    """A nonlinear spring and damper on one coordinate, which reads the body's motion, too."""

    def __init__(self, body, k=7.0, c=0.4):
        self.body, self.k, self.c, self.calls, self.fails_from = body, k, c, 0, np.inf

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        self.calls += 1
        if state.time > self.fails_from:
            raise ValueError("out of order")
        q, u = self.body.get_one_q(state, 0), self.body.get_one_u(state, 0)
        assert state.stage == mb.Stage.VELOCITY
        p = self.body.get_body_origin_velocity(state)
        self.body.apply_force_to_body_point(state, (0, 0, 0), -self.c * p, body_forces)
        mobility_forces[self.body.u_slice(state)] -= self.k * q**3 + 0.0 * u

    def calc_potential_energy(self, state):
        return 0.25 * self.k * self.body.get_one_q(state, 0) ** 4


def functions(body, k=7.0, c=0.4):
    """The same, to be compiled."""

    def force(t, X, V, q, u, parameters):
        v = V[0][1]
        return ((0.0, 0.0, 0.0), (-parameters[1] * v[0], -parameters[1] * v[1], -parameters[1] * v[2])), (
            (-parameters[0] * q[0][0] ** 3,),
        )

    def energy(t, X, q, parameters):
        return 0.25 * parameters[0] * q[0][0] ** 4

    return force, energy


def pendulum(in_python=True):
    system, _ = mb.examples.double_pendulum.build()
    body = system.matter.bodies["upper"]
    if in_python:
        mb.force.Custom(system.forces, Spring(body), name="spring")
    else:
        force, energy = functions(body)

        def wrenches(t, X, V, q, u, parameters):
            (torque, push), of_mobilities = force(t, X, V, q, u, parameters)
            return ((torque, push),), of_mobilities

        made = mb.force.CompiledFunctions(wrenches, energy, bodies=[body], mobilizers=[body], parameters=[7.0, 0.4])
        mb.force.Custom(system.forces, compiled=made, name="spring")
    state = system.realize_topology()
    state.q, state.u = (0.9, -0.4), (0.3, 1.0)
    return system, state


@pytest.mark.parametrize("method", ["RungeKuttaMerson", "Verlet", "SemiExplicitEuler2", "BDF"])
def test_a_run_is_that_of_the_same_force_compiled(method):
    found = []
    for in_python in (True, False):
        system, state = pendulum(in_python)
        motion = mb.simulate(system, state, 1.0, integrator=method, accuracy=1e-6, report_interval=0.1)
        found.append((motion.q, motion.energy, motion.steps_taken))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-8)
    assert found[0][2] == found[1][2]


def test_python_takes_no_steps():
    system, state = pendulum()
    assert system.calls_python
    assert not system.is_interpreted
    spring = system.forces.elements[-1].implementation
    motion = mb.simulate(system, state, 1.0, accuracy=1e-5, report_interval=1.0)
    assert 0 < motion.steps_taken * 3 < spring.calls < motion.steps_taken * 7


@pytest.mark.parametrize("method", ["RungeKuttaMerson", "BDF"])
def test_in_an_ensemble_each_state_is_as_alone_and_one_that_fails_harms_no_other(method):
    system, state = pendulum()
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.q = [[0.1, 0.2], [0.5, 0.1], [1.0, -1.0]]
    ensemble.time = [0.0, 0.5, 0.0]
    begun = ensemble.copy()
    spring = system.forces.elements[-1].implementation
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motions = ensemble.simulate(0.2, integrator=method, accuracy=1e-5, report_interval=0.1)
        one = begun.get_state(2)
        alone = mb.simulate(system, one, 0.2, integrator=method, accuracy=1e-5, report_interval=0.1)
        np.testing.assert_array_equal(motions[2].q, alone.q)
        spring.fails_from = 0.6
        failing = begun.copy().simulate(0.2, integrator=method, accuracy=1e-5, report_interval=0.1)
    assert failing.failed.tolist() == [False, True, False]
    assert "out of order" in failing.failures[1].reason
    np.testing.assert_array_equal(failing[2].q, alone.q)


def test_an_error_has_the_traceback_of_the_force():
    system, state = pendulum()
    system.forces.elements[-1].implementation.fails_from = 0.4
    with pytest.raises(ValueError, match="out of order") as caught:
        mb.simulate(system, state, 1.0)
    assert caught.traceback[-1].name == "calc_force"


def test_one_that_asks_for_more_is_told_so():
    class Curious(mb.force.CustomImplementation):
        def calc_force(self, state, *added):
            state.system.realize(state)

    system, _ = mb.examples.double_pendulum.build()
    mb.force.Custom(system.forces, Curious())
    state = system.realize_topology()
    with pytest.raises(mb.StageError, match="being realized"):
        system.realize(state)
    with pytest.raises(mb.StageError, match="being realized"):
        mb.simulate(system, state, 1.0)


def test_it_may_ask_other_forces_and_copies_of_the_state():
    system, _ = mb.examples.double_pendulum.build()
    body = system.matter.bodies["lower"]
    spring = mb.force.MobilityLinearSpring(system.forces, body, 0, 3.0, 0.1)

    class Twice(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces += spring.calc_force_contribution(state)[2]
            other = state.copy()
            other.u = (0.0, 0.0)
            spring.get_force_subsystem().get_multibody_system().realize(other, mb.Stage.VELOCITY)

        def calc_potential_energy(self, state):
            return spring.calc_potential_energy_contribution(state)

    mb.force.Custom(system.forces, Twice())
    state = system.realize_topology()
    state.q = (0.3, 0.8)
    system.realize(state)
    twice = system.get_mobility_forces(state)
    assert twice[1] == pytest.approx(-6.0 * 0.7)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-7)
    assert np.ptp(motion.energy) < 1e-4


def test_measures_of_energy_count_it():
    system, _ = mb.examples.double_pendulum.build()
    mb.force.Custom(system.forces, Spring(system.matter.bodies["upper"], c=0.0))
    measure = mb.measure.Energy(system.matter)
    total = mb.measure.Integrate(system.matter, measure, mb.measure.Constant(system.matter, 0.0))
    state = system.realize_topology()
    state.q = (0.9, -0.4)
    system.realize(state)
    energy = system.calc_energy(state)
    assert measure.get_value(state) == pytest.approx(energy)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-6)
    assert total.get_value(motion.states[-1]) == pytest.approx(energy, rel=1e-5)
