"""A floor under a model: a half-space, and surfaces for bodies of models that have none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import contact, decoration
from ..algebra.arrays import Array
from ..force.contact.force_plate import find_up
from ..force.contact.of_system import find_contacts
from ..force.contact.subsystem import CompliantContactSubsystem
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import Transform
from ..value.stage import Stage
from .start_again import start_again

#: The spheres at the corners of a box: of its smallest half length, and at least of its largest.
_OF_SMALLEST, _OF_LARGEST = 0.25, 0.02
#: What made surfaces have in common, so that they touch the floor alone.
_CLIQUE = "made for the floor"


def add_floor(
    system: MultibodySystem, state: State, material: contact.Material, height: float | None = None
) -> tuple[State, list[str]]:
    """Put a half-space under a model, against gravity.

    Where no body has a surface, each that moves gets some: spheres that are drawn are surfaces themselves, other decorations
    have spheres at the corners of the box around them, and a body that is not drawn has one sphere with its inertia. They touch
    the floor and not each other.

    Parameters
    ----------
    system : MultibodySystem
        It changes, so that states of it are no longer good.
    state : State
        Where the model starts; not changed.
    material : contact.Material
        Of the floor, and of surfaces that are made.
    height : float, optional
        Along the direction against gravity, of the floor, from Ground's origin; 0 unless given, or lower where the model
        reaches below that at its start. Length.

    Returns
    -------
    state : State
        The same start, of the system as it is now.
    notes : list of str
        What was put where.
    """
    notes: list[str] = []
    matter = system.get_matter_subsystem()
    up, euler = find_up(system, state), matter.get_use_euler_angles(state)
    moving = [body for body in matter.bodies if not _is_part_of_ground(body)]
    there = state.copy()
    system.project(there)
    system.realize(there, Stage.POSITION)
    poses = [body.get_body_transform(there) for body in moving]
    if not any(body.body.contact_surfaces for body in moving):
        counts = [_make_surfaces(body, material) for body in moving]
        bare = [body.name for body, count in zip(moving, counts, strict=True) if not count]
        notes.append(
            f"no body has surfaces of contact: {sum(counts)} spheres, at corners of what is drawn, touch the floor alone"
        )
        if bare:
            notes.append(f"these have neither looks nor inertia, and do not touch the floor: {', '.join(bare)}")
    ground = [body for body in matter.bodies if _is_part_of_ground(body)]
    if height is None and any(_is_floor(surface, X_BS, up) for body in ground for surface, X_BS in body.body.contact_surfaces):
        notes.append("the model has a floor of its own, and gets no other")
        return start_again(system, state, euler), notes
    if height is None:
        height = min(0.0, _find_lowest(moving, poses, up))
        if height < 0.0:
            notes.append(f"the floor is at {height:.4g}, where the model's lowest point starts")
    contacts = find_contacts(system) or CompliantContactSubsystem(system)
    floor = contact.Surface(contact.HalfSpace(up), material, name="floor")
    matter.ground.add_contact_surface(floor, Transform(height * up))
    for body in matter.bodies:
        if _is_part_of_ground(body) and not body.is_ground():
            contacts.exclude(matter.ground, body)
    return start_again(system, state, euler), notes


def _is_floor(surface: contact.Surface, X_BS: Transform, up: Array) -> bool:
    """True if a surface fixed to Ground is a half-space, more level than steep."""
    shape = surface.geometry
    return isinstance(shape, contact.HalfSpace) and float(up @ (X_BS.R @ np.asarray(shape.normal))) > 0.7


def _is_part_of_ground(body: MobilizedBody | None) -> bool:
    """True if a body is Ground or welded to it."""
    while body is not None and not body.is_ground():
        if body.facts.num_u:
            return False
        body = body.parent
    return True


def _make_surfaces(body: MobilizedBody, material: contact.Material) -> int:
    """Give a body spheres; how many."""
    places: list[tuple[float, Any]] = []
    for geometry, X_BD in body.body.decorations:
        if isinstance(geometry, decoration.Sphere) and np.all(geometry.scale == 1.0):
            places.append((geometry.radius, (X_BD @ geometry.X).p))
            continue
        try:
            vertices = geometry.calc_mesh()[0]
        except (ImportError, OSError, ValueError):
            continue
        if len(vertices):
            radius, corners = _corners_of(vertices)
            places += [(radius, X_BD @ corner) for corner in corners]
    if not places:
        mass = body.body.get_default_rigid_body_mass_properties()
        moments = float(np.trace(np.asarray(mass.central_inertia))) if mass.mass > 0.0 else 0.0
        if moments > 0.0:  # a solid sphere has I = 2/5 m r^2 about each axis
            places.append((math.sqrt(5.0 * moments / (6.0 * mass.mass)), mass.com))
    for radius, place in places:
        surface = contact.Surface(contact.Sphere(float(radius)), material, cliques=_CLIQUE, draws=False)
        body.add_contact_surface(surface, Transform(place))
    return len(places)


def _corners_of(vertices: Array) -> tuple[float, Array]:
    """A radius, and the centers of eight spheres that touch the sides of the box around points from inside."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    half, middle = 0.5 * (high - low), 0.5 * (high + low)
    radius = max(_OF_SMALLEST * float(half.min()), _OF_LARGEST * float(half.max()))
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return radius, middle + signs * np.maximum(half - radius, 0.0)


def _find_lowest(bodies: list[MobilizedBody], poses: list[Transform], up: Array) -> float:
    """The height of the lowest point of all surfaces, as they are drawn."""
    heights = [0.0]
    for body, X_GB in zip(bodies, poses, strict=True):
        for surface, X_BS in body.body.contact_surfaces:
            if surface.geometry.is_unbounded:
                continue
            for geometry, X_SD in surface.geometry.decorations():
                vertices = X_GB @ (X_BS @ (X_SD @ geometry.calc_mesh()[0]))
                heights.append(float((vertices @ up).min()))
    return min(heights)
