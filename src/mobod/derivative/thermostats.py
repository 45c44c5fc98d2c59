"""Derivatives of thermostats' forces, -c_0 M u: the rigid sweep has them, as inertial forces at udot + c_0 u.

c_0 is the sum of theirs. Positions change M (udot + c_0 u) as they change M udot. Beyond that there are c_0 M by u, and M u by
each one's c_0; M is with rotors.
What the sweep leaves of accelerations by q, c + c_0 a, becomes c again, for constraints.
"""

from typing import Any

from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..state.fields import Record
from .sweep import BY_Q, BY_U, SPEED


@generic
def _sum_of_rates(model: Record, elements: Any) -> Any:
    """c_0 of all thermostats together."""
    c0 = load(model.z, model.force_first_z[elements[0]], 0)
    for k in range(1, elements.shape[0]):
        c0 = c0 + load(model.z, model.force_first_z[elements[k]], 0)
    return c0


@generic
def put_motion(model: Record, elements: Any, u_dot: Any, A: Any, faster: Any, of_bodies: Any) -> None:
    """udot + c_0 u of the thermostats among *elements*, and the accelerations of bodies with it."""
    c0 = _sum_of_rates(model, elements)
    for i in range(model.nu):
        store(faster, i, 0, load(u_dot, i, 0) + c0 * load(model.u, i, 0))
    for b in range(model.nb):
        for i in range(6):
            store(of_bodies, b, i, load(A, b, i) + c0 * load(model.V_GB, b, i))


@generic
def differentiate(model: Record, elements: Any, M: Any, columns: Any, D: Any, T: Any, work: Any) -> None:
    """Terms beyond the sweep, added to *D*, and to the columns of each c_0 in *T* if that has any; *work* is scratch.

    *columns*, S, a, c by q and c by u by mobility, become those of udot alone.
    """
    nu, c0, o = model.nu, _sum_of_rates(model, elements), zero(load(model.time, 0, 0))
    for i in range(nu):
        store(work, i, 0, o)
    for i in range(nu):
        for j in range(BY_Q, BY_U):
            store(columns, i, j, load(columns, i, j) - c0 * load(columns, i, j - BY_Q + SPEED))
        u = load(model.u, i, 0)
        for j in range(nu):
            store(D, nu + i, j, load(D, nu + i, j) + c0 * load(M, i, j))
            store(work, j, 0, load(work, j, 0) + load(M, i, j) * u)
    for k in range(elements.shape[0] if T.shape[1] > 0 else 0):
        z = model.force_first_z[elements[k]]
        for i in range(nu):
            store(T, i, z, load(T, i, z) + load(work, i, 0))
