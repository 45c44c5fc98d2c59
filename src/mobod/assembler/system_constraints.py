"""SystemConstraints: the position errors of a system's constraints, as a condition. Every Assembler begins with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..constraint import ConstantOrientation, Weld
from ..constraint.base import Constraint
from ..state.state import State
from ._attitude import rotation_vectors
from .condition import Condition


class SystemConstraints(Condition):
    """Wants the position equations of the constraints that are enabled to hold. As a goal: half the sum of their squares.

    Notes
    -----
    Errors are those of the constraints, but for kinds that make frames parallel (Weld, ConstantOrientation): their own
    equations, inner products of axes, hold upside down as well. Assembling takes the rotation vector from one frame to the
    other in their place, which is zero at the right orientation only, and along which the way there is a straight line.

    Examples
    --------
    As a goal beside others, loops need not close altogether:

    >>> import mobod as mb
    >>> system, state = mb.examples.four_bar.build()
    >>> assembler = mb.Assembler(system)
    >>> assembler.set_system_constraints_weight(10.0)
    >>> assembler.assemble(state) < 1e-6
    True
    """

    def __init__(self) -> None:
        super().__init__("SystemConstraints")
        self._parts: list[tuple[Constraint, slice]] = []

    def initialize_condition(self) -> None:
        """Find the constraints in use, their equations, and which of these are orientations."""
        state = self.get_assembler().get_internal_state()
        matter = self.get_matter_subsystem()
        self._rows = matter.rows_in_use(state)[: matter.num_equations(state)[0]]
        places = {int(r): i for i, r in enumerate(self._rows)}
        self._parts = []
        attitudes: list[tuple[int, int, Array, Array, list[int]]] = []
        for constraint in matter.constraints:
            own = [places[int(r)] for r in constraint.own_rows(state, 0)]
            if not own:
                continue
            self._parts.append((constraint, slice(own[0], own[-1] + 1)))
            found = attitude_of(constraint, state)
            if found is not None:
                first, body1, R1, body2, R2 = found
                attitudes.append((body1, body2, R1, R2, own[first : first + 3]))
        self._body1 = np.array([one[0] for one in attitudes], np.int64)
        self._body2 = np.array([one[1] for one in attitudes], np.int64)
        self._R1 = np.array([one[2] for one in attitudes]).reshape(-1, 3, 3)
        self._R2 = np.array([one[3] for one in attitudes]).reshape(-1, 3, 3)
        self._turned = np.array([one[4] for one in attitudes], np.int64).reshape(-1, 3)

    def calc_errors(self, state: State) -> Array:
        """Errors in the order of the constraints ``(mp,)``."""
        errors: Array = state.record.position_error[self._rows, 0]
        if len(self._turned):
            R1 = state.R_GB[self._body1] @ self._R1
            R2 = state.R_GB[self._body2] @ self._R2
            errors[self._turned] = rotation_vectors(R1.transpose(0, 2, 1) @ R2)
        return errors

    def get_num_errors(self, state: State) -> int:
        """Number of position equations."""
        return len(self._rows)

    def calc_goal(self, state: State) -> float:
        """Half the sum of the errors' squares."""
        errors = self.calc_errors(state)
        return 0.5 * float(errors @ errors)

    def squares(self, state: State) -> float:
        return 0.5

    def jacobian_u(self, state: State) -> Array:
        matter: Any = self.get_matter_subsystem()
        P: Array = matter.explicit_g(state)[self._rows]
        if len(self._turned):
            R1 = state.R_GB[self._body1] @ self._R1
            origin = np.zeros((len(self._body1), 3))
            W1 = matter.frame_jacobian(state, "SystemConstraints", self._body1, origin, 6).reshape(len(origin), 6, -1)
            W2 = matter.frame_jacobian(state, "SystemConstraints", self._body2, origin, 6).reshape(len(origin), 6, -1)
            P[self._turned] = R1.transpose(0, 2, 1) @ (W2 - W1)[:, :3]
        return P

    def report(self, state: State) -> list[tuple[str, float]]:
        errors = np.abs(self.calc_errors(state))
        return [(repr(constraint), float(errors[part].max())) for constraint, part in self._parts]


def attitude_of(constraint: Constraint, state: State) -> tuple[int, int, Array, int, Array] | None:
    """Frames that a constraint makes parallel: its first such equation, then for both its body's index and R_BF."""
    if isinstance(constraint, Weld):
        place = 6  # after both origins
    elif isinstance(constraint, ConstantOrientation):
        place = 0
    else:
        return None
    numbers = constraint.number_run(state, "assembly")[place : place + 18].reshape(2, 3, 3)
    body1, body2 = constraint.body_indices()
    return 0, body1, numbers[0].copy(), body2, numbers[1].copy()
