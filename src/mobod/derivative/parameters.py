"""Derivatives of u_dot by numbers of the model, from those of residual and constraint errors at its u_dot and multipliers.

    d(udot) = -M^-1 d(residual)        residual = Y (m, m c, I) + rotor inertias udot - forces + G^T lambda

With the regressor Y columns by inertial parameters cost little: by m, with c held, Y_m + Y_mc c, by c m Y_mc. All others are
seeds of `jvp`. What users have written in Python takes differences of fourth order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..force.gravity_compensation import GravityCompensation
from ..force.thermostat import Thermostat
from ..value.stage import Stage
from .differences import along, note
from .equations import contradiction, of_equations, solve
from .settings import Setting

if TYPE_CHECKING:
    from ..state.state import State

#: Forces that depend on the bodies' masses, beside gravity, which the regressor has.
_WEIGHING = (GravityCompensation, Thermostat)


class RatesByParameters(NamedTuple):
    """Derivatives of q_dot, u_dot and z_dot, of the forces' z, and of forces on particles, by parameters, a column a number."""

    q_dot: Array
    u_dot: Array
    z_dot: Array
    particle_forces: Array


def by_settings(system: Any, state: State, settings: list[Setting]) -> RatesByParameters:
    """Derivatives by settings. Needs ACCELERATION."""
    tree = state.tree
    size = sum(setting.size for setting in settings)
    residual, errors = np.zeros((tree.nu, size)), np.zeros((tree.counts["num_rows"], size))
    known = np.zeros((tree.nu, size))
    q_dot, z_dot = np.zeros((tree.nq, size)), np.zeros((tree.nz, size))
    of_particles, left = np.zeros((tree.counts["particle_size"], size)), contradiction(state)
    turned = None if left is None else np.zeros((tree.nu, size))
    first, of_elements = 0, []
    Y = None if is_weighed(system, state) else _regressor(system, state, settings)

    def of_body(name: str, b: int) -> Array:
        return state.field(name)[b]

    for setting in settings:
        place = slice(first, first + setting.size)
        first += setting.size
        if setting.inertial is not None and Y is not None:
            residual[:, place] = by_inertia(tree, setting.inertial, Y, state.u_dot_view[: tree.nu], of_body)
        elif setting.size:
            of_elements.append((place, setting))
    if of_elements and system.calls_python:
        note(system, state)
        equations = Equations(system, state, left)
        for place, setting in of_elements:
            for i in range(setting.size):
                column = equations.along(setting, i, setting.step(state, i))
                residual[:, place.start + i] = column[: tree.nu]
                errors[equations.rows, place.start + i] = column[tree.nu : tree.nu + len(equations.rows)]
                z_dot[:, place.start + i] = column[len(column) - tree.nz :]
                if turned is not None:
                    turned[:, place.start + i] = column[tree.nu + len(equations.rows) :][: tree.nu]
                if setting.is_of_motion:
                    known[:, place.start + i] = equations.prescribed_along(setting, i, setting.step(state, i))
    elif of_elements:
        columns = np.concatenate([np.r_[place] for place, _ in of_elements])
        found = of_equations(state, {}, of_model=[seed for _, setting in of_elements for seed in setting.seeds(state)])
        residual[:, columns], errors[:, columns], known[:, columns] = found.residual, found.errors, found.known
        q_dot[:, columns], z_dot[:, columns] = found.q_dot, found.z_dot
        of_particles[:, columns] = found.particle_forces
        if turned is not None:
            turned[:, columns] = found.turned
    u_dot = _moved(system, state, settings) if state.slides else solve(state, residual, errors, known, turned)[0]
    return RatesByParameters(q_dot, u_dot, z_dot, of_particles)


def _moved(system: Any, state: State, settings: list[Setting]) -> Array:
    """Derivatives of u_dot by differences, where contacts slide: friction follows the normal force, which settings change."""

    def u_dot(setting: Setting, i: int, h: float) -> Array:
        other = setting.moved(state, i, h)
        system.realize(other)
        return np.array(other.u_dot_view[: state.tree.nu])

    columns = [along(lambda h, s=s, i=i: u_dot(s, i, h), s.step(state, i)) for s in settings for i in range(s.size)]  # type: ignore[misc]
    return np.array(columns).T.reshape(state.tree.nu, len(columns))


def is_weighed(system: Any, state: State) -> bool:
    """True if forces beside gravity may depend on the bodies' masses."""
    enabled = state.field("force_enabled")
    return bool(
        system.calls_python or any(isinstance(force, _WEIGHING) and enabled[force.element] for force in system.all_forces())
    )


def _regressor(system: Any, state: State, settings: list[Setting]) -> Array | None:
    """The regressor at the state's u_dot, where some setting is an inertial parameter."""
    if all(setting.inertial is None for setting in settings):
        return None
    Y: Array = system.get_matter_subsystem().calc_inertial_parameter_regressor(state, state.u_dot_view[: state.tree.nu])
    return Y


def by_inertia(tree: Any, inertial: tuple[int, str], Y: Array, u_dot: Array, of_body: Callable[[str, int], Array]) -> Array:
    """Derivatives of the residual by an inertial parameter of a body, or the rotor inertias of its mobilizer.

    Of one state or of many, ``(n, ...)``, by their regressors and u_dot; *of_body* gives a field's numbers of a body in each.
    """
    b, name = inertial
    if name == "rotor_inertia":
        own = slice(tree.first_u[b], tree.first_u[b] + tree.num_u[b])
        found = np.zeros((*Y.shape[:-1], tree.num_u[b]))
        found[..., own, :] = u_dot[..., own, None] * np.eye(tree.num_u[b])
        return found
    of_moments = Y[..., 10 * b - 9 : 10 * b - 6]
    if name == "mass":
        return Y[..., 10 * b - 10 : 10 * b - 9] + of_moments @ of_body("com", b)[..., None]
    return Y[..., 10 * b - 6 : 10 * b] if name == "inertia" else of_body("mass", b)[..., None] * of_moments


class Equations:
    """Residual, constraint errors and z_dot of states near one, at its u_dot and multipliers."""

    def __init__(self, system: Any, state: State, left: Array | None) -> None:
        self._system, self._matter = system, system.get_matter_subsystem()
        self._u_dot, self._multipliers = np.array(state.u_dot_view[: state.tree.nu]), state.multipliers
        #: The kernels' rows that are in use.
        self.rows = self._matter.rows_in_use(state)
        #: Of accelerations, which contradicting equations leave.
        self._left = None if left is None else left[self.rows]
        self._state = state

    def along(self, setting: Setting, i: int, step: float) -> Array:
        """The derivative by number i of a setting ``(nu + rows + nz,)``."""
        return along(lambda h: self._at(setting.moved(self._state, i, h)), step)

    def prescribed_along(self, setting: Setting, i: int, step: float) -> Array:
        """The residual of u_dot ``(nu,)``, of which prescribed numbers count."""
        return along(lambda h: self._u_dot_at(setting.moved(self._state, i, h)), step)

    def _u_dot_at(self, other: State) -> Array:
        self._system.realize(other, Stage.ACCELERATION)
        return np.array(other.u_dot_view[: other.tree.nu])

    def _at(self, other: State) -> Array:
        self._system.realize(other, Stage.DYNAMICS)
        residual: Array = self._system.calc_inverse_dynamics(other, self._u_dot)
        errors, turned = np.zeros(0), np.zeros(0)
        if len(self.rows):
            residual = residual + self._matter.multiply_by_g_transpose(other, self._multipliers)
            errors = self._matter.calc_constraint_acceleration_errors(other, self._u_dot)
            if self._left is not None:
                turned = self._matter.multiply_by_g_transpose(other, self._left)
        return np.concatenate([residual, errors, turned, other.z_dot_view[: other.tree.nz]])
