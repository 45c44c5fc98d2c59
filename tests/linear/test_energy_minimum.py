"""Minima of the energy: beside SciPy's, with constraints, locks and quaternions; what has none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import mobod as mb
from mobod.examples import double_pendulum, four_bar
from mobod.molecule import build_peptide


def test_a_peptide_comes_down_to_where_scipy_ends():
    """From atoms in each other; the root's quaternion turns meanwhile."""
    molecule = build_peptide("AA")
    system, state = molecule.system, molecule.default_state()
    rng = np.random.default_rng(2)
    print("seed 2")
    state.q = np.concatenate([state.q[:7], state.q[7:] + rng.normal(0.0, 0.6, len(state.q) - 7)])
    before = state.q.copy()
    found = mb.minimize_energy(system, state, tolerance=1e-7)

    def energy(torsions):
        other = found.copy()
        other.q = np.concatenate([found.q[:7], torsions])
        system.realize(other, mb.Stage.POSITION)
        return system.calc_potential_energy(other)

    peer = minimize(energy, found.q[7:] + 0.02, method="BFGS", options={"gtol": 1e-4})
    assert_allclose(system.calc_potential_energy(found), peer.fun, rtol=1e-9)
    assert_allclose(found.q[7:], peer.x, atol=1e-4)  # its differences
    assert energy(before[7:]) > energy(found.q[7:]) + 1.0 and np.abs(found.q[3:7] - before[3:7]).max() > 1e-3
    assert_allclose(state.q, before)


def test_a_closed_loop_comes_down_and_stays_closed():
    system, state = four_bar.build()
    found = mb.minimize_energy(system, state)
    assert np.abs(found.q_err).max() < 1e-11 and np.abs(found.u_dot).max() < 1e-5

    def read(q, what):
        other = found.copy()
        other.q = q
        system.realize(other, mb.Stage.POSITION)
        return what(other)

    loop = {"type": "eq", "fun": lambda q: read(q, lambda other: np.array(other.q_err)[:2])}  # the third is across the plane
    peer = minimize(
        lambda q: read(q, system.calc_potential_energy), found.q + 0.05, method="SLSQP", constraints=loop, tol=1e-12
    )
    assert_allclose(system.calc_potential_energy(found), peer.fun, rtol=1e-9)


def test_what_is_locked_stays_and_what_has_no_minimum_is_refused():
    system, state = double_pendulum.build()
    state.q = 0.5, 0.4
    system.matter.bodies["upper"].lock(state)
    found = mb.minimize_energy(system, state)
    assert_allclose(found.q, (0.5, -0.5), atol=1e-6)  # it hangs straight down
    system.matter.bodies["upper"].unlock(state)
    with pytest.raises(mb.ConvergenceError, match=r"no minimum of the energy of .* is still .* raise tolerance"):
        mb.minimize_energy(system, state, max_iterations=2)
    state.u = 0.3, 0.0
    system.matter.bodies["upper"].lock(state, mb.Motion.Level.VELOCITY)
    with pytest.raises(mb.ModelError, match="needs a system at rest, and upper is driven"):
        mb.minimize_energy(system, state)
