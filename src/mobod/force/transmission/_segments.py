"""A segment of a path, and a surface that it may bend over: what paths over one and over several surfaces share.

A surface's numbers are rows of `function_value`, its frame in Ground and its sizes. Spheres and cylinders take all lanes at
once, other surfaces one by one.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import bare, fused, load, load_lane, num_lanes, one, store, store_lane, where, zero
from ...compiling import apart, generic
from ._lines import safe_sqrt
from ._over_cylinder import over_cylinder
from ._over_ellipsoid import over_ellipsoid
from ._over_sphere import over_sphere
from ._over_torus import over_torus
from ._stops import get3, put3, row

SPHERE, CYLINDER, ELLIPSOID, TORUS = 0, 1, 2, 3
#: Of taut paths alone.
CAPSULE = 4
#: No length, and no stop.
FAR, NOWHERE = 1e300, -1
#: Numbers behind the stops, of one segment and what became of it, see `_each_alone`; behind these those of each surface, its
#: frame in Ground and its sizes.
MAIL, OF_PLACED, SIZES = 15, 15, 12


@generic
def get3_of_lane(model: Any, at: int, lane: int) -> Any:
    rows = model.function_value
    return load_lane(rows, at, 0, lane), load_lane(rows, at + 1, 0, lane), load_lane(rows, at + 2, 0, lane)


@generic
def put3_of_lane(model: Any, at: int, lane: int, v: Any) -> None:
    store_lane(model.function_value, at, 0, lane, v[0])
    store_lane(model.function_value, at + 1, 0, lane, v[1])
    store_lane(model.function_value, at + 2, 0, lane, v[2])


# What lanes read each from a row of its own, LLVM orders otherwise than what one state reads: sums of products, which are
# rounded as they are ordered, say how.


@generic
def seen_from(R: Any, p: Any, place: Any) -> Any:
    """A place in a frame."""
    r = vec3.sub(place, p)
    return (
        fused(R[0], r[0], fused(R[3], r[1], R[6] * r[2])),
        fused(R[1], r[0], fused(R[4], r[1], R[7] * r[2])),
        fused(R[2], r[0], fused(R[5], r[1], R[8] * r[2])),
    )


@generic
def _square(r: Any) -> Any:
    return fused(r[0], r[0], fused(r[1], r[1], r[2] * r[2]))


@generic
def distance(a: Any, b: Any) -> Any:
    return safe_sqrt(_square(vec3.sub(b, a)))


@generic
def straight(a: Any, b: Any) -> Any:
    """From a to b: the distance, and a vector of length one; zero where they coincide."""
    r = vec3.sub(b, a)
    square, o = _square(r), zero(r[0])
    length = safe_sqrt(square)
    some = square > 1e-300
    # neither the root nor the quotient waits for the other
    part = length * (where(some, one(square), zero(square)) / where(some, square, one(square)))
    return length, (fused(part, r[0], o), fused(part, r[1], o), fused(part, r[2], o))


@generic
def over(model: Any, f: int, j: int, x: int, takes: Any, a: Any, b: Any) -> Any:
    """One segment, its ends in the frame of the surface, whose sizes are at x."""
    kind, axis, sign = model.function_integers[j], model.function_integers[j + 2], model.function_integers[j + 3]
    if kind == SPHERE:
        found = over_sphere(takes, a, b, load(model.function_value, x, 0), axis, sign)
    elif kind == CYLINDER:
        radius, length = load(model.function_value, x, 0), load(model.function_value, x + 1, 0)
        alone = model.function_integers[model.function_first_integer[f] + 1] == 1
        found = over_cylinder(takes, a, b, radius, length, axis, sign, alone)
    else:
        found = _each_alone(model, f, j, x, takes, a, b)
    return found


@generic
def _each_alone(model: Any, f: int, j: int, x: int, takes: Any, a: Any, b: Any) -> Any:
    """A segment over a surface that each lane treats by itself, through the numbers behind the stops."""
    i, rows = model.function_first_integer[f], model.function_value
    at = row(model.function_integers[i] + 2 * model.function_integers[i + 1])
    o = zero(a[0])
    put3(model, at, a)
    put3(model, at + 3, b)
    store(rows, at + 6, 0, where(takes, one(bare(o)), zero(bare(o))))
    for lane in range(num_lanes(o)):
        if bare(load_lane(rows, at + 6, 0, lane)) > 0.5:
            _one_alone(model, f, j, x, at, lane)
    return bare(load(rows, at + 7, 0)), get3(model, at + 8), get3(model, at + 11), load(rows, at + 14, 0)


@apart
def _one_alone(model: Any, f: int, j: int, x: int, at: int, lane: int) -> None:
    axis, sign = model.function_integers[j + 2], model.function_integers[j + 3]
    a, b, sizes = get3_of_lane(model, at, lane), get3_of_lane(model, at + 3, lane), get3_of_lane(model, x, lane)
    if model.function_integers[j] == ELLIPSOID:
        found = over_ellipsoid(a, b, sizes, axis, sign, model.function_integers[j + 4])
    else:
        alone = model.function_integers[model.function_first_integer[f] + 1] == 1
        found = over_torus(a, b, sizes[0], sizes[1], axis, sign, alone)
    store_lane(model.function_value, at + 7, 0, lane, found[0])
    put3_of_lane(model, at + 8, lane, found[1])
    put3_of_lane(model, at + 11, lane, found[2])
    store_lane(model.function_value, at + 14, 0, lane, found[3])
