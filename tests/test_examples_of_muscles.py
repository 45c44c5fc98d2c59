"""The examples that muscles move: an arm in balance by the moments' own formula, a jump that is a throw."""

import numpy as np
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import arm26_lifts, arm_lifts, leg_jumps


def test_the_arm_rests_where_moments_balance():
    """Muscles hold g (m c + M l) sin(angle), of forearm and weight."""
    system, state = arm_lifts.build()
    motion = mb.simulate(system, state, arm_lifts.TIME, accuracy=1e-6, report_interval=0.1)
    assert 85.0 < np.degrees(motion.q[-1, 0]) < 110.0
    assert abs(motion.u[-1, 0]) < 1e-2
    last = motion.states[-1]
    system.realize(last)
    muscles = [one for one in system.forces.elements if isinstance(one, mb.muscle.Muscle)]
    moment = sum(one.get_tendon_force(last) * one.calc_moment_arms(last)[0] for one in muscles)
    held = 9.81 * (arm_lifts.FOREARM_MASS * arm_lifts.CENTER + arm_lifts.WEIGHT * arm_lifts.HAND)
    assert_allclose(moment, held * np.sin(motion.q[-1, 0]), rtol=5e-3)


def test_arm26_lifts_its_weight_by_the_activations_of_static_optimization():
    """The elbow comes to where the activations were to hold it; nothing corrects it on the way."""
    system, state = arm26_lifts.build()
    motion = mb.simulate(system, state, arm26_lifts.TIME, accuracy=1e-5, report_interval=0.5)
    elbow, shoulder = np.degrees(motion.q[:, 1]), motion.q[:, 0]
    assert np.all(np.diff(elbow) > 0.0) and np.all(shoulder == 0.0)
    assert_allclose(elbow[[0, -1]], (arm26_lifts.FIRST, arm26_lifts.LAST), atol=4.0)
    ball = system.matter.bodies["weight"]
    heights = []
    for one in (motion.states[0], motion.states[-1]):
        system.realize(one, mb.Stage.POSITION)
        heights.append(float(ball.get_body_origin_location(one)[1]))
    assert heights[1] - heights[0] > 0.3


def test_the_jump_is_a_throw():
    """While the foot is off the floor the mass center falls freely, and rises by v^2 / 2 g.

    Fibers relax so fast that stability bounds the steps, of which few are tried in vain.
    """
    system, state = leg_jumps.build()
    motion = mb.simulate(system, state, leg_jumps.TIME, accuracy=1e-5, report_interval=0.01)
    assert motion.statistics["error_test_failures"] < 0.06 * motion.statistics["steps_attempted"]
    matter, shank = system.matter, system.matter.bodies["shank"]
    height, speed, foot = [], [], []
    for one in motion.states:
        system.realize(one, mb.Stage.VELOCITY)
        height.append(matter.calc_system_mass_center_location_in_ground(one)[1])
        speed.append(matter.calc_system_mass_center_velocity_in_ground(one)[1])
        foot.append(shank.find_station_location_in_ground(one, (0, -leg_jumps.SHANK, 0))[1] - leg_jumps.FOOT)
    height, speed, foot = map(np.array, (height, speed, foot))
    flies = np.flatnonzero(foot > 0.01)
    first, top = flies[0], height.argmax()
    assert first < top < flies[-1]
    assert_allclose(height[top] - height[first], speed[first] ** 2 / (2.0 * 9.81), rtol=1e-2)
    assert height[top] - height[0] > 0.5
    assert_allclose(np.diff(speed[flies[:-1]]) / 0.01, -9.81, atol=0.02)
