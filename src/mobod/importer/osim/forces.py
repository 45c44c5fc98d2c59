"""Forces: what each kind becomes. The elements that `mobod.force` has not are in `elements`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import force, function
from ...errors import ModelError, TopologyError
from ...force.base import Force
from ...force.transmission import FunctionBasedPath, Path
from ...function import Function
from ...value import Rotation, Transform
from .building import Building
from .constraints import coordinate_place, tell_of_offsets
from .contact import listed_surfaces, smooth_sphere
from .document import Item
from .elements import bushing, foot_ground, of_coordinate, paths, pulls, pushes
from .functions import make_function
from .muscles import add_muscle, make_path

#: Controls from which on there is no bound, as old files write it.
_UNBOUNDED = 1e300
#: OpenSim's ligament: force over length, both normalized.
_LIGAMENT_X = (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0)
_LIGAMENT_Y = (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0)
Maker = Callable[["Building", Item, str, bool], "list[Force]"]


def add_force(build: Building, item: Item) -> None:
    """Make what an element describes: forces of the model, or data and a line of the report."""
    item.is_read = True
    name = _free_name(build, build.components.name_of(item))
    if item.tag.endswith(MUSCLES) or item.tag in ACTUATORS:
        build.model.data.setdefault("actuators in order", []).append(name)
    if item.tag.endswith(MUSCLES) or item.tag in OTHER_MUSCLES:
        add_muscle(build, item, name)
        return
    maker = FORCES.get(item.tag)
    if maker is None:
        build.model.data[name] = item.as_data()
        build.lose(
            item,
            f"a force of a kind that is not known, {item.tag}, is left out; known are {', '.join(FORCES)}",
            "forces of kinds that are not known",
        )
        return
    disabled = not item.flag("appliesForce", True)
    try:
        made = maker(build, item, name, disabled)
    except (ModelError, ValueError, TypeError, TopologyError) as error:
        message = str(error)
        raise ModelError(
            message if message.startswith(item.path) else f"{item.where}: {item.tag} {item.name!r}: {message}"
        ) from None
    for one in made:
        if item.tag in ACTUATORS:
            build.model.actuators[name] = one
            item.find("optimal_force")
            low, high = item.number("min_control", -math.inf), item.number("max_control", math.inf)
            if low <= high and (low > -_UNBOUNDED or high < _UNBOUNDED):
                build.model.data.setdefault("control ranges", {})[name] = low, high
        else:
            build.model.data.setdefault("forces", {})[name] = one


def _options(disabled: bool, name: str) -> dict[str, Any]:
    """Arguments of every force."""
    return {"disabled_by_default": disabled, "name": name}


def _free_name(build: Building, name: str) -> str:
    taken = {one.name for one in build.model.forces.elements}
    number, free = 0, name
    while free in taken or free in build.model.muscles:
        number += 1
        free = f"{name}_{number}"
    return free


# ---------------------------------------------------------------------------------------------- of coordinates


def _limit(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    """Stiffness and limits of an angle are given by degrees."""
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    one = next(c for c in build.coordinates if c.mobod is mobod and c.which == which)
    w = math.radians(1.0) if one.motion == "rotational" else 1.0
    item.find("compute_dissipation_energy")
    upper = item.number("upper_stiffness", 1.0) / w, item.number("upper_limit", 0.0) * w
    lower = item.number("lower_stiffness", 1.0) / w, item.number("lower_limit", 0.0) * w
    damping, transition = item.number("damping", 0.001) / w, item.number("transition", 0.1) * w
    if not transition > 0.0:
        item.refuse(f"CoordinateLimitForce {item.name!r} needs a transition above zero, not {transition / w}")
    make = of_coordinate.CoordinateLimit
    return [make(build.model.forces, mobod, which, upper, lower, damping, transition, disabled_by_default=disabled, name=name)]


def _spring(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    values = [item.number(tag, 0.0) for tag in ("stiffness", "rest_length", "viscosity")]
    return [of_coordinate.CoordinateSpring(build.model.forces, mobod, which, *values, disabled_by_default=disabled, name=name)]


def _coordinate_formula(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    formula = function.Expression(item.text("expression", "0.0"), ["q", "qdot"])
    return [of_coordinate.CoordinateFormula(build.model.forces, mobod, which, formula, disabled_by_default=disabled, name=name)]


def _coordinate_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    optimal = item.number("optimal_force", 1.0)
    return [
        of_coordinate.CoordinateActuator(build.model.forces, mobod, which, optimal, disabled_by_default=disabled, name=name)
    ]


def _activated(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    """A coordinate's actuator whose activation follows its control: a_dot = (control - a) / time constant."""
    forces, (mobod, which) = build.model.forces, coordinate_place(build, item, item.text("coordinate"))
    made = force.Actuator(
        forces,
        of_coordinate.OnMobility(forces, [(mobod, which, 1.0)]),
        gain=(item.number("optimal_force", 1.0), 0.0, 0.0),
        dynamics="filter",
        time_constant=item.number("activation_time_constant", 0.01),
        disabled_by_default=disabled,
        name=name,
    )
    build.model.data.setdefault("activations", {})[name] = item.number("default_activation", 0.5)
    return [made]


# ---------------------------------------------------------------------------------------------- bushings


def _bushing(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    (body1, X1), (body2, X2) = build.frame(item, "frame1"), build.frame(item, "frame2")
    o = (0.0, 0.0, 0.0)
    stiffness = np.concatenate([item.finite("rotational_stiffness", o), item.finite("translational_stiffness", o)])
    damping = np.concatenate([item.finite("rotational_damping", o), item.finite("translational_damping", o)])
    return [
        force.LinearBushing(
            build.model.forces, body1, X1, body2, X2, stiffness, damping, disabled_by_default=disabled, name=name
        )
    ]


def _formula_bushing(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    (body1, X1), (body2, X2) = build.frame(item, "frame1"), build.frame(item, "frame2")
    o = (0.0, 0.0, 0.0)
    tags = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
    functions = [function.Expression(item.text(f"{tag}_expression", "0.0"), list(bushing.VARIABLES)) for tag in tags]
    damping = np.concatenate([item.finite("rotational_damping", o), item.finite("translational_damping", o)])
    for tag in ("moment_visual_scale", "force_visual_scale", "visual_aspect_ratio"):
        item.find(tag)
    make = bushing.FormulaBushing
    return [make(build.model.forces, body1, X1, body2, X2, functions, damping, disabled_by_default=disabled, name=name)]


def _function_bushing(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    (body1, X1), (body2, X2) = build.frame(item, "frame1"), build.frame(item, "frame2")
    o = (0.0, 0.0, 0.0)
    tags = [f"m_{axis}_theta_{axis}_function" for axis in "xyz"] + [f"f_{axis}_delta_{axis}_function" for axis in "xyz"]
    held = [item.one_object(tag) for tag in tags]
    functions: list[Function] = [function.Constant(0.0, 1) if one is None else _of_one(make_function(one)) for one in held]
    damping = np.concatenate([item.finite("rotational_damping", o), item.finite("translational_damping", o)])
    for tag in ("moment_visual_scale", "force_visual_scale", "visual_aspect_ratio"):
        item.find(tag)
    make = bushing.FunctionBushing
    return [make(build.model.forces, body1, X1, body2, X2, functions, damping, disabled_by_default=disabled, name=name)]


# ---------------------------------------------------------------------------------------------- between points


def _two_points(build: Building, item: Item, *sockets: str) -> list[Any]:
    """Two bodies and stations; OpenSim takes these as stations of the bodies, whatever frames are named."""
    found: list[Any] = []
    for socket, tag in zip(sockets, ("point1", "point2"), strict=True):
        body, X = build.frame(item, socket)
        tell_of_offsets(build, item, X)
        found += [body, item.finite(tag, (0.0, 0.0, 0.0))]
    return found


def _point_spring(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    b1, s1, b2, s2 = _two_points(build, item, "body1", "body2")
    stiffness, rest = item.number("stiffness", 1.0), item.number("rest_length", 0.0)
    return [force.TwoPointLinearSpring(build.model.forces, b1, s1, b2, s2, stiffness, rest, **_options(disabled, name))]


def _ends_named(build: Building, item: Item, bodies: tuple[str, str], points: tuple[str, str]) -> list[Any]:
    found: list[Any] = []
    for tag, point in zip(bodies, points, strict=True):
        body, X = build.place_named(item, item.text(tag))
        found += [body, np.asarray(X @ item.finite(point, (0.0, 0.0, 0.0)))]
    return found


def _point_formula(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    b1, s1, b2, s2 = _ends_named(build, item, ("body1", "body2"), ("point1", "point2"))
    formula = function.Expression(item.text("expression", "0.0"), ["d", "ddot"])
    return [pulls.PointToPointFormula(build.model.forces, b1, s1, b2, s2, formula, **_options(disabled, name))]


def _point_to_point_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    if item.flag("points_are_global", False):
        build.lose(
            item,
            f"{item.tag} {item.name!r} is left out: its points are fixed in Ground, and act on bodies that move past them",
            "forces that cannot be made",
        )
        return []
    b1, s1, b2, s2 = _ends_named(build, item, ("bodyA", "bodyB"), ("pointA", "pointB"))
    optimal = item.number("optimal_force", 1.0)
    return [pulls.PointToPointActuator(build.model.forces, b1, s1, b2, s2, optimal, **_options(disabled, name))]


# ---------------------------------------------------------------------------------------------- along paths


def _path_of(build: Building, item: Item, name: str) -> Path | FunctionBasedPath | None:
    """The path of an element; of one without two points the rest is data, and reported."""
    made = make_path(build, item)
    if made is None:
        build.model.data[name] = item.as_data()
        build.lose(
            item,
            f"{item.tag} {item.name!r} is not simulated: its path has fewer than two points; it is in model.data",
            "forces without a path",
        )
    return made


def _path_spring(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    values = [item.number(tag, math.nan) for tag in ("resting_length", "stiffness", "dissipation")]
    if path is None:
        return []
    if not all(value >= 0.0 for value in values):
        item.refuse(
            f"PathSpring {item.name!r} needs resting_length, stiffness and dissipation, zero or more; they are {values}"
        )
    return [paths.PathSpring(build.model.forces, path, *values, disabled_by_default=disabled, name=name)]


def _ligament(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    rest, strength = item.number("resting_length", 0.0), item.number("pcsa_force", 0.0)
    held = item.one_object("force_length_curve")
    curve = function.SimmSpline(_LIGAMENT_X, _LIGAMENT_Y) if held is None else make_function(held)
    if path is None:
        return []
    if not rest > 0.0:
        item.refuse(f"Ligament {item.name!r} needs a resting_length above zero, not {rest}")
    return [paths.Ligament(build.model.forces, path, rest, strength, curve, disabled_by_default=disabled, name=name)]


def _blankevoort(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    tags = {"slack_length": 0.0, "linear_stiffness": 1.0, "transition_strain": 0.06, "damping_coefficient": 0.003}
    values = {tag: item.number(tag, usual) for tag, usual in tags.items()}
    if path is None:
        return []
    if not (values["slack_length"] > 0.0 and values["transition_strain"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs a slack_length and a transition_strain above zero; they are {values}")
    make = paths.BlankevoortLigament
    return [make(build.model.forces, path, *values.values(), disabled_by_default=disabled, name=name)]


def _path_formula(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    rest, clamped = item.number("resting_length", 0.0), item.flag("clamp_stretch", True)
    formula = function.Expression(item.text("expression", "0.0"), ["s", "ldot"])
    if path is None:
        return []
    make = paths.PathFormula
    return [make(build.model.forces, path, rest, formula, clamped=clamped, disabled_by_default=disabled, name=name)]


def _path_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    if path is None:
        return []
    optimal = item.number("optimal_force", 1.0)
    return [paths.PathActuator(build.model.forces, path, optimal, disabled_by_default=disabled, name=name)]


def _clutched(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    tags = {"stiffness": math.nan, "dissipation": math.nan, "relaxation_time_constant": 0.001, "initial_stretch": 0.0}
    values = {tag: item.number(tag, usual) for tag, usual in tags.items()}
    if path is None:
        return []
    if not (all(value >= 0.0 for value in values.values()) and values["relaxation_time_constant"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs numbers, zero or more, its time constant above zero; they are {values}")
    make = paths.ClutchedPathSpring
    return [make(build.model.forces, path, *values.values(), **_options(disabled, name))]


def _mckibben(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    path = _path_of(build, item, name)
    tags = {"thread_length": 200.0, "number_of_turns": 1.5, "cord_length": 0.0}
    values = {tag: item.number(tag, usual) for tag, usual in tags.items()}
    if path is None:
        return []
    if not values["number_of_turns"]:
        item.refuse(f"{item.tag} {item.name!r} needs a number_of_turns other than zero")
    return [paths.McKibbenActuator(build.model.forces, path, *values.values(), **_options(disabled, name))]


# ---------------------------------------------------------------------------------------------- on bodies


def _foot_ground(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    """The station is a component of its own."""
    base, where = build.components.station(build.components.find(item, "station", ("Station", "Marker")))
    tags = {
        "stiffness": 1e4,
        "dissipation": 1e-2,
        "spring_resting_length": 0.0,
        "dynamic_friction": 0.0,
        "viscous_friction": 5.0,
        "latch_velocity": 0.05,
    }
    values = {tag: item.number(tag, usual) for tag, usual in tags.items()}
    if not (values["stiffness"] > foot_ground.LOW and values["latch_velocity"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs a stiffness above {foot_ground.LOW}, and a latch_velocity above zero")
    body = build.mobods[id(base)]
    return [foot_ground.FootGround(build.model.forces, body, where, *values.values(), **_options(disabled, name))]


def _external(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    item.read_all()
    build.model.data[name] = item.as_data()
    build.lose(
        item,
        f"ExternalForce {item.name!r} is left out: a model's file does not say its data; "
        'load_osim(path, external_loads="loads.xml") takes the file that does',
        "external forces",
        "external_loads=...",
    )
    return []


def _exponential_contact(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    """The point is a station that the element holds; the plane is given by body-fixed angles and a place."""
    station = item.one_object("station")
    if station is None:
        item.refuse(f"{item.tag} {item.name!r} has no station")
    station.is_read = True
    body, X = build.frame(station, "parent_frame")
    plane = item.finite("contact_plane_transform", (0.0,) * 6)
    numbers = {
        "normal_viscosity": "normal_viscosity",
        "max_normal_force": "max_normal_force",
        "friction_elasticity": "friction_elasticity",
        "friction_viscosity": "friction_viscosity",
        "settle_velocity": "settle_velocity",
        "initial_mu_static": "static_friction",
        "initial_mu_kinetic": "kinetic_friction",
    }
    given: dict[str, Any] = {ours: item.number(tag, 0.0) for tag, ours in numbers.items() if item.has(tag)}
    if item.has("exponential_shape_parameters"):
        given["shape_parameters"] = item.finite("exponential_shape_parameters", (0.0, 0.0, 0.0))
    build.report.depart(
        item.note(f"{item.tag} {item.name!r}: its friction remembers by three variables z, not by OpenSim's discrete states")
    )
    return [
        force.ExponentialSpring(
            build.model.forces,
            Transform(Rotation.from_body_fixed_xyz(plane[:3]), plane[3:]),
            body,
            np.asarray(X @ station.finite("location", (0.0, 0.0, 0.0))),
            **given,
            disabled_by_default=disabled,
            name=name,
        )
    ]


def _point_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    body, X = build.place_named(item, item.text("body"))
    is_global = item.flag("point_is_global", False)
    point, direction = item.finite("point", (0.0, 0.0, 0.0)), item.finite("direction", (1.0, 0.0, 0.0))
    force_is_global = item.flag("force_is_global", False)
    return [
        pushes.PointActuator(
            build.model.forces,
            body,
            point if is_global else np.asarray(X @ point),
            direction if force_is_global else np.asarray(X.R @ direction),
            item.number("optimal_force", 1.0),
            point_is_global=is_global,
            force_is_global=force_is_global,
            disabled_by_default=disabled,
            name=name,
        )
    ]


def _torque_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    body_a, X = build.place_named(item, item.text("bodyA"))
    body_b = build.mobod_named(item, item.text("bodyB"))
    is_global, axis = item.flag("torque_is_global", True), item.finite("axis", (0.0, 0.0, 1.0))
    optimal = item.number("optimal_force", 1.0)
    return [
        pushes.TorqueActuator(
            build.model.forces,
            body_a,
            body_b,
            axis if is_global else np.asarray(X.R @ axis),
            optimal,
            torque_is_global=is_global,
            disabled_by_default=disabled,
            name=name,
        )
    ]


def _body_actuator(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    body, _ = build.frame(item, "body")
    return [
        pushes.BodyActuator(
            build.model.forces,
            body,
            item.finite("point", (0.0, 0.0, 0.0)),
            point_is_global=item.flag("point_is_global", False),
            force_is_global=item.flag("spatial_force_is_global", True),
            disabled_by_default=disabled,
            name=name,
        )
    ]


def _prescribed(build: Building, item: Item, name: str, disabled: bool) -> list[Force]:
    own = build.frame(item, "frame")
    ground = build.model.matter.ground, Transform()
    point_in = ground if item.flag("pointIsGlobal", False) else own
    force_in = ground if item.flag("forceIsGlobal", True) else own
    zero: Function = function.Constant(0.0, 1)
    functions: list[Function] = []
    for tag in ("forceFunctions", "pointFunctions", "torqueFunctions"):
        held = _function_set(item, tag)
        if len(held) not in (0, 3):
            item.refuse(f"<{tag}> of PrescribedForce {item.name!r} takes three functions, or none; it has {len(held)}")
        if tag == "pointFunctions" and not held:
            point_in = own
        functions += [_of_one(make_function(one)) for one in held] or [zero] * 3
    return [
        pushes.PrescribedForce(
            build.model.forces, own[0], functions, force_in, point_in, disabled_by_default=disabled, name=name
        )
    ]


def _function_set(item: Item, tag: str) -> list[Item]:
    """The functions of a set that stands in the property, or has its name."""
    for child in item.children:
        if child.tag == tag or (child.tag == "FunctionSet" and child.name == tag):
            child.is_read = True
            inner = child.find("FunctionSet") or child
            objects = inner.find("objects")
            return [] if objects is None else objects.children
    return []


def _of_one(one: Function) -> Function:
    """A function of one argument: a constant is of none."""
    return one if one.get_argument_size() == 1 else function.Constant(float(one.calc_value(np.zeros(0))), 1)


#: What each kind of force becomes.
FORCES: dict[str, Maker] = {
    "CoordinateLimitForce": _limit,
    "SpringGeneralizedForce": _spring,
    "CoordinateSpring": _spring,
    "ExpressionBasedCoordinateForce": _coordinate_formula,
    "CoordinateActuator": _coordinate_actuator,
    "ActivationCoordinateActuator": _activated,
    "BushingForce": _bushing,
    "ExpressionBasedBushingForce": _formula_bushing,
    "PointToPointSpring": _point_spring,
    "ExpressionBasedPointToPointForce": _point_formula,
    "PointToPointActuator": _point_to_point_actuator,
    "FunctionBasedBushingForce": _function_bushing,
    "PathSpring": _path_spring,
    "Blankevoort1991Ligament": _blankevoort,
    "ExpressionBasedPathForce": _path_formula,
    "ExponentialContactForce": _exponential_contact,
    "Ligament": _ligament,
    "PathActuator": _path_actuator,
    "ClutchedPathSpring": _clutched,
    "McKibbenActuator": _mckibben,
    "PointActuator": _point_actuator,
    "TorqueActuator": _torque_actuator,
    "BodyActuator": _body_actuator,
    "PrescribedForce": _prescribed,
    "MeyerFregly2016Force": _foot_ground,
    "ExternalForce": _external,
    "HuntCrossleyForce": listed_surfaces,
    "ElasticFoundationForce": listed_surfaces,
    "SmoothSphereHalfSpaceForce": smooth_sphere,
}
#: Those that a program drives: `Model.actuators`.
ACTUATORS = frozenset(kind for kind in FORCES if kind.endswith("Actuator")) | {"ClutchedPathSpring"}
#: How the names of muscles end, and muscles with other names.
MUSCLES = ("Muscle", "Muscle_Deprecated")
OTHER_MUSCLES = frozenset({"ConstantMuscleActivation"})
