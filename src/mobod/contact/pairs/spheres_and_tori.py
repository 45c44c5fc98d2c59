"""Pairs of a sphere, or of a torus, and a shape whose nearest point is known: part of `PAIRS`.

A sphere touches where the shape is nearest to its center: see `_ball`. A torus' tube is a ring of balls: see `_ring`. The law
is HERTZ with the curvatures of both; an edge or a corner has none.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import Routine, generic
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, number_of, origin, put_point, three_of
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, SPHERE, TORUS
from ._ball import sphere_with
from ._core import bare3
from ._nearest import (
    half_length,
    nearest_on_brick,
    nearest_on_capsule,
    nearest_on_cylinder,
    nearest_on_ellipsoid,
    nearest_on_hull,
    nearest_on_torus,
)
from ._ring import torus_with


@narrow_phase
def sphere_sphere(model: Any, pair: Pair) -> int:
    """Sphere and Sphere: along the line between the centers; the relative curvatures are 1 / r1 + 1 / r2.

    One point where the centers are nearer than the sum of the radii; spheres with one center are pushed apart along z.
    """
    a, b, lane = pair
    r1, r2 = number_of(model, a, DIMENSIONS, lane), number_of(model, b, DIMENSIONS, lane)
    c1 = origin(model, a, lane)
    r = vec3.sub(origin(model, b, lane), c1)
    square, reach = vec3.dot(r, r), r1 + r2
    if square >= reach * reach:
        return 0
    if square > 0.0:
        distance = sqrt(square)
        n = vec3.scale(1.0 / distance, r)
    else:
        distance = 0.0 * reach
        n = (distance, distance, distance + 1.0)
    depth = reach - distance
    point = vec3.add_scaled(c1, r1 - 0.5 * depth, n)
    curvature = 1.0 / r1 + 1.0 / r2
    put_point(model, pair, 0, point, n, depth, HERTZ, curvature, curvature, 0)
    return 1


@generic
def near_capsule(model: Any, s: int, x: Any, lane: int) -> Any:
    """The nearest point of the segment in its middle."""
    d = bare3(three_of(model, s, DIMENSIONS, lane))
    return nearest_on_capsule(x, d[0], d[1])


@generic
def near_cylinder(model: Any, s: int, x: Any, lane: int) -> Any:
    """Of its side, an end or a rim; endless ones too."""
    return nearest_on_cylinder(x, bare(number_of(model, s, DIMENSIONS, lane)), half_length(model, s, lane))


@generic
def near_brick(model: Any, s: int, x: Any, lane: int) -> Any:
    """Of its faces, edges or corners."""
    return nearest_on_brick(x, bare3(three_of(model, s, DIMENSIONS, lane)))


@generic
def near_ellipsoid(model: Any, s: int, x: Any, lane: int) -> Any:
    """Also from inside: the least overlap."""
    return nearest_on_ellipsoid(x, bare3(three_of(model, s, DIMENSIONS, lane)))


@generic
def near_torus(model: Any, s: int, x: Any, lane: int) -> Any:
    """The nearest point of the circle in the tube."""
    d = bare3(three_of(model, s, DIMENSIONS, lane))
    return nearest_on_torus(x, d[0], d[1])


@generic
def near_hull(model: Any, s: int, x: Any, lane: int) -> Any:
    """Of its faces, edges or corners."""
    return nearest_on_hull(model, model.surface_first_integer[s], model.surface_first_constant[s], x)


sphere_capsule = sphere_with(near_capsule, "sphere_capsule")
sphere_cylinder = sphere_with(near_cylinder, "sphere_cylinder")
sphere_brick = sphere_with(near_brick, "sphere_brick")
sphere_ellipsoid = sphere_with(near_ellipsoid, "sphere_ellipsoid")
sphere_torus = sphere_with(near_torus, "sphere_torus")
capsule_torus = torus_with(near_capsule, "capsule_torus", False)
cylinder_torus = torus_with(near_cylinder, "cylinder_torus", False)
brick_torus = torus_with(near_brick, "brick_torus", False)
ellipsoid_torus = torus_with(near_ellipsoid, "ellipsoid_torus", False)
torus_torus = torus_with(near_torus, "torus_torus", True, both=True)
torus_convex_hull = torus_with(near_hull, "torus_convex_hull", True)

OF_SPHERES_AND_TORI: dict[tuple[int, int], Routine] = {
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, CYLINDER): sphere_cylinder,
    (SPHERE, BRICK): sphere_brick,
    (SPHERE, ELLIPSOID): sphere_ellipsoid,
    (SPHERE, TORUS): sphere_torus,
    (CAPSULE, TORUS): capsule_torus,
    (CYLINDER, TORUS): cylinder_torus,
    (BRICK, TORUS): brick_torus,
    (ELLIPSOID, TORUS): ellipsoid_torus,
    (TORUS, TORUS): torus_torus,
    (TORUS, CONVEX_HULL): torus_convex_hull,
}
