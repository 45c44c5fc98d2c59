"""Geodesics: where a taut line goes on over a smooth surface, and how neighbouring ones spread.

x'' = -k n        k = t.S t the normal curvature along it, n the outward normal, S = dn/dx
a'' = -K a        of a geodesic that starts beside it, a(0) = 1, a'(0) = 0
r'' = -K r        of one that starts in another direction, r(0) = 0, r'(0) = 1; K the Gaussian curvature

Of spheres and cylinders in closed form, and so piece by piece of capsules. Of ellipsoids and tori by their series, whose orders
follow from each other by products, in pieces as long as these converge well. Source: Scholz, Sherman, Stavness, Delp,
Kecskemethy 2016, A fast multi-obstacle muscle wrapping method using natural geodesic variations; Hairer, Norsett, Wanner 1993,
I.8.

Surfaces are about the origin, cylinders, capsules and tori about z. Their numbers are what `form` makes of sizes as in
`_rounds`.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.beside import put_beside, row_beside
from ...algebra.masks import both, in_any, no
from ...algebra.scalar import (
    absolute,
    atan2,
    bare,
    load,
    one,
    order_of_tangents,
    scratch_like,
    sincos,
    sqrt,
    store,
    where,
    zero,
)
from ...compiling import apart, generic
from ._segments import CAPSULE, CYLINDER, ELLIPSOID, SPHERE

#: The highest order of a series; of each order the places of x, y, z, a, r, of a square and that times the order, of what bends
#: x and y, z, and a and r, of powers of the square; rows and columns of all.
ORDER, S, T, XY, Z, A, P, Q, V, ROWS, COLUMNS = 14, 5, 6, 7, 8, 9, 10, 11, 12, 15, 13
#: How small two orders after each other are, of directions; pieces at most; how often one is shortened, and to which part.
TOLERANCE, MOST, SHORTENED, PART = 1e-9, 500, 100, 0.8
#: Rows of geodesics side by side: of each the surface's form, first point, direction and length, or, in place of the latter
#: three, last point, direction and fields; and whose it is.
FORM, POINT, WAY, OVER, FIELDS, WHOSE = 0, 3, 6, 9, 9, 13
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
    """A point of the surface near x: of spheres and ellipsoids on the line from the middle, else along the gradient."""
    if kind == SPHERE or kind == ELLIPSOID:
        square = vec3.dot(x, gradient(kind, form, x)[1])
        x = vec3.scale(sqrt(form[0] * form[0] / square if kind == SPHERE else 1.0 / square), x)
    else:
        for _ in range(4):
            f, g = gradient(kind, form, x)
            square = vec3.dot(g, g)
            x = vec3.add_scaled(x, -f / square, g)
            if order_of_tangents(f) == 0 and bare(f) ** 2 < 1e-18 * bare(square * vec3.dot(x, x)):
                break
    return x


@generic
def made_tangent(t: Any, n: Any) -> Any:
    """The direction in the plane across n, of any length, that is nearest to t."""
    t = vec3.add_scaled(t, -vec3.dot(t, n) / vec3.dot(n, n), n)
    return vec3.scale(1.0 / sqrt(vec3.dot(t, t) + 1e-300), t)


@generic
def shoot(kind: int, form: Any, x: Any, t: Any, length: Any, tolerance: float) -> Any:
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


@apart
def shoot_beside(kind: int, held: Any, tolerance: float) -> None:
    """As `shoot`, of eight ellipsoids or eight tori, whose series take as many orders as one of them needs: rows as above."""
    form, x, t = _three_beside(held, FORM), _three_beside(held, POINT), _three_beside(held, WAY)
    x, t, jacobi = _integrated(kind, form, x, t, row_beside(held, OVER), tolerance)
    for k in range(3):
        put_beside(held, POINT + k, x[k])
        put_beside(held, WAY + k, t[k])
    for k in range(4):
        put_beside(held, FIELDS + k, jacobi[k])


@generic
def _three_beside(held: Any, row: int) -> Any:
    return row_beside(held, row), row_beside(held, row + 1), row_beside(held, row + 2)


@apart
def _integrated(kind: int, form: Any, x: Any, t: Any, length: Any, tolerance: float) -> Any:
    """In pieces, each as long as its series is good for."""
    o = zero(length)
    series, rest, jacobi = scratch_like(length, ROWS, COLUMNS), length, (o + 1.0, o, o, o + 1.0)
    scale = form if kind == ELLIPSOID else (o + 1.0, o + 1.0, o + 1.0)
    over = 1.0 / scale[0], 1.0 / scale[1], 1.0 / scale[2]
    for _ in range(MOST):
        _put_order(series, 0, (scale[0] * x[0], scale[1] * x[1], scale[2] * x[2], jacobi[0], jacobi[2]))
        _put_order(series, 1, (scale[0] * t[0], scale[1] * t[1], scale[2] * t[2], jacobi[1], jacobi[3]))
        n, part = _expand(kind, form, over, series, vec3.dot(t, t), absolute(bare(rest)), tolerance)
        step = part * rest
        y, rate = _summed(series, n, step)
        x, t = (over[0] * y[0], over[1] * y[1], over[2] * y[2]), (over[0] * rate[0], over[1] * rate[1], over[2] * rate[2])
        jacobi = y[3], rate[3], y[4], rate[4]
        rest = rest - step
        if part == 1.0:
            break
    return x, t, jacobi


@generic
def _expand(kind: int, form: Any, squares: Any, series: Any, square: Any, length: Any, tolerance: float) -> Any:
    """Find the orders of a geodesic's series from 2 on; how many are needed, and for which part of a length they are enough.

    Of an ellipsoid *squares* are those of its radii. The series are of y, a and r; y is g = B x of an ellipsoid x.B x = 1, and
    x of a torus, of radii r and R. With d the distance from its axis, and the integral C = t.B t |g|^2 of Joachimsthal, or
    (x t_y - y t_x)^2 of Clairaut, they fulfil

        g'' = -C B g / |g|^4        a'' = -det B a / |g|^4
        r^2 (x, y)'' = -m (1 - R / d) (x, y),  r^2 z'' = -m z,  m = t.t - C R / d^3        r^2 a'' = -(1 - R / d) a

    Of s = |g|^2 or d^2 and its powers p = s^(-1/2), q = s^(-3/2), v = s^-2 products give one order after the other: as
    s (s^m)' = m s' s^m, it is k s_0 (s^m)_k = sum over j from 1 to k of ((m + 1) j - k) s_j (s^m)_(k-j). The orders found last
    come in last, so that the sums do not wait for them.
    """
    o = zero(square)
    x, t = _three(series, 0), _three(series, 1)
    twist, by, by_a = x[0] * t[1] - x[1] * t[0], (o + 1.0, o + 1.0, o + 1.0), o + 1.0
    turn, bend, p0, is_torus = twist * twist * form[1], o, o, kind != ELLIPSOID
    over = 1.0 / (x[0] * x[0] + x[1] * x[1] + (o if is_torus else x[2] * x[2]) + 1e-300)
    if is_torus:
        bend, p0 = 1.0 / (form[0] * form[0]), sqrt(over)
    else:
        stays = (t[0] * t[0] * squares[0] + t[1] * t[1] * squares[1] + t[2] * t[2] * squares[2]) * vec3.dot(x, x)
        by, by_a = vec3.scale(stays, form), form[0] * form[1] * form[2]
    size, far, small, n, part = bare(vec3.dot(t, t)) * tolerance * tolerance, one(length), 0, ORDER, 1.0
    now, before, a0, r0 = zero(length), zero(length), load(series, 0, 3), load(series, 0, 4)
    q0, v0, f0, g0, h0 = p0 * over, over * over, o, o, o
    for k in range(ORDER - 1):
        first = 1.0 if k == 0 else 0.0
        s, (p, q, v), (p_too, q_too, v_too), (y0, y1, y2), a, r = _sums(series, k, is_torus)
        y, ahead = _three(series, k), over * (1.0 / max(k, 1))
        s = s + 2.0 * (x[0] * y[0] + x[1] * y[1])
        if not is_torus:
            s = s + 2.0 * x[2] * y[2]
        v = first * v0 + ahead * (-v_too - 1.0 * k * v - 2.0 * k * s * v0)
        f, g, h = v, v, v
        if is_torus:
            p = first * p0 + ahead * (0.5 * p_too - 1.0 * k * p - 0.5 * k * s * p0)
            q = first * q0 + ahead * (-0.5 * q_too - 1.0 * k * q - 1.5 * k * s * q0)
            m = first * square - turn * q
            f, g, h = bend * (m + form[1] * (turn * v - square * p)), bend * m, bend * (first - form[1] * p)
            store(series, k, Z, g)
            store(series, k, A, h)
            store(series, k, P, p)
            store(series, k, Q, q)
            store(series, k, V, v)
        store(series, k, S, s)
        store(series, k, T, 1.0 * k * s)
        store(series, k, XY, f)
        y0, y1, y2 = y0 + f0 * y[0] + f * x[0], y1 + f0 * y[1] + f * x[1], y2 + g0 * y[2] + g * x[2]
        a, r = a + h0 * load(series, k, 3) + h * a0, r + h0 * load(series, k, 4) + h * r0
        if k == 0:
            f0, g0, h0 = f, g, h
        down = -1.0 / ((k + 1.0) * (k + 2.0))  # found meanwhile
        y0, y1, y2 = down * by[0] * y0, down * by[1] * y1, down * by[2] * y2
        _put_order(series, k + 2, (y0, y1, y2, down * by_a * a, down * by_a * r))
        far, before = far * length, now
        now = (far * (k + 2.0)) ** 2 * bare(y0 * y0 + y1 * y1 + y2 * y2)
        small = 0 if in_any(no(now < size)) else small + 1
        if small == 2:
            n = k + 2
            break
    if small < 2:
        for _ in range(SHORTENED):
            if not in_any(no(both(part ** (2 * ORDER - 2) * now <= size, part ** (2 * ORDER - 4) * before <= size))):
                break
            part *= PART
    return n, part


@generic
def _sums(series: Any, k: int, is_torus: bool) -> Any:
    """Of orders between the first and k, the shares in order k: of s, of powers times s and times j s_j, of y, a and r."""
    o = zero(load(series, 0, 0))
    (s0, s1, s2), (y0, y1, y2), a, r = (o, o, o), (o, o, o), o, o
    (p, q, v), (p_too, q_too, v_too) = (o, o, o), (o, o, o)
    for i in range(1, k):
        j, y, z = k - i, _three(series, i), _three(series, k - i)
        f, s_j, t_j = load(series, i, XY), load(series, j, S), load(series, j, T)
        g, h, power = f, f, f
        s0, s1 = s0 + y[0] * z[0], s1 + y[1] * z[1]
        if is_torus:
            g, h, power = load(series, i, Z), load(series, i, A), load(series, i, V)
            p, p_too = p + s_j * load(series, i, P), p_too + t_j * load(series, i, P)
            q, q_too = q + s_j * load(series, i, Q), q_too + t_j * load(series, i, Q)
        else:
            s2 = s2 + y[2] * z[2]
        v, v_too = v + s_j * power, v_too + t_j * power
        y0, y1, y2 = y0 + f * z[0], y1 + f * z[1], y2 + g * z[2]
        a, r = a + h * load(series, j, 3), r + h * load(series, j, 4)
    return s0 + s1 + s2, (p, q, v), (p_too, q_too, v_too), (y0, y1, y2), a, r


@generic
def _three(series: Any, k: int) -> Any:
    return load(series, k, 0), load(series, k, 1), load(series, k, 2)


@generic
def _put_order(series: Any, k: int, y: Any) -> None:
    store(series, k, 0, y[0])
    store(series, k, 1, y[1])
    store(series, k, 2, y[2])
    store(series, k, 3, y[3])
    store(series, k, 4, y[4])


@generic
def _summed(series: Any, n: int, step: Any) -> Any:
    """All five series, and their rates."""
    o, power, order = zero(step), zero(step) + 1.0, 0.0
    (x, y, z), a, r = _three(series, 0), load(series, 0, 3), load(series, 0, 4)
    x1, y1, z1, a1, r1 = o, o, o, o, o
    for k in range(1, n + 1):
        order += 1.0
        rate, power = order * power, power * step
        (x2, y2, z2), a2, r2 = _three(series, k), load(series, k, 3), load(series, k, 4)
        x, y, z, a, r = x + power * x2, y + power * y2, z + power * z2, a + power * a2, r + power * r2
        x1, y1, z1, a1, r1 = x1 + rate * x2, y1 + rate * y2, z1 + rate * z2, a1 + rate * a2, r1 + rate * r2
    return (x, y, z, a, r), (x1, y1, z1, a1, r1)
