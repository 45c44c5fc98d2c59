"""Dual: a value and its tangents, the derivatives of that value along a few directions. Arithmetic carries both along.

    f(x, y) has the value f and the tangents  df/dx x' + df/dy y',  x' and y' the tangents of x and y

so that a function written for any scalar gives its exact derivatives when it is called with `Dual`: seed the arguments,
call it, read the tangents. A Dual whose value and tangents are themselves Duals gives second derivatives. This class is
plain Python; compiled, `compiled_dual` gives the same functions their form. Source: Griewank and Walther 2008, section 3.1.

The derivative rules below are one source for both: they use ``.value``, `chain` and arithmetic only.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiling import generic
from . import scalar

Array = npt.NDArray[Any]


class Dual:
    """A value and its tangents.

    Parameters
    ----------
    value : float, array or Dual
        A number, or eight lanes of it, or, for second derivatives, a Dual.
    tangents : tuple
        One number of the same kind for each direction.

    Raises
    ------
    TypeError
        Where one of them is no number, or the tangents are no tuple.
    ValueError
        Where there is no tangent, or where Duals of different numbers of tangents meet.

    Notes
    -----
    Comparisons compare values, and `any_not_finite` looks at the value. A number, or a Dual of lower `depth`, is a constant
    beside a Dual: its tangents are zero.

    Examples
    --------
    >>> from mobod.algebra.dual import Dual
    >>> from mobod.algebra.scalar import sin
    >>> x = Dual(0.0, (1.0,))
    >>> (3.0 * sin(x) + x * x).tangents
    (3.0,)
    """

    __slots__ = ("depth", "tangents", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, tangents: Sequence[Any]) -> None:
        if not isinstance(tangents, (tuple, list)):
            raise TypeError(f"the tangents of a Dual are a tuple, one number a direction, got {tangents!r}")
        if not tangents:
            raise ValueError("a Dual has one tangent or more, got an empty tuple")
        if type(value) is float and {*map(type, tangents)} == {float}:
            self.value, self.tangents, self.depth = value, tuple(tangents), 1
            return
        parts = [_number(part) for part in (value, *tangents)]
        deepest: Any = max(parts, key=_depth)
        if isinstance(deepest, Dual):
            parts = [deepest.constant(part) for part in parts]
        elif any(isinstance(part, np.ndarray) for part in parts):  # lanes
            parts = list(np.array(np.broadcast_arrays(*parts), dtype=np.float64))
        self.value, self.tangents, self.depth = parts[0], tuple(parts[1:]), _depth(deepest) + 1

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangents!r})"

    def constant(self, x: Any) -> Any:
        """*x* as a Dual of this one's kind: its tangents are zero, unless it is one already."""
        if _depth(x) == self.depth:
            _parts(self, x)  # as many tangents
            return x
        value = _number(x)
        if isinstance(self.value, Dual):
            value = self.value.constant(value)
        elif isinstance(self.value, np.ndarray):
            value = np.array(np.broadcast_to(value, self.value.shape), dtype=np.float64)
        return _made(value, (scalar.zero(value),) * len(self.tangents))

    # ------------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Any:
        return _add(self, other) if _is_number(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _add(self, -other) if _is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return _add(-self, other) if _is_number(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return _multiply(self, other) if _is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _divide(self, other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return _divide(other, self) if _is_number(other) else NotImplemented

    def __neg__(self) -> Dual:
        return _made(-self.value, tuple(-t for t in self.tangents))

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Any:
        return scalar.absolute(self)

    def __pow__(self, n: Any) -> Any:
        return scalar.power(self, n)

    # ------------------------------------------------------------------------------------------ comparisons, of values

    def __lt__(self, other: Any) -> Any:
        return _bare(self) < _bare(other) if _is_number(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return _bare(self) <= _bare(other) if _is_number(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return _bare(self) > _bare(other) if _is_number(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return _bare(self) >= _bare(other) if _is_number(other) else NotImplemented

    def __eq__(self, other: Any) -> Any:
        return _bare(self) == _bare(other) if _is_number(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return _bare(self) != _bare(other) if _is_number(other) else NotImplemented

    def __bool__(self) -> bool:
        raise TypeError("a Dual is neither true nor false; compare it with a number, and choose by where(mask, a, b)")

    # ------------------------------------------------------------------------------------------ what it is not

    def __float__(self) -> float:
        raise TypeError(
            "a Dual is no float: its derivatives would be lost. In place of math.sin, math.sqrt and so on, use sin, sqrt and "
            "so on of mobod.algebra; Dual.value is the value alone"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Arrays of lanes are constants beside a Dual; NumPy's functions are refused as those of `math` are."""
        names = _UFUNCS.get(ufunc)
        if names and method == "__call__" and not options:
            a, b = inputs
            return getattr(a, names[0])(b) if isinstance(a, Dual) else getattr(b, names[1])(a)
        raise TypeError(
            f"NumPy's {ufunc.__name__} does not know Dual; use sin, sqrt, minimum, where and the others of mobod.algebra"
        )

    # ------------------------------------------------------------------------------------------ what `scalar` calls

    def sqrt(self) -> Any:
        """See `scalar.sqrt`."""
        return sqrt_rule(self)

    def sincos(self) -> Any:
        """See `scalar.sincos`."""
        return sincos_rule(self)

    def exp(self) -> Any:
        """See `scalar.exp`."""
        return exp_rule(self)

    def log(self) -> Any:
        """See `scalar.log`."""
        return log_rule(self)

    def floor(self) -> Any:
        """See `scalar.floor`."""
        return self.constant(scalar.floor(self.value))

    def power(self, n: float) -> Any:
        """See `scalar.power`."""
        return power_rule(self, n)

    @staticmethod
    def atan2(y: Any, x: Any) -> Any:
        """See `scalar.atan2`."""
        # a constant is promoted; multiplying by one keeps the sign of a zero
        y, x = y * scalar.one(x), x * scalar.one(y)
        return atan2_rule(y, x)

    @staticmethod
    def select(mask: Any, a: Any, b: Any) -> Any:
        """See `scalar.where`."""
        like = max(a, b, key=_depth)
        a, b = like.constant(a), like.constant(b)
        tangents = zip(a.tangents, b.tangents, strict=True)
        return _made(scalar.where(mask, a.value, b.value), tuple(scalar.where(mask, s, t) for s, t in tangents))

    def any_not_finite(self) -> bool:
        """True if the value is infinite or not a number; as in comparisons, the tangents have no say."""
        return scalar.any_not_finite(self.value)


_UFUNCS = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.less: ("__lt__", "__gt__"),
    np.less_equal: ("__le__", "__ge__"),
    np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"),
    np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
}


# ---------------------------------------------------------------------------------------------- derivative rules


def chain(x: Any, f: Any, df: Any) -> Any:
    """A function of the Dual *x*, of the value *f* and the derivative *df*: its tangents are df times those of x."""
    return _made(f, tuple(df * t for t in x.tangents))


@generic
def sqrt_rule(x: Any) -> Any:
    """The square root; its derivative at zero is infinite."""
    root = scalar.sqrt(x.value)
    return chain(x, root, 0.5 / root)


@generic
def sincos_rule(x: Any) -> Any:
    """Sine and cosine."""
    s, c = scalar.sincos(x.value)
    return chain(x, s, c), chain(x, c, -s)


@generic
def exp_rule(x: Any) -> Any:
    """The exponential function."""
    e = scalar.exp(x.value)
    return chain(x, e, e)


@generic
def log_rule(x: Any) -> Any:
    """The natural logarithm."""
    return chain(x, scalar.log(x.value), 1.0 / x.value)


@generic
def power_rule(x: Any, n: float) -> Any:
    """A power that is no integer."""
    return chain(x, scalar.power(x.value, n), n * scalar.power(x.value, n - 1.0))


@generic
def atan2_rule(y: Any, x: Any) -> Any:
    """The angle of (x, y): its tangents are (x y' - y x') / (x x + y y)."""
    a, b = y.value, x.value
    s = 1.0 / (a * a + b * b)
    return chain(y, scalar.atan2(a, b), s * b) - chain(x, scalar.zero(a), s * a)


@generic
def fused_rule(a: Any, b: Any, c: Any) -> Any:
    """A product and a sum, whose value is rounded once."""
    x, y = a.value, b.value
    of_sum = chain(c, scalar.zero(x), scalar.one(x))
    return chain(a, scalar.fused(x, y, c.value), y) + chain(b, scalar.zero(x), x) + of_sum


# ---------------------------------------------------------------------------------------------- to begin and to end with


def seed(values: Sequence[Any], directions: Any = None) -> tuple[Dual, ...]:
    """Duals of *values*, to call a function with.

    Parameters
    ----------
    values : sequence of m numbers, arrays or Duals
        Arrays are lanes. Of Duals it makes Duals of Duals: ``seed(seed(q))`` is for second derivatives.
    directions : (m, n) or (m,) array_like, optional
        Column k is the direction of tangent k; a vector is one direction. The identity unless given: tangent k is the
        derivative by ``values[k]``.

    Returns
    -------
    tuple of m Duals, each of n tangents

    Raises
    ------
    ValueError
        Where there are no values, or the directions have another number of rows.

    Examples
    --------
    >>> from mobod.algebra.dual import jacobian, seed
    >>> x, y = seed((2.0, 4.0))
    >>> jacobian((x * y, x / y)).tolist()
    [[4.0, 2.0], [0.25, -0.125]]
    """
    values = tuple(values)
    if not values:
        raise ValueError("seed needs one value or more, got none")
    rows: Any = np.eye(len(values)).tolist()
    if directions is not None:
        rows = [list(row) if np.ndim(row) else [row] for row in directions]
        if len(rows) != len(values) or len({len(row) for row in rows}) > 1:
            raise ValueError(f"directions has one row a value, all of one length: {len(values)} rows, got {directions!r}")
    return tuple(Dual(value, tuple(row)) for value, row in zip(values, rows, strict=True))


def jacobian(results: Any) -> Array:
    """First derivatives: the tangents of *results*, Duals or sequences of them, as one array with the tangents last.

    In lanes the eight lanes come after the tangents.
    """
    if isinstance(results, Dual):
        return np.array(np.broadcast_arrays(_bare(results), *map(_bare, results.tangents))[1:])
    return np.array([jacobian(part) for part in results])


def hessian(results: Any) -> Array:
    """Second derivatives: the tangents' tangents of *results*, Duals of Duals or sequences of them, as one array."""
    if isinstance(results, Dual):
        if results.depth < 2:
            raise ValueError("second derivatives take Duals of Duals; seed twice: seed(seed(values))")
        return np.array([jacobian(t) for t in results.tangents])
    return np.array([hessian(part) for part in results])


# ---------------------------------------------------------------------------------------------- the arithmetic's own


# Python's functions of the user are called with these wherever derivatives are wanted of one that the compiler does not take:
# floats and Duals are told from the rest by their types, which takes a tenth of the time of asking for an instance.


def _is_number(x: Any) -> bool:
    if type(x) is float or type(x) is Dual:
        return True
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fiu"
    return isinstance(x, (Dual, float, int, numbers.Real)) or hasattr(x, "sincos")  # a scalar that records what is computed


def _number(x: Any) -> Any:
    """*x* as what a Dual is made of; a NumPy number becomes Python's."""
    if type(x) is float:
        return x
    if not _is_number(x):
        raise TypeError(f"a Dual is made of numbers, arrays of eight lanes or Duals, got {x!r}")
    return float(x) if isinstance(x, numbers.Real) else x


def _depth(x: Any) -> int:
    """Number of levels of Dual: 0 for a number or lanes."""
    return x.depth if type(x) is Dual else 0


def _bare(x: Any) -> Any:
    """The number or the lanes at the bottom of *x*."""
    while isinstance(x, Dual):
        x = x.value
    return x


def _made(value: Any, tangents: tuple[Any, ...]) -> Dual:
    """A Dual of parts that are known to be sound."""
    x = object.__new__(Dual)
    x.value, x.tangents, x.depth = value, tangents, value.depth + 1 if type(value) is Dual else 1
    return x


def _parts(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """Value and tangents of a, then of b; the one of lower depth is a constant beside the other, without tangents."""
    of_a, of_b = a.depth if type(a) is Dual else 0, b.depth if type(b) is Dual else 0
    if of_a > of_b:
        return a.value, a.tangents, b, None
    if of_a < of_b:
        return a, None, b.value, b.tangents
    if len(a.tangents) != len(b.tangents):
        raise ValueError(
            f"Duals of {len(a.tangents)} and of {len(b.tangents)} tangents meet; "
            "seed everything that is to be differentiated in one call"
        )
    return a.value, a.tangents, b.value, b.tangents


def _combined(value: Any, a: Any, s: Any, b: Any, t: Any) -> Dual:
    """*value* with the tangents a s + b t, where s or t may be None."""
    if t is None:
        return _made(value, tuple([a * x for x in s]))
    if s is None:
        return _made(value, tuple([b * x for x in t]))
    return _made(value, tuple([a * x + b * y for x, y in zip(s, t, strict=True)]))


def _add(a: Any, b: Any) -> Dual:
    v, s, w, t = _parts(a, b)
    if s is None or t is None:
        return _made(v + w, t if s is None else s)
    return _made(v + w, tuple([x + y for x, y in zip(s, t, strict=True)]))


def _multiply(a: Any, b: Any) -> Dual:
    v, s, w, t = _parts(a, b)
    return _combined(v * w, w, s, v, t)


def _divide(a: Any, b: Any) -> Dual:
    v, s, w, t = _parts(a, b)
    q, i = v / w, 1.0 / w
    return _combined(q, i, s, -q * i, t)
