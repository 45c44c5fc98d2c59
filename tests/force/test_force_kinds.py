"""Every kind of force: power and energy belong together; it can be switched off, copied, and computed for many states.

What tests have to know of a kind is its record in ``tests/kinds/forces.py``.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest

import mobod as mb
from kinds.forces import FORCES, elements, one_in, tree
from mobod import Stage
from mobod.simulation.names import auxiliary_names
from mobod.state import validity

F = mb.force


@pytest.fixture
def model(make):
    return model_of(make, FORCES)


def model_of(make, kinds):
    model = tree(make)
    model.elements = elements(model, kinds)
    model.made()
    for force in model.elements:
        if FORCES[type(force)].begin:
            FORCES[type(force)].begin(force, model.state, make.rng)
    model.state.z = make.rng.uniform(-0.5, 0.5, len(model.state.z))
    model.randomize()
    return model


def element(model, kind, n=0):
    """Element number *n* of a kind."""
    return [force for force in model.elements if type(force) is kind][n]


def power_of(force, state):
    F_B, _, f = force.calc_force_contribution(state)
    return (
        F_B * np.array([b.get_body_velocity(state) for b in force.get_force_subsystem().get_system().matter.bodies])
    ).sum() + (f @ state.u)


def test_there_is_one_of_each(model):
    assert {type(force) for force in model.elements} | {F.Gravity} == set(FORCES)
    order = [type(force) for force in model.elements]
    together = sum(a is b for a, b in itertools.pairwise(order))
    assert any(order.count(kind) > 1 for kind in order) and together < 3, "they mix"


def test_what_a_force_does_is_its_energy_and_what_it_dissipates(model, derivative):
    """P = -dPE/dt - dissipation, whatever the coordinates; forces without energy dissipate nothing."""
    state = model.state
    for force in model.elements:
        power, lost = power_of(force, state), force.calc_power_dissipation(state)
        if not FORCES[type(force)].conservative:
            assert lost == 0.0 and force.calc_potential_energy_contribution(state) == 0.0
            continue
        slope = derivative(
            lambda h, force=force: force.calc_potential_energy_contribution(model.moved(h, stage=Stage.POSITION)),
            1e-4,  # small contacts turn fast: at seed 11234301 three times this step leaves 6e-7, this one 8e-9
        )
        assert power == pytest.approx(-slope - lost, rel=1e-7, abs=1e-7), force
        if not FORCES[type(force)].feeds:
            assert lost >= 0.0


def test_elements_add_up(model, close):
    state, system = model.state, model.system
    parts = [force.calc_force_contribution(state) for force in [model.gravity, *model.elements]]
    close(sum(part[0] for part in parts), system.get_rigid_body_forces(state), 1e-13)
    close(sum(part[2] for part in parts), system.get_mobility_forces(state), 1e-13)
    close(model.forces.get_rigid_body_forces(state), system.get_rigid_body_forces(state), 1e-15)
    energies = [force.calc_potential_energy_contribution(state) for force in [model.gravity, *model.elements]]
    assert sum(energies) == pytest.approx(system.calc_potential_energy(state), rel=1e-12)
    assert system.calc_energy(state) == pytest.approx(system.calc_kinetic_energy(state) + sum(energies), rel=1e-12)
    assert model.forces.calc_potential_energy(state) == pytest.approx(sum(energies), rel=1e-12)
    lost = sum(force.calc_power_dissipation(state) for force in model.elements)
    assert model.forces.calc_power_dissipation(state) == pytest.approx(lost, rel=1e-12)
    assert system.calc_power_dissipation(state) == pytest.approx(lost, rel=1e-12)


def test_asking_for_one_element_changes_nothing(model):
    state = model.state
    before = state.copy()
    for force in model.elements:
        force.calc_force_contribution(state)
        force.calc_power_dissipation(state)
    for name in ("u_dot", "z_dot"):
        assert np.array_equal(getattr(state, name), getattr(before, name))
    assert np.array_equal(model.system.get_mobility_forces(state), model.system.get_mobility_forces(before))


def test_it_can_be_switched_off_and_on(model):
    state, system, forces = model.state, model.system, model.forces
    before = state.u_dot.copy()
    for force in model.elements:
        force.disable(state)
    system.realize(state)
    assert np.array_equal(system.get_rigid_body_forces(state), model.gravity.get_body_forces(state))
    assert not system.get_mobility_forces(state).any() and not state.z_dot.any()
    assert system.calc_potential_energy(state) == pytest.approx(model.gravity.get_potential_energy(state))
    assert forces.calc_power_dissipation(state) == 0.0
    for force in model.elements:
        assert forces.is_force_disabled(state, force.get_force_index())
        forces.set_force_is_disabled(state, force.get_force_index(), False)
    system.realize(state)
    assert np.array_equal(state.u_dot, before)
    element(model, F.TwoPointLinearSpring).set_disabled_by_default(True)
    state = model.made().state
    assert element(model, F.TwoPointLinearSpring).is_disabled(state) and not model.elements[2].is_disabled(state)


def test_forces_of_positions_are_kept_when_u_changes_and_no_longer(model):
    """To the bit what a state that has never been realized gives."""
    state, system = model.state, model.system

    def check():
        system.realize(state)
        fresh = system.realize_topology()
        for name, array in state.own_fields.items():
            fresh.own_field(name)[...] = array
        fresh.y = state.y
        system.realize(fresh)
        assert np.array_equal(state.u_dot, fresh.u_dot)

    for change in (
        lambda: setattr(state, "u", 0.5 * state.u),
        lambda: setattr(state, "z", 0.5 * state.z),
        lambda: setattr(state, "q", 0.9 * state.q),
        lambda: setattr(state, "u", 0.5 * state.u),
        lambda: element(model, F.TwoPointLinearSpring).set_stiffness(state, 3.0),
        lambda: element(model, F.MobilityDiscreteForce).set_mobility_force(state, 3.0),
        lambda: element(model, F.TwoPointLinearSpring, 1).disable(state),
        lambda: setattr(state, "u", 2.0 * state.u),
    ):
        change()
        check()


def test_a_z_that_no_force_reads_costs_nothing(make):
    model = make.tree(2, [mb.mobilizer.Free])
    one, two = model.bodies[1], model.bodies[2]
    bushing = F.LinearBushing(model.forces, one, mb.Transform(), two, mb.Transform(), np.ones(6), np.ones(6))
    state = model.made().randomize()
    valid, rate = state.valid, state.z_dot.copy()
    bushing.set_dissipated_energy(state, 3.0)
    assert state.stage == Stage.VELOCITY
    model.system.realize(state)
    assert np.array_equal(state.z_dot, rate) and bushing.get_dissipated_energy(state) == 3.0
    assert state.valid & 63 == valid & 63


@pytest.mark.parametrize(
    ("kinds", "own"),
    [
        pytest.param(lambda rng: FORCES, False, id="one stiffness"),
        pytest.param(lambda rng: one_in(8, rng), True, id="stiffnesses of their own, some kinds"),
        # another kernel of each kind, for which nothing else is compiled
        pytest.param(lambda rng: FORCES, True, id="stiffnesses of their own", marks=pytest.mark.exhaustive),
    ],
)
def test_many_states_at_once_are_the_states(kinds, own, make, rng):
    model = model_of(make, kinds(rng))
    state = model.state
    ensemble = mb.Ensemble(model.system, 11, state=state)
    states = [model.randomize(state=state.copy()) for _ in range(11)]
    for other in states:
        other.z = rng.uniform(-1, 1, len(other.z))
        model.system.realize(other)
    for name in ("q", "u", "z"):
        setattr(ensemble, name, np.array([getattr(other, name) for other in states]))
    stiffness = rng.uniform(1, 9, 11)
    spring = element(model, F.TwoPointLinearSpring)
    if own:
        ensemble.set_each(spring.set_stiffness, stiffness)
    ensemble.realize()
    for i, other in enumerate(states):
        if own:
            spring.set_stiffness(other, stiffness[i])
        model.system.realize(other)
        assert np.allclose(ensemble.u_dot[i], other.u_dot, rtol=1e-11, atol=1e-11)
        assert np.allclose(ensemble.z_dot[i], other.z_dot, rtol=1e-12, atol=1e-12)


def test_the_order_in_which_they_are_made_does_not_matter(model):
    """Elements of one kind are computed together: each still has its own numbers."""
    first, last = element(model, F.TwoPointLinearSpring), element(model, F.TwoPointLinearSpring, 1)
    assert first.get_stiffness(model.state) == 20.0 and last.get_stiffness(model.state) == 10.0
    last.set_stiffness(model.state, 11.0)
    assert first.get_stiffness(model.state) == 20.0 and last.get_stiffness(model.state) == 11.0
    assert [force.get_force_index() for force in model.elements] == list(range(1, len(model.elements) + 1))


def test_copies_and_pickles_are_the_same(model):
    for other in (copy.deepcopy(model.system), pickle.loads(pickle.dumps(model.system))):
        state = other.realize_topology()
        for name, array in model.state.own_fields.items():
            state.own_field(name)[...] = array
        state.y = model.state.y
        other.realize(state)
        assert np.array_equal(state.u_dot, model.state.u_dot)
    state = pickle.loads(pickle.dumps(model.state))
    assert np.array_equal(state.z, model.state.z) and np.array_equal(state.u_dot, model.state.u_dot)


def test_z_have_names_and_are_integrated(model):
    names = auxiliary_names(model.system, model.state)
    bushing, thermostat = element(model, F.LinearBushing), element(model, F.Thermostat)
    single = [element(model, kind) for kind in (F.LinearBushing, F.MobilityDryFriction, F.Belt)]
    single.append(element(model, F.Actuator, 1))
    springs = [force.name for force in model.elements if type(force) is F.ExponentialSpring]
    tyres = [force.name for force in model.elements if type(force) in (F.MagicFormulaTyre, F.BrushTyre)]
    several = [(thermostat.name, 6), *((name, 3) for name in springs), *((name, 2) for name in tyres)]
    assert sorted(names) == sorted([*(one.name for one in single), *(f"{name}[{i}]" for name, n in several for i in range(n))])
    motion = mb.simulate(model.system, model.state, 0.02)
    place = names.index(bushing.name)
    assert list(motion.auxiliary_names) == names and motion.z.shape[1] == len(names)
    assert motion.z[-1, place] > motion.z[0, place]


def test_euler_angles(model):
    matter, system = model.matter, model.system
    free = next(body for body in model.bodies if type(body).__name__ == "Free")
    euler = matter.convert_to_euler_angles(model.state)
    assert np.array_equal(euler.z, model.state.z)
    element(model, F.MobilityLinearSpring, 1).disable(euler)  # a coordinate means something else now
    element(model, F.MobilityLinearSpring, 1).disable(model.state)
    element(model, F.MobilityLinearStop, 1).disable(euler)
    element(model, F.MobilityLinearStop, 1).disable(model.state)
    element(model, F.MobilityTorsion, 1).disable(euler)
    element(model, F.MobilityTorsion, 1).disable(model.state)
    for other in (euler, model.state):
        system.realize(other)
    assert np.allclose(euler.u_dot, model.state.u_dot, rtol=1e-9, atol=1e-9)
    F.MobilityLinearSpring(model.forces, free, 6, 1.0, 0.0, name="last")
    state = model.made().state
    matter.set_use_euler_angles(state, True)
    with pytest.raises(mb.ModelError, match=r"'last'.* acts on q number 6 .* has 6: choose another"):
        system.realize_model(state)


def test_tangents_are_differences(model, close):
    """Forces and rates of z of dual numbers, along one random direction of q, u and z; central differences are good to 1e-7."""
    from mobod.tree import realize

    state, rng, h = model.state, model.rng, 1e-6
    record = state.tree.new_record(with_tangents=True)
    for name in state.own_fields:
        record.share(name, state.own_fields[name])
    along = {name: rng.normal(size=len(getattr(state, name))) for name in ("q", "u", "z")}
    for name, direction in along.items():
        getattr(record, name)[:, 0] = getattr(state, name)
        getattr(record, name).tangents[:, 0, 0] = direction
    wanted = validity.POSITIONS | validity.VELOCITIES | validity.FORCES
    assert realize.realize(record, realize.advance.address(with_tangents=True), 0, wanted) == realize.DONE
    sides = []
    for sign in (1.0, -1.0):
        other = state.copy()
        for name, direction in along.items():
            setattr(other, name, getattr(state, name) + sign * h * direction)
        model.system.realize(other)
        sides.append(other.record)
    for name in ("body_forces", "mobility_forces", "z_dot"):
        slope = (getattr(sides[0], name) - getattr(sides[1], name)) / (2.0 * h)
        close(getattr(record, name).tangents[..., 0].reshape(slope.shape), slope, 1e-6)
