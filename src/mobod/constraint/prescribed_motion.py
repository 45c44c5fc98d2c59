"""PrescribedMotion: a coordinate is a function of time.

perr = q - f(t)     verr = q_dot - f'(t)     aerr = q_dot_dot - f''(t)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.scalar import load, one, zero
from ..compiling import routine
from ..function import Function, routines
from . import access
from ._of_time import OfTime
from .floats import OnePosition
from .protocol import POSITIONS

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .base import AnyBody


@routine
def equations(model: Any, c: int, what: int) -> int:
    """Integers: which q, then the function's number; its argument is time."""
    j, time = access.integer(model, c, 0), load(model.time, 0, 0)
    value, slope, bend = routines.jet(model, access.integer(model, c, 1), time)
    o = zero(time)
    if what == POSITIONS:
        access.put_position_error(model, c, 0, access.coordinate(model, c, 0, j) - value)
        access.put_coordinate_coefficient(model, c, 0, 0, j, one(o))
        access.put_velocity_offset(model, c, 0, o - slope)
    else:
        access.put_acceleration_offset(model, c, 0, o - bend)
    return 0


class PrescribedMotion(OfTime, OnePosition):
    """Makes one coordinate of a mobilizer a given function of time: one equation of positions.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        What it joins.
    function : Function
        Of time, with second derivatives; its value is what the coordinate is.
    mobod : MobilizedBody
        The body whose mobilizer it is, or its index.
    which_q : int
        Which of its coordinates, from 0, of those that a state's modelling choice gives it.

    Notes
    -----
    `mobod.motion` prescribes all coordinates of a mobilizer at once, at no cost of constraints; the multiplier is then the
    motion's tau. A function that only Python can evaluate costs its own calls; the rest of the model runs compiled.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upper = system.matter.bodies[1]
    >>> drive = mb.constraint.PrescribedMotion(system.matter, mb.function.Sinusoid(0.5, 2.0, 0.0), upper, 0)
    >>> state = system.realize_topology()
    >>> state.time = 0.4
    >>> system.project(state)
    True
    >>> round(upper.get_q(state), 6)  # 0.5 sin(0.8)
    0.358678
    """

    routine = equations
    _letter = "q"
    _equations = (1, 0, 0)
    _derivatives = 2

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        mobod: AnyBody,
        which_q: int,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(matter, function, mobod, which_q, disabled_by_default=disabled_by_default, name=name)

    def get_which_q(self) -> int:
        """The index of the coordinate in its mobilizer."""
        return self.which_coordinate
