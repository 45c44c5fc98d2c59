"""The compiled forms of the kinds: what kernels compute is what the functions say, for one state, in lanes, for duals."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.functions import points, samples
from mobod.algebra.dual import Dual
from mobod.algebra.record import DualRows, attach
from mobod.algebra.scalar import load, store
from mobod.compiling import engine
from mobod.compiling.disk_cache import DiskCache
from mobod.force.routines import by_address
from mobod.function import piecewise, polynomial, routines, sinusoid, step

#: Numbers of a function: its value, then first derivatives and their rates of up to four arguments.
ROWS = 9
#: What follows these: the jets at one of the coordinates.
JETS = 3


def evaluate(block, count, out):
    """Of each function of a record its numbers at q, with rates u; and of those of one argument its jet at q + 0.5 q^2."""
    model = attach(block)
    for f in range(count):
        at = (ROWS + JETS) * f
        store(out, at, 0, routines.value_with_rates(model, f, model.q, 0, model.u, 0))
        n = routines.num_arguments(model, f)
        for k in range(n):
            store(out, at + 1 + k, 0, routines.gradient(model, f, k))
            store(out, at + 5 + k, 0, routines.gradient_rate(model, f, k))
        if n == 1:
            q = load(model.q, routines.place(model, f, 0), 0)
            value, slope, bend = routines.jet(model, f, q + 0.5 * q * q)
            store(out, at + ROWS, 0, value)
            store(out, at + ROWS + 1, 0, slope)
            store(out, at + ROWS + 2, 0, bend)


@functools.cache
def compiled():
    numba = engine.numba()
    # kept on the disk beside the package's own kernels
    dispatcher = numba.njit(**engine.OPTIONS)(evaluate)
    DiskCache(evaluate).serve(dispatcher)
    return dispatcher


def nothing(model, integers, numbers):
    """The force of what only holds functions."""


class Holder(mb.Force):
    routine = by_address(nothing)

    def __init__(self, forces, uses):
        super().__init__(forces)
        self.used_functions = uses


def derivative(function, components, x):
    """Zero also where a straight or stepped function is not said to have any."""
    return function.calc_derivative(components, x) if len(components) <= function.get_max_derivative_order() else 0.0


def expected(uses, q, u):
    """The same by the functions themselves, at one q and u."""
    rows = np.zeros((len(uses), ROWS + JETS))
    for row, (function, where) in zip(rows, uses, strict=True):
        x, n = q[where], len(where)
        row[0] = function.calc_value(x)
        for k in range(n):
            row[1 + k] = derivative(function, [k], x)
            row[5 + k] = sum(derivative(function, [k, l], x) * u[where[l]] for l in range(n))
        if n == 1:
            moved = x + 0.5 * x * x
            row[ROWS:] = [function.calc_value(moved), derivative(function, [0], moved), derivative(function, [0, 0], moved)]
    return rows.ravel()


@pytest.fixture
def uses(rng):
    """Functions, and the places of their arguments among 16 coordinates."""
    return [(f, rng.permutation(16)[: f.get_argument_size()]) for f in samples(rng)]


@pytest.fixture
def tree(uses):
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    for _ in range(16):
        mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
    Holder(forces, uses)
    return system.realize_topology().tree


@pytest.fixture
def states(uses, rng):
    """Eight sets of 16 coordinates: at the joints of the pieces, between and outside; and their rates."""
    q = rng.uniform(-3.0, 2.0, (16, 8))
    for f, where in uses:
        if len(where) == 1 and rng.random() < 0.5:
            q[where[0]] = points(f, rng, 8)[:, 0]
    return q, rng.normal(size=(16, 8))


def numbers(uses):
    return (ROWS + JETS) * len(uses)


def test_one_state(uses, tree, states):
    record = tree.new_record()
    for run, block in ((evaluate, record), (compiled(), record.block)):
        for q, u in zip(*(one.T for one in states), strict=True):
            record.q[:, 0], record.u[:, 0] = q, u
            out = np.zeros((numbers(uses), 1))
            run(block, len(uses), out)
            # rounding, amplified by a polynomial of degree seven over a few units
            assert_allclose(out[:, 0], expected(uses, q, u), rtol=1e-9, atol=1e-9)


def test_lanes(uses, tree, states):
    one_by_one = np.stack([expected(uses, q, u) for q, u in zip(*(one.T for one in states), strict=True)], axis=1)
    for own in (False, True):
        record = tree.new_record(in_lanes=True, own_parameters=own)
        record.q[:, 0], record.u[:, 0] = states
        for run, block in ((evaluate, record), (compiled(), record.block)):
            out = np.zeros((numbers(uses), 1, 8))
            run(block, len(uses), out)
            assert_allclose(out[:, 0], one_by_one, rtol=1e-9, atol=1e-9)


def test_a_strange_lane_spoils_no_other(uses, tree, states):
    outs = []
    for strange in (0.5, np.nan):
        record = tree.new_record(in_lanes=True)
        record.q[:, 0], record.u[:, 0] = states
        record.q[:, 0, 3] = strange
        out = np.zeros((numbers(uses), 1, 8))
        compiled()(record.block, len(uses), out)
        outs.append(np.delete(out, 3, axis=2))
    assert np.array_equal(*outs)


def test_duals(uses, tree, rng):
    """The tangents of a value along u, at a computed argument too, are its gradient times u."""
    record = tree.new_record(with_tangents=True)
    q, u = rng.uniform(-3.0, 2.0, 16), rng.normal(size=16)
    record.q[:, 0], record.u[:, 0] = q, u
    record.q.tangents[:, 0, 2] = u
    for run, block in ((evaluate, record), (compiled(), record.block)):
        out = DualRows.zeros(numbers(uses))
        run(block, len(uses), out if block is record else out.array)
        values, tangents = out.values.reshape(len(uses), -1), out.tangents[:, 0].reshape(len(uses), -1, 8)
        assert_allclose(values.ravel(), expected(uses, q, u), rtol=1e-9, atol=1e-9)
        assert not np.delete(tangents, 2, axis=2).any()
        for f, (_, where) in enumerate(uses):
            n = len(where)
            assert_allclose(tangents[f, 0, 2], values[f, 1 : 1 + n] @ u[where], rtol=1e-9, atol=1e-9)
            assert_allclose(tangents[f, 1 : 1 + n, 2], values[f, 5 : 5 + n], rtol=1e-9, atol=1e-9)
            if n == 1:
                rate = (1.0 + q[where[0]]) * u[where[0]]
                assert_allclose(tangents[f, ROWS : ROWS + 2, 2], values[f, ROWS + 1 :] * rate, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("i", range(5, 16))
def test_duals_carry_the_derivatives_along(i, rng):
    """The jets are written for any scalar: of a Dual, each entry's tangent is the next entry."""
    f = samples(rng)[i]
    integers, numbers = (np.array(run) for run in f.pack())
    jet = {"Polynomial": polynomial, "Sinusoid": sinusoid, "Step": step, "Spline": piecewise}[type(f).__name__].jet
    for x in points(f, rng, 20)[:, 0].tolist():
        value, slope, bend = jet(integers, 0, numbers, 0, Dual(x, (1.0,)))
        assert_allclose(value.value, f(x), rtol=1e-10, atol=1e-10)
        assert_allclose([value.tangents[0], slope.tangents[0]], [slope.value, bend.value], rtol=1e-10, atol=1e-10)


def test_a_derived_class_is_not_taken_for_its_base(rng):
    class Doubled(mb.function.Polynomial):
        def calc_value(self, x):
            return 2.0 * super().calc_value(x)

    class Square(mb.function.Polynomial):
        def __init__(self):
            super().__init__([1, 0, 0])

    assert routines.is_compiled(Square()) and not routines.is_compiled(Doubled([1, 2]))
    assert all(map(routines.is_compiled, samples(rng))) and not routines.is_compiled(mb.function.Custom(abs))


@pytest.mark.parametrize("base", [mb.function.Polynomial, mb.function.Custom])
def test_a_derived_class_constrains_by_what_it_computes(base):
    class Doubled(base):
        def calc_value(self, x):
            return 2.0 * super().calc_value(x)

        def calc_derivative(self, deriv_components, x):
            return 2.0 * super().calc_derivative(deriv_components, x)

    f = Doubled([1.0, 0.5, 0.25]) if base is mb.function.Polynomial else Doubled(lambda t: t * t + 0.5 * t + 0.25)
    system, _ = mb.examples.double_pendulum.build()
    mb.constraint.PrescribedMotion(system.matter, f, system.matter.bodies["lower"], 0)
    state = system.realize_topology()
    state.time, state.q, state.u = 0.5, (0.3, 2.0 * 0.75), (0.2, 2.0 * 1.5)
    system.realize(state)
    assert_allclose([*state.q_err, *state.u_err, state.u_dot[1] - 4.0], 0.0, rtol=0, atol=1e-12)
