"""What is no system, state, table or model where one belongs: the message says whose argument it is, and what to give."""

import numpy as np
import pytest

import mobod as mb


@pytest.fixture
def plant():
    return mb.examples.double_pendulum.build()


OF_SYSTEM_AND_STATE = {
    "linearize": lambda system, state: mb.linearize(system, state),
    "find_equilibrium": lambda system, state: mb.find_equilibrium(system, state),
    "minimize_energy": lambda system, state: mb.minimize_energy(system, state),
    "find_periodic_orbit": lambda system, state: mb.find_periodic_orbit(system, state, 1.0),
    "find_base_parameters": lambda system, state: mb.find_base_parameters(system, state),
    "calc_gradient": lambda system, state: mb.calc_gradient(system, state, 1.0, None, []),
}


@pytest.mark.parametrize("name", OF_SYSTEM_AND_STATE)
def test_a_system_and_its_state(plant, name):
    """The first two arguments are looked at first."""
    call, (system, state) = OF_SYSTEM_AND_STATE[name], plant
    with pytest.raises(TypeError, match=f"system of {name} has to be a MultibodySystem, such as mobod.*, not None"):
        call(None, state)
    with pytest.raises(TypeError, match=rf"state of {name} has to be a State, such as .*\(\) gives, not 'x'"):
        call(system, "x")
    with pytest.raises(mb.TopologyError, match=f"{name}: this state is of another system"):
        call(system, mb.examples.double_pendulum.build()[1])


def test_the_default_state_needs_a_system_too():
    with pytest.raises(TypeError, match="system of find_base_parameters has to be a MultibodySystem"):
        mb.find_base_parameters(None)


METHODS = [name for name in dir(mb.integrator) if isinstance(getattr(mb.integrator, name), type)]


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"Integrator"}))
def test_a_method_is_of_a_system(name):
    with pytest.raises(TypeError, match=f"system of {name} has to be a MultibodySystem"):
        getattr(mb.integrator, name)("x", fixed_step_size=0.1)


def test_a_time_stepper_names_the_system_first(plant):
    with pytest.raises(TypeError, match="system of TimeStepper has to be a MultibodySystem"):
        mb.TimeStepper("x", None)
    with pytest.raises(TypeError, match="integrator is one such as"):
        mb.TimeStepper(plant[0], None)


def test_a_contact_is_made_of_constraints(plant):
    matter = plant[0].matter
    with pytest.raises(TypeError, match=r"normal of UnilateralContact has to be a Constraint, such as .*, not None"):
        mb.UnilateralContact(None)
    assert not matter.unilateral_contacts


def test_an_ensemble_gives_parameters_to_bodies(plant):
    system, state = plant
    ensemble = mb.Ensemble(system, 2, state=state)
    frames = [mb.Transform((0.0, y, 0.0)) for y in (1.0, 2.0)]
    for method in (ensemble.set_inboard_frame, ensemble.set_outboard_frame, ensemble.set_body_mass_properties):
        with pytest.raises(TypeError, match="a body is named by object, index or name, not by None"):
            method(None, frames)
    ensemble.set_inboard_frame("lower", frames)
    for i in range(2):
        system.realize(one := ensemble.get_state(i), mb.Stage.INSTANCE)
        assert system.matter.bodies["lower"].get_inboard_frame(one).p[1] == i + 1.0


@pytest.mark.parametrize("write", [mb.write_trc, mb.write_sto])
def test_a_table_is_written(write, tmp_path):
    path = tmp_path / f"it.{write.__name__[-3:]}"
    with pytest.raises(TypeError, match=f"table of {write.__name__} has to be a Table, such as mobod.read_.* gives, not 'x'"):
        write(path, "x")
    assert not path.exists()


def test_a_model_says_which_columns_are_angles(tmp_path):
    table = mb.Table([0.0, 1.0], {"knee": [0.0, 1.0]})
    path = tmp_path / "it.sto"
    with pytest.raises(TypeError, match=r"model has to be a Model, .* not 'x'"):
        mb.write_sto(path, table, model="x")
    assert not path.exists()
    mb.write_sto(path, table)
    with pytest.raises(TypeError, match=r"model has to be a Model, .* not 'x'"):
        mb.read_sto(path, model="x")


def test_parts_that_may_be_the_same(plant):
    matter = plant[0].matter
    assert matter.is_same_subsystem(matter) and matter.is_in_same_system(plant[0].forces)
    assert not matter.is_same_subsystem(plant[0].forces)
    for method in (matter.is_same_subsystem, matter.is_in_same_system):
        with pytest.raises(TypeError, match=f"other_subsystem of {method.__name__} has to be a Subsystem"):
            method("matter")
    clock = mb.measure.Time(matter)
    with pytest.raises(TypeError, match="other of is_same_measure has to be a Measure"):
        clock.is_same_measure("x")
    with pytest.raises(TypeError, match="other of is_same_subsystem has to be a Subsystem"):
        clock.is_same_subsystem("x")


def test_representations_are_changed_of_a_state(plant):
    matter = plant[0].matter
    for method in (matter.convert_to_euler_angles, matter.convert_to_quaternions):
        with pytest.raises(TypeError, match=f"input_state of {method.__name__} has to be a State"):
            method(None)


#: Arrays where a body, a number, a flag or a stage belongs: what is called, and what it says.
ARRAYS = {
    "body": (lambda system, state, x: system.matter.calc_station_jacobian(state, x, (0, 0, 0)), "object, index or name"),
    "what has no index": (
        lambda system, state, x: system.matter.calc_station_jacobian(state, mb.Transform(), x[0]),
        "a body is named",
    ),
    "composite": (lambda system, state, x: system.matter.get_composite_body_inertia(state, x), "a body is named by object"),
    "transposed": (lambda system, state, x: system.matter.multiply_by_n(state, x, (0, 0)), "transpose has to be True or False"),
    "level": (lambda system, state, x: system.prescribe(state, x), "prescribe takes Stage.POSITION"),
    "errors": (lambda system, state, x: system.matter.calc_motion_errors(state, x), "calc_motion_errors takes Stage"),
    "particle": (
        lambda system, state, x: system.matter.get_particle_location(state, x),
        "one of the particles of .* has to be an integer",
    ),
    "variable": (
        lambda system, state, x: system.matter.get_discrete_variable(state, x),
        "discrete variable has to be an integer",
    ),
    "constrained": (lambda system, state, x: the_rod(system).get_num_constrained_q(state, x), "has to be an integer"),
    "all of them": (lambda system, state, x: the_rod(system).get_constrained_q_index(state, None, 0), "integer, not None"),
    "excluded": (
        lambda system, state, x: the_gravity(system).set_body_is_excluded(state, 1, x),
        "is_excluded has to be True or False",
    ),
}


def the_rod(system):
    return system.matter.constraints[0]


def the_gravity(system):
    return system.forces.elements[0]


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_no_number_no_flag_and_no_stage(name):
    """The message says what is asked for, and the state is as it was."""
    (system, state), (call, says) = mb.examples.four_bar.build(), ARRAYS[name]
    system.realize(state)
    with pytest.raises((TypeError, ValueError), match=says):
        call(system, state, np.zeros((4, 3)))
    assert state.stage == mb.Stage.ACCELERATION


def test_a_state_of_another_system_is_not_projected(plant):
    system, state = mb.examples.four_bar.build()
    system.realize(state)
    with pytest.raises(mb.TopologyError, match="project: this state is of another system"):
        plant[0].project(state)
    assert state.stage == mb.Stage.ACCELERATION
