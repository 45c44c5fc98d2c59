"""The bouncing ball: every bounce is where it is known to be, none is missed or repeated, and the end is found."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage

WINDOW = 0.1 * 0.1  # of the accuracy: the default window times the default time scale


def bounces(ball, e, count):
    """Times of the first bounces from rest at height 1."""
    first, speed = np.sqrt(2.0 / ball.g), np.sqrt(2.0 * ball.g)
    return first + np.cumsum([0.0, *(2.0 * speed * e**k / ball.g for k in range(1, count))])


def bounce(e):
    def turn(state):
        state.u = -e * state.u

    return turn


def a_floor(recorder, e=0.8):
    return recorder.handler(
        mb.event.TriggeredHandler, "floor", Stage.POSITION, rising=False, value=lambda state: state.q[0], act=bounce(e)
    )


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-7, 1e-10])
def test_bounces_come_when_they_should(ball, recorder, accuracy, interpreted):
    model = ball(interpreted=interpreted)
    model.system.add_event_handler(a_floor(recorder))
    stepper = model.stepper(accuracy)
    stepper.step_to(3.2)
    expected = bounces(model, 0.8, 7)
    # each bounce is late by a window at most, and what follows it starts that much late or low
    assert_allclose(recorder.times(), expected, rtol=0, atol=4 * len(expected) * WINDOW * accuracy + 1e-13)


def test_a_bounce_is_localized_to_the_window_asked_for(ball, recorder):
    for asked in (0.1, 1e-3):
        model = ball()
        floor = a_floor(recorder)
        floor.get_trigger_info().set_required_localization_time_window(asked)
        model.system.add_event_handler(floor)
        model.stepper(1e-4).step_to(0.5)
        error = recorder.times()[-1] - np.sqrt(2.0 / model.g)
        assert -1e-13 < error <= asked * 0.1 * 1e-4


def test_an_absolute_window_and_the_time_scale(ball, recorder):
    info = mb.event.TriggerInfo(absolute_window=1e-5)
    assert info.calc_window(1e-3, 0.1) == 1e-5
    assert mb.event.TriggerInfo(window=0.5).calc_window(1e-3, 2.0) == 1e-3
    model = ball()
    model.system.set_default_time_scale(1e-3)
    assert model.system.get_default_time_scale() == 1e-3
    model.system.add_event_handler(a_floor(recorder))
    model.stepper(1e-4).step_to(0.5)
    assert 0.0 <= recorder.times()[0] - np.sqrt(2.0 / model.g) <= 0.1 * 1e-3 * 1e-4


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("gap", ["coordinate", "plane"])
def test_impacts_with_restitution_lose_energy_by_its_square_and_come_to_rest(ball, gap, interpreted):
    model, e = ball(interpreted=interpreted), 0.7
    which = mb.event.Coordinate(model.ball) if gap == "coordinate" else mb.event.PlaneDistance(model.ball)
    model.system.add_event_handler(mb.event.ImpactWhen(which, e))
    stepper = model.stepper(1e-8)
    heights = []
    for time in 0.5 * (bounces(model, e, 6)[:-1] + bounces(model, e, 6)[1:]):
        stepper.step_to(time)
        heights.append(stepper.state.q[0])
    assert_allclose(heights, e ** (2 * np.arange(1, 6)), rtol=1e-7)
    assert stepper.step_to(100.0) is mb.StepStatus.END_OF_SIMULATION
    end = bounces(model, e, 2)[0] * (1.0 + e) / (1.0 - e)
    assert abs(stepper.time - end) < 1e-7
    assert "come to rest" in stepper.termination.message and stepper.termination.time == stepper.time
    assert abs(stepper.state.q[0]) < 1e-9 and stepper.integrator.get_num_steps_taken() < 400


@pytest.mark.parametrize("e", [0.0, 0.05, 0.5, 0.95])
def test_any_restitution_comes_to_rest_and_none_falls_through(ball, e):
    model = ball()
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), e, at_rest="lock"))
    stepper = model.stepper(1e-5)
    for time in np.linspace(0.1, 30.0, 100):
        stepper.step_to(time)
        assert stepper.state.q[0] > -1e-5
    assert model.ball.is_locked(stepper.state) and stepper.time == 30.0


def test_a_perfect_bounce_goes_on_for_ever(ball):
    model = ball()
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), 1.0))
    stepper = model.stepper(1e-8)
    period = 2.0 * np.sqrt(2.0 / model.g)
    stepper.step_to(100 * period)
    assert_allclose(stepper.state.q[0], 1.0, atol=1e-6)


def test_bounces_of_a_users_own_that_accumulate_are_an_error_that_says_so(ball, recorder):
    model = ball()
    model.system.add_event_handler(a_floor(recorder, 0.5))
    stepper = model.stepper(1e-6)
    with pytest.raises(mb.ConvergenceError, match=r"events of 'floor' accumulate at time 1\.354.*ImpactWhen"):
        stepper.step_to(5.0)
    assert abs(stepper.time - 3.0 * np.sqrt(2.0 / model.g)) < 1e-4 and abs(stepper.state.q[0]) < 1e-6


def test_a_ball_on_a_slope_keeps_its_speed_along_it():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10.0, 0))
    normal = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.2)))
    ball = mb.mobilizer.Translation(matter.ground, body)
    system.add_event_handler(mb.event.ImpactWhen(mb.event.PlaneDistance(ball, normal=2 * normal, height=-1.0, radius=0.2), 0.5))
    state = system.realize_topology()
    state.q, state.u = [0, 1, 0], [1, 0, 2]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    stepper.set_report_all_significant_states(True)
    while stepper.step_to(10.0) is not mb.StepStatus.REACHED_EVENT_TRIGGER:
        assert stepper.time < 10.0
    before = stepper.state.u.copy()
    assert abs(normal @ stepper.state.q + 0.8) < 1e-8
    assert stepper.step_to(10.0) is mb.StepStatus.START_OF_CONTINUOUS_INTERVAL
    assert_allclose(stepper.state.u, before - 1.5 * (normal @ before) * normal, atol=1e-12)


def test_the_whole_mechanism_feels_an_impact(make):
    """The impulse is normal: what it changes in momentum J^T n p; and the point's normal velocity turns round."""
    model = make.tree(6)
    model.randomize()
    system, matter = model.system, model.system.matter
    body = matter.get_mobilized_body(6)
    state = model.state
    system.realize(state)
    normal, station = np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.2, -0.3])
    if normal @ body.find_station_velocity_in_ground(state, station) > 0.0:
        state.u = -state.u
        system.realize(state)
    height = normal @ body.find_station_location_in_ground(state, station)
    gap = mb.event.PlaneDistance(body, station, normal, height)
    handler = mb.event.ImpactWhen(gap, 0.3)
    system.add_event_handler(handler)
    before, rate = state.u.copy(), gap.calc_rate(state)
    assert_allclose(rate, normal @ body.find_station_velocity_in_ground(state, station), atol=1e-12)
    handler.handle_event(state, 1e-6)
    system.realize(state)
    assert_allclose(gap.calc_rate(state), -0.3 * rate, rtol=1e-9)
    impulse = matter.multiply_by_m(state, state.u - before)
    h = gap.calc_direction(state)
    assert_allclose(impulse, h * (h @ impulse) / (h @ h), atol=1e-9 * np.abs(impulse).max())


def test_events_that_follow_each_other_evenly_do_not_accumulate(ball):
    """A speed that is held down: time after time the same, but for rounding, and for where in its window each is found."""

    class Brake(mb.event.When):
        def handle_event(self, state, accuracy):
            times.append(state.time)
            state.u = 0.9 * state.u

    for rate, witness in ((0.05, mb.event.Speed), (0.004, lambda body, _, value: lambda state: state.u[0] - value)):
        times, model = [], ball()
        model.system.add_event_handler(Brake(witness(model.ball, 0, -rate)))
        model.stepper(1e-3).step_to(0.1)
        gap = 0.1 * rate / model.g
        assert_allclose(np.diff(times), gap, atol=2 * WINDOW * 1e-3)
        assert gap < 100 * WINDOW * 1e-3 and len(times) > 100


def test_a_flight_within_one_step_is_not_missed(ball, recorder):
    """Free flight is no error to any step: from the floor up, and down to it again, is one."""
    model = ball(0.0)
    model.state.u = [0.01]
    model.system.add_event_handler(a_floor(recorder))
    stepper = model.stepper(1e-3, initial_step_size=1.0)
    stepper.step_to(2e-3)
    with pytest.raises(mb.ConvergenceError, match="accumulate"):
        stepper.step_to(1.0)
    assert_allclose(recorder.times()[0], 2 * 0.01 / model.g, atol=1e-5)


def test_what_makes_no_sense_is_refused(ball):
    model = ball()
    gap = mb.event.Coordinate(model.ball)
    with pytest.raises(ValueError, match=r"restitution has to be from 0 to 1, got 1\.5"):
        mb.event.ImpactWhen(gap, 1.5)
    with pytest.raises(ValueError, match="at_rest has to be"):
        mb.event.ImpactWhen(gap, 0.5, at_rest="sleep")
    with pytest.raises(ValueError, match="resting_speed"):
        mb.event.ImpactWhen(gap, 0.5, resting_speed=-1.0)
    with pytest.raises(TypeError, match="no gap in which there can be an impact"):
        mb.event.ImpactWhen(mb.event.Speed(model.ball), 0.5)
    with pytest.raises(TypeError, match="no gap"):
        mb.event.ImpactWhen(lambda state: state.q[0], 0.5)
    with pytest.raises(ValueError, match="direction"):
        mb.event.PlaneDistance(model.ball, normal=(0, 0, 0))
    with pytest.raises(ValueError, match="station has to have shape"):
        mb.event.PlaneDistance(model.ball, station=(0, 0))
    for kind in (mb.event.PlaneDistance, mb.event.Coordinate, mb.event.Speed):
        with pytest.raises(
            TypeError, match=rf"mobod of a {kind.__name__} has to be a MobilizedBody, such as matter.bodies\['name'\], not 0"
        ):
            kind(0)
    with pytest.raises(TypeError, match=r"body2 of a Gap has to be a MobilizedBody, .* not 'ball'"):
        mb.event.Gap(model.ball, "ball", 1.0)
    with pytest.raises(ValueError, match="finite"):
        mb.event.Coordinate(model.ball, value=np.nan)
    with pytest.raises(ValueError, match="window has to be positive"):
        mb.event.TriggerInfo(window=0.0)
    with pytest.raises(ValueError, match="time scale has to be positive"):
        model.system.set_default_time_scale(0.0)
    with pytest.raises(ValueError, match="one mobilizer"):
        mb.event.ImpactWhen(mb.event.Gap(model.ball, model.ball, 1.0), 1.0, at_rest="lock")
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball, 3), 0.5))
    with pytest.raises(IndexError, match="there is no number 3"):
        model.stepper()


def test_an_impact_on_what_is_prescribed_is_refused(ball):
    model = ball()
    model.ball.lock_at(model.state, -1.0, mb.Motion.Level.VELOCITY)
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), 0.5))
    stepper = model.stepper()
    with pytest.raises(mb.ModelError, match="nothing that can move takes part"):
        stepper.step_to(5.0)
    assert_allclose(stepper.time, 1.0, atol=1e-9)


def test_a_row_of_balls_that_touch_passes_an_impact_on():
    """Newton's cradle without strings: equal balls, and the last one flies off with the first one's speed."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.5)))
    balls = [mb.mobilizer.Slider(matter.ground, body, name=f"ball{k}") for k in range(5)]
    for one, two in pairwise(balls):
        system.add_event_handler(mb.event.ImpactWhen(mb.event.Gap(one, two, 1.0), 1.0))
    state = system.realize_topology()
    state.q, state.u = [-1.0, 1.0, 2.0, 3.0, 4.0], [2.0, 0, 0, 0, 0]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    stepper.step_to(1.0)
    assert_allclose(stepper.state.u, [0, 0, 0, 0, 2.0], atol=1e-12)
    assert_allclose(stepper.state.q, [0, 1, 2, 3, 5.0], atol=1e-8)


def test_the_first_event_of_another_side_is_where_the_upper_bound_is(ball):
    model = ball(0.5)
    model.state.u = [5.0]
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball, value=1.0, upper=True), 0.4))
    stepper = model.stepper()
    stepper.set_report_all_significant_states(True)
    stepper.step_to(1.0)
    assert stepper.step_to(1.0) is mb.StepStatus.REACHED_EVENT_TRIGGER
    assert_allclose(stepper.state.q[0], 1.0, atol=1e-8)
    speed = stepper.state.u[0]
    stepper.step_to(1.0)
    assert_allclose(stepper.state.u[0], -0.4 * speed, rtol=1e-12)


def test_nothing_gets_out_of_a_box(rng):
    """Balls between six walls, also one on the other: gaps stay open to the window times the speeds, or it ends at rest."""
    for accuracy, e in ((1e-8, 0.3), (1e-4, 0.6), (1e-6, 1.0)):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, 5.0 * rng.normal(size=3))
        balls = [mb.mobilizer.Translation(matter.ground, mb.body.Particle(rng.uniform(0.5, 2.0))) for _ in range(3)]
        gaps = [mb.event.Gap(one, two, 0.2) for one, two in ((balls[0], balls[1]), (balls[1], balls[2]), (balls[0], balls[2]))]
        for ball in balls:
            gaps += [mb.event.PlaneDistance(ball, normal=n, height=-1.0, radius=0.1) for n in (*np.eye(3), *-np.eye(3))]
        for gap in gaps:
            system.add_event_handler(mb.event.ImpactWhen(gap, e))
        state = system.realize_topology()
        state.q = [-0.6, 0, 0, 0, 0.1, 0, 0.6, 0, 0.1]
        state.u = 3.0 * rng.normal(size=9)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=accuracy))
        stepper.initialize(state)
        for time in np.linspace(0.0, 3.0, 61):
            stepper.step_to(time)
            assert min(gap.calc_value(stepper.state) for gap in gaps) > -20.0 * WINDOW * accuracy - 1e-13
