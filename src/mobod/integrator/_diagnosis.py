"""What stopped an integration, found out afterwards: where accelerations jump, and what was the first that is not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import ConvergenceError, ModelError
from ..stage import Stage

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis
    from ..state import State
    from ..system import MultibodySystem

Array = npt.NDArray[np.float64]
#: A change that after so many halvings of the interval is still this part of what it was happens at one point: a jump. Halvings
#: end at the resolution of time, but there have to be some.
_HALVINGS, _FEWEST, _LEFT = 30, 4, 0.5


def name_of(system: MultibodySystem, state: State, i: int) -> str:
    """What number *i* of y is, and whose."""
    tree, matter = state._tree, system.get_matter_subsystem()
    nq, nu, nz = len(state._q), len(state._u), len(state._z)
    if i >= nq + nu + nz:
        i -= nq + nu + nz
        what, i = ("location", i) if i < 3 * tree.num_particles else ("velocity", i - 3 * tree.num_particles)
        return f"the {what} of particle {i // 3}"
    name, firsts, of_matter = "q", tree.first_q, tree.nq
    if i >= nq + nu:
        name, firsts, of_matter, i = "z", tree.first_u, 0, i - nq - nu
    elif i >= nq:
        name, firsts, of_matter, i = "u", tree.first_u, tree.nu, i - nq
    if i >= of_matter:
        return system._owner(state, name, i)
    b = int(np.searchsorted(firsts, i, side="right")) - 1
    return f"{name}[{i}], number {i - firsts[b]} of {matter._bodies[b]._name!r}"


def jump(system: MultibodySystem, state: State, y: Array, time: float, rate: Array, h: float) -> tuple[str, str] | None:
    """Where accelerations jump on the line from *y* at *time* along *rate*, for a time h and a bit; the state is left there.

    Returns
    -------
    (str, str) or None
        Whose accelerations jump most, and a sentence about it; None where they change no faster than the interval is long.
    """

    def rates_at(s: float) -> Array:
        state._y[:] = y + s * rate
        state.time = time + s
        state._invalidate_q()
        if state._has_known:
            system.prescribe(state)
        system.realize(state)
        found: Array = state._record.y_dot[:, 0].copy()
        return found

    try:
        a, b = 0.0, 1.1 * h
        at_a, at_b = rates_at(a), rates_at(b)
        which = int(np.argmax(np.abs(at_b - at_a)))
        whole, halvings = abs(at_b[which] - at_a[which]), 0
        while halvings < _HALVINGS:
            middle = 0.5 * (a + b)
            if time + a == time + middle or time + b == time + middle:
                break
            halvings += 1
            at = rates_at(middle)
            if abs(at[which] - at_a[which]) > abs(at_b[which] - at[which]):
                b, at_b = middle, at
            else:
                a, at_a = middle, at
    except ModelError:
        return None
    if halvings < _FEWEST or not abs(at_b[which] - at_a[which]) > _LEFT * whole > 0.0:
        return None
    whose = name_of(system, state, which)
    return whose, (
        f"near time {time + b:.9g} the rate of {whose}, jumps from {at_a[which]:.6g} to {at_b[which]:.6g}: a force is "
        f"discontinuous there. A step of {h:.3g} has passed it without meeting the accuracy. Make it an event, make the force "
        "smoother, or give a larger accuracy number or a smaller min_step_size"
    )


def first_not_finite(system: MultibodySystem, state: State) -> str:
    """Which quantity of which body, force or variable is the first that is not finite, as the state's y and time are."""
    time = float(state._record.time[0, 0])
    bad = np.flatnonzero(~np.isfinite(state._y))
    if len(bad):
        i = int(bad[0])
        return f"at time {time:.9g} {name_of(system, state, i)}, is {state._y[i]}"
    state.time = time
    state._invalidate_q()
    record, bodies = state._record, system.get_matter_subsystem()._bodies
    try:
        for stage, fields in (
            (Stage.POSITION, (("position", record.p_GB), ("orientation", record.R_GB))),
            (Stage.VELOCITY, (("velocity", record.V_GB),)),
        ):
            system.realize(state, stage)
            for what, rows in fields:
                wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
                if len(wrong):
                    return f"at time {time:.9g} the {what} of body {bodies[int(wrong[0])]._name!r} is not finite"
        said = _force_not_finite(system, state)
        if said:
            return f"at time {time:.9g} {said}"
        system.realize(state)
    except ModelError as error:
        return f"at time {time:.9g} {error}"
    return ""


def not_projected(system: MultibodySystem, state: State, tolerance: float) -> Exception | None:
    """Why the state, as its y and time are, cannot be brought to its constraints: the error of trying, or None."""
    state.time = float(state._record.time[0, 0])
    state._invalidate_q()
    try:
        system.project(state, tolerance)
    except (ConvergenceError, ModelError) as error:
        return error
    return None


def of_constraints(system: MultibodySystem, state: State, tolerance: float) -> tuple[str, Diagnosis | None]:
    """Which constraint equations fail at a state, in words, and its diagnosis; nothing where none does."""
    if not system.get_matter_subsystem()._constraints:
        return "", None
    try:
        found = system.diagnose_constraints(state, max(tolerance, 1e-6))
    except Exception:  # a place where nothing can be found out; another error is on its way
        return "", None
    said = [
        f"{', '.join(map(str, near.equations))} {'are' if len(near.equations) > 1 else 'is'} nearly singular ({near.why})"
        for near in found.nearly_singular
    ]
    said += [f"{one.equation} is in conflict with {', '.join(one.partners) or 'what is there'}" for one in found.conflicting]
    if not said:
        return "", None
    return f". Of the constraints, {'; '.join(said)}: a mechanism is at the end of its reach, or turns over there", found


def contradictory_accelerations(system: MultibodySystem, state: State) -> str:
    """What to say of equations that ask for accelerations that exclude each other; the state is at ACCELERATION.

    The solver then meets none of them, but what is least wrong.
    """
    if not system.get_matter_subsystem()._constraints:
        return ""
    largest = float(np.abs(state.u_dot_err).max(initial=0.0))
    if not largest > 1e-6 * max(1.0, float(np.abs(state.u_dot).max(initial=0.0))):
        return ""
    found = [one for one in system.diagnose_constraints(state).conflicting if "acceleration" in one.contradiction]
    if not found:
        return ""
    named = "; ".join(f"{one.equation} with {', '.join(one.partners) or 'what is there'}" for one in found)
    return (
        f"at time {state.time:.9g} constraints ask for accelerations that cannot all be, and errors of up to {largest:.3g} are "
        f"left. In conflict: {named}. Disable one of them; MultibodySystem.diagnose_constraints says more"
    )


def _force_not_finite(system: MultibodySystem, state: State) -> str:
    """The first force that is not finite, and on what; the state is at VELOCITY."""
    bodies = system.get_matter_subsystem()._bodies
    for force in system._forces():
        if force.is_disabled(state):
            continue
        on_bodies, on_particles, on_mobilities = force.calc_force_contribution(state)
        wrong = np.flatnonzero(~np.isfinite(on_bodies.reshape(len(bodies), -1)).all(axis=1))
        if len(wrong):
            return f"force {force.name!r} applies to body {bodies[int(wrong[0])]._name!r} a force that is not finite"
        wrong = np.flatnonzero(~np.isfinite(on_mobilities))
        if len(wrong):
            whose = name_of(system, state, len(state._q) + int(wrong[0])).partition(", ")[2]
            value = on_mobilities[int(wrong[0])]
            return (
                f"force {force.name!r} applies to mobility {whose.removeprefix('number ')} a force that is not finite: {value}"
            )
        wrong = np.flatnonzero(~np.isfinite(on_particles.reshape(-1, 3)).all(axis=1))
        if len(wrong):
            return f"force {force.name!r} applies to particle {int(wrong[0])} a force that is not finite"
    return ""
