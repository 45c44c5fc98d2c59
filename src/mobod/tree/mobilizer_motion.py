"""Velocity and acceleration of one body's M in its F, expressed in F.

V_FM = H_FM u     A_FM = H_FM udot + HDot_FM u
"""

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load_spatial, store3
from ..algebra.record import attach
from ..algebra.scalar import load, zero
from ..compiling import compiled, generic
from ..state.fields import Record


@generic
def combination(model: Record, b: int, rows: Any, factors: Any) -> Any:
    """The sum of body b's columns times their factors."""
    o = zero(load(model.p_GB, 0, 0))
    w, v = (o, o, o), (o, o, o)
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        x = load(factors, i, 0)
        hw, hv = load_spatial(rows, i)
        w, v = vec3.add_scaled(w, x, hw), vec3.add_scaled(v, x, hv)
    return w, v


@compiled
def find_velocity(block: Any, b: int, out: Any) -> None:
    """V_FM of body b into two rows, angular and linear. Needs velocities."""
    model = attach(block)
    w, v = combination(model, b, model.H_FM, model.u)
    store3(out, 0, 0, w)
    store3(out, 1, 0, v)


@compiled
def find_acceleration(block: Any, b: int, out: Any) -> None:
    """A_FM of body b into two rows. Needs accelerations."""
    model = attach(block)
    w, v = combination(model, b, model.H_FM, model.u_dot)
    w2, v2 = load_spatial(model.bias_FM, b)
    store3(out, 0, 0, vec3.add(w, w2))
    store3(out, 1, 0, vec3.add(v, v2))
