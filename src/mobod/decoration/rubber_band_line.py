"""RubberBandLine: a line through points of several bodies, straight from one to the next: a muscle, a cable, a rope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State

#: A body's number, and a station of it.
End: TypeAlias = tuple[int, Array]

#: A straight line from a station of a body to one of another, or of the same.
Line: TypeAlias = tuple[End, End]

#: A station, or what finds it at a state: None where it is no part of the line.
Station: TypeAlias = Array | Callable[["State"], Array | None]


class RubberBandLine:
    """A line through points of several bodies; made by `SimbodyMatterSubsystem.add_rubber_band_line`.

    Parameters
    ----------
    points : sequence of (int, station)
        Numbers of bodies, and stations of them, or functions of a state that find these.
    color : (3,) tuple
    line_width : float
        In points.
    name : str
        Under which pages show it or do not, with all others of the name.
    """

    def __init__(
        self, points: Sequence[tuple[int, Station]], color: tuple[float, float, float], line_width: float, name: str
    ) -> None:
        self.points, self.color, self.line_width, self.name = list(points), color, line_width, name

    def __repr__(self) -> str:
        return f"<RubberBandLine {self.name!r} through {len(self.points)} points>"

    @property
    def moves(self) -> bool:
        """True if a point of it moves on its body, or comes and goes."""
        return any(callable(station) for _, station in self.points)

    def calc_lines(self, state: State) -> list[Line]:
        """Its straight parts at a state at POSITION."""
        placed: list[End] = []
        for body, station in self.points:
            found = station(state) if callable(station) else station
            if found is not None:
                placed.append((body, np.asarray(found, dtype=np.float64)))
        return list(pairwise(placed))
