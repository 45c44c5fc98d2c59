"""Integrator: advances a state in time. What every method shares.

A Runge-Kutta method is a file beside this one with a table: a row for each stage (c_s, a_s1, a_s2, ...), one for the step's
end (1, b_1, b_2, ...) and one for the error (0, e_1, e_2, ...); see `_runge_kutta` for the algorithm.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..errors import ConvergenceError, ModelError, TopologyError
from ..stage import Stage
from ..tree.prescribe import prescribe
from ..tree.realize import advance
from . import _runge_kutta as rk
from ._evaluate import EVERYTHING, Interpreted
from ._weights import error_weights

if TYPE_CHECKING:
    from ..state import State
    from ..system import MultibodySystem

Array = npt.NDArray[np.float64]

#: A report that no step reaches.
_NEVER = np.array([np.inf])


class Integrator:
    """Advances a state of a system in time, with control of the local error. Base class of the methods.

    Parameters
    ----------
    system : MultibodySystem
        Its topology is realized, at the latest when stepping begins.
    accuracy : float
        Largest local error of a step in any of q, u, z and what particles have, relative for what exceeds 1. The state's
        weights, where it has some when stepping begins, say what stands for 1: `State.u_weights`, which q follow, and
        `State.z_weights`.
    constraint_tolerance : float, optional
        How far from their manifold constraints may be; a tenth of the accuracy unless given.
    initial_step_size, min_step_size, max_step_size : float, optional
        Chosen by the method, zero, and unlimited unless given; time.
    fixed_step_size : float, optional
        Take steps of this size and control no error.
    final_time : float, optional
        No step goes beyond it, and `TimeStepper.step_to` ends there.
    internal_step_limit : int, optional
        `TimeStepper.step_to` gives up after as many steps without reaching its time; unlimited unless given.

    Raises
    ------
    ValueError
        If a number is not positive, or a smallest step exceeds a largest.
    """

    table: ClassVar[Array]
    order: ClassVar[int]

    def __init__(
        self,
        system: MultibodySystem,
        *,
        accuracy: float = 1e-3,
        constraint_tolerance: float | None = None,
        initial_step_size: float | None = None,
        fixed_step_size: float | None = None,
        min_step_size: float | None = None,
        max_step_size: float | None = None,
        final_time: float | None = None,
        internal_step_limit: int | None = None,
    ) -> None:
        if type(self) is Integrator:
            raise TypeError("Integrator is the base class; make one of the methods in mobod.integrator")
        self._system = system
        self.accuracy = _positive("accuracy", accuracy)
        if not 1e-14 <= self.accuracy < 1.0:
            raise ValueError(f"accuracy has to be from 1e-14, near rounding, to below 1, got {accuracy}")
        self.constraint_tolerance = (
            0.1 * self.accuracy if constraint_tolerance is None else _positive("constraint_tolerance", constraint_tolerance)
        )
        self.initial_step_size = _optional("initial_step_size", initial_step_size)
        self.fixed_step_size = _optional("fixed_step_size", fixed_step_size)
        self.min_step_size = _optional("min_step_size", min_step_size)
        self.max_step_size = _optional("max_step_size", max_step_size)
        if self.min_step_size and self.max_step_size and self.min_step_size > self.max_step_size:
            raise ValueError(f"min_step_size {min_step_size} exceeds max_step_size {max_step_size}")
        if final_time is not None and not np.isfinite(final_time):
            raise ValueError(f"final_time has to be finite, got {final_time}")
        self.final_time = final_time
        if internal_step_limit is not None and internal_step_limit < 1:
            raise ValueError(f"internal_step_limit has to be 1 or more, got {internal_step_limit}")
        self.internal_step_limit = internal_step_limit
        self._state: State | None = None
        self._model: Any = None
        self._control = np.zeros(11)
        self._counts = np.zeros(8, np.int64)
        self._warned: set[str] = set()
        self._no_row = np.zeros((0, 0))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, accuracy {self.accuracy:g}, {self.get_num_steps_taken()} steps taken>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": None}

    # ------------------------------------------------------------------------------------------ stepping

    def _initialize(self, state: State) -> None:
        """Start at *state*, which from now on is what is integrated."""
        if state._system is not self._system:
            raise TopologyError("the state is of another system than the integrator")
        final = np.inf if self.final_time is None else float(self.final_time)
        if state.time > final:
            raise ValueError(f"the state's time {state.time} is beyond final_time {final}")
        self._state = state
        # the caller hears of bad values from here, by name, rather than from a failed step
        self._system.project(state)
        self._system.realize(state)
        ny = len(state._y)
        self._table = np.ascontiguousarray(self.table)
        stages = self._table.shape[1] - 1
        self._work = np.zeros((rk.FIRST_STAGE + stages + 3, ny))
        self._work[rk.FIRST_STAGE + stages] = error_weights(state) * self._free_variables()
        self._no_energies = np.zeros(0)
        self._counts[:] = 0
        self._warned.clear()
        control = self._control
        control[:] = 0.0
        control[rk.TIME] = control[rk.PREVIOUS_TIME] = state.time
        control[rk.STEP] = self.fixed_step_size or self.initial_step_size or 0.0
        control[rk.FINAL_TIME] = final
        control[rk.ACCURACY] = self.accuracy
        control[rk.MIN_STEP] = self.min_step_size or 0.0
        control[rk.MAX_STEP] = self.max_step_size or np.inf
        control[rk.FIXED_STEP] = self.fixed_step_size or 0.0
        if self._call(rk.start, self._work, self._table, self.order, control, self._counts, np.zeros(3)):
            raise ModelError("the accelerations of the initial state are not finite")
        self._leave_at(float(control[rk.TIME]))  # choosing the first step has tried one

    def _call(self, kernel: Any, *args: Any) -> int:
        """Run *kernel* compiled where all parts of the system are built in, else by Python, from the same source."""
        state = self._state
        assert state is not None
        state._valid = 0
        if not self._system._is_interpreted:
            self._counts[rk.ROUTINE] = advance.address()
            self._counts[rk.PRESCRIBER] = prescribe.address() if state._has_known else 0
            return int(kernel(state._block, *args))
        if self._model is None or self._model.state is not state:
            self._model = Interpreted(self._system, state)
        try:
            return int(kernel.python(self._model, *args))
        except BaseException:  # of a user's own part, in the middle of a step: back to the last good one
            control = self._control
            rk.interpolate(state._block, self._work, control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.TIME])
            state._invalidate_q()
            state._lower(int(Stage.INSTANCE))
            raise

    def _advance(
        self, times: Array, results: Array, energies: Array, limit: int, kernel: Any = rk.advance, more: tuple[Any, ...] = ()
    ) -> int:
        """Report at *times* from number ``counts[REPORT]`` on; at most *limit* steps."""
        counts, end = self._counts, int(self._counts[rk.STEPS]) + limit
        while True:
            counts[rk.LIMIT] = end - counts[rk.STEPS]
            status = self._call(
                kernel, self._work, self._table, self.order, self._control, counts, times, results, energies, *more
            )
            if status != rk.COLLAPSED:
                return status
            self._warn_of_singularities()

    def _warn_of_singularities(self) -> None:
        """Where steps have come down far and a mobilizer is near a singular configuration, say so, once a run for each."""
        time, step = float(self._control[rk.TIME]), float(self._control[rk.STEP])
        self._leave_at(time)
        for name, text in self._singularities().items():
            if name not in self._warned:
                self._warned.add(name)
                message = f"at time {time:.9g} steps have come down to {step:.3g}: {text}"
                warnings.warn(message, RuntimeWarning, stacklevel=_callers_level())

    def _singularities(self) -> dict[str, str]:
        """By name, what to say of the mobilizers near a singular configuration."""
        assert self._state is not None
        return self._system.get_matter_subsystem()._singularities(self._state)

    def _step_once(self, stop: float) -> int:
        """Take one step, not beyond *stop*; PAUSED where it was taken, and the state is then at its end, realized."""
        return self._step_on(stop, 1)

    def _step_watching(self, stop: float, limit: int, integers: Any, numbers: Array, seen: Array, wanted: float) -> int:
        """As `_step_once`, with more steps while simple witnesses are certain not to change sign; compiled systems only."""
        from ._watched import advance_watching  # compiled when a model first has such witnesses

        return self._step_on(stop, limit, advance_watching, (integers, numbers, seen, float(wanted)))

    def _step_on(self, stop: float, limit: int, kernel: Any = rk.advance, more: tuple[Any, ...] = ()) -> int:
        """Take steps, reporting none."""
        control, state = self._control, self._state
        assert state is not None
        control[rk.FINAL_TIME] = stop
        self._counts[rk.REPORT] = 0
        if len(self._no_row) != 1 or self._no_row.shape[1] != len(state._y):
            self._no_row = np.empty((1, len(state._y)))
        status = self._advance(_NEVER, self._no_row, self._no_energies, limit, kernel, more)
        if status == rk.PAUSED:
            state._record.time[0, 0] = control[rk.TIME]
            if not self._system._is_interpreted:  # the step's last evaluation has been at its end
                state._valid, state._stage = EVERYTHING, int(Stage.ACCELERATION)
        return status

    def _restart(self, longest: float) -> None:
        """Start a continuous interval at the state as an event's handler left it; statistics go on, and the step's size.

        That is at first no more than *longest*: free flight is no error to any step, and one of years tells no bounce.
        """
        state, control = self._state, self._control
        assert state is not None
        if state._stage < Stage.MODEL:
            self._system.realize_model(state)
        self._system.project(state)
        self._system.realize(state)
        self._model = None  # knows the block and what was prescribed
        rows, ny = self._work.shape[0], len(state._y)
        if self._work.shape[1] != ny:
            self._work = np.zeros((rows, ny))
        self._work[rows - 3] = error_weights(state) * self._free_variables()
        control[rk.TIME] = control[rk.PREVIOUS_TIME] = state.time
        if control[rk.FIXED_STEP] == 0.0:
            control[rk.STEP] = max(control[rk.MIN_STEP], min(control[rk.STEP], longest))
        if self._call(rk.start, self._work, self._table, self.order, control, self._counts, np.zeros(3)):
            raise ModelError("the accelerations of the state that an event has left are not finite")
        self._leave_at(float(control[rk.TIME]))

    def _leave_at(self, time: float, stage: Stage = Stage.ACCELERATION) -> None:
        """Put the state at *time*, within the last step, and realize it."""
        state, control = self._state, self._control
        assert state is not None
        rk.interpolate(state._block, self._work, control[rk.PREVIOUS_TIME], control[rk.TIME], time)
        state.time = time
        state._invalidate_q()
        if state._has_known:
            self._system.prescribe(state)
        self._system.realize(state, stage)

    def _free_variables(self) -> Array:
        """1 for each number of y that is integrated, 0 for what locks and motions prescribe."""
        state = self._state
        assert state is not None
        matter, tree = self._system.get_matter_subsystem(), state._tree
        free = np.ones(len(state._y))
        if state._has_known:
            first = len(state._q)
            free[: tree.nq] = free[first : first + tree.nu] = 0.0
            free[matter.get_free_q_index(state)] = 1.0
            free[first + matter.get_free_u_index(state)] = 1.0
        return free

    def _fail(self, status: int) -> None:
        """Leave the state at the last good step, and say what stopped the integration."""
        control = self._control
        time, step = float(control[rk.TIME]), float(control[rk.STEP])
        found = self._singularities()  # where it failed, and then where it ends
        self._leave_at(time)
        singular = "".join(f". {text}" for text in ({**self._singularities(), **found}).values())
        if status == rk.NOT_FINITE:
            cause = None if self._model is None else self._model.error  # of a user's own part, which says more
            why = "a force is infinite there, or a mobilizer at a singularity" if cause is None else str(cause)
            raise ConvergenceError(
                f"accelerations are not finite beyond time {time:.9g}, however short the step (last tried {step:.3g}): "
                f"{why}{singular}. The state is the last good one"
            ) from cause
        raise ConvergenceError(
            f"at time {time:.9g} a step of {step:.3g} still misses accuracy {self.accuracy:g}: the system is too stiff for "
            f"{type(self).__name__}, or a mobilizer at a singularity; try a larger accuracy number or a smaller "
            f"min_step_size{singular}. The state is the last good one"
        )

    # ------------------------------------------------------------------------------------------ what it did

    def get_state(self) -> State:
        """The state that is integrated, live."""
        if self._state is None:
            raise ModelError("the integrator has no state yet; call TimeStepper.initialize(state)")
        return self._state

    def get_num_steps_taken(self) -> int:
        """Steps that were accepted."""
        return int(self._counts[rk.STEPS])

    def get_num_steps_attempted(self) -> int:
        """Steps that were tried."""
        return int(self._counts[rk.ATTEMPTS])

    def get_num_error_test_failures(self) -> int:
        """Steps that were tried in vain."""
        return int(self._counts[rk.ERROR_FAILURES])

    def get_num_realizations(self) -> int:
        """Evaluations of the accelerations."""
        return int(self._counts[rk.EVALUATIONS])

    def get_previous_step_size_taken(self) -> float:
        """Size of the last step; time."""
        return float(self._control[rk.LAST_STEP])

    def get_predicted_next_step_size(self) -> float:
        """Size that the next step will be tried with; time."""
        return float(self._control[rk.STEP])

    def _previous_time(self) -> float:
        """Where the last step began."""
        return float(self._control[rk.PREVIOUS_TIME])

    def get_advanced_time(self) -> float:
        """Where the last step ended: at or beyond the state's time, which reports interpolate."""
        return float(self._control[rk.TIME])

    def get_accuracy_in_use(self) -> float:
        """Largest local error of a step."""
        return self.accuracy

    def get_constraint_tolerance_in_use(self) -> float:
        """How far from their manifold constraints may be."""
        return self.constraint_tolerance

    def get_method_name(self) -> str:
        """The method's name."""
        return type(self).__name__

    def get_method_max_order(self) -> int:
        """The order of the method: its error in a given time shrinks with this power of the step."""
        return self.order


def _callers_level() -> int:
    """The ``stacklevel`` with which a warning of the calling function names the line outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    return level


def _positive(what: str, value: float) -> float:
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{what} has to be positive and finite, got {value}")
    return number


def _optional(what: str, value: float | None) -> float | None:
    return None if value is None else _positive(what, value)
