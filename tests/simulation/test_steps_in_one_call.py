"""A step from Python beside events, contacts and measures is one call, and does what the long way round does."""

import numpy as np
import pytest

import mobod as mb
from mobod.integrator.quick import Quick

RUBBER = mb.contact.Material(stiffness=1e5, dissipation=0.5, static_friction=0.6, dynamic_friction=0.4)


class Kick(mb.event.When):
    """Takes away from the speeds, and writes down when."""

    def __init__(self, witness, **which):
        super().__init__(witness, **which)
        self.times = []

    def handle_event(self, state, accuracy):
        self.times.append(state.time)
        state.u = 0.8 * state.u


class Look(mb.event.When):
    """Only writes down when."""

    def __init__(self, witness, **which):
        super().__init__(witness, **which)
        self.times = []

    def handle_event(self, state, accuracy):
        self.times.append(state.time)


class Pulse(mb.event.PeriodicHandler):
    """Adds to the speeds every so often."""

    def __init__(self, interval):
        super().__init__(interval)
        self.times = []

    def handle_event(self, state, accuracy):
        self.times.append(state.time)
        state.u = state.u + 0.1


class Sometimes(mb.event.ScheduledHandler):
    """At times of its own, which follow from those before."""

    def __init__(self):
        super().__init__()
        self.times = []

    def get_next_event_time(self, state, include_current_time):
        due = 0.0501 * (1 + len(self.times)) ** 1.5
        return due if due > state.time or (include_current_time and due == state.time) else np.inf

    def handle_event(self, state, accuracy):
        self.times.append(state.time)
        state.u = 0.95 * state.u


class Tell(mb.event.PeriodicReporter):
    """Writes down where bodies are."""

    def __init__(self, interval):
        super().__init__(interval)
        self.times = []

    def handle_event(self, state):
        self.times.append((state.time, *state.q))


def _when(kind, **which):
    def add(system, upper, lower):
        handler = kind(mb.event.Coordinate(lower, 0, 0.2), **which)
        system.add_event_handler(handler)
        return lambda state: handler.times

    return add


def _handler(kind, *args):
    def add(system, upper, lower):
        handler = kind(*args)
        (system.add_event_reporter if kind is Tell else system.add_event_handler)(handler)
        return lambda state: handler.times

    return add


def _measure(make):
    def add(system, upper, lower):
        one = make(system.matter, mb.measure.Coordinate(system.matter, lower))
        return lambda state: one.get_value(state)

    return add


def _surfaces(system, upper, lower):
    mb.CompliantContactSubsystem(system)
    up = mb.Transform(mb.Rotation(), (0, -1.9, 0))
    system.matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), RUBBER), up)
    lower.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), RUBBER), mb.Transform())
    return lambda state: state.system.calc_energy(state)


def _bristles(system, upper, lower):
    mb.CompliantContactSubsystem(system, friction="bristle")
    up = mb.Transform(mb.Rotation(), (0, -1.9, 0))
    system.matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), RUBBER), up)
    lower.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), RUBBER), mb.Transform())
    return lambda state: state.system.calc_energy(state)


def _stop(system, upper, lower):
    contact = mb.contact.HardStopUpper(lower, 0, 0.3, 0.5)
    return contact.calc_gap


def _stop_at(system, upper, lower):
    system.add_event_handler(mb.event.StopWhen(mb.event.PlaneDistance(lower, (0, 0, 0), normal=(1, 0, 0), height=0.7)))
    return lambda state: state.time


def _two(system, upper, lower):
    first, second = _when(Kick, rising=False)(system, upper, lower), _handler(Pulse, 0.07)(system, upper, lower)
    return lambda state: [*first(state), *second(state)]


BESIDE = {
    "an event that changes speeds": _when(Kick),
    "falling alone": _when(Kick, rising=False),
    "an event that changes nothing": _when(Look),
    "the end": _stop_at,
    "a periodic handler": _handler(Pulse, 0.05),
    "a periodic reporter": _handler(Tell, 0.031),
    "a scheduled handler": _handler(Sometimes),
    "two handlers": _two,
    "a rigid stop": _stop,
    "compliant contact": _surfaces,
    "bristles": _bristles,
    "a maximum": _measure(lambda matter, q: mb.measure.Maximum(matter, q)),
    "a sample": _measure(lambda matter, q: mb.measure.SampleAndHold(matter, q, 0.1)),
    "an integral": _measure(lambda matter, q: mb.measure.Integrate(matter, q, mb.measure.Constant(matter, 0.5))),
    "a derivative": _measure(lambda matter, q: mb.measure.Differentiate(matter, q)),
}


def steps_of(kind, method, changes, touches=False, **settings):
    """The motion of a double pendulum in a loop of steps, beside something, and its end."""
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies["upper"], system.matter.bodies["lower"]
    motors = mb.force.Actuators(system.forces, [(upper, 0), (lower, 0)])
    if touches:
        _surfaces(system, upper, lower)
    look = BESIDE[kind](system, upper, lower)
    state = system.realize_topology()
    state.q, state.u = (0.4, 0.1), (0.5, 1.0)
    stepper = mb.TimeStepper(system, getattr(mb.integrator, method)(system, **settings))
    stepper.initialize(state)
    rows, rng = [], np.random.default_rng(3)
    for k in range(300):
        if changes and k % 3 == 0:
            motors.set_efforts(stepper.state, rng.normal(size=2))
        if changes and k == 200:
            stepper.state.u = stepper.state.u + 0.3
        if k == 150:
            stepper.step_to(stepper.time + 0.0017)  # beyond which the integrator may have stepped
        status = stepper.step(0.004 if k % 7 else 0.0113)
        rows.append(
            [stepper.time, *stepper.state.q, *stepper.state.u, *stepper.state.u_dot, *np.ravel(look(stepper.state))[-1:]]
        )
        if status == mb.StepStatus.END_OF_SIMULATION:
            break
    return np.array([row for row in rows if len(row) == 8]), look(stepper.state), len(rows)


@pytest.mark.parametrize("kind", BESIDE)
def test_it_does_what_the_long_way_does_to_the_bit(kind, monkeypatch):
    calls = []
    go = Quick.go
    monkeypatch.setattr(Quick, "go", lambda self, end: calls.append(end) or go(self, end))
    for method, settings in (("RungeKuttaMerson", {"accuracy": 1e-6}), ("SemiExplicitEuler", {"fixed_step_size": 1e-3})):
        calls.clear()
        found = steps_of(kind, method, False, **settings)
        assert len(calls) > 0.5 * found[2]  # else nothing is tested
        with monkeypatch.context() as patch:
            patch.setattr(mb.TimeStepper, "_find_quick", lambda self: None)
            patch.setattr("mobod.event.agenda.Agenda.periodic", lambda self: [])  # from one of whose events to the next is one
            calls.clear()
            expected = steps_of(kind, method, False, **settings)
            assert not calls
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(np.ravel(found[1]), np.ravel(expected[1])) and found[2] == expected[2]


@pytest.mark.parametrize(
    "kind", ["an event that changes speeds", "an event that changes nothing", "the end", "a periodic handler", "a maximum"]
)
@pytest.mark.parametrize("settings", [{"fixed_step_size": 1e-3}, {"accuracy": 1e-3}], ids=["fixed", "by errors"])
def test_steps_of_what_touches_are_those_of_the_long_way(kind, settings, monkeypatch):
    """Of surfaces that time stepping handles, whose forces kernels leave out; and what is set between fixed steps."""
    calls = []
    go = Quick.go
    monkeypatch.setattr(Quick, "go", lambda self, end: calls.append(end) or go(self, end))
    for changes in (False, True) if "fixed_step_size" in settings else (False,):
        calls.clear()
        found = steps_of(kind, "TimeStepping", changes, True, **settings)
        assert len(calls) > 0.5 * found[2]
        with monkeypatch.context() as patch:
            patch.setattr(mb.TimeStepper, "_find_quick", lambda self: None)
            expected = steps_of(kind, "TimeStepping", changes, True, **settings)
        assert np.array_equal(found[0], expected[0]) and found[2] == expected[2]


@pytest.mark.parametrize("kind", BESIDE)
def test_what_is_set_between_steps_holds_from_there_on(kind, monkeypatch):
    """Steps after a change may be chosen anew, which their errors bound."""
    settings = {"accuracy": 1e-9}
    found = steps_of(kind, "RungeKuttaMerson", True, **settings)
    monkeypatch.setattr(mb.TimeStepper, "_find_quick", lambda self: None)
    expected = steps_of(kind, "RungeKuttaMerson", True, **settings)
    assert found[2] == expected[2]
    n = min(len(found[0]), 200) if kind in ("compliant contact", "bristles") else len(found[0])
    np.testing.assert_allclose(found[0][:n, :5], expected[0][:n, :5], rtol=0, atol=2e-5)
    np.testing.assert_allclose(found[0][:n, 7], expected[0][:n, 7], rtol=0, atol=2e-5)


def test_caches_of_subsystems_know_of_steps_in_one_call():
    """Versions of stages, by which what a subsystem keeps is valid or not, change with each step."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    one = mb.measure.Maximum(matter, mb.measure.Coordinate(matter, matter.bodies["lower"]))
    state = system.realize_topology()
    state.u = 1.0, 2.0
    stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=1e-3))
    stepper.initialize(state)
    for _ in range(4):
        stepper.step(1e-3)
    assert stepper.integrator.quick is not None and stepper.integrator.quick.alone
    resources = stepper.state.resources
    stages = (mb.Stage.TIME, mb.Stage.POSITION, mb.Stage.ACCELERATION, mb.Stage.REPORT)
    before = [resources.version(stepper.state, int(stage)) for stage in stages]
    value = one.get_value(stepper.state)
    stepper.step(1e-3)
    after = [resources.version(stepper.state, int(stage)) for stage in stages]
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert one.get_value(stepper.state) > value


def test_a_stepper_that_is_saved_between_steps_goes_on_to_the_bit(tmp_path):
    """And so does the copy."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    handler = Kick(mb.event.Coordinate(lower, 0, 0.2))
    system.add_event_handler(handler)
    state = system.realize_topology()
    state.q, state.u = (0.4, 0.1), (0.5, 1.0)
    steppers = [mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6)) for _ in range(2)]
    steppers[0].initialize(state)
    for _ in range(40):
        steppers[0].step(0.004)
    steppers[0].save_checkpoint(tmp_path / "there.ckpt")
    steppers[1].load_checkpoint(tmp_path / "there.ckpt", anyway=True)
    for _ in range(200):
        for one in steppers:
            one.step(0.004)
    assert np.array_equal(steppers[0].state.q, steppers[1].state.q)
