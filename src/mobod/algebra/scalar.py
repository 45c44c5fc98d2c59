"""The primitives of every scalar type: what a kernel may do with a number besides ``+ - * /``, ``**`` and comparisons.

Called from Python these are ordinary functions of floats, of arrays of eight (lanes), of `Dual` or of any object with the
arithmetic and the methods that they call; compiled, `lanes` and `compiled_dual` give them their form for each scalar.
Functions of a user's own, such as a joint's transform, take their sines and square roots from here too: `math` knows
floats only.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..compiling import generic


def load(rows: Any, row: int, column: int) -> Any:
    """The number at *row*, *column* of a field: float64, eight lanes of it, or a Dual."""
    if hasattr(rows, "load"):
        return rows.load(row, column)
    value = rows[row] if rows.ndim == 1 else rows[row, column]
    return value.copy() if isinstance(value, np.ndarray) else value  # lanes: not a view, which a later store would change


def store(rows: Any, row: int, column: int, value: Any) -> None:
    """Put *value* at *row*, *column* of a field."""
    if hasattr(rows, "store"):
        rows.store(row, column, value)
    elif rows.ndim == 1:
        rows[row] = value
    else:
        rows[row, column] = value


def load_lane(rows: Any, row: int, column: int, lane: int) -> Any:
    """The number at *row*, *column* of one of eight lanes, a float64; of a field without lanes, what `load` gives."""
    value = load(rows, row, column)
    return value[lane] if isinstance(value, np.ndarray) else value


def store_lane(rows: Any, row: int, column: int, lane: int, value: Any) -> None:
    """Put *value* at *row*, *column* of one lane; of a field without lanes, what `store` does."""
    if isinstance(rows, np.ndarray) and rows.ndim == 3:
        rows[row, column, lane] = value
    else:
        store(rows, row, column, value)


def load_tangents(rows: Any, row: int, column: int) -> Any:
    """The eight tangents of a number of a record of Duals, as lanes."""
    return np.array(rows.tangents[row, column])


def store_tangents(rows: Any, row: int, column: int, eight: Any) -> None:
    """Put eight lanes as the tangents of a number of a record of Duals, whose value is left alone."""
    rows.tangents[row, column] = eight


def load_tangent(rows: Any, row: int, column: int, k: int) -> Any:
    """One of the tangents of a number of a record of Duals."""
    return float(rows.tangents[row, column, k])


def store_tangent(rows: Any, row: int, column: int, k: int, x: Any) -> None:
    """Put one of the tangents of a number of a record of Duals."""
    rows.tangents[row, column, k] = x


def store_value(rows: Any, row: int, column: int, x: Any) -> None:
    """Put the value of a number of a record of Duals, whose tangents are left alone."""
    rows.values[row, column] = x


def scratch(rows: int, columns: int) -> Any:
    """A field of float64 on the stack of the kernel that calls it, whatever the record holds; constants say how large it is.

    Its numbers are arbitrary until they are stored.
    """
    return np.empty((rows, columns))


def scratch_like(x: Any, rows: int, columns: int) -> Any:
    """The same of numbers of the scalar type of *x*: float64, lanes or Duals."""
    return np.empty((rows, columns, *np.shape(x)), object if hasattr(x, "tangents") else float)


def bare(x: Any) -> Any:
    """The value of a Dual, a float64; a number without tangents itself."""
    return bare(x.value) if hasattr(x, "tangents") else x


def num_lanes(x: Any) -> int:
    """Number of states that the number *x* is of: eight of lanes, else one."""
    return len(x) if isinstance(x, np.ndarray) else 1


def order_of_tangents(x: Any) -> int:
    """0 for a number without tangents, 1 for a Dual, 2 for one of Duals; compiled code knows it as a constant."""
    return 1 + order_of_tangents(x.value) if hasattr(x, "tangents") else 0


def is_float(x: Any) -> bool:
    """True for a number of one state without tangents, which is no formula; compiled code knows it as a constant."""
    return isinstance(x, float)


def zero(x: Any) -> Any:
    """0, of the scalar type of *x*."""
    return 0.0 if isinstance(x, (float, int)) else 0.0 * x


def one(x: Any) -> Any:
    """1, of the scalar type of *x*."""
    return 1.0 if isinstance(x, (float, int)) else 0.0 * x + 1.0


def constant(x: Any) -> Any:
    """The value of *x* as a number that depends on nothing: its tangents, where there are any, are zero."""
    return zero(x) + constant(x.value) if hasattr(x, "tangents") else x


def where(mask: Any, a: Any, b: Any) -> Any:
    """*a* where *mask* holds, else *b*; both are computed, and both must be finite."""
    for x in (a, b):
        if hasattr(x, "select"):
            return x.select(mask, a, b)
    if isinstance(mask, np.ndarray):
        return np.where(mask, a, b)
    return a if mask else b


def fused(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, compiled as one operation that rounds once, wherever it stands.

    Of ``a * b + c * d`` LLVM chooses which product it fuses with the sum, in one state otherwise than in lanes.
    """
    return a * b + c


def sqrt(x: Any) -> Any:
    """The square root."""
    if isinstance(x, (float, int)):
        return math.sqrt(x)
    return np.sqrt(x) if isinstance(x, np.ndarray) else x.sqrt()


def sincos(x: Any) -> Any:
    """``(sin x, cos x)``."""
    if isinstance(x, (float, int)):
        return math.sin(x), math.cos(x)
    return (np.sin(x), np.cos(x)) if isinstance(x, np.ndarray) else x.sincos()


@generic
def sin(x: Any) -> Any:
    """The sine; where the cosine is needed too, `sincos` costs little more."""
    return sincos(x)[0]


@generic
def cos(x: Any) -> Any:
    """The cosine."""
    return sincos(x)[1]


@generic
def tan(x: Any) -> Any:
    """The tangent."""
    s, c = sincos(x)
    return s / c


def exp(x: Any) -> Any:
    """The exponential function."""
    if isinstance(x, (float, int)):
        return math.exp(x)
    return np.exp(x) if isinstance(x, np.ndarray) else x.exp()


def log(x: Any) -> Any:
    """The natural logarithm."""
    if isinstance(x, (float, int)):
        return math.log(x)
    return np.log(x) if isinstance(x, np.ndarray) else x.log()


def floor(x: Any) -> Any:
    """The greatest whole number that is not above *x*; its derivative is zero."""
    if isinstance(x, (float, int)):
        return float(math.floor(x)) if math.isfinite(x) else x
    return np.floor(x) if isinstance(x, np.ndarray) else x.floor()


def atan2(y: Any, x: Any) -> Any:
    """The angle of the vector (x, y) from the x axis, between -pi and pi."""
    for number in (y, x):
        if hasattr(number, "atan2"):
            return number.atan2(y, x)
    if isinstance(y, np.ndarray) or isinstance(x, np.ndarray):
        return np.arctan2(y, x)
    return math.atan2(y, x)


@generic
def asin(x: Any) -> Any:
    """The angle of this sine, between -pi/2 and pi/2; its derivative is infinite at 1 and -1."""
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


@generic
def acos(x: Any) -> Any:
    """The angle of this cosine, between 0 and pi; its derivative is infinite at 1 and -1."""
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


@generic
def atan(x: Any) -> Any:
    """The angle of this tangent, between -pi/2 and pi/2."""
    return atan2(x, one(x))


@generic
def _sinh_near_zero(x: Any) -> Any:
    """The series of the hyperbolic sine, to the last bit below 0.3, where the exponentials would cancel."""
    s = x * x
    return x * (1.0 + s / 6.0 * (1.0 + s / 20.0 * (1.0 + s / 42.0 * (1.0 + s / 72.0 * (1.0 + s / 110.0)))))


@generic
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    e = exp(x)
    return where(x * x < 0.09, _sinh_near_zero(x), 0.5 * (e - 1.0 / e))


@generic
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    e = exp(x)
    return 0.5 * (e + 1.0 / e)


@generic
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    e = exp(-2.0 * absolute(x))
    far = (1.0 - e) / (1.0 + e)
    near = where(x * x < 0.09, x, zero(x))
    return where(x * x < 0.09, _sinh_near_zero(near) / cosh(near), where(x < 0.0, -far, far))


@generic
def absolute(x: Any) -> Any:
    """*x* without its sign, ``abs(x)``; at zero the derivative is that on the right."""
    return where(x < 0.0, -x, x)


@generic
def minimum(x: Any, y: Any) -> Any:
    """The lesser of two, NaN if one is; where they are equal, the derivative is that of *y*."""
    return where(x < y, x, where(x >= y, y, x + y))


@generic
def maximum(x: Any, y: Any) -> Any:
    """The greater of two, NaN if one is; where they are equal, the derivative is that of *y*."""
    return where(x > y, x, where(x <= y, y, x + y))


def power(x: Any, n: Any) -> Any:
    """*x* to the power of a constant: ``x ** n``, *n* an integer or a float, not something to differentiate by.

    An integer power is a product, by squaring, and so has no trouble at zero or below; others are the C library's.
    """
    if isinstance(n, (int, np.integer)):
        return integer_power(x, operator.index(n))
    if not isinstance(n, (float, np.floating)):
        raise TypeError(f"power(x, n) takes a constant number n, got {n!r}; for a variable exponent write exp(n * log(x))")
    if isinstance(x, (float, int)):
        return math.pow(x, n)
    return np.power(x, n) if isinstance(x, np.ndarray) else x.power(float(n))


@generic
def integer_power(x: Any, n: int) -> Any:
    """*x* multiplied by itself, or one over that where *n* is negative."""
    result, square, left = one(x), x, abs(n)
    while left > 0:
        if left % 2 == 1:
            result = result * square
        left = left // 2
        if left > 0:
            square = square * square
    if n < 0:
        result = 1.0 / result
    return result


def any_not_finite(x: Any) -> bool:
    """True if *x*, or one of its lanes, or the value of a Dual, is infinite or not a number."""
    if hasattr(x, "any_not_finite"):
        return bool(x.any_not_finite())
    return not bool(np.all(np.isfinite(x)))


def lookup(rows: Any, first: int, place: Any) -> Any:
    """The number in row *first* + *place* of a field; *place* is a whole number, a float64 or lanes, in each lane its own."""
    if hasattr(place, "lookup"):
        return place.lookup(rows, first)
    if not isinstance(place, np.ndarray):
        return load(rows, first + int(place), 0)
    found = [load(rows, first + int(k), 0) for k in place]
    return np.array([x[lane] if isinstance(x, np.ndarray) else x for lane, x in enumerate(found)])


def gather(array: Any, first: int, column: int) -> Any:
    """Eight lanes from one column of a 2-D array of float64: rows *first* to *first* + 7."""
    return array[first : first + 8, column]


def scatter(array: Any, first: int, column: int, value: Any) -> None:
    """Eight lanes into one column of a 2-D array of float64: rows *first* to *first* + 7."""
    array[first : first + 8, column] = value
