"""Surfaces of contact from an SDF file's collision shapes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ... import contact
from ...force.contact.subsystem import CompliantContactSubsystem
from ..mesh_files import MeshFinder
from ..urdf.collisions import exclude_overlapping_bodies, shape_of
from .document import Cone, Ellipsoid, Plane
from .frames import Body
from .graph import is_static, link_of

if TYPE_CHECKING:
    from ..model import Model
    from .load import _Builder


def add_surfaces(
    model: Model, built: _Builder, materials: Mapping[str, Any], meshes: str, exclude_overlapping: bool
) -> list[str]:
    """Give bodies the surfaces of their links' collision shapes, and the system contacts; what there is to report."""
    model.contacts = CompliantContactSubsystem(model.system)
    notes: list[str] = []
    count = 0
    touching: list[Body] = []
    finder = MeshFinder(built.document.path)  # meshes have been found already
    for b, mobod in built.bodies.items():
        draws = not mobod.body.decorations
        collisions = link_of(b).collisions
        for number, collision in enumerate(collisions):
            where = f"{built.shorten(str(collision.place))}: a collision shape of {built.names[b]!r}"
            shape: contact.Shape | None
            match collision.geometry:
                case Ellipsoid(radii) if min(radii) > 0.0:
                    shape = contact.Ellipsoid(radii)
                case Plane(normal, _) if any(normal):
                    shape = contact.HalfSpace(normal)
                case Ellipsoid() | Plane() | Cone():
                    what = "it is a cone" if isinstance(collision.geometry, Cone) else "it has a size of zero"
                    notes.append(f"{where} is left out: {what}")
                    shape = None
                case known:
                    shape = shape_of(known, finder, meshes, notes.append, where)
            if shape is None:
                continue
            own = f"{built.names[b]}::{collision.name or number}"
            surface = contact.Surface(shape, materials[built.names[b]], name=own, draws=draws)
            mobod.add_contact_surface(surface, built.in_body(b, collision.pose, collision.place))
            count += 1
            if b not in touching:
                touching.append(b)
    if not count:
        return [*notes, "no link has a collision shape that is known"]
    for one, other in combinations(touching, 2):
        both_static = is_static(one) and is_static(other)
        if both_static or (one.scope is other.scope and not one.scope.self_collide):
            model.contacts.exclude(built.bodies[one], built.bodies[other])
    report = [f"{count} collision {'shape' if count == 1 else 'shapes'}: surfaces of contact", *notes]
    return report + (exclude_overlapping_bodies(model) if exclude_overlapping else [])
