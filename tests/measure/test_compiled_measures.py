"""Measures that integrate or remember, compiled where all that they need is: the same numbers as by Python, without Python."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Measure, Stage, measure


def with_operands(measures):
    """Measures and all that they are computed from, each once."""
    found, waiting = {}, list(measures)
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += [part for part in vars(one).values() if isinstance(part, Measure)]
    return list(found.values())


def with_derivatives(measures):
    """Those of them, and of their operands, that have derivatives and remember nothing."""
    every = with_operands(measures)
    return [
        one for one in every if one.get_num_time_derivatives() and not any(two.takes_part() for two in with_operands([one]))
    ]


def some_measures(system):
    """One of each kind that can be compiled, on one another."""
    matter = system.matter
    lower = matter.bodies[2]
    q, time = measure.Coordinate(matter, lower), measure.Time(matter)
    point, energy = measure.StationLocation(matter, lower, (0.1, -0.4, 0.2)), measure.Energy(matter)
    wave = measure.Sinusoid(matter, (1.0, 2.0, 0.5), (3.0, 1.0, 2.0), 0.3)
    first = measure.Integrate(matter, q * 2.0 + energy, measure.Constant(matter, 0.7))
    slope = measure.Differentiate(matter, point)
    slope.set_force_use_approximation(True)
    highest = measure.Maximum(matter, q)
    lag = measure.Integrate(matter)
    lag.set_derivative_measure((q - lag) / 0.5)
    found = [
        first,
        measure.Integrate(matter, point - wave),
        measure.Integrate(matter, first - 0.5 * time),
        measure.Integrate(matter, measure.Differentiate(matter, measure.Differentiate(matter, q))),
        lag,
        highest,
        measure.Minimum(matter, point),
        measure.MinAbs(matter, point),
        measure.MaxAbs(matter, point + wave),
        measure.Differentiate(matter, energy),
        slope,
        measure.SampleAndHold(matter, point, 0.05),
        measure.SampleAndHold(matter, energy),
    ]
    found.append(measure.Integrate(matter, highest + found[-1]))
    found.append(measure.Integrate(matter, slope))
    return found + [measure.Integrate(matter, measure.Differentiate(matter, one)) for one in with_derivatives(found)]


def swinging(*more):
    """A double pendulum with these measures, and a state; *more* are made of its system and measures."""
    system, _ = mb.examples.double_pendulum.build()
    measures = some_measures(system)
    for make in more:
        make(system, measures)
    state = system.realize_topology()
    state.q, state.u = [0.5, 0.3], [0.1, 2.0]
    return system, state, measures


def in_python(system, measures):
    """Something that only Python can remember; no z, as steps depend on how many there are."""
    measure.Maximum(system.matter, measure.Constant(None, 0.0))


def stepped(system, state, times=(0.0, 0.333, 1.0), integrator=mb.integrator.RungeKuttaMerson, **settings):
    stepper = mb.TimeStepper(system, integrator(system, **(settings or {"fixed_step_size": 0.01})))
    stepper.initialize(state)
    for time in times:
        stepper.step_to(time)
        yield stepper


def values(measures, state):
    return np.concatenate([np.ravel(one.get_value(state)) for one in measures])


def test_compiled_and_interpreted_runs_agree():
    found, rates = [], []
    for more in ((), (in_python,)):
        system, state, measures = swinging(*more)
        assert system.is_interpreted == bool(more)
        of_z = sum(one.default.size for one in measures if isinstance(one, measure.Integrate))
        now = [(values(measures, s.state), s.state.z_dot[:of_z].copy()) for s in stepped(system, state)]
        found.append([one for one, _ in now])
        rates.append([one for _, one in now])
    assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-12)
    assert_allclose(rates[0], rates[1], rtol=1e-11, atol=1e-11)


#: Kinds that no system compiles, that are only of others, or that have tests of their own here.
OTHERS = {"Custom", "Delay", "Extreme", "Function", "Result", "Variable"}


def test_each_kind_is_among_those_that_are_run():
    system, _ = mb.examples.double_pendulum.build()
    run = {type(one).__name__ for one in with_operands(some_measures(system))}
    kinds = {name for name in measure.__all__ if isinstance(kind := getattr(measure, name), type) and issubclass(kind, Measure)}
    assert kinds - run - OTHERS - {"One", "Zero"} == set(), "integrate one of these in some_measures, above"


def test_derivatives_are_those_of_the_values_along_the_motion():
    """Central differences of what remembers nothing, along the motion's parabola: errors h^2."""
    system, state, measures = swinging()
    system.realize(state)
    h, found = 1e-5, []
    q, u, q_dot, u_dot, q_dot_dot = (np.array(x) for x in (state.q, state.u, state.q_dot, state.u_dot, state.q_dot_dot))
    known = with_derivatives(measures)
    for sign in (-1.0, 1.0):
        other = state.copy()
        other.time, other.q, other.u = sign * h, q + sign * h * q_dot + 0.5 * h * h * q_dot_dot, u + sign * h * u_dot
        system.realize(other)
        found.append(values(known, other))
    assert len(known) > 8
    expected = np.concatenate([np.ravel(one.get_value(state, 1)) for one in known])
    assert_allclose((found[1] - found[0]) / (2.0 * h), expected, atol=1e-7)  # of order 10; roundings 1e-10, h^2 1e-9


def test_extremes_tell_when():
    for more in ((), (in_python,)):
        system, state, measures = swinging(*more)
        *_, stepper = stepped(system, state, accuracy=1e-8, max_step_size=0.01)
        times = [np.ravel(one.get_time_of_extreme_value(stepper.state)) for one in measures[5:9]]
        if not more:
            expected = times
    assert_allclose(np.concatenate(times), np.concatenate(expected), atol=1e-12)


@pytest.mark.parametrize("integrator", [mb.integrator.Verlet, mb.integrator.SemiExplicitEuler2, mb.integrator.BDF])
def test_with_other_methods(integrator):
    settings = {"accuracy": 1e-5}
    found = []
    for more in ((), (in_python,)):
        system, state, measures = swinging(*more)
        *_, stepper = stepped(system, state, (0.2,), integrator, **settings)
        found.append(values(measures, stepper.state))
    tolerance = 1e-6 if integrator is mb.integrator.BDF else 1e-9
    assert_allclose(found[0], found[1], atol=tolerance)


def test_a_copy_goes_its_own_way_and_a_pickled_one_repeats_the_bits():
    system, state, measures = swinging()
    settings = {"fixed_step_size": 1.0 / 64.0}  # so that steps end where the copies begin
    *_, stepper = stepped(system, state, (0.5,), **settings)
    kept = [stepper.state.copy(), pickle.loads(pickle.dumps(stepper.state.copy()))]
    stepper.step_to(1.0)
    expected = values(measures, stepper.state)
    again, there = kept
    *_, other = stepped(system, again, (1.0,), **settings)
    assert_array_equal(values(measures, other.state), expected)
    assert there.z.tobytes() == kept[0].z.tobytes()
    system2 = there.system
    *_, other = stepped(system2, there, (1.0,), **settings)
    by_name = [system2.matter.get_measure(one.get_subsystem_measure_index()) for one in measures]
    assert_array_equal(values(by_name, other.state), expected)


def test_events_end_steps():
    """A handler that changes speeds, and one that changes nothing: both agree with Python's way."""
    found = []
    for more in ((), (in_python,)):
        system, state, measures = swinging(*more)

        class Kick(mb.event.PeriodicHandler):
            def handle_event(self, state, accuracy):
                state.u = 0.9 * state.u
                return False

        class Look(mb.event.PeriodicHandler):
            def handle_event(self, state, accuracy):
                return False

        system.add_event_handler(Kick(0.3))
        system.add_event_handler(Look(0.07))
        *_, stepper = stepped(system, state, (0.95,))
        found.append(values(measures, stepper.state))
    assert_allclose(found[0], found[1], rtol=1e-11, atol=1e-11)


def test_values_set_by_hand_and_beginning_anew():
    system, state, measures = swinging()
    highest, sample = measures[5], measures[12]
    assert highest.get_value(state) == 0.3  # no run has reached it
    *_, stepper = stepped(system, state, (0.4,))
    state = stepper.state.copy()
    highest.set_value(state, 9.0)
    assert state.stage is Stage.VELOCITY and highest.get_value(state) == 9.0
    sample.set_value(state, -1.0)
    *_, stepper = stepped(system, state, (0.5,))
    assert highest.get_value(stepper.state) == 9.0 and sample.get_value(stepper.state) == -1.0
    assert highest.get_time_of_extreme_value(stepper.state) == pytest.approx(0.4)
    state = stepper.state.copy()
    highest.initialize(state)
    system.realize(state)
    assert highest.get_value(state) == state.q[1]


def test_angles_in_place_of_quaternions_keep_what_is_remembered():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    slider = mb.mobilizer.Slider(mb.mobilizer.Ball(matter.ground, body), body)
    place = measure.Coordinate(matter, slider)
    highest, way = measure.Maximum(matter, place), measure.Integrate(matter, place)
    state = system.realize_topology()
    state.q, state.u = [1, 0, 0, 0, 0.5], [0.1, 0.2, 0.3, -1.0]
    assert not system.is_interpreted
    *_, stepper = stepped(system, state, (0.2,))
    state = stepper.state.copy()
    matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    system.realize(state)
    assert highest.get_value(state) == 0.5 and len(state.q) == 4
    assert way.get_value(state, 1) == state.q[3] and state.z_dot[0] == state.q[3]


def test_what_cannot_be_compiled_is_left_to_python():
    for make in (
        lambda m: measure.Maximum(m, measure.Variable(m, Stage.MODEL, 1.0)),
        lambda m: measure.Integrate(m, measure.Constant(None, 2.0)),
    ):
        system, _ = mb.examples.double_pendulum.build()
        make(system.matter)
        system.realize_topology()
        assert system.is_interpreted


def test_a_variable_that_steps_look_at_is_a_number_of_each_state():
    """A set point of a lag: r' = s - r from 0, so r = s (1 - exp(-t)), and two numbers integrated."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    target = measure.Variable(matter, Stage.DYNAMICS, 1.0)
    lag, rates = measure.Integrate(matter, measure.Zero(matter)), measure.Variable(matter, Stage.POSITION, (1.0, 2.0))
    lag.set_derivative_measure(target - lag)
    ways, unused = measure.Integrate(matter, rates), measure.Variable(matter, Stage.TIME, 5.0)
    seen = target - measure.Scale(matter, 3.0, lag)
    steady = measure.Integrate(matter, measure.Differentiate(matter, measure.Scale(matter, 0.5, measure.Time(matter)) + target))
    state = system.realize_topology()
    assert not system.is_interpreted and target.get_value(state) == 1.0
    system.realize(state)
    target.set_value(state, 3.0)
    assert state.stage == Stage.VELOCITY
    rates.set_value(state, (0.5, 0.25))
    unused.set_value(state, 6.0)
    assert state.stage == Stage.INSTANCE
    copies = state.copy(), pickle.loads(pickle.dumps((system, state)))[1]
    target.set_value(state, 2.0)
    assert [target.get_value(one) for one in (state, copies[0])] == [2.0, 3.0]
    assert copies[1].field("measure_numbers").ravel().tolist() == copies[0].field("measure_numbers").ravel().tolist()
    end = mb.simulate(system, state, 1.0, accuracy=1e-8).states[-1]
    assert_allclose(lag.get_value(end), 2.0 * (1.0 - np.exp(-1.0)), rtol=1e-7)
    assert_allclose(ways.get_value(end), (0.5, 0.25), rtol=1e-12)
    assert_allclose(steady.get_value(end), 0.5, rtol=1e-12, err_msg="the rate of a Variable is zero")
    assert [one.get_value(end) for one in (target, unused)] == [2.0, 6.0]
    system.realize(end)
    # beyond those of steps, measures are differentiated on a tree with more numbers, behind the state's own
    slopes = mb.linearize(system, end, outputs=[seen, rates]).C
    assert_allclose(slopes[:, 4:], [[-3.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], atol=1e-12)
    assert unused.get_value(end, 1) == 0.0 and target.get_value(end, 2) == 0.0


class Rates(measure.CustomImplementation):
    """Accelerations and speeds, kept in states until these change."""

    def get_depends_on_stage(self, deriv_order):
        return Stage.ACCELERATION

    def calc_cached_value(self, state, deriv_order):
        return state.u_dot + state.u


def of_the_state(system, stage):
    """A function of the state that needs a stage."""
    lower = system.matter.bodies["lower"]
    return {
        Stage.TIME: lambda state: state.time * state.q[1],
        Stage.POSITION: lambda state: float(lower.get_body_origin_location(state)[0]),
        Stage.VELOCITY: lambda state: float(lower.get_body_velocity(state)[1, 0]),
        Stage.DYNAMICS: lambda state: float(system.get_rigid_body_forces(state)[1, 1, 1]) * state.q[0],
        Stage.ACCELERATION: lambda state: float(state.u_dot[0]),
    }[stage]


@pytest.mark.parametrize("stage", [Stage.TIME, Stage.POSITION, Stage.VELOCITY, Stage.DYNAMICS, Stage.ACCELERATION])
def test_functions_of_states_are_called_by_compiled_steps(stage):
    found = []
    for interpreted in (False, True):
        system, _ = mb.examples.double_pendulum.build()
        matter = system.matter
        one = measure.Function(matter, of_the_state(system, stage), stage)
        two = measure.Custom(matter, Rates(), shape=(2,))
        measures = [measure.Integrate(matter, one), measure.Integrate(matter, two), measure.Delay(matter, one, 0.03)]
        measures += [measure.Maximum(matter, one), measure.SampleAndHold(matter, two, 0.1), measure.Differentiate(matter, one)]
        if interpreted:
            measure.Maximum(matter, measure.Constant(None, 0.0))
        state = _start(system)
        assert system.is_interpreted is interpreted and system.measures_in_python == ([] if interpreted else [one, two])
        found.append([values(measures, s.state) for s in stepped(system, state, accuracy=1e-6)])
        found[-1].append(values(measures, next(stepped(system, state, (0.2,), mb.integrator.BDF, accuracy=1e-6)).state))
    assert_allclose(found[0], found[1], rtol=1e-11, atol=1e-11)


def test_an_error_in_a_function_of_the_state_is_raised_at_the_last_good_state():
    system, _ = mb.examples.double_pendulum.build()

    def fails(state):
        if state.time > 0.3:
            raise ZeroDivisionError("too late")
        return state.time

    way = measure.Integrate(system.matter, measure.Function(system.matter, fails, Stage.TIME))
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, max_step_size=0.05))
    stepper.initialize(_start(system))
    with pytest.raises(ZeroDivisionError, match="too late"):
        stepper.step_to(1.0)
    assert 0.2 < stepper.time <= 0.3
    assert_allclose(way.get_value(stepper.state), 0.5 * stepper.time**2, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("begin", [0.0, 0.3])
def test_a_function_of_the_state_that_gives_no_number_is_named_by_what_integrates_it(value, begin):
    system, _ = mb.examples.double_pendulum.build()
    one = measure.Function(system.matter, lambda state: value if state.time >= begin else 1.0, Stage.TIME)
    measure.Integrate(system.matter, one)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(_start(system))
    with pytest.raises(
        mb.ConvergenceError, match=rf"the rate of z\[0\], number 0 of .*, is not finite beyond time {begin:g}, in"
    ):
        stepper.step_to(1.0)
    assert stepper.time == pytest.approx(begin, abs=1e-9)


def _change_and_realize(state):
    state.u = state.u
    state.system.realize(state)


@pytest.mark.parametrize(
    "act",
    [lambda state: setattr(state, "u", state.u), lambda state: state.system.realize(state), _change_and_realize],
    ids=["changes", "realizes", "changes-and-realizes"],
)
def test_a_function_of_the_state_that_changes_or_realizes_it_is_refused(act):
    system, _ = mb.examples.double_pendulum.build()
    measure.Integrate(system.matter, measure.Function(system.matter, lambda state: act(state) or 0.0, Stage.DYNAMICS))
    with pytest.raises(mb.StageError, match="function_0"):
        system.realize(_start(system))


def test_a_measure_that_allocates_leaves_all_to_python():
    class Counting(measure.CustomImplementation):
        def get_depends_on_stage(self, deriv_order):
            return Stage.TIME

        def calc_cached_value(self, state, deriv_order):
            return state.time

        def realize_measure_topology(self, state):
            self.z = system.matter.allocate_z(state, [1.0, 2.0])

    system, _, measures = swinging()
    measure.Custom(system.matter, Counting())
    state = _start(system)
    assert system.is_interpreted
    *_, stepper = stepped(system, state, (0.3,))
    found = values(measures, stepper.state)
    system, state, measures = swinging()
    *_, stepper = stepped(system, state, (0.3,))
    assert_allclose(found, values(measures, stepper.state), rtol=1e-12, atol=1e-12)


def test_a_changed_measure_is_compiled_anew():
    system, _, _ = swinging()
    matter = system.matter
    constant = measure.Constant(matter, 2.0)
    way = measure.Integrate(matter, constant)
    for slope in (2.0, 3.0):
        constant.set_value(slope)
        *_, stepper = stepped(system, system.realize_topology(), (0.5,))
        assert_allclose(way.get_value(stepper.state), 0.5 * slope)
    measure.Integrate(matter, measure.Constant(None, 1.0))
    *_, stepper = stepped(system, system.realize_topology(), (0.5,))
    assert system.is_interpreted
    assert_allclose(way.get_value(stepper.state), 0.5 * slope)


def test_a_copied_system_has_its_own():
    system, _, measures = swinging()
    other = copy.deepcopy(system)
    *_, stepper = stepped(other, _start(other), (0.1,))
    *_, expected = stepped(system, _start(system), (0.1,))
    own = [other.matter.get_measure(one.get_subsystem_measure_index()) for one in measures]
    assert_array_equal(values(own, stepper.state), values(measures, expected.state))


def _start(system):
    state = system.realize_topology()
    state.q, state.u = [0.5, 0.3], [0.1, 2.0]
    return state


# ---------------------------------------------------------------------------------------------------- users' functions


def power(t, X, V, q, u, parameters):
    return parameters[0] * V[0][1][0] + q[0][0], X[0][1][1] * t


def test_a_users_compiled_measure():
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    functions = measure.CompiledFunctions(power, bodies=[lower], mobilizers=[upper], parameters=[2.0])
    own = measure.Custom(system.matter, compiled=functions, shape=(2,))
    integral = measure.Integrate(system.matter, own)
    state = _start(system)
    assert not system.is_interpreted and own.get_compiled_functions() is functions
    *_, stepper = stepped(system, state, (0.4,))
    now = stepper.state
    expected = [2.0 * lower.get_body_velocity(now)[1, 0] + now.q[0], lower.get_body_origin_location(now)[1] * 0.4]
    assert_allclose(own.get_value(now), expected, rtol=1e-13)
    assert_allclose(now.z_dot, expected, rtol=1e-13)
    again = pickle.loads(pickle.dumps(system))
    assert not again.is_interpreted and again.realize_topology().z.shape == integral.shape


def test_what_is_not_known_at_its_stage_is_nan():
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    functions = measure.CompiledFunctions(power, Stage.POSITION, bodies=[upper], mobilizers=[lower], parameters=[1])
    own = measure.Custom(system.matter, compiled=functions, shape=(2,))
    state = _start(system)
    system.realize(state, Stage.POSITION)
    assert np.isnan(own.get_value(state)[0]) and np.isfinite(own.get_value(state)[1])


@pytest.mark.parametrize(
    ("function", "more", "error", "text"),
    [
        (lambda t: t, {}, mb.ModelError, r"has to take \(t, X, V, q, u, parameters\)"),
        (lambda t, X, V, q, u, parameters: [t], {}, mb.ModelError, "has to return a number"),
        (lambda t, X, V, q, u, parameters: t if t > 0 else 0.0, {}, mb.ModelError, "where"),
        (power, {"parameters": [np.inf]}, ValueError, "a parameter has to be finite"),
        (power, {"bodies": [3]}, TypeError, "each of bodies has to be a MobilizedBody, not 3"),
        (power, {"stage": Stage.ACCELERATION}, TypeError, "each with Stage.MODEL, TIME, POSITION or VELOCITY"),
    ],
)
def test_bad_compiled_functions(function, more, error, text):
    system, _ = mb.examples.double_pendulum.build()
    with pytest.raises(error, match=text):
        measure.Custom(system.matter, compiled=measure.CompiledFunctions(function, **more))
    assert system.matter.get_num_measures() == 0


def test_either_compiled_or_in_python():
    with pytest.raises(TypeError, match="not both"):
        measure.Custom(None, object(), compiled=measure.CompiledFunctions(power))
    with pytest.raises(TypeError, match="compiled has to be"):
        measure.Custom(None, compiled=power)
    with pytest.raises(TypeError, match="or give compiled="):
        measure.Custom(None)
