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
def _put_columns(model: Any, space: Any, i: int, b: int, stop: int, sign: float, begin: int) -> int:
    """The columns of the speeds outboard of *stop*, up to a body's, from place *begin* on; the place after them."""
    points, J = space.points, space.coefficients
    end, c = begin, b
    kind, length = space.pairs[i, names.KIND], points[i, names.LENGTH]
    while c != stop:
        if model.prescribed[c] == SOLVED:
            end += model.num_u[c]
        c = model.parent[c]
    if end > space.columns.shape[0]:
        return end
    at = end
    p = (points[i, 0], points[i, 1], points[i, 2])
    f = names.FRAME
    n = (sign * points[i, f], sign * points[i, f + 1], sign * points[i, f + 2])
    t1 = (sign * points[i, f + 3], sign * points[i, f + 4], sign * points[i, f + 5])
    t2 = (sign * points[i, f + 6], sign * points[i, f + 7], sign * points[i, f + 8])
    while b != stop:
        if model.prescribed[b] == SOLVED:
            r = vec3.sub(p, load3(model.p_GB, b, 0))
            for k in range(model.first_u[b] + model.num_u[b] - 1, model.first_u[b] - 1, -1):
                at -= 1
                w, v = load_spatial(model.H, k)
                v = vec3.add(v, vec3.cross(w, r))
                space.columns[at] = space.place_of_speed[k]
                if kind == names.CONTACT:
                    J[0, at], J[1, at], J[2, at] = vec3.dot(n, v), vec3.dot(t1, v), vec3.dot(t2, v)
                else:
                    J[0, at], J[1, at], J[2, at] = 0.0, length * vec3.dot(t1, w), 0.0
                    if kind == names.ROLLING:
                        J[2, at] = length * vec3.dot(t2, w)
        b = model.parent[b]
    return end


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
    n, a, b, J = 0.0, 0.0, 0.0, space.coefficients
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        s = x[space.columns[c]]
        n += J[0, c] * s
        a += J[1, c] * s
        b += J[2, c] * s
    return n, a, b


@generic
def add_impulse(space: Any, i: int, n: float, a: float, b: float, x: Any) -> None:
    """x becomes x + J^T (n, a, b) of a point."""
    J = space.coefficients
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        x[space.columns[c]] += J[0, c] * n + J[1, c] * a + J[2, c] * b


@generic
def find_masses(model: Any, space: Any) -> None:
    """The mass matrix of each tree that needs it, with what joints add; of prescribed mobilities 1."""
    composite_inertia.sweep(model)
    mass, place, depth = space.mass, space.place_of_speed, space.depth
    for b in range(1, model.nb):
        t = space.tree_of_body[b]
        if space.weighed[t] == 0:
            continue
        moves = model.prescribed[b] == SOLVED
        m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            w, v = load_spatial(model.H, i)
            torque, force = spatial.mul_inertia(m, mc, inertia, w, v)
            own, c = place[i], b
            row = space.first_entry[own]
            while c != 0:
                both = moves and model.prescribed[c] == SOLVED
                end = model.first_u[c] + model.num_u[c]
                if c == b:
                    end = i + 1
                for k in range(model.first_u[c], end):
                    wk, vk = load_spatial(model.H, k)
                    value = vec3.dot(wk, torque) + vec3.dot(vk, force)
                    if not both:
                        value = 0.0
                        if i == k:
                            value = 1.0
                    mass[row + depth[place[k]]] = value
                torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, c, 0))
                c = model.parent[c]
            mass[row + depth[own]] += space.vectors[names.ADDED, own]
            space.vectors[names.DIAGONAL, own] = mass[row + depth[own]]


@generic
def clear_masses(space: Any) -> None:
    """Of bodies that are on no common path the entries are none: nothing else writes them."""
    for i in range(space.mass.shape[0]):
        space.mass[i] = 0.0


@generic
def mass_times(space: Any, x: Any, out: Any) -> None:
    """M x of the trees that are nodes; of others 0."""
    mass, first_entry, column = space.mass, space.first_entry, space.column
    for i in range(x.shape[0]):
        out[i] = 0.0
    for node in range(space.counts[names.NODES]):
        t = space.tree_of_node[node]
        for k in range(space.first_speed[t], space.first_speed[t + 1]):
            row = first_entry[k]
            n = first_entry[k + 1] - row - 1
            own = x[k]
            total = mass[row + n] * own
            for d in range(n):
                c = column[row + d]
                total += mass[row + d] * x[c]
                out[c] += mass[row + d] * own
            out[k] += total


__all__ = ["add_impulse", "clear_masses", "find_masses", "find_rows", "mass_times", "velocity_of"]
