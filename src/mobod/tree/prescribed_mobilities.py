"""Mobilizers whose udot is prescribed, by a lock or a motion: hybrid dynamics, in which nothing is eliminated for them.

    articulated   P+ = P                     inward   Z+ = Z + P (H udot)           outward   A' = phi^T A'_P + H udot

Such a mobilizer costs less than a free one. The forces that prescribe its motion are not needed here: they are the residual of
inverse dynamics at the accelerations found, in O(n) (`SimbodyMatterSubsystem.find_motion_forces`). Products with M^-1 are those
of the free mobilities: prescribed ones have udot = 0 there. Source: Featherstone 2008, section 9.2; Jain 2011, section 16.3.
"""

from typing import Any

from ..algebra import articulated, vec3
from ..algebra.memory import load3, load_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..state.fields import Record

# Values of the field `prescribed`: where a mobilizer's udot comes from.
#: It is solved for.
SOLVED = 0
#: It is zero: a lock of q or u, a steady motion.
ZERO = 1
#: It is in the field `lock_u`: a lock of accelerations.
FROM_LOCK = 2
#: It is in the field `known_u_dot`, where a prescribed motion has written it.
FROM_MOTION = 3


@generic
def acceleration(model: Record, b: int, i: int) -> Any:
    """udot of mobility i of body b: FROM_LOCK or FROM_MOTION."""
    a = zero(load(model.u, i, 0))
    return a + load(model.lock_u, i, 0) if model.prescribed[b] == FROM_LOCK else load(model.known_u_dot, i, 0)


@generic
def step(model: Record, b: int, J: Any, F: Any, M: Any) -> None:
    """The rest of `articulated_inertia.step` for a prescribed body: P+ = P = (J, F, M)."""
    if model.prescribed[b] > ZERO:
        articulated.store_articulated(model.articulated, b, J, F, M)  # for `absorb`, in place of the sum over the children
    p = model.parent[b]
    if p > 0:
        J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
        if model.is_last_child[b] == 0:
            J2, F2, M2 = articulated.load_articulated(model.articulated, p)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        articulated.store_articulated(model.articulated, p, J, F, M)


@generic
def absorb(model: Record, b: int, zw: Any, zv: Any, moving: bool) -> Any:
    """`acceleration.absorb` of a prescribed body: Z+ = Z + P (H udot)."""
    if moving and model.prescribed[b] > ZERO:
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
def release(model: Record, b: int, w: Any, v: Any, udot: Any, moving: bool) -> Any:
    """`acceleration.release` of a prescribed body: its udot, or zero unless *moving*."""
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        a = zero(w[0])
        if moving and model.prescribed[b] > ZERO:
            a = acceleration(model, b, i)
            hw, hv = load_spatial(model.H, i)
            w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
        store(udot, i, 0, a)
    return w, v
