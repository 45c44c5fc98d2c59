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
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from ..shapes.contact_arrows import calc_contact_arrows, check_contact_forces
from ..shapes.poses import calc_poses
from ..shapes.tracks import calc_tracks, place_all
from ..shapes.view import find_view
from ..value.checks import among, check_extension, positive
from ..value.files import written
from .card import find_card_scene
from .scene import Scene

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

FORMATS = (".gif", ".mp4")
"""Formats that can be written, by the file's extension."""

DPI = 100

#: Points of the trace a second.
TRACED = 100.0
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
    renderer: str = "auto",
    progress: Callable[[int, int], object] | None = None,
) -> Animation:
    """Draw a trajectory as it moves; see `Trajectory.animate`."""
    positive("fps", fps, ValueError)
    positive("speed", speed, ValueError)
    if trajectory.system is None:
        raise ValueError("an animation needs a system; load the trajectory with Trajectory.load(path, system=system)")
    shown = check_contact_forces(contact_forces)
    among("renderer", renderer, ("auto", "card", "matplotlib"))
    options = {"fps": fps, "speed": speed, "size": size, "contact_forces": shown, "renderer": renderer, "progress": progress}
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
    renderer: str,
    progress: Callable[[int, int], object] | None,
) -> None:
    times, fps = calc_frame_times(trajectory.time[0], trajectory.time[-1], fps, speed, path.suffix.lower())
    # the trace is smooth, however few the pictures
    finer = max(1, round(TRACED / fps))
    fine_times = times[0] + np.arange(finer * (len(times) - 1) + 1) * (speed / fps / finer)
    mechanism, fine_poses, particles = calc_poses(trajectory, fine_times)
    poses, particles = fine_poses[::finer], particles[::finer]
    arrows: list[Any] = [None] * len(times)
    if contact_forces:
        arrows = calc_contact_arrows(trajectory, times, mechanism.size, contact_forces)
    # MP4 wants even numbers of dots; a trifle more, since Matplotlib cuts off what is less than a dot
    width, height = ((2 * round(length * DPI / 2) + 1e-6) / DPI for length in size)
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    tracks = calc_tracks(trajectory, times)
    view = find_view(mechanism, poses, particles, place_all(tracks, poses))
    scene = Scene(figure, (0.07, 0.08, 0.86, 0.84), mechanism, view, tracks=tracks)
    trace = mechanism.find_marker(fine_poses)
    figure.text(0.97, 0.965, "" if speed == 1.0 else f"{speed:g} x real time", fontsize=9, va="top", ha="right")
    tail = round(TAIL * fps) * finer
    paint = _painter(scene, figure, renderer)

    def picture(number: int) -> NDArray[np.uint8]:
        now = finer * number
        seen = poses[number], particles[number], trace[max(0, now - tail) : now + 1], arrows[number], number
        return paint(f"t = {times[number]:6.2f}", *seen)

    writer = _make_writer(path, fps)
    writer.picture = picture(len(times) - 1)  # with everything in it that a palette has to have
    with written(path) as beside, _failures_of_ffmpeg(), writer.saving(figure, str(beside), DPI):
        for number in range(len(times)):
            writer.picture = picture(number)
            writer.grab_frame()
            if progress is not None:
                progress(number + 1, len(times))


def _painter(scene: Scene, figure: Figure, renderer: str) -> Callable[..., NDArray[np.uint8]]:
    """A function of a label and of what `Scene.show` takes, for a picture (height, width, 3)."""
    card, _ = find_card_scene(scene, renderer)
    if card is not None:

        def by_card(label: str, *seen: Any) -> NDArray[np.uint8]:
            pixels = card.draw(*seen)
            height, width = pixels.shape[:2]
            card.put_text(pixels, label, 0.03 * width, 0.965 * height, fontsize=11.0, va="top", family="monospace")
            return pixels

        return by_card
    scene.freeze()
    text, canvas = figure.text(0.03, 0.965, "", fontsize=11, va="top", family="monospace"), cast(Any, figure.canvas)

    def by_matplotlib(label: str, *seen: Any) -> NDArray[np.uint8]:
        scene.show(*seen)
        text.set_text(label)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3]

    return by_matplotlib


@contextlib.contextmanager
def _failures_of_ffmpeg() -> Iterator[None]:
    """Turn an early end of ffmpeg into the error for a file that cannot be written."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise OSError(None, f"ffmpeg ended with status {error.returncode}: {said[-1] if said else 'nothing said'}") from error


def _make_writer(path: Path, fps: float) -> _GifWriter | _Mp4Writer:
    if path.suffix.lower() == ".gif":
        return _GifWriter(fps=fps)  # type: ignore[arg-type]
    # yuv420p: other players than ffmpeg's own show nothing else
    return _Mp4Writer(fps=fps, codec="h264", extra_args=["-pix_fmt", "yuv420p", "-crf", "20"])  # type: ignore[arg-type]


class _Mp4Writer(FFMpegWriter):
    """Matplotlib's looks for ffmpeg in its global settings, and draws the figure; this knows where it is, and has a picture."""

    picture: NDArray[np.uint8]

    @classmethod
    def bin_path(cls) -> str:
        return find_ffmpeg() or "ffmpeg"

    @property
    def frame_size(self) -> tuple[int, int]:
        """The picture's: Matplotlib makes the figure's even, twice, and may cut off two dots where it rounds."""
        return self.picture.shape[1], self.picture.shape[0]

    def grab_frame(self, **savefig_kwargs: Any) -> None:
        opaque = np.full((*self.picture.shape[:2], 1), 255, np.uint8)
        pipe = vars(self)["_proc"].stdin  # the types do not tell it
        pipe.write(np.concatenate([self.picture, opaque], axis=2).tobytes())


def _embed(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    if path.suffix.lower() == ".gif":
        return f'<img src="data:image/gif;base64,{data}">'
    return f'<video controls loop autoplay muted src="data:video/mp4;base64,{data}"></video>'


class _GifWriter(AbstractMovieWriter):
    """Like Matplotlib's PillowWriter, with one palette for the whole film: no flicker, and far less time for it."""

    picture: NDArray[np.uint8]

    def setup(self, fig: Figure, outfile: str | Path, dpi: float | None = None) -> None:
        super().setup(fig, outfile, dpi=dpi)
        self._palette = Image.fromarray(self.picture).quantize(255)
        self._pictures: list[Image.Image] = []

    def grab_frame(self, **savefig_kwargs: Any) -> None:
        picture = Image.fromarray(self.picture)
        self._pictures.append(picture.quantize(palette=self._palette, dither=Image.Dither.NONE))

    def finish(self) -> None:
        first, *rest = self._pictures
        first.save(self.outfile, save_all=True, append_images=rest, duration=round(1000 / self.fps), loop=0)
