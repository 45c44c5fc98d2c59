"""Access of contact kernels to the record: a surface's numbers, and the points of a pair of surfaces.

Numbers of a surface, in force_numbers from ``surface_first_number`` on; integers of meshes and the like are in
contact_integers from ``surface_first_integer`` on, their vertices in contact_constants from ``surface_first_constant`` on.

| from | what |
| --- | --- |
| 0 | R_BS, nine; p_BS, three: its frame S on its body |
| 12 | stiffness, dissipation, static, dynamic and viscous friction, thickness of its layer (0: none) |
| 18 | its stiffness to the power of 2/3, as Hertz's law combines stiffnesses |
| 19 | the arms of rolling and of spinning resistance |
| 21 | the velocity of its material from its body, in S |
| 24 | the box that contains it: center and half lengths, in S |
| 30 | dimensions of its shape |

A routine of a pair of kinds, ``run(model, pair) -> number of points``, finds where two surfaces overlap, see `narrow_phase`.
The kind of the first is the lower one. For each point it writes a row of ``contact_point``:

| columns | what |
| --- | --- |
| 0 to 2 | the point, in Ground, half way between the surfaces |
| 3 to 5 | n, the unit normal there, from the first surface to the second |
| 6 | depth, above zero, along n between the surfaces |
| 7 | its law: HERTZ, CORNER or FACE |
| 8, 9 | HERTZ: the greater and the smaller relative curvature, 1/length |
| 8, 9 | CORNER: its area; 0 for a force of stiffness by depth, times its share of a manifold; a share of 0 stands for 1 |
| 8, 9 | FACE: its area, and the cosine of its angle to the other surface |
| 10 | a number that identifies the point as long as the two touch: of a corner, a face, an edge |
| 11 | FACE: 0 where the face is the first surface's, 1 where it is the second's |
| 28 | its energy, as a part of what the law says: 1, but where its force leans |

A law fills in the columns from FORCE on: the force on the second surface (3), slip (3), the point where it acts (3), rate of
depth, potential energy, dissipated power, signed normal force, moment on the second surface (3). Their sums are in
``contact_sum``, in the order of `SUMS`.

States in lanes come here one by one: a kernel reads and writes lane ``pair[2]`` by `load_lane` and `store_lane`, and its
numbers are float64 or Duals, on which it may branch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra.scalar import bare, load_lane, store_lane
from ..compiling import Routine, generic

FRAME, MATERIAL, ROLLING, VELOCITY, BOX, DIMENSIONS = 0, 12, 19, 21, 24, 30
#: Laws.
HERTZ, CORNER, FACE = 0.0, 1.0, 2.0
#: Columns of contact_point.
POINT, NORMAL, DEPTH, LAW, SHAPE, FEATURE, SIDE = 0, 3, 6, 7, 8, 10, 11
FORCE, SLIP, PLACE, RATE, ENERGY, POWER, LOAD, COUPLE = 12, 15, 18, 21, 22, 23, 24, 25
PART = 28
#: Columns of contact_sum. Force and moment, about Ground's origin, are on the second surface.
SUMS = {
    "force": 0, "moment": 3, "point": 6, "normal": 9, "depth": 12, "depth_rate": 13, "slip": 14,
    "potential_energy": 17, "power_dissipation": 18,
}  # fmt: skip


#: Two surfaces, that of lower kind first, and a lane: the number of a state among eight.
Pair = tuple[int, int, int]


def narrow_phase(function: Callable[..., Any]) -> Routine:
    """Mark what finds the points of a pair, ``function(model, pair) -> number of points``, called by address."""
    generic(function)

    def run(model: Any, first: int, second: int, lane: int) -> Any:
        return function(model, (first, second, lane))

    run.__module__, run.__qualname__ = function.__module__, function.__qualname__
    return Routine(run)


@generic
def number_of(model: Any, s: int, i: int, lane: int) -> Any:
    """Number *i* of surface *s*."""
    return load_lane(model.force_numbers, model.surface_first_number[s] + i, 0, lane)


@generic
def three_of(model: Any, s: int, i: int, lane: int) -> Any:
    """Three numbers of surface *s* from *i* on."""
    first = model.surface_first_number[s] + i
    x, y = load_lane(model.force_numbers, first, 0, lane), load_lane(model.force_numbers, first + 1, 0, lane)
    return x, y, load_lane(model.force_numbers, first + 2, 0, lane)


@generic
def load3_lane(rows: Any, row: int, column: int, lane: int) -> Any:
    """Three numbers of a row, of one lane."""
    x, y = load_lane(rows, row, column, lane), load_lane(rows, row, column + 1, lane)
    return x, y, load_lane(rows, row, column + 2, lane)


@generic
def store3_lane(rows: Any, row: int, column: int, lane: int, v: Any) -> None:
    """Put three numbers into a row, of one lane."""
    store_lane(rows, row, column, lane, v[0])
    store_lane(rows, row, column + 1, lane, v[1])
    store_lane(rows, row, column + 2, lane, v[2])


@generic
def orientation(model: Any, s: int, lane: int) -> Any:
    """R_GS, nine numbers."""
    a, b, c = load3_lane(model.surface_frame, s, 0, lane)
    d, e, f = load3_lane(model.surface_frame, s, 3, lane)
    g, h, k = load3_lane(model.surface_frame, s, 6, lane)
    return a, b, c, d, e, f, g, h, k


@generic
def origin(model: Any, s: int, lane: int) -> Any:
    """p_GS."""
    return load3_lane(model.surface_frame, s, 9, lane)


@generic
def put_point(
    model: Any, pair: Pair, row: int, point: Any, normal: Any, depth: Any, law: float, one: Any, two: Any, feature: int
) -> None:
    """Write the columns of a point that the pair's routine knows; *one* and *two* are columns 8 and 9."""
    _, _, lane = pair
    rows = model.contact_point
    store3_lane(rows, row, POINT, lane, point)
    store3_lane(rows, row, NORMAL, lane, normal)
    store_lane(rows, row, DEPTH, lane, depth)
    store_lane(rows, row, LAW, lane, law)
    store_lane(rows, row, SHAPE, lane, one)
    store_lane(rows, row, SHAPE + 1, lane, two)
    store_lane(rows, row, FEATURE, lane, float(feature))
    store_lane(rows, row, SIDE, lane, 0.0)
    store_lane(rows, row, PART, lane, 1.0)


@generic
def key_of(model: Any, pair: Pair, row: int) -> int:
    """The number of a point that its surfaces, feature and side have nearly to themselves; never 0, and exact as a float64."""
    a, b, lane = pair
    feature = int(bare(load_lane(model.contact_point, row, FEATURE, lane)))
    side = int(bare(load_lane(model.contact_point, row, SIDE, lane)))
    return _mixed(a, b, 2 * feature + side)


@generic
def _mixed(a: int, b: int, which: int) -> int:
    return (((a * 73856093) ^ (b * 19349663 * 4097) ^ (which * 83492791 * 1048583)) | 1) & 0xFFFFFFFFFFFFF
