"""Realize a state: the one compiled call behind `System.realize`, from what is valid to what is wanted."""

from typing import Any

from .._jit import compiled, generic, routine
from ..algebra import angles, vec3
from ..algebra.memory import load3
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load
from ..constraint import _what as constraint_what
from ..force import _switch as forces
from ..mobilizer._by_address import BY_ADDRESS
from . import acceleration, articulated_inertia, particles, position, prescribe, velocity

#: Beside what is wanted: do not look for values that are not finite. In lanes, where a bad state must not stop the others.
UNCHECKED = 64
#: Beside what is wanted: leave out q_dot and q_dot_dot.
NO_RATES = 128
#: Beside what is wanted: keep X_FM of no body. In lanes these are an eighth of what a sweep writes to the cache.
NO_MOBILIZERS = 256

#: What of a state is valid: bits, one for each lazy entry.
POSITIONS, VELOCITIES, COMPOSITE, ARTICULATED, FORCES, ACCELERATIONS = 1, 2, 4, 8, 16, 32
#: Beside these: the forces of the elements that read positions only are kept. Wanted of a state that Python realizes, where u
#: may change alone; integrators, which change all at once, do not ask for it.
KEPT_FORCES = 512
#: What is no longer valid when u changes; when q does, nothing is.
DEPENDS_ON_U = VELOCITIES | FORCES | ACCELERATIONS

#: What `realize` returns.
DONE, BAD_INPUT, BAD_U_DOT, BAD_KINEMATICS = 0, 1, 2, 3


@generic
def nothing_of(rows: Any, n: int, total: Any) -> Any:
    """Add zero times each of n numbers of a column to *total*: zero still, or NaN where one of them is not finite."""
    for i in range(n):
        total = total + 0.0 * load(rows, i, 0)
    return total


@routine
def advance(model: Any, valid: int, wanted: int) -> int:
    """Compute what is wanted, and all that it needs, as far as it is not valid yet; both are sums of bits."""
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
    # one loop where both are wanted: what a body's position step stored is still at hand for its velocity step
    rates, kept = wanted & NO_RATES == 0, 1
    if wanted & NO_MOBILIZERS != 0:
        kept = 0
    if positions:
        angles.sweep(model)
    for b in range(1, model.nb):
        if positions:
            position.step(model, b, kept * b)
        if velocities:
            velocity.step(model, b, kept * b, rates)
    if model.nc > 0:
        if positions:
            call_routine(model.constrain[0], model, constraint_what.POSITIONS, 0)
        if velocities:
            call_routine(model.constrain[0], model, constraint_what.VELOCITIES, 0)
    if missing & FORCES != 0:
        # flags: what is valid is kept, what is wanted is to be
        forces.sweep(model, (valid & KEPT_FORCES) // KEPT_FORCES + 2 * ((wanted & KEPT_FORCES) // KEPT_FORCES))
        if model.measures[0] != 0:
            call_routine(model.measures[0], model, 0, model.measure_runs[0])
    articulated, accelerations = missing & ARTICULATED != 0, missing & ACCELERATIONS != 0
    if accelerations:
        prescribe.sweep(model)
    for b in range(model.nb - 1, 0, -1):
        if articulated:
            articulated_inertia.step(model, b)
        if accelerations:
            acceleration.inward_step(model, b)
    if accelerations:
        if model.nc > 0:
            call_routine(model.constrain[0], model, constraint_what.ACCELERATIONS, 0)
        acceleration.outward_sweep(model, rates)
        particles.rates(model)
        if model.measures[0] != 0:
            call_routine(model.measures[0], model, model.measure_runs[0], model.measure_runs[1])
        if checked:
            total = nothing_of(model.u_dot, model.nu, 0.0 * load(model.time, 0, 0))
            total = nothing_of(model.particle_acceleration, model.particle_size, total)
            if any_not_finite(total):
                return BAD_U_DOT
    return DONE


@compiled
def realize(block: Any, address: int, valid: int, wanted: int) -> int:
    """`advance`, at *address*, for a state's record; called from Python, and from kernels."""
    return call_routine(address, attach(block), valid, wanted)


@compiled
def realize_checked(block: Any, address: int, valid: int, wanted: int) -> int:
    """`realize` for a system with users' functions: BAD_KINEMATICS where these have given something that is not finite."""
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
    """Realize over and over, with everything invalid: what a compiled loop costs, for the benchmarks."""
    model = attach(block)
    status = 0
    for _ in range(times):
        status |= call_routine(address, model, 0, wanted)
    return status
