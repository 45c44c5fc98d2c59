"""Constraints that users write: copies of built-in kinds give the same answers, and the checker names what is wrong."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage, constraint as con, function as fn
from mobod.algebra import mat33, sin, sqrt, vec3

sys.path.insert(0, str(Path(__file__).parent))
import handwritten as by_hand

ONE, TWO, LENGTH, WEIGHTS = (0.1, 0.2, -0.3), (0.3, -0.5, 0.1), 1.1, (0.5, -1.0, 0.3, 0.2)


def rod(X, q, parameters):
    (R1, p1), (R2, p2) = X
    d = vec3.sub(vec3.add(p2, mat33.mul_vec(R2, TWO)), vec3.add(p1, mat33.mul_vec(R1, ONE)))
    return (sqrt(vec3.dot(d, d)) - parameters[0],)


def curve(X, q, parameters):
    q = q[0] + q[1]
    return (q[0] * q[1] - q[2] * q[2] + parameters[0],)


class World:
    """A branching tree, with constraints by *make*; none hangs on Ground, so that the Ancestor moves."""

    def __init__(self, make):
        self.system = mb.MultibodySystem()
        self.matter = matter = mb.SimbodyMatterSubsystem(self.system)
        mb.force.Gravity(mb.GeneralForceSubsystem(self.system), matter, (0.0, -9.8, 0.3))
        link = mb.body.Rigid(mb.MassProperties(1.2, (0.1, -0.5, 0.2), mb.UnitInertia(1.3, 1.2, 1.5)))
        arm = mb.Transform((0, -1, 0))
        self.a = mb.mobilizer.Pin(matter.ground, link, name="a")
        self.b = mb.mobilizer.Ball(self.a, link, X_PF=arm, name="b")
        self.c = mb.mobilizer.Universal(self.b, link, X_PF=arm, name="c")
        self.d = mb.mobilizer.Free(self.a, link, name="d")
        self.e = mb.mobilizer.Slider(self.d, link, name="e")
        self.constraints = make(self)
        self.state = self.system.realize_topology()

    def at(self, y):
        state = self.state.copy()
        state.y = y
        self.system.normalize_quaternions(state)
        self.system.realize(state)
        return state


def built_in(w):
    return [
        con.Rod(w.c, ONE, w.d, TWO, LENGTH),
        con.Ball(w.b, ONE, w.e, TWO),
        con.Rod(w.a, ONE, w.e, TWO, LENGTH),
        con.ConstantCoordinate(w.b, 2, 0.2),
        con.SpeedCoupler(w.matter, fn.Linear(WEIGHTS), [w.c, w.e], [1, 0], [w.e], [0]),
    ]


def hand_made(w):
    made = [
        by_hand.Rod(w.matter, w.c, ONE, w.d, TWO, LENGTH),
        by_hand.Ball(w.matter, w.b, ONE, w.e, TWO),
        by_hand.Rod(w.matter, w.a, ONE, w.e, TWO, LENGTH),  # whose first body is the Ancestor
        by_hand.ConstantCoordinate(w.matter, w.b, 2, 0.2),
        by_hand.SpeedCoupler(w.matter, w.c, 1, w.e, 0, WEIGHTS),
    ]
    return [con.Custom(one) for one in made]


def compiled(w):
    return [
        con.Custom(compiled=con.CompiledFunctions(rod, bodies=[w.c, w.d], parameters=[LENGTH])),
        con.Ball(w.b, ONE, w.e, TWO),
        con.Custom(compiled=con.CompiledFunctions(rod, bodies=[w.a, w.e], parameters=[LENGTH])),
        con.ConstantCoordinate(w.b, 2, 0.2),
        con.SpeedCoupler(w.matter, fn.Linear(WEIGHTS), [w.c, w.e], [1, 0], [w.e], [0]),
    ]


@pytest.mark.parametrize("make", [hand_made, compiled])
def test_copies_of_built_in_kinds_give_the_same(make, rng, close):
    original, other = World(built_in), World(make)
    y = rng.uniform(-1.0, 1.0, len(original.state.y))
    one, two = original.at(y), other.at(y)
    for name in ("q_err", "u_err", "u_dot", "u_dot_err", "multipliers"):
        close(getattr(two, name), getattr(one, name), 1e-10, scale=max(1.0, np.abs(one.u_dot).max()))
    close(other.matter.calc_g(two), original.matter.calc_g(one), 1e-13)
    close(other.matter.calc_pq(two), original.matter.calc_pq(one), 1e-13)
    close(other.matter.calc_constraint_power(two), original.matter.calc_constraint_power(one), 1e-9, scale=100.0)
    for mine, theirs in zip(original.constraints, other.constraints, strict=True):
        for a, b in zip(mine.get_constraint_forces_as_vectors(one), theirs.get_constraint_forces_as_vectors(two), strict=True):
            close(b, a, 1e-9, scale=max(1.0, np.abs(one.multipliers).max()))
    start = np.array(one.y)
    start[: len(one.q)] = original.state.q
    for w in (original, other):
        state = w.at(start)
        w.system.project(state, 1e-10)
        assert_allclose(state.q_err, 0.0, atol=1e-10)
        w.projected = state
    assert_allclose(other.projected.q, original.projected.q, atol=1e-8)
    assert_allclose(other.projected.u, original.projected.u, atol=1e-7)


def test_what_belongs_together_passes_the_check():
    for w in (World(hand_made), World(compiled)):
        for one in w.constraints:
            if isinstance(one, con.Custom):
                is_ball = one.implementation is not None and isinstance(one.get_implementation(), by_hand.Ball)
                # a Ball's errors are rates of each other where it holds
                report = con.check_custom(one, trials=2, assembled=is_ball)
                assert report.ok and "all belongs together" in str(report)


class Wrong(by_hand.Rod):
    """A rod of which something is wrong."""

    def __init__(self, what, *given):
        super().__init__(*given)
        self.what = what

    def calc_position_dot_errors(self, state, V_AB, constrained_q_dot):
        return super().calc_position_dot_errors(state, V_AB, constrained_q_dot)[0] * (1.1 if self.what == "rate" else 1.0)

    def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
        (error,) = super().calc_position_dot_dot_errors(state, A_AB, constrained_q_dot_dot)
        return [error + (0.1 if self.what == "acceleration" else 0.0)]

    def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
        m = -multipliers if self.what == "sign" else multipliers**2 if self.what == "square" else multipliers
        super().add_in_position_constraint_forces(state, m, body_forces_in_A, q_forces)
        if self.what == "reaction":
            body_forces_in_A[self.one] = 0.0


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("rate", "equation 0 of calc_position_dot_errors is .*, where calc_position_errors changes with"),
        ("acceleration", "equation 0 of calc_position_dot_dot_errors is .*, where calc_position_dot_errors changes with"),
        ("sign", "unit multiplier of equation 0 of add_in_position_constraint_forces .* it has the wrong sign"),
        ("reaction", "unit multiplier of equation 0 of add_in_position_constraint_forces has the power"),
        ("square", "add_in_position_constraint_forces is not linear"),
    ],
)
def test_the_check_names_what_is_wrong(what, said):
    w = World(lambda w: [con.Custom(Wrong(what, w.matter, w.a, ONE, w.e, TWO, LENGTH), name="wrong")])
    with pytest.raises(mb.ModelError, match=said):
        con.check_custom(w.constraints[0], trials=2)
    report = con.check_custom(w.constraints[0].get_implementation(), trials=2, raise_error=False)
    assert not report.ok and report.places == 2 and "does not belong together" in str(report)


def test_compiled_functions_of_coordinates(rng, derivative):
    w = World(lambda w: [con.Custom(compiled=con.CompiledFunctions(curve, mobilizers=[w.a, w.c], parameters=[0.1]))])
    assert con.check_custom(w.constraints[0], trials=2).ok
    state = w.at(rng.uniform(-0.5, 0.5, len(w.state.y)))
    a, (b, c) = w.a.get_q(state), w.c.get_q_as_vector(state)
    assert_allclose(state.q_err[0], a * b - c * c + 0.1, atol=1e-15)
    assert_allclose(w.matter.calc_g(state)[0, [0, 4, 5]], [b, a, -2 * c], atol=1e-15)
    assert_allclose(state.u_dot_err, 0.0, atol=1e-12)
    w.constraints[0].set_parameters(state, [0.3])
    w.system.realize(state, Stage.POSITION)
    assert_allclose(state.q_err[0], a * b - c * c + 0.3, atol=1e-15)
    assert w.constraints[0].get_parameters(state) == [0.3] and w.constraints[0].get_default_parameters() == [0.1]
    with pytest.raises(mb.ModelError, match="has 1 parameters, got 2"):
        w.constraints[0].set_parameters(state, [1.0, 2.0])
    ensemble = mb.Ensemble(w.system, 3, state=state)
    ensemble.realize()
    w.system.realize(state)
    assert_allclose(ensemble.u_dot, [state.u_dot] * 3, atol=1e-11)
    assert_allclose(ensemble.multipliers, [state.multipliers] * 3, atol=1e-10)


@pytest.mark.parametrize("make", [hand_made, compiled])
def test_copies_and_pickles(make, rng):
    w = World(make)
    state = w.at(rng.uniform(-1.0, 1.0, len(w.state.y)))
    for system in (copy.deepcopy(w.system), pickle.loads(pickle.dumps(w.system))):
        twin = system.realize_topology()
        twin.y = state.y
        system.realize(twin)
        assert_allclose(twin.u_dot, state.u_dot, atol=1e-11)


class Hooked(by_hand.ConstantCoordinate):
    """Remembers what it was told, and fails on demand."""

    def __init__(self, *given):
        super().__init__(*given)
        self.told, self.fails = [], False

    def calc_position_errors(self, state, X_AB, constrained_q):
        if self.fails:
            raise RuntimeError("no")
        return super().calc_position_errors(state, X_AB, constrained_q)

    def realize_topology(self, state):
        self.told.append("topology")

    def realize_instance(self, state):
        self.told.append("instance")

    def realize_position(self, state):
        assert abs(self.get_constraint().get_position_errors_as_vector(state)[0]) < 10
        self.told.append("position")

    def realize_acceleration(self, state):
        self.told.append(float(self.get_multipliers(state)[0]))

    def calc_decorative_geometry_and_append(self, state, stage):
        return [mb.decoration.Sphere(0.1)] if stage is Stage.POSITION else []


def test_hooks_failures_and_switching():
    w = World(lambda w: [con.Custom(Hooked(w.matter, w.a, 0, 0.2), name="hold")])
    (hold,) = w.constraints
    mine, state = hold.get_implementation(), w.state
    assert mine.told == ["topology"] and mine.get_constraint() is hold
    w.system.realize(state)
    assert mine.told[1:3] == ["instance", "position"] and mine.told[3] == state.multipliers[0]
    assert len(hold.calc_decorations(state)) == 1
    state.q = state.q
    q, mine.fails = state.q.copy(), True
    with pytest.raises(RuntimeError, match="no"):
        w.system.realize(state)
    assert state.stage == Stage.TIME
    with pytest.raises(RuntimeError, match="no"):
        w.system.project(state)
    assert_allclose(state.q, q)
    hold.disable(state)  # then nothing of it is called
    w.system.realize(state)
    assert len(state.multipliers) == 0
    mine.fails = False
    hold.enable(state)
    w.system.project(state)
    assert abs(w.a.get_q(state) - 0.2) < 1e-8
    motion = mb.simulate(w.system, state, 0.2)
    assert_allclose(motion.q[:, 0], 0.2, atol=1e-5)


def test_what_cannot_be():
    w = World(lambda w: [])
    matter, f = w.matter, con.CompiledFunctions

    class Nothing(con.CustomImplementation):
        """Has no methods."""

    class Empty(by_hand.ConstantCoordinate):
        """Ties nothing."""

        def __init__(self, matter):
            con.CustomImplementation.__init__(self, matter, 1)

    class Bad(by_hand.ConstantCoordinate):
        """Returns too much."""

        def calc_position_errors(self, state, X_AB, constrained_q):
            return [1.0, 2.0]

    hold = by_hand.ConstantCoordinate(matter, w.a, 0, 0.0)
    other = World(lambda w: [])
    custom = lambda function, m=1, **ties: con.Custom(compiled=f(function, m, **(ties or {"bodies": [w.a]})))  # noqa: E731
    for call, error, said in (
        (lambda: con.Custom(), TypeError, "not None; or give compiled="),
        (lambda: con.Custom(hold, compiled=f(rod)), TypeError, "not both"),
        (lambda: con.Custom(3), TypeError, "derived from mobod.constraint.CustomImplementation, not 3"),
        (lambda: Nothing(matter, 1), mb.ModelError, "needs its own calc_position_errors, calc_position_dot_errors"),
        (lambda: Nothing(matter), mb.ModelError, "has no equations"),
        (lambda: Nothing(matter, -1), mb.ModelError, "cannot have mp = -1"),
        (lambda: Nothing(None, 1), TypeError, "matter has to be"),
        (lambda: con.Custom(Empty(matter)), mb.ModelError, "ties nothing"),
        (lambda: hold.add_constrained_body(other.a), mb.TopologyError, "another system"),
        (lambda: hold.get_constraint(), mb.ModelError, "not part of a constraint yet"),
        (lambda: custom(rod, bodies=["a"]), TypeError, "takes mobilized bodies, not 'a'"),
        (lambda: custom(rod, bodies=[w.a, w.a]), mb.ModelError, "each of them once"),
        (lambda: con.Custom(compiled=f(rod)), mb.ModelError, "name them"),
        (lambda: con.Custom(compiled=rod), TypeError, "has to be a mobod.constraint.CompiledFunctions"),
        (lambda: custom(lambda p, q, r: (q[0],), mobilizers=[w.b]), mb.ModelError, "'b' has a quaternion"),
        (lambda: custom(lambda p, q: (q[0],)), mb.ModelError, r"has to take \(X, q, parameters\)"),
        (lambda: custom(lambda p, q, r: [p[0][1][0]]), mb.ModelError, "has to return a tuple of 1 number; lists"),
        (lambda: custom(lambda p, q, r: (p[0][1][0],), 2), mb.ModelError, "has to return a tuple of 2 numbers"),
        (lambda: custom(lambda p, q, r: (np.sin(p[0][1][0]),)), mb.ModelError, "which knows floats only"),
        (lambda: custom(lambda p, q, r: (p[3],)), mb.ModelError, "position_error .* fails.*: IndexError"),
        (lambda: custom(lambda p, q, r: (sqrt(-1.0 - p[0][1][0] ** 2),)), mb.ModelError, "places that were tried"),
        (lambda: custom(lambda p, q, r: (max(p[0][1][0], 0.0),)), mb.ModelError, "use mobod.algebra.where"),
        (lambda: custom(lambda p, q, r: (p[0][1][0],), 0), mb.ModelError, "num_equations of CompiledFunctions is 0"),
        (lambda: custom(rod, bodies=[w.a, w.c], parameters=[np.nan]), mb.ModelError, "finite numbers"),
        (lambda: con.check_custom(w.a), TypeError, "can be checked"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert matter.get_num_constraints() == 0
    used = con.Custom(hold)
    with pytest.raises(mb.ModelError, match="belongs to 'custom_0' already"):
        con.Custom(hold)
    with pytest.raises(mb.ModelError, match="has no implementation"):
        con.Custom(compiled=f(rod, bodies=[w.a, w.c], parameters=[1.0])).get_implementation()
    used.set_disabled_by_default(True)
    con.Custom(Bad(matter, w.c, 0, 0.0), name="bad")
    state = w.system.realize_topology()
    with pytest.raises(mb.ModelError, match=r"calc_position_errors of 'bad' \(Bad\) has to return an array of shape \(1,\)"):
        w.system.realize(state)


def test_compiled_errors_that_depend_on_time_are_those_of_prescribed_motions():
    """A slider on a turning arm follows a function of time and of the arm's angle, and the arm one of time."""

    def errors(t, X, q, parameters):
        ((angle,), (length,)), (size, rate) = q, parameters
        return angle - size * sin(rate * t), length - 0.2 * t * t - 0.1 * angle * t

    found = []
    for own in (True, False):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0.0, -9.81, 0.0))
        body = mb.body.Rigid(mb.MassProperties(2.0, (0.3, 0.1, 0.0), mb.Inertia(1.0, 1.0, 1.5)))
        arm = mb.mobilizer.Pin(matter.ground, body)
        slider = mb.mobilizer.Slider(arm, body)
        if own:
            functions = mb.constraint.CompiledFunctions(errors, 2, mobilizers=[arm, slider], parameters=[0.7, 3.0])
            part = mb.constraint.Custom(compiled=functions)
            assert part.depends_on_time and con.check_custom(part).ok
        else:
            mb.constraint.PrescribedMotion(matter, mb.function.Sinusoid(0.7, 3.0, 0.0), arm, 0)
            length = mb.function.Expression("0.2 * t^2 + 0.07 * t * sin(3 * t)", variables=["t"])
            mb.constraint.PrescribedMotion(matter, length, slider, 0)
        state = system.realize_topology()
        state.time = 0.4
        system.project(state)
        system.realize(state)
        found.append([*state.q, *state.u, *state.u_dot, *state.multipliers])
        if own:
            motion = mb.simulate(system, state, 0.5, accuracy=1e-6)
            t = motion.time
            assert np.abs(motion.q[:, 0] - 0.7 * np.sin(3.0 * t)).max() < 1e-7
            assert np.abs(motion.q[:, 1] - 0.2 * t * t - 0.07 * t * np.sin(3.0 * t)).max() < 1e-7
    slope = 0.1 * 0.4  # of the second error by the angle: the arm's multiplier has the slider's share besides
    found[1][6] += slope * found[1][7]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
