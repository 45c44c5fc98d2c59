"""TimeStepper: takes a state through time, stopping where it is told to."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np

from .errors import ConvergenceError, TopologyError
from .integrator import _runge_kutta as rk

if TYPE_CHECKING:
    from .integrator import Integrator
    from .state import State
    from .system import MultibodySystem

_UNLIMITED = 1 << 62


class StepStatus(enum.Enum):
    """Why `TimeStepper.step_to` returned."""

    #: The time asked for.
    REACHED_REPORT_TIME = 1
    #: The integrator's final time.
    END_OF_SIMULATION = 2
    #: A step, with `Integrator.set_return_every_internal_step`.
    TIME_HAS_ADVANCED = 3


class TimeStepper:
    """Takes a state through time with an integrator.

    Parameters
    ----------
    system : MultibodySystem
    integrator : Integrator

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    >>> stepper.initialize(state)
    >>> stepper.step_to(0.5)
    <StepStatus.REACHED_REPORT_TIME: 1>
    >>> stepper.time
    0.5
    """

    def __init__(self, system: MultibodySystem, integrator: Integrator) -> None:
        if integrator._system is not system:
            raise TopologyError("the integrator was made for another system")
        self._system, self._integrator = system, integrator
        self._initialized = False

    def __repr__(self) -> str:
        where = f"at time {self.time:.6g}" if self._initialized else "not initialized"
        return f"<TimeStepper of {self._system.name!r} with {self._integrator.get_method_name()}, {where}>"

    @property
    def integrator(self) -> Integrator:
        """The integrator, with its statistics."""
        return self._integrator

    def initialize(self, state: State) -> None:
        """Start from a copy of *state*, whose q and u become those that locks and motions prescribe.

        To lock, unlock or switch a motion on the way, change a copy of `state` and start from that.

        Raises
        ------
        ModelError
            If its values are not finite, or give no finite accelerations.
        TopologyError
            If it is of another system, or older than its last change.
        """
        state._check_owner(self._system, "initialize")
        copy = state.copy()
        if copy.stage < 2:
            self._system.realize_model(copy)
        self._system._begin_measures(copy)
        self._integrator._initialize(copy)
        self._initialized = True

    @property
    def state(self) -> State:
        """The state, live: realized to ACCELERATION at `time`; ``.copy()`` keeps it."""
        if not self._initialized:
            raise TopologyError("the time stepper has no state yet; call initialize(state)")
        return self._integrator.get_state()

    @property
    def time(self) -> float:
        """The state's time."""
        return self.state.time

    def step_to(self, time: float) -> StepStatus:
        """Advance the state to *time*, or to the integrator's final time where that comes first.

        It may be called again after the end, which then changes nothing.

        Returns
        -------
        StepStatus

        Raises
        ------
        ValueError
            If *time* is before the state's, or not finite.
        ConvergenceError
            If the integrator cannot go on, or `internal_step_limit` is reached; the state is the last good one.

        Warns
        -----
        RuntimeWarning
            If steps come down a thousandfold while a mobilizer is near a singular configuration, which it names.
        """
        state, integrator = self.state, self._integrator
        if not np.isfinite(time):
            raise ValueError(f"the time to step to has to be finite, got {time}")
        if time < state.time:
            raise ValueError(f"the state is at time {state.time}, beyond {time}; initialize anew to go back")
        final = integrator._control[rk.FINAL_TIME]
        target = min(float(time), final)
        integrator._counts[rk.REPORT] = 0
        results = np.empty((1, len(state._y)))
        limit = 1 if integrator._return_every_internal_step else integrator.internal_step_limit or _UNLIMITED
        status = integrator._advance(np.array([target]), results, integrator._no_energies, limit)
        if status == rk.PAUSED:
            reached = integrator.get_advanced_time()
            integrator._leave_at(reached)
            if integrator._return_every_internal_step:
                return StepStatus.TIME_HAS_ADVANCED
            singular = "".join(f". {text}" for text in integrator._singularities().values())
            raise ConvergenceError(
                f"{limit} steps ended at time {reached:.9g}, before {target:.9g}; raise internal_step_limit{singular}"
            )
        if status != rk.REACHED:
            integrator._fail(status)
        state.time = target
        state._invalidate_q()
        self._system.realize(state)
        return StepStatus.END_OF_SIMULATION if target >= final else StepStatus.REACHED_REPORT_TIME
