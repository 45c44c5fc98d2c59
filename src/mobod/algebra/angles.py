"""Sines and cosines of pins' angles, eight at a time before the sweep of positions: eight in a vector take as long as one.

They were a third of a pin's position step. Only records of one state gain: a number of lanes or a Dual fills a register by
itself. The bits are those of `scalar.sincos` one by one.
"""

from typing import Any

from ..compiling import generic
from .scalar import load, sincos


def prepare(angles: Any, first: int, sines: Any, cosines: Any) -> None:
    """Sines and cosines of the angles in rows *first* to *first* + 7, into these rows. Compiled for one state only."""


def prepared(angles: Any, i: int, sines: Any, cosines: Any) -> Any:
    """``(sin, cos)`` of the angle in row *i*: what `prepare` has stored, in records of one state."""
    return sincos(load(angles, i, 0))


@generic
def sweep(model: Any) -> None:
    """`prepare` all runs of coordinates in which there is a pin's angle."""
    for k in range(model.num_angle_runs):
        prepare(model.q, model.angle_run[k], model.sine, model.cosine)
