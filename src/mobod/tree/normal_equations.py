"""Normal equations of fitting stations and orientations to targets: J^T W J and J^T W e, without J. Needs positions.

    H = sum_t w_t J_t^T J_t        g = sum_t w_t J_t^T e_t        of stations S_t, e_t = p_GS - target

H is the mass matrix of point masses w at the stations, and g the generalized forces of forces w e there. An orientation has the
inertia w 1, and a torque. So the composite rigid body algorithm gives both in one inward sweep, in O(n times depth). Source:
Featherstone 2008, section 6.2.
"""

from typing import Any

from ..algebra import spatial, sym33, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store3, store6
from ..algebra.record import attach
from ..algebra.scalar import load, one, sincos, sqrt, store, where, zero
from ..compiling import compiled, generic
from ..mobilizer import q_rates
from ..state.fields import Record
from .jacobian import station_in_ground


@compiled
def clear(block: Any, weights: Any, forces: Any) -> None:
    """No targets yet: zero inertias (nb, 10) and forces (nb, 6)."""
    model = attach(block)
    for b in range(model.nb):
        for column in range(10):
            store(weights, b, column, 0.0)
        for column in range(6):
            store(forces, b, column, 0.0)


@compiled
def add_stations(block: Any, bodies: Any, stations: Any, targets: Any, w: Any, weights: Any, forces: Any) -> float:
    """Add stations, with weights w, to the inertias and forces of their bodies; half the sum of w e.e."""
    model = attach(block)
    total = 0.0
    for t in range(bodies.shape[0]):
        b, wt = bodies[t], load(w, t, 0)
        r = station_in_ground(model, bodies, stations, t)
        e = vec3.sub(vec3.add(load3(model.p_GB, b, 0), r), load3(targets, t, 0))
        we = vec3.scale(wt, e)
        total = total + vec3.dot(e, we)
        add_spatial(forces, b, vec3.cross(r, we), we)
        add_point(weights, b, wt, r)
    return 0.5 * total


@compiled
def sum_of_squares(block: Any, bodies: Any, stations: Any, targets: Any, w: Any) -> float:
    """Half the sum of w e.e of the stations."""
    model = attach(block)
    total = 0.0
    for t in range(bodies.shape[0]):
        r = station_in_ground(model, bodies, stations, t)
        e = vec3.sub(vec3.add(load3(model.p_GB, bodies[t], 0), r), load3(targets, t, 0))
        total = total + load(w, t, 0) * vec3.dot(e, e)
    return 0.5 * total


@compiled
def add_attitudes(block: Any, bodies: Any, e: Any, w: Any, weights: Any, forces: Any) -> float:
    """`add_stations` for orientations, which are off by the rotation vectors e, in Ground."""
    total = 0.0
    for t in range(bodies.shape[0]):
        b, wt = bodies[t], load(w, t, 0)
        error = load3(e, t, 0)
        total = total + wt * vec3.dot(error, error)
        for k in range(3):
            store(forces, b, k, load(forces, b, k) + wt * load(e, t, k))
            store(weights, b, 4 + k, load(weights, b, 4 + k) + wt)
    return 0.5 * total


@compiled
def turn(block: Any, v: Any, q: Any) -> None:
    """q of the state, its quaternions turned for a unit of time at the speeds v: along the great circles of N v."""
    model = attach(block)
    for i in range(model.nq):
        store(q, i, 0, load(model.q, i, 0))
    for b in range(1, model.nb):
        if model.has_quaternion[b] == 1:
            first = model.first_q[b]
            q_rates.n_times(model, b, v, model.first_u[b], q, first)
            a0, a1, a2, a3 = load(q, first, 0), load(q, first + 1, 0), load(q, first + 2, 0), load(q, first + 3, 0)
            angle = sqrt(a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            sine, cosine = sincos(angle)
            part = where(angle < 1e-9, one(angle), sine / where(angle < 1e-9, one(angle), angle))
            square = zero(angle)
            for k in range(4):
                x = cosine * load(model.q, first + k, 0) + part * load(q, first + k, 0)
                square = square + x * x
                store(q, first + k, 0, x)
            scale = where(angle == 0.0, one(angle), 1.0 / sqrt(square))  # one that does not turn keeps its bits
            for k in range(4):
                store(q, first + k, 0, scale * load(q, first + k, 0))
            for k in range(4, model.num_q[b]):
                store(q, first + k, 0, load(model.q, first + k, 0))


@generic
def add_point(weights: Any, b: int, m: Any, r: Any) -> None:
    """A point mass m at r from the origin of body b."""
    mr = vec3.scale(m, r)
    rr = vec3.dot(r, mr)
    store(weights, b, 0, load(weights, b, 0) + m)
    store3(weights, b, 1, vec3.add(load3(weights, b, 1), mr))
    inertia = (
        rr - mr[0] * r[0],
        rr - mr[1] * r[1],
        rr - mr[2] * r[2],
        -mr[0] * r[1],
        -mr[0] * r[2],
        -mr[1] * r[2],
    )
    store6(weights, b, 4, sym33.add(load6(weights, b, 4), inertia))


@compiled
def form(block: Any, weights: Any, forces: Any, H: Any, g: Any) -> None:
    """H and g of the inertias and forces, which become sums over outboard subtrees."""
    model = attach(block)
    for i in range(model.nu):
        for j in range(model.nu):
            store(H, i, j, 0.0)
    for b in range(model.nb - 1, 0, -1):
        r, p = load3(model.p_PB_G, b, 0), model.parent[b]
        t, f = load_spatial(forces, b)
        m, mr, inertia = load(weights, b, 0), load3(weights, b, 1), load6(weights, b, 4)
        first, end = model.first_u[b], model.first_u[b] + model.num_u[b]
        for i in range(first, end):
            w, v = load_spatial(model.H, i)
            store(g, i, 0, vec3.dot(w, t) + vec3.dot(v, f))
            torque, force = spatial.mul_inertia(m, mr, inertia, w, v)
            for j in range(i, end):
                _both(model, H, i, j, torque, force)
            torque, force = spatial.shift_force(torque, force, r)
            a = p
            while a > 0:
                for j in range(model.first_u[a], model.first_u[a] + model.num_u[a]):
                    _both(model, H, i, j, torque, force)
                torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, a, 0))
                a = model.parent[a]
        t, f = spatial.shift_force(t, f, r)
        add_spatial(forces, p, t, f)
        mr, inertia = spatial.shift_inertia(m, mr, inertia, r)
        store(weights, p, 0, load(weights, p, 0) + m)
        store3(weights, p, 1, vec3.add(load3(weights, p, 1), mr))
        store6(weights, p, 4, sym33.add(load6(weights, p, 4), inertia))


@generic
def _both(model: Record, H: Any, i: int, j: int, torque: Any, force: Any) -> None:
    """H[i, j] and H[j, i]."""
    w, v = load_spatial(model.H, j)
    x = vec3.dot(w, torque) + vec3.dot(v, force)
    store(H, i, j, x)
    store(H, j, i, x)
