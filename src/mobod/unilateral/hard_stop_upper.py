"""HardStopUpper: a coordinate cannot exceed a value.

gap = value - q; the position error is q - value, so that its sign is -1.
"""

from .hard_stop import HardStop


class HardStopUpper(HardStop):
    """The most that a coordinate can be: hitting it is an impact.

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

    _SIGN = -1
