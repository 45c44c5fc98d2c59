"""Shared by constraints with a function: checks, and arguments that are coordinates or speeds of several mobilizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ModelError
from ..function import Function
from ..mobilizer.base import MobilizedBody
from ..value.checks import instance
from .base import bodies_named, one_of

Arguments = list[tuple["MobilizedBody", int]]


def check_function(who: str, function: Any, num_arguments: int, order: int, arguments: str) -> Function:
    """Refuse anything but a function of this many arguments with derivatives up to this order."""
    instance(f"the function of {who}", function, Function, "mobod.function.Custom makes of a callable")
    if function.get_argument_size() != num_arguments:
        raise ValueError(
            f"the function of {who} is of {arguments}, {num_arguments} argument(s); {function!r} takes "
            f"{function.get_argument_size()}"
        )
    if function.get_max_derivative_order() < order:
        raise ModelError(
            f"the function of {who} needs derivatives of order {order}; {function!r} has them to order "
            f"{function.get_max_derivative_order()}"
        )
    return function


def arguments_of(who: str, matter: Any, what: str, mobods: Any, indices: Any) -> Arguments:
    """Pairs of a body and which of its q or u; *what* is "coordinate" or "speed". Bodies may be named by index."""
    if not hasattr(matter, "get_mobilized_body"):
        raise TypeError(f"matter of {who} has to be a SimbodyMatterSubsystem, not {matter!r}")
    bodies, which = _listed(who, f"{what}_mobods", mobods), _listed(who, f"{what}_indices", indices)
    if len(bodies) != len(which):
        raise ValueError(f"{who} has {len(bodies)} {what}_mobods and {len(which)} {what}_indices; it needs one each")
    found: Arguments = []
    for a, (given, j) in enumerate(zip(bodies, which, strict=True)):
        body = body_named(who, matter, given)
        facts = getattr(body, "facts", None)
        n = 0 if facts is None else facts.num_q if what == "coordinate" else facts.num_u
        found.append((body, one_of(who, f"{what}_indices[{a}]", body, j, n)))
    return found


def _listed(who: str, what: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what} of {who} has to be a list, one an argument of the function, not {values!r}")
    return list(values)


def body_named(who: str, matter: Any, given: Any) -> Any:
    """A body, by itself, by index or by name."""
    if not hasattr(matter, "get_mobilized_body"):
        raise TypeError(f"matter of {who} has to be a SimbodyMatterSubsystem, not {matter!r}")
    return bodies_named(who, [given], matter)[0]
