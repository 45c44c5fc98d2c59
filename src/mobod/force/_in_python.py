"""Forces that Python computes, called by kernels as `routines` says of a kind's routine: all of a system in one call.

They are given the state whose record the kernel works on, which is at VELOCITY for them, and is put back as it was. A record of
lanes has none: in runs each lane's is lent, see `mobod.ensemble.lanes.lending`; else ensembles take such states one by one.
"""

from __future__ import annotations

import math
from typing import Any

from ..algebra.record import values_at
from ..compiling import Callback, lender_at
from ..errors import ModelError, StageError
from ..state.stage_hooks import refuse_change
from ..state.state import State
from ..state.storage import state_at
from ..state.validity import KINEMATICS, unchanged, unchanged_bit
from ..value.stage import VELOCITY, Stage
from .routines import ENERGY, FORCES

_UNTOUCHED = unchanged_bit(Stage.DYNAMICS)
#: All bits of that kind: others say which results there are, of which only kinematics are those of the moment.
_VERSIONS = unchanged(Stage.POSITION)
_WITH_TANGENTS = "duals", "seeded", "twice"
_IN_LANES = "lanes", "varied"
#: Blocks of states that forces are being computed of.
_at_work: set[int] = set()


def _compute(scalar: str, pointer: int, first: int, end: int, what: int) -> None:
    """Forces, energies or powers of a run of elements, for the record whose block is at an address.

    Nothing with tangents: what needs these adds differences of the forces in Python.
    """
    if scalar in _WITH_TANGENTS:
        return
    if scalar in _IN_LANES and what == FORCES:
        _add_in_lanes(pointer, first, end)
        return
    state = state_at(pointer) if scalar == "state" else None
    if state is None:
        raise ModelError("forces in Python are computed for single states, not in lanes")
    if what == FORCES and pointer in _at_work:
        raise StageError(
            f"realize: this state is being realized, through {state.stage.name} so far, and a calc_ method of a part of "
            "yours asks for more; use what is there, or realize state.copy()"
        )
    stage, valid = state.stage_number, state.valid
    try:
        state.stage_number, state.valid = VELOCITY, valid & _VERSIONS | KINEMATICS | _UNTOUCHED
        if what == FORCES:
            _at_work.add(pointer)  # in here, or a signal's handler that raises leaves it there
            _add(state, _enabled(state, first, end))
        else:
            _write_scalars(state, pointer, (first, end), what)
    except BaseException:
        if state.stage_number < VELOCITY or not state.valid & _UNTOUCHED:  # a force has changed it, which leaves less
            stage, valid = min(stage, state.stage_number), valid & state.valid
        raise
    finally:
        state.stage_number, state.valid = stage, valid
        if what == FORCES:
            _at_work.discard(pointer)


def _enabled(state: State, first: int, end: int) -> list[Any]:
    """The forces of a run that are enabled."""
    forces, enabled = state.system.forces_in_python, state.field("force_enabled")
    start = forces[0].element
    return [forces[e - start] for e in range(first, end) if enabled[e]]


def _add(state: State, forces: list[Any]) -> None:
    applied = state.forces or state.make_forces()
    for force in forces:
        force.add_force(state, *applied)
        if state.stage_number < VELOCITY or not state.valid & _UNTOUCHED:
            refuse_change(state, Stage.DYNAMICS, force)


def _add_in_lanes(pointer: int, first: int, end: int) -> None:
    lender = lender_at(pointer)
    if lender is None:
        raise ModelError("forces in Python are computed for single states, not in lanes")
    try:
        _at_work.add(lender.address)
        forces = _enabled(lender.single, first, end)
        for lane in lender.busy():
            state = lender.lend(lane)
            try:
                _add(state, forces)
            except Exception as error:  # of one state, which ends alone
                lender.raised(lane, error)
                (state.forces or state.make_forces())[2][:] = math.nan
            lender.add_forces(lane)
    finally:
        _at_work.discard(lender.address)


def _write_scalars(state: State, pointer: int, run: tuple[int, int], what: int) -> None:
    forces = state.system.forces_in_python
    start, enabled, (first, end) = forces[0].element, state.field("force_enabled"), run
    found = [0.0] * (end - first)
    for e in range(first, end):
        if enabled[e]:
            force: Any = forces[e - start]
            found[e - first] = force._potential_energy(state) if what == ENERGY else force._power_dissipation(state)  # noqa: SLF001
    # at the end: one that asks for another's energy uses these rows
    values_at(pointer, "work_e", end)[first:] = found


def _fail(scalar: str, pointer: int, first: int, end: int, what: int) -> None:
    """NaN in place of results: of one body and one mobility, from which it spreads to all."""
    lender = lender_at(pointer) if scalar in _IN_LANES else None
    if lender is not None:
        lender.fail()
    state = state_at(pointer) if scalar == "state" else None
    if state is None:
        return
    if what == FORCES:
        body_forces, _, mobility_forces = state.forces or state.make_forces()
        body_forces[1:] = math.nan
        mobility_forces[:] = math.nan
    else:
        values_at(pointer, "work_e", end)[first:] = [math.nan] * (end - first)


#: In place of a routine, of all forces in Python.
in_python = Callback(_compute, _fail, num_integers=3)
