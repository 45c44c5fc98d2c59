"""CompiledFunctions: a motion that its user writes as a function of numbers, which is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy.typing as npt


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A motion as a function of numbers and tuples, for ``Custom(mobod, compiled=CompiledFunctions(...))``.

    One of the three functions is given, and says the level. What else is needed, rates and accelerations, is differentiated
    from it, exactly, by dual numbers.

    The function is written as those of `mobod.mobilizer.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`, ``where(condition, a, b)`` in place of ``if`` on a number. It is called with numbers, with eight states at
    a time and with dual numbers, may call other functions that are written so, and is taken as it is when the motion is made:
    numbers that it finds outside itself are frozen.

    Parameters
    ----------
    position : callable
        ``position(t, parameters)``: a tuple of the mobilizer's coordinates. Level POSITION.
    velocity : callable
        ``velocity(t, q, parameters)``: a tuple of its speeds; *q* are its coordinates. Level VELOCITY.
    acceleration : callable
        ``acceleration(t, q, u, parameters)``: a tuple of its accelerations udot. Level ACCELERATION.
    parameters : sequence of float
        In a default state, 32 at most; a state can have its own, see `Custom.set_parameters`.

    Notes
    -----
    A mobilizer whose orientation is a quaternion, or three angles where a state chooses so, has coordinates of no fixed number:
    its position cannot be prescribed so, and *q* is an empty tuple.
    """

    position: Callable[..., Any] | None = None
    velocity: Callable[..., Any] | None = None
    acceleration: Callable[..., Any] | None = None
    parameters: npt.ArrayLike = ()
