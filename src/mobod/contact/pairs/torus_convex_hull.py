"""Torus and ConvexHull: the hull's nearest point, and the ring of balls that is the torus' tube, see `_ring`.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ._nearest import nearest_on_hull
from ._ring import torus_with


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_hull(model, model.surface_first_integer[s], model.surface_first_constant[s], x)


torus_convex_hull = torus_with(_near, "torus_convex_hull", True)
