"""Constraints: what each kind becomes. Points and directions count from the bodies, as OpenSim takes them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import body, constraint, mobilizer
from ...constraint.base import Constraint
from ...errors import ModelError, TopologyError
from ...mobilizer.base import MobilizedBody
from ...value import Transform
from ...value.checks import suggest
from .building import Building
from .coordinates import free_name
from .coupler import DependentCoordinate
from .document import Item
from .functions import make_function, scaled


def add_constraint(build: Building, item: Item) -> None:
    """Make what an element describes."""
    maker = CONSTRAINTS.get(item.tag)
    item.is_read = True
    if maker is None:
        build.lose(
            item,
            f"a constraint of a kind that is not known, {item.tag}, is left out; known are {', '.join(CONSTRAINTS)}",
            "constraints of kinds that are not known",
        )
        return
    name = free_name(build.components.name_of(item), build.model.constraints)
    disabled = not item.flag("isEnforced", True)
    try:
        for number, made in enumerate(maker(build, item, name, disabled)):
            build.model.constraints[name if number == 0 else f"{name}_{number}"] = made
    except TopologyError as error:  # it ties what does not move
        build.lose(item, f"{item.tag} {item.name!r} is left out, it can change nothing: {error}")
    except (ModelError, ValueError, TypeError) as error:
        item.refuse_for(error)


def _two(build: Building, item: Item, first: str, second: str) -> tuple[tuple[MobilizedBody, Transform], ...]:
    ends = build.frame(item, first), build.frame(item, second)
    between = {id(one): one for end in ends for one in _inboard(end[0])}  # of what both hang on, nothing counts
    common = {id(one) for one in _inboard(ends[0][0])} & {id(one) for one in _inboard(ends[1][0])}
    if all(one.facts.num_u == 0 for key, one in between.items() if key not in common):
        raise TopologyError(f"nothing moves between {ends[0][0]!r} and {ends[1][0]!r}")
    return ends


def _inboard(mobod: MobilizedBody) -> list[MobilizedBody]:
    """The body, and those between it and Ground."""
    found = []
    while mobod.index:
        found.append(mobod)
        mobod = mobod.get_parent_mobilized_body()
    return found


def _point(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    (body1, X1), (body2, X2) = _two(build, item, "body_1", "body_2")
    stations = [item.finite(f"location_body_{k}", (0.0, 0.0, 0.0)) for k in "12"]
    tell_of_offsets(build, item, X1, X2)
    return [constraint.Ball(body1, stations[0], body2, stations[1], disabled_by_default=disabled, name=name)]


def tell_of_offsets(build: Building, item: Item, *frames: Transform) -> None:
    """OpenSim takes the points as stations of the bodies, whatever frames on these are named."""
    if any(np.any(np.asarray(X) != np.eye(4)) for X in frames):
        build.report.append(
            item.note(
                f"{item.tag} {item.name!r} names frames that are off their bodies' origins: its points count from "
                "these origins, as in OpenSim"
            )
        )


def _weld(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    (body1, X1), (body2, X2) = _two(build, item, "frame1", "frame2")
    return [constraint.Weld(body1, X1, body2, X2, disabled_by_default=disabled, name=name)]


def _on_line(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    (line, X1), (follower, X2) = _two(build, item, "line_body", "follower_body")
    tell_of_offsets(build, item, X1, X2)
    direction = item.finite("line_direction_vec", (0.0, 0.0, 0.0))
    point, station = item.finite("point_on_line", (0.0, 0.0, 0.0)), item.finite("point_on_follower", (0.0, 0.0, 0.0))
    return [constraint.PointOnLine(line, direction, point, follower, station, disabled_by_default=disabled, name=name)]


def _distance(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    (body1, X1), (body2, X2) = _two(build, item, "body_1", "body_2")
    tell_of_offsets(build, item, X1, X2)
    station1, station2 = (item.finite(f"location_body_{k}", (0.0, 0.0, 0.0)) for k in "12")
    length = item.number("constant_distance", np.nan)
    return [constraint.Rod(body1, station1, body2, station2, length, disabled_by_default=disabled, name=name)]


def _coupler(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    held = item.one_object("coupled_coordinates_function")
    if held is None:
        item.refuse(f"CoordinateCouplerConstraint {item.name!r} has no coupled_coordinates_function")
    function = scaled(make_function(held), item.number("scale_factor", 1.0))
    independent = [coordinate_place(build, item, one) for one in item.word_list("independent_coordinate_names")]
    dependent = coordinate_place(build, item, item.text("dependent_coordinate_name"))
    made = DependentCoordinate(
        build.model.matter,
        function,
        independent[: function.get_argument_size()],
        dependent,
        disabled_by_default=disabled,
        name=name,
    )
    if not disabled:
        build.couplers.append(made)
    return [made]


def coordinate_place(build: Building, item: Item, name: str) -> tuple[MobilizedBody, int]:
    """Find a coordinate by its name or path."""
    last = name.rpartition("/")[2]
    for one in build.coordinates:
        if one.name == last and one.mobod is not None:
            return one.mobod, one.which
    known = [one.name for one in build.coordinates]
    item.refuse(f"{item.tag} {item.name!r} names the coordinate {name!r}, and there is none; {suggest(last, known)}")


def _rolling(build: Building, item: Item, name: str, disabled: bool) -> list[Constraint]:
    """A point in a plane, no turn about its normal, and no slip in two directions, all of them switched off at first."""
    (rolling, _), (surface, _) = _two(build, item, "rolling_body", "surface_body")
    normal, height = item.finite("surface_normal", (0.0, 1.0, 0.0)), item.number("surface_height", 0.0)
    for tag in ("friction_coefficient", "contact_radius"):
        item.find(tag)
    case = mobilizer.Weld(surface, body.Massless(), name=f"{name}_case")
    x, z, o = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), np.zeros(3)
    switch = {"disabled_by_default": True}
    build.report.append(
        item.note(
            f"RollingOnSurfaceConstraint {item.name!r} is four constraints, switched off in a new state whatever isEnforced "
            "says; as in OpenSim, no run switches them by what they push or pull: enable(state) holds the body to the surface"
        )
    )
    return [
        constraint.PointInPlane(surface, normal, height, rolling, o, name=name, **switch),
        constraint.ConstantAngle(surface, x, rolling, z, name=f"{name}_1", **switch),
        constraint.NoSlip1D(case, o, x, surface, rolling, name=f"{name}_2", **switch),
        constraint.NoSlip1D(case, o, z, surface, rolling, name=f"{name}_3", **switch),
    ]


#: What each kind of constraint becomes.
CONSTRAINTS: dict[str, Callable[[Building, Item, str, bool], list[Constraint]]] = {
    "PointConstraint": _point,
    "WeldConstraint": _weld,
    "PointOnLineConstraint": _on_line,
    "ConstantDistanceConstraint": _distance,
    "CoordinateCouplerConstraint": _coupler,
    "RollingOnSurfaceConstraint": _rolling,
}
