"""Events of many states: each leaves its lane for them alone, at its own times, and goes on in a lane."""

import numpy as np
import pytest

import mobod as mb

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
    for _ in range(CALLS):
        ensemble.step(DURATION, integrator="RungeKuttaMerson", **settings)
        assert not ensemble.failed.any(), ensemble.failures
    many = [sorted(part.calls) for part in parts]
    system, state, parts = happening()
    for i, (q, u) in enumerate(zip(*starts(n), strict=True)):
        one = state.copy()
        one.q, one.u = q, u
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, initial_step_size=DURATION, **settings))
        stepper.initialize(one)
        for _ in range(CALLS):
            stepper.step(DURATION)
            if stepper.termination is not None:  # a stop ends the step: the next goes on
                stepper.initialize(stepper.state)
                stepper.pass_over(False, True)
        assert abs(stepper.time - ensemble.time[i]) < 1e-4
        close(ensemble.q[i], stepper.state.q, 2e-4)
        close(ensemble.u[i], stepper.state.u, 2e-3)
    single = [sorted(part.calls) for part in parts]
    for ours, theirs in zip(many, single, strict=True):
        assert len(ours) == len(theirs) > 0
        close(np.array(ours), np.array(theirs), 1e-3)


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
    with pytest.warns(RuntimeWarning, match="state 1 of the ensemble: ValueError: too far"):
        ensemble.step(0.025, fixed_step_size=0.005)
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
