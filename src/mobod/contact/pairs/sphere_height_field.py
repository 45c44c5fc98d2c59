"""Sphere and HeightField: where the surface is locally nearest to the center, in a hollow at several places.

With p the point of the surface and n its normal there, n.(c - p) = |c - p|, depth is the radius less that. The relative
curvatures are the eigenvalues of 1/radius less the surface's own, z_ij / sqrt(1 + |grad z|^2) in its metric.
"""

from typing import Any

from ..access import DIMENSIONS, Pair, narrow_phase, number_of
from ._height_field import ball, pose_in_field


@narrow_phase
def sphere_height_field(model: Any, pair: Pair) -> int:
    """A row each place."""
    s, _, lane = pair
    _, c = pose_in_field(model, pair, s)
    return ball(model, pair, 0, c, number_of(model, s, DIMENSIONS, lane), 0)
