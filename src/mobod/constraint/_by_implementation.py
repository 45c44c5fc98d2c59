"""A user's constraint in Python, as rows of the engine's.

With A the Ancestor, w and v velocities in Ground, p from A's origin, all of a body B:

    w_AB = w_B - w_A     v_AB = v_B - v_A - w_A x p
    b_AB = b_B - b_A - w_A x w_AB     a_AB = a_B - a_A - b_A x p - w_A x (w_A x p) - 2 w_A x v_AB

A row of G is the forces of a unit multiplier. An acceleration offset is the error where accelerations in Ground are zero, those
of A included, and a velocity offset what the error has beside the row times velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..mobilizer import _rates
from ..value import Transform
from ._interpreted import Interpreter, checked

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State
    from .custom import Custom
    from .custom_implementation import CustomImplementation

Array = npt.NDArray[np.float64]


def _poses(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody]) -> tuple[Array, Array, Array]:
    """R_GA, R_GB ``(n, 3, 3)`` and p_AB ``(n, 3)`` in Ground."""
    record, at = state._record, [body.get_mobilized_body_index() for body in bodies]
    a = ancestor.get_mobilized_body_index()
    return record.R_GB[a].reshape(3, 3), record.R_GB[at].reshape(-1, 3, 3), record.p_GB[at] - record.p_GB[a]


def _cross(a: Array, b: Array) -> Array:
    """Cross products of rows; NumPy's own takes longer than all the rest."""
    out = np.empty(b.shape)
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    out[..., 0] = y * b[..., 2] - z * b[..., 1]
    out[..., 1] = z * b[..., 0] - x * b[..., 2]
    out[..., 2] = x * b[..., 1] - y * b[..., 0]
    return out


def transforms_in_ancestor(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody]) -> list[Transform]:
    """X_AB of each body."""
    if not bodies:
        return []
    R_GA, R_GB, p = _poses(state, ancestor, bodies)
    if ancestor.is_ground():
        return [Transform._trusted(R, one) for R, one in zip(R_GB, p, strict=True)]
    return [Transform._trusted(R_GA.T @ R, R_GA.T @ one) for R, one in zip(R_GB, p, strict=True)]


def _velocities(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody], p: Array) -> tuple[Array, Array, Array]:
    """w_GA, and w_AB and v_AB of each body, in Ground."""
    V = state._record.V_GB
    w_A, v_A = V[ancestor.get_mobilized_body_index()].reshape(2, 3)
    V_B = V[[body.get_mobilized_body_index() for body in bodies]].reshape(-1, 2, 3)
    return w_A, V_B[:, 0] - w_A, V_B[:, 1] - v_A - _cross(w_A, p)


def velocities_in_ancestor(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody]) -> Array:
    """V_AB ``(n, 2, 3)`` of each body."""
    if ancestor.is_ground():
        V: Array = state._record.V_GB[[body.get_mobilized_body_index() for body in bodies]].reshape(-1, 2, 3)
        return V
    R_GA, _, p = _poses(state, ancestor, bodies)
    _, w, v = _velocities(state, ancestor, bodies, p)
    return np.stack([w @ R_GA, v @ R_GA], axis=1)


def accelerations_in_ancestor(
    state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody], A_GB: Array | None = None
) -> Array:
    """A_AB ``(n, 2, 3)`` of each body, where those of all bodies in Ground are *A_GB* ``(nb, 2, 3)``, zero unless given."""
    at = [body.get_mobilized_body_index() for body in bodies]
    if ancestor.is_ground():
        return np.zeros((len(at), 2, 3)) if A_GB is None else A_GB[at]
    R_GA, _, p = _poses(state, ancestor, bodies)
    w_A, w, v = _velocities(state, ancestor, bodies, p)
    b, a = -_cross(w_A, w), -_cross(w_A, _cross(w_A, p)) - 2.0 * _cross(w_A, v)
    if A_GB is not None:
        b_A, a_A = A_GB[ancestor.get_mobilized_body_index()]
        b, a = b + A_GB[at, 0] - b_A, a + A_GB[at, 1] - a_A - _cross(b_A, p)
    return np.stack([b @ R_GA, a @ R_GA], axis=1)


class ByImplementation(Interpreter):
    """The rows of a `Custom` with an implementation."""

    def __init__(self, constraint: Custom, implementation: CustomImplementation) -> None:
        self._constraint, self._implementation = constraint, implementation

    def realize(self, stage: str, state: State) -> None:
        getattr(self._implementation, f"realize_{stage}")(state)

    # ------------------------------------------------------------------------------------------ what the methods say

    def _said(self, name: str, n: int, state: State, *given: Any) -> Array:
        """*n* errors of one of the user's methods."""
        what = f"{name} of {self._constraint.name!r} ({type(self._implementation).__name__})"
        return checked(getattr(self._implementation, name)(state, *given), (n,), what)

    def _of_mobilizers(self, values: Array, parts: Sequence[slice]) -> Array:
        return np.concatenate([values[part] for part in parts]) if parts else np.zeros(0)

    def q_like(self, state: State, values: Array) -> Array:
        """The part of the constrained mobilizers of what is like q."""
        return self._of_mobilizers(values, [body._q_slice(state) for body in self._implementation._mobilizers])

    def u_like(self, state: State, values: Array) -> Array:
        """The same of what is like u."""
        return self._of_mobilizers(values, [body._u_slice(state) for body in self._implementation._mobilizers])

    def position_errors(self, state: State) -> Array:
        """Of the state's positions."""
        mine = self._implementation
        X_AB = transforms_in_ancestor(state, self._constraint.get_ancestor_mobilized_body(), mine._bodies)
        return self._said("calc_position_errors", mine._equations[0], state, X_AB, self.q_like(state, state._q).copy())

    def position_dot_errors(self, state: State, V_AB: Array, q_dot: Array) -> Array:
        """At given velocities."""
        return self._said("calc_position_dot_errors", self._implementation._equations[0], state, V_AB, q_dot)

    def velocity_errors(self, state: State, V_AB: Array, u: Array) -> Array:
        """At given velocities."""
        return self._said("calc_velocity_errors", self._implementation._equations[1], state, V_AB, u)

    def acceleration_errors(self, state: State, A_AB: Array, q_dot_dot: Array, udot: Array) -> Array:
        """Of all equations, at given accelerations."""
        p, v, a = self._implementation._equations
        found = []
        if p:
            found.append(self._said("calc_position_dot_dot_errors", p, state, A_AB.copy(), q_dot_dot.copy()))
        if v:
            found.append(self._said("calc_velocity_dot_errors", v, state, A_AB.copy(), udot.copy()))
        if a:
            found.append(self._said("calc_acceleration_errors", a, state, A_AB.copy(), udot.copy()))
        return np.concatenate(found)

    def forces(self, which: int, state: State, multipliers: Array) -> tuple[Array, Array]:
        """Forces of multipliers of equations of positions (0), velocities (1) or accelerations (2), on bodies in A."""
        mine = self._implementation
        size = mine.get_num_constrained_q(state) if which == 0 else mine.get_num_constrained_u(state)
        F, f = np.zeros((len(mine._bodies), 2, 3)), np.zeros(size)
        name = f"add_in_{('position', 'velocity', 'acceleration')[which]}_constraint_forces"
        getattr(mine, name)(state, multipliers, F, f)
        what = f"{name} of {self._constraint.name!r} ({type(mine).__name__})"
        return checked(F, F.shape, f"what {what} adds on bodies,"), checked(f, f.shape, f"what {what} adds,")

    # ------------------------------------------------------------------------------------------ rows

    def _write_forces(self, which: int, state: State) -> None:
        """The rows of G of equations of positions, velocities or accelerations."""
        c, record, fields, numbers = self._constraint._index, state._record, state._tree.fields, self._implementation._equations
        R_GA = record.R_GB[self._constraint.get_ancestor_mobilized_body().get_mobilized_body_index()].reshape(3, 3)
        n, before = len(self._implementation._bodies), sum(numbers[:which])
        for k in range(numbers[which]):
            F, f = self.forces(which, state, np.eye(numbers[which])[k])
            first = int(fields["first_wrench"][c]) + (before + k) * n
            record.wrenches[first : first + n] = (F @ R_GA.T).reshape(n, 6)
            if which == 0:
                first = int(fields["first_coordinate"][c]) + k * len(f)
                record.coordinate_coefficients[first : first + len(f), 0] = f
            else:
                first = int(fields["first_speed"][c]) + (before + k) * len(f)
                record.speed_coefficients[first : first + len(f), 0] = f

    def write_positions(self, state: State) -> None:
        mine, record = self._implementation, state._record
        p, first = mine._equations[0], int(state._tree.fields["first_row"][self._constraint._index])
        if p == 0:
            return
        record.position_error[first : first + p, 0] = self.position_errors(state)
        still = np.zeros((len(mine._bodies), 2, 3)), np.zeros(mine.get_num_constrained_q(state))
        record.velocity_offset[first : first + p, 0] = self.position_dot_errors(state, *still)
        self._write_forces(0, state)

    def write_velocities(self, state: State) -> None:
        mine, record, fields, c = self._implementation, state._record, state._tree.fields, self._constraint._index
        (p, v, a), first = mine._equations, int(fields["first_row"][c])
        for body in mine._mobilizers:
            b = body.get_mobilized_body_index()
            _rates.n_times(record, b, record.u, fields["first_u"][b], record.q_dot, fields["first_q"][b])
        ancestor = self._constraint.get_ancestor_mobilized_body()
        u = self.u_like(state, state._u).copy()
        for which in (1, 2):
            self._write_forces(which, state)
        if v:
            V_AB = velocities_in_ancestor(state, ancestor, mine._bodies)
            errors, n = self.velocity_errors(state, V_AB, u), len(mine._bodies)
            at = int(fields["first_wrench"][c]) + p * n
            V_GB = record.V_GB[[body.get_mobilized_body_index() for body in mine._bodies]].ravel()
            along = record.wrenches[at : at + v * n].reshape(v, 6 * n) @ V_GB
            at = int(fields["first_speed"][c]) + p * len(u)
            along = along + record.speed_coefficients[at : at + v * len(u), 0].reshape(v, len(u)) @ u
            record.velocity_offset[first + p : first + p + v, 0] = errors - along
        A_AB = accelerations_in_ancestor(state, ancestor, mine._bodies)
        still = np.zeros(mine.get_num_constrained_q(state)), np.zeros(len(u))
        record.acceleration_offset[first : first + p + v + a, 0] = self.acceleration_errors(state, A_AB, *still)
