"""From a URDF file to a `UrdfDocument`: all numbers checked, every error with its line.

Strict where a guess could change the motion (names, numbers, types, references), lenient where it
cannot: what does not matter to dynamics (Gazebo's and controllers' elements, unknown shapes) is left
out, and a note says so. Faults that published files have and that leave no doubt of what was meant
(an <inertial> without <mass>, a mesh's scale of four numbers) are put up with, unless it is to be strict.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast, get_args

from ...errors import ModelError
from ..mechanism.reading import JOINTS_AND_FORCES, LARGEST, NUMBER, Reading, shorten
from ..mechanism.shapes import Box, Capsule, Cylinder, Geometry, Mesh, Sphere, Vector3
from ..xml_element import Element, read_xml
from .document import (
    Actuator,
    Collision,
    Dynamics,
    Inertial,
    Joint,
    JointType,
    Limit,
    Link,
    Mimic,
    Origin,
    Transmission,
    UrdfDocument,
    Visual,
)

JOINT_TYPES: tuple[str, ...] = get_args(JointType)

#: Elements of simulators and controllers, which say nothing of the mechanism; so do those with a prefix.
EXTENSIONS = frozenset(
    {"calibration", "contact", "gazebo", "mujoco", "ros2_control", "safety_controller", "self_collision_checking", "sensor"}
    | {"transmission", "verbose", "contact_coefficients", "audio_source", "disable_collisions", "group"}
)
#: What changes the motion in <gazebo> unless it is off, zero or empty.
_MOVES_IN_GAZEBO = {"dampingFactor", "joint", "kinematic", "springStiffness", "static", "turnGravityOff"}
_SMALLEST_MASS = 1e-30

Named = TypeVar("Named", Link, Joint)
Rgba = tuple[float, float, float, float]


def read_urdf(path: str | os.PathLike[str], *, collisions: bool = False, strict: bool = False) -> UrdfDocument:
    """Read a URDF file.

    Parameters
    ----------
    path : str or path-like
        The file.
    collisions : bool, default: False
        Whether collision shapes matter: one that is wrong is an error then, and left out otherwise.
    strict : bool, default: False
        Whether faults that are put up with otherwise are errors.

    Returns
    -------
    UrdfDocument
        Its links and joints by name, in the file's order, with notes on what was left out.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file is not XML, not URDF, or a part of it is wrong. The message starts with the path
        and line.
    """
    return _Reader(os.fspath(path), collisions, strict).read(path)


#: Words of xacro itself: files that have them are not URDF yet.
_XACRO = {"arg", "attribute", "call", "element", "eval", "if", "include", "insert_block", "macro", "property", "unless"}


class _Reader(Reading):
    """Reads one file."""

    def __init__(self, path: str, collisions: bool = False, strict: bool = False) -> None:
        super().__init__(path, collisions, strict)
        self.materials: dict[str, Rgba] = {}
        self.calls: dict[str, list[Element]] = {}  # of xacro's macros that the file has not

    def read(self, path: str | os.PathLike[str]) -> UrdfDocument:
        root = read_xml(path, with_text=True, any_bytes=True, faults=self.faults)
        if self.faults and self.strict:
            raise ModelError(f"{self.path}:1: {self.faults[0].partition(': ')[2]}")
        self.check_is_urdf(root)
        self.materials = self.read_materials(root)
        links = self.by_name("link", [self.read_link(e) for e in root.find_all("link")])
        joints = self.by_name("joint", [self.read_joint(e) for e in root.find_all("joint")])
        if not links:
            self.fail(root, "the robot has no links")
        if "world" not in links and any(joint.parent == "world" for joint in joints.values()):
            # Drake's convention, which other readers share: the world needs no <link>
            line = next(joint.line for joint in joints.values() if joint.parent == "world")
            links["world"] = Link("world", None, (), line)
            self.notes.append(f"line {line}: there is no link 'world', to which joints are fixed: it is added, without mass")
        for joint in joints.values():
            self.check_ends(joint, links)
        joints = {name: self.with_known_mimic(joint, joints) for name, joint in joints.items()}
        self.check_mimic_loops(joints)
        transmissions = self.read_transmissions(root, joints)
        for element in root.children:
            self.report_what_moves(element)
        self.drop_others(root, {"link", "joint", "material", "transmission", *JOINTS_AND_FORCES})
        name = root.attributes.get("name", "").strip() or Path(self.path).stem
        self.notes.extend(self.notes_on_dropped())
        self.notes[:0] = self.faults
        return UrdfDocument(self.path, name, links, joints, self.notes, transmissions, tuple(self.faults))

    def report_what_moves(self, element: Element) -> None:
        """Say which of the simulators' elements of a robot change its motion."""
        if element.tag in JOINTS_AND_FORCES:
            self.notes.lose(f"{self.where(element)}: <{element.tag}> is not simulated", "joints and forces of simulators")
        elif element.tag == "gazebo":
            for child in element.children:
                word = child.text.strip().lower()
                off = word == "false" or (NUMBER.fullmatch(word) is not None and float(word) == 0.0)
                idle = off or not (word or child.children)
                if (child.tag in _MOVES_IN_GAZEBO and not idle) or (child.tag == "gravity" and off):
                    line = f"{self.where(child)}: <{child.tag}> in <gazebo> is not simulated"
                    self.notes.lose(line, "settings of Gazebo's")

    def drop_others(self, element: Element, known: set[str]) -> None:
        for child in element.children:
            if child.tag not in known and child.tag not in self.calls:
                if self.strict and child.tag not in EXTENSIONS and ":" not in child.tag:
                    self.fail(child, f"<{child.tag}> in <{element.tag}> is not of the format")
                inside = "" if element.tag == "robot" else f" in <{element.tag}>"
                self.drop(child, f"<{child.tag}>{inside}")

    # The file as a whole

    def check_is_urdf(self, root: Element) -> None:
        prefixes = {"xacro"} | {
            key.removeprefix("xmlns:")
            for key, value in root.attributes.items()
            if key.startswith("xmlns:") and "xacro" in value
        }
        pending = [root]  # depth first, without recursion
        while pending:
            element = pending.pop()
            prefix, _, word = element.tag.partition(":")
            if word and prefix in prefixes:
                if word in _XACRO:
                    self.fail(
                        element,
                        f"this is a xacro file (it has <{element.tag}>); run xacro first, "
                        "`xacro model.urdf.xacro > model.urdf`, and load what that writes",
                    )
                self.calls.setdefault(element.tag, []).append(element)
            pending.extend(reversed(element.children))
        for tag, found in self.calls.items():  # which xacro has left where it did not know them
            self.fault(found[0], f"<{tag}> calls a macro that the file does not have", f"it is left out ({len(found)} times)")
        if root.tag != "robot":
            hint = {"sdf": " (SDF)", "mujoco": " (MJCF)", "COLLADA": " (COLLADA)"}.get(root.tag, "")
            self.fail(root, f"not a URDF file: its root element is <{root.tag}>{hint}, not <robot>")

    def by_name(self, kind: str, things: list[Named]) -> dict[str, Named]:
        found: dict[str, Named] = {}
        for thing in things:
            first = found.setdefault(thing.name, thing)
            if first is not thing:
                self.fail(thing.line, f"two {kind}s are named {thing.name!r} (the first is on line {first.line})")
        return found

    def check_ends(self, joint: Joint, links: dict[str, Link]) -> None:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                self.fail(joint.line, f"joint {joint.name!r}: its {role} link {name!r} does not exist")
        if joint.parent == joint.child:
            self.fail(joint.line, f"joint {joint.name!r}: its parent and its child are both {joint.child!r}")

    def with_known_mimic(self, joint: Joint, joints: dict[str, Joint]) -> Joint:
        # published robots have this fault
        if joint.mimic is None or joint.mimic.joint in joints:
            return joint
        self.notes.lose(
            f"line {joint.line}: joint {joint.name!r} mimics {joint.mimic.joint!r}, which does not "
            "exist; its <mimic> is ignored",
            "joints that mimic in vain",
        )
        return dataclasses.replace(joint, mimic=None)

    def check_mimic_loops(self, joints: dict[str, Joint]) -> None:
        sound: set[str] = set()
        for name in joints:
            chain: dict[str, Joint] = {}
            following = joints.get(name)
            while following is not None and following.name not in sound:
                if following.name in chain:
                    loop = [*chain][[*chain].index(following.name) :]
                    whom = "itself" if len(loop) == 1 else f"itself through {', '.join(map(repr, loop[1:]))}"
                    self.fail(following.line, f"joint {following.name!r} mimics {whom}")
                chain[following.name] = following
                following = joints[following.mimic.joint] if following.mimic else None
            sound.update(chain)

    # Links

    def read_link(self, element: Element) -> Link:
        name = self.read_name(element)
        self.drop_others(element, {"inertial", "visual", "collision"})
        collisions = [self.read_collision(e, name) for e in element.find_all("collision")]
        inertial = self.first(element, "inertial", f"link {name!r}")
        visuals = [self.read_visual(e, name) for e in element.find_all("visual")]
        return Link(
            name,
            None if inertial is None else self.read_inertial(inertial, name),
            tuple(visual for visual in visuals if visual is not None),
            element.line,
            tuple(collision for collision in collisions if collision is not None),
        )

    def read_inertial(self, element: Element, link: str) -> Inertial | None:
        whose = f"link {link!r}: inertial"
        mass_element = self.first(element, "mass", whose)
        mass = 0.0
        if mass_element is None:
            self.fault(element, f"{whose} has no <mass>", "its mass is zero")
        else:
            mass = self.number(mass_element, "value", f"{whose}: mass")
        if mass_element is not None and mass < 0.0:
            self.fail(mass_element, f"{whose}: mass is negative ({mass:g})")
        self.drop_others(element, {"mass", "origin", "inertia"})
        origin = self.read_origin(element, whose)
        moments = dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), 0.0)
        inertia = self.first(element, "inertia", whose)
        if inertia is not None:
            for key in moments:
                if key in inertia.attributes or key in ("ixx", "iyy", "izz"):
                    moments[key] = self.number(inertia, key, f"{whose}: inertia")
            missing = [key for key in moments if key not in inertia.attributes]
            if missing:
                self.note(inertia, f"{whose}: {', '.join(missing)} not given, taken as zero")
        if mass < _SMALLEST_MASS:
            if not any(moments.values()):
                return None
            mass = 0.0
        elif inertia is None:
            self.note(element, f"{whose} has no <inertia>; the link is a point mass")
        return Inertial(mass=mass, origin=origin, line=element.line, **moments)

    def read_visual(self, element: Element, link: str) -> Visual | None:
        shape = self.read_shape(element, link)
        return None if shape is None else Visual(*shape, self.read_color(element), element.line)

    def read_collision(self, element: Element, link: str) -> Collision | None:
        try:
            shape = self.read_shape(element, link)
        except ModelError as error:
            if self.collisions or self.strict:
                raise
            self.notes.append(f"line {str(error).removeprefix(self.path).removeprefix(':')}; it is left out")
            return None
        return None if shape is None else Collision(*shape, element.attributes.get("name", "").strip(), element.line)

    def read_shape(self, element: Element, link: str) -> tuple[Geometry, Origin] | None:
        """Of a <visual> or a <collision>; None where it has none that is known."""
        whose = f"link {link!r}: {element.tag}"
        self.drop_others(element, {"origin", "geometry", "material"})
        origin = self.read_origin(element, whose)
        container = self.first(element, "geometry", whose)
        geometry = None if container is None else self.read_geometry(container, whose, element.tag == "collision")
        if geometry is None:
            self.drop(element, f"<{element.tag}> without a shape that is known")
            return None
        return geometry, origin

    def read_geometry(self, container: Element, whose: str, with_capsules: bool) -> Geometry | None:
        readers: dict[str, Callable[[Element], Geometry]] = {
            "box": lambda e: Box(self.vector(e, "size", whose)),
            "cylinder": lambda e: Cylinder(self.number(e, "radius", whose), self.number(e, "length", whose)),
            "sphere": lambda e: Sphere(self.number(e, "radius", whose)),
            "mesh": lambda e: Mesh(self.text(e, "filename", whose), self.read_scale(e, whose)),
        }
        if with_capsules:  # not of the format, and common all the same
            readers["capsule"] = lambda e: Capsule(self.number(e, "radius", whose), self.number(e, "length", whose))
        for element in container.children:
            if element.tag in readers:
                return self.shape(element, readers, whose)
        return None

    def read_scale(self, mesh: Element, whose: str) -> Vector3:
        if "scale" not in mesh.attributes:
            return (1.0, 1.0, 1.0)
        words = mesh.attributes["scale"].split()
        if len(words) == 1:
            factor = self.number(mesh, "scale", whose)
            self.fault(mesh, f"{whose}: scale={shorten(words[0])} should be three numbers, not 1", "it is that of all axes")
            return (factor, factor, factor)
        if len(words) > 3:
            shown = shorten(mesh.attributes["scale"])
            self.fault(mesh, f"{whose}: scale={shown} should be three numbers, not {len(words)}", "the first three are used")
            x, y, z = (self.to_float(mesh, "scale", word, mesh.attributes["scale"], whose) for word in words[:3])
            return x, y, z
        return self.vector(mesh, "scale", whose)

    # Materials

    def read_materials(self, root: Element) -> dict[str, Rgba]:
        """Colours by the name of their material, wherever in the file it is defined first."""
        colors: dict[str, Rgba] = {}
        for owner in (root, *(v for link in root.find_all("link") for v in link.find_all("visual"))):
            for material in owner.find_all("material"):
                self.drop_others(material, {"color"})
                rgba = self.own_color(material)
                if rgba is not None:
                    colors.setdefault(material.attributes.get("name", "").strip(), rgba)
        return colors

    def read_color(self, visual: Element) -> Rgba | None:
        material = visual.child("material")
        if material is None:
            return None
        return self.own_color(material) or self.materials.get(material.attributes.get("name", "").strip())

    def own_color(self, material: Element) -> Rgba | None:
        color = material.child("color")
        if color is None:
            return None
        words = color.attributes.get("rgba", "").split()
        values = [float(word) for word in words if NUMBER.fullmatch(word)]
        if len(words) == len(values) == 4 and all(0.0 <= value <= 1.0 for value in values):
            return values[0], values[1], values[2], values[3]
        self.drop(color, "<color> that is not four numbers from 0 to 1")
        return None

    # Joints

    def read_joint(self, element: Element) -> Joint:
        name = self.read_name(element)
        whose = f"joint {name!r}"
        self.drop_others(element, {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"})
        kind = self.text(element, "type", whose)
        kind = "spherical" if kind == "ball" else kind
        if kind not in JOINT_TYPES:
            self.fail(element, f"{whose}: its type {kind!r} is not one of {', '.join(JOINT_TYPES)}")
        ends: dict[str, str] = {}
        for role in ("parent", "child"):
            end = self.first(element, role, whose)
            if end is None:
                self.fail(element, f"{whose} has no <{role}>")
            ends[role] = self.text(end, "link", f"{whose}: {role}")
        has_axis = kind not in ("fixed", "floating", "spherical")
        return Joint(
            name=name,
            type=cast(JointType, kind),
            parent=ends["parent"],
            child=ends["child"],
            origin=self.read_origin(element, whose),
            axis=self.read_axis(element, whose) if has_axis else (1.0, 0.0, 0.0),
            limit=self.read_limit(element, kind, whose),
            dynamics=self.read_dynamics(element, whose),
            mimic=self.read_mimic(element, whose),
            line=element.line,
        )

    def read_axis(self, joint: Element, whose: str) -> Vector3:
        element = self.first(joint, "axis", whose)
        if element is None:
            return (1.0, 0.0, 0.0)  # URDF's default
        x, y, z = self.vector(element, "xyz", f"{whose}: axis")
        length = math.hypot(x, y, z)
        if length < 1e-12:
            self.fail(element, f"{whose}: its axis is zero ({element.attributes['xyz'].strip()})")
        if abs(length - 1.0) > 1e-3:
            self.note(element, f"{whose}: its axis has length {length:g}; only its direction is used")
        return x / length, y / length, z / length

    def read_limit(self, joint: Element, kind: str, whose: str) -> Limit | None:
        element = self.first(joint, "limit", whose)
        if element is None:
            if kind in ("revolute", "prismatic"):
                self.note(joint, f"{whose} is {kind} and has no <limit>; it is not limited")
            return None
        keys = ("lower", "upper", "effort", "velocity")
        values = [
            self.number(element, key, f"{whose}: limit", bound=True) if key in element.attributes else None for key in keys
        ]
        limit = Limit(*values)
        if kind in ("revolute", "prismatic") and (limit.lower or 0.0) > (limit.upper or 0.0):
            self.note(element, f"{whose}: its lower limit is above its upper one")
        return limit

    def read_dynamics(self, joint: Element, whose: str) -> Dynamics:
        element = self.first(joint, "dynamics", whose)
        if element is None:
            return Dynamics()
        values = {
            key: self.number(element, key, f"{whose}: dynamics") for key in ("damping", "friction") if key in element.attributes
        }
        for key, value in values.items():
            if value < 0.0:
                self.fail(element, f"{whose}: its {key} is negative ({value:g})")
        return Dynamics(**values)

    def read_mimic(self, joint: Element, whose: str) -> Mimic | None:
        element = self.first(joint, "mimic", whose)
        if element is None:
            return None
        other = self.text(element, "joint", f"{whose}: mimic")
        values = {
            key: self.number(element, key, f"{whose}: mimic") for key in ("multiplier", "offset") if key in element.attributes
        }
        return Mimic(other, **values)

    # Transmissions

    def read_transmissions(self, root: Element, joints: dict[str, Joint]) -> dict[str, Transmission]:
        """Read those that name joints there are; others, and all else in them, say nothing of the motion."""
        found: dict[str, Transmission] = {}
        for element in root.find_all("transmission"):
            name = element.attributes.get("name", "").strip() or f"transmission on line {element.line}"
            if name in found:
                self.depart(element, f"another transmission is named {name!r}; this one is ignored")
                continue
            kind = element.attributes.get("type", "") or next((e.text.strip() for e in element.find_all("type")), "")
            names = [e.attributes.get("name", "").strip() for e in element.find_all("joint")]
            missing = [one for one in names if one not in joints]
            if missing:
                self.note(element, f"transmission {name!r} is of {missing[0]!r}, and there is no such joint; it is ignored")
                continue
            given = [self.of_text(e, "mechanicalReduction") for e in (element, *element.find_all("joint"))]
            default = next((one for one in given if one is not None), None)
            actuators = [self.read_actuator(e, name, default) for e in element.find_all("actuator")]
            found[name] = Transmission(name, kind.strip(), tuple(names), tuple(actuators), element.line)
        return found

    def read_actuator(self, element: Element, transmission: str, default: float | None) -> Actuator:
        name = element.attributes.get("name", "").strip() or transmission
        ratio = self.first_given(element, "drake:gear_ratio", "gear_ratio", "gearRatio", "mechanicalReduction")
        inertia = self.first_given(element, "drake:rotor_inertia", "rotor_inertia", "rotorInertia", "motorInertia")
        if inertia is not None and inertia < 0.0:
            self.fail(element, f"transmission {transmission!r}: the rotor inertia of {name!r} is negative ({inertia:g})")
        ratio = default if ratio is None else ratio
        return Actuator(name, 1.0 if ratio is None else ratio, inertia or 0.0)

    def first_given(self, element: Element, *tags: str) -> float | None:
        """Read the first of these elements that is there."""
        values = (self.of_text(element, tag) for tag in tags)
        return next((value for value in values if value is not None), None)

    def of_text(self, element: Element, tag: str) -> float | None:
        """Read the number in an element, or in its attribute value; a note, and None, where it is none."""
        for child in element.find_all(tag):
            word = child.attributes.get("value", child.text).strip()
            if NUMBER.fullmatch(word) and abs(float(word)) <= LARGEST:
                return float(word)
            self.depart(child, f"<{tag}> is {shorten(word)}, which is not a number; it is ignored")
        return None

    # Pieces

    def read_name(self, element: Element) -> str:
        name = element.attributes.get("name", "")
        if not name.strip():
            self.fail(element, f"a {element.tag} has no name")
        return name

    def read_origin(self, element: Element, whose: str) -> Origin:
        origin = self.first(element, "origin", whose)
        if origin is None:
            return Origin()
        vectors = {key: self.vector(origin, key, f"{whose}: origin") for key in ("xyz", "rpy") if key in origin.attributes}
        return Origin(**vectors)

    def text(self, element: Element, key: str, whose: str) -> str:
        value = element.attributes.get(key, "")
        if not value.strip():
            self.fail(element, f"{whose}: <{element.tag}> has no attribute {key!r}")
        return value

    def number(self, element: Element, key: str, whose: str, *, bound: bool = False) -> float:
        """Read the attribute `key` as one number; a bound may be infinite."""
        word = self.text(element, key, whose).strip()
        return self.to_float(element, key, word, word, whose, bound=bound)

    def vector(self, element: Element, key: str, whose: str) -> Vector3:
        """Read the attribute `key` as three numbers."""
        value = self.text(element, key, whose)
        words = value.split()
        if len(words) != 3:
            self.to_float(element, key, value if "$" in value else "0", value, whose)  # which names xacro's expressions
            shown = shorten(value)
            self.fail(element, f"{whose}: {key}={shown} should be three numbers, not {len(words)}")
        x, y, z = (self.to_float(element, key, word, value, whose) for word in words)
        return x, y, z

    def to_float(self, element: Element, key: str, word: str, value: str, whose: str, *, bound: bool = False) -> float:
        if NUMBER.fullmatch(word):
            number = float(word)
            if bound or abs(number) <= LARGEST:
                return number
            problem = f" is larger than {LARGEST:g}"
        elif bound and word.lower() in ("inf", "+inf", "-inf"):
            return float(word)
        elif re.search(r"\$[({]", value):
            problem = " is a xacro expression; run xacro first"
        else:
            part = "" if word == value.strip() else f": {shorten(word)}"
            finite = "finite " if re.search("nan|inf", word, re.IGNORECASE) else ""
            problem = f"{part} is not a {finite}number"
        self.fail(element, f"{whose}: {key}={shorten(value)}{problem}")
