"""CompiledFunctions: a mobilizer that its user writes as functions of numbers, which are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A mobilizer as functions of numbers and tuples, for ``Custom(parent, body, compiled=CompiledFunctions(...))``.

    q, u and *parameters* come as tuples of `num_q`, of `num_u` and of as many numbers as `Custom` was given parameters, and
    tuples go back. What is left out follows from the others by differentiation, exactly: *transform* alone is a mobilizer.

    The functions are written with ``+ - * / **``, comparisons and what is in `mobod.algebra`: `mobod.algebra.sin` and its like,
    ``where(condition, a, b)`` in place of ``if`` on a number, `mobod.algebra.rotation` and `mobod.algebra.mat33` for matrices
    of nine. They are called with numbers, with eight states at a time and with dual numbers; they may call other functions
    that are written so. Each is taken as it is when the mobilizer is made: numbers that it finds outside itself are frozen.

    Parameters
    ----------
    num_q : int
        Number of coordinates, 1 to 7.
    num_u : int
        Number of speeds, 1 to 6 and not above `num_q`.
    transform : callable
        ``transform(q, parameters) -> (R, p)``: R_FM as nine numbers by rows, or as three rows of three, and p_FM.
    hinge : callable, optional
        ``hinge(q, parameters) -> columns``: for each speed the pair (w, v) of angular and linear velocity of M in F, in F, at
        unit speed. The derivative of the transform along q_dot unless given.
    hinge_dot : callable, optional
        ``hinge_dot(q, u, parameters) -> columns``: the rates of the hinge columns, taken and expressed in F. The derivative of
        the hinge columns unless given.
    n : callable, optional
        ``n(q, parameters) -> rows``: N in q_dot = N u, `num_q` rows of `num_u` numbers. Unless given q_dot is u; with a
        quaternion its rate is that for an angular velocity in F of the first three speeds, as of a `Ball`.
    n_inv : callable, optional
        ``n_inv(q, parameters) -> rows``: u = N^-1 q_dot, `num_u` rows of `num_q`. Needed with *n*.
    n_dot : callable, optional
        ``n_dot(q, u, parameters) -> rows``: the rate of N. Its derivative unless given.
    num_angles : int
        4 says that the first four coordinates are a quaternion, which is kept at length 1. The functions get a quaternion
        also where a state has three body-fixed x-y-z angles in its place. 0 to 3 mean nothing more.

    Examples
    --------
    A bead on a parabola z = x^2 / 2 l, one coordinate and one parameter:

    >>> import mobod as mb
    >>> from mobod.algebra import rotation
    >>> def transform(q, parameters):
    ...     (x,), (length,) = q, parameters
    ...     return rotation.identity(x), (x, 0.0, x * x / (2.0 * length))
    >>> bead = mb.mobilizer.CompiledFunctions(num_q=1, num_u=1, transform=transform)
    """

    num_q: int
    num_u: int
    transform: Callable[..., Any]
    hinge: Callable[..., Any] | None = None
    hinge_dot: Callable[..., Any] | None = None
    n: Callable[..., Any] | None = None
    n_inv: Callable[..., Any] | None = None
    n_dot: Callable[..., Any] | None = None
    num_angles: int = 0
