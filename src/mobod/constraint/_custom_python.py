"""Constraints whose equations Python computes: it writes their rows after the compiled sweeps of positions and of velocities.

`constraints.constrain` finds no routine of the kind and leaves the rows alone; `MultibodySystem.compute` then has the
constraint's `Interpreter` write them. What follows from them (N^T and NDot u of coordinates) is the kernels' own source, run by
Python on the one constraint.

Of a user's implementation, with A the Ancestor, w and v velocities in Ground, p from A's origin, all of a body B:

    w_AB = w_B - w_A     v_AB = v_B - v_A - w_A x p
    b_AB = b_B - b_A - w_A x w_AB     a_AB = a_B - a_A - b_A x p - w_A x (w_A x p) - 2 w_A x v_AB

A row of G is the forces of a unit multiplier. An acceleration offset is the error where accelerations in Ground are zero, those
of A included, and a velocity offset is the error less the row times velocities.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..mobilizer import q_rates
from ..value import Transform

if TYPE_CHECKING:
    from ..function import Function
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from .custom import Custom
    from .custom_implementation import CustomImplementation


class Interpreter(abc.ABC):
    """Writes a constraint's rows into a state."""

    @abc.abstractmethod
    def write_positions(self, state: State) -> None:
        """Position errors, velocity offsets of position equations, and coefficients of these. Positions are known."""

    @abc.abstractmethod
    def write_velocities(self, state: State) -> None:
        """As VELOCITIES in `protocol`. Velocities are known, and q_dot of the constrained mobilizers."""

    def realize(self, stage: str, state: State) -> None:
        """Hear that the state reaches a stage, by its name in lower case; "topology" and "model" included."""


def checked(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """A result of a user's method as a finite array of *shape*; `ModelError` that names the method otherwise."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} has to return an array of shape {shape}, not {value!r}") from None
    if array.shape == () and shape == (1,):
        array = array.reshape(1)
    if array.shape != shape:
        raise ModelError(f"{what} has to return an array of shape {shape}; it returned one of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} is not finite: it returned {array.tolist()}")
    return array


def taken(function: Function, x: Array, *components: int) -> float:
    """The value of a user's function, or a derivative, as a finite number."""
    what = f"derivative {list(components)}" if components else "value"
    y = function.calc_derivative(components, x) if components else function.calc_value(x)
    try:
        number = float(y)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise ModelError(f"the {what} of {function!r} has to be a finite number; at {x.tolist()} it is {y!r}")
    return number


# ---------------------------------------------------------------------------------------------- an implementation


def _poses(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody]) -> tuple[Array, Array, Array]:
    """R_GA, R_GB ``(n, 3, 3)`` and p_AB ``(n, 3)`` in Ground."""
    record, at = state.record, [body.get_mobilized_body_index() for body in bodies]
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
        return [Transform.trusted(R, one) for R, one in zip(R_GB, p, strict=True)]
    return [Transform.trusted(R_GA.T @ R, R_GA.T @ one) for R, one in zip(R_GB, p, strict=True)]


def _velocities(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody], p: Array) -> tuple[Array, Array, Array]:
    """w_GA, and w_AB and v_AB of each body, in Ground."""
    V = state.record.V_GB
    w_A, v_A = V[ancestor.get_mobilized_body_index()].reshape(2, 3)
    V_B = V[[body.get_mobilized_body_index() for body in bodies]].reshape(-1, 2, 3)
    return w_A, V_B[:, 0] - w_A, V_B[:, 1] - v_A - _cross(w_A, p)


def velocities_in_ancestor(state: State, ancestor: MobilizedBody, bodies: Sequence[MobilizedBody]) -> Array:
    """V_AB ``(n, 2, 3)`` of each body."""
    if ancestor.is_ground():
        return state.record.V_GB[[body.get_mobilized_body_index() for body in bodies]].reshape(-1, 2, 3)
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
        self._constraint, self.implementation = constraint, implementation

    def realize(self, stage: str, state: State) -> None:
        getattr(self.implementation, f"realize_{stage}")(state)

    # ------------------------------------------------------------------------------------------ what the methods say

    def _said(self, name: str, n: int, state: State, *given: Any) -> Array:
        """*n* errors of one of the user's methods."""
        what = f"{name} of {self._constraint.name!r} ({type(self.implementation).__name__})"
        return checked(getattr(self.implementation, name)(state, *given), (n,), what)

    def _of_mobilizers(self, values: Array, parts: Sequence[slice]) -> Array:
        return np.concatenate([values[part] for part in parts]) if parts else np.zeros(0)

    def q_like(self, state: State, values: Array) -> Array:
        """The constrained mobilizers' part of an array like q."""
        return self._of_mobilizers(values, [body.q_slice(state) for body in self.implementation.declared_mobilizers])

    def u_like(self, state: State, values: Array) -> Array:
        """The same of an array like u."""
        return self._of_mobilizers(values, [body.u_slice(state) for body in self.implementation.declared_mobilizers])

    def position_errors(self, state: State) -> Array:
        """Of the state's positions."""
        mine = self.implementation
        X_AB = transforms_in_ancestor(state, self._constraint.get_ancestor_mobilized_body(), mine.declared_bodies)
        return self._said(
            "calc_position_errors", mine.declared_equations[0], state, X_AB, self.q_like(state, state.q_values).copy()
        )

    def position_dot_errors(self, state: State, V_AB: Array, q_dot: Array) -> Array:
        """At given velocities."""
        return self._said("calc_position_dot_errors", self.implementation.declared_equations[0], state, V_AB, q_dot)

    def velocity_errors(self, state: State, V_AB: Array, u: Array) -> Array:
        """At given velocities."""
        return self._said("calc_velocity_errors", self.implementation.declared_equations[1], state, V_AB, u)

    def acceleration_errors(self, state: State, A_AB: Array, q_dot_dot: Array, udot: Array) -> Array:
        """Of all equations, at given accelerations."""
        p, v, a = self.implementation.declared_equations
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
        mine = self.implementation
        size = mine.get_num_constrained_q(state) if which == 0 else mine.get_num_constrained_u(state)
        F, f = np.zeros((len(mine.declared_bodies), 2, 3)), np.zeros(size)
        name = f"add_in_{('position', 'velocity', 'acceleration')[which]}_constraint_forces"
        getattr(mine, name)(state, multipliers, F, f)
        what = f"{name} of {self._constraint.name!r} ({type(mine).__name__})"
        return checked(F, F.shape, f"what {what} adds on bodies,"), checked(f, f.shape, f"what {what} adds,")

    def calc_equations(
        self, state: State, A_GB: Array, u_dot: Array, errors: Array, pushing: tuple[Array, Array, Array] | None
    ) -> None:
        """Write the errors of accelerations, by the kernels' rows, and take forces off, *pushing* with multipliers F and f.

        Bodies have accelerations *A_GB* ``(nb, 2, 3)`` at *u_dot*. Velocities are known.
        """
        mine, record, fields = self.implementation, state.record, state.tree.fields
        ancestor, first = self._constraint.get_ancestor_mobilized_body(), int(fields["first_row"][self._constraint.index])
        mobilizers = [body.get_mobilized_body_index() for body in mine.declared_mobilizers]
        q_dot_dot, more, udot = np.zeros((state.tree.nq, 1)), np.zeros((state.tree.nq, 1)), u_dot[:, None]
        for b in mobilizers:
            q_rates.n_times(record, b, udot, fields["first_u"][b], q_dot_dot, fields["first_q"][b])
            q_rates.n_dot_times(record, b, record.u, fields["first_u"][b], more, fields["first_q"][b])
        A_AB = accelerations_in_ancestor(state, ancestor, mine.declared_bodies, A_GB)
        found = self.acceleration_errors(state, A_AB, self.q_like(state, (q_dot_dot + more)[:, 0]), self.u_like(state, u_dot))
        errors[first : first + len(found)] = found
        if pushing is None:
            return
        multipliers, F, f = pushing
        R_GA = record.R_GB[ancestor.get_mobilized_body_index()].reshape(3, 3)
        for which, n in enumerate(mine.declared_equations):
            if n:
                of_bodies, pushed = self.forces(which, state, multipliers[first : first + n].copy())
                for body, wrench in zip(mine.declared_bodies, of_bodies @ R_GA.T, strict=True):
                    F[body.get_mobilized_body_index()] -= wrench
                at = 0
                for b in mobilizers:
                    k, end = fields["first_u"][b], fields["first_u"][b] + fields["num_u"][b]
                    if which == 0:
                        out = np.zeros((state.tree.nu, 1))
                        q_rates.n_transpose_times(record, b, pushed[:, None], at, out, k)
                        f[k:end] -= out[k:end, 0]
                        at += fields["num_q"][b]
                    else:
                        f[k:end] -= pushed[at : at + end - k]
                        at += end - k
                first += n

    # ------------------------------------------------------------------------------------------ rows

    def _write_forces(self, which: int, state: State) -> None:
        """The rows of G of equations of positions, velocities or accelerations."""
        c, record, fields, numbers = (
            self._constraint.index,
            state.record,
            state.tree.fields,
            self.implementation.declared_equations,
        )
        R_GA = record.R_GB[self._constraint.get_ancestor_mobilized_body().get_mobilized_body_index()].reshape(3, 3)
        n, before = len(self.implementation.declared_bodies), sum(numbers[:which])
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
        mine, record = self.implementation, state.record
        p, first = mine.declared_equations[0], int(state.tree.fields["first_row"][self._constraint.index])
        if p == 0:
            return
        record.position_error[first : first + p, 0] = self.position_errors(state)
        still = np.zeros((len(mine.declared_bodies), 2, 3)), np.zeros(mine.get_num_constrained_q(state))
        record.velocity_offset[first : first + p, 0] = self.position_dot_errors(state, *still)
        self._write_forces(0, state)

    def write_velocities(self, state: State) -> None:
        mine, record, fields, c = self.implementation, state.record, state.tree.fields, self._constraint.index
        (p, v, a), first = mine.declared_equations, int(fields["first_row"][c])
        for body in mine.declared_mobilizers:
            b = body.get_mobilized_body_index()
            q_rates.n_times(record, b, record.u, fields["first_u"][b], record.q_dot, fields["first_q"][b])
        ancestor = self._constraint.get_ancestor_mobilized_body()
        u = self.u_like(state, state.u_values).copy()
        for which in (1, 2):
            self._write_forces(which, state)
        if v:
            V_AB = velocities_in_ancestor(state, ancestor, mine.declared_bodies)
            errors, n = self.velocity_errors(state, V_AB, u), len(mine.declared_bodies)
            at = int(fields["first_wrench"][c]) + p * n
            V_GB = record.V_GB[[body.get_mobilized_body_index() for body in mine.declared_bodies]].ravel()
            along = record.wrenches[at : at + v * n].reshape(v, 6 * n) @ V_GB
            at = int(fields["first_speed"][c]) + p * len(u)
            along = along + record.speed_coefficients[at : at + v * len(u), 0].reshape(v, len(u)) @ u
            record.velocity_offset[first + p : first + p + v, 0] = errors - along
        A_AB = accelerations_in_ancestor(state, ancestor, mine.declared_bodies)
        still = np.zeros(mine.get_num_constrained_q(state)), np.zeros(len(u))
        record.acceleration_offset[first : first + p + v + a, 0] = self.acceleration_errors(state, A_AB, *still)
