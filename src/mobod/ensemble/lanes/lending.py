"""Lending: parts in Python are given the states that are in lanes, one after the other, as a `State` each.

The state is the worker's own: the time, y and memory of a lane are put into its record, and its positions and velocities are
computed there. What it is given depends on its lane alone, so that each state's bits do, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...algebra.arrays import Array
from ...algebra.pointers import block_of, numbers1, numbers2
from ...algebra.record import LANES, address_of, attach_lanes, attach_state, call_routine, values_at
from ...algebra.scalar import load, load_lane, store, store_lane
from ...compiling import Callback, compiled, keep_refusal, lend_lanes, lender_at
from ...errors import ModelError
from ...event.watched import Watched
from ...event.witness import one_number
from ...state.fields import Record
from ...state.state import State
from ...state.validity import KINEMATICS, unchanged_bit
from ...stepping import record as rk
from ...tree.realize import advance
from ...value.stage import VELOCITY, Stage
from ..batch_memory import IN_ROWS, lend_rings, put_memory, take_memory
from . import layout

#: The step of differences for the rates of witnesses, as a part of the step; and where no step has been taken yet, in time.
_DIFFERENCE, _FIRST_DIFFERENCE = 1e-4, 1e-7


@compiled
def take_lane(block: int, single_block: int, arrays: int, lane: int, address: int, back: float) -> int:
    """Copy a lane's time, y and memory, or y shortly before along its rates, to a record of one state; kinematics, no forces.

    Blocks, that of the `Lender`'s *arrays* too, are given by their addresses: Python takes as long to look at an array as the
    kernel for a few bodies. Nothing here depends on whether the lanes have parameters of their own.
    """
    model, single = attach_lanes(block), attach_state(single_block)
    own, own_of_single, memory = numbers2(arrays, 0), numbers1(arrays, 1), numbers2(arrays, 2)
    for i in range(own.shape[0]):
        own_of_single[i] = own[i, lane]
    store(single.time, 0, 0, load_lane(model.time, 0, 0, lane) - back)
    for i in range(model.ny):
        y = load_lane(model.y, i, 0, lane)
        if back > 0.0:
            y = y - back * load_lane(model.y_dot, i, 0, lane)
        store(single.y, i, 0, y)
    put_memory(model, lane, memory, 0)
    lend_rings(model, lane, memory, 0)
    take_memory(single, 0, memory, 0)
    for b in range(single.nb):
        for k in range(6):
            store(single.body_forces, b, k, 0.0)
    for i in range(single.nu):
        store(single.mobility_forces, i, 0, 0.0)
    for i in range(single.particle_size):
        store(single.particle_forces, i, 0, 0.0)
    return call_routine(address, single, 0, KINEMATICS)


@compiled
def add_forces(block: int, single_block: int, lane: int) -> int:
    """Add the forces of a record of one state to those of a lane; blocks are given by their addresses."""
    model, single = attach_lanes(block), attach_state(single_block)
    for b in range(single.nb):
        for k in range(6):
            store_lane(model.body_forces, b, k, lane, load_lane(model.body_forces, b, k, lane) + load(single.body_forces, b, k))
    for i in range(single.nu):
        f = load(single.mobility_forces, i, 0)
        store_lane(model.mobility_forces, i, 0, lane, load_lane(model.mobility_forces, i, 0, lane) + f)
    for i in range(single.particle_size):
        f = load(single.particle_forces, i, 0)
        store_lane(model.particle_forces, i, 0, lane, load_lane(model.particle_forces, i, 0, lane) + f)
    return 0


class Lender:
    """A single state by which a worker lends Python the states in its lanes.

    Parameters
    ----------
    record : Record
        Of lanes.
    single : State
        That is lent; realized to INSTANCE.
    own, own_of_single : array
        The lanes' own parameters, and where the single state has its.
    control, lanes, marks : array
        As `layout` says.
    held : bool
        Whether forces act that are not the elements': what depends on accelerations is then not known to the state lent.
    """

    def __init__(
        self,
        record: Record,
        single: State,
        own: tuple[Array, Array],
        control: Array,
        lanes: npt.NDArray[np.int64],
        marks: Array,
        held: bool,
    ) -> None:
        memory = np.zeros((1, sum(getattr(single.record, name).size for name in IN_ROWS)))
        self._record, self.single, self._held = record, single, held
        #: Of the single state's block.
        self.address = address_of(single.block)
        self._control, self._lanes, self._marks = control, lanes, marks
        self._varies = len(own[1]) > 0
        #: The lanes' own parameters, where the single state has its, and a row of `batch_memory`; with their block.
        self._arrays = *own, memory
        self._words = block_of(self._arrays)
        self._block, self._words_at = record.pointer, address_of(self._words)
        self._routine = advance.address()
        self._take: Callable[..., Any] | None = None
        self._add: Callable[..., Any] | None = None
        #: Where values and rates of witnesses go.
        self._found = values_at(self._block, "witness_values", 2 * LANES)
        lend_lanes(self._block, self)

    def busy(self) -> list[int]:
        """The lanes that have states."""
        return [lane for lane, i in enumerate(self._lanes[rk.STATE].tolist()) if i >= 0]

    def lend(self, lane: int, back: float = 0.0, stage: int = VELOCITY) -> State:
        """The state of a lane, or shortly before, at VELOCITY or a *stage* above; its forces are zero."""
        state, take = self.single, self._take
        if take is None:
            take = self._take = take_lane.code_for(self._block, self.address, self._words_at, 0, self._routine, 0.0)
        take(self._block, self.address, self._words_at, lane, self._routine, back)
        state.stage_number, state.valid = VELOCITY, _AT_VELOCITY
        if state.resources is not None:
            state.resources.versions[Stage.TIME] += 1
        if self._varies:
            state.force_cache.clear()
        if stage > VELOCITY:
            if self._held:
                raise ModelError(f"Stage.{Stage(stage).name} is not known to Python in lanes where forces are held")
            state.system.realize(state, Stage(stage))
        return state

    def add_forces(self, lane: int) -> None:
        """Add the forces that a state has been given to those of its lane."""
        if self._add is None:
            self._add = add_forces.code_for(self._block, self.address, 0)
        self._add(self._block, self.address, lane)

    def raised(self, lane: int, error: Exception) -> None:
        """A part in Python has raised an error: where that does not say that there is no result here, the run goes on alone.

        But not where it is another lane for which all are evaluated: at the end of a step that this one has not taken.
        """
        keep_refusal(error)
        if not isinstance(error, ModelError) and self._control[rk.TAKEN, 0, lane] > 0.0:
            self._marks[layout.RAISED, 0, lane] = 1.0

    def fail(self) -> None:
        """Set the forces of all lanes to NaN: Python has been interrupted."""
        self._record.mobility_forces[:] = np.nan

    def look(self, one: Watched) -> None:
        """Write a witness's value and rate, of lanes that are marked; NaN where the run has to go on alone."""
        sizes, wanted = self._control[rk.SIZE, 0].tolist(), self._marks[layout.LOOKS, 0].tolist()
        found, lend, ask, stage = self._found, self.lend, one.value, one.stage
        for lane in self.busy():
            if wanted[lane] == 0.0:
                continue
            value = rate = _UNKNOWN
            try:
                state = lend(lane, 0.0, stage)
                now = _float(one, ask(state))
                if wanted[lane] > 1.0 and one.rate is not None:
                    rate = one.rate(state)
                elif wanted[lane] > 1.0:
                    back = _DIFFERENCE * sizes[lane] or _FIRST_DIFFERENCE
                    rate = (now - _float(one, ask(lend(lane, back, stage)))) / back
                value = now
            except Exception:  # the run alone asks again, and tells
                rate = _UNKNOWN
            found[lane], found[LANES + lane] = value, rate


def watching(watched: Sequence[Watched]) -> Callback:
    """The callback of kernels for witnesses in lanes that only Python knows, by their numbers."""

    def compute(scalar: str, pointer: int, k: int, where: int) -> None:
        lender = lender_at(pointer)
        assert lender is not None
        lender.look(watched[k])

    def fail(scalar: str, pointer: int, k: int, where: int) -> None:
        values_at(pointer, "witness_values", 2 * LANES)[:] = [np.nan] * (2 * LANES)

    return Callback(compute, fail)


def _float(one: Watched, value: Any) -> float:
    return value if type(value) is float else one_number(repr(one.name), value)


_AT_VELOCITY, _UNKNOWN = KINEMATICS | unchanged_bit(Stage.DYNAMICS), float("nan")
