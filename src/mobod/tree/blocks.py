"""Mobilizers that let M turn or move in every way: their three or six mobilities met together, about M's origin.

A body of which all rotations about M's origin are free (a Ball) transmits no torque but what is applied. With the articulated
inertia P = [J F; F^T M] about M's origin, in Ground, and K = J^-1 F, the recursion of `acceleration` is

    P+ = [0 0; 0 M - F^T K]       Z+ = (tau; z_v + K^T (tau - z_w))       w' = J^-1 (tau - z_w) - K v'

for z = (z_w; z_v) the force to be balanced and tau the applied torque; w' is the angular acceleration in Ground, whatever the
parent's, so that the mobilizer's axes matter only at the ends: tau = R_GF f, udot = R_GF^T (w' - w'_P). A Free mobilizer does
the same with what is left of M, and hands nothing but applied forces to its parent. Derived from Featherstone 2008, section 7.
In the rows of `gain`: J^-1 in the first, K in the next two, in the fourth the inverse of what was left of M.
"""

from typing import Any

from .._jit import generic
from ..algebra import articulated, mat33, sym33, vec3
from ..algebra.memory import load3, load6, store3, store6
from ..algebra.scalar import store
from ..mobilizer._access import put3, vector3

#: Three mobilities, about the axes of F.
ROTATIONS = 1
#: Six: about the axes of F, and along them.
FREE = 2


@generic
def axes(model: Any, i: int) -> Any:
    """The axes of F, which are columns i to i + 2 of H, as R_GF by columns: its transpose by rows."""
    x, y, z = load3(model.H, i, 0), load3(model.H, i + 1, 0), load3(model.H, i + 2, 0)
    return *x, *y, *z


@generic
def eliminate(model: Any, b: int, J: Any, F: Any, M: Any) -> Any:
    """Free the mobilities of body b with inertia (J, F, M) about its origin; what is left, about M's origin, is linear."""
    i = model.first_u[b]
    if model.plain_outboard[b] == 0:
        J, F, M = articulated.shift(J, F, M, vec3.neg(load3(model.p_BM_G, b, 0)))
    M, J_inverse, K, d_inverse = articulated.eliminate_rotations(J, F, M)
    store6(model.gain, i, 0, J_inverse)
    store6(model.gain, i + 1, 0, (K[0], K[1], K[2], K[3], K[4], K[5]))
    store3(model.gain, i + 2, 0, (K[6], K[7], K[8]))
    store(model.d_inverse, i + 2, 0, d_inverse)
    if model.together[b] == FREE:
        M_inverse, d_inverse = sym33.inverse(M)
        store6(model.gain, i + 3, 0, M_inverse)
        store(model.d_inverse, i + 5, 0, d_inverse)
    return M


@generic
def load_K(model: Any, i: int) -> Any:
    """K, from the rows of `gain`."""
    a, b, c, d, e, f = load6(model.gain, i + 1, 0)
    g, h, k = load3(model.gain, i + 2, 0)
    return a, b, c, d, e, f, g, h, k


@generic
def absorb(model: Any, b: int, f: Any, zw: Any, zv: Any) -> Any:
    """`acceleration.absorb` of a block."""
    i = model.first_u[b]
    r, R_FG, K = load3(model.p_BM_G, b, 0), axes(model, i), load_K(model, i)
    tau = mat33.transpose_mul_vec(R_FG, vector3(f, i))
    rest = vec3.sub(tau, vec3.sub(zw, vec3.cross(r, zv)))
    put3(model.epsilon, i, sym33.mul_vec(load6(model.gain, i, 0), rest))
    zv = vec3.add(zv, mat33.transpose_mul_vec(K, rest))
    if model.together[b] == FREE:
        force = mat33.transpose_mul_vec(R_FG, vector3(f, i + 3))
        put3(model.epsilon, i + 3, sym33.mul_vec(load6(model.gain, i + 3, 0), vec3.sub(force, zv)))
        zv = force
    return vec3.add(tau, vec3.cross(r, zv)), zv


@generic
def release(model: Any, b: int, w: Any, v: Any, udot: Any) -> Any:
    """`acceleration.release` of a block."""
    i = model.first_u[b]
    r, R_FG = load3(model.p_BM_G, b, 0), axes(model, i)
    v = vec3.add(v, vec3.cross(w, r))
    if model.together[b] == FREE:
        own = vector3(model.epsilon, i + 3)
        put3(udot, i + 3, mat33.mul_vec(R_FG, vec3.sub(own, v)))
        v = own
    own = vec3.sub(vector3(model.epsilon, i), mat33.mul_vec(load_K(model, i), v))
    put3(udot, i, mat33.mul_vec(R_FG, vec3.sub(own, w)))
    return own, vec3.add(v, vec3.cross(r, own))
