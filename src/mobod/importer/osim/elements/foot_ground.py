"""Springs with friction between stations and the floor y = 0 of Ground, everywhere smooth: OpenSim's MeyerFregly2016Force.

With x and v the station's location and velocity in Ground, y = 0.7 tanh((x_y - y_0) / 0.7), u the speed along the floor:

    N = (1 - c v_y) s (L(y) - v y - L(y_max) + v y_max)       L(y) = w log cosh((y + h) / w)
    F = -N (mu_d tanh(u / u_l) + mu_v u) (v_x, 0, v_z) / (u + 1e-4)

    s = (k - k_0) / 2   v = (k + k_0) / (k - k_0)   k_0 = 0.1   h = w = 1e-3   y_max = 0.01

The opposite force acts on Ground at the same place. Source: Meyer, Eskinazi, Jackson, Rao, Patten and Fregly 2016, Frontiers in
Bioengineering and Biotechnology 4, 77, as in OpenSim 4.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra import mat33, vec3
from ....algebra.arrays import ArrayLike
from ....algebra.memory import add_spatial, load3, load9, load_spatial
from ....algebra.scalar import exp, log, sqrt, where, zero
from ....compiling import Routine, generic
from ....force.base import Force, body_index
from ....force.pools import number, numbers3
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....mobilizer.base import MobilizedBody

LOW, H, W, HIGHEST, LIMIT, SLIP = 0.1, 1e-3, 1e-3, 0.01, 0.7, 1e-4


@generic
def _tanh(x: Any) -> Any:
    e = exp(-2.0 * where(x < 0.0, -x, x))
    t = (1.0 - e) / (1.0 + e)
    return where(x < 0.0, -t, t)


@generic
def _log_cosh(x: Any) -> Any:
    x = where(x < 0.0, -x, x)
    return x + log(1.0 + exp(-2.0 * x))  # less log 2, which differences do not see


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: the station, k, c, y_0, mu_d, mu_v, u_l. Integer: the body."""
    b = model.force_integers[integers]
    arm = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, numbers))
    x = vec3.add(load3(model.p_GB, b, 0), arm)
    w, v = load_spatial(model.V_GB, b)
    v = vec3.add(v, vec3.cross(w, arm))
    k, c, rest = number(model, numbers + 3), number(model, numbers + 4), number(model, numbers + 5)
    s, slope = 0.5 * (k - LOW), (k + LOW) / (k - LOW)
    y = LIMIT * _tanh((x[1] - rest) / LIMIT)
    rise = W * (_log_cosh((y + H) / W) - _log_cosh((HIGHEST + H) / W + 0.0 * y))
    N = s * (rise - slope * (y - HIGHEST)) * (1.0 - c * v[1])
    square = v[0] * v[0] + v[2] * v[2]
    moves = square > 1e-300  # at rest a root has no derivative
    u = where(moves, sqrt(where(moves, square, zero(square) + 1.0)), zero(square))
    friction = number(model, numbers + 6) * _tanh(u / number(model, numbers + 8)) + number(model, numbers + 7) * u
    drag = -N * friction / (u + SLIP)
    f = (drag * v[0], N, drag * v[2])
    add_spatial(model.body_forces, b, vec3.cross(arm, f), f)
    g = vec3.neg(f)
    add_spatial(model.body_forces, 0, vec3.cross(x, g), g)


class FootGround(Force):
    """A smooth spring between a station and the floor, with friction.

    Parameters
    ----------
    forces : GeneralForceSubsystem
    body : MobilizedBody
    station : (3,) array_like
    stiffness, dissipation, resting_length, dynamic_friction, viscous_friction, latch_velocity : float
        k, c, y_0, mu_d, mu_v and u_l.
    """

    routine: Routine | None = by_address(add)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        station: ArrayLike,
        stiffness: float,
        dissipation: float,
        resting_length: float,
        dynamic_friction: float,
        viscous_friction: float,
        latch_velocity: float,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [body_index(forces, "the body that touches the floor", body)]
        own = (stiffness, dissipation, resting_length, dynamic_friction, viscous_friction, latch_velocity)
        self.default_numbers = [float(one) for one in (*np.asarray(station).tolist(), *own)]
