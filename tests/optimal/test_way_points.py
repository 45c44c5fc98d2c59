"""Motions through way-points: limits hold, they are as fast as can be, and controllers follow them."""

import numpy as np
import pytest

import mobod as mb

P = np.array([[0.0, 0.0, 1.0], [1.0, 0.5, 1.0], [1.0, 2.0, 0.2], [-0.5, 2.5, 0.3]])
V, A = np.array([1.0, 1.5, 0.7]), np.array([2.0, 4.0, 3.0])


def look(path, n=20001):
    t = np.linspace(0.0, path.duration, n)
    return t, *path(t)


@pytest.mark.parametrize("settings", [{}, {"stops": True}, {"stops": True, "max_jerk": [9.0, 30.0, 20.0]}])
def test_it_passes_through_all_points_and_limits_hold(settings):
    path = mb.trajectory_through(P, V, A, **settings)
    t, q, u, a = look(path)
    assert np.abs(path(path.times)[0] - P).max() < 1e-12
    assert (np.abs(u) <= V * (1 + 1e-9)).all() and (np.abs(a) <= A * (1 + 1e-3)).all()
    assert np.abs(u[[0, -1]]).max() < 1e-9
    assert np.abs(np.gradient(q, t, axis=0) - u)[1:-1].max() < 1e-3
    if "max_jerk" in settings:
        assert (np.abs(np.diff(a, axis=0)) / (t[1] - t[0]) <= np.array([9.0, 30.0, 20.0]) * (1 + 1e-6)).all()
    if settings:
        assert np.abs(path(path.times)[1]).max() < 1e-9
    before, after, _ = path(-1.0), path(path.duration + 5.0), None
    assert np.array_equal(before[0], P[0]) and np.abs(after[0] - P[-1]).max() < 1e-12
    assert not np.any(before[1]) and not np.any(after[1])


def test_along_a_spline_some_limit_is_reached_at_all_times():
    """Pontryagin's principle for limits of speed and acceleration: the fastest motion is always at one of them."""
    path = mb.trajectory_through(P, V, A)
    _, _, u, a = look(path)
    used = np.maximum((np.abs(u) / V).max(axis=1), (np.abs(a) / A).max(axis=1))
    assert np.quantile(used, 0.02) > 0.97 and used.max() <= 1.001
    assert path.duration < mb.trajectory_through(P, V, A, stops=True).duration


@pytest.mark.parametrize("stops", [False, True])
def test_one_way_takes_as_long_as_the_formula_says(stops):
    """Bang-bang 2 sqrt(D / a), and with a limit of speed D / v + v / a."""
    for v, time in ((10.0, 2.0 * np.sqrt(1.5 / 2.0)), (0.5, 1.5 / 0.5 + 0.5 / 2.0)):
        found = mb.trajectory_through([[0.0], [1.5]], v, 2.0, stops=stops).duration
        assert abs(found - time) < (1e-12 if stops else 2e-4)


def test_a_limit_of_jerk_takes_as_long_as_the_formula_says():
    """All seven stretches, none of steady acceleration, none of steady speed: Biagiotti and Melchiorri 2008, section 3.4."""
    D, v, a, j = 2.0, 1.0, 2.0, 8.0
    for way, limits, time in (
        (D, (v, a, j), D / v + v / a + a / j),
        (D, (v, 100.0, j), D / v + 2.0 * np.sqrt(v / j)),
        (D, (100.0, 100.0, j), 4.0 * (D / (2.0 * j)) ** (1 / 3)),
        (D, (100.0, a, j), a / j + np.sqrt((a / j) ** 2 + 4.0 * D / a)),
    ):
        found = mb.trajectory_through([[1.0], [1.0 + way]], limits[0], limits[1], max_jerk=limits[2], stops=True)
        assert abs(found.duration - time) < 1e-9


def test_a_controller_follows_it():
    system, state = mb.examples.double_pendulum.build()
    path = mb.trajectory_through([[0, 0], [0.8, -0.4], [0.3, 0.9]], 2.0, 4.0)
    mb.control.ComputedTorque(system.forces, path.functions, kp=400.0, kd=40.0, sample_time=0.001)
    state = system.realize_topology()
    motion = mb.simulate(system, state, path.duration + 0.5, report_interval=0.01)
    assert np.abs(motion.q - path(motion.time)[0]).max() < 2e-3
    assert np.abs(motion.q[-1] - [0.3, 0.9]).max() < 1e-3


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (([0, 1], 1, 1), ValueError, r"\(m, n\)"),
        (([[0, 1]], 1, 1), ValueError, "two or more"),
        (([[0], [np.nan]], 1, 1), mb.ModelError, "finite"),
        (([[0], [0], [1]], 1, 1), mb.ModelError, "points 0 and 1 are the same"),
        (([[0], [1]], 0.0, 1), mb.ModelError, "max_speed"),
        (([[0], [1]], 1.0, [1, 2]), ValueError, "max_acceleration"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        mb.trajectory_through(*arguments)
    with pytest.raises(mb.ModelError, match="stops=True"):
        mb.trajectory_through(P, V, A, max_jerk=1.0)


def test_one_after_the_other_is_one_motion():
    first, second = mb.trajectory_through(P[:2], V, A, stops=True), mb.trajectory_through(P[1:], V, A)
    both = first + second
    assert both.duration == first.duration + second.duration and len(both.times) == 4
    assert np.abs(both(both.times)[0] - P).max() < 1e-9
    t = np.linspace(0.0, second.duration, 50)
    for wanted, found in zip(second(t), both(first.duration + t), strict=True):
        assert np.abs(wanted - found)[1:].max() < 1e-9
    with pytest.raises(mb.ModelError, match="goes on where"):
        second + first
