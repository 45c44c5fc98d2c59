"""What an integrator asks of a system, in two forms: compiled for built-in parts, interpreted where a user's Python takes part.

An integrator's source says `evaluate(model)`. In a kernel, *model* is the record and the compiled form is called; run by
Python, it is an `Interpreted` and the call goes through `MultibodySystem.realize`. The algorithm is the same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import compiled_form_of
from ..algebra.record import call_routine
from ..errors import ModelError
from ..force import _switch as forces
from ..motion._what import SET_Q, SET_U
from ..prescribing import prescribe_state
from ..tree import momentum
from ..tree.realize import ACCELERATIONS, ARTICULATED, BAD_INPUT, FORCES, POSITIONS, VELOCITIES

if TYPE_CHECKING:
    from ..state import State
    from ..system import MultibodySystem

EVERYTHING = POSITIONS | VELOCITIES | FORCES | ARTICULATED | ACCELERATIONS


class Interpreted:
    """A state being integrated by Python: what the record is to a kernel."""

    def __init__(self, system: MultibodySystem, state: State) -> None:
        self.system, self.state, self.block, self.ny = system, state, state._block, len(state._y)
        self.prescribed = state._has_known
        #: Why the last evaluation failed.
        self.error: ModelError | None = None

    def evaluate(self) -> int:
        """Realize the state, of which kernels have changed time and y, to ACCELERATION; 0, or what `realize` returns."""
        state = self.state
        try:
            self.prescribe()
            self.system.realize(state)
        except ModelError as error:
            self.error = error
            return 1
        return 0

    def finish_step(self) -> int:
        """A step has ended at the state as it is realized: variables that update themselves have their next values."""
        if self.state._resources is not None:
            self.state._resources.keep_updates(self.state)
        return 0

    def begin_step(self, time: float) -> int:
        """A step begins at *time*: they take these values."""
        if self.state._resources is not None:
            self.state._resources.apply_updates(time)
        return 0

    def prescribe(self) -> None:
        """Give q and u, which kernels have changed with time, the values that locks and motions say."""
        from ..stage import Stage

        state = self.state
        state.time = state._record.time[0, 0]
        state._invalidate_q()
        if self.prescribed:
            self.system.realize(state, Stage.TIME)
            prescribe_state(self.system, state)

    def energy(self) -> float:
        """Kinetic and potential energy of the state, of which kernels have changed time and y."""
        from ..stage import Stage

        state = self.state
        state.time = state._record.time[0, 0]
        state._invalidate_q()
        self.system.realize(state, Stage.DYNAMICS)
        return self.system.calc_energy(state)


def evaluate(model: Any, address: int, prescriber: int) -> int:
    """Prescribe what is prescribed and realize y to its rates; 0 where these are finite.

    When compiled by the routine at *address*, and that at *prescriber* unless this is 0: nothing is prescribed then.
    """
    return model.evaluate()


@compiled_form_of(evaluate)
def _evaluate(model: Any, address: int, prescriber: int) -> int:
    valid = 0
    if prescriber != 0:
        call_routine(prescriber, model, SET_Q, 0)
        if call_routine(address, model, 0, POSITIONS) != 0:
            return BAD_INPUT
        call_routine(prescriber, model, SET_U, 0)
        valid = POSITIONS
    return call_routine(address, model, valid, EVERYTHING)


def prescribe(model: Any, address: int, prescriber: int) -> None:
    """Give q and u at y the values that are prescribed."""
    model.prescribe()


@compiled_form_of(prescribe)
def _prescribe(model: Any, address: int, prescriber: int) -> None:
    if prescriber != 0:
        call_routine(prescriber, model, SET_Q, 0)
        call_routine(address, model, 0, POSITIONS)
        call_routine(prescriber, model, SET_U, 0)


def finish_step(model: Any) -> int:
    """Told at the end of each step, with the state realized there; of use to users' own parts only."""
    return model.finish_step()


@compiled_form_of(finish_step)
def _finish_step(model: Any) -> int:
    return 0


def begin_step(model: Any, time: float) -> int:
    """Told at the beginning of each step, and again where it is tried anew."""
    return model.begin_step(time)


@compiled_form_of(begin_step)
def _begin_step(model: Any, time: float) -> int:
    return 0


def energy(model: Any, address: int) -> float:
    """Kinetic and potential energy at y; positions and velocities are computed afresh."""
    return model.energy()


@compiled_form_of(energy)
def _energy(model: Any, address: int) -> float:
    call_routine(address, model, 0, POSITIONS | VELOCITIES)
    return momentum.kinetic_energy(model) + forces.total_potential_energy(model)
