"""Forces in motion: closed-form oscillations, energy that is kept, lost or given to a bath, stops that do not stick."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

F = mb.force


@pytest.fixture
def slider():
    """A mass of 2 on a line."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    return system, matter, forces, mb.mobilizer.Slider(matter.ground, body)


def test_a_spring_and_a_damper_make_a_damped_oscillation(slider):
    """x = exp(-c t / 2m) (cos w t + (c / 2 m w) sin w t), w^2 = k/m - (c / 2m)^2."""
    system, _, forces, mass = slider
    F.MobilityLinearSpring(forces, mass, 0, 50.0, 0.0)
    F.MobilityLinearDamper(forces, mass, 0, 4.0)
    state = system.realize_topology()
    state.q = (1.0,)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-9)
    decay, w = 1.0, np.sqrt(25.0 - 1.0)
    expected = np.exp(-decay * motion.time) * (np.cos(w * motion.time) + decay / w * np.sin(w * motion.time))
    assert np.abs(motion.q[:, 0] - expected).max() < 1e-7


def test_two_points_do_on_a_line_what_mobilities_do(slider):
    system, matter, forces, mass = slider
    F.TwoPointLinearSpring(forces, matter.ground, (-1, 0, 0), mass, (0, 0, 0), 50.0, 1.0)
    F.TwoPointLinearDamper(forces, matter.ground, (-1, 0, 0), mass, (0, 0, 0), 4.0)
    F.TwoPointConstantForce(forces, mass, (0, 0, 0), matter.ground, (-1, 0, 0), 10.0)
    state = system.realize_topology()
    state.q, state.u = (0.3,), (0.7,)
    system.realize(state)
    assert state.u_dot[0] == pytest.approx((-50.0 * 0.3 - 4.0 * 0.7 + 10.0) / 2.0)


def test_points_that_coincide_have_no_force_and_no_nan(slider):
    system, matter, forces, mass = slider
    ends = matter.ground, (0, 0, 0), mass, (0, 0, 0)
    spring = F.TwoPointLinearSpring(forces, *ends, 50.0, 1.0)
    F.TwoPointLinearDamper(forces, *ends, 4.0)
    F.TwoPointConstantForce(forces, *ends, 10.0)
    state = system.realize_topology()
    state.u = (1.0,)
    system.realize(state)
    assert state.u_dot[0] == 0.0 and spring.calc_length(state) == 0.0
    assert spring.calc_potential_energy_contribution(state) == 25.0


def test_a_spring_of_rest_length_zero_is_as_stiff_where_its_points_coincide(slider):
    """Which is where a mechanism is linearized: alone, in lanes, and by its station."""
    system, matter, forces, mass = slider
    F.TwoPointLinearSpring(forces, matter.ground, (0, 0, 0), mass, (0, 0, 0), 50.0, 0.0, name="spring")
    state = system.realize_topology()
    system.realize(state)
    assert system.calc_forward_dynamics_derivatives(state).q == system.calc_inverse_dynamics_derivatives(state, [0.0]).q / -2.0
    assert system.calc_forward_dynamics_derivatives(state).q.item() == -25.0
    assert system.calc_parameter_derivatives(state, ["spring.station1"])[0, 0] == 25.0
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.realize(mb.Stage.ACCELERATION)
    assert ensemble.calc_forward_dynamics_derivatives().q.ravel().tolist() == [-25.0, -25.0]


def test_springs_keep_energy(make):
    """Between all bodies of a tree, on coordinates of every kind of rate, and a bushing without damping."""
    model = make.tree(4, [mb.mobilizer.Pin, mb.mobilizer.Free, mb.mobilizer.Ball, mb.mobilizer.Gimbal], gravity=True)
    forces, b, rng = model.forces, model.bodies, make.rng
    for i in range(5):
        F.TwoPointLinearSpring(forces, b[i % 5], rng.normal(size=3), b[(i + 2) % 5], rng.normal(size=3), 5.0, 0.0)
    for body in b[1:]:
        F.MobilityLinearSpring(forces, body, body.facts.num_q - 1, 3.0, 0.2)
    F.LinearBushing(forces, b[1], mb.Transform(), b[1], mb.Transform((0.1, 0, 0)), np.full(6, 10.0), np.zeros(6))
    state = model.made().randomize()
    motion = mb.simulate(model.system, state, 0.5, accuracy=1e-8)
    scale = max(1.0, np.abs(motion.energy).max())
    assert np.ptp(motion.energy) < 1e-5 * scale


def test_what_a_bushing_dissipates_is_what_energy_is_lost(slider):
    system, matter, forces, mass = slider
    bushing = F.LinearBushing(
        forces, matter.ground, mb.Transform(), mass, mb.Transform(), [9, 9, 9, 50, 50, 50], [1, 1, 1, 4, 4, 4]
    )
    state = system.realize_topology()
    state.q = (1.0,)
    bushing.set_dissipated_energy(state, 5.0)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    total = motion.energy + motion.z[:, 0]
    assert np.ptp(total) < 1e-5 and motion.z[-1, 0] - 5.0 > 1.0
    end = motion.states[-1]
    system.realize(end)
    assert bushing.get_dissipated_energy(end) == motion.z[-1, 0]
    assert np.allclose(bushing.get_q(end), [0, 0, 0, end.q[0], 0, 0]) and bushing.get_q_dot(end)[3] == pytest.approx(end.u[0])
    assert bushing.get_f(end)[3] == pytest.approx(-50 * end.q[0] - 4 * end.u[0])
    with pytest.raises(mb.StageError, match=r"get_f needs Stage.VELOCITY"):
        bushing.get_f(motion.states[0])


def test_a_stop_loses_energy_both_ways_and_does_not_stick(slider):
    system, _, forces, mass = slider
    stop = F.MobilityLinearStop(forces, mass, 0, 1000.0, 0.3, -np.inf, 0.5)
    state = system.realize_topology()
    state.u = (1.0,)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-8, report_interval=0.002)
    applied = []
    for i in range(0, len(motion.time), 5):
        at = motion.states[i]
        system.realize(at, Stage.VELOCITY)
        applied.append(stop.calc_force_contribution(at)[2][0])
    assert min(applied) < -10.0 and max(applied) <= 0.0
    assert motion.q[:, 0].max() < 0.6 and -1.0 < motion.u[-1, 0] < -0.5
    assert np.all(np.diff(motion.energy) < 1e-6)
    state.q, state.u = (0.52,), (-1e3,)  # leaving faster than the material follows: nothing holds on
    system.realize(state)
    assert state.u_dot[0] == 0.0
    assert stop.calc_power_dissipation(state) == pytest.approx(1000.0 * 0.02 * 1e3)


def test_a_thermostat_keeps_energy_with_its_bath_and_finds_the_temperature(make):
    model = make.tree(3, [mb.mobilizer.Free, mb.mobilizer.Ball, mb.mobilizer.Pin], gravity=False)
    thermostat = F.Thermostat(model.forces, model.matter, 0.5, 4.0, 0.3, 0)
    state = model.made().randomize(Stage.POSITION)
    thermostat.set_system_to_temperature(state, 8.0, make.rng)
    model.system.realize(state)
    assert thermostat.get_current_temperature(state) == pytest.approx(8.0)
    assert thermostat.get_num_thermal_dofs(state) == len(state.u)
    thermostat.set_external_work(state, 1.5)
    energy, bath = model.system.calc_energy(state), thermostat.calc_bath_energy(state)
    motion = mb.simulate(model.system, state, 2.0, accuracy=1e-8)
    temperatures, works = [], []
    for i in range(0, len(motion.time), 20):
        at = motion.states[i]
        model.system.realize(at)
        temperatures.append(thermostat.get_current_temperature(at))
        works.append(thermostat.get_external_work(at) - 1.5)
        assert model.system.calc_energy(at) + thermostat.calc_bath_energy(at) == pytest.approx(energy + bath, abs=2e-5)
        assert model.system.calc_energy(at) - energy == pytest.approx(works[-1], abs=2e-5)
    assert min(temperatures) < 5.0
    end = motion.states[-1]
    thermostat.initialize_chain_state(end)
    assert not end.z.any() and thermostat.get_external_work(end) == pytest.approx(works[-1] + 1.5, abs=2e-5)
    model.system.realize(end)
    thermostat.initialize_system_to_bath_temperature(end)
    model.system.realize(end)
    assert thermostat.get_current_temperature(end) == pytest.approx(4.0)


def test_zero_height_of_uniform_gravity_is_a_height(slider):
    system, matter, forces, _mass = slider
    field = F.UniformGravity(forces, matter, (-3.0, 0, 0), 0.5)
    state = system.realize_topology()
    assert forces.get_multibody_system() is system
    other = state.copy()
    field.set_gravity(other, (1.0, 2.0, 3.0))
    assert np.array_equal(field.get_gravity(other), (1, 2, 3)) and np.array_equal(field.get_gravity(state), (-3, 0, 0))
    assert np.array_equal(field.get_default_gravity(), (-3, 0, 0))
    assert field.set_default_gravity((-3.0, 0, 0)) is field
    state = system.realize_topology()
    state.q = (0.7,)
    system.realize(state)
    assert field.calc_potential_energy_contribution(state) == pytest.approx(2.0 * 3.0 * (0.7 - 0.5))
    assert state.u_dot[0] == pytest.approx(-3.0)


def test_particles_fall_under_uniform_gravity(slider):
    system, matter, forces, _ = slider
    matter.add_particles([1.0, 2.0], np.zeros((2, 3)))
    F.UniformGravity(forces, matter, (1.0, 2.0, 3.0))
    state = system.realize_topology()
    system.realize(state)
    assert np.allclose(forces.get_particle_forces(state), [(1, 2, 3), (2, 4, 6)])


def test_two_force_subsystems_tell_their_own_totals(slider):
    system, _matter, forces, mass = slider
    others = mb.GeneralForceSubsystem(system)
    one, two = F.MobilityConstantForce(forces, mass, 0, 2.0), F.MobilityConstantForce(others, mass, 0, 3.0)
    bushing = F.LinearBushing(others, 0, mb.Transform(), mass, mb.Transform(), np.ones(6), np.ones(6))
    state = system.realize_topology()
    state.q, state.u = (0.5,), (2.0,)
    system.realize(state)
    assert forces.get_mobility_forces(state)[0] == 2.0 and others.get_mobility_forces(state)[0] == 3.0
    assert others.get_rigid_body_forces(state)[1, 1, 0] == pytest.approx(-0.5 - 2.0)
    assert forces.calc_power_dissipation(state) == 0.0 and others.calc_power_dissipation(state) == pytest.approx(4.0)
    assert state.z_dot[0] == pytest.approx(4.0) and bushing.get_power_dissipation(state) == pytest.approx(4.0)
    assert one.get_force_subsystem() is forces and two.get_force_subsystem() is others


def test_a_force_that_is_not_finite_is_named(slider):
    system, _matter, forces, mass = slider

    def force(t, X, V, q, u, parameters):
        return (), ((1.0 / q[0][0],),)

    bad = F.Custom(forces, compiled=F.CompiledFunctions(force, mobilizers=[mass]), name="bad one")
    state = system.realize_topology()
    with pytest.raises(mb.ModelError, match="'bad one'> gives a force that is infinite or not a number"):
        system.realize(state)
    state.q = (0.5,)
    system.realize(state)
    assert bad.calc_force_contribution(state)[2][0] == 2.0
