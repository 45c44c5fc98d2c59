"""CompiledFunctions: a measure that its user writes as functions of numbers, which are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from ..stage import Stage


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A measure as functions of numbers and tuples, for ``Custom(subsystem, compiled=CompiledFunctions(...))``.

    The functions are written as those of `mobod.mobilizer.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`, ``where(condition, a, b)`` in place of ``if`` on a number. They are called with numbers, with eight states
    at a time and with dual numbers, may call other functions that are written so, and are taken as they are when the measure is
    made: numbers that they find outside themselves are frozen.

    What they get:

    - *t*, the time;
    - *X*, for each of *bodies* the pair (R, p): R_GB as nine numbers by rows, and p_GB;
    - *V*, for each of *bodies* the pair (w, v): angular and linear velocity of its origin, in Ground;
    - *q* and *u*, for each of *mobilizers* a tuple of its coordinates, or speeds;
    - *parameters*, a tuple.

    Parameters
    ----------
    value : callable
        ``value(t, X, V, q, u, parameters)``: a number, or a tuple of as many as `Custom` is told.
    stage : Stage
        What the value needs: TIME, MODEL for q alone, POSITION where it reads X, VELOCITY where it reads V or u. What belongs
        to a higher stage is NaN when the measure is asked.
    derivatives : sequence of (callable, Stage)
        Its first, second, ... time derivative, where these are known, each a function like *value*.
    bodies : sequence of MobilizedBody
        The bodies whose motion it reads; Ground may be among them.
    mobilizers : sequence of MobilizedBody
        The bodies whose coordinates or speeds it reads: none with a quaternion.
    parameters : sequence of float
        Numbers, 32 at most.
    """

    value: Callable[..., Any]
    stage: Stage = Stage.VELOCITY
    derivatives: Sequence[tuple[Callable[..., Any], Stage]] = ()
    bodies: Sequence[Any] = ()
    mobilizers: Sequence[Any] = ()
    parameters: npt.ArrayLike = ()
