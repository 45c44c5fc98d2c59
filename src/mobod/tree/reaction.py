"""Reactions: forces of mobilizers on their bodies, of constraint and of applied mobility forces alike. Need accelerations.

    fast            F_B = P A' + Z, with Z and A' as in `acceleration`
    by free bodies  F_B = (I_C alpha + w x I_C w; m a_C) at the mass center, less applied forces, plus reactions on the children

Ground, at rest, is held against what is applied to it and what its children take: 0 = reaction + applied - children. The first
finds single bodies as fast as all of them. The second sweeps the outboard subtree, and uses of the dynamics A_GB alone. Source:
Jain 2011, section 7.3; Featherstone 2008, section 5.3.
"""

from typing import Any

from ..algebra import articulated, mat33, spatial, sym33, vec3
from ..algebra.memory import add_spatial, load3, load6, load9, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load
from ..compiling import compiled, generic
from ..state.fields import Record
from . import articulated_inertia, jacobian_sweeps
from .prescribed_mobilities import ZERO

#: Where a reaction is taken: on the body at its origin, or at M; on the parent at F, or at its origin.
AT_BODY_ORIGIN, AT_M, ON_PARENT_AT_F, ON_PARENT_AT_ORIGIN = range(4)


@generic
def on_body(model: Record, b: int, stored: bool) -> Any:
    """The reaction on body b at its origin; Ground's is what holds it. *stored*: rows of `articulated` are P."""
    torque, force = load_spatial(model.body_forces, b)
    zw, zv = vec3.neg(torque), vec3.neg(force)
    if model.has_children[b] == 1:
        torque, force = load_spatial(model.residual, b)
        zw, zv = vec3.add(zw, torque), vec3.add(zv, force)
    if b > 0:
        torque, force = load_spatial(model.centrifugal, b)
        zw, zv = vec3.add(zw, torque), vec3.add(zv, force)
        w, v = load_spatial(model.A_GB, b)
        w0, v0 = load_spatial(model.coriolis, b)
        w, v = vec3.sub(w, w0), vec3.sub(v, v0)
        if stored or model.prescribed[b] > ZERO:  # whose row is P in any case
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
def to_outboard_frame(model: Record, b: int, torque: Any, force: Any) -> Any:
    """Shift a force from the body's origin to M's."""
    return spatial.shift_force(torque, force, vec3.neg(load3(model.p_BM_G, b, 0)))


@compiled
def calc_reactions(block: Any, stored: bool, out: Any) -> None:
    """The reactions on all bodies at M; on Ground at its origin."""
    model = attach(block)
    for b in range(model.nb):
        torque, force = on_body(model, b, stored)
        torque, force = to_outboard_frame(model, b, torque, force)
        store_spatial(out, b, torque, force)


@compiled
def find_reaction(block: Any, b: int, place: int, stored: bool, out: Any) -> None:
    """The reaction of one mobilizer at *place*, into one row."""
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
    """`calc_reactions` by free bodies, tip to base."""
    model = attach(block)
    jacobian_sweeps.clear(model.work_F, model.nb)
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
    applied_torque, applied_force = load_spatial(model.body_forces, 0)
    store_spatial(out, 0, vec3.sub(torque, applied_torque), vec3.sub(force, applied_force))
