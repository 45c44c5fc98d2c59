"""Sphere and Capsule: the nearest point of the segment in the middle.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._ball import sphere_with
from ._core import bare3
from ._nearest import nearest_on_capsule


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    d = bare3(three_of(model, s, DIMENSIONS, lane))
    return nearest_on_capsule(x, d[0], d[1])


sphere_capsule = sphere_with(_near, "sphere_capsule")
