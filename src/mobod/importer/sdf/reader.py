"""From SDF files to an `SdfDocument`: all numbers checked, every error with its file and line.

Strict where a guess could change the motion, lenient where it cannot: what does not matter to dynamics (sensors, lights,
plugins) is left out, and a note says so. Source: SDFormat specification 1.0 to 1.12, http://sdformat.org/spec.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from ...errors import ModelError
from ...value import Transform
from ...value.rotation import matrix_of_quaternion
from ..mechanism.reading import JOINTS_AND_FORCES, LARGEST, NUMBER, RESISTANCE_LEFT_OUT, Reading, shorten
from ..mechanism.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere, Vector3
from ..mesh_files import MeshFinder
from ..parts import rotation_matrix
from ..xml_element import Element, read_xml
from .auto_inertia import calc_inertia
from .document import Axis, Frame, Inertial, Joint, JointType, Link, Mimic, Pose, Scope, SdfDocument, ShapeElement
from .frames import Frames

#: The axes of each type of joint.
AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "universal": 2, "revolute2": 2, "ball": 0, "fixed": 0}
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
#: SDF's way to write that there is no bound.
_NO_BOUND = 1e16
#: Root elements of SDF, the second of its oldest files.
_ROOTS = ("sdf", "gazebo")
#: Files in files; and how many of them.
_DEEPEST, _MOST_INCLUDES = 50, 10_000
_DENSITY = 1000.0

Named = TypeVar("Named", Link, Joint, Frame, Scope)


def read_sdf(
    path: str | os.PathLike[str], *, package_dirs: Iterable[Path] = (), collisions: bool = False, strict: bool = False
) -> SdfDocument:
    """Read an SDF file, and the files that it includes.

    Parameters
    ----------
    path : str or path-like
        The file.
    package_dirs : folders, optional
        Where ``model://NAME`` is looked for first.
    collisions : bool, default: False
        Whether collision shapes matter: one that is wrong is an error then, and left out otherwise.
    strict : bool, default: False
        Whether what is put up with otherwise is an error, such as an included model that is not there.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        A file is not XML, not SDF, or a part of it is wrong. The message starts with the file and the line.
    """
    return _Reader(os.fspath(path), tuple(package_dirs), collisions, strict).read()


class _Reader(Reading):
    """Reads one file and what it includes."""

    def __init__(self, path: str, package_dirs: tuple[Path, ...], collisions: bool, strict: bool) -> None:
        super().__init__(path, collisions, strict)
        self.package_dirs = package_dirs
        self.version: tuple[int, ...] = (1, 7)
        self.open: list[str] = []  # files that are being read, the outermost first
        self.parsed: dict[str, Element] = {}
        self.finders: dict[str, MeshFinder] = {}
        self.included = 0

    def read(self) -> SdfDocument:
        root = self.open_file(self.path)
        self.open.append(os.path.realpath(self.path))
        worlds = list(root.find_all("world"))
        models = [e for e in root.children if e.tag in ("model", "include")]
        if len(worlds) > 1:
            self.depart(worlds[1], f"the file has {len(worlds)} worlds; the first is read")
        self.drop_others(root, {"world", "model", "include"})
        if worlds:
            top = self.read_scope(worlds[0], None, is_world=True)
        elif len(models) == 1 and models[0].tag == "model":
            top = self.read_scope(models[0], None)
        elif models:
            name = Path(self.path).stem
            top = Scope(name, True, self.version, self.place(root))
            self.fill(top, Element(root.tag, {}, root.line, models))
        else:
            self.fail(root, "there is no <model> and no <world>")
        self.notes.extend(self.notes_on_dropped())
        self.notes[:0] = self.faults
        return SdfDocument(self.path, top, self.notes, self.faults)

    def lose(self, element: Element, what: str, whose: str) -> None:
        """Leave out what changes the motion."""
        self.notes.lose(f"{self.where(element)}: {what} is ignored", whose)

    def drop_others(self, element: Element, known: set[str]) -> None:
        for child in element.children:
            if child.tag not in known:
                self.drop(child, f"<{child.tag}> in <{element.tag}>")

    # Files

    def parse(self, path: str) -> Element:
        """A file's XML, read once."""
        real = os.path.realpath(path)
        if real not in self.parsed:
            self.parsed[real] = read_xml(path, with_text=True, any_bytes=True, faults=self.faults)
        return self.parsed[real]

    def open_file(self, path: str) -> Element:
        """Read a file's XML, and make its version the one whose rules hold."""
        root = self.parse(path)
        self.file = path
        if root.tag not in _ROOTS:
            hint = {"robot": " (URDF)", "mujoco": " (MJCF)"}.get(root.tag, "")
            self.fail(root, f"not an SDF file: its root element is <{root.tag}>{hint}, not <sdf>")
        words = root.attributes.get("version", "").strip().split(".")
        if not all(word.isascii() and word.isdigit() for word in words):
            self.fault(root, f"the version {root.attributes.get('version', '')!r} is not one of SDF", "it is read as 1.12")
            words = ["1", "12"]
        self.version = tuple(int(word[:9]) for word in words)
        return root

    def finder(self) -> MeshFinder:
        if self.file not in self.finders:
            self.finders[self.file] = MeshFinder(self.file, self.package_dirs)
        return self.finders[self.file]

    def include(self, element: Element, parent: Scope) -> None:
        """Read the model that an <include> names into a scope; one that is not there is left out."""
        self.included += 1
        if self.included > _MOST_INCLUDES:
            self.fail(element, f"more than {_MOST_INCLUDES} models are included")
        uri = self.child_text(element, "uri", "<include>")
        found = self.find_model(uri)
        tag = "sdf" if found is None else self.parse(found).tag
        if found is None or tag not in _ROOTS:
            if found is None:
                self.fault(
                    element, f"the included model {uri!r} is not there", "it is left out; package_dirs says where models are"
                )
            else:
                self.fault(element, f"the included file {uri!r} is no SDF, its root element is <{tag}>", "it is left out")
            parent.missing.add(element.text_of("name") or uri.rstrip("/").rpartition("/")[2])
            return
        real = os.path.realpath(found)
        if real in self.open or len(self.open) > _DEEPEST:
            self.fail(element, f"{uri!r} includes itself" if real in self.open else "includes are nested too deep")
        kept = self.file, self.version
        self.open.append(real)
        root = self.open_file(found)
        models = list(root.find_all("model"))
        seen = [child.tag for child in root.children if child.tag in ("light", "actor")]
        if not models and not seen:
            self.fail(root, "a file that is included has to have a <model>")
        scope = self.read_scope(models[0], parent) if models else None
        self.open.pop()
        self.file, self.version = kept
        if scope is None:
            self.drop(element, f"<include> of a <{seen[0]}>")
            return
        self.drop_others(element, {"uri", "name", "pose", "static", "placement_frame"})
        scope.place = self.place(element)
        name = element.text_of("name")
        if name:
            scope.name = name
        if element.text_of("static"):
            scope.static = self.boolean(element, "static")
        given, frame = self.pose(element), element.text_of("placement_frame")
        has_pose = any(child.tag == "pose" for child in element.children)
        if has_pose:
            scope.pose, scope.placement_frame = given, frame or scope.placement_frame
        elif frame:
            self.depart(element, "its <placement_frame> has no <pose> and is ignored")
        if element.attributes.get("merge", "").strip().lower() in ("true", "1"):
            self.merge(scope, parent, element)
        else:
            self.add(parent.models, scope, parent)

    def merge(self, scope: Scope, parent: Scope, element: Element) -> None:
        """Put the parts of an included model beside those of the model that includes it, under a frame in its place."""
        if scope.static or scope.self_collide:
            self.depart(element, f"the parts of {scope.name!r} are merged: its <static> and <self_collide> are ignored")
        # on its canonical link, where it has one
        on = scope.canonical or next(iter([*scope.links, *scope.models]), "")
        X = Frames().X_WS(replace(scope, parent=None))  # where its placement frame puts it
        own = Frame(f"_merged__{scope.name}__model__", Pose(X, scope.pose.relative_to or "__model__"), on, scope.place)
        self.add(parent.frames, own, parent)

        def at(pose: Pose, default: bool = False) -> Pose:
            return Pose(pose.X, own.name) if pose.relative_to == "__model__" or (default and not pose.relative_to) else pose

        def name_of(name: str) -> str:
            return own.name if name == "__model__" else name

        for link in scope.links.values():
            link.pose = at(link.pose, True)
            link.inertial = replace(link.inertial, pose=at(link.inertial.pose))
            link.visuals, link.collisions = (
                [replace(one, pose=at(one.pose)) for one in shapes] for shapes in (link.visuals, link.collisions)
            )
            self.add(parent.links, link, parent)
        for frame in scope.frames.values():
            attached = name_of(frame.attached_to) or own.name
            self.add(parent.frames, replace(frame, pose=at(frame.pose), attached_to=attached), parent)
        for model in scope.models.values():
            model.pose, model.parent = at(model.pose, True), parent
            self.add(parent.models, model, parent)
        for joint in scope.joints.values():
            axes = tuple(replace(axis, expressed_in=name_of(axis.expressed_in)) for axis in joint.axes)
            one, other = name_of(joint.parent), name_of(joint.child)
            self.add(parent.joints, replace(joint, parent=one, child=other, pose=at(joint.pose), axes=axes), parent)

    def find_model(self, uri: str) -> str | None:
        """The file that is meant: itself, or the newest in a folder whose ``model.config`` lists some."""
        found = self.finder().find_any(uri)
        if found is None and "://" not in uri:  # the name of a model
            found = self.finder().find_any(f"model://{uri}")
        if found is None or found.is_file():
            return None if found is None else os.fspath(found)
        for name in ("model.config", "manifest.xml"):
            if (found / name).is_file():
                listed = [e for e in read_xml(found / name, with_text=True, faults=[]).find_all("sdf") if e.text.strip()]
                newest = max(listed, key=_version_of, default=None)
                if newest is not None and (found / newest.text.strip()).is_file():
                    return os.fspath(found / newest.text.strip())
        return os.fspath(found / "model.sdf") if (found / "model.sdf").is_file() else None

    # Models and worlds

    def read_scope(self, element: Element, parent: Scope | None, *, is_world: bool = False) -> Scope:
        depth, above = 0, parent
        while above is not None:
            depth, above = depth + 1, above.parent
        if depth > _DEEPEST:
            self.fail(element, "models are nested too deep")
        scope = Scope(
            self.read_name(element),
            is_world,
            self.version,
            self.place(element),
            pose=self.pose(element),
            static=self.boolean(element, "static"),
            self_collide=self.boolean(element, "self_collide"),
            canonical=element.attributes.get("canonical_link", "").strip(),
            placement_frame=element.attributes.get("placement_frame", "").strip(),
            parent=parent,
        )
        self.fill(scope, element)
        return scope

    def fill(self, scope: Scope, element: Element) -> None:
        known = {
            "link",
            "joint",
            "frame",
            "model",
            "include",
            "pose",
            "static",
            "self_collide",
            "gravity",
            "allow_auto_disable",
        }
        self.drop_others(element, known | JOINTS_AND_FORCES)
        for child in element.children:
            if child.tag in JOINTS_AND_FORCES:
                self.lose(child, f"<{child.tag}> in <{element.tag}>", "joints and forces of simulators")
            elif child.tag == "link":
                self.add(scope.links, self.read_link(child), scope)
            elif child.tag == "joint":
                joint = self.read_joint(child)
                if joint is not None:
                    self.add(scope.joints, joint, scope)
            elif child.tag == "frame":
                name, attached = self.read_name(child), child.attributes.get("attached_to", "").strip()
                self.add(scope.frames, Frame(name, self.pose(child), attached, self.place(child)), scope)
            elif child.tag == "model":
                self.add(scope.models, self.read_scope(child, scope), scope)
            elif child.tag == "include":
                self.include(child, scope)
            elif child.tag == "gravity" and scope.is_world:
                scope.gravity = self.vector_in(child, child.text, "<gravity>")
            elif child.tag == "physics" and self.version < (1, 5):
                for own in child.find_all("gravity"):
                    scope.gravity = self.vector_in(own, own.text, "<gravity>")
        for joint in list(scope.joints.values()):
            gone = [end for end in (joint.parent, joint.child) if end.partition("::")[0] in scope.missing]
            if gone:
                what = f"joint {joint.name!r} connects {gone[0]!r}, of an included model that is not there; it is left out"
                self.faults.append(f"{self.where(joint.place)}: {what}")
                del scope.joints[joint.name]

    def add(self, things: dict[str, Named], thing: Named, scope: Scope) -> None:
        first: Link | Joint | Frame | Scope | None = None
        for others in (scope.links, scope.joints, scope.frames, scope.models):
            first = first or others.get(thing.name)
        if first is not None:
            if scope.version < (1, 7) and type(first) is not type(thing):
                # then names were each kind's own; what is of no other kind keeps it
                self.notes.append(f"{self.where(thing.place)}: another part of {scope!r} is named {thing.name!r} too")
            else:
                self.fail(
                    thing.place, f"two parts of {scope!r} are named {thing.name!r}; the first is on {self.where(first.place)}"
                )
        things[thing.name] = thing

    # Links

    def read_link(self, element: Element) -> Link:
        name = self.read_name(element)
        known = {"pose", "inertial", "visual", "collision", "gravity", "self_collide", "kinematic", "enable_wind"}
        self.drop_others(element, known | {"must_be_base_link", "velocity_decay"})
        for tag in ("self_collide", "enable_wind", "must_be_base_link"):
            if self.boolean(element, tag):
                self.drop(next(element.find_all(tag)), f"<{tag}> in <link>")
        losses = []
        if self.boolean(element, "kinematic"):
            losses.append((next(element.find_all("kinematic")), "<kinematic> in <link>", "links that are kinematic"))
        added = (one for inertial in element.find_all("inertial") for one in inertial.find_all("fluid_added_mass"))
        for parts, what, whose in (
            (element.find_all("velocity_decay"), "<velocity_decay> in <link>", "links whose velocities decay"),
            (added, "<fluid_added_mass> in <inertial>", "links with the added mass of a fluid"),
        ):
            for part in parts:
                if any(child.text.strip() not in ("", "0", "0.0", "0.00") for child in part.children):
                    losses.append((part, what, whose))
        visuals = [self.read_shape(e, name) for e in element.find_all("visual")]
        collisions = [self.read_shape(e, name) for e in element.find_all("collision")]
        touching = [shape for shape in collisions if shape is not None]
        return Link(
            name,
            self.pose(element),
            self.read_inertial(element, name, touching),
            [shape for shape in visuals if shape is not None],
            touching,
            self.boolean(element, "gravity", True),
            self.place(element),
            [(f"{self.where(part)}: {what} is ignored", whose) for part, what, whose in losses],
        )

    def read_inertial(self, link: Element, name: str, collisions: list[ShapeElement]) -> Inertial:
        whose = f"link {name!r}: inertial"
        element = self.first(link, "inertial", f"link {name!r}")
        if element is None:  # the format's default
            return Inertial(1.0, np.eye(3), Pose(Transform()), self.place(link))
        if element.attributes.get("auto", "").strip().lower() in ("true", "1"):
            return self.calc_auto(link, element, name, collisions)
        mass = self.child_number(element, "mass", whose, 1.0)
        if mass < 0.0:
            self.fail(next(element.find_all("mass")), f"{whose}: mass is negative ({mass:g})")
        inertia = self.first(element, "inertia", whose)
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        xx, yy, zz, xy, xz, yz = (
            float(key in ("ixx", "iyy", "izz"))
            if inertia is None
            else self.child_number(inertia, key, whose, float(key[1] == key[2]))
            for key in keys
        )
        self.drop_others(element, {"mass", "inertia", "pose", "fluid_added_mass", "density", "auto_inertia_params"})
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return Inertial(mass, tensor, self.pose(element), self.place(element))

    def calc_auto(self, link: Element, element: Element, name: str, collisions: list[ShapeElement]) -> Inertial:
        """Calculate mass properties from collision shapes, as ``auto="true"`` asks for."""
        default = self.child_number(element, "density", f"link {name!r}: inertial", _DENSITY)
        shapes = []
        for one in link.find_all("collision"):
            density = self.child_number(one, "density", f"link {name!r}: collision", default)
            for shape in collisions:
                if shape.place.line == one.line and shape.name == one.attributes.get("name", "").strip():
                    shapes.append((shape, density))
        found = calc_inertia(shapes)
        if found is None:
            self.fault(
                element,
                f'link {name!r}: auto="true" needs collision shapes that are boxes, cylinders, spheres, capsules or '
                "ellipsoids at poses in the link",
                "its mass is 1, its inertia that of the format's default",
            )
            return Inertial(1.0, np.eye(3), Pose(Transform()), self.place(element))
        mass, com, tensor = found
        if element.child("mass") is not None:  # then the densities are only relative ones
            given = self.child_number(element, "mass", f"link {name!r}: inertial", mass)
            if given <= 0.0:
                self.fail(element, f"link {name!r}: inertial: mass is not positive ({given:g})")
            mass, tensor = given, tensor * (given / mass)
        self.note(element, f"link {name!r}: mass and inertia are calculated from its collision shapes")
        return Inertial(mass, tensor, Pose(Transform(com)), self.place(element))

    def read_shape(self, element: Element, link: str) -> ShapeElement | None:
        whose = f"link {link!r}: {element.tag}"
        needed = element.tag == "collision" and self.collisions
        try:
            container = self.first(element, "geometry", whose)
            geometry = None if container is None else self.read_geometry(container, whose)
            pose = self.pose(element)
        except ModelError as error:
            if needed or self.strict:
                raise
            self.notes.depart(f"{str(error).replace(f'{self.path}:', 'line ', 1)}; it is left out")
            return None
        if geometry is None:
            what = f"<{element.tag}> without a shape that is known"
            if needed:
                self.lose(element, what, "collision shapes of kinds that are not known")
            else:
                self.drop(element, what)
            return None
        rgba = self.read_color(element) if element.tag == "visual" else None
        self.drop_others(element, {"pose", "origin", "geometry", "material", "transparency", "density", "auto_inertia_params"})
        for material in element.find_all("material"):
            self.drop_others(material, {"diffuse"})
        return ShapeElement(element.attributes.get("name", "").strip(), geometry, pose, rgba, self.place(element))

    def read_geometry(self, container: Element, whose: str) -> Geometry | None:
        readers: dict[str, Callable[[Element], Geometry]] = {
            "box": lambda e: Box(self.child_vector(e, "size", whose, (1.0, 1.0, 1.0))),
            "cylinder": lambda e: Cylinder(
                self.child_number(e, "radius", whose, 1.0), self.child_number(e, "length", whose, 1.0)
            ),
            "capsule": lambda e: Capsule(
                self.child_number(e, "radius", whose, 0.5), self.child_number(e, "length", whose, 1.0)
            ),
            "cone": lambda e: Cone(self.child_number(e, "radius", whose, 0.5), self.child_number(e, "length", whose, 1.0)),
            "sphere": lambda e: Sphere(self.child_number(e, "radius", whose, 1.0)),
            "ellipsoid": lambda e: Ellipsoid(self.child_vector(e, "radii", whose, (1.0, 1.0, 1.0))),
            "plane": lambda e: Plane(self.child_vector(e, "normal", whose, (0.0, 0.0, 1.0)), self.read_plane_size(e, whose)),
            "mesh": lambda e: self.read_mesh(e, whose),
        }
        for element in container.children:
            if element.tag in readers:
                return self.shape(element, readers, whose)
            if element.tag != "empty":
                self.drop(element, f"<{element.tag}> in <geometry>")
        return None

    def read_mesh(self, element: Element, whose: str) -> Mesh:
        uri = self.child_text(element, "uri", whose) if any(c.tag == "uri" for c in element.children) else ""
        if not uri:  # of 1.0 to 1.2
            uri = element.attributes.get("filename", "").strip()
        for part in element.find_all("submesh"):
            self.drop(part, "<submesh> in <mesh>, all of which is used: it")
        found = self.finder().find(uri)
        return Mesh(uri if found is None else os.fspath(found), self.child_vector(element, "scale", whose, (1.0, 1.0, 1.0)))

    def read_plane_size(self, element: Element, whose: str) -> tuple[float, float]:
        size = self.first(element, "size", whose)
        if size is None:
            return 1.0, 1.0
        x, y = self.numbers(size, size.text, 2, whose)
        return x, y

    def read_color(self, visual: Element) -> tuple[float, float, float, float] | None:
        material = visual.child("material")
        diffuse = None if material is None else material.child("diffuse")
        clear = visual.child("transparency")
        opacity = 1.0
        if clear is not None and NUMBER.fullmatch(clear.text.strip()):
            opacity = 1.0 - min(max(float(clear.text), 0.0), 1.0)
        if diffuse is None:
            return None
        words = diffuse.text.split()
        values = [min(max(float(word), 0.0), 1.0) for word in words if NUMBER.fullmatch(word)]
        if len(values) != len(words) or len(values) not in (3, 4):
            self.drop(diffuse, "<diffuse> that is not three or four numbers")
            return None
        red, green, blue, alpha = [*values, 1.0][:4]
        return red, green, blue, alpha * opacity

    # Joints

    def read_joint(self, element: Element) -> Joint | None:
        name = self.read_name(element)
        whose = f"joint {name!r}"
        kind = element.attributes.get("type", "").strip()
        if kind == "gearbox":
            line = f"{self.where(element)}: {whose} is a gearbox between two joints; it is left out"
            self.notes.lose(line, "gearboxes")
            return None
        if kind not in AXES:
            self.fail(element, f"{whose}: its type {kind!r} is not one of {', '.join(AXES)}")
        ends = []
        for role in ("parent", "child"):
            end = self.first(element, role, whose)
            if end is None:
                self.fail(element, f"{whose} has no <{role}>")
            ends.append(end.text.strip() or end.attributes.get("link", "").strip())
            if not ends[-1]:
                self.fail(end, f"{whose}: its <{role}> is empty")
        known = {"parent", "child", "pose", "axis", "axis2", "screw_thread_pitch", "thread_pitch", "gearbox_ratio"}
        self.drop_others(element, known | {"gearbox_reference_body", "drake:rotor_inertia", "drake:gear_ratio"})
        rotor = self.child_number(element, "drake:rotor_inertia", whose, 0.0)
        if rotor < 0.0:
            self.fail(element, f"{whose}: its rotor inertia is negative ({rotor:g})")
        rotor *= self.child_number(element, "drake:gear_ratio", whose, 1.0) ** 2
        found = [self.first(element, tag, whose) for tag in ("axis", "axis2")[: AXES[kind]]]
        if kind == "ball":
            for one in element.find_all("axis"):
                acting = [child for part in one.find_all("dynamics") for child in part.children]
                if any(child.text.strip() not in ("", "0", "0.0") for child in acting):
                    self.lose(one, f"{whose}: the <dynamics> of a ball joint", RESISTANCE_LEFT_OUT)
        defaults = (Axis(),) if AXES[kind] < 2 else (Axis((1.0, 0.0, 0.0)), Axis((0.0, 1.0, 0.0)))
        if len(found) == 2 and (found[0] is None) != (found[1] is None):
            self.fail(element, f"{whose} has one axis and needs two")
        if None in found:
            self.note(element, f"{whose} has no <axis>; it is {'z' if len(found) == 1 else 'x, and then y'}")
        axes = [
            default if one is None else self.read_axis(one, whose, kind) for one, default in zip(found, defaults, strict=False)
        ]
        pitch = 1.0
        if kind == "screw":
            # the older element has turns the other way, as an angle a length
            given = element.child("screw_thread_pitch")
            older = element.child("thread_pitch")
            if given is not None:
                pitch = self.child_number(element, "screw_thread_pitch", whose, 1.0)
            elif older is not None:
                angle = self.child_number(element, "thread_pitch", whose, 1.0)
                if angle == 0.0:
                    self.fail(older, f"{whose}: its thread pitch is zero")
                pitch = -2.0 * math.pi / angle
        parent, child = ends
        pose, place = self.pose(element), self.place(element)
        return Joint(name, cast(JointType, kind), parent, child, pose, tuple(axes), pitch, place, rotor)

    def read_axis(self, element: Element, whose: str, kind: str) -> Axis:
        whose = f"{whose}: axis"
        xyz = self.first(element, "xyz", whose)
        expressed_in = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
        vector: Vector3 = (0.0, 0.0, 1.0) if xyz is None else self.vector_in(xyz, xyz.text, whose)
        length = math.hypot(*vector)
        if length < 1e-12:
            self.fail(element if xyz is None else xyz, f"{whose} is zero")
        x, y, z = (one / length for one in vector)
        # what newer files say counts in older ones, too, as for poses
        if self.version < (1, 5) or (self.version < (1, 7) and self.boolean(element, "use_parent_model_frame")):
            expressed_in = "__model__"
        known = {"xyz", "limit", "dynamics", "mimic", "initial_position", "use_parent_model_frame"}
        self.drop_others(element, known | {"drake:mimic"})
        for coupling in element.find_all("drake:mimic"):
            self.lose(coupling, f"{whose}: its <drake:mimic>", "joints that mimic in vain")
        limit, dynamics = self.first(element, "limit", whose), self.first(element, "dynamics", whose)
        values: dict[str, float] = {}
        if limit is not None:
            for key in ("lower", "upper", "effort", "velocity", "stiffness", "dissipation"):
                if limit.child(key) is not None:
                    values[key] = self.child_number(limit, key, f"{whose}: limit", 0.0, bound=True)
        for key in ("lower", "upper"):
            if key in values and abs(values[key]) >= _NO_BOUND:
                values[key] = math.copysign(math.inf, values[key])
        if kind in ("continuous",):
            values.pop("lower", None), values.pop("upper", None)
        for key in ("effort", "velocity"):
            if values.get(key, 0.0) < 0.0:  # the format's way to say that there is none
                values[key] = math.inf
        for key in ("stiffness", "dissipation"):
            if values.get(key, 0.0) < 0.0 or math.isinf(values.get(key, 0.0)):
                self.fail(element, f"{whose}: limit: its {key} is {values[key]:g}, which has to be finite and not negative")
        if dynamics is not None:
            for key in ("damping", "friction", "spring_stiffness", "spring_reference"):
                values[key] = self.child_number(dynamics, key, f"{whose}: dynamics", 0.0)
                if key != "spring_reference" and values[key] < 0.0:
                    self.fail(dynamics, f"{whose}: dynamics: its {key} is negative ({values[key]:g})")
        values["initial_position"] = self.child_number(element, "initial_position", whose, 0.0)
        return Axis((x, y, z), expressed_in, **values, mimic=self.read_mimic(element, whose))

    def read_mimic(self, axis: Element, whose: str) -> Mimic | None:
        element = self.first(axis, "mimic", whose)
        if element is None:
            return None
        whose = f"{whose}: mimic"
        joint = element.attributes.get("joint", "").strip()
        if not joint:
            self.fail(element, f"{whose} names no joint")
        which = 1 if element.attributes.get("axis", "").strip() == "axis2" else 0
        multiplier, offset, reference = (
            self.child_number(element, key, whose, default)
            for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
        )
        return Mimic(joint, which, multiplier, offset, reference)

    # Pieces

    def read_name(self, element: Element) -> str:
        name = element.attributes.get("name", "").strip()
        if not name:
            if element.tag == "world":
                return "world"
            self.fail(element, f"a {element.tag} has no name")
        return name

    def pose(self, element: Element) -> Pose:
        own = element.child("pose")
        if own is None:
            return Pose(Transform())
        relative_to = (own.attributes.get("relative_to") or own.attributes.get("frame") or "").strip()
        form = own.attributes.get("rotation_format", "euler_rpy").strip()
        text = own.text
        if not text.strip():
            return Pose(Transform(), relative_to)
        if form == "quat_xyzw":
            x, y, z, *quaternion = self.numbers(own, text, 7, "pose")
            size = math.hypot(*quaternion)
            if size < 1e-12:
                self.fail(own, "pose: its quaternion is zero")
            R = matrix_of_quaternion(*np.roll(quaternion, 1) / size)  # (w, x, y, z) of (x, y, z, w)
        elif form == "euler_rpy":
            x, y, z, roll, pitch, yaw = self.numbers(own, text, 6, "pose")
            if own.attributes.get("degrees", "").strip().lower() in ("true", "1"):
                roll, pitch, yaw = map(math.radians, (roll, pitch, yaw))
            R = rotation_matrix((roll, pitch, yaw))
        else:
            self.fail(own, f"pose: its rotation_format {form!r} is not euler_rpy or quat_xyzw")
        return Pose(Transform.trusted(R, np.array([x, y, z])), relative_to)

    def boolean(self, element: Element, tag: str, default: bool = False) -> bool:
        child = element.child(tag)
        word = "" if child is None else child.text.strip().lower()
        if word in ("", "true", "1", "false", "0"):
            return default if word == "" else word in ("true", "1")
        assert child is not None
        self.fail(child, f"<{tag}> is {shorten(word)}, not true or false")

    def child_text(self, element: Element, tag: str, whose: str) -> str:
        value = element.text_of(tag)
        if not value:
            self.fail(element, f"{whose} has no <{tag}>")
        return value

    def child_number(self, element: Element, tag: str, whose: str, default: float, *, bound: bool = False) -> float:
        child = element.child(tag)
        if child is None or not child.text.strip():
            return default
        return self.number(child, child.text, f"{whose}: {tag}", bound=bound)

    def child_vector(self, element: Element, tag: str, whose: str, default: Vector3) -> Vector3:
        child = element.child(tag)
        return default if child is None else self.vector_in(child, child.text, f"{whose}: {tag}")

    def vector_in(self, element: Element, text: str, whose: str) -> Vector3:
        x, y, z = self.numbers(element, text, 3, whose)
        return x, y, z

    def numbers(self, element: Element, text: str, count: int, whose: str) -> list[float]:
        words = text.split()
        if len(words) != count:
            self.fail(element, f"{whose}: {shorten(text.strip())} should be {count} numbers, not {len(words)}")
        return [self.number(element, word, whose) for word in words]

    def number(self, element: Element, text: str, whose: str, *, bound: bool = False) -> float:
        word = text.strip()
        if NUMBER.fullmatch(word):
            value = float(word)
            if bound or abs(value) <= LARGEST:
                return value
            self.fail(element, f"{whose}: {shorten(word)} is larger than {LARGEST:g}")
        if bound and _INFINITE.fullmatch(word):
            return float(word)
        self.fail(element, f"{whose}: {shorten(word)} is not a finite number")


def _version_of(element: Element) -> tuple[int, ...]:
    return tuple(
        int(word[:9]) if word.isascii() and word.isdigit() else 0 for word in element.attributes.get("version", "").split(".")
    )
