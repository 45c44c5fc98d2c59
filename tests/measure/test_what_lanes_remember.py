"""Delays in compiled steps: those of Python's, to the bit; of each state of an ensemble, those of the state alone."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, measure

SEED = 25


def late_pendulum(how, interpreted=False, delay=0.1, **options):
    """A double pendulum, an angle of which is integrated late; one more measure makes Python do all."""
    system, state = mb.examples.double_pendulum.build()
    matter, arm = system.matter, system.matter.bodies["lower"]
    source = measure.Coordinate(matter, arm)
    if "values" in how:  # without a derivative

        def value(t, X, V, q, u, parameters):
            return q[0][0] + 0.3 * t

        source = measure.Custom(matter, compiled=measure.CompiledFunctions(value, Stage.TIME, mobilizers=[arm]))
    late = measure.Delay(matter, source, delay, **options)
    late.set_use_linear_interpolation_only("linear" in how)
    late.set_can_use_current_value("look" in how)
    total = measure.Integrate(matter, late)
    if interpreted:
        measure.Integrate(matter, measure.Constant(None, 1.0))
    state = system.realize_topology()
    assert system.is_interpreted is interpreted
    state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    return system, state, late, total


@pytest.mark.filterwarnings("ignore:.* late, but steps have been:RuntimeWarning")
@pytest.mark.parametrize("how", ["rates", "values", "linear", "look", "values, look"])
def test_kernels_find_what_python_finds(how):
    for delay, options in ((0.1, {}), (0.003, {}), (0.1, {"max_samples": 16}), (0.7, {"max_samples": 20})):
        found = []
        for interpreted in (False, True):
            system, state, late, total = late_pendulum(how, interpreted, delay, **options)
            integrator = mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.011)
            record = {"late": late, "total": total}
            motion = mb.simulate(system, state, 1.5, integrator=integrator, report_interval=0.1, record=record)
            found.append([motion.quantities["late"], motion.quantities["total"]])
        assert_allclose(found[0], found[1], rtol=0, atol=1e-15)


def test_each_state_of_an_ensemble_has_its_own_past():
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    system, state, late, total = late_pendulum("rates", max_samples=16)  # so that rings go round
    n = 11
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q, ensemble.u = rng.uniform(-1, 1, (n, 2)), rng.uniform(-2, 2, (n, 2))
    states = [ensemble.get_state(i) for i in range(n)]
    motions = ensemble.simulate(0.7, accuracy=1e-5, report_interval=0.35)
    assert motions.statistics["in_lanes"].all()
    motions = ensemble.simulate(0.5, accuracy=1e-5, report_interval=0.5)  # goes on with what is remembered
    ensemble.realize()
    found, totals = ensemble.get_measures(late), ensemble.get_measures(total)
    for i in range(n):
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-5))
        stepper.initialize(states[i])
        stepper.step_to(0.7)
        between = stepper.state.copy()
        stepper.initialize(between)
        stepper.step_to(1.2)
        system.realize(stepper.state)
        assert [found[i], totals[i]] == [late.get_value(stepper.state), total.get_value(stepper.state)]
        one = ensemble.get_state(i)
        system.realize(one)
        assert late.get_value(one) == found[i]
        assert_array_equal(late.memory(one).times, late.memory(stepper.state).times)


@pytest.mark.filterwarnings("ignore:.* late, but steps have been:RuntimeWarning")
def test_states_that_begin_leave_what_others_remember():
    """A delay below the step is extrapolated, so that what is remembered of it depends on when it was asked."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    late = measure.Delay(matter, measure.Coordinate(matter, matter.bodies["lower"]), 0.01)
    later = measure.Delay(matter, late, 0.1)
    state = system.realize_topology()
    n = 24  # in eight lanes: two thirds begin while others are on their way
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q, ensemble.u = rng.uniform(-1, 1, (n, 2)), rng.uniform(-3, 3, (n, 2))
    states = [ensemble.get_state(i) for i in range(n)]
    ensemble.simulate(0.4, accuracy=1e-5)
    ensemble.realize()
    for i in range(n):
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-5))
        stepper.initialize(states[i])
        stepper.step_to(0.4)
        assert ensemble.get_measures(later)[i] == later.get_value(stepper.state)
        assert_array_equal(later.memory(ensemble.get_state(i)).times, later.memory(stepper.state).times)


def test_a_long_delay_with_short_steps_keeps_a_bounded_number():
    """sin of ten periods in the delay: cubics over a 205th of it are off by (20 pi / 205)^4 / 384 = 2.3e-5 at most."""
    system, _ = mb.examples.double_pendulum.build()
    wave = measure.Sinusoid(system.matter, 1.0, 2.0 * np.pi)
    few, many = measure.Delay(system.matter, wave, 10.0), measure.Delay(system.matter, wave, 10.0, max_samples=2048)
    assert (few.get_max_samples(), many.get_max_samples()) == (512, 2048)
    state = system.realize_topology()
    integrator = mb.integrator.SemiExplicitEuler(system, fixed_step_size=1e-3)
    record = {"few": few, "many": many}
    motion = mb.simulate(system, state, 14.0, integrator=integrator, report_interval=0.0731, record=record)
    past = motion.time > 10.0
    expected = np.sin(2.0 * np.pi * motion.time[past])
    assert 1e-6 < abs(motion.quantities["few"][past] - expected).max() < 2.4e-5
    assert abs(motion.quantities["many"][past] - expected).max() < 2e-7
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(11.0)
    assert 150 < len(few.memory(stepper.state).times) < 420


def test_samples_that_are_lost_end_the_run():
    class Jolt(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy=None):
            state.u = -1.1 * state.u

    system, _ = mb.examples.double_pendulum.build()
    angle = measure.Coordinate(system.matter, system.matter.bodies["lower"])
    late = measure.Delay(system.matter, angle, 0.5, max_samples=16)
    measure.Integrate(system.matter, late)
    system.add_event_handler(Jolt(0.01))
    state = system.realize_topology()
    state.u = 1e-3, 1e-3
    with pytest.raises(mb.ConvergenceError, match=r"lost samples that it needs.*max_samples be more than 16"):
        mb.simulate(system, state, 1.0)


@pytest.mark.parametrize("samples", [15, 20.5, "many"])
def test_bad_numbers_of_samples(samples):
    system, _ = mb.examples.double_pendulum.build()
    with pytest.raises((TypeError, ValueError), match="max_samples of a Delay"):
        measure.Delay(system.matter, measure.Time(system.matter), 0.1, max_samples=samples)


def test_integrals_of_an_ensemble_begin_with_measures():
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    system, _ = mb.examples.double_pendulum.build()
    matter, arm = system.matter, system.matter.bodies["lower"]
    angle = measure.Coordinate(matter, arm)
    total = measure.Integrate(matter, angle, 2.0 * angle)
    most = measure.Maximum(matter, total)
    state = system.realize_topology()
    n = 11
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q, ensemble.u = rng.uniform(-1, 1, (n, 2)), rng.uniform(-2, 2, (n, 2))
    states = [ensemble.get_state(i) for i in range(n)]
    assert ensemble.simulate(0.3, accuracy=1e-5).statistics["in_lanes"].all()
    ensemble.simulate(0.3, accuracy=1e-5)
    ensemble.realize()
    for i in range(n):
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-5))
        stepper.initialize(states[i])
        stepper.step_to(0.3)
        stepper.initialize(stepper.state.copy())
        stepper.step_to(0.6)
        found = [one.get_value(stepper.state) for one in (total, most)]
        assert [ensemble.get_measures(one)[i] for one in (total, most)] == found
    ensemble.reset([True] + [False] * (n - 1), q=[0.2, 0.7])
    kept = ensemble.get_measures(total)[1]
    ensemble.step(1e-9)
    ensemble.realize()
    assert_allclose(ensemble.get_measures(total)[:2], [1.4, kept], rtol=1e-6)


def test_what_was_there_before_a_handler_counts_in_ensembles():
    """A body that falls and is slowed down to a half every 0.1: its greatest speed, just before, is g 0.1 (1 + 1/2 + 1/4)."""

    class Halve(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy=None):
            state.u = 0.5 * state.u

    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -10.0, 0))
    down = mb.Rotation.about_axis(-np.pi / 2, "z")
    body = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0), X_PF=down)
    speed = measure.Differentiate(matter, measure.Coordinate(matter, body))
    most, late = measure.Maximum(matter, speed), measure.Delay(matter, speed, 0.06)
    system.add_event_handler(Halve(0.1))
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 3, state=state)
    assert ensemble.simulate(0.35, accuracy=1e-5).statistics["in_lanes"].all()
    ensemble.realize()
    assert_allclose(ensemble.get_measures(most), 1.75, rtol=1e-12)
    assert_allclose(ensemble.get_measures(late), 1.75 - 0.1, rtol=1e-9)  # before the jump
    ensemble = mb.Ensemble(system, 3, state=state)
    for _ in range(35):
        ensemble.step(0.01, integrator=mb.integrator.SemiExplicitEuler, fixed_step_size=0.01)
    ensemble.realize()
    assert_allclose(ensemble.get_measures(most), 1.75, rtol=1e-9)


def test_states_that_go_from_lanes_to_others_keep_their_past():
    """States whose stop closes leave their lanes, which may stay free while the rings of these states go round in others."""
    system, _, late, total = late_pendulum("rates", delay=0.11, max_samples=16)
    mb.contact.HardStopUpper(system.matter.bodies["lower"], 0, 0.1)
    state, rng, n = system.realize_topology(), np.random.default_rng(2), 9
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q, ensemble.u = rng.uniform(-0.09, 0.09, (n, 2)), rng.normal(0, 2.5, (n, 2))
    states = [ensemble.get_state(i) for i in range(n)]
    assert ensemble.simulate(1.5, fixed_step_size=0.01).statistics["in_lanes"].all()
    ensemble.realize()
    for i in range(n):
        integrator = mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01)
        alone = mb.simulate(system, states[i], 1.5, integrator=integrator, record={"late": late, "total": total}).quantities
        assert ensemble.get_measures(late)[i] == alone["late"][-1]
        assert ensemble.get_measures(total)[i] == alone["total"][-1]


def test_an_interrupted_run_leaves_no_wrong_past():
    """States on their way stay where they were: with their past or, where its place in the ring has been taken, without."""

    class Break(mb.event.ScheduledHandler):
        when = np.inf

        def get_next_event_time(self, state, include_current_time):
            later = state.time < self.when or (include_current_time and state.time == self.when)
            return self.when if later and state.u[0] > 0.5 else np.inf  # in the first state alone

        def handle_event(self, state, accuracy=None):
            raise KeyboardInterrupt

    def past_of(ensemble, i):
        there = ensemble.get_state(i)
        system.realize(there)
        return late.get_value(there)

    for when, is_lost in ((0.06, False), (0.1, True)):
        system, _ = mb.examples.double_pendulum.build()
        angle = measure.Coordinate(system.matter, system.matter.bodies["lower"])
        late = measure.Delay(system.matter, angle, 0.013, max_samples=16)
        handler = Break()
        system.add_event_handler(handler)
        ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
        ensemble.q, ensemble.u = np.full((3, 2), (0.3, 0.4)), [(1.0, 2.0), (0.1, 0.2), (0.2, 0.3)]
        handler.when = when
        ensemble.step(0.05, fixed_step_size=0.002)
        ensemble.realize()
        before, expected = ensemble.get_measures(late), ensemble.copy()
        with pytest.raises(KeyboardInterrupt):
            ensemble.simulate(0.1, fixed_step_size=0.002)
        assert [past_of(ensemble, i) for i in range(3)] == before.tolist()
        with pytest.raises(KeyboardInterrupt):
            ensemble.step(0.1, fixed_step_size=0.002)
        for i in (1, 2):
            assert ensemble.time[i] == pytest.approx(0.05)
            if is_lost:
                with pytest.raises(mb.ModelError, match="lost samples"):
                    past_of(ensemble, i)
            else:
                assert past_of(ensemble, i) == before[i]
        handler.when = np.inf
        for k in range(12):  # until it is past what was lost
            for one in (ensemble, expected):
                one.step(0.002, fixed_step_size=0.002)
            for i in (1, 2):
                if is_lost and k < 5:
                    with pytest.raises(mb.ModelError, match="lost samples"):
                        past_of(ensemble, i)
                else:
                    assert past_of(ensemble, i) == pytest.approx(past_of(expected, i), abs=1e-12)


def test_lanes_without_states_keep_samples_of_none():
    """They compute along, and would write into the row of a state that has left, or into an array that has gone."""
    system, state, *_ = late_pendulum("rates")
    ensemble = mb.Ensemble(system, 3, state=state)
    for _ in range(3):
        ensemble.step(0.01, fixed_step_size=0.002)
        (worker,) = ensemble._step_plan.lanes.workers
        assert_array_equal(worker.record.measure_history[:2], worker._nowhere.ctypes.data)


def test_states_that_were_stepped_one_by_one_go_on_in_lanes():
    """That a run of its own has begun a state's memory is nothing that the state has apart from the others."""
    system, state, *_ = late_pendulum("rates")
    ensemble = mb.Ensemble(system, 3, state=state)
    alone = mb.integrator.RungeKuttaMerson(system)
    alone.set_allow_interpolation(False)  # lanes interpolate
    with pytest.warns(RuntimeWarning, match="one by one"):
        ensemble.step(0.01, integrator=alone)
    assert ensemble.simulate(0.05, accuracy=1e-5).statistics["in_lanes"].all()


def falling_ball(watched, interpreted=False, look=False):
    """A ball that bounces, whose height, late, is watched or only there."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    ball = mb.mobilizer.Translation(matter.ground, mb.body.Particle(1.0))
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball, 1), 0.8))
    late = measure.Delay(matter, measure.Coordinate(matter, ball, 1), 0.05, name="late")
    late.set_can_use_current_value(look)
    if watched:

        class Pass(mb.event.When):
            def handle_event(self, state, accuracy):
                pass

        system.add_event_handler(Pass(late - 0.5))
    if interpreted:
        measure.Integrate(matter, measure.Constant(None, 1.0))
    state = system.realize_topology()
    state.q = (0.0, 1.0, 0.0)
    return system, state, late


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in found]


@pytest.mark.parametrize("interpreted", [False, True])
def test_a_run_tells_once_that_it_reads_a_delay_within_longer_steps(interpreted):
    def told(options=None, record=False, goes_on=False, **how):
        system, state, late = falling_ball(interpreted=interpreted, **how)
        integrator = mb.integrator.RungeKuttaMerson(system, **(options or {}))
        record = {"late": late} if record else None
        if goes_on:
            stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
            stepper.initialize(state)
            stepper.step_to(0.4)
            state = stepper.state.copy()
        return warned(lambda: mb.simulate(system, state, 1.5, report_interval=0.02, integrator=integrator, record=record))

    for found in told(watched=True), told(watched=False, record=True):
        assert len(found) == 1 and "<Delay 'late'> is 0.05 late, but steps have been up to 0." in found[0]
        assert "max_step_size" in found[0] and "set_can_use_current_value" in found[0]
    assert not told(watched=False) and not told(watched=True, look=True)
    assert not told({"max_step_size": 0.04}, watched=True, record=True)
    assert not told({"max_step_size": 0.04}, watched=False, record=True, goes_on=True)  # from where a long step has ended


def test_a_run_of_lanes_tells_it_too():
    system, state, _ = falling_ball(watched=True)
    for call in (
        lambda ensemble: ensemble.simulate(1.5, report_interval=0.5),
        lambda ensemble: [ensemble.step(0.3) for _ in range(5)],
    ):
        ensemble = mb.Ensemble(system, 11, state=state)
        found = warned(lambda: call(ensemble))  # noqa: B023
        assert len(found) == 1 and "of the ensemble: <Delay 'late'> is 0.05 late" in found[0]
    system, state, _ = falling_ball(watched=False)
    assert not warned(lambda: mb.Ensemble(system, 11, state=state).simulate(1.5))
    # of what kernels read alone
    system, state, *_ = late_pendulum("rates", delay=0.003)
    ensemble = mb.Ensemble(system, 3, state=state)
    assert len(warned(lambda: ensemble.simulate(0.5))) == 1
    assert len(warned(lambda: ensemble.simulate(0.5))) == 1  # the next run
    short = mb.integrator.RungeKuttaMerson(system, max_step_size=0.002)
    assert not warned(lambda: ensemble.simulate(0.1, integrator=short))
