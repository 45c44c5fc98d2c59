"""From a URDF file to a multibody system.

A URDF joint becomes a mobilizer whose frames F and M are turned so that the mobilizer's own axis
lies along the joint's: with A the rotation that takes z (x for a slider) to the joint's axis, and
X_PJ the joint's origin,

    X_PF = X_PJ A    X_BM = A    hence    X_PB = X_PJ A X_FM(q) ~A,

which is the joint's origin at q = 0, as URDF wants it: a child link's frame is its joint's.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ... import body, constraint, decoration, force, mobilizer
from ...algebra.arrays import Array
from ...errors import ModelError
from ...force.subsystem import GeneralForceSubsystem
from ...function import Linear
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ...value import Transform, checks
from ...value.attributes import named_arguments
from ..mesh_files import MeshFinder, check_package_dirs
from ..model import Model
from ..parts import LinkMass, make_body, plural, rotation_taking
from ..report import Report
from .document import NUM_Q, NUM_U, Box, Cylinder, Joint, Mesh, Sphere, UrdfDocument, Visual
from .forces import add_dampers, add_frictions, add_stops, find_bounds
from .mass import calc_link_masses, rotation_matrix
from .massless import find_idle_joints
from .reader import read_urdf
from .tree import UrdfTree, build_tree

if TYPE_CHECKING:
    from ... import contact

_MOBILIZERS: dict[str, type[MobilizedBody]] = {
    "revolute": mobilizer.Pin,
    "continuous": mobilizer.Pin,
    "prismatic": mobilizer.Slider,
    "fixed": mobilizer.Weld,
    "floating": mobilizer.Free,
    "planar": mobilizer.Planar,
    "spherical": mobilizer.Ball,  # of Bullet's and other readers, not of the format
}


@named_arguments
def load_urdf(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    strict: bool = False,
    package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    joint_damping: bool = True,
    joint_limits: bool = True,
    joint_friction: bool | None = None,
    stop_stiffness: float | None = None,
    stop_dissipation: float = 1.0,
    mimic: bool = True,
    collision: bool = False,
    collision_material: contact.Material | None = None,
    link_materials: Mapping[str, contact.Material] | None = None,
    collision_meshes: str = "hull",
    exclude_overlapping: bool = True,
) -> Model:
    """Build a multibody system from a URDF file.

    Every link becomes a body with its origin at the link's frame, named after the link; links are
    numbered depth first, in the order of the file.

    Parameters
    ----------
    path : str or path-like
        The file, plain URDF (of a xacro file, what `xacro` makes of it).
    floating_base : bool, default: False
        Whether the root link is free to move; it is welded to Ground otherwise.
    gravity : (3,) array_like, default: (0, 0, -9.81)
        Acceleration of free fall in Ground, length/time^2. URDF files have none.
    strict : bool, default: False
        Whether what is wrong with the file, and put up with otherwise, is an error: inertias that no body has, missing mesh
        files, an ``<inertial>`` without ``<mass>``, a mesh's scale of four numbers, blank lines before the XML declaration;
        and all else that is approximated or left out.
    package_dirs : path or sequence of paths, optional
        Folders in which ``package://NAME/...`` is looked for first, each the package's own or one that holds it. Then come the
        folders above the file, and those of the environment's ``ROS_PACKAGE_PATH`` and ``AMENT_PREFIX_PATH``.
    joint_damping : bool, default: True
        Whether joints with ``<dynamics damping="...">`` have a `force.MobilityLinearDamper`. Without it, and without stops,
        what moves is the bare mechanism, which gravity alone pulls at.
    joint_limits : bool, default: True
        Whether revolute and prismatic joints with limits have a `force.MobilityLinearStop`. One that zero is outside of is at
        its limit in `Model.default_state`.
    joint_friction : bool, optional
        Whether joints with ``<dynamics friction="...">`` have a `force.MobilityDryFriction`. Unless given they do not, and a
        warning says so.
    stop_stiffness : float, optional
        Of all stops, force*length/angle or force/length. Unless given, such that a stop gives way to the joint's greatest
        effort by 0.02 rad or 2 mm.
    stop_dissipation : float, default: 1
        Of all stops, see `force.MobilityLinearStop`; 1 loses most of the energy of an impact at a few rad/s.
    mimic : bool, default: True
        Whether joints that mimic others are coupled to them, each by a `constraint.CoordinateCoupler` that is
        named after it. Else all joints are independent, and mimicry is data.
    collision : bool, default: False
        Whether links touch each other, and what else there is: their collision shapes (boxes, cylinders, spheres, meshes,
        and capsules, which are not of the format) become contact surfaces, and the system has a `CompliantContactSubsystem`,
        found in `Model.contacts`. Links that a joint connects do not touch, nor does what is fixed to these.
    collision_material : contact.Material, optional
        Of all surfaces; a rubber unless given, see `importer.urdf.collisions.MATERIAL`.
    link_materials : dict of str to contact.Material, optional
        Of some links' surfaces, by the name of the link.
    collision_meshes : {"hull", "mesh", "none"}
        What becomes of collision meshes: their convex hulls, the meshes themselves, or nothing.
    exclude_overlapping : bool, default: True
        Whether links whose surfaces overlap at the default pose are told not to touch; the report names them.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file is broken, or describes something that cannot be. The message starts with the path
        and the line. Or *link_materials* has a link, or *collision_meshes* a word, that is not known.
    TypeError
        If what should be a contact material is none.

    Warns
    -----
    UserWarning
        Joints that move no mass, such as those of massless leaves, have no equation of motion; they
        are welded. Inertias that no body has (a principal moment above the sum of the other two, by more than 1 %) are
        used as they are; one warning names all links that have them. One more names all other faults of the file.
    ModelWarning
        If the file says what moves the model and is not simulated: once, with counts and options.

    Notes
    -----
    Limits, damping and friction are in `Model.joints` as data too, transmissions in ``Model.data["transmissions"]``. What these
    say of rotors (``<drake:rotor_inertia>`` and ``<drake:gear_ratio>``, or ``<mechanicalReduction>``) is in the mass matrix: a
    joint with one actuator has its rotor's inertia times the square of the reduction.

    A link without mass is welded only if dynamics asks for it: inside a chain, as in a ball joint
    made of three hinges, it needs none. One with an inertia and no mass keeps it, counted with the link to which it is
    fixed; where it can move, a mass of a millionth of a millionth of its inertia stands for none.

    Meshes are drawn (STL, OBJ, DAE, VTP, and what trimesh reads), in the colours of the URDF file, or else their own.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> model = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    >>> list(model.coordinates)[:2]
    ['panda_joint1', 'panda_joint2']
    >>> state = model.default_state()
    >>> state.upd_q()[model.coordinates["panda_joint4"]] = -2.0
    """
    checks.flags(
        "load_urdf",
        floating_base=floating_base,
        strict=strict,
        joint_damping=joint_damping,
        joint_limits=joint_limits,
        joint_friction=bool(joint_friction) if joint_friction is None else joint_friction,
        mimic=mimic,
        collision=collision,
        exclude_overlapping=exclude_overlapping,
    )
    document = read_urdf(path, collisions=bool(collision), strict=bool(strict))
    finder = MeshFinder(path, check_package_dirs(package_dirs))
    materials: dict[str, contact.Material] = {}
    if collision:
        from . import collisions

        collisions.check_meshes(collision_meshes)
        materials = collisions.check_materials(collision_material, link_materials, document.links)
    tree = build_tree(document)
    masses, mass_notes, impossible = calc_link_masses(document, tree)
    odd = _put_up_with(document, impossible, bool(strict))
    idle, base_moves_mass = find_idle_joints(tree, masses)
    if floating_base and not base_moves_mass:
        raise ModelError(
            f"{document.path}:{document.links[tree.root].line}: the base cannot float: the "
            f"root link {tree.root!r} has too little mass of its own, so that joints take up some "
            "of its motions at no effort; give it an <inertial>, or fix it to a link that has one"
        )
    if idle:
        names = ", ".join(repr(joint.name) for joint in idle)
        warnings.warn(f"{document.path}: joints that move no mass are welded: {names}", stacklevel=3)
    report = Report([*document.notes, *mass_notes])
    for line in odd:
        report.depart(line)
    _report_joints(report, document, idle, joint_damping, joint_limits, joint_friction)
    _report_mimicry(report, document, idle, mimic)
    report += _notes_on_meshes(document, finder, bool(strict))
    built = _Builder(document, tree, masses, {joint.name for joint in idle}, finder)
    model = built.build(floating_base, gravity, report, mimic, joint_limits)
    moving = {joint.name: model.bodies[link] for link, joint in tree.moving_order if joint.name in model.coordinates}
    _add_rotors(report, document, moving)
    if joint_damping:
        model.dampers |= add_dampers(model.forces, document.joints, moving)
        if model.dampers:
            model.report.append(f"damping of {plural(len(model.dampers), 'joint', 'joints')}: simulated")
    if joint_friction:
        model.frictions |= add_frictions(model.forces, document.joints, moving)
        if model.frictions:
            model.report.append(f"friction of {plural(len(model.frictions), 'joint', 'joints')}: simulated")
    if joint_limits:
        stops, notes = add_stops(model.forces, document.joints, moving, stop_stiffness, stop_dissipation)
        model.stops |= stops
        if stops:
            model.report.append(f"limits of {plural(len(stops), 'joint', 'joints')}: simulated, as compliant stops")
        for line in notes:
            report.depart(line)
    if collision:
        welded = {joint.name for joint in idle}
        model.report += collisions.add_surfaces(
            model, document, welded, materials, collision_meshes, bool(exclude_overlapping), finder
        )
    report.finish(document.path, bool(strict))
    return model


def _add_rotors(report: Report, document: UrdfDocument, moving: Mapping[str, MobilizedBody]) -> None:
    """Add what transmissions say of rotors to the inertia of joints of one coordinate."""
    inertias: dict[str, float] = {}
    for transmission in document.transmissions.values():
        reflected = sum(actuator.rotor_inertia * actuator.reduction**2 for actuator in transmission.actuators)
        if reflected == 0.0:
            continue
        joint = transmission.joints[0] if len(transmission.joints) == 1 else ""
        if joint not in moving or moving[joint].facts.num_u != 1:
            report.depart(
                f"line {transmission.line}: the rotors of transmission {transmission.name!r} are left out: it is not of one "
                "joint that moves about or along one axis"
            )
            continue
        inertias[joint] = inertias.get(joint, 0.0) + reflected
    for name, inertia in inertias.items():
        moving[name].set_default_rotor_inertia(inertia)
    if inertias:
        report.append(f"rotors of {plural(len(inertias), 'joint', 'joints')}: in the mass matrix")


def _put_up_with(document: UrdfDocument, impossible: list[str], strict: bool) -> list[str]:
    """Warn of inertias that no body has, and of what else is wrong with the file; what there is to report on the former."""
    level = 4  # of whoever calls load_urdf, which is wrapped
    if impossible:
        links = "; ".join(impossible)
        rule = "each has to be positive and at most the sum of the other two"
        many = len(impossible) > 1
        what = f"{len(impossible)} links have inertias that no body has" if many else "a link has an inertia that no body has"
        if strict:
            raise ModelError(f"{document.path}: {what}: {links}; {rule}")
        warnings.warn(
            f"{document.path}: {what}; {'they are' if many else 'it is'} kept as in the file: {links}", stacklevel=level
        )
    if document.faults:
        warnings.warn(f"{document.path}: {'; '.join(document.faults)}", stacklevel=level)
    return [f"{one}: no body has such an inertia; it is kept as it is" for one in impossible]


def _report_joints(
    report: Report, document: UrdfDocument, idle: list[Joint], damping: bool, limits: bool, friction: bool | None
) -> None:
    for joint in idle:
        report.depart(
            f"line {joint.line}: joint {joint.name!r} moves no mass ({joint.child!r} and what hangs "
            "on it do not resist it) and is welded"
        )
    welded = {joint.name for joint in idle}
    movable = [joint for joint in document.joints.values() if joint.type != "fixed" and joint.name not in welded]
    for what, count in (
        ("limits", 0 if limits else sum(joint.limit is not None for joint in movable)),
        ("damping", 0 if damping else sum(joint.dynamics.damping > 0.0 for joint in movable)),
        ("friction", 0 if friction else sum(joint.dynamics.friction > 0.0 for joint in movable)),
    ):
        line = f"{what} of {plural(count, 'joint', 'joints')}: kept as data, not simulated"
        if count and what == "friction" and friction is None:
            report.lose(line, "joints with friction, which is left out", count, "joint_friction=True")
        elif count:
            report.append(f"{line}, as was asked")


#: Joints of one coordinate, which is what mimicry is about.
_OF_ONE = ("revolute", "continuous", "prismatic")


def _mimics(document: UrdfDocument, joint: Joint, welded: set[str]) -> bool:
    """Whether a joint that mimics another can be coupled to it."""
    return joint.mimic is not None and all(
        one.type in _OF_ONE and one.name not in welded for one in (joint, document.joints[joint.mimic.joint])
    )


def _report_mimicry(report: Report, document: UrdfDocument, idle: list[Joint], mimic: bool) -> None:
    welded = {joint.name for joint in idle}
    mimicking = [joint for joint in document.joints.values() if joint.mimic is not None]
    if mimicking and not mimic:
        report.append(f"mimicry of {plural(len(mimicking), 'joint', 'joints')}: kept as data, not simulated, as was asked")
        return
    coupled = [joint for joint in mimicking if _mimics(document, joint, welded)]
    if coupled:
        each = "a constraint" if len(coupled) == 1 else "a constraint each"
        report.append(f"mimicry of {plural(len(coupled), 'joint', 'joints')}: {each}")
    for joint in mimicking:
        if joint in coupled or joint.mimic is None:
            continue
        other = document.joints[joint.mimic.joint]
        if joint.type == "fixed" or joint.name in welded:
            why = "it cannot move"
        elif joint.type in _OF_ONE and (other.type == "fixed" or other.name in welded):
            why = f"{other.name!r} cannot move; it is held where that is at zero"
        else:
            why = "only joints of one coordinate can be coupled"
        line = f"line {joint.line}: joint {joint.name!r} mimics {other.name!r} in vain: {why}"
        report.lose(line, "joints that mimic in vain")


def _notes_on_meshes(document: UrdfDocument, finder: MeshFinder, strict: bool) -> list[str]:
    """Say which meshes to draw are not there, once each."""
    missing: dict[str, list[int]] = {}
    for link in document.links.values():
        for visual in link.visuals:
            if isinstance(visual.geometry, Mesh) and finder.find(visual.geometry.filename) is None:
                missing.setdefault(visual.geometry.filename, []).append(visual.line)
    if missing and strict:
        name, lines = next(iter(missing.items()))
        raise ModelError(f"{document.path}:{lines[0]}: there is no mesh file {name!r}; package_dirs says where packages are")
    return [
        f"line {lines[0]}: there is no mesh file {name!r}; it is not drawn"
        + (f" ({len(lines)} times)" if len(lines) > 1 else "")
        for name, lines in missing.items()
    ]


class _Builder:
    """Makes the bodies of one file, parents first."""

    def __init__(
        self, document: UrdfDocument, tree: UrdfTree, masses: dict[str, LinkMass], welded: set[str], finder: MeshFinder
    ) -> None:
        self.finder = finder
        self.document = document
        self.tree = tree
        self.masses = masses
        self.welded = welded
        self.system = MultibodySystem()
        self.matter = SimbodyMatterSubsystem(self.system)
        self.forces = GeneralForceSubsystem(self.system)
        self.bodies: dict[str, MobilizedBody] = {}
        self.coordinates: dict[str, int] = {}
        self.speeds: dict[str, int] = {}

    def build(self, floating_base: bool, gravity: ArrayLike, report: list[str], mimic: bool, limits: bool) -> Model:
        root = self.tree.root
        kind = mobilizer.Free if floating_base else mobilizer.Weld
        self.bodies[root] = kind(self.matter.ground, self.body_of(root), name=self.body_name(root))
        self.bodies[root].joint_name = root
        if floating_base:
            self.name_coordinates(root, "floating")
        for link, joint in self.tree.moving_order:
            self.bodies[link] = self.mobilize(link, joint)
            self.bodies[link].joint_name = joint.name
            if joint.name not in self.welded:
                self.name_coordinates(joint.name, joint.type)
        if limits:
            report += self.put_inside(mimic)
        if mimic:
            self.couple()
        return Model(
            name=self.document.name,
            system=self.system,
            matter=self.matter,
            forces=self.forces,
            gravity=force.Gravity(self.forces, self.matter, gravity),
            bodies=self.bodies,
            coordinates=self.coordinates,
            speeds=self.speeds,
            links=self.document.links,
            joints=self.document.joints,
            angles={
                name
                for name in self.coordinates
                if (of := self.document.joints.get(name)) and of.type in ("revolute", "continuous")
            },
            ranges=self.find_ranges(),
            data={"transmissions": self.document.transmissions} if self.document.transmissions else {},
            root=root,
            report=report,
        )

    def body_of(self, link: str) -> body.Body:
        mass = self.masses[link]
        part = make_body(mass)
        for visual in self.document.links[link].visuals:
            shape = _decoration_of(visual, self.finder)
            if shape is not None:
                R = rotation_matrix(visual.origin.rpy)
                if isinstance(visual.geometry, Cylinder):
                    R = R @ _Y_TO_Z
                part.add_decoration(shape, _transform(R, np.array(visual.origin.xyz)))
        return part

    def body_name(self, link: str) -> str:
        """Return the link's name, or one near it if Ground has that already."""
        name = link
        while name == self.matter.ground.name or (name != link and name in self.document.links):
            name += "_link"
        return name

    def mobilize(self, link: str, joint: Joint) -> MobilizedBody:
        parent = self.bodies[joint.parent]
        part, name = self.body_of(link), self.body_name(link)
        R_PJ, p_PJ = rotation_matrix(joint.origin.rpy), np.array(joint.origin.xyz)
        kind = mobilizer.Weld if joint.name in self.welded else _MOBILIZERS[joint.type]
        if kind in (mobilizer.Weld, mobilizer.Free, mobilizer.Ball):  # which have no axis
            return kind(parent, part, X_PF=_transform(R_PJ, p_PJ), name=name)
        A = rotation_taking(0 if kind is mobilizer.Slider else 2, np.array(joint.axis))
        X_PF, X_BM = _transform(R_PJ @ A, p_PJ), _transform(A, np.zeros(3))
        return kind(parent, part, X_PF=X_PF, X_BM=X_BM, name=name)

    def put_inside(self, mimic: bool) -> list[str]:
        """Start joints that have zero outside their limits at these, lest stops throw them out with a bang; what to report."""
        notes = []
        for joint in self.document.joints.values():
            if (mimic and joint.mimic is not None) or joint.name in self.welded:
                continue
            low, high = find_bounds(joint)
            if low < high and not low <= 0.0 <= high:
                inside = low if low > 0.0 else high
                self.bodies[joint.child].set_default_q([inside])
                notes.append(f"joint {joint.name!r} starts at its limit, {inside:g}: zero is outside ({low:g} to {high:g})")
        return notes

    def find_ranges(self) -> dict[str, tuple[float, float]]:
        """What the file says of coordinates, whether stops keep them there or not."""
        bounds = {name: find_bounds(self.document.joints[name]) for name in self.coordinates if name in self.document.joints}
        return {name: (low, high) for name, (low, high) in bounds.items() if low < high and (low, high) != (-np.inf, np.inf)}

    def couple(self) -> None:
        """Make a constraint of each joint that mimics another: q = multiplier * (the other's q) + offset."""
        for joint in self.document.joints.values():
            if joint.mimic is None or joint.type not in _OF_ONE or joint.name in self.welded:
                continue
            other, own = self.document.joints[joint.mimic.joint], self.bodies[joint.child]
            if _mimics(self.document, joint, self.welded):
                function = Linear([1.0, -joint.mimic.multiplier, -joint.mimic.offset])
                pair = [own, self.bodies[other.child]]
                constraint.CoordinateCoupler(self.matter, function, pair, [0, 0], name=joint.name)
            elif other.type == "fixed" or other.name in self.welded:
                constraint.ConstantCoordinate(own, 0, joint.mimic.offset, name=joint.name)
            else:
                continue
            own.set_default_q([self.where_mimicked(joint)])

    def where_mimicked(self, joint: Joint) -> float:
        """Return the coordinate of a joint where all that mimic none are at their defaults; mimicry has no loops."""
        row = []
        while joint.mimic is not None and joint.name not in self.welded and joint.type in _OF_ONE:
            row.append(joint.mimic)
            joint = self.document.joints[joint.mimic.joint]
        one = joint.type in _OF_ONE and joint.name not in self.welded
        where = float(self.bodies[joint.child].get_default_q()) if one else 0.0
        for mimic in reversed(row):
            where = mimic.multiplier * where + mimic.offset
        return where

    def name_coordinates(self, name: str, kind: str) -> None:
        for names, count in ((self.coordinates, NUM_Q[kind]), (self.speeds, NUM_U[kind])):
            for number in range(count):
                own = name if count == 1 else f"{name}[{number}]"
                if own in names:
                    raise ModelError(f"{self.document.path}: two coordinates would be called {own!r}; rename a joint")
                names[own] = len(names)


def _transform(R: Array, p: Array) -> Transform:
    """Return the transform of a matrix that is a rotation by its making, and a location."""
    return Transform.trusted(R, p)


# URDF's cylinders are along z, decorations' along y
_Y_TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def _decoration_of(visual: Visual, finder: MeshFinder) -> decoration.Decoration | None:
    """Return what to draw: nothing for a mesh whose file is not there, or a size of zero."""
    color, opacity = (None, 1.0) if visual.rgba is None else (visual.rgba[:3], visual.rgba[3])
    match visual.geometry:
        case Box(size) if min(size) > 0.0:
            half_lengths = tuple(0.5 * length for length in size)
            return decoration.Brick(half_lengths, color=color, opacity=opacity)
        case Cylinder(radius, length) if min(radius, length) > 0.0:
            return decoration.Cylinder(radius, 0.5 * length, color=color, opacity=opacity)
        case Sphere(radius) if radius > 0.0:
            return decoration.Sphere(radius, color=color, opacity=opacity)
        case Mesh(filename, scale) if all(scale) and (found := finder.find(filename)) is not None:
            return decoration.MeshFile(found, color=color, opacity=opacity, scale=scale)
        case _:
            return None
