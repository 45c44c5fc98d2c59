"""The compiled forms of the kinds: what kernels compute is what the functions say, for one state, in lanes, for duals."""

import functools
import hashlib
import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from samples import points, samples

import mobod._jit as jit
from mobod.algebra.dual import Dual
from mobod.algebra.scalar import store
from mobod.function import _switch, polynomial, sinusoid, spline, step


def evaluate(integers, i, numbers, n, count, rows, at, out):
    """Of each function of a bundle: its value, its first derivatives, its second derivatives by its arguments 0 and last."""
    for f in range(count):
        store(out, 7 * f, 0, _switch.value(integers, i, numbers, n, f, rows, at))
        m = _switch.num_arguments(integers, i, f)
        for k in range(m):
            store(out, 7 * f + 1 + k, 0, _switch.derivative(integers, i, numbers, n, f, k, rows, at))
        if m > 0:
            store(out, 7 * f + 5, 0, _switch.second_derivative(integers, i, numbers, n, f, 0, 0, rows, at))
            store(out, 7 * f + 6, 0, _switch.second_derivative(integers, i, numbers, n, f, m - 1, 0, rows, at))


@functools.cache
def compiled():
    numba = jit._numba()
    # kept on the disk beside the package's own kernels, in the folder that is named by the hash of their sources
    evaluate.__qualname__ = f"evaluate-{hashlib.md5(inspect.getsource(evaluate).encode()).hexdigest()[:8]}"
    dispatcher = numba.njit(**jit.OPTIONS)(evaluate)
    dispatcher._cache = jit._DiskCache(evaluate)
    return dispatcher


def expected(functions, places, q):
    """The same by the functions themselves, at one q."""
    rows = np.full(7 * len(functions), np.nan)
    for f, (function, where) in enumerate(zip(functions, places, strict=True)):
        x = q[where]
        rows[7 * f] = function.calc_value(x)
        for k in range(len(x)):
            rows[7 * f + 1 + k] = function.calc_derivative([k], x)
        if len(x):
            highest = function.get_max_derivative_order() < 2  # a spline of degree 1: zero between its points
            rows[7 * f + 5] = 0.0 if highest else function.calc_derivative([0, 0], x)
            rows[7 * f + 6] = 0.0 if highest else function.calc_derivative([len(x) - 1, 0], x)
    return rows


@pytest.fixture
def bundle(rng):
    """Functions, the places of their arguments, and their runs somewhere in two pools."""
    functions = samples(rng)
    places = [rng.permutation(16)[: f.get_argument_size()] for f in functions]
    integers, numbers = _switch.bundle(functions, places)
    integers, numbers = [99] * 3 + integers, [np.nan] * 5 + numbers
    return functions, places, np.array(integers, dtype=np.int64), np.array(numbers)


@pytest.fixture
def states(bundle, rng):
    """Eight sets of 16 coordinates: at the joints of the pieces, between and outside."""
    functions, places, _, _ = bundle
    q = rng.uniform(-4.0, 4.0, (16, 8))
    for f, where in zip(functions, places, strict=True):
        if len(where) == 1 and rng.random() < 0.5:
            q[where[0]] = points(f, rng, 8)[:, 0]
    return q


def test_one_state(bundle, states):
    functions, places, integers, numbers = bundle
    for run in (evaluate, compiled()):
        for q in states.T:
            out = np.full((7 * len(functions), 1), np.nan)
            rows = np.concatenate([[np.nan] * 2, q]).reshape(-1, 1)
            run(integers, 3, numbers.reshape(-1, 1), 5, len(functions), rows, 2, out)
            # rounding, amplified by a polynomial of degree seven over a few units
            assert_allclose(out[:, 0], expected(functions, places, q), rtol=1e-10, atol=1e-10)


def test_lanes(bundle, states):
    functions, places, integers, numbers = bundle
    rows = np.concatenate([np.full((2, 8), np.nan), states])[:, None].copy()
    spread = np.repeat(numbers, 8).reshape(-1, 1, 8)
    one_by_one = np.stack([expected(functions, places, q) for q in states.T], axis=1)
    for run in (evaluate, compiled()):
        out = np.full((7 * len(functions), 1, 8), np.nan)
        run(integers, 3, spread, 5, len(functions), rows, 2, out)
        assert_allclose(out[:, 0], one_by_one, rtol=1e-10, atol=1e-10)


def test_a_strange_lane_spoils_no_other(bundle, states):
    functions, _, integers, numbers = bundle
    spread = np.repeat(numbers, 8).reshape(-1, 1, 8)
    outs = []
    for strange in (0.5, np.nan):
        states[:, 3] = strange
        out = np.zeros((7 * len(functions), 1, 8))
        compiled()(integers, 3, spread, 5, len(functions), states[:, None].copy(), 0, out)
        outs.append(np.delete(out, 3, axis=2))
    assert np.array_equal(*outs)


@pytest.mark.parametrize("i", range(5, 16))
def test_duals_carry_the_derivatives_along(i, rng):
    """The jets are written for any scalar: of a Dual, each entry's tangent is the next entry."""
    f = samples(rng)[i]
    size, pieces, numbers = f._packed()
    numbers = np.array(numbers)
    jets = {
        polynomial.KIND: lambda x: polynomial.jet(numbers, 0, size, x),
        sinusoid.KIND: lambda x: sinusoid.jet(numbers, 0, x),
        step.KIND: lambda x: step.jet(numbers, 0, x),
        spline.KIND: lambda x: spline.jet(numbers, 0, size, pieces, x),
    }
    for x in points(f, rng, 20)[:, 0].tolist():
        value, slope, bend = jets[f.KIND](Dual(x, (1.0,)))
        assert_allclose(value.value, f(x), rtol=1e-10, atol=1e-10)
        assert_allclose([value.tangents[0], slope.tangents[0]], [slope.value, bend.value], rtol=1e-10, atol=1e-10)


def test_a_derived_class_is_not_taken_for_its_base(rng):
    from mobod.function import Polynomial

    class Doubled(Polynomial):
        def calc_value(self, x):
            return 2.0 * super().calc_value(x)

    assert _switch.is_compiled(Polynomial([1, 2])) and not _switch.is_compiled(Doubled([1, 2]))
    assert all(map(_switch.is_compiled, samples(rng)))
