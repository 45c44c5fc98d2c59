"""The mass matrix and its inverse: products in O(n), explicit in O(n times depth). Need positions.

M a = J^T M_B J a                            an outward and an inward pass
M^-1 f                                       the passes of `acceleration` at rest, free mobilities only
M[i, j] = H_i^T phi M_C H_j                  the composite rigid body algorithm, Featherstone 2008, section 6.2
"""

from typing import Any

from .._jit import compiled, generic
from ..algebra import spatial, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, one, store, zero
from . import acceleration, passes


@compiled
def multiply_by_m(block: Any, a: Any, f: Any) -> None:
    """f = M a."""
    model = attach(block)
    passes.outward(model, a, model.work_A)
    passes.clear(model.work_F, 1)
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, b)
        torque, force = passes.inertia_times(model, b, w, v)
        store_spatial(model.work_F, b, torque, force)
    passes.inward(model, model.work_F, f)


@generic
def solve(model: Any, f: Any, a: Any) -> None:
    """a = M^-1 f, M being that of the free mobilities; a is zero at the others, where f is not read."""
    passes.clear(model.work_F, model.nb)
    for b in range(model.nb - 1, 0, -1):
        zw, zv = load_spatial(model.work_F, b)
        zw, zv = acceleration.absorb(model, b, f, zw, zv, False)
        zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
        add_spatial(model.work_F, model.parent[b], zw, zv)
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = acceleration.release(model, b, w, v, a, False)
        store_spatial(model.work_A, b, w, v)


@compiled
def multiply_by_m_inv(block: Any, f: Any, a: Any) -> None:
    """a = M^-1 f."""
    solve(attach(block), f, a)


@compiled
def calc_m(block: Any, M: Any) -> None:
    """M, which is zero to begin with; needs composite inertias."""
    model = attach(block)
    for b in range(1, model.nb):
        m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
        first, end = model.first_u[b], model.first_u[b] + model.num_u[b]
        for i in range(first, end):
            w, v = load_spatial(model.H, i)
            torque, force = spatial.mul_inertia(m, mc, inertia, w, v)
            for k in range(first, i + 1):
                _put(M, i, k, _along(model, k, torque, force))
            c = b
            while model.parent[c] > 0:
                torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, c, 0))
                c = model.parent[c]
                for k in range(model.first_u[c], model.first_u[c] + model.num_u[c]):
                    _put(M, i, k, _along(model, k, torque, force))


@generic
def _along(model: Any, k: int, torque: Any, force: Any) -> Any:
    return vec3.dot(load3(model.H, k, 0), torque) + vec3.dot(load3(model.H, k, 3), force)


@generic
def _put(M: Any, i: int, k: int, value: Any) -> None:
    store(M, i, k, value)
    store(M, k, i, value)


@compiled
def calc_m_inv(block: Any, unit: Any, column: Any, M_inv: Any) -> None:
    """M^-1 column by column; *unit* is zero to begin with and at the end. Needs articulated inertias."""
    model = attach(block)
    for i in range(model.nu):
        store(unit, i, 0, one(load(unit, i, 0)))
        solve(model, unit, column)
        store(unit, i, 0, zero(load(unit, i, 0)))
        for k in range(model.nu):
            store(M_inv, k, i, load(column, k, 0))
