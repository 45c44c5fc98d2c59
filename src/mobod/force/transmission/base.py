"""Transmission: what every kind shares.

A new kind is a file beside this one. It provides

1. compiled functions ``length(model, i, x)``, ``speed(model, i, x)`` and ``apply(model, i, x, f)``: l, its speed, and the
   generalized force of f, all without the ratio, from integers i and numbers x on;
2. a class derived from `Transmission` with these functions as ``FUNCTIONS``, whose constructor sets ``integers`` and
``numbers``.
   The first number of an element is the ratio, which `law` applies.

Power is f times the speed, whatever the kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import TopologyError
from ...value import Transform, checks
from ...value.attributes import Sealed
from ...value.frames import frame_or_none
from ...value.stage import Stage
from ..base import body_index

if TYPE_CHECKING:
    from ...decoration.rubber_band_line import Line
    from ...state.state import State
    from ..subsystem import GeneralForceSubsystem

#: What a kind provides: length, speed, apply.
Functions = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]


class Transmission(Sealed):
    """What a force of one length acts through. Base class of every kind in `mobod.force.transmission`.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    ratio : float
        Length and speed are multiplied by it, and so is the generalized force of a force: a gear.
    """

    INNER = frozenset({"FUNCTIONS", "calc_lines", "forces", "integers", "numbers", "reach"})

    FUNCTIONS: ClassVar[Functions]
    integers: list[int]
    numbers: list[float]

    def __init__(self, forces: GeneralForceSubsystem, integers: list[int], numbers: list[float], ratio: float) -> None:
        self.forces, self.integers = forces, integers
        self.numbers = [checks.finite(f"ratio of a {type(self).__name__}", ratio), *numbers]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of ratio {self.numbers[0]:g}>"

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies that it goes along, and those of whose mobilizers it takes coordinates; None where it may be any."""
        return None

    def calc_length(self, state: State) -> float:
        """The length, times the ratio. Needs POSITION."""
        return self._evaluate(state, "calc_length", Stage.POSITION, 0)

    def calc_speed(self, state: State) -> float:
        """The speed, times the ratio. Needs VELOCITY."""
        return self._evaluate(state, "calc_speed", Stage.VELOCITY, 1)

    def calc_lines(self, state: State) -> list[Line]:
        """What is drawn of it at a state at POSITION: straight lines between stations of bodies, where it is a path."""
        return []

    def _evaluate(self, state: State, asked: str, stage: Stage, which: int) -> float:
        state.check_owner(self.forces.get_system(), asked)
        if state.stage_number < stage:
            state.refuse(asked, stage)
        return float(self.numbers[0] * self.FUNCTIONS[which](self._own(state), 0, 1))

    def _own(self, state: State) -> Any:
        """A state's record, in which the pools of forces' numbers are this transmission's."""
        return _OwnNumbers(state.record, np.array(self.integers, np.int64), np.array(self.numbers)[:, None])


class _OwnNumbers:
    """A record, but for the pools of forces' integers and numbers: those of a transmission."""

    def __init__(self, record: Any, integers: Any, numbers: Any) -> None:
        self._record, self.force_integers, self.force_numbers = record, integers, numbers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)


def check_transmission(forces: GeneralForceSubsystem, what: Any) -> Transmission:
    """Refuse what is none, and one of another system."""
    if not isinstance(what, Transmission):
        raise TypeError(f"transmission has to be one of mobod.force.transmission, such as Coordinates(...), not {what!r}")
    if what.forces.get_system() is not forces.get_system():
        raise TopologyError(f"{what!r} is made of bodies of another system")
    return what


def placed(forces: GeneralForceSubsystem, name: str, body: Any, frame: Transform | None) -> tuple[int, list[float]]:
    """A body's index, and a frame on it as twelve numbers: rotation, then place."""
    X = frame_or_none(f"frame of {name}", frame)
    return body_index(forces, name, body), [*np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist()]


__all__ = ["Functions", "Transmission", "check_transmission", "placed"]
