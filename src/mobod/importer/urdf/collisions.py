"""Surfaces of contact from a URDF file's collision shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import contact
from ...decoration.mesh_file import read_mesh
from ...errors import ModelError
from ...force.contact.subsystem import CompliantContactSubsystem
from ...mobilizer import Weld
from ...value import Transform
from ...value.checks import suggest
from ...value.stage import Stage
from ..mesh_files import MeshFinder
from .document import Box, Capsule, Cylinder, Geometry, Mesh, Sphere, UrdfDocument
from .mass import rotation_matrix

if TYPE_CHECKING:
    from ..model import Model

MATERIAL = contact.Material(stiffness=1e7, dissipation=1.0, static_friction=0.8, dynamic_friction=0.6)
"""What surfaces are made of unless it is said: a robot's 350 N sink a foot's sphere of 5 cm in by 5 mm."""

MESHES = ("hull", "mesh", "none")
"""What can be made of collision meshes."""


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
    for name, one in (materials or {}).items():
        if name not in links:
            raise ModelError(f"link_materials: there is no link {name!r}; {suggest(name, list(links))}")
        given[name] = one
    for name, one in given.items():
        if not isinstance(one, contact.Material):
            what = f"link_materials[{name!r}]" if name in (materials or {}) else "collision_material"
            raise TypeError(f"{what} has to be a contact.Material(stiffness, ...), not {one!r}")
    return given


def check_meshes(meshes: str) -> str:
    """What is to be made of meshes; ModelError where it is none of `MESHES`."""
    if meshes not in MESHES:
        raise ModelError(f"collision_meshes is one of {', '.join(map(repr, MESHES))}, not {meshes!r}")
    return meshes


def add_surfaces(
    model: Model,
    document: UrdfDocument,
    welded: set[str],
    materials: Mapping[str, Any],
    meshes: str,
    exclude_overlapping: bool,
    finder: MeshFinder,
) -> list[str]:
    """Give bodies the surfaces of their links' collision shapes, and the system contacts; what there is to report."""
    model.contacts = CompliantContactSubsystem(model.system)
    notes: list[str] = []
    count = 0
    for name, link in document.links.items():
        body = model.bodies[name]
        # a body that is drawn already keeps its looks
        draws = not body.body.decorations
        for number, collision in enumerate(link.collisions):
            where = f"line {collision.line}: a collision shape of {name!r}"
            shape = shape_of(collision.geometry, finder, meshes, notes.append, where)
            if shape is None:
                continue
            own = collision.name or (name if len(link.collisions) == 1 else f"{name}[{number}]")
            surface = contact.Surface(shape, materials[name], name=own, draws=draws)
            X = Transform.trusted(rotation_matrix(collision.origin.rpy), np.array(collision.origin.xyz))
            body.add_contact_surface(surface, X)
            count += 1
    if not count:
        notes.append("no link has a collision shape that is known")
        return notes
    _exclude_neighbours(model, document, welded)
    report = [f"{count} collision {'shape' if count == 1 else 'shapes'}: surfaces of contact", *notes]
    return report + (exclude_overlapping_bodies(model) if exclude_overlapping else [])


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
                shape: contact.Shape = kind(vertices, faces)
                return shape
            except (ImportError, OSError, ValueError, AttributeError) as error:
                note(f"{where} is left out: {filename!r} cannot be used: {error}")
                return None
        case Mesh():
            note(f"{where} is left out: it is a mesh")
        case _:
            note(f"{where} is left out: it has a size of zero")
    return None


def _exclude_neighbours(model: Model, document: UrdfDocument, welded: set[str]) -> None:
    """Bodies that cannot move against each other, and those that a joint connects, do not touch, whatever is fixed to them."""
    group = {name: name for name in document.links}  # of links that are rigid together, the one that stands for all

    def of(link: str) -> str:
        while group[link] != link:
            link = group[link]
        return link

    moving = []
    for joint in document.joints.values():
        if joint.type == "fixed" or joint.name in welded:
            group[of(joint.child)] = of(joint.parent)
        else:
            moving.append(joint)
    near = {frozenset((of(joint.parent), of(joint.child))) for joint in moving}
    contacts = model.contacts
    assert contacts is not None
    touching = [name for name in document.links if model.bodies[name].body.contact_surfaces]
    for one, other in combinations(touching, 2):
        if of(one) == of(other) or frozenset((of(one), of(other))) in near:
            contacts.exclude(model.bodies[one], model.bodies[other])
    if isinstance(model.bodies[model.root], Weld):  # the base is a part of Ground
        for name in touching:
            if of(name) == of(model.root):
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
