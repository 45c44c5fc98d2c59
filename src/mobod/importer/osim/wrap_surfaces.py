"""How OpenSim wraps a segment of a path over a surface: by rules of its own, which decide whether, where and which way.

Each surface is asked with the ends of the segment in its own frame, and answers with the points where the path touches first
and last and the length between them. A quadrant is a side, such as +x, that alone counts. Lengths are what OpenSim 4.6 finds,
where it errs too: that of a sphere is negative where its path goes the long way round. Source of the rules: OpenSim 4.6,
WrapCylinder and WrapSphere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError

AXIS = np.array([0.0, 0.0, 1.0])  # of cylinders
SIDES = ("x", "+x", "-x", "y", "+y", "-y", "z", "+z", "-z")
#: Longest straight piece, in metres, that neighbouring wraps see of the spiral on a cylinder.
PIECE = 0.002
#: Tangents at the ends of a spiral, and how often they are sought.
TANGENT, MOST = math.radians(0.1), 100
ROUNDING, PARALLEL = 2e-13, 1e-5


class Contact(Enum):
    """What became of a segment: missed; an end inside; over the surface if that is best; through it, so that it has to wrap."""

    NONE, INSIDE, WRAPPED, MANDATORY = range(4)


class Wrap(NamedTuple):
    """Where the path touches first and last, in the frame of the surface, and the length between."""

    contact: Contact
    first: Array | None = None
    last: Array | None = None
    length: float = 0.0


def side_of(quadrant: str) -> tuple[int, int]:
    """The axis of a quadrant and its sign; sign 0 for all."""
    word = quadrant.strip().lower()
    if word in ("", "all", "unassigned"):
        return 0, 0
    if word not in SIDES:
        raise ModelError(f"the quadrant of a WrapObject is all, or one of {', '.join(SIDES)}; not {quadrant!r}")
    return "xyz".index(word[-1]), -1 if word[0] == "-" else 1


def over_cylinder(a: Array, b: Array, radius: float, length: float, side: tuple[int, int], alone: bool) -> Wrap:
    """A cylinder about z, of some length about the origin."""
    if _from_axis(a) < radius or _from_axis(b) < radius:
        return Wrap(Contact.INSIDE)
    sign = side[1]
    near, on_axis, t = nearest(a, b, np.zeros(3), AXIS)
    through = float(((near - on_axis) ** 2).sum()) < radius**2 and 0.0 < t < 1.0
    contact = Contact.MANDATORY if through else Contact.WRAPPED
    if not sign and not through:
        return Wrap(Contact.NONE)
    if (
        sign
        and not through
        and (on_side(a, side) or on_side(b, side))
        and (on_side(a, side) == on_side(b, side) or on_side(near, side))
    ):
        return Wrap(Contact.NONE)
    foot_a, foot_b = np.array([0.0, 0.0, a[2]]), np.array([0.0, 0.0, b[2]])
    of_a, of_b = _tangents(a, radius), _tangents(b, radius)
    longer = False
    if sign:
        wider = _angle(of_a[0] - foot_a, of_b[1] - foot_b) > _angle(of_a[1] - foot_a, of_b[0] - foot_b)
        second = _second_of_a(of_a, of_b, side, wider)
        first, last = (of_a[1], of_b[0]) if second else (of_a[0], of_b[1])
        longer = float(((first - foot_a) + (last - foot_b)) @ ((first - a) + (last - b))) < 0.0
    else:
        first, last = _closest_pair(of_a, of_b, foot_a, foot_b)
    first, last = _slid(a, b, first, last)
    if abs(first[2]) > 0.5 * length and abs(last[2]) > 0.5 * length:
        return Wrap(Contact.NONE)
    first, last, along = _spiral(a, b, first, last, radius, longer, alone)
    return Wrap(contact, first, last, along)


def _second_of_a(of_a: Sequence[Array], of_b: Sequence[Array], side: tuple[int, int], wider: bool) -> bool:
    """Whether the path touches at a's second candidate and b's first, not at a's first and b's second."""
    if on_side(of_a[0], side) != on_side(of_a[1], side):
        return on_side(of_a[1], side)
    if on_side(of_b[0], side):
        return True
    if on_side(of_a[0], side) or on_side(of_b[1], side):
        return False
    return not wider


def _slid(a: Array, b: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """The points of touch, slid along z into the plane of both ends and the point of the axis that is as far between them."""
    t = _from_axis(a) / (_from_axis(a) + _from_axis(b))
    center = (a[2] + t * (b[2] - a[2])) * AXIS
    normal = unit(np.cross(unit(a - center), unit(b - center)))
    if abs(20.0 * normal[2]) < PARALLEL:
        return first, last
    found = []
    for point, own, other in ((first, a, b), (last, b, a)):
        rise = float((a - point) @ normal) / normal[2]
        # OpenSim takes b's foot for the direction of the axis: none where that is the origin
        foot = point[2] + rise if b[2] != 0.0 else a[2]
        within = -10.0 * (1.0 + 2.0 * PARALLEL) <= rise <= 10.0 * (1.0 + 2.0 * PARALLEL)
        slides = within and (foot - other[2]) ** 2 < (own[2] - other[2]) ** 2
        found.append(point + rise * AXIS if slides else point)
    return found[0], found[1]


def _spiral(
    a: Array, b: Array, first: Array, last: Array, radius: float, longer: bool, alone: bool
) -> tuple[Array, Array, float]:
    """The points of touch, brought to where the spiral between them goes on straight, and its length."""
    for iteration in range(MOST + 1):
        angle = math.atan2(first[0] * last[1] - first[1] * last[0], first[0] * last[0] + first[1] * last[1])
        angle = 2.0 * math.pi - angle if longer else angle
        rise = last[2] - first[2]
        length = math.hypot(radius * angle, rise)
        pieces = int(length / PIECE)
        if alone or pieces < 2 or iteration == MOST:
            break
        turn, step = -angle if longer else angle, 1.0 / pieces
        moved, first = _made_tangent(a, first, _screwed(first, step * turn, step * rise))
        also, last = _made_tangent(b, last, _screwed(first, (1.0 - step) * turn, (1.0 - step) * rise))
        if not (moved or also):
            break
    return first, last, length


def _screwed(point: Array, angle: float, rise: float) -> Array:
    """A point turned about z, and shifted along it."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1], point[2] + rise])


def _made_tangent(end: Array, touch: Array, next_point: Array) -> tuple[bool, Array]:
    """Whether a point of touch has to slide along z for the path to be straight there, and to where."""
    before, after = unit(touch - end), unit(next_point - touch)
    if not abs(math.acos(np.clip(before[2], -1, 1)) - math.acos(np.clip(after[2], -1, 1))) > TANGENT:
        return False, touch
    own, others = (np.array([touch[0], touch[1], one[2]]) for one in (end, next_point))
    _, there, t = nearest(end, next_point, own, others - own)
    return not math.isnan(t), touch if math.isnan(t) else touch + 1.5 * (there - touch)


def over_sphere(a: Array, b: Array, radius: float, side: tuple[int, int]) -> Wrap:
    """A sphere about the origin."""
    if np.linalg.norm(a) < radius or np.linalg.norm(b) < radius:
        return Wrap(Contact.INSIDE)
    axis, sign = side
    back = a - b
    through = crossings(a, b, np.full(3, radius))
    if through is None:
        return Wrap(Contact.NONE)
    direction = unit(back)
    contact, longer = Contact.WRAPPED, False
    normal = np.cross(direction, unit(b))
    if np.linalg.norm(normal) < 1e-5:  # through the center: no side is better
        return Wrap(Contact.WRAPPED, np.zeros(3), np.zeros(3), 0.5 * math.pi * radius)
    of_a, of_b = (_tangents_in_plane(one, unit(normal), radius) for one in (a, b))
    first, last = _closest_pair(of_a, of_b, np.zeros(3), np.zeros(3))
    if sign and (on_side(a, side) or on_side(b, side)):
        t = float(a @ direction)  # in metres, and compared with 1, as there
        near = a - t * direction
        if float(near @ near) < radius**2 and 0.0 < t < 1.0:
            contact = Contact.MANDATORY
        elif on_side(a, side) == on_side(b, side) or on_side(near, side):
            return Wrap(Contact.NONE)
    if sign and not (on_side(a, side) and on_side(b, side)):
        inward = unit(-a - b)
        one = int(not of_a[0] @ inward > of_a[1] @ inward)
        two = int(not of_b[0] @ inward > of_b[1] @ inward)
        pulled = unit((of_a[one] - a) + (of_b[two] - b))
        if sign * pulled[axis] < 0.0:
            one, two = 1 - one, 1 - two
        first, last = of_a[one], of_b[two]
        longer = float((first + last) @ ((first - a) + (last - b))) < 0.0
    angle = math.acos(float(np.clip(unit(first) @ unit(last), -1.0, 1.0)))
    return Wrap(contact, first, last, radius * (angle - 2.0 * math.pi if longer else angle))


# ---------------------------------------------------------------------------------------------- of points and lines


def unit(v: Array) -> Array:
    """A vector of length one; zero where it has none."""
    length = float(np.linalg.norm(v))
    return v / length if length >= np.finfo(float).eps else np.zeros(3)


def nearest(a: Array, b: Array, c: Array, direction: Array) -> tuple[Array, Array, float]:
    """Where a line through a and b and one from c come closest, and the part of a to b there; NaN where they are parallel."""
    one, two = unit(b - a), unit(direction)
    across = np.cross(one, two)
    square = float(across @ across)
    if square <= ROUNDING:
        return np.full(3, math.nan), np.full(3, math.nan), math.nan
    s = float(np.cross(c - a, two) @ across) / square
    t = float(np.cross(c - a, one) @ across) / square
    return a + s * one, c + t * two, s / float(np.linalg.norm(b - a))


def _from_axis(point: Array) -> float:
    return math.hypot(point[0], point[1])


def on_side(point: Array, side: tuple[int, int]) -> bool:
    """Whether a point is on the side that counts; zero is on the positive one."""
    return (1 if point[side[0]] >= 0.0 else -1) == side[1]


def _angle(v: Array, w: Array) -> float:
    cosine = float(v @ w) / float(np.linalg.norm(v) * np.linalg.norm(w))
    return math.acos(cosine) if abs(cosine) <= 1.0 else math.nan


def _tangents(point: Array, radius: float) -> tuple[Array, Array]:
    """Where lines from a point touch the cylinder, at the point's height."""
    away = np.array([point[0], point[1], 0.0]) / _from_axis(point)
    along = radius * radius / _from_axis(point)
    across = math.sqrt(max(radius**2 - along**2, 0.0)) * np.cross(AXIS, away)
    middle = along * away + point[2] * AXIS
    return middle + across, middle - across


def _tangents_in_plane(point: Array, normal: Array, radius: float) -> tuple[Array, Array]:
    """Where lines from a point touch the sphere, in a plane through its center."""
    inward = unit(-point)
    across = np.cross(normal, inward)
    far = float(np.linalg.norm(point))
    angle = math.asin(min(radius / far, 1.0))
    c, s = math.cos(angle), math.sin(angle)
    return point + far * c * (c * inward - s * across), point + far * c * (c * inward + s * across)


def _closest_pair(of_a: Sequence[Array], of_b: Sequence[Array], foot_a: Array, foot_b: Array) -> tuple[Array, Array]:
    """Of the candidates those that are least apart, seen from the middle; the last of equals."""
    pairs = [(one, two) for one in of_a for two in of_b]
    near = [float(unit(one - foot_a) @ unit(two - foot_b)) for one, two in pairs]
    return pairs[max(range(4), key=lambda k: (near[k], k))]


def crossings(a: Array, b: Array, radii: Any) -> tuple[float, float] | None:
    """Where the line from b to a goes in and out of an ellipsoid, if both are between them."""
    f, g = (a - b) / radii, b / radii
    aa, bb, cc = float(f @ f), 2.0 * float(f @ g), float(g @ g) - 1.0
    square = bb * bb - 4.0 * aa * cc
    if square < 0.0:
        return None
    high, low = (-bb + math.sqrt(square)) / (2.0 * aa), (-bb - math.sqrt(square)) / (2.0 * aa)
    return (high, low) if 0.0 < high < 1.0 and 0.0 < low < 1.0 else None
