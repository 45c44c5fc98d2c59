"""A motion as plain arrays at equal distances in time: what files for the browser hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from ..shapes.contact_arrows import calc_contact_arrows, check_contact_forces
from ..shapes.mechanism import Mechanism
from ..shapes.normals import split_at_creases
from ..shapes.poses import calc_poses
from ..shapes.shape_maker import Surface
from ..shapes.tracks import Track, calc_tracks, place_all
from ..shapes.view import ELEVATION, View, find_center, find_close_view, find_level_planes, find_view
from ..value.checks import positive
from .curves import find_curves, find_titles
from .rotations import to_quaternions

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

FPS = 50.0
"""Poses a second, between which a player interpolates."""

DETAIL = 3.0
"""Of what is round: with 48 corners or more around it is, on a page as large as a screen."""

MOST = 3000
"""Poses of a motion, unless told."""

_MOST_PARTICLES = 300_000  # locations over all poses: 3.6 MB before they are compressed
_FOLLOW = 3.0  # a motion this many times as large as what moves is followed
_CURVES, _CURVES_WITH_SPEEDS = 120, 40  # at most; they are a good part of a page
_MARKS, _LINES = 400, 12  # of events on the time line, and lines that each has, at most


@dataclass
class Replay:
    """A motion, ready to be written.

    Attributes
    ----------
    about : dict
        What JSON can hold: names, colours, counts, the view.
    arrays : dict of str to array
        Numbers, as they are written.
    mechanism : Mechanism
    X_GB : (n, nb, 4, 4) array
        The poses.
    times : (n,) array
    """

    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    mechanism: Mechanism
    X_GB: Array
    times: Array
    surfaces: list[tuple[Surface, Array, NDArray[np.int64], Array]] = field(default_factory=list)


def make_replay(
    trajectory: Trajectory,
    *,
    fps: float | None = None,
    contact_forces: bool | float = False,
    units: Sequence[str] | None = None,
    detail: float = DETAIL,
    times: Array | None = None,
) -> Replay:
    """Take a motion at equal distances in time, or at *times*, with all that is needed to show it."""
    check_contact_forces(contact_forces)
    own = choose_times(trajectory, fps)
    times = own if times is None else times
    mechanism, X_GB, particles = calc_poses(trajectory, times, detail)
    replay = _describe(mechanism, X_GB, particles, times, calc_tracks(trajectory, times))
    known = find_curves(trajectory)
    speeds = [name for name in known if name.startswith("speed of ")]
    names = [name for name in known if name not in speeds][:_CURVES]
    names += speeds[: max(0, _CURVES_WITH_SPEEDS - len(names))]
    curves = [np.interp(times, trajectory.time, known[name]) for name in names]
    replay.about["events"] = find_marks(trajectory, float(times[0]), float(times[-1]))
    titles = find_titles(trajectory, units)
    replay.about["curves"], replay.about["curve_titles"] = names, [titles[name] for name in names]
    replay.arrays["curves"] = np.array(curves, dtype="<f4").ravel()
    if contact_forces:
        arrows = calc_contact_arrows(trajectory, times, mechanism.size, contact_forces)
        replay.arrays["arrow_counts"] = np.array([len(one) for one in arrows], dtype="<u4")
        replay.arrays["arrows"] = np.concatenate(arrows).astype("<f4").ravel()
    return replay


def find_marks(trajectory: Trajectory, start: float, end: float) -> list[tuple[float, str]]:
    """Times of events and what happened there, at most `_MARKS` of them: what is as near as that shares one.

    Scheduled handlers that have changed no energy, such as a controller's, are left out.
    """
    apart = (end - start) / _MARKS
    marks: list[tuple[float, list[str]]] = []
    lines: list[str] = []
    for one in trajectory.events:
        if (one.kind == "scheduled" and not one.energy) or not start <= one.time <= end:
            continue
        if not marks or one.time - marks[-1][0] > apart:
            marks.append((one.time, lines := []))
        energy = f", energy {one.energy:+.3g}" if one.energy else ""
        words = " ".join(word for word in (one.name, one.kind, one.direction, one.witness) if word)
        lines.append(f"{one.time:.6g}: {words}{energy}")
    return [(time, _joined_lines(lines)) for time, lines in marks]


def _joined_lines(lines: list[str]) -> str:
    more = [f"and {len(lines) - _LINES} more"] if len(lines) > _LINES else []
    return "\n".join([*lines[:_LINES], *more])


def make_still(mechanism: Mechanism, X_GB: Array, time: float, tracks: Sequence[Track]) -> Replay:
    """One pose, (nb, 4, 4), as a motion without time."""
    return _describe(mechanism, X_GB[None], np.zeros((1, 0, 3)), np.array([time]), tracks)


def _add_tracks(replay: Replay, tracks: Sequence[Track]) -> None:
    """Their stations, point by point over time: what stays where it is takes next to no room when it is compressed."""
    replay.about["tracks"] = [
        {
            "name": one.name,
            "color": [*one.color, 1.0],
            "bodies": np.asarray(one.bodies).tolist(),
            "lines": one.are_lines,
            "width": one.width,
            "labels": list(one.labels),
            "rows": len(one.stations),
        }
        for one in tracks
    ]
    numbers = [one.stations.transpose(1, 2, 0).astype("<f4").ravel() for one in tracks]
    replay.arrays["tracks"] = _joined(numbers, "<f4")


def choose_times(trajectory: Trajectory, fps: float | None) -> Array:
    """Choose times at equal distances, 50 a second and no more than 3,000 unless told; or raise a ValueError."""
    if trajectory.system is None or len(trajectory) == 0:
        raise ValueError(
            "a replay needs a trajectory with a system and at least one time; load it with Trajectory.load(path, system=system)"
        )
    start, end = float(trajectory.time[0]), float(trajectory.time[-1])
    count = (end - start) * FPS if fps is None else (end - start) * positive("fps", fps, ValueError)
    if fps is None:
        count = min(count, MOST - 1)
    return np.linspace(start, end, max(1, round(count)) + 1) if end > start else np.array([start])


def _describe(mechanism: Mechanism, X_GB: Array, particles: Array, times: Array, tracks: Sequence[Track]) -> Replay:
    view, followed = _choose_view(mechanism, X_GB, particles, tracks)
    particles = particles[:, :: -(-particles.size // (3 * _MOST_PARTICLES)) or 1]
    arrays: dict[str, NDArray[Any]] = {
        "positions": X_GB[..., :3, 3].astype("<f4").ravel(),
        "rotations": np.round(32767.0 * to_quaternions(X_GB[..., :3, :3])).astype("<i2").ravel(),
        "trace": mechanism.find_marker(X_GB).astype("<f4").ravel(),
        "particles": particles.astype("<f4").ravel(),
    }
    surfaces = [(part, *split_at_creases(part.vertices, part.triangles)) for part in mechanism.surfaces]
    surfaces = [one for one in surfaces if len(one[2])]
    about: dict[str, Any] = {
        "start": float(times[0]),
        "end": float(times[-1]),
        "count": len(times),
        "bodies": [link.name for link in mechanism.links],
        "particles": particles.shape[1],
        "surfaces": [_describe_surface(*one) for one in surfaces],
        "segments": [
            {"bodies": list(map(int, one.bodies)), "color": [*one.color, one.opacity], "width": one.width}
            for one in mechanism.segments
        ],
        "labels": [
            {"body": int(body), "station": _rounded(station), "text": text, "color": list(color)}
            for body, station, text, color in mechanism.texts
        ],
        "mass_centers": [_rounded(link.com) for link in mechanism.links],
        "masses": [float(link.mass) for link in mechanism.links],
        "size": mechanism.size,
        "followed": followed,
        **_describe_view(mechanism, view, X_GB),
    }
    arrays["vertices"] = _joined([one[1].astype("<f4").ravel() for one in surfaces], "<f4")
    normals = [np.round(127.0 * one[3]).astype("i1") for one in surfaces]
    arrays["normals"] = _joined([np.pad(one, ((0, 0), (0, 1))).ravel() for one in normals], "i1")
    arrays["triangles"] = _joined([one[2].astype("<u4").ravel() for one in surfaces], "<u4")
    arrays["segments"] = _joined([one.points.astype("<f4").ravel() for one in mechanism.segments], "<f4")
    replay = Replay(about, arrays, mechanism, X_GB, times, surfaces)
    _add_tracks(replay, tracks)
    return replay


def _choose_view(mechanism: Mechanism, X_GB: Array, particles: Array, tracks: Sequence[Track]) -> tuple[View, int]:
    """Choose the view of the whole motion and -1, or of what goes far beyond its own size, and the body to follow."""
    view = find_view(mechanism, X_GB, particles)
    close = find_close_view(mechanism, X_GB, particles, view)
    if np.linalg.norm(view.high - view.low) < _FOLLOW * np.linalg.norm(close.high - close.low):
        return find_view(mechanism, X_GB, particles, place_all(tracks, X_GB)), -1
    masses = [link.mass for link in mechanism.links]
    start = find_center(mechanism, X_GB[0], particles[0], view)
    return close.moved_to(start), int(np.argmax(masses))


def _describe_surface(part: Surface, vertices: Array, triangles: NDArray[np.int64], normals: Array) -> dict[str, Any]:
    return {
        "body": int(part.body),
        "color": [*part.color, part.opacity],
        "vertices": len(vertices),
        "triangles": len(triangles),
    }


def _describe_view(mechanism: Mechanism, view: View, X_GB: Array) -> dict[str, Any]:
    """The camera at the beginning, and the floor; what is in D, whose z axis is up, has its rotation beside it."""
    floor: dict[str, Any] = {"height": float(view.low[2]), "color": None, "opacity": 1.0}
    level = find_level_planes(mechanism, X_GB[0], view.R_DG)
    for plane, height in level:
        floor = {"height": height, "color": list(plane.color), "opacity": plane.opacity}
    planes = [
        {
            "body": int(plane.body),
            "point": _rounded(plane.point),
            "normal": _rounded(plane.normal),
            "color": [*plane.color, plane.opacity],
        }
        for plane in mechanism.planes
        if all(plane is not one for one, _ in level)
    ]
    middle, extent = (view.low + view.high) / 2.0, view.high - view.low
    return {
        "R_DG": view.R_DG.ravel().tolist(),
        "floor": floor,
        "planes": planes,
        "azimuth": view.azimuth,
        "elevation": ELEVATION,
        "middle": middle.tolist(),
        "extent": extent.tolist(),
    }


def _rounded(values: Array) -> list[float]:
    return [float(f"{value:.6g}") for value in np.asarray(values).tolist()]


def _joined(parts: list[NDArray[Any]], dtype: str) -> NDArray[Any]:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.zeros(0, dtype=dtype)
