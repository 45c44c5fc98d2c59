"""The passes that operators are made of: motions outward, forces inward, both without velocities. Need positions.

outward   A_B = phi^T A_P + H a         the system Jacobian J: a to body motions
inward    f = H^T F, F_P += phi F       its transpose: body forces to generalized forces
"""

from typing import Any

from .._jit import generic
from ..algebra import mat33, spatial, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero
from ..mobilizer._access import put3, vector3
from . import blocks


@generic
def across(model: Any, b: int, a: Any, w: Any, v: Any) -> Any:
    """(w; v) of the parent's, at the body's origin, and with H a: of the body."""
    first = model.first_u[b]
    if model.together[b] > 0 and model.together[b] < blocks.MOVING:  # three axes, of which both halves of a Free's columns are
        W_transposed, r = blocks.axes(model, first), load3(model.p_BM_G, b, 0)
        own = mat33.transpose_mul_vec(W_transposed, vector3(a, first))
        w, v = vec3.add(w, own), vec3.add(v, vec3.cross(r, own))
        if model.together[b] == blocks.FREE:
            v = vec3.add(v, mat33.transpose_mul_vec(W_transposed, vector3(a, first + 3)))
    else:
        for i in range(first, first + model.num_u[b]):
            x = load(a, i, 0)
            w = vec3.add_scaled(w, x, load3(model.H, i, 0))
            v = vec3.add_scaled(v, x, load3(model.H, i, 3))
    return w, v


@generic
def along(model: Any, b: int, torque: Any, force: Any, f: Any) -> None:
    """f = H^T (torque; force) of body b's mobilities."""
    first = model.first_u[b]
    if model.together[b] > 0 and model.together[b] < blocks.MOVING:
        W_transposed, r = blocks.axes(model, first), load3(model.p_BM_G, b, 0)
        put3(f, first, mat33.mul_vec(W_transposed, vec3.sub(torque, vec3.cross(r, force))))
        if model.together[b] == blocks.FREE:
            put3(f, first + 3, mat33.mul_vec(W_transposed, force))
    else:
        for i in range(first, first + model.num_u[b]):
            store(f, i, 0, vec3.dot(load3(model.H, i, 0), torque) + vec3.dot(load3(model.H, i, 3), force))


@generic
def outward(model: Any, a: Any, motions: Any) -> None:
    """motions = J a, one row of six a body."""
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(motions, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(motions, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = across(model, b, a, w, v)
        store_spatial(motions, b, w, v)


@generic
def inward(model: Any, forces: Any, f: Any) -> None:
    """f = J^T forces; the rows of *forces* gather what hangs on each body, Ground's all."""
    for b in range(model.nb - 1, 0, -1):
        t, s = load_spatial(forces, b)
        along(model, b, t, s, f)
        t, s = spatial.shift_force(t, s, load3(model.p_PB_G, b, 0))
        add_spatial(forces, model.parent[b], t, s)


@generic
def inertia_times(model: Any, b: int, w: Any, v: Any) -> Any:
    """M_B (w; v), of the body alone."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    return spatial.mul_inertia(m, mc, load6(model.inertia_G, b, 0), w, v)


@generic
def clear(rows: Any, n: int) -> None:
    """n rows of six zeros."""
    for b in range(n):
        for column in range(6):
            store(rows, b, column, 0.0)


@generic
def copy_rows(source: Any, target: Any, n: int) -> None:
    """n rows of six, but Ground's, which becomes zero."""
    clear(target, 1)
    for b in range(1, n):
        w, v = load_spatial(source, b)
        store_spatial(target, b, w, v)
