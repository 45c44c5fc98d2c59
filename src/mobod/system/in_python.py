"""Realizing by Python, which kernels call by address in place of the sweeps: for systems with parts that only Python knows.

A kernel that steps, or projects, is the same for all systems. Where hooks have a part in realizing, its routines are callbacks:
they bring the state of the record to the stage that is asked for, as `System.realize` does.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..algebra.arrays import Array
from ..compiling import Callback
from ..motion.protocol import SET_Q
from ..state.state import State
from ..state.validity import ACCELERATIONS, FORCES, KINEMATICS, POSITIONS, VELOCITIES
from ..value.stage import Stage
from . import prescription

#: Mobility forces beside those of the elements, or what computes them of a state.
Held = Array | Callable[["State"], Array]
#: The states that kernels are at work on, with these forces, by the addresses of their blocks.
_at_work: dict[int, tuple[Any, Held | None]] = {}
#: What is told where steps end, and where they begin.
ENDS, BEGINS = range(2)


def realize_with(state: State, held: Held | None) -> None:
    """Realize a state to ACCELERATION with mobility forces beside those of the elements."""
    if held is not None:
        state.system.realize(state, Stage.DYNAMICS)
        found = held(state) if callable(held) else held
        state.record.mobility_forces[: len(found), 0] += found
    state.system.realize(state)


@contextlib.contextmanager
def realized_by_python(state: State, held: Held | None = None) -> Iterator[None]:
    """While kernels work on a state's record and call Python to realize it, with mobility forces beside the elements'."""
    pointer = state.block.ctypes.data
    before = _at_work.get(pointer)
    _at_work[pointer] = state, held
    try:
        yield
    finally:
        if before is None:
            del _at_work[pointer]
        else:
            _at_work[pointer] = before


def _lower(state: State, before: int) -> None:
    """Invalidate in a state what kernels have changed: all but what is valid *before* the call."""
    if not before & ~state.valid and before & KINEMATICS == KINEMATICS:
        state.valid &= before
        state.lower_to(int(Stage.VELOCITY))
    elif not before & POSITIONS & ~state.valid and before and len(state.q_values) == state.tree.nq:
        state.invalidate_u()
    else:  # subsystems' coordinates change with their rates
        state.time = state.record.time[0, 0]
        state.invalidate_q()


def _realize(scalar: str, pointer: int, before: int, wanted: int) -> None:
    state, held = _at_work[pointer]
    _lower(state, before)
    if wanted & ACCELERATIONS:
        realize_with(state, held)
        return
    stage = Stage.DYNAMICS if wanted & FORCES else Stage.VELOCITY if wanted & VELOCITIES else Stage.POSITION
    state.system.realize(state, stage)


def _leave_nothing(scalar: str, pointer: int, before: int, wanted: int) -> None:
    record = _at_work[pointer][0].record
    for bit, names in (
        (POSITIONS, ("position_error",)),
        (VELOCITIES, ("velocity_offset", "q_dot")),
        (ACCELERATIONS, ("y_dot",)),
    ):
        if wanted & bit:
            for name in names:
                getattr(record, name)[:] = math.nan


def _prescribe(scalar: str, pointer: int, what: int, unused: int) -> None:
    state, _ = _at_work[pointer]
    if what == SET_Q:
        _lower(state, 0)
        state.system.realize(state, Stage.TIME)
        prescription.set_q(state.system, state)
    else:
        state.invalidate_u()
        prescription.set_u(state.system, state)


def _leave_no_values(scalar: str, pointer: int, what: int, unused: int) -> None:
    state, _ = _at_work[pointer]
    (state.q_values if what == SET_Q else state.u_values)[:] = math.nan


def _tell(scalar: str, pointer: int, what: int, unused: int) -> None:
    state, _ = _at_work[pointer]
    if what == ENDS:
        state.resources.keep_updates(state)
    else:
        state.resources.apply_updates(float(state.record.time[0, 0]))


def _leave(scalar: str, pointer: int, what: int, unused: int) -> None:
    pass


#: In place of `tree.realize.advance` and `tree.prescribe.prescribe`; and what keeps the next values of variables that update
#: themselves where a step ENDS, and lets them take these where the next BEGINS.
realizer, prescriber = Callback(_realize, _leave_nothing), Callback(_prescribe, _leave_no_values)
keeper = Callback(_tell, _leave)
