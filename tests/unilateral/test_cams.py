"""A follower on a cam: the force on it, where it lifts off, how high it flies, and where it comes down, in closed form.

Of a cam f = h (1 - cos(w t)) / 2 below a follower that weighs m g the force is m (g + h/2 w^2 cos(w t)), down to zero at
cos(w t) = -2 g / (h w^2); from there it flies.
"""

import numpy as np
import pytest
from touching_models import G, empty

import mobod as mb
from mobod import ModelError
from mobod.integrator.watch import Watch
from mobod.unilateral.open_gap import open_gap

H, M = 0.02, 0.5
ANGLES = np.linspace(0.0, 2.0 * np.pi, 145)
LIFTS = 0.5 * H * (1.0 - np.cos(ANGLES))


def machine(rate, restitution=0.0, lifts=LIFTS, angles=ANGLES, motion=mb.motion.Steady, **settings):
    """A cam that turns at a rate, or by another motion, below a follower."""
    system, matter = empty((0, 0, -G))
    shaft = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    up = mb.Transform(mb.Rotation.about_axis(-0.5 * np.pi, "y"))
    part = mb.body.Rigid(mb.MassProperties(M, (0, 0, 0), mb.UnitInertia.sphere(0.01)))
    valve = mb.mobilizer.Slider(matter.ground, part, X_PF=up, X_BM=up)
    motion(shaft, rate)
    cam = mb.contact.CamFollower(shaft, valve, angles, lifts, restitution, name="cam", **settings)
    state = system.realize_topology()
    state.u = (rate, 0.0)
    return system, state, cam


def test_it_follows_slowly_with_the_force_that_takes():
    rate = 20.0  # the greatest deceleration is 4 m/s^2
    system, state, cam = machine(rate)
    run = mb.simulate(system, state, 1.0, accuracy=1e-8, report_interval=0.01, record={"force": cam.calc_normal_force})
    expected = M * (G + 0.5 * H * rate**2 * np.cos(rate * run.time))
    np.testing.assert_allclose(run.q[:, 1], 0.5 * H * (1.0 - np.cos(rate * run.time)), atol=1e-6)
    np.testing.assert_allclose(run.quantities["force"][2:], expected[2:], rtol=2e-3)


def flight(rate):
    """The time at which it lifts off, its height and speed there, and the time at which it comes down."""
    off = np.arccos(-2.0 * G / (H * rate**2)) / rate
    height, speed = 0.5 * H * (1.0 - np.cos(rate * off)), 0.5 * H * rate * np.sin(rate * off)
    t = np.linspace(off + 1e-4, off + 0.2, 200001)
    gap = height + speed * (t - off) - 0.5 * G * (t - off) ** 2 - 0.5 * H * (1.0 - np.cos(rate * t))
    return off, height, speed, t[np.argmax((gap < 0.0) & (t > off + 1e-3))]


@pytest.mark.parametrize("how", ["events", "stepped"])
def test_it_flies_as_high_as_its_speed_takes_it_and_comes_down(how):
    rate = 50.0
    off, height, speed, down = flight(rate)
    system, state, cam = machine(rate)
    if how == "events":
        method = mb.integrator.RungeKuttaMerson(system, accuracy=1e-8)
    else:
        method = mb.integrator.TimeStepping(system, fixed_step_size=2e-5)
    gap = {"gap": cam.calc_gap}
    run = mb.simulate(system, state, down + 0.005, report_interval=1e-4, integrator=method, record=gap)
    assert run.q[:, 1].max() == pytest.approx(height + speed**2 / (2.0 * G), rel=2e-3)
    apart = run.time[run.quantities["gap"] > 2e-6]
    assert apart[0] == pytest.approx(off, abs=2.5e-3)  # the gap opens as the third power of time
    assert apart[-1] == pytest.approx(down, abs=5e-4)


def test_a_lobe_that_passes_within_a_step_is_not_missed():
    """A follower that falls is above the lobe in the first turn, and hit by it in the second: steps are longer than both."""
    rate, start = 100.0, 0.05
    lifts = 0.02 * np.exp(-(((ANGLES - np.pi) / 0.15) ** 2))
    system, state, _ = machine(rate, 1.0, lifts)
    state.q = (0.0, start)
    run = mb.simulate(system, state, 0.0955, accuracy=1e-6, report_interval=0.0955, integrator=mb.integrator.RungeKuttaMerson)
    t = np.linspace(0.0, 0.0955, 1_000_001)
    gap = start - 0.5 * G * t**2 - 0.02 * np.exp(-(((rate * t - 3.0 * np.pi) / 0.15) ** 2))
    struck = [one.time for one in run.events if one.kind == "struck"]
    assert len(struck) == 1 and struck[0] == pytest.approx(t[np.argmax(gap < 0.0)], abs=2e-6)
    assert run.statistics["steps_taken"] < 20 and run.u[-1, 1] > 0.0
    motions = mb.Ensemble(system, 2, state=state).simulate(0.0955, accuracy=1e-6, report_interval=0.0955)
    np.testing.assert_allclose(motions.q[1], run.q, rtol=0, atol=1e-9)


def test_a_lobe_whose_points_are_near_each_other_is_not_missed():
    """Sixty knots on the lobe, one on each side of it: parts of a step are not of equal length."""
    rate, start, width = 100.0, 0.05, 0.02
    lobe = np.linspace(np.pi - 5.0 * width, np.pi + 5.0 * width, 61)
    angles = np.concatenate([[0.0], lobe, [2.0 * np.pi]])
    lifts = np.concatenate([[0.0], 0.02 * np.exp(-(((lobe - np.pi) / width) ** 2)), [0.0]])
    system, state, _ = machine(rate, 1.0, lifts, angles)
    state.q = (0.0, start)
    run = mb.simulate(system, state, 0.0955, accuracy=1e-6, report_interval=0.0955, integrator=mb.integrator.RungeKuttaMerson)
    t = np.linspace(0.09, 0.0955, 1_000_001)
    gap = start - 0.5 * G * t**2 - 0.02 * np.exp(-(((rate * t - 3.0 * np.pi) / width) ** 2))
    struck = [one.time for one in run.events if one.kind == "struck"]
    assert len(struck) == 1 and struck[0] == pytest.approx(t[np.argmax(gap < 0.0)], abs=2e-6)


def test_a_lobe_that_is_passed_there_and_back_within_a_step_is_not_missed():
    """The cam is at the same place at both ends of the only step, and a lobe farther in its middle."""
    rate, phase, top, start = 60.0, 0.1, 2.0, 0.021
    lifts = 0.02 * np.exp(-(((ANGLES - 1.9) / 0.15) ** 2)) * (ANGLES < 4.0)

    def swing(shaft, rate):
        return mb.motion.Sinusoid(shaft, mb.Motion.Level.POSITION, top, rate, phase)

    system, state, _ = machine(rate, 1.0, lifts, motion=swing)
    state.q, end = (0.0, start), (np.pi - 2.0 * phase) / rate
    method = mb.integrator.RungeKuttaMerson(system, fixed_step_size=end)
    run = mb.simulate(system, state, end, report_interval=end, integrator=method)
    t = np.linspace(0.0, end, 1_000_001)
    gap = start - 0.5 * G * t**2 - 0.02 * np.exp(-(((top * np.sin(rate * t + phase) - 1.9) / 0.15) ** 2))
    struck = [one.time for one in run.events if one.kind == "struck"]
    assert gap[0] > 0.0 and gap[-1] > 0.0
    assert len(struck) == 1 and struck[0] == pytest.approx(t[np.argmax(gap < 0.0)], abs=1e-5)


def test_a_follower_is_watched_in_the_loop_as_long_as_it_is_above_all_lobes(rng):
    """Lifts of any kind: kernels look at the height above the highest of them, but where they go on straight, and rise."""
    for trial in range(20):
        angles = np.cumsum(rng.uniform(0.05, 1.0, rng.integers(3, 9)))
        lifts, turns = rng.uniform(-0.1, 0.1, len(angles)), trial % 2 == 0
        lifts[-1] = lifts[0] if turns else lifts[-1]
        system, state, cam = machine(1.0, lifts=lifts, angles=angles, periodic=turns)
        system.realize(state, mb.Stage.VELOCITY)
        gap = open_gap(cam)
        lift = mb.function.Table(angles, lifts, periodic=turns)
        within = np.linspace(angles[0], angles[-1], 20_001)
        highest = lift(within[:, None]).max()
        for angle in (rng.uniform(angles[0], angles[-1]), angles[0] - 0.3, angles[-1] + 0.3):
            state.q, state.u = (angle, highest + 1.0), (rng.normal(), rng.normal())
            system.realize(state, mb.Stage.VELOCITY)
            bound, rate = gap.calc_bound(state)
            if max(lift(angles[0] - 0.1) - lift(angles[0]), lift(angles[-1] + 0.1) - lift(angles[-1])) > 0.0 and not turns:
                assert np.isnan(bound)
                continue
            assert bound == pytest.approx(1.0, abs=1e-7)  # as fine as the points within
            assert bound <= cam.calc_gap(state) + 1e-12 and bound <= 1.0 and rate == state.u[1]
        state.q = (angles[1], highest - 1e-6)
        assert np.isnan(gap.calc_bound(state)[0])


@pytest.mark.parametrize(("begin", "top"), [(-49.0, 3.0), (-20.0, 3.0), (-20.0, 9.0)])
def test_a_lobe_beyond_the_end_of_a_table_is_met_there_and_back_within_a_step(begin, top):
    """The cam slows down, and is inside its table at both ends of the step; the lift beyond goes on straight, up to the top."""
    matter = mb.SimbodyMatterSubsystem(system := mb.MultibodySystem())
    forces = mb.GeneralForceSubsystem(system)
    part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    cam, follower = mb.mobilizer.Slider(matter.ground, part), mb.mobilizer.Slider(matter.ground, part)
    mb.force.MobilityConstantForce(forces, cam, 0, -9.8)
    x = np.linspace(begin - 1.0, 1.0, 30)
    mb.contact.CamFollower(cam, follower, x, np.maximum(0.0, x - 0.5), 0.5, periodic=False)
    state = system.realize_topology()
    state.q, state.u = (begin, 1.0), (np.sqrt(2.0 * 9.8 * (top - begin)), 0.0)
    end = 1.98 * np.sqrt(2.0 * (top - begin) / 9.8)
    run = mb.simulate(system, state, end, report_interval=end, accuracy=1e-3)
    assert "struck" in [one.kind for one in run.events] and run.q[-1, 1] > 1.5


def test_points_of_a_table_are_counted_on_beyond_its_ends_and_from_turn_to_turn():
    x = np.array([0.0, 0.1, 0.3, 0.4])
    for turns, knots in ((False, (-2.0, 0.5, 1.25, 5.0)), (True, (-1.0, 0.5, 1.25, 4.0))):
        _, state, cam = machine(1.0, lifts=np.zeros(4), angles=x, periodic=turns)
        for angle, knot in zip((-0.2 if not turns else -0.1, 0.05, 0.15, 0.6 if not turns else 0.5), knots, strict=True):
            state.q = (angle, 1.0)
            assert cam.find_knot(state) == pytest.approx(knot, abs=1e-12)


def test_a_follower_above_its_cam_is_no_part_for_python(monkeypatch):
    """Steps, runs and ensembles of a follower that stays above all lobes search no step, and are the same as without a cam."""
    system, state, _ = machine(50.0)
    state.q = (0.0, 6.0)
    monkeypatch.setattr(Watch, "_knots_at", lambda self, time: pytest.fail("a step is searched"))
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(state)
    for _ in range(20):
        stepper.step(0.01)
    assert stepper.state.q[1] == pytest.approx(6.0 - 0.5 * G * 0.04, abs=1e-12)
    motions = mb.Ensemble(system, 3, state=state).simulate(0.2, report_interval=0.2)
    assert motions.statistics["in_lanes"].all()
    assert motions.q[:, -1, 1] == pytest.approx(6.0 - 0.5 * G * 0.04, abs=1e-12)
    motions = mb.Ensemble(system, 2, state=state).simulate(0.2, report_interval=0.2, integrator="BDF", accuracy=1e-6)
    assert motions.q[:, -1, 1] == pytest.approx(6.0 - 0.5 * G * 0.04, abs=1e-5)


def test_followers_that_leave_their_lanes_at_each_bounce_take_the_steps_of_each_alone():
    """Bounces are found one by one; how far a step goes after one follows from those before, which lanes have to keep."""
    system, state, _ = machine(30.0, 0.7)
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.q = [(0.0, 0.06), (0.0, 0.12)]
    starts = [ensemble.get_state(i) for i in range(2)]
    settings = {"accuracy": 1e-6, "report_interval": 0.3}
    motions = ensemble.simulate(1.2, **settings)
    for i in range(2):
        alone = mb.simulate(system, starts[i], 1.2, integrator=mb.integrator.RungeKuttaMerson, **settings)
        np.testing.assert_allclose(motions.q[i], alone.q, rtol=0, atol=1e-6)
        assert motions.statistics["steps_taken"][i] == alone.statistics["steps_taken"]
        assert len(motions[i].events) == len(alone.events) > 9


def test_what_is_no_cam_is_refused():
    with pytest.raises(ModelError, match="first"):
        mb.contact.CamFollower(*_bodies(), ANGLES, LIFTS + 0.001 * ANGLES)
    for positions, lifts in ((ANGLES[:2], LIFTS[:2]), (ANGLES, LIFTS[:-1]), (ANGLES[::-1], LIFTS)):
        with pytest.raises((ValueError, ModelError)):
            mb.contact.CamFollower(*_bodies(), positions, lifts)
    with pytest.raises(ModelError, match="restitution"):
        mb.contact.CamFollower(*_bodies(), ANGLES, LIFTS, 2.0)
    shaft, _ = _bodies()
    tumbling = mb.mobilizer.Ball(shaft, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    with pytest.raises(ModelError, match="quaternion"):
        mb.contact.CamFollower(tumbling, shaft, ANGLES, LIFTS)


def _bodies():
    _, matter = empty((0, 0, -G))
    part = mb.body.Rigid(mb.MassProperties(M, (0, 0, 0), mb.UnitInertia.sphere(0.01)))
    return mb.mobilizer.Pin(matter.ground, part), mb.mobilizer.Slider(matter.ground, part)
