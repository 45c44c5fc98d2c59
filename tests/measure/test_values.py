"""Measures that are functions of the state: their values, derivatives and stages, and that they cost a system nothing."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, measure

ALL = 2**31 - 1


class Plant:
    """The double pendulum, whose parts measures join."""

    def __init__(self):
        self.system, _ = mb.examples.double_pendulum.build()
        self.matter = self.system.matter
        self.upper, self.lower = self.matter.bodies[1], self.matter.bodies[2]

    def start(self):
        state = self.system.realize_topology()
        state.q, state.u, state.time = [0.3, -0.7], [1.5, 0.4], 2.0
        return state


@pytest.fixture
def plant():
    return Plant()


def test_sums_and_multiples_have_the_derivatives_of_their_operands(plant):
    wave = measure.Sinusoid(plant.matter, 1.5, 4.0, 0.2)
    time = measure.Time(plant.matter)
    made = 2.0 * wave - (time + 1.0) / 4.0 - -wave
    assert isinstance(made, measure.Minus) and made.get_num_time_derivatives() == 3
    state = plant.start()
    plant.system.realize(state, Stage.TIME)
    for order, linear in enumerate((3.0, 1.0, 0.0, 0.0)):
        expected = 3.0 * wave.get_value(state, order) - linear / 4.0
        assert_allclose(made.get_value(state, order), expected, rtol=1e-15)
    assert time.get_num_time_derivatives() == (time + 3.0).get_num_time_derivatives() == ALL
    assert time.get_depends_on_stage() is Stage.TIME and time.get_depends_on_stage(1) is Stage.EMPTY


def test_vectors_are_the_callers_own_and_numbers_are_floats(plant):
    station = measure.StationLocation(plant.matter, plant.lower, (0, -1, 0))
    moved = np.array([1.0, 2.0, 3.0]) + station
    state = plant.start()
    plant.system.realize(state)
    value = moved.get_value(state)
    value[:] = 0.0
    expected = np.add(plant.lower.find_station_location_in_ground(state, (0, -1, 0)), (1, 2, 3))
    assert_array_equal(moved.get_value(state), expected)
    assert moved.shape == (3,) and measure.Energy(None).shape == ()
    constant = measure.Constant(None, (1, 2))
    constant.get_value(state)[:] = 7.0
    assert_array_equal(constant.get_value(state), [1.0, 2.0])
    assert type(measure.Coordinate(None, plant.upper).get_value(state)) is float
    assert_array_equal(measure.Zero(None, 2).get_value(state), [0, 0])
    assert measure.One().get_value(state) == 1.0


def test_quantities_of_the_mechanism_are_what_the_bodies_say(plant):
    station, angle = (
        measure.StationLocation(plant.matter, plant.lower, (0, -1, 0)),
        measure.Coordinate(plant.matter, plant.lower),
    )
    energy = measure.Energy(plant.matter)
    state = plant.start()
    plant.system.realize(state)
    assert [angle.get_value(state, k) for k in range(3)] == [state.q[1], state.q_dot[1], state.q_dot_dot[1]]
    for order, what in enumerate(("location", "velocity", "acceleration")):
        expected = getattr(plant.lower, f"find_station_{what}_in_ground")(state, (0, -1, 0))
        assert_array_equal(station.get_value(state, order), expected)
    assert energy.get_value(state) == plant.system.calc_energy(state)


def test_measures_that_remember_nothing_leave_a_system_compiled_and_its_bits_alone(plant):
    state = plant.start()
    before = mb.simulate(plant.system, state, 0.5, accuracy=1e-6)
    target = measure.Variable(plant.matter, Stage.DYNAMICS, 0.5)
    measure.Result(plant.matter, Stage.TIME)
    angle = measure.Coordinate(plant.matter, plant.upper)
    slope = measure.Differentiate(plant.matter, angle)
    error = measure.Function(plant.matter, lambda state: plant.upper.get_angle(state) ** 2, Stage.POSITION) - target
    state = plant.start()
    plant.system.realize(state, Stage.POSITION)
    assert error.get_value(state) == state.q[0] ** 2 - 0.5
    target.set_value(state, 0.25)
    assert error.get_value(state) == state.q[0] ** 2 - 0.25
    assert not plant.system.is_interpreted
    after = mb.simulate(plant.system, state, 0.5, accuracy=1e-6)
    assert_array_equal(after.q, before.q)
    for k in (0, 7, -1):
        one = after.states[k]
        plant.system.realize(one, Stage.VELOCITY)
        assert error.get_value(one) == after.q[k, 0] ** 2 - 0.25
        assert slope.get_value(one) == after.u[k, 0]


def test_a_variable_belongs_to_its_state_and_invalidates_what_it_says(plant):
    gain = measure.Variable(plant.matter, Stage.VELOCITY, (1.0, 2.0))
    state = plant.start()
    plant.system.realize(state)
    other = state.copy()
    gain.set_value(state, (3.0, 4.0))
    assert state.stage is Stage.POSITION and other.stage is Stage.ACCELERATION
    assert_array_equal(gain.get_value(state), [3, 4])
    assert_array_equal(gain.get_value(other), [1, 2])
    unpickled = pickle.loads(pickle.dumps(state))
    assert_array_equal(unpickled.system.matter.get_measure(0).get_value(unpickled), [3, 4])
    assert_array_equal(gain.get_value(state, 1), [0, 0])
    plant.matter.set_use_euler_angles(state, True)  # a modelling choice leaves it alone
    plant.system.realize_model(state)
    assert_array_equal(gain.get_value(state), [3, 4])
    with pytest.raises(ValueError, match=r"the value of <Variable 'variable_0'> has to be a vector of 2; got shape \(3,\)"):
        gain.set_value(state, (1, 2, 3))
    with pytest.raises(mb.ModelError, match="has to be finite"):
        gain.set_value(state, (1, np.nan))
    assert_array_equal(gain.get_value(state), [3, 4])
    gain.set_default_value((5, 6))
    with pytest.raises(mb.TopologyError, match="was changed after this state was made"):
        gain.get_value(state)
    assert_array_equal(gain.get_value(plant.start()), [5, 6])


def test_a_result_is_valid_until_what_it_depends_on_changes(plant):
    result = measure.Result(plant.matter, Stage.VELOCITY, Stage.DYNAMICS, default_value=(0.0, 0.0))
    state = plant.start()
    with pytest.raises(mb.StageError, match=r"set_value of 'result_0' needs Stage.POSITION; this state is at MODEL"):
        result.set_value(state, (1, 2))
    plant.system.realize(state)
    with pytest.raises(mb.StageError, match=r"out of date: it has not been set since Stage.VELOCITY"):
        result.get_value(state)
    result.set_value(state, (1, 2))
    assert state.stage is Stage.VELOCITY
    plant.system.realize(state)
    assert result.is_valid(state)
    assert_array_equal(result.get_value(state), [1, 2])
    result.upd_value(state)[1] = 9.0
    assert not result.is_valid(state)
    result.mark_as_valid(state)
    assert_array_equal(result.get_value(state), [1, 9])
    state.u = state.u
    assert not result.is_valid(state)
    plant.system.realize(state)
    assert not result.is_valid(state)
    result.set_is_presumed_valid_at_depends_on_stage(True)
    state = plant.start()
    assert not result.is_valid(state)
    plant.system.realize(state, Stage.VELOCITY)
    assert result.is_valid(state)
    with pytest.raises(ValueError, match="depends on VELOCITY cannot invalidate POSITION"):
        measure.Result(plant.matter, Stage.VELOCITY, Stage.POSITION)
    with pytest.raises(ValueError, match="depends on VELOCITY cannot invalidate VELOCITY"):
        result.set_invalidated_stage(Stage.VELOCITY)
    assert result.get_invalidated_stage() is Stage.DYNAMICS


class Counted(measure.CustomImplementation):
    """The kinetic energy, and how often it was computed; its derivative is not kept."""

    def __init__(self, system):
        self.system, self.count, self.begun, self.heard = system, 0, 0, set()

    def get_depends_on_stage(self, deriv_order):
        return Stage.ACCELERATION if deriv_order else Stage.VELOCITY

    def get_num_time_derivatives(self):
        return 1

    def get_num_cache_entries(self):
        return 1

    def calc_cached_value(self, state, deriv_order):
        self.count += 1
        return self.system.calc_kinetic_energy(state)

    def get_uncached_value(self, state, deriv_order):
        return float(state.u @ self.system.matter.calc_m(state) @ state.u_dot)


class Hooked(Counted):
    """With hooks, and a z of its own, whose rate it writes."""

    def realize_measure_topology(self, state):
        self.z = self.system.matter.allocate_z(state, [1.0])

    def realize_measure_dynamics(self, state):
        self.system.matter.upd_z_dot(state)[self.z] = -self.system.matter.get_z(state)[self.z]

    def realize_measure_report(self, state):
        self.heard.add("report")

    def initialize(self, state):
        self.begun += 1


def test_a_custom_measure_is_computed_once_for_each_state(plant):
    counted = Counted(plant.system)
    custom = measure.Custom(plant.matter, counted)
    state = plant.start()
    plant.system.realize(state)
    assert custom.get_value(state) == custom.get_value(state) == plant.system.calc_kinetic_energy(state)
    assert counted.count == 1 and not plant.system.is_interpreted
    custom.get_value(state, 1)
    state.u = 2.0 * state.u
    plant.system.realize(state, Stage.VELOCITY)
    custom.get_value(state)
    assert counted.count == 2
    with pytest.raises(mb.StageError, match=r"get_value of derivative 1 of 'custom_0' needs Stage.ACCELERATION"):
        custom.get_value(state, 1)


def test_a_custom_measure_may_have_hooks_and_variables(plant):
    hooked = Hooked(plant.system)
    measure.Custom(plant.matter, hooked)
    state = plant.start()
    assert plant.system.is_interpreted
    stepper = mb.TimeStepper(plant.system, mb.integrator.RungeKuttaMerson(plant.system, accuracy=1e-9))
    stepper.initialize(state)
    stepper.step_to(3.0)
    assert_allclose(stepper.state.z, [np.exp(-1.0)], rtol=1e-8)
    assert hooked.begun == 1
    stepper.initialize(stepper.state)  # the state has begun already
    assert hooked.begun == 1
    plant.system.realize(stepper.state, Stage.REPORT)
    assert hooked.heard == {"report"}


def test_measures_are_found_in_their_subsystem(plant):
    forces = plant.system.get_subsystem(1)
    time, wave = measure.Time(forces), measure.Sinusoid(forces, 1, 2, name="wave")
    both = measure.Plus(plant.matter, time, wave)
    assert forces.get_num_measures() == 2 and forces.get_measure(1) is wave
    assert (time.name, wave.get_name()) == ("time_0", "wave")
    assert wave.get_subsystem() is forces and wave.get_subsystem_measure_index() == 1
    assert wave.is_same_measure(wave) and not wave.is_same_measure(time)
    assert both.get_value_dependence() == (time, wave) and both.is_same_subsystem(plant.matter)
    orphan = measure.Time()
    assert not orphan.is_in_subsystem()
    assert forces.adopt_measure(orphan) == 2 and orphan.get_subsystem_measure_index() == 2
    with pytest.raises(IndexError, match="has 3 measures; no number 3"):
        forces.get_measure(3)
    with pytest.raises(mb.TopologyError, match=r"is part of .* already"):
        plant.matter.adopt_measure(orphan)
    with pytest.raises(mb.ModelError, match="there is a measure 'wave'"):
        measure.Time(forces, name="wave")
    assert measure.Time(plant.system).get_subsystem() is plant.matter, "of a system its matter"
    assert measure.Function(plant.system, lambda state: 1.0, Stage.TIME).is_same_subsystem(plant.matter)
    with pytest.raises(TypeError, match="takes a Measure"):
        forces.adopt_measure(forces)
    with pytest.raises(mb.TopologyError, match="is in no subsystem"):
        measure.Time().get_subsystem_measure_index()
    assert forces.get_num_measures() == 3


def test_systems_with_measures_are_copied_and_pickled(plant):
    wave = measure.Sinusoid(plant.matter, 1.0, 2.0) + measure.Variable(plant.matter, Stage.POSITION, 0.5)
    index = wave.get_subsystem_measure_index()
    state = plant.start()
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        twin = other.system.matter.get_measure(index)
        assert twin is not wave
        other.system.realize(other, Stage.TIME)
        assert twin.get_value(other) == np.sin(4.0) + 0.5


def test_hooks_of_a_subsystem_come_before_its_measures():
    class Sensor(mb.Subsystem):
        def realize_topology(self, state):
            self.entry = self.allocate_cache_entry(state, Stage.TIME, v=0.0)

        def realize_time(self, state):
            self.upd_cache_entry(state, self.entry, 3.0 * state.time)
            self.mark_cache_value_realized(state, self.entry)

    system, _ = mb.examples.double_pendulum.build()
    sensor = Sensor(system, "sensor")
    read = measure.Function(sensor, lambda state: sensor.get_cache_entry(state, sensor.entry), Stage.TIME)
    total = measure.Integrate(sensor, read)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(system.realize_topology())
    stepper.step_to(1.0)
    assert_allclose(total.get_value(stepper.state), 1.5, rtol=1e-12)


def test_bad_questions_say_what_to_do(plant):
    wave, place = measure.Sinusoid(plant.matter, 1, 1), measure.StationLocation(plant.matter, plant.upper)
    state = plant.start()
    with pytest.raises(mb.StageError, match=r"get_value of 'sinusoid_0' needs Stage.TIME; .* at MODEL; call system.realize"):
        wave.get_value(state)
    with pytest.raises(ValueError, match="has derivatives up to order 3; got deriv_order 4"):
        wave.get_value(state, 4)
    with pytest.raises(ValueError, match="got deriv_order -1"):
        wave.get_depends_on_stage(-1)
    with pytest.raises(TypeError, match="deriv_order has to be an integer"):
        wave.get_value(state, 1.5)
    with pytest.raises(ValueError, match=r"of one size; .* is a number, .* is a vector of 3"):
        wave + place
    with pytest.raises(TypeError):
        wave * place
    with pytest.raises(TypeError):
        wave + "one"
    with pytest.raises(ZeroDivisionError):
        wave / 0.0
    with pytest.raises(TypeError, match="an operand of a Plus has to be a Measure"):
        measure.Plus(plant.matter, wave, 1.0)
    with pytest.raises(mb.ModelError, match="the frequency of a Sinusoid has to be finite"):
        measure.Sinusoid(plant.matter, 1, np.inf)
    with pytest.raises(ValueError, match="of one size; got amplitude"):
        measure.Sinusoid(plant.matter, (1, 2), (1, 2, 3))
    with pytest.raises(TypeError, match="Measure is the base class"):
        mb.Measure(plant.matter)
    with pytest.raises(TypeError, match="has to be a Subsystem"):
        measure.Time("matter")
    with pytest.raises(ValueError, match="above, not TOPOLOGY"):
        measure.Variable(plant.matter, Stage.TOPOLOGY, 1.0)
    with pytest.raises(TypeError, match="of a MobilizedBody"):
        measure.Coordinate(plant.matter, "upper")
    with pytest.raises(TypeError, match="takes a callable and a Stage"):
        measure.Function(plant.matter, 3.0, Stage.TIME)
    with pytest.raises(TypeError, match=r"derived from mobod.measure.CustomImplementation"):
        measure.Custom(plant.matter, object())
    with pytest.raises(ValueError, match="shape of a Custom measure"):
        measure.Function(plant.matter, len, Stage.TIME, shape=(2, 3))
    wrong = measure.Function(plant.matter, lambda state: state.q, Stage.TIME)
    with pytest.raises(mb.TopologyError, match="was changed after"):
        wave.get_value(state)
    state = plant.start()
    plant.system.realize(state)
    with pytest.raises(mb.ModelError, match=r"has to return a number; got shape \(2,\)"):
        wrong.get_value(state)
    other = Plant()
    with pytest.raises(mb.TopologyError, match="operands of its own system only"):
        measure.Scale(other.matter, 2.0, wave)
    with pytest.raises(mb.TopologyError, match="this state is of another system"):
        wave.get_value(other.start())
    assert other.matter.get_num_measures() == 0


def test_an_ensemble_has_integrals_too(plant):
    target = measure.Variable(plant.matter, Stage.DYNAMICS, 0.5)
    plant.start()
    ensemble = mb.Ensemble(plant.system, 3)
    ensemble.q = np.arange(6.0).reshape(3, 2)
    ensemble.realize(Stage.ACCELERATION)
    before = ensemble.u_dot.copy()
    measure.Integrate(plant.matter, measure.Coordinate(plant.matter, plant.upper) + target)
    plant.start()
    ensemble = mb.Ensemble(plant.system, 3)
    ensemble.q = np.arange(6.0).reshape(3, 2)
    ensemble.realize(Stage.ACCELERATION)
    assert_allclose(ensemble.u_dot, before, rtol=1e-12)
    assert_allclose(ensemble.z_dot, [[0.5], [2.5], [4.5]])
