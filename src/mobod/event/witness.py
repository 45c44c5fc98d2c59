"""Witness: a function of the state whose changes of sign are events."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..stage import Stage

if TYPE_CHECKING:
    from ..state import State


def check_body(name: str, what: str, body: Any) -> None:
    """Refuse what is no body for the argument *name* of the witness *what*."""
    from ..mobilizer.base import MobilizedBody

    if not isinstance(body, MobilizedBody):
        raise TypeError(f"{name} of a {what} has to be a body, such as matter.bodies['name'], not {body!r}")


class Witness(abc.ABC):
    """A function of the state for `StopWhen`, `LockWhen` and `ImpactWhen` to watch.

    1. `calc_value`, the function itself, and `required_stage`, how far the state has to be realized for it;
    2. `calc_rate`, its rate, where that is cheap: it is found by differences otherwise;
    3. `calc_direction` and `calc_acceleration`, for a gap in which there can be an impact.
    """

    #: How far the state has to be realized for `calc_value`.
    required_stage = Stage.ACCELERATION
    #: Whether `calc_rate` is there.
    has_rate = False

    @abc.abstractmethod
    def calc_value(self, state: State) -> float:
        """Compute the function."""

    def _packed(self, state: State) -> tuple[list[int], list[float]] | None:
        """Integers and numbers for `mobod.integrator._watched`; None where it does not know the kind."""
        return None

    def calc_rate(self, state: State) -> float:
        """Compute its rate at ACCELERATION, where `has_rate` says that there is one."""
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
    """

    def __init__(self, function: Callable[[State], float], required_stage: Stage = Stage.ACCELERATION) -> None:
        if not callable(function):
            raise TypeError(f"a witness has to be one of mobod.event's, a measure or a function of the state, not {function!r}")
        self._function, self.required_stage = function, Stage(required_stage)

    def __repr__(self) -> str:
        return f"<FunctionWitness {getattr(self._function, '__name__', self._function)}>"

    def calc_value(self, state: State) -> float:
        """Call the function."""
        return float(self._function(state))


class ValueWitness(Witness):
    """What has ``get_value(state)``: a `Measure`, for one.

    Parameters
    ----------
    source : object
        Its ``get_depends_on_stage()``, where there is one, says how far the state has to be realized.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        stage = getattr(source, "get_depends_on_stage", None)
        self.required_stage = Stage.ACCELERATION if stage is None else max(Stage(stage()), Stage.TIME)

    def __repr__(self) -> str:
        return f"<ValueWitness of {self._source!r}>"

    def calc_value(self, state: State) -> float:
        """Ask for the value, which has to be one number."""
        value = self._source.get_value(state)
        if np.ndim(value) != 0:
            raise ValueError(f"a witness is one number, but {self._source!r} has a value of shape {np.shape(value)}")
        return float(value)


def as_witness(witness: Any) -> Witness:
    """Take *witness* as it is, or what has a ``get_value(state)``, or a function of the state, as one."""
    if isinstance(witness, Witness):
        return witness
    if callable(getattr(witness, "get_value", None)):
        return ValueWitness(witness)
    return FunctionWitness(witness)
