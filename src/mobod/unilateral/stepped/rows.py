"""Velocities of points by the speeds of the trees of two bodies, and these trees' mass matrices.

Of a point p the column of speed i of a body C inboard of its body is (v_i + w_i x (p - p_GC)), H_i = (w_i; v_i), in the frame
of the point, below zero for the first of two bodies. Where both are of one tree, bodies inboard of both have none. Prescribed
speeds, which no impulse changes, have none either: what they make at the step's end is added to the row's velocities.
"""

from __future__ import annotations

from typing import Any

from ...algebra import spatial, vec3
from ...algebra.memory import load3, load6, load_spatial, store3
from ...algebra.scalar import load, one, store, zero
from ...compiling import generic
from ...tree import composite_inertia
from ...tree.prescribed_mobilities import SOLVED
from . import space as names


@generic
def inboard_of_both(model: Any, b1: int, b2: int) -> int:
    """The last body inboard of both, or one of them; 0 where that is Ground."""
    while b1 != b2:
        if b1 > b2:
            b1 = model.parent[b1]
        else:
            b2 = model.parent[b2]
    return b1


@generic
def any_free(model: Any, b1: int, b2: int) -> bool:
    """True if an impulse between two bodies changes any speed: none does where both are fixed, locked or driven."""
    found = False
    while b1 != b2 and not found:
        b = max(b1, b2)
        found = model.num_u[b] > 0 and model.prescribed[b] == SOLVED
        if b1 > b2:
            b1 = model.parent[b1]
        else:
            b2 = model.parent[b2]
    return found


@generic
def put_columns(model: Any, space: Any, i: int, b: int, stop: int, sign: float, begin: int, whole: bool) -> int:
    """The columns of the speeds outboard of *stop*, up to a body's, from place *begin* on; the place after them.

    Where it is *whole* prescribed speeds have columns, too.
    """
    points, J = space.points, space.coefficients
    end, c = begin, b
    kind, length = space.pairs[i, names.KIND], load(points, i, names.LENGTH)
    while c != stop:
        if whole or model.prescribed[c] == SOLVED:
            end += model.num_u[c]
        c = model.parent[c]
    if end > space.columns.shape[0]:
        return end
    at = end
    p, f = load3(points, i, names.POINT), names.FRAME
    n, t1 = vec3.scale(sign, load3(points, i, f)), vec3.scale(sign, load3(points, i, f + 3))
    t2 = vec3.scale(sign, load3(points, i, f + 6))
    while b != stop:
        r = vec3.sub(p, load3(model.p_GB, b, 0))
        for k in range(model.first_u[b] + model.num_u[b] - 1, model.first_u[b] - 1, -1):
            w, v = load_spatial(model.H, k)
            v = vec3.add(v, vec3.cross(w, r))
            row = zero(length), length * vec3.dot(t1, w), zero(length)
            if kind == names.CONTACT:
                row = vec3.dot(n, v), vec3.dot(t1, v), vec3.dot(t2, v)
            elif kind == names.ROLLING:
                row = row[0], row[1], length * vec3.dot(t2, w)
            if whole or model.prescribed[b] == SOLVED:
                at -= 1
                space.columns[at] = space.place_of_speed[k]
                for j in range(3):
                    store(J, j, at, row[j])
            else:
                speed = load(space.vectors, names.FREE, space.place_of_speed[k])
                store3(points, i, names.DRIFT, vec3.add_scaled(load3(points, i, names.DRIFT), speed, row))
        b = model.parent[b]
    return end


@generic
def velocity_of(space: Any, i: int, row: int) -> Any:
    """J x of a point, x being a row of ``vectors``."""
    J, x, columns = space.coefficients, space.vectors, space.columns
    n = zero(load(x, row, 0))
    a, b = n, n
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        s = load(x, row, columns[c])
        n = n + load(J, 0, c) * s
        a = a + load(J, 1, c) * s
        b = b + load(J, 2, c) * s
    return n, a, b


@generic
def add_impulse(space: Any, i: int, n: Any, a: Any, b: Any, row: int) -> None:
    """A row x of ``vectors`` becomes x + J^T (n, a, b) of a point."""
    J, x = space.coefficients, space.vectors
    for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
        k = space.columns[c]
        store(x, row, k, load(x, row, k) + (load(J, 0, c) * n + load(J, 1, c) * a + load(J, 2, c) * b))


@generic
def find_masses(model: Any, space: Any) -> None:
    """The mass matrix of each tree that needs it, with rotors and what joints add; of prescribed mobilities 1."""
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
                        value = zero(value)
                        if i == k:
                            value = one(value)
                    store(mass, row + depth[place[k]], 0, value)
                torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, c, 0))
                c = model.parent[c]
            diagonal = load(mass, row + depth[own], 0) + load(space.vectors, names.ADDED, own)
            if moves:
                diagonal = diagonal + load(model.rotor_inertia, i, 0)
            store(mass, row + depth[own], 0, diagonal)
            store(space.vectors, names.DIAGONAL, own, diagonal)


@generic
def clear_masses(space: Any) -> None:
    """Of bodies that are on no common path the entries are none: nothing else writes them."""
    none = zero(load(space.vectors, names.FREE, 0))
    for i in range(space.mass.shape[0]):
        store(space.mass, i, 0, none)


@generic
def mass_times(space: Any, row: int, result: int) -> None:
    """M x of the trees that are nodes, of others 0, from a row of ``vectors`` to another."""
    mass, first_entry, column, x, out = space.mass, space.first_entry, space.column, space.vectors[row], space.vectors[result]
    for i in range(x.shape[0]):
        out[i] = 0.0
    for node in range(space.counts[names.NODES]):
        t = space.tree_of_node[node]
        for k in range(space.first_speed[t], space.first_speed[t + 1]):
            begin = first_entry[k]
            n = first_entry[k + 1] - begin - 1
            own = x[k]
            total = mass[begin + n] * own
            for d in range(n):
                c = column[begin + d]
                total += mass[begin + d] * x[c]
                out[c] += mass[begin + d] * own
            out[k] += total
