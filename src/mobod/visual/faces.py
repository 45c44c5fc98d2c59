"""Faces of a mechanism on 3-D axes: at each pixel the nearest one; in PDF and SVG files sorted by depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from ..algebra.arrays import Array
from .raster import rasterize


class Faces(Poly3DCollection):  # type: ignore[misc]  # Matplotlib does not say its type
    """Triangles drawn by depth at each pixel, so that those which intersect hide each other correctly."""

    def __init__(self, zorder: float) -> None:
        self._corners, self._colors = np.zeros((0, 3, 3)), np.zeros((0, 3, 4))
        #: Along each side of a pixel: of films, which are many pictures, fewer.
        self.samples = 3
        super().__init__(np.zeros((1, 3, 3)), zorder=zorder, linewidths=0.7)

    def place(self, corners: Array, colors: Array) -> None:
        """Show triangles (n, 3, 3) with colours (n, 3, 4) at their corners."""
        self._corners, self._colors = corners, colors
        self.set_visible(len(corners) > 0)
        if not len(corners):
            return
        self.set_verts(corners)
        each = colors.mean(axis=1)
        each[:, 3] = colors[:, 0, 3]
        self.set_facecolor(each)
        edges = each.copy()  # they close the hair lines between neighbours; what is translucent they would cover twice
        edges[edges[:, 3] < 1.0, 3] = 0.0
        self.set_edgecolor(edges)

    def draw(self, renderer: Any) -> None:
        """Draw them."""
        if not isinstance(renderer, RendererAgg):
            super().draw(renderer)
            return
        if not self.get_visible():
            return
        seen = np.concatenate([self._corners, np.ones((len(self._corners), 3, 1))], axis=2) @ self.axes.get_proj().T
        placed = seen[..., :3] / seen[..., 3:]
        placed[..., :2] = self.axes.transData.transform(placed[..., :2].reshape(-1, 2)).reshape(-1, 3, 2)
        x, y, image = rasterize(placed, self._colors, int(renderer.width), int(renderer.height), self.samples)
        if image.size:
            renderer.draw_image(renderer.new_gc(), x, y, image)
