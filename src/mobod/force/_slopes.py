"""How forces on single mobilities change with their own q and u: of the kinds that most robots have, for `tree`'s derivatives.

Dual numbers differentiate every kind; these are so many, and so simple, that models with no others are swept without Duals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, store, where, zero
from ..compiling import Routine, generic
from ..mobilizer import _rates
from . import global_damper, mobility_constant_force, mobility_discrete_force, mobility_linear_damper, mobility_linear_spring
from . import mobility_linear_stop as stop
from ._pools import number

#: Columns of the table: what it is, its mobility, and its element, first integer and first number.
KIND, MOBILITY, ELEMENT, INTEGERS, NUMBERS = range(5)
SPRING, DAMPER, STOP, ALL_DAMPED = range(1, 5)

_KINDS: dict[Routine, int] = {
    mobility_constant_force.run: 0,
    mobility_discrete_force.run: 0,
    mobility_linear_spring.run: SPRING,
    mobility_linear_damper.run: DAMPER,
    stop.run: STOP,
    global_damper.run: ALL_DAMPED,
}


def table_of(forces: Sequence[Any], tree: Any) -> npt.NDArray[np.int64] | None:
    """The elements that are not gravity, a row each, without those of constant forces; None where some kind is another.

    A force on a coordinate is among these where q_dot is u.
    """
    rows: list[list[int]] = []
    for force in forces:
        if force.element < tree.counts["ng"]:
            continue
        kind = _KINDS.get(force.routine, -1)
        on_coordinate = kind in (SPRING, STOP)
        if kind < 0 or (on_coordinate and tree.fields["rates"][force.default_integers[0]] != _rates.SAME):
            return None
        if kind > 0:
            mobility = 0
            if kind != ALL_DAMPED:
                b, which = force.default_integers[:2]
                mobility = tree.first_u[b] + which
            rows.append([kind, mobility, force.element, force.span[0], force.span[2]])
    return np.array(rows, np.int64).reshape(-1, 5)


@generic
def _subtract(matrix: Any, i: int, x: Any) -> None:
    """x from a diagonal element."""
    store(matrix, i, i, load(matrix, i, i) - x)


@generic
def subtract_slopes(model: Any, table: Any, Dq: Any, Du: Any) -> None:
    """What enabled elements of the table add to forces on mobilities, differentiated by q and u, from *Dq* and *Du*."""
    for row in range(table.shape[0]):
        kind, i, numbers = table[row, KIND], table[row, MOBILITY], table[row, NUMBERS]
        if model.force_enabled[table[row, ELEMENT]] == 1:
            if kind == SPRING:
                _subtract(Dq, i, -number(model, numbers))
            elif kind == DAMPER:
                _subtract(Du, i, -number(model, numbers))
            elif kind == ALL_DAMPED:
                for k in range(model.nu):
                    _subtract(Du, k, -number(model, numbers))
            else:
                _subtract_stop(model, table[row, INTEGERS], numbers, i, Dq, Du)


@generic
def _subtract_stop(model: Any, integers: int, numbers: int, i: int, Dq: Any, Du: Any) -> None:
    """Those of a stop: -k (1 + d out) and -k d |x|, while it pushes."""
    x = stop.beyond(model, integers, numbers)
    k, d, rate = number(model, numbers), number(model, numbers + 1), load(model.u, i, 0)
    give = 1.0 + d * where(x < 0.0, -rate, rate)
    o = zero(x)
    pushes = where(x * x > 0.0, where(give > 0.0, o + 1.0, o), o)
    _subtract(Dq, i, -k * give * pushes)
    _subtract(Du, i, -k * d * where(x < 0.0, -x, x) * pushes)
