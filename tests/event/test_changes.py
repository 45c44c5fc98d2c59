"""Changes that handlers may make and reporters may not, states after one of them fails, and runs that repeat."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, StepStatus
from mobod.event import PeriodicHandler, PeriodicReporter, TriggeredHandler
from mobod.integrator import RungeKuttaMerson


def stepper_of(system, state, accuracy=1e-8, **settings):
    stepper = mb.TimeStepper(system, RungeKuttaMerson(system, accuracy=accuracy, **settings))
    stepper.initialize(state)
    return stepper


@pytest.mark.parametrize(
    "change",
    [
        lambda state, ball: setattr(state, "u", state.u + 1.0),
        lambda state, ball: setattr(state, "time", 0.0),
        lambda state, ball: state.upd_q().__iadd__(1.0),
        lambda state, ball: ball.lock(state),
        lambda state, ball: ball.set_body_mass_properties(state, mb.MassProperties(9.0, (0, 0, 0), mb.UnitInertia.sphere(1.0))),
    ],
    ids=["u", "time", "q", "lock", "mass"],
)
def test_a_reporter_that_changes_the_state_is_refused_and_its_change_undone(ball, recorder, change):
    model, plain = ball(), ball()

    def act(state):
        if state.time == 0.2:
            change(state, model.ball)

    model.system.add_event_reporter(recorder.reporter(PeriodicReporter, "meddler", 0.1, act=act))
    stepper, other = model.stepper(), plain.stepper()
    other.step_to(0.2)
    with pytest.raises(mb.ModelError, match=r"'meddler'> reports, and has changed the state at time 0.2"):
        stepper.step_to(1.0)
    assert stepper.time == 0.2 and not model.ball.is_locked(stepper.state)
    assert_array_equal(stepper.state.y, other.state.y)
    assert model.ball.get_body_mass_properties(stepper.state).mass == 2.0
    assert stepper.state.stage == Stage.ACCELERATION


def test_a_reporter_may_realize_further(ball, recorder):
    model = ball()
    model.system.add_event_reporter(
        recorder.reporter(PeriodicReporter, "look", 0.1, act=lambda state: model.system.realize(state, Stage.REPORT))
    )
    model.stepper().step_to(0.55)
    assert len(recorder.times()) == 6


@pytest.mark.parametrize("interpreted", [False, True])
def test_a_handler_that_raises_leaves_the_state_before_the_event(ball, recorder, interpreted):
    model, plain = ball(interpreted=interpreted), ball(interpreted=interpreted)
    trouble = [True]

    def act(state):
        state.u = state.u + 100.0
        model.ball.lock(state)
        if trouble[0]:
            raise ArithmeticError("no")
        model.ball.unlock(state)

    model.system.add_event_handler(
        recorder.handler(TriggeredHandler, "first", Stage.POSITION, value=lambda state: state.q[0] - 0.5, act=act)
    )
    stepper, other = model.stepper(), plain.stepper()
    with pytest.raises(ArithmeticError, match="no"):
        stepper.step_to(1.0)
    assert_allclose(stepper.time, math.sqrt(1.0 / model.g), atol=1e-9)
    assert not model.ball.is_locked(stepper.state) and stepper.state.stage == Stage.ACCELERATION
    other.step_to(stepper.time)
    assert_array_equal(stepper.state.y, other.state.y)
    at = stepper.time
    trouble[0] = False  # once the trouble is over it goes on where it was
    stepper.step_to(1.0)
    assert recorder.times() == [at, at] and stepper.state.u[0] > 0.0 - model.g and stepper.time == 1.0


@pytest.mark.parametrize("answer", [1, "stop", 0.0])
def test_a_handler_returns_whether_to_end_and_nothing_else(ball, recorder, answer):
    model = ball()
    model.system.add_event_handler(recorder.handler(PeriodicHandler, "odd", 0.25, act=lambda state: answer))
    stepper = model.stepper()
    with pytest.raises(TypeError, match=r"'odd'> returned .*; a handler returns True"):
        stepper.step_to(1.0)
    assert stepper.time == 0.0


def test_a_handler_leaves_time_alone_and_finite_values(ball, recorder):
    model = ball()
    model.system.add_event_handler(recorder.handler(PeriodicHandler, "late", 0.25, act=lambda s: setattr(s, "time", 3.0)))
    with pytest.raises(mb.ModelError, match=r"'late'> has changed the state's time from 0 to 3"):
        model.stepper().step_to(1.0)
    model = ball()
    model.system.add_event_handler(recorder.handler(PeriodicHandler, "nan", 0.25, act=lambda s: setattr(s, "u", [np.nan])))
    stepper = model.stepper()
    with pytest.raises(mb.ModelError, match=r"u\[0\].* is nan"):
        stepper.step_to(1.0)
    assert_array_equal(stepper.state.u, [0.0])


def test_a_witness_that_is_not_finite_is_named(ball, recorder):
    model = ball()
    model.system.add_event_handler(
        recorder.handler(TriggeredHandler, "root", Stage.POSITION, value=lambda s: math.nan if s.q[0] < 0.5 else 1.0)
    )
    stepper = model.stepper()
    with pytest.raises(mb.ModelError, match="the witness of 'root' is nan at time"):
        stepper.step_to(1.0)
    assert np.isfinite(stepper.state.y).all() and stepper.state.stage == Stage.ACCELERATION


@pytest.mark.parametrize("interpreted", [False, True])
def test_locks_change_on_the_way(ball, interpreted):
    """Held at half its height until time 1, then falling again."""
    model = ball(interpreted=interpreted)
    system = model.system
    system.add_event_handler(mb.event.LockWhen(model.ball, mb.event.Coordinate(model.ball, value=0.5), window=1e-3))
    system.add_event_handler(
        mb.event.LockWhen(model.ball, mb.event.FunctionWitness(lambda s: s.time - 1.0, Stage.TIME), mb.Motion.Level.NO_LEVEL)
    )
    stepper = model.stepper()
    stepper.step_to(0.9)
    assert model.ball.is_locked(stepper.state) and stepper.state.u[0] == 0.0 and stepper.state.u_dot[0] == 0.0
    assert_allclose(stepper.state.q, 0.5, atol=1e-9)
    stepper.step_to(1.2)
    assert not model.ball.is_locked(stepper.state)
    assert_allclose(stepper.state.q, 0.5 - 0.5 * model.g * 0.2**2, atol=1e-8)


def test_a_lock_at_velocity_and_forces_switched_off(ball):
    model = ball()
    gravity = model.system.all_forces()[0]

    class Off(PeriodicHandler):
        def handle_event(self, state, accuracy):
            if state.time > 0:
                gravity.disable(state)

    model.system.add_event_handler(Off(0.25))
    model.stepper().step_to(0.25)
    stepper = model.stepper()
    stepper.step_to(1.0)
    assert gravity.is_disabled(stepper.state) and not gravity.is_disabled(model.state)
    assert_allclose(stepper.state.u, -0.25 * model.g, atol=1e-12)
    assert_allclose(stepper.state.q, 1.0 - 0.5 * model.g * 0.25**2 - 0.75 * 0.25 * model.g, atol=1e-10)


def test_quaternions_are_normalized_and_modelling_may_change():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1.0, 2.0, 2.5)))
    ball = mb.mobilizer.Ball(matter.ground, body)

    class Stretch(PeriodicHandler):
        def handle_event(self, state, accuracy):
            if state.time == 1.0:
                matter.set_use_euler_angles(state, True)
                system.realize_model(state)
                ball.set_one_q(state, 0, 0.3)
            else:
                state.q = 1.5 * state.q

    system.add_event_handler(Stretch(0.25))
    state = system.realize_topology()
    state.u = [0.3, 2.0, 0.1]
    stepper = stepper_of(system, state)
    stepper.step_to(0.9)
    assert_allclose(np.linalg.norm(stepper.state.q), 1.0, atol=1e-14)
    stepper.step_to(1.1)
    assert stepper.state.q.shape == (3,)
    with pytest.raises(mb.ModelError, match="changed the number of coordinates"):
        mb.simulate(system, state, 2.0)


def test_a_pendulum_stops_at_a_wall():
    """Elastic: it swings on one side only, with half the period, as the elliptic integral gives it."""
    from scipy.special import ellipk

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -1.0, 0))
    bob = mb.body.Rigid(mb.MassProperties(1.0, (0, -1, 0), mb.Inertia(1.0, 0.0, 1.0)))
    pin = mb.mobilizer.Pin(matter.ground, bob)
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(pin), 1.0))
    state = system.realize_topology()
    state.q = [1.0]
    stepper = stepper_of(system, state, 1e-10)
    period = 2.0 * ellipk(math.sin(0.5) ** 2)
    for k in range(1, 6):
        stepper.step_to(k * period)
        assert_allclose(stepper.state.q[0], 1.0, atol=1e-7)


def test_stop_when_and_what_simulate_makes_of_it(ball):
    model = ball()
    stop = mb.event.StopWhen(mb.event.PlaneDistance(model.ball, height=0.25), name="quarter")
    model.system.add_event_handler(stop)
    record = mb.event.RecordEvery(0.1, lambda state: state.q)
    model.system.add_event_reporter(record)
    trajectory = mb.simulate(model.system, model.state, 2.0, report_interval=0.05, accuracy=1e-8)
    end = math.sqrt(1.5 / model.g)
    assert_allclose(trajectory.time, [*np.arange(0.0, end, 0.05), end], atol=1e-9)
    assert_allclose(trajectory.q[:, 0], 1.0 - 0.5 * model.g * trajectory.time**2, atol=1e-9)
    assert trajectory.statistics["termination"] == "quarter ended the simulation"
    assert repr(trajectory).endswith(" 1 speed; quarter ended the simulation>")
    assert trajectory.energy.shape == trajectory.time.shape and trajectory.energy_drift < 1e-9
    assert_array_equal(record.get_times(), 0.1 * np.arange(4))
    assert record.get_values().shape == (4, 1)
    mb.simulate(model.system, model.state, 0.15)
    assert len(record.get_times()) == 2  # a run from the beginning replaces what was recorded
    record.clear()
    assert record.get_times().shape == (0,)
    with pytest.raises(TypeError, match="function of the state"):
        mb.event.RecordEvery(0.1, 3)


def test_record_every_refuses_rows_of_other_shapes(ball):
    model = ball()
    model.system.add_event_reporter(mb.event.RecordEvery(0.1, lambda state: np.zeros(1 if state.time < 0.15 else 2)))
    with pytest.raises(ValueError, match=r"rows of shape \(1,\); at time 0.2 \(2,\) came"):
        model.stepper().step_to(1.0)


def test_compiled_and_interpreted_runs_have_the_same_events(ball):
    times = []
    for interpreted in (False, True):
        model = ball(interpreted=interpreted)
        record = mb.event.RecordEvery(0.05, lambda state: state.y)

        class Noted(mb.event.ImpactWhen):
            seen = ()

            def handle_event(self, state, accuracy):
                self.seen = (*self.seen, state.time)
                return super().handle_event(state, accuracy)

        noted = Noted(mb.event.PlaneDistance(model.ball, (0, 0.1, 0)), 0.8)
        model.system.add_event_handler(noted)
        model.system.add_event_reporter(record)
        model.stepper().step_to(2.5)
        times.append((noted.seen, record.get_values()))
    assert len(times[0][0]) == 4
    assert_allclose(times[0][0], times[1][0], rtol=1e-13)
    assert_allclose(times[0][1], times[1][1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("interpreted", [False, True])
def test_a_run_repeats_its_own_bits_and_a_restart_its_events(ball, interpreted):
    runs = []
    for _ in range(2):
        model = ball(interpreted=interpreted)
        model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), 0.8))
        stepper = model.stepper(1e-9)
        stepper.step_to(1.5)
        saved = pickle.dumps(stepper.state.copy()) if interpreted is False else None
        middle = stepper.state.copy()
        stepper.step_to(2.4)
        runs.append(stepper.state.y.copy())
    assert_array_equal(*runs)
    again = stepper_of(model.system, middle, 1e-9)
    again.step_to(2.4)
    assert_allclose(again.state.y, runs[0], rtol=0, atol=1e-8)
    if saved is not None:
        state = pickle.loads(saved)
        other = stepper_of(state.system, state, 1e-9)
        other.step_to(2.4)
        assert_array_equal(other.state.y, again.state.y)


def test_ctrl_c_leaves_a_state_from_which_it_goes_on(ball, recorder):
    interrupted = [0]

    def value(state):
        interrupted[0] += 1
        if interrupted[0] == 30:
            raise KeyboardInterrupt
        return state.q[0] + 10.0

    model = ball()
    model.system.add_event_handler(recorder.handler(TriggeredHandler, "far", Stage.POSITION, value=value))
    stepper = model.stepper(max_step_size=0.05)
    with pytest.raises(KeyboardInterrupt):
        stepper.step_to(2.0)
    assert 0.0 < stepper.time < 2.0 and stepper.state.stage == Stage.ACCELERATION
    assert_allclose(stepper.state.q[0], 1.0 - 0.5 * model.g * stepper.time**2, atol=1e-8)
    assert stepper.step_to(2.0) is StepStatus.REACHED_REPORT_TIME
    assert_allclose(recorder.times(), [math.sqrt(22.0 / model.g)], atol=1e-8)


@pytest.mark.parametrize("which", ["coordinate", "speed", "plane", "gap"])
def test_the_kernel_sees_what_the_witnesses_say(make, which):
    """The same events, and rates that are derivatives, whether the kernel or Python looks."""
    model = make.tree(5)
    model.randomize()
    system, bodies = model.system, model.system.matter.bodies
    body = next(b for b in reversed(bodies) if b.facts.num_u > 0)
    state = model.state
    system.realize(state)
    station, normal = (0.1, 0.2, 0.3), np.array([1.0, 2.0, 2.0])
    height = normal @ body.find_station_location_in_ground(state, station) / 3.0
    witness = {
        "coordinate": lambda: mb.event.Coordinate(body, 0, body.get_one_q(state, 0) + 0.02),
        "speed": lambda: mb.event.Speed(body, 0, body.get_one_u(state, 0) + 0.02),
        "plane": lambda: mb.event.PlaneDistance(body, station, normal, height + 0.01),
        "gap": lambda: mb.event.Gap(bodies[1], body, 1.0, (0, 0.2, 0), (3.0, 0.1, 0)),
    }[which]()
    h = 1e-6
    stepper = stepper_of(system, state, 1e-10)
    rate, value = witness.calc_rate(stepper.state), witness.calc_value(stepper.state)
    stepper.step_to(h)
    assert_allclose((witness.calc_value(stepper.state) - value) / h, rate, atol=1e-3 * (1 + abs(rate)))
    times = []
    for one in (witness, mb.event.FunctionWitness(witness.calc_value)):
        stop = mb.event.StopWhen(one)
        system.add_event_handler(stop)
        stepper = stepper_of(system, state, 1e-7, max_step_size=0.02)
        stepper.step_to(0.5)
        times.append(stepper.time)
        system.remove_event_handler(stop)
    assert_allclose(times[0], times[1], rtol=0, atol=2e-9)


@pytest.mark.parametrize("what", ["weights", "lock", "nothing"])
def test_errors_after_an_event_are_weighted_as_in_a_run_that_begins_there(what):
    system, state = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]

    class Change(mb.event.When):
        def handle_event(self, state, accuracy):
            if what == "weights":
                state.u_weights = 1.0, 1e4
            elif what == "lock":
                lower.lock(state, "velocity")
            else:
                state.u = 0.9 * state.u

    system.add_event_handler(Change(mb.event.Coordinate(lower, 0, 0.0)))
    stepper = stepper_of(system, state, 1e-6)
    while not len(stepper.events):
        stepper.step(0.01)
    weights = stepper.integrator.work[-4]
    assert_array_equal(weights, stepper_of(system, stepper.state, 1e-6).integrator.work[-4])
    assert_array_equal(weights, {"weights": [1, 1e4, 1, 1e4], "lock": [1, 1, 1, 0], "nothing": [1, 1, 1, 1]}[what])


@pytest.mark.parametrize("in_python", [False, True])
def test_a_handler_may_watch_something_else_from_an_event_on(in_python):
    """Gate after gate that a pendulum passes, each set where the one before was passed; a witness in Python, or of kernels."""
    system, state = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]

    def gate(angle):
        return (lambda state: state.q[1] - angle) if in_python else mb.event.Coordinate(lower, 0, angle)

    class Gates(mb.event.When):
        passed = []

        def handle_event(self, state, accuracy):
            self.passed.append(float(state.q[1]))
            self.witness = gate(0.2 - 0.3 * len(self.passed))
            state.u = 0.99 * state.u

    system.add_event_handler(Gates(gate(0.2)))
    stepper_of(system, state, 1e-6).step_to(0.95)
    assert_allclose(Gates.passed, [0.2, -0.1, -0.4, -0.7, -1.0], atol=1e-4)


def test_a_witness_may_be_exchanged_for_one_of_a_later_stage(ball):
    """A coordinate that the state has at once, then what needs forces, of a ball that falls on a spring."""
    model, found = ball(), []
    mb.force.MobilityLinearSpring(mb.GeneralForceSubsystem(model.system), model.ball, 0, 40.0, 0.0)

    class Note(mb.event.When):
        def handle_event(self, state, accuracy):
            found.append((state.q[0], state.u_dot[0]))
            self.witness = lambda state: state.u_dot[0] - 5.0

    note = Note(mb.event.Coordinate(model.ball, 0, 0.5))
    model.system.add_event_handler(note)
    model.state = model.system.realize_topology()
    model.state.q = [1.0]
    model.stepper().step_to(0.9)
    assert note.get_required_stage() is Stage.ACCELERATION
    assert abs(found[0][0] - 0.5) < 1e-3 and abs(found[1][1] - 5.0) < 1e-2


def test_what_a_witness_is_of_stays():
    """Its numbers are packed once for kernels, and not anew after events: a station changed in place was not seen by them."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    height, angle = mb.event.PlaneDistance(lower, (0.1, 0.0, 0.0)), mb.event.Coordinate(lower)
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(height)).station[0] = 0.4
    with pytest.raises(AttributeError, match="station"):
        height.station = 0.4, 0.0, 0.0
    with pytest.raises(AttributeError, match="mobod"):
        angle.mobod = system.matter.bodies[1]
    assert_array_equal(height.station, [0.1, 0.0, 0.0])
    assert angle.mobod is lower


@pytest.mark.parametrize("kind", [mb.event.ScheduledHandler, mb.event.PeriodicHandler])
@pytest.mark.parametrize("by_steps", [False, True])
@pytest.mark.parametrize("what", ["off", "on", "witness"])
def test_a_handler_that_sets_what_another_watches_and_leaves_the_state_is_heeded_at_once(kind, by_steps, what):
    def times(at, what, place=0.3):
        system, start = mb.examples.double_pendulum.build()
        lower, found = system.matter.bodies["lower"], []

        class Note(mb.event.When):
            def handle_event(self, state, accuracy):
                found.append(state.time)

        note = Note(mb.event.Coordinate(lower, 0, place), rising=what != "on", falling=what != "on")

        class Set(kind):
            def get_next_event_time(self, state, include_current_time):
                if kind is mb.event.PeriodicHandler:
                    return super().get_next_event_time(state, include_current_time)
                return at if state.time < at or (state.time == at and include_current_time) else np.inf

            def handle_event(self, state, accuracy):
                if 0.0 < state.time <= 1.5 * at:
                    if what == "witness":
                        note.witness = mb.event.Coordinate(lower, 0, -0.2)
                        return
                    note.info.set_trigger_on_rising_sign_transition(what == "on")
                    note.info.set_trigger_on_falling_sign_transition(what == "on")

        system.add_event_handler(note)
        system.add_event_handler(Set(at) if kind is mb.event.PeriodicHandler else Set())
        state = system.realize_topology()
        state.q = start.q
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(state)
        while by_steps and stepper.time < 3.99:
            stepper.step(0.05)
        stepper.step_to(4.0)
        return np.array(found)

    both = times(1e3, "off"), times(1e3, "off", -0.2)  # of the two witnesses all the time
    found = times(1.0, what)
    before = [] if what == "on" else both[0][both[0] < 1.0]
    after = [] if what == "off" else both[what == "witness"][both[what == "witness"] > 1.0]
    assert len(before) + len(after) > 0
    assert_allclose(found, [*before, *after], rtol=0, atol=1e-5)
