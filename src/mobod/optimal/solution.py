"""Program and Solution: what a solver of nonlinear programs asks, and what it has come to."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..algebra.arrays import Array
from .sparse import Pattern


class Program(Protocol):
    """A nonlinear program: least `cost` with ``low <= v <= high`` and ``g_low <= g(v) <= g_high``.

    Entries of `jacobian` are in the order of its pattern; of the Lagrangian's second derivatives those above the diagonal.
    """

    n: int
    m: int
    low: Array
    high: Array
    g_low: Array
    g_high: Array
    jacobian_pattern: Pattern
    hessian_pattern: Pattern

    def cost(self, v: Array) -> float: ...
    def gradient(self, v: Array) -> Array: ...
    def constraints(self, v: Array) -> Array: ...
    def jacobian(self, v: Array) -> Array: ...
    def hessian(self, v: Array, factor: float, multipliers: Array) -> Array: ...


class Solution(NamedTuple):
    """Unknowns, whether they solve the program, what the solver says, after how many iterations; multipliers if known."""

    v: Array
    success: bool
    status: str
    iterations: int
    multipliers: tuple[Array, Array] | None
