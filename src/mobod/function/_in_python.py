"""Functions that Python computes, called by kernels as `routines` says of a kind's routine, for any kind of function.

Of a record of lanes, Python computes lane after lane; where it has no result, that lane's numbers are not numbers, and the
others go on. Records with tangents have no such functions: what needs these takes differences of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..algebra.record import LANES, values_at
from ..compiling import Callback, keep_refusal, lender_at
from ..errors import ModelError
from .base import Function, FunctionKind

_WITH_RATES = 1
Jet = tuple[float, Sequence[float], Sequence[float]]
_IN_LANES = ("lanes", "varied")
#: What a user's class derived from a kind may compute otherwise.
_CALLS = "calc_value", "calc_derivative"


def callback_of(function: Function) -> Callback:
    """The callback for kernels in place of the routine of a kind."""
    n, order = function.get_argument_size(), min(2, function.get_max_derivative_order())
    kind, call, at_once = type(function), None, None
    if isinstance(function, FunctionKind) and all(getattr(kind, name) is getattr(FunctionKind, name) for name in _CALLS):
        call, at_once = function._derivative, function._jet()  # noqa: SLF001

    def number(components: tuple[int, ...], x: tuple[float, ...]) -> float:
        if len(components) > order:  # which nobody reads
            return 0.0
        if call is not None:
            y = call(components, x)
        else:
            y = function.calc_derivative(components, x) if components else function.calc_value(x)
        return y if type(y) is float and math.isfinite(y) else _checked(function, components, x, y)

    def jet(x: tuple[float, ...], v: tuple[float, ...] | None) -> Jet:
        if at_once is not None:
            try:
                value, slopes, bends = at_once(x, v)
                found = float(value), [*map(float, slopes)], [*map(float, bends)]
                if math.isfinite(found[0] + sum(found[1]) + sum(found[2])):
                    return found
            except Exception:  # if the error is the function's own, a call with numbers raises it again
                pass
        return _jet(number, x, v)

    def compute(scalar: str, pointer: int, f: int, what: int) -> None:
        fields = _Fields(pointer, n)
        if scalar in _IN_LANES:
            fields.compute_lanes(jet, what == _WITH_RATES)
        elif scalar == "state":
            fields.compute(jet, what == _WITH_RATES)
        else:
            raise ModelError(f"{function!r} is computed by Python, which knows no derivatives of it along directions")

    def fail(scalar: str, pointer: int, f: int, what: int) -> None:
        _Fields(pointer, n).fail(_width(scalar))

    return Callback(compute, fail)


def _checked(function: Function, components: tuple[int, ...], x: tuple[float, ...], y: Any) -> float:
    """A finite number."""
    try:
        number = float(y)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        what = f"derivative {list(components)}" if components else "value"
        raise ModelError(f"the {what} of {function!r} has to be a finite number; at {list(x)} it is {y!r}")
    return number


def _jet(number: Any, x: tuple[float, ...], v: tuple[float, ...] | None) -> Jet:
    """The value, the gradient, and where there are rates of the arguments its rate: number by number."""
    if len(x) == 1:
        return number((), x), [number((0,), x)], [number((0, 0), x) * v[0]] if v is not None else []
    places = range(len(x))
    value, slopes = number((), x), [number((k,), x) for k in places]
    if v is None:
        return value, slopes, []
    bends = {(k, l): number((k, l), x) for k in places for l in places if k <= l}
    return value, slopes, [sum(bends[min(k, l), max(k, l)] * v[l] for l in places) for k in places]


class _Fields:
    """Addresses in a record of what a function of n arguments reads and writes."""

    __slots__ = ("_n", "_pointer")

    def __init__(self, pointer: int, n: int) -> None:
        self._pointer, self._n = pointer, n

    def _at(self, name: str, size: int) -> Any:
        return values_at(self._pointer, name, size)

    def compute(self, jet: Any, with_rates: bool) -> None:
        """Of a record of one state."""
        n = self._n
        value, slopes, bends = jet(tuple(self._at("arguments", n)), self._rates(with_rates, n))
        self._at("function_value", 1)[0] = value
        self._at("function_gradient", n)[:] = slopes
        if with_rates:
            self._at("function_gradient_rate", n)[:] = bends

    def compute_lanes(self, jet: Any, with_rates: bool) -> None:
        """Of a record of lanes."""
        n = self._n
        x, v = tuple(self._at("arguments", LANES * n)), self._rates(with_rates, LANES * n)
        values, slopes, bends = (self._at(name, LANES * (n if k else 1)) for k, name in enumerate(_RESULTS))
        for lane in range(LANES):
            part = slice(lane, None, LANES)
            try:
                value, slope, bend = jet(x[part], v[part] if v is not None else None)
            except Exception as error:  # of one state, which ends alone
                lender = lender_at(self._pointer)
                if lender is None:
                    keep_refusal(error)
                else:
                    lender.raised(lane, error)
                value, slope, bend = math.nan, [math.nan] * n, [math.nan] * n
            values[lane] = value
            for k in range(n):
                slopes[LANES * k + lane] = slope[k]
                if with_rates:
                    bends[LANES * k + lane] = bend[k]

    def _rates(self, with_rates: bool, size: int) -> tuple[float, ...] | None:
        return tuple(self._at("argument_rates", size)) if with_rates else None

    def fail(self, width: int) -> None:
        """NaN in place of all results."""
        for k, name in enumerate(_RESULTS):
            size = width * (self._n if k else 1)
            self._at(name, size)[:] = [math.nan] * size


_RESULTS = "function_value", "function_gradient", "function_gradient_rate"


def _width(scalar: str) -> int:
    """Numbers of a row of one column."""
    return {"state": 1, "lanes": LANES, "varied": LANES, "twice": 2 + 2 * LANES}.get(scalar, 2 * LANES)
