"""The order of events: scheduled, periodic and triggered events, handlers and reporters, and the returns."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, StepStatus
from mobod.event import (
    PeriodicHandler,
    PeriodicReporter,
    ScheduledHandler,
    ScheduledReporter,
    TriggeredHandler,
    TriggeredReporter,
)


class At(ScheduledHandler):
    """A handler of given times, that notes them, and the speed it found."""

    def __init__(self, times, act=None, name=None):
        super().__init__(name=name)
        self.times, self.act, self.seen = list(times), act, []

    def get_next_event_time(self, state, include_current_time):
        return next((t for t in self.times if t > state.time or (t == state.time and include_current_time)), math.inf)

    def handle_event(self, state, accuracy):
        self.seen.append((state.time, state.u[0]))
        assert state.stage >= Stage.ACCELERATION
        return None if self.act is None else self.act(state)


def kick(state):
    state.u = state.u + 1.0


def test_scheduled_events_come_exactly_at_their_times_and_change_what_comes_after(ball):
    model = ball()
    handler = At([0.0, 0.25, 0.5], kick)
    model.system.add_event_handler(handler)
    stepper = model.stepper()
    assert stepper.step_to(0.25) is StepStatus.REACHED_REPORT_TIME
    assert stepper.state.u[0] == pytest.approx(1.0 - 0.25 * model.g)  # the event at 0.25 is still to come
    assert stepper.step_to(0.25) is StepStatus.REACHED_REPORT_TIME and len(handler.seen) == 1
    stepper.step_to(1.0)
    assert [time for time, _ in handler.seen] == [0.0, 0.25, 0.5]
    assert_allclose([u for _, u in handler.seen], [0.0, 1.0 - 0.25 * model.g, 2.0 - 0.5 * model.g], atol=1e-9)
    assert_allclose(stepper.state.u[0], 3.0 - model.g, atol=1e-9)


def test_periodic_events_come_at_the_multiples_of_their_interval(ball, recorder):
    model = ball()
    model.state.time = 0.25
    model.system.add_event_handler(recorder.handler(PeriodicHandler, "handler", 0.1))
    model.system.add_event_reporter(recorder.reporter(PeriodicReporter, "reporter", 0.05))
    model.stepper().step_to(0.62)
    assert_array_equal(recorder.times("handler"), 0.1 * np.arange(3, 7))
    assert_array_equal(recorder.times("reporter"), 0.05 * np.arange(5, 13))


def test_reports_leave_the_steps_alone(ball, recorder):
    plain, watched = ball(), ball()
    watched.system.add_event_reporter(recorder.reporter(PeriodicReporter, "tick", 0.013))
    watched.system.add_event_reporter(
        recorder.reporter(TriggeredReporter, "halfway", Stage.POSITION, value=lambda state: state.q[0] - 0.5)
    )
    one, two = plain.stepper(), watched.stepper()
    one.step_to(1.0), two.step_to(1.0)
    assert_array_equal(one.state.y, two.state.y)
    assert one.integrator.get_num_steps_taken() == two.integrator.get_num_steps_taken()
    assert len(recorder.times("tick")) == 77 and len(recorder.times("halfway")) == 1
    assert_allclose(recorder.times("halfway"), math.sqrt(1.0 / plain.g), atol=1e-10)


def test_a_handler_that_changes_nothing_leaves_the_steps_alone(ball, recorder):
    plain, watched = ball(), ball()
    for value in (0.9, 0.5, -1.0):
        watched.system.add_event_handler(
            recorder.handler(TriggeredHandler, "pass", Stage.POSITION, value=lambda state, v=value: state.q[0] - v)
        )
    one, two = plain.stepper(), watched.stepper()
    one.step_to(1.0), two.step_to(1.0)
    assert_array_equal(one.state.y, two.state.y)
    assert_allclose(recorder.times(), np.sqrt(2.0 * (1.0 - np.array([0.9, 0.5, -1.0])) / plain.g), atol=1e-10)


def test_at_one_time_reports_come_first_then_triggered_then_scheduled_handlers(ball, recorder):
    model = ball()
    model.system.add_event_handler(At([0.5], lambda state: recorder.events.append((state.time, "scheduled"))))
    model.system.add_event_handler(recorder.handler(PeriodicHandler, "periodic", 0.5))
    model.system.add_event_handler(
        recorder.handler(TriggeredHandler, "triggered", Stage.TIME, value=lambda state: state.time - 0.5)
    )
    model.system.add_event_reporter(recorder.reporter(PeriodicReporter, "report", 0.5))
    model.system.add_event_reporter(
        recorder.reporter(TriggeredReporter, "look", Stage.TIME, value=lambda state: state.time - 0.5)
    )
    model.stepper().step_to(0.75)
    first, then = recorder.events[:2], recorder.events[2:]
    assert [name for _, name in first] == ["report", "periodic"] and {time for time, _ in first} == {0.0}
    assert [name for _, name in then] == ["report", "look", "triggered", "scheduled", "periodic"]
    assert {time for time, _ in then} == {0.5}


def test_two_witnesses_that_cross_at_once_are_both_handled_in_order(ball, recorder):
    model = ball(balls=2)
    for i in (1, 0):
        model.system.add_event_handler(
            recorder.handler(
                TriggeredHandler,
                str(i),
                Stage.POSITION,
                rising=False,
                value=lambda state, i=i: state.q[i],
                act=lambda state, i=i: model.balls[i].set_one_u(state, 0, -state.u[i]),
            )
        )
    stepper = model.stepper()
    stepper.step_to(1.0)
    assert [name for _, name in recorder.events] == ["1", "0"] and len(set(recorder.times())) == 1
    assert stepper.state.q[0] == stepper.state.q[1] > 0.5


@pytest.mark.parametrize("rising, falling", [(True, False), (False, True), (True, True), (False, False)])
def test_rising_and_falling_crossings_are_told_apart(ball, recorder, rising, falling):
    model = ball(0.0)
    model.state.u = [model.g]  # up and down in two units of time, past 1 at both of these
    model.system.add_event_handler(
        recorder.handler(
            TriggeredHandler, "one", Stage.POSITION, rising=rising, falling=falling, value=lambda state: state.q[0] - 1.0
        )
    )
    model.stepper().step_to(2.0)
    root = math.sqrt(1.0 - 2.0 / model.g)
    assert_allclose(recorder.times(), [t for t, wanted in ((1 - root, rising), (1 + root, falling)) if wanted], atol=1e-9)


def test_a_witness_that_starts_at_zero_has_not_crossed(ball, recorder):
    for u in (1.0, -1.0, 0.0):
        model = ball(0.0)
        model.state.u = [u]
        model.system.add_event_handler(
            recorder.handler(TriggeredHandler, str(u), Stage.POSITION, value=lambda state: state.q[0])
        )
        model.stepper().step_to(1.0)
    assert [name for _, name in recorder.events] == ["1.0"]  # it comes back down
    assert_allclose(recorder.times(), [2.0 / ball.g], atol=1e-9)


def test_a_witness_that_stays_at_zero_never_crosses(ball, recorder):
    model = ball()
    model.system.add_event_handler(recorder.handler(TriggeredHandler, "never", value=lambda state: 0.0))
    model.stepper().step_to(1.0)
    assert recorder.events == []


@pytest.mark.parametrize("stage", [Stage.TIME, Stage.POSITION, Stage.VELOCITY, Stage.DYNAMICS, Stage.ACCELERATION])
def test_a_witness_has_what_its_stage_promises(ball, stage):
    model, stages = ball(), set()

    class Look(TriggeredReporter):
        def get_value(self, state):
            stages.add(state.stage)
            return state.time - 0.3

        def handle_event(self, state):
            pass

    model.system.add_event_reporter(Look(stage))
    model.stepper(1e-4).step_to(1.0)
    assert min(stages) == stage


def test_all_significant_states_are_returned(ball, recorder):
    model = ball()
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), 0.5))
    model.system.add_event_handler(At([0.2], kick))
    model.system.add_event_reporter(recorder.reporter(PeriodicReporter, "tick", 0.15))
    stepper = model.stepper(final_time=0.55)
    stepper.set_report_all_significant_states(True)
    assert stepper.get_report_all_significant_states()
    seen = []
    while not seen or seen[-1][0] is not StepStatus.END_OF_SIMULATION:
        status = stepper.step_to(0.5 if stepper.time < 0.5 else 2.0)
        seen.append((status, stepper.time, stepper.state.u[0]))
    names = [status.name for status, _, _ in seen]
    assert names == [
        "START_OF_CONTINUOUS_INTERVAL",
        *["REACHED_REPORT_TIME"] * 2,  # 0 and 0.15
        "REACHED_SCHEDULED_EVENT",
        "START_OF_CONTINUOUS_INTERVAL",
        *["REACHED_REPORT_TIME"] * 3,  # 0.3, 0.45 and 0.5, asked for
        "REACHED_EVENT_TRIGGER",
        "START_OF_CONTINUOUS_INTERVAL",
        "END_OF_SIMULATION",
    ]
    bounce = (1.0 + math.sqrt(1.0 + 2.0 * model.g * 0.8)) / model.g  # h = 1 - g t^2 / 2 + (t - 0.2)
    assert_allclose([time for _, time, _ in seen], [0, 0, 0.15, 0.2, 0.2, 0.3, 0.45, 0.5, bounce, bounce, 0.55], atol=1e-9)
    assert seen[4][2] == pytest.approx(seen[3][2] + 1.0) and seen[9][2] == pytest.approx(-0.5 * seen[8][2])


def test_an_announced_event_is_handled_though_its_state_was_changed(ball):
    model = ball()
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), 0.5))
    stepper = model.stepper()
    stepper.set_report_all_significant_states(True)
    while stepper.step_to(2.0) is not StepStatus.REACHED_EVENT_TRIGGER:
        pass
    stepper.state.u = [-3.0]
    assert stepper.step_to(2.0) is StepStatus.START_OF_CONTINUOUS_INTERVAL
    assert stepper.state.u[0] == pytest.approx(1.5)


def test_the_step_limit_is_a_return_where_all_significant_states_are(ball):
    model = ball()
    stepper = model.stepper(fixed_step_size=0.01, internal_step_limit=3)
    stepper.set_report_all_significant_states(True)
    stepper.step_to(1.0)
    assert stepper.step_to(1.0) is StepStatus.REACHED_STEP_LIMIT and stepper.time == pytest.approx(0.03)
    assert stepper.step_to(1.0) is StepStatus.REACHED_STEP_LIMIT and stepper.time == pytest.approx(0.06)
    stepper.set_report_all_significant_states(False)
    with pytest.raises(mb.ConvergenceError, match=r"3 steps ended at time 0\.09, before 1"):
        stepper.step_to(1.0)


def test_a_handler_may_end_the_simulation_and_the_end_stays(ball):
    model = ball()
    last = At([0.3], lambda state: True, name="last")
    model.system.add_event_handler(At([0.3], kick))
    model.system.add_event_handler(last)
    model.system.add_event_handler(At([0.3], kick))
    stepper = model.stepper()
    assert stepper.termination is None
    assert stepper.step_to(1.0) is StepStatus.END_OF_SIMULATION
    assert stepper.time == 0.3 and stepper.state.u[0] == pytest.approx(2.0 - 0.3 * model.g)  # all of that time have their turn
    y, ended = stepper.state.y.copy(), stepper.termination
    assert ended.handler is last and ended.time == 0.3 and ended.message == "last ended the simulation"
    assert ended.reason is mb.event.TerminationReason.EVENT_HANDLER_REQUESTED_TERMINATION
    for time in (0.3, 1.0, 5.0):
        assert stepper.step_to(time) is StepStatus.END_OF_SIMULATION
    assert_array_equal(stepper.state.y, y)
    assert len(last.seen) == 1
    with pytest.raises(ValueError, match="initialize anew"):
        stepper.step_to(0.1)
    stepper.initialize(model.state)
    assert stepper.termination is None and stepper.step_to(0.1) is StepStatus.REACHED_REPORT_TIME


def test_the_final_time_is_an_end_and_its_events_happen(ball, recorder):
    model = ball()
    model.system.add_event_handler(At([0.5], kick))
    model.system.add_event_reporter(recorder.reporter(PeriodicReporter, "tick", 0.25))
    stepper = model.stepper(final_time=0.5)
    assert stepper.step_to(2.0) is StepStatus.END_OF_SIMULATION and stepper.time == 0.5
    assert stepper.termination.reason is mb.event.TerminationReason.REACHED_FINAL_TIME
    assert stepper.state.u[0] == pytest.approx(1.0 - 0.5 * model.g) and recorder.times() == [0, 0.25, 0.5]
    assert stepper.step_to(2.0) is StepStatus.END_OF_SIMULATION and stepper.time == 0.5


def test_a_time_that_is_past_is_refused_by_name(ball):
    class Late(ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.25

        def handle_event(self, state, accuracy):
            pass

    model = ball()
    model.system.add_event_handler(Late(name="late"))
    stepper = model.stepper()
    with pytest.raises(ValueError, match=r"get_next_event_time of <Late 'late'> gave 0.25, not after the state's time 0.25"):
        stepper.step_to(1.0)
    assert stepper.time == 0.25


def test_a_time_that_is_none_is_refused_with_what_stands_for_never(ball):
    class Never(ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return None

        def handle_event(self, state, accuracy):
            pass

    model = ball()
    model.system.add_event_handler(Never(name="never"))
    with pytest.raises(TypeError, match=r"get_next_event_time of <Never 'never'> gave None; give a time, or math.inf"):
        model.stepper().step_to(1.0)


def test_scheduled_reporters_see_the_state_before_it_is_changed(ball):
    class Look(ScheduledReporter):
        seen = ()

        def get_next_event_time(self, state, include_current_time):
            return 0.25 if state.time < 0.25 or (state.time == 0.25 and include_current_time) else math.inf

        def handle_event(self, state):
            self.seen = (*self.seen, state.u[0])

    model, look = ball(), Look()
    model.system.add_event_handler(At([0.25], kick))
    model.system.add_event_reporter(look)
    model.stepper().step_to(1.0)
    assert_allclose(look.seen, [-0.25 * model.g], atol=1e-9)


@pytest.mark.parametrize("name", ["EventHandler", "EventReporter"])
@pytest.mark.parametrize("form", ["Periodic", "Triggered"])
def test_a_form_is_named_before_what_happens(name, form):
    form, base = getattr(mb.event, form), getattr(mb, name)
    with pytest.raises(TypeError, match=rf"class K\({form.__name__}, {name}\), or derive from {form.__name__}"):
        type("K", (base, form), {"handle_event": print, "get_value": print, "get_next_event_time": print})(0.5)
    made = type("K", (form, base), {"handle_event": print, "get_value": print})(*([0.5] if form is mb.event.Periodic else []))
    assert made.name == "K"


@pytest.mark.parametrize("name", ["Handler", "Reporter"])
def test_only_forms_of_events_can_be_added_and_each_once(ball, name):
    model = ball()
    add = getattr(model.system, f"add_event_{name.lower()}")
    get, remove = (getattr(model.system, f"{verb}_event_{name.lower()}{s}") for verb, s in (("get", "s"), ("remove", "")))
    with pytest.raises(TypeError, match=f"derived from mobod.event.Scheduled{name}"):
        add(print)
    bare = type("Bare", (getattr(mb, f"Event{name}"),), {"handle_event": lambda *args: None})
    with pytest.raises(TypeError, match="Bare"):
        add(bare())
    forgetful = type(
        "Forgetful", (getattr(mb.event, f"Periodic{name}"),), {"handle_event": print, "__init__": lambda self: None}
    )
    with pytest.raises(TypeError, match=r"Forgetful.__init__ has to call super\(\).__init__"):
        add(forgetful())
    with pytest.raises(TypeError, match="abstract"):
        getattr(mb.event, f"Triggered{name}")()
    with pytest.raises(ValueError, match="event_interval has to be positive"):
        type("Never", (getattr(mb.event, f"Periodic{name}"),), {"handle_event": print})(0.0)
    one = type("Fine", (getattr(mb.event, f"Periodic{name}"),), {"handle_event": print})(1.0)
    add(one)
    assert get() == [one]
    with pytest.raises(ValueError, match="already"):
        add(one)
    remove(one)
    assert get() == []
    with pytest.raises(ValueError, match="is no event"):
        remove(one)


class Schedules(TriggeredHandler):
    """A handler that lets another be due half a second later."""

    def __init__(self, other):
        super().__init__(Stage.POSITION, rising=False)
        self.other = other

    def get_value(self, state):
        return state.q[0]

    def handle_event(self, state, accuracy):
        self.other.times.append(state.time + 0.5)


def test_what_a_triggered_handler_schedules_comes_then():
    """Also where nothing was to come before: all that is scheduled is asked anew after each event."""
    system, state = mb.examples.double_pendulum.build()
    due = At([], lambda state: None)
    system.add_event_handler(due)
    system.add_event_handler(Schedules(due))
    state = system.realize_topology()
    state.q = 1.0, 0.5
    found = mb.simulate(system, state, 10.0, report_interval=10.0).events
    triggered, scheduled = ([one.time for one in found if one.kind == kind] for kind in ("triggered", "scheduled"))
    assert len(triggered) > 2
    assert_array_equal(scheduled, [time + 0.5 for time in triggered if time + 0.5 <= 10.0])


def test_a_handler_that_is_never_due_leaves_what_a_run_tells_of_its_steps():
    told = []
    for watches in (False, True):
        system, state = mb.examples.double_pendulum.build()
        if watches:
            system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["lower"], 0, 1e3)))
            state = system.realize_topology()
        state.q = 1.0, 0.5
        told.append({**mb.simulate(system, state, 50.0, report_interval=50.0).statistics, "wall_time": 0.0})
    assert "smallest_step_seen" in told[0]
    assert told[0] == told[1]
