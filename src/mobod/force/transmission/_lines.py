"""Points and lines, as the rules of wrapping need them: of one state, a float64 or a Dual, so that there may be branches."""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import atan2, bare, sqrt, zero
from ...compiling import generic

#: What counts as nothing: of a vector's length, of the square of a sine.
EPSILON, ROUNDING = 2.220446049250313e-16, 2e-13


@generic
def safe_sqrt(x: Any) -> Any:
    """The root of what is above zero, else zero, a constant."""
    return sqrt(x) if x > 0.0 else zero(x)


@generic
def norm(v: Any) -> Any:
    """|v|."""
    return safe_sqrt(vec3.dot(v, v))


@generic
def unit(v: Any) -> Any:
    """v / |v|; zero where there is no direction."""
    length = norm(v)
    o = zero(length)
    found = o, o, o
    if length >= EPSILON:
        found = vec3.scale(1.0 / length, v)
    return found


@generic
def angle_between(v: Any, w: Any) -> Any:
    """From 0 to pi."""
    return atan2(norm(vec3.cross(v, w)), vec3.dot(v, w))


@generic
def on_side(x: Any, sign: int) -> bool:
    """True if a coordinate is on the side that counts; zero is on the positive one."""
    return (x >= 0.0) == (sign > 0)


@generic
def at(v: Any, k: int) -> Any:
    """One of three numbers."""
    found = v[0]
    if k == 1:
        found = v[1]
    elif k == 2:
        found = v[2]
    return found


@generic
def put(v: Any, k: int, x: Any) -> Any:
    """The three numbers, but for one."""
    found = x, v[1], v[2]
    if k == 1:
        found = v[0], x, v[2]
    elif k == 2:
        found = v[0], v[1], x
    return found


@generic
def to_axis(a: Any, b: Any, c: Any, direction: Any) -> Any:
    """True if a line through a and b and one from c come closest somewhere; the two points; the part of a to b there."""
    o = zero(a[0])
    first, second = unit(vec3.sub(b, a)), unit(direction)
    across = vec3.cross(first, second)
    square = vec3.dot(across, across)
    found = False, (o, o, o), (o, o, o), o
    if square > ROUNDING:
        between = vec3.sub(c, a)
        s = vec3.dot(vec3.cross(between, second), across) / square
        t = vec3.dot(vec3.cross(between, first), across) / square
        part = s / norm(vec3.sub(b, a))
        found = True, vec3.add(a, vec3.scale(s, first)), vec3.add(c, vec3.scale(t, second)), part
    return found


@generic
def crossings(a: Any, b: Any, radii: Any) -> Any:
    """True if a line from b to a goes through an ellipsoid between them; the parts of the way at which it goes out and in."""
    f = (a[0] - b[0]) / radii[0], (a[1] - b[1]) / radii[1], (a[2] - b[2]) / radii[2]
    g = b[0] / radii[0], b[1] / radii[1], b[2] / radii[2]
    aa, bb, cc = vec3.dot(f, f), 2.0 * vec3.dot(f, g), vec3.dot(g, g) - 1.0
    square = bb * bb - 4.0 * aa * cc
    o = zero(square)
    found = False, o, o
    if square >= 0.0 and aa > 0.0:
        root = safe_sqrt(square)
        high, low = (root - bb) / (2.0 * aa), (-root - bb) / (2.0 * aa)
        found = high > 0.0 and high < 1.0 and low > 0.0 and low < 1.0, high, low
    return found


@generic
def held(t: Any, step: Any) -> Any:
    """t as its last step of Newton's method leaves its value, with the tangents that the step gives it."""
    return t - (step - bare(step))
