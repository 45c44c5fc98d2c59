"""Locks and prescribed motions: what they say of q, u and udot. Nothing but these is changed.

    q    at level POSITION: that of the lock, or the motion's function of time
    u    at POSITION the rate of that, zero of a lock; at VELOCITY that of the lock, or the motion's function. Needs positions
    udot the derivative, or at ACCELERATION the function itself; into `known_u_dot`, for `known`. Needs velocities

A motion's own numbers come from its routine, by address: see `motion._what`. Custom motions are Python's to ask.
"""

from typing import Any

from .._jit import compiled, generic, routine
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, zero
from ..motion._what import POSITION, SET_Q, SET_U, SET_U_DOT, VELOCITY
from . import known


@routine
def prescribe(model: Any, what: int, unused: int) -> int:
    """Set q (``SET_Q``) or u (``SET_U``) of every body that a lock or a compiled motion governs."""
    for b in range(1, model.nb):
        level = model.known_level[b]
        if level == POSITION or (level == VELOCITY and what == SET_U):
            if model.lock_level[b] > 0:
                _hold(model, b, what)
            else:
                call_routine(model.motion[b], model, b, what)
    return 0


@generic
def _hold(model: Any, b: int, what: int) -> None:
    """q or u of a locked body."""
    i, k = model.first_q[b], model.first_u[b]
    if what == SET_Q:
        for j in range(model.num_q[b]):
            store(model.q, i + j, 0, load(model.lock_q, i + j, 0))
    elif model.known_level[b] == VELOCITY:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, load(model.lock_u, k + j, 0))
    else:
        for j in range(model.num_u[b]):
            store(model.u, k + j, 0, zero(load(model.u, k + j, 0)))


@generic
def sweep(model: Any) -> None:
    """udot of every body that a compiled motion drives; there is nothing to sweep where no body has one."""
    for m in range(model.nm):
        b = model.moved[m]
        if model.together[b] == known.DRIVEN:
            call_routine(model.motion[b], model, b, SET_U_DOT)


@compiled
def call(block: Any, address: int, what: int) -> None:
    """`prescribe`, at *address*, called from Python."""
    call_routine(address, attach(block), what, 0)
