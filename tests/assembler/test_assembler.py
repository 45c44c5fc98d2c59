"""Constraints as requirements and as goals, locks, ranges, prescribed motion, failures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from models import chain, observed, rigid

PIN, BALL, SLIDER = mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Slider


def four_bar():
    """Three pins of length 1 whose end is tied to (2, 0, 0) in the plane."""
    system, bodies = chain([PIN] * 3)
    mb.constraint.Rod(bodies[0], (2.0, 0.5, 0.0), bodies[3], (0.0, 0.0, 0.0), 0.5)
    return system, bodies, system.realize_topology()


def residual(system, state):
    system.realize(state, mb.Stage.POSITION)
    return np.abs(state.q_err).max()


def test_constraints_are_met_from_anywhere(rng):
    system, _, state = four_bar()
    assembler = mb.Assembler(system)
    for _ in range(50):
        state.q = rng.uniform(-np.pi, np.pi, 3)
        assert assembler.assemble(state) == 0.0
        assert residual(system, state) < 1e-8  # Newton's method goes well beyond the tolerance of 1e-4


def test_an_assembled_state_stays_as_it_is(rng):
    system, _, state = four_bar()
    assembler = mb.Assembler(system)
    state.q = rng.uniform(-1, 1, 3)
    state.u = rng.uniform(-1, 1, 3)
    assembler.assemble(state)
    before, u = state.q.copy(), state.u.copy()
    assembler.assemble(state)
    assert_allclose(state.q, before, atol=1e-12)  # what rounding of errors moves
    assert np.array_equal(state.u, u)


@pytest.mark.parametrize("seed", range(5))
def test_never_worse(seed):
    """A state within the tolerance, and a goal that has nothing to gain, or only a little."""
    rng = np.random.default_rng(seed)
    system, bodies, state = four_bar()
    state.q = rng.uniform(-1, 1, 3)
    assembler = mb.Assembler(system)
    assembler.assemble(state)
    state.q = state.q + rng.uniform(-3e-5, 3e-5, 3)
    before = residual(system, state)
    goal = mb.assembler.QValue(bodies[1], 0, state.q[0] + 1e-3)
    assembler.adopt_assembly_goal(goal)
    assembler.initialize(state)
    at_start = assembler.calc_current_goal()
    assert before <= 1e-4
    assert assembler.assemble(state) <= at_start
    assert residual(system, state) <= max(before, 1e-8)


def test_out_of_a_saddle():
    """A pendulum that hangs straight away from where its marker is wanted: the gradient is zero there."""
    system, bodies = chain([PIN, BALL])
    state = system.realize_topology()
    markers = mb.assembler.Markers()
    markers.add_marker("tip", bodies[1], (0, 0, 0))
    markers.move_all_observations([(0, 1, 0)])
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(markers)
    assert assembler.assemble(state) < 1e-12
    assert_allclose(abs(state.q[0]), np.pi, atol=1e-5)


def test_a_failure_names_what_is_left_and_leaves_the_state():
    system, bodies = chain([PIN] * 2)
    mb.constraint.Rod(bodies[0], (5.0, 0.0, 0.0), bodies[2], (0.0, 0.0, 0.0), 1.0, name="too far")
    state = system.realize_topology()
    state.q = [0.3, 0.4]
    assembler = mb.Assembler(system)
    with pytest.raises(mb.ConvergenceError, match=r"2 of <Rod 'too far'>.*2 of 2 q are free") as caught:
        assembler.assemble(state)
    assert state.q.tolist() == [0.3, 0.4]
    assert assembler.get_internal_state().q.tolist() == [0.3, 0.4]
    assert caught.value.diagnosis is not None and len(caught.value.diagnosis.equations) == 1
    with pytest.raises(mb.ConvergenceError, match="cannot be tracked"):
        assembler.track(3.0)
    assert assembler.get_internal_state().time == 0.0
    # as a goal it comes as near as it can: straight towards the far end, 2 being left
    assembler.set_system_constraints_weight(2.0)
    assert_allclose(assembler.assemble(state), 2.0 * 2.0**2 / 2.0, rtol=1e-6)
    assert assembler.calc_current_error_norm() == 0.0
    assembler.set_system_constraints_weight(0.0)
    state.q = [0.3, 0.4]
    assert assembler.assemble(state) == 0.0 and state.q.tolist() == [0.3, 0.4]


def test_locked_ones_stay(rng):
    system, bodies, state = four_bar()
    assembler = mb.Assembler(system)
    state.q = [0.8, 0.9, 0.7]
    assembler.lock_mobilizer(bodies[1])
    assembler.assemble(state)
    assert state.q[0] == 0.8 and residual(system, state) < 1e-8
    assert assembler.get_num_free_qs() == 2
    assert [assembler.get_free_q_index_of_q(q) for q in range(3)] == [None, 0, 1]
    assert assembler.get_q_index_of_free_q(1) == 2
    assembler.unlock_mobilizer(bodies[1])
    assembler.lock_q(bodies[2], 0)
    state.q = [0.8, 0.9, 0.7]
    assembler.assemble(state)
    assert state.q[1] == 0.9 and state.q[0] != 0.8
    assembler.unlock_q(bodies[2], 0)
    assert assembler.get_num_free_qs() == 3


def test_locks_and_motions_of_the_state_are_kept():
    system, bodies = chain([PIN] * 4)
    mb.constraint.Rod(bodies[0], (2.0, 0.5, 0.0), bodies[4], (0.0, 0.0, 0.0), 0.5)
    mb.motion.Sinusoid(bodies[1], mb.Motion.Level.POSITION, 0.4, 2.0, 0.3)
    state = system.realize_topology()
    state.q = [0.0, 0.5, 0.6, 0.7]
    state.time = 0.7
    bodies[2].lock(state)
    assembler = mb.Assembler(system)
    assembler.assemble(state)
    assert assembler.get_num_free_qs() == 2
    assert_allclose(state.q[0], 0.4 * np.sin(2.0 * 0.7 + 0.3), rtol=1e-14)
    assert state.q[1] == 0.5
    assert residual(system, state) < 1e-8
    assembler.track(0.75)
    assembler.update_from_internal_state(state)
    assert_allclose(state.q[0], 0.4 * np.sin(2.0 * 0.75 + 0.3), rtol=1e-14)
    assert state.time == 0.7  # q alone
    assert residual(system, state) < 1e-8


def test_ranges_hold_exactly(rng):
    system, bodies, state = four_bar()
    assembler = mb.Assembler(system)
    goal = mb.assembler.QValue(bodies[1], 0, 2.0)
    assembler.adopt_assembly_goal(goal)
    assembler.restrict_q(bodies[1], 0, -0.5, 0.25)
    assembler.restrict_q(bodies[3], 0, 0.1, np.inf)
    for _ in range(20):
        state.q = rng.uniform(-1.5, 1.5, 3)
        assembler.assemble(state)
        assert -0.5 <= state.q[0] <= 0.25 and state.q[2] >= 0.1
        assert residual(system, state) < 1e-4
    assert state.q[0] == 0.25
    assert assembler.get_free_q_bounds(0) == (-0.5, 0.25)
    assert assembler.get_free_q_bounds(1) == (-np.inf, np.inf)
    assembler.unrestrict_q(bodies[1], 0)
    assembler.assemble(state)
    assert state.q[0] > 0.25


def test_a_range_that_shuts_the_way_is_a_failure_that_says_so():
    system, bodies, state = four_bar()
    assembler = mb.Assembler(system)
    assembler.restrict_q(bodies[1], 0, -1.6, -1.5)
    assembler.restrict_q(bodies[2], 0, -1.6, -1.5)
    with pytest.raises(mb.ConvergenceError, match="locks or restricts"):
        assembler.assemble(state)


def test_requirement_and_goals():
    """Of two pins one angle is required and a sum of weights decides about the other."""
    system, bodies = chain([PIN] * 2)
    state = system.realize_topology()
    assembler = mb.Assembler(system)
    required = assembler.adopt_assembly_error(mb.assembler.QValue(bodies[1], 0, 0.3))
    low = assembler.adopt_assembly_goal(mb.assembler.QValue(bodies[2], 0, 0.0), 1.0)
    assembler.adopt_assembly_goal(mb.assembler.QValue(bodies[2], 0, 1.0), 3.0)
    # least of q^2 / 2 + 3 (q - 1)^2 / 2
    assert_allclose(assembler.assemble(state), 0.5 * (0.75**2 + 3 * 0.25**2), rtol=1e-12)
    assert_allclose(state.q, [0.3, 0.75], atol=1e-6)  # the least part of the accuracy that damping leaves
    assert assembler.get_assembly_condition_weight(required) == np.inf
    assembler.set_assembly_condition_weight(low, 0.0)
    assembler.assemble(state)
    assert_allclose(state.q[1], 1.0, atol=1e-6)
    assembler.get_assembly_condition(required).set_value(0.5)
    assert assembler.is_initialized()
    assembler.track()
    assert_allclose(assembler.get_internal_state().q[0], 0.5, atol=1e-12)


def test_norms_and_settings():
    system, bodies = chain([PIN] * 4)
    state = system.realize_topology()
    assembler = mb.Assembler(system)
    assert assembler.get_accuracy_in_use() == 1e-3 and assembler.get_error_tolerance_in_use() == 1e-4
    assembler.set_accuracy(1e-5)
    assert_allclose(assembler.get_error_tolerance_in_use(), 1e-6)
    assembler.set_error_tolerance(1e-3)
    assert assembler.get_error_tolerance_in_use() == 1e-3
    for body, value in zip(bodies[1:], (1, 2, 2, 0), strict=True):
        assembler.adopt_assembly_error(mb.assembler.QValue(body, 0, value))
    assembler.initialize(state)
    assert assembler.calc_current_error_norm() == 2.0
    assembler.set_use_rms_error_norm(True)
    assert assembler.calc_current_error_norm() == 1.5
    assembler.assemble(state)
    assert_allclose(state.q, [1, 2, 2, 0], atol=1e-12)
    assert assembler.get_num_assembly_steps() == 1
    assert assembler.get_num_error_evals() > 1 and assembler.get_num_error_jacobian_evals() > 1
    assembler.reset_stats()
    assert assembler.get_num_error_evals() == assembler.get_num_initializations() == 0
    seen = []
    assembler.add_reporter(lambda state: seen.append(state.q.copy()))
    assembler.track()
    assert len(seen) == 1 and assembler.get_num_assembly_steps() == 1


def test_representations_agree(rng):
    """With angles in place of quaternions the same configuration is found."""
    system, bodies = chain([BALL, PIN, BALL])
    mb.constraint.Ball(bodies[0], (0.7, -1.0, 0.2), bodies[3], (0.0, -0.2, 0.0))
    state = system.realize_topology()
    for body in bodies[1:]:
        body.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.4, "x"))
    markers = mb.assembler.Markers()
    for body in bodies[1:]:
        for _ in range(2):
            markers.add_marker(None, body, rng.uniform(-0.5, 0.5, 3))
    assembler = mb.Assembler(system)
    assembler.set_accuracy(1e-6)
    assembler.adopt_assembly_goal(markers)
    tied = state.copy()
    assembler.set_assembly_condition_weight(markers, 0.0)
    assembler.assemble(tied)
    markers.move_all_observations(observed(system, tied, markers) + rng.uniform(-0.05, 0.05, (6, 3)))
    assembler.set_assembly_condition_weight(markers, 1.0)
    state.q = tied.q
    angles = system.matter.convert_to_euler_angles(state)
    one, two = assembler.assemble(state), assembler.assemble(angles)
    assert_allclose(one, two, rtol=1e-8)
    assert residual(system, angles) < 1e-8
    with_quaternions = system.matter.convert_to_quaternions(angles)
    assembler.update_from_internal_state(with_quaternions)
    system.realize(state, mb.Stage.POSITION)
    system.realize(with_quaternions, mb.Stage.POSITION)
    for body in bodies[1:]:
        found = [np.asarray(body.get_body_transform(s)) for s in (state, with_quaternions)]
        assert_allclose(found[0], found[1], atol=1e-4)  # the goal is flat at its least
    # an angle can be locked and restricted
    assembler.lock_q(bodies[1], 1)
    assembler.restrict_q(bodies[3], 0, -0.1, 0.1)
    assembler.set_system_constraints_weight(1.0)
    held = angles.q[1]
    assembler.assemble(angles)
    assert angles.q[1] == held and -0.1 <= bodies[3].get_one_q(angles, 0) <= 0.1


def test_every_mobilizer_can_be_assembled(make, rng):
    """Markers bring a random tree of all kinds back to where they were observed, with quaternions and with angles.

    But lines: their speeds do not turn them about their own axis, though some of these together do, by going round.
    """
    lines = mb.mobilizer.LineOrientation, mb.mobilizer.FreeLine
    model = make.tree(kinds=[kind for kind in mb.mobilizer.KINDS if kind not in lines], gravity=False)
    for euler in (False, True):
        state = model.state.copy()
        if euler:
            state = model.matter.convert_to_euler_angles(state)
        model.randomize(mb.Stage.POSITION, state=state)
        markers = mb.assembler.Markers()
        for body in model.bodies[1:]:
            for point in np.vstack([np.eye(3), np.zeros(3)]):
                markers.add_marker(None, body, point)
        assembler = mb.Assembler(model.system)
        assembler.adopt_assembly_goal(markers)
        markers.move_all_observations(
            [body.find_station_location_in_ground(state, p) for body in model.bodies[1:] for p in [*np.eye(3), np.zeros(3)]]
        )
        start = state.copy()
        u = rng.uniform(-0.05, 0.05, len(state.u))
        model.system.realize(start, mb.Stage.VELOCITY)
        start.q = state.q + model.matter.calc_q_dot(start, u)
        assert assembler.assemble(start) < 1e-12


def test_bad_input():
    system, bodies = chain([PIN, BALL])
    state = system.realize_topology()
    other, others = chain([PIN])
    assembler = mb.Assembler(system)
    with pytest.raises(TypeError, match="has to be a MultibodySystem"):
        mb.Assembler(bodies[0])
    with pytest.raises(mb.TopologyError):
        mb.Assembler(mb.MultibodySystem())
    with pytest.raises(TypeError, match="has to be a Condition"):
        assembler.adopt_assembly_goal(3.0)
    goal = mb.assembler.QValue(bodies[1], 0, 0.0)
    for weight in (-1.0, np.nan):
        with pytest.raises(ValueError, match="weight"):
            assembler.adopt_assembly_goal(goal, weight)
    assembler.adopt_assembly_goal(goal)
    with pytest.raises(mb.ModelError, match="in an Assembler already"):
        assembler.adopt_assembly_goal(goal)
    with pytest.raises(IndexError, match="2 conditions"):
        assembler.get_assembly_condition(2)
    with pytest.raises(ValueError, match="accuracy"):
        assembler.set_accuracy(1.0)
    with pytest.raises(ValueError, match="tolerance"):
        assembler.set_error_tolerance(-1.0)
    with pytest.raises(ValueError, match="lower to an upper"):
        assembler.restrict_q(bodies[1], 0, 1.0, 0.0)
    with pytest.raises(IndexError, match="1 q"):
        assembler.lock_q(bodies[1], 1)
    with pytest.raises(mb.TopologyError):
        assembler.lock_mobilizer(others[1])
    other.realize_topology()
    with pytest.raises(mb.TopologyError):
        assembler.assemble(other.get_default_state())
    with pytest.raises(ValueError, match="finite"):
        goal.set_value(np.nan)
    with pytest.raises(ValueError, match="frame_time"):
        assembler.track(np.nan)
    with pytest.raises(TypeError, match="cannot be called"):
        assembler.add_reporter(3)
    assembler.lock_q(bodies[2], 1)
    before = state.q.copy()
    with pytest.raises(ValueError, match=r"part of an orientation.*convert_to_euler_angles"):
        assembler.assemble(state)
    assert np.array_equal(state.q, before)
    assembler.unlock_q(bodies[2], 1)
    assembler.assemble(state)
    state.q = [np.nan, 1, 0, 0, 0]
    with pytest.raises(mb.ModelError, match="nan"):
        assembler.assemble(state)


@pytest.mark.parametrize("euler", [False, True])
def test_lines_point_where_they_are_wanted(euler, rng):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bodies = [mb.mobilizer.FreeLine(matter.ground, rigid()), mb.mobilizer.LineOrientation(matter.ground, rigid())]
    state = system.realize_topology()
    if euler:
        state = matter.convert_to_euler_angles(state)
    markers = mb.assembler.Markers()
    for body in bodies:
        markers.add_marker(None, body, (0, 0, 1))
        markers.add_marker(None, body, (0, 0, 2))
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(markers)
    along, shift = rng.normal(size=3), np.array([3.0, 4.0, 5.0])
    along /= np.linalg.norm(along)
    markers.move_all_observations([along + shift, 2 * along + shift, along, 2 * along])
    assert assembler.assemble(state) < 1e-12
    assert assembler.get_num_free_qs() == len(state.q)


def test_a_slider_and_a_pin(rng):
    """Lengths and angles together: the tip is to be at a point of the plane."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    slider = SLIDER(matter.ground, rigid())
    arm = PIN(slider, rigid())
    mb.constraint.Ball(matter.ground, (30.0, 0.6, 0.0), arm, (1.0, 0.0, 0.0))
    state = system.realize_topology()
    mb.Assembler(system).assemble(state)
    system.realize(state, mb.Stage.POSITION)
    assert_allclose(arm.find_station_location_in_ground(state, (1, 0, 0)), (30, 0.6, 0), atol=1e-8)


@pytest.mark.parametrize("seed", [2, 7, 9, 12, 17, 23])
def test_ranges_that_are_reached_beside_constraints_do_not_end_a_search(seed):
    """An arm whose hand is held, and whose markers pull joints to their limits: what these take, the others make up for."""
    rng = np.random.default_rng(seed)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    link, bodies = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))), [matter.ground]
    for k in range(4):
        X_PF = mb.Transform(mb.Rotation.from_body_fixed_xyz(rng.uniform(-1, 1, 3) * 1.5), (0.3 * (k > 0), 0, 0))
        bodies.append((mb.mobilizer.Universal if k else mb.mobilizer.Ball)(bodies[-1], link, X_PF=X_PF))
    state = system.realize_topology()
    system.realize(state, mb.Stage.POSITION)
    hand = bodies[-1].find_station_location_in_ground(state, (0.2, 0, 0))
    mb.constraint.Ball(matter.ground, hand, bodies[-1], (0.2, 0, 0))
    state = system.realize_topology()
    system.realize(state, mb.Stage.POSITION)
    assembler, markers = mb.Assembler(system), mb.assembler.Markers()
    for body in bodies[2:]:
        for which in (0, 1):
            assembler.restrict_q(body, which, -0.6, 0.6)
    stations = [(body, p) for body in bodies[1:4] for p in ((0.1, 0.1, 0), (0, 0.1, 0.1))]
    for k, (body, p) in enumerate(stations):
        markers.add_marker(f"m{k}", body, p)
    assembler.adopt_assembly_goal(markers)
    assembler.initialize(state)
    seen = [body.find_station_location_in_ground(state, p) + 0.15 * rng.normal(size=3) for body, p in stations]
    markers.move_all_observations(np.array(seen))
    assembler.set_error_tolerance(1e-6)
    assembler.set_accuracy(1e-5)
    assembler.track()
    found = state.copy()
    assembler.update_from_internal_state(found)
    system.realize(found, mb.Stage.POSITION)
    assert np.abs(found.q_err).max() <= 1e-6
    assert all(np.abs(body.get_q(found)).max() <= 0.6 + 1e-12 for body in bodies[2:])
