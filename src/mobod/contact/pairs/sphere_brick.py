"""Sphere and Brick: the nearest point of its faces, edges or corners.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._ball import sphere_with
from ._core import bare3
from ._nearest import nearest_on_brick


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_brick(x, bare3(three_of(model, s, DIMENSIONS, lane)))


sphere_brick = sphere_with(_near, "sphere_brick")
