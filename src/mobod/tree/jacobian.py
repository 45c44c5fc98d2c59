"""Jacobians: of the whole system, of stations and of frames; products, transposes, explicit, and their biases.

    V = J u, one spatial velocity a body; a station S on B has v_S = v_B + w_B x p_BS, a frame at S has (w_B; v_S)
    bias = Jdot u: accelerations at udot = 0

A product for many tasks is one sweep and a shift for each task. Source: Featherstone 2008, section 2.4; Jain 2011, section 3.5.
"""

from typing import Any

from ..algebra import mat33, spatial, vec3
from ..algebra.memory import add_spatial, load3, load9, load_spatial, store3, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import store
from ..compiling import compiled, generic
from ..state.fields import Record
from . import jacobian_sweeps


@compiled
def multiply_by_system_jacobian(block: Any, u: Any, V: Any) -> None:
    """V = J u."""
    jacobian_sweeps.outward(attach(block), u, V)


@compiled
def multiply_by_system_jacobian_transpose(block: Any, F: Any, f: Any) -> None:
    """f = J^T F."""
    model = attach(block)
    jacobian_sweeps.copy_rows(F, model.work_F, model.nb)
    jacobian_sweeps.inward(model, model.work_F, f)


@generic
def station_in_ground(model: Record, bodies: Any, stations: Any, t: int) -> Any:
    """p_BS of task t, in Ground."""
    return mat33.mul_vec(load9(model.R_GB, bodies[t], 0), load3(stations, t, 0))


@compiled
def multiply_by_frame_jacobian(block: Any, bodies: Any, stations: Any, u: Any, V: Any) -> None:
    """V[t] = (w; v_S) of each task; a station's Jacobian is the linear half."""
    model = attach(block)
    jacobian_sweeps.outward(model, u, model.work_A)
    for t in range(bodies.shape[0]):
        w, v = load_spatial(model.work_A, bodies[t])
        w, v = spatial.shift_motion(w, v, station_in_ground(model, bodies, stations, t))
        store_spatial(V, t, w, v)


@compiled
def multiply_by_frame_jacobian_transpose(block: Any, bodies: Any, stations: Any, F: Any, f: Any) -> None:
    """f = sum over tasks of J_t^T F[t]."""
    model = attach(block)
    jacobian_sweeps.clear(model.work_F, model.nb)
    for t in range(bodies.shape[0]):
        torque, force = load_spatial(F, t)
        torque, force = spatial.shift_force(torque, force, station_in_ground(model, bodies, stations, t))
        add_spatial(model.work_F, bodies[t], torque, force)
    jacobian_sweeps.inward(model, model.work_F, f)


@compiled
def calc_frame_jacobian(block: Any, bodies: Any, stations: Any, rows: int, J: Any) -> None:
    """J with *rows* a task: 6 for frames, or 3, the linear ones, for stations. J has to be zero at first.

    Only columns of mobilities between the body and Ground are not zero.
    """
    model = attach(block)
    for t in range(bodies.shape[0]):
        b = bodies[t]
        point = station_in_ground(model, bodies, stations, t)
        while b > 0:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                w, v = load_spatial(model.H, i)
                w, v = spatial.shift_motion(w, v, point)
                if rows == 6:
                    _column(J, 6 * t, i, w)
                _column(J, rows * t + rows - 3, i, v)
            point = vec3.add(point, load3(model.p_PB_G, b, 0))
            b = model.parent[b]


@generic
def _column(J: Any, row: int, i: int, v: Any) -> None:
    store(J, row, i, v[0])
    store(J, row + 1, i, v[1])
    store(J, row + 2, i, v[2])


@compiled
def calc_bias_for_frame_jacobian(block: Any, bodies: Any, stations: Any, bias: Any) -> None:
    """bias[t] = Jdot u of each task: (alpha0; a0 + alpha0 x p + w x (w x p)). Needs velocities."""
    model = attach(block)
    for t in range(bodies.shape[0]):
        b = bodies[t]
        p = station_in_ground(model, bodies, stations, t)
        alpha, a = load_spatial(model.coriolis, b)
        w = load3(model.V_GB, b, 0)
        a = vec3.add(vec3.add(a, vec3.cross(alpha, p)), vec3.cross(w, vec3.cross(w, p)))
        store3(bias, t, 0, alpha)
        store3(bias, t, 3, a)
