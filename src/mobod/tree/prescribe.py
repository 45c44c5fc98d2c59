"""Set q, u and udot to what locks and compiled motions prescribe.

    q      at level POSITION: the lock's value, or the motion's function of time
    u      at POSITION the rate of that, zero for a lock; at VELOCITY the lock's value, or the function. Needs positions
    udot   of motions, into `known_u_dot`: the rate of u, or at ACCELERATION the motion's function. Needs velocities

A motion is evaluated by its routine, see `motion.protocol`. Python evaluates custom motions.
"""

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic, routine
from ..motion.protocol import POSITION, SET_Q, SET_U, SET_U_DOT, VELOCITY
from ..state.fields import Record
from .prescribed_mobilities import FROM_MOTION

#: What `prescribe` returns where u may be set before positions are known.
AT_ONCE = 1


@routine
def prescribe(model: Record, what: int, unused: int) -> int:
    """Set q (``SET_Q``) or u (``SET_U``) of every body whose lock or compiled motion prescribes it.

    `AT_ONCE` where there are locks alone, whose u needs no positions; Python's motions never say so.
    """
    for b in range(1, model.nb):
        level = model.prescribed_level[b]
        if level == POSITION or (level == VELOCITY and what == SET_U):
            if model.lock_level[b] > 0:
                _hold(model, b, what)
            else:
                call_routine(model.motion[b], model, b, what)
    return AT_ONCE if model.nm == 0 else 0


@generic
def _hold(model: Record, b: int, what: int) -> None:
    """q or u of a locked body."""
    i, k = model.first_q[b], model.first_u[b]
    if what == SET_Q:
        for j in range(model.num_q[b]):
            store(model.q, i + j, 0, load(model.lock_q, i + j, 0))
    elif model.prescribed_level[b] == VELOCITY:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, load(model.lock_u, k + j, 0))
    else:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, zero(load(model.u, k + j, 0)))


@generic
def sweep(model: Record) -> None:
    """`known_u_dot` of every body whose udot is FROM_MOTION, a compiled one."""
    for m in range(model.nm):
        b = model.moved[m]
        if model.prescribed[b] == FROM_MOTION:
            call_routine(model.motion[b], model, b, SET_U_DOT)


@compiled
def call(block: Any, address: int, what: int) -> None:
    """`prescribe`, at *address*, called from Python."""
    call_routine(address, attach(block), what, 0)
