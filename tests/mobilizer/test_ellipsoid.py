"""Ellipsoid: where it puts M, its radii in states and defaults, and fits that nothing near or far betters."""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb

DIRECTIONS = list(mb.Direction)
each_direction = pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name.lower())
quaternion_or_euler = pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])


@pytest.fixture
def single(make):
    """An Ellipsoid on a Free parent, with a Pin after it."""

    def build(radii=None, direction=mb.Direction.FORWARD, euler=False):
        model = make.tree(0)
        parent = make.mobilized_body(mb.mobilizer.Free, model.matter.ground)
        radii = make.rng.uniform(0.3, 1.5, 3) if radii is None else radii
        model.radii = np.array(radii, dtype=float)
        model.body = mb.mobilizer.Ellipsoid(
            parent, make.body(), X_PF=make.frame(), X_BM=make.frame(), direction=direction, radii=radii, name="egg"
        )
        mb.mobilizer.Pin(model.body, make.body(), X_PF=make.frame())
        model.made()
        model.matter.set_use_euler_angles(model.state, euler)
        model.system.realize_model(model.state)
        model.randomize()
        return model

    return build


@each_direction
@quaternion_or_euler
def test_the_origin_of_m_is_on_the_ellipsoid_where_its_z_axis_points(direction, euler, single, close):
    model = single(direction=direction, euler=euler)
    X = model.body.get_mobilizer_transform(model.state)
    X = X if direction is mb.Direction.FORWARD else ~X
    close(X.p, model.radii * X.R.z_axis, 1e-14)
    assert np.sum((X.p / model.radii) ** 2) == pytest.approx(1.0, abs=1e-13)


def test_with_equal_radii_it_is_a_ball_with_m_moved_along_z(make, close):
    """p_FM = r z, z of M: the point that stays in F is at -r z of M. Equal accelerations of all bodies."""
    r, X_PF, X_BM, base, body, tip = 0.7, make.frame(), make.frame(), make.body(), make.body(), make.body()
    models = []
    for kind in (mb.mobilizer.Ellipsoid, mb.mobilizer.Ball):
        model = make.tree(0)
        free = mb.mobilizer.Free(model.matter.ground, base)
        if kind is mb.mobilizer.Ellipsoid:
            model.body = kind(free, body, X_PF=X_PF, X_BM=X_BM, radii=(r, r, r))
        else:
            model.body = kind(free, body, X_PF=X_PF, X_BM=X_BM @ mb.Transform((0, 0, -r)))
        mb.mobilizer.Pin(model.body, tip, X_PF=mb.Transform((0.1, 0.2, 0.3)))
        model.gravity.set_default_gravity_vector((1, -9, 2))
        models.append(model.made())
    one, two = models
    one.randomize()
    two.state.q, two.state.u = one.state.q, one.state.u
    two.system.realize(two.state)
    close(two.state.u_dot, one.state.u_dot, 1e-11, max(100.0, np.abs(one.state.u_dot).max()))
    for a, b in zip(one.bodies[1:], two.bodies[1:], strict=True):
        close(np.asarray(b.get_body_transform(two.state)), np.asarray(a.get_body_transform(one.state)), 1e-13, 10.0)
        close(b.get_body_acceleration(two.state), a.get_body_acceleration(one.state), 1e-11, 100.0)


def test_its_z_axis_is_the_normal_where_docstrings_say_so(single):
    """Everywhere on a sphere, at the ends of the axes otherwise; see the file's equations."""
    for radii, direction in (((0.5, 0.5, 0.5), (1, 2, 3)), ((0.4, 0.9, 0.6), (0, 1, 0)), ((0.4, 0.9, 0.6), (1, 2, 3))):
        model = single(radii)
        R = mb.Rotation.from_one_axis(direction, "z")
        model.body.set_rotation(model.state, R)
        model.system.realize(model.state, mb.Stage.POSITION)
        X = model.body.get_mobilizer_transform(model.state)
        normal = X.p / model.radii**2
        is_normal = np.linalg.norm(np.cross(normal / np.linalg.norm(normal), X.R.z_axis)) < 1e-14
        assert is_normal == (radii[0] == radii[1] or direction == (0, 1, 0))


# ---------------------------------------------------------------------------------------------- radii


@quaternion_or_euler
def test_radii_of_a_state_are_its_own(euler, single, close):
    """As though the default had been these; other states and the default stay."""
    model = single(euler=euler)
    body, state, radii = model.body, model.state, np.array([0.5, 1.25, 0.8])
    other, before = state.copy(), state.u_dot.copy()
    body.set_radii(state, radii)
    assert state.stage == mb.Stage.MODEL
    assert np.array_equal(body.get_radii(state), radii) and np.array_equal(body.get_radii(other), model.radii)
    assert np.array_equal(body.get_default_radii(), model.radii)
    model.system.realize(state)
    model.system.realize(other)
    assert np.array_equal(other.u_dot, before) and not np.array_equal(state.u_dot, before)
    body.set_default_radii(radii)
    fresh = model.system.realize_topology()
    model.matter.set_use_euler_angles(fresh, euler)
    model.system.realize_model(fresh)
    fresh.q, fresh.u = state.q, state.u
    model.system.realize(fresh)
    assert np.array_equal(fresh.u_dot, state.u_dot)


def test_radii_go_with_copies_pickles_and_clones(single, make):
    model = single((0.5, 0.6, 0.7))
    body, state = model.body, model.state
    body.set_radii(state, (1, 2, 3))
    system, copied = pickle.loads(pickle.dumps((model.system, state)))
    assert np.array_equal(system.matter.bodies["egg"].get_radii(copied), (1, 2, 3))
    assert np.array_equal(system.matter.bodies["egg"].get_default_radii(), (0.5, 0.6, 0.7))
    system, copied = copy.deepcopy((model.system, state))
    assert np.array_equal(system.matter.bodies["egg"].get_radii(copied), (1, 2, 3))
    assert np.array_equal(body.get_radii(state.copy()), (1, 2, 3))
    clone = body.clone_for_new_parent(make.tree(0).matter.ground)
    assert np.array_equal(clone.get_default_radii(), (0.5, 0.6, 0.7))
    plain = mb.mobilizer.Ellipsoid(make.tree(0).matter.ground, make.body())
    assert np.array_equal(plain.get_default_radii(), (1 / 2, 1 / 3, 1 / 4)), "as Simbody has them"


def test_a_changed_default_is_a_topological_change(single):
    model = single()
    model.body.set_default_radii((1, 1, 1))
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        model.system.realize(model.state)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ((1, 1, 0), mb.ModelError),
        ((-1, 0, 1), mb.ModelError),
        ((1, np.nan, 1), mb.ModelError),
        ((1, np.inf, 1), mb.ModelError),
        ((1, 1), ValueError),
        (1.0, ValueError),
        ("wide", TypeError),
        ([[1, 1, 1]], ValueError),
    ],
    ids=str,
)
def test_radii_that_cannot_be_are_refused_and_leave_all_as_it_was(bad, error, single, make):
    model = single()
    body, state = model.body, model.state
    for call in (lambda: body.set_radii(state, bad), lambda: body.set_default_radii(bad)):
        with pytest.raises(error, match="radii of 'egg'"):
            call()
    assert state.stage == mb.Stage.ACCELERATION and np.array_equal(body.get_radii(state), model.radii)
    assert np.array_equal(body.get_default_radii(), model.radii)
    model.system.realize(state)
    count = model.matter.get_num_bodies()
    with pytest.raises(error, match=r"radii of an? Ellipsoid"):
        mb.mobilizer.Ellipsoid(model.matter.ground, make.body(), radii=bad)
    assert model.matter.get_num_bodies() == count


# ---------------------------------------------------------------------------------------------- fits


def misses(model, p, q):
    """Distance of M's origin from p at several q ``(n, 4)`` of the mobilizer, from the equations."""
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=1)[:, None], 1, 0)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]]
    rows += [[2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]]
    rows += [[2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    R = np.moveaxis(np.array(rows), 2, 0)
    place = model.radii * R[:, :, 2]
    if model.body.direction is mb.Direction.REVERSE:
        place = -np.einsum("nji,nj->ni", R, place)
    return np.linalg.norm(place - p, axis=1)


@each_direction
@pytest.mark.parametrize("shape", ["any", "flat", "long", "sphere", "mirrored", "turned over"])
@pytest.mark.parametrize("request_", ["reachable", "near", "far", "center", "on an axis", "in a plane"])
def test_no_orientation_near_or_far_is_closer_than_the_fit(direction, shape, request_, single, make):
    a, b, c = make.rng.uniform(0.3, 1.5, 3)
    radii = {"any": (a, b, c), "flat": (a, a, 0.2), "long": (0.2, b, 0.2), "sphere": (a, a, a)}
    radii |= {"mirrored": (a, -b, c), "turned over": (-a, -b, -c)}
    model = single(radii[shape], direction)
    body, state = model.body, model.state
    place = np.asarray(body.get_mobilizer_transform(model.randomize()).p)
    others = [other for other in model.bodies[1:] if other is not body]
    model.randomize()
    kept = [other.get_q_as_vector(state) for other in others]
    p = {
        "reachable": place,
        "near": place + make.vector(size=0.2),
        "far": make.vector(size=100.0),
        "center": np.zeros(3),
        "on an axis": make.vector(size=0.5) * np.eye(3)[make.rng.integers(3)],
        "in a plane": make.vector(size=0.5) * (1.0 - np.eye(3)[make.rng.integers(3)]),
    }[request_]
    start = body.get_rotation(state)
    body.set_q_to_fit_translation(state, p)
    model.system.realize(state, mb.Stage.POSITION)
    best = np.linalg.norm(body.get_mobilizer_transform(state).p - p)
    q = body.get_q_as_vector(state)
    assert misses(model, p, q[None])[0] == pytest.approx(best, abs=1e-12 * (1.0 + best))
    if request_ == "reachable":
        assert best < 1e-12
    near = q + make.rng.normal(size=(1000, 4)) * 10.0 ** make.rng.uniform(-6.0, 0.0, (1000, 1))
    assert misses(model, p, near).min() >= best - 1e-12 * (1.0 + best)
    assert misses(model, p, make.rng.normal(size=(2000, 4))).min() >= best - 1e-12 * (1.0 + best)
    for other, before in zip(others, kept, strict=True):
        assert np.array_equal(other.get_q_as_vector(state), before)
    if direction is mb.Direction.FORWARD:  # the least turn that brings M's z axis there is about an axis across it
        angle, axis = (body.get_rotation(state) @ ~start).to_angle_axis()
        assert abs(axis @ start.z_axis) < 1e-6 or angle < 1e-6


@each_direction
@quaternion_or_euler
def test_a_place_that_is_there_already_turns_nothing(direction, euler, single, close):
    model = single(direction=direction, euler=euler)
    body, state = model.body, model.state
    before = body.get_mobilizer_transform(state)
    body.set_q_to_fit_translation(state, before.p)
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state)), np.asarray(before), 1e-13)


@each_direction
@quaternion_or_euler
def test_a_pose_is_fitted_by_its_orientation(direction, euler, single, make, close):
    model = single(direction=direction, euler=euler)
    R = make.rotation()
    model.body.set_q_to_fit_transform(model.state, mb.Transform(R, make.vector(size=10.0)))
    model.system.realize(model.state, mb.Stage.POSITION)
    close(np.asarray(model.body.get_mobilizer_transform(model.state).R), np.asarray(R), 1e-14)


@each_direction
@pytest.mark.parametrize("p", [(0, 0, 0), (1e300, 1, 0), (np.inf, 0, 0), (np.inf, -np.inf, 1), (1e-300, 0, -1e-300)], ids=str)
def test_absurd_places_are_fitted_in_their_direction(direction, p, single):
    model = single((0.9, 0.6, 0.3), direction)
    model.body.set_q_to_fit_translation(model.state, p)
    model.system.realize(model.state, mb.Stage.POSITION)
    X = model.body.get_mobilizer_transform(model.state)
    assert np.all(np.isfinite(np.asarray(X)))
    if direction is mb.Direction.FORWARD and np.isinf(p).any():
        assert np.sign(p[0]) * X.p[0] > 0.5 and (not np.isinf(p[1]) or np.sign(p[1]) * X.p[1] > 0.2)
    if p[0] == 0.0 and direction is mb.Direction.FORWARD:
        assert np.linalg.norm(X.p) == pytest.approx(0.3)


def test_a_place_that_is_not_a_number_is_refused(single):
    model = single()
    q = model.state.q.copy()
    with pytest.raises(ValueError, match="three numbers"):
        model.body.set_q_to_fit_translation(model.state, (0, np.nan, 0))
    assert np.array_equal(model.state.q, q) and model.state.stage == mb.Stage.ACCELERATION


@each_direction
def test_velocities_of_the_contact_point_are_reached_where_they_are_tangential(direction, single, make, close):
    model = single(direction=direction)
    body, state = model.body, model.state
    v = body.get_mobilizer_velocity(state)[1]
    model.state.u = make.vector(len(state.u))
    body.set_u_to_fit_linear_velocity(state, v)
    model.system.realize(state, mb.Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state)[1], v, 1e-12, 10.0)
    far = v + make.vector(size=3.0)
    body.set_u_to_fit_linear_velocity(state, far)
    model.system.realize(state, mb.Stage.VELOCITY)
    best, u = np.linalg.norm(body.get_mobilizer_velocity(state)[1] - far), body.get_u(state)
    for _ in range(20):
        body.set_u(state, u + 0.1 * make.rng.normal(size=3))
        model.system.realize(state, mb.Stage.VELOCITY)
        assert np.linalg.norm(body.get_mobilizer_velocity(state)[1] - far) >= best - 1e-12
