"""Derivatives of forces of bodies' velocities against uniform flows, of all lanes at once: blocks of `stiffness`.

Such a force turns along with the body where it moves as the flow does: with D what it changes by with the body's velocity, as
its routine finds at a point p of the body, see `force.routines.in_flow`, and m that point's place from the base's origin,

    dF = e x* F + D V(m) v + D (0; t x flow)        V(m) v = (a; b + a x m) of v = (a; b), and t the turn of e

The first term the rigid sweep has: these wrenches are not among those that it takes back.
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3
from ..algebra.record import call_routine
from ..algebra.scalar import load, store
from ..compiling import apart, generic
from ..force.routines import FLOW, POINT, WRENCH
from ..state.fields import Record
from .stiffness import DAMPING

#: Columns of the table: the element, its body, and the address of its routine.
ELEMENT, BODY, ADDRESS = range(3)


@generic
def _three(rows: Any, first: int, step: int) -> Any:
    return load(rows, first, 0), load(rows, first + step, 0), load(rows, first + 2 * step, 0)


@generic
def _column(rows: Any, j: int, m: Any) -> Any:
    """Column j of D, as a wrench about the base's origin."""
    n, f = _three(rows, j, 6), _three(rows, 18 + j, 6)
    return vec3.add(n, vec3.cross(m, f)), f


@generic
def _turn(moving: Any, j: int, x: Any) -> Any:
    """The columns of linear velocity, *moving*, times x turned about axis j."""
    k, l = (j + 1) % 3, (j + 2) % 3
    (n, f), (n_k, f_k) = moving[l], moving[k]
    return vec3.sub(vec3.scale(x[k], n), vec3.scale(x[l], n_k)), vec3.sub(vec3.scale(x[k], f), vec3.scale(x[l], f_k))


@generic
def _add(C: Any, b: int, first: int, column: Any) -> None:
    for i in range(3):
        store(C, b, first + 6 * i, load(C, b, first + 6 * i) + column[0][i])
        store(C, b, first + 18 + 6 * i, load(C, b, first + 18 + 6 * i) + column[1][i])


@apart
def add(model: Record, table: Any, bodies: Any, F: Any, C: Any) -> None:
    """K and D of each element's body, added to its block; its wrench is taken out of *F*."""
    rows = model.control_work
    for e in range(table.shape[0]):
        call_routine(table[e, ADDRESS], model, table[e, ELEMENT], 0)
        b, p, flow = table[e, BODY], _three(rows, POINT, 1), _three(rows, FLOW, 1)
        n, f = _three(rows, WRENCH, 1), _three(rows, WRENCH + 3, 1)
        add_spatial(F, b, vec3.neg(vec3.add(n, vec3.cross(p, f))), vec3.neg(f))
        m = vec3.add(load3(bodies, b, 0), p)
        moving = _column(rows, 3, m), _column(rows, 4, m), _column(rows, 5, m)
        for j in range(3):
            (by_turn, pull), (n, f) = _column(rows, j, m), _turn(moving, j, m)
            _add(C, b, j, _turn(moving, j, flow))
            _add(C, b, DAMPING + j, (vec3.add(by_turn, n), vec3.add(pull, f)))
            _add(C, b, DAMPING + 3 + j, moving[j])
