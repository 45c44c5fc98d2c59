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


@pytest.mark.parametrize("n", [343, 600])
def test_atoms_in_cells_have_the_forces_of_all_pairs(n):
    """With 343 atoms some cells are on a face of the box, with 600 the last layer is not full."""
    system, pairs = gas(n, cutoff=1.6)
    state = system.realize_topology()
    for moved in (False, True):  # atoms have gone elsewhere, some far away
        if moved:
            r = system.matter.get_all_particle_locations(state)
            system.matter.set_all_particle_locations(state, np.where(np.arange(n)[:, None] % 97, 0.9 * r[::-1], 3.0 * r))
        system.realize(state)
        p = system.matter.get_all_particle_locations(state)
        apart = p[:, None] - p[None]
        r = np.linalg.norm(apart, axis=2) + 10.0 * np.eye(n)
        expected = np.einsum("ij,ijk->ik", np.where(r < 1.6, force(r, (1.5, 1.0)) / r, 0.0), apart)
        np.testing.assert_allclose(pairs.calc_force_contribution(state)[1], expected, atol=1e-12 * np.abs(expected).max())
        total = 0.5 * np.sum(np.where(r < 1.6, energy(r, (1.5, 1.0)) - energy(1.6, (1.5, 1.0)), 0.0))
        np.testing.assert_allclose(pairs.calc_potential_energy_contribution(state), total, rtol=1e-11)


def test_a_point_without_extent_and_parameters_of_a_state():
    system, pairs = gas(60)
    state = system.realize_topology()
    pairs.set_parameters(state, [3.0, 1.0])  # the force is linear in the first
    system.realize(state)
    twice = pairs.calc_force_contribution(state)[1]
    assert pairs.get_parameters(state).tolist() == [3.0, 1.0] and pairs.get_default_parameters().tolist() == [1.5, 1.0]
    pairs.set_default_parameters([6.0, 1.0])
    state = system.realize_topology()
    system.realize(state)
    np.testing.assert_allclose(pairs.calc_force_contribution(state)[1], 2.0 * twice, rtol=1e-13)
    with pytest.raises(ValueError, match="parameters of 'particlepairs_0' has"):
        pairs.set_parameters(state, [1.0])


@pytest.mark.long
def test_cells_of_eight_states_at_a_time_and_of_duals():
    system, pairs = gas(150, cutoff=1.6)
    state = system.realize_topology()
    rng = np.random.default_rng(6)
    start, places = np.array(state.y), []
    ensemble = mb.Ensemble(system, 9, state=state)
    system.realize(state)
    r = system.matter.get_all_particle_locations(state)
    for k in range(9):
        system.matter.set_all_particle_locations(state, (1.0 + 0.02 * k) * r + 0.02 * rng.normal(size=r.shape))
        places.append(np.array(state.y))
    ensemble.particle_locations = np.array(places)[:, :450].reshape(9, 150, 3)
    ensemble.realize()
    for k, y in enumerate(places):
        state.y = y
        system.realize(state)
        expected = system.matter.get_all_particle_accelerations(state)
        np.testing.assert_allclose(ensemble.particle_accelerations[k], expected, atol=1e-11 * np.abs(expected).max())
    state.y = start
    duration, wanted = 0.002, ["particlepairs_0.parameters"]  # in which none comes nearer than the cutoff
    run = mb.simulate(system, state, duration, report_interval=duration, accuracy=1e-9, sensitivities=wanted)
    ends = []
    for h in (-2e-4, -1e-4, 1e-4, 2e-4):
        pairs.set_parameters(other := state.copy(), [1.5, 1.0 + h])
        ends.append(mb.simulate(system, other, duration, accuracy=1e-12).particle_locations[-1])
    expected = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-4
    found = run.sensitivities.particle_locations[-1][..., -1]
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


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
