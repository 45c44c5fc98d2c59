"""Functions of OpenSim's models: equal to its own, inside and outside their ranges."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.function import Multiplier, PiecewiseConstant, PiecewiseLinear, Polynomial, SimmSpline

ORDERS = (0, 1, 2)


@pytest.fixture(scope="module")
def osim():
    return pytest.importorskip("opensim")


def evaluate(osim, f, x, order):
    at = osim.Vector(len(np.atleast_1d(x)), 0.0)
    for k, one in enumerate(np.atleast_1d(x).tolist()):
        at.set(k, one)
    if order == 0:
        return f.calcValue(at)
    components = osim.StdVectorInt()
    for _ in range(order):
        components.append(0)
    return f.calcDerivative(components, at)


def of_points(osim, kind, x, y):
    f = getattr(osim, kind)()
    for one in zip(x, y, strict=True):
        f.addPoint(*map(float, one))
    return f


@pytest.mark.parametrize("n", [2, 3, 4, 5, 12])
def test_a_simm_spline_is_opensims(osim, n, rng):
    x, y = np.cumsum(rng.uniform(0.2, 1.0, n)) - 2.0, rng.normal(size=n)
    f, theirs = SimmSpline(x, y), of_points(osim, "SimmSpline", x, y)
    for t in [*rng.uniform(x[0] - 1.0, x[-1] + 1.0, 40), *x]:
        for order in ORDERS:
            expected = evaluate(osim, theirs, t, order)
            assert_allclose(f.calc_derivative([0] * order, t), expected, rtol=1e-12, atol=1e-12 * 10.0**order, err_msg=f"{t}")


@pytest.mark.parametrize("n", [2, 7])
def test_a_piecewise_linear_is_opensims(osim, n, rng):
    x, y = np.cumsum(rng.uniform(0.2, 1.0, n)) - 2.0, rng.normal(size=n)
    f, theirs = PiecewiseLinear(x, y), of_points(osim, "PiecewiseLinearFunction", x, y)
    for t in rng.uniform(x[0] - 1.0, x[-1] + 1.0, 40):
        for order in ORDERS:
            assert_allclose(f.calc_derivative([0] * order, t), evaluate(osim, theirs, t, order), rtol=1e-12, atol=1e-12)


def test_a_piecewise_constant_is_opensims(osim, rng):
    x, y = np.cumsum(rng.uniform(0.2, 1.0, 6)) - 2.0, rng.normal(size=6)
    f, theirs = PiecewiseConstant(x, y), of_points(osim, "PiecewiseConstantFunction", x, y)
    for t in rng.uniform(x[0] - 1.0, x[-1] + 1.0, 40):
        assert f(t) == evaluate(osim, theirs, t, 0) and f.calc_derivative([0], t) == 0.0


SIMM = {  # SimmSpline of OpenSim 4.6 through (0, 1), (1, 2), (2.5, 0.3): value and two derivatives
    -1.0: (-0.853333333333333, 1.853333333333333, 0.0),
    0.5: (1.713333333333333, 1.0, -1.706666666666667),
    2.5: (0.3, -2.413333333333333, -1.706666666666667),
    3.0: (-0.906666666666667, -2.413333333333333, 0.0),
}


def test_a_simm_spline_is_the_one_of_known_numbers():
    f = SimmSpline([0, 1, 2.5], [1, 2, 0.3])
    for x, expected in SIMM.items():
        assert_allclose([f.calc_derivative([0] * k, x) for k in ORDERS], expected, rtol=0, atol=1e-12)


def test_a_simm_spline_of_four_points_is_their_cubic_inside(rng):
    """The third derivatives at both ends are the cubic's; outside it is straight, and smooth to the first derivative."""
    x, cubic = np.array([-1.0, 0.2, 0.9, 2.0]), rng.normal(size=4)
    f, t = SimmSpline(x, np.polyval(cubic, x)), np.linspace(-1.0, 2.0, 30)
    assert_allclose(f(t[:, None]), np.polyval(cubic, t), rtol=0, atol=1e-13)
    slope = np.polyval(np.polyder(cubic), -1.0)
    assert_allclose(f(-3.0), np.polyval(cubic, -1.0) - 2.0 * slope, atol=1e-12)
    assert f.calc_derivative([0, 0], -3.0) == 0.0


def test_a_multiplier_takes_any_function():
    class Cube(mb.Function):
        def get_argument_size(self):
            return 1

        def get_max_derivative_order(self):
            return 1

        def calc_value(self, x):
            return float(np.ravel(x)[0]) ** 3

        def calc_derivative(self, deriv_components, x):
            return 3.0 * float(np.ravel(x)[0]) ** 2

    f = Multiplier(Multiplier(Cube(), 2.0), 5.0)
    assert f(2.0) == 80.0 and f.calc_derivative([0], 2.0) == 120.0 and f.get_max_derivative_order() == 1
    assert_allclose(f([[1.0], [2.0]]), [10.0, 80.0])
    assert repr(Multiplier(Polynomial([1, 2]), 3)) == "Multiplier(function=Polynomial(coefficients=[1., 2.]), scale=3.0)"


WRONG = {
    "one point": (lambda: SimmSpline([0], [1]), ValueError, "x of a SimmSpline must be a list of 2 or more"),
    "backward": (
        lambda: SimmSpline([0, 2, 1], [0, 1, 2]),
        mb.ModelError,
        r"must not decrease; x\[1\] is 2.0 and x\[2\] is 1.0",
    ),
    "lengths": (lambda: SimmSpline([0, 1], [0]), ValueError, r"y of a SimmSpline.*\(2,\)"),
    "twice": (lambda: PiecewiseLinear([0, 1, 1], [0, 1, 2]), mb.ModelError, "x of a PiecewiseLinear must increase.*twice"),
    "empty": (lambda: PiecewiseConstant([], []), ValueError, "list of 1 or more"),
    "no function": (lambda: Multiplier(3.0, 2.0), TypeError, "function of a Multiplier must be a mobod.Function.*3.0"),
    "scale": (lambda: Multiplier(Polynomial([1]), math.nan), mb.ModelError, "scale of a Multiplier has to be finite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()
