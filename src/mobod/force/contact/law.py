"""The law of compliant contact: what the overlap of two surfaces costs, point by point.

Hertz's force between surfaces that are smooth where they touch, and linear springs at corners and faces, each with
the dissipation of Hunt and Crossley and Stribeck friction; equations in docs/contact.md. A row of ``contact_point``
becomes a force on both bodies, equal and opposite, at the point PLACE.
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.scalar import load_lane, power, sqrt, store_lane, zero
from ...compiling import generic, routine
from ...contact import access
from ...contact.access import (
    DEPTH,
    MATERIAL,
    NORMAL,
    POINT,
    SHAPE,
    first_surface,
    lane_of,
    load3_lane,
    number_of,
    second_surface,
    store3_lane,
)
from .. import _routine

#: A request to a law beside FORCES, ENERGY and POWER of `_routine`: fill in the points and ``contact_sum``.
TABLE = 3
#: The place, of an element's numbers, of its transition velocity.
TRANSITION_VELOCITY = 0


@generic
def request(element: int, count: int, what: int) -> int:
    """The last argument of a law: the element, how many points there are, and what is asked."""
    return (element << 28) | (count << 4) | what


@generic
def velocity_at(model: Any, body: int, p: Any, lane: int) -> Any:
    """Of the point of a body that is at p, in Ground."""
    w, v = load3_lane(model.V_GB, body, 0, lane), load3_lane(model.V_GB, body, 3, lane)
    return vec3.add(v, vec3.cross(w, vec3.sub(p, load3_lane(model.p_GB, body, 0, lane))))


@generic
def push(model: Any, body: int, p: Any, f: Any, lane: int) -> None:
    """Add the force f, at p in Ground, to what acts on a body."""
    m = vec3.cross(vec3.sub(p, load3_lane(model.p_GB, body, 0, lane)), f)
    rows = model.body_forces
    store3_lane(rows, body, 0, lane, vec3.add(load3_lane(rows, body, 0, lane), m))
    store3_lane(rows, body, 3, lane, vec3.add(load3_lane(rows, body, 3, lane), f))


@generic
def step5(x: Any) -> Any:
    """A quintic from 0 to 1 whose first and second derivatives vanish at both ends, 0 <= x <= 1."""
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


@generic
def stribeck(us: Any, ud: Any, uv: Any, v: Any) -> Any:
    """The coefficient of friction at a slip of v transition velocities."""
    wet = uv * v
    if v >= 3.0:
        return ud + wet
    if v >= 1.0:
        return us - (us - ud) * step5(0.5 * (v - 1.0)) + wet
    return us * step5(v) + wet


@generic
def mixed(a: Any, b: Any) -> Any:
    """The harmonic mean, 0 where both are 0."""
    total = a + b
    if total > 0.0:
        return 2.0 * a * b / total
    return 0.0 * total


@routine
def compliant(model: Any, pair: int, asked: int) -> int:
    """The forces of one pair, its energy or power, or all about it."""
    element, count, what = asked >> 28, (asked >> 4) & 0xFFFFFF, asked & 15
    a, b, lane = first_surface(pair), second_surface(pair), lane_of(pair)
    body1, body2 = model.surface_body[a], model.surface_body[b]
    vt = load_lane(model.force_numbers, model.force_first_number[element] + TRANSITION_VELOCITY, 0, lane)
    k1 = power(number_of(model, a, MATERIAL, lane), 2.0 / 3.0)
    k2 = power(number_of(model, b, MATERIAL, lane), 2.0 / 3.0)
    s1 = k2 / (k1 + k2)
    k, c = k1 * s1, number_of(model, a, MATERIAL + 1, lane) * s1 + number_of(model, b, MATERIAL + 1, lane) * (1.0 - s1)
    us = mixed(number_of(model, a, MATERIAL + 2, lane), number_of(model, b, MATERIAL + 2, lane))
    ud = mixed(number_of(model, a, MATERIAL + 3, lane), number_of(model, b, MATERIAL + 3, lane))
    uv = mixed(number_of(model, a, MATERIAL + 4, lane), number_of(model, b, MATERIAL + 4, lane))
    rows = model.contact_point
    for row in range(count):
        n, x = load3_lane(rows, row, NORMAL, lane), load_lane(rows, row, DEPTH, lane)
        p = vec3.add_scaled(load3_lane(rows, row, POINT, lane), x * (0.5 - s1), n)
        R = 2.0 / (load_lane(rows, row, SHAPE, lane) + load_lane(rows, row, SHAPE + 1, lane))
        elastic = (4.0 / 3.0) * k * x * sqrt(R * k * x)
        energy = 0.4 * elastic * x
        if what == _routine.ENERGY:
            add_to(model, element, lane, energy)
            continue
        v = vec3.sub(velocity_at(model, body2, p, lane), velocity_at(model, body1, p, lane))
        rate = -vec3.dot(v, n)
        normal = elastic * (1.0 + 1.5 * c * rate)
        if normal <= 0.0:
            normal = zero(normal)
        slip = vec3.add_scaled(v, rate, n)
        square = vec3.dot(slip, slip)
        f, heat = vec3.scale(normal, n), (normal - elastic) * rate
        if square > 0.0:
            speed = sqrt(square)
            friction = normal * stribeck(us, ud, uv, speed / vt)
            f = vec3.add_scaled(f, -friction / speed, slip)
            heat = heat + friction * speed
        if what == _routine.POWER:
            add_to(model, element, lane, heat)
        elif what == _routine.FORCES:
            push(model, body2, p, f, lane)
            push(model, body1, p, vec3.neg(f), lane)
            dissipate(model, lane, heat)
        else:
            keep(model, row, lane, f, slip, p, rate, energy, heat, normal)
    if what == TABLE:
        add_up(model, pair, count)
    return count


#: The column of contact_sum in which an evaluation of all contacts adds up the dissipated power.
DISSIPATED = 31


@generic
def dissipate(model: Any, lane: int, heat: Any) -> None:
    """Add to the dissipated power of the element that is evaluated."""
    store_lane(model.contact_sum, 0, DISSIPATED, lane, load_lane(model.contact_sum, 0, DISSIPATED, lane) + heat)


@generic
def add_to(model: Any, element: int, lane: int, x: Any) -> None:
    """Add to the energy, or the power, of an element."""
    store_lane(model.work_e, element, 0, lane, load_lane(model.work_e, element, 0, lane) + x)


@generic
def keep(model: Any, row: int, lane: int, f: Any, slip: Any, p: Any, rate: Any, energy: Any, heat: Any, normal: Any) -> None:
    """Write what the law has found of a point."""
    rows = model.contact_point
    store3_lane(rows, row, access.FORCE, lane, f)
    store3_lane(rows, row, access.SLIP, lane, slip)
    store3_lane(rows, row, access.PLACE, lane, p)
    store_lane(rows, row, access.RATE, lane, rate)
    store_lane(rows, row, access.ENERGY, lane, energy)
    store_lane(rows, row, access.POWER, lane, heat)
    store_lane(rows, row, access.LOAD, lane, normal)


@generic
def add_up(model: Any, pair: int, count: int) -> None:
    """The sums of a pair's points into contact_sum; its point is the center of pressure, normal and slip are weighted alike.

    Where no point bears a load, all weigh the same. The depth is the greatest.
    """
    lane, rows = lane_of(pair), model.contact_point
    o = 0.0 * load_lane(rows, 0, DEPTH, lane)
    zero3 = (o, o, o)
    force, moment, power, energy = zero3, zero3, o, o
    load = o
    for row in range(count):
        load = load + load_lane(rows, row, access.LOAD, lane)
    place, normal, slip, rate, deepest = zero3, zero3, zero3, o, o
    for row in range(count):
        f, p = load3_lane(rows, row, access.FORCE, lane), load3_lane(rows, row, access.PLACE, lane)
        force, moment = vec3.add(force, f), vec3.add(moment, vec3.cross(p, f))
        share = o + 1.0 / count
        if load > 0.0:
            share = load_lane(rows, row, access.LOAD, lane) / load
        place = vec3.add_scaled(place, share, p)
        normal = vec3.add_scaled(normal, share, load3_lane(rows, row, NORMAL, lane))
        slip = vec3.add_scaled(slip, share, load3_lane(rows, row, access.SLIP, lane))
        rate = rate + share * load_lane(rows, row, access.RATE, lane)
        x = load_lane(rows, row, DEPTH, lane)
        if x > deepest:
            deepest = x
        energy = energy + load_lane(rows, row, access.ENERGY, lane)
        power = power + load_lane(rows, row, access.POWER, lane)
    length = vec3.dot(normal, normal)
    if length > 0.0:
        normal = vec3.scale(1.0 / sqrt(length), normal)
    sums = model.contact_sum
    for column, value in ((0, force), (3, moment), (6, place), (9, normal), (14, slip)):
        store3_lane(sums, 0, column, lane, value)
    store_lane(sums, 0, 12, lane, deepest)
    store_lane(sums, 0, 13, lane, rate)
    store_lane(sums, 0, 17, lane, energy)
    store_lane(sums, 0, 18, lane, power)


__all__ = ["TABLE", "compliant", "push", "request", "step5", "stribeck", "velocity_at"]
