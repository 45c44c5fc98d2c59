"""Calls of functions from kernels: by the function's number in the tree, for all kinds and users.

A part of a system that uses functions lists them in ``functions``, each with the places of its arguments, and finds the number
of the first in ``first_function`` once a tree is made; it hands the numbers to its kernels among its integers. What a function
reads is in the record's fields `function_integers` and `function_numbers`.

A function is *affine*, and then computed here, or has a routine, which is called by address and compiled when a model first has
the kind. The routine computes the value and the gradient g, and WITH_RATES also g's rate H v, with H the second derivatives
and v the arguments' rates. It reads `arguments` and `argument_rates`, and writes the first of `function_value`,
`function_gradient` and `function_gradient_rate`. Its return value is unused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..algebra.record import call_routine
from ..algebra.scalar import load, one, store, zero
from ..compiling import Callback, Routine, generic
from ..value.overriding import holds_for
from ._in_python import callback_of
from .base import Function, FunctionKind
from .users import routine_of_kind
from .users.unrolled import numbers, unrolled

#: The requests to a routine.
VALUE, WITH_RATES = 0, 1
#: A function, and in which rows its arguments are, from the first one that the part names.
Use = tuple[Function, Sequence[int]]


# ---------------------------------------------------------------------------------------------- a kind's routine


def of_one_argument(jet: Callable[..., Any]) -> Routine:
    """The routine of a kind of one argument, of ``jet(integers, i, numbers, n, x) -> (f, f', f'')``.

    What `FunctionKind.pack` gives begins in *integers* at i, in *numbers* at n.
    """
    made = routine_of_kind(_of_one_argument, jet)
    _jets[made] = jet, _multiple_of_one_argument, ()
    return made


def _of_one_argument(jet: Callable[..., Any]) -> Callable[..., int]:
    def function(model: Any, f: int, what: int) -> int:
        i, n, x = model.function_first_integer[f], model.function_first_number[f], load(model.arguments, 0, 0)
        value, slope, bend = jet(model.function_integers, i, model.function_numbers, n, x)
        store(model.function_value, 0, 0, value)
        store(model.function_gradient, 0, 0, slope)
        if what == WITH_RATES:
            store(model.function_gradient_rate, 0, 0, bend * load(model.argument_rates, 0, 0))
        return 0

    return function


def of_arguments(count: int, jet: Callable[..., Any], brief: Callable[..., Any] | None = None) -> Routine:
    """The routine of a kind of n arguments, of ``jet(integers, i, numbers, n, x, rates) -> (value, g, H v)``.

    The arguments and their rates are tuples, and so are the gradient and its rate; the rest is as of one argument. A kind to
    which H v is much work has a jet without it, ``brief(integers, i, numbers, n, x) -> (value, g)``, for the requests without.
    """
    if brief is None:
        made = routine_of_kind(partial(_of_arguments, count), jet, shape=count)
    else:
        made = routine_of_kind(partial(_of_arguments_or_brief, count, brief), jet, shape=count)
    _jets[made] = jet, partial(_multiple_of_arguments, count), count
    return made


def _of_arguments(count: int, jet: Callable[..., Any]) -> Callable[..., int]:
    load_all = numbers(count)
    store_all = unrolled("field, y", *(f"store(field, {k}, 0, y[{k}])" for k in range(count)))

    def function(model: Any, f: int, what: int) -> int:
        x, rates = load_all(model.arguments, 0), load_all(model.argument_rates, 0)
        i, n = model.function_first_integer[f], model.function_first_number[f]
        value, slopes, slope_rates = jet(model.function_integers, i, model.function_numbers, n, x, rates)
        store(model.function_value, 0, 0, value)
        store_all(model.function_gradient, slopes)
        store_all(model.function_gradient_rate, slope_rates)
        return 0

    return function


def _of_arguments_or_brief(count: int, brief: Callable[..., Any], jet: Callable[..., Any]) -> Callable[..., int]:
    full = _of_arguments(count, jet)
    load_all = numbers(count)
    store_all = unrolled("field, y", *(f"store(field, {k}, 0, y[{k}])" for k in range(count)))
    with_rates = generic(full)

    def function(model: Any, f: int, what: int) -> int:
        if what == WITH_RATES:
            with_rates(model, f, what)
        else:
            i, n = model.function_first_integer[f], model.function_first_number[f]
            value, slopes = brief(model.function_integers, i, model.function_numbers, n, load_all(model.arguments, 0))
            store(model.function_value, 0, 0, value)
            store_all(model.function_gradient, slopes)
        return 0

    return function


def multiple(routine: Routine) -> Routine:
    """The routine of a number times a kind's function, of which *routine* is; the number stands before the kind's own."""
    jet, make, shape = _jets[routine]
    if routine not in _multiples:
        _multiples[routine] = routine_of_kind(make, jet, shape=shape)
    return _multiples[routine]


def jet_of(routine: Any) -> Callable[..., Any]:
    """The jet of which a kind's routine was made."""
    return _jets[routine][0]


def _multiple_of_one_argument(jet: Callable[..., Any]) -> Callable[..., int]:
    def multiple(model: Any, f: int, what: int) -> int:
        i, n, x = model.function_first_integer[f], model.function_first_number[f], load(model.arguments, 0, 0)
        scale = load(model.function_numbers, n, 0)
        value, slope, bend = jet(model.function_integers, i, model.function_numbers, n + 1, x)
        store(model.function_value, 0, 0, scale * value)
        store(model.function_gradient, 0, 0, scale * slope)
        if what == WITH_RATES:
            store(model.function_gradient_rate, 0, 0, scale * bend * load(model.argument_rates, 0, 0))
        return 0

    return multiple


def _multiple_of_arguments(count: int, jet: Callable[..., Any]) -> Callable[..., int]:
    load_all = numbers(count)
    store_all = unrolled("field, y, s", *(f"store(field, {k}, 0, s * y[{k}])" for k in range(count)))

    def multiple(model: Any, f: int, what: int) -> int:
        x, rates = load_all(model.arguments, 0), load_all(model.argument_rates, 0)
        i, n = model.function_first_integer[f], model.function_first_number[f]
        scale = load(model.function_numbers, n, 0)
        value, slopes, slope_rates = jet(model.function_integers, i, model.function_numbers, n + 1, x, rates)
        store(model.function_value, 0, 0, scale * value)
        store_all(model.function_gradient, slopes, scale)
        store_all(model.function_gradient_rate, slope_rates, scale)
        return 0

    return multiple


#: Of each kind's routine: its jet, and what makes the routine of its multiples, for which shape.
_jets: dict[Routine, tuple[Callable[..., Any], Callable[..., Any], Any]] = {}
_multiples: dict[Routine, Routine] = {}


# ---------------------------------------------------------------------------------------------- for kernels


@generic
def num_arguments(model: Any, f: int) -> int:
    """The number of arguments of function f."""
    return model.function_num_arguments[f]


@generic
def place(model: Any, f: int, k: int) -> int:
    """The place of argument k of function f, as its user has named it."""
    return model.function_places[model.function_first_place[f] + k]


@generic
def is_affine(model: Any, f: int) -> bool:
    """True where function f is affine: its second derivatives are zero."""
    return model.function_routine[f] == 0


@generic
def _evaluated(model: Any, f: int, rows: Any, at: int, what: int) -> Any:
    n, first, result = num_arguments(model, f), model.function_first_number[f], zero(load(rows, at, 0))
    if model.function_routine[f] == 0:
        result = result + load(model.function_numbers, first + n, 0)
        for k in range(n):
            result = result + load(model.function_numbers, first + k, 0) * load(rows, at + place(model, f, k), 0)
    else:
        for k in range(n):
            store(model.arguments, k, 0, load(rows, at + place(model, f, k), 0))
        call_routine(model.function_routine[f], model, f, what)
        result = load(model.function_value, 0, 0)
    return result


@generic
def value(model: Any, f: int, rows: Any, at: int) -> Any:
    """The value of function f, its arguments in *rows* at their places from *at* on; computes its `gradient` too."""
    return _evaluated(model, f, rows, at, VALUE)


@generic
def value_with_rates(model: Any, f: int, rows: Any, at: int, rates: Any, rates_at: int) -> Any:
    """As `value`, with the arguments' rates likewise in *rates*; computes its `gradient_rate` too."""
    if model.function_routine[f] != 0:
        for k in range(num_arguments(model, f)):
            store(model.argument_rates, k, 0, load(rates, rates_at + place(model, f, k), 0))
    return _evaluated(model, f, rows, at, WITH_RATES)


@generic
def gradient(model: Any, f: int, k: int) -> Any:
    """The first derivative by argument k of function f, which has been evaluated."""
    result = zero(load(model.time, 0, 0))
    if model.function_routine[f] == 0:
        result = result + load(model.function_numbers, model.function_first_number[f] + k, 0)
    else:
        result = load(model.function_gradient, k, 0)
    return result


@generic
def gradient_rate(model: Any, f: int, k: int) -> Any:
    """The rate of that, where it has been evaluated with rates."""
    result = zero(load(model.time, 0, 0))
    if model.function_routine[f] != 0:
        result = load(model.function_gradient_rate, k, 0)
    return result


@generic
def jet(model: Any, f: int, x: Any) -> Any:
    """Value and first two derivatives at x, any number of the record's scalar, of function f, which is of one argument."""
    o, first = zero(x), model.function_first_number[f]
    result = o, o, o
    if model.function_routine[f] == 0:
        slope = o + load(model.function_numbers, first, 0)
        result = o + load(model.function_numbers, first + 1, 0) + slope * x, slope, o
    else:
        store(model.arguments, 0, 0, x)
        store(model.argument_rates, 0, 0, one(x))
        call_routine(model.function_routine[f], model, f, WITH_RATES)
        result = load(model.function_value, 0, 0), load(model.function_gradient, 0, 0), load(model.function_gradient_rate, 0, 0)
    return result


# ---------------------------------------------------------------------------------------------- for trees


def is_compiled(function: Function) -> bool:
    """True if kernels evaluate it without Python: it is of a compiled kind, not of a derived class that computes otherwise."""
    if not isinstance(function, FunctionKind) or not (function.is_affine or function.routine is not None):
        return False
    return holds_for(type(function), "pack")


def number_functions(parts: Sequence[Any], first: int) -> int:
    """Tell *parts* of a system the numbers of the functions that they use, from *first* on; the number after the last."""
    for part in parts:
        part.first_function = first
        first += len(part.used_functions)
    return first


def _packed(function: Function) -> tuple[Sequence[int], Sequence[float], Routine | Callback | None]:
    """Its integers, its numbers, and what kernels call, if anything."""
    if isinstance(function, FunctionKind) and is_compiled(function) and function.can_be_compiled():
        return *function.pack(), function.routine
    return [], [], callback_of(function)


def fields_of(uses: Sequence[Use]) -> tuple[dict[str, list[int]], list[float], list[tuple[int, Any]], int]:
    """Of all functions of a tree: the index fields, `function_numbers`, the routines, and the most arguments of one.

    In place of the routine of a kind there is the callback of a function that only Python can evaluate.
    """
    fields: dict[str, list[int]] = {f"function_{name}": [] for name in _FIELDS}
    all_numbers: list[float] = []
    routines = []
    for f, (function, places) in enumerate(uses):
        own_integers, own_numbers, routine = _packed(function)
        fields["function_first_integer"].append(len(fields["function_integers"]))
        fields["function_first_number"].append(len(all_numbers))
        fields["function_num_arguments"].append(function.get_argument_size())
        fields["function_first_place"].append(len(fields["function_places"]))
        fields["function_integers"].extend(own_integers)
        fields["function_places"].extend(map(int, places))
        all_numbers += own_numbers
        if routine is not None:
            routines.append((f, routine))
    fields["function_routine"] = [0] * len(uses)
    return fields, all_numbers, routines, max((len(places) for _, places in uses), default=0)


_FIELDS = ("routine", "num_arguments", "first_place", "first_integer", "first_number", "places", "integers")
