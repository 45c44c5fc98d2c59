"""Sinusoid: a harmonic function of time.

m = a sin(w t + p)   m' = a w cos(w t + p)   m'' = -a w^2 sin(w t + p)   m''' = -a w^3 cos(w t + p)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, sincos, store
from ..compiling import generic
from ..errors import ModelError
from ..state.state import State
from ..value.checks import numbers
from ..value.stage import Stage
from .base import Joined, Measure, check_shape
from .program import Program
from .routines import by_address, number


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Integers: how many waves, the place of their amplitudes, then frequencies, then phases, and the order of derivative."""
    n, x, order = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    for k in range(n):
        s, c = sincos(number(model, x + n + k) * load(model.time, 0, 0) + number(model, x + 2 * n + k))
        wave = s
        if order % 2 == 1:
            wave = c
        store(model.measure_values, out + k, 0, number(model, x + k) * wave)


operation = by_address(operate)


class Sinusoid(Measure):
    """A harmonic function of time, ``amplitude * sin(frequency * t + phase)``, with three derivatives. Needs TIME.

    Parameters
    ----------
    amplitude : float or (n,) array_like
    frequency : float or (n,) array_like
        Angular: radians a unit of time.
    phase : float or (n,) array_like
        Radians.

    Raises
    ------
    ModelError
        If one of them is not finite.
    ValueError
        If they have not one size; one number counts for a whole vector.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Sinusoid(system.matter, 2.0, 1.0, 1.570796327)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(float(part.get_value(state)), 6)
    2.0
    """

    def __init__(
        self,
        subsystem: Joined,
        amplitude: npt.ArrayLike,
        frequency: npt.ArrayLike,
        phase: npt.ArrayLike = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        given = {"amplitude": amplitude, "frequency": frequency, "phase": phase}
        given = {what: numbers(f"the {what} of a Sinusoid", value) for what, value in given.items()}
        try:
            arrays = np.broadcast_arrays(*given.values())
        except ValueError:
            shapes = ", ".join(f"{what} {np.shape(value)}" for what, value in given.items())
            raise ValueError(f"the numbers of a Sinusoid have to be of one size; got {shapes}") from None
        shape = check_shape(arrays[0].shape, "a Sinusoid")
        for what, value in given.items():
            if not np.isfinite(value).all():
                raise ModelError(f"the {what} of a Sinusoid has to be finite; got {value!r}")
        self.amplitude, self.rate, self.phase = (np.array(array) for array in arrays)
        self.pack_numbers = tuple(float(array.flat[0]) for array in (self.amplitude, self.rate, self.phase))
        super().__init__(subsystem, shape, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if self._shape == ():
            return self._number(state.time, deriv_order)
        angle = self.rate * state.time + self.phase
        wave = np.cos(angle) if deriv_order % 2 else np.sin(angle)
        size = self.amplitude * self.rate**deriv_order
        return self._given((-size if deriv_order in (2, 3) else size) * wave)

    def _number(self, time: float, deriv_order: int) -> float:
        """The same of one number, at a quarter of the cost."""
        a, w, p = self.pack_numbers
        size = a * w**deriv_order
        angle = w * time + p
        return (-size if deriv_order in (2, 3) else size) * (math.cos(angle) if deriv_order % 2 else math.sin(angle))

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return 3

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.TIME

    def write_value(self, program: Program, order: int) -> int:
        n, size = self.default.size, self.amplitude * self.rate**order
        numbers = program.keep(-size if order in (2, 3) else size, self.rate, self.phase)
        return program.call(operation, n, numbers, order, results=n)
