"""Why an integration stopped: the error that is raised where no step leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError
from ..stepping import record as rk
from . import _diagnosis

if TYPE_CHECKING:
    from .base import Integrator


def fail(integrator: Integrator, status: int, refusal: Exception | None) -> None:
    """Leave the state at the last accepted step, and raise the error; *refusal* is that of a user's part."""
    control, state, system = integrator.control, integrator.get_state(), integrator.system
    time, step = float(control[rk.TIME]), float(control[rk.STEP])
    if status == rk.NOT_SAMPLED:
        integrator.leave_at(time)
        text, of_law = _diagnosis.why_not_sampled(system, state)
        raise ConvergenceError(f"{text}. The state is the last good one") from of_law
    number = integrator.get_num_steps_taken() + 1
    cause = refusal  # it says more
    culprit, reason = "", None
    if status == rk.NOT_FINITE:
        culprit = _diagnosis.first_not_finite(system, state)
    elif status == rk.NOT_PROJECTED:
        reason = _diagnosis.not_projected(system, state, integrator.constraint_tolerance)
    found = integrator.singularities()  # where it failed, and then where it ends
    integrator.leave_at(time)
    singular = "".join(f". {text}" for text in ({**integrator.singularities(), **found}).values())
    tied, diagnosis = _diagnosis.of_constraints(system, state, integrator.constraint_tolerance)
    singular += tied
    if status == rk.NOT_FINITE:
        why = culprit or str(cause or "a force is infinite there, or a mobilizer at a singularity")
        failed = ConvergenceError(
            f"accelerations are not finite beyond time {time:.9g}, in step {number}, however short that is (last tried "
            f"{step:.3g}): {why}{singular}. The state is the last good one"
        )
    elif status == rk.NOT_PROJECTED:
        failed = ConvergenceError(
            f"beyond time {time:.9g}, in step {number}, the state cannot be brought to its constraints within "
            f"{integrator.constraint_tolerance:g}, however short the step (last tried {step:.3g}){singular}. "
            f"The state is the last good one{f'. {reason}' if reason else ''}"
        )
        diagnosis, cause = getattr(reason, "diagnosis", None) or diagnosis, reason
    elif (bad := _first_not_finite(integrator)) >= 0:
        name, why = _diagnosis.name_of(system, state, bad), _diagnosis.lost_memory(system, state)
        failed = ConvergenceError(
            f"the rate of {name}, is not finite beyond time {time:.9g}, in step {number}, however short that is (last "
            f"tried {step:.3g}){f': {why}' if why else ''}{singular}. The state is the last good one"
        )
    else:
        errors = np.abs(_relative_errors(integrator))
        if not errors.any():  # a method that tells none
            errors = np.nan_to_num(np.abs(integrator.work[rk.RATE] * integrator.work[len(integrator.work) - 4]))
        worst = ""
        if errors.any():
            which = int(errors.argmax())
            worst = f", most of all in {_diagnosis.name_of(system, state, which)}"
            worst += _diagnosis.strongest_force(system, state, which)
            worst += _diagnosis.stretched_fiber(system, state, which)
        why = _diagnosis.lost_memory(system, state) or integrator.why_too_small()
        failed = ConvergenceError(
            f"at time {time:.9g} a step of {step:.3g} still misses accuracy {integrator.accuracy:g}{worst}: "
            f"{why}{singular}. The state is the last good one"
        )
        cause = None
    failed.diagnosis = diagnosis
    raise failed from cause


def _first_not_finite(integrator: Integrator) -> int:
    """The place in y where the last error, or the rate before it, is no number, -1 for none: of u it is known before."""
    work = integrator.work
    bad = np.flatnonzero(np.logical_not(np.isfinite(work[[len(work) - 3, rk.RATE]]).all(axis=0)))
    return int(bad[0]) if len(bad) else -1


def _relative_errors(integrator: Integrator) -> Array:
    """The last try's errors, weighted."""
    work = integrator.work
    weights = work[len(work) - 4]
    errors: Array = weights * work[len(work) - 3] / np.maximum(1.0, weights * np.abs(work[rk.Y]))
    return np.nan_to_num(errors) if len(errors) else np.zeros(1)
