"""LinearSystem: matrices of a linear model with the names of its states, inputs and outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array


@dataclasses.dataclass(frozen=True, eq=False)
class LinearSystem:
    """x' = A x + B w, y = C x + D w: small changes of state, inputs and outputs from those at which a system was linearized.

    Attributes
    ----------
    A, B, C, D : (n, n), (n, m), (p, n), (p, m) arrays
    state_names, input_names, output_names : sequences of n, m and p str
    by_differences : sequence of str
        What took differences of fourth order, to about 1e-10: outputs, or laws of controllers, by their names; all else is
        exact.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> hanging = state.copy()
    >>> hanging.q, hanging.u = (0, 0), (0, 0)
    >>> system.realize(hanging)
    >>> model = mb.linearize(system, hanging, inputs=[(arm, 0)])
    >>> model.A.shape, model.B.shape, model.state_names
    ((4, 4), (4, 1), ['upper.v', 'lower.v', 'upper.u', 'lower.u'])
    """

    A: Array
    B: Array
    C: Array
    D: Array
    state_names: Sequence[str]
    input_names: Sequence[str]
    output_names: Sequence[str]
    by_differences: Sequence[str] = ()

    def __repr__(self) -> str:
        n, m, p = len(self.A), self.B.shape[1], len(self.C)
        return f"<LinearSystem: {n} states, {m} inputs, {p} outputs>"

    def calc_eigenvalues(self) -> Array:
        """The eigenvalues of A ``(n,)``, complex, those that grow fastest first."""
        values: Any = np.linalg.eigvals(self.A)
        found: Array = values[np.lexsort((values.imag, -values.real))]
        return found

    def to_scipy(self) -> Any:
        """The same as a `scipy.signal.StateSpace`, which has no names."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """The same as a `control.StateSpace`, with names, for the package python-control.

        Raises
        ------
        ImportError
            If that is not installed.
        """
        try:
            import control
        except ImportError:
            raise ImportError("to_control needs the package python-control: pip install control") from None
        names = [[name.replace(".", "_") for name in some] for some in (self.state_names, self.input_names, self.output_names)]
        return control.ss(self.A, self.B, self.C, self.D, states=names[0], inputs=names[1], outputs=names[2])


__all__ = ["LinearSystem"]
