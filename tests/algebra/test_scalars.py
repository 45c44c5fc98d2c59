"""The primitives of a scalar, in plain Python, compiled, and in lanes: sine and cosine, square root, where, comparisons."""

from fractions import Fraction

import numpy as np
import pytest
import three_forms
from three_forms import FORMS

from mobod.algebra import scalar

EPS = np.finfo(float).eps
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
compiled_form = pytest.mark.parametrize("form", [three_forms.float64, three_forms.lanes], ids=["float64", "lanes"])


def eights(values):
    """Columns of eight, the last one filled up."""
    values = np.asarray(values, dtype=np.float64)
    return np.resize(values, (-(-len(values) // 8) * 8,)).reshape(-1, 1, 8)


ANGLES = {
    "small": np.concatenate([np.logspace(-300, 0, 40), -np.logspace(-20, 0, 40), [0.0]]),
    "turns": np.linspace(-50.0, 50.0, 401),
    "near multiples of pi/2": (np.arange(-64, 64)[:, None] * (np.pi / 2) * (1 + np.array([0, 2e-16, -1e-12, 1e-8]))).ravel(),
    "many turns": np.random.default_rng(1).uniform(-1e6, 1e6, 400),
    "beyond the fast reduction": np.random.default_rng(2).uniform(-1, 1, 80) * 10.0 ** np.linspace(6, 300, 80),
    "at its limit": 1e6 + np.linspace(-1e-3, 1e-3, 64),
}


@each_form
@pytest.mark.parametrize("angles", ANGLES.values(), ids=ANGLES)
def test_sine_and_cosine_are_right_to_the_last_bits(form, angles):
    """To one and a half units in the last place of one; relative, near zeros, is beyond what a rotation needs."""
    for block in eights(angles):
        s, c = form(scalar.sincos, (0,), block)
        assert np.abs(s - np.sin(block[0])).max() <= 1.5 * EPS
        assert np.abs(c - np.cos(block[0])).max() <= 1.5 * EPS


@compiled_form
def test_sine_of_a_small_angle_keeps_its_relative_accuracy(form):
    angles = eights(np.logspace(-300, -1, 64))
    for block in angles:
        s, _ = form(scalar.sincos, (0,), block)
        assert np.abs(s / np.sin(block[0]) - 1.0).max() <= 2.0 * EPS


@compiled_form
def test_sine_and_cosine_of_what_is_not_finite_are_not_numbers(form):
    for bad in (np.nan, np.inf, -np.inf):
        assert np.all(np.isnan(form(scalar.sincos, (0,), np.full((1, 8), bad))))


def test_one_state_and_lanes_give_the_same_bits():
    for block in eights(np.concatenate([ANGLES["turns"], ANGLES["many turns"]])):
        assert np.array_equal(three_forms.float64(scalar.sincos, (0,), block), three_forms.lanes(scalar.sincos, (0,), block))


@pytest.mark.parametrize("stranger", [np.nan, np.inf, 1e9])
def test_a_strange_lane_spoils_no_other(stranger):
    angles = np.linspace(-3.0, 3.0, 8)[None].copy()
    good = three_forms.lanes(scalar.sincos, (0,), angles)
    angles[0, 5] = stranger
    with_it = three_forms.lanes(scalar.sincos, (0,), angles)
    others = np.arange(8) != 5
    assert np.abs(with_it[:, others] - good[:, others]).max() <= EPS
    assert np.all(np.isnan(with_it[:, 5])) == (not np.isfinite(stranger))


def test_a_strange_lane_changes_no_bit_of_another():
    for block in eights(np.linspace(-3.0, 3.0, 400)):
        good = three_forms.lanes(scalar.sincos, (0,), block)
        strange = block.copy()
        strange[0, 5] = 1e9
        others = np.arange(8) != 5
        assert np.array_equal(three_forms.lanes(scalar.sincos, (0,), strange)[:, others], good[:, others])


@each_form
def test_square_root_is_exact(form):
    values = np.concatenate([np.logspace(-300, 300, 55), [0.0]])
    for block in eights(values):
        assert np.array_equal(form(scalar.sqrt, (0,), block), np.sqrt(block))


@compiled_form
def test_square_root_of_a_negative_number_is_not_a_number_and_no_error(form):
    result = form(scalar.sqrt, (0,), np.array([[-1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0]]))
    assert np.isnan(result[0, 0]) and np.array_equal(result[0, 1:], np.arange(2.0, 9.0))


def elementary(x, y):
    return (
        *(scalar.sin(x), scalar.cos(y), scalar.tan(x), scalar.exp(x), scalar.log(y), scalar.atan2(x, y)),
        *(scalar.atan2(y, -1.0), scalar.atan2(2, x), y**0.5, scalar.power(y, -1.5), x**3, scalar.power(x, -2), x**0),
    )


def expected_elementary(x, y):
    return [
        *(np.sin(x), np.cos(y), np.sin(x) / np.cos(x), np.exp(x), np.log(y), np.arctan2(x, y)),
        *(np.arctan2(y, -1.0), np.arctan2(2.0, x), y**0.5, y**-1.5, x * x * x, 1.0 / (x * x), 0.0 * x + 1.0),
    ]


@each_form
def test_elementary_functions_are_right_to_the_last_bits(form, rng):
    """Relative to five units in the last place: of the tangent two roundings more than of a sine."""
    values = np.array([rng.uniform(-1.4, 1.4, 8), rng.uniform(0.1, 3.0, 8)])
    expected = np.array(expected_elementary(*values))
    assert np.all(np.abs(form(elementary, (0, 0), values) - expected) <= 5.0 * EPS * np.maximum(np.abs(expected), 1.0))


def further(x, y):
    a, t = 0.7 * x, scalar.where(x > 0.0, 300.0 * x, 0.1 * x)
    return (
        *(scalar.asin(a), scalar.acos(a), scalar.atan(x), scalar.sinh(x), scalar.cosh(x), scalar.tanh(x), scalar.tanh(t)),
        *(scalar.absolute(x), abs(x), scalar.minimum(x, y), scalar.maximum(x, 1), scalar.maximum(2, x)),
        *(scalar.floor(10.0 * x), scalar.floor(y)),
    )


def expected_further(x, y):
    a, t = 0.7 * x, np.where(x > 0.0, 300.0 * x, 0.1 * x)
    return [
        *(np.arcsin(a), np.arccos(a), np.arctan(x), np.sinh(x), np.cosh(x), np.tanh(x), np.tanh(t), np.abs(x), np.abs(x)),
        *(np.minimum(x, y), np.maximum(x, 1.0), np.maximum(2.0, x), np.floor(10.0 * x), np.floor(y)),
    ]


@each_form
def test_further_functions_are_right_to_the_last_bits(form, rng):
    """Relative to five units in the last place, of numbers small and large."""
    for size in (1.0, 0.2, 1e-6):
        values = np.array([size * rng.uniform(-1.4, 1.4, 8), rng.uniform(-3.0, 3.0, 8)])
        expected = np.array(expected_further(*values))
        assert np.all(np.abs(form(further, (0, 0), values) - expected) <= 5.0 * EPS * np.maximum(np.abs(expected), size))


def picked(x, y):
    return scalar.minimum(x, y), scalar.maximum(x, 1), scalar.maximum(2, x)


@each_form
def test_the_lesser_and_the_greater_of_what_is_no_number_are_none_as_numpys(form, rng):
    x, y = rng.uniform(-3.0, 3.0, (2, 8))
    x[[0, 3]], y[[1, 3]] = np.nan, np.nan
    lesser, greater, other = form(picked, (0, 0), np.array([x, y]))
    np.testing.assert_array_equal(lesser, np.minimum(x, y))
    np.testing.assert_array_equal(greater, np.maximum(x, 1.0))
    np.testing.assert_array_equal(other, np.maximum(2.0, x))


def test_further_functions_of_one_state_and_of_lanes_give_the_same_bits(rng):
    values = rng.uniform(-1.4, 1.4, (2, 8))
    assert np.array_equal(three_forms.float64(further, (0, 0), values), three_forms.lanes(further, (0, 0), values))


def test_elementary_functions_of_one_state_and_of_lanes_give_the_same_bits(rng):
    values = np.array([rng.uniform(-20.0, 20.0, 8), rng.uniform(0.1, 30.0, 8)])
    assert np.array_equal(three_forms.float64(elementary, (0, 0), values), three_forms.lanes(elementary, (0, 0), values))


def test_elementary_functions_in_plain_python_take_arrays_of_lanes(rng):
    values = np.array([rng.uniform(-1.4, 1.4, 8), rng.uniform(0.1, 3.0, 8)])
    together = elementary(*values)
    assert np.allclose(together, three_forms.python(elementary, (0, 0), values), rtol=5.0 * EPS, atol=0.0)


EXPONENTS = [0.0, -0.0, -708.5, -740.2, -745.1, -745.2, 709.7, 709.8, 1e300, -1e300, np.inf, -np.inf, np.nan, -37.4, 1e-300]


@compiled_form
def test_exponentials_of_extreme_numbers_are_those_of_the_c_library(form, rng):
    x = eights([*EXPONENTS, *rng.uniform(-700.0, 700.0, 400), *rng.uniform(-1.0, 1.0, 400)])
    with np.errstate(over="ignore", under="ignore"):
        expected = np.exp(x)
    found = np.array([form(lambda x: (scalar.exp(x),), (0,), one) for one in x])
    np.testing.assert_allclose(found, expected, rtol=2.5e-16, atol=5e-324)


LOGARITHMS = [0.0, -0.0, 1.0, 5e-324, 3e-310, 2.3e-308, 1.7e308, np.inf, -np.inf, np.nan, -1.0, -1e-320, 1.0 - 2.0**-53]


@compiled_form
def test_logarithms_of_extreme_numbers_are_those_of_the_c_library(form, rng):
    near = 1.0 + rng.uniform(-1.0, 1.0, 400) * 10.0 ** rng.uniform(-15.0, 0.0, 400)
    x = eights([*LOGARITHMS, *10.0 ** rng.uniform(-307.0, 308.0, 400), *near, *rng.uniform(0.5, 2.0, 400)])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(x)
    found = np.array([form(lambda x: (scalar.log(x),), (0,), one) for one in x])
    np.testing.assert_allclose(found, expected, rtol=2.5e-16, atol=0.0)


@compiled_form
def test_angles_of_extreme_numbers_are_those_of_the_c_library(form, rng):
    """To the last two bits; of zeros, infinities and what is no number alike, signs of zeros included."""
    ends = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -5e-324]
    special = np.array([(y, x) for y in ends for x in ends])
    others = rng.standard_normal((800, 2)) * 10.0 ** rng.uniform(-8.0, 8.0, (800, 2))
    y, x = (eights(one) for one in np.concatenate([special, others]).T)
    expected = np.arctan2(y, x)
    found = np.array(
        [form(lambda y, x: (scalar.atan2(y, x),), (0, 0), np.array([a[0], b[0]])) for a, b in zip(y, x, strict=True)]
    )
    np.testing.assert_allclose(found, expected, rtol=4.5e-16, atol=0.0)
    assert np.array_equal(
        np.signbit(found), np.signbit(expected) & ~np.isnan(expected) | np.signbit(found) & np.isnan(expected)
    )


def of_integers(x):
    """Literals without a point, which a user's own function will have."""
    two = scalar.sqrt(2) + scalar.sin(1) + scalar.exp(0) + scalar.log(3) + scalar.atan2(1, 2)
    return 2 * x + 1, 1 - x, x * 3 - 1, x / 2, 4 / x, two * scalar.one(x), scalar.where(x > 0, 1, x), scalar.where(x != 1, x, 2)


@each_form
def test_integers_mix_with_every_scalar(form):
    x = np.array([-2.0, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    two = np.sqrt(2.0) + np.sin(1.0) + 1.0 + np.log(3.0) + np.arctan2(1.0, 2.0)
    expected = [2 * x + 1, 1 - x, x * 3 - 1, x / 2, 4 / x, two + 0.0 * x, np.where(x > 0, 1.0, x), np.where(x != 1, x, 2.0)]
    assert np.abs(form(of_integers, (0,), x[None]) - expected).max() <= 4.0 * EPS


@pytest.mark.parametrize("n", ["2", None, 1j, (1.0,)])
def test_an_exponent_that_is_no_number_is_refused(n):
    with pytest.raises(TypeError, match="constant number n, got"):
        scalar.power(2.0, n)


def less(a, b, x, y):
    return scalar.where(a < b, x, y)


def less_equal(a, b, x, y):
    return scalar.where(a <= b, x, y)


def greater(a, b, x, y):
    return scalar.where(a > b, x, y)


def greater_equal(a, b, x, y):
    return scalar.where(a >= b, x, y)


def equal(a, b, x, y):
    return scalar.where(a == b, x, y)


def not_equal(a, b, x, y):
    return scalar.where(a != b, x, y)


def below_a_constant(a, b, x, y):
    return scalar.where(a < 0.5, x, 7.0), scalar.where(0.5 > b, 7.0, y)


@each_form
@pytest.mark.parametrize("function", [less, less_equal, greater, greater_equal, equal, not_equal, below_a_constant])
def test_where_chooses_lane_by_lane(function, form):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (4, 8)) * 0.5  # with ties
    values[2:] = rng.normal(size=(2, 8))
    assert np.array_equal(form(function, (0, 0, 0, 0), values), three_forms.python(function, (0, 0, 0, 0), values))


@each_form
def test_nothing_compares_with_what_is_not_a_number(form):
    values = np.array([[np.nan] * 8, [1.0] * 8, [2.0] * 8, [3.0] * 8])
    for function in (less, less_equal, greater, greater_equal, equal):
        assert np.all(form(function, (0, 0, 0, 0), values) == 3.0), function.__name__
    assert np.all(form(not_equal, (0, 0, 0, 0), values) == 2.0)


def arithmetic(a, b):
    return a + b, a - b, a * b, a / b, -a, a + 2.0, 2.0 - a, 3.0 * b, 1.0 / b, scalar.zero(a), scalar.one(b), scalar.constant(a)


@each_form
def test_arithmetic_is_that_of_numpy_to_the_bit(form):
    values = np.random.default_rng(4).normal(size=(2, 8))
    a, b = values
    expected = [a + b, a - b, a * b, a / b, -a, a + 2.0, 2.0 - a, 3.0 * b, 1.0 / b, 0.0 * a, 0.0 * a + 1.0, a]
    assert np.array_equal(form(arithmetic, (0, 0), values), expected)


@compiled_form
def test_a_fused_product_and_sum_are_rounded_once(form, rng):
    x = rng.normal(size=(3, 8))
    x[2] = -x[0] * x[1] * rng.uniform(0.999, 1.001, 8)  # which cancels
    once = [float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in x.T]
    found = form(lambda a, b, c: (scalar.fused(a, b, c), scalar.fused(2.0, b, c)), (0, 0, 0), x)
    assert np.array_equal(found[0], once)
    assert np.array_equal(found[1], [float(2 * Fraction(b) + Fraction(c)) for _, b, c in x.T])


@compiled_form
def test_division_by_zero_is_infinite_and_no_error(form):
    values = np.array([[1.0, -1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    result = form(arithmetic, (0, 0), values)[3]
    assert result[0] == np.inf and result[1] == -np.inf and np.isnan(result[2]) and result[3] == 2.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_any_lane_that_is_not_finite_is_found(bad):
    from mobod.algebra.scalar import any_not_finite, load
    from mobod.compiling import engine

    def found(rows):
        return any_not_finite(load(rows, 0, 0))

    compiled = engine.numba().njit(**engine.OPTIONS)(found)
    huge = np.full((1, 1, 8), 1.7e308)
    assert not compiled(huge) and not compiled(huge[..., 0].copy()) and not found(huge)
    for lane in range(8):
        values = huge.copy()
        values[0, 0, lane] = bad
        assert compiled(values) and found(values)
        assert compiled(values[..., lane].copy()) and found(values[..., lane].copy())


def test_a_loaded_lane_is_no_view_of_its_field():
    """In plain Python a later store must not change what was loaded, as it does not when compiled."""
    rows = np.arange(16.0).reshape(2, 1, 8)
    loaded = scalar.load(rows, 1, 0)
    scalar.store(rows, 1, 0, 0.0)
    assert np.array_equal(loaded, np.arange(8.0, 16.0)) and not rows[1].any()


def test_gathering_and_scattering_are_each_others_inverse():
    from mobod.algebra.scalar import gather, scatter
    from mobod.compiling import engine

    def transpose(rows, out):
        for column in range(3):
            scatter(out, 8, column, gather(rows, 0, column))

    rows = np.random.default_rng(5).normal(size=(8, 3))
    for run in (transpose, engine.numba().njit(**engine.OPTIONS)(transpose)):
        out = np.zeros((16, 3))
        run(rows, out)
        assert np.array_equal(out[8:], rows) and not out[:8].any()


def test_rows_of_lanes_are_put_into_rows_of_states():
    """Fifteen numbers: eight at once, and seven one by one."""
    from mobod.algebra.eights import put_rows
    from mobod.compiling import engine

    def put(rows, out):
        put_rows(rows, 1, 3, out, 8, 2)

    rows = np.random.default_rng(5).normal(size=(4, 5, 8))
    expected = np.zeros((16, 20))
    expected[8:, 2:17] = rows[1:].reshape(15, 8).T
    for run in (put, engine.numba().njit(**engine.OPTIONS)(put)):
        out = np.zeros((16, 20))
        run(rows, out)
        assert np.array_equal(out, expected)
