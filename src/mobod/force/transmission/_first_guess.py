"""First guess of a taut line from a to c over a surface: exact for one sphere or cylinder, else near enough to go on.

In a plane through both ends the section of the surface is taken for a circle, whose tangents are known: of spheres and
ellipsoids in coordinates in which they are unit spheres, of cylinders across the axis, of tori across the tube. Of a capsule
the section is taken as it is. The way round is the short one, or, with a hint, the one past it, which can be more than half a
turn: in angles about the middle of the circle from a to the hint and on to c.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import acos, atan2, sincos, sqrt
from ...compiling import generic
from ._geodesic import bending, gradient, made_tangent, normal, projected
from ._lines import norm, unit
from ._segments import CAPSULE, CYLINDER, ELLIPSOID, SPHERE

#: Points of a line at which a torus is looked for, steps from the nearest, and which part of a point's distance is near.
SAMPLES, STEPS, NEAR = 24, 6, 1e-3
#: From which part of its tube on a hint is on the rim of a torus.
RIM = 0.7
#: Points of an arc, for its length: Gauss's two, and those of a capsule's section.
GAUSS, PIECES = (0.2113248654051871, 0.7886751345948129), 4
#: The golden section, and how often it is cut.
GOLDEN, CUTS = 0.6180339887498949, 10


@generic
def flat(x: Any, y: Any) -> Any:
    """The length of a vector in a plane."""
    return sqrt(x * x + y * y)


@generic
def _turn(a: Any, b: Any) -> Any:
    return atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


@generic
def _around(a: Any, c: Any, hint: Any, has_hint: bool, radius: Any) -> Any:
    """True if a line in a plane bends around a circle; the angles of the points of touch, signed as it turns; its sense."""
    from_a, from_c = flat(a[0], a[1]), flat(c[0], c[1])
    touches, first, last, sense = False, 0.0, 0.0, 1.0
    if from_a > radius and from_c > radius:
        whole = _turn(a, hint) + _turn(hint, c) if has_hint else _turn(a, c)
        sense = -1.0 if whole < 0.0 else 1.0
        start = atan2(a[1], a[0])
        first = start + sense * acos(radius / from_a)
        last = start + whole - sense * acos(radius / from_c)
        touches = sense * (last - first) > 0.0
    return touches, first, last, sense


@generic
def guess(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool) -> Any:
    """True if the line touches; where first, in which direction, how far over the surface, where last."""
    if kind == CYLINDER:
        found = _over_cylinder(a, c, hint, has_hint, sizes[0])
    elif kind == SPHERE or kind == ELLIPSOID:
        radii = (sizes[0], sizes[0], sizes[0]) if kind == SPHERE else sizes
        found = _over_round(a, c, hint, has_hint, radii, kind == SPHERE)
    elif kind == CAPSULE:
        found = _over_capsule(kind, sizes, a, c, hint, has_hint)
    elif has_hint and _is_rim(sizes, a, c, hint):
        found = _over_rim(kind, sizes, a, c, hint)
    else:
        found = _over_tube(kind, sizes, a, c, hint, has_hint)
    return found


@generic
def _over_cylinder(a: Any, c: Any, hint: Any, has_hint: bool, radius: Any) -> Any:
    touches, first, last, sense = _around(a, c, hint, has_hint, radius)
    s, e = sincos(first), sincos(last)
    p, q = (radius * s[1], radius * s[0]), (radius * e[1], radius * e[0])
    before, over = flat(p[0] - a[0], p[1] - a[1]), sense * radius * (last - first)
    slope = (c[2] - a[2]) / (before + over + flat(q[0] - c[0], q[1] - c[1]) + 1e-300)
    z, size = a[2] + slope * before, sqrt(1.0 + slope * slope)
    t = -sense * s[0] / size, sense * s[1] / size, slope / size
    return touches, (p[0], p[1], z), t, over * size, (q[0], q[1], z + slope * over)


@generic
def _over_round(a: Any, c: Any, hint: Any, has_hint: bool, radii: Any, is_sphere: bool) -> Any:
    """Over a unit sphere, scaled."""
    o = 0.0, 0.0, 0.0
    a = a[0] / radii[0], a[1] / radii[1], a[2] / radii[2]
    c = c[0] / radii[0], c[1] / radii[1], c[2] / radii[2]
    h = unit((hint[0] / radii[0], hint[1] / radii[1], hint[2] / radii[2]))
    m = vec3.cross(a, c)
    straight = vec3.dot(m, m) < 1e-12 * vec3.dot(a, a) * vec3.dot(c, c)
    by_hint = has_hint and (straight or not is_sphere)
    if by_hint:
        m = vec3.cross(vec3.sub(h, a), vec3.sub(c, a))
    elif straight:  # any way is as good
        m = vec3.cross(a, (0.0, 0.0, 1.0) if abs(a[2]) < 0.5 * norm(a) else (1.0, 0.0, 0.0))
    m = unit(m)
    middle = vec3.scale(vec3.dot(m, h), m) if by_hint else o
    radius = sqrt(max(1.0 - vec3.dot(middle, middle), 0.0))
    x = unit(vec3.sub(a, middle))
    y = vec3.cross(m, x)
    to_a, to_c, to_h = vec3.sub(a, middle), vec3.sub(c, middle), vec3.sub(h, middle)
    flat_a, flat_c = (vec3.dot(to_a, x), vec3.dot(to_a, y)), (vec3.dot(to_c, x), vec3.dot(to_c, y))
    touches, first, last, sense = _around(flat_a, flat_c, (vec3.dot(to_h, x), vec3.dot(to_h, y)), by_hint, radius)
    length = radii[0] * abs(last - first)
    if not is_sphere:
        length = 0.0
        for k in range(2):
            s, e = sincos(first + GAUSS[k] * (last - first))
            d = vec3.add(vec3.scale(-s, x), vec3.scale(e, y))
            length += 0.5 * radius * abs(last - first) * norm((radii[0] * d[0], radii[1] * d[1], radii[2] * d[2]))
    s, e = sincos(first)
    p = vec3.add(middle, vec3.scale(radius, vec3.add(vec3.scale(e, x), vec3.scale(s, y))))
    d = vec3.scale(sense, vec3.add(vec3.scale(-s, x), vec3.scale(e, y)))
    s, e = sincos(last)
    q = vec3.add(middle, vec3.scale(radius, vec3.add(vec3.scale(e, x), vec3.scale(s, y))))
    t = unit((radii[0] * d[0], radii[1] * d[1], radii[2] * d[2]))
    p = radii[0] * p[0], radii[1] * p[1], radii[2] * p[2]
    q = radii[0] * q[0], radii[1] * q[1], radii[2] * q[2]
    return touches, p, t, length, q


@generic
def _over_capsule(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool) -> Any:
    """Over its section where the line goes into it; else past a hint as over the sphere or the cylinder that this is on."""
    deepest, value = _deepest(kind, sizes, a, c)
    outside = gradient(kind, sizes, a)[0] > 0.0 and gradient(kind, sizes, c)[0] > 0.0
    if value < 0.0:
        bends, start, t, length, end = _over_section(kind, sizes, a, c, deepest, hint, has_hint)
    else:
        middle = 0.0, 0.0, min(max(hint[2], -sizes[1]), sizes[1])
        to_a, to_c, to_hint = vec3.sub(a, middle), vec3.sub(c, middle), vec3.sub(hint, middle)
        if abs(hint[2]) > sizes[1]:
            bends, start, t, length, end = _over_round(to_a, to_c, to_hint, True, (sizes[0], sizes[0], sizes[0]), True)
        else:
            bends, start, t, length, end = _over_cylinder(to_a, to_c, to_hint, True, sizes[0])
        bends = bends and has_hint
        start, end = projected(kind, sizes, vec3.add(start, middle)), projected(kind, sizes, vec3.add(end, middle))
    return outside and bends, start, made_tangent(t, normal(kind, sizes, start)[0]), length, end


@generic
def _over_section(kind: int, sizes: Any, a: Any, c: Any, inside: Any, hint: Any, has_hint: bool) -> Any:
    """Over the section of a capsule by the plane through both ends and a hint, or the way out of a point inside.

    Points of the section are seen from that point, at angles from the end; each end's tangent is that of the greatest slope.
    """
    x = unit(vec3.sub(c, a))
    up = vec3.sub(hint, inside) if has_hint else gradient(kind, sizes, inside)[1]
    up = vec3.add_scaled(up, -vec3.dot(up, x), x)
    if vec3.dot(up, up) < 1e-24 * sizes[0] * sizes[0]:  # any way is as good
        up = vec3.cross(x, (0.0, 0.0, 1.0) if abs(x[2]) < 0.5 else (1.0, 0.0, 0.0))
    up = unit(up)
    first = _angle_of_touch(sizes, a, inside, vec3.scale(-1.0, x), up)
    last = _angle_of_touch(sizes, c, inside, x, up)
    end_first, end_last = first, 3.141592653589793 - last
    start = _outlet(sizes, inside, vec3.scale(-1.0, x), up, first)
    end = _outlet(sizes, inside, vec3.scale(-1.0, x), up, end_last)
    length, now = 0.0, start
    for k in range(1, PIECES + 1):
        angle = end_first + (end_last - end_first) * k / PIECES
        ahead = _outlet(sizes, inside, vec3.scale(-1.0, x), up, angle)
        length += norm(vec3.sub(ahead, now))
        now = ahead
    return end_last > end_first, start, unit(vec3.sub(start, a)), length, end


@generic
def _angle_of_touch(sizes: Any, a: Any, inside: Any, back: Any, up: Any) -> Any:
    """The angle, from the direction *back* to a, at which a line from a touches the section: by golden sections."""
    low, high = 0.0, 3.141592653589793
    p, q = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_p, at_q = _slope(sizes, a, inside, back, up, p), _slope(sizes, a, inside, back, up, q)
    for _ in range(CUTS):
        if at_p > at_q:
            high, q, at_q = q, p, at_p
            p = high - GOLDEN * (high - low)
            at_p = _slope(sizes, a, inside, back, up, p)
        else:
            low, p, at_p = p, q, at_q
            q = low + GOLDEN * (high - low)
            at_q = _slope(sizes, a, inside, back, up, q)
    return 0.5 * (low + high)


@generic
def _slope(sizes: Any, a: Any, inside: Any, back: Any, up: Any, angle: Any) -> Any:
    """The angle at a, from the line to the other end, of a point of the section."""
    d = vec3.sub(_outlet(sizes, inside, back, up, angle), a)
    return atan2(vec3.dot(d, up), -vec3.dot(d, back))


@generic
def _outlet(sizes: Any, inside: Any, back: Any, up: Any, angle: Any) -> Any:
    """The point in which a ray from inside a capsule comes out: of its side, or of the end that is that way."""
    s, e = sincos(angle)
    way = vec3.add(vec3.scale(e, back), vec3.scale(s, up))
    b, square = inside[0] * way[0] + inside[1] * way[1], way[0] * way[0] + way[1] * way[1]
    rest = inside[0] * inside[0] + inside[1] * inside[1] - sizes[0] * sizes[0]
    far = (sqrt(max(b * b - square * rest, 0.0)) - b) / (square + 1e-300)
    z = inside[2] + far * way[2]
    if abs(z) > sizes[1]:
        middle = inside[0], inside[1], inside[2] - (sizes[1] if z > 0.0 else -sizes[1])
        b = vec3.dot(middle, way)
        far = sqrt(max(b * b - vec3.dot(middle, middle) + sizes[0] * sizes[0], 0.0)) - b
    return vec3.add_scaled(inside, far, way)


@generic
def _is_rim(sizes: Any, a: Any, c: Any, hint: Any) -> bool:
    """True if the way past a hint goes round a torus's outside, as round a wheel, from and to points beyond it."""
    outside = sizes[1] + sizes[0]
    return flat(hint[0], hint[1]) > sizes[1] + RIM * sizes[0] and flat(a[0], a[1]) > outside and flat(c[0], c[1]) > outside


@generic
def _over_rim(kind: int, sizes: Any, a: Any, c: Any, hint: Any) -> Any:
    """Over the ellipsoid that has a torus's outer circle and the width of its tube."""
    outside = sizes[1] + sizes[0]
    bends, start, t, length, end = _over_round(a, c, hint, True, (outside, outside, sizes[0]), False)
    start = projected(kind, sizes, start)
    return bends, start, made_tangent(t, normal(kind, sizes, start)[0]), length, projected(kind, sizes, end)


@generic
def _over_tube(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool) -> Any:
    """Over a torus, as over a cylinder along its tube, at the hint or else where the line is deepest."""
    deepest, value = _deepest(kind, sizes, a, c)
    at = hint if has_hint else deepest
    away = flat(at[0], at[1]) + 1e-300
    e, s = at[0] / away, at[1] / away
    p = e * a[0] + s * a[1] - sizes[1], a[2], e * a[1] - s * a[0]
    q = e * c[0] + s * c[1] - sizes[1], c[2], e * c[1] - s * c[0]
    h = e * hint[0] + s * hint[1] - sizes[1], hint[2], 0.0
    bends, first, t, length, last = _over_cylinder(p, q, h, has_hint, sizes[0])
    outside = gradient(kind, sizes, a)[0] > 0.0 and gradient(kind, sizes, c)[0] > 0.0
    touches = outside and (value < 0.0 or (has_hint and bends))
    x, y = first[0] + sizes[1], last[0] + sizes[1]
    start = e * x - s * first[2], s * x + e * first[2], first[1]
    end = e * y - s * last[2], s * y + e * last[2], last[1]
    way = e * t[0] - s * t[2], s * t[0] + e * t[2], t[1]
    if not bends:  # it cuts into the ring, beside the tube's cylinder
        start, end, way, length = deepest, deepest, unit(vec3.sub(c, a)), 0.0
    start = projected(kind, sizes, start)
    return touches, start, made_tangent(way, normal(kind, sizes, start)[0]), length, projected(kind, sizes, end)


@generic
def _deepest(kind: int, sizes: Any, a: Any, c: Any) -> Any:
    """The point of a line that is deepest in a surface, and the surface's function there."""
    way = vec3.sub(c, a)
    square = vec3.dot(way, way) + 1e-300
    near, reach = -vec3.dot(a, way) / square, (sizes[0] + sizes[1]) / sqrt(square)
    low, high = max(near - reach, 0.0), min(near + reach, 1.0)
    best, where, step = 1e300, 0.0, (high - low) / SAMPLES
    for k in range(SAMPLES + 1):
        t = low + k * step
        value = gradient(kind, sizes, vec3.add_scaled(a, t, way))[0]
        if value < best:
            best, where = value, t
    for _ in range(STEPS):
        x = vec3.add_scaled(a, where, way)
        curved = bending(kind, sizes, x, way, way)
        if curved > 0.0:
            move = vec3.dot(gradient(kind, sizes, x)[1], way) / curved
            where = min(max(where - min(max(move, -step), step), 0.0), 1.0)
            if abs(move) < NEAR * step:
                break
    x = vec3.add_scaled(a, where, way)
    return x, gradient(kind, sizes, x)[0]
