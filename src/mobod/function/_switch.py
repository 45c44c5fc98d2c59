"""From a function's kind to its code: the only place that knows all compiled kinds of function.

A mobilizer (or a constraint, a motion) keeps its functions as one bundle: a run of integers and a run of numbers in the pools
of its own kind of element. The run of integers is

    start of function 0, start of function 1, ...      from the run's own beginning
    kind, first number, coefficients, pieces, arguments, place of argument 0, place of argument 1, ...      for each

``first number`` counts from the beginning of the bundle's run of numbers. A place says in which row an argument is, from the
row ``at`` of the field ``rows``: the coordinates of a mobilizer in ``model.q`` from its first on, or time. So one code serves
any number of arguments, and whatever scalar the field holds.
"""

from collections.abc import Sequence
from typing import Any

from .._jit import generic
from ..algebra.scalar import load, zero
from . import constant, linear, polynomial, sinusoid, spline, step
from .base import Function, FunctionKind

_FIRST, _SIZE, _PIECES, _ARGUMENTS, _PLACES = 1, 2, 3, 4, 5


@generic
def _jet(integers: Any, run: int, numbers: Any, n: int, rows: Any, at: int) -> Any:
    """Value, first and second derivative of a function of one argument."""
    kind, first, size = integers[run], n + integers[run + _FIRST], integers[run + _SIZE]
    x = load(rows, at + integers[run + _PLACES], 0)
    result = zero(x), zero(x), zero(x)
    if kind == polynomial.KIND:
        result = polynomial.jet(numbers, first, size, x)
    elif kind == sinusoid.KIND:
        result = sinusoid.jet(numbers, first, x)
    elif kind == step.KIND:
        result = step.jet(numbers, first, x)
    elif kind == spline.KIND:
        result = spline.jet(numbers, first, size, integers[run + _PIECES], x)
    return result


@generic
def num_arguments(integers: Any, i: int, f: int) -> int:
    """Of how many arguments function f of the bundle at i is."""
    return integers[i + integers[i + f] + _ARGUMENTS]


@generic
def place(integers: Any, i: int, f: int, k: int) -> int:
    """The place of argument k of function f."""
    return integers[i + integers[i + f] + _PLACES + k]


@generic
def value(integers: Any, i: int, numbers: Any, n: int, f: int, rows: Any, at: int) -> Any:
    """The value of function f of the bundle whose runs start at i and n."""
    run = i + integers[i + f]
    kind, first = integers[run], n + integers[run + _FIRST]
    result = zero(load(rows, at, 0))
    if kind == constant.KIND:
        result = result + constant.value(numbers, first)
    elif kind == linear.KIND:
        result = result + linear.value(numbers, first, integers, run + _PLACES, integers[run + _ARGUMENTS], rows, at)
    else:
        result = _jet(integers, run, numbers, n, rows, at)[0]
    return result


@generic
def derivative(integers: Any, i: int, numbers: Any, n: int, f: int, k: int, rows: Any, at: int) -> Any:
    """The derivative of function f by its argument k."""
    run = i + integers[i + f]
    kind = integers[run]
    result = zero(load(rows, at, 0))
    if kind == linear.KIND:
        result = result + linear.derivative(numbers, n + integers[run + _FIRST], k)
    elif kind != constant.KIND:
        result = _jet(integers, run, numbers, n, rows, at)[1]
    return result


@generic
def second_derivative(integers: Any, i: int, numbers: Any, n: int, f: int, k: int, l: int, rows: Any, at: int) -> Any:
    """The second derivative of function f by its arguments k and l; k and l are 0 where it is not zero."""
    run = i + integers[i + f]
    kind = integers[run]
    result = zero(load(rows, at, 0))
    if kind != constant.KIND and kind != linear.KIND:
        result = _jet(integers, run, numbers, n, rows, at)[2]
    return result


def is_compiled(function: Function) -> bool:
    """Whether compiled code can evaluate it: one of the package's own kinds, and not a class derived from one."""
    return isinstance(function, FunctionKind) and "KIND" in vars(type(function))


def bundle(functions: Sequence[Function], places: Sequence[Sequence[int]]) -> tuple[list[int], list[float]]:
    """The runs of integers and numbers of some functions, with the place of each one's arguments."""
    starts: list[int] = []
    runs: list[int] = []
    numbers: list[float] = []
    for function, where in zip(functions, places, strict=True):
        assert isinstance(function, FunctionKind) and is_compiled(function)
        size, pieces, values = function._packed()
        starts.append(len(functions) + len(runs))
        runs += [function.KIND, len(numbers), size, pieces, function.get_argument_size(), *where]
        numbers += values
    return starts + runs, numbers
