"""A page that plays motions: one, or several beside each other or as ghosts, with graphs that follow the time."""

from __future__ import annotations

import time as _clock
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.contact_arrows import calc_contact_arrows, check_contact_forces
from ..shapes.poses import calc_poses
from ..shapes.tracks import calc_tracks
from ..shapes.view import View, find_view
from ..value.checks import vector
from .bodies import Bodies
from .curves import find_curves, find_titles
from .page import FollowBox, Page
from .replay import choose_times
from .server import add_dark_box, add_floor, set_camera
from .together import COLORS, CURVE_COLORS, GHOST
from .track_nodes import TrackNodes

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

CURVES = 10.0  # updates of graphs a second
_PATH, _FORCE, _NOW, _PALE = (204, 38, 64), (230, 90, 0), "#c03d3e", "#b8c4d4"


class _Motion:
    """One motion on the page."""

    def __init__(self, server: Any, number: int, trajectory: Trajectory, times: Array, offset: Array, ghost: bool) -> None:
        self.trajectory = trajectory
        self.mechanism, self.X_GB, particles = calc_poses(trajectory, times, 2.0)
        self.X_GB[..., :3, 3] += offset
        self.particles = particles + offset
        self.trace = self.mechanism.find_marker(self.X_GB)
        color = COLORS[(number - 1) % len(COLORS)] if ghost else None
        self.bodies = Bodies(server, self.mechanism, self.X_GB[0], f"/motion{number}", color, GHOST if ghost else 1.0)
        self.tracks = TrackNodes(server, calc_tracks(trajectory, times), f"/motion{number}", self.mechanism.size)
        self.tracks.move(self.X_GB[0])
        self.cloud: Any = None
        if self.particles.shape[1]:
            self.cloud = server.scene.add_point_cloud(
                f"/motion{number}/particles",
                self.particles[0].astype(np.float32),
                (38, 89, 153),
                point_size=0.006 * self.mechanism.size,
                point_shape="circle",
            )

    def move(self, row: int, part: float) -> None:
        """Show a pose between two rows."""
        after = min(row + 1, len(self.X_GB) - 1)
        X = (1.0 - part) * self.X_GB[row] + part * self.X_GB[after]
        X = X if part in (0.0, 1.0) else _orthogonal(X)
        self.bodies.move(X)
        self.tracks.move(X, row, part)
        if self.cloud is not None:
            self.cloud.points = ((1.0 - part) * self.particles[row] + part * self.particles[after]).astype(np.float32)


def _orthogonal(X: Array) -> Array:
    """The nearest rotations to means of two near ones."""
    left, _, right = np.linalg.svd(X[:, :3, :3])
    X[:, :3, :3] = left @ right
    return X


class MotionViewer(Page):
    """A page that plays one motion or several; made by `Trajectory.view`.

    Attributes
    ----------
    url : str
        The page's address, on this machine only.
    time : float
        What is shown; assign to go there.
    """

    def __init__(
        self,
        trajectories: Sequence[Trajectory],
        *,
        beside: bool = False,
        contact_forces: bool | float = False,
        stations: Sequence[tuple[Any, Any]] = (),
        units: Sequence[str] | None = None,
        title: str = "mobod",
        port: int | None = None,
        open_browser: bool = True,
    ) -> None:
        check_contact_forces(contact_forces)
        first = trajectories[0]
        self._times = choose_times(first, None)
        self._titles = find_titles(first, units)
        for other in trajectories[1:]:
            choose_times(other, None)
        super().__init__(title, port)
        self._time, self._playing, self._curve_at = float(self._times[0]), False, 0.0
        try:
            self._build(trajectories, beside, contact_forces, stations)
        except BaseException:
            self.close()
            raise
        self._begin(open_browser)

    # ------------------------------------------------------------------------------------------ for users

    @property
    def time(self) -> float:
        """The time that is shown; assign to go there."""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        with self._lock:
            self._playing = False
            self._seek(float(value))

    def play(self) -> None:
        """Play, from the start where it has ended."""
        with self._lock:
            if self._time >= self._times[-1]:
                self._seek(float(self._times[0]))
            self._playing = len(self._times) > 1
            self._button.label = "Pause"

    def pause(self) -> None:
        """Stop where it is."""
        with self._lock:
            self._playing = False
            self._button.label = "Play"

    # ------------------------------------------------------------------------------------------ building the page

    def _build(self, trajectories: Sequence[Trajectory], beside: bool, contact_forces: Any, stations: Any) -> None:
        first, scene = trajectories[0], self._server.scene
        mechanism, X_GB, particles = calc_poses(first, self._times)
        view = find_view(mechanism, X_GB, particles)
        toward = view.toward_camera * (1.0, 1.0, 0.0)
        right = view.R_DG.T @ np.cross([0.0, 0.0, 1.0], toward / np.linalg.norm(toward))
        apart = 1.05 * float(np.max((view.high - view.low)[:2])) * right if beside else np.zeros(3)
        self._motions = [
            _Motion(self._server, number, one, self._times, number * apart, ghost=number > 0 and not beside)
            for number, one in enumerate(trajectories)
        ]
        view = self._widened(view)
        set_camera(self._server, view)
        add_floor(self._server, view, mechanism, X_GB[0])
        self._arrows = None
        if contact_forces:
            self._arrows = calc_contact_arrows(first, self._times, mechanism.size, contact_forces)
            size = mechanism.size
            self._arrow_node: Any = scene.add_arrows(
                "/forces",
                np.array([[(0.0, 0.0, 0.0), (0.0, 0.0, 1e-6)]]),
                _FORCE,
                shaft_radius=0.004 * size,
                head_radius=0.012 * size,
                head_length=0.03 * size,
            )
        self._paths = self._add_paths(stations)
        self._add_controls()
        self._seek(self._time)

    def _widened(self, view: View) -> View:
        """The first motion's view, with room for the others."""
        low, high = view.low, view.high
        for motion in self._motions[1:]:
            corners = motion.mechanism.calc_corners(motion.X_GB, motion.particles) @ view.R_DG.T
            low, high = np.minimum(low, corners.min(axis=(0, 1))), np.maximum(high, corners.max(axis=(0, 1)))
        return View(view.R_DG, view.azimuth, low, high)

    def _add_paths(self, stations: Any) -> list[Any]:
        """The paths of stations (body, p_B); where none are given, that of the tip or of the mass center."""
        motion = self._motions[0]
        if stations:
            assert motion.trajectory.system is not None
            bodies = motion.trajectory.system.get_matter_subsystem().bodies
            lines = []
            for pair in stations:
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    raise TypeError(f"stations are pairs of a body and a point in its frame, not {pair!r}")
                body, station = pair
                b = bodies[body].index if isinstance(body, str) else int(body)
                X = motion.X_GB[:, b]
                lines.append(X[:, :3, :3] @ vector("a station", station, ValueError) + X[:, :3, 3])
        else:
            lines = [motion.trace]
        nodes = []
        for number, points in enumerate(lines):
            ends = np.stack([points[:-1], points[1:]], axis=1) if len(points) > 1 else np.zeros((1, 2, 3)) + points
            name = f"/paths/{number}"
            node = self._server.scene.add_line_segments(
                name, ends, _PATH, thickness=2.0, thickness_units="screen", visible=bool(stations)
            )
            nodes.append(node)
        return nodes

    def _add_controls(self) -> None:
        gui, first = self._server.gui, self._motions[0].trajectory
        start, end = float(self._times[0]), float(self._times[-1])
        with gui.add_folder("Time"):
            self._button = gui.add_button("Play")
            self._button.on_click(lambda _: self.pause() if self._playing else self.play())
            span = end - start or 1.0
            self._slider = gui.add_slider("time", min=start, max=start + span, step=span / 1e4, initial_value=start)
            self._speed = gui.add_slider("speed", min=0.05, max=4.0, step=0.05, initial_value=1.0)
            self._again = gui.add_checkbox("again", True)
            self._steps = gui.add_button_group("", ["back", "next"])
        with gui.add_folder("Show", expand_by_default=False):
            self._follow = FollowBox(self._server, self._motions[0].mechanism)
            add_dark_box(self._server)
            path = gui.add_checkbox("path", self._paths[0].visible)
            for name in dict.fromkeys(name for motion in self._motions for name in motion.tracks.names):
                self._add_toggle(name)
        with gui.add_folder("Graphs"):
            curves = list(find_curves(first)) or ["energy"]
            self._curve = gui.add_dropdown("quantity", curves, initial_value=curves[0])
            self._plot: Any = None
            self._graphs = gui.add_folder("over time")
        self._slider.on_update(self._moved)
        self._steps.on_click(lambda _: self._step(-1 if self._steps.value == "back" else 1))

        def show_paths(_: Any) -> None:
            for node in self._paths:
                node.visible = path.value

        path.on_update(show_paths)
        self._curve.on_update(lambda _: self._draw_curves())
        self._draw_curves()

    def _add_toggle(self, name: str) -> None:
        """A box for the tracks of a name."""
        box = self._server.gui.add_checkbox(name, True)

        def change(_: Any) -> None:
            with self._lock:
                row, part = self._place_of(self._time)
                for motion in self._motions:
                    motion.tracks.show(name, box.value)
                    motion.move(row, part)

        box.on_update(change)

    # ------------------------------------------------------------------------------------------ time

    def _moved(self, event: Any) -> None:
        if event.client_id is not None:  # by somebody, and not by the page itself
            with self._lock:
                self.pause()
                self._seek(float(self._slider.value), moves_slider=False)

    def _step(self, direction: int) -> None:
        with self._lock:
            self.pause()
            self._seek(self._time + direction * float(self._times[-1] - self._times[0]) / max(len(self._times) - 1, 1))

    def _seek(self, time: float, moves_slider: bool = True) -> None:
        self._time = float(np.clip(time, self._times[0], self._times[-1]))
        row, part = self._place_of(self._time)
        with self._server.atomic():
            for motion in self._motions:
                motion.move(row, part)
            if self._arrows is not None:
                shown = self._arrows[min(round(row + part), len(self._arrows) - 1)]
                self._arrow_node.visible = len(shown) > 0
                if len(shown):
                    self._arrow_node.points = shown.astype(np.float32)
            self._follow.move(self._motions[0].X_GB[row])
        if moves_slider:
            slider: Any = self._slider
            slider.value = self._time
        self._move_cursor(row)

    def _place_of(self, time: float) -> tuple[int, float]:
        """The row before a time, and the part of the way to the next."""
        if len(self._times) < 2:
            return 0, 0.0
        place = (time - self._times[0]) / (self._times[-1] - self._times[0]) * (len(self._times) - 1)
        row = min(int(place), len(self._times) - 2)
        return row, float(place - row)

    def _run(self) -> None:
        try:
            self._keep_pace(self._play_on)
        except Exception as error:
            warnings.warn(f"the viewer stops: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    def _play_on(self, passed: float) -> None:
        if self._playing:
            with self._lock:
                if not self._closed.is_set():
                    self._go_on(passed * float(self._speed.value))

    def _go_on(self, duration: float) -> None:
        start, end = float(self._times[0]), float(self._times[-1])
        time = self._time + duration
        if time >= end:
            if self._again.value:
                time = start + (time - start) % (end - start)
            else:
                self.pause()
        self._seek(time)

    # ------------------------------------------------------------------------------------------ graphs

    def _draw_curves(self) -> None:
        """Draw the chosen quantity of all motions; the first one's part until now in another colour."""
        from viser import uplot

        name = self._curve.value
        title = self._titles.get(name, name)
        self._values = [np.interp(self._times, one.trajectory.time, _curve_of(one.trajectory, name)) for one in self._motions]
        if self._plot is not None:
            self._plot.remove()
        low, high = min(float(v.min()) for v in self._values), max(float(v.max()) for v in self._values)
        is_constant = high - low <= 1e-12 * max(abs(low), abs(high))
        margin = (0.5 * abs(high) or 1.0) if is_constant else 0.05 * (high - low)
        series = [uplot.Series(label="time"), uplot.Series(label=title, stroke=_PALE, width=1.5)]
        for k in range(1, len(self._values)):
            color = CURVE_COLORS[(k - 1) % len(CURVE_COLORS)]
            series.append(uplot.Series(label=f"{title}, motion {k + 1}", stroke=color, width=1.5))
        series.append(uplot.Series(label="until now", stroke=_NOW, width=2.0))
        with self._graphs:
            self._plot = self._server.gui.add_uplot(
                (self._times, *self._values, self._until(self._place_of(self._time)[0])),
                tuple(series),
                scales={"x": uplot.Scale(time=False), "y": uplot.Scale(range=(low - margin, high + margin))},
                aspect=1.6,
            )

    def _until(self, row: int) -> Array:
        """The first curve as far as now; afterwards nothing, which is NaN."""
        return np.where(np.arange(len(self._times)) <= row, self._values[0], np.nan)

    def _move_cursor(self, row: int) -> None:
        now = _clock.perf_counter()
        if self._plot is not None and (now - self._curve_at > 1.0 / CURVES or not self._playing):
            self._curve_at = now
            self._plot.data = (self._times, *self._values, self._until(row))


def _curve_of(trajectory: Trajectory, name: str) -> Array:
    found = find_curves(trajectory)
    return found[name] if name in found else np.zeros(len(trajectory))
