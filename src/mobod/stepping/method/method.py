"""A method in the loop over steps: its attempt, and what it does otherwise than most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...compiling import generic
from .. import controller, interpolation, limits
from ..errors import error_norm
from ..record import MEAN_NORM, PREVIOUS_TIME, TIME
from ..rows import set_rate


@generic
def plan(model: Any, run: Any, end: float) -> None:
    """Choose the size of the next attempt, which ends at *end* at the latest, by the errors of those before."""
    controller.propose(run, 0, end)


@generic
def find_error(model: Any, run: Any) -> float:
    """The error of an attempt whose end is in the record, to be compared with the accuracy."""
    return error_norm(model, run.work, run.weights, run.plan[MEAN_NORM])


@generic
def accept(model: Any, run: Any, error: float, controlled: bool) -> None:
    """An attempt has become a step, whose end is realized and in the rows."""
    controller.accept(run, 0, error, controlled)


@generic
def refuse(model: Any, run: Any, error: float, failure: int) -> int:
    """An attempt was in vain: REACHED where a smaller one is to be tried, else why none can be."""
    return controller.refuse(run, 0, error, failure)


@generic
def interpolate(model: Any, run: Any, at: float) -> None:
    """Put y at time *at*, within the last step or at its end, into the record."""
    interpolation.interpolate(model, run.work, run.control[PREVIOUS_TIME], run.control[TIME], at)


@generic
def limit(model: Any, run: Any) -> None:
    """Find out how long surfaces permit the next step to be, of a record that is realized where it begins."""
    limits.find_permitted_step(model, run.control, run.plan)


@generic
def forget(model: Any, run: Any) -> None:
    """The state has been changed since the last step: what the method knows of steps before that does not hold."""


@generic
def sampled(model: Any, run: Any) -> None:
    """Controllers have been sampled where the next step begins, and the record is realized with what they do now."""
    set_rate(model, run.work)


class Method(NamedTuple):
    """A method's parts: generic functions of one state's record and its run.

    Attributes
    ----------
    attempt
        See `stepping.method`.
    from_realized
        Whether attempts begin from a record that is realized where the step begins.
    controls_fixed
        Whether errors of fixed steps are controlled, too.
    """

    attempt: Callable[..., Any]
    plan: Callable[..., None] = plan
    find_error: Callable[..., float] = find_error
    accept: Callable[..., None] = accept
    refuse: Callable[..., int] = refuse
    interpolate: Callable[..., None] = interpolate
    limit: Callable[..., None] = limit
    forget: Callable[..., None] = forget
    sampled: Callable[..., None] = sampled
    from_realized: bool = False
    controls_fixed: bool = False
