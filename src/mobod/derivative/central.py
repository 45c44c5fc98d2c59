"""Derivatives of forces along lines between points of many bodies, such as atoms, of all lanes at once: a symmetric stiffness.

A routine of the kind, see `force.routines.stiffening`, finds blocks G_ab, of the wrench on body a by the motion of body b, all
about one point. Those of two bodies are each other's transpose, and that of one is symmetric but for its own wrench F_a:

    dF_a = e_a x* F_a / 2 + sum over b of G_ab e_b

The rigid sweep carries F_a along, twice as much as that: half goes to the body's own block of `stiffness`. The sums of G over
all that two mobilities carry are symmetric, too, as composite inertias are, and each serves both:

    by q    - S_i . H S_j        H = sum of G_ab over all a that i carries, and all b that j does

Of mobilities between which nothing acts and nothing branches off these are the same: blocks are of the last body of such a way.
"""

from collections.abc import Sequence
from typing import Any

from ..algebra import vec3
from ..algebra.memory import add_spatial, load3
from ..algebra.record import address_of, call_routine
from ..algebra.scalar import load, num_lanes, store, zero
from ..compiling import apart, generic
from ..force.routines import NUMBERS_OF_POINT
from ..state.fields import Record
from .stiffness import times
from .sweep import times_columns

#: Columns of the table: the element, the address of its routine, where its numbers are in the scratch, where its list begins,
#: how many bodies have blocks, and how many points there are.
ELEMENT, ADDRESS, FIRST, LISTED, COUNT, POINTS, OF_CENTRAL = range(7)


def size_of(count: int, points: int, num_bodies: int) -> int:
    """The numbers of scratch of an element: the wrenches, the blocks, and what is of points."""
    return 6 * num_bodies + 18 * count * (count + 1) + NUMBERS_OF_POINT * points


def list_of(tree: Any, bodies: Sequence[int]) -> tuple[int, list[int]]:
    """The number of bodies that have blocks, and the list.

    That has these, inboard ones first, with Ground; the place of the next one inboard, for each; where the mobilities of each
    begin in the list, and the end; for every body the place of the one that it moves with; and the mobilities.
    """
    parents, nb = tree.fields["parent"].tolist(), tree.nb
    moving = list(range(nb))  # of each body the next one inboard that has mobilities, or itself
    for b in range(1, nb):
        moving[b] = b if tree.num_u[b] else moving[parents[b]]
    ends = {moving[b] for b in bodies}
    outboard: list[set[int]] = [set() for _ in range(nb)]
    for b in range(nb - 1, 0, -1):
        if b in ends or len(outboard[b]) > 1:
            outboard[b] = {b}
        outboard[parents[b]] |= outboard[b]
    blocks = [0, *(b for b in range(1, nb) if b in outboard[b])]
    place = {b: k for k, b in enumerate(blocks)}
    inboard, mobilities = [0], list[list[int]]([[]])
    for b in blocks[1:]:
        way = [b]
        while parents[way[-1]] not in place:
            way.append(parents[way[-1]])
        inboard.append(place[parents[way[-1]]])
        mobilities.append([int(tree.first_u[c]) + k for c in way for k in range(tree.num_u[c])])
    begins = [3 * len(blocks) + 1 + nb]
    for own in mobilities:
        begins.append(begins[-1] + len(own))
    places = [place.get(moving[b], 0) for b in range(nb)]
    return len(blocks), [*blocks, *inboard, *begins, *places, *(i for own in mobilities for i in own)]


@generic
def _place(blocks: int, a: int, b: int) -> int:
    """Where the block of two bodies begins, by their places; its rows are of the first in the list."""
    low, high = min(a, b), max(a, b)
    place: int = blocks + 18 * high * (high + 1) + 36 * low
    return place


@generic
def _add(L: Any, to: int, of: int) -> None:
    """A block added to another."""
    for k in range(36):
        store(L, 0, to + k, load(L, 0, to + k) + load(L, 0, of + k))


@generic
def _add_turned(L: Any, to: int, of: int) -> None:
    """The transpose of a block added to another."""
    for i in range(6):
        for j in range(6):
            store(L, 0, to + 6 * i + j, load(L, 0, to + 6 * i + j) + load(L, 0, of + 6 * j + i))


@generic
def _sum_up(L: Any, blocks: int, listed: Any, first: int, count: int) -> None:
    """Blocks become sums over what both bodies carry, without Ground."""
    for c in range(count - 1, 0, -1):
        p = listed[first + count + c]
        if p > 0:
            between, own = _place(blocks, p, c), _place(blocks, p, p)
            for r in range(1, count):
                if p < r < c:
                    _add_turned(L, _place(blocks, p, r), _place(blocks, c, r))
                elif r != c and r != p:
                    _add(L, _place(blocks, p, r), _place(blocks, c, r))
            _add(L, own, between)
            _add_turned(L, own, between)
            _add(L, own, _place(blocks, c, c))
            _add(L, between, _place(blocks, c, c))


# fmt: off
@generic
def _take(
    model: Record, L: Any, blocks: int, listed: Any, first: int, count: int, bodies: Any, columns: Any, D: Any
) -> None:
    # fmt: on
    """Subtract S_i . H S_j from the residual's derivatives, for both of two mobilities."""
    origin, begins = load3(model.p_GB, listed[first + count - 1], 0), first + 2 * count
    for q in range(1, count):
        b = listed[first + q]
        shift = vec3.add(vec3.sub(origin, load3(model.p_GB, b, 0)), load3(bodies, b, 0))
        for at_j in range(first + listed[begins + q], first + listed[begins + q + 1]):
            j = listed[at_j]
            w, v = load3(columns, j, 0), load3(columns, j, 3)
            moved = w, vec3.add(v, vec3.cross(w, shift))
            for p in range(1, q + 1):
                a, at = listed[first + p], _place(blocks, p, q)
                n, f = times(L, 0, at, moved)
                of_a = vec3.add(vec3.sub(origin, load3(model.p_GB, a, 0)), load3(bodies, a, 0))
                n = vec3.add(n, vec3.cross(of_a, f))
                for at_i in range(first + listed[begins + p], first + listed[begins + p + 1]):
                    i = listed[at_i]
                    x = times_columns(columns, i, 0, (n, f))
                    store(D, i, j, load(D, i, j) - x)
                    if p < q:
                        store(D, j, i, load(D, j, i) - x)


@generic
def _take_out(L: Any, at: int, b: int, bodies: Any, F: Any, C: Any) -> None:
    """The wrench on body b, out of those that are taken back; half of what it is carried by, from the body's own block."""
    n, f = load3(L, 0, at), load3(L, 0, at + 3)
    add_spatial(F, b, vec3.neg(n), vec3.neg(f))
    n, f = vec3.scale(0.5, vec3.add(n, vec3.cross(load3(bodies, b, 0), f))), vec3.scale(0.5, f)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for of, x in ((6 * i, n), (18 + 6 * i, f), (6 * i + 3, f)):
            store(C, b, of + j, load(C, b, of + j) - x[k])
            store(C, b, of + k, load(C, b, of + k) + x[j])


@apart
def add(model: Record, plan: Any, acted: Any, bodies: Any, columns: Any, L: Any, F: Any, C: Any, D: Any) -> None:
    """Subtract each element's terms from *D*, and from blocks *C* and wrenches *F* of the bodies *acted* on."""
    table, listed = plan
    o = zero(load(model.time, 0, 0))
    size, num_bodies = 8 * num_lanes(o), model.nb
    for e in range(table.shape[0]):
        at, first, count = table[e, FIRST], table[e, LISTED], table[e, COUNT]
        blocks = at + 6 * num_bodies
        for k in range(at, blocks + 18 * count * (count + 1) + NUMBERS_OF_POINT * table[e, POINTS]):
            store(L, 0, k, o)
        F_at, listed_at = address_of(L) + size * at, address_of(listed) + 8 * first
        blocks_at = address_of(L) + size * blocks
        call_routine(table[e, ADDRESS], model, table[e, ELEMENT], F_at, blocks_at, listed_at, count, num_bodies)
        _sum_up(L, blocks, listed, first, count)
        _take(model, L, blocks, listed, first, count, bodies, columns, D)
        for k in range(acted.shape[0]):
            _take_out(L, at + 6 * acted[k], acted[k], bodies, F, C)
