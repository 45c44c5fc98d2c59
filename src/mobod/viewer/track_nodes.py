"""Markers, muscles, tendons and springs on a page, beside the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.tracks import RADIUS, Track
from .bodies import bytes_of

if TYPE_CHECKING:
    from viser import ViserServer


class TrackNodes:
    """Tracks on a page: a node each.

    Parameters
    ----------
    server : ViserServer
    tracks : sequence of Track
    root : str
        Where in the page's tree of nodes.
    size : float
        Of the mechanism; length.
    """

    def __init__(self, server: ViserServer, tracks: Sequence[Track], root: str, size: float) -> None:
        self._hidden: set[str] = set()
        self._server, self._root, self._size = server, root, size
        self.tracks = list(tracks)
        self.nodes = [self._add(server, one, f"{root}/track{number}", size) for number, one in enumerate(tracks)]

    @property
    def names(self) -> list[str]:
        """Names of what can be shown or hidden."""
        return list(dict.fromkeys(one.name for one in self.tracks))

    def show(self, name: str, yes: bool) -> None:
        """Show those of a name from the next pose on, or do not."""
        (self._hidden.discard if yes else self._hidden.add)(name)

    def replace(self, tracks: Sequence[Track]) -> None:
        """Show others: those of another state, of the same names and colours, or of new ones."""
        now: dict[tuple[str, Any], list[Track]] = {}
        for one in tracks:
            now.setdefault((one.name, one.color), []).append(one)
        here = [now.get((one.name, one.color)) for one in self.tracks]
        self.tracks = [some.pop(0) if some else _nothing_of(one) for some, one in zip(here, self.tracks, strict=True)]
        for one in (one for some in now.values() for one in some):  # a muscle of a colour that was not there
            self.nodes.append(self._add(self._server, one, f"{self._root}/track{len(self.nodes)}", self._size))
            self.tracks.append(one)

    def move(self, X_GB: Array, row: int = 0, part: float = 0.0) -> None:
        """Show them at poses (nb, 4, 4), between a row of theirs and the next."""
        for track, node in zip(self.tracks, self.nodes, strict=True):
            points = track.place(X_GB, row, part)
            node.visible = len(points) > 0 and track.name not in self._hidden
            if node.visible:
                node.points = points.astype(np.float32)

    def _add(self, server: ViserServer, track: Track, name: str, size: float) -> Any:
        color = bytes_of(track.color)
        if track.are_lines:
            return server.scene.add_line_segments(
                name, np.zeros((1, 2, 3)), color, thickness=1.33 * track.width, thickness_units="screen", visible=False
            )
        return server.scene.add_point_cloud(
            name, np.zeros((1, 3), np.float32), color, point_size=2.0 * RADIUS * size, point_shape="circle", visible=False
        )


def _nothing_of(track: Track) -> Track:
    return replace(track, bodies=track.bodies[:0], stations=track.stations[:1, :0])
