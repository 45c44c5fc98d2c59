"""Projection of a state on its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import with_refusals_apart
from ..constraint.protocol import PROJECT_Q, PROJECT_U
from ..errors import ConvergenceError
from ..tree import project as _project
from ..tree.realize import advance
from ..value.stage import Stage
from .in_python import realized_by_python, realizer

if TYPE_CHECKING:
    from ..state.state import State
    from .manifold import OnManifold
    from .realization import Realizing


def project(system: OnManifold, state: State, what: int, tolerance: float, least_iterations: int = 0) -> bool:
    """Project q or u of a system with constraints; positions are there for u. Returns whether anything changed.

    At least *least_iterations* are made, even if the errors are within the tolerance already.

    Raises
    ------
    ConvergenceError
        If the tolerance cannot be met. q and u are then as they were.
    """
    variables = state.q_values if what == PROJECT_Q else state.u_values
    before = variables.copy()
    share_weights(state)
    _project.begin_projection(state.block, float(tolerance), least_iterations)
    try:
        given = _project.call, state.block, _project.project.address(), what
        if system.is_interpreted:
            with realized_by_python(state):
                status, refused = with_refusals_apart(*given, realizer.address())
        else:
            status, refused = with_refusals_apart(*given, advance.address())
        if status and refused is not None:
            raise refused
        if status:
            raise _failure(system, state, what, tolerance)
    except BaseException:
        variables[:] = before
        _lower(state, what)
        raise
    changed = not np.array_equal(before, variables)
    if changed:
        _lower(state, what)
    return changed


def _lower(state: State, what: int) -> None:
    if what == PROJECT_Q:
        state.invalidate_q()
    else:
        state.invalidate_u()


def share_weights(state: State) -> None:
    """Pass the state's weights to the kernels, where it has some."""
    if state.resources is None or not state.resources.weights:
        return
    matter, weights = state.system.get_matter_subsystem(), state.resources.weights
    rows = matter.rows_in_use(state)
    p, v, _ = matter.num_equations(state)
    for name, field, count in (("q_err", "position_weight", p), ("u_err", "velocity_weight", p + v)):
        if name in weights:
            values = np.ones((state.tree.counts["num_rows"], 1))
            values[rows[:count], 0] = weights[name][:count]
            _share(state, field, values)
    if "u" in weights:
        _share(state, "speed_weight", weights["u"][: state.tree.nu, None].copy())


def _share(state: State, field: str, values: Array) -> None:
    """Give the state its own copy of an Instance field on which no result depends."""
    state.own_fields[field] = np.ascontiguousarray(values)
    state.record.share(field, state.own_fields[field])


def _failure(system: OnManifold, state: State, what: int, tolerance: float) -> ConvergenceError:
    """The error of a failed projection: the remaining errors by constraint, largest first, and conflicting equations.

    The state is where the projection ended. If it cannot be diagnosed there, the error of projection is raised without.
    """
    level = "positions" if what == PROJECT_Q else "velocities"
    text = f"the constraints' {level} cannot be brought within {tolerance:.3g} from here"
    try:
        text += f": errors are left of {_worst(system, state, what, tolerance) or 'nan'}"
        diagnosis = system.diagnose_constraints(state, max(tolerance, 1e-9))
    except Exception as reason:  # a user's part may fail at such a state
        return ConvergenceError(f"{text}. Where the search ended nothing more can be found out: {reason}")
    conflicts = [f"{one.equation} with {', '.join(one.partners) or 'nothing that moves'}" for one in diagnosis.conflicting]
    why = f"In conflict: {'; '.join(conflicts)}" if conflicts else "They may be out of reach from here; start closer"
    error = ConvergenceError(f"{text}. {why}. Where the search ended:\n{diagnosis}")
    error.diagnosis = diagnosis
    return error


def _worst(system: Realizing, state: State, what: int, tolerance: float) -> str:
    matter = system.get_matter_subsystem()
    system.realize(state, Stage.POSITION if what == PROJECT_Q else Stage.VELOCITY)
    left: list[tuple[float, Any]] = []
    for constraint in matter.constraints:
        if what == PROJECT_Q:
            errors = constraint.get_position_errors_as_vector(state)
        else:
            errors = constraint.get_velocity_errors_as_vector(state)
        if len(errors):
            left.append((float(np.max(np.abs(errors))), constraint))
    left.sort(key=lambda one: -one[0])
    return "; ".join(f"{error:.3g} of {constraint!r}" for error, constraint in left[:4] if error > tolerance)


__all__ = ["PROJECT_Q", "PROJECT_U", "project", "share_weights"]
