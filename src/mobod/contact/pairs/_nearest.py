"""Distance of a point from the surface of a shape: what spheres, and the balls of a torus' tube, need.

Each function takes a point x in the shape's frame and gives ``(distance, n, S)``: the distance from the surface, below zero
inside; the unit normal n there, outward; and the shape operator of the surface, six numbers, see `_curvature`: of an edge or a
corner none, as of a flat face, see `general_convex`; of a cylinder's rim what it is along itself. Dimensions are plain numbers,
x may be a Dual. Inside, the nearest point of the surface is meant, and of several equally near ones any.
"""

from __future__ import annotations

from typing import Any

from ...algebra import sym33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import DIMENSIONS, number_of
from ..mesh_tree import constant3
from ..shape import CONVEX_HULL
from . import _curvature
from ._core import CORNERS, list_of

_EYE = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
_NONE = 1e300


@generic
def _flat(x: Any) -> Any:
    o = 0.0 * x[0]
    return o, o, o, o, o, o


@generic
def _from(x: Any, c: Any) -> Any:
    """The distance of x from c, and the unit vector to x; along z where they are the same."""
    v = vec3.sub(x, c)
    square = vec3.dot(v, v)
    if square > 0.0:
        length = sqrt(square)
        return length, vec3.scale(1.0 / length, v)
    o = 0.0 * v[0]
    return o, (o, o, o + 1.0)


@generic
def nearest_on_capsule(x: Any, radius: Any, half: Any) -> Any:
    """Of a capsule along z."""
    o = 0.0 * x[0]
    z, between = x[2], True
    if z > half:
        z, between = half + o, False
    elif z < -half:
        z, between = o - half, False
    length, n = _from(x, (o, o, z))
    if between and length == 0.0:
        n = (o + 1.0, o, o)
    S = _curvature.of_capsule(1.0 / radius + o, (o, o, o + 1.0), n, z, half + o)
    return length - radius, n, S


@generic
def nearest_on_cylinder(x: Any, radius: Any, half: Any) -> Any:
    """Of a cylinder about z."""
    o = 0.0 * x[0]
    square = x[0] * x[0] + x[1] * x[1]
    across, t = o, (o + 1.0, o, o)
    if square > 0.0:
        across = sqrt(square)
        t = (x[0] / across, x[1] / across, o)
    up = 1.0 if x[2] >= 0.0 else -1.0
    side, end = across - radius, up * x[2] - half
    if side > 0.0 and end > 0.0:
        length = sqrt(side * side + end * end)
        n = (t[0] * side / length, t[1] * side / length, up * end / length)
        return length, n, _curvature.of_rim(1.0 / radius + o, (o, o, o + 1.0), n)
    if side > end:
        return side, t, _curvature.of_line(1.0 / radius + o, (-t[1], t[0], o))
    return end, (o, o, o + up), _flat(x)


@generic
def nearest_on_brick(x: Any, half: Any) -> Any:
    """Of a brick."""
    o = 0.0 * x[0]
    sx = 1.0 if x[0] >= 0.0 else -1.0
    sy = 1.0 if x[1] >= 0.0 else -1.0
    sz = 1.0 if x[2] >= 0.0 else -1.0
    a, b, c = sx * x[0] - half[0], sy * x[1] - half[1], sz * x[2] - half[2]
    outside = int(a > 0.0) + int(b > 0.0) + int(c > 0.0)
    if outside >= 2:
        a = a if a > 0.0 else o
        b = b if b > 0.0 else o
        c = c if c > 0.0 else o
        length = sqrt(a * a + b * b + c * c)
        return length, (sx * a / length, sy * b / length, sz * c / length), _flat(x)
    if a >= b and a >= c:
        return a, (o + sx, o, o), _flat(x)
    if b >= c:
        return b, (o, o + sy, o), _flat(x)
    return c, (o, o, o + sz), _flat(x)


@generic
def _root_of_ellipsoid(a: float, b: float, c: float, x: float, y: float, z: float) -> float:
    """The greatest t at which (a x / (a^2 + t))^2 + ... = 1: Newton's method from below on what is convex and falling."""
    t = -a * a + a * x
    u = -b * b + b * y
    t = u if u > t else t
    u = -c * c + c * z
    t = u if u > t else t
    for _ in range(60):
        p, q, r = a * a + t, b * b + t, c * c + t
        if p <= 0.0 or q <= 0.0 or r <= 0.0:
            return t
        e, f, g = a * x / p, b * y / q, c * z / r
        value = e * e + f * f + g * g - 1.0
        if value <= 1e-15:
            return t
        step = 0.5 * value / (e * e / p + f * f / q + g * g / r)
        if step <= 1e-16 * (abs(t) + a * a):
            return t
        t = t + step
    return t


@generic
def nearest_on_ellipsoid(x: Any, radii: Any) -> Any:
    """Of an ellipsoid: y = D^2 (D^2 + t)^-1 x, with the greatest t that puts y on it.

    Source: Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid.

    Where x lies in a plane of symmetry, and inside the ellipse of centers of curvature there, y is off the plane, to its
    positive side.
    """
    a, b, c = radii
    px, py, pz = bare(x[0]), bare(x[1]), bare(x[2])
    tiny = 1e-9 * (a + b + c)
    # a point in a plane of symmetry is moved off it by what rounding could have done: t then has one formula
    i = px if abs(px) > tiny else (tiny if px >= 0.0 else -tiny)
    j = py if abs(py) > tiny else (tiny if py >= 0.0 else -tiny)
    k = pz if abs(pz) > tiny else (tiny if pz >= 0.0 else -tiny)
    t = _root_of_ellipsoid(a, b, c, abs(i), abs(j), abs(k))
    y = (a * a * i / (a * a + t), b * b * j / (b * b + t), c * c * k / (c * c + t))
    # the normal is that of y; of two steps for (s, y) in x = y + s D^-2 y, by the same matrix, the first carries the tangents
    # of x, the second those of these
    squares = (a * a, b * b, c * c)
    m = (y[0] / squares[0], y[1] / squares[1], y[2] / squares[2])
    inverse = (1.0 / (1.0 + t / squares[0]), 1.0 / (1.0 + t / squares[1]), 1.0 / (1.0 + t / squares[2]))
    o = 0.0 * x[0]
    s, z = o + t, (o + y[0], o + y[1], o + y[2])
    for _ in range(2):
        n = (z[0] / squares[0], z[1] / squares[1], z[2] / squares[2])
        rest = (x[0] - z[0] - s * n[0], x[1] - z[1] - s * n[1], x[2] - z[2] - s * n[2])
        gm = (inverse[0] * m[0], inverse[1] * m[1], inverse[2] * m[2])
        change = (vec3.dot(gm, rest) - 0.5 * (1.0 - vec3.dot(n, z))) / vec3.dot(gm, m)
        s = s + change
        z = (
            z[0] + inverse[0] * (rest[0] - change * m[0]),
            z[1] + inverse[1] * (rest[1] - change * m[1]),
            z[2] + inverse[2] * (rest[2] - change * m[2]),
        )
    n = (z[0] / squares[0], z[1] / squares[1], z[2] / squares[2])
    n = vec3.scale(1.0 / sqrt(vec3.dot(n, n)), n)
    return vec3.dot(n, vec3.sub(x, z)), n, _curvature.of_ellipsoid(squares, _EYE, n)


@generic
def nearest_on_torus(x: Any, ring: Any, tube: Any) -> Any:
    """Of a torus about z."""
    o = 0.0 * x[0]
    square = x[0] * x[0] + x[1] * x[1]
    t = (o + 1.0, o, o)
    if square > 0.0:
        k = 1.0 / sqrt(square)
        t = (k * x[0], k * x[1], o)
    length, n = _from(x, vec3.scale(ring, t))
    around = (-t[1], t[0], o)
    outward = vec3.dot(n, t)
    S = sym33.add(
        _curvature.of_line(1.0 / tube + o, vec3.cross(n, around)),
        _curvature.of_line(outward / (ring + tube * outward), around),
    )
    return length - tube, n, S


@generic
def on_segment(x: Any, a: Any, b: Any) -> Any:
    """The point of a segment that is nearest to x."""
    ab = vec3.sub(b, a)
    t = vec3.dot(vec3.sub(x, a), ab) / vec3.dot(ab, ab)
    o = 0.0 * t
    if t < 0.0:
        t = o
    elif t > 1.0:
        t = o + 1.0
    return vec3.add_scaled(a, t, ab)


@generic
def nearest_on_hull(model: Any, first_integer: int, first_constant: int, x: Any) -> Any:
    """Of a hull: inside, by the plane that is nearest; else by the nearest point of the faces that x is above."""
    core = (CONVEX_HULL, first_integer, first_constant, 0.0, 0.0, 0.0, 0.0)
    vertices, faces = model.contact_integers[first_integer], model.contact_integers[first_integer + 1]
    place, best, most = (bare(x[0]), bare(x[1]), bare(x[2])), 0, -_NONE
    planes = first_constant + 3 * vertices
    for f in range(faces):
        at = planes + 4 * f
        height = vec3.dot(constant3(model, at), place) - constant3(model, at + 1)[2]
        if height > most:
            most, best = height, f
    square, on_edge, from_vertex, to_vertex = _NONE, False, 0, 0
    if most > 0.0:
        for f in range(faces):
            at = planes + 4 * f
            m = constant3(model, at)
            height = vec3.dot(m, place) - constant3(model, at + 1)[2]
            if height > 0.0:
                begin, end = list_of(model, core, CORNERS, f)
                inside = True
                v = model.contact_integers[end - 1]
                a = constant3(model, first_constant + 3 * v)
                for i in range(begin, end):
                    w = model.contact_integers[i]
                    b = constant3(model, first_constant + 3 * w)
                    if vec3.dot(vec3.cross(vec3.sub(b, a), m), vec3.sub(place, a)) > 0.0:
                        inside = False
                        apart = vec3.sub(place, on_segment(place, a, b))
                        its = vec3.dot(apart, apart)
                        if its < square:
                            square, on_edge, from_vertex, to_vertex = its, True, v, w
                    v, a = w, b
                if inside and height * height < square:
                    square, on_edge, best = height * height, False, f
    o = 0.0 * x[0]
    if on_edge:
        a, b = constant3(model, first_constant + 3 * from_vertex), constant3(model, first_constant + 3 * to_vertex)
        length, n = _from(x, on_segment(x, a, b))
        return length, n, _flat(x)
    m = constant3(model, planes + 4 * best)
    return vec3.dot(m, x) - constant3(model, planes + 4 * best + 1)[2], (m[0] + o, m[1] + o, m[2] + o), _flat(x)


@generic
def half_length(model: Any, s: int, lane: int) -> float:
    """Of a cylinder; of an endless one a length that nothing reaches."""
    if bare(number_of(model, s, DIMENSIONS + 2, lane)) == 1.0:
        return _NONE
    return bare(number_of(model, s, DIMENSIONS + 1, lane))
