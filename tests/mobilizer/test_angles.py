"""Gimbal and Bushing: the pins and sliders that they stand for, and what happens near a middle angle of 90 degrees."""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb

DIRECTIONS = list(mb.Direction)
each_direction = pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name.lower())
each_kind = pytest.mark.parametrize("kind", [mb.mobilizer.Gimbal, mb.mobilizer.Bushing], ids=lambda kind: kind.__name__)
either_side = pytest.mark.parametrize("side", [1.0, -1.0], ids=["90", "-90"])


def turned(axis, own):
    """A frame whose own axis is an axis of its base."""
    return mb.Transform(mb.Rotation.from_one_axis(np.eye(3)[axis], own))


def chain(kind, parent, body, X_PF, X_BM, direction):
    """Pins, and for a Bushing sliders before them, in place of one mobilizer: those bodies in the order of its coordinates."""
    links = [(mb.mobilizer.Pin, turned(axis, "z")) for axis in range(3)]
    if kind is mb.mobilizer.Bushing:
        links = [(mb.mobilizer.Slider, turned(axis, "x")) for axis in range(3)] + links
    forward = direction is mb.Direction.FORWARD
    made = []
    for i, (link, X) in enumerate(links if forward else links[::-1]):
        last = i == len(links) - 1
        parent = link(
            parent,
            body if last else mb.body.Massless(),
            X_PF=X_PF @ X if i == 0 else X,
            X_BM=X_BM @ X if last else X,
            direction=direction,
        )
        made.append(parent)
    made = made if forward else made[::-1]
    return made[-3:] + made[:-3]


@each_kind
@each_direction
def test_it_equals_pins_and_sliders_with_massless_bodies_between(kind, direction, make, close):
    """On a moving parent and with bodies after it: poses, velocities, mass matrix, accelerations, forces, energy."""
    X_PF, X_BM, base, body, tips = make.frame(), make.frame(), make.body(), make.body(), [make.body(), make.body()]
    frames = [(make.frame(), make.frame()) for _ in tips]
    models = []
    for together in (True, False):
        model = make.tree(0)
        model.base = mb.mobilizer.Free(model.matter.ground, base)
        if together:
            end = kind(model.base, body, X_PF=X_PF, X_BM=X_BM, direction=direction)
            model.joint = [end]
        else:
            model.joint = chain(kind, model.base, body, X_PF, X_BM, direction)
            end = model.bodies[-1]
        model.rest = [end]
        for tip_kind, tip, (F, M) in zip((mb.mobilizer.Pin, mb.mobilizer.Ball), tips, frames, strict=True):
            model.rest.append(tip_kind(model.rest[-1], tip, X_PF=F, X_BM=M))
        model.gravity.set_default_gravity_vector((1, -9, 2))
        models.append(model.made())
    one, two = models
    one.randomize(mb.Stage.MODEL)
    for what in "qu":
        pairs = [(one.base, two.base), *zip(one.rest[1:], two.rest[1:], strict=True)]
        for a, b in pairs:
            getattr(b, f"set_{what}_from_vector")(two.state, getattr(a, f"get_{what}_as_vector")(one.state))
        for b, value in zip(two.joint, getattr(one.joint[0], f"get_{what}_as_vector")(one.state), strict=True):
            getattr(b, f"set_{what}")(two.state, value)
    for model in models:
        model.system.realize(model.state)
    order = np.concatenate([np.arange(len(two.state.u))[b.u_slice(two.state)] for b in [two.base, *two.joint, *two.rest[1:]]])
    for a, b in zip([one.base, *one.rest], [two.base, *two.rest], strict=True):
        close(np.asarray(b.get_body_transform(two.state)), np.asarray(a.get_body_transform(one.state)), 1e-13, 10.0)
        close(b.get_body_velocity(two.state), a.get_body_velocity(one.state), 1e-13, 100.0)
        # two different eliminations of one mass matrix of a condition of up to 1e3
        close(b.get_body_acceleration(two.state), a.get_body_acceleration(one.state), 1e-11, 1000.0)
    close(two.state.u_dot[order], one.state.u_dot, 1e-11, max(1000.0, np.abs(one.state.u_dot).max()))
    M = [model.matter.calc_m(model.state) for model in models]
    close(M[1][np.ix_(order, order)], M[0], 1e-13, 100.0)
    u_dot = make.vector(len(order))
    f = one.matter.calc_residual_force_ignoring_constraints(one.state, None, None, u_dot)
    g = two.matter.calc_residual_force_ignoring_constraints(two.state, None, None, u_dot[np.argsort(order)])
    close(g[order], f, 1e-12, 100.0)
    assert two.system.calc_energy(two.state) == pytest.approx(one.system.calc_energy(one.state), rel=1e-12)


# ---------------------------------------------------------------------------------------------- fitting


@each_kind
@each_direction
@either_side
@pytest.mark.parametrize("distance", [0.0, 1e-15, 1e-12, 1e-8, 1e-4, 0.1])
def test_angular_velocity_fits_as_well_as_it_can_near_the_singular_angle(kind, direction, side, distance, make):
    """What cannot be reached at the singular angle itself is all that may be missing, beside u's own rounding."""
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground, direction=direction)
    other = make.mobilized_body(mb.mobilizer.Ball, body)
    state = model.made().randomize(mb.Stage.MODEL)
    body.set_one_q(state, 1, side * (np.pi / 2 - distance))
    w, v = make.vector(), make.vector()
    before = state.u.copy()
    body.set_u_to_fit_angular_velocity(state, w)
    assert np.array_equal(body.get_u(state)[3:], before[body.u_slice(state)][3:]), "sliding stays"
    u = body.get_u(state)
    model.system.realize(state, mb.Stage.VELOCITY)
    H = np.array([body.get_h_fm_col(state, i) for i in range(3)])[:, 0].T
    missing = np.linalg.norm(body.get_mobilizer_velocity(state)[0] - w)
    lost = np.linalg.svd(H)[0][:, 2]  # the direction that is left out at the singular angle
    if distance < 1e-14:
        assert missing <= abs(lost @ w) + 1e-14 and np.all(np.isfinite(u))
    else:
        assert missing <= 1e-14 / distance and np.linalg.norm(u[:3]) < 10.0 / distance
    body.set_u_to_fit_velocity(state, (w, v))
    model.system.realize(state, mb.Stage.VELOCITY)
    V = body.get_mobilizer_velocity(state)
    assert np.all(np.isfinite(V))
    if distance >= 1e-12:
        assert np.linalg.norm(V[0] - w) <= 1e-13 / distance
        if kind is mb.mobilizer.Bushing:
            assert np.linalg.norm(V[1] - v) <= 1e-13 / distance
    assert np.array_equal(other.get_u(state), before[other.u_slice(state)]), "another mobilizer is left alone"


@each_kind
@each_direction
@either_side
@pytest.mark.parametrize("distance", [0.0, 1e-15, 1e-8, 1e-3])
def test_rotations_near_the_singular_angle_are_fitted_exactly(kind, direction, side, distance, make, close):
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground, direction=direction)
    state = model.made().state
    R = mb.Rotation.from_body_fixed_xyz((*make.vector(1, 3.0), side * (np.pi / 2 - distance), *make.vector(1, 3.0)))
    body.set_q_to_fit_transform(state, mb.Transform(R, (1, 2, 3)))
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state).R), np.asarray(R), 1e-14)
    if kind is mb.mobilizer.Bushing:
        close(body.get_mobilizer_transform(state).p, (1, 2, 3), 1e-14)


# ---------------------------------------------------------------------------------------------- near and at the singular angle


@pytest.fixture
def arm(make):
    """A kind at given angles with a child, and a mobilizer without a singularity in the same pose and motion."""
    X_PF, X_BM, body, tip, F, M = make.frame(), make.frame(), make.body(), make.body(), make.frame(), make.frame()
    angles, rates, rest = make.vector(3), make.vector(3), make.vector(6)

    def build(kind, middle):
        models = []
        for chosen in (kind, mb.mobilizer.Ball if kind is mb.mobilizer.Gimbal else mb.mobilizer.Free):
            model = make.tree(0)
            model.arm = chosen(model.matter.ground, body, X_PF=X_PF, X_BM=X_BM, name="arm")
            model.tip = mb.mobilizer.Pin(model.arm, tip, X_PF=F, X_BM=M)
            model.gravity.set_default_gravity_vector((1, -9, 2))
            models.append(model.made())
            model.tip.set_angle(model.state, rest[0])
            model.tip.set_rate(model.state, rest[1])
        own, reference = models
        n = kind.facts.num_q
        own.arm.set_q(own.state, [angles[0], middle, angles[2], *rest[: n - 3]])
        own.arm.set_u(own.state, [*rates, *rest[: n - 3]])
        own.system.realize(own.state, mb.Stage.VELOCITY)
        reference.arm.set_q_to_fit_transform(reference.state, own.arm.get_mobilizer_transform(own.state))
        reference.arm.set_u_to_fit_velocity(reference.state, own.arm.get_mobilizer_velocity(own.state))
        reference.system.realize(reference.state)
        return own, reference

    return build


@each_kind
@either_side
@pytest.mark.parametrize("distance", [0.1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13])
def test_accelerations_are_finite_and_right_up_to_the_singular_angle(kind, side, distance, arm, close):
    """A Ball or Free in the same motion moves likewise. Angles lose the digits that their distance from 90 degrees loses."""
    own, reference = arm(kind, side * (np.pi / 2 - distance))
    own.system.realize(own.state)
    assert np.all(np.isfinite(own.state.u_dot))
    A = reference.arm.get_body_acceleration(reference.state)
    close(own.arm.get_body_acceleration(own.state), A, 1e-12 + 1e-14 / distance, np.abs(A).max())
    P = own.matter.get_articulated_body_inertia(own.state, own.arm)
    close(np.asarray(P), np.asarray(reference.matter.get_articulated_body_inertia(reference.state, reference.arm)), 1e-12)


@each_kind
@either_side
def test_at_the_singular_angle_the_error_names_the_mobilizer_and_the_angle(kind, side, arm):
    own, _ = arm(kind, side * np.pi / 2)
    system, state = own.system, own.state
    assert np.all(np.isfinite(own.arm.get_body_velocity(state))), "kinematics know no singularity"
    y = state.y.copy()
    with pytest.raises(mb.ModelError, match=r"mobility 2 of 'arm'.*mass matrix is singular.*its q\[1\].* is -?90 degrees"):
        system.realize(state)
    assert state.stage == mb.Stage.VELOCITY and np.array_equal(state.y, y)
    own.arm.set_one_q(state, 1, 0.5)
    system.realize(state)


@each_kind
def test_no_inertia_is_not_taken_for_a_singular_angle(kind, make):
    model = make.tree(0)
    arm = kind(model.matter.ground, mb.body.Massless(), name="arm")
    state = model.made().state
    arm.set_one_q(state, 1, np.pi / 2)
    with pytest.raises(mb.ModelError, match="'arm' has no inertia to move"):
        model.system.realize(state)


def test_a_bad_state_of_an_ensemble_is_flagged_and_does_not_stop_the_others(arm, close):
    own, _ = arm(mb.mobilizer.Gimbal, 0.3)
    own.system.realize(own.state)
    ensemble = mb.Ensemble(own.system, 5)
    q = np.tile(own.state.q, (5, 1))
    q[3, 1] = np.pi / 2
    ensemble.q, ensemble.u = q, np.tile(own.state.u, (5, 1))
    ensemble.realize(mb.Stage.ACCELERATION)
    assert np.array_equal(ensemble.failed, [False, False, False, True, False])
    close(ensemble.u_dot[[0, 1, 2, 4]], np.tile(own.state.u_dot, (4, 1)), 1e-12)


def test_a_far_angle_is_not_called_singular(arm):
    """Two turns on, 810 degrees are 90 again; 180 and 0 are not."""
    for middle, near in ((0.0, False), (np.pi, False), (1.45, False), (4.5 * np.pi + 0.01, True), (-1.53, True)):
        own, _ = arm(mb.mobilizer.Gimbal, middle)
        text = own.arm.singularity(own.state)
        assert (text is not None) == near
        assert not near or f"{np.degrees(middle):.9g} degrees" in text


# ---------------------------------------------------------------------------------------------- the radius for pictures


@pytest.mark.parametrize("kind", [mb.mobilizer.Gimbal, mb.mobilizer.Ball], ids=lambda kind: kind.__name__)
def test_the_radius_for_pictures_changes_nothing_else(kind, make):
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground)
    model.made().randomize()
    assert body.get_default_radius() == 0.1
    assert body.set_default_radius(0.25) is body and body.get_default_radius() == 0.25
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=body.name):
            body.set_default_radius(bad)
    assert body.get_default_radius() == 0.25
    model.system.realize(model.state)  # no topological change
    assert body.clone_for_new_parent(make.tree(0).matter.ground).get_default_radius() == 0.25
    for copied in (copy.deepcopy(model.system), pickle.loads(pickle.dumps(model.system))):
        assert copied.matter.bodies[1].get_default_radius() == 0.25
