"""Several motions in one replay: as ghosts of the first, or each at a place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from .replay import Replay

GHOST = 0.35
"""Opacity."""

COLORS = ((0.30, 0.47, 0.66), (0.95, 0.56, 0.17), (0.35, 0.63, 0.31), (0.69, 0.48, 0.63), (0.61, 0.46, 0.37))
"""Of ghosts, in turn."""

CURVE_COLORS = ["#{:02x}{:02x}{:02x}".format(*(round(255 * part) for part in color)) for color in COLORS]
"""Of the same motions' curves: those of all but the first."""


def put_together(replays: Sequence[Replay], offsets: Array, are_ghosts: bool) -> Replay:
    """Add motions at the same times to the first one, which is changed.

    Parameters
    ----------
    replays : sequence of Replay
    offsets : (m, 3) array
        Where each Ground is, in the first one's.
    are_ghosts : bool
        Whether all but the first are translucent, each in one colour.
    """
    first, *others = replays
    about, arrays = first.about, first.arrays
    about["own"] = len(about["bodies"])
    count = about["count"]
    moving = {name: [_rows(arrays[name], count)] for name in ("positions", "rotations", "particles")}
    shapes: dict[str, list[NDArray[Any]]] = {name: [arrays[name]] for name in _KEPT}
    curves = [arrays["curves"]]
    R_DG = np.array(about["R_DG"]).reshape(3, 3)
    middle, half = np.array(about["middle"]), np.array(about["extent"]) / 2.0
    low, high = middle - half, middle + half
    for number, (one, offset) in enumerate(zip(others, offsets[1:], strict=True), start=1):
        start = len(about["bodies"])
        color = COLORS[(number - 1) % len(COLORS)] if are_ghosts else None
        alike = all(np.array_equal(first.arrays[name], one.arrays[name]) for name in ("vertices", "normals", "triangles"))
        for k, surface in enumerate(one.about["surfaces"]):
            _add_surface(about, surface, start, color, k if alike else None)
        _add_rest(about, one.about, start, color, number)
        if not alike:
            for name in ("vertices", "normals", "triangles"):
                shapes[name].append(one.arrays[name])
        for name in ("segments", "tracks"):
            shapes[name].append(one.arrays[name])
        for name, values in moving.items():
            own = _rows(one.arrays[name], count)
            values.append(own if name == "rotations" else _moved(own, offset))
        curves.append(one.arrays["curves"])
        shift = R_DG @ offset
        middle, half = np.array(one.about["middle"]) + shift, np.array(one.about["extent"]) / 2.0
        low, high = np.minimum(low, middle - half), np.maximum(high, middle + half)
    for name, values in moving.items():
        arrays[name] = np.concatenate(values, axis=1).ravel()
    for name, parts in shapes.items():
        arrays[name] = np.concatenate(parts)
    about["particles"] = sum(one.about["particles"] for one in others) + about["particles"]
    about["middle"], about["extent"] = ((low + high) / 2.0).tolist(), (high - low).tolist()
    if about["floor"]["color"] is None:
        about["floor"]["height"] = float(low[2])
    shared = all(one.about["curves"] == about["curves"] for one in others)
    about["motions"] = len(replays) if shared else 1
    if shared:
        arrays["curves"] = np.concatenate(curves)
        about["curve_colors"] = CURVE_COLORS
    return first


_KEPT = ("vertices", "normals", "triangles", "segments", "tracks")


def find_grid(count: int, spacing: float) -> Array:
    """Places (count, 3) on a level square grid, in D."""
    side = int(np.ceil(np.sqrt(count)))
    row, column = np.divmod(np.arange(count), side)
    return np.column_stack([spacing * column, spacing * row, np.zeros(count)])


def _add_surface(about: dict[str, Any], surface: dict[str, Any], start: int, color: Any, like: int | None) -> None:
    own = {**surface, "body": surface["body"] + start}
    if color is not None:
        own["color"] = [*color, GHOST * surface["color"][3]]
    if surface["body"] == 0:
        own["casts"] = False
    if like is not None:
        own["like"] = like
    about["surfaces"].append(own)


def _add_rest(about: dict[str, Any], other: dict[str, Any], start: int, color: Any, number: int) -> None:
    about["bodies"] += [f"{name} ({number + 1})" for name in other["bodies"]]
    about["mass_centers"] += other["mass_centers"]
    about["masses"] += other["masses"]
    for one in other["segments"]:
        own = one["color"] if color is None else [*color, GHOST * one["color"][3]]
        about["segments"].append({**one, "bodies": [body + start for body in one["bodies"]], "color": own})
    if color is None:
        about["labels"] += [{**one, "body": one["body"] + start} for one in other["labels"]]
    for one in other["tracks"]:
        own = one["color"] if color is None else [*color, GHOST]
        about["tracks"].append({**one, "bodies": [body + start for body in one["bodies"]], "color": own})


def _rows(values: NDArray[Any], count: int) -> NDArray[Any]:
    return values.reshape(count, -1)


def _moved(values: NDArray[Any], offset: Array) -> NDArray[Any]:
    points = values.reshape(len(values), -1, 3) + offset.astype(values.dtype)
    return np.asarray(points.reshape(len(values), -1), dtype=values.dtype)
