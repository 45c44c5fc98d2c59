"""Sphere and Torus: the nearest point of the circle in the tube.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._ball import sphere_with
from ._core import bare3
from ._nearest import nearest_on_torus


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    d = bare3(three_of(model, s, DIMENSIONS, lane))
    return nearest_on_torus(x, d[0], d[1])


sphere_torus = sphere_with(_near, "sphere_torus")
