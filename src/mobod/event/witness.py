"""Witness: a function of the state whose changes of sign are events."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiling import Routine
from ..state.state import State
from ..value.abstract import Abstract
from ..value.attributes import Sealed
from ..value.checks import instance, numbers
from ..value.stage import Stage


def check_body(name: str, what: str, body: Any) -> None:
    """Refuse anything but a body for the argument *name* of the witness *what*."""
    from ..mobilizer.base import MobilizedBody

    instance(f"{name} of a {what}", body, MobilizedBody, "matter.bodies['name']")


def one_number(who: str, value: Any) -> float:
    """The value of the witness *who*, which has to be one number, finite or not."""
    if isinstance(value, float):
        return value
    array = numbers(f"the value of {who}", value)
    if array.ndim:
        raise ValueError(f"a witness is one number, but {who} has a value of shape {array.shape}")
    return float(array)


class Witness(Sealed, Abstract):
    """A function of the state for `StopWhen`, `LockWhen` and `ImpactWhen` to watch.

    1. `calc_value`, the function itself, and `required_stage`, how far the state has to be realized for it;
    2. `calc_rate`, its rate, where that is cheap: it is found by differences otherwise;
    3. `routines` and `pack`, for simulations that look at it without Python: see `routines`;
    4. `calc_direction` and `calc_acceleration`, for a gap in which there can be an impact.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> witness = mb.event.Coordinate(system.matter.bodies["lower"], 0, 0.2)
    >>> isinstance(witness, mb.event.Witness)
    True
    """

    #: How far the state has to be realized for `calc_value`.
    required_stage = Stage.ACCELERATION
    #: Whether `calc_rate` is there.
    has_rate = False
    #: How far the state has to be realized for `calc_rate`.
    rate_stage = Stage.ACCELERATION
    #: Evaluates it in kernels, made by `routines.by_address` of its value and rate; None where only Python can.
    routine: Routine | None = None

    @abc.abstractmethod
    def calc_value(self, state: State) -> float:
        """Compute the function."""

    def pack(self, state: State) -> tuple[Sequence[int], Sequence[float]]:
        """The integers and numbers that its routine reads: the same as long as the Instance variables of a state are."""
        raise TypeError(f"{self!r} has no routine")

    def calc_rate(self, state: State) -> float:
        """Compute its rate, where `has_rate` says that there is one. Needs `rate_stage`."""
        raise TypeError(f"{self!r} gives no rate")

    def calc_direction(self, state: State) -> npt.NDArray[np.float64]:
        """Compute how the rate depends on the speeds: h ``(nu,)`` of rate = h . u, for a gap. Needs POSITION."""
        raise TypeError(f"{self!r} is no gap in which there can be an impact; Coordinate, PlaneDistance and Gap are")

    def calc_acceleration(self, state: State) -> float:
        """Compute the second rate of a gap. Needs ACCELERATION."""
        raise TypeError(f"{self!r} is no gap in which there can be an impact; Coordinate, PlaneDistance and Gap are")


class FunctionWitness(Witness):
    """A user's function of the state.

    Parameters
    ----------
    function : callable
        Takes a State, and returns a number; continuous between events.
    required_stage : Stage
        How far the state has to be realized for it: the lower, the cheaper the search.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> witness = mb.event.FunctionWitness(lambda state: system.calc_kinetic_energy(state) - 3.0, mb.Stage.VELOCITY)
    >>> system.add_event_handler(mb.event.StopWhen(witness))
    >>> motion = mb.simulate(system, state, 5.0)
    >>> float(motion.calc_kinetic_energy()[-1].round(2))
    3.0
    """

    def __init__(self, function: Callable[[State], float], required_stage: Stage = Stage.ACCELERATION) -> None:
        if not callable(function):
            raise TypeError(f"a witness has to be one of mobod.event's, a measure or a function of the state, not {function!r}")
        self.function, self.required_stage = function, Stage(required_stage)

    def __repr__(self) -> str:
        return f"<FunctionWitness {getattr(self.function, '__name__', self.function)}>"

    def calc_value(self, state: State) -> float:
        """Call the function."""
        value = self.function(state)
        return value if isinstance(value, float) else one_number(repr(self), value)


class ValueWitness(Witness):
    """A witness made of an object with ``get_value(state)``, such as a `Measure`.

    Parameters
    ----------
    source : object
        Its ``get_depends_on_stage()``, where there is one, says how far the state has to be realized.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        stage = getattr(source, "get_depends_on_stage", None)
        self.required_stage = Stage.ACCELERATION if stage is None else max(Stage(stage()), Stage.TIME)

    def __repr__(self) -> str:
        return f"<ValueWitness of {self.source!r}>"

    def calc_value(self, state: State) -> float:
        """Ask for the value, which has to be one number."""
        value = self.source.get_value(state)
        return value if isinstance(value, float) else one_number(f"a witness, {self.source!r},", value)


def as_witness(witness: Any) -> Witness:
    """Take *witness* as it is, or what has a ``get_value(state)``, or a function of the state, as one."""
    if isinstance(witness, Witness):
        return witness
    if callable(getattr(witness, "get_value", None)):
        return ValueWitness(witness)
    return FunctionWitness(witness)
