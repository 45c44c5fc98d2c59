"""Derivatives of a thermostat's force, -c_0 M u: the rigid sweep has it, as inertial forces at udot + c_0 u.

Positions change M (udot + c_0 u) as they change M udot. Beyond that there are c_0 M by u, and M u by c_0; M is with rotors.
What the sweep leaves of accelerations by q, c + c_0 a, becomes c again, for constraints.
"""

from typing import Any

from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..state.fields import Record
from .sweep import BY_Q, BY_U, SPEED


@generic
def put_motion(model: Record, e: int, u_dot: Any, A: Any, faster: Any, of_bodies: Any) -> None:
    """udot + c_0 u of thermostat *e*, and the accelerations of bodies with it."""
    c0 = load(model.z, model.force_first_z[e], 0)
    for i in range(model.nu):
        store(faster, i, 0, load(u_dot, i, 0) + c0 * load(model.u, i, 0))
    for b in range(model.nb):
        for i in range(6):
            store(of_bodies, b, i, load(A, b, i) + c0 * load(model.V_GB, b, i))


@generic
def differentiate(model: Record, e: int, M: Any, columns: Any, D: Any, T: Any, work: Any) -> None:
    """Terms beyond the sweep, added to *D*, and to the column of c_0 in *T* if that has any; *work* is scratch.

    *columns*, S, a, c by q and c by u by mobility, become those of udot alone.
    """
    z, nu = model.force_first_z[e], model.nu
    c0, o = load(model.z, z, 0), zero(load(model.time, 0, 0))
    for i in range(nu):
        store(work, i, 0, o)
    for i in range(nu):
        for j in range(BY_Q, BY_U):
            store(columns, i, j, load(columns, i, j) - c0 * load(columns, i, j - BY_Q + SPEED))
        u = load(model.u, i, 0)
        for j in range(nu):
            store(D, nu + i, j, load(D, nu + i, j) + c0 * load(M, i, j))
            store(work, j, 0, load(work, j, 0) + load(M, i, j) * u)
    for i in range(nu if T.shape[1] > 0 else 0):
        store(T, i, z, load(T, i, z) + load(work, i, 0))
