"""Accelerations under given forces in place of the state's own. Needs velocities and articulated inertias.

The recursion of `acceleration` on the caller's arrays: the state's own forces and accelerations stay as they are.
"""

from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import add_spatial, load3, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, zero
from ..compiling import compiled
from . import acceleration, jacobian_sweeps, prescribe


@compiled
def calc_acceleration(block: Any, f: Any, F: Any, udot: Any, A: Any) -> None:
    """udot and A_GB under forces f on the mobilities and F on the bodies."""
    model = attach(block)
    prescribe.sweep(model)
    jacobian_sweeps.clear(model.work_F, model.nb)
    for b in range(model.nb - 1, 0, -1):
        zw, zv = load_spatial(model.work_F, b)
        zw0, zv0 = load_spatial(model.centrifugal, b)
        torque, force = load_spatial(F, b)
        zw = vec3.add(zw, vec3.sub(zw0, torque))
        zv = vec3.add(zv, vec3.sub(zv0, force))
        zw, zv = acceleration.absorb(model, b, f, zw, zv, True)
        zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
        add_spatial(model.work_F, model.parent[b], zw, zv)
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    store_spatial(A, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = acceleration.release(model, b, w, v, udot, True)
        store_spatial(model.work_A, b, w, v)
        w0, v0 = load_spatial(model.coriolis, b)
        store_spatial(A, b, vec3.add(w, w0), vec3.add(v, v0))
