"""Mobilizers whose kinematics Python computes: they are written into a state's rows before the compiled sweeps read them.

The switch has no branch for the kind `INTERPRETED`: it finds the rows filled, and only turns those of a reversed mobilizer
round. As it does that in place, the rows are written anew before each position step. A body has an interpreter in
`MobilizedBody._interpreter`; what calls the sweeps, `MultibodySystem._compute`, sees to it that it writes first.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from . import _rates
from ._by_address import keep_bias

if TYPE_CHECKING:
    from ..state import State
    from .base import MobilizedBody

Array = npt.NDArray[np.float64]

#: The `kind` of all mobilizers that Python computes.
INTERPRETED = -2


class Interpreter(abc.ABC):
    """A mobilizer's own kinematics in Python: of M in F, or of F in M where the mobilizer is reversed.

    1. `transform`, `hinge` and `hinge_dot` have to be there;
    2. `n`, `n_inv` and `n_dot` too where the facts say `has_matrix_n`;
    3. `realize` is told of every stage that the state reaches.

    q has as many numbers as the state uses: three angles in place of a quaternion where so chosen. Arrays that come back
    have been checked by whoever made them.
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
        """Hear that the state reaches a stage, by its name in lower case; "topology" and "model" included."""


def not_a_function_of_q(*_: Any) -> NoReturn:
    """Stands where a compiled kind has its functions: the interpreter's, which get the state, are asked instead."""
    raise TypeError("this mobilizer's kinematics are Python's, which need a state; ask its interpreter")


def write_position(body: MobilizedBody, state: State) -> None:
    """Write the body's own transform, hinge columns, N and its inverse into the state's rows."""
    interpreter, record, b = body._interpreter, state._record, body._index
    assert interpreter is not None
    fields = state._tree.fields
    state._preparing = b
    try:
        R, p = interpreter.transform(state, state._q[body._q_slice(state)].copy())
        record.R_FM[b], record.p_FM[b] = R.reshape(9), p
        interpreter.realize("position", state)
        columns = record.H_MF if fields["reversed"][b] else record.H_FM
        columns[body._u_slice(state)] = interpreter.hinge(state)
        if fields["rates"][b] == _rates.MATRIX:
            _store_matrix(record.N, body, state, interpreter.n(state))
            _store_matrix(record.N_inv, body, state, interpreter.n_inv(state))
    finally:
        state._preparing = 0


def write_velocity(body: MobilizedBody, state: State) -> None:
    """Write the rates of the columns and of N into the state's rows, and q_dot, on which these depend."""
    interpreter, record, b = body._interpreter, state._record, body._index
    assert interpreter is not None
    fields = state._tree.fields
    state._preparing = -b
    try:
        _rates.n_times(record, b, record.u, fields["first_u"][b], record.q_dot, fields["first_q"][b])
        interpreter.realize("velocity", state)
        columns = record.HDot_MF if fields["reversed"][b] else record.HDot_FM
        columns[body._u_slice(state)] = interpreter.hinge_dot(state)
        keep_bias(record, b)
        if fields["rates"][b] == _rates.MATRIX:
            _store_matrix(record.N_dot, body, state, interpreter.n_dot(state))
    finally:
        state._preparing = 0


def _store_matrix(rows: Array, body: MobilizedBody, state: State, matrix: Array) -> None:
    first = state._tree.fields["first_n"][body._index]
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
