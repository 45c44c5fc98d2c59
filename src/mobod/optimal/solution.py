"""Solution: what a solver of nonlinear programs has come to."""

from __future__ import annotations

from typing import NamedTuple

from ..algebra.arrays import Array


class Solution(NamedTuple):
    """Unknowns, whether they solve the program, what the solver says, after how many iterations; multipliers if known."""

    v: Array
    success: bool
    status: str
    iterations: int
    multipliers: tuple[Array, Array] | None
