"""The work of a thread: take the variables of a template, realize, and fixed steps; routines of a record of `threads`.

Each is told what to do by a job, a run of integers at an address, which `ensemble` writes.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import call_routine
from ..algebra.scalar import load, one, store
from ..compiling import generic
from ..state.validity import POSITIONS, UNCHECKED, VELOCITIES
from ..stepping import record as rk
from ..stepping.evaluate import ALWAYS, evaluate, normalize, prescribe, project

# places in a job after those of a run's plan, in which routines are numbers: the stages of the method, 0 for semi-explicit
# Euler, and of steps
STAGES, STEPS = range(rk.PLAN_SIZE, rk.PLAN_SIZE + 2)
# ... addresses of the constants, of rows of rates, of torques, of where failures are said
CONSTANTS, WORK, TORQUES, FAILED = range(rk.PLAN_SIZE + 2, rk.PLAN_SIZE + 6)
# ... of the template's numbers, of where they go, and how many there are
TEMPLATE, BUFFER, SIZE = range(rk.PLAN_SIZE + 6, rk.PLAN_SIZE + 9)
JOB_SIZE = rk.PLAN_SIZE + 9
# places among the constants: step size, the tolerance of projection, then the method's table, row by row
STEP, ACCURACY, TABLE = range(3)


def integers_at(address: int) -> Any:
    """The integers at an address, the same for all threads."""
    raise NotImplementedError("compiled only")


def numbers_at(address: int) -> Any:
    """The numbers at an address, the same for all threads."""
    raise NotImplementedError("compiled only")


def rows_at(address: int) -> Any:
    """The field of one column at an address, of which each thread has its own numbers."""
    raise NotImplementedError("compiled only")


@generic
def spread(model: Any, job_at: int, unused: int) -> int:
    """Take the template's variables."""
    job = integers_at(job_at)
    template, own = numbers_at(job[TEMPLATE]), rows_at(job[BUFFER])
    for i in range(job[SIZE]):
        store(own, i, 0, load(template, i, 0))
    return 0


@generic
def realize(model: Any, job_at: int, unused: int) -> int:
    """Realize to ACCELERATION."""
    job = integers_at(job_at)
    _evaluate(model, job)
    _say(model, job)
    return 0


@generic
def fixed_steps(model: Any, job_at: int, unused: int) -> int:
    """So many steps of an explicit Runge-Kutta method, or of semi-explicit Euler, each projected onto the constraints."""
    job = integers_at(job_at)
    constants, work = numbers_at(job[CONSTANTS]), rows_at(job[WORK])
    h, begin = load(constants, STEP, 0), load(model.time, 0, 0)
    for step in range(job[STEPS]):
        time = begin + step * h
        if job[STAGES] == 0:
            _semi_explicit_euler(model, job, h)
        else:
            _runge_kutta(model, job, constants, work, time, h)
        store(model.time, 0, 0, begin + (step + 1) * h)
        _to_manifold(model, job, load(constants, ACCURACY, 0))
    _say(model, job)
    return 0


@generic
def _evaluate(model: Any, job: Any) -> None:
    """Prescribe, and realize to ACCELERATION, with the torques of the job added to the elements' forces."""
    evaluate(model, job, rows_at(job[TORQUES]))


@generic
def _semi_explicit_euler(model: Any, job: Any, h: float) -> None:
    """u and z by the rates at the step's beginning, q by the new u: see `mobod.integrator.SemiExplicitEuler`."""
    _evaluate(model, job)
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.whole_nq, model.ny):
        if i < first or i >= first + n:
            store(model.y, i, 0, load(model.y, i, 0) + h * load(model.y_dot, i, 0))
    call_routine(job[rk.ROUTINE], model, POSITIONS, VELOCITIES | UNCHECKED)
    for i in range(model.whole_nq):
        store(model.q, i, 0, load(model.q, i, 0) + h * load(model.q_dot, i, 0))
    for i in range(n):
        store(model.particle_location, i, 0, load(model.particle_location, i, 0) + h * load(model.particle_velocity, i, 0))


@generic
def _runge_kutta(model: Any, job: Any, constants: Any, work: Any, time: float, h: float) -> None:
    """A step by the table of a method: see `mobod.stepping.method.runge_kutta`. Row 0 of *work* is y before the step."""
    stages, ny = job[STAGES], model.ny
    for i in range(ny):
        store(work, i, 0, load(model.y, i, 0))
    for s in range(stages + 1):
        row = TABLE + s * (stages + 1)
        if s > 0:
            for i in range(ny):
                total = 0.0
                for j in range(s):
                    a = load(constants, row + 1 + j, 0)
                    if a != 0.0:
                        total = total + a * load(work, (1 + j) * ny + i, 0)
                store(model.y, i, 0, load(work, i, 0) + h * total)
        if s < stages:
            store(model.time, 0, 0, time + load(constants, row, 0) * h)
            _evaluate(model, job)
            for i in range(ny):
                store(work, (1 + s) * ny + i, 0, load(model.y_dot, i, 0))


@generic
def _to_manifold(model: Any, job: Any, accuracy: float) -> None:
    """Prescribe, scale quaternions to length one and project q and u."""
    prescribe(model, job)
    if job[rk.QUATERNIONS] != 0:
        normalize(model, one(accuracy), ALWAYS, accuracy)
    if project(model, job, one(accuracy), 0, accuracy) < 0.0:
        store(rows_at(job[FAILED]), 0, 0, 1.0)


@generic
def _say(model: Any, job: Any) -> None:
    """Mark the state as failed where a variable or an acceleration is not finite."""
    total = 0.0 * load(model.time, 0, 0)
    for i in range(model.ny):
        total = total + 0.0 * load(model.y, i, 0)
    for i in range(model.nu):
        total = total + 0.0 * load(model.u_dot, i, 0)
    if total != 0.0:
        store(rows_at(job[FAILED]), 0, 0, 1.0)
