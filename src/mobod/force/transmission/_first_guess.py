"""First guess of a taut line from a to c over a surface: exact for one sphere or cylinder, else near enough to go on.

In a plane through both ends the section of the surface is taken for a circle, whose tangents are known: of spheres and
ellipsoids in coordinates in which they are unit spheres, of cylinders across the axis, of tori across the tube. Of a capsule
the section is taken as it is. The way round is the short one, or, with a hint, the one past it, which can be more than half a
turn: in angles about the middle of the circle from a to the hint and on to c.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import atan2, sincos, sqrt
from ...compiling import apart, generic
from ._geodesic import bending, gradient, made_tangent, projected
from ._lines import norm, unit
from ._segments import CAPSULE, CYLINDER, ELLIPSOID, SPHERE

#: Steps to the point of a line that is deepest in a torus, and which part of its way through is near.
STEPS, NEAR = 8, 1e-4
#: From which part of its tube on a hint is on the rim of a torus.
RIM = 0.7
#: Up to which part of half the square of its tube's radius a torus's function is of a point next to it.
CLOSE = 0.2
#: The square of the sine of the angle from which on a line goes into a surface next to it.
GLANCING = 1e-6
#: From which depth on a line from a point of a torus goes through it, as a part of the square of its tube's radius.
SLIGHT = 1e-9
#: On which side of its middle a line through a torus touches.
BOTH = -1
#: Steps to the point of an ellipsoid that is nearest to a line; how far they go of the way on which there is one.
SECULAR, LONGEST = 2, 0.999


@generic
def flat(x: Any, y: Any) -> Any:
    """The length of a vector in a plane."""
    return sqrt(x * x + y * y)


@generic
def _turn(a: Any, b: Any, m: Any) -> Any:
    return atan2(vec3.dot(m, vec3.cross(a, b)), vec3.dot(a, b))


@generic
def _around(a: Any, c: Any, hint: Any, has_hint: bool, m: Any, radius: Any) -> Any:
    """True if a line in the plane across m bends around a circle; where it touches, its turn between, its sense about m."""
    from_a, from_c, square = vec3.dot(a, a), vec3.dot(c, c), radius * radius
    touches, p, q, turn, sense = False, a, c, 0.0, 1.0
    if from_a > square and from_c > square:
        whole = vec3.dot(m, vec3.cross(a, c))
        if has_hint:
            whole = _turn(a, hint, m) + _turn(hint, c, m)
        sense = -1.0 if whole < 0.0 else 1.0
        p, q = _tangent_from(a, m, square, sense, 1.0), _tangent_from(c, m, square, -sense, 1.0)
        turn = sense * _turn(p, q, m)
        if has_hint and turn < 0.0 and abs(whole) > 3.141592653589793:
            turn += 6.283185307179586
        touches = turn > 0.0
    return touches, p, q, turn, sense


@generic
def _tangent_from(a: Any, m: Any, square: Any, sense: float, per_m: Any) -> Any:
    """Where a line from a in the plane across m touches the circle of a radius's square; *per_m* is one over m's square."""
    far = 1.0 / vec3.dot(a, a)
    aside = sense * sqrt(square * max(vec3.dot(a, a) - square, 0.0) * per_m) * far
    return vec3.add_scaled(vec3.scale(square * far, a), aside, vec3.cross(m, a))


@apart
def guess(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool, side: int) -> Any:
    """True if the line touches; where first, in which direction, how far over the surface, where last.

    Of a torus on one *side* of where the line is nearest to the axis, 0 or 1; an end on the surface then counts as outside.
    """
    if kind == CYLINDER:
        found = _over_cylinder(a, c, hint, has_hint, sizes[0])
    elif kind == ELLIPSOID and not has_hint:
        found = _over_ellipsoid(a, c, sizes)
    elif kind == SPHERE or kind == ELLIPSOID:
        radii = (sizes[0], sizes[0], sizes[0]) if kind == SPHERE else sizes
        found = _over_round(a, c, hint, has_hint, radii, kind == SPHERE)
    elif kind == CAPSULE:
        found = _over_capsule(kind, sizes, a, c, hint, has_hint)
    elif has_hint and _is_rim(sizes, a, c, hint):
        found = _over_rim(kind, sizes, a, c, hint)
    else:
        found = _over_tube(kind, sizes, a, c, hint, has_hint, side)
    return found


@generic
def _over_cylinder(a: Any, c: Any, hint: Any, has_hint: bool, radius: Any) -> Any:
    to_a, to_c, to_hint = (a[0], a[1], 0.0), (c[0], c[1], 0.0), (hint[0], hint[1], 0.0)
    touches, p, q, turn, sense = _around(to_a, to_c, to_hint, has_hint, (0.0, 0.0, 1.0), radius)
    before, over = flat(p[0] - a[0], p[1] - a[1]), radius * turn
    slope = (c[2] - a[2]) / (before + over + flat(q[0] - c[0], q[1] - c[1]) + 1e-300)
    z, size = a[2] + slope * before, sqrt(1.0 + slope * slope)
    along = sense / (radius * size)
    t = -along * p[1], along * p[0], slope / size
    return touches, (p[0], p[1], z), t, over * size, (q[0], q[1], z + slope * over)


@generic
def _over_round(a: Any, c: Any, hint: Any, has_hint: bool, radii: Any, is_sphere: bool) -> Any:
    """Over a unit sphere, scaled; without a hint at once where the line misses it."""
    over = 1.0 / radii[0], 1.0 / radii[1], 1.0 / radii[2]
    a, c = _times(over, a), _times(over, c)
    way = vec3.sub(c, a)
    d = vec3.add_scaled(a, -vec3.dot(a, way) / vec3.dot(way, way), way)
    touches, p, q, t, length = False, a, c, way, 0.0
    if has_hint or vec3.dot(d, d) < 1.0:
        o = 0.0, 0.0, 0.0
        m = vec3.cross(a, c)
        straight = vec3.dot(m, m) < 1e-12 * vec3.dot(a, a) * vec3.dot(c, c)
        by_hint = has_hint and (straight or not is_sphere)
        h = _times(over, hint)
        if by_hint:
            h = unit(h)
            m = vec3.cross(vec3.sub(h, a), way)
        elif straight:  # any way is as good
            m = vec3.cross(a, _beside(a))
        m = unit(m)
        middle = o if is_sphere and not by_hint else vec3.scale(vec3.dot(m, a), m)
        radius = sqrt(max(1.0 - vec3.dot(middle, middle), 0.0))
        touches, p, q, turn, sense = _around(vec3.sub(a, middle), vec3.sub(c, middle), vec3.sub(h, middle), by_hint, m, radius)
        t = _times(radii, vec3.cross(m, p))
        speed = norm(t) + 1e-300
        length = radii[0] * turn
        if not is_sphere:  # by Simpson's rule
            half = vec3.add(p, q)
            size = radius / (norm(half) + 1e-300)
            between = size * norm(_times(radii, vec3.cross(m, half)))
            length = turn * (speed + 4.0 * between + norm(_times(radii, vec3.cross(m, q)))) / 6.0
        t = vec3.scale(sense / speed, t)
        p, q = _times(radii, vec3.add(middle, p)), _times(radii, vec3.add(middle, q))
    return touches, p, t, length, q


@generic
def _beside(a: Any) -> Any:
    """An axis that is not along a."""
    return (0.0, 0.0, 1.0) if abs(a[2]) < 0.5 * norm(a) else (1.0, 0.0, 0.0)


@generic
def _over_ellipsoid(a: Any, c: Any, radii: Any) -> Any:
    """The short way over an ellipsoid, in the plane that has its normal at the point nearest to the line; scaled as above.

    The length is that of a circle of this chord whose ends turn by as much. Nothing is made of length one on the way: each root
    and quotient would wait for the one before.
    """
    over = 1.0 / radii[0], 1.0 / radii[1], 1.0 / radii[2]
    a, c = _times(over, a), _times(over, c)
    way = vec3.sub(c, a)
    per_way = 1.0 / vec3.dot(way, way)
    d = vec3.add_scaled(a, -per_way * vec3.dot(a, way), way)
    touches, p, q, t, length = False, a, c, way, 0.0
    if vec3.dot(d, d) < 1.0:
        m = vec3.cross(way, _nearest_normal(_times(over, over), d, way, per_way))
        per_m, level = 1.0 / vec3.dot(m, m), vec3.dot(m, a)
        square, middle = 1.0 - level * level * per_m, vec3.scale(level * per_m, m)
        sense = -1.0 if vec3.dot(m, vec3.cross(a, c)) < 0.0 else 1.0
        a, c = vec3.sub(a, middle), vec3.sub(c, middle)
        p, q = _tangent_from(a, m, square, sense, per_m), _tangent_from(c, m, square, -sense, per_m)
        touches = sense * vec3.dot(m, vec3.cross(p, q)) > 0.0 and vec3.dot(a, a) > square and vec3.dot(c, c) > square
        t, back = _times(radii, vec3.cross(m, p)), _times(radii, vec3.cross(m, q))
        speed = vec3.dot(t, t) + 1e-300
        turned = vec3.dot(t, back) / sqrt(speed * vec3.dot(back, back) + 1e-300)
        t = vec3.scale(sense / sqrt(speed), t)
        p, q = _times(radii, vec3.add(middle, p)), _times(radii, vec3.add(middle, q))
        length = norm(vec3.sub(q, p)) * _arc_by_chord(0.5 - 0.5 * turned)
    return touches, p, t, length, q


@generic
def _arc_by_chord(square: Any) -> Any:
    """An arc over its chord, by the square of the sine of half its angle, of half a turn at most."""
    found = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0 + square * 5.0 / 112.0))
    if square > 0.3:
        found = atan2(sqrt(square), sqrt(max(1.0 - square, 0.0))) / sqrt(square)
    return found


@generic
def _nearest_normal(over: Any, d: Any, way: Any, per_way: Any) -> Any:
    """The normal of an ellipsoid at its point nearest to a line, across the line, of any length; all scaled.

    In the section across the line at its point d nearest to the middle, the nearest point m of the unit circle has
    m - d = l B m, with B of one over the radii's squares: by B's trace and determinant D, with C = trace - B, so that B C = D,

        m = (d - l C d) / (1 - l trace + l^2 D)        B m, along B d - l D d, is the normal

    Newton's method for |m| = 1, over numerators and denominators alone, starts from a bound; l is below one over B's greater
    value. That is all but reached where d is on the axis of the lesser one: m is then aside, on either side.
    """
    on_d, on_way = _times(over, d), _times(over, way)
    on_d = vec3.add_scaled(on_d, -per_way * vec3.dot(way, on_d), way)
    trace = over[0] + over[1] + over[2] - per_way * vec3.dot(way, on_way)
    rest = over[1] * over[2], over[2] * over[0], over[0] * over[1]
    determinant = per_way * vec3.dot(way, _times(rest, way))
    other, most = vec3.sub(vec3.scale(trace, d), on_d), 0.5 * trace + sqrt(max(0.25 * trace * trace - determinant, 0.0))
    longest = LONGEST / most
    now = min(longest, (1.0 - sqrt(vec3.dot(d, d))) / most)
    for _ in range(SECULAR):
        m, below = vec3.add_scaled(d, -now, other), 1.0 - now * (trace - now * determinant)
        square, slope = vec3.dot(m, m), 2.0 * now * determinant - trace
        now = min(longest, now - square * (below - sqrt(square)) / (slope * square + below * vec3.dot(m, other)))
    found = vec3.add_scaled(on_d, -now * determinant, d)
    if now >= longest:
        aside = vec3.cross(way, _beside(way))
        least, on_aside = determinant / most, _times(over, aside)
        on_aside = vec3.add_scaled(on_aside, -per_way * vec3.dot(way, on_aside), way)
        aside = unit(vec3.add_scaled(on_aside, 1e-9 * most - least, aside))
        along = vec3.dot(d, aside)
        m = vec3.scale(most / (most - least + 1e-9 * most), vec3.add_scaled(d, -along, aside))
        out = sqrt(max(1.0 - vec3.dot(m, m), 0.0))
        found = vec3.sub(vec3.add_scaled(m, out if along > 0.0 else -out, aside), d)
    return found


@generic
def _times(a: Any, b: Any) -> Any:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@generic
def _over_capsule(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool) -> Any:
    """Over the sphere of an end or the cylinder between where it goes over that alone, else over a section by a plane.

    Past a hint the section is that through it, if the line goes into the capsule, else of what the hint is on.
    """
    deepest, height, value = _deepest_in_capsule(sizes, a, c)
    into = value < 0.0
    outside = gradient(kind, sizes, a)[0] > 0.0 and gradient(kind, sizes, c)[0] > 0.0
    if has_hint and not into:
        height = min(max(hint[2], -sizes[1]), sizes[1])
    middle = 0.0, 0.0, height
    on_end = abs(hint[2] if has_hint and not into else height) >= sizes[1]
    bends, start, t, length, end = False, a, a, 0.0, c
    alone = False
    if into != has_hint:
        to_a, to_c, to_hint = vec3.sub(a, middle), vec3.sub(c, middle), vec3.sub(hint, middle)
        if on_end:
            bends, start, t, length, end = _over_round(to_a, to_c, to_hint, has_hint, (sizes[0], sizes[0], sizes[0]), True)
        else:
            bends, start, t, length, end = _over_cylinder(to_a, to_c, to_hint, has_hint, sizes[0])
        start, end = vec3.add(start, middle), vec3.add(end, middle)
        low, high = min(start[2], end[2]), max(start[2], end[2])
        alone = (low >= height if height > 0.0 else high <= height) if on_end else (low >= -sizes[1] and high <= sizes[1])
    if into and not alone:
        bends = True
        start, t, length, end = _over_section(sizes, a, c, deepest, hint, has_hint)
    start, end = projected(kind, sizes, start), projected(kind, sizes, end)
    bends = bends and (into or has_hint)
    return outside and bends, start, made_tangent(t, gradient(kind, sizes, start)[1]), length, end


@generic
def _deepest_in_capsule(sizes: Any, a: Any, c: Any) -> Any:
    """The point of a line that is nearest to a capsule's axis, the height of the nearest of this, above zero outside."""
    way = vec3.sub(c, a)
    across = way[0] * way[0] + way[1] * way[1] + 1e-300
    t = -(a[0] * way[0] + a[1] * way[1]) / across
    height = min(max(a[2] + t * way[2], -sizes[1]), sizes[1])
    t = -(a[0] * way[0] + a[1] * way[1] + (a[2] - height) * way[2]) / (across + way[2] * way[2])
    x = vec3.add_scaled(a, min(max(t, 0.0), 1.0), way)
    height = min(max(x[2], -sizes[1]), sizes[1])
    return x, height, x[0] * x[0] + x[1] * x[1] + (x[2] - height) ** 2 - sizes[0] * sizes[0]


@generic
def _over_section(sizes: Any, a: Any, c: Any, inside: Any, hint: Any, has_hint: bool) -> Any:
    """Over the section of a capsule by the plane through both ends and a hint, or the way out of a point inside.

    The length is that of a circle with this chord and this turn.
    """
    x = unit(vec3.sub(c, a))
    up = vec3.sub(hint, inside) if has_hint else gradient(CAPSULE, sizes, inside)[1]
    up = vec3.add_scaled(up, -vec3.dot(up, x), x)
    if vec3.dot(up, up) < 1e-24 * sizes[0] * sizes[0]:  # any way is as good
        up = vec3.cross(x, (0.0, 0.0, 1.0) if abs(x[2]) < 0.5 else (1.0, 0.0, 0.0))
    up = unit(up)
    across = vec3.cross(x, up)
    start, end = _where_touched(sizes, a, up, across), _where_touched(sizes, c, up, across)
    t, back = unit(vec3.sub(start, a)), unit(vec3.sub(end, c))
    turned = vec3.add(t, back)
    return start, t, norm(vec3.sub(end, start)) * _arc_by_chord(0.25 * vec3.dot(turned, turned)), end


@generic
def _where_touched(sizes: Any, a: Any, up: Any, across: Any) -> Any:
    """Where a line from a touches the section of a capsule, *up*, by the plane through a whose normal is *across*.

    A capsule is all spheres along its axis: it is that of which the line touches the cylinder, or the end's.
    """
    square, radius = a[0] * a[0] + a[1] * a[1], sizes[0]
    height = a[2]
    if square > radius * radius:
        toward, aside = radius * radius / square, radius * sqrt(square - radius * radius) / square
        over = 1.0 / across[2] if abs(across[2]) > 1e-12 else 1e12
        best = -1e300
        for k in range(2):
            side = aside if k == 0 else -aside
            x, y = toward * a[0] - side * a[1], toward * a[1] + side * a[0]
            z = a[2] - (across[0] * (x - a[0]) + across[1] * (y - a[1])) * over
            out = up[0] * x + up[1] * y + up[2] * z
            if out > best:
                best, height = out, z
    middle = 0.0, 0.0, min(max(height, -sizes[1]), sizes[1])
    off = vec3.sub(a, middle)
    beside = vec3.dot(across, off)
    center = vec3.add_scaled(middle, beside, across)
    off = vec3.add_scaled(off, -beside, across)
    own = max(radius * radius - beside * beside, 0.0)
    far = vec3.dot(off, off)
    aside = sqrt(own * max(far - own, 0.0)) / far
    turned = vec3.cross(across, off)
    if vec3.dot(turned, up) < 0.0:
        aside = -aside
    return vec3.add(vec3.add_scaled(center, own / far, off), vec3.scale(aside, turned))


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
    return bends, start, made_tangent(t, gradient(kind, sizes, start)[1]), length, projected(kind, sizes, end)


@generic
def _over_tube(kind: int, sizes: Any, a: Any, c: Any, hint: Any, has_hint: bool, side: int) -> Any:
    """Over a torus, as over a cylinder along its tube, at the hint or else where the line is deepest."""
    deepest, value = _deepest(kind, sizes, a, c, side)
    if value >= 0.0 and not has_hint:
        return False, a, a, 0.0, c
    at = hint if has_hint else deepest
    away = flat(at[0], at[1]) + 1e-300
    e, s = at[0] / away, at[1] / away
    way = vec3.sub(c, a)
    p, by_p = _beside_tube(kind, sizes, e, s, a, way)
    q, by_q = _beside_tube(kind, sizes, e, s, c, vec3.neg(way))
    h = e * hint[0] + s * hint[1] - sizes[1], hint[2], 0.0
    bends, first, t, length, last = _over_cylinder(p, q, h, has_hint, sizes[0])
    if side == BOTH:
        outside = gradient(kind, sizes, a)[0] > 0.0 and gradient(kind, sizes, c)[0] > 0.0
        touches = outside and (value < 0.0 or (has_hint and bends))
    else:
        touches = value < -SLIGHT * sizes[0] * sizes[0]
    start, forth, aside = _from_tube(sizes, e, s, first, by_p)
    end, _, _ = _from_tube(sizes, e, s, last, by_q)
    way = vec3.add(vec3.scale(t[0], forth), vec3.add_scaled((0.0, 0.0, t[1]), t[2], aside))
    if not bends:  # it cuts into the ring, beside the tube's cylinder
        start, end, way, length = deepest, deepest, unit(vec3.sub(c, a)), 0.0
    start = projected(kind, sizes, start)
    return touches, start, made_tangent(way, gradient(kind, sizes, start)[1]), length, projected(kind, sizes, end)


@generic
def _beside_tube(kind: int, sizes: Any, e: Any, s: Any, a: Any, way: Any) -> Any:
    """A point in the frame of a torus's tube, its axis last; of the tube unrolled where it goes into that next to a.

    Of such a point that touched first is near, and would be off by more than its distance. The other number is how far it is
    from z then, else zero.
    """
    x, y = e * a[0] + s * a[1], e * a[1] - s * a[0]
    away, found = 0.0, (x - sizes[1], a[2], y)
    value, g = gradient(kind, sizes, a)
    into = vec3.dot(g, way)
    if value < CLOSE * sizes[0] * sizes[0] and into < 0.0 and into * into > GLANCING * vec3.dot(g, g) * vec3.dot(way, way):
        away = flat(x, y)
        found = away - sizes[1], a[2], away * atan2(y, x)
    return found, away


@generic
def _from_tube(sizes: Any, e: Any, s: Any, p: Any, away: Any) -> Any:
    """Where a point in the frame of the tube is, and which way the frame's first and last axes are there."""
    out, along = p[0] + sizes[1], p[2]
    if away > 0.0:
        d, c = sincos(p[2] / away)
        e, s, along = e * c - s * d, e * d + s * c, 0.0
    return (e * out - s * along, s * out + e * along, p[1]), (e, s, 0.0), (-s, e, 0.0)


@generic
def _deepest(kind: int, sizes: Any, a: Any, c: Any, only: int) -> Any:
    """The point of a line that is deepest in a torus, and the surface's function there; above zero where it is far off.

    On either side, or *only* one, of where the line is nearest to the axis, from where it crosses the tube's circle, seen from
    above, or its plane.
    """
    way = vec3.sub(c, a)
    square = vec3.dot(way, way) + 1e-300
    outside, hole = sizes[1] + sizes[0], max(sizes[1] - sizes[0], 0.0)
    near = -vec3.dot(a, way) / square
    off = vec3.add_scaled(a, near, way)
    room = (outside * outside - vec3.dot(off, off)) / square
    reach = sqrt(max(room, 0.0))
    up = way[2] if abs(way[2]) > 1e-300 else 1e-300
    level, slab = -a[2] / up, abs(sizes[0] / up)
    low, high = max(near - reach, level - slab, 0.0), min(near + reach, level + slab, 1.0)
    x, value = a, 1.0
    if room > 0.0 and high > low:
        across = way[0] * way[0] + way[1] * way[1] + 1e-300
        middle = -(a[0] * way[0] + a[1] * way[1]) / across
        beside = (a[0] * way[1] - a[1] * way[0]) ** 2 / across
        half = sqrt(max(sizes[1] * sizes[1] - beside, 0.0) / across)
        parting = min(max(middle, low), high)
        for side in range(2):
            start, end = (low, parting) if side == 0 else (parting, high)
            far = vec3.add_scaled(a, start if side == 0 else end, way)
            is_in_hole = far[0] * far[0] + far[1] * far[1] < hole * hole
            if end > start and (only == BOTH or only == side) and not is_in_hole:
                t = min(max(middle - half if side == 0 else middle + half, start), end)
                other = min(max(level, start), end)
                if _into(kind, sizes, a, other, way) < _into(kind, sizes, a, t, way):
                    t = other
                for _ in range(STEPS):
                    p = vec3.add_scaled(a, t, way)
                    curved = bending(kind, sizes, p, way, way)
                    slope = vec3.dot(gradient(kind, sizes, p)[1], way)
                    move = slope / max(curved, 0.1 * square)
                    t = min(max(t - move, start), end)
                    if abs(move) < NEAR * (high - low):
                        break
                found = _into(kind, sizes, a, t, way)
                if found < value or side == 0 or only == 1:
                    x, value = vec3.add_scaled(a, t, way), found
    return x, value


@generic
def _into(kind: int, sizes: Any, a: Any, t: Any, way: Any) -> Any:
    return gradient(kind, sizes, vec3.add_scaled(a, t, way))[0]
