"""Quaternions and body-fixed angles are two names for one motion: every kind with an orientation among its q, in both.

u means the same in both. Tolerances: 1e-12 for positions and velocities (tens of roundings; angles are drawn away from their
singularity, or come from a random rotation and amplify by 1/cos(q1)), 1e-9 for accelerations, for the condition of the mass
matrix of up to 1e3, and that amplification.
"""

import numpy as np
import pytest

import mobod as mb
from kinds.mobilizers import MOBILIZERS
from mobod.mobilizer import KINDS

ORIENTED = [kind for kind in KINDS if kind.facts.has_quaternion]
each_kind = pytest.mark.parametrize("kind", ORIENTED, ids=lambda kind: kind.__name__)
each_direction = pytest.mark.parametrize("direction", list(mb.Direction), ids=lambda d: d.name.lower())


def test_the_kinds_with_a_quaternion_are_those():
    """What the others are tested for: a kind that lost its quaternion would else go unnoticed."""
    assert set(ORIENTED) == {kind for kind in KINDS if MOBILIZERS[kind].quaternion}


@pytest.fixture
def single(make):
    """A body of one kind between a parent that moves in every way and a child; randomized in one of the representations."""

    def build(kind, direction=mb.Direction.FORWARD, euler=False):
        model = make.tree(0)
        parent = make.mobilized_body(mb.mobilizer.Free, model.matter.ground, direction=mb.Direction.FORWARD)
        model.body = make.mobilized_body(kind, parent, direction=direction)
        make.mobilized_body(mb.mobilizer.Pin, model.body)
        model.made()
        model.matter.set_use_euler_angles(model.state, euler)
        model.system.realize_model(model.state)
        model.randomize()
        return model

    return build


def the_other(model, state):
    """The state converted, and realized."""
    matter = model.matter
    angles = matter.get_use_euler_angles(state)
    other = (matter.convert_to_quaternions if angles else matter.convert_to_euler_angles)(state)
    assert matter.get_use_euler_angles(other) != angles
    model.system.realize(other)
    return other


def assert_same_physics(model, one, two, close):
    matter = model.matter
    assert np.array_equal(two.u, one.u) and two.time == one.time
    close(two.u_dot, one.u_dot, 1e-9, max(10.0, np.abs(one.u_dot).max()))
    for body in model.bodies[1:]:
        close(np.asarray(body.get_body_transform(two)), np.asarray(body.get_body_transform(one)), 1e-12, 10.0)
        close(body.get_body_velocity(two), body.get_body_velocity(one), 1e-12, 10.0)
        A = body.get_body_acceleration(one)
        close(body.get_body_acceleration(two), A, 1e-9, max(10.0, np.abs(A).max()))
        X_FM = np.asarray(body.get_mobilizer_transform(one))
        close(np.asarray(body.get_mobilizer_transform(two)), X_FM, 1e-12, 1.0)
        close(body.get_mobilizer_velocity(two), body.get_mobilizer_velocity(one), 1e-12, 10.0)
    close(matter.calc_m(two), matter.calc_m(one), 1e-12, 10.0)
    close(model.system.calc_energy(two), model.system.calc_energy(one), 1e-12, 100.0)


@each_kind
@each_direction
@pytest.mark.parametrize("euler", [False, True], ids=["from quaternions", "from angles"])
def test_the_same_motion_has_the_same_physics_in_the_other_representation_and_back(kind, direction, euler, single, close):
    model = single(kind, direction, euler)
    state, body = model.state, model.body
    before = state.y.copy()
    other = the_other(model, state)
    assert body.get_num_q(other) == kind.facts.num_q - (not euler) and body.get_num_u(other) == kind.facts.num_u
    assert_same_physics(model, state, other, close)
    back = the_other(model, other)
    assert_same_physics(model, state, back, close)
    assert np.array_equal(state.y, before) and state.stage == mb.Stage.ACCELERATION, "what is converted stays as it was"
    # a quaternion and its negative are one rotation; angles drawn within a right angle are those that come back
    close(np.abs(back.q) if not euler else back.q, np.abs(state.q) if not euler else state.q, 1e-11, 1.0)


@each_kind
@each_direction
def test_rates_of_the_angles_are_those_of_the_quaternions_angles(kind, direction, single, derivative, close):
    """q_dot and q_dot_dot of one representation are the rates of what converting the other gives, a moment later."""
    model = single(kind, direction, True)
    state, matter, body = model.state, model.matter, model.body
    part = body.q_slice(state)
    quaternions = the_other(model, state)

    def angles(h):
        return matter.convert_to_euler_angles(model.moved(h, quaternions)).q[part]

    def rates(h):
        moved = matter.convert_to_euler_angles(model.moved(h, quaternions))
        model.system.realize(moved, mb.Stage.VELOCITY)
        return moved.q_dot[part]

    close(state.q_dot[part], derivative(angles), 1e-8, 10.0)
    close(state.q_dot_dot[part], derivative(rates), 1e-7, max(100.0, np.abs(state.q_dot_dot).max()))
    # and the quaternion stays of its length: q.q_dot = 0, q.q_dot_dot + q_dot.q_dot = 0
    first = body.get_first_q_index(quaternions)
    q, q_dot, q_dot_dot = (array[first : first + 4] for array in (quaternions.q, quaternions.q_dot, quaternions.q_dot_dot))
    close(q @ q_dot, 0.0, 1e-14, 10.0)
    close(q @ q_dot_dot + q_dot @ q_dot, 0.0, 1e-12, max(10.0, np.abs(q_dot_dot).max()))


@each_kind
@pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])
def test_speeds_follow_from_the_rates_of_coordinates(kind, euler, single, close):
    model = single(kind, euler=euler)
    matter, state = model.matter, model.state
    close(matter.multiply_by_n_inv(state, False, state.q_dot), state.u, 1e-12)
    close(matter.calc_q_dot(state, state.u), state.q_dot, 1e-13)
    close(matter.calc_q_dot_dot(state, state.u_dot), state.q_dot_dot, 1e-12)


@each_kind
@each_direction
def test_what_a_state_has_changed_stays_when_it_is_converted(kind, direction, single, make, close):
    """Frames and the kind's parameters of this state alone."""
    model = single(kind, direction)
    state, body = model.state, model.body
    X_PF, X_BM = make.frame(), make.frame()
    body.set_inboard_frame(state, X_PF)
    body.set_outboard_frame(state, X_BM)
    n = kind.facts.num_parameters
    values = make.rng.uniform(0.5, 1.5, n)
    if n:
        body.number_run(state, "test", True)[:] = values
    model.system.realize(state)
    other = the_other(model, state)
    assert np.array_equal(np.asarray(body.get_inboard_frame(other)), np.asarray(X_PF))
    assert np.array_equal(np.asarray(body.get_outboard_frame(other)), np.asarray(X_BM))
    assert np.array_equal(body.number_run(other, "test"), values)
    assert_same_physics(model, state, other, close)


@each_kind
def test_a_quaternion_is_counted_pooled_measured_and_normalized(kind, single, make, close):
    model = single(kind)
    matter, state, body = model.matter, model.state, model.body
    parent, child = model.bodies[1], model.bodies[3]
    assert matter.get_num_quaternions_in_use(state) == 2
    assert [matter.is_using_quaternion(state, b) for b in (parent, body, child)] == [True, True, False]
    assert matter.get_quaternion_pool_index(state, parent) == 0 and matter.get_quaternion_pool_index(state, body) == 1
    first = body.get_first_q_index(state)
    rest = np.delete(np.arange(len(state.q)), range(first, first + 4))
    unit, others = state.q[first : first + 4].copy(), state.q[rest].copy()
    state.upd_q()[first : first + 4] *= 2.5
    model.system.realize(state)
    long = state.copy()
    close(state.q_err, [0.0, 1.5], 1e-14, 1.0)
    matter.normalize_quaternions(state)
    model.system.realize(state)
    close(state.q[first : first + 4], unit, 1e-15)
    close(state.q[rest], others, 1e-15, 1.0)  # the base's quaternion is scaled too, by rounding
    model.system.realize(long)
    assert_same_physics(model, state, long, close)

    angles = the_other(model, state)
    assert matter.get_num_quaternions_in_use(angles) == 0 and len(angles.q_err) == 0
    assert not matter.is_using_quaternion(angles, body)
    with pytest.raises(ValueError, match="uses no quaternion"):
        matter.get_quaternion_pool_index(angles, body)
    q = angles.q.copy()
    matter.normalize_quaternions(angles)
    assert np.array_equal(angles.q, q)


@pytest.fixture
def drifting(single):
    """No gravity, slow, from a pose where all angles are zero: they stay far from their singularity for a second."""

    def build(kind, direction, euler):
        model = single(kind, direction, euler)
        state = model.state
        model.gravity.disable(state)
        for body in model.bodies[1:3]:
            body.set_q_to_fit_rotation(state, mb.Rotation())
        state.u = 0.3 * state.u
        return model

    return build


@each_kind
@each_direction
def test_both_representations_are_integrated_to_the_same_motion(kind, direction, drifting, close):
    """Two sets of steps, of up to some hundreds at accuracy 1e-9."""
    model = drifting(kind, direction, True)
    runs = []
    for start in (model.state, model.matter.convert_to_quaternions(model.state)):
        runs.append(mb.simulate(model.system, start, 0.5, accuracy=1e-9, report_interval=0.03))
    scale = max(1.0, np.abs(runs[0].u).max())
    close(runs[1].u, runs[0].u, 1e-6, scale)
    close(runs[1].energy, runs[0].energy, 1e-6, max(1.0, runs[0].energy[0]))
    for one, two in zip(runs[0].states, runs[1].states, strict=True):
        model.system.realize(one, mb.Stage.POSITION)
        model.system.realize(two, mb.Stage.POSITION)
        for body in model.bodies[1:]:
            close(np.asarray(body.get_body_transform(two)), np.asarray(body.get_body_transform(one)), 1e-6, scale)


@each_kind
@pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
def test_reports_between_steps_are_as_good_as_the_steps(kind, euler, accuracy, drifting):
    """u comes from q's polynomial, or of kinds with an N of their own from one of its own: against many small steps."""
    model = drifting(kind, mb.Direction.FORWARD, euler)
    run = mb.simulate(model.system, model.state, 0.5, accuracy=accuracy, report_interval=0.005)
    small = mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-10, max_step_size=0.005)
    fine = mb.simulate(model.system, model.state, 0.5, integrator=small, report_interval=0.005)
    assert run.steps_taken < 0.7 * fine.steps_taken, "there are reports between steps"
    assert np.abs(run.q - fine.q).max() < 100.0 * accuracy
    assert np.abs(run.u - fine.u).max() < 100.0 * accuracy * max(1.0, np.abs(fine.u).max())
