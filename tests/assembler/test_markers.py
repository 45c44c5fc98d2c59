"""Markers and orientation sensors: what is found, what may be missing, sequences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from models import chain, figure, observed, walk


def tracked(rng, frames=25, noise=0.005):
    """A figure, an assembler for its markers, and noisy frames of a walk: (system, state, assembler, markers, frames)."""
    system, _, markers = figure(rng)
    state = system.realize_topology()
    states = walk(system, state.copy(), rng, frames)
    observations = np.array([observed(system, one, markers) for one in states])
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(markers)
    return system, state, assembler, markers, observations + noise * rng.normal(size=observations.shape)


def test_the_normal_equations_are_those_of_the_jacobian(rng):
    from mobod.assembler._normal import Normal

    system, bodies, markers = figure(rng)
    state = system.realize_topology()
    state = walk(system, state, rng, 3, 0.3)[-1]
    system.realize(state, mb.Stage.POSITION)
    matter, n = system.matter, markers.get_num_markers()
    b = np.array([markers.get_marker_body(i).get_mobilized_body_index() for i in range(n)])
    stations = np.array([markers.get_marker_station(i) for i in range(n)])
    w, targets = rng.uniform(0.1, 2.0, n), rng.normal(size=(n, 3))
    normal = Normal(len(bodies), len(state.u))
    normal.begin(state)
    f = normal.add_stations(state, b, stations, targets, w)
    e, turns = observed(system, state, markers) - targets, rng.normal(size=(2, 3))
    f += normal.add_attitudes(state, np.array([3, 7]), turns, np.array([0.5, 2.0]))
    H, g = normal.finish(state)
    J = matter.calc_station_jacobian(state, b, stations)
    W = matter.calc_frame_jacobian(state, [3, 7], np.zeros((2, 3))).reshape(2, 6, -1)[:, :3]
    wanted_H = J.T @ (np.repeat(w, 3)[:, None] * J) + np.einsum("t,tij,tik->jk", [0.5, 2.0], W, W)
    wanted_g = J.T @ (w[:, None] * e).ravel() + np.einsum("t,tij,ti->j", [0.5, 2.0], W, turns)
    assert_allclose(H, wanted_H, atol=1e-12 * np.abs(H).max())
    assert_allclose(g, wanted_g, atol=1e-12 * np.abs(g).max())
    assert_allclose(f, 0.5 * (w @ np.sum(e**2, axis=1) + np.array([0.5, 2.0]) @ np.sum(turns**2, axis=1)), rtol=1e-13)


def test_a_sequence_is_what_each_frame_alone_gives(rng):
    system, state, assembler, markers, frames = tracked(rng)
    assembler.set_accuracy(1e-6)
    calls = []
    q = assembler.track_frames(frames, progress=lambda done, total: calls.append((done, total)))
    assert q.shape == (len(frames), len(state.q)) and calls[-1] == (25, 25)
    assert assembler.get_num_initializations() == 1
    for i in (0, 10, 24):
        alone = state.copy()
        alone.q = q[max(i - 3, 0)]
        markers.move_all_observations(frames[i])
        goal = assembler.assemble(alone)
        track = alone.copy()
        track.q = q[i]
        assembler.initialize(track)
        assert_allclose(assembler.calc_current_goal(), goal, rtol=1e-8)
        assert_allclose(observed(system, track, markers), observed(system, alone, markers), atol=1e-5)


def test_noise_that_is_not_there_is_not_found(rng):
    _, state, assembler, markers, frames = tracked(rng, noise=0.0)
    assembler.initialize(state)
    q = assembler.track_frames(frames)
    for i in (5, 20):
        state.q = q[i]
        assembler.initialize(state)
        markers.move_all_observations(frames[i])
        assert assembler.calc_current_goal() < 1e-9
        assert_allclose(markers.find_current_marker_location(4), frames[i, 4], atol=1e-4)
        assert markers.find_current_marker_error(4) < 1e-4


def test_missing_markers_do_not_count(rng):
    _, state, assembler, markers, frames = tracked(rng, noise=0.0)
    missing = frames.copy()
    missing[3:8, 1] = np.nan  # two others hold the body
    missing[5, 7, 1] = np.nan
    missing[10] = np.nan
    q = assembler.track_frames(missing)
    assert np.isfinite(q).all()
    assert_allclose(q[10], q[9], atol=1e-12)
    state.q = q[5]
    assembler.initialize(state)
    markers.move_all_observations(missing[5])
    assert markers.find_current_marker_error(1) == 0.0 and np.isnan(markers.find_current_marker_errors()[1])
    assert_allclose(markers.find_current_marker_location(1), frames[5, 1], atol=1e-3)
    # half the weighted mean of those that are there
    there = [i for i in range(markers.get_num_markers()) if np.isfinite(missing[5, i]).all()]
    w = np.array([markers.get_marker_weight(i) for i in there])
    e = np.array([markers.find_current_marker_error_squared(i) for i in there])
    assert_allclose(assembler.calc_current_goal(), w @ e / (2 * w.sum()), rtol=1e-10, atol=1e-16)


def test_order_of_observations():
    system, bodies = chain([mb.mobilizer.Free])
    state = system.realize_topology()
    markers = mb.assembler.Markers()
    for name, point in zip("abcd", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], strict=True):
        markers.add_marker(name, bodies[1], point)
    assert markers.get_num_markers() == markers.get_num_observations() == 4
    markers.define_observation_order(["c", "unknown", None, "a", 1])
    assert [markers.get_marker_index_for_observation(i) for i in range(5)] == [2, None, None, 0, 1]
    assert [markers.get_observation_index_for_marker(name) for name in "abcd"] == [3, 4, 0, None]
    assert markers.has_marker(0) and not markers.has_marker(1)
    assert markers.has_observation("b") and not markers.has_observation("d")
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(markers)
    shift, (x, y, z) = np.array([3.0, -1.0, 2.0]), np.eye(3)
    markers.move_all_observations([shift + y, (9, 9, 9), (np.nan,) * 3, shift, shift + x])
    assert assembler.assemble(state) < 1e-20
    assert_allclose(markers.find_current_marker_location("d"), shift + z, atol=1e-9)
    assert_allclose(markers.get_observation(3), shift)
    assert markers.get_markers_on_body(bodies[1]) == [0, 1, 2, 3]
    markers.move_one_observation(3, shift + 0.3 * z)
    assert assembler.is_initialized() and assembler.track() > 1e-4
    markers.change_marker_weight("a", 0.0)
    assert assembler.is_initialized() and assembler.track() < 1e-15
    assert markers.get_marker_weight("a") == 0.0 and markers.get_marker_name(3) == "d"
    with pytest.raises(ValueError, match=r"observations 0 and 2"):
        markers.define_observation_order(["a", "b", "a"])
    markers.add_marker("e", bodies[1], (1, 1, 1))
    assert markers.get_num_observations() == 5


def test_markers_as_requirements(rng):
    """With enough coordinates markers can be met exactly; with too few, the failure names them."""
    system, bodies = chain([mb.mobilizer.Ball, mb.mobilizer.Pin])
    state = system.realize_topology()
    markers = mb.assembler.Markers()
    markers.add_marker("hand", bodies[2], (0, -0.5, 0))
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_error(markers)
    markers.move_all_observations([(0.4, -0.9, 0.5)])
    assert assembler.assemble(state) == 0.0
    assert markers.find_current_marker_error("hand") < 1e-8
    before = state.q.copy()
    markers.move_one_observation(0, (4, 0, 0))
    with pytest.raises(mb.ConvergenceError, match="of marker 'hand'"):
        assembler.assemble(state)
    assert np.array_equal(state.q, before)
    with pytest.raises(mb.ConvergenceError, match="frame 2 of 3"):
        assembler.track_frames([[(0.4, -0.9, 0.5)], [(0.4, -0.9, 0.45)], [(4, 0, 0)]])


def test_tracking_keeps_constraints(rng):
    """The hand of an arm is tied to a rod while markers of both are tracked."""
    system, bodies = chain([mb.mobilizer.Ball, mb.mobilizer.Pin, mb.mobilizer.Ball], 0.4)
    mb.constraint.Rod(bodies[0], (0.5, -0.6, 0.0), bodies[3], (0.0, 0.0, 0.0), 0.4)
    state = system.realize_topology()
    markers = mb.assembler.Markers()
    for body in bodies[1:]:
        for _ in range(3):
            markers.add_marker(None, body, rng.uniform(-0.2, 0.2, 3))
    assembler = mb.Assembler(system)
    assembler.assemble(state)
    frames = []
    moving = state.copy()
    for i in range(20):
        moving.u = 0.5 * np.sin(0.2 * i + np.arange(7))
        system.realize(moving, mb.Stage.VELOCITY)
        system.project_u(moving)
        moving.q = moving.q + 0.03 * moving.q_dot
        system.project_q(moving)
        frames.append(observed(system, moving, markers))
    frames = np.array(frames) + 0.004 * rng.normal(size=(20, 9, 3))
    assembler.adopt_assembly_goal(markers)
    q = assembler.track_frames(frames)
    for row in q:
        state.q = row
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-8
    markers.move_all_observations(frames[-1])
    assembler.initialize(state)
    at_last = assembler.calc_current_goal()
    assert assembler.assemble(state) > at_last * (1 - 1e-4)


@pytest.mark.parametrize("euler", [False, True])
def test_orientation_sensors(euler, make, rng):
    system, bodies = chain([mb.mobilizer.Ball] * 4)
    state = system.realize_topology()
    if euler:
        state = system.matter.convert_to_euler_angles(state)
    sensors = mb.assembler.OrientationSensors()
    mounted = [make.rotation() for _ in bodies[1:]]
    for i, (body, R) in enumerate(zip(bodies[1:], mounted, strict=True)):
        sensors.add_o_sensor(f"imu {i}", body, R, 1.0 + i)
    truth = state.copy()
    wanted = [make.rotation() for _ in bodies[1:]]
    for body, R in zip(bodies[1:], wanted, strict=True):
        body.set_q_to_fit_rotation(truth, R)
    system.realize(truth, mb.Stage.POSITION)
    readings = [np.asarray(b.get_body_rotation(truth)) @ np.asarray(R) for b, R in zip(bodies[1:], mounted, strict=True)]
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(sensors)
    sensors.move_all_observations(readings)
    assert assembler.assemble(state) < 1e-14
    system.realize(state, mb.Stage.POSITION)
    for body in bodies[1:]:
        assert_allclose(np.asarray(body.get_body_rotation(state)), np.asarray(body.get_body_rotation(truth)), atol=1e-6)
    # the goal is half the weighted mean of squared angles
    sensors.move_one_observation(1, np.asarray(mb.Rotation.about_axis(0.2, "z")) @ readings[1])
    assert_allclose(assembler.calc_current_goal(), 0.5 * 2.0 * 0.2**2 / 10.0, rtol=1e-5)
    assert_allclose(sensors.find_current_o_sensor_error("imu 1"), 0.2, atol=1e-6)
    sensors.move_one_observation(1, np.full((3, 3), np.nan))
    assert assembler.track() < 1e-14 and sensors.find_current_o_sensor_error(1) == 0.0
    assembler.set_assembly_condition_weight(sensors, np.inf)
    sensors.move_all_observations(readings)
    assert assembler.assemble(state) == 0.0
    assert_allclose(np.asarray(sensors.find_current_o_sensor_orientation(2)), readings[2], atol=1e-8)


def test_sensors_half_a_turn_away():
    """The error is the angle, which is steep everywhere: no saddle upside down."""
    system, bodies = chain([mb.mobilizer.Ball])
    for axis in np.eye(3):
        state = system.realize_topology()
        sensors = mb.assembler.OrientationSensors()
        sensors.add_o_sensor("imu", bodies[1], mb.Rotation())
        sensors.move_all_observations([mb.Rotation.about_axis(np.pi, axis)])
        assembler = mb.Assembler(system)
        assembler.adopt_assembly_goal(sensors)
        assert assembler.assemble(state) < 1e-14


def test_bad_observations():
    system, bodies = chain([mb.mobilizer.Ball])
    markers, sensors = mb.assembler.Markers(), mb.assembler.OrientationSensors()
    markers.add_marker("a", bodies[1], (0, 0, 0))
    sensors.add_o_sensor("s", bodies[1], np.eye(3))
    for call, match in [
        (lambda: markers.add_marker("b", bodies[1], (0, 0, np.nan)), "has to be finite"),
        (lambda: markers.add_marker("b", bodies[1], (0, 0, 0), -1), "weight of a marker"),
        (lambda: markers.add_marker("a", bodies[1], (0, 0, 0)), "'a' already"),
        (lambda: markers.move_all_observations(np.zeros((2, 3))), r"\(1, 3\), got .* of shape \(2, 3\)"),
        (lambda: markers.move_one_observation(0, (1, 2)), "location has to have shape"),
        (lambda: sensors.move_one_observation(0, 2 * np.eye(3)), "no rotation"),
        (lambda: sensors.move_one_observation(0, -np.eye(3)), "reflection"),
        (lambda: sensors.move_all_observations([np.eye(3)] * 2), "1 matrices"),
    ]:
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(IndexError, match="no number 4"):
        markers.move_one_observation(4, (0, 0, 0))
    with pytest.raises(KeyError, match="no marker 'zz'"):
        markers.get_marker_index("zz")
    with pytest.raises(mb.ModelError, match="no Assembler"):
        markers.find_current_marker_location(0)
    assembler = mb.Assembler(system.realize_topology().system)
    assembler.adopt_assembly_goal(markers)
    assembler.adopt_assembly_goal(sensors)
    with pytest.raises(ValueError, match="2 conditions that are observed"):
        assembler.track_frames(np.zeros((3, 1, 3)))
    with pytest.raises(ValueError, match="a time for each of 3 frames"):
        assembler.track_frames(np.zeros((3, 1, 3)), [0.0], condition=markers)
    with pytest.raises(ValueError, match=r"\(frames, 1, 3\)"):
        assembler.track_frames(np.zeros((3, 2, 3)), condition=markers)
    assert assembler.track_frames(np.zeros((3, 1, 3)), [0.0, 0.1, 0.2], condition=markers).shape == (3, 4)
    assert assembler.get_internal_state().time == 0.2
