"""Balls, straight axes, points and faces over a height field, in the field's frame: what the pairs with it are made of."""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare
from ...compiling import apart, generic
from ..access import CORNER, HERTZ, POINT, Pair, load3_lane, orientation, origin, put_point
from ..height_surface import eigenvalues, foot, highest, is_over, normal, settle, surface
from ._core import bare3
from ._curvature import goes_over

#: Where searches begin around a ball's center, as part of its radius.
_AWAY = 0.6
#: The most of a normal along an axis that counts as across it: rounding errors of a search that has ended.
_ACROSS = 1e-6


@generic
def pose_in_field(model: Any, pair: Pair, s: int) -> Any:
    """R and p of the frame of surface s in that of the field, the second of the pair."""
    _, _, lane = pair
    R_GF, p_GF = orientation(model, pair[1], lane), origin(model, pair[1], lane)
    R = mat33.mul(mat33.transpose(R_GF), orientation(model, s, lane))
    return R, mat33.transpose_mul_vec(R_GF, vec3.sub(origin(model, s, lane), p_GF))


@generic
def put(model: Any, pair: Pair, row: int, p: Any, n: Any, depth: Any, law: float, one: Any, two: Any, feature: int) -> None:
    """Write a row, of p half way between the surfaces and the field's upward normal n, both in the field's frame."""
    _, f, lane = pair
    R_GF = orientation(model, f, lane)
    point = vec3.add(origin(model, f, lane), mat33.mul_vec(R_GF, p))
    put_point(model, pair, row, point, mat33.mul_vec(R_GF, vec3.neg(n)), depth, law, one, two, feature)


@generic
def start_near(k: int, x: float, y: float, away_x: float, away_y: float) -> Any:
    """The start of the k-th of nine searches: at x and y, then around it."""
    if k == 0:
        return x, y
    if k <= 4:
        along = away_x if k & 1 == 1 else -away_x
        return x + along, y + (away_y if k <= 2 else -away_y)
    if k <= 6:
        return x + (away_x if k == 5 else -away_x), y
    return x, y + (away_y if k == 7 else -away_y)


@generic
def is_new(model: Any, pair: Pair, first: int, end: int, x: float, y: float, z: float, near: float) -> bool:
    """True if none of the rows from first to end is at a point of the field, within a length *near*."""
    _, f, lane = pair
    at = bare3(vec3.add(origin(model, f, lane), mat33.mul_vec(orientation(model, f, lane), (x, y, z))))
    for row in range(first, end):
        r = vec3.sub(bare3(load3_lane(model.contact_point, row, POINT, lane)), at)
        if vec3.dot(r, r) < near * near:
            return False
    return True


@generic
def ball(model: Any, pair: Pair, count: int, c: Any, radius: Any, feature: int) -> int:
    """Rows, from *count* on, of a ball with center c: one at each place where the surface is locally nearest to it.

    One search is enough where the surface curves upward less than half of what the ball does: then there is one such place.
    """
    f, x, r = pair[1], bare3(c), bare(radius)
    height, bent = highest(model, f, x[0], x[1], r, r)
    if x[2] - r > height:
        return count
    o = 0.0 * (c[0] + radius)
    first, none = count, (0.0, 0.0, 0.0)
    searches = 1 if 2.0 * r * bent < 1.0 else 9
    for k in range(searches):
        u, v, found = foot(model, f, x, none, start_near(k, x[0], x[1], _AWAY * r, _AWAY * r))
        if not found:
            continue
        u, v = settle(model, f, c, none, u, v)
        z, z_x, z_y, z_xx, z_xy, z_yy = surface(model, f, u, v)
        n, w = normal(z_x, z_y)
        height_of_center = vec3.dot(n, vec3.sub(c, (u, v, z)))
        depth = radius - height_of_center
        # from below the surface, what is nearest says nothing: there is one way out
        if depth <= 0.0 or (k > 0 and height_of_center <= 0.0):
            continue
        p = vec3.add_scaled((u, v, z), -0.5 * depth, n)
        if not is_new(model, pair, first, count, bare(p[0]), bare(p[1]), bare(p[2]), 1e-6 * r):
            continue
        curvature = 1.0 / radius
        metric = 1.0 + z_x * z_x, z_x * z_y, 1.0 + z_y * z_y
        form = curvature * metric[0] - z_xx / w, curvature * metric[1] - z_xy / w, curvature * metric[2] - z_yy / w
        greater, smaller = eigenvalues(metric, form, curvature)
        put(model, pair, count, p, n, depth, HERTZ, o + greater, o + smaller, feature + k)
        count = count + 1
    return count


@generic
def side(model: Any, pair: Pair, count: int, c: Any, axis: Any, radius: Any, half: Any, feature: int) -> int:
    """A row, if the side of a cylinder about an axis through c is nearest to the surface between its ends, and not at one."""
    f, x, r = pair[1], bare3(c), bare(radius)
    a, h = bare3(axis), bare(half)
    height, _ = highest(model, f, x[0], x[1], abs(a[0]) * h + r, abs(a[1]) * h + r)
    if x[2] - abs(a[2]) * h - r > height:
        return count
    u, v, found = foot(model, f, x, a, (x[0], x[1]))
    if not found:
        return count
    u, v = settle(model, f, c, axis, u, v)
    z, z_x, z_y, z_xx, z_xy, z_yy = surface(model, f, u, v)
    along = vec3.dot(axis, vec3.sub((u, v, z), c))
    # the less of it the nearer to an end, which has a row of its own
    length = radius if r < h else half
    part = goes_over((half - along) / length) * goes_over((half + along) / length)
    if part <= 0.0:
        return count
    n, w = normal(z_x, z_y)
    depth = radius - vec3.dot(n, vec3.sub(vec3.add_scaled(c, along, axis), (u, v, z)))
    # where the axis runs through the surface its distance is least too, zero, but across no normal
    if depth <= 0.0 or depth >= radius or abs(bare(vec3.dot(n, axis))) > _ACROSS:
        return count
    p = vec3.add_scaled((u, v, z), -0.5 * depth, n)
    curvature = 1.0 / radius
    t, s = axis[0] + axis[2] * z_x, axis[1] + axis[2] * z_y
    metric = 1.0 + z_x * z_x, z_x * z_y, 1.0 + z_y * z_y
    form = (
        curvature * (metric[0] - t * t) - z_xx / w,
        curvature * (metric[1] - t * s) - z_xy / w,
        curvature * (metric[2] - s * s) - z_yy / w,
    )
    greater, smaller = eigenvalues(metric, form, curvature)
    bent = 1.0 / (part * part)
    put(model, pair, count, p, n, depth, HERTZ, bent * greater, bent * smaller, feature)
    return count + 1


@generic
def below(model: Any, f: int, c: Any) -> Any:
    """Depth of a point below the surface of field f, 0 or less if it is not, and the normal where the surface is nearest."""
    x = bare3(c)
    o = 0.0 * c[0]
    if not is_over(model, f, x[0], x[1]) or x[2] > highest(model, f, x[0], x[1], 0.0, 0.0)[0]:
        return o - 1.0, (o, o, o)
    if x[2] >= surface(model, f, x[0], x[1])[0]:
        return o - 1.0, (o, o, o)
    none = (0.0, 0.0, 0.0)
    a, b, found = foot(model, f, x, none, (x[0], x[1]))
    if found:
        u, v = settle(model, f, c, none, a, b)
    else:  # what is nearest is the border: as if the surface were a plane, that over the point
        u, v = o + c[0], o + c[1]
    z, z_x, z_y, _, _, _ = surface(model, f, u, v)
    n, _ = normal(z_x, z_y)
    return vec3.dot(n, vec3.sub((u, v, z), c)), n


@apart
def corner(model: Any, pair: Pair, count: int, c: Any, feature: int) -> int:
    """A row, if the corner c is below the surface."""
    depth, n = below(model, pair[1], c)
    if depth <= 0.0:
        return count
    p = vec3.add_scaled(c, 0.5 * depth, n)
    put(model, pair, count, p, n, depth, CORNER, 0.0 * depth, 0.0 * depth, feature)
    return count + 1
