"""One figure of a trajectory: snapshots of the mechanism, coordinates, energy, and auxiliary variables, over time."""

from __future__ import annotations

import io
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..algebra.arrays import Array
from ..shapes.contact_arrows import calc_contact_arrows, check_contact_forces
from ..shapes.coordinate_kinds import (
    check_units,
    described,
    kinds_of_coordinates,
    kinds_of_speeds,
    numbers_of_quaternions,
    unit_of,
)
from ..shapes.poses import calc_poses
from ..shapes.tracks import calc_tracks, place_all
from ..shapes.view import find_center, find_close_view, find_view
from ..value import checks
from ..value.files import written
from .scene import Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..value.annotations import Trajectory


WIDTH = 13.0
"""Of the figure, in inches."""

GRAPHS = 4.4
"""Height of the graphs below the snapshots, in inches."""

PART = 0.82
"""Of the width of a snapshot, that its box fills; the rest is for numbers."""

NUMBERED = 0.76
"""The same where each snapshot has numbers of its own."""

LINE = 0.19
"""Height of a line of a legend, in inches."""

LETTERS = 78
"""Number of letters of a legend of coordinates that fit beside each other."""

BETWEEN = 50
"""Number of poses calculated from one snapshot to the next, for the path and for the view."""

NAMED = 10
"""With more coordinates than this, only a few that move most are named."""

SHOWN = 6
"""Number of those that are named then."""

ROWS = 3
"""Lines of the legend of recorded quantities, at most: their graph is low."""

FOLLOW = 3.0
"""The view follows a mechanism if the box of its whole motion is more than this many times as large as that of itself."""


QUANTITY = "quantity."
"""In tables this is before the names of recorded quantities."""


class TrajectoryFigure(Figure):
    """A Matplotlib figure that notebooks show without pyplot."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """As Matplotlib's, but a file is replaced when the new one is complete."""
        if not isinstance(fname, str | os.PathLike):
            super().savefig(fname, **options)
            return
        path = Path(fname)
        known = path.suffix or "format" in options
        with written(path if known else path.with_name(f"{path.name}.{options.setdefault('format', 'png')}")) as beside:
            super().savefig(beside, **options)

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def plot_trajectory(
    trajectory: Trajectory,
    path: str | os.PathLike[str] | None = None,
    *,
    snapshots: int = 5,
    contact_forces: bool | float = False,
    units: Sequence[str] | None = None,
    quantities: Sequence[str] | Mapping[str, str] = (),
) -> TrajectoryFigure:
    """Draw a trajectory; see `Trajectory.plot`."""
    named_units, columns = _units(units), _columns(trajectory, quantities)
    if isinstance(path, str) and path in trajectory.quantity_columns():
        raise ValueError(f"path is a file, and {path!r} a recorded quantity: plot(quantities=[{path!r}])")
    checks.integer("snapshots", snapshots, least=0)
    pictured = trajectory.system is not None and snapshots > 0 and len(trajectory) > 0
    figure = TrajectoryFigure(figsize=(WIDTH, GRAPHS), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)
    if pictured:
        _draw_snapshots(figure, trajectory, snapshots, check_contact_forces(contact_forces))
    height = figure.get_figheight()
    named = _choose_named(trajectory)
    legend = LINE * math.ceil(len(named) / _count_columns([trajectory.coordinate_names[i] for i in named]))
    bottom, top = 0.55 / height, (GRAPHS - 0.35) / height
    left = 0.06
    if trajectory.coordinate_names:  # particles have none
        _draw_coordinates(figure.add_axes((left, bottom, 0.42, top - bottom - legend / height)), trajectory, named, named_units)
        left = 0.59
    grid = figure.add_gridspec(2, 1, left=left, right=0.985, bottom=bottom, top=top, hspace=0.38, height_ratios=(3, 2))
    energy = figure.add_subplot(grid[0])
    _draw_energy(energy, trajectory, named_units)
    below = figure.add_subplot(grid[1], sharex=energy)
    if columns:
        kinds = _describe(trajectory, columns, quantities, units)
        _draw_quantities(figure, below, trajectory, columns, kinds, named_units)
    elif trajectory.z.shape[1]:  # what has z of its own seldom keeps its energy, so that its change would say little
        auxiliaries = dict(zip(trajectory.auxiliary_names, np.asarray(trajectory.z).T, strict=True))
        _draw_quantities(figure, below, trajectory, auxiliaries, [], named_units, "auxiliary variables")
    else:
        _draw_change(below, trajectory, named_units)
    if path is not None:
        figure.savefig(path)
    return figure


def _draw_snapshots(figure: Figure, trajectory: Trajectory, count: int, contact_forces: bool | float) -> None:
    start, end = trajectory.time[[0, -1]]
    count = count if end > start else 1
    times = np.linspace(start, end, 1 + BETWEEN * (count - 1))
    mechanism, poses, particles = calc_poses(trajectory, times)
    view = find_view(mechanism, poses, particles)
    close = find_close_view(mechanism, poses, particles, view)
    followed = bool((view.high - view.low).max() > FOLLOW * (close.high - close.low).max())
    tracks = calc_tracks(trajectory, times[::BETWEEN])
    if not followed:
        view = find_view(mechanism, poses, particles, place_all(tracks, poses[::BETWEEN]))
    trace = mechanism.find_marker(poses)
    wide, high = (close if followed else view).calc_extent()
    part = NUMBERED if followed else PART
    strip = min(max(part * WIDTH / count * high / wide, 1.2), 5.0)
    figure.set_figheight(GRAPHS + strip + 0.8)
    width, height = 0.98 / count, strip / figure.get_figheight()
    bottom = (GRAPHS + 0.3) / figure.get_figheight()
    before, arrows = 0, None
    if contact_forces:
        arrows = calc_contact_arrows(trajectory, times[::BETWEEN], mechanism.size, contact_forces)
    for number, chosen in enumerate(range(0, len(times), BETWEEN)):
        shown = close.moved_to(find_center(mechanism, poses[chosen], particles[chosen], view)) if followed else view
        left = (1 - part) * (0.8 if shown.has_numbers_left else 0.3 if followed else 0.5)
        place = (0.01 + (number + left) * width, bottom, part * width, height)
        scene = Scene(figure, place, mechanism, shown, floor=not followed, labels=followed or number == 0, tracks=tracks)
        path = trace[before : chosen + 1]
        if mechanism.tip is not None:
            before = chosen  # a tip's whole path would be a tangle; a mass center's is smooth
        if followed:
            path = path[_inside(path @ shown.R_DG.T, shown.low, shown.high)]
        scene.show(poses[chosen], particles[chosen], path, None if arrows is None else arrows[number], number)
        figure.text(place[0] + place[2] / 2, bottom + height, f"t = {times[chosen]:.3g}", fontsize=10, ha="center", va="bottom")
    if followed:  # what moves looks at rest then, but for the numbers
        style: dict[str, Any] = {"fontsize": 8, "color": "#777777", "ha": "left", "va": "top"}
        figure.text(0.01, 1.0 - 0.08 / figure.get_figheight(), "view follows: each picture has its own numbers", **style)


def _inside(points: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    return np.asarray(((points >= low) & (points <= high)).all(axis=1))


def _choose_named(trajectory: Trajectory) -> list[int]:
    """Choose the coordinates that get a name: all, or of many those that move most."""
    count = len(trajectory.coordinate_names)
    if count <= NAMED:
        return list(range(count))
    motion = np.ptp(trajectory.q, axis=0) if len(trajectory) else np.zeros(count)
    return sorted(np.argsort(-motion, kind="stable")[:SHOWN].tolist())


def _units(units: Sequence[str] | None) -> dict[str, str]:
    """The units in brackets behind each quantity, if any."""
    check_units(units)
    return {kind: "" if units is None else f" ({unit_of(kind, units)})" for kind in ("length", "energy")} | {
        "time": "" if units is None else f" ({units[2]})"
    }


def _draw_coordinates(axes: Axes, trajectory: Trajectory, named: list[int], units: dict[str, str]) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    count = len(trajectory.coordinate_names)
    kinds = kinds_of_coordinates(trajectory)
    lengths = [kinds.get(name) == "length" for name in trajectory.coordinate_names]
    angles, along = axes, axes
    if any(lengths) and not all(lengths):
        along = axes.twinx()  # lengths have an axis of their own, on the right, and broken lines
    pale: dict[str, Any] = {"lw": 0.7, "alpha": 0.55} if count <= 4 * NAMED else {"lw": 0.4, "alpha": 0.4}
    rest = [i for i in range(count) if i not in named]
    for kind, plotted in ((False, angles), (True, along)):
        chosen = [i for i in rest if lengths[i] is kind]
        lines = [np.column_stack([trajectory.time, trajectory.q[:, i]]) for i in chosen]
        colors = [colormaps["turbo"](0.05 + 0.9 * i / (count - 1)) for i in chosen]
        plotted.add_collection(LineCollection(lines, colors=colors, **pale))  # one artist: there may be thousands
    shown: list[Line2D] = []
    for number, i in enumerate(named):
        style: dict[str, Any] = {"color": colormaps["tab10"](number), "label": trajectory.coordinate_names[i]}
        if lengths[i] and along is not angles:
            style["linestyle"] = "--"
        shown += (along if lengths[i] else angles).plot(trajectory.time, trajectory.q[:, i], lw=1.5, zorder=3, **style)
    axes.autoscale_view()
    columns = _count_columns([trajectory.coordinate_names[i] for i in named])
    which = f"; named are the {len(named)} of {count} that move most" if count > NAMED else ""
    _label(axes, f"coordinates{which}", trajectory, pad=6.0 + 72.0 * LINE * math.ceil(len(named) / columns))
    axes.set_xlabel(f"time{units['time']}")
    if not all(lengths):
        turns = numbers_of_quaternions(trajectory)
        others = count - sum(lengths) > len(turns)
        what = ", ".join(["angle (rad)"] * others + ["quaternion"] * bool(turns))
        angles.set_ylabel(what, fontsize=8, labelpad=3)
    if any(lengths):
        aside = ", broken" if along is not angles else ""
        along.set_ylabel(f"length{units['length']}{aside}", fontsize=8, labelpad=3)
    if along is not angles:
        along.autoscale_view()
        along.tick_params(labelsize=8)
        along.spines["top"].set_visible(False)
    if named:
        _name(axes, shown, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns)


def _draw_energy(axes: Axes, trajectory: Trajectory, units: dict[str, str]) -> None:
    if trajectory.system is not None and len(trajectory):
        chosen = np.unique(np.linspace(0, len(trajectory) - 1, 400).round().astype(int))
        kinetic = trajectory.calc_kinetic_energy(chosen)
        times, total = trajectory.time[chosen], trajectory.energy[chosen]
        axes.plot(times, kinetic, color="#e1812c", lw=1.2, label="kinetic")
        axes.plot(times, total - kinetic, color="#3a923a", lw=1.2, label="potential")
    axes.plot(trajectory.time, trajectory.energy, color="#222222", lw=1.8, label="total")
    _label(axes, "energy", trajectory)
    axes.set_ylabel(f"energy{units['energy']}", fontsize=8, labelpad=3)
    axes.tick_params(labelbottom=False)
    axes.legend(loc="lower right", bbox_to_anchor=(1.01, 0.97), fontsize=8, ncols=3, frameon=False)


def _draw_change(axes: Axes, trajectory: Trajectory, units: dict[str, str]) -> None:
    """Draw by how much the total differs from its start: by what is dissipated and what motors do, or by errors alone."""
    change = trajectory.energy - trajectory.energy[0] if len(trajectory) else trajectory.energy
    axes.axhline(0.0, color="#bbbbbb", lw=0.8)
    axes.plot(trajectory.time, change, color="#c03d3e", lw=1.2)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    _label(axes, "change of the total energy", trajectory)
    axes.set_ylabel(f"change{units['energy']}", fontsize=8, labelpad=3)
    axes.set_xlabel(f"time{units['time']}")


def _columns(trajectory: Trajectory, quantities: Sequence[str] | Mapping[str, str]) -> dict[str, Array]:
    """The numbers of recorded quantities that are asked for, by name."""
    if isinstance(quantities, str):
        raise TypeError(f"quantities is a list of names, such as [{quantities!r}], not {quantities!r}")
    if isinstance(quantities, Mapping) and not all(isinstance(unit, str) for unit in quantities.values()):
        raise TypeError(f"quantities gives units as text, such as {{'power': 'W'}}; got {quantities!r}")
    recorded, variables = trajectory.quantity_columns(), trajectory.variable_columns()
    found: dict[str, Array] = {}
    for asked in map(str, quantities):
        name = asked.removeprefix(QUANTITY)
        known = recorded if name != asked else recorded | variables  # a quantity may be called q
        own = {one: values for one, values in known.items() if one == name or one.startswith((f"{name}.", f"{name}["))}
        if not own:
            raise ValueError(f"{name!r} is not recorded; {checks.suggest(name, list(known))}")
        found |= own
    return found


def _describe(
    trajectory: Trajectory,
    columns: dict[str, Array],
    quantities: Sequence[str] | Mapping[str, str],
    units: Sequence[str] | None,
) -> list[str]:
    """The kinds of the recorded quantities, with their units, as far as these are known: ``force (N)``, ``moment (N m)``."""
    kinds = trajectory.quantity_kinds()
    for variable, of in (("q", kinds_of_coordinates), ("u", kinds_of_speeds)):
        kinds |= {f"{variable}.{name}": kind for name, kind in of(trajectory).items()}
    given = {name.removeprefix(QUANTITY): unit for name, unit in quantities.items()} if isinstance(quantities, Mapping) else {}
    found: dict[str, None] = {}
    for column in columns:
        own = next((name for name in given if column == name or column.startswith((f"{name}.", f"{name}["))), None)
        kind = kinds.get(column)
        if own is not None:
            found[f"{kind or own} ({given[own]})"] = None
        elif kind is not None:
            found[described(kind, units)] = None
    return list(found)


def _draw_quantities(
    figure: Figure,
    axes: Axes,
    trajectory: Trajectory,
    columns: dict[str, Array],
    kinds: list[str],
    units: dict[str, str],
    title: str = "recorded quantities",
) -> None:
    """Draw recorded quantities, or auxiliary variables.

    Of many those that move most are named, above the graph, which becomes lower by that. What they are stands at the axis if
    they are all of one kind, and in the title if not: the graph is low.
    """
    motion = {name: float(np.ptp(values)) if len(values) else 0.0 for name, values in columns.items()}
    ncols = _count_columns(list(columns))
    most = sorted(columns, key=lambda name: -motion[name])[: ROWS * ncols]
    shown: list[Line2D] = []
    for name, values in columns.items():
        style: dict[str, Any] = {"lw": 1.2} if name in most else {"lw": 0.7, "alpha": 0.55}
        line = axes.plot(trajectory.time, values, label=name, **style)
        shown += line if name in most else []
    lines = LINE * math.ceil(len(most) / ncols)
    which = f"; named are the {len(most)} of {len(columns)} that move most" if len(columns) > len(most) else ""
    what = f": {', '.join(kinds)}" if len(kinds) > 1 else ""
    said = textwrap.wrap(f"{title}{what}{which}", LETTERS - 8)  # a larger font than the legend's
    place = axes.get_position()
    height = place.height - (lines + LINE * (len(said) - 1)) / figure.get_figheight()
    axes.set_position((place.x0, place.y0, place.width, height))
    _label(axes, "\n".join(said), trajectory, pad=6.0 + 72.0 * lines)
    axes.set_ylabel(kinds[0] if len(kinds) == 1 else "", fontsize=8, labelpad=3)
    axes.set_xlabel(f"time{units['time']}")
    _name(axes, shown, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=ncols)


def _name(axes: Axes, lines: list[Line2D], **where: Any) -> None:
    """Draw a legend of lines that users have named: as they are, with whatever "$" and "_" mean to Matplotlib."""
    legend = axes.legend(lines, [str(i) for i in range(len(lines))], fontsize=8, frameon=False, **where)
    for text, line in zip(legend.get_texts(), lines, strict=True):
        text.set_parse_math(False)
        text.set_text(str(line.get_label()))


def _count_columns(names: list[str]) -> int:
    """Count the columns of a legend that leave room for the longest name."""
    return max(1, min(3, LETTERS // max((len(name) for name in names), default=1)))


def _label(axes: Axes, what: str, trajectory: Trajectory, pad: float = 6.0) -> None:
    axes.set_title(what, fontsize=10, loc="left", pad=pad)
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(trajectory) > 1 and trajectory.time[-1] > trajectory.time[0]:
        axes.set_xlim(trajectory.time[0], trajectory.time[-1])
