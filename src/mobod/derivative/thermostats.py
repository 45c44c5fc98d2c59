"""Derivatives of a thermostat's force, -c_0 M u: that of the bodies' momenta as wrenches, f = -c_0 J^T M_b V_b.

A momentum is carried along with its body, as the rigid sweep has applied forces, and is linear in the velocity: nothing is
evaluated. Beyond the sweep there are D_b = -c_0 M_b of each body, see `stiffness`, M u by c_0, and the rotors'.
"""

from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..force.thermostat import momentum
from ..state.fields import Record
from .local import OF_WRENCH

_D = OF_WRENCH // 2


@generic
def add_wrenches(model: Record, e: int, sign: float, F: Any) -> None:
    """The momenta of thermostat *e* as wrenches at the bodies' origins, added to *F* or, with -1, taken away."""
    c0 = sign * load(model.z, model.force_first_z[e], 0)
    for b in range(1, model.nb):
        h, p = momentum(model, b)
        add_spatial(F, b, vec3.scale(-c0, h), vec3.scale(-c0, p))


@generic
def differentiate(model: Record, e: int, F: Any, bodies: Any, columns: Any, C: Any, D: Any, T: Any) -> None:
    """Blocks added to *C*, the rotors' part to *D*, and M u to the column of c_0 in *T* if that has any; *F* is scratch."""
    z, o, nu = model.force_first_z[e], zero(load(model.time, 0, 0)), model.nu
    c0 = load(model.z, z, 0)
    for b in range(model.nb):
        store_spatial(F, b, (o, o, o), (o, o, o))
    for b in range(model.nb - 1, 0, -1):
        r, m = load3(bodies, b, 0), load(model.mass, b, 0)
        mc, inertia = vec3.scale(m, load3(model.com_G, b, 0)), load6(model.inertia_G, b, 0)
        for k in range(6):
            w = o + 1.0 * (k == 0), o + 1.0 * (k == 1), o + 1.0 * (k == 2)
            v = o + 1.0 * (k == 3), o + 1.0 * (k == 4), o + 1.0 * (k == 5)
            h, p = spatial.mul_inertia(m, mc, inertia, w, vec3.add(v, vec3.cross(w, r)))
            h = vec3.add(h, vec3.cross(r, p))
            for i in range(3):
                at, below = _D + 6 * i + k, _D + 18 + 6 * i + k
                store(C, b, at, load(C, b, at) - c0 * h[i])
                store(C, b, below, load(C, b, below) - c0 * p[i])
        h, p = momentum(model, b)
        add_spatial(F, b, vec3.add(h, vec3.cross(r, p)), p)
        h, p = load_spatial(F, b)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            rotor = load(model.rotor_inertia, i, 0)
            store(D, nu + i, i, load(D, nu + i, i) + c0 * rotor)
            if T.shape[1] > 0:
                along = vec3.dot(load3(columns, i, 0), h) + vec3.dot(load3(columns, i, 3), p)
                store(T, i, z, load(T, i, z) + along + rotor * load(model.u, i, 0))
        if model.parent[b] > 0:
            add_spatial(F, model.parent[b], h, p)
