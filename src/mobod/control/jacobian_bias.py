"""JacobianBias: what J has to be completed by for accelerations."""

from __future__ import annotations

from ..tree import sampling
from .input import OfAFrame


class JacobianBias(OfAFrame):
    """JDot u ``(6,)`` of a frame: with J udot, its angular acceleration and the acceleration of its origin, in Ground.

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
    >>> part = mb.control.JacobianBias(system.matter.bodies["lower"])
    >>> isinstance(part, mb.control.Input)
    True
    """

    KIND = sampling.JACOBIAN_BIAS

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return (6,)
