"""Products with the mass matrix and its inverse, in O(n). Need positions.

    M a = J^T M_B J a + R a   an outward and an inward sweep; R has the rotor inertias
    M^-1 f                    the passes of `acceleration` at rest, of the free mobilities

The matrices themselves are in `explicit_mass_matrix` and `inverse_mass_matrix`.
"""

from typing import Any

from ..algebra import spatial
from ..algebra.memory import add_spatial, load3, load_spatial, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from . import acceleration, jacobian_sweeps


@compiled
def multiply_by_m(block: Any, a: Any, f: Any) -> None:
    """f = M a."""
    model = attach(block)
    jacobian_sweeps.outward(model, a, model.work_A)
    jacobian_sweeps.clear(model.work_F, 1)
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, b)
        torque, force = jacobian_sweeps.inertia_times(model, b, w, v)
        store_spatial(model.work_F, b, torque, force)
    jacobian_sweeps.inward(model, model.work_F, f)
    jacobian_sweeps.add_rotors(model, a, f)


@generic
def solve(model: Record, f: Any, a: Any) -> None:
    """a = M^-1 f, M that of the free mobilities; a is zero at prescribed ones, where f is not read."""
    jacobian_sweeps.clear(model.work_F, model.nb)
    for b in range(model.nb - 1, 0, -1):
        zw, zv = load_spatial(model.work_F, b)
        zw, zv = acceleration.absorb(model, b, f, zw, zv, False)
        zw, zv = spatial.shift_force(zw, zv, load3(model.p_PB_G, b, 0))
        add_spatial(model.work_F, model.parent[b], zw, zv)
    o = zero(load(model.p_GB, 0, 0))
    store_spatial(model.work_A, 0, (o, o, o), (o, o, o))
    for b in range(1, model.nb):
        w, v = load_spatial(model.work_A, model.parent[b])
        w, v = spatial.shift_motion(w, v, load3(model.p_PB_G, b, 0))
        w, v = acceleration.release(model, b, w, v, a, False)
        store_spatial(model.work_A, b, w, v)


@compiled
def multiply_by_m_inv(block: Any, f: Any, a: Any) -> None:
    """a = M^-1 f."""
    solve(attach(block), f, a)
