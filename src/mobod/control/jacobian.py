"""Jacobian: of a frame on a body, six rows."""

from __future__ import annotations

from ..tree import sampling
from .input import OfAFrame


class Jacobian(OfAFrame):
    """The Jacobian J ``(6, nu)`` of a frame: J u are its angular velocity and, below, the velocity of its origin, in Ground.

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
    >>> part = mb.control.Jacobian(system.matter.bodies["lower"])
    >>> isinstance(part, mb.control.Input)
    True
    """

    KIND = sampling.JACOBIAN

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return 6, nu
