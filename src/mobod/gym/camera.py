"""Camera: pictures of the states of an ensemble as arrays of pixels, by a graphics card where there is one, or Matplotlib."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from ..shapes.mechanism import Mechanism, find_body_transforms
from ..shapes.view import View, find_view
from ..state.state import State

#: Of a picture, in pixels.
WIDTH, HEIGHT = 480, 360
#: Half the sides of the box that is shown, in parts of the mechanism's diagonal: nothing that swings leaves it at once.
_HALF = 0.7
_DPI = 100
#: Detail of round bodies: a picture takes half the time of one for print.
_COARSE = 0.6


class Camera:
    """Takes pictures of the states of an ensemble; what leaves its view is followed, as far as it takes.

    Parameters
    ----------
    state : State
        For the shapes and the first view.
    renderer : str
        See `VectorEnv`.

    Attributes
    ----------
    renderer : str
        What draws; of Matplotlib also why no graphics card does, if one was looked for.

    Raises
    ------
    ImportError
        If Matplotlib is not installed: ``pip install 'mobod[plot]'``.
    RuntimeError
        If *renderer* is ``"card"`` and nothing can draw as a graphics card does.
    """

    def __init__(self, state: State, renderer: str = "auto") -> None:
        system = state.system
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from ..visual.card import find_card_scene
        from ..visual.scene import Scene

        self._mechanism = Mechanism.of(system, state, _COARSE)
        self._particles = np.zeros((0, 3))
        figure = Figure(figsize=(WIDTH / _DPI, HEIGHT / _DPI), dpi=_DPI, facecolor="white")
        self._canvas: Any = FigureCanvasAgg(figure)
        X_GB = find_body_transforms(system, state)
        view = find_view(self._mechanism, X_GB[None], self._particles[None])
        corners = self._corners(view, X_GB)
        half = _HALF * float(np.linalg.norm(np.ptp(corners, axis=0)))
        low = (corners.min(axis=0) + corners.max(axis=0)) / 2.0 - half
        low[2] = corners[:, 2].min() - 0.05 * half  # what stands, stands on the bottom
        box = dataclasses.replace(view, low=low, high=low + 2.0 * half)
        #: The view that all begin with, and that of each.
        self._first, self._views = box, dict[int, View]()
        self._scene = Scene(figure, (0.06, 0.02, 0.88, 0.96), self._mechanism, box)
        self._card, self.renderer = find_card_scene(self._scene, renderer)

    def _corners(self, view: Any, X_GB: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(self._mechanism.calc_corners(X_GB[None], self._particles[None])[0] @ view.R_DG.T)

    def take(self, i: int, X_GB: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
        """The picture of number *i* at poses ``(nb, 4, 4)``, ``(HEIGHT, WIDTH, 3)``; blank if these are not finite."""
        if not np.isfinite(X_GB).all():
            return np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        view = self._views.get(i, self._first)
        corners = self._corners(view, X_GB)
        shift = np.minimum(corners.min(axis=0) - view.low, 0.0) + np.maximum(corners.max(axis=0) - view.high, 0.0)
        if shift.any():
            view = dataclasses.replace(view, low=view.low + shift, high=view.high + shift)
        self._views[i] = view
        if view is not self._scene.view:
            self._scene.look(view)
        if self._card is not None:
            return self._card.draw(X_GB, self._particles)
        self._scene.show(X_GB, self._particles)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()
