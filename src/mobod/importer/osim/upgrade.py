"""Old documents made new: one step a change of the format, in the order of the versions that made them.

Each step takes the model's element, in the shape that the step before left, and rewrites it in place; elements that it makes
have the line of what they come from. Numbers that OpenSim writes into new elements on the way have six digits there, and have
them here: a model means the same mechanism in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from ...value import Rotation, Transform
from ..opensim_file import apply_defaults
from ..xml_element import Element

#: The version that the reader reads.
LATEST = 40600
#: Names of kinds that have others now.
RENAMED = {
    "ActuatorSet": "ForceSet",
    "MuscleWrap": "PathWrap",
    "MuscleWrapSet": "PathWrapSet",
    "MusclePoint": "PathPoint",
    "MuscleViaPoint": "ConditionalPathPoint",
    "MovingMusclePoint": "MovingPathPoint",
    "MusclePointSet": "PathPointSet",
    "NaturalCubicSpline": "SimmSpline",
    "natCubicSpline": "SimmSpline",
    "GeneralizedForce": "CoordinateActuator",
    "Force": "PointActuator",
    "Torque": "TorqueActuator",
    "Schutte1993Muscle": "Schutte1993Muscle_Deprecated",
    "Delp1990Muscle": "Delp1990Muscle_Deprecated",
}


def upgrade(model: Element, version: int, path: str) -> list[str]:
    """Bring the model of a document to the format of today.

    Parameters
    ----------
    model : Element
        The element of the model; changed in place.
    version : int
        Of the document.
    path : str
        Of the file, for messages.

    Returns
    -------
    list of str
        What was approximated.
    """
    if version > LATEST:
        raise ModelError(
            f"{path}:{model.line}: the format is of version {version}; {LATEST} is the newest that is known. "
            "Save the model with OpenSim 4.6 or older"
        )
    notes: list[str] = []
    for element in model.below():
        element.tag = RENAMED.get(element.tag, element.tag)
    apply_defaults(model)
    model.children = [
        child for child in model.children if child.tag != "defaults"
    ]  # or they would be applied again, as of today
    for until, step in STEPS:
        if version < until:
            step(model)
    return notes


# ---------------------------------------------------------------------------------------------- elements


def _child(element: Element | None, tag: str) -> Element | None:
    return None if element is None else element.child(tag)


def _text(element: Element | None, tag: str, default: str = "") -> str:
    child = _child(element, tag)
    return default if child is None else child.text.strip()


def _rename(element: Element, old: str, new: str) -> None:
    child = _child(element, old)
    if child is not None:
        child.tag = new


def _take(element: Element, tag: str) -> Element | None:
    """Remove a child and return it."""
    child = _child(element, tag)
    if child is not None:
        element.children.remove(child)
    return child


def _add(element: Element, tag: str, text: str = "", name: str | None = None) -> Element:
    child = Element(tag, {} if name is None else {"name": name}, element.line, [], text)
    element.children.append(child)
    return child


def _list_of(element: Element, tag: str) -> Element:
    return _child(element, tag) or _add(element, tag)


def _members(model: Element, *sets: str) -> Iterator[Element]:
    """The objects of some of the model's sets."""
    for tag in sets:
        for group in model.find_all(tag):
            for objects in group.find_all("objects"):
                yield from list(objects.children)


def _numbers(text: str, count: int) -> Array:
    try:
        values = np.array([float(word) for word in text.translate(str.maketrans("()[],~", "      ")).split()])
    except ValueError:
        values = np.zeros(0)
    return values if len(values) == count else np.zeros(count)


def _six_digits(values: Array) -> str:
    return " ".join(f"{value:g}" for value in values.tolist())


def _body_path(name: str) -> str:
    return "/ground" if name == "ground" else f"/bodyset/{name}"


def _is_true(element: Element) -> bool:
    return element.text.strip().lower() in ("true", "1", "t")


# ---------------------------------------------------------------------------------------------- the steps


def engine_into_model(model: Element) -> None:
    """10600: the engine's own sets were one level deeper."""
    engine = _child(_child(model, "DynamicsEngine"), "SimbodyEngine")
    if engine is not None:
        model.children += engine.children
        engine.children = []


def spatial_transforms(model: Element) -> None:
    """10901: a CustomJoint's axes were a set, of which each said whether it turns or moves."""
    names = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
    for joint in model.below():
        group = _child(joint, "TransformAxisSet") if joint.tag == "CustomJoint" else None
        if group is None:
            continue
        axes = [axis for objects in group.find_all("objects") for axis in objects.find_all("TransformAxis")]
        joint.children.remove(group)
        transform = _add(joint, "SpatialTransform")
        kinds = {0: [a for a in axes if _turns(a)], 3: [a for a in axes if not _turns(a)]}
        for first, own in kinds.items():
            directions = [np.eye(3)[k] for k in range(3)]
            for k, axis in enumerate(own[:3]):
                directions[k] = _numbers(_text(axis, "axis"), 3)
            _make_independent(directions, len(own))
            for k in range(3):
                made = _add(transform, "TransformAxis", name=names[first + k])
                made.line = own[k].line if k < len(own) else joint.line
                _add(made, "axis", " ".join(map(repr, directions[k].tolist())))
                if k < len(own):
                    _add(made, "coordinates", _text(own[k], "coordinate") or _text(own[k], "coordinates"))
                    made.children += [child for child in own[k].children if child.tag == "function"]


def _turns(axis: Element) -> bool:
    return _text(axis, "is_rotation").lower() == "true"


def _make_independent(axes: list[Array], count: int) -> None:
    """Give those of three axes that the file does not say a direction of their own."""
    if count == 2:
        third = np.cross(axes[0], axes[1])
    elif count == 1:
        if abs(abs(float(axes[0] @ axes[1])) - 1.0) < 1e-4:
            axes[1] = axes[2]
        third = np.cross(axes[1], axes[0])
    else:
        return
    axes[2] = third / np.linalg.norm(third)


def point_and_torque_actuators(model: Element) -> None:
    """10905: actuators named two bodies, and pulled the other way."""
    names = {
        "TorqueActuator": {"body_A": "bodyB", "body_B": "bodyA", "direction_A": "axis"},
        "PointActuator": {"body_B": "body", "point_B": "point", "direction_A": "direction"},
    }
    for actuator in model.below():
        for old, new in names.get(actuator.tag, {}).items():
            _rename(actuator, old, new)
        tag = {"TorqueActuator": "axis", "PointActuator": "direction"}.get(actuator.tag)
        direction = _child(actuator, tag) if tag else None
        if direction is not None:
            direction.text = " ".join(repr(-value) for value in _numbers(direction.text, 3).tolist())
        if actuator.tag == "PointActuator" and _child(actuator, "force_is_global") is None:
            _add(actuator, "force_is_global", "true")


def conditional_points(model: Element) -> None:
    """20002: a conditional point's coordinate."""
    for point in model.below():
        if point.tag == "ConditionalPathPoint":
            _rename(point, "coordinates", "coordinate")


def muscle_paths(model: Element) -> None:
    """20302: the points of a muscle became a path; its angle of pennation got a longer name."""
    for force in _members(model, "ForceSet"):
        path = _child(force, "GeometryPath")
        if path is None and (_child(force, "PathPointSet") or _child(force, "PathWrapSet")):
            moved = [child for child in (_take(force, "PathPointSet"), _take(force, "PathWrapSet")) if child is not None]
            _add(force, "GeometryPath").children += moved
        _rename(force, "pennation_angle", "pennation_angle_at_optimal")


def moving_points(model: Element) -> None:
    """30000: a moving point's functions."""
    for point in model.below():
        if point.tag == "MovingPathPoint":
            for axis in "xyz":
                _rename(point, f"{axis.upper()}Attachment", f"{axis}_location")


def names_inertias_and_frames(model: Element) -> None:
    """30500: names have no blanks, inertias are lists, constraints and springs name frames."""
    for element in model.below():
        name = element.attributes.get("name")
        if name is not None and re.search(r"\s", name):
            element.attributes["name"] = re.sub(r"\s", "", name)
    for body in _members(model, "BodySet"):
        values = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        line = body.line
        for k, which in enumerate(("xx", "yy", "zz", "xy", "xz", "yz")):
            given = _take(body, f"inertia_{which}")
            if given is not None:
                values[k], line = _numbers(given.text, 1)[0], given.line
        if _child(body, "inertia") is None:
            _add(body, "inertia", _six_digits(values)).line = line
        for holder in body.find_all("Joint"):
            for joint in holder.children:
                _rename(joint, "location", "location_in_child")
                _rename(joint, "orientation", "orientation_in_child")
    for tag, sockets in _SOCKETS_30500.items():
        for one in _members(model, "ConstraintSet", "ForceSet"):
            if one.tag == tag:
                for old in sockets:
                    _socket_of_body(one, old, old)


_SOCKETS_30500 = {
    "ConstantDistanceConstraint": ("body_1", "body_2"),
    "PointConstraint": ("body_1", "body_2"),
    "PointOnLineConstraint": ("line_body", "follower_body"),
    "RollingOnSurfaceConstraint": ("rolling_body", "surface_body"),
    "PointToPointSpring": ("body1", "body2"),
}


def _socket_of_body(element: Element, old: str, socket: str) -> None:
    """Turn a property that is a body's name into the socket of a frame."""
    given = _take(element, old)
    if given is not None:
        _add(element, f"socket_{socket}", _body_path(given.text.strip())).line = given.line


def joints_out_of_bodies(model: Element) -> None:
    """30501: joints left their bodies for a set, Ground left the bodies, markers are on frames."""
    bodies = _child(_child(model, "BodySet"), "objects")
    joints = _child(_list_of(model, "JointSet"), "objects") or _add(_list_of(model, "JointSet"), "objects")
    for body in [] if bodies is None else list(bodies.find_all("Body")):
        holder = _take(body, "Joint")
        if body.attributes.get("name", "").strip() == "ground":
            bodies.children.remove(body)  # type: ignore[union-attr]
            body.tag = "Ground"
            body.children = [c for c in body.children if c.tag in ("geometry", "VisibleObject", "WrapObjectSet")]
            if _child(model, "Ground") is None:
                model.children.append(body)
        elif holder is not None and holder.children:
            joint = holder.children[0]
            parent = _take(joint, "parent_body")
            name = "ground" if parent is None else parent.text.strip()
            _add(joint, "socket_parent_frame", name).line = joint.line
            _add(joint, "socket_child_frame", body.attributes.get("name", "")).line = joint.line
            joints.children.append(joint)
    for marker in _members(model, "MarkerSet"):
        _socket_of_body(marker, "body", "parent_frame")


def names_of_joints(model: Element) -> None:
    """Joints without a name have that of their kind in small letters, as OpenSim gives it, in any version."""
    joints = list(_members(model, "JointSet"))
    taken = {joint.attributes.get("name", "").strip() for joint in joints}
    for joint in joints:
        if not joint.attributes.get("name", "").strip():
            kind = joint.tag.lower()
            name = next(one for one in (kind, *(f"{kind}_{k}" for k in range(1, len(joints) + 1))) if one not in taken)
            joint.attributes["name"] = name
            taken.add(name)


def geometry_of_bodies(model: Element) -> None:
    """30502: what is drawn of a body are geometries attached to its frame, each with its own scale."""
    bodies = [*_members(model, "BodySet"), *model.find_all("Ground")]
    for body in bodies:
        visible = _take(body, "VisibleObject")
        if visible is None:
            continue
        name, scale = body.attributes.get("name", ""), _text(visible, "scale_factors", "1 1 1")
        outer = _numbers(_text(visible, "transform"), 6)
        attached = _list_of(body, "attached_geometry")
        for number, file in enumerate(_text(visible, "geometry_files").split()):
            _add_mesh(attached, f"{name}_geom_{number}", visible.line, "..", scale, file)
        shown = _child(_child(visible, "GeometrySet"), "objects")
        for number, display in enumerate([] if shown is None else shown.find_all("DisplayGeometry"), 1):
            inner = _numbers(_text(display, "transform"), 6)
            frame = ".."
            if np.linalg.norm(inner) > 0.0 or np.linalg.norm(outer) > 0.0:
                frame = f"{name}_geom_frame_{number}"
                X = _pose(outer) @ _pose(inner)
                _offset_frame(_list_of(body, "components"), frame, "..", X.p, X.R.to_body_fixed_xyz())
            factors = np.atleast_1d(_numbers(scale, 3)) * _numbers(_text(display, "scale_factors", "1 1 1"), 3)
            text, file = " ".join(map(repr, factors.tolist())), _text(display, "geometry_file")
            mesh = _add_mesh(attached, f"{name}_geom_{number}", display.line, frame, text, file)
            look = _add(mesh, "Appearance")
            for tag in ("color", "opacity"):
                if _child(display, tag) is not None:
                    _add(look, tag, _text(display, tag))
            if _text(display, "display_preference") == "0":
                _add(look, "visible", "false")


def _add_mesh(attached: Element, name: str, line: int, frame: str, scale: str, file: str) -> Element:
    mesh = _add(attached, "Mesh", name=name)
    mesh.line = line
    for tag, text in (("socket_frame", frame), ("scale_factors", scale), ("mesh_file", file)):
        _add(mesh, tag, text)
    return mesh


def _pose(six: Array) -> Transform:
    return Transform(Rotation.from_body_fixed_xyz(six[:3]), six[3:])


def _offset_frame(holder: Element, name: str, parent: str, location: Array, orientation: Array) -> None:
    frame = _add(holder, "PhysicalOffsetFrame", name=name)
    _add(frame, "socket_parent", parent)
    _add(frame, "translation", _six_digits(np.asarray(location)))
    _add(frame, "orientation", _six_digits(np.asarray(orientation)))


def _take_place(element: Element, of: str) -> list[Array]:
    """The location and the orientation of a frame, which are taken away."""
    where = _take(element, f"location_{of}"), _take(element, f"orientation_{of}")
    return [np.zeros(3) if one is None else _numbers(one.text, 3) for one in where]


def offset_frames(model: Element) -> None:
    """30505: where joints, bushings and welds are became frames; path points and contact shapes are on frames."""
    for joint in _members(model, "JointSet"):
        _connectors(joint)
        _rename(joint, "socket_parent_body", "socket_parent_frame")
        _rename(joint, "socket_child_body", "socket_child_frame")
        for which in ("parent", "child"):
            socket = _child(joint, f"socket_{which}_frame")
            if socket is None:
                continue
            body = socket.text.strip().rpartition("/")[2]
            place = _take_place(joint, f"in_{which}")
            _offset_frame(_list_of(joint, "frames"), f"{body}_offset", _body_path(body), *place)
            socket.text = f"{body}_offset"
    for link in _members(model, "ConstraintSet", "ForceSet"):
        if link.tag in ("BushingForce", "ExpressionBasedBushingForce", "FunctionBasedBushingForce", "WeldConstraint"):
            for k in ("1", "2"):
                given = _take(link, f"body_{k}")
                place = _take_place(link, f"body_{k}")
                if given is None:
                    continue
                name = given.text.strip()
                if any(np.any(p) for p in place):
                    _offset_frame(_list_of(link, "frames"), f"{name}_offset", _body_path(name), *place)
                    _add(link, f"socket_frame{k}", f"{name}_offset")
                else:
                    _add(link, f"socket_frame{k}", _body_path(name))
    for point in model.below():
        if point.tag in ("PathPoint", "ConditionalPathPoint", "MovingPathPoint"):
            _socket_of_body(point, "body", "parent_frame")
            for old in ("coordinate", "x_coordinate", "y_coordinate", "z_coordinate"):
                given = _take(point, old)
                if given is not None:
                    _add(point, f"socket_{old}", given.text.strip()).line = given.line
    for shape in _members(model, "ContactGeometrySet"):
        _socket_of_body(shape, "body_name", "frame")


def components(model: Element) -> None:
    """30506: a component's geometry joined its components; a prescribed force is on a frame."""
    for element in model.below():
        geometry = _take(element, "geometry") if element.tag in ("Body", "Ground", "PhysicalOffsetFrame", "Model") else None
        if geometry is not None:
            _list_of(element, "components").children += geometry.children
    for one in _members(model, "ForceSet"):
        if one.tag == "PrescribedForce":
            _socket_of_body(one, "body", "frame")


def coordinates_of_joints(model: Element) -> None:
    """30507: a joint's coordinates are a list; colors became appearances."""
    for joint in _members(model, "JointSet"):
        group = _take(joint, "CoordinateSet")
        objects = _child(group, "objects")
        if objects is not None and objects.children:
            _list_of(joint, "coordinates").children += list(objects.find_all("Coordinate"))
    for shape in _members(model, "ContactGeometrySet"):
        color, shown = _take(shape, "color"), _take(shape, "display_preference")
        if color is not None or shown is not None:
            look = _add(shape, "Appearance")
            if color is not None:
                look.children.append(color)
            if shown is not None and shown.text.strip() == "0":
                _add(look, "visible", "false")


def _connectors(element: Element) -> None:
    group = _take(element, "connectors")
    if group is not None:
        for connector in group.children:
            name = _text(connector, "connectee_name")
            _add(element, f"socket_{connector.attributes.get('name', '')}", name).line = connector.line


def connectors(model: Element) -> None:
    """30508: connectors became properties, each with a name of its own."""
    for element in model.below():
        _connectors(element)


def switches(model: Element) -> None:
    """30509: what could be disabled can be enforced, applied or enabled."""
    for tag, new in (("ConstraintSet", "isEnforced"), ("ForceSet", "appliesForce"), ("ControllerSet", "enabled")):
        for one in _members(model, tag):
            _negate(one, "isDisabled", new)


def _negate(element: Element, old: str, new: str) -> None:
    child = _child(element, old)
    if child is not None:
        child.tag, child.text = new, "false" if _is_true(child) else "true"


def sockets(model: Element) -> None:
    """30510: connectors are called sockets."""
    for element in model.below():
        if element.tag.startswith("connector_"):
            element.tag = "socket_" + element.tag.removeprefix("connector_")


def probes(model: Element) -> None:
    """30511: probes can be enabled."""
    for one in _members(model, "ProbeSet"):
        _negate(one, "isDisabled", "enabled")


def frames_into_components(model: Element) -> None:
    """30512: the model's frames joined its components."""
    group = _take(model, "FrameSet")
    objects = _child(group, "objects")
    if objects is not None:
        _list_of(model, "components").children += objects.children


def controls_of_muscles(model: Element) -> None:
    """30513: ranges of 0 and 1 of muscles' controls, which did not know the least activation, are those of their kind."""
    for force in _members(model, "ForceSet"):
        for tag, usual in (("min_control", 0.0), ("max_control", 1.0)) if "Muscle" in force.tag else ():
            text = _text(force, tag, "none")
            try:
                given = float(text)
            except ValueError:
                continue
            if abs(given - usual) < 1e-14:
                _take(force, tag)


def reversed_joints(model: Element) -> None:
    """30514: a joint that was reversed has its frames the other way round."""
    for joint in _members(model, "JointSet"):
        given = _take(joint, "reverse")
        parent, child = (
            _child(joint, f"socket_{which}_frame") or _child(joint, f"socket_{which}_frame_connectee_name")
            for which in ("parent", "child")
        )
        if given is not None and _is_true(given) and parent is not None and child is not None:
            parent.text, child.text = child.text, parent.text


def short_socket_names(model: Element) -> None:
    """30517: sockets' names lost their end."""
    for element in model.below():
        match = re.fullmatch(r"((?:socket|input)_.*)_connectee_names?", element.tag)
        if match is not None:
            element.tag = match.group(1)


def coordinates_of_points(model: Element) -> None:
    """40000: points of paths know coordinates by where these are; OpenSim looks for a bare name in older documents only."""
    places: dict[str, str] = {}
    for joint in _members(model, "JointSet"):
        for one in joint.below():
            if one.tag == "Coordinate":
                name = one.attributes.get("name", "").strip()
                places.setdefault(name, f"/jointset/{joint.attributes.get('name', '').strip()}/{name}")
    for point in model.below():
        if point.tag in ("ConditionalPathPoint", "MovingPathPoint"):
            for socket in point.children:
                if socket.tag.startswith("socket_") and socket.tag.endswith("coordinate"):
                    socket.text = places.get(socket.text.strip(), socket.text)


def named_paths(model: Element) -> None:
    """40500: a path may be of several kinds, and is called path."""
    for path in model.below():  # of forces in their set, and among components
        if path.tag == "GeometryPath":
            path.attributes["name"] = "path"


def actuators_of_controllers(model: Element) -> None:
    """40600: a controller's list of names of actuators became a socket, of their paths."""
    for controller in _members(model, "ControllerSet"):
        held = _child(controller, "actuator_list")
        if held is not None:
            held.tag = "socket_actuators"
            held.text = " ".join(w if "/" in w or w.upper() == "ALL" else f"/forceset/{w}" for w in held.text.split())


#: Each step is for documents older than its version.
STEPS: tuple[tuple[int, Callable[[Element], None]], ...] = (
    (10601, engine_into_model),
    (10901, spatial_transforms),
    (10905, point_and_torque_actuators),
    (20002, conditional_points),
    (20302, muscle_paths),
    (30000, moving_points),
    (30500, names_inertias_and_frames),
    (30501, joints_out_of_bodies),
    (LATEST + 1, names_of_joints),
    (30502, geometry_of_bodies),
    (30505, offset_frames),
    (30506, components),
    (30507, coordinates_of_joints),
    (30508, connectors),
    (30509, switches),
    (30510, sockets),
    (30511, probes),
    (30512, frames_into_components),
    (30513, controls_of_muscles),
    (30514, reversed_joints),
    (30517, short_socket_names),
    (40000, coordinates_of_points),
    (40500, named_paths),
    (40600, actuators_of_controllers),
)
