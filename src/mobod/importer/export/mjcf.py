"""A system as an MJCF file, the format of MuJoCo."""

from __future__ import annotations

import math
import os
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ... import constraint, decoration, mobilizer
from ...algebra.arrays import Array
from ...state.state import State
from ...system.system import MultibodySystem
from ...value import Transform
from ...value.stage import Stage
from ..model import Model
from .mechanism import Coordinate, Mechanism, Part, Step, show, write_file
from .mjcf_forces import Driven
from .shapes import shape_of

#: MuJoCo refuses less of what moves.
_LEAST = 1e-14
#: Of meshes, whose inertia does not count: MuJoCo refuses those that enclose no volume otherwise.
_SURFACE = ' inertia="shell"'
#: A plate without thickness has a moment that is the sum of the others, which rounding must not raise.
_FLAT = 1e-9


def save_mjcf(model: Model | MultibodySystem, path: str | os.PathLike[str]) -> list[str]:
    """Write a model or a system to an MJCF file.

    Parameters
    ----------
    model : Model or MultibodySystem
    path : str or path-like
        The file, ``.xml``, as MuJoCo wants it; it is replaced where it exists.

    Returns
    -------
    list of str
        What the file does not say, a sentence each; empty where it says all.

    Raises
    ------
    TypeError
        If *model* is neither.
    ValueError
        If the file's name ends in another way, or its folder does not exist.
    OSError
        If it cannot be written.
    ModelError
        If there is nothing to write.

    Notes
    -----
    Bodies without mass that carry one body are joined with it, as MJCF's bodies can have several joints. What MuJoCo makes of
    stops, friction and constraints is soft, with its own defaults; poses, mass matrix and accelerations without these are the
    same.
    """
    return write_file(model, path, ".xml", "MJCF", _Writer)


class _Row:
    """A body of the file: the part whose name it has, and its joints, in its own frame at zero coordinates."""

    def __init__(self, part: Part, parent: int, X_PB0: Transform) -> None:
        self.part, self.parent, self.X_PB0 = part, parent, X_PB0
        self.joints: list[tuple[str, Coordinate, Array, Array]] = []  # kind, coordinate, axis, position
        self.whole: str = ""


class _Writer:
    def __init__(self, found: Mechanism) -> None:
        self.found = found
        self.notes = list(found.notes)
        self.meshes: dict[tuple[str, str], str] = {}
        self.rows: dict[int, _Row] = {}
        self.children: dict[int, list[int]] = {}
        self.order: list[int] = []  # of the bodies in the file

    def write(self) -> str:
        for index, part in self.found.parts.items():
            if part.name == "world":  # MuJoCo's own name for Ground
                part.name = "world_"
                self.notes.append("body 'world' is called 'world_', since MuJoCo calls Ground so")
            self.children.setdefault(part.parent, []).append(index)
        merged = self.find_merged()
        for index, part in self.found.parts.items():
            self.rows[index] = self.row(part)
        for index in merged:  # parents first: each takes over what its parent has taken over
            (child,) = self.children[index]
            self.merge(self.rows[index], self.rows[child])
        for index in merged:
            del self.rows[index]
            self.notes.append(f"{self.found.parts[index].name!r} has no mass, and is joined with the body that it carries")
        self.joint_names = {
            (index, part.coordinates.index(one)): one.name
            for row in self.rows.values()
            for _, one, _, _ in row.joints
            for index, part in self.found.parts.items()
            if one in part.coordinates
        }
        self.driven = Driven(self.found, lambda b, which: self.joint_names.get((b, which)), lambda b: b in self.rows)
        free = {one.name for row in self.rows.values() if row.whole == "free" for one in row.part.coordinates}
        self.notes += [*self.driven.notes, *self.found.note_of_start(free)]
        equalities = self.equalities()  # whose sites are on bodies
        on: dict[int, list[int]] = {}
        for index, row in self.rows.items():
            on.setdefault(row.parent, []).append(index)
        body: list[str] = []
        # depth first, without recursion: what is still to be written, and the lines that close what is open
        pending: list[int | str] = list(reversed(on.get(0, [])))
        depth = 2
        body += self.sites(None, depth)
        while pending:
            what = pending.pop()
            if isinstance(what, str):
                depth -= 1
                body.append(f"{'  ' * depth}{what}")
                continue
            self.order.append(what)
            body += [f"{'  ' * depth}{line}" for line in self.body(what)]
            depth += 1
            body += self.sites(self.found.parts[what].mobod, depth)
            pending.append("</body>")
            pending.extend(reversed(on.get(what, [])))
        head = [
            f"<mujoco model={quoteattr(self.found.name)}>",
            '  <compiler angle="radian" autolimits="true" inertiafromgeom="false" balanceinertia="false"/>',
            f'  <option gravity="{show(self.found.gravity)}"/>',
        ]
        if self.meshes:
            head.append("  <asset>")
            for (file, scale), name in self.meshes.items():
                head.append(f'    <mesh name={quoteattr(name)} file={quoteattr(file)} scale="{scale}"{_SURFACE}/>')
            head.append("  </asset>")
        tail = [*self.driven.tendon_lines(), *self.driven.actuator_lines(), *equalities, *self.keyframes()]
        return "\n".join([*head, "  <worldbody>", *body, "  </worldbody>", *tail, "</mujoco>"]) + "\n"

    # Bodies

    def find_merged(self) -> list[int]:
        """Bodies without mass that only carry another one, as those between the axes of a joint do."""
        merged = []
        for index, part in self.found.parts.items():
            children = self.children.get(index, [])
            plain = len(children) == 1 and self.found.parts[children[0]].steps is not None
            bare = part.mass.mass == 0.0 and not part.mobod.body.decorations and not part.mobod.body.contact_surfaces
            if plain and bare and part.steps and not any(body is part.mobod for body, _ in self.found.frames.values()):
                merged.append(index)
        return merged

    def row(self, part: Part) -> _Row:
        row = _Row(part, part.parent, part.X_PB0)
        mobod = part.mobod
        if isinstance(mobod, mobilizer.Free) and part.parent == 0 and mobod.direction is mobilizer.Direction.FORWARD:
            row.whole = "free"
            row.X_PB0 = mobod.get_body_transform(self.found.state)  # MuJoCo's free bodies start where they are in the file
            if not (np.array_equal(part.X_PF.R.matrix, np.eye(3)) and np.array_equal(part.X_BM.R.matrix, np.eye(3))) or (
                part.X_PF.p.any() or part.X_BM.p.any()
            ):
                self.notes.append(
                    f"{part.joint!r}: its coordinates are those of the body in the world, not of its frames M in F"
                )
        elif isinstance(mobod, mobilizer.Ball):
            row.whole = "ball"
            if mobod.direction is mobilizer.Direction.REVERSE or not np.array_equal(part.X_BM.R.matrix, np.eye(3)):
                self.notes.append(f"{part.joint!r}: its quaternion is that of the body's own axes, not of its frame M")
        elif part.steps is None:
            kind = type(mobod).__name__
            self.notes.append(
                f"{part.joint!r}: MJCF has no joint that is a {kind}; it is fixed where it is at zero coordinates"
            )
        else:
            for step in part.steps:
                row.joints.append(self.joint_of(part, step))
        return row

    def joint_of(self, part: Part, step: Step) -> tuple[str, Coordinate, Array, Array]:
        return ("hinge" if step.turns else "slide", part.coordinates[step.which], part.axis(step), np.array(part.X_BM.p))

    def merge(self, row: _Row, into: _Row) -> None:
        """Put the joints of a body without mass before those of the one that it carries."""
        X = ~into.X_PB0  # the first one's frame in the other's, at zero coordinates
        moved = [(kind, one, X.R.matrix @ axis, X @ position) for kind, one, axis, position in row.joints]
        into.joints = moved + into.joints
        into.parent, into.X_PB0 = row.parent, row.X_PB0 @ into.X_PB0

    def body(self, index: int) -> list[str]:
        row = self.rows[index]
        part = row.part
        held = self.driven.compensated.get(index, 0.0) + (not part.gravity)
        gravity = f' gravcomp="{float(held)!r}"' if held else ""
        lines = [f"<body name={quoteattr(part.name)}{_pose(row.X_PB0)}{gravity}>"]
        if row.whole == "free":
            lines.append(f'  <joint name={quoteattr(part.joint)} type="free"{self.damping_of_whole(part, 6)}/>')
        elif row.whole == "ball":
            lines.append(
                f'  <joint name={quoteattr(part.joint)} type="ball" pos="{show(part.X_BM.p)}"{self.damping_of_whole(part, 3)}/>'
            )
        for kind, one, axis, position in row.joints:
            lines.append(f"  {self.joint(kind, one, axis, position)}")
        moves = bool(row.joints or row.whole)
        return [*lines, *(f"  {line}" for line in [*self.inertial(part, moves), *self.geoms(part)])]

    def damping_of_whole(self, part: Part, n: int) -> str:
        """The damping of a ball or free joint, which is one number."""
        rotors = np.broadcast_to(np.atleast_1d(np.asarray(part.mobod.get_default_rotor_inertia(), float)), (n,))
        more = f' armature="{rotors[0].item()!r}"' if rotors.any() and not np.ptp(rotors) else ""
        if np.ptp(rotors):
            self.notes.append(f"{part.joint!r}: its rotors are not the same about all axes, and are left out")
        if not part.damping:
            return more
        values = [part.damping.get(k, 0.0) for k in range(n)]
        if max(values) - min(values) > 1e-14 * max(values):
            self.notes.append(f"{part.joint!r}: its damping is not the same about all axes, and is left out")
            return more
        return f'{more} damping="{values[0]!r}"'

    def joint(self, kind: str, one: Coordinate, axis: Array, position: Array) -> str:
        more = f' damping="{one.damping!r}"' if one.damping else ""
        more += f' frictionloss="{one.friction!r}"' if one.friction else ""
        more += f' armature="{one.rotor!r}"' if one.rotor else ""
        more += f' stiffness="{one.stiffness!r}" springref="{one.rest!r}"' if one.stiffness else ""
        if math.isfinite(one.low) or math.isfinite(one.high):
            more += f' range="{max(one.low, -1e10)!r} {min(one.high, 1e10)!r}"'
        return f'<joint name={quoteattr(one.name)} type="{kind}" axis="{show(axis)}" pos="{show(position)}"{more}/>'

    def inertial(self, part: Part, moves: bool) -> list[str]:
        mass, com = part.mass.mass, part.mass.com
        I = part.mass.central_inertia.matrix
        moments = np.linalg.eigvalsh(I)
        if mass < _LEAST or moments[0] < _LEAST:
            # a leaf's; what is fixed, or carries others, MuJoCo counts together
            if mass == 0.0 and not moves:
                return []
            if moments[0] < -_FLAT * moments[2]:
                self.notes.append(
                    f"{part.name!r}: no body has its inertia, which MuJoCo refuses; one with larger moments is written"
                )
            elif moves:
                self.notes.append(f"{part.name!r}: MuJoCo needs a mass and an inertia of {_LEAST:g} at least: it has these")
            mass = max(mass, _LEAST)
            I = I + max(0.0, 2.0 * _LEAST - float(moments[0])) * np.eye(3)
        elif moments[2] > (moments[0] + moments[1]) * (1.0 - _FLAT):
            if moments[2] > (moments[0] + moments[1]) * (1.0 + _FLAT):
                self.notes.append(f"{part.name!r}: no body has its inertia, which MuJoCo refuses; the nearest one is written")
            I = _nearest(I)
        six = show([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        return [f'<inertial pos="{show(com)}" mass="{float(mass)!r}" fullinertia="{six}"/>']

    def geoms(self, part: Part) -> list[str]:
        lines = []
        for geometry, X in part.mobod.body.decorations:
            found = self.geom_of(geometry)
            if found is None:
                self.notes.append(f"{part.name!r}: MJCF has no shape for a {type(geometry).__name__} that is drawn")
                continue
            shape, turned = found
            color = "" if geometry.color is None else f' rgba="{show([*geometry.color, geometry.opacity])}"'
            pose = _pose(X @ geometry.X @ turned)
            lines.append(f'<geom {shape}{pose}{color} contype="0" conaffinity="0" group="1" mass="0"/>')
        for surface, X in part.mobod.body.contact_surfaces:
            touching = shape_of(surface.geometry)
            if touching is None:
                self.notes.append(f"{part.name!r}: MJCF has no shape for a {type(surface.geometry).__name__} that touches")
            else:
                size = f'type="{touching.kind}" size="{show(touching.sizes)}"'
                lines.append(f'<geom {size}{_pose(X @ touching.X)} group="3" mass="0"/>')
        return lines

    def geom_of(self, geometry: Any) -> tuple[str, Transform] | None:
        scale = np.asarray(geometry.scale)
        if isinstance(geometry, decoration.MeshFile):
            if geometry.path.suffix.lower() not in (".stl", ".obj"):
                return None
            key = os.fspath(geometry.path.absolute()), show(scale)
            name = self.meshes.setdefault(key, f"{geometry.path.stem}_{len(self.meshes)}")
            return f'type="mesh" mesh={quoteattr(name)}', Transform()
        shape = shape_of(geometry)
        return None if shape is None else (f'type="{shape.kind}" size="{show(shape.sizes)}"', shape.X)

    def sites(self, mobod: Any, depth: int) -> list[str]:
        lines = []
        for name, (body, X) in self.found.frames.items():
            if body is mobod or (mobod is None and body.index == 0):
                lines.append(f"{'  ' * depth}<site name={quoteattr(name)}{_pose(X)}/>")
        lines += [f"{'  ' * depth}{line}" for line in self.driven.sites.get(0 if mobod is None else mobod.index, [])]
        return lines

    # States

    def keyframes(self) -> list[str]:
        """States that the model names, in MuJoCo's order of coordinates: that of the bodies in the file."""
        lines = []
        places = {id(one): (part, k) for part in self.found.parts.values() for k, one in enumerate(part.coordinates)}
        for name, make in self.found.keyframes.items():
            state = make()
            state.system.realize(state, Stage.VELOCITY)
            qpos: list[float] = []
            qvel: list[float] = []
            for row in (self.rows[index] for index in self.order):
                if row.whole:
                    X, V = _motion_of(row, state)
                    qpos += [*X.p.tolist(), *X.R.to_quaternion().tolist()][0 if row.whole == "free" else 3 :]
                    qvel += [*V[1].tolist(), *V[0].tolist()][0 if row.whole == "free" else 3 :]
                for _, one, _, _ in row.joints:
                    part, k = places[id(one)]
                    qpos.append(float(np.atleast_1d(part.mobod.get_q_as_vector(state))[k]))
                    qvel.append(float(np.atleast_1d(part.mobod.get_u_as_vector(state))[k]))
            controls = [one.get_control(state) for one in self.driven.actuators]
            more = f' ctrl="{show(controls)}"' if controls else ""
            activations = [state.z_values[one.first_z] for one in self.driven.actuators if one.num_z]
            more += f' act="{show(activations)}"' if activations else ""
            lines.append(
                f'    <key name={quoteattr(name)} time="{state.time!r}" qpos="{show(qpos)}" qvel="{show(qvel)}"{more}/>'
            )
        return ["  <keyframe>", *lines, "  </keyframe>"] if lines else []

    # Constraints

    def equalities(self) -> list[str]:
        lines = []
        written = {id(one) for row in self.rows.values() for _, one, _, _ in row.joints}
        for coupling in self.found.couplings:
            follower, leader = (self.found.parts[b].coordinates[which] for b, which in (coupling.follower, coupling.leader))
            if id(follower) not in written or id(leader) not in written:
                self.notes.append(f"the coupling of {follower.name!r} with {leader.name!r} is left out")
                continue
            ends = f"joint1={quoteattr(follower.name)} joint2={quoteattr(leader.name)}"
            polynomial = show([coupling.offset, coupling.multiplier, 0.0, 0.0, 0.0])
            lines.append(f'    <joint {ends} polycoef="{polynomial}"{_active(coupling.active)}/>')
        for tie, active in self.found.ties:
            lines += self.tie(tie, _active(active))
        if lines:
            self.notes.append("constraints are MuJoCo's, which are soft")
        return ["  <equality>", *lines, "  </equality>"] if lines else []

    def tie(self, tie: Any, active: str) -> list[str]:
        bodies = [tie.get_mobilized_body_from_constrained_body(i) for i in range(2)]
        if any(body.index not in self.rows and body.index != 0 for body in bodies):
            self.notes.append(f"constraint {tie.name!r} is left out: it is at a body that is not in the file")
            return []
        if isinstance(tie, constraint.Ball):
            ends = [quoteattr(f"{tie.name}_{end}") for end in (1, 2)]
            for body, end, station in zip(bodies, ends, (tie.get_default_station1(), tie.get_default_station2()), strict=True):
                self.driven.sites.setdefault(body.index, []).append(f'<site name={end} pos="{show(station)}"/>')
            return [f"    <connect site1={ends[0]} site2={ends[1]}{active}/>"]
        names = [quoteattr("world" if body.index == 0 else self.found.parts[body.index].name) for body in bodies]
        X1, X2 = tie.get_default_frame1(), tie.get_default_frame2()
        X_12 = X1 @ ~X2  # the second body in the first where the frames coincide
        pose = show([*X_12.p, *X_12.R.to_quaternion()])
        return [f'    <weld body1={names[0]} body2={names[1]} relpose="{pose}"{active}/>']


def _active(active: bool) -> str:
    return "" if active else ' active="false"'


def _pose(X: Transform) -> str:
    pos = f' pos="{show(X.p)}"' if X.p.any() else ""
    quat = "" if np.array_equal(X.R.matrix, np.eye(3)) else f' quat="{show(X.R.to_quaternion())}"'
    return pos + quat


def _nearest(inertia: Array) -> Array:
    """The nearest inertia that some body has, in terms of second moments of mass: Wensing, Kim, Slotine 2018."""
    moments, axes = np.linalg.eigh(inertia)
    spread = np.maximum(0.5 * moments.sum() - moments, _FLAT * float(np.abs(moments).max()))
    tensor: Array = (axes * (spread.sum() - spread)) @ axes.T
    return 0.5 * (tensor + tensor.T)


def _motion_of(row: _Row, state: State) -> tuple[Transform, Array]:
    """MuJoCo's coordinates of a free body or a ball: its pose from where the file has it, angular velocity in its own axes."""
    mobod = row.part.mobod
    X, parent = mobod.get_body_transform(state), mobod.get_parent_mobilized_body()
    V = np.array(mobod.get_body_velocity(state))
    V[0] = ~X.R @ (V[0] - parent.get_body_velocity(state)[0])
    if row.whole == "ball":
        X = Transform(~row.X_PB0.R @ ~parent.get_body_rotation(state) @ X.R)
    return X, V
