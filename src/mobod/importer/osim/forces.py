"""Forces: what each kind becomes. The elements that `mobod.force` has not are in `elements`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import force, function
from ...algebra.arrays import Array
from ...errors import ModelError, TopologyError
from ...force.base import Force
from ...function import Function
from ...value import Rotation, Transform
from .building import Building
from .constraints import coordinate_place, tell_of_offsets
from .contact import listed_surfaces, smooth_sphere
from .coordinates import free_name
from .document import Item
from .elements import bushing, foot_ground, of_coordinate, paths, pulls, pushes
from .functions import make_function
from .muscles import add_muscle, make_path

#: Controls from which on there is no bound, as old files write it.
_UNBOUNDED = 1e300
#: OpenSim's ligament: force over length, both normalized.
_LIGAMENT_X = (-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0)
_LIGAMENT_Y = (0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0)
#: Makes a force of its name and whether it is disabled.
Made = Callable[..., Force]


def add_force(build: Building, item: Item) -> None:
    """Make what an element describes: forces of the model, or data and a line of the report."""
    item.is_read = True
    taken = {one.name for one in build.model.forces.elements}
    name = free_name(build.components.name_of(item), taken, build.model.muscles)
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
        made = maker(build, item, name)
        if made is None:
            return
        one = made(disabled_by_default=disabled, name=name)
    except (ModelError, ValueError, TypeError, TopologyError) as error:
        item.refuse_for(error)
    if item.tag not in ACTUATORS:
        build.model.data.setdefault("forces", {})[name] = one
        return
    build.model.actuators[name] = one
    item.find("optimal_force")
    low, high = item.number("min_control", -math.inf), item.number("max_control", math.inf)
    if low <= high and (low > -_UNBOUNDED or high < _UNBOUNDED):
        build.model.data.setdefault("control ranges", {})[name] = low, high


def _made(build: Building, kind: Made, *arguments: Any, **options: Any) -> Made:
    return partial(kind, build.model.forces, *arguments, **options)


def _numbers(item: Item, **usual: float) -> dict[str, float]:
    """Numbers of an element by their tags."""
    return {tag: item.number(tag, value) for tag, value in usual.items()}


# ---------------------------------------------------------------------------------------------- of coordinates


def _limit(build: Building, item: Item, name: str) -> Made:
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
    return _made(build, of_coordinate.CoordinateLimit, mobod, which, *upper, *lower, damping, transition)


def _spring(build: Building, item: Item, name: str) -> Made:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    values = _numbers(item, stiffness=0.0, rest_length=0.0, viscosity=0.0).values()
    return _made(build, of_coordinate.CoordinateSpring, mobod, which, *values)


def _coordinate_formula(build: Building, item: Item, name: str) -> Made:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    formula = function.Expression(item.text("expression", "0.0"), ["q", "qdot"])
    return _made(build, of_coordinate.CoordinateFormula, mobod, which, formula)


def _coordinate_actuator(build: Building, item: Item, name: str) -> Made:
    mobod, which = coordinate_place(build, item, item.text("coordinate"))
    return _made(build, of_coordinate.CoordinateActuator, mobod, which, item.number("optimal_force", 1.0))


def _activated(build: Building, item: Item, name: str) -> Made:
    """A coordinate's actuator whose activation follows its control: a_dot = (control - a) / time constant."""
    forces, (mobod, which) = build.model.forces, coordinate_place(build, item, item.text("coordinate"))
    gain, time_constant = (item.number("optimal_force", 1.0), 0.0, 0.0), item.number("activation_time_constant", 0.01)
    build.model.data.setdefault("activations", {})[name] = item.number("default_activation", 0.5)
    through = of_coordinate.OnMobility(forces, [(mobod, which, 1.0)])
    return _made(build, force.Actuator, through, gain=gain, dynamics="filter", time_constant=time_constant)


# ---------------------------------------------------------------------------------------------- bushings


def _six(item: Item, what: str) -> Array:
    """Of rotations, then of translations."""
    return np.concatenate([item.finite(f"{of}_{what}", (0.0, 0.0, 0.0)) for of in ("rotational", "translational")])


def _bushing(build: Building, item: Item, name: str) -> Made:
    frames = (*build.frame(item, "frame1"), *build.frame(item, "frame2"))
    return _made(build, force.LinearBushing, *frames, _six(item, "stiffness"), _six(item, "damping"))


def _formula_bushing(build: Building, item: Item, name: str) -> Made:
    tags = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
    functions = [function.Expression(item.text(f"{tag}_expression", "0.0"), list(bushing.VARIABLES)) for tag in tags]
    return _of_functions(build, item, bushing.FormulaBushing, functions)


def _function_bushing(build: Building, item: Item, name: str) -> Made:
    tags = [f"m_{axis}_theta_{axis}_function" for axis in "xyz"] + [f"f_{axis}_delta_{axis}_function" for axis in "xyz"]
    held = [item.one_object(tag) for tag in tags]
    functions = [function.Constant(0.0, 1) if one is None else _of_one(make_function(one)) for one in held]
    return _of_functions(build, item, bushing.FunctionBushing, functions)


def _of_functions(build: Building, item: Item, make: Made, functions: Sequence[Function]) -> Made:
    for tag in ("moment_visual_scale", "force_visual_scale", "visual_aspect_ratio"):
        item.find(tag)
    frames = (*build.frame(item, "frame1"), *build.frame(item, "frame2"))
    return _made(build, make, *frames, functions, _six(item, "damping"))


# ---------------------------------------------------------------------------------------------- between points


def _point_spring(build: Building, item: Item, name: str) -> Made:
    """OpenSim takes its points as stations of the bodies, whatever frames are named."""
    ends: list[Any] = []
    for socket, tag in (("body1", "point1"), ("body2", "point2")):
        body, X = build.frame(item, socket)
        tell_of_offsets(build, item, X)
        ends += [body, item.finite(tag, (0.0, 0.0, 0.0))]
    values = _numbers(item, stiffness=1.0, rest_length=0.0).values()
    return _made(build, force.TwoPointLinearSpring, *ends, *values)


def _ends_named(build: Building, item: Item, bodies: tuple[str, str], points: tuple[str, str]) -> list[Any]:
    found: list[Any] = []
    for tag, point in zip(bodies, points, strict=True):
        body, X = build.place_named(item, item.text(tag))
        found += [body, np.asarray(X @ item.finite(point, (0.0, 0.0, 0.0)))]
    return found


def _point_formula(build: Building, item: Item, name: str) -> Made:
    ends = _ends_named(build, item, ("body1", "body2"), ("point1", "point2"))
    formula = function.Expression(item.text("expression", "0.0"), ["d", "ddot"])
    return _made(build, pulls.PointToPointFormula, *ends, formula)


def _point_to_point_actuator(build: Building, item: Item, name: str) -> Made | None:
    if item.flag("points_are_global", False):
        build.lose(
            item,
            f"{item.tag} {item.name!r} is left out: its points are fixed in Ground, and act on bodies that move past them",
            "forces that cannot be made",
        )
        return None
    ends = _ends_named(build, item, ("bodyA", "bodyB"), ("pointA", "pointB"))
    return _made(build, pulls.PointToPointActuator, *ends, item.number("optimal_force", 1.0))


# ---------------------------------------------------------------------------------------------- along paths


def _along(read: Callable[[Item, Made], Made]) -> Callable[[Building, Item, str], Made | None]:
    """A maker of elements with a path; one without two points is data, and reported. *read* adds what else an element has."""

    def make(build: Building, item: Item, name: str) -> Made | None:
        path = make_path(build, item)
        if path is not None:
            return read(item, _made(build, _ALONG[item.tag], path))
        build.model.data[name] = item.as_data()
        item.read_all()
        build.lose(
            item,
            f"{item.tag} {item.name!r} is not simulated: its path has fewer than two points; it is in model.data",
            "forces without a path",
        )
        return None

    return make


def _path_spring(item: Item, make: Made) -> Made:
    values = [item.number(tag, math.nan) for tag in ("resting_length", "stiffness", "dissipation")]
    if not all(value >= 0.0 for value in values):
        item.refuse(
            f"PathSpring {item.name!r} needs resting_length, stiffness and dissipation, zero or more; they are {values}"
        )
    return partial(make, *values)


def _ligament(item: Item, make: Made) -> Made:
    rest, strength = item.number("resting_length", 0.0), item.number("pcsa_force", 0.0)
    held = item.one_object("force_length_curve")
    curve = function.SimmSpline(_LIGAMENT_X, _LIGAMENT_Y) if held is None else make_function(held)
    if not rest > 0.0:
        item.refuse(f"Ligament {item.name!r} needs a resting_length above zero, not {rest}")
    return partial(make, rest, strength, curve)


def _blankevoort(item: Item, make: Made) -> Made:
    values = _numbers(item, slack_length=0.0, linear_stiffness=1.0, transition_strain=0.06, damping_coefficient=0.003)
    if not (values["slack_length"] > 0.0 and values["transition_strain"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs a slack_length and a transition_strain above zero; they are {values}")
    return partial(make, *values.values())


def _path_formula(item: Item, make: Made) -> Made:
    rest, clamped = item.number("resting_length", 0.0), item.flag("clamp_stretch", True)
    return partial(make, rest, function.Expression(item.text("expression", "0.0"), ["s", "ldot"]), clamped=clamped)


def _path_actuator(item: Item, make: Made) -> Made:
    return partial(make, item.number("optimal_force", 1.0))


def _clutched(item: Item, make: Made) -> Made:
    values = _numbers(item, stiffness=math.nan, dissipation=math.nan, relaxation_time_constant=0.001, initial_stretch=0.0)
    if not (all(value >= 0.0 for value in values.values()) and values["relaxation_time_constant"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs numbers, zero or more, its time constant above zero; they are {values}")
    return partial(make, *values.values())


def _mckibben(item: Item, make: Made) -> Made:
    values = _numbers(item, thread_length=200.0, number_of_turns=1.5, cord_length=0.0)
    if not values["number_of_turns"]:
        item.refuse(f"{item.tag} {item.name!r} needs a number_of_turns other than zero")
    return partial(make, *values.values())


_ALONG: dict[str, Made] = {
    "PathSpring": paths.PathSpring,
    "Ligament": paths.Ligament,
    "Blankevoort1991Ligament": paths.BlankevoortLigament,
    "ExpressionBasedPathForce": paths.PathFormula,
    "PathActuator": paths.PathActuator,
    "ClutchedPathSpring": paths.ClutchedPathSpring,
    "McKibbenActuator": paths.McKibbenActuator,
}


# ---------------------------------------------------------------------------------------------- on bodies


def _foot_ground(build: Building, item: Item, name: str) -> Made:
    """The station is a component of its own."""
    base, where = build.components.station(build.components.find(item, "station", ("Station", "Marker")))
    values = _numbers(
        item, stiffness=1e4, dissipation=1e-2, spring_resting_length=0.0, dynamic_friction=0.0, viscous_friction=5.0,
        latch_velocity=0.05,
    )  # fmt: skip
    if not (values["stiffness"] > foot_ground.LOW and values["latch_velocity"] > 0.0):
        item.refuse(f"{item.tag} {item.name!r} needs a stiffness above {foot_ground.LOW}, and a latch_velocity above zero")
    return _made(build, foot_ground.FootGround, build.mobods[id(base)], where, *values.values())


def _external(build: Building, item: Item, name: str) -> None:
    item.read_all()
    build.model.data[name] = item.as_data()
    build.lose(
        item,
        f"ExternalForce {item.name!r} is left out: a model's file does not say its data; "
        'load_osim(path, external_loads="loads.xml") takes the file that does',
        "external forces",
        "external_loads=...",
    )


def _exponential_contact(build: Building, item: Item, name: str) -> Made:
    """The point is a station that the element holds; the plane is given by body-fixed angles and a place."""
    station = item.one_object("station")
    if station is None:
        item.refuse(f"{item.tag} {item.name!r} has no station")
    station.is_read = True
    body, X = build.frame(station, "parent_frame")
    plane = item.finite("contact_plane_transform", (0.0,) * 6)
    own = "normal_viscosity", "max_normal_force", "friction_elasticity", "friction_viscosity", "settle_velocity"
    numbers = {one: one for one in own} | {"initial_mu_static": "static_friction", "initial_mu_kinetic": "kinetic_friction"}
    given: dict[str, Any] = {ours: item.number(tag, 0.0) for tag, ours in numbers.items() if item.has(tag)}
    if item.has("exponential_shape_parameters"):
        given["shape_parameters"] = item.finite("exponential_shape_parameters", (0.0, 0.0, 0.0))
    build.report.depart(
        item.note(f"{item.tag} {item.name!r}: its friction remembers by three variables z, not by OpenSim's discrete states")
    )
    X_GP = Transform(Rotation.from_body_fixed_xyz(plane[:3]), plane[3:])
    point = np.asarray(X @ station.finite("location", (0.0, 0.0, 0.0)))
    return _made(build, force.ExponentialSpring, X_GP, body, point, **given)


def _point_actuator(build: Building, item: Item, name: str) -> Made:
    body, X = build.place_named(item, item.text("body"))
    flags = {flag: item.flag(flag, False) for flag in ("point_is_global", "force_is_global")}
    point, direction = item.finite("point", (0.0, 0.0, 0.0)), item.finite("direction", (1.0, 0.0, 0.0))
    point = point if flags["point_is_global"] else np.asarray(X @ point)
    direction = direction if flags["force_is_global"] else np.asarray(X.R @ direction)
    optimal = item.number("optimal_force", 1.0)
    return _made(build, pushes.PointActuator, body, point, direction, optimal, **flags)


def _torque_actuator(build: Building, item: Item, name: str) -> Made:
    body_a, X = build.place_named(item, item.text("bodyA"))
    body_b = build.mobod_named(item, item.text("bodyB"))
    is_global, axis = item.flag("torque_is_global", True), item.finite("axis", (0.0, 0.0, 1.0))
    axis, optimal = axis if is_global else np.asarray(X.R @ axis), item.number("optimal_force", 1.0)
    return _made(build, pushes.TorqueActuator, body_a, body_b, axis, optimal, torque_is_global=is_global)


def _body_actuator(build: Building, item: Item, name: str) -> Made:
    (body, _), point = build.frame(item, "body"), item.finite("point", (0.0, 0.0, 0.0))
    at, along = item.flag("point_is_global", False), item.flag("spatial_force_is_global", True)
    return _made(build, pushes.BodyActuator, body, point, point_is_global=at, force_is_global=along)


def _prescribed(build: Building, item: Item, name: str) -> Made:
    own = build.frame(item, "frame")
    ground = build.model.matter.ground, Transform()
    point_in = ground if item.flag("pointIsGlobal", False) else own
    force_in = ground if item.flag("forceIsGlobal", True) else own
    zero: Function = function.Constant(0.0, 1)
    functions: list[Function] = []
    given = []
    for tag in ("forceFunctions", "pointFunctions", "torqueFunctions"):
        held = _function_set(item, tag)
        if len(held) not in (0, 3):
            item.refuse(f"<{tag}> of PrescribedForce {item.name!r} takes three functions, or none; it has {len(held)}")
        if tag == "pointFunctions" and not held:
            point_in = own
        functions += [_of_one(make_function(one)) for one in held] or [zero] * 3
        given.append(len(held) == 3)
    told = {"frame": own[1], "given": tuple(given)}
    return _made(build, pushes.PrescribedForce, own[0], functions, force_in, point_in, **told)


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
FORCES: dict[str, Callable[[Building, Item, str], Made | None]] = {
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
    "PathSpring": _along(_path_spring),
    "Blankevoort1991Ligament": _along(_blankevoort),
    "ExpressionBasedPathForce": _along(_path_formula),
    "ExponentialContactForce": _exponential_contact,
    "Ligament": _along(_ligament),
    "PathActuator": _along(_path_actuator),
    "ClutchedPathSpring": _along(_clutched),
    "McKibbenActuator": _along(_mckibben),
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
