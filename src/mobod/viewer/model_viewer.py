"""A page on which a mechanism is looked at, posed and simulated."""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..assembler import Assembler, Markers, QValue
from ..errors import ConvergenceError, MobodError
from ..shapes.coordinate_kinds import check_units
from ..shapes.mechanism import Mechanism, find_body_transforms
from ..shapes.tracks import Track, find_tracks, of_markers
from ..shapes.view import find_view
from ..value.stage import Stage
from .bodies import Bodies
from .body_report import describe_body, describe_constraints
from .coordinates import Coordinate, list_coordinates
from .overlays import Overlays, find_wraps
from .page import FollowBox, Page
from .parameter_sliders import ParameterSlider, list_parameters
from .server import add_dark_box, add_floor, look_from_here, set_camera, set_look
from .simulator import Pull, Simulator, Stepper
from .track_nodes import TrackNodes

if TYPE_CHECKING:
    from ..state.state import State
    from ..system.system import MultibodySystem
    from ..value.annotations import Model

MOST_SLIDERS = 80

_SLOWEST = 0.2  # of real time that one piece may stand for, however long the one before took
_FOLLOWED_GOAL = 1.0
_STAY = 1e-3  # weight of staying where it is, beside going where it is dragged
_DETAIL = 2.0


class Viewer(Page):
    """A page that shows a mechanism; made by `mobod.view`.

    Attributes
    ----------
    url : str
        The page's address, on this machine only.
    state : State
        What is shown; a copy.
    """

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        *,
        make_stepper: Callable[[MultibodySystem], Stepper],
        title: str = "mobod",
        ranges: Mapping[str, tuple[float, float]] | None = None,
        parameters: Any = (),
        units: Sequence[str] | None = None,
        model: Model | None = None,
        port: int | None = None,
        open_browser: bool = True,
    ) -> None:
        check_units(units)
        super().__init__(title, port)
        self._units = units
        self._make_stepper, self._wanted_parameters = make_stepper, parameters
        try:
            self._build(system, state, ranges, model)
        except BaseException:
            self.close()
            raise
        self._begin(open_browser)

    # ------------------------------------------------------------------------------------------ for users

    @property
    def state(self) -> State:
        """The state that is shown now, a copy."""
        with self._lock:
            return self._state.copy()

    def show(self, state: State) -> None:
        """Show a copy of a state, from a loop of one's own. A page that fails warns once, and never raises."""
        state.check_owner(self._system, "show")
        if self.is_closed:
            return
        try:
            with self._lock:
                self._playing = False
                self._accept(state.copy())
        except Exception as error:
            self._warn(error)

    def __repr__(self) -> str:
        return f"<Viewer of {self._system.name!r} {'closed' if self.is_closed else f'at {self.url}'}>"

    def replace(
        self,
        system: MultibodySystem,
        state: State,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        model: Model | None = None,
    ) -> None:
        """Show another system, such as the same file read again; coordinates of the same names keep their values."""
        with self._lock:
            kept = {one.name: one.read(self._state) for one in self._coordinates}
            self._server.scene.reset()
            self._server.gui.reset()
            set_look(self._server)
            self._build(system, state, ranges, model, kept)

    # ------------------------------------------------------------------------------------------ building the page

    def _build(
        self,
        system: MultibodySystem,
        state: State,
        ranges: Mapping[str, tuple[float, float]] | None,
        model: Model | None = None,
        kept: Mapping[str, float] | None = None,
    ) -> None:
        self._system, self._state, self._start = system, state.copy(), state.copy()
        self._playing, self._selected = False, -1
        self._dragged: Pull | None = None
        X_GB = find_body_transforms(system, self._state)
        self._mechanism = Mechanism.of(system, self._state, _DETAIL)
        self._coordinates = list_coordinates(system, self._state, self._mechanism.size, ranges)
        self._parameters = list_parameters(system, self._state, self._wanted_parameters)
        for one in self._coordinates:
            if kept and one.name in kept and one.is_free:
                one.write(self._state, kept[one.name])
        self._simulator = Simulator(system, lambda: self._make_stepper(system))
        view = find_view(self._mechanism, X_GB[None], np.zeros((1, 0, 3)))
        set_camera(self._server, view)
        add_floor(self._server, view, self._mechanism, X_GB)
        self._bodies = Bodies(self._server, self._mechanism, X_GB)
        self._bodies.on_click(self._select)
        self._bodies.on_drag(self._drag)
        self._overlays = Overlays(self._server, system, self._bodies, self._state, find_wraps(model))
        self._own_tracks = of_markers(model.markers if model else {})
        self._tracks = TrackNodes(self._server, self._find_tracks(), "/tracks", self._mechanism.size)
        self._tether = self._server.scene.add_line_segments(
            "/tether", np.zeros((1, 2, 3)), (220, 40, 60), thickness=3.0, thickness_units="screen", visible=False
        )
        self._add_controls()
        if kept:
            self._pose(self._state)
        self._refresh()

    def _add_controls(self) -> None:
        gui = self._server.gui
        with gui.add_folder("Motion"):
            self._play_button = gui.add_button("Play", hint="simulate from the pose that is shown")
            self._play_button.on_click(lambda _: self._guarded(self._toggle))
            actions = {"Step": self._single_step, "Reset": self._reset, "Random pose": self._randomize, "View": self._look}
            buttons = gui.add_button_group("", list(actions))
            buttons.on_click(lambda _: self._guarded(actions[buttons.value]))
            self._speed = gui.add_slider("speed", min=0.05, max=2.0, step=0.05, initial_value=1.0)
            self._clock_text = gui.add_markdown("")
        with gui.add_folder("Body"):
            self._body_text = gui.add_markdown(
                "Click a body to see what it is. Drag one: at rest the mechanism is posed, while it plays it is pulled."
            )
        self._parameter_sliders = []
        #: What each slider was last given of the state.
        self._told: dict[int, float] = {}
        if self._parameters:
            with gui.add_folder("Parameters"):
                self._parameter_sliders = [self._add_parameter(one) for one in self._parameters]
        with gui.add_folder("Coordinates", expand_by_default=len(self._coordinates) <= 20):
            self._sliders = [self._add_slider(one) for one in self._coordinates[:MOST_SLIDERS]]
            if len(self._coordinates) > MOST_SLIDERS:
                gui.add_markdown(f"{len(self._coordinates) - MOST_SLIDERS} more have no slider; drag their bodies.")
            if not self._coordinates:
                gui.add_markdown("none")
        with gui.add_folder("Show", expand_by_default=False):
            for name in self._tracks.names:
                self._add_track_toggle(name)
            for name in Overlays.NAMES:
                self._add_toggle(name)
            self._errors_box = gui.add_checkbox("constraint errors", False)
            self._errors_text = gui.add_markdown("", visible=False)
            self._errors_box.on_update(lambda _: self._guarded(self._refresh))
            add_dark_box(self._server)
            self._follow = FollowBox(self._server, self._mechanism)

    def _add_toggle(self, name: str) -> None:
        box = self._server.gui.add_checkbox(name, False)

        def change() -> None:
            self._overlays.show(name, box.value, self._state)
            if box.value and (why := self._overlays.explain_nothing(name)):
                self._say(why, "yellow")

        box.on_update(lambda _: self._guarded(change))

    def _add_track_toggle(self, name: str) -> None:
        box = self._server.gui.add_checkbox(name, True)

        def change() -> None:
            self._tracks.show(name, box.value)
            self._refresh()

        box.on_update(lambda _: self._guarded(change))

    def _find_tracks(self) -> list[Track]:
        """Muscles, tendons and springs as they are now, and markers."""
        return [*find_tracks(self._system, [self._state]), *self._own_tracks]

    def _add_slider(self, one: Coordinate) -> Any:
        low, high = one.shown_range
        slider = self._server.gui.add_slider(
            one.label(self._units),
            min=low,
            max=high,
            step=one.step,
            initial_value=one.show(self._state),
            disabled=not one.is_free,
        )
        return self._let_slide(slider, self._slide, one)

    def _add_parameter(self, one: ParameterSlider) -> Any:
        slider = self._server.gui.add_slider(
            one.label(self._units), min=one.low, max=one.high, step=one.step, initial_value=one.shown(self._state)
        )
        return self._let_slide(slider, self._set_parameter, one)

    def _let_slide(self, slider: Any, take: Callable[..., Any], one: Any) -> Any:
        """Let a slider change the state by *take*, which gets *one* and the value."""

        def moved(event: Any) -> None:
            if event.client_id is not None:  # by somebody, and not by the page itself
                wanted = float(event.target.value)
                self._told.pop(id(slider), None)  # it shows what the state has then, also where that was refused
                self._guarded(take, one, wanted)

        slider.on_update(moved)
        return slider

    # ------------------------------------------------------------------------------------------ what users do

    def _guarded(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do what somebody has asked for on the page; what goes wrong is said there, and the state stays as it was."""
        with self._lock:
            if self._closed.is_set():
                return
            before = self._state
            try:
                action(*arguments)
            except MobodError as error:
                self._state, self._playing = before, False
                self._say(str(error))
                self._refresh()
            except Exception as error:
                self._state, self._playing = before, False
                self._say(f"{type(error).__name__}: {error}")
                warnings.warn(f"the viewer: {traceback.format_exc()}", RuntimeWarning, stacklevel=2)

    def _say(self, text: str, color: Any = "red") -> None:
        for client in self._server.get_clients().values():
            client.add_notification("mobod", text, auto_close_seconds=8.0, color=color)

    def _toggle(self) -> None:
        self._playing = not self._playing
        self._simulator.restart()
        self._refresh()

    def _single_step(self) -> None:
        self._playing = False
        self._state = self._simulator.advance(self._state, 0.01).copy()
        self._simulator.restart()
        self._refresh()

    def _reset(self) -> None:
        self._accept(self._start.copy())

    def _randomize(self) -> None:
        state = self._state.copy()
        rng = np.random.default_rng()
        for one in self._coordinates:
            if one.is_free:
                one.write(state, float(rng.uniform(one.low, one.high)))
        state.u = np.zeros_like(state.u)
        self._accept(self._pose(state))

    def _look(self) -> None:
        """Send each client the pose that is shown."""
        X_GB = find_body_transforms(self._system, self._state)
        look_from_here(self._server, find_view(self._mechanism, X_GB[None], np.zeros((1, 0, 3))))
        self._follow.begin_anew()

    def _slide(self, one: Coordinate, shown: float) -> None:
        state = self._state.copy()
        one.write(state, float(np.clip(shown / one.factor, one.low, one.high)))
        state.u = np.zeros_like(state.u)
        goals = []
        if not one.is_orientation:
            goals = [(QValue(one.mobod, one.which, one.read(state)), _FOLLOWED_GOAL)]
        self._accept(self._pose(state, goals))

    def _set_parameter(self, one: ParameterSlider, value: float) -> None:
        """Give the model another number; what plays goes on with it."""
        state = self._state.copy()
        one.write(state, value)
        self._accept(self._pose(state))

    def _pose(self, state: State, goals: Any = ()) -> State:
        """Assemble where there are constraints; returns the state that fulfils them and is nearest to the goals."""
        self._system.realize(state, Stage.POSITION)
        if not len(state.q_err) or (not goals and float(np.abs(state.q_err).max(initial=0.0)) < 1e-9):
            return state
        assembler = Assembler(self._system)
        for goal, weight in goals:
            assembler.adopt_assembly_goal(goal, weight)
        if goals:
            self._adopt_staying(assembler, self._state)
        assembler.assemble(state)
        return state

    def _adopt_staying(self, assembler: Assembler, state: State) -> None:
        """Take the pose of a state as the goal for all that need not move."""
        for one in self._coordinates:
            if one.is_free and not (one.is_orientation and one.which):
                for k in range(4 if one.is_orientation else 1):
                    which, value = (k if one.is_orientation else one.which), float(state.q[one.place + k])
                    assembler.adopt_assembly_goal(QValue(one.mobod, which, value), _STAY)

    def _select(self, body: int) -> None:
        with self._lock:
            self._selected = body
            self._refresh()

    def _drag(self, body: int, event: Any) -> None:
        """Remember where a body is held and where to it is dragged; the page's own thread does the rest."""
        if event.phase == "end":
            self._dragged, self._simulator.pull = None, None
            return
        target = np.asarray(event.end_position, dtype=np.float64)
        held = self._dragged
        if event.phase == "start" or held is None or held.body != body:
            with self._lock:
                X_GB = find_body_transforms(self._system, self._state)[body]
            station = X_GB[:3, :3].T @ (np.asarray(event.start_position, dtype=np.float64) - X_GB[:3, 3])
            self._dragged = Pull(body, station, target)
        else:
            self._dragged = Pull(body, held.station, target)

    def _drag_pose(self, pull: Pull) -> None:
        """Bring a station as near to the mouse as the mechanism lets it."""
        markers = Markers()
        markers.add_marker("held", pull.body, pull.station)
        markers.move_all_observations([pull.target])
        state = self._state.copy()
        state.u = np.zeros_like(state.u)
        assembler = Assembler(self._system)
        assembler.adopt_assembly_goal(markers, _FOLLOWED_GOAL / self._mechanism.size**2)
        for one in self._coordinates:
            if not one.is_orientation and one.is_free:
                assembler.restrict_q(one.mobod, one.which, min(one.low, one.read(state)), max(one.high, one.read(state)))
        self._adopt_staying(assembler, state)
        try:
            assembler.assemble(state)
        except ConvergenceError:  # it cannot go there: it stays, until the mouse is somewhere else
            return
        self._accept(state)

    # ------------------------------------------------------------------------------------------ what is shown

    def _accept(self, state: State) -> None:
        self._state = state
        self._simulator.restart()
        self._refresh()

    def _show(self, slider: Any, value: float, step: float) -> None:
        """Update a slider whose number has changed in the state: else what somebody has just typed would be overwritten."""
        if not abs(value - self._told.get(id(slider), math.inf)) <= 0.5 * step:
            self._told[id(slider)] = value
            if abs(value - slider.value) > 0.5 * step:
                slider.value = value

    def _refresh(self) -> None:
        """Bring the page to the state."""
        X_GB = find_body_transforms(self._system, self._state)
        with self._server.atomic():
            self._bodies.move(X_GB)
            self._overlays.update(self._state)
            if self._tracks.tracks:
                self._tracks.replace(self._find_tracks())
                self._tracks.move(X_GB)
            self._place_tether(X_GB)
            self._follow.move(X_GB)
        for one, slider in zip(self._coordinates, self._sliders, strict=False):
            self._show(slider, one.show(self._state), one.step)
        for parameter, slider in zip(self._parameters, self._parameter_sliders, strict=True):
            self._show(slider, parameter.shown(self._state), parameter.step)
        speed = self._simulator.speed
        rate = f", {speed:.3g} times real time can be had" if np.isfinite(speed) else ""
        unit = f" {self._units[2]}" if self._units else ""
        self._clock_text.content = f"t = {self._state.time:.3f}{unit}{rate}"
        self._play_button.label = "Pause" if self._playing else "Play"
        if self._selected >= 0:
            self._body_text.content = describe_body(self._system, self._state, self._selected, self._units)
        self._errors_text.visible = self._errors_box.value
        if self._errors_box.value:
            self._errors_text.content = describe_constraints(self._system, self._state)

    def _place_tether(self, X_GB: Array) -> None:
        held = self._dragged
        self._tether.visible = held is not None
        if held is not None:
            start = X_GB[held.body, :3, :3] @ held.station + X_GB[held.body, :3, 3]
            self._tether.points = np.array([[start, held.target]], dtype=np.float32)

    def _run(self) -> None:
        """Simulate, pull and pose, at the speed of pictures."""
        self._keep_pace(self._go_on)

    def _go_on(self, passed: float) -> None:
        held = self._dragged
        if self._playing:
            with self._lock:
                self._simulator.pull = held
                self._guarded(self._advance, min(passed, _SLOWEST) * float(self._speed.value))
        elif held is not None:
            self._guarded(self._drag_pose, held)
        elif self._tether.visible:
            self._guarded(self._refresh)

    def _advance(self, duration: float) -> None:
        if self._playing:
            self._state = self._simulator.advance(self._state, duration).copy()
            self._refresh()
