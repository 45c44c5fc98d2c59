"""Points and lines, as the rules of wrapping need them."""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.masks import both, no
from ...algebra.scalar import bare, one, sqrt, where, zero
from ...compiling import generic

#: What counts as nothing: of a vector's length, of the square of a sine.
EPSILON, ROUNDING = 2.220446049250313e-16, 2e-13


@generic
def safe_sqrt(x: Any) -> Any:
    """The root of what is above zero, else zero, a constant."""
    # a root or a quotient as what `where` takes makes a branch of one state, at which sums of products are rounded otherwise
    some = x > 0.0
    return sqrt(where(some, x, one(x))) * where(some, one(x), zero(x))


@generic
def norm(v: Any) -> Any:
    """|v|."""
    return safe_sqrt(vec3.dot(v, v))


@generic
def unit(v: Any) -> Any:
    """v / |v|; zero where there is no direction."""
    length = norm(v)
    some = length >= EPSILON
    return vec3.scale(where(some, one(length), zero(length)) / where(some, length, one(length)), v)


@generic
def angle_of(y: Any, x: Any) -> Any:
    """The angle of (x, y) from the x axis, from -pi to pi: the minimax fraction of Moshier's Cephes.

    The C library's would go lane by lane.
    """
    aside, ahead = where(y < 0.0, -y, y), where(x < 0.0, -x, x)
    steep = aside > ahead
    less, more = where(steep, ahead, aside), where(steep, aside, ahead)
    far = less > 0.41421356 * more
    below = where(far, less + more, more)
    t = where(far, less - more, less) / where(below > 0.0, below, one(below))
    z = t * t
    above = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z) - (
        1.228866684490136173410e2
    )
    above = above * z - 6.485021904942025371773e1
    under = (((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z
    under = (under + 4.853903996359136964868e2) * z + 1.945506571482613964425e2
    angle = t + t * (z * above / under)
    angle = where(far, angle + 3.061616997868383e-17 + 0.7853981633974483, angle)
    angle = where(steep, 6.123233995736766e-17 - angle + 1.5707963267948966, angle)
    angle = where(x < 0.0, 1.2246467991473532e-16 - angle + 3.141592653589793, angle)
    return where(y < 0.0, -angle, angle)


@generic
def angle_between(v: Any, w: Any) -> Any:
    """From 0 to pi."""
    return angle_of(norm(vec3.cross(v, w)), vec3.dot(v, w))


@generic
def on_side(x: Any, sign: int) -> Any:
    """True where a coordinate is on the side that counts; zero is on the positive one."""
    found = x >= 0.0
    if sign < 0:
        found = no(found)
    return found


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
def crossings(a: Any, b: Any, radii: Any) -> Any:
    """True if a line from b to a goes through an ellipsoid between them; the parts of the way at which it goes out and in."""
    f = (a[0] - b[0]) / radii[0], (a[1] - b[1]) / radii[1], (a[2] - b[2]) / radii[2]
    g = b[0] / radii[0], b[1] / radii[1], b[2] / radii[2]
    aa, bb, cc = vec3.dot(f, f), 2.0 * vec3.dot(f, g), vec3.dot(g, g) - 1.0
    square = bb * bb - 4.0 * aa * cc
    meets = both(square >= 0.0, aa > 0.0)
    root, twice = safe_sqrt(square), where(aa > 0.0, 2.0 * aa, one(aa))
    high, low = (root - bb) / twice, (-root - bb) / twice
    between = both(both(high > 0.0, high < 1.0), both(low > 0.0, low < 1.0))
    return both(meets, between), high, low


@generic
def held(t: Any, step: Any) -> Any:
    """t as its last step of Newton's method leaves its value, with the tangents that the step gives it."""
    return t - (step - bare(step))
