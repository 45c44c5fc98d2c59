"""Capsule and Torus: the capsule's nearest point, and the ring of balls that is the torus' tube, see `_ring`.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._core import bare3
from ._nearest import nearest_on_capsule
from ._ring import torus_with


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    d = bare3(three_of(model, s, DIMENSIONS, lane))
    return nearest_on_capsule(x, d[0], d[1])


capsule_torus = torus_with(_near, "capsule_torus", False)
