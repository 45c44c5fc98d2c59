"""Inverse dynamics of many rows of a motion in one compiled loop; without it Python takes most of the time."""

from __future__ import annotations

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from ..tree import inverse_dynamics
from ..tree.realize import DONE


@generic
def realize_row(model: Any, address: int, wanted: int, time: float, q: Any, u: Any) -> bool:
    """Realize the record at a row of a motion; false where that cannot be."""
    store(model.time, 0, 0, time)
    for k in range(model.nq):
        store(model.q, k, 0, q[k])
    for k in range(model.nu):
        store(model.u, k, 0, u[k])
    return bool(call_routine(address, model, 0, wanted) == DONE)


# fmt: off
@compiled
def sweep(
    block: Any, address: int, wanted: int, begin: int, end: int, time: Any, q: Any, u: Any, u_dot: Any,
    places: Any, loads: Any, R: Any, p: Any, V: Any, A: Any, F: Any, f: Any, residuals: Any,
) -> int:
    # fmt: on
    """Rows *begin* to *end*: poses, velocities, accelerations, body forces with the loads, and what is missing.

    Parameters
    ----------
    block : block of a State
        At INSTANCE; its time, q and u are changed.
    address, wanted : int
        How to realize it, and how far.
    begin, end : int
    time, q, u, u_dot : (nt,), (nt, n) arrays
    places : (nl, 4) array of int64
        Of each load: its body, the bodies in whose axes the force and the point are, and whether it is at a point.
    loads : (nl, nt, 9) array
        Force, point and torque.
    R, p, V, A, F : (nt, nb, 9), (nt, nb, 3), (nt, nb, 6) arrays
    f : (nu,) array
        Space for the generalized forces of a row.
    residuals : (nt, nu) array

    Returns
    -------
    int
        The rows that are done: below *end*, the next one cannot be realized.
    """
    model = attach(block)
    nb = model.nb
    for i in range(begin, end):
        if not realize_row(model, address, wanted, time[i], q[i], u[i]):
            return i
        for b in range(nb):
            for k in range(9):
                R[i, b, k] = load(model.R_GB, b, k)
            for k in range(3):
                p[i, b, k] = load(model.p_GB, b, k)
            for k in range(6):
                V[i, b, k] = load(model.V_GB, b, k)
                F[i, b, k] = load(model.body_forces, b, k)
        for k in range(model.nu):
            f[k] = load(model.mobility_forces, k, 0)
        for j in range(len(places)):
            b, axes, of_point, at_point = places[j, 0], places[j, 1], places[j, 2], places[j, 3]
            x = loads[j, i]
            force = mat33.mul_vec(R[i, axes], (x[0], x[1], x[2]))
            torque = mat33.mul_vec(R[i, axes], (x[6], x[7], x[8]))
            if at_point != 0:
                origin, own = p[i, of_point], p[i, b]
                arm = mat33.mul_vec(R[i, of_point], (x[3], x[4], x[5]))
                arm = vec3.add(vec3.sub((origin[0], origin[1], origin[2]), (own[0], own[1], own[2])), arm)
                torque = vec3.add(torque, vec3.cross(arm, force))
            for k in range(3):
                F[i, b, k] += torque[k]
                F[i, b, 3 + k] += force[k]
        inverse_dynamics.calc_residual_force(model, f, F[i], u_dot[i], residuals[i])
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, u_dot[i], A[i])
    return end
