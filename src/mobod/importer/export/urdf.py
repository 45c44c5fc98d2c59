"""A system as a URDF file."""

from __future__ import annotations

import math
import os
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ... import contact, decoration, mobilizer
from ...algebra.arrays import Array
from ...system.system import MultibodySystem
from ...value import Transform
from ..model import Model
from ..urdf.forces import YIELD
from .mechanism import Coordinate, Mechanism, Part, Step, check_path, check_written, read_mechanism, show


def save_urdf(model: Model | MultibodySystem, path: str | os.PathLike[str]) -> list[str]:
    """Write a model or a system to a URDF file.

    Parameters
    ----------
    model : Model or MultibodySystem
    path : str or path-like
        The file, ``.urdf``; it is replaced where it exists.

    Returns
    -------
    list of str
        What the file does not say, a sentence each; empty where it says all.

    Raises
    ------
    TypeError
        If *model* is neither.
    ValueError
        If the file's name does not end in ``.urdf``, or its folder does not exist.
    OSError
        If it cannot be written.
    ModelError
        If there is nothing to write.

    Notes
    -----
    Joints of several axes become several joints, with links without mass between them. `load_urdf` of the file makes a system
    with the same names, mass matrix, poses and accelerations as far as the list is empty.
    """
    file = check_path(path, (".urdf",))
    found = read_mechanism(model)
    check_written(found, "URDF")
    writer = _Writer(found)
    text = writer.write()
    file.write_text(text, encoding="utf-8")
    return writer.notes


class _Writer:
    def __init__(self, found: Mechanism) -> None:
        self.found = found
        self.notes = list(found.notes)
        self.lines: list[str] = []
        self.links = {part.name for part in found.parts.values()} | {"world"}
        self.joints: set[str] = {one.name for part in found.parts.values() for one in part.coordinates}
        self.joint_of: dict[tuple[int, int], str] = {}

    def write(self) -> str:
        root = self.find_root()
        mimics = {c.follower: c for c in self.found.couplings if c.active}
        for coupling in self.found.couplings:
            if not coupling.active:
                self.notes.append(f"constraint {coupling.name!r} is left out: it is switched off")
        for index, part in self.found.parts.items():
            for which, one in enumerate(part.coordinates):
                self.joint_of[index, which] = one.name
        if root is None:
            self.lines.append('<link name="world"/>')
        for index, part in self.found.parts.items():
            self.link(part)
            if index != root:
                self.join(index, part, mimics)
        rotors = [one for part in self.found.parts.values() if part.steps for one in part.coordinates if one.rotor]
        for one in rotors:
            name = quoteattr(one.name)
            self.lines.append(
                f"<transmission name={name}><type>transmission_interface/SimpleTransmission</type><joint name={name}/>"
                f'<actuator name={name}><drake:rotor_inertia value="{one.rotor!r}"/><drake:gear_ratio value="1"/></actuator>'
                "</transmission>"
            )
        self.note_the_rest()
        space = ' xmlns:drake="http://drake.mit.edu"' if rotors else ""
        body = "\n".join(f"  {line}" for line in self.lines)
        return f'<?xml version="1.0"?>\n<robot name={quoteattr(self.found.name)}{space}>\n{body}\n</robot>\n'

    def find_root(self) -> int | None:
        """The part that is the root link: the only one on Ground if it is there itself, or floats."""
        on_ground = [index for index, part in self.found.parts.items() if part.parent == 0]
        if len(on_ground) != 1:
            return None
        part = self.found.parts[on_ground[0]]
        if isinstance(part.mobod, mobilizer.Free) and _is_identity(part.X_PF) and _is_identity(part.X_BM):
            self.notes.append(f"that {part.name!r} is free is not in the file: load it with floating_base=True")
            return on_ground[0]
        if isinstance(part.mobod, mobilizer.Weld) and _is_identity(part.X_PB0):
            return on_ground[0]
        return None

    def note_the_rest(self) -> None:
        gravity = self.found.gravity
        if not np.allclose(gravity, (0.0, 0.0, -9.81), rtol=0.0, atol=1e-15):
            self.notes.append(f"gravity is not in the file: load it with gravity=({', '.join(f'{g:g}' for g in gravity)})")
        for tie, _ in self.found.ties:
            self.notes.append(f"constraint {tie.name!r} is left out: URDF files describe trees")
        springs = sum(one.stiffness > 0.0 for part in self.found.parts.values() for one in part.coordinates)
        if springs:
            self.notes.append(f"the springs of {springs} {'coordinate' if springs == 1 else 'coordinates'} are left out")
        if any(not part.gravity for part in self.found.parts.values()):
            self.notes.append("that gravity does not pull at some bodies is left out")
        if self.found.frames:
            self.notes.append(
                f"{len(self.found.frames)} {'frame is' if len(self.found.frames) == 1 else 'frames are'} left out"
            )

    # Links

    def link(self, part: Part) -> None:
        inside = [*self.inertial(part), *self.shapes(part)]
        if not inside:
            self.lines.append(f"<link name={quoteattr(part.name)}/>")
            return
        self.lines += [f"<link name={quoteattr(part.name)}>", *(f"  {line}" for line in inside), "</link>"]

    def inertial(self, part: Part) -> list[str]:
        mass = part.mass.mass
        if mass == 0.0:
            return []
        I = part.mass.central_inertia.matrix
        if mass <= 2e-12 * float(np.abs(I).max()):  # an inertia by itself, for which a trace of a mass stands
            mass = 0.0
        words = [f'ixx="{I[0, 0]!r}" ixy="{I[0, 1]!r}" ixz="{I[0, 2]!r}" iyy="{I[1, 1]!r}" iyz="{I[1, 2]!r}" izz="{I[2, 2]!r}"']
        text = words[0].replace("np.float64(", "").replace(")", "")
        return [
            f'<inertial><origin xyz="{show(part.mass.com)}"/><mass value="{float(mass)!r}"/>',
            f"<inertia {text}/></inertial>",
        ]

    def shapes(self, part: Part) -> list[str]:
        lines = []
        for geometry, X in part.mobod.body.decorations:
            found = _geometry_of(geometry)
            if found is None:
                self.notes.append(f"{part.name!r}: URDF has no shape for a {type(geometry).__name__} that is drawn")
                continue
            shape, turned = found
            color = ""
            if geometry.color is not None:
                color = f'<material name=""><color rgba="{show([*geometry.color, geometry.opacity])}"/></material>'
            lines.append(f"<visual>{origin(X @ geometry.X @ turned)}<geometry>{shape}</geometry>{color}</visual>")
        for surface, X in part.mobod.body.contact_surfaces:
            text = _shape_of(surface.geometry)
            if text is None:
                self.notes.append(f"{part.name!r}: URDF has no shape for a {type(surface.geometry).__name__} that touches")
            else:
                lines.append(f"<collision>{origin(X)}<geometry>{text}</geometry></collision>")
        return lines

    # Joints

    def join(self, index: int, part: Part, mimics: dict[tuple[int, int], Any]) -> None:
        parent = "world" if part.parent == 0 else self.found.parts[part.parent].name
        steps, X_PB0 = part.steps, part.X_PB0
        kind = type(part.mobod).__name__
        if isinstance(part.mobod, mobilizer.Free | mobilizer.Planar) and part.mobod.direction is mobilizer.Direction.FORWARD:
            acted_on = any(one.acted_on for one in part.coordinates)
            if len(part.coordinates) == part.mobod.facts.num_q and not (acted_on and part.steps):
                if acted_on:
                    self.notes.append(f"{part.joint!r}: what acts on its coordinates, or their rotors, is left out")
                return self.join_whole(part, parent)
        if isinstance(part.mobod, mobilizer.Ball):
            self.notes.append(f"{part.joint!r} is a ball joint: it becomes three joints, whose angles turn about x, y and z")
            steps = [Step(True, axis, i) for i, axis in enumerate(np.eye(3))]
            names = [f"{part.joint}[{i}]" for i in range(3)]
            coordinates = [Coordinate(name) for name in names]
        else:
            coordinates = part.coordinates
        if steps is None:
            self.notes.append(
                f"{part.joint!r}: URDF has no joint that is a {kind}; it is fixed where it is at zero coordinates"
            )
            steps = []
        if not steps:
            self.joint(self.unused(part.joint), "fixed", parent, part.name, X_PB0)
            return None
        p = part.X_BM.p
        off = any(step.turns and np.linalg.norm(np.cross(p, part.axis(step))) > 0.0 for step in steps)
        X = X_PB0 @ Transform(p) if off else X_PB0
        for number, step in enumerate(steps):
            one = coordinates[step.which]
            last = number == len(steps) - 1 and not off
            child = part.name if last else self.unused_link(f"{part.name} ({one.name})")
            if not last:
                self.lines.append(f"<link name={quoteattr(child)}/>")
            self.axis_joint(one, step, part.axis(step), parent, child, X, mimics.get((index, step.which)))
            parent, X = child, Transform()
        if off:
            self.joint(self.unused(f"{part.name} (fixed)"), "fixed", parent, part.name, Transform(-p))
        return None

    def join_whole(self, part: Part, parent: str) -> None:
        """A floating or planar joint, from F to M, and what lies between M and the body."""
        kind = "floating" if isinstance(part.mobod, mobilizer.Free) else "planar"
        straight = _is_identity(part.X_BM)
        child = part.name if straight else self.unused_link(f"{part.name} ({part.joint})")
        if not straight:
            self.lines.append(f"<link name={quoteattr(child)}/>")
        axis = '<axis xyz="0 0 1"/>' if kind == "planar" else ""
        self.joint(part.joint, kind, parent, child, part.X_PF, axis)
        if not straight:
            self.joint(self.unused(f"{part.name} (fixed)"), "fixed", child, part.name, ~part.X_BM)

    def axis_joint(self, one: Coordinate, step: Step, axis: Array, parent: str, child: str, X: Transform, mimic: Any) -> None:
        bounded = math.isfinite(one.low) or math.isfinite(one.high)
        kind = ("revolute" if bounded else "continuous") if step.turns else "prismatic"
        inside = f'<axis xyz="{show(axis)}"/>'
        if bounded:
            low, high = max(one.low, -1e16), min(one.high, 1e16)
            effort = one.stop * YIELD["revolute" if step.turns else "prismatic"]
            inside += f'<limit lower="{low!r}" upper="{high!r}" effort="{effort!r}" velocity="1e9"/>'
        elif not step.turns:  # other readers insist
            inside += '<limit effort="1e9" velocity="1e9"/>'
        if one.damping or one.friction:
            inside += f'<dynamics damping="{one.damping!r}" friction="{one.friction!r}"/>'
        if mimic is not None:
            leader = quoteattr(self.joint_of[mimic.leader])
            inside += f'<mimic joint={leader} multiplier="{mimic.multiplier!r}" offset="{mimic.offset!r}"/>'
        self.joint(one.name, kind, parent, child, X, inside)

    def joint(self, name: str, kind: str, parent: str, child: str, X: Transform, inside: str = "") -> None:
        self.lines.append(
            f'<joint name={quoteattr(name)} type="{kind}"><parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>'
            f"{origin(X)}{inside}</joint>"
        )

    def unused(self, name: str) -> str:
        while name in self.joints:
            name += "_"
        self.joints.add(name)
        return name

    def unused_link(self, name: str) -> str:
        while name in self.links:
            name += "_"
        self.links.add(name)
        return name


def origin(X: Transform) -> str:
    """Write a pose; nothing where it is the identity."""
    if _is_identity(X):
        return ""
    R = X.R.matrix
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) > 1e-8:
        roll, yaw = math.atan2(R[2, 1], R[2, 2]), math.atan2(R[1, 0], R[0, 0])
    else:  # upright: roll and yaw turn about one line
        roll, yaw = 0.0, math.atan2(-R[0, 1], R[1, 1])
    return f'<origin xyz="{show(X.p)}" rpy="{show([roll, pitch, yaw])}"/>'


def _is_identity(X: Transform) -> bool:
    return not X.p.any() and np.array_equal(X.R.matrix, np.eye(3))


def _geometry_of(geometry: Any) -> tuple[str, Transform] | None:
    """The shape in URDF's words, and its frame in the decoration's."""
    scale = np.asarray(geometry.scale)
    if isinstance(geometry, decoration.MeshFile):
        return f'<mesh filename={quoteattr(os.fspath(geometry.path.absolute()))} scale="{show(scale)}"/>', Transform()
    if not np.array_equal(scale, np.ones(3)):
        return None
    if isinstance(geometry, decoration.Brick):
        return f'<box size="{show(2.0 * geometry.half_lengths)}"/>', Transform()
    if isinstance(geometry, decoration.Sphere):
        return f'<sphere radius="{geometry.radius!r}"/>', Transform()
    if isinstance(geometry, decoration.Cylinder):
        turned = Transform.trusted(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), np.zeros(3))
        return f'<cylinder radius="{geometry.radius!r}" length="{2.0 * geometry.half_height!r}"/>', turned
    return None


def _shape_of(shape: Any) -> str | None:
    if isinstance(shape, contact.Brick):
        return f'<box size="{show(2.0 * np.asarray(shape.half_lengths))}"/>'
    if isinstance(shape, contact.Sphere):
        return f'<sphere radius="{shape.radius!r}"/>'
    if isinstance(shape, contact.Cylinder) and math.isfinite(shape.half_length):
        return f'<cylinder radius="{shape.radius!r}" length="{2.0 * shape.half_length!r}"/>'
    if isinstance(shape, contact.Capsule):
        return f'<capsule radius="{shape.radius!r}" length="{2.0 * shape.half_length!r}"/>'
    return None
