"""rigid: unilateral contacts for the contact surfaces that bodies carry, a kind for each pair of shapes.

    half-space and sphere    SpherePlane    half-space and brick, convex hull    PointPlane, one for each corner
    sphere and sphere        SphereSphere   half-space and capsule               SpherePlane, one for each end

The coefficients of friction of two materials combine as in compliant contact, 2 mu1 mu2 / (mu1 + mu2) (`force.contact.law`).
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..contact.shape import BRICK, CAPSULE, CONVEX_HULL, HALF_SPACE, SPHERE
from ..force.contact.element import check_pair, has_resistance
from ..force.contact.fields import Placed
from ..force.contact.may_touch import MayTouch, parents_of, placed_surfaces
from ..force.contact.subsystem import CompliantContactSubsystem
from ..value import checks
from .base import CAPTURE_SPEED, TRANSITION_SPEED, UnilateralContact
from .point_plane import PointPlane
from .sphere_plane import SpherePlane
from .sphere_sphere import SphereSphere
from .stepped import RigidSurfaces

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem


def rigid(
    system: MultibodySystem, restitution: float = 0.0, capture_speed: float = CAPTURE_SPEED, *, stepped: bool = False
) -> list[UnilateralContact]:
    """Make rigid contacts for all pairs of surfaces that may touch. A topological change.

    Bodies carry surfaces (``body.add_contact_surface``). Which pairs may touch is as in compliant contact: two surfaces on one
    body, on a body and its parent (unless that is Ground) or of one clique do not; with a `CompliantContactSubsystem` in the
    system, what that says of adjacent and excluded bodies, before this, holds here too, and it has no forces between surfaces
    that are rigid. Call it when all surfaces are there.

    Parameters
    ----------
    system : MultibodySystem
    restitution : float
        Of all contacts; from 0 to 1.
    capture_speed : float
        Approach slower than this is no impact; zero or more; length/time.
    stepped : bool
        Whether pairs that have a `UnilateralContact`, which any integrator runs by events, are left to the narrow phase of
        `integrator.TimeStepping` like all the others: faster where there are many, and for this integrator only.

    Returns
    -------
    list of UnilateralContact
        In the order of the surfaces. A contact is named after its surfaces, and its corner or end where there are several.
        Pairs of other shapes, or that resist rolling or spinning, or of which one has a velocity, have none: `TimeStepping`
        finds what touches of them, and other integrators refuse the system.

    Raises
    ------
    ModelError
        If nothing finds contacts of two shapes that may touch, or a number is out of its range. Nothing is made then.

    Notes
    -----
    Stiffness, dissipation and thickness do not count. What the narrow phase finds overlaps a little: what comes to touch does
    so a step late, and as deep as it has come; its restitution is Newton's, that of a `UnilateralContact` Poisson's. Of a
    corner or an end on a half-space there is one contact: half-spaces have no rim.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> stone = mb.contact.Material(1e9, static_friction=0.6)
    >>> _ = matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone, name="floor"))
    >>> ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    >>> _ = ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), stone, name="ball"))
    >>> [contact.name for contact in mb.contact.rigid(system, restitution=0.5)]
    ['floor - ball']
    """
    e = checks.between("restitution", restitution, 0.0, 1.0)
    speed = checks.not_negative("capture_speed", capture_speed)
    if not hasattr(system, "get_matter_subsystem"):
        raise TypeError(f"rigid contacts are made in a mobod.MultibodySystem, not in {system!r}")
    matter = system.get_matter_subsystem()
    may_touch = MayTouch(parents_of(matter.body_list))
    for forces in system.force_subsystems:
        if isinstance(forces, CompliantContactSubsystem):
            may_touch = forces.rules()
    surfaces = placed_surfaces(matter.body_list)
    pairs = [in_order(a, b) for a, b in combinations(surfaces, 2) if may_touch(a, b)]
    own = [(a, b) for a, b in pairs if not stepped and _has_kind(a, b)]
    others = [(a, b) for a, b in pairs if stepped or not _has_kind(a, b)]
    for a, b in others:
        check_pair(a, b)
    if others:
        which = {frozenset((_identity(a), _identity(b))) for a, b in others}
        RigidSurfaces(system, lambda a, b: frozenset((_identity(a), _identity(b))) in which, e, speed, TRANSITION_SPEED)
    found = [one for a, b in own for one in _contacts(matter.body_list, a, b, e)]
    for contact in found:
        contact.set_capture_speed(speed)
    matter.rigid_pairs.update(frozenset((a.identity, b.identity)) for a, b in pairs)
    return found


def _identity(one: Placed) -> tuple[int, int, int]:
    """A surface, which may be on several bodies, or several times on one."""
    return one.body, id(one.surface), id(one.X_BS)


def in_order(a: Placed, b: Placed) -> tuple[Placed, Placed]:
    """The two, that of lower kind first."""
    return (b, a) if b.surface.geometry.KIND < a.surface.geometry.KIND else (a, b)


def _has_kind(a: Placed, b: Placed) -> bool:
    first, second = a.surface.geometry.KIND, b.surface.geometry.KIND
    shapes = (first, second) == (SPHERE, SPHERE) or (first == HALF_SPACE and second in (SPHERE, CAPSULE, BRICK, CONVEX_HULL))
    return shapes and not has_resistance(a) and not has_resistance(b)


def _contacts(bodies: Any, a: Placed, b: Placed, restitution: float) -> list[UnilateralContact]:
    """The contacts of a pair that has a kind."""
    shape1: Any = a.surface.geometry
    shape2: Any = b.surface.geometry
    common: dict[str, Any] = {"restitution": restitution, **friction_of(a, b)}
    name = f"{a.name} - {b.name}"
    center, body1, body2 = np.array(b.X_BS.p), bodies[a.body], bodies[b.body]
    if shape1.KIND == SPHERE:
        return [SphereSphere(body1, np.array(a.X_BS.p), shape1.radius, body2, center, shape2.radius, name=name, **common)]
    normal = np.asarray(a.X_BS.R) @ shape1.normal
    plane = body1, normal, float(normal @ a.X_BS.p)
    if shape2.KIND == SPHERE:
        return [SpherePlane(*plane, body2, center, shape2.radius, name=name, **common)]
    if shape2.KIND == CAPSULE:
        ends = [b.X_BS @ np.array((0.0, 0.0, z)) for z in (-shape2.half_length, shape2.half_length)]
        return [SpherePlane(*plane, body2, end, shape2.radius, name=f"{name}, end {i}", **common) for i, end in enumerate(ends)]
    corners = shape2.vertices if shape2.KIND == CONVEX_HULL else list(product(*((-h, h) for h in shape2.half_lengths)))
    return [
        PointPlane(*plane, body2, b.X_BS @ np.asarray(corner), name=f"{name}, corner {i}", **common)
        for i, corner in enumerate(corners)
    ]


def friction_of(a: Placed, b: Placed) -> dict[str, float]:
    """The coefficients of friction between two surfaces."""
    one, other = a.surface.material, b.surface.material

    def both(x: float, y: float) -> float:
        return 2.0 * x * y / (x + y) if x + y > 0.0 else 0.0

    return {
        "static_friction": both(one.static_friction, other.static_friction),
        "dynamic_friction": both(one.dynamic_friction, other.dynamic_friction),
        "viscous_friction": both(one.viscous_friction, other.viscous_friction),
    }
