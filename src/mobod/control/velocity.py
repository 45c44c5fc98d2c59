"""Velocity: how a frame on a body moves."""

from __future__ import annotations

from ..tree import sampling
from .input import OfAFrame


class Velocity(OfAFrame):
    """The velocity V ``(6,)`` of a frame in Ground: angular, then that of its origin.

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
    >>> part = mb.control.Velocity(system.matter.bodies["lower"])
    >>> isinstance(part, mb.control.Input)
    True
    """

    KIND = sampling.VELOCITY

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return (6,)
