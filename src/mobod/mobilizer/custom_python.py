"""Mobilizers whose kinematics Python computes: written into the record before the compiled sweeps read them.

`_dispatch` has no branch for the kind `INTERPRETED`: it finds the rows filled, and only reverses those of a reversed mobilizer.
This is done in place, so the rows are written again before each position step. `MultibodySystem.compute` calls the body's
`MobilizedBody.interpreter` before the sweeps.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value import Transform
from . import _rates
from .routine import keep_bias

if TYPE_CHECKING:
    from ..state.state import State
    from .base import MobilizedBody
    from .custom_implementation import CustomImplementation


#: The `kind` of all mobilizers that Python computes.
INTERPRETED = -2


class Interpreter(abc.ABC):
    """A mobilizer's own kinematics in Python: of M in F, or of F in M where the mobilizer is reversed.

    1. `transform`, `hinge` and `hinge_dot` have to be there;
    2. `n`, `n_inv` and `n_dot` too where the facts say `has_matrix_n`;
    3. `realize` is told of every stage that the state reaches.

    q has as many numbers as the state uses: three angles in place of a quaternion where so chosen. The arrays returned are
    already checked.
    """

    @abc.abstractmethod
    def transform(self, state: State, q: Array) -> tuple[Array, Array]:
        """X_FM at any *q*: R ``(3, 3)`` and p ``(3,)``. The state is at INSTANCE."""

    @abc.abstractmethod
    def hinge(self, state: State) -> Array:
        """Columns of H_FM as rows ``(nu, 6)``, angular before linear; called after `realize` with "position"."""

    @abc.abstractmethod
    def hinge_dot(self, state: State) -> Array:
        """Their rates ``(nu, 6)``; called after `realize` with "velocity"."""

    def n(self, state: State) -> Array:
        """N ``(nq, nu)`` at the state's q."""
        raise NotImplementedError

    def n_inv(self, state: State) -> Array:
        """Its inverse ``(nu, nq)``."""
        raise NotImplementedError

    def n_dot(self, state: State) -> Array:
        """Its rate ``(nq, nu)`` at the state's q and u."""
        raise NotImplementedError

    def realize(self, stage: str, state: State) -> None:
        """Called when the state reaches a stage, by its name in lower case; "topology" and "model" included."""


def not_a_function_of_q(*_: Any) -> NoReturn:
    """In place of a compiled kind's functions of q: the interpreter's, which take the state, are called instead."""
    raise TypeError("this mobilizer's kinematics are Python's, which need a state; ask its interpreter")


def write_position(body: MobilizedBody, state: State) -> None:
    """Write the body's own transform, hinge columns, N and its inverse into the state's rows."""
    interpreter, record, b = body.interpreter, state.record, body.index
    assert interpreter is not None
    fields = state.tree.fields
    state.preparing = b
    try:
        R, p = interpreter.transform(state, state.q_values[body.q_slice(state)].copy())
        record.R_FM[b], record.p_FM[b] = R.reshape(9), p
        interpreter.realize("position", state)
        columns = record.H_MF if fields["reversed"][b] else record.H_FM
        columns[body.u_slice(state)] = interpreter.hinge(state)
        if fields["rates"][b] == _rates.MATRIX:
            _store_matrix(record.N, body, state, interpreter.n(state))
            _store_matrix(record.N_inv, body, state, interpreter.n_inv(state))
    finally:
        state.preparing = 0


def write_velocity(body: MobilizedBody, state: State) -> None:
    """Write the rates of the columns and of N into the state's rows, and q_dot, on which these depend."""
    interpreter, record, b = body.interpreter, state.record, body.index
    assert interpreter is not None
    fields = state.tree.fields
    state.preparing = -b
    try:
        _rates.n_times(record, b, record.u, fields["first_u"][b], record.q_dot, fields["first_q"][b])
        interpreter.realize("velocity", state)
        columns = record.HDot_MF if fields["reversed"][b] else record.HDot_FM
        columns[body.u_slice(state)] = interpreter.hinge_dot(state)
        keep_bias(record, b)
        if fields["rates"][b] == _rates.MATRIX:
            _store_matrix(record.N_dot, body, state, interpreter.n_dot(state))
    finally:
        state.preparing = 0


def _store_matrix(rows: Array, body: MobilizedBody, state: State, matrix: Array) -> None:
    first = state.tree.fields["first_n"][body.index]
    rows[first : first + matrix.size, 0] = matrix.ravel()


def checked(value: Any, shape: tuple[int, ...], what: str, where: str) -> Array:
    """A result of a user's function as a finite array of *shape*; `ModelError` that names the function otherwise."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{what} has to return {_shape(shape)}, not {value!r}") from None
    if array.shape != shape:
        if array.shape == () and shape == (1,):
            array = array.reshape(1)
        else:
            raise ModelError(f"{what} has to return {_shape(shape)}; it returned an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} is not finite {where}: it returned {array.tolist()}")
    return array


def _shape(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}"


# ---------------------------------------------------------------------------------------------- an implementation


class ByImplementation(Interpreter):
    """Calls a user's `CustomImplementation`, and checks the results."""

    def __init__(self, implementation: CustomImplementation) -> None:
        self.implementation = implementation
        self._units: dict[int, Array] = {}

    def _identity(self, n: int) -> Array:
        if n not in self._units:
            self._units[n] = np.eye(n)
            self._units[n].setflags(write=False)
        return self._units[n]

    def _name(self, method: str) -> str:
        mobod = self.implementation.bound_mobod
        return f"{method} of {type(self.implementation).__name__}, of {'no body' if mobod is None else repr(mobod.name)},"

    def _where(self, state: State) -> str:
        return f"at q = {self.implementation.get_q(state).tolist()}, u = {self.implementation.get_u(state).tolist()}"

    def transform(self, state: State, q: Array) -> tuple[Array, Array]:
        X = self.implementation.calc_mobilizer_transform_from_q(state, q)
        if not isinstance(X, Transform):
            X = _as_transform(X, self._name("calc_mobilizer_transform_from_q"), f"at q = {q.tolist()}")
        R, p = np.asarray(X.R), X.p
        if not (np.isfinite(R).all() and np.isfinite(p).all()):
            name = self._name("calc_mobilizer_transform_from_q")
            raise ModelError(f"{name} is not finite at q = {q.tolist()}: it returned {X!r}")
        return R, p

    def _product(self, method: str, state: State, n: int, shape: tuple[int, ...], *args: Any) -> Array:
        """The products of a method with each column of the identity, as rows."""
        function, rows = getattr(self.implementation, method), []
        for e in self._identity(n):
            value = function(state, *args, e)
            row = np.asarray(value, dtype=np.float64) if type(value) is np.ndarray else None
            if row is None or row.shape != shape or not np.isfinite(row).all():
                row = checked(value, shape, self._name(method), self._where(state))
            rows.append(row)
        return np.array(rows)

    def hinge(self, state: State) -> Array:
        return self._product("multiply_by_h_matrix", state, self.implementation.declared_nu, (2, 3)).reshape(-1, 6)

    def hinge_dot(self, state: State) -> Array:
        return self._product("multiply_by_h_dot_matrix", state, self.implementation.declared_nu, (2, 3)).reshape(-1, 6)

    def n(self, state: State) -> Array:
        return self._product("multiply_by_n", state, self.implementation.declared_nu, (self._nq(state),), False).T

    def n_inv(self, state: State) -> Array:
        return self._product("multiply_by_n_inv", state, self._nq(state), (self.implementation.declared_nu,), False).T

    def n_dot(self, state: State) -> Array:
        return self._product("multiply_by_n_dot", state, self.implementation.declared_nu, (self._nq(state),), False).T

    def _nq(self, state: State) -> int:
        return self.implementation.get_mobilized_body().get_num_q(state)

    def realize(self, stage: str, state: State) -> None:
        getattr(self.implementation, f"realize_{stage}")(state)


def _as_transform(value: Any, what: str, where: str) -> Transform:
    try:
        if isinstance(value, tuple) and len(value) == 2:
            return Transform(*value)
        array = np.asarray(value, dtype=np.float64)
        return Transform.from_matrix(array) if array.shape == (4, 4) else Transform(array)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} has to return a Transform; {where} it returned {value!r}: {error}") from None
