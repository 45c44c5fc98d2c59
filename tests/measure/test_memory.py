"""Measures that integrate or remember, against closed forms; and what they remember, which belongs to the state."""

import contextlib
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, measure

W = 3.0


class Plant:
    """A block that slides freely, so that steps are whatever the measures and the integrator make them."""

    def __init__(self):
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        self.block = mb.mobilizer.Slider(self.matter.ground, body)

    def of_time(self, f, *derivatives, shape=()):
        """A measure that is a function of time, with as many derivatives."""
        pairs = [((lambda state, g=g: g(state.time)), Stage.TIME) for g in derivatives]
        return measure.Function(self.matter, lambda state: f(state.time), Stage.TIME, pairs, shape=shape)

    def start(self, *, u=0.0, **options):
        state = self.system.realize_topology()
        state.u = [u]
        return self.begin(state, **options)

    def begin(self, state, **options):
        stepper = mb.TimeStepper(self.system, mb.integrator.RungeKuttaMerson(self.system, **options))
        stepper.initialize(state)
        return stepper


@pytest.fixture
def plant():
    return Plant()


# ---------------------------------------------------------------------------------------------------- integrals


def test_the_integral_of_a_sinusoid(plant):
    wave = measure.Sinusoid(plant.matter, (2.0, 1.0), (W, 0.5), 0.4)
    integral = measure.Integrate(plant.matter, wave, measure.Constant(plant.matter, (1.0, -1.0)))
    stepper = plant.start(accuracy=1e-10)
    for time in (0.0, 0.31, 2.0, 5.0):
        stepper.step_to(time)
        a, w = np.array([2.0, 1.0]), np.array([W, 0.5])
        expected = [1.0, -1.0] + a / w * (np.cos(0.4) - np.cos(w * time + 0.4))
        assert_allclose(integral.get_value(stepper.state), expected, atol=1e-8)  # accuracy times the number of steps
        assert_array_equal(integral.get_value(stepper.state, 2), wave.get_value(stepper.state, 1))
    assert integral.get_num_time_derivatives() == 4
    assert integral.get_depends_on_stage() is Stage.MODEL and integral.get_depends_on_stage(1) is Stage.TIME
    assert integral.get_derivative_measure() is wave


def test_integrals_may_depend_on_themselves_and_on_accelerations(plant):
    lag = measure.Integrate(plant.matter, default_value=2.0)
    lag.set_derivative_measure(-0.5 * lag)
    gained = measure.Integrate(
        plant.matter, measure.Function(plant.matter, lambda state: state.u_dot[0] + 1.0, Stage.ACCELERATION)
    )
    assert lag.get_num_time_derivatives() == 2**31 - 1
    stepper = plant.start(accuracy=1e-10)
    stepper.step_to(3.0)
    assert_allclose(lag.get_value(stepper.state), 2.0 * np.exp(-1.5), rtol=1e-9)
    assert_allclose(lag.get_value(stepper.state, 3), -0.25 * np.exp(-1.5), rtol=1e-9)
    assert_allclose(gained.get_value(stepper.state), 3.0, rtol=1e-12)


def test_integrals_are_in_trajectories(plant):
    integral = measure.Integrate(plant.matter, measure.Time(plant.matter))
    trajectory = mb.simulate(plant.system, plant.system.realize_topology(), 2.0, accuracy=1e-8)
    assert_allclose([integral.get_value(state) for state in trajectory.states], trajectory.time**2 / 2, atol=1e-9)


def test_an_integral_begins_at_its_initial_condition_once(plant):
    position = measure.Coordinate(plant.matter, plant.block)
    integral = measure.Integrate(plant.matter, measure.Constant(plant.matter, 1.0), position)
    state = plant.system.realize_topology()
    state.q = [5.0]
    stepper = plant.begin(state)
    assert integral.get_value(stepper.state) == 5.0
    stepper.step_to(1.0)
    later = plant.begin(stepper.state)  # goes on
    assert_allclose(integral.get_value(later.state), 6.0, rtol=1e-12)
    again = later.state.copy()
    integral.initialize(again)
    assert integral.get_value(again) == 5.0
    integral.set_value(state, 7.0)  # by hand counts more
    assert state.stage <= Stage.VELOCITY
    assert integral.get_value(plant.begin(state).state) == 7.0
    with pytest.raises(ValueError, match=r"the value of .* has to be a number"):
        integral.set_value(state, (1.0, 2.0))


# ---------------------------------------------------------------------------------------------------- derivatives


def test_derivatives_are_the_operands_where_it_has_them(plant):
    wave = measure.Sinusoid(plant.matter, 1.0, W)
    slope = measure.Differentiate(plant.matter, wave)
    assert not slope.is_using_approximation() and slope.get_num_time_derivatives() == 2
    state = plant.system.realize_topology()
    state.time = 0.4
    plant.system.realize(state, Stage.TIME)
    assert slope.get_value(state) == wave.get_value(state, 1) and slope.get_value(state, 2) == wave.get_value(state, 3)
    assert not plant.system.is_interpreted


def test_estimated_derivatives_are_of_second_order(plant):
    slope = measure.Differentiate(plant.matter, plant.of_time(lambda t: t * t * t))
    assert slope.is_using_approximation() and slope.get_num_time_derivatives() == 0
    errors = []
    for h in (1 / 16, 1 / 32, 1 / 64):
        stepper = plant.start(fixed_step_size=h)
        assert slope.get_value(stepper.state) == 0.0
        stepper.step_to(2.0)
        errors.append(abs(slope.get_value(stepper.state) - 12.0))
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5
    slope.set_operand_measure(measure.Time(plant.matter))
    assert not slope.is_using_approximation()
    slope.set_force_use_approximation(True)
    stepper = plant.start(fixed_step_size=1 / 16)
    stepper.step_to(1.0 + 1 / 50)  # between steps, too
    assert_allclose(slope.get_value(stepper.state), 1.0, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------- delays


def delay_error(plant, delay, h, exact):
    stepper = plant.start(fixed_step_size=h)
    worst = 0.0
    for time in np.arange(1.0, 3.0, 0.0731):
        stepper.step_to(time)
        worst = max(worst, abs(delay.get_value(stepper.state) - exact(time)))
    return worst


@pytest.mark.parametrize(("how", "order"), [("rates", 4), ("values", 4), ("linear", 2)])
def test_delays_are_interpolated_to_their_order(how, order, plant):
    wave = measure.Sinusoid(plant.matter, 1.0, W)
    source = plant.of_time(lambda t: np.sin(W * t)) if how == "values" else wave
    delay = measure.Delay(plant.matter, source, 0.37)
    delay.set_use_linear_interpolation_only(how == "linear")
    errors = [delay_error(plant, delay, h, lambda t: np.sin(W * (t - 0.37))) for h in (0.1, 0.05)]
    measured = np.log2(errors[0] / errors[1])
    assert order - 0.6 < measured < order + 0.9, errors  # the times asked for lie differently in the steps


def test_delays_follow_steps_of_any_size(plant):
    station = plant.of_time(lambda t: (np.sin(W * t), t), lambda t: (W * np.cos(W * t), 1.0), shape=(2,))
    delay = measure.Delay(plant.matter, station, 0.5)
    integral = measure.Integrate(plant.matter, measure.Sinusoid(plant.matter, 1.0, 10.0))  # makes the steps vary
    stepper = plant.start(accuracy=1e-4, max_step_size=0.2)
    assert_array_equal(delay.get_value(stepper.state), [0.0, 0.0])
    for time in np.linspace(0.0, 4.0, 41):
        stepper.step_to(time)
        expected = (np.sin(W * (time - 0.5)), time - 0.5) if time > 0.5 else (0.0, 0.0)
        assert_allclose(delay.get_value(stepper.state), expected, atol=3e-4)  # (W h)^4 / 384
    assert integral.get_value(stepper.state) != 0.0
    history = delay.memory(stepper.state)
    assert len(history.times) < 40 and history.times[1] > 3.0  # what nobody asks for any more is gone
    assert stepper.integrator.get_num_steps_taken() > 40


def test_a_delay_shorter_than_the_step_is_extrapolated_unless_it_may_look(plant):
    delay = measure.Delay(plant.matter, measure.Sinusoid(plant.matter, 1.0, W), 0.01)
    errors = []
    for look in (False, True):
        delay.set_can_use_current_value(look)
        told = (
            contextlib.nullcontext()
            if look
            else pytest.warns(RuntimeWarning, match=r"'delay_1'> is 0.01 late, .* up to 0.1 long")
        )
        with told:
            errors.append(delay_error(plant, delay, 0.1, lambda t: np.sin(W * (t - 0.01))))
    assert errors[1] < 5e-5 < errors[0] < 5e-2
    assert delay.get_can_use_current_value() and delay.get_depends_on_stage() is Stage.TIME


def test_a_loop_may_be_closed_over_a_delay_only(plant):
    """x' = -x(t - 1), with x = 1 before: by the method of steps 1 - t, then 1/2 - (t - 1) + (t - 1)^2 / 2 - 1/2."""
    x = measure.Integrate(plant.matter, default_value=1.0)
    late = measure.Delay(plant.matter, x, 1.0)
    x.set_derivative_measure(-late)
    stepper = plant.start(accuracy=1e-9, max_step_size=1 / 32)
    stepper.step_to(2.0)
    assert_allclose(x.get_value(stepper.state), -0.5, atol=1e-7)
    # a measure that is there at once may not wait for itself
    most = measure.Maximum(plant.matter, late)
    with pytest.raises(ValueError, match="would be computed from itself; put a Delay"):
        most.set_operand_measure(most + 1.0)
    assert most.get_operand_measure() is late
    late.set_source_measure(most + late)
    with pytest.raises(ValueError, match="would be computed from itself"):
        late.set_can_use_current_value(True)
    assert not late.get_can_use_current_value()


def test_before_a_run_a_delay_is_what_its_source_is_or_its_default(plant):
    delay = measure.Delay(
        plant.matter, measure.Function(plant.matter, lambda state: state.u_dot[0] + 4.0, Stage.ACCELERATION), 1.0
    )
    delay.set_default_value(9.0)
    state = plant.system.realize_topology()
    plant.system.realize(state, Stage.TIME)
    assert delay.get_value(state) == 9.0
    plant.system.realize(state)
    assert delay.get_value(state) == 4.0


# ---------------------------------------------------------------------------------------------------- extremes


def damped(t):
    return np.exp(-0.4 * t) * np.cos(W * t + 0.5)


def test_extremes_of_a_damped_oscillation(plant):
    """Its derivative is zero where tan(W t + 0.5) = -0.4 / W: the extremes and their times are known."""
    source = plant.of_time(damped)
    both = {kind: getattr(measure, kind)(plant.matter, source) for kind in ("Maximum", "Minimum", "MaxAbs", "MinAbs")}
    h = 0.01
    stepper = plant.start(fixed_step_size=h)
    stepper.step_to(5.003)
    valley, peak = ((np.arctan(-0.4 / W) - 0.5 + k * np.pi) / W for k in (1, 2))
    within = 0.5 * (W * W + 0.16) * (h / 2) ** 2  # how far the nearest end of a step is below the peak
    expected = {"Maximum": (damped(0.0), 0.0), "Minimum": (damped(valley), valley), "MaxAbs": (damped(0.0), 0.0)}
    for kind, (value, time) in expected.items():
        found = both[kind]
        assert abs(found.get_value(stepper.state) - value) <= within
        assert abs(found.get_time_of_extreme_value(stepper.state) - time) <= h
    assert abs(both["MinAbs"].get_value(stepper.state)) < W * h
    highest = both["Maximum"]
    highest.set_value(stepper.state, -1.0)  # look for the next one
    stepper.step_to(5.5)
    state = stepper.state
    assert highest.get_value(state) < damped(peak)
    assert highest.get_operation() is measure.Extreme.Operation.MAXIMUM


def test_an_extreme_now_is_known_between_steps_and_not_forgotten_with_them(plant):
    place = measure.Coordinate(plant.matter, plant.block)
    furthest = measure.Maximum(plant.matter, place)
    stepper = plant.start(u=1.0, fixed_step_size=0.25)
    for time in (0.0, 0.1, 0.2, 0.3):
        stepper.step_to(time)
        assert_allclose(furthest.get_value(stepper.state), time, atol=1e-12)
        assert_allclose(furthest.get_time_of_extreme_value(stepper.state), time, atol=1e-15)
        assert_allclose(furthest.get_value(stepper.state, 1), 1.0 if time else 0.0, rtol=1e-12)
    copy = stepper.state.copy()
    copy.u = [-1.0]
    stepper = plant.begin(copy, fixed_step_size=0.25)
    stepper.step_to(1.0)
    assert_allclose(furthest.get_value(stepper.state), 0.3, atol=1e-12)
    assert_allclose(furthest.get_time_of_extreme_value(stepper.state), 0.3, atol=1e-15)
    assert furthest.get_value(stepper.state, 1) == 0.0
    with pytest.raises(ValueError, match="has derivatives up to order 2"):
        furthest.get_value(stepper.state, 3)


def test_numbers_of_a_vector_have_extremes_of_their_own(plant):
    source = plant.of_time(lambda t: (t, -t), lambda t: (1.0, -1.0), shape=(2,))
    most = measure.Maximum(plant.matter, source)
    stepper = plant.start(fixed_step_size=0.25)
    stepper.step_to(1.0)
    assert_array_equal(most.get_value(stepper.state), [1.0, 0.0])
    assert_array_equal(most.get_time_of_extreme_value(stepper.state), [1.0, 0.0])
    assert_array_equal(most.get_value(stepper.state, 1), [1.0, 0.0])


def test_what_a_change_of_the_state_interrupts_is_remembered_on_both_sides(plant):
    """As event handlers go about it: the step ends before the change, and the next one begins after it."""
    speed = measure.Function(plant.matter, lambda state: state.u[0], Stage.VELOCITY)
    fastest, slowest = measure.Maximum(plant.matter, speed), measure.Minimum(plant.matter, speed)
    late = measure.Delay(plant.matter, speed, 0.5)
    stepper = plant.start(u=2.0, fixed_step_size=0.25)
    stepper.step_to(1.0)
    state = stepper.state.copy()
    state.auto_update_discrete_variables()
    state.u = [-3.0]
    stepper = plant.begin(state, fixed_step_size=0.25)
    state = stepper.state.copy()
    state.auto_update_discrete_variables()
    state.u = [-1.0]
    stepper = plant.begin(state, fixed_step_size=0.25)
    for time, delayed in ((1.25, 2.0), (1.49, 2.0), (1.51, -1.0), (2.0, -1.0)):
        stepper.step_to(time)
        assert_allclose(late.get_value(stepper.state), delayed, atol=1e-12)  # a jump, and no slope between the two
    assert (fastest.get_value(stepper.state), slowest.get_value(stepper.state)) == (2.0, -3.0)
    assert slowest.get_time_of_extreme_value(stepper.state) == 1.0


def test_an_event_that_changes_nothing_leaves_the_step_as_it_was(plant):
    place = measure.Coordinate(plant.matter, plant.block)
    kinds = measure.Maximum, measure.Minimum
    measures = [*(kind(plant.matter, place) for kind in kinds), measure.Delay(plant.matter, place, 0.3)]
    one = plant.start(u=1.0, fixed_step_size=0.25)
    one.step_to(2.1)
    expected = [each.get_value(one.state) for each in measures]
    times = measures[2].memory(one.state).times.tolist()
    seen = []

    class Look(mb.event.When):
        def handle_event(self, state, accuracy):
            seen.append(measures[2].get_value(state))

    plant.system.add_event_handler(Look(mb.event.Coordinate(plant.block, 0, 0.6)))
    other = plant.start(u=1.0, fixed_step_size=0.25)
    other.step_to(2.1)
    assert_allclose(seen, [0.3], atol=1e-12)
    assert [each.get_value(other.state) for each in measures] == expected
    assert measures[2].memory(other.state).times.tolist() == times


# ---------------------------------------------------------------------------------------------------- sample and hold


def test_samples_are_held(plant):
    wave = measure.Time(plant.matter)
    held, ticking = measure.SampleAndHold(plant.matter, wave), measure.SampleAndHold(plant.matter, wave, 0.5)
    state = plant.system.realize_topology()
    plant.system.realize(state, Stage.TIME)
    assert np.isnan(held.get_time_of_last_sample(state)) and held.get_value(state) == 0.0
    stepper = plant.begin(state, fixed_step_size=1 / 16)
    for time, expected in ((0.5 - 1 / 32, 0.0), (0.5 + 1 / 32, 0.5), (1.0 - 1 / 32, 0.5), (2.75, 2.5)):
        stepper.step_to(time)
        assert (held.get_value(stepper.state), ticking.get_value(stepper.state)) == (0.0, expected)
    assert ticking.get_time_of_last_sample(stepper.state) == 2.5
    held.sample(stepper.state)
    assert stepper.state.stage is Stage.TIME
    stepper.step_to(3.25)
    assert held.get_value(stepper.state) == held.get_time_of_last_sample(stepper.state) == 2.75
    held.set_value(stepper.state, 8.0)
    assert held.get_value(stepper.state) == 8.0 and held.get_time_of_last_sample(stepper.state) == 3.25
    with pytest.raises(mb.ModelError, match=r"the period of .* has to be positive"):
        ticking.set_period(0.0)
    assert ticking.get_period() == 0.5


# ---------------------------------------------------------------------------------------------------- what is remembered


class Loaded(Plant):
    """One of each that remembers, on a block that is driven by what one of them remembers."""

    def __init__(self):
        super().__init__()
        matter, place = self.matter, measure.Coordinate(self.matter, self.block)
        plain = measure.Function(matter, lambda state: float(np.sin(state.q[0] * 3)), Stage.POSITION)
        late = measure.Delay(matter, place, 0.3)
        self.measures = [
            late,
            measure.Delay(matter, plain, 0.21),
            measure.Integrate(matter, late + plain, place),
            measure.Differentiate(matter, plain),
            measure.Maximum(matter, plain),
            measure.MinAbs(matter, plain),
            measure.SampleAndHold(matter, plain, 0.25),
        ]

        class Pull(mb.force.CustomImplementation):
            def calc_force(self, state, body_forces, particle_forces, mobility_forces):
                mobility_forces[0] += np.sin(3.0 * state.time) - 2.0 * late.get_value(state)

        mb.force.Custom(mb.GeneralForceSubsystem(self.system), Pull())

    def values(self, state):
        return [measure.get_value(state) for measure in self.measures]


def test_a_run_that_is_resumed_from_a_copy_repeats_the_whole_one_bit_for_bit():
    plant = Loaded()
    options = {"fixed_step_size": 1 / 32}
    whole = plant.start(u=1.0, **options)
    whole.step_to(1.5)
    kept = whole.state.copy()
    whole.step_to(3.0)
    resumed = plant.begin(kept, **options)
    assert plant.values(resumed.state) == plant.values(kept)
    resumed.step_to(3.0)
    assert_array_equal(resumed.state.y, whole.state.y)
    assert plant.values(resumed.state) == plant.values(whole.state)
    # from between two steps: what was kept there is of the steps before it, and not of the end of the one under way
    whole = plant.start(u=1.0, **options)
    whole.step_to(1.51)
    resumed = plant.begin(whole.state, **options)
    assert plant.values(resumed.state) == plant.values(whole.state)
    resumed.step_to(3.0)
    whole.step_to(3.0)
    assert_allclose(resumed.state.y, whole.state.y, atol=1e-4)


def test_copies_remember_for_themselves():
    plant = Loaded()
    stepper = plant.start(u=1.0, accuracy=1e-5, max_step_size=0.1)
    stepper.step_to(1.0)
    kept, unpickled = stepper.state.copy(), stepper.state.copy()
    unpickled.resources = pickle.loads(pickle.dumps(kept.resources))  # the system's force is no class that can be pickled
    before = plant.values(stepper.state)
    stepper.step_to(2.0)
    assert plant.values(kept) == before != plant.values(stepper.state)
    assert plant.values(unpickled) == before


def test_reports_do_not_disturb_what_is_remembered():
    plant = Loaded()
    seldom, often = (plant.start(u=1.0, accuracy=1e-5, max_step_size=0.1) for _ in range(2))
    seldom.step_to(2.0)
    for time in np.linspace(0.01, 2.0, 200):
        often.step_to(time)
    assert plant.values(often.state) == plant.values(seldom.state)


def test_what_an_operand_is_after_a_variable_has_changed_counts(plant):
    target = measure.Variable(plant.matter, Stage.DYNAMICS, 1.0)
    most, slope = measure.Maximum(plant.matter, target), measure.Differentiate(plant.matter, target)
    stepper = plant.start(fixed_step_size=0.25)
    assert most.get_value(stepper.state) == 1.0 and not slope.is_using_approximation()
    target.set_value(stepper.state, 4.0)
    assert most.get_value(stepper.state) == 4.0
    stepper.step_to(1.0)
    target.set_value(stepper.state, 2.0)
    stepper.step_to(2.0)
    assert most.get_value(stepper.state) == 4.0


def test_beginning_anew_forgets(plant):
    furthest = measure.Maximum(plant.matter, measure.Coordinate(plant.matter, plant.block))
    stepper = plant.start(u=1.0)
    stepper.step_to(2.0)
    state = stepper.state.copy()
    state.q = [0.5]
    plant.system.realize(state)
    assert_allclose(furthest.get_value(plant.begin(state).state), 2.0, atol=0.5)
    furthest.initialize(state)
    assert furthest.get_value(plant.begin(state).state) == 0.5


def test_what_cannot_be_remembered_is_refused(plant):
    wave = measure.Sinusoid(plant.matter, 1.0, W)
    for bad, why in ((-0.1, "has to be positive"), (0.0, "has to be positive"), (np.nan, "has to be finite")):
        with pytest.raises(mb.ModelError, match=f"the delay of a Delay {why}"):
            measure.Delay(plant.matter, wave, bad)
    delay = measure.Delay(plant.matter, wave, 0.5)
    with pytest.raises(mb.ModelError, match="has to be positive"):
        delay.set_delay(-1.0)
    with pytest.raises(ValueError, match=r"the source of .* has to be a number; .* is a vector of 3"):
        delay.set_source_measure(measure.StationLocation(plant.matter, plant.block))
    assert delay.get_delay() == 0.5 and delay.get_source_measure() is wave
    other = Plant()
    theirs = measure.Time(other.matter)
    for kind, more in ((measure.Delay, (1.0,)), (measure.Maximum, ()), (measure.Integrate, ()), (measure.SampleAndHold, ())):
        with pytest.raises(mb.TopologyError, match="operands of its own system only"):
            kind(plant.matter, theirs, *more)
    with pytest.raises(TypeError, match=r"such as Extreme.Operation"):
        measure.Extreme(plant.matter, wave, "largest")
    with pytest.raises(ValueError, match="of one size"):
        measure.Integrate(plant.matter, wave, measure.Constant(plant.matter, (1, 2)))
    with pytest.raises(mb.ModelError, match="has no derivative measure"):
        measure.Integrate(plant.matter).get_derivative_measure()
    state = plant.system.realize_topology()
    furthest = measure.Maximum(plant.matter, measure.StationLocation(plant.matter, plant.block))
    with pytest.raises(mb.TopologyError, match="was changed after"):
        furthest.get_value(state)
    state = plant.system.realize_topology()
    with pytest.raises(mb.StageError, match=r"get_time_of_extreme_value of .* needs Stage.POSITION"):
        furthest.get_time_of_extreme_value(state)
    measure.Maximum(plant.matter, measure.Function(plant.matter, lambda state: 0.0, Stage.REPORT))
    with pytest.raises(mb.ModelError, match="integrators realize no further than ACCELERATION"):
        plant.system.realize_topology()
    assert not plant.system.system_topology_has_been_realized()
