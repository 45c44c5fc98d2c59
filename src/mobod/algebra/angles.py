"""Sines and cosines of a state's coordinates, ahead of the bodies' turns: eight of them in a vector take as long as one.

A third of what a pin's position costs was its sine and cosine. Of lanes, and of Duals, there is nothing to gain: a number of
theirs fills a register by itself. Bits are the same, since `scalar.sincos` gives one and eight the same.
"""

from typing import Any

from .._jit import generic
from .scalar import load, sincos


def prepare(angles: Any, first: int, sines: Any, cosines: Any) -> None:
    """Put sines and cosines of the angles in rows *first* to *first* + 7 into the same rows; compiled for one state alone."""


def prepared(angles: Any, i: int, sines: Any, cosines: Any) -> Any:
    """``(sin, cos)`` of the angle in row *i*, which `prepare` has met if it was called for a state."""
    return sincos(load(angles, i, 0))


@generic
def sweep(model: Any) -> None:
    """Prepare the coordinates that are angles."""
    for k in range(model.num_angle_runs):
        prepare(model.q, model.angle_run[k], model.sine, model.cosine)
