"""Tables of what acts along lines and along paths of spans, for `lines`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..force.two_points import OWN
from . import lines

Table = npt.NDArray[np.int64]


class LineTables:
    """Elements, their spans and bodies, and how much scratch they take, while a plan is made.

    Parameters
    ----------
    fields : mapping
        The tree's.
    common : callable
        Of two bodies the last one on the way to both.
    """

    def __init__(self, fields: Any, common: Callable[[int, int], int]) -> None:
        self._fields, self._common = fields, common
        self._elements: list[list[int]] = []
        self._spans: list[list[int]] = []
        self._reached: list[int] = []
        #: Bodies whose places bends read.
        self.read: set[int] = set()
        #: How many numbers of scratch there are.
        self.size = 0

    def add_points(self, force: Any) -> set[int]:
        """A force between two points; its bodies."""
        x = force.span[2]
        bodies = *force.default_integers[:2], -1
        return self._add(lines.KINDS[force.routine], x + OWN, [(bodies, (-1, x, x + 3, -1), -1, 0)], (force.element, 0, 0, 0))

    def add_path(self, force: Any, address: int) -> set[int]:
        """A force along a path that is made of spans; its bodies."""
        path = force.acts_along()
        spans, ratio, function = path.spans(), force.span[3] - len(path.numbers), -1
        first = ratio + 1
        if path.used_functions:
            function, first = force.first_function, int(self._fields["function_first_number"][force.first_function])
        found = [
            (
                one.bodies,
                (function, first + one.stations[0], first + one.stations[1], one.weight + (one.weight >= 0) * (ratio + 1)),
                one.asks,
                one.which if one.pose == 0 else -one.pose,
            )
            for one in spans
        ]
        bodies = self._add(lines.LAW, ratio, found, (force.element, address, force.first_z, force.num_z))
        if any(one.bodies[2] >= 0 and one.pose == 0 for one in spans):
            self.read.update(bodies, path.reach()[0], *(one.reads for one in spans))
        return bodies

    def _add(self, kind: int, number: int, spans: Sequence[Any], law: tuple[int, int, int, int]) -> set[int]:
        bodies = sorted({b for one in spans for b in one[0] if b >= 0 and (one[0][0] != one[0][1] or one[0][2] >= 0)})
        moved = [b for b in bodies if b > 0]
        common = bodies[0] if bodies else 0
        for b in bodies:
            common = self._common(common, b)
        at, first = self.size, len(self._spans)
        units = {b: at + lines.UNITS + 6 * m for m, b in enumerate(moved)}
        self.size, bend = at + lines.UNITS + 6 * len(moved), -1
        for ends, places, asks, which in spans:
            own, over = self.size, lines.NUMBERS_OF_POSE if which < 0 else lines.NUMBERS_OVER_SURFACE
            self.size += over if ends[2] >= 0 else lines.NUMBERS_OF_SPAN
            if asks >= 0:
                bend, self.size = self.size, self.size + lines.NUMBERS_OF_BEND
            whose = [units.get(b, -1) for b in ends]
            self._spans.append([*ends, *places, own, bend if ends[2] >= 0 and which >= 0 else -1, asks, which, *whose])
        end = len(self._reached)
        pulling = [first + k for k, one in enumerate(spans) if one[0][0] != one[0][1] or one[0][2] >= 0]
        only = pulling[0] if len(pulling) == 1 and spans[pulling[0] - first][0][2] < 0 else -1
        self._elements.append([kind, number, first, len(self._spans), end, end + len(moved), common, at, *law, only])
        self._reached += moved
        return set(bodies)

    def tables(self) -> tuple[Table, Table, Table]:
        """Elements, spans and bodies."""
        elements = np.array(self._elements, np.int64).reshape(-1, lines.OF_LINE)
        return elements, np.array(self._spans, np.int64).reshape(-1, lines.OF_SPAN), np.array(self._reached, np.int64)
