"""ParticleField: one element for a force on every particle."""

import pickle

import numpy as np
import pytest

import mobod as mb


def force(t, r, v, parameters):
    k, charge = parameters  # a trap, and a magnetic field along z
    return -k * r[0] + charge * v[1], -k * r[1] - charge * v[0], -k * r[2]


def energy(t, r, parameters):
    return 0.5 * parameters[0] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])


def test_forces_energy_and_motion():
    rng = np.random.default_rng(1)
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    r, v, m = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.uniform(1.0, 2.0, 5)
    matter.add_particles(m, r, v)
    field = mb.force.ParticleField(forces, force, energy, parameters=[3.0, 0.7])
    state = system.realize_topology()
    system.realize(state)
    expected = -3.0 * r + 0.7 * np.cross(v, (0, 0, 1))
    np.testing.assert_allclose(field.calc_force_contribution(state)[1], expected, rtol=1e-12)
    np.testing.assert_allclose(matter.get_all_particle_accelerations(state), expected / m[:, None], rtol=1e-12)
    np.testing.assert_allclose(field.calc_potential_energy_contribution(state), 1.5 * (r * r).sum(), rtol=1e-12)
    field.set_parameters(other := state.copy(), [6.0, 0.7])
    system.realize(other)
    np.testing.assert_allclose(field.calc_potential_energy_contribution(other), 3.0 * (r * r).sum(), rtol=1e-12)
    assert field.get_parameters(other).tolist() == [6.0, 0.7]
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    assert abs(motion.energy - motion.energy[0]).max() < 1e-6 * motion.energy[0]
    again = pickle.loads(pickle.dumps(system))
    other = again.realize_topology()
    again.realize(other)
    np.testing.assert_array_equal(
        again.matter.get_all_particle_accelerations(other), matter.get_all_particle_accelerations(state)
    )


def test_mistakes_are_told():
    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    make = mb.force.ParticleField
    with pytest.raises(mb.ModelError, match="three numbers"):
        make(forces, lambda t, r, v, parameters: r[0])
    with pytest.raises(mb.ModelError, match="a number"):
        make(forces, force, lambda t, r, parameters: r, parameters=[1.0, 2.0])
    with pytest.raises(mb.ModelError, match="has to take"):
        make(forces, lambda r: r)
    with pytest.raises(mb.ModelError, match="not enough values to unpack"):
        make(forces, force, parameters=[1.0])
    with pytest.raises(TypeError, match="plain function"):
        make(forces, None)
    with pytest.raises(ValueError, match="finite"):
        make(forces, force, parameters=[1.0, np.nan])
    assert not forces.elements
