"""The bundled examples of control, optimisation and identification: what they find is known otherwise."""

import numpy as np
import pytest

import mobod as mb


def test_furutas_pendulum_stands():
    """The closed loop is stable, and from 0.35 rad the pendulum ends upright with the arm back."""
    system, state = mb.examples.furuta_pendulum.build()
    upright = state.copy()
    upright.q = (0, 0)
    system.realize(upright)
    assert mb.linearize(system, upright, []).calc_eigenvalues().real.max() < -0.5
    motion = mb.simulate(system, state, 6.0)
    assert np.abs(motion.q[-1]).max() < 1e-3 and np.abs(motion.q).max() < 1.5


def test_a_plan_to_swing_up_is_the_same_by_scipy_and_by_ipopt_and_can_be_followed():
    example = mb.examples.swing_up
    system, state = example.build()
    motion = mb.simulate(system, state, example.TIME)
    assert np.abs(motion.q[-1]).max() < 0.01 and np.isclose(motion.q[0, 1], np.pi)
    pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out
    by_scipy, by_ipopt = example.plan("scipy"), example.plan("ipopt")
    np.testing.assert_allclose(by_scipy.quantities["controls"], by_ipopt.quantities["controls"], atol=1e-2)
    np.testing.assert_allclose(by_scipy.q, by_ipopt.q, atol=1e-3)


def test_base_parameters_of_the_panda_come_out_of_noisy_torques():
    """43 of them, as the literature counts; errors are as large as their covariance says."""
    found = mb.examples.identification.identify()
    errors = found.values - found.true
    assert len(found.values) == 43 == len(found.names)
    whitened = np.linalg.solve(np.linalg.cholesky(found.covariance), errors)
    assert 0.6 < np.sqrt(np.mean(whitened**2)) < 1.4  # a chi-squared of 43: a standard deviation of 0.11
    assert np.median(np.abs(errors)) < 0.01


def test_base_parameters_give_the_same_forces(make, close):
    """Of a random tree, at motions that the decomposition has not seen."""
    model = make.tree(4)
    base = mb.find_base_parameters(model.system, seed=1)
    state = model.randomize()
    u_dot = make.rng.normal(size=len(state.u))
    Y = model.matter.calc_inertial_parameter_regressor(state, u_dot)
    parameters = mb.examples.identification.true_parameters(model.system)
    close(Y[:, base.independent] @ base.calc_values(parameters), Y @ parameters, 1e-8)
    with pytest.raises(ValueError, match="parameters"):
        base.calc_values(parameters[1:])
    fixed = mb.MultibodySystem("fixed")
    mb.mobilizer.Weld(
        mb.SimbodyMatterSubsystem(fixed).ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.Inertia(1, 1, 1)))
    )
    with pytest.raises(mb.ModelError, match="nothing can move in 'fixed'"):
        mb.find_base_parameters(fixed)


def test_a_spring_is_found_from_a_film_of_what_it_carries():
    example = mb.examples.fitted_spring
    found = example.fit()
    assert np.all(np.abs(found.values - [example.STIFFNESS, example.DAMPING]) < 3.0 * found.deviations)
    assert found.deviations[0] < 0.01 * example.STIFFNESS
