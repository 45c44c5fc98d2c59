"""The bodies of a mechanism on a page: their surfaces, lines and texts, moved by their poses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.mechanism import Mechanism
from ..shapes.normals import split_at_creases
from ..shapes.view import find_display_rotation, find_level_planes
from .rotations import to_quaternions

if TYPE_CHECKING:
    from viser import ViserServer

_RIGID = 1e-12  # poses that differ by less are not sent again


class Bodies:
    """A mechanism on a page.

    Parameters
    ----------
    server : ViserServer
    mechanism : Mechanism
    X_GB : (nb, 4, 4) array
        The first pose.
    root : str
        Where in the page's tree of nodes; several mechanisms have several roots.
    color : (3,) sequence, optional
        In the place of all bodies' own.
    opacity : float, default 1
        Factor on all bodies' own: of ghosts below one.
    """

    def __init__(
        self,
        server: ViserServer,
        mechanism: Mechanism,
        X_GB: Array,
        root: str = "/bodies",
        color: Any = None,
        opacity: float = 1.0,
    ) -> None:
        self.mechanism, self.root = mechanism, root
        self._server, self._X_GB = server, np.full_like(X_GB, np.nan)
        self._color, self._opacity = color, opacity
        scene = server.scene
        scene.add_frame(root, show_axes=False)
        self.frames = [scene.add_frame(self.name_of(b), show_axes=False) for b in range(len(mechanism.links))]
        self.meshes: list[tuple[int, Any]] = []
        for number, part in enumerate(mechanism.surfaces):
            self._add_surface(number, part)
        self._add_planes(X_GB)
        self._add_lines()
        for number, (body, station, text, _) in enumerate(mechanism.texts):
            scene.add_label(f"{self.name_of(body)}/text{number}", text, position=tuple(station))
        self.move(X_GB)

    def name_of(self, body: int) -> str:
        """The node that moves with a body."""
        return f"{self.root}/{body}"

    def move(self, X_GB: Array) -> None:
        """Show another pose, (nb, 4, 4)."""
        changed = np.flatnonzero(~(np.abs(X_GB - self._X_GB).max(axis=(1, 2)) < _RIGID))
        rotations = to_quaternions(X_GB[changed, :3, :3])
        for q, b in zip(rotations, changed.tolist(), strict=True):
            self.frames[b].wxyz, self.frames[b].position = q, X_GB[b, :3, 3]
        if self._ties is not None and len(changed):
            self._ties.points = self._place_ties(X_GB)
        self._X_GB = X_GB.copy()

    def on_click(self, told: Callable[[int], None]) -> None:
        """Call *told* with the body that is clicked."""
        for body, mesh in self.meshes:
            mesh.on_click(lambda _, body=body: told(body))

    def on_drag(self, told: Callable[[int, Any], None]) -> None:
        """Call *told* with the body that is dragged by the mouse, and viser's event, in the order of the events."""
        for body, mesh in self.meshes:
            if body == 0:
                continue

            async def pass_on(event: Any, body: int = body) -> None:
                told(body, event)

            mesh.on_drag("left")(pass_on)

    def remove(self) -> None:
        """Take it off the page."""
        self._server.scene.remove_by_name(self.root)

    def _add_surface(self, number: int, part: Any) -> None:
        vertices, triangles, _ = split_at_creases(part.vertices, part.triangles)
        if not len(triangles):
            return
        opacity = part.opacity * self._opacity
        mesh = self._server.scene.add_mesh_simple(
            f"{self.name_of(part.body)}/surface{number}",
            vertices,
            triangles.astype(np.uint32),
            color=bytes_of(part.color if self._color is None else self._color),
            opacity=None if opacity >= 1.0 else opacity,
            side="front" if part.closed else "double",
            cast_shadow=opacity >= 0.5,
        )
        self.meshes.append((part.body, mesh))

    def _add_planes(self, X_GB: Array) -> None:
        """Those that are not level: a level one is the page's floor."""
        half = 2.0 * self.mechanism.size
        level = find_level_planes(self.mechanism, X_GB, find_display_rotation(self.mechanism.up))
        square = np.array([(-half, -half), (half, -half), (half, half), (-half, half)])
        for number, plane in enumerate(self.mechanism.planes):
            if any(plane is one for one, _ in level):
                continue
            x = np.cross(np.eye(3)[np.argmin(np.abs(plane.normal))], plane.normal)
            x /= np.linalg.norm(x)
            corners = plane.point + square @ np.stack([x, np.cross(plane.normal, x)])
            self._server.scene.add_mesh_simple(
                f"{self.name_of(plane.body)}/plane{number}",
                corners,
                np.array([(0, 1, 2), (0, 2, 3)], dtype=np.uint32),
                color=bytes_of(plane.color),
                opacity=None if plane.opacity * self._opacity >= 1.0 else plane.opacity * self._opacity,
                side="double",
                cast_shadow=False,
            )

    def _add_lines(self) -> None:
        """Lines of one body move with it; those between two are placed at each pose."""
        segments = self.mechanism.segments
        for body in sorted({one.bodies[0] for one in segments if one.bodies[0] == one.bodies[1]}):
            own = [one for one in segments if one.bodies == (body, body)]
            for width in sorted({one.width for one in own}):
                some = [one for one in own if one.width == width]
                self._server.scene.add_line_segments(
                    f"{self.name_of(body)}/lines{width:g}",
                    np.array([one.points for one in some]),
                    np.array([[bytes_of(one.color)] * 2 for one in some], dtype=np.uint8),
                    thickness=1.33 * width,
                    thickness_units="screen",
                )
        between = [one for one in segments if one.bodies[0] != one.bodies[1]]
        self._tie_bodies = np.array([one.bodies for one in between], dtype=np.intp).reshape(-1, 2)
        self._tie_points = np.array([one.points for one in between]).reshape(-1, 2, 3)
        self._ties: Any = None
        if between:
            colors = np.array([[bytes_of(one.color)] * 2 for one in between], dtype=np.uint8)
            self._ties = self._server.scene.add_line_segments(
                f"{self.root}/ties", self._tie_points, colors, thickness=2.0, thickness_units="screen"
            )

    def _place_ties(self, X_GB: Array) -> Array:
        X = X_GB[self._tie_bodies]
        return np.einsum("nkij,nkj->nki", X[..., :3, :3], self._tie_points) + X[..., :3, 3]


def bytes_of(color: Any) -> tuple[int, int, int]:
    """A colour from 0 to 1 as one from 0 to 255."""
    red, green, blue = (round(255.0 * float(value)) for value in list(color)[:3])
    return red, green, blue
