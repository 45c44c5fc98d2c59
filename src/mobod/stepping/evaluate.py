"""Evaluations of the system in a step, in two forms: compiled, and interpreted for systems with parts in Python.

The routines that do it are in the plan; in systems with parts that only Python knows these are callbacks, see
`system.in_python`.
"""

from __future__ import annotations

from typing import Any

from ..algebra import quaternion
from ..algebra.order import size_of
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, num_lanes, one, store, where, zero
from ..compiling import compiled, generic
from ..constraint.protocol import PROJECT_Q, PROJECT_U
from ..force import dispatch as forces
from ..force.contact.bristle import begin_bristles, finish_bristles
from ..mobilizer import q_rates
from ..mobilizer.access import put4, vector4
from ..motion.protocol import SET_Q, SET_U
from ..state.validity import ARTICULATED, FORCES, KEPT_FORCES, KINEMATICS, NO_MOBILIZERS, NO_RATES, POSITIONS, UNCHECKED
from ..system.in_python import BEGINS, ENDS
from ..tree import measures, momentum, project as projection_steps
from ..tree.prescribe import AT_ONCE
from ..tree.realize import nothing_of
from . import record as rk

#: What `project` returns the sum of.
CHANGED_Q, CHANGED_U = 1, 2
#: What it takes the sum of as choices.
ALWAYS, FULL_NEWTON = 1, 2


@generic
def evaluate(model: Any, plan: Any, held: Any = None, keep: int = 0) -> Any:
    """Set prescribed q and u, and compute the rates of y; 0 if these are finite, else NaN.

    With KEPT_FORCES as *keep*, forces of positions are kept for `evaluate_speeds`.
    """
    valid = 0
    if plan[rk.PRESCRIBER] != 0:
        if call_routine(plan[rk.PRESCRIBER], model, SET_Q, 0) != AT_ONCE:
            status = call_routine(plan[rk.ROUTINE], model, 0, POSITIONS | plan[rk.WANTED] & UNCHECKED)
            if status != 0:
                return soundness(model, status)
            valid = POSITIONS
        call_routine(plan[rk.PRESCRIBER], model, SET_U, 0)
    return _find_rates(model, plan, valid, held, keep)


@generic
def evaluate_rest(model: Any, plan: Any, valid: int, held: Any = None) -> Any:
    """`evaluate`, of a record in which some results are *valid*."""
    if valid & KINEMATICS != KINEMATICS:
        return evaluate(model, plan, held)
    return _find_rates(model, plan, valid, held)


@generic
def evaluate_projected(model: Any, plan: Any, held: Any = None) -> Any:
    """`evaluate`, where `project` has left y: poses and velocities that it has realized stay."""
    return evaluate_rest(model, plan, KINEMATICS if plan[rk.PROJECTOR] != 0 else 0, held)


@generic
def evaluate_speeds(model: Any, plan: Any, held: Any = None) -> Any:
    """`evaluate`, where time and the matter's q and the particles' locations are as at the last, which kept forces."""
    if plan[rk.PRESCRIBER] != 0:
        call_routine(plan[rk.PRESCRIBER], model, SET_U, 0)
    return _find_rates(model, plan, POSITIONS | ARTICULATED | KEPT_FORCES, held)


@generic
def _find_rates(model: Any, plan: Any, valid: int, held: Any = None, keep: int = 0) -> Any:
    """Compute the rates of y, where some results are *valid* already, with the forces beside those of the elements."""
    if held is not None:
        if plan[rk.HOLDS] != 0 or plan[rk.CONTROLLER] != 0:
            before = KINEMATICS | FORCES
            wanted = plan[rk.WANTED] & (before | UNCHECKED | NO_RATES | NO_MOBILIZERS)
            call_routine(plan[rk.ROUTINE], model, valid, wanted | keep)
            _add_forces(model, plan, held)
            valid = valid | before
    return soundness(model, call_routine(plan[rk.ROUTINE], model, valid, plan[rk.WANTED] | keep))


@generic
def _add_forces(model: Any, plan: Any, held: Any) -> None:
    """The mobility forces that are held, and the controller's, beside those of the elements."""
    if plan[rk.HOLDS] != 0 or plan[rk.WANTED] & FORCES == 0:
        for i in range(model.nu):
            f = load(held, i, 0)
            if plan[rk.WANTED] & FORCES != 0:  # else the elements' only force is gravity, as an acceleration of Ground
                f = f + load(model.mobility_forces, i, 0)
            store(model.mobility_forces, i, 0, f)
    if plan[rk.CONTROLLER] != 0:
        call_routine(plan[rk.CONTROLLER], model, 0, 0)


@generic
def soundness(model: Any, status: int) -> Any:
    """0 where the rates are finite, else NaN; of one state the routine's *status* says it."""
    sound = 0.0 * load(model.time, 0, 0)
    if num_lanes(sound) == 1:
        return zero(sound) + of_status(status)
    sound = nothing_of(model.u_dot, model.nu, sound)
    sound = nothing_of(model.q_dot, model.nq, sound)
    return nothing_of(model.particle_acceleration, model.particle_size, sound)


@generic
def of_status(status: int) -> float:
    """0, or NaN for a status that says that something was not finite."""
    return 0.0 if status == 0 else float("nan")


@generic
def move(model: Any, plan: Any) -> Any:
    """Realize positions and velocities, and thereby q_dot, at y; nothing is prescribed. 0 where y is finite, else NaN."""
    return of_status(call_routine(plan[rk.ROUTINE], model, 0, KINEMATICS | plan[rk.WANTED] & UNCHECKED))


@compiled
def normalize(block: Any, mark: Any, choices: int, tolerance: float) -> Any:
    """Scale quaternions of y to length 1, all of them or those off by more than the tolerance: CHANGED_Q or 0."""
    model = attach(block)
    changed = zero(mark)
    for b in range(1, model.nb):
        if model.has_quaternion[b] == 1:
            i = model.first_q[b]
            q = vector4(model.q, i)
            off = size_of(quaternion.norm_squared(q) - 1.0)
            chosen = one(mark) if choices & ALWAYS != 0 else where(off > 2.0 * tolerance, one(mark), zero(mark))
            chosen = where(mark > 0.0, chosen, zero(mark)) > 0.0
            q_rates.normalize(model, b)
            u = vector4(model.q, i)
            w, x, y, z = (
                where(chosen, u[0], q[0]),
                where(chosen, u[1], q[1]),
                where(chosen, u[2], q[2]),
                where(chosen, u[3], q[3]),
            )
            put4(model.q, i, (w, x, y, z))
            changed = where(chosen, float(CHANGED_Q) + zero(mark), changed)
    return changed


@generic
def project(model: Any, plan: Any, mark: Any, choices: int, tolerance: float) -> Any:
    """Project q and u at y onto their manifolds: the one place where a step, or a report, is projected.

    Parameters
    ----------
    model : record
        Its y comes from an attempt or an interpolation. Beside constraints, prescribed variables get their values first.
    plan : array
        Of a run.
    mark : scalar
        Above 0 of states that are projected.
    choices : int
        A sum: ALWAYS, to project even within the tolerance, and FULL_NEWTON, to compute the iteration matrix anew each time.
    tolerance : float
        How far from their manifolds constraints may be.

    Returns
    -------
    scalar
        The sum of CHANGED_Q and CHANGED_U where these have changed, 0 where y is as it was, below 0 where that failed.
    """
    changed = zero(mark)
    if plan[rk.QUATERNIONS] != 0:
        changed = normalize(model, mark, choices, tolerance)
    if plan[rk.PROJECTOR] != 0:
        reach = where(mark > 0.0, tolerance + zero(mark), 1e300 + zero(mark))
        least = one(mark) if choices & ALWAYS != 0 else zero(mark)
        store(model.projection, projection_steps.TOLERANCE, 0, reach)
        store(model.projection, projection_steps.LEAST, 0, where(mark > 0.0, least, zero(mark)))
        missed = zero(mark)
        for what, sets in ((PROJECT_Q, SET_Q), (PROJECT_U, SET_U)):
            if plan[rk.PRESCRIBER] != 0:
                call_routine(plan[rk.PRESCRIBER], model, sets, 0)
            failed = call_routine(plan[rk.PROJECTOR], model, what, plan[rk.ROUTINE])
            missed = where(load(model.projection, projection_steps.ERROR, 0) <= reach, missed, one(mark))
            if num_lanes(mark) == 1 and failed != 0:
                break
            after = float(CHANGED_Q) + zero(mark) if what == PROJECT_Q else changed + float(CHANGED_U)
            changed = where(load(model.projection, projection_steps.ITERATIONS, 0) > 0.0, after, changed)
        changed = where(missed > 0.0, -one(mark), changed)
    return where(mark > 0.0, changed, zero(mark))


@generic
def prescribe(model: Any, plan: Any) -> None:
    """Set the prescribed q and u at y."""
    if plan[rk.PRESCRIBER] != 0:
        call_routine(plan[rk.PRESCRIBER], model, SET_Q, 0)
        call_routine(plan[rk.ROUTINE], model, 0, POSITIONS | plan[rk.WANTED] & UNCHECKED)
        call_routine(plan[rk.PRESCRIBER], model, SET_U, 0)


@generic
def settle_between(model: Any, run: Any, at: Any, mark: Any) -> None:
    """Prescribe, and within the step project, y as interpolated at a time *at*, of states that are marked."""
    settle(model, run, where(at < load(run.control, rk.TIME, 0), where(mark > 0.0, one(at), zero(at)), zero(at)))


@generic
def settle(model: Any, run: Any, between: Any) -> None:
    """Prescribe, and project y of states that are *between* the ends of a step, where that is above 0."""
    projects = run.plan[rk.PROJECT_REPORTS] != 0 and projection_steps.any_positive(between)
    if not projects or run.plan[rk.PROJECTOR] == 0:
        prescribe(model, run.plan)
    if projects:
        project(model, run.plan, between, run.plan[rk.PROJECTION] | ALWAYS, run.settings[rk.TOLERANCE])


@generic
def finish_step(model: Any, plan: Any, mark: Any, kept: Any = None) -> None:
    """Called at the ends of steps, of states that are marked and realized there: for parts that remember.

    *kept* has room for what measures of the other lanes are to remember; of one state there is none.
    """
    if plan[rk.KEEPER] != 0:
        call_routine(plan[rk.KEEPER], model, ENDS, 0)
    elif model.measure_memory_size > 0:
        if kept is not None:
            measures.keep_next(model, kept)
        call_routine(model.measures[0], model, model.measure_runs[1], model.measure_runs[2])
        if kept is not None:
            measures.give_back_next(model, mark, kept)
    if model.bristle_rows > 0:
        finish_bristles(model, mark)


@generic
def begin_step(model: Any, plan: Any, time: float) -> None:
    """Called at the beginning of each attempt at a step, at *time*."""
    if plan[rk.KEEPER] != 0:
        store(model.time, 0, 0, time)
        call_routine(plan[rk.KEEPER], model, BEGINS, 0)
    measures.apply(model)
    if model.bristle_rows > 0:
        begin_bristles(model)


@generic
def energy(model: Any, plan: Any) -> float:
    """Kinetic and potential energy at y; positions and velocities are computed afresh."""
    call_routine(plan[rk.ROUTINE], model, 0, KINEMATICS)
    return momentum.kinetic_energy(model) + forces.total_potential_energy(model)
