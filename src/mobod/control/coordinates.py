"""Coordinates: q and u of some mobilities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..force.base import listed_mobilities, mobilities as numbered
from ..tree import sampling
from .custom import Custom
from .input import Input, Packing


class Coordinates(Input):
    """q and u ``(2, n)`` of listed mobilities, whose q_dot is u.

    Parameters
    ----------
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        The mobilizer of each, and the number of the mobility among its own; those that the controller acts on unless given.

    Raises
    ------
    TypeError, IndexError, TopologyError
        If one is no such pair; when the controller is made.
    ModelError
        If a mobilizer has quaternions, so that no coordinate belongs to a mobility.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.Coordinates([(system.matter.bodies["lower"], 0)])
    >>> isinstance(part, mb.control.Input)
    True
    """

    def __init__(self, mobilities: Iterable[Any] | None = None) -> None:
        self.mobilities = None if mobilities is None else listed_mobilities(mobilities)
        self._pairs: list[int] = []

    def adopt(self, controller: Custom) -> None:
        self._pairs = list(controller.pairs)
        if self.mobilities is not None:
            forces = controller.get_force_subsystem()
            self._pairs = numbered(forces, self.mobilities)
        controller.refuse_quaternions(self._pairs[::2], "Coordinates")

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return 2, len(self._pairs) // 2

    def pack(self, packing: Packing, size: int) -> int:
        place = len(packing.tables)
        packing.tables += self._pairs
        return packing.ask(sampling.COORDINATES, size, size // 2, place)
