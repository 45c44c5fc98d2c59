"""Pairs of surfaces that may touch, for contact of any kind; and all surfaces of a system."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ...mobilizer.base import MobilizedBody
from .fields import Placed


class MayTouch(NamedTuple):
    """Tells of two surfaces whether they may touch: ``may_touch(a, b)``.

    Not on one body, nor of one clique, nor on two bodies that are excluded; on a body and its parent only where adjacent bodies
    touch, or the parent is Ground.
    """

    #: Of each body its parent's index; -1 for Ground.
    parents: Sequence[int]
    #: Pairs of bodies, the lower index first.
    excluded: Collection[tuple[int, int]] = ()
    adjacent_touch: bool = False

    def __call__(self, a: Placed, b: Placed) -> bool:
        low, high = min(a.body, b.body), max(a.body, b.body)
        if low == high or (low, high) in self.excluded or a.surface.cliques & b.surface.cliques:
            return False
        return self.adjacent_touch or low == 0 or (self.parents[high] != low and self.parents[low] != high)


def parents_of(bodies: Sequence[MobilizedBody]) -> list[int]:
    """Of each body the index of its parent; -1 for Ground."""
    return [-1 if body.parent is None else int(body.parent.index) for body in bodies]


def placed_surfaces(bodies: Sequence[MobilizedBody]) -> list[Placed]:
    """All surfaces, body by body."""
    found = []
    for body in bodies:
        for i, (surface, X_BS) in enumerate(body.body.contact_surfaces):
            found.append(Placed(body.index, X_BS, surface, surface.name or f"surface {i} of {body.name}", i))
    return found
