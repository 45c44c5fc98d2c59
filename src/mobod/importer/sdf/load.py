"""From an SDF file to a multibody system.

A joint's frame J is fixed to its parent and to its child, and at zero coordinates both are in one place: with the poses of all
as the file gives them,

    X_PF = ~X_WP X_WJ A    X_BM = ~X_WB X_WJ A

where A takes the mobilizer's own axis to the joint's. A joint that is reached from its child's side is built reversed, with
the same frames, so that its coordinates keep their meaning. A joint that closes a loop keeps its coordinates too: the link that
it would carry is split in as many equal parts as joints carry it, and the parts are welded together by constraints.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import body, constraint, decoration, force, mobilizer
from ...algebra.arrays import Array
from ...constraint.base import Constraint
from ...errors import ModelError
from ...force.subsystem import GeneralForceSubsystem
from ...function import Linear
from ...mobilizer import Direction
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ...value import Rotation, Transform, checks
from ...value.attributes import named_arguments
from ..mesh_files import check_package_dirs
from ..model import Model
from ..parts import LinkMass, make_body, plural, rotation_taking
from ..urdf.document import Box, Capsule, Cylinder, Mesh, Sphere
from ..urdf.forces import ARM, GRAVITY, SLIP
from ..urdf.mass import ROUNDING, defect_of, show_moments
from .document import Axis, Cone, Ellipsoid, Joint, Plane, Pose, Scope, SdfDocument, Shape
from .frames import Body, Frames
from .graph import Branch, Edge, all_scopes, build_graph, is_static, link_of
from .reader import read_sdf

if TYPE_CHECKING:
    from ... import contact

#: The format's own, where a world says nothing.
_GRAVITY = (0.0, 0.0, -9.8)
#: How far a stop gives way to the greatest effort: angle, length.
_YIELD_ANGLE, _YIELD_LENGTH = 0.02, 0.002
#: How far dry friction gives way before it slides, likewise.
_SLIP_ANGLE, _SLIP_LENGTH = SLIP["revolute"], SLIP["prismatic"]


@named_arguments
def load_sdf(
    path: str | os.PathLike[str],
    *,
    strict: bool = False,
    gravity: ArrayLike | None = None,
    package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    joint_damping: bool = True,
    joint_limits: bool = True,
    joint_friction: bool | None = None,
    stop_stiffness: float | None = None,
    stop_dissipation: float | None = None,
    mimic: bool = True,
    collision: bool | None = None,
    collision_material: contact.Material | None = None,
    link_materials: Mapping[str, contact.Material] | None = None,
    collision_meshes: str = "hull",
    exclude_overlapping: bool = True,
) -> Model:
    """Build a multibody system from an SDF file: a model, or a world with all models in it.

    Every link becomes a body with its origin at the link frame. Names of nested models' parts, and of models in a world, are
    ``model::link``, ``model::joint``.

    Parameters
    ----------
    path : str or path-like
        The file, of SDFormat 1.0 to 1.12.
    strict : bool, default: False
        Whether what is wrong with the file, and put up with otherwise, is an error: inertias that no body has, included models
        and meshes that are not there, and all else that is approximated or left out.
    gravity : (3,) array_like, optional
        Acceleration of free fall in Ground, length/time^2. Unless given, the world's, or (0, 0, -9.8), the format's default.
    package_dirs : path or sequence of paths, optional
        Folders in which ``model://NAME/...`` and ``package://NAME/...`` are looked for first. Then come the folders above the
        file, and those of the environment's ``GZ_SIM_RESOURCE_PATH``, ``GAZEBO_MODEL_PATH``, ``SDF_PATH`` and ROS's.
    joint_damping : bool, default: True
        Whether axes with ``<damping>`` have a `force.MobilityLinearDamper`. Springs (``<spring_stiffness>``) always act.
    joint_limits : bool, default: True
        Whether axes with limits have a `force.MobilityLinearStop`. One that zero is outside of starts at its limit.
    joint_friction : bool, optional
        Whether axes with ``<friction>`` have a `force.MobilityDryFriction`. Unless given they do not, and a warning says so.
    stop_stiffness, stop_dissipation : float, optional
        Of all stops. Unless given, those of the file's ``<limit>``, or such that a stop gives way to the joint's greatest
        effort by 0.02 rad or 2 mm, with a dissipation of 1.
    mimic : bool, default: True
        Whether axes that mimic others are coupled to them, by a `constraint.CoordinateCoupler`.
    collision : bool, optional
        Whether links touch each other: collision shapes become surfaces of contact, see `load_urdf`, which has these too.
        Unless given they do not, and a warning says so.
    collision_material, link_materials, collision_meshes, exclude_overlapping
        See `load_urdf`. Links of one model touch each other only if its ``<self_collide>`` says so.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated, with lines.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        A file is broken, or describes something that cannot be. The message starts with the file and the line.

    Warns
    -----
    UserWarning
        Inertias that no body has, and what else is wrong with the file and was put up with; joints that move no mass, which are
        welded.

    Notes
    -----
    Links of static models are welded to Ground. Links that no joint connects to the world are free: their coordinates are named
    after the link, a quaternion and a position, and start at the link's pose in the file. A ball joint has a quaternion. Frames
    of the file are in `Model.frames`, collision shapes in ``Model.data["collisions"]``, what joints say in
    ``Model.data["joints"]``.

    Where a joint closes a loop, a part of the link that it carries is a body of its own, ``link (joint)``.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.sdf"
    >>> text = "<sdf version='1.7'><model name='one'><link name='box'><inertial><mass>2</mass></inertial></link></model></sdf>"
    >>> number = path.write_text(text)
    >>> model = mb.load_sdf(path)
    >>> list(model.bodies)
    ['box']
    """
    checks.flags(
        "load_sdf",
        strict=strict,
        joint_damping=joint_damping,
        joint_limits=joint_limits,
        joint_friction=bool(joint_friction) if joint_friction is None else joint_friction,
        mimic=mimic,
        collision=bool(collision) if collision is None else collision,
        exclude_overlapping=exclude_overlapping,
    )
    document = read_sdf(path, package_dirs=check_package_dirs(package_dirs), collisions=bool(collision), strict=bool(strict))
    materials: dict[str, Any] = {}
    if collision:
        from ..urdf import collisions

        collisions.check_meshes(collision_meshes)
    built = _Builder(document, bool(strict))
    if collision:
        materials = collisions.check_materials(collision_material, link_materials, dict.fromkeys(built.names.values()))
    model = built.build(gravity)
    built.add_forces(model, joint_damping, joint_limits, joint_friction, stop_stiffness, stop_dissipation)
    if mimic:
        built.couple(model)
    if joint_limits:
        built.put_inside(model)
    if collision:
        from .collisions import add_surfaces

        model.report += add_surfaces(model, built, materials, collision_meshes, bool(exclude_overlapping))
    elif count := sum(len(link_of(b).collisions) for b in built.names):
        what = plural(count, "collision shape", "collision shapes")
        if collision is None:
            which = "collision=True makes surfaces of them"
            built.report.lose(f"{what}: kept as data; {which}", "collision shapes, which touch nothing", count, which)
        else:
            built.report.append(f"{what}: kept as data, as was asked")
    built.report.finish(document.path, bool(strict))
    return model


class Coordinate:
    """One axis of a joint: the body whose coordinate it is, which of its coordinates, and what the file says of it."""

    def __init__(self, name: str, mobod: MobilizedBody, which: int, axis: Axis, joint: Joint, angular: bool) -> None:
        self.name, self.mobod, self.which, self.axis, self.joint, self.angular = name, mobod, which, axis, joint, angular


class _Builder:
    """Makes the bodies of one document, inboard ones first."""

    def __init__(self, document: SdfDocument, strict: bool) -> None:
        self.document, self.strict = document, strict
        self.top = document.top
        self.report = document.report
        self.frames = Frames()
        self.graph = build_graph(self.top, self.frames)
        for note in self.graph.notes:
            self.report.depart(self.shorten(note))
        self.bodies: dict[Body, MobilizedBody] = {}
        self.names = {
            b: self.scoped(b.scope, b.link) for scope in all_scopes(self.top) for b in (Body(scope, n) for n in scope.links)
        }
        self.X_W = {b: self.frames.X_W(b.scope, b.link, link_of(b).place) for b in self.names}
        self.parts = dict.fromkeys(self.names, 1)  # how many bodies each link is split in
        for edge in self.graph.loops:
            if edge.joint.type != "fixed":
                self.parts[self.split_end(edge)] += 1
        self.masses = {b: self.mass_of(b) for b in self.names}
        self.check_masses()
        self.idle = self.find_idle()
        self.coordinate_names: dict[str, int] = {}
        self.speed_names: dict[str, int] = {}
        self.axes: dict[tuple[int, str], list[Coordinate]] = {}
        self.coordinates: list[Coordinate] = []

    # Names

    def scoped(self, scope: Scope, name: str) -> str:
        above = scope
        while above is not self.top:
            name = f"{above.name}::{name}"
            assert above.parent is not None
            above = above.parent
        return name

    def shorten(self, note: str) -> str:
        return note.replace(f"{self.document.path}:", "line ", 1) if note.startswith(f"{self.document.path}:") else note

    def free_name(self, name: str) -> str:
        """Return the name, or one near it if Ground or another link has that already."""
        taken = {self.matter.ground.name, *self.given}
        while name in taken:
            name += "_link"
        self.given.add(name)
        return name

    # Masses

    def mass_of(self, b: Body) -> LinkMass:
        inertial = link_of(b).inertial
        X_BC = self.in_body(b, inertial.pose, inertial.place)
        R = X_BC.R.matrix
        tensor = inertial.tensor if np.array_equal(R, np.eye(3)) else R @ inertial.tensor @ R.T
        return LinkMass(inertial.mass, np.array(X_BC.p), 0.5 * (tensor + tensor.T))

    def in_body(self, b: Body, pose: Pose, place: Any) -> Transform:
        if not pose.relative_to or pose.relative_to == b.link:
            return pose.X
        return ~self.X_W[b] @ self.frames.X_W(b.scope, pose.relative_to, place) @ pose.X

    def check_masses(self) -> None:
        if not self.masses:
            return
        all_moments = np.linalg.eigvalsh(np.array([mass.central_inertia for mass in self.masses.values()]))
        impossible = []
        for b, moments in zip(self.masses, all_moments, strict=True):
            if not is_static(b) and defect_of(moments) > ROUNDING:
                place = self.shorten(str(link_of(b).inertial.place))
                impossible.append(f"{place}: link {self.names[b]!r}, with principal moments {show_moments(moments)}")
        path = self.document.path
        if impossible:
            many = len(impossible) > 1
            what = (
                f"{len(impossible)} links have inertias that no body has" if many else "a link has an inertia that no body has"
            )
            links = "; ".join(impossible)
            if self.strict:
                raise ModelError(
                    f"{path}: {what}: {links}; each moment has to be positive and at most the sum of the other two"
                )
            kept = "they are kept as in the file" if many else "it is kept as in the file"
            warnings.warn(f"{path}: {what}; {kept}: {links}", stacklevel=5)
            for one in impossible:
                self.report.depart(f"{one}: no body has such an inertia; it is kept as it is")
        if self.document.faults:
            warnings.warn(f"{path}: {'; '.join(self.document.faults)}", stacklevel=5)

    def find_idle(self) -> set[Body]:
        """Links that would move without moving any mass: they are welded to what carries them."""
        moves: dict[Body, bool] = {}
        idle: set[Body] = set()
        heavy: dict[Body | None, bool] = {}
        for branch in reversed(self.graph.branches):
            mass = self.masses[branch.body]
            own = mass.mass > 0.0 or bool(mass.central_inertia.any()) or heavy.get(branch.body, False)
            moves[branch.body] = own
            if own:
                heavy[branch.inboard] = True
        for branch in self.graph.branches:
            free = branch.edge is None and not is_static(branch.body)
            if not moves[branch.body] and (free or (branch.edge is not None and branch.edge.joint.type != "fixed")):
                idle.add(branch.body)
        if idle:
            names = ", ".join(sorted(repr(self.names[b]) for b in idle))
            warnings.warn(f"{self.document.path}: links that would move without any mass are welded: {names}", stacklevel=5)
            for b in sorted(idle, key=lambda b: self.names[b]):
                place = self.shorten(str(link_of(b).place))
                self.report.depart(f"{place}: link {self.names[b]!r} and what hangs on it have no mass; it is welded")
        return idle

    # Bodies

    def build(self, gravity: ArrayLike | None) -> Model:
        self.system = MultibodySystem()
        self.matter = SimbodyMatterSubsystem(self.system)
        self.forces = GeneralForceSubsystem(self.system)
        self.given: set[str] = set()
        self.constraints: dict[str, Constraint] = {}
        self.shadows: list[tuple[Body, MobilizedBody]] = []
        for branch in self.graph.branches:
            self.bodies[branch.body] = self.attach(branch)
        for edge in self.graph.loops:
            self.close(edge)
        g = gravity if gravity is not None else self.top.gravity if self.top.gravity is not None else _GRAVITY
        pull = force.Gravity(self.forces, self.matter, g)
        for b, mobod in [*self.bodies.items(), *self.shadows]:
            if not link_of(b).gravity:
                pull.set_default_body_is_excluded(mobod, True)
        joints = {self.scoped(scope, name): joint for scope in all_scopes(self.top) for name, joint in scope.joints.items()}
        touching = {self.names[b]: tuple(link_of(b).collisions) for b in self.bodies if link_of(b).collisions}
        model = Model(
            name=self.top.name,
            system=self.system,
            matter=self.matter,
            forces=self.forces,
            gravity=pull,
            bodies={self.names[b]: mobod for b, mobod in self.bodies.items()},
            coordinates=self.coordinate_names,
            speeds=self.speed_names,
            report=self.report,
            angles={one.name for one in self.coordinates if one.angular},
            frames=self.make_frames(),
            constraints=self.constraints,
            data={"joints": joints, "collisions": touching},
        )
        return model

    def body_of(self, b: Body) -> body.Body:
        mass, count = self.masses[b], self.parts[b]
        if count > 1:
            mass = LinkMass(mass.mass / count, mass.com, mass.central_inertia / count)
        return make_body(mass)

    def attach(self, branch: Branch) -> MobilizedBody:
        b = branch.body
        part, name = self.body_of(b), self.free_name(self.names[b])
        for visual in link_of(b).visuals:
            self.decorate(b, part, visual)
        inboard = self.matter.ground if branch.inboard is None else self.bodies[branch.inboard]
        if branch.edge is None:
            if is_static(b) or b in self.idle:
                return mobilizer.Weld(self.matter.ground, part, X_PF=self.X_W[b], name=name)
            mobod: MobilizedBody = mobilizer.Free(self.matter.ground, part, name=name)
            mobod.joint_name = self.names[b]
            mobod.set_default_q([*self.X_W[b].R.to_quaternion(), *self.X_W[b].p])
            self.name_coordinates(mobod, self.names[b], range(7), range(6))
            return mobod
        return self.join(branch.edge, b, inboard, branch.inboard, part, name, branch.reversed)

    def join(
        self, edge: Edge, b: Body, inboard: MobilizedBody, inboard_body: Body | None, part: body.Body, name: str, reverse: bool
    ) -> MobilizedBody:
        """Make the mobilizer of a joint, which carries body b."""
        joint = edge.joint
        X_WJ = self.frames.X_W(edge.scope, joint.name, joint.place)
        X_IJ = X_WJ if inboard_body is None else ~self.X_W[inboard_body] @ X_WJ
        X_BJ = ~self.X_W[b] @ X_WJ
        scoped = self.scoped(edge.scope, joint.name)
        direction = Direction.REVERSE if reverse else Direction.FORWARD
        kind = "fixed" if b in self.idle else joint.type
        if kind == "fixed":
            return mobilizer.Weld(inboard, part, X_PF=X_IJ, X_BM=X_BJ, name=name)
        if kind == "ball":
            mobod: MobilizedBody = mobilizer.Ball(inboard, part, X_PF=X_IJ, X_BM=X_BJ, direction=direction, name=name)
            mobod.joint_name = scoped
            self.name_coordinates(mobod, scoped, range(4), range(3))
            return mobod
        axes = [self.axis_in_joint(edge, axis, X_WJ) for axis in joint.axes]
        if kind in ("universal", "revolute2"):
            return self.join_twice(edge, axes, inboard, part, name, X_IJ, X_BJ, direction)
        which = 0 if kind == "prismatic" else 2
        A = Transform.trusted(rotation_taking(which, axes[0]), np.zeros(3))
        frames: dict[str, Any] = {"X_PF": X_IJ @ A, "X_BM": X_BJ @ A, "direction": direction, "name": name}
        if kind == "prismatic":
            mobod = mobilizer.Slider(inboard, part, **frames)
        elif kind == "screw":
            mobod = mobilizer.Screw(inboard, part, pitch=joint.screw_pitch / (2.0 * np.pi), **frames)
        else:
            mobod = mobilizer.Pin(inboard, part, **frames)
        mobod.joint_name = scoped
        if joint.rotor_inertia:
            mobod.set_default_rotor_inertia(joint.rotor_inertia)
        self.add_axis(edge, scoped, mobod, 0, joint.axes[0], kind != "prismatic")
        return mobod

    def join_twice(
        self,
        edge: Edge,
        axes: list[Array],
        inboard: MobilizedBody,
        part: body.Body,
        name: str,
        X_IJ: Transform,
        X_BJ: Transform,
        direction: Direction,
    ) -> MobilizedBody:
        """A joint of two axes: a universal one where these are at right angles, else two pins with nothing between them."""
        joint, scoped = edge.joint, self.scoped(edge.scope, edge.joint.name)
        first, second = axes
        across = np.cross(first, second)
        if np.linalg.norm(across) < 1e-6:
            raise ModelError(
                f"{joint.place}: joint {joint.name!r} has two axes in one direction, and so one coordinate too many"
            )
        if abs(float(first @ second)) < 1e-12:
            A = Transform.trusted(np.column_stack([first, second, across]), np.zeros(3))
            mobod: MobilizedBody = mobilizer.Universal(
                inboard, part, X_PF=X_IJ @ A, X_BM=X_BJ @ A, direction=direction, name=name
            )
            mobod.joint_name = scoped
            for which, axis in enumerate(joint.axes):
                self.add_axis(edge, f"{scoped}[{which}]", mobod, which, axis, True)
            return mobod
        A1, A2 = (Transform.trusted(rotation_taking(2, axis), np.zeros(3)) for axis in axes)
        between = self.free_name(f"{name} (between the axes of {scoped})")
        if direction is Direction.FORWARD:
            order = [(0, A1), (1, A2)]
        else:
            order = [(1, A2), (0, A1)]
        (here, A), (there, B) = order
        middle = mobilizer.Pin(inboard, body.Massless(), X_PF=X_IJ @ A, X_BM=A, direction=direction, name=between)
        mobod = mobilizer.Pin(middle, part, X_PF=B, X_BM=X_BJ @ B, direction=direction, name=name)
        middle.joint_name, mobod.joint_name = f"{scoped}[{here}]", f"{scoped}[{there}]"
        for which, one in ((here, middle), (there, mobod)):
            self.add_axis(edge, f"{scoped}[{which}]", one, 0, joint.axes[which], True)
        self.axes[(id(edge.scope), joint.name)].sort(key=lambda one: one.name)
        return mobod

    def axis_in_joint(self, edge: Edge, axis: Axis, X_WJ: Transform) -> Array:
        if not axis.expressed_in:
            return np.array(axis.xyz)
        R_WE = self.frames.X_W(edge.scope, axis.expressed_in, edge.joint.place).R.matrix
        turned: Array = X_WJ.R.matrix.T @ (R_WE @ np.array(axis.xyz))
        return turned

    def add_axis(self, edge: Edge, name: str, mobod: MobilizedBody, which: int, axis: Axis, angular: bool) -> None:
        for names in (self.coordinate_names, self.speed_names):
            if name in names:
                raise ModelError(f"{edge.joint.place}: two coordinates would be called {name!r}; rename a joint")
            names[name] = len(names)
        one = Coordinate(name, mobod, which, axis, edge.joint, angular)
        self.axes.setdefault((id(edge.scope), edge.joint.name), []).append(one)
        self.coordinates.append(one)
        if axis.initial_position:
            put_default(mobod, which, axis.initial_position)

    def name_coordinates(self, mobod: MobilizedBody, name: str, of_q: range, of_u: range) -> None:
        for names, numbers in ((self.coordinate_names, of_q), (self.speed_names, of_u)):
            for number in numbers:
                names[f"{name}[{number}]"] = len(names)

    # Loops

    def split_end(self, edge: Edge) -> Body:
        """The end of a joint that closes a loop whose link is split: the child's, unless it is a part of the world."""
        end = edge.parent if edge.child is None or is_static(edge.child) else edge.child
        assert end is not None
        return end

    def close(self, edge: Edge) -> None:
        joint, scoped = edge.joint, self.scoped(edge.scope, edge.joint.name)
        place = self.shorten(str(joint.place))
        X_WJ = self.frames.X_W(edge.scope, joint.name, joint.place)
        if joint.type == "fixed":
            ends = [
                (self.matter.ground, X_WJ) if b is None else (self.bodies[b], ~self.X_W[b] @ X_WJ)
                for b in (edge.parent, edge.child)
            ]
            (one, X1), (other, X2) = ends
            self.constraints[scoped] = constraint.Weld(one, X1, other, X2, name=scoped)
            self.report.append(f"{place}: joint {scoped!r} closes a loop: a weld, by a constraint")
            return
        b = self.split_end(edge)
        other_end = edge.parent if b == edge.child else edge.child
        inboard = self.matter.ground if other_end is None else self.bodies[other_end]
        name = self.free_name(f"{self.names[b]} ({scoped})")
        shadow = self.join(edge, b, inboard, other_end, self.body_of(b), name, b != edge.child)
        self.shadows.append((b, shadow))
        self.constraints[scoped] = constraint.Weld(self.bodies[b], Transform(), shadow, Transform(), name=scoped)
        self.report.append(
            f"{place}: joint {scoped!r} closes a loop: {self.names[b]!r} is in {self.parts[b]} parts, welded by constraints"
        )

    # What bodies look like, and frames on them

    def make_frames(self) -> dict[str, tuple[MobilizedBody, Transform]]:
        found = {}
        for scope in all_scopes(self.top):
            for frame in scope.frames.values():
                X_W = self.frames.X_W(scope, frame.name, frame.place)
                b = self.frames.body_of(scope, frame.name, frame.place)
                on = (self.matter.ground, X_W) if b is None else (self.bodies[b], ~self.X_W[b] @ X_W)
                found[self.scoped(scope, frame.name)] = on
        return found

    def decorate(self, b: Body, part: body.Body, visual: Shape) -> None:
        color, opacity = (None, 1.0) if visual.rgba is None else (visual.rgba[:3], visual.rgba[3])
        X = self.in_body(b, visual.pose, visual.place)
        looks: dict[str, Any] = {"color": color, "opacity": opacity}
        match visual.geometry:
            case Box(size) if min(size) > 0.0:
                part.add_decoration(decoration.Brick([0.5 * length for length in size], **looks), X)
            case Sphere(radius) if radius > 0.0:
                part.add_decoration(decoration.Sphere(radius, **looks), X)
            case Ellipsoid(radii) if min(radii) > 0.0:
                part.add_decoration(decoration.Ellipsoid(radii, **looks), X)
            case Cylinder(radius, length) | Capsule(radius, length) if min(radius, length) > 0.0:
                part.add_decoration(decoration.Cylinder(radius, 0.5 * length, **looks), X @ _ALONG_Z)
                if isinstance(visual.geometry, Capsule):
                    for end in (-0.5 * length, 0.5 * length):
                        part.add_decoration(decoration.Sphere(radius, **looks), X @ Transform((0.0, 0.0, end)))
            case Cone(radius, length) if min(radius, length) > 0.0:
                part.add_decoration(decoration.Cone((0.0, 0.0, -0.5 * length), (0.0, 0.0, 1.0), length, radius, **looks), X)
            case Plane(normal, size) if any(normal) and min(size) > 0.0:
                turned = Rotation(rotation_taking(2, np.array(normal) / np.linalg.norm(normal)))
                part.add_decoration(decoration.geometry.Plane(0.5 * max(size), **looks), X @ Transform(turned))
            case Mesh(filename, scale) if all(scale):
                if os.path.isfile(filename):
                    part.add_decoration(decoration.MeshFile(filename, scale=scale, **looks), X)
                elif self.strict:
                    raise ModelError(f"{visual.place}: there is no mesh file {filename!r}; package_dirs says where models are")
                else:
                    self.report.append(
                        f"{self.shorten(str(visual.place))}: there is no mesh file {filename!r}; it is not drawn"
                    )

    # Forces and couplings

    def add_forces(
        self,
        model: Model,
        damping: bool,
        limits: bool,
        friction: bool | None,
        stiffness: float | None,
        dissipation: float | None,
    ) -> None:
        weights = self.weigh() if limits else {}
        for one in self.coordinates:
            axis, name = one.axis, one.name
            if axis.lower < axis.upper and (np.isfinite(axis.lower) or np.isfinite(axis.upper)):
                model.ranges[name] = float(axis.lower), float(axis.upper)
            if axis.spring_stiffness > 0.0:
                model.springs[name] = force.MobilityLinearSpring(
                    self.forces, one.mobod, one.which, axis.spring_stiffness, axis.spring_reference, name=f"spring of {name}"
                )
            if damping and axis.damping > 0.0:
                model.dampers[name] = force.MobilityLinearDamper(
                    self.forces, one.mobod, one.which, axis.damping, name=f"damping of {name}"
                )
            if friction and axis.friction > 0.0:
                deflection = _SLIP_ANGLE if one.angular else _SLIP_LENGTH
                model.frictions[name] = force.MobilityDryFriction(
                    self.forces, one.mobod, one.which, axis.friction, deflection=deflection, name=f"friction of {name}"
                )
            if limits and (np.isfinite(axis.lower) or np.isfinite(axis.upper)):
                if not axis.lower < axis.upper:
                    place = self.shorten(str(one.joint.place))
                    self.report.depart(f"{place}: {name!r} has limits that leave nothing between them, and has no stop")
                    continue
                effort = (
                    axis.effort
                    if np.isfinite(axis.effort) and axis.effort > 0.0
                    else weights[one.mobod.index] * (ARM if one.angular else 1.0)
                )
                k = axis.stiffness if axis.stiffness is not None else effort / (_YIELD_ANGLE if one.angular else _YIELD_LENGTH)
                c = axis.dissipation if axis.dissipation is not None else 1.0
                model.stops[name] = force.MobilityLinearStop(
                    self.forces,
                    one.mobod,
                    one.which,
                    k if stiffness is None else stiffness,
                    c if dissipation is None else dissipation,
                    axis.lower,
                    axis.upper,
                    name=f"stop of {name}",
                )
        for what, number in (
            ("springs", len(model.springs)),
            ("damping", len(model.dampers)),
            ("friction", len(model.frictions)),
        ):
            if number:
                self.report.append(f"{what} of {plural(number, 'axis', 'axes')}: simulated")
        if model.stops:
            self.report.append(f"limits of {plural(len(model.stops), 'axis', 'axes')}: simulated, as compliant stops")
        kept = {
            "damping": 0 if damping else sum(one.axis.damping > 0.0 for one in self.coordinates),
            "friction": 0 if friction else sum(one.axis.friction > 0.0 for one in self.coordinates),
            "limits": 0 if limits else sum(bool(np.isfinite([o.axis.lower, o.axis.upper]).any()) for o in self.coordinates),
        }
        for what, n in kept.items():
            line = f"{what} of {plural(n, 'axis', 'axes')}: kept as data, not simulated"
            if n and what == "friction" and friction is None:
                self.report.lose(line, "axes with friction, which is left out", n, "joint_friction=True")
            elif n:
                self.report.append(f"{line}, as was asked")

    def weigh(self) -> dict[int, float]:
        """The weight of each body and all that hangs on it, by the body's index."""
        masses: dict[int, float] = {}
        for mobod in reversed(list(self.matter.bodies[1:])):
            index = mobod.index
            masses[index] = masses.get(index, 0.0) + mobod.body.get_default_rigid_body_mass_properties().mass
            parent = 0 if mobod.parent is None else mobod.parent.index
            masses[parent] = masses.get(parent, 0.0) + masses[index]
        return {index: GRAVITY * mass for index, mass in masses.items()}

    def couple(self, model: Model) -> None:
        """Make a constraint of each axis that mimics another."""
        for one in self.coordinates:
            mimic = one.axis.mimic
            if mimic is None:
                continue
            place = self.shorten(str(one.joint.place))
            leaders = self.find_axes(one, mimic.joint)
            if mimic.axis >= len(leaders) or leaders[mimic.axis] is one:
                self.report.lose(
                    f"{place}: {one.name!r} mimics {mimic.joint!r} in vain: that has no such axis that moves",
                    "axes that mimic in vain",
                )
                continue
            leader = leaders[mimic.axis]
            constant = mimic.offset - mimic.multiplier * mimic.reference
            function = Linear([1.0, -mimic.multiplier, -constant])
            pair, which = [one.mobod, leader.mobod], [one.which, leader.which]
            model.constraints[one.name] = constraint.CoordinateCoupler(
                self.matter, function, pair, which, name=f"mimic of {one.name}"
            )
            put_default(one.mobod, one.which, mimic.multiplier * get_default(leader.mobod, leader.which) + constant)

    def find_axes(self, one: Coordinate, name: str) -> list[Coordinate]:
        for scope in all_scopes(self.top):
            if scope.joints.get(one.joint.name) is one.joint:
                words = name.split("::")
                for word in words[:-1]:
                    scope = scope.models.get(word, scope)
                return self.axes.get((id(scope), words[-1]), [])
        return []

    def put_inside(self, model: Model) -> None:
        """Start axes that are outside their limits at these: a stop would throw them out with a bang."""
        for one in self.coordinates:
            if one.name not in model.stops or one.name in model.constraints:
                continue
            q = get_default(one.mobod, one.which)
            inside = min(max(q, one.axis.lower), one.axis.upper)
            if inside != q:
                put_default(one.mobod, one.which, inside)
                bounds = f"{one.axis.lower:g} to {one.axis.upper:g}"
                self.report.depart(f"joint {one.name!r} starts at its limit, {inside:g}: {q:g} is outside ({bounds})")


#: SDF's cylinders are along z, decorations' along y.
_ALONG_Z = Transform(Rotation(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])))


def get_default(mobod: MobilizedBody, which: int) -> float:
    """A coordinate in new states."""
    return float(np.atleast_1d(mobod.get_default_q())[which])


def put_default(mobod: MobilizedBody, which: int, value: float) -> None:
    """Set a coordinate in new states."""
    q = np.atleast_1d(mobod.get_default_q()).copy()
    q[which] = value
    mobod.set_default_q(q)
