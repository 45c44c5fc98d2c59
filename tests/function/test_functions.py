"""Functions as their users see them: values, derivatives, what is wrong with what they are given."""

import copy
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.functions import FUNCTIONS, WHICH, points, sample
from mobod.function import Constant, Custom, Linear, Polynomial, Sinusoid, Spline, Step

ALL = range(len(WHICH))
array = np.array  # for reading representations


def orders(f, highest):
    """Some lists of components of every order up to *highest*."""
    yield []
    if f.get_argument_size() > 0:
        last = f.get_argument_size() - 1
        for order in range(1, highest + 1):
            yield [0] * order
            yield [last] * (order - 1) + [0]


# ---------------------------------------------------------------------------------------------- values


def test_each_kind_computes_what_it_says(rng):
    a, w, p, x, y, z = rng.normal(size=6).tolist()
    assert Constant(a, 2)([x, y]) == a
    assert_allclose(Linear([a, w, p, z])([x, y, 0.5]), a * x + w * y + 0.5 * p + z, rtol=1e-14, atol=1e-14)
    assert_allclose(Polynomial([a, w, p])(x), a * x**2 + w * x + p, rtol=1e-14, atol=1e-14)
    assert Sinusoid(a, w, p)(x) == a * math.sin(w * x + p)
    assert Sinusoid(a, w)(x) == a * math.sin(w * x)
    assert Step(a, w, 1.0, 3.0)([2.0]) == pytest.approx((a + w) / 2)
    assert Spline(1, [0, 1, 3], [a, w, p])([2.0]) == pytest.approx((w + p) / 2)


@pytest.mark.parametrize("i", ALL)
def test_derivatives_are_those_of_the_values(i, rng, derivative):
    """By central differences, each order from the one before; within the pieces, as the highest orders jump between them."""
    f = sample(rng, i)
    for x in rng.uniform(-4.4, 4.4, (12, f.get_argument_size())):
        joints = FUNCTIONS[type(f)].joints(f) if FUNCTIONS[type(f)].joints else [9.0]
        joints = joints if isinstance(joints, tuple) else (joints,)
        if any(np.abs(one - places).min() < 1e-3 for one, places in zip(x, joints, strict=False)):
            continue
        for components in orders(f, min(f.get_max_derivative_order(), 4)):
            for k in range(f.get_argument_size()) if len(components) < min(f.get_max_derivative_order(), 4) else ():
                step = np.eye(len(x))[k]
                expected = derivative(lambda h: f.calc_derivative(components, x + h * step))  # noqa: B023
                # the difference loses four digits of what is of the size of the coefficients, and of what it is taken of
                lost = 1e-6 + 1e-12 * np.abs(f.calc_derivative(components, x)).max()
                assert_allclose(f.calc_derivative([*components, k], x), expected, rtol=1e-7, atol=lost)


@pytest.mark.parametrize("i", ALL)
def test_many_points_at_once_are_the_points_one_by_one(i, rng):
    f = sample(rng, i)
    x = points(f, rng, 20)
    for components in orders(f, 3 if f.get_max_derivative_order() > 2 else 1):
        many = f.calc_derivative(components, x)
        assert many.shape == (20,) and many.dtype == np.float64
        one_by_one = [f.calc_derivative(components, point) for point in x]
        assert all(type(y) is float for y in one_by_one)
        assert_allclose(many, one_by_one, rtol=1e-14, atol=1e-14)
    assert np.array_equal(f.calc_value(x), f.calc_derivative([], x)) and np.array_equal(f(x), f.calc_value(x))
    assert f.calc_value(x[:0]).shape == (0,)


def test_one_argument_may_be_a_bare_number_of_any_kind():
    f = Polynomial([1, 0, 0])
    for x in (3, 3.0, np.float32(3), np.int64(3), [3], (3.0,), np.array(3.0), np.array([3.0])):
        assert f(x) == 9.0 and f.calc_derivative([0], x) == 6.0


@pytest.mark.parametrize("i", ALL)
def test_what_is_not_a_number_comes_out_as_such(i, rng):
    f = sample(rng, i)
    if f.get_argument_size() and not isinstance(f, Constant):
        if isinstance(f, Polynomial) and len(f._coefficients) == 1:
            return
        assert math.isnan(f(np.full(f.get_argument_size(), np.nan)))


# ---------------------------------------------------------------------------------------------- Step and Spline


def test_a_step_is_flat_outside_and_smooth_at_its_ends():
    f = Step(2.0, 5.0, 1.0, 3.0)
    for x, value in ((-10.0, 2.0), (1.0, 2.0), (3.0, 5.0), (1e9, 5.0)):
        assert f(x) == value
        assert [f.calc_derivative([0] * k, x) for k in (1, 2, 3)] == [0.0] * 3
    inside = np.nextafter([1.0, 3.0], 2.0)
    for order in (1, 2):
        assert np.abs(f.calc_derivative([0] * order, inside[:, None])).max() < 1e-12


STEP_SIMBODY = {  # Function::Step(1, 3, 2, -1) of Simbody 3.7: value and three derivatives
    -2.0: (3.0, 0.0, 0.0, 0.0),
    0.0: (2.580246913580247, -0.987654320988, -0.987654320988, 1.481481481481),
    0.7: (1.752947160493827, -1.205950617284, 0.436543209877, 2.103703703704),
    1.5: (1.070987654320988, -0.385802469136, 1.234567901235, -0.740740740741),
}


def test_a_step_is_simbodys():
    f = Step(1, 3, 2, -1)
    for x, expected in STEP_SIMBODY.items():
        assert_allclose([f.calc_derivative([0] * k, x) for k in range(4)], expected, rtol=0, atol=1e-12)


SPLINE_POINTS = ([0, 0.7, 1.1, 2, 2.5, 4, 5, 5.5, 7], [0, 1, -1, 2, 0.3, 0.9, 1, -1, 0.5])
SPLINE_SIMBODY = {  # SplineFitter::fitForSmoothingParameter(degree, x, y, 0) of Simbody 3.7: value and two derivatives
    (3, 0.3): (1.095530127723, 2.6513290437, -10.0043804873),
    (3, 1.05): (-0.848190561197, -3.7199954537, 25.0479115796),
    (3, 6.9): (0.184768122711, 3.1331016410, 0.5765139570),
    (5, 0.3): (1.872793524246, 2.2564481411, -25.7151271196),
    (5, 3.3): (-1.661108422210, 1.8942824654, 9.7063001443),
    (5, 6.9): (-0.198527388366, 6.5221939376, 9.2604175124),
    (7, 0.3): (2.695084496208, 1.1782430275, -41.2120104643),
    (7, 1.9): (1.821112445500, 2.6857151049, -17.0012448706),
    (7, 6.9): (-0.257604020175, 6.9652561144, 12.0179906576),
}


def test_a_spline_is_simbodys():
    for (degree, x), expected in SPLINE_SIMBODY.items():
        f = Spline(degree, *SPLINE_POINTS)
        assert_allclose([f.calc_derivative([0] * k, x) for k in range(3)], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
def test_a_spline_goes_through_its_points_and_is_smooth_there(degree, rng):
    x = np.cumsum(rng.uniform(0.3, 1.0, 12))
    f = Spline(degree, x, rng.normal(size=12))
    assert np.array_equal(f(x[:, None]), f._y)
    before = np.nextafter(x, -np.inf)
    for order in range(degree):
        here, there = (f.calc_derivative([0] * order, t[:, None]) for t in (x, before))
        # a derivative is of the size of the values, which are of order one, by the points' distance to the power of its order
        assert_allclose(there, here, rtol=0, atol=1e-10 * 6.0**order)


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
def test_a_spline_carries_on_as_a_polynomial_of_low_degree(degree, rng):
    x = np.sort(rng.uniform(-1, 1, 9))
    f = Spline(degree, x, rng.normal(size=9))
    m = (degree + 1) // 2
    for end, outside in ((x[0], x[0] - 2.5), (x[-1], x[-1] + 2.5)):
        taylor = [f.calc_derivative([0] * k, end) / math.factorial(k) for k in range(m)]
        assert_allclose(f(outside), np.polyval(taylor[::-1], outside - end), rtol=1e-11)
        assert [f.calc_derivative([0] * k, outside) for k in range(m, degree + 1)] == [0.0] * m


def test_a_spline_of_a_smooth_curve_is_close_to_it():
    x = np.linspace(0.0, 2.0 * np.pi, 41)  # the sine has no curvature at the ends, as a natural spline has none
    between = np.linspace(0.0, 2.0 * np.pi, 400)
    for degree, error in ((1, 4e-3), (3, 2e-6)):
        assert np.abs(Spline(degree, x, np.sin(x))(between[:, None]) - np.sin(between)).max() < error


def test_a_spline_of_the_fewest_points_is_the_polynomial_through_them(rng):
    for degree, n in ((1, 2), (3, 2), (5, 3), (7, 4)):
        x, y = np.arange(n) + rng.uniform(0, 0.5, n), rng.normal(size=n)
        f = Spline(degree, x, y)
        t = np.linspace(-1, n + 1, 20)
        through = np.polynomial.Polynomial.fit(x, y, min(n, (degree + 1) // 2) - 1 if degree > 1 else 1)
        inside = (t >= x[0]) & (t <= x[-1]) if degree == 1 else t == t
        assert_allclose(f(t[inside][:, None]), through(t[inside]), rtol=0, atol=1e-8)


# ---------------------------------------------------------------------------------------------- Custom


def triple(x):
    a, b, c = x
    return a * a * b + b / c


TRIPLE = {  # at (2, 3, 4)
    (): 12.75,
    (0,): 12.0,
    (1,): 4.25,
    (2,): -0.1875,
    (0, 0): 6.0,
    (0, 1): 4.0,
    (1, 0): 4.0,
    (1, 1): 0.0,
    (2, 1): -0.0625,
    (2, 2): 0.09375,
}


def hidden_from_duals(f):
    """The same function, but of floats only."""

    def of_floats(x):
        return f(tuple(map(float, x))) if isinstance(x, tuple) else f(float(x))

    return of_floats


def test_derivatives_of_arithmetic_are_exact():
    f = Custom(triple, 3)
    assert f.get_argument_size() == 3 and f.get_max_derivative_order() == 2
    for components, expected in TRIPLE.items():
        assert f.calc_derivative(components, (2, 3, 4)) == pytest.approx(expected, rel=1e-15, abs=1e-15)
    many = f.calc_derivative([2, 1], [[2, 3, 4], [1, 1, 1]])
    assert_allclose(many, [-0.0625, -1.0], rtol=1e-15)


def test_derivatives_of_what_takes_floats_only_are_close():
    f = Custom(hidden_from_duals(triple), 3)
    for components, expected in TRIPLE.items():
        tolerance = (0.0, 1e-11, 1e-8)[len(components)]  # as documented, of a function of size 10
        assert f.calc_derivative(components, (2, 3, 4)) == pytest.approx(expected, abs=tolerance)


def test_functions_of_math_and_of_numpy_are_differentiated_too():
    for sine in (math.sin, np.sin):
        f = Custom(sine)
        for x in (0.3, 1.7, -2.0):
            assert f(x) == math.sin(x)
            assert f.calc_derivative([0], x) == pytest.approx(math.cos(x), abs=1e-12)
            assert f.calc_derivative([0, 0], x) == pytest.approx(-math.sin(x), abs=1e-9)
    assert Custom(lambda x: 4.0).calc_derivative([0], 1.0) == pytest.approx(0.0, abs=1e-11)


def test_differences_stay_within_the_domain():
    f = Custom(math.log)
    for x in (1e-3, 0.02, 5.0):
        assert f.calc_derivative([0], x) == pytest.approx(1 / x, rel=1e-9)
        assert f.calc_derivative([0, 0], x) == pytest.approx(-1 / x**2, rel=1e-6)


def test_given_derivatives_are_used():
    f = Custom(math.exp, derivatives=[lambda x: 10.0 * x, lambda x: 20.0 * x])
    assert f(0.0) == 1.0 and f.get_max_derivative_order() == 4
    assert f.calc_derivative([0], 3) == 30.0 and f.calc_derivative([0, 0], 3) == 60.0
    assert f.calc_derivative([0, 0, 0], 3) == 20.0, "differentiated from the last that is given"

    g = Custom(triple, 3, [lambda x: 1.0 * x[0], lambda x: 2.0 * x[0] * x[1], lambda x: 3.0])
    assert g.calc_derivative([0], (2, 3, 4)) == 2.0 and g.calc_derivative([1], (2, 3, 4)) == 12.0
    assert g.calc_derivative([1, 0], (2, 3, 4)) == 6.0

    asked = []
    h = Custom(triple, 3, lambda components, x: asked.append((components, x)) or 7.0)
    assert h.calc_derivative((0, 2), (2, 3, 4)) == 7.0 and h((2, 3, 4)) == 12.75
    assert asked == [([0, 2], (2.0, 3.0, 4.0))]
    one = Custom(math.exp, derivatives=lambda components, x: len(components) + x)
    assert one.calc_derivative([0, 0, 0], 0.5) == 3.5


def test_an_error_of_the_users_function_is_the_users_to_see():
    f = Custom(math.sqrt)
    for call in (lambda: f(-1.0), lambda: f.calc_derivative([0], -1.0)):
        with pytest.raises(ValueError, match="math domain"):
            call()

    def broken(x):
        raise KeyError("mine")

    for call in (lambda: Custom(broken)(1.0), lambda: Custom(broken).calc_derivative([0], 1.0)):
        with pytest.raises(KeyError, match="mine"):
            call()
    for call in (lambda f: f(1.0), lambda f: f.calc_derivative([0], 1.0)):
        with pytest.raises(TypeError, match="returned 'four'"):
            call(Custom(lambda x: "four"))


def test_a_function_of_ones_own_need_not_be_custom():
    class Cube(mb.Function):
        def get_argument_size(self):
            return 1

        def get_max_derivative_order(self):
            return 1

        def calc_value(self, x):
            return float(np.ravel(x)[0]) ** 3

        def calc_derivative(self, deriv_components, x):
            return 3.0 * float(np.ravel(x)[0]) ** 2

    assert Cube()([2]) == 8.0 and Cube().calc_derivative([0], 2) == 12.0
    with pytest.raises(TypeError, match="abstract"):
        mb.Function()


# ---------------------------------------------------------------------------------------------- as objects


@pytest.mark.parametrize("i", ALL)
def test_a_function_cannot_change_and_can_be_pickled(i, rng):
    f = sample(rng, i)
    assert copy.copy(f) is f and copy.deepcopy(f) is f and f != sample(rng, i)
    for name in (f"_{f._names[0]}", "anything"):
        with pytest.raises(AttributeError, match="cannot change"):
            setattr(f, name, 1.0)
        with pytest.raises(AttributeError, match="cannot change"):
            delattr(f, name)
    with pytest.raises(ValueError, match="read-only"):
        for value in [v for v in vars(f).values() if isinstance(v, np.ndarray)] or [np.broadcast_to(0.0, 1)]:
            value[...] = 0.0
    other = pickle.loads(pickle.dumps(f))
    x = points(f, rng, 9)
    assert type(other) is type(f) and np.array_equal(other(x), f(x))
    with pytest.raises(ValueError, match="read-only"):
        for value in [v for v in vars(other).values() if isinstance(v, np.ndarray)] or [np.broadcast_to(0.0, 1)]:
            value[...] = 0.0


def test_what_it_is_given_is_copied():
    c = np.array([1.0, 2.0])
    f = Linear(c)
    c[:] = 9.0
    assert f(1.0) == 3.0


def test_a_representation_can_be_read_back():
    for f in (
        Constant(2, 3),
        Linear([1, 2.5]),
        Polynomial([1, 2, 3]),
        Sinusoid(1, 2, 3),
        Step(1, 2, 3, 4),
        Spline(1, [0, 1], [2, 3]),
    ):
        again = eval(repr(f))
        assert repr(again) == repr(f) and type(again) is type(f)
    long = repr(Spline(3, np.arange(1000.0), np.arange(1000.0)))
    assert "..." in long and len(long) < 150
    assert repr(Custom(math.sin)) == f"Custom(function={math.sin!r}, argument_size=1, derivatives=None)"
    assert pickle.loads(pickle.dumps(Custom(math.sin)))(1.0) == math.sin(1.0)


WRONG = {
    "constant text": (lambda: Constant("a"), TypeError, "value of a Constant.*'a'"),
    "constant infinite": (lambda: Constant(math.inf), mb.ModelError, "value of a Constant has to be finite"),
    "constant size": (lambda: Constant(1, -1), ValueError, "argument_size of a Constant must be 0 or more; it is -1"),
    "constant part": (lambda: Constant(1, 1.5), TypeError, "argument_size of a Constant must be a whole number, not 1.5"),
    "linear empty": (lambda: Linear([]), ValueError, "coefficients of a Linear.*one or more numbers"),
    "linear matrix": (lambda: Linear([[1, 2]]), ValueError, "coefficients of a Linear.*shape"),
    "linear nan": (lambda: Linear([1, math.nan]), mb.ModelError, "coefficients of a Linear.*finite"),
    "polynomial text": (lambda: Polynomial("x"), TypeError, "coefficients of a Polynomial"),
    "polynomial none": (lambda: Polynomial(None), TypeError, "coefficients of a Polynomial"),
    "sinusoid": (lambda: Sinusoid(1, math.nan, 0), mb.ModelError, "frequency of a Sinusoid has to be finite"),
    "step of no width": (lambda: Step(0, 1, 3, 3), mb.ModelError, "must differ; x0 is 3 and x1 is 3"),
    "step of hardly any": (lambda: Step(0, 1, 0, 5e-324), mb.ModelError, "must differ"),
    "step of an array": (lambda: Step([0], 1, 2, 3), ValueError, "y0 of a Step has to be one number"),
    "spline degree": (lambda: Spline(2, [0, 1, 2], [0, 1, 2]), ValueError, "degree of a Spline must be 1, 3, 5 or 7; it is 2"),
    "spline degree text": (lambda: Spline("3", [0, 1, 2], [0, 1, 2]), TypeError, "degree of a Spline"),
    "spline of one point": (lambda: Spline(1, [0], [0]), ValueError, "list of 2 or more numbers"),
    "spline of few": (lambda: Spline(7, [0, 1, 2], [0, 1, 2]), ValueError, "degree 7 must be a list of 4 or more"),
    "spline unsorted": (lambda: Spline(3, [0, 2, 1], [0, 1, 2]), mb.ModelError, r"x\[1\] is 2.0 and x\[2\] is 1.0: sort"),
    "spline twice": (lambda: Spline(3, [0, 1, 1], [0, 1, 2]), mb.ModelError, "come twice"),
    "spline lengths": (lambda: Spline(3, [0, 1, 2], [0, 1]), ValueError, r"y of a Spline.*\(3,\)"),
    "spline nan": (lambda: Spline(3, [0, math.nan, 2], [0, 1, 2]), mb.ModelError, "x of a Spline has to be finite"),
    "spline uneven": (lambda: Spline(7, [0, 1e-9, 1, 1.000001, 1.5], [1, 2, 3, 4, 2]), mb.ModelError, "unevenly spaced"),
    "custom": (lambda: Custom(3), TypeError, "function of a Custom must be callable.*3"),
    "custom size": (lambda: Custom(math.sin, 0), ValueError, "argument_size of a Custom must be 1 or more; it is 0"),
    "custom derivatives": (lambda: Custom(math.sin, 1, 5), TypeError, "list of callables.*not 5"),
    "custom derivative": (lambda: Custom(math.sin, 1, [math.cos, 2]), TypeError, r"derivatives\[1\].*callable; it is 2"),
    "custom gradient": (lambda: Custom(triple, 3, [math.cos]), ValueError, "of 3 arguments.*1 were given"),
    "arguments": (lambda: Linear([1, 2, 3])([1]), ValueError, r"of 2 arguments: x has the shape \(2,\).*\(1,\)"),
    "bare argument": (lambda: Linear([1, 2, 3])(1.0), ValueError, "this Linear is a function of 2 arguments"),
    "one argument": (lambda: Sinusoid(1, 1)([1, 2]), ValueError, r"of 1 argument: .*\(n, 1\) for many points"),
    "no argument": (lambda: Sinusoid(1, 1)(None), TypeError, "x of this Sinusoid must be numbers, not None"),
    "text": (lambda: Sinusoid(1, 1)("1"), TypeError, "x of this Sinusoid has to be real numbers"),
    "component": (lambda: Linear([1, 2, 3]).calc_derivative([2], [0, 0]), IndexError, "counted from 0; it has no 2"),
    "negative": (lambda: Linear([1, 2, 3]).calc_derivative([-1], [0, 0]), IndexError, "it has no -1"),
    "bare component": (lambda: Sinusoid(1, 1).calc_derivative(0, 1.0), TypeError, r"such as \[0\] or \[0, 0\], not 0"),
    "part component": (lambda: Sinusoid(1, 1).calc_derivative([0.5], 1.0), TypeError, "whole numbers, not 0.5"),
    "order": (lambda: Step(0, 1, 0, 1).calc_derivative([0] * 4, 1.0), ValueError, "up to order 3.*order 4"),
    "spline order": (lambda: Spline(1, [0, 1], [0, 1]).calc_derivative([0, 0], 1.0), ValueError, "up to order 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()
