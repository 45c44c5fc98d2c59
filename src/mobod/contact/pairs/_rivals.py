"""Directions in which two polyhedra or cylinders overlap nearly as little as in the best one, and the share of each.

Where one direction of least overlap takes over from another, the energy would have a kink, and the force would turn at once.
With U_i the squares of overlaps, to which energies are proportional, and a window w, the energy is that of U in

    sum of f(U_i / U) = 1,   f(x) = ((1 + w - x) / w)^2 up to x = 1 + w, and 0 from there on

of first order in all of them: of one it is that one, of two that are equal 1.5 % less. Its slopes by the U_i are the shares

    s_i = f'(x_i) / sum of x_j f'(x_j)

so that the force is the gradient of the energy, the sum of the shares of all; and no share begins or ends with a jump. Of
directions that are nearly one the best one alone counts: what an edge or a face beside a face bears, its manifold has.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, load, load_lane, store, store_lane
from ...compiling import generic

#: The most directions that count; rows of a table of them, and its columns: n, the overlap, vertices of hulls near it.
MOST, ROWS, COLUMNS = 4, 24, 6
#: Of energies, the window: within 2.5 % of the least overlap.
WINDOW = 0.05
#: The cosine from which on directions are one: faces in one plane; what is found of what is curved; guesses of that.
ALIKE, ALIKE_FOUND, ALIKE_CURVED = 1.0 - 2e-5, 0.9998, 0.998
#: The column of contact_point that has the overlap, then the share, of a direction.
SHARE = 30


@generic
def note(rows: Any, i: int, n: Any, overlap: float, v: int, w: int) -> int:
    """Put a direction into a row, if there is one; the next row."""
    if i >= ROWS:
        return i
    store(rows, i, 0, n[0])
    store(rows, i, 1, n[1])
    store(rows, i, 2, n[2])
    store(rows, i, 3, overlap)
    store(rows, i, 4, float(v))
    store(rows, i, 5, float(w))
    return i + 1


@generic
def direction(rows: Any, i: int) -> Any:
    """The direction in a row."""
    return load(rows, i, 0), load(rows, i, 1), load(rows, i, 2)


@generic
def is_alike(rows: Any, n: int, d: Any, least: float) -> bool:
    """True if the cosine between a direction and one of the first n is above the *least*."""
    alike = False
    for k in range(n):
        alike = alike or vec3.dot(direction(rows, k), d) > least
    return alike


@generic
def choose(rows: Any, total: int, alike: float) -> int:
    """Of *total* directions those that count come first, the best one foremost; how many there are."""
    n = 0
    while n < total and n < MOST:
        best = n
        for k in range(n + 1, total):
            if load(rows, k, 3) < load(rows, best, 3):
                best = k
        for column in range(COLUMNS):
            x = load(rows, n, column)
            store(rows, n, column, load(rows, best, column))
            store(rows, best, column, x)
        least, here = load(rows, 0, 3), load(rows, n, 3)
        if n > 0 and (least <= 0.0 or here * here >= (1.0 + WINDOW) * least * least):
            return n
        if is_alike(rows, n, direction(rows, n), alike):
            total -= 1
            for column in range(COLUMNS):
                store(rows, n, column, load(rows, total, column))
        else:
            n += 1
    return n


@generic
def find_shares(model: Any, lane: int, total: int) -> None:
    """The shares of directions in place of their overlaps, in the column SHARE."""
    points, top = model.contact_point, 1.0 + WINDOW
    h = load_lane(points, 0, SHARE, lane)
    for k in range(1, total):
        other = load_lane(points, k, SHARE, lane)
        if bare(other) < bare(h):
            h = other
    y = 1.0 / (h * h)  # of the energy the inverse, from below: Newton's method on a convex function
    whole = 0.0 * y
    for _ in range(12):
        left, slope, whole = 0.0 * y - WINDOW * WINDOW, 0.0 * y, 0.0 * y
        for k in range(total):
            h = load_lane(points, k, SHARE, lane)
            u = h * h
            x = top - u * y
            if x > 0.0:
                left, slope, whole = left + x * x, slope + 2.0 * x * u, whole + x * u * y
        y = y + left / slope
    for k in range(total):
        h = load_lane(points, k, SHARE, lane)
        x = top - h * h * y
        store_lane(points, k, SHARE, lane, x / whole if x > 0.0 else 0.0 * x)
