"""Degrees of freedom that a thermostat counts: mobilities that are free, less equations of constraints, less excluded ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage


@pytest.fixture
def model():
    """A chain of four, of which a rod ties two, with a thermostat that excludes one mobility."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, -0.5, 0), mb.UnitInertia(1, 1, 1)))
    bodies, parent = [], matter.ground
    for kind in (mb.mobilizer.Ball, mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Slider):
        parent = kind(parent, body, X_PF=mb.Transform((0.3, -1, 0)))
        bodies.append(parent)
    rod = mb.constraint.Rod(bodies[0], (0, 0, 0), bodies[3], (1, 0, 0), 2.0)
    thermostat = mb.force.Thermostat(forces, matter, 0.5, 4.0, 0.3, 1)
    state = system.realize_topology()
    state.q = np.random.default_rng(1).normal(size=len(state.q))
    system.project(state, 1e-10)
    return system, bodies, rod, thermostat, state


def test_the_count(model):
    _, bodies, rod, thermostat, state = model
    assert len(state.u) == 7 and thermostat.get_num_thermal_dofs(state) == 7 - 1 - 1
    rod.disable(state)
    assert thermostat.get_num_thermal_dofs(state) == 6
    bodies[2].lock(state)
    assert thermostat.get_num_thermal_dofs(state) == 4
    rod.enable(state)
    assert thermostat.get_num_thermal_dofs(state) == 3
    for body in bodies:
        body.lock(state)
    assert thermostat.get_num_thermal_dofs(state) == 1  # one at least


def test_the_temperature_is_of_that_count_and_energy_is_kept(model):
    system, _, _, thermostat, state = model
    system.realize(state, Stage.POSITION)
    thermostat.set_system_to_temperature(state, 3.0, np.random.default_rng(2))
    system.realize(state)
    assert_allclose(thermostat.get_current_temperature(state), 3.0, rtol=1e-12)
    assert_allclose(system.calc_kinetic_energy(state), 0.5 * 5 * 0.5 * 3.0, rtol=1e-12)
    assert_allclose(system.matter.multiply_by_g(state, state.u), 0.0, atol=1e-12)
    chain = len(state.z) // 2
    rate = state.z_dot[0]
    assert_allclose(rate, (3.0 / 4.0 - 1.0) / 0.3**2, rtol=1e-12)
    total = system.calc_energy(state) + thermostat.calc_bath_energy(state)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    end = motion.states[-1]
    system.realize(end)
    assert chain == 3
    assert_allclose(system.calc_energy(end) + thermostat.calc_bath_energy(end), total, rtol=1e-6)


def test_locked_mobilizers_stay_at_rest(model):
    system, bodies, _, thermostat, state = model
    bodies[1].lock(state)
    system.realize(state, Stage.POSITION)
    thermostat.set_system_to_temperature(state, 3.0, np.random.default_rng(2))
    system.realize(state)
    assert bodies[1].get_u(state) == 0.0
    assert_allclose(thermostat.get_current_temperature(state), 3.0, rtol=1e-12)


def test_accelerations_by_coordinates_beside_a_rod(model):
    """The force is in the sweep as inertial forces; errors of accelerations are those of the accelerations alone."""
    system, _, _, _, state = model
    rng = np.random.default_rng(4)
    state.u, state.z = rng.normal(size=len(state.u)), rng.normal(size=len(state.z))
    system.realize(state)
    found, ensemble, h = system.calc_forward_dynamics_derivatives(state).q, mb.Ensemble(system, 8, state=state), 1e-5
    ensemble.realize()
    assert_allclose(ensemble.calc_forward_dynamics_derivatives().q, [found] * 8, rtol=0.0, atol=1e-9)
    for k, e in enumerate(np.eye(len(state.u))):
        ends = []
        for way in (h, -h):
            end = state.copy()
            end.q = state.q + way * system.matter.multiply_by_n(state, False, e)
            system.normalize_quaternions(end)
            system.realize(end)
            ends.append(np.array(end.u_dot))
        assert_allclose(found[:, k], (ends[0] - ends[1]) / (2.0 * h), rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("coupled", [True, False])
def test_particles(coupled):
    """A gas without forces, beside a pendulum: rates by their equations, temperatures as drawn, and the sum of energies."""
    rng = np.random.default_rng(3)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, -1, 0), mb.Inertia(3, 1, 3, 0, 0, 0))))
    m = rng.uniform(0.5, 2.0, 7)
    matter.add_particles(m, rng.normal(size=(7, 3)))
    thermostat = mb.force.Thermostat(forces, matter, 0.5, 4.0, 0.3, int(coupled), num_chains=2, particles=coupled)
    state = system.realize_topology()
    system.realize(state, Stage.POSITION)
    n = 21 if coupled else 1  # one excluded, or the pendulum alone
    assert thermostat.get_num_thermal_dofs(state) == n
    thermostat.set_system_to_temperature(state, 3.0, rng)
    state.z = 0.4, -0.2, 0.0, 0.0
    system.realize(state)
    v, u = matter.get_all_particle_velocities(state), state.u[0]
    twice = 3.0 * u * u + (m[:, None] * v * v).sum()
    assert v.any() == coupled
    T = twice / (n * 0.5)
    assert_allclose([T, thermostat.get_current_temperature(state)], 3.0, rtol=1e-12)
    assert_allclose(matter.get_all_particle_accelerations(state), -0.4 * v, rtol=1e-12)
    assert_allclose(state.u_dot, [-0.4 * u], rtol=1e-12)
    expected = [(T / 4.0 - 1.0) / 0.09 + 0.4 * 0.2, n * 0.4**2 - 1.0 / 0.09, 0.4, -0.2]
    assert_allclose(state.z_dot, expected, rtol=1e-12)
    assert_allclose(thermostat.calc_power_dissipation(state), 0.4 * twice, rtol=1e-12)
    total = system.calc_energy(state) + thermostat.calc_bath_energy(state)
    end = mb.simulate(system, state, 1.0, accuracy=1e-8).states[-1]
    system.realize(end)
    assert_allclose(system.calc_energy(end) + thermostat.calc_bath_energy(end), total, rtol=1e-6)
    assert pin.get_rate(end) != u


def test_particles_alone():
    """A gas without bodies; what is excluded may leave nothing."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    matter.add_particles(1.0, np.zeros((1, 3)))
    thermostat = mb.force.Thermostat(forces, matter, 1.0, 2.0, 0.1, 3)
    with pytest.raises(mb.ModelError, match="3 degrees of freedom of particles"):
        system.realize_topology()
    matter.add_particles(1.0, np.ones((1, 3)))
    state = system.realize_topology()
    system.realize(state, Stage.POSITION)
    assert thermostat.get_num_thermal_dofs(state) == 3
    thermostat.initialize_system_to_bath_temperature(state, np.random.default_rng(5))
    system.realize(state)
    assert_allclose(thermostat.get_current_temperature(state), 2.0, rtol=1e-12)
