"""Functions of OpenSim's models: equal to its own, inside and outside their ranges."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.function import Expression, GCVSpline, Multiplier, PiecewiseConstant, PiecewiseLinear, Polynomial, SimmSpline

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


def gcv_spline(osim, folder, degree, x, y, variance):
    path = folder / "spline.xml"
    path.write_text(
        f'<OpenSimDocument Version="40000"><GCVSpline name="f"><half_order>{(degree + 1) // 2}</half_order>'
        f"<error_variance>{variance!r}</error_variance><x>{' '.join(map(repr, x.tolist()))}</x>"
        f"<y>{' '.join(map(repr, y.tolist()))}</y></GCVSpline></OpenSimDocument>"
    )
    return osim.GCVSpline.safeDownCast(osim.OpenSimObject.makeObjectFromFile(str(path)))


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
@pytest.mark.parametrize("variance", [0.0, 1e-3, -1.0])
def test_a_gcv_spline_is_opensims(osim, tmp_path, degree, variance, rng):
    x = np.cumsum(rng.uniform(0.5, 1.5, 40)) / 40.0
    y = np.sin(7.0 * x) + 0.03 * rng.normal(size=40)
    f, theirs = GCVSpline(degree, x, y, variance), gcv_spline(osim, tmp_path, degree, x, y, variance)
    t = np.linspace(x[0] - 0.1, x[-1] + 0.1, 30)
    for order in range(min(degree, 3)):
        expected = np.array([evaluate(osim, theirs, one, order) for one in t])
        # where the smoothness is least certain, the search for it stops at a relative 1e-6, wherever rounding has led it
        tolerance = (1e-11 if variance == 0.0 else 1e-4) * np.abs(expected).max()
        assert_allclose(f.calc_derivative([0] * order, t[:, None]), expected, rtol=0, atol=10.0**order * tolerance)


def test_a_gcv_spline_is_as_near_as_its_points_are_exact(rng):
    """Half of the residuals' mean square, about, is the error's variance; the truth is nearer to it than the points are."""
    x = np.linspace(0.0, 2.0, 200)
    truth, noise = np.sin(5.0 * x), 0.05 * rng.normal(size=200)
    for variance in (-1.0, 0.05**2):
        f = GCVSpline(5, x, truth + noise, variance)
        residual = f(x[:, None]) - truth - noise
        assert np.mean(residual**2) == pytest.approx(0.05**2, rel=0.4)
        assert np.std(f(x[:, None]) - truth) < 0.4 * np.std(noise)


TEXTS = [
    "2*x^2+y",
    "-x^2^1.5+y",
    "2^-x+x^y",
    "sin(x)*cos(y)-tan(x/3)+sec(x)+csc(y)+cot(x)",
    "asin(x/4)+acos(y/4)+atan(x*y)",
    "sqrt(abs(x))*exp(-y)+log(x)",
    "sinh(x)+cosh(y)*tanh(x-y)+tanh(.01*x)",
    "erf(x)-erfc(2 * y)",
    "step(x-1)*3+delta(y)+min(x,y)*max(x,2*y)",
    "square(x)+cube(y)+recip(x)",
    "a*x+b; a=b+1; b=y^2",
    "-x-y-x*-y/2/3 + 1.5e-1 + .5 + 2.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_expression_is_opensims(osim, text, rng):
    f, theirs, names = Expression(text, ["x", "y"]), osim.ExpressionBasedFunction(), osim.StdVectorString()
    for name in "xy":
        names.append(name)
    theirs.setExpression(text)
    theirs.setVariables(names)
    for point in rng.uniform(0.1, 3.0, (20, 2)):
        assert_allclose(f(point), evaluate(osim, theirs, point, 0), rtol=1e-14, atol=1e-14)
        assert_allclose(f.calc_derivative([0], point), evaluate(osim, theirs, point, 1), rtol=1e-12, atol=1e-13)


def test_an_expression_selects():
    f = Expression("select(step(x - 1), sqrt(x - 1), -x)")
    assert f(5.0) == 2.0 and f(0.5) == -0.5 and f.calc_derivative([0], 0.5) == -1.0
    assert Expression("3").calc_value(7.0) == 3.0 and Expression("2 * pi").calc_value(0.0) == 2.0 * math.pi
    g = Expression("b * w + a; b = 2 * c", variables=None)
    assert g.variables == ("w", "a", "c") and g([1.0, 2.0, 3.0]) == 8.0
    assert repr(g) == "Expression(text='b * w + a; b = 2 * c', variables=('w', 'a', 'c'))"


def test_the_error_function_is_scipys():
    from scipy import special

    x = np.linspace(-8.0, 26.0, 2000)
    assert_allclose(Expression("erf(x)")(x[:, None]), special.erf(x), rtol=0, atol=2e-15)
    assert_allclose(Expression("erfc(x)")(x[:, None]), special.erfc(x), rtol=2e-12)


TORN = {
    "2*": (3, "a number, a name or \\( is missing"),
    "x+(y": (5, "'\\)' is missing before the end"),
    "1+foo(x)": (3, "'foo' is no function; there are abs"),
    "sin(x,y)": (1, "sin takes 1 argument, not 2"),
    "2 x": (3, "'x' was not expected; an operator"),
    "x $ y": (3, "'\\$' means nothing"),
    "": (1, "a number, a name"),
    "x; a": (5, "'=' is missing before the end"),
    "x; a=b": (6, "'b' is neither a variable nor defined"),
    "x.__class__": (2, "means nothing"),
    "__import__('os')": (1, "'__import__' is no function"),
}


@pytest.mark.parametrize("text", TORN)
def test_a_torn_expression_says_where(text):
    position, message = TORN[text]
    with pytest.raises(ValueError, match=f"at position {position}: .*{message}"):
        Expression(text, ["x", "y"])


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
    "gcv degree": (lambda: GCVSpline(4, [0, 1], [0, 1]), ValueError, "degree of a GCVSpline must be 1, 3, 5 or 7; it is 4"),
    "gcv few": (lambda: GCVSpline(5, range(5), range(5)), ValueError, "GCVSpline of degree 5 must be a list of 6 or more"),
    "gcv nan": (
        lambda: GCVSpline(1, [0, 1], [0, 1], math.nan),
        mb.ModelError,
        "error_variance of a GCVSpline has to be finite",
    ),
    "no text": (lambda: Expression(3), TypeError, "text of an Expression.*not 3"),
    "bare names": (lambda: Expression("x", "x"), TypeError, "list of names"),
    "names": (lambda: Expression("x", ["x", "x"]), ValueError, "'x' cannot be a variable of an Expression: it comes twice"),
    "function name": (lambda: Expression("x", ["sin"]), ValueError, "'sin' cannot be.*is a function"),
    "no names": (lambda: Expression("x", []), ValueError, "one variable or more"),
    "many": (lambda: Expression("+".join("abcdfghij")), ValueError, "8 variables at most"),
    "no function": (lambda: Multiplier(3.0, 2.0), TypeError, "function of a Multiplier has to be a Function.*3.0"),
    "scale": (lambda: Multiplier(Polynomial([1]), math.nan), mb.ModelError, "scale of a Multiplier has to be finite"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1/0", "divide of 1, 0 is inf"),
        ("log(0)*x", "log of 0 is -inf"),
        ("x + 1e400", "at position 5: the number is too large"),
        ("(" * 500 + "x" + ")" * 500, "nested too deeply"),
        ("+".join(["x"] * 3000), "too many terms"),
    ],
)
def test_expressions_that_no_kernel_can_be_made_of(text, what):
    with pytest.raises(ValueError, match=what):
        mb.function.Expression(text)
