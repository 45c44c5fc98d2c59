"""Accelerations: forces inward, accelerations outward. Needs velocities, articulated inertias and applied forces.

    inward    Z = F0 - F + sum over children of phi Z+     for each mobility  e = f - h.Z,  Z <- Z + (P h / d) e;   Z+ = Z
    outward   A' = phi^T A'_P     for each mobility, last first  udot = e / d - (P h / d).A',  A' <- A' + h udot;   A = A' + A0

The field `gain` has P h / d, with P as earlier mobilities left it, and `own_u_dot` e / d. A' is the acceleration beyond that at
udot = 0, see `velocity`. Source: Featherstone 2008, section 7; Jain 2011, section 7, where e is epsilon and e / d nu.
"""

from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import load3, load_spatial, store_spatial
from ..algebra.scalar import load, store
from ..compiling import generic
from ..mobilizer import q_rates
from ..state.fields import Record
from . import block_elimination, prescribed_mobilities
from .block_elimination import NONE, ONE_BY_ONE


@generic
def absorb(model: Record, b: int, f: Any, zw: Any, zv: Any, moving: bool) -> Any:
    """Inward step: Z+ of Z = (zw; zv) at body b, whose mobilities have forces f; stores `own_u_dot`.

    Prescribed mobilities have their udot, or zero unless *moving*.
    """
    if model.elimination[b] != ONE_BY_ONE:
        if model.elimination[b] == NONE:
            return prescribed_mobilities.absorb(model, b, zw, zv, moving)
        return block_elimination.absorb(model, b, f, zw, zv)
    i, end = model.first_u[b], model.first_u[b] + model.num_u[b]
    while i + 1 < end:
        # two at a time: h.Z of both side by side, then the second's correction by the first's e
        hw, hv = load_spatial(model.H, i)
        gw, gv = load_spatial(model.gain, i)
        kw, kv = load_spatial(model.H, i + 1)
        lw, lv = load_spatial(model.gain, i + 1)
        e = _less(load(f, i, 0), hw, zw) - vec3.dot(hv, zv)
        d = _less(load(f, i + 1, 0), kw, zw) - vec3.dot(kv, zv) - e * (vec3.dot(kw, gw) + vec3.dot(kv, gv))
        zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
        zw, zv = vec3.add_scaled(zw, d, lw), vec3.add_scaled(zv, d, lv)
        store(model.own_u_dot, i, 0, e * load(model.d_inverse, i, 0))
        store(model.own_u_dot, i + 1, 0, d * load(model.d_inverse, i + 1, 0))
        i += 2
    if i < end:
        hw, hv = load_spatial(model.H, i)
        gw, gv = load_spatial(model.gain, i)
        e = _less(load(f, i, 0), hw, zw) - vec3.dot(hv, zv)
        zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
        store(model.own_u_dot, i, 0, e * load(model.d_inverse, i, 0))
    return zw, zv


@generic
def _less(x: Any, a: Any, b: Any) -> Any:
    """x - a.b, as three fused multiply-adds."""
    return x - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]


@generic
def release(model: Record, b: int, w: Any, v: Any, udot: Any, moving: bool) -> Any:
    """Outward step: udot of body b, and A' = (w; v) with H udot added, from phi^T A' of the parent."""
    if model.elimination[b] != ONE_BY_ONE:
        if model.elimination[b] == NONE:
            return prescribed_mobilities.release(model, b, w, v, udot, moving)
        return block_elimination.release(model, b, w, v, udot)
    first = model.first_u[b]
    i = first + model.num_u[b] - 1
    while i > first:
        gw, gv = load_spatial(model.gain, i)
        hw, hv = load_spatial(model.H, i)
        lw, lv = load_spatial(model.gain, i - 1)
        kw, kv = load_spatial(model.H, i - 1)
        a = _less(load(model.own_u_dot, i, 0), gw, w) - vec3.dot(gv, v)
        c = _less(load(model.own_u_dot, i - 1, 0), lw, w) - vec3.dot(lv, v) - a * (vec3.dot(lw, hw) + vec3.dot(lv, hv))
        store(udot, i, 0, a)
        store(udot, i - 1, 0, c)
        w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
        w, v = vec3.add_scaled(w, c, kw), vec3.add_scaled(v, c, kv)
        i -= 2
    if i == first:
        gw, gv = load_spatial(model.gain, i)
        hw, hv = load_spatial(model.H, i)
        a = _less(load(model.own_u_dot, i, 0), gw, w) - vec3.dot(gv, v)
        store(udot, i, 0, a)
        w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
    return w, v


@generic
def inward_step(model: Record, b: int) -> None:
    """Z and Z+ of body b; phi Z+ into the parent's sum. Its children come first."""
    p = model.parent[b]
    zw, zv = load_spatial(model.centrifugal, b)
    fw, fv = load_spatial(model.body_forces, b)
    zw, zv = vec3.sub(zw, fw), vec3.sub(zv, fv)
    if model.has_children[b] == 1:
        cw, cv = load_spatial(model.residual, b)
        zw, zv = vec3.add(zw, cw), vec3.add(zv, cv)
    zw, zv = absorb(model, b, model.mobility_forces, zw, zv, True)
    zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
    if model.is_last_child[b] == 0:
        cw, cv = load_spatial(model.residual, p)
        zw, zv = vec3.add(zw, cw), vec3.add(zv, cv)
    store_spatial(model.residual, p, zw, zv)


@generic
def outward_step(model: Record, b: int, rates: bool) -> None:
    """udot and A of body b, and q_dot_dot if asked for *rates*. Its parent comes first."""
    p = model.parent[b]
    w, v = load_spatial(model.A_GB, p)
    w0, v0 = load_spatial(model.coriolis, p)
    w, v = spatial.shift_motion(vec3.sub(w, w0), vec3.sub(v, v0), load3(model.p_PB_G, b, 0))
    w, v = release(model, b, w, v, model.u_dot, True)
    w0, v0 = load_spatial(model.coriolis, b)
    store_spatial(model.A_GB, b, vec3.add(w, w0), vec3.add(v, v0))
    if rates:
        q_rates.find_q_dot_dot(model, b)


@generic
def outward_sweep(model: Record, rates: bool) -> None:
    """`outward_step` of all bodies; A and A0 of Ground stay at zero, as the record was made."""
    for b in range(1, model.nb):
        outward_step(model, b, rates)
