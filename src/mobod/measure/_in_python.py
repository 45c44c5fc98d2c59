"""Measures that Python computes, called by kernels as operations of `program`: of one state, or of lanes one after the other.

They are given the state whose record the kernel works on, as far as it is realized there, and of lanes each one's, which is
lent: see `mobod.ensemble.lanes.lending`. With tangents there are none: derivatives are differences where Python takes part.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..algebra.record import LANES, values_at
from ..compiling import Callback, lender_at
from ..errors import ModelError, StageError
from ..state.stage_hooks import refuse_change
from ..state.state import State
from ..state.storage import state_at
from ..state.validity import WANTED, unchanged
from ..value.stage import Stage

if TYPE_CHECKING:
    from .custom import Custom

_IN_LANES = "lanes", "varied"
#: The bits of which others say what has changed since.
_VERSIONS = unchanged(Stage.POSITION)
#: Blocks of states at which measures are being computed.
_at_work: set[int] = set()


def callback_of(one: Custom, order: int, stage: Stage) -> Callback:
    """The callback for kernels in place of a routine, which call it with a state realized to *stage*: DYNAMICS or ACCELERATION.

    Its result goes where that of an operation goes.
    """
    size, needed, realized = one.default.size, one.depends_on(order), WANTED[stage]

    def numbers(state: State) -> list[float]:
        value = one.calc_anew(state, order)
        return [value] if type(value) is float else np.ravel(value).tolist()

    def of_state(pointer: int, out: int) -> None:
        state = state_at(pointer)
        if state is None:
            raise ModelError(f"{one!r} is computed by Python for single states, not in lanes")
        if pointer in _at_work:
            raise StageError(f"realize: {one!r} is being computed at this state; use what is there, or realize state.copy()")
        before, valid = state.stage_number, state.valid
        state.stage_number, state.valid = int(stage), valid & _VERSIONS | realized
        if state.resources is not None:
            state.resources.versions[Stage.TIME] += 1
        _at_work.add(pointer)
        try:
            values_at(pointer, "measure_values", out + size)[out:] = numbers(state)
            if state.stage_number != stage:
                refuse_change(state, stage, one)
        finally:
            state.stage_number, state.valid = before, valid
            _at_work.discard(pointer)

    def of_lanes(pointer: int, out: int) -> None:
        lender = lender_at(pointer)
        if lender is None:
            raise ModelError(f"{one!r} is computed by Python for single states, not in lanes")
        found = values_at(pointer, "measure_values", LANES * (out + size))
        for lane in lender.busy():
            try:
                values = numbers(lender.lend(lane, 0.0, needed))
            except Exception as error:  # of one state, which ends alone
                lender.raised(lane, error)
                values = [math.nan] * size
            found[LANES * out + lane :: LANES] = values

    def compute(scalar: str, pointer: int, i: int, out: int) -> None:
        if scalar == "state":
            of_state(pointer, out)
        elif scalar in _IN_LANES:
            of_lanes(pointer, out)
        else:
            raise ModelError(f"{one!r} is computed by Python, which knows no derivatives of it along directions")

    def fail(scalar: str, pointer: int, i: int, out: int) -> None:
        width = {"state": 1, "lanes": LANES, "varied": LANES}.get(scalar)
        if width is not None:
            values_at(pointer, "measure_values", width * (out + size))[width * out :] = [math.nan] * (width * size)

    return Callback(compute, fail)
