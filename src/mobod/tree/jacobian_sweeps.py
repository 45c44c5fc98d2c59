"""The sweeps by the system Jacobian J and its transpose, of which most operators are made. Need positions.

outward   A = phi^T A_P + H a           J a: body motions
inward    f = H^T F,  F_P += phi F      J^T F: generalized forces
"""

from typing import Any

from ..algebra import mat33, spatial, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..mobilizer.access import put3, vector3
from ..state.fields import Record
from . import block_elimination
from .block_elimination import BALL, FREE, GENERAL_FREE


@generic
def across(model: Record, b: int, a: Any, w: Any, v: Any) -> Any:
    """Outward step: (w; v) + H a, for (w; v) the parent's motion at the body's origin."""
    first = model.first_u[b]
    if model.elimination[b] >= BALL and model.elimination[b] < GENERAL_FREE:  # all columns are made of three axes
        W_transposed, r = block_elimination.axes(model, first), load3(model.p_BM_G, b, 0)
        own = mat33.transpose_mul_vec(W_transposed, vector3(a, first))
        w, v = vec3.add(w, own), vec3.add(v, vec3.cross(r, own))
        if model.elimination[b] == FREE:
            v = vec3.add(v, mat33.transpose_mul_vec(W_transposed, vector3(a, first + 3)))
    else:
        for i in range(first, first + model.num_u[b]):
            x = load(a, i, 0)
            w = vec3.add_scaled(w, x, load3(model.H, i, 0))
            v = vec3.add_scaled(v, x, load3(model.H, i, 3))
    return w, v


@generic
def along(model: Record, b: int, torque: Any, force: Any, f: Any) -> None:
    """Inward step: f = H^T (torque; force) at body b."""
    first = model.first_u[b]
    if model.elimination[b] >= BALL and model.elimination[b] < GENERAL_FREE:
        W_transposed, r = block_elimination.axes(model, first), load3(model.p_BM_G, b, 0)
        put3(f, first, mat33.mul_vec(W_transposed, vec3.sub(torque, vec3.cross(r, force))))
        if model.elimination[b] == FREE:
            put3(f, first + 3, mat33.mul_vec(W_transposed, force))
    else:
        for i in range(first, first + model.num_u[b]):
            store(f, i, 0, vec3.dot(load3(model.H, i, 0), torque) + vec3.dot(load3(model.H, i, 3), force))


@generic
def outward(model: Record, a: Any, motions: Any) -> None:
    """motions = J a, a row a body."""
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(motions, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(motions, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = across(model, b, a, w, v)
        store_spatial(motions, b, w, v)


@generic
def inward(model: Record, forces: Any, f: Any) -> None:
    """f = J^T forces; each row of *forces* becomes the sum over the body's outboard subtree, shifted to its origin."""
    for b in range(model.nb - 1, 0, -1):
        t, s = load_spatial(forces, b)
        along(model, b, t, s, f)
        t, s = spatial.shift_force(t, s, load3(model.p_PB_G, b, 0))
        add_spatial(forces, model.parent[b], t, s)


@generic
def inertia_times(model: Record, b: int, w: Any, v: Any) -> Any:
    """M_B (w; v)."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    return spatial.mul_inertia(m, mc, load6(model.inertia_G, b, 0), w, v)


@generic
def add_rotors(model: Record, a: Any, f: Any) -> None:
    """Add the rotor inertias times a to f."""
    for i in range(model.nu):
        store(f, i, 0, load(f, i, 0) + load(model.rotor_inertia, i, 0) * load(a, i, 0))


@generic
def clear(rows: Any, n: int) -> None:
    """n rows of six zeros."""
    for b in range(n):
        for column in range(6):
            store(rows, b, column, 0.0)


@generic
def copy_rows(source: Any, target: Any, n: int) -> None:
    """n rows of six; Ground's becomes zero."""
    clear(target, 1)
    for b in range(1, n):
        w, v = load_spatial(source, b)
        store_spatial(target, b, w, v)
