"""The bundled examples in which things touch: each gives a number that is known otherwise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import g1_falls, gripper, marble_run, rattleback, rolling_balls, stack, tippe_top, walker


def test_a_skidding_ball_rolls_with_five_sevenths_of_its_speed():
    system, state = rolling_balls.build()
    run = mb.simulate(system, state, 1.0, accuracy=1e-6, report_interval=0.01)
    speed, spin = run.u[:, 3], run.u[:, 1]
    v, g = rolling_balls.SPEED, 9.81
    end = 2.0 * v / (7.0 * rolling_balls.FRICTION * g)  # of skidding
    skids = run.time < 0.9 * end
    # friction at these speeds is the coefficient times the weight, but for the ball's landing in its own dent
    assert_allclose(speed[skids], v - rolling_balls.FRICTION * g * run.time[skids], atol=0.02 * v)
    rolls = (run.time > 1.1 * end) & (run.q[:, 4] < 0.05)
    assert rolls.sum() > 10
    # the depth of 0.3 mm takes so much from the radius of 0.1
    assert_allclose(speed[rolls], 5.0 / 7.0 * v, rtol=3e-3)
    assert_allclose(spin[rolls] * rolling_balls.RADIUS, speed[rolls], rtol=5e-3)


def test_backspin_brings_a_ball_back():
    system, state = rolling_balls.build()
    run = mb.simulate(system, state, rolling_balls.TIME, accuracy=1e-5)
    x = run.q[:, 25]
    assert x.max() > x[0] + 0.1 and run.u[-1, 21] < 0.0


def test_a_tippe_top_turns_over_and_keeps_jelletts_constant():
    system, state = tippe_top.build()
    run = mb.simulate(system, state, tippe_top.TIME, accuracy=1e-5, report_interval=0.05)
    found = []
    for one in run.states:
        system.realize(one, mb.Stage.VELOCITY)
        found.append(tippe_top.calc_tilt_and_jellett(one))
    cosine, jellett = np.array(found).T
    assert cosine[0] > 0.99 and cosine[-1] < -0.98
    # the contact is where both bodies yield alike, up to a hundredth of the radius above the sphere's lowest point
    assert_allclose(jellett, jellett[0], rtol=0.01)
    # friction only takes energy, and gravity takes some for the mass center's rise
    assert run.energy[-1] < 0.8 * run.energy[0] and (np.diff(run.energy) < 1e-6 * run.energy[0]).all()


def test_a_rattleback_reverses():
    system, state = rattleback.build()
    run = mb.simulate(system, state, rattleback.TIME, accuracy=1e-5, report_interval=0.05)
    # of a Free body u[:3] is the angular velocity in Ground
    spin = run.u[:, 2]
    assert spin[0] == pytest.approx(rattleback.SPIN) and spin[run.time < 1.0].max() < -4.9
    assert spin[-1] > 2.0, "it spins the other way"
    assert (np.diff(run.energy) < 1e-5 * run.energy[0]).all()
    # the other way is the one it likes: it goes on
    assert np.ptp(spin[run.time > 8.5]) < 0.1


def test_a_stack_stands():
    system, state = stack.build()
    run = mb.simulate(system, state, stack.TIME, record=["contacts"])
    places = run.q[-1].reshape(-1, 7)[:, 4:]
    assert_allclose(places[:, 2], (2 * np.arange(stack.BOXES) + 1) * stack.HALF_LENGTHS[2], atol=1e-3)
    assert_allclose(places[:, 0], stack.ASIDE * (-1.0) ** np.arange(stack.BOXES), atol=0.01)
    assert np.abs(run.u[-1]).max() < 0.01
    late = run.contacts[run.contacts["time"] > 1.5]
    borne = [late["force"][late["body2"] == box, 2].mean() for box in range(1, stack.BOXES + 1)]
    # each box bears those above it, on the average: they still quiver
    assert_allclose(borne, 9.81 * stack.MASS * (stack.BOXES - np.arange(stack.BOXES)), rtol=0.02)


def test_the_simplest_walker_walks_as_published():
    """Garcia, Chatterjee, Ruina and Coleman 1998: the stance angle at a slope of 0.009, and the eigenvalues of a step."""
    system, state = walker.build()
    mb.simulate(system, state, walker.TIME, accuracy=1e-8)
    (feet,) = system.get_event_handlers()
    times, angles, rates = np.transpose(feet.strikes)
    assert len(times) == 5
    assert_allclose(angles, 0.2003109, atol=3e-7)
    assert_allclose(rates, -0.1998325, atol=3e-7)
    assert_allclose(np.diff(times), times[0], rtol=1e-6)
    eigenvalues = sorted(walker.calc_eigenvalues(), key=lambda value: value.imag)
    assert_allclose(eigenvalues, [-0.1901 - 0.5576j, -0.1901 + 0.5576j], atol=1e-4)


def test_a_marble_stays_in_its_run_and_loses_only_what_friction_takes():
    system, state = marble_run.build()
    run = mb.simulate(system, state, 2.4, accuracy=1e-5, report_interval=0.02)
    x, y, z = run.q[:, 4:7].T
    assert x[-1] < marble_run.BOWL
    # but for the contact's own energy, which grows with the curvature where force along the normal alone does no such work
    assert (np.diff(run.energy) < 1e-4 * run.energy[0]).all()
    middle = marble_run.calc_middle(x)
    assert np.abs(y - middle)[x > marble_run.BOWL].max() < marble_run.ACROSS
    # the marble's middle is above the channel by its radius and what the bank's slope adds
    height = np.array([marble_run.calc_heights(np.array([a]), np.array([b]))[0, 0] for a, b in zip(x, y, strict=True)])
    rolls = run.time > 0.3
    assert (z - height)[rolls].min() > 0.97 * marble_run.RADIUS and (z - height)[rolls].max() < 2.0 * marble_run.RADIUS


def test_a_gripper_holds_a_box_where_it_is():
    system, state = gripper.build()
    run = mb.simulate(system, state, 60.0, accuracy=1e-6, report_interval=1.0)
    height = run.q[:, 6] - run.q[:, 7]
    # lifted, the box hangs by the bristles' stretch; then for nearly a minute it does not move by 1e-9 of its size
    lifted = run.time >= 3.0
    assert abs(height[lifted][0]) < 1e-4
    assert np.ptp(height[lifted]) < 1e-9 * gripper.BOX[2]


def test_a_humanoid_falls_and_lies():
    system, state = g1_falls.build()
    run = mb.simulate(system, state, g1_falls.TIME, accuracy=1e-3, report_interval=0.1)
    assert (np.diff(run.energy) < 0.01).all()
    pelvis = run.q[:, 6]
    assert pelvis[-1] < pelvis[0] - 0.5, "it lies"
    assert np.abs(run.u[-1, 3:6]).max() < 0.02, "and its pelvis rests"
