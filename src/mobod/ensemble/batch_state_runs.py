"""Runs of many states, one after the other on each thread, each in the integrator's own compiled loop: for implicit methods.

Chunks of states, arrays and outcomes are those of `lanes`; a state's steps are those that it takes alone, to the bit.
"""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import Kernel, compiled, generic
from ..integrator import _bdf_steps as bdf
from ..integrator import _contact_steps as contact
from ..stepping import beginning
from ..stepping import record as rk
from ..stepping.evaluate import evaluate, prescribe, project
from ..tree import sampling
from ..unilateral.stepped.space import clear
from .batch_memory import begin_measures_alone, keep, recall
from .chunks import NONE, begin_work, finish, leave_work, next_call
from .lanes.layout import FINISHED, FIRST_ROW, LAST_SIZE, LIMIT, NEXT, REACHED_TIME, ROWS, STATUS, STOP, UNFINISHED
from .lanes.states import refill

#: What is counted of a run, in the order of the columns of `outcome` after ROWS.
COUNTED = (
    rk.STEPS,
    rk.ATTEMPTS,
    rk.EVALUATIONS,
    rk.ERROR_FAILURES,
    rk.REALIZATION_FAILURES,
    rk.PROJECTION_FAILURES,
    rk.CONVERGENCE_FAILURES,
)
#: A place in `queue` in place of that of how many have ended: the state that is on its way, -1 for none.
CURRENT = 4
#: The resolution of time, as a part of the run's end time.
_RESOLUTION = 2.0**-52


@generic
def begin(
    model: Any, s: int, given: Any, end: float, settings: Any, choices: Any, remembered: Any, control: Any, counts: Any
) -> int:
    """Put the variables and parameters of state *s* into the record, and project them: REACHED or NOT_PROJECTED."""
    time, q, u, z, particles, memory, own_of_each, own = given
    store(model.time, 0, 0, time[s, 0])
    for i in range(model.nq):
        store(model.q, i, 0, q[s, i])
    for i in range(model.nu):
        store(model.u, i, 0, u[s, i])
    for i in range(model.nz):
        store(model.z, i, 0, z[s, i])
    for i in range(2 * model.particle_size):
        store(model.y, model.ny - 2 * model.particle_size + i, 0, particles[s, i])
    recall(model, memory, s)
    for i in range(own.shape[0]):
        own[i] = own_of_each[s, i]
    for i in range(control.shape[0]):
        control[i] = settings[i]
    for i in range(counts.shape[0]):
        counts[i] = choices[i]
    control[rk.TIME] = control[rk.PREVIOUS_TIME] = time[s, 0]
    control[rk.MIN_STEP] = max(settings[rk.MIN_STEP], _RESOLUTION * abs(end))
    prescribe(model, counts)
    if project(model, counts, 0, control[rk.TOLERANCE]) < 0:
        return rk.NOT_PROJECTED
    if remembered.shape[0] > 0 and evaluate(model, counts) == 0:
        begin_measures_alone(model, remembered)
    sampling.begin_sampling(model)
    return rk.REACHED


@generic
def retire(model: Any, s: int, status: int, given: Any, out: Any, work: Any, control: Any, counts: Any) -> None:
    """The run of state *s* has ended: at the last report or, where it could not go on, at the end of the last step."""
    time, q, u, z, particles, memory, _, _ = given
    times, rows, outcome, reached = out
    last = times.shape[0] - 1
    time[s, 0] = reached[s, REACHED_TIME] = times[last] if status == rk.REACHED else control[rk.TIME]
    reached[s, LAST_SIZE] = control[rk.LAST_STEP]
    y = rows[last] if status == rk.REACHED else work[rk.Y]
    m, k = model.nq + model.nu, model.ny - 2 * model.particle_size
    for i in range(model.nq):
        q[s, i] = y[i]
    for i in range(model.nu):
        u[s, i] = y[model.nq + i]
    for i in range(model.nz):
        z[s, i] = y[m + i]
    for i in range(2 * model.particle_size):
        particles[s, i] = y[k + i]
    keep(model, memory, s)
    outcome[s, STATUS] = status
    outcome[s, ROWS] = counts[rk.REPORT]
    for j in range(len(COUNTED)):
        outcome[s, ROWS + 1 + j] = counts[COUNTED[j]]


@generic
def begin_nothing(model: Any, s: int, own: Any, run: Any, prepared: Any) -> int:
    """A method that keeps nothing of its own begins the run of state *s*: REACHED."""
    return rk.REACHED


@generic
def same_table(table: Any, found: Any, row: int) -> Any:
    """What the method has in place of a table, for the run with this row of results."""
    return table


def running(advance: Kernel, name: str, begin_own: Any = begin_nothing, table_of: Any = same_table) -> Kernel:
    """Make what takes states through their runs, one after the other, in a method's own loop over steps."""

    # fmt: off
    def run(
        block: Any, work: Any, table: Any, control: Any, counts: Any, settings: Any, choices: Any, norms: Any, remembered: Any,
        own: Any, queue: Any, prepared: Any, worker: int, chunks: Any, calls: Any,
        time: Any, q: Any, u: Any, z: Any, particles: Any, memory: Any, forces: Any, own_of_each: Any, end: Any, times: Any,
        results: Any, outcome: Any, reached: Any, found: Any,
    ) -> int:
        # fmt: on
        """Take states through their runs, chunk by chunk, with as many steps as the queue says: FINISHED or UNFINISHED."""
        call = begin_work(worker, chunks, calls)
        model = attach(block)
        given = time, q, u, z, particles, memory, own_of_each, own
        left = queue[LIMIT]
        while left > 0:
            status = rk.REACHED
            if queue[CURRENT] < 0:
                if queue[NEXT] == queue[STOP]:
                    refill(queue, chunks, worker)
                if queue[NEXT] >= queue[STOP]:
                    call = next_call(worker, chunks, calls, call)
                    if call == NONE:
                        return FINISHED
                    queue[NEXT] = queue[STOP] = 0
                    continue
                s = queue[CURRENT] = queue[NEXT]
                queue[NEXT] += 1
                status = begin(model, s, given, end[s], settings, choices, remembered, control, counts)
                if status == rk.REACHED:
                    status = beginning.start(model, work, control, counts)
                if status == rk.REACHED:
                    status = begin_own(model, s, own, rk.run_of(work, table, control, counts), prepared)
                if status != rk.REACHED:  # where it begins is where it ends
                    for i in range(model.ny):
                        work[rk.Y, i] = load(model.y, i, 0)
            s = queue[CURRENT]
            reports = times[s if times.shape[0] > 1 else 0]
            row = s - queue[FIRST_ROW]
            if status == rk.REACHED:
                counts[rk.LIMIT], steps = left, counts[rk.STEPS]
                own_table = table_of(table, found, row)
                status = advance(model, work, own_table, control, counts, reports, results[row], norms[:0])
                left -= counts[rk.STEPS] - steps
                if status == rk.PAUSED or status == rk.COLLAPSED:
                    continue
            left -= 1
            retire(model, s, status, given, (reports, results[row], outcome, reached), work, control, counts)
            queue[CURRENT] = -1
            finish(chunks, 1)
        leave_work(worker, chunks)
        return UNFINISHED

    run.__qualname__ = f"run.{name}"
    return compiled(run)


@generic
def begin_contact(model: Any, s: int, own: Any, run: Any, prepared: Any) -> int:
    """No impulses are known of steps before."""
    clear(run.table)
    return rk.REACHED


#: By the methods' loops.
RUNS = {
    bdf.advance: running(bdf.advance, "bdf"),
    contact.advance: running(contact.advance, "contact", begin_contact),
}
