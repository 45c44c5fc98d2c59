"""Functions of users' that are compiled without being asked, and what is said of those that are not."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import function
from mobod.compiling.fingerprint import fingerprint

CHANGES = 0.3


def coupled(f):
    """A double pendulum whose angles a function couples, on its constraint."""
    system, _ = mb.examples.double_pendulum.build()
    bodies = [system.matter.bodies[name] for name in ("upper", "lower")]
    mb.constraint.CoordinateCoupler(system.matter, f, bodies, [0, 0], name="cam")
    state = system.realize_topology()
    state.q = 0.4, 0.3 * math.sin(0.4)
    state.u = 1.0, 0.3 * math.cos(0.4)
    return system, state


def moved(f, duration=0.5):
    """Its place after a while, and the run's notes."""
    system, state = coupled(f)
    motion = mb.simulate(system, state, duration, integrator=mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    return np.append(motion.q[-1], motion.u[-1]), motion.statistics.get("interpreted", [])


def test_functions_of_math_and_numpy_run_as_expressions():
    def cam_of(k):
        def cam(x):
            return x[1] - k * np.sin(x[0])

        return cam

    def given(x):
        return 1.0

    expected, said = moved(function.Expression("y - 0.3 * sin(x)", ["x", "y"]))
    assert not said
    for f in (
        function.Custom(lambda x: x[1] - 0.3 * math.sin(x[0]), 2),
        function.Custom(cam_of(0.3), 2),
        function.Custom(lambda x, k=0.3: x[1] - k * math.sin(x[0]), 2, [lambda x: -0.3 * math.cos(x[0]), given]),
        function.Multiplier(function.Custom(lambda x: 0.5 * x[1] - 0.15 * math.sin(x[0]), 2), 2.0),
    ):
        found, said = moved(f)
        assert not said
        assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_they_are_kept_on_disk(given):
    """All that their kernels reach has a hash, which names their files."""
    derivatives = [lambda x: 2.0 * x, lambda x: 2.0 + 0.0 * x][:given]
    routine = function.Custom(lambda x: x * x, 1, derivatives).routine
    assert routine._fingerprint and fingerprint(routine._entry("state"))


def test_their_derivatives_are_exact():
    """One argument, with none, one and two derivatives given: a mobilizer whose angle they are."""
    expected = []
    for f in (
        function.Expression("0.2 * sin(3 * x) + x"),
        function.Custom(lambda x: 0.2 * math.sin(3.0 * x) + x),
        function.Custom(lambda x: 0.2 * math.sin(3.0 * x) + x, 1, [lambda x: 0.6 * math.cos(3.0 * x) + 1.0]),
        function.Custom(
            lambda x: 0.2 * math.sin(3.0 * x) + x,
            1,
            [lambda x: 0.6 * math.cos(3.0 * x) + 1.0, lambda x: -1.8 * math.sin(3.0 * x)],
        ),
    ):
        system = mb.MultibodySystem()
        matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
        mb.force.Gravity(forces, matter, (0, -9.81, 0))
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0.3, 0), mb.UnitInertia.sphere(0.5).shift_from_centroid((0, 0.3, 0))))
        functions = [function.Constant(0.0, 0), function.Constant(0.0, 0), f, *[function.Constant(0.0, 0)] * 3]
        places = [[], [], [0], [], [], []]
        mb.mobilizer.FunctionBased(matter.ground, body, num_mobilities=1, functions=functions, coordinate_indices=places)
        state = system.realize_topology()
        assert not system.calls_python
        state.q, state.u = [0.7], [1.3]
        system.realize(state)
        expected.append(state.u_dot[0])
    assert_allclose(expected[1:], expected[0], rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda x, t={"k": 0.3}: x[1] - t["k"] * math.sin(x[0]), "a dict"),
        (lambda x: x[1] - CHANGES * math.sin(x[0]), "CHANGES, a float that may change"),
        (lambda x: x[1] - 0.3 * (math.sin(x[0]) if x[0] < 9.0 else 0.0), "fails with eight states at a time"),
        (lambda x: x[1] - 0.3 * math.sin(x[0]) * math.gamma(1.0), "uses math.gamma"),
        (SimpleNamespace(cam=lambda self, x: 0.0).cam.__call__, "no plain function"),
    ],
)
def test_what_is_left_to_python_says_why_once(f, why):
    f = function.Custom(f, 2)
    assert f.routine is None and why in f.why_interpreted
    if "plain" in why:
        return
    assert "test_compiled_unasked.py" in f.why_interpreted
    if "fails" not in why and "gamma" not in why:  # by dual numbers, in Python
        assert_allclose(f.calc_derivative([0], [0.4, 0.1]), -0.3 * math.cos(0.4), rtol=1e-15)
        assert_allclose(f.calc_derivative([0, 0], [0.4, 0.1]), 0.3 * math.sin(0.4), rtol=1e-15)
    system, _ = coupled(function.Custom(f.callables[0], 2, lambda components, x: [-0.3 * math.cos(x[0]), 1.0][components[0]]))
    assert system.calls_python


def test_statistics_of_runs_have_a_line():
    # of dual numbers: of what is none there are differences, a thousand times, which took five seconds
    derivatives = [lambda x: -0.3 * mb.algebra.cos(x[0]), lambda x: 1.0 + 0.0 * x[0]]
    table = {"k": 0.3}
    f = function.Custom(lambda x: x[1] - table["k"] * mb.algebra.sin(x[0]), 2, derivatives)
    expected, _ = moved(function.Expression("y - 0.3 * sin(x)", ["x", "y"]), 0.1)
    found, said = moved(f, 0.1)  # in Python
    assert_allclose(found, expected, rtol=0, atol=1e-7)
    (line,) = said
    assert line.startswith("interpreted: CoordinateCoupler 'cam' uses function.Custom (line ")
    assert line.endswith(" of test_compiled_unasked.py: a dict); function.Expression would compile")
    system, state = coupled(f)
    motions = mb.Ensemble(system, 2, state=state).simulate(1e-4, accuracy=1e-2)
    assert motions.statistics["interpreted"] == [line]
    assert motions[0].statistics["interpreted"] == [line]


@pytest.mark.parametrize("given", [0, 1])
def test_what_is_left_to_python_is_called_once_for_value_gradient_and_rate(given):
    calls = []

    def cam(x):
        calls.append(x)
        return x[1] - 0.3 * math.sin(x[0]) * x[1] ** 2

    derivatives = [lambda x: -0.3 * math.cos(x[0]) * x[1] ** 2, lambda x: 1.0 - 0.6 * math.sin(x[0]) * x[1]]
    expected, state = coupled(function.Expression("y - 0.3 * sin(x) * y * y", ["x", "y"]))
    expected.realize(state)
    system, found = coupled(function.Custom(cam, 2, derivatives if given else None))
    calls.clear()
    system.realize(found)
    assert len(calls) == 2  # for positions, and for accelerations
    for name in ("q_err", "u_err", "u_dot", "multipliers"):
        assert_allclose(getattr(found, name), getattr(state, name), rtol=0, atol=1e-12)


def test_other_compiled_functions_may_call_them():
    f = function.Custom(lambda x: 2.0 * math.sin(x))

    def force(t, X, V, q, u, parameters):
        return (), ((-f(q[0][0]),),)

    system, state = mb.examples.double_pendulum.build()
    functions = mb.force.CompiledFunctions(force, mobilizers=[system.matter.bodies["upper"]])
    element = mb.force.Custom(system.forces, compiled=functions)
    state = system.realize_topology()
    state.q = 0.5, 0.0
    system.realize(state, mb.Stage.DYNAMICS)
    assert_allclose(element.calc_force_contribution(state)[2][0], -2.0 * math.sin(0.5), rtol=1e-15)


def test_what_is_left_to_python_sees_its_surroundings_as_they_are():
    table = {"k": 2.0}

    def square(x):
        return table["k"] * math.sin(x) * WEIGHT

    f = function.Custom(lambda x: x * square(x))
    for k, weight in ((2.0, 1.0), (3.0, 0.5)):
        table["k"], globals()["WEIGHT"] = k, weight
        assert f.calc_value(0.4) == 0.4 * (k * math.sin(0.4) * weight)
        expected = k * weight * (math.sin(0.4) + 0.4 * math.cos(0.4))
        assert_allclose(f.calc_derivative([0], 0.4), expected, rtol=1e-10)


WEIGHT = 1.0
