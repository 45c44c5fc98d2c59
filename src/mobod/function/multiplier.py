"""Multiplier: a number times a function.

f = scale * g, and so all derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..value import checks
from .base import Function, FunctionKind
from .routines import is_compiled, multiple


class Multiplier(FunctionKind):
    """A number times any other function.

    Parameters
    ----------
    function : Function
        Of any kind, one of your own and a Multiplier among them.
    scale : float
        What its values and derivatives are multiplied by.

    Raises
    ------
    TypeError
        If *function* is no `mobod.Function`.

    Notes
    -----
    It runs compiled where the function does. OpenSim's ``MultiplierFunction``: scaling a model wraps functions in it.

    Examples
    --------
    >>> import mobod as mb
    >>> f = Multiplier(mb.function.Polynomial([1, 0, 0]), 3)
    >>> f.calc_value(2.0), f.calc_derivative([0], 2.0)
    (12.0, 12.0)
    """

    _names = ("function", "scale")
    _function: Function
    _scale: float

    def __init__(self, function: Function, scale: float = 1.0) -> None:
        checks.instance("the function of a Multiplier", function, Function, "Polynomial([1, 0])")
        self._keep(function=function, scale=checks.finite("the scale of a Multiplier", scale))
        core, _ = self.core()
        if isinstance(core, FunctionKind) and is_compiled(core):
            object.__setattr__(self, "is_affine", core.is_affine)
            object.__setattr__(self, "routine", None if core.routine is None else multiple(core.routine))

    def core(self) -> tuple[Function, float]:
        """The function that is no Multiplier, and what it is multiplied by."""
        inner = self._function
        if not isinstance(inner, Multiplier):
            return inner, self._scale
        core, scale = inner.core()
        return core, self._scale * scale

    def get_argument_size(self) -> int:
        """The number of arguments of the function."""
        return self._function.get_argument_size()

    def get_max_derivative_order(self) -> int:
        """The highest order of the derivatives of the function."""
        return self._function.get_max_derivative_order()

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        inner = self._function
        points = np.stack(np.broadcast_arrays(*x), axis=-1) if x else np.empty(0)
        if isinstance(inner, FunctionKind):
            return self._scale * np.asarray(inner.calc_derivative(components, points))
        found = [
            inner.calc_derivative(list(components), point) if components else inner.calc_value(point)
            for point in np.atleast_2d(points)
        ]
        return self._scale * (np.array(found) if points.ndim == 2 else found[0])

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        core, scale = self.core()
        if not isinstance(core, FunctionKind):
            return super().pack()
        integers, numbers = core.pack()
        return (integers, [scale * c for c in numbers]) if core.is_affine else (integers, [scale, *numbers])
