"""Brick, ConvexHull and HeightField: the corners that are below the surface, each along the normal where that is nearest."""

from typing import Any

from ...algebra import mat33, vec3
from ..access import DIMENSIONS, Pair, narrow_phase, three_of
from ..mesh_tree import constant3
from ._height_field import corner, pose_in_field


@narrow_phase
def brick_height_field(model: Any, pair: Pair) -> int:
    """Eight corners."""
    s, _, lane = pair
    R, p = pose_in_field(model, pair, s)
    h, count = three_of(model, s, DIMENSIONS, lane), 0
    for i in range(8):
        x = h[0] if i & 1 == 1 else -h[0]
        y = h[1] if i & 2 == 2 else -h[1]
        z = h[2] if i & 4 == 4 else -h[2]
        count = corner(model, pair, count, vec3.add(p, mat33.mul_vec(R, (x, y, z))), i)
    return count


@narrow_phase
def convex_hull_height_field(model: Any, pair: Pair) -> int:
    """All vertices, which come first in the constants."""
    s, _, _ = pair
    R, p = pose_in_field(model, pair, s)
    first, count = model.surface_first_constant[s], 0
    for i in range(model.contact_integers[model.surface_first_integer[s]]):
        at = vec3.add(p, mat33.mul_vec(R, constant3(model, first + 3 * i)))
        count = corner(model, pair, count, at, i)
    return count
