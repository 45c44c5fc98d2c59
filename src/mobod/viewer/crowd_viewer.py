"""A page with many copies of a mechanism, each at a pose of its own: the states of an ensemble, drawn in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.mechanism import Mechanism
from ..shapes.normals import split_at_creases
from ..shapes.view import find_view
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.stage import Stage
from .bodies import bytes_of
from .page import Page
from .rotations import to_quaternions
from .server import add_dark_box, add_floor, set_camera
from .together import find_grid

#: Detail of each copy, and of each where there are more than so many.
_COARSE, _COARSER, _MANY = 0.7, 0.3, 200


class CrowdViewer(Page):
    """A page that shows the states of an ensemble; made by `mobod.view`.

    Parameters
    ----------
    ensemble : Ensemble
    system : MultibodySystem
    state : State
        One of the states, for the shapes.
    spacing : float
        Distance from one to the next, on a square grid; 0 leaves all where they are; length.
    most : int
        Of more states than this, so many are shown.

    Attributes
    ----------
    url : str
        The page's address, on this machine only.
    """

    def __init__(
        self,
        ensemble: Any,
        system: MultibodySystem,
        state: State,
        *,
        spacing: float = 0.0,
        most: int = 5000,
        title: str = "mobod",
        port: int | None = None,
        open_browser: bool = True,
    ) -> None:
        self._ensemble = ensemble
        X_GB = self._read()[:most]
        self._count = len(X_GB)
        self._mechanism = Mechanism.of(system, state, _COARSER if self._count > _MANY else _COARSE)
        view = find_view(self._mechanism, X_GB, np.zeros((self._count, 0, 3)))
        self._offsets = find_grid(self._count, spacing) @ view.R_DG
        placed = X_GB.copy()
        placed[..., :3, 3] += self._offsets[:, None]
        view = find_view(self._mechanism, placed, np.zeros((self._count, 0, 3)))
        super().__init__(title, port)
        set_camera(self._server, view)
        add_floor(self._server, view, self._mechanism, X_GB[0])
        self._batches = self._add_batches(placed)
        self._server.gui.add_markdown(f"{self._count} states")
        add_dark_box(self._server)
        self._begin(open_browser)

    def show(self) -> None:
        """Show where the ensemble is now. A page that fails warns once, and never raises."""
        if self.is_closed:
            return
        X_GB = self._read()[: self._count]
        try:
            positions = X_GB[..., :3, 3] + self._offsets[:, None]
            rotations = to_quaternions(X_GB[:, sorted(self._bodies), :3, :3].reshape(-1, 3, 3))
            rotations = rotations.reshape(self._count, -1, 4).astype(np.float32)
            with self._server.atomic():
                for b, node in self._batches:
                    node.batched_wxyzs = rotations[:, self._bodies[b]]
                    node.batched_positions = positions[:, b].astype(np.float32)
        except Exception as error:
            self._warn(error)

    def __repr__(self) -> str:
        return f"<CrowdViewer of {self._count} states {'closed' if self.is_closed else f'at {self.url}'}>"

    def _read(self) -> Array:
        self._ensemble.realize(Stage.POSITION)
        return np.asarray(self._ensemble.body_transforms)

    def _add_batches(self, X_GB: Array) -> list[tuple[int, Any]]:
        """A node for all surfaces of one body and colour: all states in one call of the graphics card."""
        made = []
        parts: dict[tuple[int, Any, float], list[Any]] = {}
        for one in self._mechanism.surfaces:
            parts.setdefault((one.body, one.color, one.opacity), []).append(one)
        self._bodies = {b: k for k, b in enumerate(sorted({body for body, *_ in parts}))}
        for number, ((body, color, opacity), some) in enumerate(parts.items()):
            split = [split_at_creases(one.vertices, one.triangles)[:2] for one in some]
            first = np.cumsum([0, *(len(points) for points, _ in split)])
            points = np.concatenate([points for points, _ in split])
            triangles = np.concatenate([start + faces for start, (_, faces) in zip(first, split, strict=False)])
            count = 1 if body == 0 and not self._offsets.any() else self._count
            node = self._server.scene.add_batched_meshes_simple(
                f"/crowd/{number}",
                points,
                triangles.astype(np.uint32),
                to_quaternions(X_GB[:count, body, :3, :3]),
                X_GB[:count, body, :3, 3],
                batched_colors=bytes_of(color),
                opacity=None if opacity >= 1.0 else opacity,
                lod="off",
                cast_shadow=self._count <= _MANY,
            )
            if body:
                made.append((body, node))
        return made
