"""Users' functions of nodes: costs and constraints, evaluated at many nodes at once with their derivatives.

The names of a function's arguments say what it gets, each with the nodes along the last axis. It is called with arrays, and
with `DualArray` for exact derivatives; where it does what these have no rule for, derivatives are differences.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.dual_array import DualArray, NotDifferentiable
from ..derivative.differences import STEP, along
from ..errors import ModelError
from ..value.checks import all_known

#: What is given: of each name, its values ``(rows, n)`` or ``(n,)``, and its derivatives by the variables ``(k, rows, n)``.
Given = Mapping[str, tuple[Array, Array]]


class NodeFunction:
    """A user's function of some of what there is at a node.

    Parameters
    ----------
    function : callable
    what : str
        What messages call it.
    names : sequence of str
        What it can ask for.
    low, high : float or array_like
        The bounds of a constraint.
    single : bool
        Whether it has to give one row, as a cost does.

    Raises
    ------
    TypeError
        If it is no function.
    ModelError
        If it asks for what there is not.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        what: str,
        names: Sequence[str],
        low: Any = -np.inf,
        high: Any = np.inf,
        *,
        single: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(f"{what} has to be a function, not {function!r}")
        self.function, self.what, self._single = function, what, single
        parameters = inspect.signature(function).parameters.values()
        self.names = [one.name for one in parameters if one.default is inspect.Parameter.empty]
        all_known(f"{what} asks for", self.names, names, ModelError)
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        if (self.low > self.high).any():
            raise ValueError(f"{what} has the bounds {low!r} and {high!r}; the lower one comes first")
        self._with_tangents = True

    @property
    def name(self) -> str:
        """The function's own name."""
        return getattr(self.function, "__name__", "function")

    def ends(self) -> tuple[Array, Array]:
        """Its bounds, of as many numbers as either of them has."""
        low, high = np.broadcast_arrays(np.atleast_1d(self.low), np.atleast_1d(self.high))
        return low.copy(), high.copy()

    def values(self, given: Given, n: int) -> Array:
        """Values ``(k, n)`` at n nodes."""
        return self._rows(self.function(*(given[name][0] for name in self.names)), n)

    def _rows(self, value: Any, n: int) -> Array:
        """A value that it has returned, as rows of numbers of n nodes."""
        rows = self._as_rows(value, n)
        if self._single and len(rows) > 1:
            raise ModelError(f"{self.what} returned {len(rows)} rows; it is one number a node, or of the two ends: their sum?")
        return rows

    def _as_rows(self, value: Any, n: int) -> Array:
        if isinstance(value, (tuple, list)):
            value = np.stack([np.broadcast_to(np.asarray(one, float), (n,)) for one in value])
        value = np.asarray(value, float)
        if value.ndim > 2 or (value.ndim and value.shape[-1] not in (1, n)):
            raise ModelError(
                f"{self.what} returned an array of shape {value.shape}; a number a node is wanted, or a row of them for each "
                f"of several, the {n} nodes along the last axis"
            )
        return np.array(np.broadcast_to(np.atleast_2d(value), (value.shape[0] if value.ndim == 2 else 1, n)))

    def with_derivatives(self, given: Given, n: int, k: int) -> tuple[Array, Array]:
        """Values ``(r, n)``, and derivatives ``(r, k, n)`` by the k variables."""
        if self._with_tangents:
            try:
                return self._exactly(given, n, k)
            except NotDifferentiable:
                self._with_tangents = False
        return self._by_differences(given, n, k)

    def _exactly(self, given: Given, n: int, k: int) -> tuple[Array, Array]:
        arguments = [DualArray(given[name][0].copy(), given[name][1]) for name in self.names]
        value = self.function(*arguments)
        parts = list(value) if isinstance(value, (tuple, list)) else None
        if parts is None:
            if not isinstance(value, DualArray):
                return self._rows(value, n), np.zeros((len(self._rows(value, n)), k, n))
            parts = [value] if value.ndim < 2 else list(value)
        values, slopes = np.empty((len(parts), n)), np.zeros((len(parts), k, n))
        for i, part in enumerate(parts):
            if isinstance(part, DualArray):
                if n > 1 and part.ndim == 0:
                    raise ModelError(
                        f"{self.what} returned one number of all {n} nodes together; a number a node is wanted: sum along the "
                        "first axis, as (controls**2).sum(axis=0)"
                    )
                values[i], slopes[i] = part.value, part.tangents.reshape(k, -1)
            else:
                values[i] = part
        return values, slopes

    def _by_differences(self, given: Given, n: int, k: int) -> tuple[Array, Array]:
        """By differences along each variable; what depends on none is left alone."""
        value = self.values(given, n)
        slopes = np.zeros((len(value), k, n))
        for i in range(k):
            change = {name: given[name][1][i] for name in self.names}
            if not any(one.any() for one in change.values()):
                continue
            size = max(1.0, *(float(np.abs(given[name][0]).max(initial=0.0)) for name in self.names))

            def at(h: float, change: Any = change) -> Array:
                return self.values({name: (given[name][0] + h * change[name], given[name][1]) for name in self.names}, n)

            slopes[:, i] = along(at, STEP * size)
        return value, slopes


def check_bounds(what: str, given: Any, size: int) -> tuple[Array, Array]:
    """A number, or a pair of the least and the largest, as two rows of *size*."""
    pair = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, given)
    rows = []
    for value in pair:
        try:
            rows.append(np.broadcast_to(np.asarray(value, float), (size,)).copy())
        except (TypeError, ValueError):
            raise ValueError(f"{what} has to be a number, or a pair (least, largest), got {given!r}") from None
    if np.isnan(rows).any() or (rows[0] > rows[1]).any():
        raise ValueError(f"{what} has to be a number, or a pair (least, largest), got {given!r}")
    return rows[0], rows[1]
