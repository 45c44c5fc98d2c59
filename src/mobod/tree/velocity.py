"""Velocities, base to tip, and the part of accelerations and forces that depends on u alone. Needs positions and u.

    V_GB = phi^T V_GP + H u       phi^T shifts from the parent's origin to the body's
    a_B = [wP x w; wP x (v_B - v_P) + wP x v] + HDot_PB u      (w; v) = H u, the velocity of B in P
    A0_B = phi^T A0_P + a_B       total Coriolis acceleration: that of B if all udot were zero
    F0_B = M_B A0_B + [w_B x I w_B; m w_B x (w_B x c)]         the force that A0 takes, gyroscopic force included

With A = A0 + A', the balance M A + gyroscopic - applied = M A' + (F0 - applied) is that of a system at rest, and no sweep needs
the product of an articulated inertia and an acceleration. Jain 2011, section 7.2, has a_B inside the recursion instead; so has
Featherstone 2008, table 7.1.
"""

from ..algebra import mat33, spatial, sym33, vec3
from ..algebra.memory import load3, load6, load9, load_spatial, store_spatial
from ..algebra.scalar import load, zero
from ..compiling import generic
from ..mobilizer import _dispatch, _rates
from ..mobilizer.access import vector3
from ..state.fields import Record
from . import block_elimination
from .block_elimination import BALL, FREE, GENERAL_FREE


@generic
def step(model: Record, b: int, row: int, rates: bool) -> None:
    """V, A0 and F0 of body b, and q_dot if asked for *rates*. Its parent comes first."""
    p, first = model.parent[b], model.first_u[b]
    end = first + model.num_u[b]
    if rates:
        _rates.find_q_dot(model, b)
    wP, vP = load_spatial(model.V_GB, p)
    o = zero(wP[0])
    w_PB, v_PB = (o, o, o), (o, o, o)
    r, p_BM_G = load3(model.p_PB_G, b, 0), load3(model.p_BM_G, b, 0)
    if model.elimination[b] >= BALL and model.elimination[b] < GENERAL_FREE:
        W_transposed = block_elimination.axes(model, first)
        w_PB = mat33.transpose_mul_vec(W_transposed, vector3(model.u, first))
        v_PB = vec3.cross(p_BM_G, w_PB)
        if model.elimination[b] == FREE:
            v_PB = vec3.add(v_PB, mat33.transpose_mul_vec(W_transposed, vector3(model.u, first + 3)))
    else:
        for i in range(first, end):
            u = load(model.u, i, 0)
            w_PB = vec3.add_scaled(w_PB, u, load3(model.H, i, 0))
            v_PB = vec3.add_scaled(v_PB, u, load3(model.H, i, 3))
    v_shift = vec3.add(vec3.cross(wP, r), v_PB)  # v_B - v_P
    w, v = vec3.add(wP, w_PB), vec3.add(vP, v_shift)
    store_spatial(model.V_GB, b, w, v)

    a_w, a_v = (o, o, o), vec3.cross(wP, v_shift)
    if end > first:
        # the columns turn with F, while their origin M moves with B: the shift from M to B adds w_PB x (w_PB x p_BM)
        a_w = vec3.cross(wP, w_PB)
        a_v = vec3.add(a_v, vec3.sub(vec3.cross(wP, v_PB), vec3.cross(w_PB, vec3.cross(w_PB, p_BM_G))))
    if model.has_hinge_dot[b] == 1:
        _dispatch.velocity(model, b, row)
        R_GP, R_PF = load9(model.R_GB, p, 0), load9(model.R_PF, b, 0)
        hw, hv = load_spatial(model.bias_FM, b)
        hw_G = mat33.mul_vec(R_GP, mat33.mul_vec(R_PF, hw))
        hv_G = mat33.mul_vec(R_GP, mat33.mul_vec(R_PF, hv))
        a_w = vec3.add(a_w, hw_G)
        a_v = vec3.add(a_v, vec3.sub(hv_G, vec3.cross(hw_G, p_BM_G)))
    alpha_P, a_P = load_spatial(model.coriolis, p)
    alpha = vec3.add(alpha_P, a_w)
    a = vec3.add(vec3.add(a_P, vec3.cross(alpha_P, r)), a_v)
    store_spatial(model.coriolis, b, alpha, a)

    if model.massless[b] == 1:
        return
    m = load(model.mass, b, 0)
    mc, inertia = vec3.scale(m, load3(model.com_G, b, 0)), load6(model.inertia_G, b, 0)
    torque, force = spatial.mul_inertia(m, mc, inertia, alpha, a)
    torque = vec3.add(torque, vec3.cross(w, sym33.mul_vec(inertia, w)))
    force = vec3.add(force, vec3.cross(w, vec3.cross(w, mc)))
    store_spatial(model.centrifugal, b, torque, force)
