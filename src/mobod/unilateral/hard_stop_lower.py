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

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> part = mb.contact.HardStopLower(ball, 2, 0.2)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.3
    """
