"""Tracks: points and lines that are drawn beside the bodies, over time: markers, muscles, tendons, springs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..algebra.arrays import Array, Indices
from ..decoration.rubber_band_line import Line
from ..force.actuator import Actuator
from ..force.base import Force
from ..force.transmission import Path, WrappedPath
from ..force.transmission_spring import TransmissionSpring
from ..muscle import Muscle
from ..value.stage import Stage
from .view import NOTHING

if TYPE_CHECKING:
    from ..state.state import State
    from ..system.system import MultibodySystem
    from ..value.annotations import Trajectory

Rgb: TypeAlias = tuple[float, float, float]
#: Under which name lines are shown, their colour and width.
Kind: TypeAlias = tuple[str, Rgb, float]

SPRING, TENDON = (0.45, 0.45, 0.5), (0.75, 0.45, 0.2)
#: Muscles are blue at no activation, and red at all: so many steps between.
RESTING, ACTIVE, LEVELS = (0.15, 0.2, 0.8), (0.85, 0.05, 0.05), 9
#: OpenSim's: pink for a model's markers, blue for those that were seen.
MARKER, SEEN, APART = (0.95, 0.45, 0.65), (0.1, 0.4, 0.9), (0.9, 0.2, 0.2)

#: Of a mechanism's size, a marker's radius.
RADIUS = 0.006


@dataclass(frozen=True, eq=False)
class Track:
    """Points, or lines between pairs of points, each a station of a body, over time.

    Attributes
    ----------
    name : str
        Under which pages show it or do not, with all others of the name.
    color : (3,) tuple
    bodies : (k,) array of int
        On which each point is; zero for Ground.
    stations : (n, k, 3) array
        At n times, or at all of them where n is one; NaN where a point is not there.
    are_lines : bool
        Whether points 0 and 1, 2 and 3, and so on are ends of lines.
    width : float
        Of lines, in points.
    labels : tuple of str
        Of points, or none.
    """

    name: str
    color: Rgb
    bodies: Indices
    stations: Array
    are_lines: bool = False
    width: float = 2.0
    labels: tuple[str, ...] = ()

    def at(self, row: int, part: float = 0.0) -> Array:
        """Stations (k, 3) between two rows; where a point is missing in one, those of the nearer row."""
        if len(self.stations) == 1:
            return self.stations[0]
        here, there = self.stations[row], self.stations[min(row + 1, len(self.stations) - 1)]
        between = (1.0 - part) * here + part * there
        return np.where(np.isnan(between), here if part < 0.5 else there, between)

    def place(self, X_GB: Array, row: int = 0, part: float = 0.0) -> Array:
        """Points in Ground, (k, 3) or of lines (k/2, 2, 3), those that are there, at poses (nb, 4, 4)."""
        X = X_GB[self.bodies]
        points = np.einsum("kij,kj->ki", X[:, :3, :3], self.at(row, part)) + X[:, :3, 3]
        if self.are_lines:
            points = points.reshape(-1, 2, 3)
        return points[np.isfinite(points).all(axis=tuple(range(1, points.ndim)))]

    def resampled(self, before: Indices, after: Indices, weights: Array) -> Track:
        """The same at other times, between rows."""
        if len(self.stations) == 1:
            return self
        w = weights[:, None, None]
        between = (1.0 - w) * self.stations[before] + w * self.stations[after]
        nearer = self.stations[np.where(weights < 0.5, before, after)]
        return replace(self, stations=np.where(np.isnan(between), nearer, between))


def find_tracks(system: MultibodySystem, states: Iterable[State]) -> list[Track]:
    """Find the lines of a system's forces, and those added to its matter, at states, which are realized to POSITION."""
    matter = system.get_matter_subsystem()
    forces = [one for one in system.all_forces() if type(one).calc_lines is not Force.calc_lines]
    sources = [_Source(_kind_of(one), _lines_of(one), _moves(one)) for one in forces if not isinstance(one, Muscle)]
    sources += [one for muscle in forces if isinstance(muscle, Muscle) for one in _of_levels(muscle)]
    for line in matter.rubber_band_lines:
        sources.append(_Source((line.name, line.color, line.line_width), line.calc_lines, line.moves))
    if not sources:
        return []
    sources.sort(key=lambda one: (repr(one.kind), one.moves))
    still: list[list[Line]] | None = None
    rows: list[list[list[Line]]] = []
    for state in states:
        system.realize(state, Stage.POSITION)
        if still is None:  # lines between fixed stations are asked for once, however many times there are
            still = [one.calc(state) for one in sources if not one.moves]
        rows.append([one.calc(state) for one in sources if one.moves])
    found = []
    for moves, table in ((False, [still or []]), (True, rows)):
        some = [one for one in sources if one.moves is moves]
        for kind, group in groupby(range(len(some)), key=lambda k: some[k].kind):
            parts = [_join([row[k] for row in table]) for k in group]
            parts = [part for part in parts if len(part[0])]
            if parts:
                bodies = np.concatenate([bodies for bodies, _ in parts])
                stations = np.concatenate([stations for _, stations in parts], axis=1)
                name, color, width = kind
                found.append(Track(name, color, bodies, _shortened(stations), True, width))
    return found


def calc_tracks(trajectory: Trajectory, times: Array) -> list[Track]:
    """The tracks of a motion at times of one's choice: those of its system, and what the motion shows besides."""
    from .poses import calc_weights, states_at

    assert trajectory.system is not None
    own = [one.resampled(*calc_weights(trajectory.time, times)) for one in trajectory.tracks()]
    return [*find_tracks(trajectory.system, (state for state, _ in states_at(trajectory, times))), *own]


def place_all(tracks: Iterable[Track], X_GB: Array) -> Array:
    """Where all points of tracks come to be in Ground, (n, 3), at the poses of their rows, (nt, nb, 4, 4)."""
    places = [track.place(X, row).reshape(-1, 3) for track in tracks for row, X in enumerate(X_GB)]
    return np.concatenate([NOTHING, *places])


def of_markers(markers: Mapping[str, tuple[Any, Array]]) -> list[Track]:
    """A model's markers: a body and a station each, by name."""
    if not markers:
        return []
    bodies = np.array([body.index for body, _ in markers.values()], dtype=np.intp)
    stations = np.array([station for _, station in markers.values()], dtype=np.float64)
    return [Track("markers", MARKER, bodies, stations[None], labels=tuple(markers))]


@dataclass(frozen=True)
class _Source:
    """Something that has lines."""

    kind: Kind
    calc: Callable[[State], list[Line]]
    moves: bool


def _moves(force: Force) -> bool:
    """True if the ends of its lines move on their bodies: of paths that bend around surfaces."""
    if isinstance(force, Actuator | TransmissionSpring):
        return isinstance(force.get_transmission(), Path | WrappedPath)
    return isinstance(getattr(force, "get_path", object)(), Path | WrappedPath)


def _lines_of(force: Force) -> Callable[[State], list[Line]]:
    return lambda state: [] if force.is_disabled(state) else force.calc_lines(state)


def color_of(activation: float) -> Rgb:
    """The colour of a muscle: blue at rest, red at full activation, in steps."""
    part = _level_of(activation) / (LEVELS - 1)
    return tuple(round((1.0 - part) * low + part * high, 6) for low, high in zip(RESTING, ACTIVE, strict=True))  # type: ignore[return-value]


def _level_of(activation: float) -> int:
    return round((LEVELS - 1) * min(max(activation, 0.0), 1.0))


def _of_levels(muscle: Muscle) -> list[_Source]:
    """A muscle's line in each colour, which is there while the activation is that of the colour."""

    def at(level: int) -> Callable[[State], list[Line]]:
        def lines(state: State) -> list[Line]:
            if muscle.is_disabled(state) or _level_of(muscle.get_activation(state)) != level:
                return []
            return muscle.calc_lines(state)

        return lines

    return [_Source(("muscles", color_of(k / (LEVELS - 1)), 3.0), at(k), True) for k in range(LEVELS)]


def _kind_of(force: Force) -> Kind:
    along = isinstance(force, Actuator | TransmissionSpring)
    return ("tendons", TENDON, 3.0) if along else ("springs", SPRING, 1.5)


def _join(rows: Sequence[list[Line]]) -> tuple[Indices, Array]:
    """Lines at several times as bodies (k,) and stations (n, k, 3); where bodies change, points are Ground's or missing."""
    count = max(map(len, rows))
    bodies = np.zeros((len(rows), 2 * count), dtype=np.intp)
    stations = np.full((len(rows), 2 * count, 3), np.nan)
    for row, lines in enumerate(rows):
        ends = [end for line in lines for end in line]
        if ends:
            bodies[row, : len(ends)] = [body for body, _ in ends]
            stations[row, : len(ends)] = [station for _, station in ends]
    return _parted(bodies, stations)


def _parted(bodies: Indices, stations: Array) -> tuple[Indices, Array]:
    """Give each place one pair of bodies: where it has others at other times, it is several places, one at a time there."""
    own, places = [], []
    for k in range(0, bodies.shape[1], 2):
        pairs = bodies[:, k : k + 2]
        there = np.isfinite(stations[:, k, 0])
        for pair in np.unique(pairs[there], axis=0):
            part = stations[:, k : k + 2].copy()
            part[~((pairs == pair).all(axis=1) & there)] = np.nan
            own.append(pair)
            places.append(part)
    if not own:
        return np.zeros(0, dtype=np.intp), np.zeros((len(stations), 0, 3))
    return np.concatenate(own), np.concatenate(places, axis=1)


def _shortened(stations: Array) -> Array:
    """One row, where all are alike."""
    alike = len(stations) > 1 and np.array_equal(stations, np.broadcast_to(stations[:1], stations.shape), equal_nan=True)
    return stations[:1] if alike else stations
