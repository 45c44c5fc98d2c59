"""ParticlePairs: one element for all pairs of particles within a cutoff."""

import time

import numpy as np
import pytest

import mobod as mb


def force(r, parameters):
    depth, size = parameters
    return 24.0 * depth / r * (2.0 * (size / r) ** 12 - (size / r) ** 6)


def energy(r, parameters):
    depth, size = parameters
    return 4.0 * depth * ((size / r) ** 12 - (size / r) ** 6)


def gas(n, cutoff=2.5, spacing=1.1):
    """n particles near the points of a lattice."""
    side = int(np.ceil(n ** (1 / 3)))
    points = spacing * np.array([(i, j, k) for i in range(side) for j in range(side) for k in range(side)], float)[:n]
    points += 0.05 * np.random.default_rng(0).uniform(-1, 1, points.shape)
    system = mb.MultibodySystem("gas")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    matter.add_particles(np.ones(n), points)
    return system, mb.force.ParticlePairs(forces, force, energy, cutoff=cutoff, parameters=[1.5, 1.0])


def test_forces_and_energy_are_sums_over_pairs():
    system, pairs = gas(30)
    state = system.realize_topology()
    system.realize(state)
    p = state.y[: 3 * 30].reshape(-1, 3)
    apart = p[:, None] - p[None]
    r = np.linalg.norm(apart, axis=2) + 10.0 * np.eye(30)
    near = r < 2.5
    size = np.where(near, 36.0 / r * (2.0 / r**12 - 1.0 / r**6), 0.0)
    expected = np.einsum("ij,ijk->ik", size / r, apart)
    found = pairs.calc_force_contribution(state)[1]
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(system.get_particle_forces(state), found, atol=1e-12 * np.abs(expected).max())
    shift = 6.0 * (2.5**-12 - 2.5**-6)
    total = 0.5 * np.sum(np.where(near, 6.0 * (r**-12 - r**-6) - shift, 0.0))
    np.testing.assert_allclose(pairs.calc_potential_energy_contribution(state), total, rtol=1e-12)


def test_200_atoms_are_made_in_a_moment_and_keep_their_energy():
    gas(2)[0].realize_topology()  # compiles
    began = time.process_time()
    system, _ = gas(200, cutoff=6.0)
    state = system.realize_topology()
    assert time.process_time() - began < 1.0
    motion = mb.simulate(system, state, 0.2, accuracy=1e-7)
    assert abs(motion.energy - motion.energy[0]).max() < 1e-3 * abs(motion.energy[0])


def test_mistakes_are_told():
    system, _ = gas(2)
    forces = system.forces
    with pytest.raises(mb.ModelError, match="cutoff"):
        mb.force.ParticlePairs(forces, force, cutoff=0.0, parameters=[1.0, 1.0])
    with pytest.raises(mb.ModelError, match="number"):
        mb.force.ParticlePairs(forces, lambda r, parameters: (r, r), cutoff=1.0)
    with pytest.raises(mb.ModelError, match="has to take"):
        mb.force.ParticlePairs(forces, lambda r: r, cutoff=1.0)
    assert forces.get_num_forces() == 1
