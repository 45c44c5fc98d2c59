"""`Ensemble.calc_gradient`: each state's is that of the state alone, which tests/simulation compares with differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb


def loss(end):
    return float(end.q[1]) ** 2 + float(end.u[0])


def swinging(n):
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q = np.linspace(0.1, 1.2, 2 * n).reshape(n, 2)
    return system, ensemble


def test_each_is_that_of_the_state_alone():
    """With numbers of its own; closed form of the first steps: of a short time, d(q)/d(u) is the time."""
    system, ensemble = swinging(3)
    gravity = system.forces.get_force(0)
    ensemble.set_each(gravity.set_magnitude, [9.0, 9.5, 10.0])
    wanted = ["q", "u", "gravity_0.magnitude", "lower.mass"]
    found = ensemble.calc_gradient(0.4, loss, wanted, times=[0.2, 0.4])
    assert found.gradient.shape == (3, 6) and found.names[-1] == "lower.mass"
    for i in range(3):
        alone = mb.calc_gradient(system, ensemble.get_state(i), 0.4, loss, wanted, times=[0.2, 0.4])
        assert_allclose(found.value[i], alone.value, rtol=1e-14)
        assert_allclose(found.gradient[i], alone.gradient, rtol=1e-11, atol=1e-12)
    short = ensemble.calc_gradient(1e-4, lambda end: float(end.q[0]), ["upper.u"])
    assert_allclose(short.gradient, np.full((3, 1), 1e-4), rtol=1e-6)


def test_steps_that_are_not_differentiated_in_lanes():
    """With quaternions they are one by one; the height of a body that falls has a closed form."""
    system = mb.MultibodySystem("ball")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    mb.mobilizer.Free(
        matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0.1, 0), mb.UnitInertia(0.1, 0.2, 0.2))), name="b"
    )
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.u = [[0.1, 0.2, 0.3, 0, 0, 0], [1.0, 0.5, 0.3, 1, 0, 0]]
    found = ensemble.calc_gradient(0.1, lambda end: float(end.q[5]), ["b.u"])
    for i in range(2):
        alone = mb.calc_gradient(system, ensemble.get_state(i), 0.1, lambda end: float(end.q[5]), ["b.u"])
        assert_allclose(found.gradient[i], alone.gradient, rtol=1e-12)
    assert_allclose(found.gradient[:, 4], 0.1, rtol=1e-9)  # height by the speed upward


def test_states_that_cannot_be_followed_have_no_numbers():
    _, ensemble = swinging(2)
    ensemble.q = [[0.1, 0.2], [np.nan, 0.0]]
    found = ensemble.calc_gradient(0.1, loss, ["q"])
    assert np.isnan(found.value[1]) and np.isnan(found.gradient[1]).all()
    assert np.isfinite(found.gradient[0]).all()


def test_what_makes_no_sense_is_said():
    _, ensemble = swinging(2)
    with pytest.raises(TypeError, match="loss is a callable"):
        ensemble.calc_gradient(0.1, 3.0, ["q"])
    with pytest.raises(ValueError, match="times have to be from"):
        ensemble.calc_gradient(0.1, loss, ["q"], times=[1.0])
    with pytest.raises(ValueError, match="lover"):
        ensemble.calc_gradient(0.1, loss, ["lover.mass"])
