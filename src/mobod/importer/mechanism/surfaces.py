"""Surfaces of contact from collision shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ... import contact
from ...decoration.mesh_file import read_mesh
from ...errors import ModelError
from ...force.contact.subsystem import CompliantContactSubsystem
from ...value.checks import all_known, among
from ...value.stage import Stage
from ..mesh_files import MeshFinder
from ..model import Model
from ..parts import plural
from .description import Mechanism
from .options import Options
from .order import Order
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere

MATERIAL = contact.Material(stiffness=1e7, dissipation=1.0, static_friction=0.8, dynamic_friction=0.6)
"""Material of surfaces unless it is said: a robot's 350 N sink a foot's sphere of 5 cm in by 5 mm."""

MESHES = ("hull", "mesh", "none")
"""Choices of what collision meshes become."""


def check_materials(material: Any, materials: Mapping[str, Any] | None, links: Mapping[str, Any]) -> dict[str, Any]:
    """The material of each link.

    Raises
    ------
    TypeError
        If one is no Material.
    ModelError
        If there is no such link.
    """
    given = {name: MATERIAL if material is None else material for name in links}
    all_known("link_materials: there is no link", materials or {}, links, ModelError)
    given |= materials or {}
    for name, one in given.items():
        if not isinstance(one, contact.Material):
            what = f"link_materials[{name!r}]" if name in (materials or {}) else "collision_material"
            raise TypeError(f"{what} has to be a contact.Material(stiffness, ...), not {one!r}")
    return given


def check_meshes(meshes: str) -> str:
    """Check the choice of what becomes of meshes; ModelError where it is none of `MESHES`."""
    among("collision_meshes", meshes, MESHES, ModelError)
    return meshes


def add_surfaces(
    model: Model,
    mechanism: Mechanism,
    order: Order,
    welded: set[str],
    materials: Mapping[str, contact.Material],
    options: Options,
    finder: MeshFinder,
) -> None:
    """Give bodies the surfaces of their links' collision shapes, and the system contacts; say what became of them."""
    model.contacts = CompliantContactSubsystem(model.system)
    notes: list[str] = []
    count = 0
    for branch in order.branches:
        name, mobod = branch.link, model.bodies[branch.link]
        # a body that is drawn already keeps its looks
        draws = not mobod.body.decorations
        for collision in mechanism.links[name].collisions:
            where = f"{collision.place}: a collision shape of {name!r}"
            shape = shape_of(collision.geometry, finder, options.collision_meshes, notes.append, where)
            if shape is not None:
                surface = contact.Surface(shape, materials[name], name=collision.name, draws=draws)
                mobod.add_contact_surface(surface, collision.X)
                count += 1
    if not count:
        mechanism.report += [*notes, "no link has a collision shape that is known"]
        return
    _exclude_neighbours(model, mechanism, order, welded)
    mechanism.report += [f"{plural(count, 'collision shape', 'collision shapes')}: surfaces of contact", *notes]
    if options.exclude_overlapping:
        mechanism.report += exclude_overlapping_bodies(model)


def shape_of(
    geometry: Geometry, finder: MeshFinder, meshes: str, note: Callable[[str], None], where: str
) -> contact.Shape | None:
    """The shape of contact; None, with a note, where there is none."""
    match geometry:
        case Box(size) if min(size) > 0.0:
            return contact.Brick([0.5 * length for length in size])
        case Cylinder(radius, length) if min(radius, length) > 0.0:
            return contact.Cylinder(radius, 0.5 * length)
        case Capsule(radius, length) if min(radius, length) > 0.0:
            return contact.Capsule(radius, 0.5 * length)
        case Sphere(radius) if radius > 0.0:
            return contact.Sphere(radius)
        case Mesh(filename, scale) if meshes != "none":
            found = finder.find(filename)
            if found is None:
                note(f"{where} is left out: there is no file {filename!r}")
                return None
            try:
                vertices, faces = read_mesh(found)
                vertices = vertices * np.array(scale)
                if meshes == "hull":
                    return contact.ConvexHull(vertices)
                if np.prod(scale) < 0.0:  # a mirror turns the mesh inside out
                    faces = faces[:, ::-1]
                kind: Any = getattr(contact, "TriangleMesh")  # noqa: B009
                return kind(vertices, faces)
            except (ImportError, OSError, ValueError, AttributeError) as error:
                note(f"{where} is left out: {filename!r} cannot be used: {error}")
                return None
        case Ellipsoid(radii) if min(radii) > 0.0:
            return contact.Ellipsoid(radii)
        case Plane(normal, _) if any(normal):
            return contact.HalfSpace(normal)
        case Cone():
            note(f"{where} is left out: it is a cone")
        case Mesh():
            note(f"{where} is left out: it is a mesh")
        case _:
            note(f"{where} is left out: it has a size of zero")
    return None


def _exclude_neighbours(model: Model, mechanism: Mechanism, order: Order, welded: set[str]) -> None:
    """Bodies that cannot move against each other, those that a joint connects, and those of one group do not touch."""
    links = mechanism.links
    rigid = {name: name for name in links}  # of links that are rigid together, the one that stands for all

    def of(link: str) -> str:
        while rigid[link] != link:
            link = rigid[link]
        return link

    moving, still = [], set()
    for branch in order.branches:
        is_rigid = branch.link in welded or (branch.joint is None and links[branch.link].static)
        is_rigid = is_rigid or (branch.joint is not None and branch.joint.kind == "fixed")
        if is_rigid and branch.inboard is None:
            still.add(branch.link)
        elif is_rigid and branch.inboard is not None:
            rigid[of(branch.link)] = of(branch.inboard)
        elif branch.inboard is not None:
            moving.append((branch.link, branch.inboard))
    moving += [(joint.parent, joint.child) for joint in order.loops if joint.parent is not None and joint.child is not None]
    near = {frozenset((of(one), of(other))) for one, other in moving}
    fixed = {of(name) for name in still}
    contacts = model.contacts
    assert contacts is not None
    touching = [name for name in links if model.bodies[name].body.contact_surfaces]
    for one, other in combinations(touching, 2):
        a, b, group = of(one), of(other), links[one].group
        if a == b or frozenset((a, b)) in near or {a, b} <= fixed or (group and group == links[other].group):
            contacts.exclude(model.bodies[one], model.bodies[other])
    for name in touching:
        if of(name) in fixed:
            contacts.exclude(model.matter.ground, model.bodies[name])


def exclude_overlapping_bodies(model: Model) -> list[str]:
    """Bodies that overlap at the default pose do not touch: their shapes are larger than they are."""
    contacts = model.contacts
    assert contacts is not None
    state = model.default_state()
    model.system.realize(state, Stage.VELOCITY)
    rows = contacts.get_contacts(state)
    deepest: dict[tuple[int, int], float] = {}
    for body1, body2, depth in zip(rows["body1"].tolist(), rows["body2"].tolist(), rows["depth"].tolist(), strict=True):
        pair = min(body1, body2), max(body1, body2)
        deepest[pair] = max(deepest.get(pair, 0.0), depth)
    notes, bodies = [], model.matter.bodies
    for (body1, body2), depth in deepest.items():
        contacts.exclude(bodies[body1], bodies[body2])
        names = f"{bodies[body1].name!r} and {bodies[body2].name!r}"
        notes.append(f"{names} overlap by {depth:.2g} at the default pose: they do not touch")
    return notes
