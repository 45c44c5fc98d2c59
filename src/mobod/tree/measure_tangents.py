"""Tangents of measures, and of the rates of z that measures integrate, on a record of Duals, at udot held.

All that measures read is there: kinematics, forces, and accelerations of bodies and of q by the udot that is given with its
tangents, without any inertia being factored.
"""

from typing import Any

from ..algebra.record import attach, call_routine
from ..compiling import compiled
from ..mobilizer import _rates
from ..state.validity import FORCES, KINEMATICS
from .inverse_dynamics import calc_body_acceleration_from_u_dot
from .realize import DONE


@compiled
def calc_measures(block: Any, address: int, first: int, end: int) -> int:
    """The operations for rates, and those from *first* to *end*, of the udot in `u_dot`; the status.

    `realize.advance` is at *address*.
    """
    model = attach(block)
    status = call_routine(address, model, 0, KINEMATICS | FORCES)
    if status == DONE:
        calc_body_acceleration_from_u_dot(model, model.u_dot, model.A_GB)
        for b in range(1, model.nb):
            _rates.find_q_dot_dot(model, b)
        call_routine(model.measures[0], model, 0, model.measure_runs[1])
        call_routine(model.measures[0], model, first, end)
    return status
