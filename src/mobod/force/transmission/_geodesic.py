"""Geodesics: where a taut line goes on over a smooth surface, and how neighbouring ones spread.

x'' = -k n        k = t.S t the normal curvature along it, n the outward normal, S = dn/dx
a'' = -K a        of a geodesic that starts beside it, a(0) = 1, a'(0) = 0
r'' = -K r        of one that starts in another direction, r(0) = 0, r'(0) = 1; K the Gaussian curvature

Of spheres and cylinders in closed form, and so piece by piece of capsules. Of ellipsoids and tori by Gragg's extrapolated
midpoint rule, of the first of orders 6, 8 and 10 whose difference from the order below is within a tolerance. Source: Scholz,
Sherman, Stavness, Delp, Kecskemethy 2016, A fast multi-obstacle muscle wrapping method using natural geodesic variations;
Hairer, Norsett, Wanner 1993, II.9.

Surfaces are about the origin, cylinders, capsules and tori about z. Their numbers are what `form` makes of sizes as in
`_rounds`.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import atan2, bare, order_of_tangents, sincos, sqrt, where, zero
from ...compiling import generic
from ._segments import CAPSULE, CYLINDER, ELLIPSOID, SPHERE

#: Parts of a step in the midpoint rule, and the weights of their results in those of orders 4, 6, 8 and 10.
PARTS = (2, 4, 6, 8, 10)
OF_4 = (-1.0 / 3.0, 4.0 / 3.0, 0.0, 0.0, 0.0)
OF_6 = (1.0 / 24.0, -16.0 / 15.0, 81.0 / 40.0, 0.0, 0.0)
OF_8 = (-1.0 / 360.0, 16.0 / 45.0, -729.0 / 280.0, 1024.0 / 315.0, 0.0)
OF_10 = (1.0 / 8640.0, -64.0 / 945.0, 6561.0 / 4480.0, -16384.0 / 2835.0, 390625.0 / 72576.0)
#: Longest step, as an angle by which the surface turns; difference of the two results over the size of x; steps at most.
TURN, TOLERANCE, MOST = 1.0, 1e-9, 500
#: Pieces of a geodesic over a capsule at most, turn by turn on its side and its ends.
PIECES = 9


@generic
def form_of(kind: int, sizes: Any) -> Any:
    """The numbers of a surface: one over the squares of an ellipsoid's radii; else its sizes."""
    found = sizes[0] + zero(sizes[0]), sizes[1] + zero(sizes[0]), sizes[2] + zero(sizes[0])
    if kind == ELLIPSOID:
        found = 1.0 / (sizes[0] * sizes[0]), 1.0 / (sizes[1] * sizes[1]), 1.0 / (sizes[2] * sizes[2])
    return found


@generic
def gradient(kind: int, form: Any, x: Any) -> Any:
    """A function that is zero on the surface and grows outward, and its gradient there."""
    o = zero(x[0])
    if kind == SPHERE:
        found = 0.5 * (vec3.dot(x, x) - form[0] * form[0]), (x[0] + o, x[1] + o, x[2] + o)
    elif kind == CYLINDER:
        found = 0.5 * (x[0] * x[0] + x[1] * x[1] - form[0] * form[0]), (x[0] + o, x[1] + o, o)
    elif kind == ELLIPSOID:
        g = x[0] * form[0], x[1] * form[1], x[2] * form[2]
        found = 0.5 * (vec3.dot(g, x) - 1.0), g
    elif kind == CAPSULE:
        g = x[0] + o, x[1] + o, _beyond(x[2], form[1])
        found = 0.5 * (vec3.dot(g, g) - form[0] * form[0]), g
    else:
        away = sqrt(x[0] * x[0] + x[1] * x[1] + 1e-300)
        d = away - form[1]
        g = d * x[0] / away, d * x[1] / away, x[2] + o
        found = 0.5 * (d * d + x[2] * x[2] - form[0] * form[0]), g
    return found


@generic
def _beyond(z: Any, half: Any) -> Any:
    """The part of a height that is beyond the side of a capsule, with its sign."""
    return where(z > half, z - half, where(z < -half, z + half, zero(z)))


@generic
def bending(kind: int, form: Any, x: Any, u: Any, w: Any) -> Any:
    """u.H w, with H the second derivatives of what `gradient` gives."""
    if kind == SPHERE:
        found = vec3.dot(u, w)
    elif kind == CYLINDER:
        found = u[0] * w[0] + u[1] * w[1]
    elif kind == ELLIPSOID:
        found = u[0] * w[0] * form[0] + u[1] * w[1] * form[1] + u[2] * w[2] * form[2]
    elif kind == CAPSULE:
        found = u[0] * w[0] + u[1] * w[1]
        if bare(x[2]) > bare(form[1]) or bare(x[2]) < -bare(form[1]):
            found = vec3.dot(u, w)
    else:
        away = sqrt(x[0] * x[0] + x[1] * x[1] + 1e-300)
        along = (x[0] * u[1] - x[1] * u[0]) * (x[0] * w[1] - x[1] * w[0]) / (away * away)
        found = vec3.dot(u, w) - along * form[1] / away
    return found


@generic
def normal(kind: int, form: Any, x: Any) -> Any:
    """The outward normal, and the length of the gradient."""
    _, g = gradient(kind, form, x)
    size = sqrt(vec3.dot(g, g))
    return vec3.scale(1.0 / size, g), size


@generic
def projected(kind: int, form: Any, x: Any) -> Any:
    """A point of the surface near x: along the gradient."""
    for _ in range(4):
        f, g = gradient(kind, form, x)
        square = vec3.dot(g, g)
        x = vec3.add_scaled(x, -f / square, g)
        if order_of_tangents(f) == 0 and bare(f) ** 2 < 1e-18 * bare(square * vec3.dot(x, x)):
            break
    return x


@generic
def made_tangent(t: Any, n: Any) -> Any:
    """The direction in the plane across n that is nearest to t."""
    t = vec3.add_scaled(t, -vec3.dot(t, n), n)
    return vec3.scale(1.0 / sqrt(vec3.dot(t, t) + 1e-300), t)


@generic
def shoot(kind: int, form: Any, x: Any, t: Any, length: Any, tolerance: float = TOLERANCE) -> Any:
    """Point, direction, (a, a', r, r') at the end of a geodesic from x in direction t."""
    if kind == SPHERE:
        found = _on_sphere(form[0], x, t, length)
    elif kind == CYLINDER:
        found = _on_cylinder(form[0], x, t, length)
    elif kind == CAPSULE:
        found = _over_capsule(form[0], form[1], x, t, length)
    else:
        found = _integrated(kind, form, x, t, length, tolerance)
    return found


@generic
def _on_sphere(radius: Any, x: Any, t: Any, length: Any) -> Any:
    o = zero(length)
    s, c = sincos(length / radius)
    n = vec3.scale(1.0 / radius, x)
    end = vec3.add(vec3.scale(c, x), vec3.scale(radius * s, t))
    return end, vec3.sub(vec3.scale(c, t), vec3.scale(s, n)), (c + o, -s / radius, radius * s, c + o)


@generic
def _on_cylinder(radius: Any, x: Any, t: Any, length: Any) -> Any:
    o = zero(length)
    i = o + 1.0
    s, c = sincos((x[0] * t[1] - x[1] * t[0]) * length / (radius * radius))
    end = c * x[0] - s * x[1], s * x[0] + c * x[1], x[2] + length * t[2]
    return end, (c * t[0] - s * t[1], s * t[0] + c * t[1], t[2] + o), (i, o, length + o, i)


@generic
def _over_capsule(radius: Any, half: Any, x: Any, t: Any, length: Any) -> Any:
    """On the side and the ends in turn: a great circle comes back to the circle that parts them after half a turn at most."""
    o = zero(length)
    back = bare(length) < 0.0  # turned round, as is the normal on which its neighbours are
    rest = length
    x, t = (x[0] + o, x[1] + o, x[2] + o), (t[0] + o, t[1] + o, t[2] + o)
    if back:
        rest, t = -length, vec3.neg(t)
    a, b, r, d = o + 1.0, o, o, o + 1.0
    for _ in range(PIECES):
        end = 0.0
        if bare(x[2]) > bare(half) or (bare(x[2]) == bare(half) and bare(t[2]) > 0.0):
            end = 1.0
        elif bare(x[2]) < -bare(half) or (bare(x[2]) == -bare(half) and bare(t[2]) < 0.0):
            end = -1.0
        piece = rest
        if end != 0.0:
            z = x[2] - end * half
            # z cos(l / R) + R t_z sin(l / R) = 0 at the circle that parts it from the side
            angle = atan2(end * z + 0.0, -radius * end * t[2])  # of -0.0 it would be minus half a turn
            if bare(radius * angle) < bare(rest):
                piece = radius * angle
            y, t, (a1, a2, r1, r2) = _on_sphere(radius, (x[0], x[1], z), t, piece)
            x = y[0], y[1], y[2] + end * half
        else:
            up = half if bare(t[2]) > 0.0 else -half
            if bare(t[2]) * bare(rest) > bare(up - x[2]) and bare(t[2]) > 0.0:
                piece = (up - x[2]) / t[2]
            elif bare(t[2]) * bare(rest) < bare(up - x[2]) and bare(t[2]) < 0.0:
                piece = (up - x[2]) / t[2]
            x, t, (a1, a2, r1, r2) = _on_cylinder(radius, x, t, piece)
            end = 1.0 if bare(t[2]) > 0.0 else -1.0
        a, b = a1 * a + r1 * b, a2 * a + r2 * b
        r, d = a1 * r + r1 * d, a2 * r + r2 * d
        rest = rest - piece
        if bare(rest) <= 0.0:
            break
        x = x[0], x[1], half * end + zero(x[2])  # whatever the last digits
    if back:
        t, b, r = vec3.neg(t), -b, -r
    return x, t, (a, b, r, d)


@generic
def _integrated(kind: int, form: Any, x: Any, t: Any, length: Any, tolerance: float) -> Any:
    o = zero(length)
    y = (o + x[0], o + x[1], o + x[2]), (o + t[0], o + t[1], o + t[2]), (o + 1.0, o, o, o + 1.0)
    rest, most = 1.0, 1.0
    whole = bare(length)
    for _ in range(MOST):
        curved = bare(bending(kind, form, y[0], y[1], y[1]) / normal(kind, form, y[0])[1])
        turn = abs(curved * whole) + 1e-300
        part = min(rest, most, TURN / turn)
        ahead, difference = _extrapolated(kind, form, y, part * length, tolerance)
        if difference < tolerance or part * turn < 1e-3:
            rest -= part
            y = ahead
            most = 2.0 * part
        else:
            most = 0.5 * part
        if rest <= 1e-14:
            break
    return y


@generic
def _extrapolated(kind: int, form: Any, y: Any, step: Any, tolerance: float) -> Any:
    """The end of a step, and how far that of the order below is off, over the size of x."""
    o = zero(step)
    nothing = (o, o, o), (o, o, o), (o, o, o, o)
    less, of_6, of_8, of_10 = nothing, nothing, nothing, nothing
    found, difference = nothing, 0.0
    first = _rate(kind, form, y)
    for k in range(5):
        n = PARTS[k]
        h = step / n
        before, now = y, _moved(y, h, first)
        for _ in range(n - 1):
            before, now = now, _moved(before, 2.0 * h, _rate(kind, form, now))
        of_10 = _plus(of_10, OF_10[k], now)
        if k < 4:
            of_8 = _plus(of_8, OF_8[k], now)
        if k < 3:
            of_6 = _plus(of_6, OF_6[k], now)
        if k < 2:
            less = _plus(less, OF_4[k], now)
        else:
            found = of_6
            if k == 3:
                less, found = of_6, of_8
            elif k == 4:
                less, found = of_8, of_10
            off = vec3.sub(found[0], less[0])
            difference = sqrt(bare(vec3.dot(off, off)) / (bare(vec3.dot(found[0], found[0])) + 1e-300))
            if difference < tolerance:
                break
    return found, difference


@generic
def _plus(y: Any, weight: float, z: Any) -> Any:
    u, w = y[2], z[2]
    jacobi = u[0] + weight * w[0], u[1] + weight * w[1], u[2] + weight * w[2], u[3] + weight * w[3]
    return vec3.add_scaled(y[0], weight, z[0]), vec3.add_scaled(y[1], weight, z[1]), jacobi


@generic
def _moved(y: Any, h: Any, rate: Any) -> Any:
    w, d = y[2], rate[1]
    jacobi = w[0] + h * d[0], w[1] + h * d[1], w[2] + h * d[2], w[3] + h * d[3]
    return vec3.add_scaled(y[0], h, rate[0]), vec3.add_scaled(y[1], h, rate[2]), jacobi


@generic
def _rate(kind: int, form: Any, y: Any) -> Any:
    """Rates: of x; of a, a', r, r'; of t."""
    x, t, w = y
    _, g = gradient(kind, form, x)
    square = 1.0 / vec3.dot(g, g)
    if kind == ELLIPSOID:
        total = vec3.dot(g, x) * (form[0] * form[1] * form[2]) * square * square
    else:
        away = sqrt(x[0] * x[0] + x[1] * x[1] + 1e-300)
        total = (away - form[1]) / away * square
    k = bending(kind, form, x, t, t) * square
    return t, (w[1], -total * w[0], w[3], -total * w[2]), vec3.scale(-k, g)
