"""Witnesses that only Python knows are called back by the compiled loop: they find what compiled ones do, and may fail."""

import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import mobod as mb
from mobod.event import Coordinate, FunctionWitness, When

METHODS = [mb.integrator.RungeKuttaMerson, mb.integrator.Verlet, mb.integrator.BDF]


class Slow(When):
    """Takes a tenth of the speeds away, and keeps when."""

    def __init__(self, witness):
        super().__init__(witness)
        self.times = []

    def handle_event(self, state, accuracy):
        self.times.append(state.time)
        state.u = 0.9 * state.u


def swinging(make):
    """A double pendulum with a handler of the witness that ``make(lower)`` gives, and where it starts."""
    system, start = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    handler = Slow(make(lower))
    system.add_event_handler(handler)
    state = system.realize_topology()
    state.q, state.u = start.q, start.u
    return system, state, handler


def compiled(lower):
    return Coordinate(lower, 0, -0.2)


def in_python(stage):
    return lambda lower: FunctionWitness(lambda state: lower.get_one_q(state, 0) + 0.2, stage)


@pytest.mark.parametrize("stage", [mb.Stage.POSITION, mb.Stage.ACCELERATION])
@pytest.mark.parametrize("method", METHODS)
def test_it_finds_what_a_compiled_one_does(method, stage):
    found = []
    for make in (compiled, in_python(stage)):
        system, state, handler = swinging(make)
        motion = mb.simulate(system, state, 4.0, integrator=method(system, accuracy=1e-5), report_interval=0.05)
        found.append((handler.times, motion.q, motion.u))
    assert len(found[0][0]) > 3
    assert found[0][0] == found[1][0]
    assert all(np.array_equal(a, b) for a, b in zip(found[0][1:], found[1][1:], strict=True))


def test_steps_from_python_find_it_too():
    found = []
    for make in (compiled, in_python(mb.Stage.POSITION)):
        system, state, handler = swinging(make)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(state)
        rows = []
        for _ in range(300):
            stepper.step(0.01)
            rows.append([*stepper.state.u_dot, *stepper.state.q])
        found.append((handler.times, rows))
    assert len(found[0][0]) > 2
    assert np.allclose(found[0][0], found[1][0], rtol=0.0, atol=1e-9)
    assert np.allclose(found[0][1], found[1][1], rtol=0.0, atol=1e-7)


def test_what_goes_over_and_comes_back_within_a_step_is_found():
    """A ball that is thrown 0.2 mm above the height that is watched, in steps of 50 ms."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    ball = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0), X_PF=mb.Transform(mb.Rotation.about_axis(np.pi / 2, "z")))
    top = 3.0**2 / (2 * 9.81)
    seen = []

    class Note(When):
        def handle_event(self, state, accuracy):
            seen.append(state.time)

    system.add_event_handler(Note(FunctionWitness(lambda s: ball.get_one_q(s, 0) - (top - 2e-4), mb.Stage.POSITION)))
    state = system.realize_topology()
    state.u = (3.0,)
    mb.simulate(system, state, 0.6, integrator=mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.05))
    above = np.sqrt(2 * 2e-4 / 9.81)
    assert np.allclose(seen, [3.0 / 9.81 - above, 3.0 / 9.81 + above], rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("of", ["witness", "handler"])
def test_a_derived_class_that_computes_another_value_has_not_the_rate_of_its_base(of):
    """A parabola in the angle, which just comes to zero at the angle's extremes, and goes back within the step."""

    def parabola(q):
        return place - q * q

    class Hump(Coordinate):
        def calc_value(self, state):
            return parabola(super().calc_value(state))

    class Over(Slow):
        def get_value(self, state):
            return parabola(super().get_value(state))

    def events(plain):
        system, start = mb.examples.double_pendulum.build()
        upper = system.matter.bodies["upper"]
        if plain:
            handler = Slow(FunctionWitness(lambda state: parabola(state.q[0]), mb.Stage.POSITION))
        else:
            handler = Slow(Hump(upper, 0, 0.0)) if of == "witness" else Over(Coordinate(upper, 0, 0.0))
        system.add_event_handler(handler)
        state = system.realize_topology()
        state.q = start.q
        mb.simulate(system, state, 5.0, accuracy=1e-3, report_interval=5.0)
        return handler.times

    system, start = mb.examples.double_pendulum.build()
    q = mb.simulate(system, start, 5.0, accuracy=1e-3, report_interval=1e-3).q[:, 0] ** 2
    extremes = q[1:-1][np.diff(q)[1:] * np.diff(q)[:-1] < 0.0]
    assert len(extremes) > 5
    for extreme in extremes:
        for near in (1e-2, 1e-3, -1e-3, -1e-2):
            place = extreme + near
            assert_allclose(events(False), events(True), rtol=0, atol=1e-4)


@pytest.mark.parametrize("step", [False, True])
def test_its_error_arrives_as_it_is_and_the_run_stands_where_it_was(step):
    system, state, _ = swinging(lambda lower: FunctionWitness(refuse, mb.Stage.TIME))

    def refuse_from(state):
        if state.time > 1.0:
            raise LookupError("no height here")
        return 1.0

    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4))
    refusing[0] = refuse_from
    stepper.initialize(state)
    with pytest.raises(LookupError, match="no height here") as caught:
        if step:
            for _ in range(200):
                stepper.step(0.01)
        else:
            stepper.step_to(2.0)
    assert any(entry.name == "refuse_from" for entry in caught.traceback)
    assert stepper.time <= 1.2
    refusing[0] = lambda state: 1.0
    stepper.step_to(2.0)
    assert stepper.time == 2.0 and np.isfinite(stepper.state.q).all()


refusing = [None]


def refuse(state):
    return refusing[0](state)


def test_what_is_not_a_number_is_refused_by_name():
    system, state, _ = swinging(lambda lower: FunctionWitness(lambda s: 1.0 if s.time < 1.0 else np.nan, mb.Stage.TIME))
    with pytest.raises(mb.ModelError, match="it has to be finite"):
        mb.simulate(system, state, 2.0)


def test_it_may_ask_for_whatever_the_state_has():
    """Energies, measures and Jacobians at the ends of steps, as between steps."""
    asked = []

    def value(state):
        asked.append(system.calc_energy(state))
        system.matter.calc_m(state)
        return 1.0 + float(np.abs(state.u_dot).sum()) * 0.0

    system, state, _ = swinging(lambda lower: FunctionWitness(value))
    bare, start = mb.examples.double_pendulum.build()
    motion = mb.simulate(system, state, 2.0, accuracy=1e-6, report_interval=0.1)
    alone = mb.simulate(bare, start, 2.0, accuracy=1e-6, report_interval=0.1)
    assert np.array_equal(motion.q, alone.q)
    assert np.ptp(asked) < 1e-3 and len(asked) > 50


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_an_interrupt_within_it_ends_the_run():
    def interrupt(*_):
        raise KeyboardInterrupt

    def slow(state):
        time.sleep(0.001)
        return 1.0

    system, state, _ = swinging(lambda lower: FunctionWitness(slow, mb.Stage.TIME))
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            mb.simulate(system, state, 1e6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_samples_of_a_law_take_no_more_calls_of_it():
    """Rounding puts some samples a little behind an end of a step: steps there are too short for a difference."""
    system, _ = mb.examples.double_pendulum.build()
    lower, calls = system.matter.bodies["lower"], [0]

    def above(state):
        calls[0] += 1
        return 1e3 - lower.get_one_q(state, 0)

    system.add_event_handler(mb.event.StopWhen(FunctionWitness(above, mb.Stage.POSITION)))
    mb.control.Custom(system.forces, lambda q: 0.0 * q, sample_time=0.01, compiled=False)
    stepper = mb.TimeStepper(system, mb.integrator.SemiExplicitEuler(system, fixed_step_size=1e-3))
    stepper.initialize(system.realize_topology())
    for _ in range(200):
        stepper.step(1e-3)
    assert calls[0] < 2.2 * 200, "one call where a step ends, and one shortly before"


def test_what_turns_back_as_a_law_is_sampled_is_found():
    """At a sample the slope of a speed jumps: it falls below zero then, and rises above it again before the step ends."""
    system = mb.MultibodySystem("dip")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    masses = [mb.body.Rigid(mb.MassProperties(m, (0, 0, 0), mb.UnitInertia.sphere(0.1))) for m in (1.0, 1e12)]
    x = mb.mobilizer.Slider(matter.ground, masses[0], name="x")
    y = mb.mobilizer.Slider(matter.ground, masses[1], X_PF=mb.Transform((5.0, 0, 0)), name="y")
    mb.force.TwoPointLinearSpring(forces, x, (0, 0, 0), y, (0, 0, 0), 40.0, 5.0)
    mb.control.Custom(forces, lambda q: -1.0 - 40.0 * (q[1:] - q[:1]), [(x, 0)], sample_time=0.1, compiled=False)

    class Note(When):
        def handle_event(self, state, accuracy):
            return None

    system.add_event_handler(Note(mb.event.Speed(x, 0, 0.0), rising=False))
    state = system.realize_topology()
    state.u = -0.1164, 1.0
    rate = np.sqrt(40.0)

    def speed(begin, t):  # udot = -1 after each sample, and from there on 40 (1 - u) is its rate
        return 1.0 + (begin - 1.0) * np.cos(rate * t) - np.sin(rate * t) / rate

    expected = 0.1 + brentq(lambda t: speed(speed(-0.1164, 0.1), t), 0.0, 0.02)
    motion = mb.simulate(system, state, 0.3, accuracy=1e-6, report_interval=0.3)
    motions = mb.Ensemble(system, 2, state=state).simulate(0.3, accuracy=1e-6, report_interval=0.3)
    assert len(motion.events) == 1 and len(motions.events) == 2
    for one in (*motion.events, *motions.events):
        assert abs(one.time - expected) < 1e-5 and one.direction == "falling"  # some errors of a speed that falls with 0.7
