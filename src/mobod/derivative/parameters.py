"""Derivatives of u_dot by numbers of the model, from those of residual and constraint errors at its u_dot and multipliers.

    d(udot) = -M^-1 d(residual)        residual = Y (m, m c, I) + rotor inertias udot - forces + G^T lambda

With the regressor Y columns by inertial parameters cost little: by m, with c held, Y_m + Y_mc c, by c m Y_mc. All others are
seeds of `jvp`. What users have written in Python takes differences of fourth order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..force.gravity_compensation import GravityCompensation
from ..force.thermostat import Thermostat
from ..value.stage import Stage
from .differences import along, note
from .equations import OfEquations, contradiction, of_equations, solve
from .settings import Setting, seeds_of

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
    tree, ends, Y = state.tree, np.cumsum([0, *(setting.size for setting in settings)]), None
    if any(setting.inertial is not None for setting in settings) and not is_weighed(system, state):
        Y = system.get_matter_subsystem().calc_inertial_parameter_regressor(state, state.u_dot_view[: tree.nu])
    is_other = [Y is None or setting.inertial is None for setting in settings]
    others = [setting for setting, other in zip(settings, is_other, strict=True) if other and setting.size]
    if others and system.calls_back:
        note(system)
        found = _differences_of_equations(system, state, others)
    else:
        found = of_equations(state, {}, of_model=seeds_of(others, state))
    columns = np.flatnonzero(np.repeat(is_other, np.diff(ends)))
    every: list[Any] = [None if part is None else np.zeros((len(part), ends[-1])) for part in found[:7]]
    for whole, part in zip(every, found, strict=False):
        if part is not None:
            whole[:, columns] = part
    residual, errors, known, q_dot, z_dot, of_particles, turned = every
    for setting, first, end in zip(settings, ends, ends[1:], strict=False):
        if setting.inertial is not None and Y is not None:
            u_dot = state.u_dot_view[: tree.nu]
            residual[:, first:end] = by_inertia(tree, setting.inertial, Y, u_dot, lambda name, b: state.field(name)[b])
    moves = state.slides and system.calls_back
    u_dot = _moved(system, state, settings) if moves else solve(state, residual, errors, known, turned)[0]
    return RatesByParameters(q_dot, u_dot, z_dot, of_particles)


def _differences_of_equations(system: Any, state: State, settings: list[Setting]) -> OfEquations:
    """`of_equations` by differences, but for q_dot and particles: of states near one, at its u_dot and multipliers."""
    matter, nu, left = system.get_matter_subsystem(), state.tree.nu, contradiction(state)
    rows, u_dot, multipliers = matter.rows_in_use(state), np.array(state.u_dot_view[:nu]), state.multipliers
    size = np.cumsum([nu, state.tree.counts["num_rows"], nu, state.tree.nz])

    def at(setting: Setting, i: int, h: float) -> Array:
        other = setting.moved(state, i, h)
        system.realize(other, Stage.ACCELERATION if state.has_known else Stage.DYNAMICS)
        residual, errors, turned = system.calc_inverse_dynamics(other, u_dot), np.zeros(size[1] - size[0]), np.zeros(nu)
        if len(rows):
            residual = residual + matter.multiply_by_g_transpose(other, multipliers)
            errors[rows] = matter.calc_constraint_acceleration_errors(other, u_dot)
            if left is not None:
                turned = matter.multiply_by_g_transpose(other, left[rows])
        return np.concatenate([residual, errors, other.u_dot_view[:nu], other.z_dot_view[: state.tree.nz], turned])

    each = [along(partial(at, one, i), one.step(state, i)) for one in settings for i in range(one.size)]
    residual, errors, known, z_dot, turned = np.split(np.array(each).T, size)
    nothing = (np.zeros((rows, len(each))) for rows in (state.tree.nq, state.tree.counts["particle_size"]))
    return OfEquations(residual, errors, known, next(nothing), z_dot, next(nothing), None if left is None else turned, {})


def _moved(system: Any, state: State, settings: list[Setting]) -> Array:
    """Derivatives of u_dot by differences, where contacts slide beside parts in Python, which do not move at given forces."""

    def u_dot(setting: Setting, i: int, h: float) -> Array:
        other = setting.moved(state, i, h)
        system.realize(other)
        return np.array(other.u_dot_view[: state.tree.nu])

    columns = [along(partial(u_dot, one, i), one.step(state, i)) for one in settings for i in range(one.size)]
    return np.array(columns).T.reshape(state.tree.nu, len(columns))


def is_weighed(system: Any, state: State) -> bool:
    """True if forces beside gravity may depend on the bodies' masses."""
    enabled = state.field("force_enabled")
    return bool(
        system.calls_python or any(isinstance(force, _WEIGHING) and enabled[force.element] for force in system.all_forces())
    )


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
