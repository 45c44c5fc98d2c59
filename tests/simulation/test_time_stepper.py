"""TimeStepper: where it stops, what it counts, and what is left when it cannot go on."""

import numpy as np
import pytest

import mobod as mb
from mobod import StepStatus


class Push(mb.force.CustomImplementation):
    """A generalized force of the time, by a user's function."""

    def __init__(self, function):
        self.function = function

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces += self.function(state)


def slider(force=None):
    system = mb.MultibodySystem("slider")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    if force is not None:
        mb.force.Custom(forces, Push(force))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
    mb.mobilizer.Slider(matter.ground, body, name="slider")
    return system, system.realize_topology()


def stepper_of(system, state, **settings):
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, **settings))
    stepper.initialize(state)
    return stepper


@pytest.fixture
def model(make):
    model = make.tree(5)
    model.randomize()
    return model


def test_stepping_leaves_the_state_given_alone_and_its_own_at_the_time_asked(model):
    before = model.state.y.copy()
    stepper = stepper_of(model.system, model.state)
    assert stepper.step_to(0.25) is StepStatus.REACHED_REPORT_TIME
    assert stepper.time == stepper.state.time == 0.25 and stepper.state.stage == mb.Stage.ACCELERATION
    assert np.array_equal(model.state.y, before) and model.state.time == 0.0
    kept = stepper.state.copy()
    live = stepper.state
    stepper.step_to(0.5)
    assert live is stepper.state and kept.time == 0.25


def test_stepping_to_the_present_time_twice_changes_nothing(model):
    stepper = stepper_of(model.system, model.state)
    assert stepper.step_to(0.0) is StepStatus.REACHED_REPORT_TIME
    assert np.allclose(stepper.state.y, model.state.y, rtol=0, atol=1e-15)
    stepper.step_to(0.3)
    y, steps = stepper.state.y.copy(), stepper.integrator.get_num_steps_taken()
    for _ in range(2):
        stepper.step_to(0.3)
        assert np.array_equal(stepper.state.y, y) and stepper.integrator.get_num_steps_taken() == steps


def test_after_the_end_stepping_on_changes_nothing_twice(model):
    """However often it is asked: no step, no other status, no other state."""
    stepper = stepper_of(model.system, model.state, final_time=0.2)
    assert stepper.step_to(0.1) is StepStatus.REACHED_REPORT_TIME
    assert stepper.step_to(5.0) is StepStatus.END_OF_SIMULATION
    assert stepper.time == 0.2 == stepper.integrator.get_advanced_time(), "no step goes beyond the end"
    y, steps = stepper.state.y.copy(), stepper.integrator.get_num_steps_taken()
    for time in (0.2, 5.0, 5.0, 100.0):
        assert stepper.step_to(time) is StepStatus.END_OF_SIMULATION
        assert stepper.time == 0.2 and np.array_equal(stepper.state.y, y)
    assert stepper.integrator.get_num_steps_taken() == steps


def test_infinity_is_the_end_where_there_is_one_and_the_integrator_knows_of_it(model):
    stepper = stepper_of(model.system, model.state, final_time=0.2)
    integrator = stepper.get_integrator()
    assert not integrator.is_simulation_over()
    with pytest.raises(mb.ModelError, match="is_simulation_over"):
        integrator.get_termination_reason()
    stepper.step_to(1e-5)
    assert integrator.is_state_interpolated() == (integrator.get_advanced_time() > 1e-5)
    assert stepper.get_time() == integrator.get_time() == 1e-5 and stepper.get_state() is integrator.get_state()
    assert stepper.step_to(np.inf) is StepStatus.END_OF_SIMULATION
    assert stepper.get_time() == 0.2 and not integrator.is_state_interpolated()
    assert integrator.is_simulation_over()
    assert integrator.get_termination_reason() is stepper.termination.reason is mb.event.TerminationReason.REACHED_FINAL_TIME
    integrator.set_final_time(0.3)
    assert stepper.step_to(0.25) is StepStatus.REACHED_REPORT_TIME and not integrator.is_simulation_over()


def test_another_integrator_takes_over_when_it_is_initialized(model, make):
    stepper = stepper_of(model.system, model.state)
    stepper.step_to(0.1)
    other = mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-5)
    state = stepper.get_state().copy()
    stepper.set_integrator(other)
    with pytest.raises(mb.TopologyError, match="initialize"):
        stepper.step_to(0.2)
    stepper.initialize(state)
    stepper.step_to(0.2)
    assert stepper.get_integrator() is other and other.get_num_steps_taken() > 0 and stepper.get_time() == 0.2
    with pytest.raises(TypeError, match="state of initialize has to be a State"):
        stepper.initialize("state")
    with pytest.raises(mb.TopologyError, match="another system"):
        stepper.set_integrator(mb.integrator.RungeKuttaMerson(make.tree(2).system))


def test_a_start_beyond_the_end_is_refused(model):
    model.state.time = 3.0
    with pytest.raises(ValueError, match="final_time"):
        stepper_of(model.system, model.state, final_time=2.0)
    stepper = stepper_of(model.system, model.state, final_time=3.0)
    assert stepper.step_to(3.0) is StepStatus.END_OF_SIMULATION


def test_a_start_at_another_time_goes_on_from_there(model):
    model.state.time = 7.0
    stepper = stepper_of(model.system, model.state)
    stepper.step_to(7.1)
    assert stepper.time == 7.1


def test_going_back_and_times_that_are_not_finite_are_refused(model):
    stepper = stepper_of(model.system, model.state)
    stepper.step_to(0.2)
    y = stepper.state.y.copy()
    for time in (0.1, -1.0, np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="time"):
            stepper.step_to(time)
    assert stepper.time == 0.2 and np.array_equal(stepper.state.y, y)
    stepper.step_to(0.3)


def test_initializing_anew_starts_anew(model):
    stepper = stepper_of(model.system, model.state)
    stepper.step_to(0.2)
    y = stepper.state.y.copy()
    stepper.initialize(model.state)
    assert stepper.time == 0.0 and stepper.integrator.get_num_steps_taken() == 0
    stepper.step_to(0.2)
    assert np.array_equal(stepper.state.y, y)


def test_fixed_steps_have_their_size_and_control_no_error(model):
    stepper = stepper_of(model.system, model.state, fixed_step_size=0.01, accuracy=1e-12)
    stepper.step_to(0.1)
    integrator = stepper.integrator
    assert 10 <= integrator.get_num_steps_taken() <= 11  # ten hundredths need not sum to a tenth
    assert integrator.get_num_steps_attempted() == integrator.get_num_steps_taken()
    assert integrator.get_previous_step_size_taken() == 0.01 and integrator.get_num_error_test_failures() == 0


def test_step_sizes_respect_their_bounds(model):
    stepper = stepper_of(model.system, model.state, max_step_size=1e-3, initial_step_size=5e-4)
    stepper.step_to(0.02)
    assert stepper.integrator.get_previous_step_size_taken() <= 1e-3
    assert stepper.integrator.get_num_steps_taken() >= 20


def test_statistics_add_up(model):
    integrator = stepper_of(model.system, model.state, accuracy=1e-6)
    integrator.step_to(0.5)
    integrator = integrator.integrator
    taken, attempted = integrator.get_num_steps_taken(), integrator.get_num_steps_attempted()
    assert attempted == taken + integrator.get_num_error_test_failures() and taken > 0
    # four new stages an attempt, the fifth rate once a step is accepted, two at the start
    assert integrator.get_num_realizations() == 4 * attempted + taken + 2
    assert integrator.get_method_name() == "RungeKuttaMerson" and integrator.get_method_max_order() == 4
    assert integrator.get_accuracy_in_use() == 1e-6 and integrator.get_constraint_tolerance_in_use() == pytest.approx(1e-7)
    assert integrator.get_advanced_time() >= 0.5


def test_a_limit_of_steps_ends_with_an_error_and_a_good_state(model):
    stepper = stepper_of(model.system, model.state, accuracy=1e-8, internal_step_limit=3)
    with pytest.raises(mb.ConvergenceError, match="internal_step_limit"):
        stepper.step_to(10.0)
    assert stepper.integrator.get_num_steps_taken() == 3
    assert stepper.time == stepper.integrator.get_advanced_time() > 0.0
    assert stepper.state.stage == mb.Stage.ACCELERATION
    reached = stepper.time
    with pytest.raises(mb.ConvergenceError):
        stepper.step_to(10.0)  # three more
    assert stepper.time > reached
    free = stepper_of(model.system, model.state, accuracy=1e-8)
    free.step_to(stepper.time)
    assert np.allclose(free.state.y, stepper.state.y, rtol=0, atol=1e-12), "as though there had been no limit"


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_force_that_is_not_finite_ends_with_the_last_good_state(bad):
    system, state = slider(lambda state: bad if state.time > 0.5 else 1.0)
    stepper = stepper_of(system, state, accuracy=1e-6)
    stepper.step_to(0.25)
    with pytest.raises(mb.ConvergenceError, match="not finite"):
        stepper.step_to(1.0)
    assert 0.45 < stepper.time <= 0.5 + 1e-9
    t = stepper.time
    assert np.allclose(stepper.state.q, 0.5 * t * t, rtol=0, atol=1e-9)  # of a parabola, at the accuracy
    assert stepper.state.stage == mb.Stage.ACCELERATION and np.all(np.isfinite(stepper.state.u_dot))


def test_a_system_too_stiff_for_the_smallest_step_says_so():
    """q'' = -1e12 q - 1e6 q': its rates ask for steps below 1e-6."""
    system, state = slider(lambda state: -1e12 * state.q - 1e6 * state.u)
    state.q = [1.0]
    stepper = stepper_of(system, state, accuracy=1e-6, min_step_size=1e-4)
    with pytest.raises(mb.ConvergenceError, match="stiff"):
        stepper.step_to(1.0)
    assert np.all(np.isfinite(stepper.state.y)) and stepper.time < 1.0


def test_a_jump_of_a_force_is_passed_by_shorter_steps():
    system, state = slider(lambda state: 1.0 if state.time < 0.5 else -1.0)
    stepper = stepper_of(system, state, accuracy=1e-8)
    stepper.step_to(1.0)
    assert stepper.integrator.get_num_error_test_failures() > 0
    assert stepper.state.q[0] == pytest.approx(0.25, abs=1e-6)
    assert stepper.state.u[0] == pytest.approx(0.0, abs=1e-6)


def test_bad_values_are_named_before_the_first_step():
    system, state = slider()
    state.q = [np.nan]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    with pytest.raises(mb.ModelError, match="slider"):
        stepper.initialize(state)
    state.q = [0.0]
    stepper.initialize(state)
    stepper.step_to(1.0)


@pytest.mark.parametrize(
    "settings",
    [
        {"accuracy": 0.0},
        {"accuracy": -1e-3},
        {"accuracy": np.nan},
        {"accuracy": np.inf},
        {"constraint_tolerance": 0.0},
        {"fixed_step_size": -0.1},
        {"initial_step_size": 0.0},
        {"min_step_size": np.inf},
        {"max_step_size": -1.0},
        {"min_step_size": 2.0, "max_step_size": 1.0},
        {"final_time": np.nan},
        {"final_time": np.inf},
        {"internal_step_limit": 0},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(settings, model):
    with pytest.raises(ValueError, match=next(iter(settings))):
        mb.integrator.RungeKuttaMerson(model.system, **settings)


def test_a_stepper_without_a_state_says_what_to_call(model):
    integrator = mb.integrator.RungeKuttaMerson(model.system)
    stepper = mb.TimeStepper(model.system, integrator)
    with pytest.raises(mb.TopologyError, match="initialize"):
        stepper.step_to(1.0)
    with pytest.raises(mb.ModelError, match="initialize"):
        integrator.get_state()
    assert "not initialized" in repr(stepper)
    with pytest.raises(TypeError, match="base class"):
        mb.Integrator(model.system)


def test_an_integrator_of_another_system_is_refused(model):
    system, _ = slider()
    with pytest.raises(mb.TopologyError, match="another system"):
        mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(model.system))


def test_a_system_without_coordinates_goes_through_time(make):
    model = make.tree(0)
    make.mobilized_body(mb.mobilizer.Weld, model.matter.ground)
    model.made()
    stepper = stepper_of(model.system, model.state)
    assert stepper.step_to(2.0) is StepStatus.REACHED_REPORT_TIME and stepper.time == 2.0


def test_euler_angles_are_integrated_too(make, close):
    model = make.tree()
    state = model.randomize()
    state.u = 0.2 * state.u
    angles = model.matter.convert_to_euler_angles(state)
    ends = []
    for start in (state, angles):
        stepper = stepper_of(model.system, start, accuracy=1e-9)
        stepper.step_to(0.1)
        ends.append([np.asarray(body.get_body_transform(stepper.state)) for body in model.bodies])
    close(ends[1], ends[0], 1e-7, 10.0)  # two different sets of steps at accuracy 1e-9
