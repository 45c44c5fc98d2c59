"""Brick and Torus: the brick's nearest point, and the ring of balls that is the torus' tube, see `_ring`.

Law HERTZ with the curvatures of both; an edge or a corner has none.
"""

from typing import Any

from ...compiling import generic
from ..access import DIMENSIONS, three_of
from ._core import bare3
from ._nearest import nearest_on_brick
from ._ring import torus_with


@generic
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    return nearest_on_brick(x, bare3(three_of(model, s, DIMENSIONS, lane)))


brick_torus = torus_with(_near, "brick_torus", False)
