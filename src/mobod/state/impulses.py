"""Impulses on a run's state: by locks, constraints and motions that were set, and by impacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algebra.arrays import Array

NOTHING: Array = np.zeros(0)


class Impulse(NamedTuple):
    """One thing that was set or struck, and by how much.

    time : float
    name : str
        Of the mobilizer, the constraint, the contact or the handler of impacts.
    kind : str
        ``"locked"``, ``"unlocked"``, ``"enabled"``, ``"disabled"``, ``"driven"`` or
        ``"let go"`` by a motion, ``"attached"``, ``"detached"``, ``"struck"``; of unilateral contacts
        ``"closed"``, ``"opened"``, ``"stuck"``, ``"slid"``.
    impulse : array
        On its mobilities ``(nu,)``; of a constraint or a contact on the system by each equation, M du = G^T impulse; of an
        impact along the gap; of a mass on its body (torque, force), at its origin and in Ground.
        Empty where nothing was asked to act by an impulse.
    energy : float
        The kinetic energy after less that before.
    """

    time: float
    name: str
    kind: str
    impulse: Array = NOTHING
    energy: float = 0.0


class Impulses:
    """Impulses on a state in a run since they were last taken.

    Parameters
    ----------
    tolerance : float
        Of the constraints' positions: what is set with a larger error warns.
    contact_times : list of float, optional
        When contacts closed or opened last, without restitution: who handles their events keeps it.
    """

    __slots__ = ("contact_times", "found", "tolerance")

    def __init__(self, tolerance: float, contact_times: list[float] | None = None) -> None:
        self.tolerance, self.contact_times = tolerance, [] if contact_times is None else contact_times
        self.found: list[Impulse] = []

    def take(self) -> list[Impulse]:
        """Those since the last call."""
        found, self.found = self.found, []
        return found
