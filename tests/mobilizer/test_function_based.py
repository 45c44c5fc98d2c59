"""FunctionBased: its motion and its rates for every way to share coordinates, against differences and against chains of joints.

Simbody's rates are wrong for most of these ways, so the truth comes from elsewhere: from finite differences, and from
d'Alembert's principle on a chain of Sliders and Pins that moves in the same way. Where Simbody is right, `tests/reference`
compares with it.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod.function import Constant, Custom, Linear, Polynomial, Sinusoid, Spline, Step
from mobod.mobilizer import FunctionBased
from mobod.state import validity
from mobod.tree import realize

EXACT, DIFFERENCE = 1e-12, 1e-8
DIRECTIONS = list(mb.Direction)
each_direction = pytest.mark.parametrize("direction", DIRECTIONS, ids=lambda d: d.name.lower())

#: Which coordinate each of three angles takes; 3 is none.
PATTERNS = list(itertools.product(range(4), repeat=3))


def curved(rng):
    """A function of one argument of any kind, increasing on (-1.4, 1.4), so that its coordinate always moves something."""
    x = np.linspace(-3.0, 3.0, 7)
    return [
        lambda: Linear([rng.uniform(0.5, 1.5), rng.normal()]),
        lambda: Polynomial([rng.uniform(0.0, 0.1), rng.uniform(-0.1, 0.1), rng.uniform(0.6, 1.2), rng.normal()]),
        lambda: Sinusoid(rng.uniform(1, 2), rng.uniform(0.4, 0.8), rng.uniform(-0.2, 0.2)),
        lambda: Step(rng.uniform(-2, -1), rng.uniform(1, 2), -2.0, 2.0),
        lambda: Spline(3, x, x * rng.uniform(0.8, 1.2) + rng.uniform(-0.15, 0.15, 7)),
        lambda: Spline(5, x, x * rng.uniform(0.8, 1.2) + rng.uniform(-0.1, 0.1, 7)),
    ][rng.integers(6)]()


def axes(rng):
    """Three axes to turn about and three to move along, neither set near a plane."""
    return np.vstack([np.eye(3)] * 2) + rng.uniform(-0.3, 0.3, (6, 3))


def sharing(rng, pattern):
    """Arguments for three coordinates: angles by the pattern, displacements of each coordinate, the first of all three."""
    functions = [curved(rng) if j < 3 else Constant(rng.normal(), 0) for j in pattern]
    functions += [Linear([*rng.uniform(0.3, 0.6, 3), 0.1]), curved(rng), curved(rng)]
    indices = [[j] if j < 3 else [] for j in pattern] + [[0, 1, 2], [1], [2]]
    return {"num_mobilities": 3, "functions": functions, "coordinate_indices": indices, "axes": axes(rng)}


def two_arguments(rng):
    """Rotations of two coordinates, one of them named twice, a displacement likewise; six coordinates in all."""
    functions = [
        Linear([0.7, -0.5, 0.2]),
        Linear([0.4, 0.3, 0.6, 0.0]),
        Linear([0.5, 0.4, 0.3]),
        Linear([0.5, 0.5, 1.0, 0.0]),
        curved(rng),
        curved(rng),
    ]
    indices = [[0, 1], [1, 2, 1], [2, 0], [3, 3, 0], [4], [5]]
    return {"num_mobilities": 6, "functions": functions, "coordinate_indices": indices, "axes": axes(rng)}


def joint(make, parent, given, direction=mb.Direction.FORWARD, name=None):
    return FunctionBased(parent, make.body(), X_PF=make.frame(), X_BM=make.frame(), direction=direction, name=name, **given)


def off_the_knots(state):
    """Splines have theirs at whole numbers: a difference across one is less exact, as its higher derivatives jump."""
    q = state.q.copy()
    q[np.abs(q - np.rint(q)) < 0.01] += 0.02
    state.q = q


@pytest.fixture
def shared(make):
    """A body for each pattern, and one with functions of several arguments, all on Ground."""

    def build(direction):
        model = make.tree(0)
        givens = [sharing(make.rng, pattern) for pattern in PATTERNS] + [two_arguments(make.rng)]
        for given, pattern in zip(givens, [*PATTERNS, "several"], strict=True):
            joint(make, model.matter.ground, given, direction, f"pattern {pattern}")
        off_the_knots(model.made().randomize())
        model.system.realize(model.state)
        return model

    return build


# ---------------------------------------------------------------------------------------------- kinematics


def velocity_of(X, X_dot):
    spin = X_dot[:3, :3] @ X[:3, :3].T
    return np.array([[spin[2, 1], spin[0, 2], spin[1, 0]], X_dot[:3, 3]])


@each_direction
def test_rates_are_right_for_every_way_to_share_coordinates(direction, shared, derivative, close):
    """The transform by its own equations, the hinge by differences of the transform, its rate by differences of the hinge."""
    model = shared(direction)
    bodies, state = model.bodies[1:], model.state
    times = {}

    def at(h):  # once for all bodies
        return times.setdefault(h, None) or times.update({h: model.moved(h)}) or times[h]

    for body in bodies:
        X = np.asarray(body.get_mobilizer_transform(state))
        R, p = body.motion.transform(body.get_q(state))
        own = mb.Transform(mb.Rotation(R), p)
        close(X, np.asarray(~own if direction is mb.Direction.REVERSE else own), EXACT, 10.0)
        X_dot = derivative(lambda h: np.asarray(body.get_mobilizer_transform(at(h))))  # noqa: B023
        close(body.get_mobilizer_velocity(state), velocity_of(X, X_dot), DIFFERENCE, 10.0)
        A = derivative(lambda h: body.get_mobilizer_velocity(at(h)))  # noqa: B023
        close(body.get_mobilizer_acceleration(state), A, DIFFERENCE, max(100.0, np.abs(A).max()))
        H = np.array([body.get_h_fm_col(state, i) for i in range(len(body.get_u(state)))])
        close(np.tensordot(body.get_u(state), H, 1), body.get_mobilizer_velocity(state), EXACT, 10.0)


def test_a_users_own_curved_function_of_two_coordinates(make, derivative, close):
    """Functions of several arguments need not be linear: mixed second derivatives count."""
    rng = make.rng
    product = Custom(lambda x: x[0] * x[0] * x[1], 2)
    functions = (
        product,
        Custom(lambda x: x[0] * x[1] / (2.0 + x[2]), 3),
        Sinusoid(1, 1, 0.2),
        product,
        Linear([1, 0]),
        product,
    )
    given = {"functions": functions, "coordinate_indices": ((0, 1), (2, 0, 1), (1,), (1, 2), (2,), (0, 2)), "axes": axes(rng)}
    model = make.tree(0)
    body = knee(model.matter.ground, num_mobilities=3, **given)
    motion = body.motion
    q, u = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    R, p = motion.transform(q)
    X, X_dot = np.eye(4), np.zeros((4, 4))
    X[:3, :3], X[:3, 3] = R, p
    X_dot[:3, :3] = derivative(lambda h: motion.transform(q + h * u)[0])
    X_dot[:3, 3] = derivative(lambda h: motion.transform(q + h * u)[1])
    close((u @ motion.hinge(q)).reshape(2, 3), velocity_of(X, X_dot), DIFFERENCE, 1.0)
    state = model.made().state
    state.q, state.u = q, u
    model.system.realize(state, mb.Stage.VELOCITY)
    close(state.record.bias_FM[body.index], derivative(lambda h: u @ motion.hinge(q + h * u)), DIFFERENCE, 1.0)


# ---------------------------------------------------------------------------------------------- dynamics


def along(axis):
    """Frames whose x axis, and whose z axis, is the given direction."""
    z = mb.Rotation.from_two_axes(axis, "z", np.roll(axis, 1) + np.array([0.1, 0, 0]), "x")
    x = mb.Rotation.from_two_axes(axis, "x", np.roll(axis, 1) + np.array([0.1, 0, 0]), "z")
    return x, z


def chain(model, parent, given, X_PF, X_BM, body):
    """Three Sliders along the axes, then three Pins about them, with massless bodies between: six coordinates."""
    units = [a / np.linalg.norm(a) for a in given["axes"]]
    X, links = X_PF, []
    for f in (3, 4, 5, 0, 1, 2):
        R = along(units[f])[0 if f > 2 else 1]
        kind, last = (mb.mobilizer.Slider if f > 2 else mb.mobilizer.Pin), f == 2
        outboard = X_BM @ mb.Transform(R) if last else mb.Transform(R)
        parent = kind(parent, body if last else mb.body.Massless(), X_PF=X @ mb.Transform(R), X_BM=outboard)
        links.append(parent)
        X = mb.Transform()
    return links


@pytest.mark.parametrize("pattern", [*PATTERNS[::5], "several"], ids=str)
def test_accelerations_are_those_of_a_chain_of_joints(pattern, make, close):
    """d'Alembert: the residual forces of the chain do no work on any motion that the functions allow.

    With the chain's coordinates t(q) and T = dt/dq: T^T (M (T u_dot + T_dot u) + C - f) = 0.
    """
    rng = make.rng
    given = two_arguments(rng) if pattern == "several" else sharing(rng, pattern)
    n, functions, indices = given["num_mobilities"], given["functions"], given["coordinate_indices"]
    X_PF, X_BM, base, body, base_frame = make.frame(), make.frame(), make.body(), make.body(), make.frame()
    g = make.vector(size=9.0)
    one, two = make.tree(0), make.tree(0)
    for model in (one, two):
        model.gravity.set_default_gravity_vector(g)
        model.base = mb.mobilizer.Free(model.matter.ground, base, X_PF=base_frame)
    knee = FunctionBased(one.base, body, X_PF=X_PF, X_BM=X_BM, **given)
    links = chain(two, two.base, given, X_PF, X_BM, body)
    state = one.made().randomize()
    q, u, u_dot = knee.get_q(state), knee.get_u(state), knee.get_u_dot(state)

    t, T, T_dot = np.zeros(6), np.zeros((6, n)), np.zeros((6, n))
    for f, (function, places) in enumerate(zip(functions, indices, strict=True)):
        x = q[places]
        t[f] = function.calc_value(x)
        for k, j in enumerate(places):
            T[f, j] += function.calc_derivative([k], x)
            for l, i in enumerate(places):
                T_dot[f, j] += function.calc_derivative([k, l], x) * u[i]
    order = [3, 4, 5, 0, 1, 2]
    other = two.made().state
    other.q, other.u = np.append(state.q[:7], t[order]), np.append(state.u[:6], (T @ u)[order])
    two.system.realize(other, mb.Stage.VELOCITY)
    close(np.asarray(links[-1].get_body_transform(other)), np.asarray(knee.get_body_transform(state)), EXACT, 10.0)
    close(links[-1].get_body_velocity(other), knee.get_body_velocity(state), 1e-11, 10.0)
    known = np.append(state.u_dot[:6], (T @ u_dot + T_dot @ u)[order])
    forces = two.gravity.get_body_forces(other)
    residual = two.matter.calc_residual_force_ignoring_constraints(other, np.zeros(12), forces, known)
    # the accelerations of the base times the mass of both, beside the condition of the mass matrix
    size = 100.0 + np.abs(known).max()
    close(T.T @ residual[6:][np.argsort(order)], np.zeros(n), 1e-9, size)
    close(residual[:6], np.zeros(6), 1e-9, size)


def test_it_can_be_a_pin_a_slider_and_a_universal(make, close):
    same = Linear([1, 0])
    for kind, indices in (
        (mb.mobilizer.Pin, [[], [], [0], [], [], []]),
        (mb.mobilizer.Slider, [[], [], [], [0], [], []]),
        (mb.mobilizer.Universal, [[0], [1], [], [], [], []]),
        (mb.mobilizer.Translation, [[], [], [], [0], [1], [2]]),
    ):
        X_PF, X_BM, body, direction = make.frame(), make.frame(), make.body(), make.direction()
        model = make.tree(0)
        model.gravity.set_default_gravity_vector((1, -9, 2))
        common = {"X_PF": X_PF, "X_BM": X_BM, "direction": direction}
        plain = kind(model.matter.ground, body, **common)
        n = kind.facts.num_q
        functions = [same if places else Constant(0, 2 * (f == 5)) for f, places in enumerate(indices)]
        indices = [places or [0, n - 1] * (f == 5) for f, places in enumerate(indices)]
        other = FunctionBased(
            model.matter.ground, body, num_mobilities=n, functions=functions, coordinate_indices=indices, **common
        )
        state = model.made().randomize()
        other.set_q(state, plain.get_q(state))
        other.set_u(state, plain.get_u(state))
        model.system.realize(state)
        close(other.get_body_acceleration(state), plain.get_body_acceleration(state), 1e-10, 10.0)
        close(other.get_u_dot(state), np.atleast_1d(plain.get_u_dot(state)), 1e-10, 10.0)


def test_lanes_give_what_one_state_gives(make, close):
    model = make.tree(4)
    for direction, pattern in zip(DIRECTIONS * 2, PATTERNS[7::16], strict=True):
        joint(make, model.bodies[make.rng.integers(0, 4)], sharing(make.rng, pattern), direction)
    model.made()
    ensemble = mb.Ensemble(model.system, 11)
    q, u = np.tile(model.state.q, (11, 1)), make.rng.uniform(-1, 1, (11, len(model.state.u)))
    for i in range(11):
        q[i] = model.randomize(mb.Stage.TIME).q
    ensemble.q, ensemble.u = q, u
    ensemble.realize(mb.Stage.ACCELERATION)
    for i in range(11):
        model.state.q, model.state.u = q[i], u[i]
        model.system.realize(model.state)
        close(ensemble.u_dot[i], model.state.u_dot, 1e-9)  # roundings, times the condition of the mass matrix


def test_duals_carry_the_derivatives_along(make, close, derivative):
    """By one direction of q and u at once, against differences."""
    model = make.tree(2)
    for direction, pattern in zip(DIRECTIONS, PATTERNS[6::23], strict=False):
        joint(make, model.bodies[2], sharing(make.rng, pattern), direction)
    state = model.made().randomize(mb.Stage.TIME)
    off_the_knots(state)
    record = state.tree.new_record(with_tangents=True)
    dq, du = make.vector(len(state.q)), make.vector(len(state.u))
    record.q[:], record.u[:] = state.record.q, state.record.u
    record.q.tangents[:, 0, 0], record.u.tangents[:, 0, 0] = dq, du
    address = realize.advance.address(with_tangents=True)
    assert realize.realize(record, address, 0, validity.POSITIONS | validity.VELOCITIES) == realize.DONE

    def results(h):
        other = state.record.copy()
        other.q[:, 0] += h * dq
        other.u[:, 0] += h * du
        realize.realize(other, realize.advance.address(), 0, validity.POSITIONS | validity.VELOCITIES)
        return np.concatenate([np.ravel(getattr(other, name)) for name in ("p_GB", "R_GB", "H", "coriolis")])

    found = [getattr(record, name).tangents.reshape(-1, 8)[:, 0] for name in ("p_GB", "R_GB", "H", "coriolis")]
    close(np.concatenate(found), derivative(results), 1e-7)


def test_energy_is_kept(make):
    model = make.tree(2, kinds=[mb.mobilizer.Pin])
    joint(make, model.bodies[1], sharing(make.rng, (0, 0, 1)), mb.Direction.REVERSE)
    state = model.made().randomize(mb.Stage.TIME)
    motion = mb.simulate(model.system, state, 0.5, accuracy=1e-9)
    # accuracy is per step and relative to q and u
    assert motion.energy_drift < 1e-5 * max(1.0, motion.calc_kinetic_energy().max())


# ---------------------------------------------------------------------------------------------- with a user's functions


def users(function):
    """The same function as a user may write it."""
    if isinstance(function, Linear):
        *weights, constant = function._coefficients.tolist()
        gradient = [lambda x, c=c: c for c in weights]
        if len(weights) == 1:
            return Custom(lambda x: weights[0] * x + constant, derivatives=[*gradient, lambda x: 0.0])
        return Custom(lambda x: sum(c * y for c, y in zip(weights, x, strict=True)) + constant, len(weights))
    return Custom(function.calc_value, derivatives=lambda components, x: function.calc_derivative(components, x))


@each_direction
def test_a_users_function_gives_what_a_compiled_one_gives(direction, make, close):
    """Interpreted, the same numbers; one user's function among six is enough."""
    given = sharing(make.rng, (0, 1, 0))
    g, base, body, frames = make.vector(size=9.0), make.body(), make.body(), (make.frame(), make.frame())
    models = []
    for which in ((), range(6), [4]):
        model = make.tree(0)
        model.gravity.set_default_gravity_vector(g)
        parent = mb.mobilizer.Pin(model.matter.ground, base)
        functions = [users(f) if i in which else f for i, f in enumerate(given["functions"])]
        model.body = FunctionBased(
            parent, body, X_PF=frames[0], X_BM=frames[1], direction=direction, **{**given, "functions": functions}
        )
        models.append(model.made())
    state = models[0].randomize()
    motion = mb.simulate(models[0].system, state, 0.3, accuracy=1e-8)
    for model in models[1:]:
        model.state.q, model.state.u = state.q, state.u
        model.system.realize(model.state)
        close(model.state.u_dot, state.u_dot, 1e-9)
        close(model.body.get_mobilizer_acceleration(model.state), models[0].body.get_mobilizer_acceleration(state), 1e-9)
        other = mb.simulate(model.system, model.state, 0.3, accuracy=1e-8)
        close(other.q[-1], motion.q[-1], 1e-8)  # roundings, times the growth of errors in 0.3
        again = pickle.loads(pickle.dumps(models[0].system)).realize_topology()
        assert np.array_equal(again.q, models[0].system.get_default_state().q)


@pytest.mark.parametrize(
    "bad", [lambda x: 1.0 / (x - x), lambda x: float("nan"), lambda x: "one"], ids=["divides", "nan", "text"]
)
def test_a_users_function_that_fails_is_named_and_leaves_the_state_alone(bad, make):
    model = make.tree(0)
    functions = [Constant(0, 0)] * 2 + [Custom(bad), Linear([1, 0])] + [Constant(0, 0)] * 2
    knee(model.matter.ground, make.body(), functions=functions)
    state = model.made().state
    with pytest.raises((mb.ModelError, ZeroDivisionError, TypeError)) as caught:
        model.system.realize(state)
    assert caught.type is ZeroDivisionError or "Custom" in str(caught.value)
    assert state.stage < mb.Stage.POSITION and np.array_equal(state.q, [0.0])


# ---------------------------------------------------------------------------------------------- fits


@each_direction
@pytest.mark.parametrize("pattern", [(0, 1, 2), (0, 0, 1), (3, 3, 0), "several"], ids=str)
def test_fits_reach_what_can_be_reached(pattern, direction, make, close):
    model = make.tree(0)
    given = two_arguments(make.rng) if pattern == "several" else sharing(make.rng, pattern)
    body = joint(make, model.matter.ground, given, direction)
    state = model.made().randomize()
    X, V = body.get_mobilizer_transform(state), body.get_mobilizer_velocity(state)
    state = model.randomize()
    body.set_q_to_fit_transform(state, X)
    model.system.realize(state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state)), np.asarray(X), 1e-9, 1.0)  # where the search stops
    body.set_u_to_fit_velocity(state, V)
    model.system.realize(state, mb.Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state), V, 1e-7, 10.0)
    for fit, part in (("rotation", "R"), ("translation", "p")):
        state = model.randomize()
        getattr(body, f"set_q_to_fit_{fit}")(state, getattr(X, part))
        model.system.realize(state, mb.Stage.POSITION)
        close(np.asarray(getattr(body.get_mobilizer_transform(state), part)), np.asarray(getattr(X, part)), 1e-9, 1.0)


@each_direction
def test_fits_out_of_reach_never_raise_and_no_neighbor_is_nearer(direction, make):
    model = make.tree(0)
    body = joint(make, model.matter.ground, sharing(make.rng, (3, 0, 0)), direction)
    state = model.made().randomize()
    R, p = make.rotation(), make.vector(size=1e6)
    body.set_q_to_fit_translation(state, p)
    body.set_u_to_fit_linear_velocity(state, p)
    body.set_q_to_fit_transform(state, mb.Transform(R, p))
    assert np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.u))
    model.randomize()
    body.set_q_to_fit_rotation(state, R)

    def misfit():
        model.system.realize(state, mb.Stage.POSITION)
        return np.linalg.norm(np.asarray(body.get_mobilizer_transform(state).R) - np.asarray(R))

    best, q = misfit(), body.get_q(state)
    for _ in range(30):
        body.set_q(state, q + 0.03 * make.rng.normal(size=3))
        assert misfit() >= best - 1e-9  # where the search stops


# ---------------------------------------------------------------------------------------------- as other kinds


def knee(parent, body=None, **others):
    given = {
        "num_mobilities": 1,
        "functions": [Constant(0, 0)] * 2 + [Linear([1, 0]), Step(0, 0.1, 0, 2)] + [Constant(0, 0)] * 2,
        "coordinate_indices": [[], [], [0], [0], [], []],
    }
    return FunctionBased(parent, mb.body.Rigid() if body is None else body, **{**given, **others})


def test_coordinates_are_arrays_even_if_there_is_one(make):
    model = make.tree(0)
    body = knee(model.matter.ground, make.body())
    state = model.made().randomize()
    for get in ("get_q", "get_u", "get_q_dot", "get_u_dot", "get_q_dot_dot"):
        assert getattr(body, get)(state).shape == (1,)
    assert body.get_default_q().shape == (1,) and body.get_my_part_q(state, state.q).shape == (1,)
    body.set_q(state, 0.5)
    body.set_u(state, [0.25])
    assert body.get_q(state) == [0.5] and body.get_one_u(state, 0) == 0.25
    assert np.array_equal(state.q_dot if state.stage >= mb.Stage.VELOCITY else state.u, state.u)
    body.set_default_q([0.1])
    assert model.system.realize_topology().q[-1] == 0.1


def test_it_says_what_it_is_made_of(make):
    given = two_arguments(make.rng)
    body = joint(make, make.tree(0).matter.ground, given, name="ankle")
    assert body.get_functions() == tuple(given["functions"])
    assert body.get_coordinate_indices() == ((0, 1), (1, 2, 1), (2, 0), (3, 3, 0), (4,), (5,))
    lengths = np.linalg.norm(given["axes"], axis=1, keepdims=True)
    assert np.allclose(body.get_axes(), given["axes"] / lengths, rtol=1e-15)
    body.get_axes()[:] = 0.0
    assert np.all(np.linalg.norm(body.get_axes(), axis=1) > 0.9)
    assert "ankle" in repr(body) and "FunctionBased" in repr(body)
    plain = knee(make.tree(0).matter.ground)
    assert np.array_equal(plain.get_axes(), np.vstack([np.eye(3)] * 2))


def test_a_clone_moves_as_the_original_does(make, close):
    model, other = make.tree(0), make.tree(0)
    body = joint(make, model.matter.ground, two_arguments(make.rng), mb.Direction.REVERSE)
    body.set_default_q(make.vector(6))
    clone = body.clone_for_new_parent(other.matter.ground)
    assert type(clone) is FunctionBased and clone.get_matter_subsystem() is other.matter
    assert np.array_equal(clone.get_default_q(), body.get_default_q()) and clone.direction == body.direction
    transforms = []
    for m, b in ((model, body), (other, clone)):
        state = m.made().state
        m.system.realize(state, mb.Stage.POSITION)
        transforms.append(np.asarray(b.get_body_transform(state)))
    assert np.array_equal(*transforms)


def test_systems_with_one_can_be_copied_and_pickled(make):
    model = make.tree(2)
    body = joint(make, model.bodies[1], sharing(make.rng, (0, 1, 0)))
    state = model.made().randomize()
    for again in (copy.deepcopy(model.system), pickle.loads(pickle.dumps(model.system))):
        other = again.realize_topology()
        other.q, other.u = state.q, state.u
        again.realize(other)
        assert np.array_equal(other.u_dot, state.u_dot)
        twin = again.get_matter_subsystem().bodies[body.name]
        assert repr(twin.get_functions()[3]) == repr(body.get_functions()[3])
    for same in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert np.array_equal(same.q, state.q)


WRONG = {
    "no mobility": ({"num_mobilities": 0}, ValueError, "num_mobilities.*from 1 to 6; it is 0"),
    "seven": ({"num_mobilities": 7}, ValueError, "num_mobilities.*from 1 to 6; it is 7"),
    "part of a mobility": ({"num_mobilities": 1.0}, TypeError, "num_mobilities.*whole number, not 1.0"),
    "five functions": ({"functions": [Linear([1, 0])] * 5}, ValueError, "six functions.*5 were given"),
    "a callable": ({"functions": [np.sin] + [Constant(0, 0)] * 5}, TypeError, r"functions\[0\].*Custom makes"),
    "a rough spline": (
        {"functions": [Constant(0, 0)] * 2 + [Spline(1, [0, 1], [0, 1])] * 2 + [Constant(0, 0)] * 2},
        mb.ModelError,
        r"functions\[2\].*second derivatives.*order 1.*degree 3",
    ),
    "five lists": ({"coordinate_indices": [[], [], [0], [0], []]}, ValueError, "coordinate_indices.*six lists.*5 were given"),
    "no list": ({"coordinate_indices": [[], [], 0, [0], [], []]}, TypeError, r"coordinate_indices\[2\] must be a list.*not 0"),
    "too many": ({"coordinate_indices": [[], [], [0, 0], [0], [], []]}, ValueError, r"\[2\] is \[0, 0\].*takes 1 argument"),
    "not there": ({"coordinate_indices": [[], [], [0], [1], [], []]}, ValueError, r"\[3\] names coordinate 1; there are 1"),
    "negative": ({"coordinate_indices": [[], [], [-1], [0], [], []]}, ValueError, r"\[2\] names coordinate -1"),
    "part": ({"coordinate_indices": [[], [], [0.0], [0], [], []]}, TypeError, r"\[2\] must be whole numbers, not 0.0"),
    "idle": ({"num_mobilities": 2}, mb.ModelError, "coordinate 1 of a FunctionBased moves nothing"),
    "of constants": (
        {"functions": [Constant(1)] * 2 + [Linear([1])] * 4, "coordinate_indices": [[0], [0], [], [], [], []]},
        mb.ModelError,
        "coordinate 0 of a FunctionBased moves nothing",
    ),
    "three axes": ({"axes": np.eye(3)}, ValueError, r"axes of a FunctionBased has to have shape \(6, 3\)"),
    "no direction": ({"axes": [*np.eye(3), (0, 0, 0), (0, 1, 0), (0, 0, 1)]}, mb.ModelError, r"axes\[3\].*direction"),
    "flat": (
        {"axes": [(1, 0, 0), (0, 1, 0), (1, 1, 0), *np.eye(3)]},
        mb.ModelError,
        r"three rotation axes.*axes\[0\] to axes\[2\], lie in one plane",
    ),
    "parallel": ({"axes": [*np.eye(3), (1, 0, 0), (2, 0, 0), (0, 0, 1)]}, mb.ModelError, "three translation axes.*one plane"),
    "not finite": ({"axes": np.full((6, 3), np.nan)}, mb.ModelError, "axes of a FunctionBased has to be finite"),
    "direction": ({"direction": "reverse"}, TypeError, "direction"),
    "frame": ({"X_PF": "here"}, TypeError, "X_PF"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_and_leaves_nothing_behind(name, make):
    change, kind, message = WRONG[name]
    matter = make.tree(0).matter
    with pytest.raises(kind, match=message):
        knee(matter.ground, **change)
    assert matter.get_num_bodies() == 1
