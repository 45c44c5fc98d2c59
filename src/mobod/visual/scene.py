"""A scene: one 3-D axes of a figure that shows a mechanism at a pose, gravity down.

All faces of a mechanism are one collection, in which the nearest is seen at each pixel (`faces`); what is hidden by its own
solid is left out before. Lines are drawn over the faces.
"""

from __future__ import annotations

import contextlib
import math
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from ..shapes.mechanism import Mechanism
from ..shapes.tracks import Track
from ..shapes.view import ELEVATION, View, find_display_rotation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Text3D
    from mpl_toolkits.mplot3d.axes3d import Axes3D


AMBIENT = 0.62  # brightness of a face turned away from the light
SHADOW = (0.86, 0.86, 0.87, 1.0)
DARKER = 0.8  # of the colour of a plane, in the shadow
FLOOR = (0.955, 0.955, 0.96, 1.0)
TRACE = (0.80, 0.15, 0.25)
FORCE = (0.90, 0.35, 0.00)
HEAD = 0.035  # of an arrow, in parts of the diagonal of the view
PARTICLE = (0.15, 0.35, 0.60)
BESIDE = -14  # where an axis without numbers has its name, in points


class Scene:
    """A mechanism on a 3-D axes; `show` moves it.

    Parameters
    ----------
    figure : Figure
        What the axes is added to.
    place : (left, bottom, width, height)
        Where in the figure, in parts of its width and height. The view's box fills it.
    mechanism : Mechanism
        What is shown.
    view : View
        From where.
    floor : bool, default True
        Whether the bottom of the box is drawn, with shadows on it.
    labels : bool, default True
        Whether axes have numbers.
    tracks : sequence of Track
        What is drawn beside the bodies: markers, muscles, tendons, springs.
    """

    _texts: list[Text3D]

    def __init__(
        self,
        figure: Figure,
        place: tuple[float, float, float, float],
        mechanism: Mechanism,
        view: View,
        *,
        floor: bool = True,
        labels: bool = True,
        tracks: Sequence[Track] = (),
    ) -> None:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

        from .faces import Faces

        # Matplotlib fits 3-D axes into a square: give it a square around the place, and choose the scale here
        self._inches = place[2] * figure.get_figwidth(), place[3] * figure.get_figheight()
        self._side = max(self._inches)
        width, height = self._side / figure.get_figwidth(), self._side / figure.get_figheight()
        square = (place[0] + (place[2] - width) / 2, place[1] + (place[3] - height) / 2, width, height)
        options: dict[str, Any] = {"projection": "3d", "computed_zorder": False, "proj_type": "ortho"}
        self.axes: Axes3D = cast(Any, figure.add_axes(square, **options))
        self.mechanism = mechanism
        self.has_floor = floor
        self._set_up(labels)
        self.look(view)

        nothing = np.zeros((1, 3, 3))
        self._shadow = Poly3DCollection(nothing, facecolors=[SHADOW], edgecolors=[SHADOW], linewidths=0.7, zorder=2)
        self._faces = Faces(zorder=4)
        self.lines = Line3DCollection(
            np.zeros((1, 2, 3)),
            colors=mechanism.segment_color,
            linewidths=mechanism.segment_width,
            capstyle="round",  # so that a point, a line of nearly no length, is a dot
            zorder=5,
        )
        self._trace = Line3DCollection(np.zeros((1, 2, 3)), colors=[TRACE], linewidths=1.0, alpha=0.7, zorder=3)
        self._arrows = Line3DCollection(np.zeros((1, 2, 3)), colors=[FORCE], linewidths=1.8, capstyle="round", zorder=6)
        self._planes = [
            Poly3DCollection(nothing, facecolors=[(*one.color, one.opacity)], linewidths=0.0, zorder=1)
            for one in mechanism.planes
        ]
        for collection in (*self._planes, self._shadow, self._faces, self.lines, self._trace, self._arrows):
            self.axes.add_collection3d(collection, autolim=False)
        self._tracks = [(one, self._add_track(one)) for one in tracks]
        (self._dots,) = self.axes.plot([], [], [], ".", color=PARTICLE, markersize=3.0, zorder=5)
        self._texts = [
            self.axes.text(0.0, 0.0, 0.0, text, color=color, fontsize=8, zorder=6, parse_math=False)
            for _, _, text, color in mechanism.texts
        ]

    def look(self, view: View) -> None:
        """Show another view."""
        from matplotlib.ticker import NullFormatter

        self.view = view
        self.axes.view_init(elev=ELEVATION, azim=view.azimuth)
        for name, low, high in zip("xyz", view.low, view.high, strict=True):
            getattr(self.axes, f"set_{name}lim3d")(low, high, view_margin=0.0)
        size = view.high - view.low
        scale = min(inches / extent for inches, extent in zip(self._inches, view.calc_extent(), strict=True))
        # Axes3D's own scale: the box's diagonal is 1.906 units long, and the square shows 1.85 units
        self.axes.set_box_aspect(size, zoom=0.971 * scale * float(np.linalg.norm(size)) / self._side)
        for axis, length in zip((self.axes.xaxis, self.axes.yaxis, self.axes.zaxis), size, strict=True):
            axis.get_major_locator().set_params(nbins=max(1, round(4.0 * length / size.max())))
            if length < 0.4 * size.max():  # no room for numbers
                axis.set_major_formatter(NullFormatter())
                axis.labelpad = BESIDE
        self.light = view.toward_camera + np.array([0.0, 0.0, 0.9])  # from above the camera
        side = np.cross([0.0, 0.0, 1.0], view.toward_camera)
        self.light -= 0.5 * side / np.linalg.norm(side)
        self.light /= np.linalg.norm(self.light)

    def show(
        self, X_GB: Array, particles: Array, trace: Array | None = None, arrows: Array | None = None, row: int = 0
    ) -> None:
        """Show the mechanism at a pose (nb, 4, 4), particles (np, 3), the path of a point (n, 3) and arrows (n, 2, 3).

        All are in Ground; an arrow goes from its first point to its second. Tracks are shown as they are in a row of theirs.
        """
        R = self.view.R_DG
        floor, shadow_color = self._show_planes(X_GB)
        faces = self.mechanism.place_faces(X_GB) @ R.T
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        facing = normals @ self.view.toward_camera > 0.0
        visible = facing | ~self.mechanism.face_closed
        normals = self.mechanism.turn_normals(X_GB) @ R.T
        normals = np.where(facing[:, None, None], normals, -normals)
        colors = np.repeat(self.mechanism.face_color[:, None], 3, axis=1)
        colors[..., :3] *= AMBIENT + (1.0 - AMBIENT) * np.maximum(normals @ self.light, 0.0)[..., None]
        self._faces.place(faces[visible], colors[visible])
        if self.has_floor:
            shadow = faces[visible].copy()
            shadow[..., 2] = self.view.low[2] if floor is None else floor
            self._shadow.set_color(shadow_color)
            self._shadow.set_visible(len(shadow) > 0)
            if len(shadow):
                self._shadow.set_verts(shadow)
        self.lines.set_segments(self.mechanism.place_segments(X_GB) @ R.T)
        cast(Any, self._dots).set_data_3d(*(particles @ R.T).T)
        for track, artist in self._tracks:
            points = track.place(X_GB, row) @ R.T
            if track.are_lines:
                artist.set_segments(points)
            else:
                artist.set_data_3d(*points.T)
        self._arrows.set_segments(self.draw_arrows(np.zeros((0, 2, 3)) if arrows is None else arrows @ R.T))
        self._trace.set_segments(_consecutive(trace @ R.T if trace is not None else np.zeros((0, 3))))
        if self._texts:
            for text, point in zip(self._texts, self.mechanism.place_texts(X_GB) @ R.T, strict=True):
                text.set_position_3d(point)
                self._keep_inside(text, point)

    def _show_planes(self, X_GB: Array) -> tuple[float | None, tuple[float, ...]]:
        """Place the planes, as far as the view's box goes; the height of a level one, and the colour of shadows on it."""
        placed, height, shadow = self.place_planes(X_GB)
        for (corners, _), collection in zip(placed, self._planes, strict=True):
            collection.set_visible(len(corners) > 2)
            if len(corners) > 2:
                collection.set_verts([corners])
        return height, shadow

    def place_planes(self, X_GB: Array) -> tuple[list[tuple[Array, tuple[float, ...]]], float | None, tuple[float, ...]]:
        """Find the corners and the colour of each plane's part in the view's box, and what `_show_planes` returns."""
        placed: list[tuple[Array, tuple[float, ...]]] = []
        height, shadow = None, SHADOW
        for plane in self.mechanism.planes:
            X = self.view.R_DG @ X_GB[plane.body, :3]
            normal, point = X[:, :3] @ plane.normal, X[:, :3] @ plane.point + X[:, 3]
            corners = _cut_box(self.view.low, self.view.high, point, normal)
            placed.append((corners, (*plane.color, plane.opacity)))
            if len(corners) > 2 and normal[2] > 1.0 - 1e-9:
                height = float(point[2])
                seen = plane.opacity * np.array(plane.color) + (1.0 - plane.opacity) * np.array(FLOOR[:3])
                shadow = (*(DARKER * seen).tolist(), 1.0)
        return placed, height, shadow

    def place_tracks(self, X_GB: Array, row: int) -> list[tuple[Track, Array]]:
        """Find what tracks show in a row of theirs, in the display's frame."""
        return [(track, track.place(X_GB, row) @ self.view.R_DG.T) for track, _ in self._tracks]

    @property
    def dpi(self) -> float:
        """Dots of the figure an inch."""
        return float(self.axes.figure.dpi)

    def find_projection(self) -> Array:
        """Find the linear map (4, 4) from the display's frame to the figure's pixels, y up; its third row is of no meaning."""
        to_axes, to_pixels = np.asarray(self.axes.get_proj()), np.asarray(self.axes.transData.get_matrix())
        to_axes = to_axes / to_axes[3, 3]  # of an orthographic projection the other three there are 0
        flat = np.eye(4)
        flat[:2, :2], flat[:2, 3] = to_pixels[:2, :2], to_pixels[:2, 2]
        return np.asarray(flat @ to_axes)

    def _add_track(self, track: Track) -> Any:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        if not track.are_lines:
            return self.axes.plot([], [], [], "o", color=track.color, markersize=3.0, markeredgewidth=0.0, zorder=7)[0]
        lines = Line3DCollection(np.zeros((1, 2, 3)), colors=[track.color], linewidths=0.6 * track.width, zorder=5)
        self.axes.add_collection3d(lines, autolim=False)
        return lines

    def draw_arrows(self, arrows: Array) -> Array:
        """Lines (3 n, 2, 3) of arrows (n, 2, 3): shafts, and heads that face the camera, all in D."""
        along = arrows[:, 1] - arrows[:, 0]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along = along / np.maximum(length, 1e-300)
        side = np.cross(along, self.view.toward_camera)
        side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-6)
        size = np.minimum(HEAD * float(np.linalg.norm(self.view.high - self.view.low)), 0.5 * length)
        heads = [np.stack([arrows[:, 1], arrows[:, 1] - size * (along + sign * 0.5 * side)], axis=1) for sign in (-1.0, 1.0)]
        return np.concatenate([arrows, *heads])

    @contextlib.contextmanager
    def without_moving(self) -> Iterator[None]:
        """Hide what moves, as long as this lasts."""
        moving = [*self.axes.collections, *self.axes.lines, *self.axes.texts]
        seen = [artist.get_visible() for artist in moving]
        for artist in moving:
            artist.set_visible(False)
        try:
            yield
        finally:
            for artist, visible in zip(moving, seen, strict=True):
                artist.set_visible(visible)

    def freeze(self) -> None:
        """Keep what does not move as an image, so that each picture of many is drawn in half the time."""
        self._faces.samples = 2
        figure = self.axes.figure
        with self.without_moving():
            figure.canvas.draw()
            image = np.array(figure.canvas.buffer_rgba())
        self.axes.set_axis_off()
        figure.add_artist(_make_background(image[::-1]))

    def _keep_inside(self, text: Text3D, point: Array) -> None:
        """Align a text to end at its point, where it would be cut off at the figure's right edge."""
        from mpl_toolkits.mplot3d.proj3d import proj_transform

        x, y, _ = proj_transform(*point, self.axes.get_proj())
        start = self.axes.transData.transform((x, y))[0]
        width = text.get_window_extent().width
        cut_off = start + width > self.axes.figure.bbox.width and width < start
        text.set_horizontalalignment("right" if cut_off else "left")

    def _set_up(self, labels: bool) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        axes = self.axes
        axes.set_facecolor("none")
        R_DG = find_display_rotation(self.mechanism.up)
        for row, axis in zip(R_DG, (axes.xaxis, axes.yaxis, axes.zaxis), strict=True):
            axis.set_pane_color(FLOOR if self.has_floor and axis is axes.zaxis else (1.0, 1.0, 1.0, 0.0))
            axis.line.set_color((0.6, 0.6, 0.6, 1.0))
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axis.set_tick_params(labelsize=7, colors=(0.35, 0.35, 0.35), pad=-2)
            aligned = int(np.argmax(np.abs(row)))
            sign = float(np.sign(row[aligned]))
            if abs(row[aligned]) < 1.0 - 1e-9:  # gravity is oblique: no axis of Ground is along this one
                axis.set_ticklabels([])
                continue
            axis.set_major_formatter(FuncFormatter(partial(_write_number, axis, sign)))
            axis.set_label_text("xyz"[aligned], fontsize=8, color=(0.35, 0.35, 0.35))
            axis.labelpad = -6
            if not labels:
                axis.set_ticklabels([])
                axis.labelpad = BESIDE
        axes.grid(visible=True)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis._axinfo["grid"].update(color=(0.85, 0.85, 0.87, 1.0), linewidth=0.6)  # noqa: SLF001


def _write_number(axis: Any, sign: float, value: float, _: int | None = None) -> str:
    """Write a number of an axis with as many digits as tell it from its neighbours."""
    low, high = axis.get_view_interval()
    largest, span = max(abs(low), abs(high)), abs(high - low)
    digits = 3 if span == 0.0 else max(3, math.ceil(math.log10(40.0 * largest / span)))
    return f"{sign * value + 0.0:.{digits}g}"


def _make_background(image: NDArray[np.uint8]) -> Any:
    """Make an artist that puts an image of the figure's own size behind everything; figimage would resample it."""
    from matplotlib.artist import Artist

    class Background(Artist):
        """The image."""

        def draw(self, renderer: Any) -> None:
            renderer.draw_image(renderer.new_gc(), 0, 0, image)

    background = Background()
    background.set_zorder(-1)
    return background


def _consecutive(points: Array) -> Array:
    return np.stack([points[:-1], points[1:]], axis=1) if len(points) > 1 else np.zeros((0, 2, 3))


def _cut_box(low: Array, high: Array, point: Array, normal: Array) -> Array:
    """The corners (n, 3), in turn, of a plane's part inside a box; none where it misses the box."""
    x = np.eye(3)[np.argmin(np.abs(normal))]
    x = np.cross(normal, x)
    x /= np.linalg.norm(x)
    y = np.cross(normal, x)
    middle = (low + high) / 2.0
    center, reach = middle - ((middle - point) @ normal) * normal, 2.0 * float(np.linalg.norm(high - low))
    corners = [center + reach * (a * x + b * y) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    for axis in range(3):  # cut by one side of the box after the other
        for sign, bound in ((1.0, high[axis]), (-1.0, -low[axis])):
            inside: list[Array] = []
            for here, there in zip(corners, corners[1:] + corners[:1], strict=True):
                a, b = sign * here[axis] - bound, sign * there[axis] - bound
                if a <= 0.0:
                    inside.append(here)
                if (a < 0.0 < b) or (b < 0.0 < a):
                    inside.append(here + (there - here) * a / (a - b))
            corners = inside
    return np.array(corners).reshape(-1, 3)
