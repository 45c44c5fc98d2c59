"""What is no system, state, table or model where one belongs: the message says whose argument it is, and what to give."""

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
