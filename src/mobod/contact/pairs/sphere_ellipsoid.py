"""Sphere and Ellipsoid: the point of the ellipsoid nearest to the center, also from inside: the least overlap.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._ball import sphere_with
from ._core import bare3
from ._nearest import nearest_on_ellipsoid


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_ellipsoid(x, bare3(three_of(model, s, DIMENSIONS, lane)))


sphere_ellipsoid = sphere_with(_near, "sphere_ellipsoid")
