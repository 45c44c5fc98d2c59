"""Controllers: sampled at their own rates, at ends of steps, their efforts held in between. Of records of one state only.

A controller is a force element. Its integers: where its memory begins in `control_memory`, how many mobilities it acts on, a
body and a number of one of its mobilities for each, then how many inputs, and of each `WIDTH` integers. Its numbers: the sample
time, the least and the largest effort of each mobility, then what inputs say.

    control_memory    number of the next sample, samples taken, number of the state among many; efforts; the law's memory; the
                      past of sensors that are late
    control_work      1 where the law has come to its end; time; efforts; then the inputs, each where its `OUT` says

What a controller computes with a nominal system of its own is in `tree/nominal.py`.

`gather` fills in the inputs (of a record with tangents, too, for `derivative.laws`), the law, which is a routine of its
user's, makes efforts of them, and `keep` remembers these. A sample is due at multiples of the sample time, the first at the
beginning of a run.
"""

from __future__ import annotations

import math
from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, load6, load_spatial, store_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import bare, cos, load, log, sqrt, store, where
from ..algebra.spatial import mul_inertia, shift_force, shift_motion
from ..compiling import compiled, generic, routine
from ..function import routines as functions
from . import composite_inertia, gravity_forces, jacobian_sweeps

#: Integers of an input: its kind, where it is in `control_work`, and up to four of its own.
WIDTH, OUT = 6, 1
# kinds of inputs
Q, U, Z, MASS_MATRIX, BIAS, GRAVITY, MEMORY, NUMBERS, JACOBIAN, JACOBIAN_BIAS, POSE, VELOCITY = range(12)
COORDINATES, WHICH, REFERENCE, SENSE, NOMINAL = range(12, 17)
#: Those that are there without bodies' poses and velocities.
_OF_VARIABLES = Q, U, Z, MEMORY, NUMBERS, COORDINATES, WHICH, REFERENCE, SENSE
#: In `sampler`: the routine that samples, `nominal.prepare`, then where the words of each nominal system begin.
SAMPLE, PREPARE, FIRST_NOMINAL = range(3)
# places in a controller's memory, and in `control_work`
NEXT, TAKEN, MEMBER, EFFORTS = range(4)
ENDED, TIME, WORK_EFFORTS = range(3)
#: Later than any time.
NEVER = 1e300
#: The part of a sample time by which rounding may make a time fall short of a multiple of it.
ROUNDING = 1e-9


# ---------------------------------------------------------------------------------------------- when


def member_places(tree: Any) -> list[int]:
    """The place at which controllers of a tree remember which of many states they are in: noise depends on it."""
    fields = tree.fields
    return [int(fields["force_integers"][fields["force_first_integer"][e]]) + MEMBER for e in fields["controller_element"]]


@generic
def due(model: Any, c: int) -> Any:
    """The time at which controller *c* is to be sampled next."""
    e = model.controller_element[c]
    i, x = model.force_first_integer[e], model.force_first_number[e]
    time = load(model.control_memory, model.force_integers[i] + NEXT, 0) * load(model.force_numbers, x, 0)
    if model.force_enabled[e] == 0:
        time = time + NEVER
    return time


@compiled
def due_of(block: Any, c: int) -> float:
    """`due`, called from Python."""
    return due(attach(block), c)


@generic
def next_sample(model: Any) -> Any:
    """The time at which the next of all controllers is to be sampled."""
    first = 0.0 * load(model.time, 0, 0) + NEVER
    for c in range(model.num_controllers):
        time = due(model, c)
        first = where(time < first, time, first)
    return first


@compiled
def next_sample_of(block: Any) -> float:
    """`next_sample`, called from Python."""
    return next_sample(attach(block))


@compiled
def begin_sampling(block: Any) -> None:
    """Prepare for a run from the record's time: a controller whose next sample is not due within one period is due now."""
    model = attach(block)
    time = load(model.time, 0, 0)
    for c in range(model.num_controllers):
        e = model.controller_element[c]
        at, period = (
            model.force_integers[model.force_first_integer[e]],
            load(model.force_numbers, model.force_first_number[e], 0),
        )
        planned = load(model.control_memory, at + NEXT, 0) * period
        if planned <= time or planned > time + (1.0 + ROUNDING) * period:
            store(model.control_memory, at + NEXT, 0, math.floor(time / period + ROUNDING))


def needs_kinematics(tree: Any) -> bool:
    """True if an input of one of a tree's controllers is made of poses or velocities of bodies."""
    fields = tree.fields
    integers = fields["force_integers"]
    for e in fields["controller_element"].tolist():
        i = int(fields["force_first_integer"][e])
        first = i + 2 + 2 * int(integers[i + 1])
        kinds = [int(integers[first + 1 + WIDTH * k]) for k in range(int(integers[first]))]
        if any(kind not in _OF_VARIABLES for kind in kinds):
            return True
    return False


@generic
def sample_due(model: Any, time: float) -> int:
    """Sample the controllers that are due at *time*, where the record is realized; 0 where all laws gave finite efforts."""
    status = 0
    for c in range(model.num_controllers):
        if due(model, c) <= time:
            status = status | call_routine(model.sampler[0], model, c, 0)
    return status


@routine
def sampler(model: Any, c: int, what: int) -> int:
    """One sample of controller *c*; 0, or what `keep` returns."""
    e = model.controller_element[c]
    gather(model, e)
    call_routine(model.controller[c], model, e, 0)
    return keep(model, e)


@compiled
def sample_element(block: Any, e: int) -> None:
    """The inputs and the law of the controller that is force element *e*, called from Python; `keep_of` is next."""
    model = attach(block)
    gather(model, e)
    for c in range(model.num_controllers):
        if model.controller_element[c] == e:
            call_routine(model.controller[c], model, e, 0)


@compiled
def gather_of(block: Any, e: int) -> None:
    """`gather`, called from Python, which then calls the law; of records with tangents, too."""
    gather(attach(block), e)


@compiled
def keep_of(block: Any, e: int) -> int:
    """`keep`, called from Python."""
    return keep(attach(block), e)


# ---------------------------------------------------------------------------------------------- what comes of it


@generic
def keep(model: Any, e: int) -> int:
    """Remember the efforts, within their limits, and the memory that the law has left.

    1, and all is as before, where the law has not come to its end, or an effort is not a number.
    """
    i, x = model.force_first_integer[e], model.force_first_number[e]
    at, n = model.force_integers[i], model.force_integers[i + 1]
    sound = load(model.control_work, ENDED, 0) == 1.0
    for k in range(n):
        effort = load(model.control_work, WORK_EFFORTS + k, 0)
        sound = sound and effort - effort == 0.0
    if not sound:
        return 1
    time, period = load(model.control_work, TIME, 0), load(model.force_numbers, x, 0)
    store(model.control_memory, at + NEXT, 0, math.floor(time / period + ROUNDING) + 1.0)
    store(model.control_memory, at + TAKEN, 0, load(model.control_memory, at + TAKEN, 0) + 1.0)
    for k in range(n):
        effort = load(model.control_work, WORK_EFFORTS + k, 0)
        low, high = load(model.force_numbers, x + 1 + k, 0), load(model.force_numbers, x + 1 + n + k, 0)
        if effort < low:
            effort = low
        if effort > high:
            effort = high
        store(model.control_memory, at + EFFORTS + k, 0, effort)
    first = i + 2 + 2 * n
    for k in range(model.force_integers[first]):
        j = first + 1 + WIDTH * k
        if model.force_integers[j] == MEMORY:
            for m in range(model.force_integers[j + 2]):
                value = load(model.control_work, model.force_integers[j + OUT] + m, 0)
                store(model.control_memory, at + model.force_integers[j + 3] + m, 0, value)
    return 0


# ---------------------------------------------------------------------------------------------- inputs


@generic
def gather(model: Any, e: int) -> None:
    """Write the inputs of a controller's law into `control_work`."""
    i, x = model.force_first_integer[e], model.force_first_number[e]
    at, n = model.force_integers[i], model.force_integers[i + 1]
    store(model.control_work, ENDED, 0, 0.0)
    store(model.control_work, TIME, 0, load(model.time, 0, 0))
    for k in range(n):
        store(model.control_work, WORK_EFFORTS + k, 0, math.nan)
    first = i + 2 + 2 * n
    for k in range(model.force_integers[first]):
        _input(model, i, x, at, first + 1 + WIDTH * k)


@generic
def _input(model: Any, i: int, x: int, at: int, j: int) -> None:
    """One input, whose integers begin at j; a, b, c and d are its own."""
    kind, out = model.force_integers[j], model.force_integers[j + OUT]
    a, b = model.force_integers[j + 2], model.force_integers[j + 3]
    c, d = model.force_integers[j + 4], model.force_integers[j + 5]
    if kind == Q:
        copy_rows(model, model.q, 0, out, a)
    elif kind == U:
        copy_rows(model, model.u, 0, out, a)
    elif kind == Z:
        copy_rows(model, model.z, 0, out, a)
    elif kind == MASS_MATRIX:
        mass_matrix(model, out)
    elif kind == BIAS:
        bias(model, out)
    elif kind == GRAVITY:
        gravity(model, out)
    elif kind == MEMORY:
        copy_rows(model, model.control_memory, at + b, out, a)
    elif kind == NUMBERS:
        copy_rows(model, model.force_numbers, x + b, out, a)
    elif kind == COORDINATES:
        _coordinates(model, out, a, i + b)
    elif kind == WHICH:
        for k in range(a):
            u = model.first_u[model.force_integers[i + 2 + 2 * k]] + model.force_integers[i + 3 + 2 * k]
            store(model.control_work, out + k, 0, 1.0 * u)
    elif kind == REFERENCE:
        _reference(model, out, a, b)
    elif kind == SENSE:
        _sense(model, out, a, at, b, x + c, d)
    elif kind == NOMINAL:
        if model.sampler[SAMPLE] != 0:  # records with tangents have none
            call_routine(model.sampler[PREPARE], model, model.sampler[FIRST_NOMINAL + a], 0)
    else:
        of_a_frame(model, kind, out, a, model.force_numbers, x + b)


@generic
def copy_rows(model: Any, field: Any, first: int, out: int, n: int) -> None:
    """N numbers of a field into the scratch."""
    for k in range(n):
        store(model.control_work, out + k, 0, load(field, first + k, 0))


@generic
def mass_matrix(model: Any, out: int) -> None:
    """M row by row: H_i^T phi M_C H_j, and the rotor inertia on the diagonal; see `explicit_mass_matrix`."""
    for k in range(model.nu * model.nu):
        store(model.control_work, out + k, 0, 0.0)
    composite_inertia.sweep(model)
    for b in range(1, model.nb):
        m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            w, v = load_spatial(model.H, i)
            torque, force = mul_inertia(m, mc, inertia, w, v)
            p = b
            while p > 0:
                for j in range(model.first_u[p], model.first_u[p] + model.num_u[p]):
                    entry = vec3.dot(load3(model.H, j, 0), torque) + vec3.dot(load3(model.H, j, 3), force)
                    store(model.control_work, out + model.nu * i + j, 0, entry)
                    store(model.control_work, out + model.nu * j + i, 0, entry)
                torque, force = shift_force(torque, force, load3(model.p_PB_G, p, 0))
                p = model.parent[p]
            at = out + (model.nu + 1) * i
            store(model.control_work, at, 0, load(model.control_work, at, 0) + load(model.rotor_inertia, i, 0))


@generic
def bias(model: Any, out: int) -> None:
    """J^T F0: what inertia takes at udot = 0, from rates of change of axes and gyroscopic torques."""
    jacobian_sweeps.clear(model.work_F, 1)
    for b in range(1, model.nb):
        torque, force = load_spatial(model.centrifugal, b)
        store_spatial(model.work_F, b, torque, force)
    jacobian_sweeps.inward(model, model.work_F, model.work_u)
    copy_rows(model, model.work_u, 0, out, model.nu)


@generic
def gravity(model: Any, out: int) -> None:
    """J^T F of all gravities, as generalized forces that act."""
    gravity_forces.sweep(model, model.work_u)
    copy_rows(model, model.work_u, 0, out, model.nu)


@generic
def of_a_frame(model: Any, kind: int, out: int, b: int, numbers: Any, x: int) -> None:
    """Quantities asked of a frame fixed on body b, whose origin, the station, is among the numbers at x."""
    p_S = load(numbers, x, 0), load(numbers, x + 1, 0), load(numbers, x + 2, 0)
    columns = tuple_of_columns(model, b)
    p = vec3.add(vec3.add(vec3.scale(p_S[0], columns[0]), vec3.scale(p_S[1], columns[1])), vec3.scale(p_S[2], columns[2]))
    if kind == JACOBIAN:
        _jacobian(model, out, b, p)
    elif kind == POSE:
        origin = vec3.add(load3(model.p_GB, b, 0), p)
        for r in range(3):
            for k in range(3):
                store(model.control_work, out + 4 * r + k, 0, load(model.R_GB, b, 3 * r + k))
            store(model.control_work, out + 12 + r, 0, 0.0)
        store(model.control_work, out + 3, 0, origin[0])
        store(model.control_work, out + 7, 0, origin[1])
        store(model.control_work, out + 11, 0, origin[2])
        store(model.control_work, out + 15, 0, 1.0)
    elif kind == VELOCITY:
        w, v = shift_motion(load3(model.V_GB, b, 0), load3(model.V_GB, b, 3), p)
        _store6(model, out, w, v)
    else:
        alpha, a = load_spatial(model.coriolis, b)
        w = load3(model.V_GB, b, 0)
        _store6(model, out, alpha, vec3.add(vec3.add(a, vec3.cross(alpha, p)), vec3.cross(w, vec3.cross(w, p))))


@generic
def tuple_of_columns(model: Any, b: int) -> Any:
    """The columns of R_GB."""
    rows = load3(model.R_GB, b, 0), load3(model.R_GB, b, 3), load3(model.R_GB, b, 6)
    return (
        (rows[0][0], rows[1][0], rows[2][0]),
        (rows[0][1], rows[1][1], rows[2][1]),
        (rows[0][2], rows[1][2], rows[2][2]),
    )


@generic
def _store6(model: Any, out: int, w: Any, v: Any) -> None:
    for k in range(3):
        store(model.control_work, out + k, 0, w[k])
        store(model.control_work, out + 3 + k, 0, v[k])


@generic
def _jacobian(model: Any, out: int, b: int, p: Any) -> None:
    """Six rows, angular first, of a station p from body b's origin, in Ground; see `jacobian.calc_frame_jacobian`."""
    for k in range(6 * model.nu):
        store(model.control_work, out + k, 0, 0.0)
    while b > 0:
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            w, v = load_spatial(model.H, i)
            w, v = shift_motion(w, v, p)
            for k in range(3):
                store(model.control_work, out + k * model.nu + i, 0, w[k])
                store(model.control_work, out + (3 + k) * model.nu + i, 0, v[k])
        p = vec3.add(p, load3(model.p_PB_G, b, 0))
        b = model.parent[b]


@generic
def _coordinates(model: Any, out: int, n: int, first: int) -> None:
    """q, then u, of n mobilities: bodies and numbers are among the integers from *first* on."""
    for k in range(n):
        b, which = model.force_integers[first + 2 * k], model.force_integers[first + 2 * k + 1]
        store(model.control_work, out + k, 0, load(model.q, model.first_q[b] + which, 0))
        store(model.control_work, out + n + k, 0, load(model.u, model.first_u[b] + which, 0))


@generic
def _reference(model: Any, out: int, n: int, first: int) -> None:
    """Values of n functions of time, then their rates, then the rates of these."""
    for k in range(n):
        f, slope, bend = functions.jet(model, first + k, load(model.time, 0, 0))
        store(model.control_work, out + k, 0, f)
        store(model.control_work, out + n + k, 0, slope)
        store(model.control_work, out + 2 * n + k, 0, bend)


# ---------------------------------------------------------------------------------------------- sensors


@generic
def _sense(model: Any, out: int, n: int, at: int, past: int, x: int, seed: int) -> None:
    """n numbers as a sensor gives them: late by whole samples, with noise. Numbers: standard deviation, samples of delay."""
    deviation, delay = load(model.force_numbers, x, 0), int(bare(load(model.force_numbers, x + 1, 0)))
    member = int(bare(load(model.control_memory, at + MEMBER, 0)))
    sample = int(bare(load(model.control_memory, at + TAKEN, 0)))
    if deviation > 0.0:
        for k in range(n):
            noise = deviation * normal(seed, member, sample, k)
            store(model.control_work, out + k, 0, load(model.control_work, out + k, 0) + noise)
    if delay > 0:  # before there is a past, the first sample is
        first = at + past
        for k in range(n):
            now = load(model.control_work, out + k, 0)
            if sample == 0:
                for s in range(delay):
                    store(model.control_memory, first + n * s + k, 0, now)
            place = first + n * (sample % delay) + k
            store(model.control_work, out + k, 0, load(model.control_memory, place, 0))
            store(model.control_memory, place, 0, now)


@generic
def mixed(h: int) -> int:
    """32 bits of 32 bits, each bit of which depends on all. Source: Ettinger's constants for a hash of two multiplications."""
    h = h ^ (h >> 16)
    h = (h * 0x21F0AAAD) & 0xFFFFFFFF
    h = h ^ (h >> 15)
    h = (h * 0x735A2D97) & 0xFFFFFFFF
    return h ^ (h >> 15)


@generic
def normal(seed: int, member: int, sample: int, k: int) -> float:
    """A number of the standard normal distribution, a function of these four: by Box and Muller, of two uniform ones."""
    h = mixed((mixed((mixed((mixed(seed & 0xFFFFFFFF) + member) & 0xFFFFFFFF) + sample) & 0xFFFFFFFF) + k) & 0xFFFFFFFF)
    first, second = mixed(h), mixed((h + 0x3C6EF372) & 0xFFFFFFFF)
    return sqrt(-2.0 * log((first + 0.5) / 4294967296.0)) * cos(6.283185307179586 * (second + 0.5) / 4294967296.0)


@generic
def push_efforts(model: Any, i: int, x: int) -> None:
    """The efforts that are held, as forces of the element whose integers begin at i."""
    at, n = model.force_integers[i], model.force_integers[i + 1]
    for k in range(n):
        u = model.first_u[model.force_integers[i + 2 + 2 * k]] + model.force_integers[i + 3 + 2 * k]
        store(model.mobility_forces, u, 0, load(model.mobility_forces, u, 0) + load(model.control_memory, at + EFFORTS + k, 0))
