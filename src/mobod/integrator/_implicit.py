"""For implicit methods: the rates of y, and their derivatives by y; for solvers that step from Python in a call each.

    J_ij = (f_i(y + d e_j) - f_i(y)) / d,    d = sqrt(eps) max(|y_j|, 1 / w_j),  w the weights

Differences and not tangents: Newton's iteration converges by them as well, and a first run is spared the compilation of all
kernels for Duals. Columns of what is prescribed are zero.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..state.validity import KEPT_FORCES
from ..stepping.evaluate import evaluate, evaluate_speeds
from ..stepping.record import EVALUATIONS
from ..stepping.rows import set_y

ROOT_OF_ROUNDING = 2.0**-26


@compiled
def get_rates(block: Any, out: Any) -> None:
    """The rates of y."""
    model = attach(block)
    for i in range(model.ny):
        out[i] = load(model.y_dot, i, 0)


@compiled
def set_column(block: Any, out: Any, j: int, moved: Any, rates: Any, d: float) -> None:
    """A column of J: a difference of rates."""
    model = attach(block)
    for i in range(model.ny):
        out[i, j] = (moved[i] - rates[i]) / d


@generic
def rates_at(model: Any, counts: Any, time: float, y: Any, out: Any) -> int:
    """The rates at *y*; 0 where they are finite. Not a kernel, which would run compiled in an interpreted run too."""
    set_y(model, time, y)
    counts[EVALUATIONS] += 1
    if evaluate(model, counts, None, KEPT_FORCES) != 0:
        return 1
    get_rates(model, out)
    return 0


@compiled
def find_rates(block: Any, counts: Any, time: float, y: Any, out: Any) -> int:
    """The rates at *y*; 0 where they are finite."""
    return rates_at(attach(block), counts, time, y, out)


@compiled
def is_speed(block: Any, j: int) -> bool:
    """True if positions do not depend on variable *j*."""
    model = attach(block)
    first = model.ny - 2 * model.particle_size
    return j >= model.nq and (j < first or j >= first + model.particle_size)


@generic
def jacobian_at(model: Any, counts: Any, time: float, y: Any, weights: Any, moved: Any, rates: Any, out: Any) -> int:
    """The derivatives of the rates at *y*, and these; 0 where all are finite. *y* is changed on the way, *moved* is scratch.

    Columns of speeds come first, as positions are then those of *y*.
    """
    status = rates_at(model, counts, time, y, rates)
    for speeds in (True, False):
        for j in range(y.shape[0]):
            if status != 0:
                return status
            if is_speed(model, j) != speeds:
                continue
            kept = y[j]
            if weights[j] > 0.0:
                y[j] = kept + ROOT_OF_ROUNDING * max(abs(kept), 1.0 / weights[j])
                set_y(model, time, y)
                sound = evaluate_speeds(model, counts) if speeds else evaluate(model, counts)
                status = 0 if sound == 0 else 1
                counts[EVALUATIONS] += 1
                get_rates(model, moved)
                set_column(model, out, j, moved, rates, y[j] - kept)
                y[j] = kept
            else:
                set_column(model, out, j, rates, rates, 1.0)
    return status


@compiled
def find_jacobian(block: Any, counts: Any, time: float, y: Any, weights: Any, moved: Any, rates: Any, out: Any) -> int:
    """`jacobian_at`, called from Python."""
    return jacobian_at(attach(block), counts, time, y, weights, moved, rates, out)
