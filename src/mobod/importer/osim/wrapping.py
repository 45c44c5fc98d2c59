"""The length of a path that wraps over surfaces, as OpenSim finds it: one surface after the other, until the length settles.

Each surface is offered every segment within its range. It takes the first one that goes through it, else the one that becomes
least longer; the two points of touch then join the path, for the surfaces after it. OpenSim 4.6 keeps the place in Ground at
which it has first seen a point of touch, and measures distances from there, though the point moves on when its surface has
another turn: paths over two surfaces are up to 1 % off, and are so here. Source: OpenSim 4.6, GeometryPath, Point.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...algebra.arrays import Array
from .wrap_ellipsoid import over_ellipsoid
from .wrap_surfaces import Contact, Wrap, over_cylinder, over_sphere, side_of

if TYPE_CHECKING:
    from ...state.state import State
    from .muscles import PathWrap, WrapObject

#: What paths are wrapped over.
KNOWN = ("WrapCylinder", "WrapSphere", "WrapEllipsoid")
#: How often all surfaces take their turn, and the change of length, in metres, that ends it.
ROUNDS, SETTLED = 8, 0.0005


@dataclass(eq=False)
class _Stop:
    """A point that the path goes through, in Ground: one of its own by number, or a point of touch."""

    place: Array
    point: int = -1
    surface: WrapObject | None = None
    #: From the point of touch before it, over the surface.
    length: float | None = None
    #: Where it was when a length was first asked for.
    first_seen: Array | None = None

    def seen(self) -> Array:
        """Where it is for lengths."""
        if self.first_seen is None:
            self.first_seen = self.place
        return self.first_seen


def wrapped_length(
    state: State, places: Sequence[Array | None], wraps: Sequence[PathWrap], surfaces: Mapping[str, WrapObject]
) -> float:
    """The length of a path through *places* in Ground, None of points that are left out, over its wraps; at POSITION."""
    path = [_Stop(place, point=k) for k, place in enumerate(places) if place is not None]
    if len(path) < 2:
        return 0.0
    turns = [(one, surfaces[one.wrap_object]) for one in wraps if one.wrap_object in surfaces]
    touches = [[_Stop(np.zeros(3), surface=surface) for _ in range(2)] for _, surface in turns]
    order, before = list(range(len(turns))), math.inf
    for k in range(1 if len(turns) < 2 else ROUNDS):
        found = [Contact.NONE] * len(turns)
        for place, i in enumerate(order):
            path = [stop for stop in path if stop not in touches[i]]
            way, surface = turns[i]
            if not surface.active:
                continue
            ends = _range(way, places)
            if ends is None:
                return _length(path)
            best, found[place] = _best(state, path, ends, way, surface, len(turns) == 1)
            if best is not None:
                at, first, last, over = best
                touches[i][0].place, touches[i][1].place, touches[i][1].length = first, last, over
                path[at + 1 : at + 1] = touches[i]
        length = _length(path)
        if abs(length - before) < SETTLED:
            break
        before = length
        if k == 0 and len(turns) > 1 and found[0] is Contact.NONE and found[1] is Contact.INSIDE:
            order[:2] = 1, 0  # the second has a point inside that the first may take away
            path = [stop for stop in path if stop not in touches[0]]
    return _length(path)


def _range(way: PathWrap, places: Sequence[Array | None]) -> tuple[int, int] | None:
    """The first and the last point between which a path may wrap; None if there are none."""
    first, last = (way.range[0] - 1 if way.range[0] >= 1 else 0), (way.range[1] if way.range[1] >= 1 else len(places)) - 1
    there = [k for k in range(first, last + 1) if k < len(places) and places[k] is not None]
    return (there[0], there[-1]) if there else None


def _best(
    state: State, path: list[_Stop], ends: tuple[int, int], way: PathWrap, surface: WrapObject, alone: bool
) -> tuple[tuple[int, Array, Array, float] | None, Contact]:
    """After which stop the path touches a surface, where, and how far over it; what became of the last segment tried."""
    start, end = (next(k for k, stop in enumerate(path) if stop.point == point) for point in ends)
    X_GW = surface.body.get_body_transform(state) @ surface.X_BW
    X_WG = ~X_GW
    best, least, contact = None, math.inf, Contact.NONE
    for k in range(start, end):
        a, b = path[k], path[k + 1]
        if a.surface is not None and a.surface is b.surface:
            continue
        found = _over(surface, np.asarray(X_WG @ a.place), np.asarray(X_WG @ b.place), way.method, alone)
        contact = found.contact
        if found.first is None or found.last is None:
            continue
        first, last = np.asarray(X_GW @ found.first), np.asarray(X_GW @ found.last)
        if contact is Contact.MANDATORY:
            return (k, first, last, found.length), contact
        longer = _apart(a.seen(), first) + found.length + _apart(last, b.seen()) - _apart(a.seen(), b.seen())
        if longer < least:
            best, least = (k, first, last, found.length), longer
    return best, contact


def _over(surface: WrapObject, a: Array, b: Array, method: str, alone: bool) -> Wrap:
    """One segment, its ends in the frame of the surface; *alone* where the path has no other surface."""
    side, sizes = side_of(surface.quadrant), surface.dimensions
    if surface.kind == "WrapCylinder":
        return over_cylinder(a, b, sizes.get("radius", 1.0), sizes.get("length", 1.0), side, alone)
    if surface.kind == "WrapSphere":
        return over_sphere(a, b, sizes.get("radius", 0.05), side)
    if surface.kind == "WrapEllipsoid":
        return over_ellipsoid(a, b, np.asarray(sizes.get("dimensions", (0.05, 0.05, 0.05))), side, method)
    return Wrap(Contact.NONE)


def _length(path: Sequence[_Stop]) -> float:
    total = 0.0
    for a, b in itertools.pairwise(path):
        over = a.surface is not None and a.surface is b.surface and b.length is not None
        total += b.length if over else _apart(a.seen(), b.seen())  # type: ignore[operator]
    return total


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(b - a))
