"""From a user's `CustomImplementation` to the rows of a state: every answer is checked, and an error names the method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..value import Transform
from ._interpreted import Interpreter, checked

if TYPE_CHECKING:
    from ..state import State
    from .custom_implementation import CustomImplementation

Array = npt.NDArray[np.float64]


class ByImplementation(Interpreter):
    """Asks a user's `CustomImplementation`, and checks what it answers."""

    def __init__(self, implementation: CustomImplementation) -> None:
        self.implementation = implementation
        self._units: dict[int, Array] = {}

    def _identity(self, n: int) -> Array:
        if n not in self._units:
            self._units[n] = np.eye(n)
            self._units[n].setflags(write=False)
        return self._units[n]

    def _name(self, method: str) -> str:
        mobod = self.implementation._mobod
        return f"{method} of {type(self.implementation).__name__}, of {'no body' if mobod is None else repr(mobod.name)},"

    def _where(self, state: State) -> str:
        return f"at q = {self.implementation.get_q(state).tolist()}, u = {self.implementation.get_u(state).tolist()}"

    def transform(self, state: State, q: Array) -> tuple[Array, Array]:
        X = self.implementation.calc_mobilizer_transform_from_q(state, q)
        if not isinstance(X, Transform):
            X = _as_transform(X, self._name("calc_mobilizer_transform_from_q"), f"at q = {q.tolist()}")
        R, p = X._R, X._p
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
        return self._product("multiply_by_h_matrix", state, self.implementation._nu, (2, 3)).reshape(-1, 6)

    def hinge_dot(self, state: State) -> Array:
        return self._product("multiply_by_h_dot_matrix", state, self.implementation._nu, (2, 3)).reshape(-1, 6)

    def n(self, state: State) -> Array:
        return self._product("multiply_by_n", state, self.implementation._nu, (self._nq(state),), False).T

    def n_inv(self, state: State) -> Array:
        return self._product("multiply_by_n_inv", state, self._nq(state), (self.implementation._nu,), False).T

    def n_dot(self, state: State) -> Array:
        return self._product("multiply_by_n_dot", state, self.implementation._nu, (self._nq(state),), False).T

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
