"""Derivatives of compliant contact: each pair that touches by Duals of its bodies, see `local`; others take nothing."""

from typing import Any

from ..algebra.record import call_routine
from ..algebra.scalar import load, one, store, zero
from ..compiling import compiled, generic, routine
from ..force.contact.bristle import clear_bristles
from ..force.contact.broad_phase import LAW_KIND, LAW_ROUTINE, NUM_SURFACES, STICKING, place_surfaces, searching
from ..force.contact.element import overlap
from ..force.routines import FORCES
from ..state.fields import Record
from . import stiffness
from .columns import fill_body, move
from .local import NUMBERS_OF_BLOCK, clear_body, put_block, put_wrench


@routine
def contribute_pair(model: Record, e: int, a: int, b: int) -> int:
    """The forces of surfaces *a* and *b* of element *e*, in a record of Duals."""
    i = model.force_first_integer[e]
    place_surfaces(model, a, a + 1)
    place_surfaces(model, b, b + 1)
    if model.force_integers[i + LAW_KIND] == STICKING:
        clear_bristles(model, 0)
    pair, count = overlap(model, i, a, b, 0)
    if count > 0:
        law = model.force_integers[i + LAW_ROUTINE]
        call_routine(model.contact_routines[law], model, pair[0], pair[1], pair[2], e, count, FORCES)
    return 0


@generic
def _common(model: Record, a: int, b: int) -> int:
    """The last body on the way from Ground to both."""
    while a != b:
        if a > b:
            a = model.parent[a]
        else:
            b = model.parent[b]
    return a


@generic
def _visit(model: Record, integers: int, s1: int, s2: int, lane: int, k: Any) -> None:
    """Two surfaces that are near: if they touch, what their forces change by."""
    _, count = overlap(model, integers, s1, s2, lane)
    if count == 0:
        return
    _differentiate_pair(model, s1, s2, lane, k)


@compiled
def _differentiate_pair(model: Record, s1: int, s2: int, lane: int, k: Any) -> None:
    """Derivatives of the forces of two surfaces that touch. A search visits at several places, which is why it is a kernel."""
    e, asked, A, dual, address, units, bodies, columns, seeding, way, C, D = k
    flat, wide = seeding
    o = zero(load(units[0], 0, 0))
    keep, spare = one(o), C.shape[0] - 2
    b1, b2 = model.surface_body[s1], model.surface_body[s2]
    c = _common(model, b1, b2)
    fill_body(model, lane, b1, A, asked, dual)
    fill_body(model, lane, b2, A, asked, dual)
    for which in range(1 if c > 0 else 2):  # of one base one moves, which says what the other's motion does
        b, other = b1, b2
        if which == 1:
            b, other = b2, b1
        if b == 0:
            continue
        for n in range(NUMBERS_OF_BLOCK if other > 0 else 0):
            store(C, spare, n, 0.0)
            store(C, spare + 1, n, 0.0)
        for fast in range(2):
            move(model, lane, b, bodies, asked, A, keep, units[fast], dual)
            clear_body(b1, dual)
            clear_body(b2, dual)
            call_routine(address, dual, e, s1, s2)
            put_block(b, b, fast, lane, bodies, flat, wide, dual, C)
            if other > 0:
                put_block(other, spare, fast, lane, bodies, flat, wide, dual, C)
        if c > 0:
            put_wrench(other, spare, lane, bodies, dual, C)
            stiffness.complete(C, spare, spare + 1, other, bodies, True)
            stiffness.add_common(C, spare + 1, c, True)
            stiffness.cross(model, way, C, spare + 1, b, other, c, columns, True, D)
        fill_body(model, lane, b, A, asked, dual)
        if other > 0:
            stiffness.add_common(C, spare, c, True)
            stiffness.cross(model, way, C, spare, other, b, c, columns, True, D)


_search = searching(_visit)


# fmt: off
@generic
def differentiate(
    model: Record, lane: int, elements: Any, dual: Record, address: int, A: Any, asked: int, units: Any, bodies: Any,
    columns: Any, seeding: Any, way: Any, C: Any, D: Any,
) -> None:
    # fmt: on
    """Blocks of the pairs of *elements* that touch, added to *C*; what couples bodies, subtracted from *D*.

    *address* is of `contribute_pair` for Duals; the last two blocks of *C* are scratch; the others as of `local.differentiate`.
    """
    for at in range(elements.shape[0]):
        e = elements[at]
        i = model.force_first_integer[e]
        n = model.force_integers[i + NUM_SURFACES]
        if model.force_enabled[e] == 1 and n > 0:
            k = e, asked, A, dual, address, units, bodies, columns, seeding, way, C, D
            _search(model, i, lane, k)
