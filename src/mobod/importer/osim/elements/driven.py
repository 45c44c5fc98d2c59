"""Actuators that push as much as a state says: a function of time can be added to that.

effort = the state's number + the state's rate t + f(t)
"""

from __future__ import annotations

from typing import Any

from ....algebra.scalar import load
from ....compiling import generic
from ....errors import ModelError
from ....force.driven import Driven
from ....force.pools import number
from ....function import Function, routines


@generic
def ramp(model: Any, numbers: int) -> Any:
    """The effort of a state: the first number, and the second times time."""
    return number(model, numbers) + number(model, numbers + 1) * load(model.time, 0, 0)


@generic
def plus_function(model: Any, flag: int, f: Any) -> Any:
    """f and the value of the function of time whose number integer *flag* is, or f alone where that is -1."""
    k = model.force_integers[flag]
    if k >= 0:
        f = f + routines.value(model, k, model.time, 0)
    return f


@generic
def driven(model: Any, flag: int, numbers: int) -> Any:
    """The effort. The first two numbers are the state's; for *flag* see `plus_function`."""
    return plus_function(model, flag, ramp(model, numbers))


class EffortDriven(Driven):
    """An actuator whose effort may be a function of time."""

    reads_time = True

    def set_effort_function(self, function: Function | None) -> None:
        """Drive it by a function of time. A topological change.

        Parameters
        ----------
        function : function.Function or None
            Of one argument, time: the force or torque that is added to what a state sets. None takes it away.

        Raises
        ------
        TypeError, ValueError
            If it is no function of `mobod.function`, or not of one argument.
        """
        self._drive_by("effort", function)


def check_driven(what: str, actuator: Any) -> None:
    """Refuse an actuator that no function of time can drive."""
    if not isinstance(actuator, Driven):
        raise ModelError(f"{what}: no function of time drives {actuator!r}; what it does is set in a state")


def drive(what: str, actuator: Any, function: Function) -> None:
    """Drive a muscle, or an actuator of this room by its optimal force, by a function of time."""
    from ..functions import scaled

    check_driven(what, actuator)
    if isinstance(actuator, EffortDriven):
        actuator.set_effort_function(scaled(function, float(getattr(actuator, "optimal_force", 1.0))))
    else:
        actuator.set_excitation_function(function)
