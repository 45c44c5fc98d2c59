"""CompiledFunctions: a constraint that its user writes as a function of numbers, which is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """Equations of positions as a function, for ``Custom(compiled=CompiledFunctions(...), bodies=..., mobilizers=...)``.

    All the rest follows from the errors by differentiation with dual numbers, exactly: the rows of G, and what accelerations
    have beside.

    Parameters
    ----------
    num_equations : int
        How many, 1 or more.
    position_error : callable
        ``position_error(poses, q, parameters) -> errors``. *poses* is a tuple with a pair (R, p) for each body: R_GB, nine
        numbers by rows, and p_GB, both in Ground. *q* is a tuple of the coordinates of the mobilizers, one after the other,
        and *parameters* one of as many numbers as `Custom` was given. Returns a tuple of `num_equations` numbers.

    Notes
    -----
    The function is written with ``+ - * / **``, comparisons and what is in `mobod.algebra`: `mobod.algebra.sin` and its like,
    ``where(condition, a, b)`` in place of ``if`` on a number, `mobod.algebra.mat33` and `mobod.algebra.vec3` for matrices of
    nine and vectors of three. It is called with numbers, with eight states at a time and with dual numbers; it may call other
    functions that are written so. It is taken as it is when the constraint is made: numbers that it finds outside itself are
    frozen.

    Examples
    --------
    Two points at a distance, squared, that is a parameter:

    >>> import mobod as mb
    >>> def error(poses, q, parameters):
    ...     (R1, p1), (R2, p2) = poses
    ...     dx, dy, dz = p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]
    ...     return (dx * dx + dy * dy + dz * dz - parameters[0] ** 2,)
    >>> functions = mb.constraint.CompiledFunctions(num_equations=1, position_error=error)
    """

    num_equations: int
    position_error: Callable[..., Any]
