"""Muscles, paths and wrap objects: what files say of them, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from ...force import transmission
from ...force.transmission import CableSpan, FunctionBasedPath, Path
from ...force.transmission.surfaces import METHODS
from ...function import Function
from ...mobilizer.base import MobilizedBody
from ...state.state import State
from ...value import Rotation, Transform
from .building import Building, PathWrap
from .contact import find_shape
from .document import Item
from .functions import make_function
from .muscle_kinds import KINDS, STRETCHING, has_no_tendon

#: What is added to a range of a conditional point, as by OpenSim.
_SLACK = 1e-5
#: What they are called where they are counted: see `Report.lose`.
_MUSCLES = "muscles, which do not act"
#: Colour of paths on pictures: OpenSim's red.
MUSCLE = (0.8, 0.1, 0.1)
#: Surfaces, and their sizes where a file says none.
_SURFACES: dict[str, tuple[Any, dict[str, Any]]] = {
    "WrapSphere": (transmission.WrapSphere, {"radius": 0.05}),
    "WrapCylinder": (transmission.WrapCylinder, {"radius": 1.0, "length": 1.0}),
    "WrapEllipsoid": (transmission.WrapEllipsoid, {"dimensions": (0.05, 0.05, 0.05)}),
    "WrapTorus": (transmission.WrapTorus, {"inner_radius": 0.01, "outer_radius": 0.02}),
}


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
    ranges : (n, 2) array
        Of the coordinates of a moving point, which stands still beyond.
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
    ranges: Array = field(default_factory=lambda: np.zeros((0, 2)))
    places: dict[str, int] = field(default_factory=dict, repr=False)

    def calc_station(self, state: State) -> Array | None:
        """Its place in its body at a state; None where it is no part of the path."""
        if self.kind == "ConditionalPathPoint" and self.coordinate in self.places:
            value = float(state.q[self.places[self.coordinate]])
            return self.station if self.range[0] - _SLACK <= value <= self.range[1] + _SLACK else None
        if self.kind == "MovingPathPoint":
            own = [
                function.calc_value([min(max(float(state.q[self.places[name]]), low), high)][: function.get_argument_size()])
                for function, name, (low, high) in zip(self.functions, self.coordinates, self.ranges, strict=False)
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
class Muscle:
    """A muscle as a file describes it.

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


def keep_wraps(build: Building) -> None:
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


def read_path(build: Building, item: Item) -> tuple[list[PathPoint], list[PathWrap]]:
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
    build.paths.append((item.element, None, wraps))
    return points, wraps


def _point(build: Building, item: Item) -> PathPoint:
    item.is_read = True
    body, X_BF = build.frame(item, "parent_frame")
    if item.tag == "MovingPathPoint":
        held = [item.one_object(f"{axis}_location") for axis in "xyz"]
        item.find("location")
        coordinates = [item.text(f"socket_{axis}_coordinate").rpartition("/")[2] for axis in "xyz"]
        place, places = np.asarray(X_BF.p), build.model.coordinates
        functions = [make_function(one) for one in held if one is not None]
        known = {one.name: one.range for one in build.coordinates}
        ranges = np.array([known.get(name, (-np.inf, np.inf)) for name in coordinates])
        for name in dict.fromkeys(n for n, (low, high) in zip(coordinates, ranges, strict=True) if low > high):
            line = f"the range of coordinate {name!r} is written from high to low; moving points take it from low to high"
            if line not in build.report:
                build.report.append(line)
        ranges.sort(axis=1)
        return PathPoint(item.name, item.tag, body, place, "", (0.0, 0.0), functions, coordinates, X_BF, ranges, places)
    station = np.asarray(X_BF @ item.finite("location", (0.0, 0.0, 0.0)))
    if item.tag != "ConditionalPathPoint":
        return PathPoint(item.name, item.tag, body, station)
    low, high = item.vector("range", (0.0, 0.0)).tolist()
    coordinate = item.text("socket_coordinate").rpartition("/")[2]
    return PathPoint(item.name, item.tag, body, station, coordinate, (low, high), places=build.model.coordinates)


def other_path(build: Building, item: Item) -> CableSpan | FunctionBasedPath | None:
    """The path of an element, where that is a function of coordinates, or a cable over obstacles."""
    path = item.one_object("path")
    if path is None or path.tag not in _OTHERS:
        return None
    path.is_read = True
    made = _OTHERS[path.tag](build, item, path)
    build.paths.append((item.element, made, []))
    return made


def _cable(build: Building, item: Item, path: Item) -> CableSpan:
    """A Scholz2015GeometryPath: points, and contact shapes as obstacles between the first and the last."""
    held = path.find("path_elements")
    elements = [] if held is None else held.children
    for tag in ("Appearance", "algorithm", "curvature_tolerance"):
        child = path.find(tag)
        if child is not None:
            child.read_all()
    points = {}
    for k, one in enumerate(elements):
        one.is_read = True
        inner = one.find("PathPoint")
        if inner is not None:
            point = _point(build, inner)
            points[k] = point.body, point.station
    last = len(elements) - 1
    if last < 1 or not {0, last} <= points.keys():
        path.refuse("a Scholz2015GeometryPath begins and ends with a point")
    cable = CableSpan(build.model.forces, points[0], points[last])
    for k, one in enumerate(elements[1:-1], 1):
        if k in points:
            cable.add_via_point(*points[k])
            continue
        shape = find_shape(build, path, one.text("socket_contact_geometry"))
        if shape.geometry is None:
            path.refuse(f"the obstacle {shape.item.name!r} could not be read")
        hint = one.vector("contact_hint", (math.nan,) * 3)
        cable.add_obstacle(shape.body, shape.X_BS, shape.geometry, None if np.isnan(hint).any() else hint)
    return cable


def _function_path(build: Building, item: Item, path: Item) -> FunctionBasedPath:
    places = {one.name: (one.mobod, one.which) for one in build.coordinates if one.mobod is not None}
    names = [way.rpartition("/")[2] for way in path.word_list("coordinate_paths")]
    missing = [name for name in names if name not in places]
    held = path.one_object("length_function")
    if missing or held is None:
        path.refuse(f"a FunctionBasedPath needs {f'a coordinate {missing[0]!r}' if missing else 'a length_function'}")
    for tag in ("Appearance", "moment_arm_functions", "lengthening_speed_function"):
        child = path.find(tag)
        if child is not None:
            child.read_all()
            if child.element.children and tag != "Appearance":
                build.lose(path, f"{tag} of {item.name!r} is left out: the derivatives of its length_function are taken")
    try:
        made = transmission.FunctionBasedPath(build.model.forces, make_function(held), [places[name] for name in names])
    except (ModelError, ValueError) as error:
        path.refuse(str(error))
    return made


_OTHERS: dict[str, Any] = {"FunctionBasedPath": _function_path, "Scholz2015GeometryPath": _cable}


def make_path(build: Building, item: Item) -> Path | FunctionBasedPath | None:
    """The path of an element as the engine has it; None where it has fewer than two points."""
    other = other_path(build, item)
    if other is not None:
        return other
    points, wraps = read_path(build, item)
    if len(points) < 2:
        return None
    path = as_path(build, points, wraps)
    build.paths[-1] = (item.element, path, build.paths[-1][2])
    return path


def as_path(build: Building, points: list[PathPoint], wraps: list[PathWrap]) -> Path:
    """A path that was read, as the engine has it."""
    places = {one.name: (one.mobod, one.which) for one in build.coordinates if one.mobod is not None}
    made: list[Any] = []
    for one in points:
        if one.kind == "ConditionalPathPoint" and one.coordinate in places:
            made.append(transmission.ConditionalPoint(one.body, one.station, *places[one.coordinate], *one.range))
        elif one.kind == "MovingPathPoint" and len(one.functions) == 3 and all(name in places for name in one.coordinates):
            coordinates = [places[name] for name in one.coordinates]
            place = one.body, one.functions, coordinates, one.X_BF
            made.append(transmission.MovingPoint(*place, one.ranges, build.as_opensim))
        else:
            made.append((one.body, one.station))
    surfaces = build.model.data.get("wrap objects", {})
    taken = []
    for wrap in wraps:
        if wrap.wrap_object in surfaces and build.sections is None:
            first, last = wrap.range[0] - 1, wrap.range[1] - 1 if wrap.range[1] >= 1 else len(points) - 1
            method = wrap.method if wrap.method in METHODS else "hybrid"
            ends = min(max(first, 0), len(points) - 1), min(last, len(points) - 1)
            taken.append(transmission.PathWrap(_surface(build, surfaces[wrap.wrap_object]), method, *ends))
    if build.sections is None:
        return transmission.Path(build.model.forces, made, taken)
    objects = [surfaces[wrap.wrap_object] for wrap in wraps if wrap.wrap_object in surfaces]
    beside = sorted(zip(build.sections[len(build.paths) - 1], objects, strict=True), key=lambda one: one[0].rank)
    for section, one in beside:
        hint = section.hint if one.quadrant.strip().lower() in ("", "all", "unassigned") else None
        taken.append(transmission.PathWrap(_surface(build, one), first=section.point, hint=hint))
    return transmission.Path(build.model.forces, made, taken, wrapping="geodesic")


def _surface(build: Building, one: WrapObject) -> Any:
    """The surface of a wrap object: one object, however many paths it has."""
    if one not in build.surfaces:
        kind, usual = _SURFACES[one.kind]
        sizes = {tag: one.dimensions.get(tag, value) for tag, value in usual.items()}
        build.surfaces[one] = kind(body=one.body, frame=one.X_BW, quadrant=one.quadrant, active=one.active, **sizes)
    return build.surfaces[one]


def draw_path(build: Building, points: list[PathPoint], color: tuple[float, float, float], name: str) -> None:
    """Decorate a path, straight from point to point."""
    if len(points) > 1:
        ends = [(one.body, one.station if one.kind == "PathPoint" else one.calc_station) for one in points]
        build.model.matter.add_rubber_band_line(ends, color=color, name=name)


def add_muscle(build: Building, item: Item, name: str) -> None:
    """Make a muscle, or keep it as data where that was asked for or its kind is not known."""
    try:
        points: list[PathPoint] = []
        wraps: list[PathWrap] = []
        path: Path | FunctionBasedPath | None = other_path(build, item)
        if path is None:
            points, wraps = read_path(build, item)
            path = as_path(build, points, wraps) if len(points) > 1 else None
    except (ModelError, ValueError) as error:  # a muscle never stops a load
        build.lose(
            item, f"muscle {name!r} ({item.tag}) is left out of model.muscles, its path cannot be read: {error}", _MUSCLES
        )
        return
    parameters = item.as_data()
    for tag in ("type", "name", "where", "GeometryPath", "path"):
        parameters.pop(tag, None)
    build.model.data.setdefault("muscles", {})[name] = Muscle(name, item.tag, points, wraps, parameters)
    if path is not None:
        build.paths[-1] = (build.paths[-1][0], path, wraps)
    make = KINDS.get(item.tag)
    cannot_pull = item.tag in STRETCHING and has_no_tendon(item)
    if make is None or path is None or cannot_pull or not build.muscles_act:
        draw_path(build, points, MUSCLE, "muscles")
        if build.muscles_act:
            why = "has no path of two points" if make is not None else "is of a kind that does not act"
            if cannot_pull:
                why = "has a tendon of no length, which cannot stretch as this kind's do, and does not act"
            build.lose(item, f"muscle {name!r} ({item.tag}) {why}; its path and parameters are in model.data", _MUSCLES)
        else:
            item.read_all()
        return
    options = {"disabled_by_default": not item.flag("appliesForce", True), "name": name}
    try:
        build.model.muscles[name] = made = make(build, item, build.model.forces, path, options)
    except (ModelError, ValueError, TypeError) as error:
        item.refuse_for(error)
    low = item.number("min_control", made.get_default_minimum_activation())
    build.model.data.setdefault("control ranges", {})[name] = low, item.number("max_control", 1.0)
    for tag in ("optimal_force", "default_fiber_length", "default_activation"):
        item.find(tag)
