"""What locks, constraints and motions that are set in the middle of a run have changed by impulses."""

from __future__ import annotations

from typing import NamedTuple

from ..algebra.arrays import Array


class Latch(NamedTuple):
    """One that was set, and by how much.

    name : str
        Of the mobilizer, or the constraint.
    impulse : array
        On its mobilities ``(nu,)``; or on the system by each equation of a constraint, M du = G^T impulse.
    energy : float
        The kinetic energy after less that before.
    """

    name: str
    impulse: Array
    energy: float


class Latches:
    """What a state in a run has been latched by since they were last taken.

    Parameters
    ----------
    tolerance : float
        Of the constraints' positions: what is set with a larger error warns.
    """

    __slots__ = ("found", "tolerance")

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.found: list[Latch] = []

    def take(self) -> list[Latch]:
        """Those since the last call."""
        found, self.found = self.found, []
        return found
