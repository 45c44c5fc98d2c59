"""OpenSim's wrapping of a path's segment over an ellipsoid: along the section of a plane, not along a geodesic.

The plane goes through both ends and a point c of the surface near the segment. By the method "axial" c is nearest to where the
segment crosses the plane of the axes that it is most square to; by "midpoint" to its middle; by "hybrid" it is where the mean
of the shortest ways to the surface points to (the fan), or the axial one, or between both, as the segment is oblique or along
an axis. All this in units in which the mean radius is one. Points of touch are exact here, and found by iteration to 1e-4 of
the radius there: lengths of paths agree to about 1e-5. Answers as of `_over_cylinder`. Source: OpenSim 4.6, WrapEllipsoid;
nearest points: Hart 1994, Graphics Gems IV.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, sincos, sqrt, zero
from ...compiling import apart, generic
from ._lines import ROUNDING, angle_between, at, crossings, held, norm, on_side, put, safe_sqrt, unit
from ._over_cylinder import INSIDE, MANDATORY, NONE, WHOLE_TURN

HYBRID, MIDPOINT, AXIAL = 0, 1, 2
#: Cosines to the nearest axis below which the fan alone counts, and above which the axis does.
FAN, AXIS_ALONE = 0.7073, 0.9
#: Blades of the fan, and the part of the segment at whose ends the axis counts less.
BLADES, FADE = 300, 0.3
#: Longest piece, in metres, of the section; most of them.
PIECE, MOST = 0.001, 499
ON_SURFACE = 1e-4
#: How far from the surface an end is, by the sum of (end / radii)^2, that OpenSim's search may take for behind it.
BESIDE = 0.2
#: The last step of Newton's method for a nearest point, in parts of how far t is from its poles, where the function is flat.
CLOSE = 1e-4
#: The sum of squares of errors at which OpenSim takes a point of touch for found.
FOUND = 1e-8


@generic
def _over(a: Any, b: Any) -> Any:
    """Number by number."""
    return a[0] / b[0], a[1] / b[1], a[2] / b[2]


@generic
def _times(a: Any, b: Any) -> Any:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@apart
def over_ellipsoid(end_a: Any, end_b: Any, given: Any, axis: int, sign: int, method: int) -> Any:
    """An ellipsoid about the origin."""
    scale = 3.0 / (given[0] + given[1] + given[2])
    a, b, radii = vec3.scale(scale, end_a), vec3.scale(scale, end_b), vec3.scale(scale, given)
    o = zero(a[0])
    nothing = o, o, o
    p, q = _over(a, radii), _over(b, radii)
    level_a, level_b = vec3.dot(p, p) - 1.0, vec3.dot(q, q) - 1.0
    found = INSIDE, nothing, nothing, o
    if level_a >= -ON_SURFACE and level_b >= -ON_SURFACE:
        found = NONE, nothing, nothing, o
        through, high, low = crossings(a, b, radii)
        apart = vec3.dot(unit(a), unit(b)) - 1.0
        if through and (apart >= 1e-4 or apart <= -1e-4):
            back = vec3.sub(a, b)
            into, out = vec3.add(b, vec3.scale(high, back)), vec3.add(b, vec3.scale(low, back))
            first, last, length = _section_of(a, b, into, out, radii, scale, axis, sign, method, level_a, level_b)
            found = MANDATORY, vec3.scale(1.0 / scale, first), vec3.scale(1.0 / scale, last), length / scale
    return found


@generic
def _section_of(
    a: Any, b: Any, into: Any, out: Any, radii: Any, scale: Any, axis: int, sign: int, method: int, level_a: Any, level_b: Any
) -> Any:
    """First and last points of touch, and the length between."""
    c, fan, beyond = _near(a, b, into, out, radii, method)
    turned = sign != 0 and not on_side(at(c, axis), sign)
    start = c
    if turned:
        c = put(c, axis, -at(c, axis))
        start = c
        if fan > 0.0:
            c = nearest(put(c, axis, at(c, axis) * (1.0 - fan)), radii, -1)
    back = vec3.sub(a, b)
    normal = unit(vec3.cross(back, vec3.sub(a, c)))
    level = vec3.dot(normal, c)
    up = vec3.cross(normal, back)
    if (vec3.dot(up, vec3.sub(c, a)) > 0.0) == beyond:
        up = vec3.neg(up)
    first, last = a, b
    if level_a >= ON_SURFACE or level_a <= -ON_SURFACE:
        first = _touch(a, up, start, radii, normal, level, turned)
    if level_b >= ON_SURFACE or level_b <= -ON_SURFACE:
        last = _touch(b, up, start, radii, normal, level, turned)
    length, second, before_last = _section(first, last, radii, normal, level, scale, False)
    if sign != 0 and norm(vec3.sub(last, first)) / scale >= 2.0 * PIECE:
        forth = vec3.dot(unit(vec3.sub(a, first)), unit(vec3.sub(second, first)))
        behind = vec3.dot(unit(vec3.sub(b, last)), unit(vec3.sub(before_last, last)))
        if forth > 0.0 or behind > 0.0:
            length, second, before_last = _section(first, last, radii, normal, level, scale, True)
    return first, last, length


@generic
def _near(a: Any, b: Any, into: Any, out: Any, radii: Any, method: int) -> Any:
    """The point c; what part of it is the fan's, below zero where there is none; whether the path touches on the other side."""
    along = unit(vec3.sub(a, b))
    along = safe_sqrt(along[0] * along[0]), safe_sqrt(along[1] * along[1]), safe_sqrt(along[2] * along[2])
    k = 0
    if along[1] > along[0]:
        k = 1
    if along[2] > at(along, k):
        k = 2
    way = vec3.sub(out, into)
    o = zero(a[0])
    middle = vec3.add(into, vec3.scale(o + 0.5, way))
    part = -at(into, k) / at(way, k)
    crossing = vec3.add(into, vec3.scale(part, way))
    c, weight, beyond = middle, o - 1.0, False
    if method == MIDPOINT:
        c = nearest(middle, radii, -1)
    elif method == AXIAL:
        c, beyond = nearest(crossing, radii, k), not (part > 0.0 and part < 1.0)
    else:
        close = at(along, k)
        if close > FAN:
            edge = (part if part < 1.0 - part else 1.0 - part) / FADE
            edge = o if edge < 0.0 else (o + 1.0 if edge > 1.0 else edge)
            close = FAN + edge * (close - FAN)
        axial = c
        if close > FAN:
            axial = nearest(crossing, radii, k)
        if close >= AXIS_ALONE:
            c = axial
        else:
            c = _fanned(into, way, middle, radii)
            weight = o + 1.0
            if close > FAN:
                weight = 1.0 - (close - FAN) / (AXIS_ALONE - FAN)
                c = nearest(vec3.add(vec3.scale(1.0 - weight, axial), vec3.scale(weight, c)), radii, -1)
    return c, weight, beyond


@generic
def _fanned(into: Any, way: Any, middle: Any, radii: Any) -> Any:
    """The point of the surface to which the mean of the blades leads from the middle."""
    o = zero(into[0])
    blades = o, o, o
    for i in range(1, BLADES - 1):
        root = vec3.add(into, vec3.scale(o + i / BLADES, way))
        blades = vec3.add(blades, unit(vec3.sub(nearest(root, radii, -1), root)))
    return nearest(vec3.add(middle, unit(blades)), radii, -1)


@generic
def _touch(end: Any, up: Any, start: Any, radii: Any, normal: Any, level: Any, turned: bool) -> Any:
    """The point in which a line in a plane from *end* touches the ellipsoid, of both the one further *up*.

    With y = x / radii this is the unit sphere, cut by the plane and by that of the points of touch, y . (end / radii) = 1.
    Where the path has been *turned* to the side that counts, or the end is so near that both are, it is the point at which
    OpenSim's search from *start* ends.
    """
    n, p = _times(normal, radii), _over(end, radii)
    nn, np, pp = vec3.dot(n, n), vec3.dot(n, p), vec3.dot(p, p)
    det = nn * pp - np * np
    foot = vec3.add(vec3.scale((level * pp - np) / det, n), vec3.scale((nn - level * np) / det, p))
    along = vec3.scale(safe_sqrt(1.0 - vec3.dot(foot, foot)), unit(vec3.cross(n, p)))
    one, other = _times(vec3.add(foot, along), radii), _times(vec3.sub(foot, along), radii)
    takes_one = vec3.dot(one, up) >= vec3.dot(other, up)
    if turned or pp < 1.0 + BESIDE:
        near = _sought(_bare(start), _bare(end), _bare(radii), _bare(normal), bare(level))
        takes_one = norm(vec3.sub(_bare(one), near)) <= norm(vec3.sub(_bare(other), near))
    return one if takes_one else other


@generic
def _bare(v: Any) -> Any:
    return bare(v[0]), bare(v[1]), bare(v[2])


@apart
def _sought(start: Any, end: Any, radii: Any, normal: Any, level: Any) -> Any:
    """Near which point of touch OpenSim's search ends: Levenberg's and Marquardt's method with steps that are lengthened.

    Unknown are the point and its tangent plane's distance; sought is the point in the plane of the path, on the surface, and on
    a tangent plane that goes through *end*.
    """
    squares = _times(radii, radii)
    point, far = start, -2.0 * vec3.dot(_over(start, squares), start)
    miss, was = _missed(point, far, end, squares, normal, level)[1], -1.0
    damping, way, away = 0.01, (0.0, 0.0, 0.0), 0.0
    for _ in range(50):
        if not miss > FOUND:
            break
        errors, miss = _missed(point, far, end, squares, normal, level)
        was, turns = miss, 0
        rows, slow = _slopes(point, end, squares, normal), _slowed(point, end)
        while miss >= was and turns < 1000:
            way, away = _step(rows, errors, damping, slow / 16.0)
            point, far = vec3.add(point, way), far + away
            was, miss = miss, _missed(point, far, end, squares, normal, level)[1]
            damping *= 4.0
            turns += 1
        damping, longer, turns = damping / 8.0, 0.5, 0
        while miss <= was and turns < 1000:
            longer *= 2.0
            point, far = vec3.add(point, vec3.scale(longer, way)), far + longer * away
            was, miss = miss, _missed(point, far, end, squares, normal, level)[1]
            turns += 1
        point, far = vec3.sub(point, vec3.scale(longer, way)), far - longer * away
        miss = _missed(point, far, end, squares, normal, level)[1]
    return point


@generic
def _missed(point: Any, far: Any, end: Any, squares: Any, normal: Any, level: Any) -> Any:
    """The four errors, and the sum of their squares."""
    across = vec3.scale(2.0, _over(point, squares))
    in_plane, on_surface = vec3.dot(normal, point) - level, 0.5 * vec3.dot(across, point) - 1.0
    tangent, through = vec3.dot(across, point) + far, vec3.dot(across, end) + far
    return (in_plane, on_surface, tangent, through), (
        in_plane * in_plane + on_surface * on_surface + tangent * tangent + through * through
    )


@generic
def _slopes(point: Any, end: Any, squares: Any, normal: Any) -> Any:
    """Of each error the rates with the point, as there: the fourth is that of the third's other factor."""
    across = vec3.scale(2.0, _over(point, squares))
    return normal, across, vec3.scale(2.0, across), vec3.scale(2.0, _over(end, squares))


@generic
def _slowed(point: Any, end: Any) -> Any:
    """A factor of steps: less than one where the point is ahead of the middle."""
    ahead = vec3.dot(unit(vec3.sub(end, point)), unit(end))
    return 1.0 - ahead**100 if ahead > 0.1 else 1.0


@generic
def _step(rows: Any, errors: Any, damping: Any, part: Any) -> Any:
    """A part of the damped step of the point and of the tangent plane's distance, which is the last that is eliminated."""
    n, s, t, u = rows
    e, f, g, h = errors
    more = 1.0 + damping
    right = vec3.neg(vec3.add(vec3.add(vec3.scale(e, n), vec3.scale(f, s)), vec3.add(vec3.scale(g, t), vec3.scale(h, u))))
    last, side = -(g + h), vec3.add(t, u)
    xx = more * (n[0] * n[0] + s[0] * s[0] + t[0] * t[0] + u[0] * u[0])
    yy = more * (n[1] * n[1] + s[1] * s[1] + t[1] * t[1] + u[1] * u[1])
    zz = more * (n[2] * n[2] + s[2] * s[2] + t[2] * t[2] + u[2] * u[2])
    xy = n[0] * n[1] + s[0] * s[1] + t[0] * t[1] + u[0] * u[1]
    xz = n[0] * n[2] + s[0] * s[2] + t[0] * t[2] + u[0] * u[2]
    yz = n[1] * n[2] + s[1] * s[2] + t[1] * t[2] + u[1] * u[2]
    own = 2.0 * more
    # without the distance
    xx, yy, zz = xx - side[0] * side[0] / own, yy - side[1] * side[1] / own, zz - side[2] * side[2] / own
    xy, xz, yz = xy - side[0] * side[1] / own, xz - side[0] * side[2] / own, yz - side[1] * side[2] / own
    right = vec3.sub(right, vec3.scale(last / own, side))
    first, second, third = (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    across = vec3.cross(second, third)
    det = vec3.dot(first, across)
    way = (
        vec3.dot(right, across) / det,
        vec3.dot(right, vec3.cross(third, first)) / det,
        vec3.dot(right, vec3.cross(first, second)) / det,
    )
    away = (last - vec3.dot(side, way)) / own
    return vec3.scale(part, way), part * away


@generic
def _section(first: Any, last: Any, radii: Any, normal: Any, level: Any, scale: Any, far: bool) -> Any:
    """Length of a polygon from one to the other, its second point and the last but one.

    At even angles about where the plane's steepest axis goes through it.
    """
    apart = norm(vec3.sub(last, first)) / scale
    o = zero(apart)
    total, second, previous = norm(vec3.sub(last, first)), last, first
    if apart >= PIECE:
        pieces = min(int(bare(apart) / PIECE), MOST)
        center, x, y, angle = _plane(first, last, normal, level)
        if far:
            angle = angle - WHOLE_TURN
        # c + r w on the surface: w of length one in the plane
        f, h, g = _over(x, radii), _over(y, radii), _over(center, radii)
        cc = vec3.dot(g, g) - 1.0
        step_s, step_c = sincos(angle / pieces)
        s, c = step_s, step_c
        total = o
        for k in range(1, pieces):
            w = vec3.add(vec3.scale(c, f), vec3.scale(s, h))
            aa, bb = vec3.dot(w, w), vec3.dot(w, g)
            out = (safe_sqrt(bb * bb - aa * cc) - bb) / aa
            point = vec3.add(center, vec3.add(vec3.scale(out * c, x), vec3.scale(out * s, y)))
            total = total + norm(vec3.sub(point, previous))
            if k == 1:
                second = point
            previous = point
            s, c = s * step_c + c * step_s, c * step_c - s * step_s
        total = total + norm(vec3.sub(last, previous))
    return total, second, previous


@generic
def _plane(first: Any, last: Any, normal: Any, level: Any) -> Any:
    """The end of the plane's steepest axis; two axes of the plane, the first to *first*; the angle to *last*."""
    k, most = 0, normal[0] * normal[0]
    if normal[1] * normal[1] > most:
        k, most = 1, normal[1] * normal[1]
    if normal[2] * normal[2] > most:
        k = 2
    o = zero(level)
    center = put((o, o, o), k, level / at(normal, k))
    x, other = unit(vec3.sub(first, center)), unit(vec3.sub(last, center))
    y = vec3.cross(unit(vec3.cross(x, other)), x)
    return center, x, y, angle_between(x, other)


@generic
def nearest(point: Any, radii: Any, axis: int) -> Any:
    """The nearest point of the surface: of the section at *axis*, or at an axis on whose plane the point is, the narrowest."""
    if axis < 0:
        for k in range(3):
            flat = at(point, k) <= ROUNDING and at(point, k) >= -ROUNDING
            if flat and (axis < 0 or at(radii, k) > at(radii, axis)):
                axis = k
    found = point
    if axis < 0:
        found = _solved(point, radii)
    else:
        i, j = (axis + 1) % 3, (axis + 2) % 3
        x, y = _nearest_of_ellipse(at(point, i), at(point, j), at(radii, i), at(radii, j))
        found = put(put(point, i, x), j, y)
    return found


@generic
def _nearest_of_ellipse(x: Any, y: Any, r: Any, s: Any) -> Any:
    x_zero, y_zero = x <= ROUNDING and x >= -ROUNDING, y <= ROUNDING and y >= -ROUNDING
    o = zero(x)
    if not x_zero and not y_zero:
        found = _solved((x, y, o), (r, s, o + 1.0))
        result = found[0], found[1]
    elif x_zero and y_zero:
        if r < s:
            result = (-r if x < 0.0 else r), y
        else:
            result = x, (-s if y < 0.0 else s)
    elif x_zero:
        along, across = _nearest_on_axis(y, x, s, r)
        result = across, along
    else:
        result = _nearest_on_axis(x, y, r, s)
    return result


@generic
def _nearest_on_axis(x: Any, y: Any, long: Any, short: Any) -> Any:
    """Of a point on the axis of its first number."""
    size = -x if x < 0.0 else x
    at_end = short >= long or size >= long - short * short / long
    first, second = (-long if x < 0.0 else long), y
    if not at_end:
        first = long * long * x / (long * long - short * short)
        part = first / long
        second = short * safe_sqrt((1.0 - part) * (1.0 + part))
    return first, second


@generic
def _solved(point: Any, radii: Any) -> Any:
    """By Newton's method for t, the greatest root of sum (r x / (t + r^2))^2 = 1, all multiplied by the denominators."""
    squares = _times(radii, radii)
    weights = squares[0] * point[0] * point[0], squares[1] * point[1] * point[1], squares[2] * point[2] * point[2]
    s = bare(squares[0]), bare(squares[1]), bare(squares[2])
    w = bare(weights[0]), bare(weights[1]), bare(weights[2])
    t = 0.0
    if w[0] / (s[0] * s[0]) + w[1] / (s[1] * s[1]) + w[2] / (s[2] * s[2]) >= 1.0:
        largest = max(bare(radii[0]), max(bare(radii[1]), bare(radii[2])))
        t = largest * sqrt(bare(vec3.dot(point, point)))
    for _ in range(64):
        step = _newton(t, s, w)
        t -= step
        if abs(step) < CLOSE * min(abs(t + s[0]), abs(t + s[1]), abs(t + s[2])):
            break
    root = t + zero(point[0])
    for _ in range(2):
        root = held(root, _newton(root, squares, weights))
    return (
        squares[0] * point[0] / (root + squares[0]),
        squares[1] * point[1] / (root + squares[1]),
        squares[2] * point[2] / (root + squares[2]),
    )


@generic
def _newton(t: Any, squares: Any, weights: Any) -> Any:
    """By how much t is too large."""
    p, q, r = t + squares[0], t + squares[1], t + squares[2]
    pp, qq, rr = p * p, q * q, r * r
    a, b, c = weights[0] * qq * rr, weights[1] * rr * pp, weights[2] * pp * qq
    product = pp * qq * rr
    i, j, k = 2.0 / p, 2.0 / q, 2.0 / r
    each = i + j + k
    f = product - (a + b + c)
    return f / (product * each - (a * (each - i) + b * (each - j) + c * (each - k)))
