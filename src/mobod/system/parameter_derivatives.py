"""Derivatives of u_dot by numbers of the model, from those of residual and constraint errors at its u_dot and multipliers.

    d(udot) = -M^-1 d(residual)        residual = Y (m, m c, I) + rotor inertias udot - forces + G^T lambda

With the regressor Y columns by inertial parameters are exact, and cost little: by m, with c held, Y_m + Y_mc c, by c m Y_mc.
Other parameters take differences of fourth order, exact to rounding where the residual is linear in them, as in stiffnesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..force.gravity_compensation import GravityCompensation
from ..force.thermostat import Thermostat
from ..value.stage import Stage
from . import tangents
from .differences import along
from .settings import Setting

if TYPE_CHECKING:
    from ..state.state import State

#: Forces, beside gravity, that depend on the bodies' masses.
_WEIGHING = (GravityCompensation, Thermostat)


def by_settings(system: Any, state: State, settings: list[Setting]) -> Array:
    """Derivatives of u_dot by settings, a column a number. Needs ACCELERATION."""
    tree = state.tree
    size = sum(setting.size for setting in settings)
    residual, errors = np.zeros((tree.nu, size)), np.zeros((tree.counts["num_rows"], size))
    enabled = state.field("force_enabled")
    weighed = system.is_interpreted or any(
        isinstance(force, _WEIGHING) and enabled[force.element] for force in system.all_forces()
    )
    equations, Y, first = None, None, 0
    for setting in settings:
        place = slice(first, first + setting.size)
        first += setting.size
        if setting.inertial is not None and not weighed:
            if Y is None:
                Y = system.get_matter_subsystem().calc_inertial_parameter_regressor(state, state.u_dot_view[: tree.nu])
            residual[:, place] = _by_inertia(state, setting.inertial, Y)
            continue
        equations = equations or Equations(system, state)
        for i in range(setting.size):
            column = equations.along(setting, i, setting.step(state, i))
            residual[:, place.start + i] = column[: tree.nu]
            errors[equations.rows, place.start + i] = column[tree.nu :]
    return tangents.rates_of(system, state, residual, errors)


def _by_inertia(state: State, inertial: tuple[int, str], Y: Array) -> Array:
    """Derivatives of the residual by an inertial parameter of a body, or the rotor inertias of its mobilizer."""
    b, name = inertial
    if name == "rotor_inertia":
        first, n = state.tree.first_u[b], state.tree.num_u[b]
        found = np.zeros((state.tree.nu, n))
        found[first : first + n] = np.diag(state.u_dot_view[first : first + n])
        return found
    own = Y[:, 10 * (b - 1) : 10 * b]
    if name == "mass":
        return own[:, :1] + own[:, 1:4] @ state.field("com")[b][:, None]
    return own[:, 4:] if name == "inertia" else state.field("mass")[b, 0] * own[:, 1:4]


class Equations:
    """Residual and constraint errors of states near one, at its u_dot and multipliers."""

    def __init__(self, system: Any, state: State) -> None:
        self._system, self._matter = system, system.get_matter_subsystem()
        self._u_dot, self._multipliers = np.array(state.u_dot_view[: state.tree.nu]), state.multipliers
        #: The kernels' rows that are in use.
        self.rows = self._matter.rows_in_use(state)
        self._other = state.copy()

    def along(self, setting: Setting, i: int, step: float) -> Array:
        """The derivative by number i of a setting ``(nu + rows,)``."""
        moved = 0.0

        def at(h: float) -> Array:
            nonlocal moved
            setting.shift(self._other, i, h - moved)  # one copy serves all: making it takes longer than realizing it
            moved = h
            return self._at(self._other)

        found = along(at, step)
        setting.shift(self._other, i, -moved)
        return found

    def _at(self, other: State) -> Array:
        self._system.realize(other, Stage.DYNAMICS)
        residual: Array = self._system.calc_inverse_dynamics(other, self._u_dot)
        if not len(self.rows):
            return residual
        residual = residual + self._matter.multiply_by_g_transpose(other, self._multipliers)
        return np.concatenate([residual, self._matter.calc_constraint_acceleration_errors(other, self._u_dot)])
