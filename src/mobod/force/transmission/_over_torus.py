"""OpenSim's wrapping of a path's segment over a torus about z: as over a cylinder at the place of its circle that is nearest.

The cylinder lies along the circle there, is of the torus' inner radius, and is wrapped on the side of the torus' middle. The
place is in the direction of the point of the segment's line that is nearest to a circle of twice the radius: OpenSim's gradient
has a factor of two too much. It is exact here, and found to 1e-4 there. Answers as of `_over_cylinder`. Source of the rules:
OpenSim 4.6, WrapTorus.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, sqrt, zero
from ...compiling import apart, generic
from ._lines import at, held, on_side, safe_sqrt, unit
from ._over_cylinder import MANDATORY, NONE, WRAPPED, over_cylinder

#: Length of the cylinder, and how often the place is sought.
LENGTH, MOST = 10000.0, 100


@apart
def over_torus(a: Any, b: Any, inner: Any, outer: Any, axis: int, sign: int, alone: bool) -> Any:
    """A torus whose circle, of the outer radius, is in the plane of x and y."""
    o = zero(a[0])
    nothing = o, o, o
    there, c, s = place(a, b, outer, axis, sign)
    found = NONE, nothing, nothing, o
    if there:
        p, q = turned(a, c, s, outer), turned(b, c, s, outer)
        contact, t1, t2, length = over_cylinder(True, p, q, inner, o + LENGTH, 0, 1, alone)
        if contact == MANDATORY:
            contact = WRAPPED
        found = contact, turned_back(t1, c, s, outer), turned_back(t2, c, s, outer), length
    return found


@generic
def place(a: Any, b: Any, outer: Any, axis: int, sign: int) -> Any:
    """True if there is a nearest place of the circle on the side that counts; cos and sin of the way from it to the middle."""
    one, other = _nearest(a, b, 2.0 * outer), _nearest(b, a, 2.0 * outer)  # twice the radius, as there
    first, second = True, True
    if sign != 0:
        first, second = on_side(at(one, axis), sign), on_side(at(other, axis), sign)
    near = one
    if second and (not first or _away(other, outer) <= _away(one, outer)):
        near = other
    size = safe_sqrt(near[0] * near[0] + near[1] * near[1])
    c, s = zero(size), zero(size)
    if size > 0.0:
        c, s = -near[0] / size, -near[1] / size
    return (first or second) and size > 0.0, c, s


@generic
def turned(p: Any, c: Any, s: Any, outer: Any) -> Any:
    """Into the frame of the cylinder: x to the middle, y against the torus' axis, z along the circle."""
    return c * p[0] + s * p[1] + outer, -p[2], c * p[1] - s * p[0]


@generic
def turned_back(p: Any, c: Any, s: Any, outer: Any) -> Any:
    """And back."""
    x = p[0] - outer
    return c * x - s * p[2], s * x + c * p[2], -p[1]


@generic
def _away(p: Any, radius: Any) -> Any:
    """The square of the distance from the circle."""
    d = safe_sqrt(p[0] * p[0] + p[1] * p[1]) - radius
    return d * d + p[2] * p[2]


@generic
def _nearest(a: Any, b: Any, radius: Any) -> Any:
    """The point of a line, seen from a, at which its distance from the circle is stationary."""
    n = unit(vec3.sub(b, a))
    p, m, r = (bare(a[0]), bare(a[1]), bare(a[2])), (bare(n[0]), bare(n[1]), bare(n[2])), bare(radius)
    u, is_root = _sought(p, m, r)
    root = u + zero(a[0])
    if is_root:
        for _ in range(MOST):
            f, slope = _residual(u, p, m, r)
            if slope == 0.0 or (f < 1e-15 * r and f > -1e-15 * r):
                break
            u -= f / slope
        root = u + zero(a[0])
        for _ in range(2):
            f_of, slope_of = _residual(root, a, n, radius)
            root = held(root, f_of / slope_of)
    return vec3.add(a, vec3.scale(root, n))


@generic
def _sought(p: Any, m: Any, r: Any) -> Any:
    """Near which of the stationary points the method of Levenberg and Marquardt ends, from a on, as OpenSim sets it up.

    And whether it is one: it may end where the rate of the distance is least, and not zero. A step is as long as the region of
    trust where that is shorter. Source: More, Garbow and Hillstrom 1980, MINPACK-1.
    """
    u, trust, scale = 0.0, 0.2, 0.0
    f, slope = _doubled(u, p, m, r)
    for turn in range(MOST):
        size = slope if slope > 0.0 else -slope
        scale = max(scale, size if size > 0.0 else 1.0)
        if size == 0.0 or f == 0.0:
            break
        step = -f / slope
        length = scale * (step if step > 0.0 else -step)
        damping = 0.0
        if length > 1.1 * trust:
            step *= trust / length
            length = trust
            damping = -f * slope / step - slope * slope
        trust = min(trust, length) if turn == 0 else trust
        ahead, bend = _doubled(u + step, p, m, r)
        actual = 1.0 - (ahead / f) * (ahead / f) if 0.01 * ahead * ahead < f * f else -1.0
        linear, damped = slope * step / f, damping * step * step / (f * f)
        predicted = linear * linear + 2.0 * damped
        ratio = actual / predicted if predicted > 0.0 else 0.0
        if ratio <= 0.25:
            rate = -(linear * linear + damped)
            shrink = 0.5 if actual >= 0.0 else 0.5 * rate / (rate + 0.5 * actual)
            if 0.01 * ahead * ahead >= f * f or shrink < 0.1:
                shrink = 0.1
            trust = shrink * min(trust, 10.0 * length)
        elif damping == 0.0 or ratio >= 0.75:
            trust = 2.0 * length
        if ratio >= 1e-4:
            u, f, slope = u + step, ahead, bend
        if (actual <= 1e-4 and actual >= -1e-4 and predicted <= 1e-4) or trust <= 1e-4 * scale * (u if u > 0.0 else -u):
            break
    return u, f < 1e-3 * scale * r and f > -1e-3 * scale * r


@generic
def _doubled(u: Any, p: Any, m: Any, r: Any) -> Any:
    f, slope = _residual(u, p, m, r)
    return 2.0 * f, 2.0 * slope


@generic
def _residual(u: Any, a: Any, n: Any, radius: Any) -> Any:
    """Half the rate of the square of the distance along the line, and the rate of that."""
    x, y = a[0] + u * n[0], a[1] + u * n[1]
    square = x * x + y * y
    size = sqrt(square) if square > 1e-300 else zero(square) + 1e-150
    flat, along = n[0] * n[0] + n[1] * n[1], x * n[0] + y * n[1]
    f = vec3.dot(a, n) + u - radius * along / size
    return f, 1.0 - radius * (flat - along * along / (size * size)) / size
