"""Realize a state: the one compiled call behind `System.realize`. All sweeps in their order."""

from typing import Any

from ..algebra import angles, object_access as objects, vec3
from ..algebra.memory import load3
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, store
from ..compiling import compiled, generic, routine
from ..constraint import protocol as constraint_what
from ..force import dispatch as forces
from ..mobilizer.routines import BY_ADDRESS
from ..state.fields import Record
from ..state.validity import (
    ACCELERATIONS,
    ARTICULATED,
    FORCES,
    KEPT_FORCES,
    KINEMATICS,
    NO_MOBILIZERS,
    NO_RATES,
    POSITIONS,
    UNCHECKED,
    VELOCITIES,
)
from . import acceleration, articulated_inertia, particles, position, prescribe, sliding, velocity

#: What `realize` returns; the last where nothing has been done, as the caller has given other than plain arrays.
DONE, BAD_INPUT, BAD_U_DOT, BAD_KINEMATICS, NOT_PLAIN = 0, 1, 2, 3, 4

#: Bodies up to which a call takes some microseconds.
_QUICK = 64


@generic
def takes_long(model: Record) -> bool:
    """True if other threads of Python are to run meanwhile: what a user's force or a contact takes nobody knows."""
    return model.nb > _QUICK or model.nc > 0 or model.all_runs[0] != 0 or model.measures[0] != 0


@generic
def nothing_of(rows: Any, n: int, total: Any) -> Any:
    """*total* plus zero times each of n numbers: NaN if one of them is not finite."""
    for i in range(n):
        total = total + 0.0 * load(rows, i, 0)
    return total


@routine
def kinematics(model: Record, valid: int, wanted: int) -> int:
    """Positions and velocities of all bodies, outward, as far as they are wanted and not valid."""
    missing = wanted & ~valid
    positions, velocities = missing & POSITIONS != 0, missing & VELOCITIES != 0
    rates, rows_a_body = wanted & NO_RATES == 0, 1
    if wanted & NO_MOBILIZERS != 0:
        rows_a_body = 0  # all bodies' X_FM into one row
    if positions:
        angles.sweep(model)
    # one loop for both: what a body's position step has stored is still in the cache for its velocity step
    for b in range(1, model.nb):
        if positions:
            position.step(model, b, rows_a_body * b)
        if velocities:
            velocity.step(model, b, rows_a_body * b, rates)
    return DONE


@routine
def dynamics(model: Record, valid: int, wanted: int) -> int:
    """Articulated inertias, inward, and accelerations, inward and outward, as far as they are wanted and not valid."""
    missing = wanted & ~valid
    articulated, accelerations = missing & ARTICULATED != 0, missing & ACCELERATIONS != 0
    if accelerations:
        prescribe.sweep(model)
        if model.num_slips > 0 and model.num_groups[0] > 0:
            call_routine(model.constrain[constraint_what.SLIDE], model, 0, sliding.TAKE_BACK)
    for b in range(model.nb - 1, 0, -1):
        if articulated:
            articulated_inertia.step(model, b)
        if accelerations:
            acceleration.inward_step(model, b)
    if accelerations:
        if model.nc > 0:
            call_routine(model.constrain[0], model, constraint_what.ACCELERATIONS, 0)
        acceleration.outward_sweep(model, wanted & NO_RATES == 0)
        particles.rates(model)
    return DONE


@generic
def _advance(model: Record, valid: int, wanted: int, holds: bool) -> int:
    missing = wanted & ~valid
    positions, velocities = missing & POSITIONS != 0, missing & VELOCITIES != 0
    checked = wanted & UNCHECKED == 0
    if checked:
        total = 0.0 * load(model.time, 0, 0)
        if positions:
            total = nothing_of(model.q, model.nq, total)
            total = nothing_of(model.particle_location, model.particle_size, total)
        if velocities:
            total = nothing_of(model.u, model.nu, total)
            total = nothing_of(model.particle_velocity, model.particle_size, total)
        if any_not_finite(total):
            return BAD_INPUT
    if positions or velocities:
        call_routine(model.kinematics_sweep[0], model, valid, wanted)
    if model.nc > 0:
        if positions:
            call_routine(model.constrain[0], model, constraint_what.POSITIONS, 0)
        if velocities:
            call_routine(model.constrain[0], model, constraint_what.VELOCITIES, 0)
    if missing & FORCES != 0:
        if model.num_slips > 0 and model.num_groups[0] > 0:
            sliding.forget(model)
        # flags of `force.dispatch`: forces of positions are kept already, and are to be kept
        forces.sweep(model, (valid & KEPT_FORCES) // KEPT_FORCES + 2 * ((wanted & KEPT_FORCES) // KEPT_FORCES))
        if model.measures[0] != 0:
            call_routine(model.measures[0], model, 0, model.measure_runs[0])
        if holds:
            for i in range(model.nu):
                store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + load(model.witness_numbers, i, 0))
    accelerations = missing & ACCELERATIONS != 0
    if accelerations or missing & ARTICULATED != 0:
        call_routine(model.dynamics_sweep[0], model, valid, wanted)
    if accelerations:
        if model.measures[0] != 0:
            call_routine(model.measures[0], model, model.measure_runs[0], model.measure_runs[1])
        if checked:
            total = nothing_of(model.u_dot, model.nu, 0.0 * load(model.time, 0, 0))
            total = nothing_of(model.particle_acceleration, model.particle_size, total)
            if any_not_finite(total):
                return BAD_U_DOT
    return DONE


@routine
def advance(model: Record, valid: int, wanted: int) -> int:
    """Compute what is wanted and not yet valid, sums of bits of `validity`; what it needs has to be wanted or valid too.

    Its two largest parts are routines of their own, which two processors can compile at once.
    """
    return _advance(model, valid, wanted, False)


@routine
def advance_holding(model: Record, valid: int, wanted: int) -> int:
    """`advance`, with mobility forces that a run holds beside those of the elements: it shares them as `witness_numbers`."""
    return _advance(model, valid, wanted, True)


@compiled
def realize(block: Any, address: int, valid: int, wanted: int) -> int:
    """`advance`, at *address*, for a state's record; called from Python, and from kernels."""
    return call_routine(address, attach(block), valid, wanted)


@objects.compiled_for_callers
def realize_state(block: Any, address: Any, valid: Any, wanted: Any) -> Any:
    """`realize` as Python calls it."""
    model, routine, known, missing = (
        objects.record_of(block),
        objects.number(address),
        objects.number(valid),
        objects.number(wanted),
    )
    released = objects.release_gil(takes_long(model))
    status = call_routine(routine, model, known, missing)
    objects.acquire_gil(released)
    return objects.as_object(status)


@generic
def hold_back(model: Record, i: int, more: Any) -> None:
    """Add to the force on mobility i; what the elements have added up to is kept in `work_u`."""
    x = load(model.mobility_forces, i, 0)
    store(model.work_u, i, 0, x)
    store(model.mobility_forces, i, 0, x + more)


@generic
def give_back(model: Record) -> None:
    """Subtract the mobility forces of one call, so that the elements' alone remain."""
    for i in range(model.nu):
        store(model.mobility_forces, i, 0, load(model.work_u, i, 0))


@generic
def before_accelerations(wanted: int) -> int:
    """The results that are computed before forces on the mobilities may be added for a call alone."""
    return wanted & ~(ARTICULATED | ACCELERATIONS)


@generic
def advance_with(model: Record, address: int, valid: int, wanted: int, forces: Any) -> int:
    """`advance`, at *address*, with *forces* on the mobilities for this call alone, beside the elements', as a field."""
    status = call_routine(address, model, valid, before_accelerations(wanted))
    if status == DONE:
        for i in range(model.nu):
            hold_back(model, i, load(forces, i, 0))
        status = call_routine(address, model, valid | wanted & (KINEMATICS | FORCES), wanted)
        give_back(model)
    return status


@generic
def all_finite(forces: Any, n: int) -> bool:
    """True if forces that a caller has given can be used."""
    return not any_not_finite(nothing_of(forces, n, 0.0))


@objects.compiled_for_callers
def realize_with(block: Any, routine: Any, valid: Any, wanted: Any, own_q: Any, own_u: Any, q: Any, u: Any, forces: Any) -> Any:
    """`realize_at` with forces on the mobilities beside the elements', from what is *valid* on."""
    model, known, missing = objects.record_of(block), objects.number(valid), objects.number(wanted)
    if not (objects.is_like(q, own_q) and objects.is_like(u, own_u) and objects.is_row(forces, own_u, model.nu)):
        return objects.as_object(NOT_PLAIN)
    if not all_finite(objects.numbers(forces), model.nu):
        return objects.as_object(NOT_PLAIN)
    objects.copy(q, own_q)
    objects.copy(u, own_u)
    released = objects.release_gil(takes_long(model))
    status = advance_with(model, objects.integer(routine), known, missing, objects.numbers(forces))
    objects.acquire_gil(released)
    return objects.as_object(status)


@objects.compiled_for_callers
def realize_at(block: Any, routine: Any, wanted: Any, own_q: Any, own_u: Any, q: Any, u: Any) -> Any:
    """`realize` from nothing valid, with q and u as a caller has given them, which become the state's own."""
    if not (objects.is_like(q, own_q) and objects.is_like(u, own_u)):
        return objects.as_object(NOT_PLAIN)
    objects.copy(q, own_q)
    objects.copy(u, own_u)
    model, missing = objects.record_of(block), objects.number(wanted)
    released = objects.release_gil(takes_long(model))
    status = call_routine(objects.integer(routine), model, 0, missing)
    objects.acquire_gil(released)
    return objects.as_object(status)


@compiled
def realize_checked(block: Any, address: int, valid: int, wanted: int) -> int:
    """`realize` for a system with users' functions: BAD_KINEMATICS where these gave numbers that are not finite."""
    model = attach(block)
    status = call_routine(address, model, valid, wanted)
    missing = wanted & ~valid
    if status == DONE:
        total = 0.0 * load(model.time, 0, 0)
        for b in range(1, model.nb):
            if model.kind[b] == BY_ADDRESS:
                if missing & POSITIONS != 0:
                    total = total + 0.0 * vec3.dot(load3(model.p_FM, b, 0), load3(model.p_FM, b, 0))
                    for k in range(9):
                        total = total + 0.0 * load(model.R_FM, b, k)
                for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                    for k in range(6):
                        if missing & POSITIONS != 0:
                            total = total + 0.0 * load(model.H_FM, i, k)
                if missing & VELOCITIES != 0:
                    for k in range(6):
                        total = total + 0.0 * load(model.bias_FM, b, k)
        if missing & VELOCITIES != 0:
            total = nothing_of(model.q_dot, model.nq, total)
        if any_not_finite(total):
            return BAD_KINEMATICS
    return status


@compiled
def repeat(block: Any, address: int, wanted: int, times: int) -> int:
    """Realize from nothing valid, *times* over: the compiled loop of the benchmarks."""
    model = attach(block)
    status = 0
    for _ in range(times):
        status |= call_routine(address, model, 0, wanted)
    return status
