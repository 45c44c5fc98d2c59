"""Locks, constraints and motions that are set in the middle of a run: they change speeds by impulses.

With P the mobilities that are held, f the free ones, and G the equations of the constraints as they are afterwards,

    M du = G^T r + impulses on P      du_P = u_P+ - u_P-      G (u- + du) = b, the velocities that the equations ask for

    du_f = -M_ff^-1 M_fP du_P      then      r = (G M_ff^-1 G^T)^+ (b - G (u- + du)),  du_f += M_ff^-1 G^T r

M_ff^-1 is the product with M^-1 of the free mobilities, as everywhere. Momentum is conserved in every direction in which
neither locks, motions nor constraints act; kinetic energy changes by du^T M (u- + u+) / 2, a loss of du^T M du / 2 where
what holds is at rest. Equations that are not linear in the speeds take several rounds.
Source: Featherstone 2008, Rigid Body Dynamics Algorithms, 11.7 (impulsive dynamics).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..state.impulses import Impulse, Impulses
from ..state.state import State
from ..value import MassProperties
from ..value.callers import callers_level
from ..value.stage import Stage

#: Rounds for equations of velocities that are not linear; of linear ones the second one is rounding's.
_ROUNDS = 8
_ROUNDING = 1e-15


def latch(state: State, what: Any, change: Callable[[State], None], kind: str) -> None:
    """Apply *change*, which sets a lock, a constraint or a motion in the state, and in a run the impulse of that.

    *what* is the mobilizer or the constraint that is set, *kind* what the run's events call that. If it cannot be, the state
    stays as it was.
    """
    impulses = state.impulses
    if impulses is None:
        change(state)
        return
    system, matter = state.system, state.system.get_matter_subsystem()
    after = state.copy()
    system.prescribe(after)  # what is held already, and was set otherwise, is not this one's doing
    before = after.u_values[: state.tree.nu].copy()
    change(after)
    system.prescribe(after)
    system.realize(after, Stage.VELOCITY)
    _pass_on(matter, after, before)
    of_equations = fulfil_by_impulses(after, before)
    u = after.u_values[: len(before)].copy()
    momentum = matter.multiply_by_m(after, u - before)
    if isinstance(what, Constraint):
        impulse = of_equations[matter.places_of_rows(after)[what.own_rows(after)]]
        _tell_errors(after, what, impulses)
    else:
        of_constraints = matter.multiply_by_g_transpose(after, of_equations) if len(of_equations) else np.zeros(len(u))
        impulse = (momentum - of_constraints)[what.u_slice(after)]
    change(state)
    _set(state, u)
    impulses.found.append(Impulse(state.time, what.name, kind, impulse, float(0.5 * (u + before) @ momentum)))


def note(state: State, what: Any, kind: str) -> None:
    """Tell a run's events that something was set which changes no speeds, or is not to do so by an impulse."""
    if state.impulses is not None:
        state.impulses.found.append(Impulse(state.time, what.name, kind))


def take_up(state: State, body: Any, load: MassProperties, velocity: Array | None, turn: Array) -> None:
    """Attach to a body a load, given in its frame, that moves with *velocity* of its mass center and *turn*, in Ground.

    With M' and J of the whole, and I of the load about the body's origin:  M' (u+ - u-) = J^T I (V_load - V_body-)
    """
    own = body.get_body_mass_properties(state)
    impulses = state.impulses
    if velocity is None:
        body.take_mass_properties(state, own + load)
        note(state, body, "attached")
        return
    system, matter = state.system, state.system.get_matter_subsystem()
    before = state.copy()
    system.prescribe(before)
    system.realize(before, Stage.VELOCITY)
    R = body.get_body_rotation(before)
    inertia = _spatial(load, np.asarray(R))
    V = np.concatenate([turn, velocity - np.cross(turn, np.asarray(R) @ load.com)])
    after = before.copy()
    body.take_mass_properties(after, own + load)
    system.realize(after, Stage.VELOCITY)
    u = before.u_values[: state.tree.nu].copy()
    F = np.zeros((state.tree.nb, 2, 3))
    F[body.index] = (inertia @ (V - np.concatenate(body.get_body_velocity(before)))).reshape(2, 3)
    push = matter.multiply_by_system_jacobian_transpose(after, F)
    _set(after, u + matter.multiply_by_m_inv(after, push))
    system.realize(after, Stage.VELOCITY)
    fulfil_by_impulses(after, u)
    system.realize(after, Stage.VELOCITY)
    taken = inertia @ (V - np.concatenate(body.get_body_velocity(after)))
    change = system.calc_kinetic_energy(after) - system.calc_kinetic_energy(before)
    body.take_mass_properties(state, own + load)
    _set(state, after.u_values[: state.tree.nu].copy())
    if impulses is not None:
        impulses.found.append(Impulse(state.time, body.name, "attached", taken, float(change)))


def _spatial(m: MassProperties, R: Array) -> Array:
    """Inertia (6, 6) about the body's origin, in Ground, angular first."""
    c = m.mass * (R @ m.com)
    cross = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    return np.block([[R @ np.asarray(m.inertia) @ R.T, cross], [cross.T, m.mass * np.eye(3)]])


def fulfil_by_impulses(state: State, before: Array | None = None) -> Array:
    """Bring the speeds of a state to its constraints, and return the impulses of all equations. The state is at VELOCITY.

    Equations of accelerations alone keep their velocities, those of the speeds *before*, the state's unless given.
    """
    system, matter, nu = state.system, state.system.get_matter_subsystem(), state.tree.nu
    p, v, a = matter.num_equations(state)
    impulses, rows = np.zeros(p + v + a), matter.rows_in_use(state)[: p + v]
    before, last = state.u_values[:nu].copy() if before is None else before, np.inf
    for _ in range(_ROUNDS if len(impulses) else 0):
        u = state.u_values[:nu].copy()
        errors = np.concatenate([matter.velocity_errors(state)[rows], matter.multiply_by_g(state, u - before)[p + v :]])
        size = float(np.abs(errors).max())
        if not _ROUNDING < size < 0.5 * last:
            break
        r, last = -matter.solve_for_constraint_impulses(state, errors), size
        impulses += r
        _set(state, u + matter.multiply_by_m_inv(state, matter.multiply_by_g_transpose(state, r)))
        system.realize(state, Stage.VELOCITY)
    return impulses


def _pass_on(matter: Any, state: State, before: Array) -> None:
    """Change the free speeds of a state by the impulse of the change that the held ones have made since *before*."""
    change = state.u_values[: len(before)] - before
    if change.any():
        u = state.u_values[: len(before)].copy()
        _set(state, u - matter.multiply_by_m_inv(state, matter.multiply_by_m(state, change)))
        state.system.realize(state, Stage.VELOCITY)


def _set(state: State, u: Array) -> None:
    if not np.array_equal(u, state.u_values[: len(u)]):
        whole = state.u.copy()
        whole[: len(u)] = u
        state.u = whole


def _tell_errors(state: State, constraint: Constraint, impulses: Impulses) -> None:
    size = float(np.abs(constraint.get_position_errors_as_vector(state)).max(initial=0.0))
    if size > impulses.tolerance:
        warnings.warn(
            f"{constraint.name!r} is enabled at time {state.time:.9g} with a position error of {size:.3g}, above the tolerance "
            f"of {impulses.tolerance:.3g}: the next step moves the bodies there at once, and no impulse stands for that. "
            "Enable it where the bodies meet, or first set its frames or stations to where they are",
            RuntimeWarning,
            stacklevel=callers_level(),
        )
