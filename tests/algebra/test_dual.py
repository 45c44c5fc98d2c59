"""Duals: derivatives in plain Python and compiled, over float64, over lanes, and over Duals themselves.

Tolerance 1e-12 of the largest entry: tens of roundings of functions and derivatives of order one to a hundred. 1e-9 against
differences of fourth order.
"""

import copy
import math
import pickle

import numpy as np
import pytest
import three_forms
from three_forms import FORMS

from mobod.algebra import dual, scalar
from mobod.algebra.dual import Dual, hessian, jacobian, seed
from mobod.algebra.record import DualRows
from mobod.algebra.scalar import atan2, cos, exp, fused, log, one, power, sin, sincos, sqrt, tan, where, zero
from mobod.compiling import engine

TOLERANCE, DIFFERENCE = 1e-12, 1e-9
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
compiled_form = pytest.mark.parametrize("form", [three_forms.float64, three_forms.lanes], ids=["float64", "lanes"])


def functions(x, y):
    """Of two positive numbers: every operation, every function, and constants on either side of each operator."""
    s, c = sincos(x * y)
    return (
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        (x + 2.0) * (2 + y),
        (x - 2.0) * (2 - y),
        (3.0 * x) / (y * 3),
        (x / 2.0) * (2 / y),
        x**3 + y**2,
        x**0 * y**-2,
        x**0.5 * y**-1.5,
        power(x, 5) * power(y, 2.5),
        sqrt(x * y),
        s * c + s,
        sin(x) * cos(y),
        tan(x / (y + 1.0)),
        exp(x - y) * exp(y),
        log(x * y * y),
        atan2(x, y),
        atan2(2.0, x) + atan2(y, -3),
        sin(exp(x) / sqrt(1.0 + y * y)) * log(2 + x),
        fused(x, y, x * x),
        fused(y, 3.0, x) + fused(2.0, 0.5, y),
    )


N = len(functions(0.5, 0.5))


def complex_atan2(y, x):
    """Continued analytically, so that a step in the imaginary direction is a derivative."""
    return 2.0 * np.arctan(y / (np.sqrt(x * x + y * y) + x))


COMPLEX = {name: getattr(np, name) for name in ("sqrt", "sin", "cos", "tan", "exp", "log")}
COMPLEX |= {"sincos": lambda a: (np.sin(a), np.cos(a)), "power": lambda a, n: a**n, "atan2": complex_atan2}
COMPLEX["fused"] = lambda a, b, c: a * b + c
in_complex_numbers = type(functions)(functions.__code__, COMPLEX)


def gradients(x, y, h=1e-30):
    """First derivatives (N, 2) by complex steps, which cancel nothing. Source: Squire and Trapp 1998."""
    by_x, by_y = in_complex_numbers(x + 1j * h, y + 0j), in_complex_numbers(x + 0j, y + 1j * h)
    return np.array([by_x, by_y]).imag.T / h


def expected_of(cases, order, derivative):
    """Values and derivatives up to *order* of each function, one after the other; a column a case."""
    columns = []
    for x, y in cases.T:
        parts = [np.array(functions(x, y))[:, None], gradients(x, y)]
        if order == 2:
            parts.append(derivative(lambda h, x=x, y=y: gradients(x + h, y)))
            parts.append(derivative(lambda h, x=x, y=y: gradients(x, y + h)))
        columns.append(np.hstack(parts).ravel())
    return np.array(columns).T


@pytest.fixture
def cases(rng):
    """Eight pairs of numbers."""
    return rng.uniform(0.3, 1.6, (2, 8))


def agree(actual, expected, tolerance=TOLERANCE):
    expected = np.asarray(expected, dtype=float)
    assert np.abs(np.asarray(actual) - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


# ---------------------------------------------------------------------------------------------- derivatives, in every form


def with_first(r):
    return r.value, r.tangents


def with_second(r):
    return r.value.value, r.value.tangents, r.tangents[0].tangents, r.tangents[1].tangents


def first(x, y):
    o, i = zero(x), one(x)
    return functions(Dual(x, (i, o)), Dual(y, (o, i)))


def first_parts(x, y):
    r = first(x, y)
    return (
        *(with_first(r[0]), with_first(r[1]), with_first(r[2]), with_first(r[3]), with_first(r[4]), with_first(r[5])),
        *(with_first(r[6]), with_first(r[7]), with_first(r[8]), with_first(r[9]), with_first(r[10]), with_first(r[11])),
        *(with_first(r[12]), with_first(r[13]), with_first(r[14]), with_first(r[15]), with_first(r[16]), with_first(r[17])),
        *(with_first(r[18]), with_first(r[19]), with_first(r[20]), with_first(r[21]), with_first(r[22])),
        with_first(r[23]),
    )


def second_parts(x, y):
    o, i = zero(x), one(x)
    r = functions(Dual(Dual(x, (i, o)), (i, o)), Dual(Dual(y, (o, i)), (0.0, 1)))
    return (
        *(with_second(r[0]), with_second(r[1]), with_second(r[2]), with_second(r[3]), with_second(r[4]), with_second(r[5])),
        *(with_second(r[6]), with_second(r[7]), with_second(r[8]), with_second(r[9]), with_second(r[10]), with_second(r[11])),
        *(with_second(r[12]), with_second(r[13]), with_second(r[14]), with_second(r[15]), with_second(r[16])),
        *(with_second(r[17]), with_second(r[18]), with_second(r[19]), with_second(r[20]), with_second(r[21])),
        *(with_second(r[22]), with_second(r[23])),
    )


def eight_tangents(x, y):
    """The sums of all functions, with tangents k in x and 8 - k in y."""
    i = one(x)
    a = Dual(x, (0.0, i, 2.0 * i, 3.0, 4 * i, 5, 6.0, 7.0))
    b = Dual(y, (8.0, 7, 6.0, 5.0, 4.0, 3.0 * i, 2.0, 1.0))
    r = functions(a, b)
    first = r[0] + r[1] + r[2] + r[3] + r[4] + r[5] + r[6] + r[7] + r[8] + r[9] + r[10]
    total = first + r[11] + r[12] + r[13] + r[14] + r[15] + r[16] + r[17] + r[18] + r[19] + r[20] + r[21]
    total = total + r[22] + r[23]
    return total.value, total.tangents


@pytest.fixture(scope="module", autouse=True)
def callable_from_compiled_code():
    from numba.extending import register_jitable

    engine.numba()
    for function in (functions, with_first, with_second, first):
        register_jitable(**engine.OPTIONS)(function)


@each_form
def test_first_derivatives_are_those_of_complex_steps(form, cases):
    agree(form(first_parts, (0, 0), cases), expected_of(cases, 1, None))


@each_form
def test_second_derivatives_are_the_derivatives_of_the_first(form, cases, derivative):
    """Of Duals of Duals: both ways round, so that symmetry is tested too."""
    agree(form(second_parts, (0, 0), cases), expected_of(cases, 2, derivative), DIFFERENCE)


@each_form
def test_eight_tangents_are_eight_directions(form, cases):
    derivatives = expected_of(cases, 1, None).reshape(N, 3, 8).sum(axis=0)
    k = np.arange(8.0)[:, None]
    agree(form(eight_tangents, (0, 0), cases), [derivatives[0], *(k * derivatives[1] + (8.0 - k) * derivatives[2])])


def values(x, y):
    return functions(x, y)


@compiled_form
def test_values_are_those_of_the_functions_without_duals_to_the_bit(form, cases):
    duals = form(first_parts, (0, 0), cases)[::3]
    assert np.array_equal(duals, form(values, (0, 0), cases))


def test_lanes_in_plain_python_are_eight_duals(cases):
    x, y = seed(tuple(cases))
    together = jacobian(functions(x, y))
    for lane in range(8):
        agree(together[..., lane], jacobian(functions(*seed(cases[:, lane]))))
    twice = hessian(functions(*seed(seed(tuple(cases)))))
    for lane in range(8):
        agree(twice[..., lane], hessian(functions(*seed(seed(cases[:, lane])))))


def test_third_derivatives_of_duals_three_deep():
    (x,) = seed(seed(seed([0.7])))
    third = (sin(x) * x).tangents[0].tangents[0].tangents[0]
    agree(third, -3.0 * math.sin(0.7) - 0.7 * math.cos(0.7))


# ---------------------------------------------------------------------------------------------- comparisons and choice


def comparisons(x, y):
    a, b = Dual(x, (1.0, 2.0)), Dual(y, (3.0, 4.0))
    r = (
        where(a < b, a, b),
        where(a <= b, a, 7.0),
        where(a > b, 7, b),
        where(a >= y, x, b),
        where(x == b, a, -b),
        where(a != b, a, -b),
        where(a < 0.5, a * a, zero(a)),
        where(1 > b, one(b), b),
    )
    return (
        *(with_first(r[0]), with_first(r[1]), with_first(r[2]), with_first(r[3])),
        *(with_first(r[4]), with_first(r[5]), with_first(r[6]), with_first(r[7])),
    )


@each_form
def test_choice_is_by_values_and_takes_the_tangents_along(form, rng):
    cases = rng.integers(0, 4, (2, 8)) * 0.5  # with ties
    expected = []
    for x, y in cases.T:
        a, b = np.array([x, 1.0, 2.0]), np.array([y, 3.0, 4.0])
        seven, constant_x = np.array([7.0, 0.0, 0.0]), np.array([x, 0.0, 0.0])
        expected.append(
            [
                a if x < y else b,
                a if x <= y else seven,
                seven if x > y else b,
                constant_x if x >= y else b,
                a if x == y else -b,
                a if x != y else -b,
                np.array([x * x, 2.0 * x, 4.0 * x]) if x < 0.5 else np.zeros(3),
                np.array([1.0, 0.0, 0.0]) if y < 1.0 else b,
            ]
        )
    assert np.array_equal(form(comparisons, (0, 0), cases), np.reshape(expected, (8, -1)).T)


def nested_choice(x, y):
    a, b = Dual(Dual(x, (1.0,)), (1.0,)), Dual(Dual(y, (0.0,)), (2.0,))
    r = where(a < b, a * a, b)
    return r.value.value, r.value.tangents, r.tangents[0].value, r.tangents[0].tangents


@each_form
def test_choice_between_duals_of_duals(form, rng):
    cases = rng.uniform(-1.0, 1.0, (2, 8))
    x, y = cases
    expected = np.where(x < y, [x * x, 2.0 * x, 2.0 * x, 2.0 + 0.0 * x], [y, 0.0 * y, 2.0 + 0.0 * y, 0.0 * y])
    assert np.array_equal(form(nested_choice, (0, 0), cases), expected)


def mixed_levels(x, y):
    """A Dual beside a Dual of Duals of its kind is a constant."""
    outer, inner = Dual(Dual(x, (1.0, 0.0)), (2.0,)), Dual(y, (3.0, 4.0))
    r = (outer + inner, outer - inner, inner - outer, outer * inner, inner / outer, outer / inner, where(x < y, outer, inner))
    return (
        *(r[0].tangents[0].value, r[1].tangents[0].value, r[2].tangents[0].value, r[3].tangents[0].tangents),
        *(r[4].value.tangents, r[4].tangents[0].value, r[5].tangents[0].value, r[6].tangents[0].value, r[6].value.value),
    )


@each_form
def test_a_dual_of_lower_level_is_a_constant(form, rng):
    cases = rng.uniform(0.5, 1.5, (2, 8))
    x, y = cases
    below = x < y
    expected = [2.0 + 0 * x, 2.0 + 0 * x, -2.0 + 0 * x, 2.0 * 3.0 + 0 * x, 2.0 * 4.0 + 0 * x]
    expected += [(3.0 - y / x) / x, 4.0 / x, -2.0 * y / (x * x), 2.0 / y, np.where(below, 2.0, 0.0), np.where(below, x, y)]
    agree(form(mixed_levels, (0, 0), cases), expected)


def edges(x):
    """Where rules of logarithms would fail: powers at zero and below, and the angle's signed zero."""
    a = Dual(x, (1.0,))
    return with_first(a**0), with_first(a**1), with_first(a**2), with_first(power(a, 3)), with_first(atan2(a, -1.0))


@each_form
@pytest.mark.parametrize("x", [0.0, -2.0])
def test_integer_powers_at_zero_and_below(form, x):
    expected = [1.0, 0.0, x, 1.0, x * x, 2.0 * x, x**3, 3.0 * x * x, math.atan2(x, -1.0), -1.0 / (1.0 + x * x)]
    agree(form(edges, (0,), np.full((1, 8), x)), np.repeat(expected, 8).reshape(-1, 8))


def finite(x):
    a = Dual(x, (1.0,))
    o, i = zero(x), one(x)
    nothing, something = 0.0 * i, i
    if scalar.any_not_finite(a):
        nothing = something
    return nothing + o


@each_form
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.0])
def test_what_is_not_finite_is_found_by_the_value(form, bad):
    found = form(finite, (0,), np.full((1, 8), bad))
    assert np.all(found == (0.0 if np.isfinite(bad) else 1.0))
    assert not scalar.any_not_finite(Dual(1.0, (math.inf,)))


def held(x):
    a = x * Dual(x, (one(x),))
    b, c = scalar.constant(a), scalar.constant(Dual(a, (a,)))
    return b.value, b.tangents[0], c.value.value, c.value.tangents[0], c.tangents[0].value, (a + scalar.constant(a)).tangents[0]


@each_form
def test_a_constant_has_the_value_and_no_tangents(form):
    x = np.linspace(0.5, 2.0, 8)
    agree(form(held, (0,), x[None]), np.array([x * x, 0.0 * x, x * x, 0.0 * x, 0.0 * x, x]))


# ---------------------------------------------------------------------------------------------- seeds


def test_seeds_are_the_identity_or_given_directions():
    x, y, z = seed((1.0, 2.0, 3.0))
    assert np.array_equal(jacobian((x, y, z)), np.eye(3))
    x, y = seed((1.0, 2.0), (5.0, 6.0))
    assert (x.value, x.tangents, y.value, y.tangents) == (1.0, (5.0,), 2.0, (6.0,))
    x, y = seed(np.array([1, 2]), np.array([[1, 2, 3], [4, 5, 6]]))
    assert x.tangents == (1.0, 2.0, 3.0) and y.tangents == (4.0, 5.0, 6.0)
    assert type(x.value) is float and type(x.tangents[0]) is float
    assert jacobian(((x, y), (y, x))).shape == (2, 2, 3)


def test_seeding_twice_seeds_both_levels():
    x, y = seed(seed((1.0, 2.0)))
    assert x.depth == 2 and x.value.depth == 1 and x.tangents[0] == 1.0 and x.tangents[1].tangents == (0.0, 0.0)
    assert hessian(x * y).tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "values, directions", [((), None), ((1.0, 2.0), (1.0,)), ((1.0, 2.0), ((1.0, 2.0), (1.0,))), ((1.0,), ((),))]
)
def test_seeds_that_do_not_fit_are_refused(values, directions):
    with pytest.raises(ValueError, match=r"one value or more|one row a value|one tangent or more"):
        seed(values, directions)


def test_duals_are_copied_and_pickled():
    (x,) = seed(seed([1.5]))
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert repr(other) == repr(x) and other.depth == 2


# ---------------------------------------------------------------------------------------------- what is refused

X = Dual(1.0, (1.0, 0.0))


@pytest.mark.parametrize("function", [math.sin, math.cos, math.sqrt, math.exp, math.log, math.tan, float])
def test_functions_of_math_say_what_to_use(function):
    with pytest.raises(TypeError, match=r"mobod\.algebra"):
        function(X)


@pytest.mark.parametrize("function", [np.sin, np.sqrt, np.exp, lambda x: np.power(x, 2), lambda x: np.arctan2(x, 1.0)])
def test_functions_of_numpy_say_what_to_use(function):
    with pytest.raises(TypeError, match=r"mobod\.algebra"):
        function(X)


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: Dual("1", (1.0,)), TypeError, "made of numbers"),
        (lambda: Dual(1.0, ("1",)), TypeError, "made of numbers"),
        (lambda: Dual(1.0, 2.0), TypeError, "are a tuple"),
        (lambda: Dual(1.0, ()), ValueError, "one tangent or more"),
        (lambda: Dual(Dual(1.0, (1.0,)), (Dual(1.0, (1.0, 2.0)),)), ValueError, "1 and of 2 tangents|2 and of 1 tangents"),
        (lambda: X + Dual(1.0, (1.0,)), ValueError, "2 and of 1 tangents"),
        (lambda: where(True, X, Dual(1.0, (1.0,))), ValueError, "2 and of 1 tangents"),
        (lambda: X + "1", TypeError, "unsupported operand"),
        (lambda: "1" * X, TypeError, "unsupported operand|can't multiply"),
        (lambda: X / None, TypeError, "unsupported operand"),
        (lambda: X < "1", TypeError, "not supported"),
        (lambda: X**X, TypeError, "exp\\(n \\* log\\(x\\)\\)"),
        (lambda: power(2.0, X), TypeError, "exp\\(n \\* log\\(x\\)\\)"),
        (lambda: 2.0**X, TypeError, "unsupported operand"),
        (lambda: bool(X), TypeError, "neither true nor false"),
        (lambda: hash(X), TypeError, "unhashable"),
        (lambda: hessian(X), ValueError, "seed twice"),
        (lambda: X + np.array(["a"]), TypeError, "unsupported operand|does not know|could not|ufunc"),
    ],
)
def test_what_makes_no_sense_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_arrays_and_numpy_numbers_are_constants_on_either_side():
    lanes = np.arange(1.0, 9.0)
    for make in (lambda c: c + X, lambda c: X + c, lambda c: c - X, lambda c: X - c, lambda c: c * X, lambda c: c / X):
        for constant in (lanes, np.float64(3.0), np.int64(3), np.float32(3.0), 3, True):
            result = make(constant)
            assert isinstance(result, Dual) and np.array_equal(result.value, make_of_value(make, constant))
    assert np.array_equal(lanes < X, lanes < 1.0) and np.array_equal(X <= lanes, lanes >= 1.0) and np.all((X != lanes)[1:])


def make_of_value(make, constant):
    """The same expression with X's value in its place."""
    return type(make)(make.__code__, {"X": X.value})(constant)


# ---------------------------------------------------------------------------------------------- what is refused, compiled


@pytest.mark.parametrize("function", [math.sin, math.sqrt, math.atan2, np.sin, np.exp, np.arctan2, math.pow])
@pytest.mark.parametrize("kind", ["duals", "lanes"])
def test_compiled_functions_of_math_say_what_to_use(function, kind):
    numba = engine.numba()
    two = function in (math.atan2, np.arctan2, math.pow)
    arguments = "x, x" if two else "x"
    given = "Dual(load(rows, 0, 0), (1.0,))" if kind == "duals" else "load(rows, 0, 0)"
    names = {"f": function, "Dual": Dual, "load": scalar.load}
    exec(f"def kernel(rows):\n    x = {given}\n    return f({arguments})", names)
    rows = np.ones((1, 1, 8)) if kind == "lanes" else np.ones((1, 1))
    with pytest.raises(numba.TypingError, match=r"knows floats only, .* use \w+ of mobod\.algebra\.scalar"):
        numba.njit(names["kernel"])(rows)


@pytest.mark.parametrize(
    "expression, words",
    [
        ("Dual(x, (1.0,)) + Dual(x, (1.0, 2.0))", "No implementation of function Function\\(<built-in function add>"),
        ("Dual(x, (1.0,)) ** Dual(x, (1.0,))", "for a variable exponent write"),
        ("Dual(x, (1, 2, 3, 4, 5, 6, 7, 8, 9))", "1 to 8 tangents, got 9"),
        ("Dual(x, ())", "1 to 8 tangents, got 0"),
        ("Dual(x, 1.0)", "No implementation|No match|Invalid use"),
    ],
)
def test_compiled_what_makes_no_sense_is_refused(expression, words):
    numba = engine.numba()
    names = {"Dual": Dual}
    exec(f"def kernel(x):\n    return ({expression}).value", names)
    with pytest.raises(numba.TypingError, match=words):
        numba.njit(names["kernel"])(1.0)


# ---------------------------------------------------------------------------------------------- in fields


def turn(rows, out):
    """Each number times the row's first, from the last column to the first; and a constant into the last row."""
    for i in range(2):
        for k in range(9):
            scalar.store(out, i, 8 - k, scalar.load(rows, i, k) * scalar.load(rows, i, 0))
    for k in range(9):
        scalar.store(out, 2, k, 3.0)


def test_fields_of_duals_compiled_and_in_plain_python(rng):
    rows = DualRows.zeros(2, 9)
    rows.values[:], rows.tangents[:] = rng.normal(size=(2, 9)), rng.normal(size=(2, 9, 8))
    expected = (rows.values * rows.values[:, :1])[:, ::-1]
    tangents = (rows.values[..., None] * rows.tangents[:, :1] + rows.values[:, :1, None] * rows.tangents)[:, ::-1]
    kernel = engine.numba().njit(**engine.OPTIONS)(turn)
    for run, taken in ((turn, lambda field: field), (kernel, lambda field: field.array)):
        out = DualRows.zeros(3, 9)
        out.tangents[2] = 5.0
        run(taken(rows), taken(out))
        agree(out.values[:2], expected)
        agree(out.tangents[:2], tangents)
        assert np.all(out.values[2] == 3.0) and not out.tangents[2].any()


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 17])
def test_values_and_tangents_are_views_apart(columns):
    field = DualRows.zeros(3, columns)
    field.values[:], field.tangents[:] = 1.0, 2.0
    assert field.values.shape == (3, columns) and field.tangents.shape == (3, columns, 8)
    assert np.all(field.values == 1.0) and np.all(field.tangents == 2.0)
    field[1] = 4.0
    assert np.all(field.values[1] == 4.0) and not field.tangents[1].any() and np.all(field.tangents[0] == 2.0)
    assert repr(field.load(0, 0)) == repr(Dual(1.0, (2.0,) * 8))


def test_the_rules_are_ordinary_functions():
    """They are also what compiled code runs: their names are in `dual`, and nothing in them knows floats only."""
    for rule in (dual.sqrt_rule, dual.exp_rule, dual.log_rule):
        assert isinstance(rule(Dual(2.0, (1.0,))), Dual)
