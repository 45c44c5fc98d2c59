"""Which particles are near one: cells of a grid, laid out anew for each evaluation, so that nothing is remembered.

The box of all particles is cut into cells that are no smaller than the cutoff; a particle's neighbours are in its own cell and
the 26 around it. The neighbours of a particle among those before it come in ascending order, as a loop over all pairs would
meet them: sums have the same bits, whatever the cells are. Of few particles, or where the cutoff is most of the box, all pairs
are looked at. Source: Allen and Tildesley 2017, 5.3.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.scalar import bare, load, load_lane, num_lanes
from ..compiling import generic, of_arrays

#: Fewer particles, or cells, than these are not worth their layout.
_PARTICLES, _CELLS = 48, 64
#: Cells a particle at most.
_MOST = 8
#: Cells are larger than the cutoff by this part: rounding does not take neighbours two cells apart.
_MARGIN = 1.0 + 1e-9
#: Of a grid: the lower corner, cells over length, then the numbers of cells along each axis.
_LOW, _SCALE, _NUMBER, _SIZE = 0, 3, 6, 9


@of_arrays
def make_room(n: int, lanes: int) -> Any:
    """Scratch for n particles: grids, heads and links of cells for each of the record's states, and neighbours."""
    many = n if n >= _PARTICLES else 0
    return (
        np.zeros((lanes, _SIZE)),
        np.empty((lanes, _MOST * many + 1), np.int64),
        np.empty((lanes, many + 1), np.int64),
        np.empty(many + 1, np.int64),
    )


@generic
def lay_out(model: Any, cutoff: float, room: Any) -> bool:
    """Put all particles into cells; False where all pairs are to be looked at."""
    if model.num_particles < _PARTICLES:
        return False
    for lane in range(num_lanes(load(model.time, 0, 0))):
        if not _lay_out(model, lane, cutoff, room[0][lane], room[1][lane], room[2][lane]):
            return False
    return True


@generic
def _lay_out(model: Any, lane: int, cutoff: float, grid: Any, heads: Any, links: Any) -> bool:
    n, cells = model.num_particles, 1
    for axis in range(3):
        low = bare(load_lane(model.particle_location, axis, 0, lane))
        high = low
        for p in range(1, n):
            x = bare(load_lane(model.particle_location, 3 * p + axis, 0, lane))
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
            c = c * int(grid[_NUMBER + axis]) + _place(model, lane, p, axis, grid)
        links[p] = heads[c]
        heads[c] = p
    return True


@generic
def _place(model: Any, lane: int, p: int, axis: int, grid: Any) -> int:
    """Where a particle is along an axis of the grid."""
    x = bare(load_lane(model.particle_location, 3 * p + axis, 0, lane))
    return min(int((x - grid[_LOW + axis]) * grid[_SCALE + axis]), int(grid[_NUMBER + axis]) - 1)


@generic
def find(model: Any, a: int, cutoff: float, room: Any) -> int:
    """Neighbours before *a* of any of the record's states, ascending; how many there are."""
    grids, heads, links, found = room
    count = 0
    for lane in range(num_lanes(load(model.time, 0, 0))):
        count = _find(model, lane, a, cutoff * cutoff, grids[lane], heads[lane], links[lane], found, count)
    return count


@generic
def _find(model: Any, lane: int, a: int, square: float, grid: Any, heads: Any, links: Any, found: Any, count: int) -> int:
    ni, nj, nk = int(grid[_NUMBER]), int(grid[_NUMBER + 1]), int(grid[_NUMBER + 2])
    i0, j0, k0 = _place(model, lane, a, 0, grid), _place(model, lane, a, 1, grid), _place(model, lane, a, 2, grid)
    x, y, z = _at(model, lane, a, 0), _at(model, lane, a, 1), _at(model, lane, a, 2)
    for i in range(max(i0 - 1, 0), min(i0 + 2, ni)):
        for j in range(max(j0 - 1, 0), min(j0 + 2, nj)):
            for k in range(max(k0 - 1, 0), min(k0 + 2, nk)):
                b = heads[(i * nj + j) * nk + k]
                while b >= 0:
                    if b < a:
                        dx, dy, dz = x - _at(model, lane, b, 0), y - _at(model, lane, b, 1), z - _at(model, lane, b, 2)
                        if dx * dx + dy * dy + dz * dz <= square * _MARGIN:
                            count = _insert(found, count, b)
                    b = links[b]
    return count


@generic
def _at(model: Any, lane: int, p: int, axis: int) -> float:
    return bare(load_lane(model.particle_location, 3 * p + axis, 0, lane))


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


__all__ = ["find", "lay_out", "make_room"]
