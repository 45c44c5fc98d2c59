"""OpenSim's functions: what each kind of element becomes in `mobod.function`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import function
from ...errors import ModelError
from ...function import Function
from ..xml_element import Element
from .document import Item


def make_function(item: Item) -> Function:
    """Make the function that an element describes.

    Raises
    ------
    ModelError
        The kind is not known, or its numbers make no function; with file and line.
    """
    item.is_read = True
    if item.tag.endswith("Curve"):
        item.refuse(f"{item.tag} is a curve of muscles, which are not simulated; here is a function of {', '.join(FUNCTIONS)}")
    maker = FUNCTIONS.get(item.tag)
    if maker is None:
        item.refuse(f"a function of a kind that is not known, {item.tag}; known are {', '.join(FUNCTIONS)}")
    try:
        return maker(item)
    except (ModelError, ValueError) as error:
        message = str(error)
        raise ModelError(message if message.startswith(item.path) else f"{item.where}: {message}") from None


def _coefficients(item: Item, usual: list[float]) -> Any:
    found = item.many("coefficients")
    return found if len(found) else usual


def _points(item: Item, least: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = item.many("x"), item.many("y")
    if len(x) != len(y) or len(x) < least:
        item.refuse(f"{item.tag} takes as many x as y, {least} at least; it has {len(x)} and {len(y)}")
    return x, y


def _gcv_spline(item: Item) -> Function:
    half_order = round(item.number("half_order", 3.0)) or 3
    item.find("weights")  # which OpenSim writes and never reads
    x, y = _points(item, 2)
    variance = item.number("error_variance", 0.0)
    item.find("coefficients")  # those of the spline that the points make
    return function.GCVSpline(2 * half_order - 1, x, y, variance)


def _step(item: Item) -> Function:
    start, end = item.number("transition_start_time", 0.99), item.number("transition_end_time", 1.01)
    return function.Step(item.number("start_value", 0.0), item.number("end_value", 1.0), start, end)


def _sine(item: Item) -> Function:
    offset = item.number("offset", 0.0)
    wave = item.number("amplitude", 1.0), item.number("omega", 1.0), item.number("phase", 0.0)
    if offset == 0.0:
        return function.Sinusoid(*wave)
    return function.Expression(f"{offset!r} + {wave[0]!r} * sin({wave[1]!r} * x + {wave[2]!r})", ["x"])


def _multivariate(item: Item) -> Function:
    dimension, order = round(item.number("dimension", -1.0)), round(item.number("order", -1.0))
    coefficients = item.many("coefficients")
    return function.MultivariatePolynomial(coefficients, dimension, order)


def _multiplier(item: Item) -> Function:
    """A scaled function of a kind that is linear in its numbers is of the same kind, which compiles nothing new."""
    inner, scale = item.one_object("function"), item.number("scale", 1.0)
    if inner is None:
        item.refuse("a MultiplierFunction has no function to multiply")
    return scaled(make_function(inner), scale)


def scaled(one: Function, scale: float) -> Function:
    """A number times a function."""
    if scale == 1.0:
        return one
    if isinstance(one, function.Constant):
        return function.Constant(scale * float(one.calc_value(np.zeros(one.get_argument_size()))), one.get_argument_size())
    if isinstance(one, function.Linear):
        return function.Linear([scale * c for c in one.pack()[1]])
    return function.Multiplier(one, scale)


#: What each kind of element becomes.
FUNCTIONS: dict[str, Callable[[Item], Function]] = {
    "Constant": lambda item: function.Constant(item.number("value", 0.0), 0),
    "LinearFunction": lambda item: function.Linear(_coefficients(item, [1.0, 0.0])),
    "SimmSpline": lambda item: function.SimmSpline(*_points(item, 2)),
    "GCVSpline": _gcv_spline,
    "PiecewiseLinearFunction": lambda item: function.PiecewiseLinear(*_points(item, 2)),
    "PiecewiseConstantFunction": lambda item: function.PiecewiseConstant(*_points(item, 1)),
    "PolynomialFunction": lambda item: function.Polynomial(_coefficients(item, [0.0])),
    "MultivariatePolynomialFunction": _multivariate,
    "StepFunction": _step,
    "Sine": _sine,
    "MultiplierFunction": _multiplier,
    "ExpressionBasedFunction": lambda item: function.Expression(item.text("expression", "0"), item.word_list("variables")),
}


# ---------------------------------------------------------------------------------------------- and back


def element_of(one: Function, name: str) -> Element:
    """The element that describes a function, which `make_function` makes of it again.

    Raises
    ------
    ModelError
        If OpenSim's files have no such kind.
    """
    parts: Any = one.__reduce__()
    kind, given = parts[:2]
    tags = _TAGS.get(kind)
    if tags is None:
        raise ModelError(f"OpenSim's files have no function of the kind {kind.__name__}, of {name!r}")
    tag, names = tags
    values = dict(zip(names, given, strict=False))
    if kind is function.GCVSpline:
        values["half_order"] = (int(values["half_order"]) + 1) // 2
    children = [Element(key, {}, 0, [], _text(value)) for key, value in values.items()]
    return Element(tag, {"name": name}, 0, children)


def _text(value: Any) -> str:
    return " ".join(repr(x) for x in np.atleast_1d(value).tolist())


#: Of each kind, its element, and what the properties are called that its constructor takes, in order.
_TAGS: dict[Any, tuple[str, tuple[str, ...]]] = {
    function.Constant: ("Constant", ("value",)),
    function.PiecewiseLinear: ("PiecewiseLinearFunction", ("x", "y")),
    function.PiecewiseConstant: ("PiecewiseConstantFunction", ("x", "y")),
    function.SimmSpline: ("SimmSpline", ("x", "y")),
    function.GCVSpline: ("GCVSpline", ("half_order", "x", "y", "error_variance")),
    function.Step: ("StepFunction", ("start_value", "end_value", "transition_start_time", "transition_end_time")),
    function.Sinusoid: ("Sine", ("amplitude", "omega", "phase")),
    function.Polynomial: ("PolynomialFunction", ("coefficients",)),
    function.Linear: ("LinearFunction", ("coefficients",)),
    function.MultivariatePolynomial: ("MultivariatePolynomialFunction", ("coefficients", "dimension", "order")),
}
