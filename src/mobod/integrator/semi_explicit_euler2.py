"""SemiExplicitEuler2: two half steps of `SemiExplicitEuler`; their difference from one whole step is the estimate of the error.

Source: Hairer, Norsett and Wanner 1993, II.4 (step doubling); the method as in `semi_explicit_euler`.
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic
from . import _runge_kutta as rk
from ._evaluate import evaluate
from ._runge_kutta import RATE, Y
from .base import Integrator
from .semi_explicit_euler import BETWEEN, keep, set_difference, step


@generic
def attempt(model: Any, work: Any, table: Any, control: Any, counts: Any, time: float, h: float) -> int:
    """One attempt: the whole step first, into the row after the two of the half steps."""
    half = 0.5 * h
    if step(model, work, counts, Y, RATE, time, h) != rk.DONE:
        return rk.NOT_REALIZED
    keep(model, work, BETWEEN + 2)
    if step(model, work, counts, Y, RATE, time, half) != rk.DONE:
        return rk.NOT_REALIZED
    status = evaluate(model, counts[rk.ROUTINE], counts[rk.PRESCRIBER])
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        return rk.NOT_REALIZED
    keep(model, work, BETWEEN)
    if step(model, work, counts, BETWEEN, BETWEEN + 1, time + half, half) != rk.DONE:
        return rk.NOT_REALIZED
    set_difference(model, work, BETWEEN + 2)
    return rk.DONE


advance = rk.stepping(attempt, "semi_explicit_euler2")


class SemiExplicitEuler2(Integrator):
    """Symplectic Euler in pairs of half steps, of first order, with control of the error.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> method = mb.integrator.SemiExplicitEuler2(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 1)
    """

    order = 1
    error_order = 2
    kernel = advance
