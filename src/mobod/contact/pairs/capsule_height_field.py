"""Capsule and HeightField: the spheres at both ends, and the side where it lies on a rise between them."""

from typing import Any

from ...algebra import vec3
from ..access import DIMENSIONS, Pair, narrow_phase, number_of
from ._height_field import ball, pose_in_field, side


@narrow_phase
def capsule_height_field(model: Any, pair: Pair) -> int:
    """Rows of the ends, then of the side."""
    s, _, lane = pair
    radius, half = number_of(model, s, DIMENSIONS, lane), number_of(model, s, DIMENSIONS + 1, lane)
    R, c = pose_in_field(model, pair, s)
    axis, count = (R[2], R[5], R[8]), 0
    for end in range(2):
        reach = half
        if end == 1:
            reach = -half
        count = ball(model, pair, count, vec3.add_scaled(c, reach, axis), radius, 16 * end)
    return side(model, pair, count, c, axis, radius, half, 32)
