"""The surface of a height field, for kernels: height and derivatives, and the point of it that is nearest.

Integers of a field: how many x and y; whether each is even; the number of levels of blocks; of each level where in the
constants its numbers begin, and how many blocks are along y. Constants: the x, the y, of each point of the grid height,
slopes and twist; of each block the greatest height, and a bound of how much the surface curves upward, the greater eigenvalue
of z's second derivatives.

In each cell z is a bicubic polynomial of Hermite's form, of these four numbers at the four corners.
"""

from __future__ import annotations

from typing import Any

from ..algebra import vec3
from ..algebra.scalar import bare, load_lane, sqrt, zero
from ..compiling import generic

#: Newton's steps that a search may take; 4 to 8 are common.
_MOST_STEPS = 40
#: A relative curvature is at least this part of the body's own.
_LEAST_CURVATURE = 0.05
#: Curvatures that differ by the root of this part are one; beyond, the difference would have a tangent of rounding errors.
_ROUND = 1e-13


@generic
def _number(model: Any, i: int) -> float:
    return bare(load_lane(model.contact_constants, i, 0, 0))


@generic
def limits(model: Any, s: int) -> Any:
    """The least and the greatest x, then y."""
    first, at = model.surface_first_integer[s], model.surface_first_constant[s]
    nx, ny = model.contact_integers[first], model.contact_integers[first + 1]
    return _number(model, at), _number(model, at + nx - 1), _number(model, at + nx), _number(model, at + nx + ny - 1)


@generic
def _place(model: Any, at: int, count: int, even: int, x: float) -> int:
    """The step, of a list of *count* from constant *at* on, in which x is; the first or the last if it is outside."""
    low, high = _number(model, at), _number(model, at + count - 1)
    if not x > low:
        return 0
    if x >= high:
        return count - 2
    if even == 1:
        i = int((x - low) / (high - low) * (count - 1))
        return i if i < count - 2 else count - 2
    i, j = 0, count - 1
    while j - i > 1:
        middle = (i + j) >> 1
        if x < _number(model, at + middle):
            j = middle
        else:
            i = middle
    return i


@generic
def cell(model: Any, s: int, x: float, y: float) -> Any:
    """The cell, along x and along y, over which a point is."""
    first, at = model.surface_first_integer[s], model.surface_first_constant[s]
    integers = model.contact_integers
    nx, ny = integers[first], integers[first + 1]
    i = _place(model, at, nx, integers[first + 2], x)
    return i, _place(model, at + nx, ny, integers[first + 3], y)


@generic
def _weights(u: Any, h: float) -> Any:
    """Hermite's, of value, slope at the beginning of a step h, value and slope at its end; and their two derivatives."""
    a, r = u * u, 1.0 / h
    b = a * u
    w0 = 3.0 * a - 2.0 * b
    w = (1.0 - w0, h * (u - 2.0 * a + b), w0, h * (b - a))
    d0 = 6.0 * r * (u - a)
    d = (-d0, 1.0 - 4.0 * u + 3.0 * a, d0, 3.0 * a - 2.0 * u)
    e0 = 6.0 * r * r * (1.0 - 2.0 * u)
    return w, d, (-e0, r * (6.0 * u - 4.0), e0, r * (6.0 * u - 2.0))


@generic
def _across(model: Any, at: int, width: int, w: Any) -> Any:
    """A sum over y of height and of slope along x, at one x of a cell: of numbers from *at* on."""
    f = w[0] * _number(model, at) + w[1] * _number(model, at + 2)
    g = w[0] * _number(model, at + 1) + w[1] * _number(model, at + 3)
    f = f + w[2] * _number(model, at + 4) + w[3] * _number(model, at + 6)
    return f, g + w[2] * _number(model, at + 5) + w[3] * _number(model, at + 7)


@generic
def _sum(w: Any, a: Any, b: Any) -> Any:
    return w[0] * a[0] + w[1] * a[1] + w[2] * b[0] + w[3] * b[1]


@generic
def surface(model: Any, s: int, x: Any, y: Any) -> Any:
    """z, dz/dx, dz/dy, d2z/dx2, d2z/dxdy, d2z/dy2 at x and y; outside the grid the nearest cell's polynomial goes on."""
    first, c = model.surface_first_integer[s], model.surface_first_constant[s]
    nx, ny = model.contact_integers[first], model.contact_integers[first + 1]
    i, j = cell(model, s, bare(x), bare(y))
    x0, y0 = _number(model, c + i), _number(model, c + nx + j)
    h, k = _number(model, c + i + 1) - x0, _number(model, c + nx + j + 1) - y0
    v, vd, vdd = _weights((y - y0) * (1.0 / k), k)
    w, wd, wdd = _weights((x - x0) * (1.0 / h), h)
    at = c + nx + ny + 4 * (i * ny + j)
    a, b = _across(model, at, ny, v), _across(model, at + 4 * ny, ny, v)
    p, q = _across(model, at, ny, vd), _across(model, at + 4 * ny, ny, vd)
    z_yy = _sum(w, _across(model, at, ny, vdd), _across(model, at + 4 * ny, ny, vdd))
    return _sum(w, a, b), _sum(wd, a, b), _sum(w, p, q), _sum(wdd, a, b), _sum(wd, p, q), z_yy


@generic
def highest(model: Any, s: int, x: float, y: float, a: float, b: float) -> Any:
    """A bound of the height, and of upward curvature, within a of x and b of y; of the field's border where that is outside."""
    first, c = model.surface_first_integer[s], model.surface_first_constant[s]
    integers = model.contact_integers
    i, j = cell(model, s, x - a, y - b)
    i2, j2 = cell(model, s, x + a, y + b)
    level = 0
    while i2 - i > 1 or j2 - j > 1:
        i, i2, j, j2, level = i >> 1, i2 >> 1, j >> 1, j2 >> 1, level + 1
    at, width = integers[first + 5 + 2 * level], integers[first + 6 + 2 * level]
    height, bent = -1e300, 0.0
    for k in range(i, i2 + 1):
        for n in range(j, j2 + 1):
            one = c + at + 2 * (k * width + n)
            height, bent = max(height, _number(model, one)), max(bent, _number(model, one + 1))
    return height, bent


@generic
def is_over(model: Any, s: int, x: float, y: float) -> bool:
    """True if a point is over or under the grid."""
    x0, x1, y0, y1 = limits(model, s)
    return x0 <= x <= x1 and y0 <= y <= y1


@generic
def normal(z_x: Any, z_y: Any) -> Any:
    """The unit normal, upward, and the area of the surface over a unit of the plane."""
    w = sqrt(1.0 + z_x * z_x + z_y * z_y)
    r = 1.0 / w
    return (-z_x * r, -z_y * r, r), w


@generic
def _clamp(x: float, low: float, high: float) -> float:
    return low if x < low else high if x > high else x


@generic
def _residual(at: Any, x: Any, y: Any, c: Any, axis: Any) -> Any:
    """The residual that `foot` makes zero, and its slopes: half the squared distance, its gradient, two parts of its Hessian.

    The distance is that of the surface's point p over (x, y) from the line through c along the axis, a unit vector; from c
    itself if the axis is zero. With e the part of p - c across the axis, and t the derivatives of p: e.t; t.t across the axis,
    and e.d2p.
    """
    z, z_x, z_y, z_xx, z_xy, z_yy = at
    e = (x - c[0], y - c[1], z - c[2])
    along = vec3.dot(axis, e)
    e = vec3.add_scaled(e, -along, axis)
    a, b = axis[0] + axis[2] * z_x, axis[1] + axis[2] * z_y
    gradient = e[0] + e[2] * z_x, e[1] + e[2] * z_y
    metric = 1.0 + z_x * z_x - a * a, z_x * z_y - a * b, 1.0 + z_y * z_y - b * b
    return 0.5 * vec3.dot(e, e), gradient, metric, (e[2] * z_xx, e[2] * z_xy, e[2] * z_yy)


@generic
def _solve(h: Any, g: Any) -> Any:
    """The solution of a symmetric system of two equations."""
    r = 1.0 / (h[0] * h[2] - h[1] * h[1])
    return r * (h[2] * g[0] - h[1] * g[1]), r * (h[0] * g[1] - h[1] * g[0])


@generic
def foot(model: Any, s: int, c: Any, axis: Any, start: Any) -> Any:
    """The point locally nearest to c, or to the line through c along a unit vector: its x, y, and if it was found.

    Values only. Newton's method from *start*, an x and a y; where the distance is not convex without the part of the Hessian
    that the surface's curvature gives, and with steps cut down until the distance falls. Found is a minimum over the grid,
    not on its border.
    """
    x0, x1, y0, y1 = limits(model, s)
    x, y = _clamp(start[0], x0, x1), _clamp(start[1], y0, y1)
    f, g, m, k = _residual(surface(model, s, x, y), x, y, c, axis)
    small = 1e-10 * ((x1 - x0) + (y1 - y0)) / model.contact_integers[model.surface_first_integer[s]]
    found = False
    for _ in range(_MOST_STEPS):
        h = m[0] + k[0], m[1] + k[1], m[2] + k[2]
        scale = 1e-6 * (m[0] + m[2])
        convex = h[0] > scale and h[0] * h[2] - h[1] * h[1] > scale * (h[0] + h[2])
        if not convex:
            h = m[0] + scale, m[1], m[2] + scale
        dx, dy = _solve(h, g)
        if convex and abs(dx) + abs(dy) <= small:
            x, y, found = x - dx, y - dy, True
            break
        # so near that rounding errors of the distance are more than what it may fall by
        near = convex and abs(dx) + abs(dy) <= 1e5 * small
        rate, part = g[0] * dx + g[1] * dy, 1.0
        for _ in range(30):
            x_new, y_new = _clamp(x - part * dx, x0, x1), _clamp(y - part * dy, y0, y1)
            f_new, g_new, m_new, k_new = _residual(surface(model, s, x_new, y_new), x_new, y_new, c, axis)
            if f_new <= f - 1e-4 * part * rate or near:
                break
            part = 0.5 * part
        stuck = abs(x_new - x) + abs(y_new - y) <= 1e-6 * small
        x, y, f, g, m, k = x_new, y_new, f_new, g_new, m_new, k_new
        if stuck:
            break
    return x, y, found and x0 < x < x1 and y0 < y < y1


@generic
def settle(model: Any, s: int, c: Any, axis: Any, x: float, y: float) -> Any:
    """The same place with the tangents that it has by those of c and the axis: two more steps, of numbers of their type.

    From values alone, a step gives first derivatives, and the next one second ones.
    """
    _, g, m, k = _residual(surface(model, s, x, y), x, y, c, axis)
    matrix = bare(m[0] + k[0]), bare(m[1] + k[1]), bare(m[2] + k[2])
    dx, dy = _solve(matrix, g)
    u, v = x - dx, y - dy
    _, g, _, _ = _residual(surface(model, s, u, v), u, v, c, axis)
    dx, dy = _solve(matrix, g)
    return u - dx, v - dy


@generic
def eigenvalues(metric: Any, form: Any, body: Any) -> Any:
    """Relative curvatures, the greater first: of a form in a basis of this metric, not less than a part of the body's own."""
    det = metric[0] * metric[2] - metric[1] * metric[1]
    mean = 0.5 * (metric[2] * form[0] + metric[0] * form[2] - 2.0 * metric[1] * form[1]) / det
    gauss = (form[0] * form[2] - form[1] * form[1]) / det
    split, least = mean * mean - gauss, _LEAST_CURVATURE * body
    root = sqrt(split) if split > _ROUND * (bare(mean) * bare(mean) + bare(body) * bare(body)) else zero(split)
    return _at_least(mean + root, least), _at_least(mean - root, least)


@generic
def _at_least(x: Any, least: Any) -> Any:
    return x if x > least else least
