"""A motion as one HTML file: a player in plain JavaScript and WebGL, which asks nothing of any network."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import zlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..value.checks import check_extension
from ..value.files import as_path, written
from .replay import DETAIL, Replay, make_replay
from .together import find_grid, put_together

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

_MANY = 5  # of so many motions each has coarser shapes

FORMATS = (".html", ".htm")

_TYPES = {"<f4": "Float32Array", "<u4": "Uint32Array", "<i2": "Int16Array", "|i1": "Int8Array"}


def save_html(
    trajectories: Sequence[Trajectory],
    path: str | os.PathLike[str],
    *,
    beside: bool = False,
    spacing: float | None = None,
    fps: float | None = None,
    contact_forces: bool | float = False,
    units: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write a replay of one motion or several; see `Trajectory.save_html`."""
    file = as_path("path", path)
    check_extension(file, FORMATS)
    choices: dict[str, Any] = {"fps": fps, "contact_forces": contact_forces, "units": units}
    replay = make_replay_of(trajectories, beside=beside, spacing=spacing, **choices)
    page = make_page(replay, title or file.stem)
    with written(file) as new:
        Path(new).write_text(page, encoding="utf-8")
    return file


def make_replay_of(
    trajectories: Sequence[Trajectory],
    *,
    beside: bool = False,
    spacing: float | None = None,
    fps: float | None = None,
    contact_forces: bool | float = False,
    units: Sequence[str] | None = None,
) -> Replay:
    """Take one motion, or several at the times of the first."""
    detail = DETAIL if len(trajectories) < _MANY else 0.7
    replay = make_replay(trajectories[0], fps=fps, contact_forces=contact_forces, units=units, detail=detail)
    if len(trajectories) > 1:
        others = [make_replay(one, times=replay.times, detail=detail) for one in trajectories[1:]]
        places = _choose_places(replay, len(trajectories), beside, spacing)
        replay = put_together([replay, *others], places, are_ghosts=not beside and spacing is None)
    return replay


def _choose_places(replay: Replay, count: int, beside: bool, spacing: float | None) -> Array:
    """Places of the Grounds (count, 3) of several motions: all in one, in a row, or on a level grid."""
    places = np.zeros((count, 3))  # in D
    if beside:
        azimuth = np.radians(replay.about["azimuth"])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        places = 1.05 * max(replay.about["extent"][:2]) * np.arange(count)[:, None] * right
    elif spacing is not None:
        places = find_grid(count, spacing)
    return np.asarray(places @ np.reshape(replay.about["R_DG"], (3, 3)))


def make_page(replay: Replay, title: str) -> str:
    """Make the whole page, as text."""
    room = files(__package__)
    blob, places, offset = [], {}, 0
    for name, array in replay.arrays.items():
        data = array.tobytes()
        places[name] = [_TYPES[array.dtype.str], offset, array.size]
        data += bytes(-len(data) % 4)
        blob.append(data)
        offset += len(data)
    about = json.dumps({**replay.about, "title": title, "arrays": places}, separators=(",", ":")).replace("<", "\\u003c")
    packed = base64.b64encode(zlib.compress(b"".join(blob), 9)).decode("ascii")
    texts = {
        "TITLE": html.escape(title),
        "STYLE": (room / "player.css").read_text(encoding="utf-8"),
        "ABOUT": about,
        "DATA": packed,
        "SCRIPT": (room / "player.js").read_text(encoding="utf-8"),
    }
    # all at once: a name may look like one of the marks
    template = (room / "player.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda mark: texts[mark[1]], template)


def make_frame(replay: Replay, title: str, height: int = 480) -> str:
    """Make the page as a frame within another one, as notebooks show it."""
    page = html.escape(make_page(replay, title), quote=True)
    style = f"position:relative;margin-top:-1.5em;width:100%;height:{height}px;border:1px solid #ddd;border-radius:4px"
    frame = (
        f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}" title="{html.escape(title, quote=True)}"></iframe>'
    )
    # what the frame lies over; notebooks that are not trusted leave frames out
    instead = "Trust this notebook, or run its cell again, to see it move."
    return f'<div style="height:1.5em;overflow:hidden">{instead}</div>{frame}'
