"""Reactions: all that a mobilizer does to its body, by constraint and by applied mobility forces alike. Need accelerations.

    fast            F_B = P_B A'_B + Z_B           what `acceleration` found for the body and all that hangs on it
    by free bodies  F_B = m a_C, I_C alpha + w x I_C w at the mass center, less what is applied, plus what the children take

The first costs the same for one body as for each of all; the second goes through all that is outboard, and uses of the dynamics
nothing but A_GB. A' is the acceleration beyond that at udot = 0, Z the force to be balanced, see `acceleration`. Source: Jain
2011, section 7.3; Featherstone 2008, section 5.3.
"""

from typing import Any

from .._jit import compiled, generic
from ..algebra import articulated, mat33, spatial, sym33, vec3
from ..algebra.memory import add_spatial, load3, load6, load9, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, zero
from . import articulated_inertia, known, passes

#: Where a reaction acts, and on whom: on the body at its origin, at M; on the parent at F, at the parent's origin.
AT_BODY_ORIGIN, AT_M, ON_PARENT_AT_F, ON_PARENT_AT_ORIGIN = range(4)


@generic
def on_body(model: Any, b: int, stored: bool) -> Any:
    """The reaction on body b at its origin; on Ground what holds it. P is in its row of `articulated` if *stored*."""
    o = zero(load(model.p_GB, b, 0))
    zw, zv = (o, o, o), (o, o, o)
    if model.has_children[b] == 1:
        zw, zv = load_spatial(model.residual, b)
    if b > 0:
        torque0, force0 = load_spatial(model.centrifugal, b)
        torque, force = load_spatial(model.body_forces, b)
        zw, zv = vec3.add(zw, vec3.sub(torque0, torque)), vec3.add(zv, vec3.sub(force0, force))
        w, v = load_spatial(model.A_GB, b)
        w0, v0 = load_spatial(model.coriolis, b)
        w, v = vec3.sub(w, w0), vec3.sub(v, v0)
        if stored or model.together[b] < known.LOCKED:  # which keep P in any case
            J, F, M = articulated.load_articulated(model.articulated, b)
        else:
            J, F, M = articulated_inertia.of_body(model, b)
            if model.has_children[b] == 1:
                J2, F2, M2 = articulated.load_articulated(model.articulated, b)
                J, F, M = articulated.add(J, F, M, J2, F2, M2)
        torque, force = articulated.mul_vec(J, F, M, w, v)
        zw, zv = vec3.add(zw, torque), vec3.add(zv, force)
    return zw, zv


@generic
def to_outboard_frame(model: Any, b: int, torque: Any, force: Any) -> Any:
    """A force at the body's origin taken about M's."""
    return spatial.shift_force(torque, force, vec3.neg(load3(model.p_BM_G, b, 0)))


@compiled
def calc_reactions(block: Any, stored: bool, out: Any) -> None:
    """The reactions on all bodies at M; on Ground what holds it, at its origin."""
    model = attach(block)
    for b in range(model.nb):
        torque, force = on_body(model, b, stored)
        torque, force = to_outboard_frame(model, b, torque, force)
        store_spatial(out, b, torque, force)


@compiled
def find_reaction(block: Any, b: int, place: int, stored: bool, out: Any) -> None:
    """The reaction of one mobilizer, into one row; *place* is one of the numbers above."""
    model = attach(block)
    torque, force = on_body(model, b, stored)
    if place == AT_M:
        torque, force = to_outboard_frame(model, b, torque, force)
    elif place == ON_PARENT_AT_ORIGIN:
        torque, force = spatial.shift_force(torque, force, load3(model.p_PB_G, b, 0))
    elif place == ON_PARENT_AT_F:
        # p_FB_G = p_PB_G - R_GP p_PF
        p_PF_G = mat33.mul_vec(load9(model.R_GB, model.parent[b], 0), load3(model.p_PF, b, 0))
        torque, force = spatial.shift_force(torque, force, vec3.sub(load3(model.p_PB_G, b, 0), p_PF_G))
    if place >= ON_PARENT_AT_F:
        torque, force = vec3.neg(torque), vec3.neg(force)
    store_spatial(out, 0, torque, force)


@compiled
def calc_reactions_by_free_bodies(block: Any, out: Any) -> None:
    """The same as `calc_reactions`, each body by itself under all that acts on it, tips first."""
    model = attach(block)
    passes.clear(model.work_F, model.nb)
    for b in range(model.nb - 1, 0, -1):
        m, c, w = load(model.mass, b, 0), load3(model.com_G, b, 0), load3(model.V_GB, b, 0)
        alpha, a = load_spatial(model.A_GB, b)
        a = vec3.add(a, vec3.add(vec3.cross(alpha, c), vec3.cross(w, vec3.cross(w, c))))
        central = sym33.sub(load6(model.inertia_G, b, 0), sym33.point_mass(m, c))
        torque = vec3.add(sym33.mul_vec(central, alpha), vec3.cross(w, sym33.mul_vec(central, w)))
        torque, force = spatial.shift_force(torque, vec3.scale(m, a), c)
        applied_torque, applied_force = load_spatial(model.body_forces, b)
        children_torque, children_force = load_spatial(model.work_F, b)
        torque = vec3.add(vec3.sub(torque, applied_torque), children_torque)
        force = vec3.add(vec3.sub(force, applied_force), children_force)
        r = load3(model.p_BM_G, b, 0)
        torque, force = spatial.shift_force(torque, force, vec3.neg(r))
        store_spatial(out, b, torque, force)
        torque, force = spatial.shift_force(torque, force, vec3.add(load3(model.p_PB_G, b, 0), r))
        add_spatial(model.work_F, model.parent[b], torque, force)
    torque, force = load_spatial(model.work_F, 0)
    store_spatial(out, 0, torque, force)
