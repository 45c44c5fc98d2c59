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
def num_arguments(integers: Any, i: int, f: int) -> int:
    """Of how many arguments function f of the bundle at i is."""
    return integers[i + integers[i + f] + _ARGUMENTS]


@generic
def place(integers: Any, i: int, f: int, k: int) -> int:
    """The place of argument k of function f."""
    return integers[i + integers[i + f] + _PLACES + k]


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, f: int, rows: Any, at: int) -> Any:
    """Value, slope and bend of function f of the bundle whose runs start at i and n.

    Slope and bend are the first and second derivative of a function of one argument. Those of several arguments are linear:
    their bend is zero, and `partial` knows their first derivatives.
    """
    run = i + integers[i + f]
    kind, first, size, places = integers[run], n + integers[run + _FIRST], integers[run + _SIZE], run + _PLACES
    o = zero(load(rows, at, 0))
    result = o, o, o
    if kind == constant.KIND:
        result = o + constant.value(numbers, first), o, o
    elif kind == linear.KIND:
        result = o + linear.value(numbers, first, integers, places, integers[run + _ARGUMENTS], rows, at), o, o
    else:
        x = load(rows, at + integers[places], 0)
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
def partial(integers: Any, i: int, numbers: Any, n: int, f: int, k: int, slope: Any) -> Any:
    """The first derivative of function f by its argument k, of its slope."""
    run = i + integers[i + f]
    result = slope
    if integers[run] == linear.KIND:
        result = slope + linear.derivative(numbers, n + integers[run + _FIRST], k)
    return result


@generic
def value(integers: Any, i: int, numbers: Any, n: int, f: int, rows: Any, at: int) -> Any:
    """The value of function f."""
    return jet(integers, i, numbers, n, f, rows, at)[0]


@generic
def derivative(integers: Any, i: int, numbers: Any, n: int, f: int, k: int, rows: Any, at: int) -> Any:
    """The derivative of function f by its argument k."""
    return partial(integers, i, numbers, n, f, k, jet(integers, i, numbers, n, f, rows, at)[1])


@generic
def second_derivative(integers: Any, i: int, numbers: Any, n: int, f: int, k: int, l: int, rows: Any, at: int) -> Any:
    """The second derivative of function f by its arguments k and l: where it is not zero, there is but one argument."""
    return jet(integers, i, numbers, n, f, rows, at)[2]


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
