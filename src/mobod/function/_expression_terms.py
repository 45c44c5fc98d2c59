"""The operations of an `Expression`, of any scalar; `written` makes one function of a tree of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..algebra.scalar import (
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    cosh,
    exp,
    integer_power,
    log,
    maximum,
    minimum,
    one,
    power,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
    zero,
)
from ..compiling import generic
from ._expression_parser import Tree

TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)
#: Beyond, the error function is one to the last bit, its slope far below.
ERF_END = 27.0
#: Where the series ends and the continued fraction begins, and the terms of both that the last digit needs there.
ERF_SPLIT, ERF_TERMS, ERF_LEVELS = 2.5, 48, 60
#: Powers up to this one are products.
MOST = 64


@generic
def add(a: Any, b: Any) -> Any:
    """The sum."""
    return a + b


@generic
def subtract(a: Any, b: Any) -> Any:
    """The difference."""
    return a - b


@generic
def multiply(a: Any, b: Any) -> Any:
    """The product."""
    return a * b


@generic
def divide(a: Any, b: Any) -> Any:
    """The quotient."""
    return a / b


@generic
def negative(a: Any) -> Any:
    """With the other sign."""
    return -a


@generic
def raised(a: Any, b: Any) -> Any:
    """A to the power of what varies, for a above zero."""
    return exp(b * log(a))


@generic
def square(a: Any) -> Any:
    """The second power."""
    return a * a


@generic
def cube(a: Any) -> Any:
    """The third power."""
    return a * a * a


@generic
def recip(a: Any) -> Any:
    """One over it."""
    return 1.0 / a


@generic
def sec(a: Any) -> Any:
    """One over the cosine."""
    return 1.0 / cos(a)


@generic
def csc(a: Any) -> Any:
    """One over the sine."""
    return 1.0 / sin(a)


@generic
def cot(a: Any) -> Any:
    """One over the tangent."""
    return cos(a) / sin(a)


@generic
def step(a: Any) -> Any:
    """0 below zero, else 1."""
    return where(a >= 0.0, one(a), zero(a))


@generic
def delta(a: Any) -> Any:
    """1 at zero, else 0."""
    return where(a == 0.0, one(a), zero(a))


@generic
def select(a: Any, b: Any, c: Any) -> Any:
    """B where a is not zero, else c."""
    return where(a == 0.0, c + zero(a), b + zero(a))


@generic
def _erfc_beyond(a: Any) -> Any:
    """1 - erf for a above the split, by its continued fraction (Abramowitz and Stegun 7.1.14)."""
    tail = zero(a)
    for k in range(ERF_LEVELS, 0, -1):
        tail = 0.5 * k / (a + tail)
    return 0.5 * TWO_BY_ROOT_PI * exp(-a * a) / (a + tail)


@generic
def _erf_within(a: Any) -> Any:
    """The error function for a between zero and the split, by a series of positive terms (Abramowitz and Stegun 7.1.6)."""
    s, term = 2.0 * a * a, a
    total = a
    for k in range(1, ERF_TERMS):
        term = term * s / (2.0 * k + 1.0)
        total = total + term
    return TWO_BY_ROOT_PI * exp(-a * a) * total


@generic
def erf(a: Any) -> Any:
    """The error function."""
    size = minimum(absolute(a), zero(a) + ERF_END)
    split = zero(a) + ERF_SPLIT
    far = 1.0 - _erfc_beyond(maximum(size, split))
    result = where(size > ERF_SPLIT, far, _erf_within(minimum(size, split)))
    return where(a < 0.0, -result, result)


@generic
def erfc(a: Any) -> Any:
    """One less the error function, exact where that is small."""
    split = zero(a) + ERF_SPLIT
    tail = _erfc_beyond(maximum(minimum(a, zero(a) + ERF_END), split))
    return where(a > ERF_SPLIT, tail, 1.0 - erf(minimum(a, split)))


#: The function of each operation of a tree; powers are written out.
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{
        f.__name__: f for f in (add, subtract, multiply, divide, negative, square, cube, recip, sec, csc, cot, asin, acos, atan)
    },
    **{f.__name__: f for f in (sinh, cosh, tanh, erf, erfc, step, delta, select, sqrt, exp, log, sin, cos, tan, atan2)},
    **{"abs": absolute, "min": minimum, "max": maximum},
}


def written(tree: Tree, name: str) -> FunctionType:
    """``f(x)`` of a tuple of any scalars, generated from a tree, one operation a line.

    Constants are computed now, and equal operations once. No text of the user's gets into the source: only numbers and the
    names of `OPERATIONS`.
    """
    lines: list[str] = []
    known: dict[str, str] = {}

    def value(tree: Tree) -> str | float:
        if isinstance(tree, float):
            return tree
        if tree[0] == "variable":
            return f"x[{int(tree[1])}]"
        operands = [value(operand) for operand in tree[1:]]
        if all(isinstance(operand, float) for operand in operands):
            return _computed(tree[0], operands)
        text = _power(operands) if tree[0] == "power" else f"{tree[0]}_({', '.join(map(_text, operands))})"
        if tree[0] in ("min", "max", "atan2", "select"):  # all of one type
            text = f"{tree[0]}_({', '.join(_text(o) if isinstance(o, str) else f'o + {_text(o)}' for o in operands)})"
        if text not in known:
            known[text] = f"t{len(lines)}"
            lines.append(f"    {known[text]} = {text}")
        return known[text]

    result = value(tree)
    body = "\n".join(["    o = zero_(x[0])", *lines, f"    return o + {_text(result)}"])
    namespace: dict[str, Any] = {f"{key}_": f for key, f in OPERATIONS.items()}
    namespace |= {"zero_": zero, "raised_": raised, "power_": power, "integer_power_": integer_power}
    namespace["__name__"] = __name__
    exec(compile(f"def expression(x):\n{body}\n", f"<{name}>", "exec"), namespace)
    function = namespace["expression"]
    assert isinstance(function, FunctionType)
    return function


def _text(operand: str | float) -> str:
    return operand if isinstance(operand, str) else f"({operand!r})"


def _power(operands: list[str | float]) -> str:
    base, exponent = operands
    if isinstance(exponent, float):
        if exponent == round(exponent) and abs(exponent) <= MOST:
            return f"integer_power_({base}, {int(exponent)})"
        return f"power_({base}, {exponent!r})"
    return f"raised_({_text(base) if isinstance(base, str) else f'o + {_text(base)}'}, {exponent})"


def _computed(operation: str, operands: list[Any]) -> float:
    with np.errstate(all="ignore"):
        if operation == "power":
            value = float(np.power(np.array([operands[0]]), operands[1])[0])
        else:
            value = float(np.asarray(OPERATIONS[operation](*(np.array([one]) for one in operands)))[0])
    if not np.isfinite(value):
        raise ValueError(
            f"{operation} of {', '.join(f'{one:g}' for one in operands)} is {value:g}: no expression has such a part"
        )
    return value
