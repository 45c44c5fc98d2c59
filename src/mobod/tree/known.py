"""Mobilizers whose accelerations are known beforehand, by a lock or a prescribed motion: nothing is eliminated for them.

    articulated   P+ = P                     inward   Z+ = Z + P (H udot)           outward   A' = phi^T A'_P + H udot

so that such a mobilizer is a weld that moves by itself, and costs less than a free one: hybrid dynamics, Featherstone 2008,
section 9.2; Jain 2011, section 16.3. The forces that make it so are not needed here. They are the residual of inverse
dynamics with the accelerations found, in O(n), when someone asks (`SimbodyMatterSubsystem.find_motion_forces`).

The products with M^-1 leave known mobilities out: they are taken at udot = 0, and come back as zeros.
"""

from typing import Any

from .._jit import generic
from ..algebra import articulated, vec3
from ..algebra.memory import load3, load_spatial
from ..algebra.scalar import load, store, zero

#: Values of the field `together`, all below zero. The accelerations are zero: a lock, a steady motion.
LOCKED = -1
#: They are the numbers of the field `lock_u`: a lock of accelerations.
GIVEN = -2
#: They are those of `known_u_dot`, which a prescribed motion has written.
DRIVEN = -3


@generic
def acceleration(model: Any, b: int, i: int) -> Any:
    """udot of mobility i of body b, which is known and not LOCKED."""
    a = zero(load(model.u, i, 0))
    if model.together[b] == GIVEN:
        a = a + load(model.lock_u, i, 0)
    else:
        a = load(model.known_u_dot, i, 0)
    return a


@generic
def step(model: Any, b: int, J: Any, F: Any, M: Any) -> None:
    """The rest of `articulated_inertia.step` for a known body of articulated inertia (J, F, M): all of it is handed on."""
    if model.together[b] < LOCKED:
        articulated.store_articulated(model.articulated, b, J, F, M)  # for `absorb`; what children handed in is used up
    p = model.parent[b]
    if p > 0:
        J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
        if model.is_last_child[b] == 0:
            J2, F2, M2 = articulated.load_articulated(model.articulated, p)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        articulated.store_articulated(model.articulated, p, J, F, M)


@generic
def absorb(model: Any, b: int, zw: Any, zv: Any, moving: bool) -> Any:
    """`acceleration.absorb` of a known body: the forces go through, with those that its own motion takes."""
    if moving and model.together[b] < LOCKED:
        hw, hv = load_spatial(model.H, model.first_u[b])
        a = acceleration(model, b, model.first_u[b])
        aw, av = vec3.scale(a, hw), vec3.scale(a, hv)
        for i in range(model.first_u[b] + 1, model.first_u[b] + model.num_u[b]):
            hw, hv = load_spatial(model.H, i)
            a = acceleration(model, b, i)
            aw, av = vec3.add_scaled(aw, a, hw), vec3.add_scaled(av, a, hv)
        J, F, M = articulated.load_articulated(model.articulated, b)
        fw, fv = articulated.mul_vec(J, F, M, aw, av)
        zw, zv = vec3.add(zw, fw), vec3.add(zv, fv)
    return zw, zv


@generic
def release(model: Any, b: int, w: Any, v: Any, udot: Any, moving: bool) -> Any:
    """`acceleration.release` of a known body: its udot as it is known, or zero unless it is *moving*."""
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        a = zero(w[0])
        if moving and model.together[b] < LOCKED:
            a = acceleration(model, b, i)
            hw, hv = load_spatial(model.H, i)
            w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
        store(udot, i, 0, a)
    return w, v
