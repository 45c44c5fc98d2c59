"""Muscles, paths and wrap objects: what files say of them, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from ...value import Rotation, Transform
from .document import Item
from .functions import make_function

if TYPE_CHECKING:
    from ...function import Function
    from ...mobilizer.base import MobilizedBody
    from ...state.state import State
    from .build import Builder


#: What is added to a range of a conditional point, as by OpenSim.
_SLACK = 1e-5
#: What they are called where they are counted: see `Report.lose`.
_MUSCLES = "muscles, which do not act"
#: Colours of paths on pictures: OpenSim's red, and of springs and ligaments that are not simulated.
MUSCLE, SPRING = (0.8, 0.1, 0.1), (0.45, 0.45, 0.5)


@dataclass(eq=False)
class PathPoint:
    """A point of a path.

    Attributes
    ----------
    name : str
    kind : {"PathPoint", "ConditionalPathPoint", "MovingPathPoint"}
    body : MobilizedBody
    station : (3,) array
        In the body; of a moving point, where it is with all its functions at zero.
    coordinate : str
        Of a conditional point, which is part of the path only where that is in `range`.
    range : (float, float)
    functions, coordinates : list
        Of a moving point: x, y and z in the frame, each a function of a coordinate.
    X_BF : Transform
        The frame in the body in which a moving point's location counts.
    places : dict of str to int
        Where in q the model's coordinates are.
    """

    name: str
    kind: str
    body: MobilizedBody
    station: Array
    coordinate: str = ""
    range: tuple[float, float] = (0.0, 0.0)
    functions: list[Function] = field(default_factory=list)
    coordinates: list[str] = field(default_factory=list)
    X_BF: Transform = field(default_factory=Transform)
    places: dict[str, int] = field(default_factory=dict, repr=False)

    def calc_station(self, state: State) -> Array | None:
        """Where it is in its body at a state; None where it is no part of the path."""
        if self.kind == "ConditionalPathPoint" and self.coordinate in self.places:
            value = float(state.q[self.places[self.coordinate]])
            return self.station if self.range[0] - _SLACK <= value <= self.range[1] + _SLACK else None
        if self.kind == "MovingPathPoint":
            own = [
                function.calc_value([float(state.q[self.places[name]])])
                for function, name in zip(self.functions, self.coordinates, strict=False)
                if name in self.places
            ]
            if len(own) == 3:
                return np.asarray(self.X_BF @ np.array(own))
        return self.station


@dataclass(eq=False)
class WrapObject:
    """A surface that paths bend over.

    Attributes
    ----------
    name : str
    kind : str
        WrapCylinder, WrapSphere, WrapEllipsoid or WrapTorus.
    body : MobilizedBody
    X_BW : Transform
        Its frame in the body.
    quadrant : str
        The part that counts: "all", "+x", ...
    active : bool
    dimensions : dict of str to float or (3,) array
        Its radius, length, dimensions, inner and outer radius.
    """

    name: str
    kind: str
    body: MobilizedBody
    X_BW: Transform
    quadrant: str
    active: bool
    dimensions: dict[str, Any]


@dataclass(eq=False)
class PathWrap:
    """How a path takes a wrap object: which, by what method, between which of its points (from 1; -1 for any)."""

    wrap_object: str
    method: str
    range: tuple[int, int]


@dataclass(eq=False)
class Muscle:
    """What a file says of a muscle.

    Attributes
    ----------
    name, kind : str
        Such as "Millard2012EquilibriumMuscle".
    points : list of PathPoint
    wraps : list of PathWrap
    parameters : dict of str to object
        All else, by the names that the file gives: numbers, words, and dicts of objects such as curves.
    """

    name: str
    kind: str
    points: list[PathPoint]
    wraps: list[PathWrap]
    parameters: dict[str, Any]


def keep_wraps(build: Builder) -> None:
    """Read the wrap objects of all frames into the model's data."""
    found: dict[str, WrapObject] = {}
    for frame in build.components.all("Ground", "Body", "PhysicalOffsetFrame", "StationDefinedFrame"):
        for item in frame.objects("WrapObjectSet"):
            item.is_read = True
            base, X_BF = build.components.place(frame)
            R = Rotation.from_body_fixed_xyz(item.finite("xyz_body_rotation", (0.0, 0.0, 0.0)))
            X = X_BF @ Transform(R, item.finite("translation", (0.0, 0.0, 0.0)))
            sizes: dict[str, Any] = {}
            for tag in ("radius", "length", "dimensions", "inner_radius", "outer_radius"):
                child = item.find(tag)
                if child is not None and child.words:
                    values = child.numbers(None)
                    sizes[tag] = float(values[0]) if len(values) == 1 else values
            found[item.name] = WrapObject(
                item.name, item.tag, build.mobods[id(base)], X, item.text("quadrant", "all"), item.flag("active", True), sizes
            )
    if found:
        build.model.data["wrap objects"] = found


def read_path(build: Builder, item: Item) -> tuple[list[PathPoint], list[PathWrap]]:
    """Read the path of a muscle, spring or ligament."""
    path = item.one_object("path") or item.find("GeometryPath")
    if path is None:
        return [], []
    path.is_read = True
    if path.tag != "GeometryPath":
        path.read_all()
        return [], []
    points = [_point(build, one) for one in path.objects("PathPointSet")]
    wraps = []
    for one in path.objects("PathWrapSet"):
        one.is_read = True
        ends = one.vector("range", (-1.0, -1.0)).astype(int).tolist()
        wraps.append(PathWrap(one.text("wrap_object"), one.text("method", "hybrid"), (ends[0], ends[1])))
    path.find("default_color")
    build.paths.append((item.element, points, wraps))
    return points, wraps


def _point(build: Builder, item: Item) -> PathPoint:
    item.is_read = True
    body, X_BF = build.frame(item, "parent_frame")
    if item.tag == "MovingPathPoint":
        held = [item.one_object(f"{axis}_location") for axis in "xyz"]
        item.find("location")
        coordinates = [item.text(f"socket_{axis}_coordinate").rpartition("/")[2] for axis in "xyz"]
        place, places = np.asarray(X_BF.p), build.model.coordinates
        functions = [make_function(one) for one in held if one is not None]
        return PathPoint(item.name, item.tag, body, place, "", (0.0, 0.0), functions, coordinates, X_BF, places)
    station = np.asarray(X_BF @ item.finite("location", (0.0, 0.0, 0.0)))
    if item.tag != "ConditionalPathPoint":
        return PathPoint(item.name, item.tag, body, station)
    low, high = item.vector("range", (0.0, 0.0)).tolist()
    coordinate = item.text("socket_coordinate").rpartition("/")[2]
    return PathPoint(item.name, item.tag, body, station, coordinate, (low, high), places=build.model.coordinates)


def draw_path(build: Builder, points: list[PathPoint], color: tuple[float, float, float], name: str) -> None:
    """Let pictures show a path, straight from point to point."""
    if len(points) > 1:
        ends = [(one.body, one.station if one.kind == "PathPoint" else one.calc_station) for one in points]
        build.model.matter.add_rubber_band_line(ends, color=color, name=name)


def keep_muscle(build: Builder, item: Item, name: str) -> None:
    """Keep a muscle as data, and say that it is not simulated."""
    try:
        points, wraps = read_path(build, item)
    except ModelError as error:  # a muscle never stops a load
        build.lose(
            item, f"muscle {name!r} ({item.tag}) is left out of model.muscles, its path cannot be read: {error}", _MUSCLES
        )
        return
    draw_path(build, points, MUSCLE, "muscles")
    parameters = item.as_data()
    for tag in ("type", "name", "where", "GeometryPath", "path"):
        parameters.pop(tag, None)
    build.model.muscles[name] = Muscle(name, item.tag, points, wraps, parameters)
    build.lose(item, f"muscle {name!r} ({item.tag}) is not simulated; its path and parameters are in model.muscles", _MUSCLES)
