"""Sphere and Cylinder: the nearest point of its side, an end or a rim; endless ones too.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...algebra.scalar import bare
from ...compiling import generic
from ..access import DIMENSIONS, number_of
from ._ball import sphere_with
from ._nearest import half_length, nearest_on_cylinder


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_cylinder(x, bare(number_of(model, s, DIMENSIONS, lane)), half_length(model, s, lane))


sphere_cylinder = sphere_with(_near, "sphere_cylinder")
