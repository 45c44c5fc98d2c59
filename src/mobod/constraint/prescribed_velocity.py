"""PrescribedVelocity: a speed is a function of time.

verr = u - f(t)     aerr = udot - f'(t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.scalar import load, one, zero
from ..compiling import routine
from ..function import Function, routines
from . import access
from ._of_time import OfTime
from .floats import OneVelocity
from .protocol import POSITIONS

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .base import AnyBody


@routine
def equations(model: Any, c: int, what: int) -> int:
    """Integers: which u, then the function's number; its argument is time."""
    j, time = access.integer(model, c, 0), load(model.time, 0, 0)
    value, slope, _ = routines.jet(model, access.integer(model, c, 1), time)
    o = zero(time)
    if what == POSITIONS:
        access.put_speed_coefficient(model, c, 0, 0, j, one(o))
    else:
        access.put_velocity_offset(model, c, 0, o - value)
        access.put_acceleration_offset(model, c, 0, o - slope)
    return 0


class PrescribedVelocity(OfTime, OneVelocity):
    """Makes one speed of a mobilizer a given function of time: one equation of velocities.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        What it joins.
    function : Function
        Of time, with first derivatives; its value is what the speed is.
    mobod : MobilizedBody
        The body whose mobilizer it is, or its index.
    which_u : int
        Which of its speeds, from 0.

    Notes
    -----
    `mobod.motion` prescribes all coordinates of a mobilizer at once, at no cost of constraints; the multiplier is then the
    motion's tau. A function that only Python can evaluate costs its own calls; the rest of the model runs compiled.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> part = mb.constraint.PrescribedVelocity(system.matter, mb.function.Constant(2.0), arm, 0)
    >>> state = system.realize_topology()
    >>> system.project(state)
    True
    >>> arm.get_u(state)
    2.0
    """

    routine = equations
    _letter = "u"
    _equations = (0, 1, 0)
    _derivatives = 1

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        mobod: AnyBody,
        which_u: int,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(matter, function, mobod, which_u, disabled_by_default=disabled_by_default, name=name)

    def get_which_u(self) -> int:
        """The index of the speed in its mobilizer."""
        return self.which_coordinate
