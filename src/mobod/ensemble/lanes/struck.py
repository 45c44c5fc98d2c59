"""Steps of `TimeStepping` in which contacts with restitution are struck: Python takes them for states in lanes, one by one."""

from __future__ import annotations

from collections.abc import Mapping

from ...compiling import Callback
from ...errors import ConvergenceError
from ...integrator import TimeStepping
from ...state.state import State
from ...unilateral.stepped.space import Space


class Striker:
    """A worker's steps that Python takes. What they come to depends on the lane's state alone.

    Parameters
    ----------
    method : TimeStepping
        Used for nothing else; of its settings these steps need none.
    single : State
        Into which kernels load the state of a lane.
    spaces : mapping of int to Space
        Of each lane, by the address of its block.
    """

    def __init__(self, method: TimeStepping, single: State, spaces: Mapping[int, Space]) -> None:
        self._method, self._spaces = method, spaces
        method.begin_apart(single)
        #: Called as `step_one` is.
        self.callback = Callback(self._compute, lambda *asked: None, refuses=(ConvergenceError,))

    def _compute(self, scalar: str, pointer: int, block: int, row: int) -> None:
        space = self._spaces[block]
        space.tries[row] = self._method.find_end(space)
