"""Projection of a state on its constraints: by a compiled routine, or by the same source where Python takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .constraint._what import PROJECT_Q, PROJECT_U
from .errors import ConvergenceError
from .stage import Stage
from .tree import project as _project
from .tree.realize import advance

if TYPE_CHECKING:
    from .state import State
    from .system import MultibodySystem

Array = npt.NDArray[np.float64]


class Interpreted:
    """A state being projected by Python: what the record is to the compiled routine."""

    def __init__(self, system: MultibodySystem, state: State) -> None:
        self.system, self.state, self.block = system, state, state._block

    def realize_for_projection(self, what: int) -> None:
        """Realize the state, of which kernels have changed q or u, to POSITION or VELOCITY."""
        state = self.state
        if what == PROJECT_Q:
            state._invalidate_q()
        else:
            state._invalidate_u()
        self.system.realize(state, Stage.POSITION if what == PROJECT_Q else Stage.VELOCITY)


def project(system: MultibodySystem, state: State, what: int, tolerance: float, least_iterations: int = 0) -> bool:
    """Project q or u of a system with constraints; positions are there for u. Returns whether anything changed.

    At least so many iterations are made, even where the errors are within the tolerance already.

    Raises
    ------
    ConvergenceError
        If the tolerance cannot be met. q and u are then as they were.
    """
    variables = state._q if what == PROJECT_Q else state._u
    before = variables.copy()
    share_weights(state)
    _project.begin_projection(state._block, float(tolerance), least_iterations)
    try:
        if system._is_interpreted:
            status = _project.project_by(Interpreted(system, state), what, 0)
        else:
            status = _project.call(state._block, _project.project.address(), what, advance.address())
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
        state._invalidate_q()
    else:
        state._invalidate_u()


def share_weights(state: State) -> None:
    """Let the kernels see the state's weights, where it has some."""
    if state._resources is None or not state._resources.weights:
        return
    matter, weights = state._system.get_matter_subsystem(), state._resources.weights
    rows = matter._rows(state)
    p, v, _ = matter._num_equations(state)
    for name, field, count in (("q_err", "position_weight", p), ("u_err", "velocity_weight", p + v)):
        if name in weights:
            values = np.ones((state._tree.counts["num_rows"], 1))
            values[rows[:count], 0] = weights[name][:count]
            _share(state, field, values)
    if "u" in weights:
        _share(state, "speed_weight", weights["u"][: state._tree.nu, None].copy())


def _share(state: State, field: str, values: Array) -> None:
    """An instance field of the state's own, of which no result depends."""
    state._own[field] = np.ascontiguousarray(values)
    state._record.share(field, state._own[field])


def _failure(system: MultibodySystem, state: State, what: int, tolerance: float) -> ConvergenceError:
    """What a failed projection has left of each constraint's errors, the largest first, and who is in conflict.

    The state is where the projection ended. That may be so far out that nothing can be said of it, which then is no error of
    its own: the projection's is the one to be heard of.
    """
    level = "positions" if what == PROJECT_Q else "velocities"
    text = f"the constraints' {level} cannot be brought within {tolerance:.3g} from here"
    try:
        text += f": errors are left of {_worst(system, state, what, tolerance) or 'nan'}"
        diagnosis = system.diagnose_constraints(state, max(tolerance, 1e-9))
    except Exception as reason:  # whatever a part of the user's says of such a place
        return ConvergenceError(f"{text}. Where the search ended nothing more can be found out: {reason}")
    conflicts = [f"{one.equation} with {', '.join(one.partners) or 'nothing that moves'}" for one in diagnosis.conflicting]
    why = f"In conflict: {'; '.join(conflicts)}" if conflicts else "They may be out of reach from here; start closer"
    error = ConvergenceError(f"{text}. {why}. Where the search ended:\n{diagnosis}")
    error.diagnosis = diagnosis
    return error


def _worst(system: MultibodySystem, state: State, what: int, tolerance: float) -> str:
    matter = system.get_matter_subsystem()
    system.realize(state, Stage.POSITION if what == PROJECT_Q else Stage.VELOCITY)
    left: list[tuple[float, Any]] = []
    for constraint in matter._constraints:
        if what == PROJECT_Q:
            errors = constraint.get_position_errors_as_vector(state)
        else:
            errors = constraint.get_velocity_errors_as_vector(state)
        if len(errors):
            left.append((float(np.max(np.abs(errors))), constraint))
    left.sort(key=lambda one: -one[0])
    return "; ".join(f"{error:.3g} of {constraint!r}" for error, constraint in left[:4] if error > tolerance)


__all__ = ["PROJECT_Q", "PROJECT_U", "project", "share_weights"]
