"""Derivatives of wrenches on single bodies by routines of their kinds, of all lanes at once: blocks of `stiffness`.

A routine finds what a force changes by beyond being carried along with its body, of motions about a point of that, along axes
of its own, see `force.routines.on_body`. With m that point's place from the base's origin, and R the axes,

    dF = e x* F + X^T R K R^T X e + X^T R D R^T X v        X (a; b) = (a; b + a x m)

The first term the rigid sweep has: these wrenches are not among those that it takes back.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import add_spatial, load3
from ..algebra.record import call_routine
from ..algebra.scalar import absolute, load, store, zero
from ..compiling import apart, generic
from ..force.contact.at_once import some_touch
from ..force.routines import AXES, BY_MOTION, BY_Z, POINT, WRENCH
from ..state.fields import Record
from .sweep import subtract

#: Columns of the table: the element, its body, the address of its routine, its first z and how many.
ELEMENT, BODY, ADDRESS, FIRST_Z, NUM_Z, OF_WRENCH = range(6)


@generic
def _three(rows: Any, first: int, step: int) -> Any:
    return load(rows, first, 0), load(rows, first + step, 0), load(rows, first + 2 * step, 0)


@generic
def _axes(rows: Any) -> Any:
    x, y, z = _three(rows, AXES, 1), _three(rows, AXES + 3, 1), _three(rows, AXES + 6, 1)
    return *x, *y, *z


@generic
def _turn_blocks(rows: Any, first: int, R: Any) -> None:
    """Both by both three of a matrix, into Ground."""
    for block in range(4):
        at = first + 18 * (block >> 1) + 3 * (block & 1)
        x, y, z = _three(rows, at, 1), _three(rows, at + 6, 1), _three(rows, at + 12, 1)
        turned = mat33.mul_transpose(mat33.mul(R, (*x, *y, *z)), R)
        for i in range(3):
            for j in range(3):
                store(rows, at + 6 * i + j, 0, turned[3 * i + j])


@generic
def _follows(rows: Any) -> bool:
    """True if a wrench follows its body in every state, as in still air."""
    total = zero(load(rows, 0, 0))
    for k in range(36):
        total = total + absolute(load(rows, BY_MOTION + k, 0))
    return not some_touch(total)


@generic
def _column(rows: Any, first: int, j: int, m: Any) -> Any:
    """Column j of a matrix, as a wrench about the base's origin."""
    n, f = _three(rows, first + j, 6), _three(rows, first + 18 + j, 6)
    return vec3.add(n, vec3.cross(m, f)), f


@generic
def _turn(moving: Any, j: int, x: Any) -> Any:
    """The columns of shifts, *moving*, times x turned about axis j."""
    k, l = (j + 1) % 3, (j + 2) % 3
    (n, f), (n_k, f_k) = moving[l], moving[k]
    return vec3.sub(vec3.scale(x[k], n), vec3.scale(x[l], n_k)), vec3.sub(vec3.scale(x[k], f), vec3.scale(x[l], f_k))


@generic
def _add(C: Any, b: int, first: int, n: Any, f: Any) -> None:
    for i in range(3):
        store(C, b, first + 6 * i, load(C, b, first + 6 * i) + n[i])
        store(C, b, first + 18 + 6 * i, load(C, b, first + 18 + 6 * i) + f[i])


@generic
def _add_by_z(rows: Any, table: Any, e: int, R: Any, m: Any, way: Any, columns: Any, T: Any) -> None:
    """Derivatives by an element's z, subtracted from *T*."""
    b = table[e, BODY]
    for k in range(table[e, NUM_Z] if T.shape[1] > 0 else 0):
        f = mat33.mul_vec(R, _three(rows, BY_Z + 6 * k + 3, 1))
        n = vec3.add(mat33.mul_vec(R, _three(rows, BY_Z + 6 * k, 1)), vec3.cross(m, f))
        subtract(way, way[b], way[b + 1], columns, (n, f), T, 0, table[e, FIRST_Z] + k)


@apart
def add(model: Record, table: Any, way: Any, bodies: Any, columns: Any, F: Any, C: Any, T: Any) -> None:
    """K and D of each element's body, added to its block, and what is by z to *T*; its wrench is taken out of *F*."""
    rows = model.control_work
    for e in range(table.shape[0]):
        call_routine(table[e, ADDRESS], model, table[e, ELEMENT], 0)
        b, p, R = table[e, BODY], _three(rows, POINT, 1), _axes(rows)
        n, f = mat33.mul_vec(R, _three(rows, WRENCH, 1)), mat33.mul_vec(R, _three(rows, WRENCH + 3, 1))
        add_spatial(F, b, vec3.neg(vec3.add(n, vec3.cross(p, f))), vec3.neg(f))
        m = vec3.add(load3(bodies, b, 0), p)
        for half in range(int(_follows(rows)), 2):
            first = 36 * half
            _turn_blocks(rows, first, R)
            moving = _column(rows, first, 3, m), _column(rows, first, 4, m), _column(rows, first, 5, m)
            for j in range(3):
                (n, f), (more_n, more_f) = _column(rows, first, j, m), _turn(moving, j, m)
                _add(C, b, first + j, vec3.add(n, more_n), vec3.add(f, more_f))
                _add(C, b, first + 3 + j, *moving[j])
        _add_by_z(rows, table, e, R, m, way, columns, T)
