"""mobilizer.Custom: a user's own mobilizer moves as the built-in kind does that it imitates, in every form it can be given in.

Tolerances: 1e-12 for numbers of order one and tens of roundings, 1e-9 where a mass matrix of condition 1e3 is inverted.
"""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.algebra import rotation
from mobod.algebra.dual import jacobian, seed
from mobod.mobilizer import KINDS

EXACT, SOLVED = 1e-12, 1e-9
#: Kinds that move; a Weld has no speeds, and a Custom has one at least.
MOVING = [kind for kind in KINDS if kind.facts.num_u]
each_direction = pytest.mark.parametrize("direction", list(mb.Direction), ids=lambda d: d.name.lower())
quaternion_or_euler = pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])
HOOKS = "instance time position velocity dynamics acceleration report".split()


# ---------------------------------------------------------------------------------------------- users' mobilizers


class Mimic(mb.mobilizer.CustomImplementation):
    """Does what a built-in kind does, by asking one in a system of its own; q_dot is as the base class has it."""

    def __init__(self, matter, kind):
        facts = kind.facts
        super().__init__(matter, facts.num_u, facts.num_q, 4 if facts.has_quaternion else 0)
        system = mb.MultibodySystem()
        self.other = mb.SimbodyMatterSubsystem(system)
        self.body = kind(self.other.ground, mb.body.Rigid())
        state = system.realize_topology()
        self.twins = {False: state, True: self.other.convert_to_euler_angles(state)}

    def at(self, state, stage=Stage.POSITION):
        twin = self.twins[self.get_use_euler_angles(state)]
        twin.q, twin.u = self.get_q(state), self.get_u(state)
        self.other.get_system().realize(twin, stage)
        return twin

    def calc_mobilizer_transform_from_q(self, state, q):
        twin = self.twins[self.get_use_euler_angles(state)]
        twin.q = q
        self.other.get_system().realize(twin, Stage.POSITION)
        return self.body.get_mobilizer_transform(twin)

    def multiply_by_h_matrix(self, state, u):
        twin = self.at(state)
        return sum(x * self.body.get_h_fm_col(twin, i) for i, x in enumerate(u))

    def multiply_by_h_dot_matrix(self, state, u):
        twin, facts = self.at(state, Stage.VELOCITY), self.body.facts
        hinge = facts.hinge_euler if self.get_use_euler_angles(state) and facts.hinge_euler else facts.hinge
        p = [self.body.pack_parameters()] if facts.num_parameters else []
        columns = hinge(seed(tuple(twin.q.tolist()), twin.q_dot.tolist()), *p)
        return np.tensordot(u, jacobian(columns).reshape(-1, 2, 3), 1)


class MimicOfN(Mimic):
    """With an N of its own too."""

    def multiply_by_n(self, state, transpose_matrix, v):
        return self.other.multiply_by_n(self.at(state), transpose_matrix, v)

    def multiply_by_n_inv(self, state, transpose_matrix, v):
        return self.other.multiply_by_n_inv(self.at(state), transpose_matrix, v)

    def multiply_by_n_dot(self, state, transpose_matrix, v):
        return self.other.multiply_by_n_dot(self.at(state, Stage.VELOCITY), transpose_matrix, v)


class Hinge(mb.mobilizer.CustomImplementation):
    """A Pin, as a user would write it, that notes which hooks are called."""

    def __init__(self, matter):
        super().__init__(matter, nu=1, nq=1)
        self.calls = []

    def calc_mobilizer_transform_from_q(self, state, q):
        return mb.Transform(mb.Rotation.about_axis(q[0], "z"))

    def multiply_by_h_matrix(self, state, u):
        self.calls.append("h")
        return [(0, 0, u[0]), (0, 0, 0)]

    def multiply_by_h_dot_matrix(self, state, u):
        self.calls.append("h_dot")
        return np.zeros((2, 3))


for _hook in ["topology", "model", *HOOKS]:

    def _note(self, state, hook=_hook):
        self.calls.append(hook)

    setattr(Hinge, f"realize_{_hook}", _note)


class Winch(mb.mobilizer.CustomImplementation):
    """Slides along a parabola z = x^2 / 2 l, with l a parameter: the columns depend on q, and HDot on u."""

    def __init__(self, matter):
        super().__init__(matter, nu=1, nq=1)

    def calc_mobilizer_transform_from_q(self, state, q):
        (length,) = self.get_parameters(state)
        return mb.Transform((q[0], 0, 0.5 * q[0] ** 2 / length))

    def multiply_by_h_matrix(self, state, u):
        slope = self.get_mobilizer_transform(state).p[0] / self.get_parameters(state)[0]
        return [(0, 0, 0), (u[0], 0, slope * u[0])]

    def multiply_by_h_dot_matrix(self, state, u):
        assert np.array_equal(self.get_mobilizer_velocity(state)[1, 0], self.get_q_dot(state)[0])
        return [(0, 0, 0), (0, 0, self.get_q_dot(state)[0] / self.get_parameters(state)[0] * u[0])]


def python(matter, kind):
    return {"implementation": MimicOfN(matter, kind) if kind.__name__ in N_OF else Mimic(matter, kind)}


def python_with_n(matter, kind):
    return {"implementation": MimicOfN(matter, kind)}


def users_functions(kind, names):
    """A kind's functions as its user would have written them: of q and parameters, in a function of their own."""
    functions = {}
    for name in names:
        of_kind = getattr(kind.facts, name)
        if kind.facts.num_parameters:
            functions[name] = lambda q, p, of_kind=of_kind: of_kind(q, p)
        else:
            functions[name] = lambda q, p, of_kind=of_kind: of_kind(q)
    return functions


def parameters_of(kind):
    """The parameters that the kind has by default."""
    matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    return tuple(kind(matter.ground, mb.body.Rigid()).pack_parameters())


def n_of_a_line(q, p):
    """N of an orientation without spin, by rows: q_dot = 1/2 q (0, u0, u1, 0)."""
    w, x, y, z = 0.5 * q[0], 0.5 * q[1], 0.5 * q[2], 0.5 * q[3]
    return (-x, -y), (w, -z), (z, w), (-y, x)


def n_inv_of_a_line(q, p):
    s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    w, x, y, z = s * q[0], s * q[1], s * q[2], s * q[3]
    return (-x, w, z, -y), (-y, -z, w, x)


def n_of_a_free_line(q, p):
    (a, b), (c, d), (e, f), (g, h) = n_of_a_line((q[0], q[1], q[2], q[3]), p)
    return (
        (a, b, 0, 0, 0), (c, d, 0, 0, 0), (e, f, 0, 0, 0), (g, h, 0, 0, 0),
        (0, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1),
    )  # fmt: skip


def n_inv_of_a_free_line(q, p):
    (a, b, c, d), (e, f, g, h) = n_inv_of_a_line((q[0], q[1], q[2], q[3]), p)
    return (
        (a, b, c, d, 0, 0, 0), (e, f, g, h, 0, 0, 0),
        (0, 0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 0, 1),
    )  # fmt: skip


#: N of the kinds that have one of their own.
N_OF = {
    "LineOrientation": {"n": n_of_a_line, "n_inv": n_inv_of_a_line},
    "FreeLine": {"n": n_of_a_free_line, "n_inv": n_inv_of_a_free_line},
}


def compiled(matter, kind, names=("transform", "hinge")):
    """By functions of which the columns are given, and their rates follow."""
    facts = kind.facts
    functions = mb.mobilizer.CompiledFunctions(
        num_q=facts.num_q,
        num_u=facts.num_u,
        num_angles=4 if facts.has_quaternion else 0,
        **users_functions(kind, names),
        **N_OF.get(kind.__name__, {}),
    )
    return {"compiled": functions, "parameters": parameters_of(kind)}


def transform_alone(matter, kind):
    """By its transform, of which everything else follows."""
    facts = kind.facts
    if facts.has_quaternion:
        return compiled(matter, kind, ("transform",))
    return {**users_functions(kind, ("transform",)), "num_q": facts.num_q, "parameters": parameters_of(kind)}


#: What makes the keywords of a Custom that is like a built-in kind.
FORMS = [python, python_with_n, compiled, transform_alone]
each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
#: Kinds worth the compiling, each in one of the forms: from one speed to six, parameters, a quaternion, an N of its own.
COMPILED = {
    mb.mobilizer.Screw: transform_alone,
    mb.mobilizer.Universal: transform_alone,
    mb.mobilizer.Ball: compiled,
    mb.mobilizer.Ellipsoid: transform_alone,
    mb.mobilizer.Free: compiled,
    mb.mobilizer.LineOrientation: compiled,
}


def in_turn(matter, kind):
    return COMPILED.get(kind, python)(matter, kind)


def each_kind_and_form(kinds):
    cases = [(kind, form) for kind in kinds for form in (python, python_with_n, COMPILED.get(kind)) if form]
    ids = [f"{form.__name__}-{kind.__name__}" for kind, form in cases]
    return pytest.mark.parametrize(("kind", "form"), cases, ids=ids)


@pytest.fixture
def twins(make):
    """Two equal systems, the second with a Custom in the place of the built-in kind: a body before it and one after."""

    def build(kind, form, direction=mb.Direction.FORWARD, euler=False):
        frames, bodies = [make.frame() for _ in range(6)], [make.body() for _ in range(3)]
        models = []
        for custom in (False, True):
            model = make.tree(0)
            model.gravity.set_default_gravity_vector((1, -9, 2))
            base = mb.mobilizer.Universal(model.matter.ground, bodies[0], X_PF=frames[0], X_BM=frames[1])
            settings = {"X_PF": frames[2], "X_BM": frames[3], "direction": direction}
            if custom:
                model.body = mb.mobilizer.Custom(base, bodies[1], **form(model.matter, kind), **settings)
            else:
                model.body = kind(base, bodies[1], **settings)
            mb.mobilizer.Pin(model.body, bodies[2], X_PF=frames[4], X_BM=frames[5], direction=direction)
            model.made()
            model.matter.set_use_euler_angles(model.state, euler)
            model.system.realize_model(model.state)
            models.append(model)
        one, two = models
        one.randomize()
        two.state.q, two.state.u = one.state.q, one.state.u
        two.system.realize(two.state)
        return one, two

    return build


@pytest.fixture
def hinged(make):
    """A system with a Hinge between a Free and a Ball."""
    model = make.tree(0)
    free = make.mobilized_body(mb.mobilizer.Free, model.matter.ground)
    model.implementation = Hinge(model.matter)
    model.body = mb.mobilizer.Custom(free, make.body(), model.implementation, X_PF=make.frame(), X_BM=make.frame(), name="door")
    make.mobilized_body(mb.mobilizer.Ball, model.body)
    return model.made()


# ---------------------------------------------------------------------------------------------- the same as built in


@each_kind_and_form(MOVING)
@each_direction
@quaternion_or_euler
def test_it_moves_as_the_kind_that_it_imitates(kind, form, direction, euler, twins, make, close):
    one, two = twins(kind, form, direction, euler)
    for get, tolerance in (
        ("get_body_transform", EXACT),
        ("get_mobilizer_transform", EXACT),
        ("get_body_velocity", EXACT),
        ("get_mobilizer_velocity", EXACT),
        ("get_body_acceleration", SOLVED),
        ("get_mobilizer_acceleration", SOLVED),
    ):
        for a, b in zip(one.bodies[1:], two.bodies[1:], strict=True):
            close(np.asarray(getattr(b, get)(two.state)), np.asarray(getattr(a, get)(one.state)), tolerance, 10.0)
    for result, tolerance in (("q_dot", EXACT), ("u_dot", SOLVED), ("q_dot_dot", SOLVED)):
        close(getattr(two.state, result), getattr(one.state, result), tolerance)
    close(two.matter.calc_m(two.state), one.matter.calc_m(one.state), EXACT)
    close(two.matter.calc_bias_for_system_jacobian(two.state), one.matter.calc_bias_for_system_jacobian(one.state), 1e-11)
    assert two.system.calc_energy(two.state) == pytest.approx(one.system.calc_energy(one.state), rel=1e-12)
    nq, nu = len(one.state.q), len(one.state.u)
    for product, takes, gives in (("n", nu, nq), ("n_inv", nq, nu), ("n_dot", nu, nq)):
        for transpose in (False, True):
            v = make.vector(gives if transpose else takes)
            mine, theirs = (getattr(m.matter, f"multiply_by_{product}")(m.state, transpose, v) for m in (two, one))
            close(mine, theirs, EXACT, 10.0)


@pytest.mark.parametrize("form", [python, python_with_n, in_turn], ids=lambda form: form.__name__)
@quaternion_or_euler
def test_a_tree_of_them_moves_as_the_tree_of_the_kinds(form, euler, make, close):
    """One of every kind, here and there reversed, each on any of those before it."""
    order = list(make.rng.permutation(len(MOVING)))
    parents = [int(make.rng.integers(0, place + 1)) for place in range(len(order))]
    frames, bodies = [(make.frame(), make.frame()) for _ in order], [make.body() for _ in order]
    directions = [make.direction() for _ in order]
    models = []
    for custom in (False, True):
        model = make.tree(0)
        model.gravity.set_default_gravity_vector((1, -9, 2))
        for place, parent, (X_PF, X_BM), body, direction in zip(order, parents, frames, bodies, directions, strict=True):
            kind, settings = MOVING[place], {"X_PF": X_PF, "X_BM": X_BM, "direction": direction}
            if custom:
                mb.mobilizer.Custom(model.bodies[parent], body, **form(model.matter, kind), **settings)
            else:
                kind(model.bodies[parent], body, **settings)
        model.made()
        model.matter.set_use_euler_angles(model.state, euler)
        model.system.realize_model(model.state)
        models.append(model)
    one, two = models
    one.randomize()
    two.state.q, two.state.u = one.state.q, one.state.u
    two.system.realize(two.state)
    F, f = make.rng.normal(size=(len(bodies) + 1, 2, 3)), make.vector(len(one.state.u))
    for model in models:
        model.result = [
            model.matter.calc_m(model.state),
            model.matter.calc_bias_for_system_jacobian(model.state),
            model.matter.calc_residual_force(model.state, f, F, f),
            model.state.q_dot,
        ]
    for expected, found in zip(one.result, two.result, strict=True):
        close(found, expected, 1e-11)
    # udot by what it has to do: solving for it would compare conditions of a mass matrix
    rest = two.matter.calc_residual_force(two.state, None, two.system.get_rigid_body_forces(two.state), two.state.u_dot)
    close(rest, np.zeros_like(rest), 1e-8, np.abs(one.result[2]).max())


@each_kind_and_form(MOVING)
@each_direction
@quaternion_or_euler
def test_fits_reach_what_can_be_reached(kind, form, direction, euler, twins, close):
    one, two = twins(kind, form, direction, euler)
    X, V = one.body.get_mobilizer_transform(one.state), one.body.get_mobilizer_velocity(one.state)
    state, body = two.randomize(Stage.MODEL), two.body
    others = np.delete(state.q, np.arange(len(state.q))[body.q_slice(state)])
    body.set_q_to_fit_transform(state, X)
    two.system.realize(state, Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state)), np.asarray(X), 1e-9)  # a cost of 1e-24 is misses of 1e-12 and steps
    body.set_u_to_fit_velocity(state, V)
    two.system.realize(state, Stage.VELOCITY)
    close(body.get_mobilizer_velocity(state), V, 1e-8, 10.0)
    two.randomize(Stage.MODEL)
    body.set_q_to_fit_rotation(state, X.R)
    two.system.realize(state, Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state).R), np.asarray(X.R), 1e-9)
    body.set_q_to_fit_translation(state, X.p)
    two.system.realize(state, Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(state)), np.asarray(X), 1e-9)
    assert len(others) == len(state.q) - body.get_num_q(state)
    close(two.matter.multiply_by_n_inv(state, False, np.zeros(len(state.q))), np.zeros(len(state.u)), EXACT)


@each_kind_and_form([mb.mobilizer.Universal, mb.mobilizer.Ball])
@quaternion_or_euler
def test_it_is_simulated_as_the_kind_that_it_imitates(kind, form, euler, twins):
    """Runs agree to rounding; but u between the steps of a kind with its own N is a cubic, less accurate than the steps."""
    one, two = twins(kind, form, mb.Direction.REVERSE, euler)
    motions = [mb.simulate(model.system, model.state, 0.2, accuracy=1e-9) for model in (one, two)]
    np.testing.assert_allclose(motions[1].q, motions[0].q, atol=1e-8)
    np.testing.assert_allclose(motions[1].u, motions[0].u, atol=1e-5)
    np.testing.assert_allclose(motions[1].energy, motions[0].energy, atol=1e-5 * motions[0].calc_kinetic_energy().max())


#: Kinds whose lanes are worth the compiling: without and with a quaternion, an N of its own, parameters.
FEW = [mb.mobilizer.Universal, mb.mobilizer.Ellipsoid, mb.mobilizer.LineOrientation]


@each_kind_and_form(FEW)
@quaternion_or_euler
def test_an_ensemble_of_it_is_one_of_the_kind_that_it_imitates(kind, form, euler, twins, make, close):
    one, two = twins(kind, form, mb.Direction.REVERSE, euler)
    n = 11
    q, u = one.state.q + make.vector(n * len(one.state.q), 0.1).reshape(n, -1), make.vector(n * len(one.state.u)).reshape(n, -1)
    q[3, 0] = np.nan
    results = []
    for model in (one, two):
        ensemble = mb.Ensemble(model.system, n, state=model.state)
        ensemble.q, ensemble.u = q, u
        ensemble.realize()
        assert np.array_equal(np.flatnonzero(ensemble.failed), [3])
        names = ("u_dot", "q_dot", "q_dot_dot", "body_transforms", "body_velocities", "body_accelerations")
        results.append([np.delete(getattr(ensemble, name), 3, axis=0) for name in names])
    for expected, found in zip(*results, strict=True):
        close(found, expected, SOLVED)


def bent(q, p):
    """A transform that pickle finds by its name."""
    return rotation.about_x_then_y(q[0], p[0] * q[1]), (q[0], p[1], q[1] * q[1])


def importable(matter, kind):
    return {"transform": bent, "num_q": 2, "parameters": (0.5, 0.2)}


@pytest.mark.parametrize("form", [python, python_with_n, importable], ids=lambda form: form.__name__)
@quaternion_or_euler
def test_copies_and_pickles_of_systems_and_states_go_on(form, euler, twins):
    kind = mb.mobilizer.Universal if form is importable else mb.mobilizer.Free
    _, two = twins(kind, form, mb.Direction.REVERSE, euler)
    kept = two.state.copy()
    assert np.array_equal(kept.u_dot, two.state.u_dot)
    for again in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        system, state = again((two.system, two.state))
        assert state.system is system and system is not two.system
        body = system.get_matter_subsystem().bodies[2]
        assert isinstance(body, mb.mobilizer.Custom) and body is not two.body
        state.u = state.u
        state.q = state.q
        system.realize(state)
        assert np.array_equal(state.u_dot, two.state.u_dot)
        fresh = system.realize_topology()
        system.realize(fresh)
        assert np.isfinite(fresh.u_dot).all()


# ---------------------------------------------------------------------------------------------- q, u and parameters


@each_form
def test_one_coordinate_is_an_array_too(form, make):
    model = make.tree(0)
    body = mb.mobilizer.Custom(model.matter.ground, make.body(), **form(model.matter, mb.mobilizer.Pin), name="door")
    assert np.array_equal(body.get_default_q(), [0.0])
    body.set_default_q(0.5)
    state = model.made().state
    body.set_u(state, 2.0)
    model.system.realize(state)
    assert np.array_equal(body.get_q(state), [0.5]) and np.array_equal(body.get_u(state), [2.0])
    for name in ("get_q_dot", "get_u_dot", "get_q_dot_dot"):
        assert getattr(body, name)(state).shape == (1,)
    assert body.get_my_part_q(state, state.q).shape == body.get_my_part_u(state, state.u).shape == (1,)


def test_the_implementation_finds_its_own_part_of_the_state(make, close):
    model = make.tree(0)
    free = make.mobilized_body(mb.mobilizer.Free, model.matter.ground)
    for direction in mb.Direction:
        mine = Mimic(model.matter, mb.mobilizer.Universal)
        with pytest.raises(mb.ModelError, match="not part of a mobilized body yet"):
            mine.get_q(None)
        body = mb.mobilizer.Custom(free, make.body(), mine, direction=direction)
        assert mine.get_mobilized_body() is body and body.get_implementation() is mine
    state = model.made().randomize()
    for body in model.bodies[2:]:
        mine = body.get_implementation()
        for name in ("q", "u", "q_dot", "u_dot", "q_dot_dot"):
            assert np.array_equal(getattr(mine, f"get_{name}")(state), getattr(body, f"get_{name}_as_vector")(state))
        X = mine.calc_mobilizer_transform_from_q(state, mine.get_q(state))
        close(np.asarray(mine.get_mobilizer_transform(state)), np.asarray(X), EXACT)
        close(mine.get_mobilizer_velocity(state), mine.multiply_by_h_matrix(state, mine.get_u(state)), EXACT)
        F, u = make.rng.normal(size=(2, 3)), make.vector(2)
        for product in ("h", "h_dot"):
            power = np.sum(F * getattr(mine, f"multiply_by_{product}_matrix")(state, u))
            assert u @ getattr(mine, f"multiply_by_{product}_transpose")(state, F) == pytest.approx(power, abs=1e-12)
    with pytest.raises(mb.StageError, match="ACCELERATION"):
        mine.get_u_dot(model.randomize(Stage.VELOCITY))
    with pytest.raises(mb.StageError, match="VELOCITY"):
        mine.get_mobilizer_velocity(model.randomize(Stage.POSITION))
    with pytest.raises(mb.StageError, match="POSITION"):
        mine.get_mobilizer_transform(model.randomize(Stage.TIME))
    assert not mine.get_use_euler_angles(state)


@pytest.mark.parametrize("kind", [mb.mobilizer.Ball, mb.mobilizer.Free], ids=lambda k: k.__name__)
@quaternion_or_euler
def test_products_with_n_are_a_balls_unless_overridden(kind, euler, twins, make, close):
    _, two = twins(kind, python, mb.Direction.REVERSE, euler)
    mine, state, matter = two.body.get_implementation(), two.state, two.matter
    q, u = two.body.q_slice(state), two.body.u_slice(state)
    for product, takes, gives in (("n", u, q), ("n_inv", q, u), ("n_dot", u, q)):
        for transpose in (False, True):
            into, out = (gives, takes) if transpose else (takes, gives)
            v = np.zeros(len(state.u) if into is u else len(state.q))
            v[into] = make.vector(into.stop - into.start)
            expected = getattr(matter, f"multiply_by_{product}")(state, transpose, v)[out]
            close(getattr(mine, f"multiply_by_{product}")(state, transpose, v[into]), expected, EXACT)


@each_direction
def test_parameters_are_numbers_of_the_state(direction, make, derivative, close):
    model = make.tree(0)
    free = make.mobilized_body(mb.mobilizer.Free, model.matter.ground)
    body = mb.mobilizer.Custom(free, make.body(), Winch(model.matter), parameters=(2.0,), direction=direction, name="winch")
    state = model.made().randomize()
    before = state.copy()
    body.set_parameters(state, [0.7])
    assert state.stage == Stage.MODEL and body.get_parameters(state) == [0.7] and body.get_parameters(before) == [2.0]
    model.system.realize(state)
    assert np.abs(state.u_dot - before.u_dot).max() > 1e-6
    close(
        body.get_mobilizer_acceleration(state),
        derivative(lambda h: body.get_mobilizer_velocity(model.moved(h, state))),
        1e-8,
        100.0,
    )
    with pytest.raises(mb.ModelError, match="'winch' has 1 parameters, got 2"):
        body.set_parameters(state, (1.0, 2.0))
    with pytest.raises(mb.ModelError, match="finite"):
        body.set_parameters(state, [np.nan])
    assert state.stage == Stage.ACCELERATION and body.get_parameters(state) == [0.7]
    assert body.set_default_parameters([3.0]) is body and body.get_default_parameters() == [3.0]
    with pytest.raises(mb.TopologyError):
        model.system.realize(state)
    assert body.get_parameters(model.system.realize_topology()) == [3.0]


# ---------------------------------------------------------------------------------------------- hooks


def test_hooks_are_called_before_what_they_prepare(hinged):
    system, mine = hinged.system, hinged.implementation
    mine.calls.clear()
    state = system.realize_topology()
    assert mine.calls == ["topology", "model"]
    mine.calls.clear()
    system.realize(state, Stage.REPORT)
    assert mine.calls == ["instance", "time", "position", "h", "velocity", "h_dot", "dynamics", "acceleration", "report"]
    mine.calls.clear()
    system.realize(state, Stage.REPORT)
    assert mine.calls == []
    state.u = state.u
    system.realize(state)
    assert mine.calls == ["velocity", "h_dot", "dynamics", "acceleration"]
    mine.calls.clear()
    state.time = 1.0
    system.realize(state, Stage.POSITION)
    assert mine.calls == ["time", "position"], "q is what it was, and so is H"
    mine.calls.clear()
    hinged.matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    assert mine.calls == ["model"]


def test_kinematics_are_there_when_the_matter_is_asked_for_them_early(hinged, close):
    state, matter, mine = hinged.randomize(), hinged.matter, hinged.implementation
    expected = state.copy()
    state.q, state.u = expected.q, expected.u
    mine.calls.clear()
    matter.realize_position_kinematics(state)
    assert mine.calls == ["position", "h"] and state.stage == Stage.TIME
    close(matter.calc_m(state), matter.calc_m(expected), EXACT)
    matter.realize_velocity_kinematics(state)
    assert mine.calls == ["position", "h", "velocity", "h_dot"]
    close(matter.calc_bias_for_system_jacobian(state), matter.calc_bias_for_system_jacobian(expected), EXACT)
    matter.realize_articulated_body_inertias(state)
    hinged.system.realize(state)
    assert mine.calls[4:] == ["position", "velocity", "dynamics", "acceleration"], "the stages pass, H is there"
    assert np.array_equal(state.u_dot, expected.u_dot)


def test_hooks_find_the_state_below_their_stage_and_its_columns_above(hinged):
    body, seen = hinged.body, []

    class Watcher(Hinge):
        def realize_position(self, state):
            assert state.stage == Stage.TIME
            seen.append(self.get_mobilizer_transform(state).R)

        def multiply_by_h_matrix(self, state, u):
            assert self.get_mobilizer_transform(state).R == seen[-1]
            with pytest.raises(mb.StageError):
                self.bound_mobod.get_body_transform(state)
            return super().multiply_by_h_matrix(state, u)

        def realize_velocity(self, state):
            assert state.stage == Stage.POSITION
            self.bound_mobod.get_body_transform(state)
            assert np.array_equal(self.get_q_dot(state), self.get_u(state))
            assert np.array_equal(self.get_mobilizer_velocity(state), [(0, 0, self.get_u(state)[0]), (0, 0, 0)])

    for direction in mb.Direction:
        mb.mobilizer.Custom(body, mb.body.Rigid(), Watcher(hinged.matter), direction=direction)
    hinged.made().randomize(Stage.REPORT)
    assert len(seen) >= 2


@pytest.mark.parametrize(
    "where",
    [
        "calc_mobilizer_transform_from_q",
        "multiply_by_h_matrix",
        "multiply_by_h_dot_matrix",
        *(f"realize_{hook}" for hook in HOOKS),
    ],
)
def test_an_exception_in_it_leaves_the_state_as_it_was(where, hinged):
    class Broken(RuntimeError):
        pass

    def fail(*args):
        raise Broken(where)

    state, mine = hinged.randomize(), hinged.implementation
    expected = state.u_dot.copy()
    hinged.body.set_inboard_frame(state, hinged.body.get_inboard_frame(state))
    before = state.stage, state.valid, state.y.copy()
    setattr(mine, where, fail)
    with pytest.raises(Broken, match=where):
        hinged.system.realize(state, Stage.REPORT)
    assert (state.stage, state.valid) == before[:2] and np.array_equal(state.y, before[2])
    delattr(mine, where)
    hinged.system.realize(state, Stage.REPORT)
    assert np.array_equal(state.u_dot, expected)


# ---------------------------------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("method", "value", "message"),
    [
        ("calc_mobilizer_transform_from_q", np.nan * np.eye(4), "finite"),
        ("calc_mobilizer_transform_from_q", (1, 2), "has to return a Transform"),
        ("calc_mobilizer_transform_from_q", 2.0 * np.eye(3), "Transform"),
        ("multiply_by_h_matrix", np.zeros(6), r"shape \(2, 3\).*shape \(6,\)"),
        ("multiply_by_h_matrix", np.full((2, 3), np.inf), "not finite at q ="),
        ("multiply_by_h_dot_matrix", None, r"shape \(2, 3\)"),
        ("multiply_by_h_dot_matrix", np.full((2, 3), np.nan), "not finite at q ="),
    ],
)
def test_what_a_method_must_not_return_names_it(method, value, message, hinged):
    state = hinged.randomize()
    state.q = state.q
    setattr(hinged.implementation, method, lambda *args: value)
    with pytest.raises(mb.ModelError, match=rf"(?s){method} of Hinge, of 'door',.*{message}"):
        hinged.system.realize(state)
    assert state.stage == Stage.TIME


@pytest.mark.parametrize("product", ["multiply_by_n", "multiply_by_n_inv", "multiply_by_n_dot"])
def test_what_a_product_with_n_must_not_return_names_it(product, twins):
    _, two = twins(mb.mobilizer.Ball, python_with_n)
    two.state.q = two.state.q
    setattr(two.body.get_implementation(), product, lambda *args: np.zeros(9))
    with pytest.raises(mb.ModelError, match=rf"{product} of MimicOfN.*shape \([34],\).*shape \(9,\)"):
        two.system.realize(two.state)


def test_numbers_that_are_not_finite_do_not_reach_the_methods(hinged):
    state = hinged.randomize()
    hinged.implementation.calc_mobilizer_transform_from_q = None  # a call would fail
    q = state.q.copy()
    q[-1] = np.inf
    state.q = q
    with pytest.raises(mb.ModelError, match=r"number 3 of 'ball_3', is inf"):
        hinged.system.realize(state, Stage.POSITION)


def test_a_failing_integration_says_what_the_method_returned(hinged):
    hinged.implementation.multiply_by_h_matrix = lambda state, u: [(0, 0, u[0] if state.time < 0.05 else np.nan), (0, 0, 0)]
    state = hinged.randomize(Stage.MODEL)
    stepper = mb.TimeStepper(hinged.system, mb.integrator.RungeKuttaMerson(hinged.system))
    stepper.initialize(state)
    with pytest.raises(mb.ConvergenceError, match="multiply_by_h_matrix of Hinge, of 'door', is not finite"):
        stepper.step_to(1.0)
    assert 0.0 < stepper.time <= 0.05


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ((0, 0), mb.ModelError, "nu = 0.*Weld"),
        ((7, 7), mb.ModelError, "nu = 7"),
        ((2, 1), mb.ModelError, "nq = 1"),
        ((6, 8), mb.ModelError, "nq = 8"),
        ((1, 2), mb.ModelError, "multiply_by_n, multiply_by_n_inv, multiply_by_n_dot"),
        ((3, 3, 4), mb.ModelError, "n_angles"),
        ((3, 4, 5), mb.ModelError, "n_angles = 5"),
        ((2, 4, 4), mb.ModelError, "multiply_by_n"),
        ((1.0, 1), TypeError, "nu of .* integer"),
        ((1, "1"), TypeError, "nq of .* integer"),
        ((1, 1, True), TypeError, "n_angles of .* integer"),
    ],
)
def test_numbers_of_coordinates_have_to_fit(numbers, error, message, make):
    class Any(Hinge):
        def __init__(self, *args):
            mb.mobilizer.CustomImplementation.__init__(self, *args)

    with pytest.raises(error, match=message):
        Any(make.tree(0).matter, *numbers)


def test_an_implementation_is_complete_and_of_one_body(make):
    model, other = make.tree(0), make.tree(0)
    ground, body = model.matter.ground, make.body()
    Custom = mb.mobilizer.Custom

    class Half(Hinge):
        def multiply_by_n(self, state, transpose_matrix, v):
            return v

    class Forgetful(Hinge):
        def __init__(self):
            self.calls = []

    with pytest.raises(mb.ModelError, match="multiply_by_n, so it needs its own multiply_by_n_inv and multiply_by_n_dot"):
        Half(model.matter)
    with pytest.raises(TypeError, match="abstract"):
        mb.mobilizer.CustomImplementation(model.matter, 1, 1)
    with pytest.raises(TypeError, match="SimbodyMatterSubsystem"):
        Hinge(model.system)
    with pytest.raises(TypeError, match="CustomImplementation"):
        Custom(ground, body, Hinge)
    with pytest.raises(mb.ModelError, match="super"):
        Custom(ground, body, Forgetful())
    with pytest.raises(mb.ModelError, match="another matter"):
        Custom(ground, body, Hinge(other.matter))
    for parameters, error in (("ab", TypeError), (1.0, mb.ModelError), ([np.nan], mb.ModelError)):
        with pytest.raises(error, match="parameters"):
            Custom(ground, body, Hinge(model.matter), parameters=parameters)
    mine = Hinge(model.matter)
    with pytest.raises(TypeError, match="X_PF"):
        Custom(ground, body, mine, X_PF="there")
    door = Custom(ground, body, mine, name="door")
    with pytest.raises(mb.ModelError, match="'door' already"):
        Custom(ground, body, mine)
    with pytest.raises(mb.ModelError, match="'door' already"):
        Custom(ground, body, Hinge(model.matter), name="door")
    assert list(model.bodies) == [ground, door], "what failed left nothing behind"


def test_a_clone_has_a_copy_of_the_implementation(make):
    model, other = make.tree(0), make.tree(0)
    body = mb.mobilizer.Custom(model.matter.ground, make.body(), Winch(model.matter), parameters=[0.3])
    body.set_default_q([0.5])
    clone = body.clone_for_new_parent(other.matter.ground)
    assert clone.get_matter_subsystem() is other.matter and clone.get_default_parameters() == [0.3]
    assert clone.get_implementation() is not body.get_implementation() and clone.get_default_q() == [0.5]
    assert clone.get_implementation().get_mobilized_body() is clone
    assert body.get_implementation().get_mobilized_body() is body
    other.made().randomize()


def test_changing_the_implementation_is_a_topological_change(hinged):
    assert hinged.body.upd_implementation() is hinged.implementation
    assert not hinged.system.system_topology_has_been_realized()
    hinged.system.realize_topology()
    hinged.implementation.invalidate_topology_cache()
    assert not hinged.system.system_topology_has_been_realized()


# ---------------------------------------------------------------------------------------------- fits of one's own, pictures


@each_direction
def test_fits_of_ones_own_are_used(direction, make, close):
    class Fitting(Hinge):
        def set_q_to_fit_transform(self, state, X_FM):
            seen.append(X_FM)
            return [7.0]

        def set_u_to_fit_velocity(self, state, V_FM):
            seen.append(V_FM)
            return [V_FM[0, 2]]

    seen = []
    model = make.tree(0)
    mine = Fitting(model.matter)
    body = mb.mobilizer.Custom(model.matter.ground, make.body(), mine, direction=direction)
    state = model.made().randomize()
    X, V = body.get_mobilizer_transform(state), body.get_mobilizer_velocity(state)
    own, u = mine.get_mobilizer_transform(state), body.get_u(state)
    body.set_q_to_fit_transform(state, X)
    assert body.get_q(state) == [7.0]
    close(np.asarray(seen[0]), np.asarray(own), EXACT)
    state = model.randomize()
    V, u = body.get_mobilizer_velocity(state), body.get_u(state)
    body.set_u(state, 0.0)
    body.set_u_to_fit_velocity(state, V)
    close(body.get_u(state), u, EXACT)
    mine.set_q_to_fit_transform = lambda state, X_FM: [1.0, 2.0]
    with pytest.raises(mb.ModelError, match=r"set_q_to_fit_transform.*shape \(1,\)"):
        body.set_q_to_fit_transform(state, X)


def test_fits_of_the_implementation_search_unless_overridden(make, close):
    model = make.tree(0)
    for direction in mb.Direction:
        mine = Mimic(model.matter, mb.mobilizer.Universal)
        mb.mobilizer.Custom(model.matter.ground, make.body(), mine, direction=direction)
    state = model.made().randomize()
    for body in model.bodies[1:]:
        mine = body.get_implementation()
        X = mine.calc_mobilizer_transform_from_q(state, np.array([0.3, -0.4]))
        q = mine.set_q_to_fit_transform(state, X)
        close(np.asarray(mine.calc_mobilizer_transform_from_q(state, q)), np.asarray(X), 1e-9)
        V = mine.multiply_by_h_matrix(state, np.array([0.5, 0.6]))
        close(mine.set_u_to_fit_velocity(state, V), [0.5, 0.6], 1e-9)


def test_a_fit_of_the_unreachable_is_the_nearest_nearby(make):
    """A bead on a parabola: the nearest point of it to one beside it, found by other means."""
    model = make.tree(0)
    body = mb.mobilizer.Custom(model.matter.ground, make.body(), Winch(model.matter), parameters=[0.5])
    state = model.made().randomize()
    p = np.array([1.0, 2.0, -1.0])
    body.set_q_to_fit_translation(state, p)
    (q,) = body.get_q(state)
    x = np.linspace(-3, 3, 60001)
    distance = np.hypot(x - p[0], x**2 - p[2])
    assert q == pytest.approx(x[np.argmin(distance)], abs=2e-4)
    for target in (mb.Transform((1e6, 0, 0)), mb.Transform(make.rotation(), (0, 0, -1e-3)), mb.Transform()):
        body.set_q_to_fit_transform(state, target)
        body.set_q_to_fit_rotation(state, target.R)
        body.set_q_to_fit_translation(state, target.p)
        assert np.isfinite(state.q).all()
    for shape in ((2,), ()):
        with pytest.raises(ValueError, match="shape"):
            body.set_q_to_fit_translation(state, np.zeros(shape))


def test_its_decorations_are_drawn(hinged):
    from mobod.shapes.mechanism import Mechanism

    asked = []

    def decorations(state, stage):
        asked.append(stage)
        return [mb.decoration.Sphere(0.5, X=(1, 0, 0), color="red")] if stage == Stage.TOPOLOGY else []

    state = hinged.randomize(Stage.MODEL)

    def num_red():
        return np.all(Mechanism.of(hinged.system, state).face_color[:, :3] == (1, 0, 0), axis=1).sum()

    assert num_red() == 0  # stand-ins for bodies without decorations may have as many faces
    hinged.implementation.calc_decorative_geometry_and_append = decorations
    assert num_red() > 0
    assert asked == [Stage.TOPOLOGY, Stage.MODEL, Stage.INSTANCE, Stage.TIME, Stage.POSITION]
    hinged.implementation.calc_decorative_geometry_and_append = lambda state, stage: ["a sphere"]
    with pytest.raises(mb.ModelError, match=r"calc_decorative_geometry_and_append of 'door'.*a sphere"):
        Mechanism.of(hinged.system, state)
