"""Actuators that push as much as a state says: a function of time can be added to that.

effort = the state's number + the state's rate t + f(t)
"""

from __future__ import annotations

from typing import Any, ClassVar

from ....algebra.scalar import load
from ....compiling import generic
from ....errors import ModelError
from ....force.base import Force
from ....force.pools import number
from ....function import Function, routines
from ....value import checks


@generic
def ramp(model: Any, numbers: int) -> Any:
    """The effort of a state: the first number, and the second times time."""
    return number(model, numbers) + number(model, numbers + 1) * load(model.time, 0, 0)


@generic
def driven(model: Any, flag: int, numbers: int) -> Any:
    """The effort. The first two numbers are the state's; integer *flag* is the number of the function, or -1."""
    f = ramp(model, numbers)
    k = model.force_integers[flag]
    if k >= 0:
        f = f + routines.value(model, k, model.time, 0)
    return f


class Driven(Force):
    """An actuator whose effort may be a function of time; integer `FLAG` of its own is -1 in its constructor."""

    FLAG: ClassVar[int]
    reads_time = True
    _drive: Function | None = None

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
        kind: Any = Function
        if function is not None:
            checks.instance("function", function, kind, "a function of time, of mobod.function")
            if function.get_argument_size() != 1:
                raise ValueError(f"the effort of {self!r} is a function of time alone, not {function!r}")
        self._drive = function
        self.used_functions = [] if function is None else [(function, [0])]
        self._forces.invalidate_topology()

    def pack_integers(self) -> list[int]:
        """Its integers, with the number of the function."""
        found = super().pack_integers()
        if self._drive is not None:
            found = [*found]
            found[self.FLAG] = self.first_function
        return found


def check_driven(what: str, actuator: Any) -> None:
    """Refuse an actuator that no function of time can drive."""
    if not (hasattr(actuator, "set_excitation_function") or isinstance(actuator, Driven)):
        raise ModelError(f"{what}: no function of time drives {actuator!r}; what it does is set in a state")


def drive(what: str, actuator: Any, function: Function) -> None:
    """Drive a muscle, or an actuator of this room by its optimal force, by a function of time."""
    from ..functions import scaled

    check_driven(what, actuator)
    if hasattr(actuator, "set_excitation_function"):
        actuator.set_excitation_function(function)
    else:
        actuator.set_effort_function(scaled(function, float(getattr(actuator, "optimal_force", 1.0))))
