"""The compiled loop over steps of `TimeStepping`, for surfaces that touch and systems without parts in Python.

A step is that of `TimeStepping`: speeds by the problem of what touches where it begins, coordinates by the new speeds.
"""

from __future__ import annotations

from typing import Any

from ..algebra.memory import load3
from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from ..force.contact import broad_phase
from ..force.contact.law import velocity_at
from ..force.contact.step_limit import NEVER, half_thickness
from ..mobilizer._rates import find_q_dot
from ..stepping import errors, limits, loop, rows
from ..stepping import record as rk
from ..stepping.evaluate import ALWAYS, energy, evaluate, finish_step, permitted_step, prescribe, project
from ..unilateral.stepped import space as names
from ..unilateral.stepped.joints import find_pushes
from ..unilateral.stepped.points import find_points, recall, remember, renew_limits
from ..unilateral.stepped.solve import find_problem, push_free, solve, weigh

#: What `advance` returns beside the others: the space is too small; the impulses have not been found.
NO_ROOM, NO_IMPULSES = 10, 11
#: How often impulses are solved for in a step while the limits of rolling and spinning resistance change.
TURNS = 2
#: Rows of `tries`: the end of a step, its middle, its end by two halves.
_WHOLE, _MIDDLE, _HALVES = range(3)


@generic
def _step(model: Any, space: Any, h: float, out: Any) -> int:
    """y a step on from the record as it is realized; DONE, NO_ROOM or NO_IMPULSES."""
    vectors, place = space.vectors, space.place_of_speed
    first = model.whole_nq
    for i in range(model.nu):
        u = load(model.u, i, 0)
        vectors[names.SPEED, place[i]] = u
        vectors[names.FREE, place[i]] = u + h * load(model.u_dot, i, 0)
    find_points(model, space, h)
    pushed = find_pushes(model, space, h)
    result = names.FREE
    if space.counts[names.POINTS] > 0:
        if not find_problem(model, space):
            return NO_ROOM
        if pushed:
            push_free(space)
        ratio = 1.0
        if space.measures[names.LAST_STEP] > 0.0:
            ratio = h / space.measures[names.LAST_STEP]
        recall(space, ratio)
        found = False
        for _ in range(TURNS):  # the limits of what resists rolling follow the normal impulses
            found = solve(space)
            if not found or not renew_limits(space):
                break
        remember(space)
        space.measures[names.LAST_STEP] = h
        if not found:
            space.counts[names.KEPT] = 0
            return NO_IMPULSES
        result = names.NEW
    else:
        space.counts[names.KEPT] = 0
        if pushed:
            weigh(model, space)
            push_free(space)
    for i in range(model.ny):
        out[i] = load(model.y, i, 0) + h * load(model.y_dot, i, 0)
    n = model.particle_size
    begin = model.ny - 2 * n
    for i in range(begin, begin + n):  # by their new velocities
        out[i] = load(model.y, i, 0) + h * out[i + n]
    # q_dot by the new speeds, for which the record has them for a moment
    for row in (result, names.SPEED):
        for i in range(model.nu):
            store(model.u, i, 0, vectors[row, place[i]])
        for b in range(1, model.nb):
            find_q_dot(model, b)
        if row == result:
            for i in range(model.nu):
                out[first + i] = vectors[row, place[i]]
            for i in range(model.nq):
                out[i] = load(model.q, i, 0) + h * load(model.q_dot, i, 0)
    return rk.DONE


@generic
def _arrive(model: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """Prescribe, project and realize at y."""
    rows.set_y(model, time, y)
    prescribe(model, counts)
    if loop.project_now(model, control, counts, counts[rk.PROJECTION]) < 0:
        return rk.NOT_PROJECTED
    status = evaluate(model, counts)
    counts[rk.EVALUATIONS] += 1
    if status != 0:
        counts[rk.REALIZATION_FAILURES] += 1
        return rk.NOT_FINITE
    return rk.DONE


@compiled
def arrive(block: Any, control: Any, counts: Any, time: float, y: Any) -> int:
    """Prescribe, project and realize at y, for steps that Python takes; DONE, NOT_PROJECTED or NOT_FINITE."""
    return _arrive(attach(block), control, counts, time, y)


@generic
def _attempt(model: Any, space: Any, work: Any, control: Any, counts: Any, time: float, h: float, controlled: bool) -> int:
    """The end of a step in the row HALVES of tries; where it is controlled, its errors in their row."""
    tries, before = space.tries, space.counts[names.PROBLEMS]
    # the call of _step stands here once: all of it is inlined, and compiled as often as it stands
    for row in range(_WHOLE if controlled else _HALVES, _HALVES + 1):
        part = 0.5 if controlled and row != _WHOLE else 1.0
        status = _step(model, space, part * h, tries[row])
        if status == rk.DONE and row == _MIDDLE:
            status = _arrive(model, control, counts, time + 0.5 * h, tries[_MIDDLE])
        if status != rk.DONE:
            return status
    if not controlled:
        return rk.DONE
    errors, first = work.shape[0] - 3, model.whole_nq
    for i in range(model.ny):
        work[errors, i] = tries[_HALVES, i] - tries[_WHOLE, i]
    if space.counts[names.PROBLEMS] > before:  # speeds jump: what comes to touch has gap / h in one step, and none in the next
        for i in range(first, first + model.nu):
            work[errors, i] *= min(1.0, h)
    rows.set_y(model, time + h, tries[_HALVES])
    return rk.DONE


@generic
def _is_fast(model: Any, space: Any, h: float) -> bool:
    """Whether a surface moves so far in a step that it may pass another one unnoticed."""
    for k in range(space.elements.shape[0]):
        i = model.force_first_integer[space.elements[k, 0]]
        start = model.force_integers[i + broad_phase.FIRST_SURFACE]
        for s in range(start, start + model.force_integers[i + broad_phase.NUM_SURFACES]):
            b = model.surface_body[s]
            size = half_thickness(model, s, 0)
            if b > 0 and size < NEVER:
                v = velocity_at(model, b, load3(model.surface_frame, s, 9), 0)
                if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5 * h > 0.5 * size:
                    return True
    return False


@generic
def _report(model: Any, work: Any, control: Any, counts: Any, at: float) -> None:
    """y between the ends of the last step, linearly, prescribed and projected."""
    previous, last = control[rk.PREVIOUS_TIME], control[rk.TIME]
    part = 1.0
    if at < last:
        part = (at - previous) / (last - previous)
    store(model.time, 0, 0, at)
    for i in range(model.ny):
        value = work[rk.Y, i]
        if part < 1.0:
            value = (1.0 - part) * work[rk.Y_PREVIOUS, i] + part * value
        store(model.y, i, 0, value)
    prescribe(model, counts)
    if counts[rk.PROJECT_REPORTS] != 0 and at < last:
        project(model, counts, counts[rk.PROJECTION] | ALWAYS, control[rk.TOLERANCE])


@compiled
def advance(
    block: Any, work: Any, table: Any, control: Any, counts: Any, times: Any, results: Any, energies: Any, space: Any
) -> int:
    """As `stepping.loop` says of such loops; NO_ROOM, with the record where the step began, to be called again."""
    model = attach(block)
    taken, here = 0, False
    while counts[rk.REPORT] < times.shape[0]:
        k = counts[rk.REPORT]
        if times[k] <= min(control[rk.TIME], control[rk.TARGET]):
            _report(model, work, control, counts, times[k])
            rows.report_row(model, results[k])
            if energies.shape[0] == times.shape[0]:
                energies[k] = energy(model, counts)
            counts[rk.REPORT] += 1
            here = False
            continue
        if control[rk.TIME] >= control[rk.TARGET]:
            return rk.REACHED
        if taken >= counts[rk.LIMIT]:
            return rk.PAUSED
        time = control[rk.TIME]
        fixed = control[rk.FIXED_STEP]
        controlled = fixed == 0.0 and counts[rk.FORCED] == 0
        if not here:
            rows.set_y(model, time, work[rk.Y])
            evaluate(model, counts)
            counts[rk.EVALUATIONS] += 1
            here = True
        h = fixed
        if fixed == 0.0:
            h = min(control[rk.STEP], control[rk.MAX_STEP])
            if counts[rk.LIMITER] != 0:
                h = max(permitted_step(model, counts[rk.LIMITER], limits.DEEPER, h), control[rk.MIN_STEP])
        end = control[rk.FINAL_TIME]
        if counts[rk.NO_INTERPOLATION] != 0:
            end = min(end, times[k])
        clipped = h > 0.999 * (end - time)
        if clipped:
            h = end - time
        counts[rk.ATTEMPTS] += 1
        newton = space.counts[names.NEWTON]
        status = _attempt(model, space, work, control, counts, time, h, controlled)
        if status == NO_ROOM:
            counts[rk.ATTEMPTS] -= 1
            return NO_ROOM
        counts[rk.ITERATIONS] += space.counts[names.NEWTON] - newton
        error = 1e300
        if status == rk.DONE:
            error = 0.0
            if controlled:
                error = errors.error_norm(model, work, work[work.shape[0] - 4], counts[rk.MEAN_NORM])
            if error <= control[rk.ACCURACY]:
                status = _arrive(model, control, counts, end if clipped else time + h, space.tries[_HALVES])
                if status != rk.DONE:
                    error = 1e300
            else:
                counts[rk.ERROR_FAILURES] += 1
        elif status == NO_IMPULSES:
            counts[rk.CONVERGENCE_FAILURES] += 1
        if error <= control[rk.ACCURACY]:
            finish_step(model)
            rows.shift_step(model, work)
            control[rk.PREVIOUS_TIME] = time
            control[rk.TIME] = end if clipped else time + h
            control[rk.LAST_STEP] = h
            if counts[rk.STEPS] == 0:
                control[rk.FIRST_STEP] = h
            counts[rk.STEPS] += 1
            counts[rk.FORCED] = 0
            taken += 1
            if fixed == 0.0:
                growth = 2.0
                if error > 0.0:
                    growth = min(2.0, 0.8 * (control[rk.ACCURACY] / error) ** 0.5)
                if not clipped or growth * h > control[rk.STEP]:
                    control[rk.STEP] = max(control[rk.MIN_STEP], growth * h)
            elif counts[rk.LIMITER] != 0 and counts[rk.PASSES] == 0 and _is_fast(model, space, h):
                if permitted_step(model, counts[rk.LIMITER], limits.MISSED, h) < h:
                    counts[rk.PASSES] = 1
            if counts[rk.WATCHES] != 0:  # witnesses are looked at by Python
                return rk.SUSPECT
            continue
        here = False
        if fixed > 0.0 or h <= control[rk.MIN_STEP] or time + 0.1 * h == time:
            if status == rk.DONE:
                return rk.STEP_TOO_SMALL
            return status
        shrink = 0.25
        if error < 1e299:
            shrink = max(0.1, 0.8 * (control[rk.ACCURACY] / error) ** 0.5)
        control[rk.STEP] = max(control[rk.MIN_STEP], shrink * h)
    return rk.REACHED


__all__ = ["NO_IMPULSES", "NO_ROOM", "advance", "arrive"]
