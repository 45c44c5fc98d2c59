"""A method in the loop over steps: its attempt, and what it does otherwise than most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...algebra.scalar import load
from ...compiling import generic
from .. import controller, interpolation, limits
from ..errors import error_norm
from ..record import MEAN_NORM, PREVIOUS_TIME, REACHED, TIME
from ..rows import set_rate


@generic
def find_error(model: Any, run: Any) -> Any:
    """The error of an attempt whose end is in the record, to be compared with the accuracy."""
    return error_norm(model, run.work, run.weights, run.plan[MEAN_NORM])


@generic
def interpolate(model: Any, run: Any, at: Any) -> None:
    """Put y at time *at*, within the last step or at its end, into the record."""
    interpolation.interpolate(model, run.work, load(run.control, PREVIOUS_TIME, 0), load(run.control, TIME, 0), at)


@generic
def forget(model: Any, run: Any) -> None:
    """The state has been changed since the last step: what the method knows of steps before that does not hold."""


@generic
def before_samples(model: Any, run: Any) -> int:
    """Controllers are due where the next step begins, and the record is realized: REACHED, or why the run ends."""
    return REACHED


@generic
def sampled(model: Any, run: Any) -> None:
    """Controllers have been sampled where the next step begins, and the record is realized with what they do now."""
    set_rate(model, run.work)


class Method(NamedTuple):
    """A method's parts: generic functions of a record and its run.

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
    plan: Callable[..., None] = controller.propose
    find_error: Callable[..., Any] = find_error
    accept: Callable[..., None] = controller.accept
    refuse: Callable[..., int] = controller.refuse
    interpolate: Callable[..., None] = interpolate
    limit: Callable[..., None] = limits.limit_steps
    forget: Callable[..., None] = forget
    sampled: Callable[..., None] = sampled
    from_realized: bool = False
    controls_fixed: bool = False
    before_samples: Callable[..., int] = before_samples
