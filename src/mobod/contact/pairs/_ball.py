"""A sphere and a shape whose nearest point is known: the row of their contact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import mat33, sym33, vec3
from ...compiling import Routine, generic
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, number_of, orientation, origin, put_point
from . import _curvature


@generic
def put_ball(
    model: Any, pair: Pair, row: int, center: Any, radius: Any, S: Any, R: Any, found: Any, first: bool, name: int
) -> int:
    """A row for a ball at *center*, whose shape operator in Ground is S, and what `_nearest` found in a frame R.

    *first* says that the ball is of the first surface. Returns how many rows there are then.
    """
    distance, n, its = found
    depth = radius - distance
    if depth <= 0.0:
        return row
    outward = mat33.mul_vec(R, n)  # from the shape to the ball
    point = vec3.add_scaled(center, 0.5 * depth - radius, outward)
    normal = outward
    if first:
        normal = vec3.neg(outward)
    greater, smaller = _curvature.relative(sym33.add(S, sym33.rotate(R, its)))
    put_point(model, pair, row, point, normal, depth, HERTZ, greater, smaller, name)
    return row + 1


def sphere_with(near: Callable[..., Any], name: str) -> Routine:
    """The routine of a sphere, the first surface, and a shape by ``near(model, s, x, lane)``, as in `_nearest`."""

    def run(model: Any, pair: Pair) -> int:
        a, s, lane = pair
        radius, center, R = number_of(model, a, DIMENSIONS, lane), origin(model, a, lane), orientation(model, s, lane)
        found = near(model, s, mat33.transpose_mul_vec(R, vec3.sub(center, origin(model, s, lane))), lane)
        S = _curvature.of_sphere(1.0 / radius, mat33.mul_vec(R, found[1]))
        return put_ball(model, pair, 0, center, radius, S, R, found, True, 0)

    run.__name__ = run.__qualname__ = name
    run.__module__ = near.__module__  # where the routine is, by which it is pickled
    return narrow_phase(run)
