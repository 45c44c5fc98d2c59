"""Measures on the way through events: both sides of a jump are remembered, and handlers may sample."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage, measure

event = pytest.importorskip("mobod.event")
G = 9.81


def ball():
    """A ball that falls along y, from a height of 1."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -G, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    upward = mb.Transform(mb.Rotation.about_axis(np.pi / 2, (0, 0, 1)))
    return system, matter, mb.mobilizer.Slider(matter.ground, body, X_PF=upward)


def test_a_bounce_is_remembered_from_both_sides():
    """It lands with v = sqrt(2 g), and leaves with 0.8 v."""
    system, matter, mobod = ball()
    speed = measure.Function(matter, lambda state: state.u[0], Stage.VELOCITY)
    down, up, late = measure.Minimum(matter, speed), measure.Maximum(matter, speed), measure.Delay(matter, speed, 0.1)
    system.add_event_handler(event.ImpactWhen(event.Coordinate(mobod), 0.8))
    state = system.realize_topology()
    state.q = [1.0]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8, max_step_size=0.05))
    stepper.initialize(state)
    v = np.sqrt(2.0 * G)
    landing = v / G
    for time in np.arange(0.0, 1.0, 0.013):
        stepper.step_to(time)
        then = time - 0.1
        expected = -G * max(then, 0.0) if then < landing else 0.8 * v - G * (then - landing)
        assert abs(late.get_value(stepper.state) - expected) < 1e-5, time  # the event is localized to 1e-9 or so
    assert abs(down.get_value(stepper.state) + v) < 1e-6
    assert abs(up.get_value(stepper.state) - 0.8 * v) < 1e-6
    assert abs(up.get_time_of_extreme_value(stepper.state) - landing) < 1e-6


def test_handlers_sample_at_exact_times():
    system, matter, _ = ball()
    held = measure.SampleAndHold(matter, measure.Time(matter))

    class Tick(event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            held.sample(state)

    system.add_event_handler(Tick(0.25))
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(system.realize_topology())
    for time in (0.1, 0.24, 0.26, 0.6, 0.99, 1.01):
        stepper.step_to(time)
        assert held.get_value(stepper.state) == np.floor(time / 0.25) * 0.25


def test_a_measure_is_a_witness_and_can_be_recorded():
    """It falls from 1, and passes a half at sqrt(1 / g)."""
    system, matter, _ = ball()
    height = measure.Function(matter, lambda state: state.q[0], Stage.POSITION)
    over = height - measure.Constant(matter, 0.5)
    stop, record = event.StopWhen(over), event.RecordEvery(0.1, height)
    assert stop.get_required_stage() == stop.get_witness().required_stage == over.get_depends_on_stage() == Stage.POSITION
    clock = event.StopWhen(measure.Constant(matter, 0.5))
    assert clock.get_required_stage() == Stage.TIME, "a constant needs less than witnesses are given"
    wide = event.StopWhen(measure.Constant(matter, [1.0, 2.0]))
    system.add_event_handler(stop)
    system.add_event_reporter(record)
    state = system.realize_topology()
    state.q = [1.0]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    stepper.step_to(1.0)
    assert abs(stepper.time - np.sqrt(1.0 / G)) < 1e-6
    assert np.allclose(record.get_values(), 1.0 - 0.5 * G * record.get_times() ** 2, rtol=0, atol=1e-6)
    with pytest.raises(TypeError, match="a measure or a function"):
        event.RecordEvery(0.1, 3.0)
    with pytest.raises(ValueError, match="one number"):
        wide.get_value(stepper.state)
