"""Velocities of points by the speeds of the trees of two bodies, and these trees' mass matrices.

Of a point p the column of speed i of a body C inboard of its body is (v_i + w_i x (p - p_GC)), H_i = (w_i; v_i), in the frame
of the point, below zero for the first of two bodies. Where both are of one tree, bodies inboard of both have none.
"""

from __future__ import annotations

from typing import Any

from ...algebra import spatial, vec3
from ...algebra.memory import load3, load6, load_spatial
from ...algebra.scalar import load
from ...compiling import generic
from ...tree import composite_inertia
from ...tree.prescribed_mobilities import SOLVED
from . import space as names


@generic
def _inboard_of_both(model: Any, b1: int, b2: int) -> int:
    """The last body inboard of both, or one of them; 0 where that is Ground."""
    while b1 != b2:
        if b1 > b2:
            b1 = model.parent[b1]
        else:
            b2 = model.parent[b2]
    return b1


@generic
def _put_columns(model: Any, space: Any, i: int, b: int, stop: int, sign: float, at: int) -> int:
    """The columns of a body's speeds, and those inboard of it up to *stop*, from place *at* on; the place after them."""
    points = space.points
    room = space.columns.shape[0]
    p = (points[i, 0], points[i, 1], points[i, 2])
    f = names.FRAME
    n = (sign * points[i, f], sign * points[i, f + 1], sign * points[i, f + 2])
    t1 = (sign * points[i, f + 3], sign * points[i, f + 4], sign * points[i, f + 5])
    t2 = (sign * points[i, f + 6], sign * points[i, f + 7], sign * points[i, f + 8])
    while b != stop:
        if model.prescribed[b] == SOLVED:
            r = vec3.sub(p, load3(model.p_GB, b, 0))
            for k in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                if at < room:
                    w, v = load_spatial(model.H, k)
                    v = vec3.add(v, vec3.cross(w, r))
                    space.columns[at] = space.place_of_speed[k]
                    space.coefficients[at, 0] = vec3.dot(n, v)
                    space.coefficients[at, 1] = vec3.dot(t1, v)
                    space.coefficients[at, 2] = vec3.dot(t2, v)
                at += 1
        b = model.parent[b]
    return at


@generic
def find_rows(model: Any, space: Any) -> None:
    """The columns of all points; how many says ``counts[COLUMNS]``."""
    at, pairs = 0, space.pairs
    for i in range(space.counts[names.POINTS]):
        b1, b2 = model.surface_body[pairs[i, names.FIRST]], model.surface_body[pairs[i, names.SECOND]]
        stop = _inboard_of_both(model, b1, b2)
        pairs[i, names.BEGIN] = at
        at = _put_columns(model, space, i, b1, stop, -1.0, at)
        pairs[i, names.MIDDLE] = at
        at = _put_columns(model, space, i, b2, stop, 1.0, at)
        pairs[i, names.END] = at
    space.counts[names.COLUMNS] = at


@generic
def velocity_of(space: Any, i: int, x: Any) -> Any:
    """J x of a point."""
    n = a = b = 0.0
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        s = x[space.columns[c]]
        n += space.coefficients[c, 0] * s
        a += space.coefficients[c, 1] * s
        b += space.coefficients[c, 2] * s
    return n, a, b


@generic
def add_impulse(space: Any, i: int, n: float, a: float, b: float, x: Any) -> None:
    """x becomes x + J^T (n, a, b) of a point."""
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        x[space.columns[c]] += space.coefficients[c, 0] * n + space.coefficients[c, 1] * a + space.coefficients[c, 2] * b


@generic
def find_masses(model: Any, space: Any) -> None:
    """The mass matrix of each tree that needs it, with what joints add; of prescribed mobilities 1."""
    composite_inertia.sweep(model)
    mass, place = space.mass, space.place_of_speed
    for b in range(1, model.nb):
        t = space.tree_of_body[b]
        if space.weighed[t] == 0:
            continue
        first, at = space.first_speed[t], space.first_mass[t]
        size = space.first_speed[t + 1] - first
        moves = model.prescribed[b] == SOLVED
        m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            w, v = load_spatial(model.H, i)
            torque, force = spatial.mul_inertia(m, mc, inertia, w, v)
            row, c = place[i] - first, b
            while c != 0:
                both = moves and model.prescribed[c] == SOLVED
                for k in range(model.first_u[c], model.first_u[c] + model.num_u[c]):
                    wk, vk = load_spatial(model.H, k)
                    value = vec3.dot(wk, torque) + vec3.dot(vk, force)
                    column = place[k] - first
                    if not both:
                        value = 0.0
                        if i == k:
                            value = 1.0
                    mass[at + row * size + column] = value
                    mass[at + column * size + row] = value
                torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, c, 0))
                c = model.parent[c]
            mass[at + row * size + row] += space.vectors[names.ADDED, first + row]
            space.vectors[names.DIAGONAL, first + row] = mass[at + row * size + row]


@generic
def clear_masses(space: Any) -> None:
    """Of bodies that are on no common path the entries are none: nothing else writes them."""
    for i in range(space.mass.shape[0]):
        space.mass[i] = 0.0


@generic
def mass_times(space: Any, x: Any, out: Any) -> None:
    """M x of the trees that are nodes; of others 0."""
    for i in range(x.shape[0]):
        out[i] = 0.0
    for node in range(space.counts[names.NODES]):
        t = space.tree_of_node[node]
        first, at = space.first_speed[t], space.first_mass[t]
        size = space.first_speed[t + 1] - first
        for r in range(size):
            total = 0.0
            for c in range(size):
                total += space.mass[at + r * size + c] * x[first + c]
            out[first + r] = total


__all__ = ["add_impulse", "clear_masses", "find_masses", "find_rows", "mass_times", "velocity_of"]
