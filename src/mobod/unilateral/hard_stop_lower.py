"""HardStopLower: a coordinate cannot be below a value. gap = q - value, which is the position error."""

from .hard_stop import HardStop


class HardStopLower(HardStop):
    """The least that a coordinate can be: hitting it is an impact.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_q : int
        Which of its coordinates, from 0.
    value : float
        Angle or length.
    restitution : float
        From 0 to 1.
    name : str, optional
    """
