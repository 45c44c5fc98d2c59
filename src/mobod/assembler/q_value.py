"""QValue: one coordinate is wanted at a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..value.checks import finite, integer
from .condition import Condition


class QValue(Condition):
    """Wants a coordinate of a mobilizer at a value. As a goal: half the square of the difference.

    Parameters
    ----------
    mobod : body
        By object or index.
    which_q : int
        Which of its q.
    value : float

    Notes
    -----
    Coordinates are those of the state that is assembled: with quaternions, number 1 of a Ball is a component of one.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> assembler = mb.Assembler(system)
    >>> number = assembler.adopt_assembly_goal(mb.assembler.QValue(arm, 0, 0.7))
    >>> assembler.assemble(state) < 1e-6
    True
    >>> round(arm.get_angle(state), 3)
    0.7
    """

    def __init__(self, mobod: Any, which_q: int, value: float) -> None:
        super().__init__("QValue")
        self._mobod, self._which_q = mobod, integer("which_q", which_q, 0)
        self.set_value(value)

    def get_value(self) -> float:
        """The value that is wanted."""
        return self._value

    def set_value(self, value: float) -> None:
        """Want another value; the Assembler stays initialized, so that it can change from frame to frame."""
        self._value = finite("the value of a QValue", value, ValueError)

    def initialize_condition(self) -> None:
        """Find the coordinate."""
        self._q = self.get_assembler().q_index(self._mobod, self._which_q)

    def calc_errors(self, state: State) -> Array:
        """The coordinate less the value ``(1,)``."""
        return np.array([state.q[self._q] - self._value])

    def calc_error_jacobian(self, state: State) -> Array:
        """One at the coordinate ``(1, nq)``."""
        J = np.zeros((1, len(state.q)))
        J[0, self._q] = 1.0
        return J

    def calc_goal(self, state: State) -> float:
        """Half the square of the error."""
        error = float(state.q[self._q]) - self._value
        return 0.5 * error * error

    def calc_goal_gradient(self, state: State) -> Array:
        """The error, at the coordinate ``(nq,)``."""
        return self.calc_errors(state)[0] * self.calc_error_jacobian(state)[0]

    def squares(self, state: State) -> float:
        return 0.5

    def report(self, state: State) -> list[tuple[str, float]]:
        body = self.get_matter_subsystem().find_body(self._mobod)
        return [(f"q[{self._which_q}] of {body.name!r}", abs(float(self.calc_errors(state)[0])))]
