"""Constraint errors, multipliers and projections of many states of one tree, eight at a time in lanes."""

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import gather, load, one, scatter, store, where, zero
from ..compiling import compiled
from ..constraint._protocol import PROJECT_Q, PROJECT_U
from ..mobilizer import _rates
from ..motion.protocol import SET_Q, SET_U
from ..state.validity import NO_RATES, POSITIONS, UNCHECKED
from ..tree import constraints
from ..tree.project import ERROR, LEAST, TOLERANCE
from .batch import fill, realize_eight
from .chunks import shared

#: Results that `collect` can copy, in the kernels' order of equations.
POSITION_ERRORS, VELOCITY_ERRORS, MULTIPLIERS = range(3)


@compiled
def collect(block: Any, address: int, wanted: int, share: Any, what: int, states: Any, out: Any) -> None:
    """Realize groups and copy one kind of result of the enabled constraints, one row a state."""
    model = attach(block)
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, wanted | NO_RATES, first, states)
        for group in range(model.num_groups[0]):
            for at in range(model.group_first[group], model.group_end[group]):
                c = model.group_constraints[at]
                for k in range(constraints.num_rows(model, c)):
                    r = model.first_row[c] + k
                    if what == MULTIPLIERS:
                        scatter(out, first, r, load(model.multiplier, r, 0))
                    elif what == VELOCITY_ERRORS:
                        error = constraints.row_times(model, c, k, model.V_GB, model.u) + load(model.velocity_offset, r, 0)
                        scatter(out, first, r, error)
                    elif k < model.num_p[c]:
                        scatter(out, first, r, load(model.position_error, r, 0))


@compiled
def project(
    block: Any,
    address: int,
    prescriber: int,
    projector: int,
    share: Any,
    states: Any,
    tolerances: Any,
    new_q: Any,
    new_u: Any,
    failed: Any,
) -> None:
    """Prescribe and project q and u of groups, state by state; *failed* is 1 where that failed.

    The addresses are those of `realize.advance`; `prescribe.prescribe`, 0 where nothing is prescribed; and `project.project`, 0
    where there are no equations.
    """
    model = attach(block)
    for g in shared(share):
        first = 8 * g
        fill(model, first, states)
        store(model.projection, TOLERANCE, 0, gather(tolerances, first, 0))
        least = load(model.projection, TOLERANCE, 0)
        store(model.projection, LEAST, 0, zero(least))
        missed = zero(least)
        if prescriber != 0:
            call_routine(prescriber, model, SET_Q, 0)
        for b in range(1, model.nb):
            _rates.normalize(model, b)
        if projector != 0:
            call_routine(projector, model, PROJECT_Q, address)
            missed = where(load(model.projection, ERROR, 0) <= least, missed, one(least))
        if prescriber != 0 or projector != 0:
            call_routine(address, model, 0, POSITIONS | UNCHECKED)
        if prescriber != 0:
            call_routine(prescriber, model, SET_U, 0)
        if projector != 0:
            call_routine(projector, model, PROJECT_U, address)
            missed = where(load(model.projection, ERROR, 0) <= least, missed, one(least))
        for i in range(model.nq):
            x = load(model.q, i, 0)
            missed = where(x - x == 0.0, missed, one(least))
            scatter(new_q, first, i, x)
        for i in range(model.nu):
            x = load(model.u, i, 0)
            missed = where(x - x == 0.0, missed, one(least))
            scatter(new_u, first, i, x)
        scatter(failed, first, 0, missed)
