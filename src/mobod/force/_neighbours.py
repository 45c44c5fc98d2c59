"""Neighbours of a point by cells of a grid, laid out anew for each evaluation, so that nothing is remembered.

Points are particles, or atoms on bodies, of one state or of eight in lanes; their places are numbers without tangents. The box
of all is cut into cells that are no smaller than the cutoff; a point's neighbours are in its own cell and
the 26 around it. The neighbours of a point among those before it come in ascending order, as a loop over all pairs would
meet them: sums have the same bits, whatever the cells are. Of few points, or where the cutoff is most of the box, all pairs
are looked at. Source: Allen and Tildesley 2017, 5.3.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import generic, of_arrays

#: Fewer points, or cells, than these are not worth their layout.
POINTS, _CELLS = 48, 64
#: Cells a point at most.
_MOST = 8
#: Cells are larger than the cutoff by this part: rounding does not take neighbours two cells apart.
_MARGIN = 1.0 + 1e-9
#: Of a grid: the lower corner, cells over length, then the numbers of cells along each axis.
_LOW, _SCALE, _NUMBER, _SIZE = 0, 3, 6, 9


#: Of a room: grids, heads and links of cells, neighbours found, and places.
_GRIDS, _HEADS, _LINKS, FOUND, PLACES = range(5)


@of_arrays
def make_room(n: int, lanes: int) -> Any:
    """Scratch for n points: grids, heads and links of cells for each of the record's states, neighbours, and places."""
    many = n if n >= POINTS else 0
    return (
        np.zeros((lanes, _SIZE)),
        np.empty((lanes, _MOST * many + 1), np.int64),
        np.empty((lanes, many + 1), np.int64),
        np.empty(many + 1, np.int64),
        np.empty((lanes, 3 * many + 1)),
    )


@generic
def lay_out(room: Any, n: int, cutoff: float) -> bool:
    """Put n points, whose places the room has, into cells; False where all pairs are to be looked at, as of few points."""
    if n < POINTS:
        return False
    for lane in range(len(room[_GRIDS])):
        if not _lay_out(n, cutoff, room[PLACES][lane], room[_GRIDS][lane], room[_HEADS][lane], room[_LINKS][lane]):
            return False
    return True


@generic
def _lay_out(n: int, cutoff: float, places: Any, grid: Any, heads: Any, links: Any) -> bool:
    cells = 1
    for axis in range(3):
        low = places[axis]
        high = low
        for p in range(1, n):
            x = places[3 * p + axis]
            low, high = min(low, x), max(high, x)
            if not x - x == 0.0:
                return False
        if not high - low < 1e9 * cutoff:  # or not a number
            return False
        number = max(1, int((high - low) / (cutoff * _MARGIN)))
        grid[_LOW + axis], grid[_SCALE + axis], grid[_NUMBER + axis] = low, high - low, number
    while grid[_NUMBER] * grid[_NUMBER + 1] * grid[_NUMBER + 2] > _MOST * n:
        largest = 0
        for axis in range(1, 3):
            if grid[_NUMBER + axis] > grid[_NUMBER + largest]:
                largest = axis
        grid[_NUMBER + largest] = (grid[_NUMBER + largest] + 1.0) // 2.0
    for axis in range(3):
        number = grid[_NUMBER + axis]
        cells *= int(number)
        extent = grid[_SCALE + axis]
        grid[_SCALE + axis] = number / extent if number > 1.0 else 0.0
    if cells < _CELLS:
        return False
    for c in range(cells):
        heads[c] = -1
    for p in range(n):
        c = 0
        for axis in range(3):
            c = c * int(grid[_NUMBER + axis]) + _place(places, p, axis, grid)
        links[p] = heads[c]
        heads[c] = p
    return True


@generic
def _place(places: Any, p: int, axis: int, grid: Any) -> int:
    """The cell of a point along an axis of the grid."""
    x = places[3 * p + axis]
    return min(int((x - grid[_LOW + axis]) * grid[_SCALE + axis]), int(grid[_NUMBER + axis]) - 1)


@generic
def find(room: Any, a: int, cutoff: float) -> int:
    """Neighbours before *a* of any of the record's states, ascending, in ``room[FOUND]``; how many there are."""
    count = 0
    for lane in range(len(room[_GRIDS])):
        places, grid, heads, links = room[PLACES][lane], room[_GRIDS][lane], room[_HEADS][lane], room[_LINKS][lane]
        count = _find(a, cutoff * cutoff, places, grid, heads, links, room[FOUND], count)
    return count


@generic
def _find(a: int, square: float, places: Any, grid: Any, heads: Any, links: Any, found: Any, count: int) -> int:
    ni, nj, nk = int(grid[_NUMBER]), int(grid[_NUMBER + 1]), int(grid[_NUMBER + 2])
    i0, j0, k0 = _place(places, a, 0, grid), _place(places, a, 1, grid), _place(places, a, 2, grid)
    x, y, z = places[3 * a], places[3 * a + 1], places[3 * a + 2]
    for i in range(max(i0 - 1, 0), min(i0 + 2, ni)):
        for j in range(max(j0 - 1, 0), min(j0 + 2, nj)):
            for k in range(max(k0 - 1, 0), min(k0 + 2, nk)):
                b = heads[(i * nj + j) * nk + k]
                while b >= 0:
                    if b < a:
                        dx, dy, dz = x - places[3 * b], y - places[3 * b + 1], z - places[3 * b + 2]
                        if dx * dx + dy * dy + dz * dz <= square * _MARGIN:
                            count = _insert(found, count, b)
                    b = links[b]
    return count


@generic
def _insert(found: Any, count: int, b: int) -> int:
    """Put a number into ascending ones, unless it is there; how many there are then."""
    at = count
    while at > 0 and found[at - 1] > b:
        at -= 1
    if at > 0 and found[at - 1] == b:
        return count
    for k in range(count, at, -1):
        found[k] = found[k - 1]
    found[at] = b
    return count + 1
