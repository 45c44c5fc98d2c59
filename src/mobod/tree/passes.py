"""The passes that operators are made of: motions outward, forces inward, both without velocities. Need positions.

outward   A_B = phi^T A_P + H a         the system Jacobian J: a to body motions
inward    f = H^T F, F_P += phi F       its transpose: body forces to generalized forces
"""

from typing import Any

from .._jit import generic
from ..algebra import spatial, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero


@generic
def outward(model: Any, a: Any, motions: Any) -> None:
    """motions = J a, one row of six a body."""
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(motions, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(motions, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            x = load(a, i, 0)
            w = vec3.add_scaled(w, x, load3(model.H, i, 0))
            v = vec3.add_scaled(v, x, load3(model.H, i, 3))
        store_spatial(motions, b, w, v)


@generic
def inward(model: Any, forces: Any, f: Any) -> None:
    """f = J^T forces; the rows of *forces* gather what hangs on each body, Ground's all."""
    for b in range(model.nb - 1, 0, -1):
        t, s = load_spatial(forces, b)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            store(f, i, 0, vec3.dot(load3(model.H, i, 0), t) + vec3.dot(load3(model.H, i, 3), s))
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
