"""Slopes of forces on single mobilities by their own q and u: of the kinds that most robots have.

For `tree`'s derivatives: Dual numbers differentiate every kind; these are so many, and so simple, that models with no others
are swept without Duals. And for time stepping, which is implicit in them.
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store, where, zero
from ..compiling import Routine, generic
from ..mobilizer import q_rates
from . import mobility_linear_stop as stop, mobility_orientation_spring as orientation
from .global_damper import GlobalDamper
from .mobility_linear_damper import MobilityLinearDamper
from .mobility_linear_spring import MobilityLinearSpring
from .mobility_polynomial_damper import MobilityPolynomialDamper
from .mobility_polynomial_spring import MobilityPolynomialSpring
from .one_coordinate import coordinate
from .pools import number, numbers3

#: Columns of the table: what it is, its mobility, and its element, first integer and first number.
KIND, MOBILITY, ELEMENT, INTEGERS, NUMBERS = range(5)
SPRING, DAMPER, STOP, ALL_DAMPED, BENT_SPRING, BENT_DAMPER, ORIENTATION = range(1, 8)

_KINDS: dict[Routine, int] = {
    MobilityLinearSpring.routine: SPRING,
    MobilityLinearDamper.routine: DAMPER,
    stop.MobilityLinearStop.routine: STOP,
    GlobalDamper.routine: ALL_DAMPED,
    MobilityPolynomialSpring.routine: BENT_SPRING,
    MobilityPolynomialDamper.routine: BENT_DAMPER,
    orientation.MobilityOrientationSpring.routine: ORIENTATION,
}


def row_of(force: Any, tree: Any) -> list[list[int]] | None:
    """An element's row, none where its force is constant; None where its kind is not among these, or q_dot is not u.

    One of `ORIENTATION` is of all mobilities of its mobilizer, whose columns are constant in F: its mobility is the first.
    """
    if force.holds_mobility_forces:
        return []
    kind = _KINDS.get(force.routine, -1)
    on_coordinate = kind in (SPRING, STOP, BENT_SPRING)
    if kind < 0 or (on_coordinate and tree.fields["rates"][force.default_integers[0]] != q_rates.SAME):
        return None
    mobility = 0
    if kind == ORIENTATION:
        b = force.default_integers[0]
        if tree.fields["has_hinge_dot"][b] != 0:
            return None
        mobility = tree.first_u[b]
    elif kind != ALL_DAMPED:
        b, which = force.default_integers[:2]
        mobility = tree.first_u[b] + which
    return [[kind, mobility, force.element, force.span[0], force.span[2]]]


@generic
def slopes_of(model: Any, table: Any, row: int) -> Any:
    """The derivatives of an element's force on its mobility by q and u; of `ALL_DAMPED` on each. None of `ORIENTATION`."""
    kind, i, numbers = table[row, KIND], table[row, MOBILITY], table[row, NUMBERS]
    k = number(model, numbers)
    by_q, by_u = zero(k), zero(k)
    if kind == SPRING:
        by_q = -k
    elif kind in (DAMPER, ALL_DAMPED):
        by_u = -k
    elif kind == STOP:
        by_q, by_u = _slopes_of_stop(model, table[row, INTEGERS], numbers, i)
    elif kind == BENT_SPRING:
        a, b, c = numbers3(model, numbers)
        x = coordinate(model, table[row, INTEGERS]) - number(model, numbers + 3)
        by_q = -(a + x * (2.0 * b + 3.0 * c * x))
    elif kind == BENT_DAMPER:
        a, b, c = numbers3(model, numbers)
        u = load(model.u, i, 0)
        by_u = -(a + 2.0 * b * where(u < 0.0, -u, u) + 3.0 * c * u * u)
    return by_q, by_u


@generic
def _slopes_of_stop(model: Any, integers: int, numbers: int, i: int) -> Any:
    """-k (1 + d out) and -k d |x|, while it pushes."""
    x = stop.beyond(model, integers, numbers)
    k, d, rate = number(model, numbers), number(model, numbers + 1), load(model.u, i, 0)
    give = 1.0 + d * where(x < 0.0, -rate, rate)
    o = zero(x)
    pushes = where(x * x > 0.0, where(give > 0.0, o + 1.0, o), o)
    return -k * give * pushes, -k * d * where(x < 0.0, -x, x) * pushes


@generic
def _subtract(matrix: Any, i: int, x: Any) -> None:
    """x from a diagonal element."""
    store(matrix, i, i, load(matrix, i, i) - x)


@generic
def subtract_slopes(model: Any, table: Any, Dq: Any, Du: Any) -> None:
    """Subtract from *Dq* and *Du* the derivatives by q and u of forces on mobilities, of enabled elements of the table."""
    for row in range(table.shape[0]):
        if model.force_enabled[table[row, ELEMENT]] == 1:
            if table[row, KIND] == ORIENTATION:
                orientation.subtract_slopes(model, table[row, INTEGERS], table[row, NUMBERS], Dq)
                continue
            by_q, by_u = slopes_of(model, table, row)
            first = last = table[row, MOBILITY]
            if table[row, KIND] == ALL_DAMPED:
                first, last = 0, model.nu - 1
            for i in range(first, last + 1):
                _subtract(Dq, i, by_q)
                _subtract(Du, i, by_u)


@generic
def subtract_bends(model: Any, table: Any, weights: Any, k: int, first: int, S: Any) -> None:
    """Subtract one of the *weights* times second derivatives of forces on mobilities, by q and u; rows of *S* from *first* on.

    There must be none of `ORIENTATION`.
    """
    n = model.nu
    for row in range(table.shape[0]):
        kind, i, numbers = table[row, KIND], table[row, MOBILITY], table[row, NUMBERS]
        if model.force_enabled[table[row, ELEMENT]] == 1 and kind in (STOP, BENT_SPRING, BENT_DAMPER):
            weight, o = load(weights, k, i), zero(load(model.u, i, 0))
            by_q, mixed, by_u = o, o, o
            if kind == STOP:
                x, damping = (
                    stop.beyond(model, table[row, INTEGERS], numbers),
                    number(model, numbers) * number(model, numbers + 1),
                )
                by_rate = where(x < 0.0, o + damping, where(x > 0.0, o - damping, o))
                _, slope = _slopes_of_stop(model, table[row, INTEGERS], numbers, i)
                mixed = where(slope < 0.0, by_rate, o)
            elif kind == BENT_SPRING:
                _, b, c = numbers3(model, numbers)
                x = coordinate(model, table[row, INTEGERS]) - number(model, numbers + 3)
                by_q = -(2.0 * b + 6.0 * c * x)
            else:
                _, b, c = numbers3(model, numbers)
                u = load(model.u, i, 0)
                by_u = -(where(u < 0.0, -2.0 * b + o, 2.0 * b + o) + 6.0 * c * u)
            store(S, first + i, i, load(S, first + i, i) - weight * by_q)
            store(S, first + i, n + i, load(S, first + i, n + i) - weight * mixed)
            store(S, first + n + i, n + i, load(S, first + n + i, n + i) - weight * by_u)
