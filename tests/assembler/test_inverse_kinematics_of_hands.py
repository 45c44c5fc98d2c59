"""Hands brought to poses: reached, within limits, in the null space, several at once; and what cannot be reached."""

import numpy as np
import pytest

import mobod as mb

SEED = 11


def robot(floating=False, limits=True, seed=SEED):
    """Seven oblique pins, on a free base or not, and a second arm of three pins and a slider."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    base = mb.mobilizer.Free(matter.ground, part, name="base") if floating else matter.ground
    for name, n in (("hand", 7), ("left", 3)):
        parent = base
        for k in range(n):
            axes = mb.Rotation.about_axis(rng.normal(), "x") @ mb.Rotation.about_axis(rng.normal(), "y")
            X = mb.Transform(axes, (0, 0.3, 0.05))
            parent = mb.mobilizer.Pin(parent, part, X_PF=X, name=f"{name}{k}")
            if limits:
                mb.force.MobilityLinearStop(forces, parent, 0, 100.0, 1.0, -2.0, 2.0)
    mb.mobilizer.Slider(parent, part, name="rod")
    return system, system.realize_topology(), matter.bodies["hand6"], matter.bodies["rod"]


def poses(system, state, rows, body, frame):
    found = []
    for q in rows:
        state.q = q
        system.realize(state, mb.Stage.POSITION)
        found.append(np.asarray(body.get_body_transform(state) @ frame))
    return np.array(found)


FRAME = mb.Transform(mb.Rotation.about_axis(0.4, "z"), (0.1, 0.2, 0.05))


def test_poses_are_reached_from_nearby_within_limits():
    system, state, hand, _ = robot()
    solver = mb.InverseKinematics(system, state, (hand, FRAME))
    rng = np.random.default_rng(1)
    q = solver.random_seeds(20, seed=2)
    targets = poses(system, state, q, hand, FRAME)
    start = np.clip(q + 0.1 * rng.normal(size=q.shape), -2.0, 2.0)
    start[:, 10] = q[:, 10]
    found = solver.solve(targets, start, threads=2)
    assert found.reached.all() and found.iterations.max() < 30
    assert np.abs(poses(system, state, found.q, hand, FRAME) - targets).max() < 1e-7
    assert np.abs(found.q[:, :10]).max() <= 2.0 + 1e-12
    alone = solver.solve(targets[3], start[3])
    assert alone.reached and np.array_equal(alone.q, found.q[3])  # whatever the threads are
    limits = {"hand2": (-1.0, 1.0), system.matter.bodies["hand3"]: (0.0, 2.0)}
    narrowed = mb.InverseKinematics(system, state, hand, limits=limits).limits
    assert narrowed[2:4].tolist() == [[-1.0, 1.0], [0.0, 2.0]]
    assert narrowed[4:6].tolist() == solver.limits[4:6].tolist() == [[-2.0, 2.0]] * 2  # of the others the stops hold
    assert repr(found) == f"<Reached: {len(q)} of {len(q)} seeds, least error {found.error.min():.3g}>"
    assert np.array_equal(found.q[:, 7:], start[:, 7:])  # what does not move the hand


def test_of_many_seeds_some_reach_any_pose():
    system, state, hand, _ = robot()
    solver = mb.InverseKinematics(system, state, hand)
    for q in solver.random_seeds(8, seed=3):
        (target,) = poses(system, state, [q], hand, mb.Transform())
        found = solver.solve(target, solver.random_seeds(48, seed=4))
        assert found.reached.any()
        (there,) = poses(system, state, [found.best], hand, mb.Transform())
        assert np.abs(there - target).max() < 1e-7


def test_places_and_orientations_alone_and_two_hands_of_a_floating_base():
    system, state, hand, rod = robot(floating=True)
    solver = mb.InverseKinematics(
        system, state, [(hand, FRAME), (rod, (0, 0, 0.1), "position"), ("left0", FRAME, "orientation")]
    )
    (q,) = solver.random_seeds(1, seed=6)
    q[:4] = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
    q[4:7] = 0.3, -0.2, 0.5
    state.q = q
    system.realize(state, mb.Stage.POSITION)
    targets = [
        hand.get_body_transform(state) @ FRAME,
        rod.find_station_location_in_ground(state, (0, 0, 0.1)),
        system.matter.bodies["left0"].get_body_rotation(state) @ FRAME.R,
    ]
    found = solver.solve(targets, [1, 0, 0, 0, *np.zeros(len(q) - 4)])
    assert found.reached
    state.q = found.q
    system.realize(state, mb.Stage.POSITION)
    assert np.abs(np.asarray(hand.get_body_transform(state) @ FRAME) - np.asarray(targets[0])).max() < 1e-7
    assert np.abs(rod.find_station_location_in_ground(state, (0, 0, 0.1)) - targets[1]).max() < 1e-7
    assert abs(np.linalg.norm(found.q[:4]) - 1.0) < 1e-12


def test_the_null_space_is_used_for_what_is_preferred():
    """At the end no move that keeps the hand lessens the distance: rest - q is in the range of J^T, but for limits."""
    system, state, hand, _ = robot(limits=False)
    rest = np.linspace(-0.5, 0.5, 11)
    free, wishing = (mb.InverseKinematics(system, state, hand, rest=one) for one in (None, rest))
    q = rest + np.array([*np.random.default_rng(7).normal(0, 0.4, 7), 0, 0, 0, 0])
    (target,) = poses(system, state, [q], hand, mb.Transform())
    plain, found = free.solve(target, q), wishing.solve(target, q)
    assert plain.reached and plain.iterations == 0 and found.reached
    assert np.linalg.norm(found.q - rest) < np.linalg.norm(q - rest)
    state.q = found.q
    system.realize(state, mb.Stage.POSITION)
    J = system.matter.calc_frame_jacobian(state, hand, (0, 0, 0))
    null = np.eye(11) - np.linalg.pinv(J) @ J
    assert np.abs(null @ (rest - found.q)).max() < 1e-4


def test_out_of_reach_it_comes_as_near_as_it_can():
    """Of two links in a plane: straight towards the place."""
    system, state = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    system.realize(state, mb.Stage.POSITION)
    tip = lower.get_body_mass_center_station(state)
    solver = mb.InverseKinematics(system, state, (lower, tip, "position"))
    found = solver.solve((3.0, 4.0, 0.0), (0.1, 0.2))
    state.q = found.q
    system.realize(state, mb.Stage.POSITION)
    place = lower.find_station_location_in_ground(state, tip)
    assert not found.reached and abs(found.error - np.linalg.norm(place - [3, 4, 0])) < 1e-12
    assert np.abs(place / np.linalg.norm(place) - [0.6, 0.8, 0]).max() < 1e-4


def test_speeds_of_one_period_lead_there_within_limits():
    system, state, hand, _ = robot()
    solver = mb.InverseKinematics(system, state, hand)
    q, goal = np.zeros(11), np.array([0.3, -0.2, 0.4, 0.1, -0.3, 0.2, 0.1, 0, 0, 0, 0])
    (target,) = poses(system, state, [goal], hand, mb.Transform())
    errors = []
    for _ in range(200):
        u = solver.calc_speeds(target, q, 0.01, max_speed=1.0)
        assert np.abs(u).max() <= 1.0 + 1e-12
        q = q + 0.01 * u
        errors.append(np.abs(poses(system, state, [q], hand, mb.Transform())[0] - target).max())
    assert errors[-1] < 1e-8 and errors[0] < 0.9


def test_speeds_of_a_floating_base_are_its_own():
    """A base that alone may move: the hand's velocity leads straight to the target, for which q + N u h stands."""
    system, state, hand, _ = robot(floating=True)
    base = [("base", k) for k in range(6)]
    solver = mb.InverseKinematics(system, state, hand, mobilities=base, limits={})
    q = np.array([0.8, 0.2, -0.4, 0.4, 0.1, 0.2, 0.3, *np.full(11, 0.3)])
    q[:4] /= np.linalg.norm(q[:4])
    state.q = q
    system.realize(state, mb.Stage.POSITION)
    turn = mb.Rotation.about_axis(0.002, "y")
    ahead = np.asarray(hand.get_body_origin_location(state)) + np.array([0.001, -0.002, 0.003])
    target = mb.Transform(turn @ hand.get_body_rotation(state), ahead)
    u = solver.calc_speeds(target, q, 0.01, max_speed=10.0)
    state.u = u
    system.realize(state, mb.Stage.VELOCITY)
    w, v = hand.get_body_velocity(state)
    assert np.abs(w - [0, 0.2, 0]).max() < 2e-3 and np.abs(v - [0.1, -0.2, 0.3]).max() < 2e-3 and not u[6:].any()


def test_what_is_locked_or_not_listed_stays():
    system, state, hand, _ = robot()
    held = system.matter.bodies["hand2"]
    held.set_one_q(state, 0, 0.4)
    held.lock(state)
    system.matter.bodies["hand4"].lock(state, mb.Motion.Level.VELOCITY)
    listed = [(f"hand{k}", 0) for k in range(6)]
    solver = mb.InverseKinematics(system, state, (hand, (0, 0, 0), "position"), mobilities=listed)
    found = solver.solve((0.3, 0.9, 0.2), np.full(11, 0.1))
    assert found.reached and found.q[2] == 0.4 and (found.q[6:] == 0.1).all() and found.q[0] != 0.1 == found.q[4]
    other = state.copy()
    other.q = found.q
    system.prescribe(other)
    system.realize(other, mb.Stage.POSITION)
    assert np.abs(hand.get_body_origin_location(other) - (0.3, 0.9, 0.2)).max() < 1e-7


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"hands": "nobody"}, KeyError, "nobody"),
        ({"hands": []}, mb.ModelError, "one hand or more"),
        ({"hands": ("hand6", (0, 0, 0), "direction")}, mb.ModelError, "'direction'"),
        ({"weights": (0.0, 1.0)}, ValueError, "weights"),
        ({"limits": {("hand0", 0): (1.0, -1.0)}}, mb.ModelError, "at most the upper"),
        ({"limits": {("hand0", 0): (np.nan, 1.0)}}, mb.ModelError, "at most the upper"),
        ({"limits": {("hand0", 0): 1.0}}, ValueError, "two numbers"),
        ({"weights": (1.0, 1.0, 1.0)}, ValueError, "weights are two numbers"),
        ({"limits": {("hand0", 3): (1.0, 2.0)}}, IndexError, "which_u is 3"),
        ({"limits": [(0.0, 1.0)] * 11}, TypeError, "limits are a mapping"),
        ({"mobilities": [3]}, TypeError, "a pair of a mobilized body and a number"),
        ({"rest": np.zeros(3)}, ValueError, "rest is 11"),
    ],
)
def test_hands_that_are_wrong_are_refused(arguments, error, says):
    system, state, _, _ = robot()
    with pytest.raises((error, mb.MobodError), match=says):
        mb.InverseKinematics(system, state, **{"hands": "hand6", **arguments})


def test_targets_and_seeds_that_are_wrong_are_refused():
    system, state, hand, rod = robot()
    solver = mb.InverseKinematics(system, state, [hand, (rod, (0, 0, 0), "position")])
    with pytest.raises(ValueError, match="2 hands, and 1 targets"):
        solver.solve(mb.Transform())
    with pytest.raises(ValueError, match="target of a hand's pose"):
        solver.solve([(0, 0, 0), (0, 0, 0)])
    with pytest.raises(ValueError, match="seeds are coordinates"):
        solver.solve([mb.Transform(), (0, 0, 0)], np.zeros(4))
    with pytest.raises(mb.ModelError, match="finite"):
        solver.solve([mb.Transform(), (0, np.nan, 0)])
    with pytest.raises(ValueError, match="3 rows"):
        solver.solve([mb.Transform(), np.zeros((3, 3))], np.zeros((2, 11)))
    with pytest.raises(mb.ModelError, match="right-handed orthonormal"):
        solver.solve([np.ones((4, 4)), (0, 0, 0)])
    with pytest.raises(mb.ModelError, match="a reflection"):
        solver.solve([np.diag([1.0, 1.0, -1.0, 1.0]), (0, 0, 0)])
    with pytest.raises(mb.ModelError, match="seeds have to be finite"):
        solver.solve([mb.Transform(), (0, 0, 0)], np.full(11, np.nan))
    with pytest.raises(ValueError, match="rows of them"):
        solver.solve([mb.Transform(), (0, 0, 0)], np.zeros((0, 11)))
    with pytest.raises(TypeError, match="state of InverseKinematics"):
        mb.InverseKinematics(system, None, hand)
    closed, state = mb.examples.four_bar.build()
    with pytest.raises(mb.ModelError, match="Assembler"):
        mb.InverseKinematics(closed, state, closed.matter.bodies[1])


def test_a_list_of_one_target_is_that_of_one_hand():
    system, state, hand, _ = robot()
    system.realize(state, mb.Stage.POSITION)
    solver, target = mb.InverseKinematics(system, state, [hand]), hand.get_body_transform(state)
    for given in (target, [target]):
        found = solver.solve(given, state.q)
        assert found.reached is True and found.q.shape == state.q.shape
    assert repr(solver) == f"<InverseKinematics: pose of {hand.name!r}; {len(state.u)} mobilities>"
