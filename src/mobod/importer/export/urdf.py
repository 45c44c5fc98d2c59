"""A system as a URDF file."""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ... import decoration, mobilizer
from ...algebra.arrays import Array
from ...system.system import MultibodySystem
from ...value import Transform
from ..mechanism.acting import YIELD_ANGLE, YIELD_LENGTH
from ..mechanism.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from ..model import Model
from ..urdf.describe import find_bounds
from ..urdf.document import Collision, Origin
from .mechanism import Coordinate, Mechanism, Part, Step, show, unused, write_file
from .shapes import Shape, shape_of


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
    with the same names, mass matrix, poses and accelerations as far as the list is empty. What a model's own URDF file says of
    collision shapes, damping, friction and limits is written too where it was not asked for at loading.
    """
    return write_file(model, path, ".urdf", "URDF", _Writer)


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
        self.notes += self.found.note_of_start(self.put())
        gravity = self.found.gravity
        if not np.allclose(gravity, (0.0, 0.0, -9.81), rtol=0.0, atol=1e-15):
            self.notes.append(f"gravity is not in the file: load it with gravity=({', '.join(f'{g:g}' for g in gravity)})")
        for tie, _ in self.found.ties:
            self.notes.append(f"constraint {tie.name!r} is left out: URDF files describe trees")
        springs = sum(one.stiffness > 0.0 for part in self.found.parts.values() for one in part.coordinates)
        if springs:
            self.notes.append(f"the springs of {springs} {'coordinate' if springs == 1 else 'coordinates'} are left out")
        turning = [p.joint for p in self.found.parts.values() if p.steps is None and any(one.rotor for one in p.coordinates)]
        if turning:
            self.notes.append(f"rotors are left out of joints of several axes: {', '.join(turning)}")
        beyond = Counter(type(one).__name__ for one in self.found.beyond)
        beyond["MobilityLinearDamper"] += sum(len(part.damping) for part in self.found.parts.values())
        for kind, count in (+beyond).items():
            self.notes.append(f"forces: {count} of the kind {kind} {'is' if count == 1 else 'are'} left out")
        if any(not part.gravity for part in self.found.parts.values()):
            self.notes.append("that gravity does not pull at some bodies is left out")
        for what, things in (("frame", self.found.frames), ("tendon", self.found.tendons), ("keyframe", self.found.keyframes)):
            if things:
                self.notes.append(f"{len(things)} {f'{what} is' if len(things) == 1 else f'{what}s are'} left out")

    def put(self) -> set[str]:
        """Coordinates that start where mimicry or a limit has them, as readers put them."""
        coordinates = [one for part in self.found.parts.values() for one in part.coordinates]
        moved = {name: value for moved in self.found.moved.values() for name, value in moved.items()}
        coupled = {self.joint_of[coupling.follower] for coupling in self.found.couplings if coupling.active}
        return coupled | {one.name for one in coordinates if moved.get(one.name) in (one.low, one.high)}

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
            found = _geometry_of(surface.geometry)
            if found is None:
                self.notes.append(f"{part.name!r}: URDF has no shape for a {type(surface.geometry).__name__} that touches")
            else:
                lines.append(f"<collision>{origin(X @ found[1])}<geometry>{found[0]}</geometry></collision>")
        kept = self.found.links.get(part.name)
        if kept is not None and not part.mobod.body.contact_surfaces:  # as the file had them, and nobody asked for
            lines += [_kept(collision) for collision in kept.collisions]
        return lines

    # Joints

    def join(self, index: int, part: Part, mimics: dict[tuple[int, int], Any]) -> None:
        parent = "world" if part.parent == 0 else self.found.parts[part.parent].name
        steps, X_PB0 = part.steps, part.X_PB0
        kind = type(part.mobod).__name__
        if isinstance(part.mobod, mobilizer.Free | mobilizer.Planar) and part.mobod.direction is mobilizer.Direction.FORWARD:
            acted_on = any(one.acted_on for one in part.coordinates)
            if len(part.coordinates) == part.mobod.facts.num_q and not (acted_on and part.steps):
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
            self.joint(unused(part.joint, self.joints), "fixed", parent, part.name, X_PB0)
            return None
        p = part.X_BM.p
        off = any(step.turns and np.linalg.norm(np.cross(p, part.axis(step))) > 0.0 for step in steps)
        X = X_PB0 @ Transform(p) if off else X_PB0
        for number, step in enumerate(steps):
            one = coordinates[step.which]
            last = number == len(steps) - 1 and not off
            child = part.name if last else unused(f"{part.name} ({one.name})", self.links)
            if not last:
                self.lines.append(f"<link name={quoteattr(child)}/>")
            self.axis_joint(one, step, part.axis(step), parent, child, X, mimics.get((index, step.which)))
            parent, X = child, Transform()
        if off:
            self.joint(unused(f"{part.name} (fixed)", self.joints), "fixed", parent, part.name, Transform(-p))
        return None

    def join_whole(self, part: Part, parent: str) -> None:
        """A floating or planar joint, from F to M, and what lies between M and the body."""
        kind = "floating" if isinstance(part.mobod, mobilizer.Free) else "planar"
        straight = _is_identity(part.X_BM)
        child = part.name if straight else unused(f"{part.name} ({part.joint})", self.links)
        if not straight:
            self.lines.append(f"<link name={quoteattr(child)}/>")
        axis = '<axis xyz="0 0 1"/>' if kind == "planar" else ""
        self.joint(part.joint, kind, parent, child, part.X_PF, axis)
        if not straight:
            self.joint(unused(f"{part.name} (fixed)", self.joints), "fixed", child, part.name, ~part.X_BM)

    def axis_joint(self, one: Coordinate, step: Step, axis: Array, parent: str, child: str, X: Transform, mimic: Any) -> None:
        kept = self.found.joints.get(one.name)
        limit = None if kept is None else kept.limit
        low, high = one.low, one.high
        if kept is not None and not one.stop and find_bounds(kept) != (-math.inf, math.inf):  # limits that nobody asked for
            low, high = find_bounds(kept)
        bounded = math.isfinite(low) or math.isfinite(high)
        kind = ("revolute" if bounded else "continuous") if step.turns else "prismatic"
        inside = f'<axis xyz="{show(axis)}"/>'
        effort = 1e9 if limit is None or limit.effort is None else limit.effort
        if one.stop:
            effort = one.stop * (YIELD_ANGLE if step.turns else YIELD_LENGTH)
        velocity = 1e9 if limit is None or limit.velocity is None else limit.velocity
        if bounded:
            low, high = max(low, -1e16), min(high, 1e16)
            inside += f'<limit lower="{low!r}" upper="{high!r}" effort="{effort!r}" velocity="{velocity!r}"/>'
        elif not step.turns or limit is not None:  # other readers insist
            inside += f'<limit effort="{effort!r}" velocity="{velocity!r}"/>'
        damping = one.damping or (0.0 if kept is None else kept.dynamics.damping)
        friction = one.friction or (0.0 if kept is None else kept.dynamics.friction)
        if damping or friction:
            inside += f'<dynamics damping="{damping!r}" friction="{friction!r}"/>'
        if mimic is not None:
            leader = quoteattr(self.joint_of[mimic.leader])
            inside += f'<mimic joint={leader} multiplier="{mimic.multiplier!r}" offset="{mimic.offset!r}"/>'
        self.joint(one.name, kind, parent, child, X, inside)

    def joint(self, name: str, kind: str, parent: str, child: str, X: Transform, inside: str = "") -> None:
        self.lines.append(
            f'<joint name={quoteattr(name)} type="{kind}"><parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>'
            f"{origin(X)}{inside}</joint>"
        )


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
    """The shape of a decoration or surface in URDF's words, and its frame in the other's."""
    if isinstance(geometry, decoration.MeshFile):
        name = quoteattr(os.fspath(geometry.path.absolute()))
        return f'<mesh filename={name} scale="{show(np.asarray(geometry.scale))}"/>', Transform()
    shape = shape_of(geometry)
    words = None if shape is None else _words(shape)
    return None if shape is None or words is None else (words, shape.X)


def _words(shape: Shape) -> str | None:
    sizes = shape.sizes
    if shape.kind == "box":
        return f'<box size="{show([2.0 * one for one in sizes])}"/>'
    if shape.kind == "sphere":
        return f'<sphere radius="{sizes[0]!r}"/>'
    if shape.kind in ("cylinder", "capsule"):
        return f'<{shape.kind} radius="{sizes[0]!r}" length="{2.0 * sizes[1]!r}"/>'
    return None


def _kept(collision: Collision) -> str:
    """A shape of a file's that was not asked for when it was loaded, as the file has it."""
    match collision.geometry:
        case Box(size):
            shape = f'<box size="{show(size)}"/>'
        case Sphere(radius):
            shape = f'<sphere radius="{radius!r}"/>'
        case Cylinder(radius, length):
            shape = f'<cylinder radius="{radius!r}" length="{length!r}"/>'
        case Capsule(radius, length):
            shape = f'<capsule radius="{radius!r}" length="{length!r}"/>'
        case Mesh(filename, scale):
            shape = f'<mesh filename={quoteattr(filename)} scale="{show(scale)}"/>'
    place = collision.origin
    there = "" if place == Origin() else f'<origin xyz="{show(place.xyz)}" rpy="{show(place.rpy)}"/>'
    name = f" name={quoteattr(collision.name)}" if collision.name else ""
    return f"<collision{name}>{there}<geometry>{shape}</geometry></collision>"
