"""Constant: a value that never changes.

m = c   m' = 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import store
from ..compiling import generic
from ..function.base import UNLIMITED
from ..value.checks import integer
from ..value.stage import Stage
from .base import Joined, Measure, check_shape
from .routines import by_address, number

if TYPE_CHECKING:
    from ..state.state import State
    from .program import Program


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Integers: how many numbers, and the place of the first."""
    n, x = model.measure_code[i], model.measure_code[i + 1]
    for k in range(n):
        store(model.measure_values, out + k, 0, number(model, x + k))


operation = by_address(operate)


class Constant(Measure):
    """A value that is the same in every state.

    Parameters
    ----------
    subsystem : Subsystem or None
        What it joins. Without one it can still be asked, and be an operand.
    value : float or (n,) array_like
    name : str, optional
        For messages; its kind and its index unless given.

    Raises
    ------
    ModelError
        If it is not finite.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> mb.measure.Constant(None, 2.5).get_value(state)
    2.5
    """

    def __init__(self, subsystem: Joined, value: npt.ArrayLike, *, name: str | None = None) -> None:
        super().__init__(subsystem, check_shape(np.shape(value), "a Constant"), default=value, name=name)

    def set_value(self, value: npt.ArrayLike) -> None:
        """Change it, in all states to come: a topological change, as `set_default_value`. It may change its size, too.

        Raises
        ------
        ModelError
            If it is not finite.
        """
        before, self._shape = self._shape, check_shape(np.shape(value), repr(self))
        try:
            self.set_default_value(value)
        except BaseException:
            self._shape = before
            raise

    def _calc(self, state: State, deriv_order: int) -> Any:
        return self._given(self.default if deriv_order == 0 else np.zeros(self._shape))

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return UNLIMITED

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.EMPTY if deriv_order else Stage.TOPOLOGY

    def write_value(self, program: Program, order: int) -> int:
        return program.constant(self.default if order == 0 else 0.0, self.default.size)


class Zero(Constant):
    """Zero, or a vector of *n* zeros.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Zero(system.matter)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    0.0
    """

    def __init__(self, subsystem: Joined = None, n: int | None = None, *, name: str | None = None) -> None:
        super().__init__(subsystem, 0.0 if n is None else np.zeros(integer("n", n, 1)), name=name)


class One(Constant):
    """One, or a vector of *n* ones.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.One(system.matter)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    1.0
    """

    def __init__(self, subsystem: Joined = None, n: int | None = None, *, name: str | None = None) -> None:
        super().__init__(subsystem, 1.0 if n is None else np.ones(integer("n", n, 1)), name=name)
