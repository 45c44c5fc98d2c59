"""Every kind of mobilizer: its functions, its place in the switch, and its motion. A new kind is tested by being in KINDS.

What tests have to know of a kind besides is its record in ``tests/kinds/mobilizers.py``.

Tolerances: 1e-12 for numbers of order one and tens of roundings; 1e-8 against fourth-order differences.
"""

import inspect
import pathlib
import re

import numpy as np
import pytest

import mobod as mb
from kinds.mobilizers import MOBILIZERS
from mobod.mobilizer import KINDS, dispatch
from mobod.mobilizer.routines import BY_ADDRESS

EXACT, DIFFERENCE = 1e-12, 1e-8
DIRECTIONS = list(mb.Direction)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_direction = pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name.lower())
quaternion_or_euler = pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])


@pytest.fixture
def single(make):
    """A body of one kind on a parent that moves in every way."""

    def build(kind, direction=mb.Direction.FORWARD, euler=False):
        model = make.tree(0)
        parent = make.mobilized_body(mb.mobilizer.Free, model.matter.ground, direction=mb.Direction.FORWARD)
        model.body = make.mobilized_body(kind, parent, direction=direction)
        model.made()
        model.matter.set_use_euler_angles(model.state, euler)
        model.system.realize_model(model.state)
        model.randomize()
        return model

    return build


# ---------------------------------------------------------------------------------------------- the switch and the facts


def module_of(kind):
    return inspect.getmodule(kind)


def test_numbers_of_kinds_are_unique():
    numbers = [mb.mobilizer.Ground.facts.kind, BY_ADDRESS]
    for kind in KINDS:
        if kind.facts.kind == BY_ADDRESS:
            assert kind.facts.kinematics is not None
            continue
        numbers.append(kind.facts.kind)
    assert len(set(numbers)) == len(numbers)


@each_kind
def test_kind_is_exported_by_its_name_and_has_a_file_of_its_own(kind):
    assert getattr(mb.mobilizer, kind.__name__) is kind
    assert kind.__name__ in mb.mobilizer.__all__
    assert pathlib.Path(module_of(kind).__file__).stem == re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def test_kinds_are_all_that_can_be_made():
    """Ground is made by the matter subsystem alone, and what these two are their users say: they have tests of their own."""
    exported = {c for c in vars(mb.mobilizer).values() if inspect.isclass(c) and issubclass(c, mb.MobilizedBody)}
    assert exported - {mb.mobilizer.Ground, mb.mobilizer.Custom, mb.mobilizer.FunctionBased} == set(KINDS)


def test_synonyms_are_the_kinds_themselves():
    m = mb.mobilizer
    assert m.Torsion is m.Revolute is m.Pin and m.Prismatic is m.Slider and m.PolarCoords is m.BendStretch
    assert m.Cartesian is m.CartesianCoords is m.Translation and m.Orientation is m.Spherical is m.Ball


@each_kind
def test_facts_are_those_of_the_functions(kind, make):
    facts = kind.facts
    p = [tuple(make.rng.uniform(0.5, 1.5, facts.num_parameters).tolist())] if facts.num_parameters else []
    q = tuple(make.vector(max(facts.num_q, 1)).tolist())
    columns = facts.hinge(q, *p)
    assert len(columns) == facts.num_u
    other = tuple(make.vector(max(facts.num_q, 1)).tolist())
    if facts.constant_hinge:
        assert columns == facts.hinge(other, *p) and not facts.has_hinge_dot
    else:
        assert facts.num_parameters or columns != facts.hinge(other, *p)
    assert facts.has_quaternion == (facts.num_q > facts.num_u) == (facts.transform_euler is not None)


@each_kind
@quaternion_or_euler
def test_the_switch_calls_the_kinds_own_transform_and_hinge(kind, euler, single, close):
    """The switch run as plain Python on the record; a kind without its branch would leave the identity."""
    model = single(kind, euler=euler)
    record, b = model.state.record.copy(), model.body.get_mobilized_body_index()
    part = model.body.u_slice(model.state)
    dispatch.position(record, b, b)
    R, p = model.body._function_of_q(model.state, kind.facts.transform, kind.facts.transform_euler)
    assert np.array_equal(record.R_FM[b], R) and np.array_equal(record.p_FM[b], p)
    hinge = model.body._function_of_q(model.state, kind.facts.hinge, kind.facts.hinge_euler)
    assert np.array_equal(record.H_FM[part], np.reshape(hinge, (-1, 6)))
    close(model.state.record.R_FM[b], R, EXACT)  # as the compiled switch has it
    close(model.state.record.p_FM[b], p, EXACT, 1.0)


# ---------------------------------------------------------------------------------------------- kinematics, by differences


def velocity_of(X, X_dot):
    """(w; v) of a moving frame, of its 4 x 4 pose and the rate of this."""
    spin = X_dot[:3, :3] @ X[:3, :3].T
    return np.array([[spin[2, 1], spin[0, 2], spin[1, 0]], X_dot[:3, 3]])


@each_kind
@each_direction
@quaternion_or_euler
def test_hinge_is_the_derivative_of_the_transform(kind, direction, euler, single, derivative, close):
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    X = np.asarray(body.get_mobilizer_transform(state))
    X_dot = derivative(lambda h: np.asarray(body.get_mobilizer_transform(model.moved(h))))
    V = body.get_mobilizer_velocity(state)
    close(V, velocity_of(X, X_dot), DIFFERENCE, 10.0)
    H = np.array([body.get_h_fm_col(state, i) for i in range(body.get_num_u(state))]).reshape(-1, 2, 3)
    close(V, np.tensordot(body.get_u_as_vector(state), H, 1), EXACT)


@each_kind
@each_direction
@quaternion_or_euler
def test_mobilizer_acceleration_is_the_derivative_of_the_mobilizer_velocity(kind, direction, euler, single, derivative, close):
    """A_FM = H_FM udot + HDot_FM u, taken in F."""
    model = single(kind, direction, euler)
    expected = derivative(lambda h: model.body.get_mobilizer_velocity(model.moved(h)))
    close(model.body.get_mobilizer_acceleration(model.state), expected, DIFFERENCE, 100.0)


@each_kind
@each_direction
def test_hinge_columns_in_ground_are_velocities_of_the_body_in_its_parent(kind, direction, single, close):
    model = single(kind, direction)
    body, state = model.body, model.state
    parent = body.get_parent_mobilized_body()
    V_PB = body.find_body_velocity_in_another_body(state, parent) @ np.asarray(parent.get_body_rotation(state)).T
    H = np.array([body.get_h_col(state, i) for i in range(body.get_num_u(state))]).reshape(-1, 2, 3)
    close(np.tensordot(body.get_u_as_vector(state), H, 1), V_PB, EXACT, 10.0)


@each_kind
@each_direction
@quaternion_or_euler
def test_pose_of_the_body_is_composed_of_its_frames(kind, direction, euler, single, close):
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    X_GP = body.get_parent_mobilized_body().get_body_transform(state)
    X_GB = X_GP @ body.get_inboard_frame(state) @ body.get_mobilizer_transform(state) @ ~body.get_outboard_frame(state)
    close(np.asarray(body.get_body_transform(state)), np.asarray(X_GB), EXACT)


@each_kind
@quaternion_or_euler
def test_reversed_mobilizer_is_the_inverse_of_the_forward_one(kind, euler, make, close):
    """Of the same q: X_FM of one is X_MF of the other."""
    model = make.tree(0)
    settings = make.settings(kind)
    bodies = [kind(model.matter.ground, make.body(), X_BM=make.frame(), direction=d, **settings) for d in DIRECTIONS]
    model.made()
    model.matter.set_use_euler_angles(model.state, euler)
    model.system.realize_model(model.state)
    state = model.randomize(mb.Stage.MODEL)
    bodies[1].set_q_from_vector(state, bodies[0].get_q_as_vector(state))
    model.system.realize(state, mb.Stage.POSITION)
    forward, back = (body.get_mobilizer_transform(state) for body in bodies)
    close(np.asarray(back), np.asarray(~forward), EXACT)


@each_kind
@quaternion_or_euler
def test_a_reversed_mobilizer_is_the_forward_one_of_the_tree_built_the_other_way(kind, euler, make, close):
    """Two bodies afloat, either of them the parent: with the same q and u, the same motion of all bodies.

    A body on a Pin after each of them makes the two ends differ.
    """
    X_PF, X_BM, settings = make.frame(), make.frame(), make.settings(kind)
    first, second, tips = make.body(), make.body(), [make.body(), make.body()]
    frames = [(make.frame(), make.frame()) for _ in tips]
    models, ends, joints = [], [], []  # of each model: the two bodies and those after them; base and mobilizer
    for direction in DIRECTIONS:
        model = make.tree(0)
        forward = direction is mb.Direction.FORWARD
        base = mb.mobilizer.Free(model.matter.ground, first if forward else second)
        X = (X_PF, X_BM) if forward else (X_BM, X_PF)
        joint = kind(base, second if forward else first, X_PF=X[0], X_BM=X[1], direction=direction, **settings)
        end = [base, joint] if forward else [joint, base]
        end += [mb.mobilizer.Pin(b, tip, X_PF=F, X_BM=M) for b, tip, (F, M) in zip(end, tips, frames, strict=True)]
        model.gravity.set_default_gravity_vector((1, -9, 2))
        model.made()
        model.matter.set_use_euler_angles(model.state, euler)
        model.system.realize_model(model.state)
        models.append(model)
        ends.append(end)
        joints.append((base, joint))
    one, two = (model.state for model in models)
    models[0].randomize()
    for a, b in [(joints[0][1], joints[1][1]), *zip(ends[0][2:], ends[1][2:], strict=True)]:
        b.set_q_from_vector(two, a.get_q_as_vector(one))
        b.set_u_from_vector(two, a.get_u_as_vector(one))
    joints[1][0].set_q_to_fit_transform(two, ends[0][1].get_body_transform(one))
    joints[1][0].set_u_to_fit_velocity(two, ends[0][1].get_body_velocity(one))
    models[1].system.realize(two)
    for a, b in zip(*ends, strict=True):
        close(np.asarray(b.get_body_transform(two)), np.asarray(a.get_body_transform(one)), 1e-12, 10.0)
        close(b.get_body_velocity(two), a.get_body_velocity(one), 1e-11, 10.0)
        # the condition of the mass matrix, up to 1e3, beside the roundings
        close(b.get_body_acceleration(two), a.get_body_acceleration(one), 1e-9, 100.0)
    close(joints[1][1].get_u_dot_as_vector(two), joints[0][1].get_u_dot_as_vector(one), 1e-9, 100.0)


@pytest.mark.parametrize("kind", [k for k in KINDS if MOBILIZERS[k].reversal is not None], ids=lambda kind: kind.__name__)
def test_reversing_a_mobilizer_leaves_the_physics_alone(kind, make, close):
    """Two equal systems, one with the mobilizer reversed, in one pose and motion: equal accelerations of all bodies."""
    turn = MOBILIZERS[kind].reversal
    X_PF, X_BM, base, body, tip = make.frame(), make.frame(), make.body(), make.body(), make.body()
    tip_frames, settings = (make.frame(), make.frame()), make.settings(kind)
    models = []
    for direction in DIRECTIONS:
        model = make.tree(0)
        free = mb.mobilizer.Free(model.matter.ground, base)
        X = turn if direction is mb.Direction.REVERSE else mb.Transform()
        model.body = kind(free, body, X_PF=X_PF @ X, X_BM=X_BM @ X, direction=direction, **settings)
        mb.mobilizer.Pin(model.body, tip, X_PF=tip_frames[0], X_BM=tip_frames[1])
        model.gravity.set_default_gravity_vector((1, -9, 2))
        models.append(model.made())
    one, two = models
    one.randomize()
    for index in (1, 3):
        for get, fit in (("get_q_as_vector", "set_q_from_vector"), ("get_u_as_vector", "set_u_from_vector")):
            getattr(two.bodies[index], fit)(two.state, getattr(one.bodies[index], get)(one.state))
    R = np.asarray(turn.R)
    two.body.set_q_to_fit_transform(two.state, ~turn @ one.body.get_mobilizer_transform(one.state) @ turn)
    two.body.set_u_to_fit_velocity(two.state, one.body.get_mobilizer_velocity(one.state) @ R)
    two.system.realize(two.state)
    for a, b in zip(one.bodies[1:], two.bodies[1:], strict=True):
        close(np.asarray(b.get_body_transform(two.state)), np.asarray(a.get_body_transform(one.state)), 1e-12, 10.0)
        close(b.get_body_velocity(two.state), a.get_body_velocity(one.state), 1e-11, 10.0)
        # the condition of the mass matrix, up to 1e3, beside the roundings; has_hinge_dot=False fails here where columns are
        # constant in F and not in M
        close(b.get_body_acceleration(two.state), a.get_body_acceleration(one.state), 1e-9, 100.0)
    A_FM = two.body.get_mobilizer_acceleration(two.state) @ R.T
    close(A_FM, one.body.get_mobilizer_acceleration(one.state), 1e-9, 100.0)


@each_kind
def test_columns_are_dependent_where_the_record_says_and_nowhere_near_a_random_q(kind, single):
    model = single(kind)
    body, state = model.body, model.state

    def rank():
        H = [body.get_h_fm_col(state, i) for i in range(kind.facts.num_u)]
        return np.linalg.matrix_rank(np.reshape(H, (-1, 6)), tol=1e-9)

    assert rank() == kind.facts.num_u and body.singularity(state) is None
    for q in MOBILIZERS[kind].singular:
        body.set_q(state, q)
        model.system.realize(state, mb.Stage.POSITION)
        assert rank() < kind.facts.num_u and repr(body.name) in body.singularity(state)
        with pytest.raises(mb.ModelError, match=f"'{body.name}'.*singular"):
            model.system.realize(state)


# ---------------------------------------------------------------------------------------------- fitting


@pytest.fixture(params=range(2))
def many(request):
    """Repeat a test with other random numbers."""


@each_kind
@each_direction
@quaternion_or_euler
def test_fitting_reaches_what_can_be_reached(kind, direction, euler, single, close, many):
    """Judged by reading back: a pose, and a velocity, whose angular part angles make most of."""
    model = single(kind, direction, euler)
    body, target = model.body, model.state.copy()
    X, V = body.get_mobilizer_transform(target), body.get_mobilizer_velocity(target)
    state = model.randomize()  # elsewhere
    body.set_q_to_fit_transform(state, X)
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state)), np.asarray(X), 1e-9)  # half the digits at half a turn, iterations
    body.set_u_to_fit_velocity(state, V)
    model.system.realize(state, mb.Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state), V, 1e-8, 10.0)

    state = model.randomize()
    body.set_q_to_fit_rotation(state, X.R)
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state).R), np.asarray(X.R), 1e-9)
    body.set_q_to_fit_translation(state, X.p)
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state).p), np.asarray(X.p), 1e-9, 1.0)
    close(np.asarray(body.get_mobilizer_transform(state).R), np.asarray(X.R), 1e-9)
    body.set_u_to_fit_angular_velocity(state, V[0])
    body.set_u_to_fit_linear_velocity(state, V[1])
    model.system.realize(state, mb.Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state)[1], V[1], 1e-8, 10.0)
    body.set_u_to_fit_angular_velocity(state, V[0])
    model.system.realize(state, mb.Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state)[0], V[0], 1e-8, 10.0)


@each_kind
@each_direction
@quaternion_or_euler
def test_fitting_the_unreachable_never_raises_and_stays_finite(kind, direction, euler, single, make, many):
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    half_turn = mb.Rotation.about_axis(np.pi, make.unit_vector())
    for R in (make.rotation(), mb.Rotation(), half_turn, mb.Rotation.about_axis(np.pi / 2, (0, 1, 0))):
        body.set_q_to_fit_transform(state, mb.Transform(R, make.vector(size=100.0)))
        body.set_q_to_fit_rotation(state, R)
        body.set_q_to_fit_translation(state, make.vector(size=1e6))
        body.set_q_to_fit_translation(state, (0, 0, 0))
        body.set_u_to_fit_velocity(state, make.rng.normal(size=(2, 3)))
        body.set_u_to_fit_angular_velocity(state, make.vector())
        body.set_u_to_fit_linear_velocity(state, make.vector(size=1e6))
        assert np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.u))
    assert state.stage == mb.Stage.TIME


@each_kind
@each_direction
@quaternion_or_euler
def test_no_coordinates_nearby_fit_a_place_or_an_orientation_better(kind, direction, euler, single, make, many):
    """Of requests out of reach. A pose's orientation comes first: no coordinate that leaves it may better the place."""
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    X = make.frame(size=2.0)

    def misfit():
        model.system.realize(state, mb.Stage.POSITION)
        reached = body.get_mobilizer_transform(state)
        return np.linalg.norm(np.asarray(reached.R) - np.asarray(X.R)), np.linalg.norm(np.asarray(reached.p) - np.asarray(X.p))

    def neighbours(directions):
        q = body.get_q_as_vector(state)
        for size in (1e-3, -1e-3, 1e-2, -1e-2, 0.1, -0.1):
            for step in directions:
                body.set_q_from_vector(state, q + size * step)
                yield misfit()

    each = np.eye(body.get_num_q(state))
    mixed = make.rng.normal(size=(2 * len(each), len(each)))
    for what, part in (("rotation", 0), ("translation", 1)):
        getattr(body, f"set_q_to_fit_{what}")(state, X.R if part == 0 else X.p)
        best = misfit()[part]
        # 1e-9: what an iteration may leave
        better = not all(found[part] >= best - 1e-9 for found in neighbours([*each, *mixed]))
        assert not better, f"{kind.__name__}._fit_{what} leaves coordinates nearby that fit better"
    body.set_q_to_fit_transform(state, X)
    best = misfit()
    for found in neighbours(each):
        # whether the orientation is worse is asked of squares, which are known to tens of roundings: where M is nearly half a
        # turn off, turning it by 1e-3 worsens the distance itself by less than 1e-9
        worse = found[0] ** 2 - best[0] ** 2
        better = found[0] < best[0] - 1e-9 or (worse <= 1e-13 and found[1] < best[1] - 1e-9)
        assert not better, f"{kind.__name__}._fit_place: a pose's orientation comes first, whole turns may better its place"


@each_kind
@each_direction
def test_fit_of_a_velocity_is_the_nearest_there_is(kind, direction, single, make):
    model = single(kind, direction)
    body, state = model.body, model.state
    if kind.facts.num_u == 0:
        return
    V = make.rng.normal(size=(2, 3))

    def misfit():
        model.system.realize(state, mb.Stage.VELOCITY)
        return np.linalg.norm(body.get_mobilizer_velocity(state) - V)

    body.set_u_to_fit_velocity(state, V)
    best, u = misfit(), body.get_u_as_vector(state)
    for _ in range(20):
        body.set_u_from_vector(state, u + 0.1 * make.rng.normal(size=len(u)))
        assert misfit() >= best - 1e-12  # rounding of numbers of order one


@each_kind
def test_fitting_checks_shapes_before_it_changes_anything(kind, single):
    model = single(kind)
    body, state = model.body, model.state
    q, u = state.q.copy(), state.u.copy()
    for call in (
        lambda: body.set_q_to_fit_translation(state, (1, 2)),
        lambda: body.set_u_to_fit_velocity(state, (1, 2, 3)),
        lambda: body.set_u_to_fit_angular_velocity(state, 1.0),
        lambda: body.set_u_to_fit_linear_velocity(state, np.zeros((3, 1))),
    ):
        with pytest.raises(ValueError, match="shape"):
            call()
    assert np.array_equal(state.q, q) and np.array_equal(state.u, u) and state.stage == mb.Stage.ACCELERATION


# ---------------------------------------------------------------------------------------------- coordinates


@each_kind
def test_default_q_starts_where_its_record_says(kind, make):
    """At the identity, but for a few, with the settings that a kind has unless others are given."""
    model = make.tree(0)
    body = kind(model.matter.ground, make.body(), X_PF=make.frame(), X_BM=make.frame())
    model.made()
    model.system.realize(model.state, mb.Stage.POSITION)
    assert np.array_equal(np.asarray(body.get_mobilizer_transform(model.state)), np.asarray(MOBILIZERS[kind].start))


@each_kind
def test_default_q_is_what_a_default_state_has(kind, make, close):
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground, direction=mb.Direction.FORWARD)
    model.made()
    q = make.vector(kind.facts.num_q)
    body.set_default_q(q)
    wanted = q if not kind.facts.has_quaternion else np.concatenate([q[:4] / np.linalg.norm(q[:4]), q[4:]])
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        model.system.realize(model.state)
    state = model.system.realize_topology()
    close(body.get_q_as_vector(state), wanted, EXACT, 1.0)
    assert np.array_equal(np.atleast_1d(body.get_default_q()), body.get_q_as_vector(state))
    model.matter.set_use_euler_angles(state, True)
    model.system.realize_model(state)
    model.system.realize(state, mb.Stage.POSITION)
    parameters = [tuple(body.pack_parameters())] if kind.facts.num_parameters else []
    R, p = kind.facts.transform(tuple(wanted.tolist()), *parameters)
    close(np.asarray(body.get_mobilizer_transform(state).R).ravel(), R, EXACT)
    close(np.asarray(body.get_mobilizer_transform(state).p), p, EXACT, 1.0)


@each_kind
def test_default_q_that_cannot_be_is_refused(kind, make):
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground)
    before = np.atleast_1d(body.get_default_q())
    n = kind.facts.num_q
    for q in (np.zeros(n + 1), np.full(n, np.nan) if n else [np.nan]):
        with pytest.raises(ValueError, match=body.name):
            body.set_default_q(q)
    if kind.facts.has_quaternion:
        with pytest.raises(ValueError, match="quaternion"):
            body.set_default_q(np.zeros(n))
    assert np.array_equal(np.atleast_1d(body.get_default_q()), before)


@each_kind
@quaternion_or_euler
def test_coordinates_are_set_and_read_in_every_form(kind, euler, single, make):
    model = single(kind, euler=euler)
    body, state = model.body, model.state
    nq, nu = body.get_num_q(state), body.get_num_u(state)
    assert nq == kind.facts.num_q - (euler and kind.facts.has_quaternion) and nu == kind.facts.num_u
    first_q, first_u = body.get_first_q_index(state), body.get_first_u_index(state)
    assert (first_q, first_u) == (len(state.q) - nq, len(state.u) - nu)
    for what, n, first, falls_to in (("q", nq, first_q, mb.Stage.TIME), ("u", nu, first_u, mb.Stage.POSITION)):
        values = make.vector(n)
        for setter in (f"set_{what}", f"set_{what}_from_vector"):
            model.system.realize(state)
            getattr(body, setter)(state, values)
            assert state.stage == falls_to
            assert np.array_equal(getattr(state, what)[first : first + n], values)
        one = getattr(body, f"get_{what}")(state)
        assert isinstance(one, float) if kind.facts.num_u == 1 else isinstance(one, np.ndarray)
        assert np.array_equal(np.atleast_1d(one), values)
        assert np.array_equal(getattr(body, f"get_{what}_as_vector")(state), values)
        for i in range(n):
            model.system.realize(state)
            getattr(body, f"set_one_{what}")(state, i, 0.125 * i)
            assert state.stage == falls_to and getattr(body, f"get_one_{what}")(state, i) == 0.125 * i
        for i in (-1, n):
            with pytest.raises(IndexError, match=body.name):
                getattr(body, f"get_one_{what}")(state, i)
            with pytest.raises(IndexError, match=body.name):
                getattr(body, f"set_one_{what}")(state, i, 0.0)
        with pytest.raises(ValueError, match="shape"):
            getattr(body, f"set_{what}")(state, np.zeros(n + 1))


@each_kind
def test_rates_of_coordinates_are_parts_of_the_states(kind, single):
    model = single(kind)
    body, state = model.body, model.state
    for what, vector, part in (
        ("q_dot", state.q_dot, body.q_slice(state)),
        ("u_dot", state.u_dot, body.u_slice(state)),
        ("q_dot_dot", state.q_dot_dot, body.q_slice(state)),
    ):
        assert np.array_equal(np.atleast_1d(getattr(body, f"get_{what}")(state)), vector[part])
        assert np.array_equal(getattr(body, f"get_{what}_as_vector")(state), vector[part])
        for i in range(part.stop - part.start):
            assert getattr(body, f"get_one_{what}")(state, i) == vector[part][i]


@each_kind
def test_parts_of_whole_vectors_are_read_and_written(kind, single, make):
    model = single(kind)
    body, state = model.body, model.state
    for what in "qu":
        whole = make.vector(len(getattr(state, what)))
        part = getattr(body, f"{what}_slice")(state)
        assert np.array_equal(np.atleast_1d(getattr(body, f"get_my_part_{what}")(state, whole)), whole[part])
        getattr(body, f"upd_my_part_{what}")(state, whole)[...] = 7.0
        assert np.all(whole[part] == 7.0)
        if part.stop > part.start:
            getattr(body, f"upd_one_from_{what}_partition")(state, 0, whole)[...] = 3.0
            assert getattr(body, f"get_one_from_{what}_partition")(state, 0, whole) == whole[part][0] == 3.0
        with pytest.raises(TypeError, match="in place"):
            getattr(body, f"upd_my_part_{what}")(state, whole.tolist())


# ---------------------------------------------------------------------------------------------- friendly accessors


@each_kind
@quaternion_or_euler
def test_friendly_accessors_read_back_what_they_set(kind, euler, single, make, close):
    model = single(kind, euler=euler)
    body, state = model.body, model.state
    drawn = {name: draw(make) for name, draw in MOBILIZERS[kind].accessors.items()}
    for name, value in drawn.items():
        getattr(body, f"set_{name}")(state, value)
        read = getattr(body, f"get_{name}")(state)
        assert isinstance(read, float) == isinstance(value, float)
        close(np.asarray(read), np.asarray(value), EXACT)


@each_kind
def test_default_accessors_read_back_what_they_set(kind, make, close):
    model = make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground)
    of_all = vars(mb.MobilizedBody)
    setters = sorted(n for n in dir(kind) if n.startswith("set_default_") and n not in of_all)
    assert setters or kind is mb.mobilizer.Weld
    for setter in setters:
        getter = setter.replace("set_", "get_", 1)
        draw = MOBILIZERS[kind].accessors.get(setter.removeprefix("set_default_"))
        value = draw(make) if draw else make.rng.uniform(0.1, 1.0, np.shape(getattr(body, getter)()))[()]  # sizes on pictures
        assert getattr(body, setter)(value) is body, "so that calls can be chained"
        close(np.asarray(getattr(body, getter)()), np.asarray(value), EXACT)


def test_partial_setters_leave_the_other_coordinates(make, close):
    model = make.tree(0)
    free, planar = mb.mobilizer.Free(model.matter.ground, make.body()), mb.mobilizer.Planar(model.matter.ground, make.body())
    state = model.made().randomize()
    R = free.get_transform(state).R
    free.set_translation(state, (1, 2, 3))
    close(np.asarray(free.get_transform(state).R), np.asarray(R), EXACT)
    free.set_rotation(state, make.rotation())
    assert np.array_equal(free.get_translation(state), (1, 2, 3))
    free.set_angular_velocity(state, (4, 5, 6))
    free.set_linear_velocity(state, (7, 8, 9))
    assert np.array_equal(free.get_velocity(state), [(4, 5, 6), (7, 8, 9)])
    planar.set_translation(state, (1, 2))
    planar.set_angle(state, 3)
    assert np.array_equal(planar.get_q(state), (3, 1, 2))
    planar.set_velocity(state, (4, 5))
    planar.set_angular_rate(state, 6)
    assert np.array_equal(planar.get_u(state), (6, 4, 5))


# ---------------------------------------------------------------------------------------------- making one


@each_kind
def test_a_clone_on_another_parent_is_the_same_but_for_its_name(kind, make):
    model, other = make.tree(0), make.tree(0)
    body = make.mobilized_body(kind, model.matter.ground)
    if kind.facts.num_q:
        body.set_default_q(make.vector(kind.facts.num_q))
    clone = body.clone_for_new_parent(other.matter.ground)
    assert clone.get_matter_subsystem() is other.matter and type(clone) is kind
    assert np.array_equal(clone.get_default_q(), body.get_default_q()) and clone.direction == body.direction
    assert np.array_equal(np.asarray(clone.get_default_inboard_frame()), np.asarray(body.get_default_inboard_frame()))
    assert np.array_equal(np.asarray(clone.get_default_outboard_frame()), np.asarray(body.get_default_outboard_frame()))
    twin = body.clone_for_new_parent(model.matter.ground)
    assert twin.name != body.name


@each_kind
def test_what_a_mobilizer_is_made_of_is_checked(kind, make):
    model = make.tree(0)
    ground, body = model.matter.ground, make.body()
    with pytest.raises(TypeError, match="parent"):
        kind(model.matter, body)
    with pytest.raises(TypeError, match="Body"):
        kind(ground, make.mass_properties())
    with pytest.raises(TypeError, match="direction"):
        kind(ground, body, direction="reverse")
    with pytest.raises(mb.ModelError, match="X_PF"):
        kind(ground, body, X_PF=np.ones((4, 4)))
    with pytest.raises(TypeError, match="X_BM"):
        kind(ground, body, X_BM="here")
    kind(ground, body, name="taken")
    with pytest.raises(mb.ModelError, match="taken"):
        kind(ground, body, name="taken")
    assert model.matter.get_num_bodies() == 2, "what failed left nothing behind"


def test_the_base_class_is_not_made(make):
    with pytest.raises(TypeError, match="base class"):
        mb.MobilizedBody(make.tree(0).matter.ground, make.body())
