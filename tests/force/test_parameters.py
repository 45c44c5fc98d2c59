"""Parameters of forces that can be changed: in the default and in a state, at which stage, and what they refuse."""

import numpy as np
import pytest

import mobod as mb
from kinds.forces import FORCES, tree
from mobod import Stage

F = mb.force


@pytest.fixture
def model(make):
    return make.tree(3, [mb.mobilizer.Pin, mb.mobilizer.Free, mb.mobilizer.Slider])


@pytest.fixture
def loaded(make):
    """A tree with an element of every kind that has parameters, beside other values for these."""
    model = tree(make)
    records = [record for record in FORCES.values() if record.parameters]
    v = model.rng.normal
    model.changes = [
        (record.elements[0](model, lambda: v(size=3)), name, value)
        for record in records
        for name, value in record.parameters.items()
    ]
    return model


def test_every_parameter_can_be_set_in_the_default_and_in_a_state(loaded):
    untouched = loaded.made().state
    loaded.system.realize(untouched)
    for force, name, value in loaded.changes:
        state = untouched.copy()
        before = np.asarray(getattr(force, f"get_{name}")(state))
        assert np.array_equal(before, np.asarray(getattr(force, f"get_default_{name}")()))
        getattr(force, f"set_{name}")(state, value)
        assert state.stage == FORCES[type(force)].falls_to
        assert np.array_equal(np.asarray(getattr(force, f"get_{name}")(state)), np.asarray(value))
        assert np.array_equal(np.asarray(getattr(force, f"get_{name}")(untouched)), before)
    for force, name, value in loaded.changes:
        assert getattr(force, f"set_default_{name}")(value) is force
        assert np.array_equal(np.asarray(getattr(force, f"get_default_{name}")()), np.asarray(value))
        with pytest.raises(mb.TopologyError, match="changed after this state was made"):
            getattr(force, f"get_{name}")(untouched)
    state = loaded.made().state
    loaded.system.realize(state)
    for force, name, value in loaded.changes:
        assert np.array_equal(np.asarray(getattr(force, f"get_{name}")(state)), np.asarray(value))


def test_a_state_with_its_own_parameters_is_the_system_with_such_defaults(loaded):
    state = loaded.made().randomize()
    for force, name, value in loaded.changes:
        getattr(force, f"set_{name}")(state, value)
    loaded.system.realize(state)
    for force, name, value in loaded.changes:
        getattr(force, f"set_default_{name}")(value)
    other = loaded.made().state
    other.q, other.u, other.z = state.q, state.u, state.z
    loaded.system.realize(other)
    assert np.array_equal(other.u_dot, state.u_dot) and np.array_equal(other.z_dot, state.z_dot)


def test_bounds_and_material_of_a_stop_are_set_in_pairs(model):
    stop = F.MobilityLinearStop(model.forces, 1, 0, 10.0, 0.1)
    stop.set_default_bounds(-1.0, 2.0).set_default_material_properties(20.0, 0.2)
    state = model.made().state
    assert (stop.get_lower_bound(state), stop.get_upper_bound(state)) == (-1.0, 2.0)
    assert (stop.get_stiffness(state), stop.get_dissipation(state)) == (20.0, 0.2)
    stop.set_bounds(state, -np.inf, 0.5)
    stop.set_material_properties(state, 30.0, 0.3)
    assert (stop.get_lower_bound(state), stop.get_upper_bound(state)) == (-np.inf, 0.5)
    assert (stop.get_stiffness(state), stop.get_dissipation(state)) == (30.0, 0.3)
    for low, high in ((-1.0, 0.5), (-2, np.float64(0.5)), (0.5, 0.5)):
        model.system.realize(state)
        stop.set_bounds(state, low, high)
        assert (stop.get_lower_bound(state), stop.get_upper_bound(state), state.stage) == (low, high, mb.Stage.MODEL)
        assert (stop.get_stiffness(state), stop.get_dissipation(state)) == (30.0, 0.3)
    for low, high in ((1.0, 0.0), (np.nan, 1.0), (np.inf, np.inf)):
        with pytest.raises(ValueError, match=r"q_low of .* has to be a number up to q_high"):
            stop.set_bounds(state, low, high)
    assert stop.get_upper_bound(state) == 0.5


def test_chains_of_a_thermostat(model):
    thermostat = F.Thermostat(model.forces, model.matter, 1.0, 300.0, 0.5, 0, num_chains=4)
    state = model.made().randomize()
    assert len(state.z) == 8 and thermostat.get_num_chains(state) == 4
    thermostat.set_num_chains(state, 2)
    model.system.realize(state)
    thermostat.set_chain_state(state, [0.1, 0.2, 0.3, 0.4])
    assert thermostat.get_chain_state(state).tolist() == [0.1, 0.2, 0.3, 0.4]
    model.system.realize(state)
    assert np.flatnonzero(state.z_dot).tolist() == [0, 1, 4, 5]
    thermostat.set_default_num_chains(1)
    assert len(model.made().state.z) == 2
    with pytest.raises(ValueError, match=r"num_chains of .* has to be from 1 to 1, got 3"):
        thermostat.set_num_chains(model.state, 3)
    with pytest.raises(ValueError, match="chain_state has to have shape"):
        thermostat.set_chain_state(model.state, [1.0])


def test_a_thermostat_needs_a_degree_of_freedom(make):
    model = make.tree(1, [mb.mobilizer.Pin])
    F.Thermostat(model.forces, model.matter, 1.0, 300.0, 0.5, 1)
    with pytest.raises(mb.ModelError, match="no thermal degree of freedom: the system has 1 mobilities"):
        model.made()


@pytest.mark.parametrize(
    ("make_it", "error", "says"),
    [
        (
            lambda f, m, b: F.TwoPointLinearSpring(f, b[0], (0, 0, 0), b[1], (0, 0, 0), -1.0, 0.0),
            ValueError,
            "stiffness of a TwoPointLinearSpring has to be",
        ),
        (lambda f, m, b: F.TwoPointLinearSpring(f, b[0], (0, 0, 0), b[1], (0, 0, 0), 1.0, np.inf), ValueError, "rest_length"),
        (lambda f, m, b: F.TwoPointLinearSpring(f, b[0], (0, 0), b[1], (0, 0, 0), 1.0, 1.0), ValueError, "station1 .* shape"),
        (lambda f, m, b: F.TwoPointLinearDamper(f, "nobody", (0, 0, 0), b[1], (0, 0, 0), 1.0), KeyError, "nobody"),
        (lambda f, m, b: F.TwoPointConstantForce(f, 99, (0, 0, 0), b[1], (0, 0, 0), 1.0), IndexError, "99"),
        (lambda f, m, b: F.ConstantForce(f, 1.5, (0, 0, 0), (0, 0, 0)), TypeError, "body has to be a mobilized body"),
        (lambda f, m, b: F.ConstantForce(m, b[1], (0, 0, 0), (0, 0, 0)), TypeError, "has to be a GeneralForceSubsystem"),
        (lambda f, m, b: F.ConstantTorque(f, b[1], (0, np.nan, 0)), ValueError, "torque of a ConstantTorque has to be finite"),
        (lambda f, m, b: F.GlobalDamper(f, f, 1.0), TypeError, "matter has to be a SimbodyMatterSubsystem"),
        (lambda f, m, b: F.GlobalDamper(f, m, "much"), TypeError, "damping of a GlobalDamper has to be a number, got 'much'"),
        (lambda f, m, b: F.MobilityLinearSpring(f, b[1], 9, 1.0, 0.0), IndexError, "which_q is 9, but .* has"),
        (lambda f, m, b: F.MobilityLinearDamper(f, b[0], 0, 1.0), IndexError, "which_u is 0, but .* has 0 u: none"),
        (lambda f, m, b: F.MobilityConstantForce(f, b[1], 0.5, 1.0), TypeError, "which_u has to be an integer"),
        (
            lambda f, m, b: F.MobilityLinearStop(f, b[1], 0, 1.0, -1.0),
            ValueError,
            "dissipation of a MobilityLinearStop has to be zero or more, got -1.0",
        ),
        (
            lambda f, m, b: F.LinearBushing(f, 0, 1.0, 1, mb.Transform(), [1] * 6, [1] * 6),
            ValueError,
            "frame1 of a LinearBushing has to be",
        ),
        (
            lambda f, m, b: F.LinearBushing(f, 0, mb.Transform(), 1, mb.Transform(), [1] * 5, [1] * 6),
            ValueError,
            "stiffness .* shape",
        ),
        (
            lambda f, m, b: F.LinearBushing(f, 0, mb.Transform(), 1, mb.Transform(), [1] * 6, [-1] * 6),
            ValueError,
            "damping of a LinearBushing has to be",
        ),
        (
            lambda f, m, b: F.Thermostat(f, m, 0.0, 1.0, 1.0),
            ValueError,
            "boltzmanns_constant of a Thermostat has to be positive",
        ),
        (
            lambda f, m, b: F.Thermostat(f, m, 1.0, 1.0, 1.0, 7),
            ValueError,
            "num_excluded_dofs of a Thermostat has to be from 0 to 6, got 7",
        ),
        (lambda f, m, b: F.UniformGravity(f, m, (1, 2)), ValueError, "gravity_vector of a UniformGravity has to have shape"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_nothing_behind(model, make_it, error, says):
    number = model.forces.get_num_forces()
    with pytest.raises(error, match=says):
        make_it(model.forces, model.matter, model.bodies)
    assert model.forces.get_num_forces() == number


def test_bodies_of_another_system_are_refused(model, make):
    other = make.tree(1)
    with pytest.raises(mb.TopologyError, match="another system"):
        F.ConstantTorque(model.forces, other.bodies[1], (1, 0, 0))
    with pytest.raises(mb.TopologyError, match="parts of one system"):
        F.GlobalDamper(model.forces, other.matter, 1.0)


def test_setters_refuse_and_leave_the_state_as_it_was(model):
    forces, matter, b = model.forces, model.matter, model.bodies
    spring = F.TwoPointLinearSpring(forces, b[0], (0, 0, 0), b[1], (1, 0, 0), 2.0, 0.5)
    applied, motor = F.DiscreteForces(forces, matter), F.MobilityDiscreteForce(forces, b[1], 0)
    held = mb.constraint.ConstantSpeed(b[1], 0, 0.1)
    state = model.made().randomize()
    for call in (
        lambda: spring.set_stiffness(state, -1.0),
        lambda: spring.set_station1(state, (1, 2)),
        lambda: motor.set_mobility_force(state, np.inf),
        lambda: applied.set_one_mobility_force(state, b[1], 0, np.nan),
        lambda: applied.set_all_mobility_forces(state, [1.0]),
        lambda: applied.set_all_body_forces(state, np.zeros((2, 3))),
        lambda: applied.set_one_body_force(state, b[1], (1, 2, 3)),
    ):
        with pytest.raises(ValueError, match="has to"):
            call()
        assert state.stage == Stage.ACCELERATION
    for refused in (
        lambda: applied.set_one_mobility_force(state, held, 0, 1.0),
        lambda: applied.set_one_body_force(state, held, np.zeros((2, 3))),
    ):
        with pytest.raises(TypeError, match=r"a body is named by.*ConstantSpeed"):
            refused()
    with pytest.raises(IndexError, match="which_u is 7"):
        applied.set_one_mobility_force(state, b[1], 7, 1.0)
    with pytest.raises(IndexError, match="no number 17"):
        forces.get_force(17)
    fresh = model.system.realize_topology()
    with pytest.raises(mb.StageError, match=r"needs Stage.POSITION"):
        applied.add_force_to_body_point(fresh, b[1], (0, 0, 0), (1, 0, 0))
    with pytest.raises(mb.StageError, match=r"calc_power_dissipation needs Stage.VELOCITY"):
        spring.calc_power_dissipation(fresh)
    with pytest.raises(mb.StageError, match=r"calc_length needs Stage.POSITION"):
        spring.calc_length(fresh)


def test_discrete_forces(model):
    forces, matter, b = model.forces, model.matter, model.bodies
    applied = F.DiscreteForces(forces, matter)
    state = model.made().randomize()
    rng, nu = model.rng, len(state.u)
    applied.set_all_mobility_forces(state, np.arange(nu))
    applied.set_one_mobility_force(state, b[2], 0, 7.0)
    assert state.stage == Stage.VELOCITY and applied.get_one_mobility_force(state, b[2], 0) == 7.0
    expected = np.arange(nu, dtype=float)
    expected[b[2].get_first_u_index(state)] = 7.0
    assert np.array_equal(applied.get_all_mobility_forces(state), expected)
    force, point = rng.normal(size=3), rng.normal(size=3)
    applied.set_one_body_force(state, b[1], [(1, 2, 3), (4, 5, 6)])
    applied.add_force_to_body_point(state, b[1], point, force)
    F_B = np.zeros((4, 2, 3))
    F_B[1] = [(1, 2, 3), (4, 5, 6)]
    b[1].apply_force_to_body_point(state, point, force, F_B)
    assert np.allclose(applied.get_one_body_force(state, b[1]), F_B[1], rtol=1e-14)
    model.system.realize(state)
    body_forces, _, mobility_forces = applied.calc_force_contribution(state)
    assert np.allclose(body_forces, F_B, rtol=1e-14) and np.array_equal(mobility_forces, expected)
    u_dot = matter.calc_acceleration(state, expected, F_B + model.gravity.get_body_forces(state))[0]
    assert np.allclose(state.u_dot, u_dot, rtol=1e-10)
    other = state.copy()
    applied.clear_all_forces(state)
    assert not applied.get_all_body_forces(state).any() and not applied.get_all_mobility_forces(state).any()
    assert np.array_equal(applied.get_all_mobility_forces(other), expected)
    applied.set_all_body_forces(other, None)
    applied.set_all_mobility_forces(other, [])
    assert not applied.get_all_body_forces(other).any() and not applied.get_all_mobility_forces(other).any()
