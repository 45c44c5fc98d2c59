"""Depth of a point inside a convex shape or a torus, and the shape's outward normal where its surface is nearest.

Each kind's function, ``nearest(model, s, lane, x)``, takes a point in the frame of surface s and gives ``(depth, n)``, n in
that frame too; depth is the distance to the surface inside, and 0 or less outside, where n means nothing. Where several
points are nearest, at a center say, n is that of one of them.

Of what has sides those that are nearly as near as the nearest have a share each, by the squares of their depths, see
`_rivals`: depth is the root of the square that all make, and n the slope of it, shorter than 1 there, so that forces turn
over a length and are the slope of their energy.
"""

from collections.abc import Callable
from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, load_lane, sqrt, store_lane
from ...compiling import generic
from ..access import BOX, DIMENSIONS, number_of, three_of
from ..mesh_tree import constant3
from ._rivals import SHARE, WINDOW, find_shares

#: Iterations of Newton's for the ellipsoid, from a side on which they run straight to the root; 5 are common.
_MOST_STEPS = 50
#: Half the length that stands for an endless one.
_ENDLESS = 1e30
#: The column of contact_point, beside SHARE, for which of the sides has that share.
_SIDE = 31
#: The least square of n: of two sides of a plate, in the middle between them, one alone counts.
_LEAST = 0.1


@generic
def _in_ball(x: Any, radius: Any) -> Any:
    """Of a ball about the origin."""
    square = vec3.dot(x, x)
    o = 0.0 * (square + radius)
    if square >= radius * radius:
        return o - 1.0, (o, o, o)
    if square > 0.0:
        distance = sqrt(square)
        return radius - distance, vec3.scale(1.0 / (distance + o), x)
    return radius + o, (o, o, o + 1.0)


@generic
def sphere(model: Any, s: int, lane: int, x: Any) -> Any:
    """Along the line from the center."""
    return _in_ball(x, number_of(model, s, DIMENSIONS, lane))


@generic
def capsule(model: Any, s: int, lane: int, x: Any) -> Any:
    """Along the line from the nearest point of the axis."""
    radius, half = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    z = x[2] + 0.0 * half
    if z > half:
        z = z - half
    elif z < -half:
        z = z + half
    else:
        z = 0.0 * z
    return _in_ball((x[0], x[1], z), radius)


def _sharing(sides: Callable[..., Any], side: Callable[..., Any]) -> Callable[..., Any]:
    """The nearest of several sides, by their number and the depth and normal of each: those that are nearly as near share."""

    @generic
    def nearest(model: Any, s: int, lane: int, x: Any) -> Any:
        rows, total, least, at = model.contact_point, sides(model, s), 1e300, 0
        for k in range(total):
            h = bare(side(model, s, lane, x, k)[0])
            if h < least:
                least, at = h, k
                if h <= 0.0:
                    break
        depth, n = side(model, s, lane, x, at)
        found = 0
        if least > 0.0:
            for k in range(total):
                h, _ = side(model, s, lane, x, k)
                if bare(h) * bare(h) < (1.0 + WINDOW) * least * least and found < model.contact_points_size:
                    store_lane(rows, found, SHARE, lane, h)
                    store_lane(rows, found, _SIDE, lane, 0.0 * h + float(k))
                    found += 1
        if found > 1:
            find_shares(model, lane, found)
            o = 0.0 * depth
            square, g = o, (o, o, o)
            for i in range(found):
                share = load_lane(rows, i, SHARE, lane)
                h, its = side(model, s, lane, x, int(bare(load_lane(rows, i, _SIDE, lane))))
                square, g = square + share * h * h, vec3.add_scaled(g, share * h, its)
            if vec3.dot(g, g) > _LEAST * square:
                depth = sqrt(square)
                return depth, vec3.scale(1.0 / depth, g)
        return depth, n

    return nearest


@generic
def _side_of_cylinder(model: Any, s: int, lane: int, x: Any, k: int) -> Any:
    """The side, or the nearer end."""
    radius, half = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    o = 0.0 * (x[0] + radius + half)
    if k == 0:
        square = x[0] * x[0] + x[1] * x[1]
        if square > 0.0:
            distance = sqrt(square) + o
            return radius - distance, (x[0] / distance, x[1] / distance, o)
        return radius + o, (o + 1.0, o, o)
    if number_of(model, s, DIMENSIONS + 2, lane) == 1.0:
        return o + _ENDLESS, (o, o, o + 1.0)
    return _inside(x[2], half) + o, (o, o, _sign(x[2]) + o)


@generic
def _side_of_brick(model: Any, s: int, lane: int, x: Any, k: int) -> Any:
    """The nearer face along axis k."""
    h = three_of(model, s, DIMENSIONS, lane)
    o = 0.0 * (x[0] + h[0])
    if k == 0:
        return _inside(x[0], h[0]) + o, (_sign(x[0]) + o, o, o)
    if k == 1:
        return _inside(x[1], h[1]) + o, (o, _sign(x[1]) + o, o)
    return _inside(x[2], h[2]) + o, (o, o, _sign(x[2]) + o)


@generic
def _side_of_hull(model: Any, s: int, lane: int, x: Any, k: int) -> Any:
    """The plane of face k: these are after the vertices in the constants."""
    i = model.surface_first_constant[s] + 3 * model.contact_integers[model.surface_first_integer[s]] + 4 * k
    n, o = constant3(model, i), 0.0 * x[0]
    return bare(load_lane(model.contact_constants, i + 3, 0, 0)) - vec3.dot(n, x), (o + n[0], o + n[1], o + n[2])


@generic
def _two(model: Any, s: int) -> int:
    return 2


@generic
def _three(model: Any, s: int) -> int:
    return 3


@generic
def _faces(model: Any, s: int) -> int:
    return model.contact_integers[model.surface_first_integer[s] + 1]


cylinder = _sharing(_two, _side_of_cylinder)
brick = _sharing(_three, _side_of_brick)
hull = _sharing(_faces, _side_of_hull)


@generic
def _inside(x: Any, h: Any) -> Any:
    """From x to the nearer of -h and h."""
    if x < 0.0:
        return h + x
    return h - x


@generic
def _sign(x: Any) -> float:
    return -1.0 if x < 0.0 else 1.0


@generic
def ellipsoid(model: Any, s: int, lane: int, x: Any) -> Any:
    """The point of the surface along the gradient at x.

    That point is p_i = r_i^2 x_i / (r_i^2 + t), with -r^2 < t < 0 of the least radius r. Newton's method finds t from below the
    root, where the ellipsoid's equation as a function of t is convex and falls (Eberly 2013, Distance from a point to an
    ellipsoid).
    """
    r = three_of(model, s, DIMENSIONS, lane)
    o = 0.0 * (x[0] + r[0])
    u, v, w = x[0] / r[0], x[1] / r[1], x[2] / r[2]
    if u * u + v * v + w * w >= 1.0:
        return o - 1.0, (o, o, o)
    squares = r[0] * r[0], r[1] * r[1], r[2] * r[2]
    least = squares[0]
    if squares[1] < least:
        least = squares[1]
    if squares[2] < least:
        least = squares[2]
    tiny = 1e-12 * least
    # t = e - r^2 of the least radius; a point in the plane between two nearest ones is moved a little out of it
    e0, e1, e2 = bare(squares[0] - least), bare(squares[1] - least), bare(squares[2] - least)
    a = _off(r[0] * x[0], tiny, e0) + o, _off(r[1] * x[1], tiny, e1) + o, _off(r[2] * x[2], tiny, e2) + o
    b0, b1, b2 = abs(bare(a[0])), abs(bare(a[1])), abs(bare(a[2]))
    e = max(b0 - e0, b1 - e1, b2 - e2)
    for _ in range(_MOST_STEPS):
        i0, i1, i2 = 1.0 / (e + e0), 1.0 / (e + e1), 1.0 / (e + e2)
        q0, q1, q2 = b0 * i0, b1 * i1, b2 * i2
        q0, q1, q2 = q0 * q0, q1 * q1, q2 * q2
        step = 0.5 * (q0 + q1 + q2 - 1.0) / (q0 * i0 + q1 * i1 + q2 * i2)
        e = e + step
        if step <= 1e-9 * e:  # the last step squares the error, and there are two more below
            break
    root = e + o
    for _ in range(2):  # from values alone, a step gives first derivatives, and the next one second ones
        i = 1.0 / (root + squares[0] - least), 1.0 / (root + squares[1] - least), 1.0 / (root + squares[2] - least)
        q = a[0] * i[0], a[1] * i[1], a[2] * i[2]
        q = q[0] * q[0], q[1] * q[1], q[2] * q[2]
        root = root + 0.5 * (q[0] + q[1] + q[2] - 1.0) / (q[0] * i[0] + q[1] * i[1] + q[2] * i[2])
    n = (
        a[0] / (r[0] * (root + squares[0] - least)),
        a[1] / (r[1] * (root + squares[1] - least)),
        a[2] / (r[2] * (root + squares[2] - least)),
    )
    length = sqrt(vec3.dot(n, n))
    return (least - root) * length, vec3.scale(1.0 / length, n)


@generic
def _off(x: Any, tiny: Any, e: float) -> Any:
    """x, and off zero where it is along the least radius."""
    if e > 0.0 or x > tiny or x < -tiny:
        return x
    if x < 0.0:
        return x - tiny
    return x + tiny


@generic
def torus(model: Any, s: int, lane: int, x: Any) -> Any:
    """Along the line from the nearest point of the circle."""
    ring, tube = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    square = x[0] * x[0] + x[1] * x[1]
    o = 0.0 * (square + ring)
    if square <= 0.0:  # in the hole
        return o - 1.0, (o, o, o)
    rho = sqrt(square)
    c, s_, y = x[0] / rho, x[1] / rho, rho - ring
    depth, n = _in_ball((y, o, x[2] + o), tube)
    return depth, (c * n[0], s_ * n[0], n[2])


# ---------------------------------------------------------------------------------------------- boxes


@generic
def bounded(model: Any, s: int, lane: int) -> Any:
    """The box of a bounded shape, center and half lengths in its frame."""
    c, h = three_of(model, s, BOX, lane), three_of(model, s, BOX + 3, lane)
    return (bare(c[0]), bare(c[1]), bare(c[2])), (bare(h[0]), bare(h[1]), bare(h[2]))


@generic
def box_of_cylinder(model: Any, s: int, lane: int) -> Any:
    """Of a cylinder, which may be endless."""
    radius, half = bare(number_of(model, s, DIMENSIONS, lane)), bare(number_of(model, s, DIMENSIONS + 1, lane))
    if number_of(model, s, DIMENSIONS + 2, lane) == 1.0:
        half = _ENDLESS
    return (0.0, 0.0, 0.0), (radius, radius, half)
