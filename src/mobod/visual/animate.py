"""A film of a trajectory, as GIF or MP4."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ..shapes.contact_arrows import calc_contact_arrows, check_contact_forces
from ..shapes.poses import calc_poses
from ..shapes.tracks import calc_tracks
from ..shapes.view import find_view
from ..value.checks import check_extension
from ..value.files import written
from .scene import Scene

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

FORMATS = (".gif", ".mp4")
"""Formats that can be written, by the file's extension."""

DPI = 100

#: Points of the trace a second.
TRACED = 25.0
TAIL = 3.0
"""Length of the path behind the marked point, in seconds of the film."""


class Animation:
    """A film of a trajectory; a notebook shows it.

    Attributes
    ----------
    path : Path or None
        The file, if one was asked for.
    """

    def __init__(self, trajectory: Trajectory, path: Path | None, options: dict[str, Any]) -> None:
        self.path = path
        self._trajectory = trajectory
        self._options = options
        self._html: str | None = None
        if path is not None:
            _write(trajectory, path, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to another file, ``.gif`` or ``.mp4``."""
        check_extension(Path(path), FORMATS)
        _write(self._trajectory, Path(path), **self._options)

    def _repr_html_(self) -> str:
        if self._html is None:
            if self.path is not None and self.path.exists():
                self._html = _embed(self.path)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / ("film.gif" if find_ffmpeg() is None else "film.mp4")
                    _write(self._trajectory, path, **self._options)
                    self._html = _embed(path)
        return self._html

    def __repr__(self) -> str:
        where = "not written to a file; show it in a notebook, or call save(path)" if self.path is None else self.path
        return f"<Animation of {self._trajectory!r}: {where}>"


def animate_trajectory(
    trajectory: Trajectory,
    path: str | os.PathLike[str] | None = None,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    size: tuple[float, float] = (6.4, 5.6),
    contact_forces: bool | float = False,
    progress: Callable[[int, int], object] | None = None,
) -> Animation:
    """Draw a trajectory as it moves; see `Trajectory.animate`."""
    if not fps > 0.0:
        raise ValueError(f"fps must be positive; it is {fps}")
    if not speed > 0.0:
        raise ValueError(f"speed must be positive; it is {speed}")
    if trajectory.system is None:
        raise ValueError("an animation needs a system; load the trajectory with Trajectory.load(path, system=system)")
    shown = check_contact_forces(contact_forces)
    options = {"fps": fps, "speed": speed, "size": size, "contact_forces": shown, "progress": progress}
    file = None if path is None else Path(path)
    if file is not None:
        check_writer(file)
    return Animation(trajectory, file, options)


def check_writer(path: Path) -> None:
    """Raise a ValueError if a file's extension is unknown, or an ImportError if what writes it is missing."""
    if check_extension(path, FORMATS) == ".mp4" and find_ffmpeg() is None:
        raise ImportError("an MP4 needs ffmpeg: pip install 'mobod[video]', or write a .gif")


def find_ffmpeg() -> str | None:
    """Find the program ffmpeg: on the path, or else the one in the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        import imageio_ffmpeg
    except ImportError:
        return None
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError:  # the package without a program for this platform
        return None


def calc_frame_times(start: float, end: float, fps: float, speed: float, extension: str) -> tuple[np.ndarray[Any, Any], float]:
    """Calculate the times to draw, and the pictures a second as the format can hold them."""
    if extension == ".gif":  # durations are in hundredths of a second, and viewers slow down below two
        fps = 100.0 / max(2, round(100.0 / fps))
    count = int(np.floor((end - start) * fps / speed + 1e-9)) + 1
    return start + np.arange(count) * speed / fps, fps


def _write(
    trajectory: Trajectory,
    path: Path,
    fps: float,
    speed: float,
    size: tuple[float, float],
    contact_forces: bool | float,
    progress: Callable[[int, int], object] | None,
) -> None:
    times, fps = calc_frame_times(trajectory.time[0], trajectory.time[-1], fps, speed, path.suffix.lower())
    # a film of few pictures has a smooth trace all the same
    finer = max(1, round(TRACED / fps))
    fine_times = times[0] + np.arange(finer * (len(times) - 1) + 1) * (speed / fps / finer)
    mechanism, fine_poses, particles = calc_poses(trajectory, fine_times)
    poses, particles = fine_poses[::finer], particles[::finer]
    arrows: list[Any] = [None] * len(times)
    if contact_forces:
        arrows = calc_contact_arrows(trajectory, times, mechanism.size, contact_forces)
    width, height = (2 * round(length * DPI / 2) / DPI for length in size)  # MP4 wants even numbers of dots
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    tracks, view = calc_tracks(trajectory, times), find_view(mechanism, poses, particles)
    scene = Scene(figure, (0.07, 0.08, 0.86, 0.84), mechanism, view, tracks=tracks)
    trace = mechanism.find_marker(fine_poses)
    scene.freeze()
    label = figure.text(0.03, 0.965, "", fontsize=11, va="top", family="monospace")
    figure.text(0.97, 0.965, "" if speed == 1.0 else f"{speed:g} x real time", fontsize=9, va="top", ha="right")
    writer = _make_writer(path, fps)
    tail = round(TAIL * fps) * finer
    scene.show(poses[-1], particles[-1], trace[-tail:], arrows[-1])  # with everything in it that a palette has to have
    with written(path) as beside, _failures_of_ffmpeg(), writer.saving(figure, str(beside), DPI):
        for number, (time, pose) in enumerate(zip(times, poses, strict=True)):
            now = finer * number
            scene.show(pose, particles[number], trace[max(0, now - tail) : now + 1], arrows[number], number)
            label.set_text(f"t = {time:6.2f}")
            writer.grab_frame()
            if progress is not None:
                progress(number + 1, len(times))


@contextlib.contextmanager
def _failures_of_ffmpeg() -> Iterator[None]:
    """Turn an early end of ffmpeg into the error for a file that cannot be written."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise OSError(None, f"ffmpeg ended with status {error.returncode}: {said[-1] if said else 'nothing said'}") from error


def _make_writer(path: Path, fps: float) -> AbstractMovieWriter:
    if path.suffix.lower() == ".gif":
        return _GifWriter(fps=fps)  # type: ignore[arg-type]

    class Writer(FFMpegWriter):
        """Matplotlib looks for ffmpeg in its global settings; this one knows where it is."""

        @classmethod
        def bin_path(cls) -> str:
            return find_ffmpeg() or "ffmpeg"

    # yuv420p: other players than ffmpeg's own show nothing else
    return Writer(fps=fps, codec="h264", extra_args=["-pix_fmt", "yuv420p", "-crf", "20"])  # type: ignore[arg-type]


def _embed(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    if path.suffix.lower() == ".gif":
        return f'<img src="data:image/gif;base64,{data}">'
    return f'<video controls loop autoplay muted src="data:video/mp4;base64,{data}"></video>'


class _GifWriter(AbstractMovieWriter):
    """Like Matplotlib's PillowWriter, with one palette for the whole film: no flicker, and far less time for it."""

    def setup(self, fig: Figure, outfile: str | Path, dpi: float | None = None) -> None:
        super().setup(fig, outfile, dpi=dpi)
        self._palette = self._draw().quantize(255)
        self._pictures: list[Image.Image] = []

    def grab_frame(self, **savefig_kwargs: Any) -> None:
        self._pictures.append(self._draw().quantize(palette=self._palette, dither=Image.Dither.NONE))

    def _draw(self) -> Image.Image:
        canvas: Any = self.fig.canvas
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def finish(self) -> None:
        first, *rest = self._pictures
        first.save(self.outfile, save_all=True, append_images=rest, duration=round(1000 / self.fps), loop=0)
