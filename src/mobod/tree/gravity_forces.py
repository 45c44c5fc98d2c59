"""The weight of the mechanism as generalized forces, J^T F of all gravities. Needs positions."""

from typing import Any

from ..algebra.record import attach
from ..compiling import compiled, generic
from ..force import gravity
from ..state.fields import Record
from . import jacobian_sweeps


@generic
def sweep(model: Record, f: Any) -> None:
    """f = J^T F, one pass inward that adds up what gravities apply."""
    jacobian_sweeps.clear(model.work_F, model.nb)
    for e in range(model.ng):
        if model.force_enabled[e] == 1:
            gravity.add_to(model, model.force_first_integer[e], model.force_first_number[e], model.work_F)
    jacobian_sweeps.inward(model, model.work_F, f)


@compiled
def calc_gravity_forces(block: Any, f: Any) -> None:
    """The sweep for a state's record; called from Python."""
    sweep(attach(block), f)
