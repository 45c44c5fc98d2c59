"""Triangles as pixels, each that of the nearest one (Catmull 1974): Matplotlib sorts whole faces, which shows seams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array

Places: TypeAlias = NDArray[np.int64]

#: Samples that are looked at in one go: some hundred megabytes.
_MOST = 3_000_000


def rasterize(corners: Array, colors: Array, width: int, height: int, samples: int = 3) -> tuple[int, int, NDArray[np.uint8]]:
    """Draw triangles.

    Parameters
    ----------
    corners : (n, 3, 3) array
        x and y in pixels, y up, and the depth, which grows away from whoever looks.
    colors : (n, 3, 4) array
        Red, green, blue and opacity at the corners, from 0 to 1; in between they are interpolated. What is not opaque is seen
        through, the nearest last.
    width, height : int
        Of the picture; what is beyond it is left out.
    samples : int
        Along each side of a pixel, whose colour is their mean.

    Returns
    -------
    x, y : int
        The lower left pixel of the image.
    image : (m, k, 4) array
        Red, green, blue, opacity; the lowest row first.
    """
    there = np.isfinite(corners).all(axis=(1, 2))
    corners, colors = corners[there], colors[there]
    low, high = np.zeros(2, np.int64), np.zeros(2, np.int64)
    if len(corners):
        low = np.maximum(np.floor(corners[..., :2].min(axis=(0, 1))), 0.0).astype(np.int64)
        high = np.minimum(np.ceil(corners[..., :2].max(axis=(0, 1))), (width, height)).astype(np.int64)
    if (high <= low).any():
        return 0, 0, np.zeros((0, 0, 4), np.uint8)
    placed = corners.copy()
    placed[..., :2] = samples * (corners[..., :2] - low)
    across, up = (high - low).tolist()
    image = _shade(placed, colors, samples * across, samples * up)
    image = image.reshape(up, samples, across, samples, 4).mean(axis=(1, 3))
    image[..., :3] /= np.maximum(image[..., 3:], 1e-6)  # a sample's colours are times its opacity
    return int(low[0]), int(low[1]), np.round(255.0 * np.clip(image, 0.0, 1.0)).astype(np.uint8)


def _shade(corners: Array, colors: Array, width: int, height: int) -> NDArray[np.float32]:
    """Samples (height * width, 4), each colour times its opacity."""
    image = np.zeros((width * height, 4), np.float32)
    nearest, owner = np.full(width * height, np.inf, np.float32), np.full(width * height, -1)
    opaque = (colors[..., 3] >= 1.0).all(axis=1)
    depths, paint = _planes(corners, corners[..., 2:]), _planes(corners, colors)
    for rows, where, depth in _cover(corners, depths[:, :, 0], np.flatnonzero(opaque), width, height):
        np.minimum.at(nearest, where, depth)
        first = depth <= nearest[where]
        owner[where[first]] = rows[first]
    seen = np.flatnonzero(owner >= 0)
    image[seen] = _color(paint, owner[seen], seen, width)
    layers = list(_cover(corners, depths[:, :, 0], np.flatnonzero(~opaque), width, height))
    if layers:
        rows, where, depth = (np.concatenate(part) for part in zip(*layers, strict=True))
        before = depth < nearest[where]
        rows, where, depth = rows[before], where[before], depth[before]
        order = np.lexsort((-depth, where))  # at each place the farthest first
        _put_over(image, where[order], _color(paint, rows[order], where[order], width))
    return image


def _put_over(image: NDArray[np.float32], where: Places, color: NDArray[np.float32]) -> None:
    """Put colours over an image, those at one place one after the other."""
    start = np.flatnonzero(np.diff(where, prepend=-1))
    rank = np.arange(len(where)) - np.repeat(start, np.diff(start, append=len(where)))
    for layer in range(int(rank.max(initial=-1)) + 1):
        now = rank == layer
        alpha = color[now, 3:]
        image[where[now]] = np.concatenate([color[now, :3] * alpha, alpha], axis=1) + (1.0 - alpha) * image[where[now]]


def _planes(corners: Array, values: Array) -> NDArray[np.float32]:
    """Linear functions on each triangle, as slopes along x and y and the value at the origin, (n, 3, m)."""
    a, b, c = (corners[:, k, :2] for k in range(3))
    u, v = b - a, c - a
    twice = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    safe = np.where(np.abs(twice) > 1e-12, twice, np.inf)[:, None]
    du, dv = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    along_x = (du * v[:, 1:] - dv * u[:, 1:]) / safe
    along_y = (dv * u[:, :1] - du * v[:, :1]) / safe
    start = values[:, 0] - along_x * a[:, :1] - along_y * a[:, 1:]
    return np.stack([along_x, along_y, start], axis=1).astype(np.float32)


def _color(paint: NDArray[np.float32], rows: Places, where: Places, width: int) -> NDArray[np.float32]:
    half = np.float32(0.5)
    y, x = (place.astype(np.float32) + half for place in np.divmod(where, width))
    own = paint[rows]
    found = own[:, 0] * x[:, None] + own[:, 1] * y[:, None] + own[:, 2]
    return np.clip(found, 0.0, 1.0, out=found)


def _cover(
    corners: Array, depths: NDArray[np.float32], chosen: Places, width: int, height: int
) -> Iterator[tuple[Places, Places, NDArray[np.float32]]]:
    """Yield, some triangles at a time, of each sample in one: the triangle, the place, the depth."""
    x, y = corners[chosen, :, 0], corners[chosen, :, 1]
    twice = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
    first = np.clip(np.ceil(y.min(axis=1) - 0.5), 0, height).astype(np.int64)
    last = np.clip(np.floor(y.max(axis=1) - 0.5), -1, height - 1).astype(np.int64)
    lines = np.where(np.abs(twice) > 1e-9, np.maximum(last - first + 1, 0), 0)
    room = np.cumsum(lines * np.clip(np.ptp(x, axis=1), 1.0, width))
    begin = 0
    while begin < len(chosen):
        end = max(int(np.searchsorted(room, (room[begin - 1] if begin else 0.0) + _MOST, side="right")), begin + 1)
        part = slice(begin, end)
        row, line = _count_up(lines[part])
        row += begin
        line += first[row]
        left, right = _clip_line(x, y, np.sign(twice), row, np.asarray(line + 0.5, np.float64))
        start = np.maximum(np.ceil(left - 0.5), 0.0).astype(np.int64)
        stop = np.minimum(np.floor(right - 0.5), width - 1.0).astype(np.int64)
        span, column = _count_up(np.maximum(stop - start + 1, 0))
        column += start[span]
        plane = depths[chosen[row]]
        at_line = plane[:, 1] * (line + 0.5).astype(np.float32) + plane[:, 2]
        depth = plane[span, 0] * (column + 0.5).astype(np.float32) + at_line[span]
        yield chosen[row][span], (line * width)[span] + column, depth
        begin = end


def _clip_line(x: Array, y: Array, sign: Array, row: Places, at: Array) -> tuple[Any, Any]:
    """The points in which lines at heights *at* enter and leave triangles."""
    left, right = np.full(len(row), -np.inf), np.full(len(row), np.inf)
    for k in range(3):
        j = (k + 1) % 3
        px, py = x[row, k], y[row, k]
        rise, run = (y[row, j] - py) * sign[row], (x[row, j] - px) * sign[row]
        slope = np.where(rise == 0.0, 1.0, rise)
        crossing = px + run * (at - py) / slope
        right = np.where(rise > 0.0, np.minimum(right, crossing), right)  # inside is left of an edge that goes up
        left = np.where(rise < 0.0, np.maximum(left, crossing), left)
    inside = np.isfinite(left) & np.isfinite(right)
    return np.where(inside, left, 1.0), np.where(inside, right, 0.0)


def _count_up(counts: Places) -> tuple[Places, Places]:
    """The number of each run, and the place in it, of runs of so many."""
    run = np.repeat(np.arange(len(counts)), counts)
    return run, np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
