"""Derivatives of residual and errors by numbers of the model, of one state or of one lane, by a record of Duals."""

from typing import Any

from ..algebra.record import call_routine
from ..algebra.scalar import load_tangent, store_lane
from ..compiling import apart
from ..state.fields import Record
from .columns import CONSTRAINED, fill


# fmt: off
@apart
def differentiate(
    model: Record, lane: int, dual: Record, addresses: Any, numbers: Any, seeds: Any, rates: Any, constrained: bool,
    row_of: Any, R: Any, E: Any, K: Any,
) -> bool:
    # fmt: on
    """True if a column each could be put into *R*, *E* and *K*, at the record's udot and multipliers.

    Parameters
    ----------
    dual, numbers
        See `seeded_record`.
    addresses
        Of `realize.advance` and `routines.calc_residual` for it.
    seeds, rates
        Place among the numbers and column of each number that changes; how.
    row_of
        Of each equation its row of *E*, or -1.
    K
        Of udot that motions prescribe; without rows where there are none.
    """
    fill(model, lane, model.u_dot, model.A_GB, CONSTRAINED, dual)
    for begin in range(0, R.shape[1], 8):
        end = min(begin + 8, R.shape[1])
        for e in range(len(rates)):
            if begin <= seeds[e, 1] < end:
                numbers[seeds[e, 0] + seeds[e, 1] - begin] = rates[e]
        status = call_routine(addresses[1], dual, addresses[0], int(constrained))
        for e in range(len(rates)):
            if begin <= seeds[e, 1] < end:
                numbers[seeds[e, 0] + seeds[e, 1] - begin] = 0.0
        if status != 0:
            return False
        for k in range(begin, end):
            for i in range(model.nu):
                store_lane(R, i, k, lane, load_tangent(dual.work_u, i, 0, k - begin))
            for r in range(model.num_rows):
                if row_of[r] >= 0:
                    store_lane(E, row_of[r], k, lane, load_tangent(dual.row_work, r, 0, k - begin))
            for i in range(K.shape[0]):
                store_lane(K, i, k, lane, load_tangent(dual.known_u_dot, i, 0, k - begin))
    return True
