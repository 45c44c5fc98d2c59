"""Events of many states: each leaves its lane for them alone, at its own times, and goes on in a lane."""

import contextlib

import numpy as np
import pytest

import mobod as mb
from mobod.ensemble import simulating

DURATION, CALLS = 0.025, 8


class Brake(mb.event.PeriodicHandler):
    """Takes speed away, of states that turn fast; ends the run of those that are slow."""

    def __init__(self, interval):
        super().__init__(interval)
        self.calls = []

    def handle_event(self, state, accuracy):
        self.calls.append((state.time, *state.q))
        if abs(state.u[0]) > 1.0:
            state.u = 0.5 * state.u
        return bool(abs(state.u[1]) < 0.05)


class Watcher(mb.event.PeriodicReporter):
    def __init__(self, interval):
        super().__init__(interval)
        self.calls = []

    def handle_event(self, state):
        self.calls.append((state.time, *state.q))


class Once(mb.event.ScheduledHandler):
    """At a time that depends on where the state is."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def get_next_event_time(self, state, include_current_time):
        when = 0.11 if state.q[0] > 0.0 else 0.13
        return when if state.time < when or (include_current_time and state.time == when) else np.inf

    def handle_event(self, state, accuracy):
        self.calls.append(state.time)
        state.u = state.u + 0.3


def happening():
    """A double pendulum with all of these, and a bound that some states come to."""
    system, _ = mb.examples.double_pendulum.build()
    brake, watcher, once = Brake(0.04), Watcher(0.015), Once()
    stop = mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["lower"], value=0.9), name="stop")
    for handler in (brake, once, stop):
        system.add_event_handler(handler)
    system.add_event_reporter(watcher)
    return system, system.realize_topology(), (brake, watcher, once)


def starts(n):
    rng = np.random.default_rng(3)
    return rng.uniform(-1.2, 0.8, (n, 2)), rng.normal(size=(n, 2)) * 2.0


@pytest.mark.parametrize("settings", [{"fixed_step_size": 0.007}, {"accuracy": 1e-6}], ids=["fixed", "by errors"])
def test_steps_are_those_of_single_states_with_the_same_events(settings, close):
    """Handlers, reporters and a bound, at the same times, with the same states; ends of runs, too."""
    n = 11
    system, state, parts = happening()
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.q, ensemble.u = starts(n)
    told = []
    assert len(ensemble.events) == 0
    for _ in range(CALLS):
        ensemble.step(DURATION, integrator="RungeKuttaMerson", **settings)
        assert not ensemble.failed.any(), ensemble.failures
        told += [(one.state, one.name, one.kind, one.direction, one.time, one.energy) for one in ensemble.events]
    many = [sorted(part.calls) for part in parts]
    system, state, parts = happening()
    happened = []
    for i, (q, u) in enumerate(zip(*starts(n), strict=True)):
        one = state.copy()
        one.q, one.u = q, u
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, initial_step_size=DURATION, **settings))
        stepper.initialize(one)
        for _ in range(CALLS):
            stepper.step(DURATION)
            if stepper.termination is not None:  # a stop ends the step: the next goes on
                happened += [(i, one.name, one.kind, one.direction, one.time, one.energy) for one in stepper.events]
                stepper.initialize(stepper.state)
                stepper.pass_over(False, True)
        happened += [(i, one.name, one.kind, one.direction, one.time, one.energy) for one in stepper.events]
        assert abs(stepper.time - ensemble.time[i]) < 1e-4
        close(ensemble.q[i], stepper.state.q, 2e-4)
        close(ensemble.u[i], stepper.state.u, 2e-3)
    single = [sorted(part.calls) for part in parts]
    for ours, theirs in zip(many, single, strict=True):
        assert len(ours) == len(theirs) > 0
        close(np.array(ours), np.array(theirs), 1e-3)
    assert len(told) > n
    assert [one[:4] for one in sorted(told)] == [one[:4] for one in sorted(happened)]
    close(np.array([one[4:] for one in sorted(told)]), np.array([one[4:] for one in sorted(happened)]), 1e-2)


def test_bits_do_not_depend_on_neighbours_order_or_threads():
    n = 21
    q, u = starts(n)

    def stepped(which, threads):
        system, state, _ = happening()
        ensemble = mb.Ensemble(system, len(which), state=state, threads=threads)
        ensemble.q, ensemble.u = q[which], u[which]
        for _ in range(CALLS):
            ensemble.step(DURATION, accuracy=1e-4)
        return np.column_stack([ensemble.time, ensemble.q, ensemble.u])

    every = stepped(np.arange(n), 2)
    mixed = np.random.default_rng(1).permutation(n)
    assert np.array_equal(stepped(mixed, 1), every[mixed])
    for i in (0, 5, 13):
        assert np.array_equal(stepped(np.array([i]), 1)[0], every[i])


def test_what_a_handler_raises_fails_its_state_alone():
    class Refuses(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            if state.q[0] > 0.0:
                raise ValueError("too far")

    system, _ = mb.examples.double_pendulum.build()
    system.add_event_handler(Refuses(0.01))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    ensemble.q = [[-1.0, 0.0], [1.0, 0.0]]
    with pytest.warns(RuntimeWarning, match="state 1 of the ensemble: ValueError: too far") as said:
        ensemble.step(0.025, fixed_step_size=0.005)
    assert [one.filename for one in said] == [__file__]
    assert ensemble.failed.tolist() == [False, True]
    assert ensemble.time.tolist() == [0.025, 0.0]
    assert str(ensemble.failures[1]) == "at time 0: ValueError: too far"


def test_handlers_that_are_added_or_whose_states_begin_anew_are_asked_again():
    system, _ = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    ensemble.step(0.01, fixed_step_size=0.005)
    watcher = Watcher(0.02)
    system.add_event_reporter(watcher)
    for _ in range(4):
        ensemble.step(0.01, fixed_step_size=0.005)
    assert [round(call[0], 9) for call in watcher.calls] == [0.02] * 3 + [0.04] * 3
    ensemble.reset([False, True, False])
    watcher.calls.clear()
    ensemble.step(0.02, fixed_step_size=0.005)
    assert sorted(round(call[0], 9) for call in watcher.calls) == [0.0, 0.02, 0.06, 0.06]
    ensemble.time = [1.0, 1.0, 1.0]
    watcher.calls.clear()
    ensemble.step(0.01, fixed_step_size=0.005)
    assert [call[0] for call in watcher.calls] == [1.0] * 3


class AtOnce(Once):
    """At a time that is the same whenever it is asked for."""

    def get_next_event_time(self, state, include_current_time):
        return 0.11 if state.time < 0.11 or (include_current_time and state.time == 0.11) else np.inf


@pytest.mark.parametrize("method", ["SemiExplicitEuler", "RungeKuttaMerson"])
def test_what_is_due_shortly_before_a_call_ends_leaves_the_rest_of_it_the_rates_from_there(method):
    """As of calls of which one ends there."""

    class Looks(AtOnce):
        def handle_event(self, state, accuracy):
            self.calls.append(state.time)

    size, ends, once = 0.05501, [], Looks()
    for durations in ((size, size), (size, 0.11 - size, 2.0 * size - 0.11)):
        system, _ = mb.examples.double_pendulum.build()
        if len(durations) == 2:
            system.add_event_handler(once)
        state = system.realize_topology()
        state.q, state.u = (1.0, 0.5), (0.5, -2.0)
        ensemble = mb.Ensemble(system, 1, state=state)
        for duration in durations:
            ensemble.step(duration, integrator=method, fixed_step_size=size)
        ends.append(ensemble.u[0])
    assert once.calls == [0.11]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-13)


class LockOnce(AtOnce):
    """Locks the lower arm of states that are to the right, an override of what the others share."""

    def handle_event(self, state, accuracy):
        self.calls.append(state.time)
        if state.q[0] > 0.0:
            state.system.matter.bodies["lower"].lock(state)


class Fails(mb.event.PeriodicHandler):
    """Raises an error where a state has come to the right."""

    def __init__(self, interval):
        super().__init__(interval)
        self.calls = []

    def handle_event(self, state, accuracy):
        self.calls.append(state.time)
        if state.time > 0.1 and state.q[0] > 0.2:
            raise ValueError(f"too far, at {state.q[0]:.6f}")


def _bound(system, upper, lower):
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(lower, value=0.4), name="stop"))


def _rigid(system, upper, lower):
    mb.contact.HardStopUpper(lower, 0, 0.4, 0.6)


def _maximum(system, upper, lower):
    mb.measure.Maximum(system.matter, mb.measure.Coordinate(system.matter, lower))


RUNS = {
    "brake": ([Brake(0.04)], None, {}),
    "fixed steps": ([Brake(0.04)], None, {"fixed_step_size": 0.01}),
    "at times of its own": ([AtOnce(), Brake(0.05)], None, {"accuracy": 1e-6}),
    "with a lock": ([LockOnce(), Brake(0.05)], None, {}),
    "with errors": ([Fails(0.05), Brake(0.04)], None, {}),
    "beside a bound": ([Brake(0.04)], _bound, {}),
    "beside a rigid stop": ([Brake(0.04)], _rigid, {}),
    "beside a measure": ([Brake(0.04)], _maximum, {}),
    "with reporters": ([Brake(0.04), Watcher(0.015)], None, {}),
}


@pytest.mark.filterwarnings("ignore:contacts are violated")  # where a random start has one beyond its stop
@pytest.mark.parametrize("kind", RUNS)
def test_motions_are_those_of_single_states_with_the_same_handlers(kind, rng, close):
    """Rows, ends, failures, calls and what is left in the ensemble; the same bits in any order, and on two threads."""
    handlers, more, settings = RUNS[kind]
    system, _ = mb.examples.double_pendulum.build()
    bodies = system.matter.bodies
    for one in handlers:
        one.calls.clear()
        (system.add_event_reporter if isinstance(one, Watcher) else system.add_event_handler)(one)
    if more is not None:
        more(system, bodies["upper"], bodies["lower"])
    state, n = system.realize_topology(), 19
    q, u = rng.normal(0, 0.15, (n, 2)), rng.normal(0, 1.0, (n, 2))
    q[0], u[0] = (0.3, 0.0), (1.0, 1.0)  # which comes to where an error is raised
    runs = []
    order = rng.permutation(n)
    for which, threads in ((np.arange(n), 1), (order, 2)):
        ensemble = mb.Ensemble(system, n, state=state, threads=threads)
        ensemble.q, ensemble.u = q[which], u[which]
        for one in handlers:
            one.calls.clear()
        with pytest.warns(RuntimeWarning) if kind in ("with errors",) else contextlib.nullcontext():
            runs.append(
                (ensemble, ensemble.simulate(0.4, report_interval=0.02, **settings), [sorted(one.calls) for one in handlers])
            )
    (ensemble, motions, calls), (other, shuffled, _) = runs
    assert np.array_equal(motions.q[order], shuffled.q, equal_nan=True) and np.array_equal(ensemble.q[order], other.q)
    assert calls == runs[1][2]
    assert motions.statistics["in_lanes"].any()
    for one in handlers:
        one.calls.clear()
    for i in range(n):
        alone = state.copy()
        alone.q, alone.u = q[i], u[i]
        integrator = mb.integrator.RungeKuttaMerson(system, **{"accuracy": 1e-3, **settings})
        try:
            expected = mb.simulate(system, alone, 0.4, report_interval=0.02, integrator=integrator)
        except ValueError as error:
            assert str(error) in motions.failures[i].reason
            continue
        assert i not in motions.failures
        rows = int(motions.num_rows[i])
        if i in motions.terminations:
            assert abs(motions.terminations[i].time - expected.time[-1]) < 1e-12
            assert motions.terminations[i].reason == expected.statistics["termination"].split(": ")[-1]
        else:
            assert rows == len(expected.time) == 21
        close(motions.q[i, :rows], expected.q[:rows], 1e-9)
        close(motions.u[i, :rows], expected.u[:rows], 1e-8)
        found = motions[i]
        close(found.calc_kinetic_energy()[:rows], expected.calc_kinetic_energy()[:rows], 1e-8)  # as locked from then on
        close(ensemble.q[i], expected.q[-1], 1e-9)
        assert list(found.events["name"]) == list(expected.events["name"])
        assert list(found.events["kind"]) == list(expected.events["kind"])
        close(found.events["time"], expected.events["time"], 1e-9)
        close(found.events["energy"], expected.events["energy"], 1e-7)
        assert np.array_equal(found.event_rows, expected.event_rows)
    assert [len(one) for one in calls] == [len(one.calls) for one in handlers]


def test_a_run_that_is_interrupted_in_a_handler_leaves_states_where_they_began():
    """Those that had not come to their ends, with what they share with the others."""

    class Stops(mb.event.PeriodicHandler):
        calls = 0

        def handle_event(self, state, accuracy):
            self.calls += 1
            system.matter.bodies["lower"].lock(state)
            if self.calls == 7:
                raise KeyboardInterrupt

    system, _ = mb.examples.double_pendulum.build()
    handler = Stops(0.1)
    system.add_event_handler(handler)
    ensemble = mb.Ensemble(system, 5, state=system.realize_topology())
    ensemble.q = np.linspace(0, 1, 10).reshape(5, 2)
    before = ensemble.q.copy()
    with pytest.raises(KeyboardInterrupt) as raised:
        ensemble.simulate(1.0, report_interval=0.5)
    assert np.array_equal(ensemble.q, before) and (ensemble.time == 0.0).all()
    assert len(raised.value.trajectory.failures) == 5
    assert not any(ensemble.get_state(i).field("lock_level").any() for i in range(5))


def test_a_row_at_the_start_is_before_the_handlers_of_that_time():
    """As all rows at the time of an event, of one state and of many."""

    class Kick(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            state.u = state.u + 1.0

    system, _ = mb.examples.double_pendulum.build()
    system.add_event_handler(Kick(0.5))
    state = system.realize_topology()
    assert np.array_equal(mb.simulate(system, state, 1.0, report_interval=0.5).u[0], [0.0, 0.0])
    ensemble = mb.Ensemble(system, 3, state=state)
    assert np.array_equal(ensemble.simulate(1.0, report_interval=0.5).u[:, 0], np.zeros((3, 2)))


def test_reporters_that_are_due_leave_states_in_lanes():
    """Called where runs begin once for each state, before one that raises an error too; and within steps."""
    system, _ = mb.examples.double_pendulum.build()
    seen, before = [], []
    system.add_event_reporter(mb.event.RecordEvery(10.0, lambda state: before.append(state.q[0]) or 0.0))

    def look(state):
        if state.q[0] == 0.3:
            raise ValueError("cannot look at this")
        seen.append(float(state.q[0]))
        return 1.0

    system.add_event_reporter(mb.event.RecordEvery(10.0, look))
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 4, state=state)
    ensemble.q = np.stack([np.array([0.1, 0.2, 0.3, 0.4]), np.zeros(4)], axis=1)
    with pytest.warns(RuntimeWarning, match="state 2 of the ensemble: ValueError: cannot look at this"):
        motions = ensemble.simulate(0.5, report_interval=0.25)
    assert motions.statistics["in_lanes"][[0, 1, 3]].all()
    assert sorted(seen) == [0.1, 0.2, 0.4] and sorted(before) == [0.1, 0.2, 0.3, 0.4]
    assert "cannot look at this" in motions.failures[2].reason
    again = mb.Ensemble(system, 2, state=state)
    seen.clear()
    assert again.simulate(12.0, report_interval=12.0).statistics["in_lanes"].all() and len(seen) == 4


@pytest.mark.parametrize("method", ["RungeKutta3", "SemiExplicitEuler2"])
def test_reporters_within_steps_that_end_at_a_sample_see_what_is_there(method, close):
    """Rates at such ends are left out where nobody wants them: what lies between does."""
    system, _ = mb.examples.double_pendulum.build()
    joints = [(body, 0) for body in system.matter.bodies[1:]]
    mb.control.PD(system.forces, joints, kp=20.0, kd=1.0, sample_time=0.03)
    watcher = Watcher(0.05)
    system.add_event_reporter(watcher)
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    ensemble.q = np.linspace(-1.0, 1.0, 6).reshape(3, 2)
    starts = [ensemble.get_state(i) for i in range(3)]
    ensemble.simulate(0.36, integrator=method, report_interval=0.36, fixed_step_size=0.03)
    ours = np.array(sorted(watcher.calls))
    watcher.calls.clear()
    for start in starts:
        mb.simulate(system, start, 0.36, integrator=getattr(mb.integrator, method)(system, fixed_step_size=0.03))
    close(ours, np.array(sorted(watcher.calls)), 1e-11)


def test_states_stay_in_lanes_at_what_is_due_with_a_method_that_goes_on_by_the_step_before(close):
    system, state = mb.examples.double_pendulum.build()
    brake = Brake(10.0)
    system.add_event_handler(brake)
    state = system.realize_topology()
    state.time, state.q = 9.5, (0.5, 0.3)
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.time = [9.5] * 8 + [9.9]
    motions = ensemble.simulate(0.3, integrator="Verlet", accuracy=1e-5, report_interval=0.1)
    assert motions.statistics["in_lanes"].all()
    assert [len(one.events) for one in motions] == [0] * 8 + [1] and len(brake.calls) == 1
    integrator = mb.integrator.Verlet(system, accuracy=1e-5)
    alone = mb.simulate(system, state, 0.3, integrator=integrator, report_interval=0.1)
    close(motions[0].q, alone.q, 1e-12)  # times of rows are apart by rounding


@pytest.mark.parametrize("settings", [{"accuracy": 1e-4}, {"fixed_step_size": 0.04}], ids=["adaptive", "fixed"])
def test_states_keep_their_lanes_at_their_events(settings, close):
    """Those that change them, and those that do not, several in a step, found by kernels or by Python; with the same bits."""
    seen = []

    class Kick(mb.event.When):
        def handle_event(self, state, accuracy):
            lower.set_one_u(state, 0, 0.9 * lower.get_one_u(state, 0))

    class Look(mb.event.TriggeredReporter):
        def get_value(self, state):
            return np.sin(40.0 * state.q[1])

        def handle_event(self, state):
            seen.append((state.time, *state.q))

    class Count(mb.event.When):
        def handle_event(self, state, accuracy):
            seen.append((state.time, *state.u))

    system, _ = mb.examples.double_pendulum.build()
    upper, lower = (system.matter.bodies[name] for name in ("upper", "lower"))
    system.add_event_handler(Kick(mb.event.Coordinate(lower, 0, 0.0), name="kick"))
    system.add_event_handler(Count(mb.event.Speed(upper, 0, 0.0), falling=False))
    system.add_event_reporter(Look(mb.Stage.POSITION))
    ensemble = mb.Ensemble(system, 11, state=system.realize_topology())
    ensemble.q = np.linspace(0.1, 0.9, 22).reshape(11, 2)
    few, starts = mb.Ensemble(system, 2, state=ensemble.get_state(0)), [ensemble.get_state(i) for i in range(11)]
    few.q = ensemble.q[[7, 2]]
    motions = ensemble.simulate(1.2, report_interval=0.1, **settings)
    assert motions.statistics["in_lanes"].all() and not motions.failures and (motions.num_rows == 13).all()
    seen.clear()
    again = few.simulate(1.2, report_interval=0.1, **settings)
    assert np.array_equal(again.q, motions.q[[7, 2]]) and np.array_equal(few.u, ensemble.u[[7, 2]])
    ours = sorted(seen)
    seen.clear()
    for i in (7, 2):
        integrator = mb.integrator.RungeKuttaMerson(system, **{"accuracy": 1e-3, **settings})
        alone = mb.simulate(system, starts[i], 1.2, integrator=integrator, report_interval=0.1)
        close(motions[i].q, alone.q, 1e-9)
        told = [(one.name, one.kind, one.direction) for one in motions[i].events]
        assert told == [(one.name, one.kind, one.direction) for one in alone.events] and len(told) > 9
        close([one.time for one in motions[i].events], [one.time for one in alone.events], 1e-9)
        close([one.energy for one in motions[i].events], [one.energy for one in alone.events], 1e-7)
        assert np.array_equal(motions[i].event_rows, alone.event_rows)
        assert motions.statistics["steps_taken"][i] == alone.statistics["steps_taken"]
    close(np.array(ours), np.array(sorted(seen)), 1e-8)


@pytest.mark.parametrize("floor", ["impacts", "a rigid stop", "a trampoline"])
def test_balls_bounce_in_lanes_as_each_does_alone(floor, close):
    """Free flight has no error: how far steps go after each event follows from when that came, and the one before."""

    class Trampoline(mb.event.When):
        def handle_event(self, state, accuracy):
            ball.set_rate(state, -ball.get_rate(state) * (0.1 if ball.get_rate(state) < -2.0 else 8.0))

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (-9.81, 0, 0))
    sphere = mb.UnitInertia.sphere(0.1)
    ball = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), sphere)))
    if floor == "a rigid stop":
        mb.unilateral.HardStopLower(ball, 0, 0.0, 0.45)
    elif floor == "impacts":
        system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball), 0.45))
    else:
        system.add_event_handler(Trampoline(mb.event.Coordinate(ball), rising=False))
    ensemble = mb.Ensemble(system, 10, state=system.realize_topology())
    ensemble.q = np.linspace(0.8, 1.5, 10)[:, None]
    starts = [ensemble.get_state(i) for i in range(10)]
    end = 1.15 if floor == "a trampoline" else 0.95
    motions = ensemble.simulate(end, report_interval=end / 4)
    assert motions.statistics["in_lanes"].all() and (motions.num_rows == 5).all()
    for i in range(10):
        alone = mb.simulate(system, starts[i], end, report_interval=end / 4, accuracy=1e-3)
        close(motions[i].q, alone.q, 1e-12)
        assert motions.statistics["steps_taken"][i] == alone.statistics["steps_taken"]
        ours, theirs = motions[i].events, alone.events
        assert list(ours["name"]) == list(theirs["name"]) and list(ours["kind"]) == list(theirs["kind"])
        close(ours["time"], theirs["time"], 1e-12)
        close(ours["energy"], theirs["energy"], 1e-10)
    assert len(motions[0].events) > 1


def test_a_state_whose_handler_made_it_unlike_the_others_takes_no_lane_again(close):
    class Stiffen(mb.event.When):
        def handle_event(self, state, accuracy):
            spring.set_stiffness(state, 2.0 * spring.get_stiffness(state))

    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    spring = mb.force.MobilityLinearSpring(system.forces, lower, 0, 1.0, 0.0)
    system.add_event_handler(Stiffen(mb.event.Coordinate(lower, 0, 0.0)))
    ensemble = mb.Ensemble(system, 9, state=system.realize_topology())
    ensemble.q = np.linspace(0.1, 0.9, 18).reshape(9, 2)
    start = ensemble.get_state(4)
    motions = ensemble.simulate(2.0, report_interval=0.1, accuracy=1e-4)
    alone = mb.simulate(system, start, 2.0, report_interval=0.1, accuracy=1e-4)
    assert len(alone.events) > 1 and spring.get_stiffness(ensemble.get_state(4)) == 2.0 ** len(alone.events)
    close(motions[4].q, alone.q, 1e-9)


def test_an_ensemble_that_is_interrupted_after_states_have_taken_lanes_again_leaves_all_where_they_began():
    class Kick(mb.event.When):
        calls = 0

        def handle_event(self, state, accuracy):
            self.calls += 1
            lower.set_one_u(state, 0, 0.9 * lower.get_one_u(state, 0))
            if self.calls == 9:
                raise KeyboardInterrupt

    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    system.add_event_handler(Kick(mb.event.Coordinate(lower, 0, 0.0)))
    ensemble = mb.Ensemble(system, 5, state=system.realize_topology())
    ensemble.q = np.linspace(0.1, 0.9, 10).reshape(5, 2)
    before = ensemble.q.copy()
    with pytest.raises(KeyboardInterrupt) as raised:
        ensemble.simulate(3.0, report_interval=0.5)
    assert np.array_equal(ensemble.q, before) and (ensemble.time == 0.0).all()
    assert len(raised.value.trajectory.failures) == 5 and not len(raised.value.trajectory.events)


class End(mb.event.ScheduledHandler):
    """Ends the run, and may change the state by that; one that locks has locked before, and unlocked."""

    def __init__(self, when, changes):
        super().__init__()
        self.times, self.changes = (0.02, 0.06, when) if changes == "locks" else (when,), changes

    def get_next_event_time(self, state, include_current_time):
        coming = (time for time in self.times if time > state.time or (include_current_time and time == state.time))
        return next(coming, np.inf)

    def handle_event(self, state, accuracy):
        lower = state.system.matter.bodies["lower"]
        if self.changes == "speeds":
            state.u = 0.5 * state.u
        elif self.changes == "masses":
            lower.set_body_mass_properties(state, mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        elif self.changes == "locks":
            (lower.unlock if lower.is_locked(state) else lower.lock)(state)
        return state.time == self.times[-1]


@pytest.mark.parametrize("changes", ["nothing", "speeds", "masses", "locks"])
@pytest.mark.parametrize("when", [0.1, 0.13], ids=["at a report", "between"])
def test_the_end_of_a_run_is_a_row_of_its_own_where_it_has_none(when, changes, tmp_path, close):
    """Alone and in lanes: one row of one state, with the quantities that it has there, also in files."""
    system, _ = mb.examples.double_pendulum.build()
    system.add_event_handler(End(when, changes))
    state = system.realize_topology()
    state.u = 0.3, -1.0
    settings = {"report_interval": 0.05, "record": ["kinetic_energy", "u_dot"]}
    one = mb.simulate(system, state, 0.4, integrator=mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01), **settings)
    assert len(one.time) == (4 if when == 0.13 else 3 if changes == "nothing" else 4)
    ensemble = mb.Ensemble(system, 3, state=state)
    many = ensemble.simulate(0.4, fixed_step_size=0.01, record_to=tmp_path / "many.h5", **settings)
    for motion in (many[1], many[1:][0], mb.EnsembleTrajectory.load(tmp_path / "many.h5")[1]):
        assert np.array_equal(motion.time, one.time)
        close(motion.q, one.q, 1e-10)
        close(motion.u, one.u, 1e-10)
        for name, values in motion.quantities.items():
            close(values, one.quantities[name], 1e-9)
    assert set(many[1].quantities) == {"kinetic_energy", "u_dot"}


@pytest.mark.parametrize("part", ["stop", "hard stop", "scheduled"])
def test_states_by_an_implicit_method_run_alone_where_something_may_happen(part, monkeypatch):
    """The others in the compiled loop, which excludes events: all are those of single runs, to the bit."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    if part == "stop":
        system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(lower, value=0.5)))
        system.add_event_handler(mb.event.StopWhen(mb.event.Speed(lower, value=20.0), falling=False))
    elif part == "hard stop":
        mb.contact.HardStopUpper(lower, 0, 0.5, 0.6)
    else:
        system.add_event_handler(Once())
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 5, state=state, threads=1)
    ensemble.q = [(0.1, -0.3), (0.3, 0.2), (0.1, 0.5), (-0.2, -0.1), (-0.1, 0.3)]
    ensemble.u = [(0.0, 0.0), (0.0, 3.0), (0.0, -1.0), (0.0, 0.0), (0.5, 0.1)]
    ensemble.time = [0.0, 0.0, 0.0, 0.0, 0.2]
    alone = []
    run_one = simulating.run_one

    def counted(*arguments, **keywords):
        alone.append(arguments[1].time)
        return run_one(*arguments, **keywords)

    monkeypatch.setattr(simulating, "run_one", counted)
    starts = [ensemble.get_state(i) for i in range(5)]
    motions = ensemble.simulate(0.3, report_interval=0.1, integrator=mb.integrator.BDF(system, accuracy=1e-5))
    assert len(alone) == (0 if part == "scheduled" else 2)
    for one, start in zip(motions, starts, strict=True):
        single = mb.simulate(system, start, 0.3, report_interval=0.1, integrator=mb.integrator.BDF(system, accuracy=1e-5))
        np.testing.assert_array_equal(one.time, single.time)
        np.testing.assert_array_equal(one.q, single.q)
        assert [event.time for event in one.events] == [event.time for event in single.events]


@pytest.mark.parametrize("example", ["double_pendulum", "four_bar", "tumbling_handle"])
def test_reporters_beside_an_implicit_method_leave_states_in_the_compiled_loop(example, monkeypatch):
    """They see what they see in runs of one state, to the bit, at the begin and at the end of a run too."""
    system, state = getattr(mb.examples, example).build()
    watcher = Watcher(0.05)
    system.add_event_reporter(watcher)
    ensemble = mb.Ensemble(system, 4, state=state, threads=2)
    ensemble.u = ensemble.u + np.linspace(0.0, 0.2, 4)[:, None]
    ensemble.time = [0.0, 0.0, 0.02, 0.1]
    singles = []
    for i in range(4):
        start = ensemble.get_state(i)
        singles.append(
            mb.simulate(system, start, 0.2, report_interval=0.1, integrator=mb.integrator.BDF(system, accuracy=1e-5))
        )
    expected, watcher.calls = sorted(watcher.calls), []
    monkeypatch.setattr(simulating, "run_one", None)
    motions = ensemble.simulate(0.2, report_interval=0.1, integrator=mb.integrator.BDF(system, accuracy=1e-5))
    assert sorted(watcher.calls) == expected and len(expected) >= 16
    for one, single in zip(motions, singles, strict=True):
        np.testing.assert_array_equal(one.q, single.q)


@pytest.mark.parametrize("acts", [False, True])
def test_handlers_beside_an_implicit_method_are_called_on_the_way(acts, monkeypatch):
    """States go on from where they have been changed: all calls, bits and events are those of runs of one state."""
    system, _ = mb.examples.double_pendulum.build()
    brake, watcher = Brake(0.04), Watcher(0.02)
    if not acts:
        brake.handle_event = lambda state, accuracy: brake.calls.append((state.time, *state.q))
    system.add_event_handler(brake)
    system.add_event_reporter(watcher)
    ensemble = mb.Ensemble(system, 5, state=system.realize_topology(), threads=1)
    ensemble.q, ensemble.u = [(0.1, -0.3), (0.3, 0.2), (0.1, 0.5), (-0.2, -0.1), (0.0, 0.3)], [(0.5, 0.1)] * 5
    ensemble.upd_u()[:, 0] = [0.2, 2.0, 0.3, -3.0, 0.0]
    ensemble.time = [0.0, 0.0, 0.0, 0.01, 0.2]
    starts = [ensemble.get_state(i) for i in range(5)]

    def method():
        return mb.integrator.BDF(system, accuracy=1e-5)

    singles = [mb.simulate(system, start, 0.3, report_interval=0.1, integrator=method()) for start in starts]
    expected = sorted(brake.calls), sorted(watcher.calls)
    brake.calls, watcher.calls, alone, run_one = [], [], [], simulating.run_one

    def counted(*arguments, **keywords):
        alone.append(arguments[1].time)
        return run_one(*arguments, **keywords)

    monkeypatch.setattr(simulating, "run_one", counted)
    motions = ensemble.simulate(0.3, report_interval=0.1, integrator=method())
    assert not alone and (sorted(brake.calls), sorted(watcher.calls)) == expected
    for one, single in zip(motions, singles, strict=True):
        np.testing.assert_array_equal(one.time, single.time)
        np.testing.assert_array_equal(one.q, single.q)
        assert [event.time for event in one.events] == [event.time for event in single.events]
        np.testing.assert_allclose(one.events["energy"], single.events["energy"], rtol=1e-9, atol=1e-12)
    assert any(one.time[-1] - one.time[0] < 0.29 for one in singles) is acts  # some are ended


def test_states_beside_an_implicit_method_are_not_locked_as_the_ones_before():
    """A state that a handler locks goes on alone; the worker's next one begins as it was made, with parameters of its own."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    spring = mb.force.MobilityLinearSpring(system.forces, lower, 0, 1.0, 0.0)

    class Latch(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            if state.q[0] > 0.0 and state.time > 0.0 and not lower.is_locked(state):
                lower.lock(state)

    system.add_event_handler(Latch(0.125))
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology(), threads=1)
    ensemble.q = [(0.6, 0.2), (-0.4, 0.5), (-0.1, 0.3)]
    ensemble.set_each(spring.set_stiffness, [1.0, 5.0, 20.0])
    starts = [ensemble.get_state(i) for i in range(3)]
    motions = ensemble.simulate(0.375, report_interval=0.125, integrator="BDF", accuracy=1e-5)
    for one, start in zip(motions, starts, strict=True):
        single = mb.simulate(system, start, 0.375, report_interval=0.125, integrator="BDF", accuracy=1e-5)
        np.testing.assert_array_equal(one.q, single.q)
        assert [event.kind for event in one.events] == [event.kind for event in single.events]


def test_a_reporter_that_fails_ends_the_run_of_its_state_beside_an_implicit_method():
    system, _ = mb.examples.double_pendulum.build()

    class Fails(mb.event.PeriodicReporter):
        def handle_event(self, state):
            if state.q[0] > 1.0 and state.time > 0.0:
                raise ZeroDivisionError("too far")

    system.add_event_reporter(Fails(0.05))
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology(), threads=1)
    ensemble.q = [(0.1, -0.3), (1.5, 0.2), (0.2, 0.5)]
    with pytest.warns(RuntimeWarning, match="state 1 of the ensemble: ZeroDivisionError: too far"):
        motions = ensemble.simulate(0.2, report_interval=0.1, integrator="BDF", accuracy=1e-5)
    assert motions.failed.tolist() == [False, True, False] and "too far" in motions.failures[1].reason
    assert ensemble.time.tolist() == [0.2, 0.05, 0.2]


def test_what_a_reporter_has_seen_it_does_not_see_again_where_a_state_fails():
    system, _ = mb.examples.double_pendulum.build()
    watcher = Watcher(0.05)
    system.add_event_reporter(watcher)

    def force(t, X, V, q, u, parameters):
        return (), ((mb.algebra.sqrt(0.12 - t),),)

    lower = system.matter.bodies["lower"]
    mb.force.Custom(system.forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[lower]))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology(), threads=1)
    motions = ensemble.simulate(0.2, report_interval=0.1, integrator="BDF", accuracy=1e-5)
    assert motions.failed.all()
    assert [time for time, *_ in watcher.calls] == [0.0, 0.05, 0.1] * 2


def test_events_in_the_only_step_of_a_call_are_where_a_stepper_finds_them(rng):
    """By a method whose rates at the end of a step nobody else wants: they decide between its ends."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]

    class Note(mb.event.When):
        def handle_event(self, state, accuracy):
            return None

    system.add_event_handler(Note(mb.event.Coordinate(lower, 0, 0.2)))
    ensemble = mb.Ensemble(system, 9, state=system.realize_topology(), threads=1)
    ensemble.q, ensemble.u = rng.normal(0.0, 0.5, (9, 2)), rng.normal(0.0, 2.0, (9, 2))

    def method():
        return mb.integrator.SemiExplicitEuler(system, fixed_step_size=0.05)

    steppers, times = [], []
    for i in range(9):
        steppers.append(mb.TimeStepper(system, method()))
        steppers[-1].initialize(ensemble.get_state(i))
    for _ in range(20):
        ensemble.step(0.05, integrator=method())
        times += [event.time for event in ensemble.events]
        for stepper in steppers:
            stepper.step(0.05)
    expected = sorted(event.time for stepper in steppers for event in stepper.events)
    assert len(expected) > 5
    np.testing.assert_allclose(sorted(times), expected, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:contacts are violated")
@pytest.mark.parametrize("settings", [{"fixed_step_size": 0.01}, {"accuracy": 1e-6}])
def test_contacts_that_begin_violated_count_from_there_until_their_next_event(settings):
    """Thrown up from below a stop, through it: they return to where they began, as a run of one state has it, in any order."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    ball = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    mb.force.MobilityConstantForce(mb.GeneralForceSubsystem(system), ball, 0, -9.8)
    mb.unilateral.HardStopLower(ball, 0, 0.0, 0.5)
    state = system.realize_topology()
    q, u = np.array([[-0.3], [-0.1], [0.5]]), np.array([[2.0], [3.0], [0.0]])

    def made(order):
        ensemble = mb.Ensemble(system, len(order), state=state, threads=1)
        ensemble.q, ensemble.u = q[order], u[order]
        return ensemble

    def stepped(ensemble):
        times = [[] for _ in range(len(ensemble.q))]
        for _ in range(20):
            ensemble.step(0.05, **settings)
            for event in ensemble.events:
                times[event.state].append(event.time)
        return times, ensemble.q.copy()

    ensemble = made([0, 1, 2])
    motions = ensemble.simulate(1.0, report_interval=0.5, **settings)
    backwards = made([2, 1, 0])
    np.testing.assert_array_equal(backwards.simulate(1.0, report_interval=0.5, **settings).q[::-1], motions.q)
    ensemble = made([0, 1, 2])
    times, ends = stepped(ensemble)
    ensemble.reset()
    ensemble.q, ensemble.u = q, u
    for i in range(3):
        start = made([i]).get_state(0)
        integrator = mb.integrator.RungeKuttaMerson(system, **settings)
        alone = mb.simulate(system, start, 1.0, report_interval=0.5, integrator=integrator)
        np.testing.assert_allclose([one.time for one in motions[i].events], [one.time for one in alone.events], atol=1e-9)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, **settings))
        stepper.initialize(start)
        for _ in range(20):
            stepper.step(0.05)
        within = 1e-9 if i < 2 else 1e-4  # after an event a lane counts from the stop, not from within its window
        np.testing.assert_allclose(times[i], [one.time for one in stepper.events], atol=within)
        np.testing.assert_allclose(ends[i], stepper.state.q, atol=within)
    again, ends_again = stepped(ensemble)
    assert again == times
    np.testing.assert_array_equal(ends_again, ends)
    assert times[0][0] > 0.4  # later than at the stop, at 0.19
