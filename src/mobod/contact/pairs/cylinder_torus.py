"""Cylinder and Torus: the cylinder's nearest point, and the ring of balls that is the torus' tube, see `_ring`.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...algebra.scalar import bare
from ...compiling import generic
from ..access import DIMENSIONS, number_of
from ._nearest import half_length, nearest_on_cylinder
from ._ring import torus_with


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_cylinder(x, bare(number_of(model, s, DIMENSIONS, lane)), half_length(model, s, lane))


cylinder_torus = torus_with(_near, "cylinder_torus", False)
