"""Gravity: what it pulls with, its energy, degenerate inputs, and its parameters in the default and in a state."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


@pytest.fixture
def model(make):
    model = make.tree()
    model.randomize()
    return model


def test_it_pulls_every_body_at_its_mass_center(model, close):
    state, g = model.state, model.gravity.get_gravity_vector(model.state)
    F = model.gravity.get_body_forces(state)
    assert not F[0].any()
    for b, body in enumerate(model.bodies[1:], 1):
        pull = body.get_body_mass(state) * g
        arm = body.find_mass_center_location_in_ground(state) - body.get_body_origin_location(state)
        close(F[b], [np.cross(arm, pull), pull], 1e-13)
        assert np.array_equal(model.gravity.get_body_force(state, body), F[b])


def test_contribution_and_the_systems_forces_are_the_same(model):
    body_forces, particle_forces, mobility_forces = model.gravity.calc_force_contribution(model.state)
    assert np.array_equal(body_forces, model.system.get_rigid_body_forces(model.state))
    assert particle_forces.shape == (0, 3) and not mobility_forces.any()


def test_potential_energy_is_weight_times_height_over_the_zero(model, close):
    state, gravity = model.state, model.gravity
    for zero_height in (0.0, 2.5):
        gravity.set_zero_height(state, zero_height)
        model.system.realize(state)
        expected = 0.0
        for body in model.bodies[1:]:
            height = -gravity.get_down_direction(state) @ body.find_mass_center_location_in_ground(state)
            expected += body.get_body_mass(state) * gravity.get_magnitude(state) * (height - zero_height)
        close(gravity.get_potential_energy(state), expected, 1e-12, 100.0)
        close(model.system.calc_potential_energy(state), expected, 1e-12, 100.0)


def test_vector_and_direction_with_magnitude_are_two_ways_to_say_it(make):
    model = make.tree(1)
    forces, matter, Gravity = model.forces, model.matter, mb.force.Gravity
    for gravity in (
        Gravity(forces, matter, (0, 0, -9.8)),
        Gravity(forces, matter, (0, 0, -3), 9.8),
        Gravity(forces, matter, (0, 0, -3), magnitude=9.8),
        Gravity(forces, matter, down_direction=(0, 0, -3), magnitude=9.8),
    ):
        assert np.allclose(gravity.get_default_gravity_vector(), (0, 0, -9.8), rtol=0, atol=1e-15)
        assert np.allclose(gravity.get_default_down_direction(), (0, 0, -1), rtol=0, atol=1e-15)
        assert gravity.get_default_magnitude() == 9.8


def test_no_gravity_is_no_force_and_no_nan(make):
    """A zero vector, or magnitude, has no direction to divide by."""
    model = make.tree(4)
    forces, matter, Gravity = model.forces, model.matter, mb.force.Gravity
    for gravity in (
        Gravity(forces, matter, (0, 0, 0)),
        Gravity(forces, matter, (1, 0, 0), 0.0),
        Gravity(forces, matter, (0, 0, 0), 0.0),
    ):
        assert np.array_equal(gravity.get_default_gravity_vector(), np.zeros(3))
        assert np.linalg.norm(gravity.get_default_down_direction()) == 1.0
        state = model.made().state
        model.system.realize(state)
        assert not gravity.get_body_forces(state).any() and gravity.get_potential_energy(state) == 0.0
        gravity.set_magnitude(state, 5.0)  # the direction is still there
        model.system.realize(state)
        assert np.linalg.norm(gravity.get_gravity_vector(state)) == 5.0
        gravity.set_gravity_vector(state, (0, 0, 0))
        model.system.realize(state)
        assert np.all(np.isfinite(state.u_dot)) and np.array_equal(gravity.get_gravity_vector(state), np.zeros(3))


def test_arrays_are_taken_as_lists_are(make):
    """They go another way, which looks at no more than it has to; what it does not take is refused as lists are."""
    model = make.tree(2)
    gravity = mb.force.Gravity(model.forces, model.matter, (0, -1, 0), zero_height=0.3)
    state = model.made().state
    for vector in (*make.rng.normal(size=(3, 3)), np.zeros(3), np.array([0.0, 1e200, 0.0])):
        found = []
        for value in (vector, vector.tolist()):
            model.system.realize(state)
            gravity.set_gravity_vector(state, value)
            assert state.stage == mb.Stage.MODEL
            model.system.realize(state, mb.Stage.POSITION)
            found.append([*gravity.number_run(state, "a test"), gravity.get_potential_energy(state)])
        assert np.allclose(*found, rtol=1e-14, atol=0.0)
        assert np.allclose(gravity.get_gravity_vector(state), vector, rtol=1e-15, atol=0.0)
    for bad in (np.array([0.0, np.nan, 1.0]), np.ones(2), np.ones((1, 3))):
        with pytest.raises(ValueError, match="gravity_vector"):
            gravity.set_gravity_vector(state, bad)
        assert np.allclose([*gravity.number_run(state, "a test")], found[0][:-1], rtol=1e-14, atol=0.0)


@pytest.mark.parametrize(
    "arguments",
    [
        ((0, 0, 0), 9.8),
        ((np.nan, 0, 0),),
        ((0, np.inf, 0),),
        ((0, 1),),
        ((0, 0, 1), -1.0),
        ((0, 0, 1), np.nan),
        ((0, 0, 1), 1.0, np.inf),
    ],
    ids=str,
)
def test_gravity_that_cannot_be_is_refused_and_joins_nothing(arguments, make):
    model = make.tree(1)
    with pytest.raises(ValueError):
        mb.force.Gravity(model.forces, model.matter, *arguments)
    assert model.forces.get_num_forces() == 1 and model.system.system_topology_has_been_realized()


def test_ambiguous_arguments_are_refused(make):
    model = make.tree(1)
    for arguments in ({}, {"gravity_vector": (0, 0, 1), "down_direction": (0, 0, 1)}, {"down_direction": (0, 0, 1)}):
        with pytest.raises(TypeError):
            mb.force.Gravity(model.forces, model.matter, **arguments)
    with pytest.raises(TypeError, match="GeneralForceSubsystem"):
        mb.force.Gravity(model.matter, model.matter, (0, 0, 1))
    assert model.matter.get_num_bodies() == 2, "a force is no body"
    with pytest.raises(mb.TopologyError, match="one system"):
        mb.force.Gravity(make.tree(1).forces, model.matter, (0, 0, 1))
    with pytest.raises(mb.ModelError, match="gravity_0"):
        mb.force.Gravity(model.forces, model.matter, (0, 0, 1), name="gravity_0")


SETTERS = [
    ("gravity_vector", (1.0, 2.0, 2.0)),
    ("down_direction", (0.0, 0.6, 0.8)),
    ("magnitude", 3.0),
    ("zero_height", 1.5),
]


@pytest.mark.parametrize(("name", "value"), SETTERS)
def test_a_parameter_of_one_state_is_of_no_other(name, value, model):
    state, gravity = model.state, model.gravity
    other = state.copy()
    getter, setter = getattr(gravity, f"get_{name}"), getattr(gravity, f"set_{name}")
    before, default, u_dot = getter(state), getattr(gravity, f"get_default_{name}")(), state.u_dot.copy()
    setter(state, value)
    assert state.stage == Stage.MODEL and np.allclose(getter(state), value, rtol=1e-15)
    assert other.stage == Stage.ACCELERATION and np.array_equal(getter(other), before)
    assert np.array_equal(getattr(gravity, f"get_default_{name}")(), default)
    assert np.array_equal(getter(model.system.realize_topology()), default)
    model.system.realize(state)
    changed = not np.array_equal(state.u_dot, u_dot)
    assert changed == (name != "zero_height")
    other.u = other.u
    model.system.realize(other)
    assert np.array_equal(other.u_dot, u_dot)
    copied = state.copy()
    setter(copied, before)
    assert np.allclose(getter(state), value, rtol=1e-15), "a copy's parameter is the copy's"


@pytest.mark.parametrize(("name", "value"), SETTERS)
def test_a_default_parameter_is_that_of_new_states(name, value, model):
    gravity = model.gravity
    assert getattr(gravity, f"set_default_{name}")(value) is gravity
    state = model.system.realize_topology()
    assert np.allclose(getattr(gravity, f"get_{name}")(state), value, rtol=1e-15)


def test_bad_parameters_leave_the_state_as_it_was(model):
    state, gravity = model.state, model.gravity
    for call in (
        lambda: gravity.set_gravity_vector(state, (np.nan, 0, 0)),
        lambda: gravity.set_down_direction(state, (0, 0, 0)),
        lambda: gravity.set_magnitude(state, -1.0),
        lambda: gravity.set_zero_height(state, np.inf),
    ):
        with pytest.raises(ValueError):
            call()
    assert state.stage == Stage.ACCELERATION


def test_a_body_left_out_is_not_pulled_and_has_no_energy(model, close):
    state, gravity = model.state, model.gravity
    body = model.bodies[3]
    other = state.copy()
    energy = gravity.get_potential_energy(state)
    height = -gravity.get_gravity_vector(state) @ body.find_mass_center_location_in_ground(state)
    gravity.set_body_is_excluded(state, body, True)
    assert gravity.get_body_is_excluded(state, body) and not gravity.get_body_is_excluded(other, 3)
    model.system.realize(state)
    F = gravity.get_body_forces(state)
    assert not F[3].any() and np.array_equal(np.delete(F, 3, 0), np.delete(gravity.get_body_forces(other), 3, 0))
    close(gravity.get_potential_energy(state), energy - body.get_body_mass(state) * height, 1e-12, 100.0)
    gravity.set_body_is_excluded(state, body, False)
    model.system.realize(state)
    assert np.array_equal(state.u_dot, other.u_dot)
    gravity.set_default_body_is_excluded(body, True)
    assert gravity.get_default_body_is_excluded(body) and gravity.get_default_body_is_excluded(0)
    assert gravity.get_body_is_excluded(model.system.realize_topology(), body)


def test_switched_off_it_is_not_there_and_switched_on_again_it_is(model):
    state, gravity = model.state, model.gravity
    u_dot, other = state.u_dot.copy(), state.copy()
    gravity.disable(state)
    assert state.stage == Stage.MODEL and gravity.is_disabled(state) and not gravity.is_disabled(other)
    model.system.realize(state)
    assert not gravity.get_body_forces(state).any() and gravity.get_potential_energy(state) == 0.0
    assert not model.system.get_rigid_body_forces(state).any() and not np.array_equal(state.u_dot, u_dot)
    assert model.system.calc_energy(state) == model.system.calc_kinetic_energy(state)
    gravity.disable(state)
    assert state.stage == Stage.ACCELERATION, "no change, no effect"
    gravity.enable(state)
    model.system.realize(state)
    assert np.array_equal(state.u_dot, u_dot)


def test_disabled_by_default_states_start_without_it(make):
    model = make.tree(3)
    gravity = mb.force.Gravity(model.forces, model.matter, (0, 0, -1), disabled_by_default=True, name="moon")
    state = model.system.realize_topology()
    assert gravity.is_disabled_by_default() and gravity.is_disabled(state) and gravity.name == "moon"
    gravity.enable(state)
    assert not gravity.is_disabled(state)


def test_two_fields_add(make, close):
    model = make.tree(4)
    one, two = make.vector(), make.vector()
    model.gravity.set_default_gravity_vector(one)
    mb.force.Gravity(model.forces, model.matter, two)
    state = model.made().randomize()
    both = state.u_dot.copy()
    model.forces.get_force(1).disable(state)
    model.gravity.set_gravity_vector(state, one + two)
    model.system.realize(state)
    close(state.u_dot, both, 1e-10)  # rounding, times the condition of the mass matrix


class Halved(mb.force.Gravity):
    """Half of the vector that is set."""

    @staticmethod
    def settle(whose, numbers):
        mb.force.Gravity.settle(whose, numbers)
        numbers[:3] = [0.5 * x for x in numbers[:3]]


def test_a_kind_of_ones_own_settles_its_numbers_each_time(make):
    model = make.tree(3)
    halved = Halved(model.forces, model.matter, (0, 0, -4.0))
    state = model.system.realize_topology()
    body = model.matter.body_list[-1]
    for size in (2.0, 6.0):  # the first one makes numbers of the state's own
        halved.set_gravity_vector(state, np.array([0.0, 0.0, -size]))
        model.system.realize(state)
        F = halved.get_body_forces(state)[body.index]
        np.testing.assert_allclose(F[1], [0.0, 0.0, -0.5 * size * body.get_body_mass(state)], rtol=1e-12)
