"""Pose: where a frame on a body is."""

from __future__ import annotations

from ..tree import sampling
from .input import OfAFrame


class Pose(OfAFrame):
    """The pose X ``(4, 4)`` of a frame in Ground: ``X[:3, :3]`` is its rotation, ``X[:3, 3]`` its origin.

    Parameters
    ----------
    body : MobilizedBody
        Given by object, index or name.
    station : (3,) array_like
        The frame's origin, in the body's frame; that of the body unless given.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.Pose(system.matter.bodies["lower"])
    >>> isinstance(part, mb.control.Input)
    True
    """

    KIND = sampling.POSE

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return 4, 4
