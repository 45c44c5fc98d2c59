"""LinearSystem: matrices of a linear model with the names of its states, inputs and outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..value import checks


@dataclasses.dataclass(frozen=True, eq=False)
class LinearSystem:
    """x' = A x + B w, y = C x + D w: small changes of state, inputs and outputs from those at which a system was linearized.

    A sampled one has x at the next sample in place of x', with w held until then.

    Attributes
    ----------
    A, B, C, D : (n, n), (n, m), (p, n), (p, m) arrays
        Of an `Ensemble`'s, with a leading axis; ``model[i]`` is that of state i.
    state_names, input_names, output_names : sequences of n, m and p str
    by_differences : sequence of str
        What took differences of fourth order, to about 1e-10: outputs, or laws of controllers, by their names; all else is
        exact.
    sample_time : float or None
        Of a sampled one, the time between samples.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> hanging = state.copy()
    >>> hanging.q, hanging.u = (0, 0), (0, 0)
    >>> system.realize(hanging)
    >>> model = mb.linearize(system, hanging, inputs=[(system.matter.bodies["lower"], 0)])
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
    sample_time: float | None = None

    def __repr__(self) -> str:
        n, m, p = self.A.shape[-1], self.B.shape[-1], self.C.shape[-2]
        of = f" of {len(self.A)} models" if self.A.ndim > 2 else ""
        every = "" if self.sample_time is None else f", sampled every {self.sample_time:g}"
        return f"<LinearSystem: {n} states, {m} inputs, {p} outputs{of}{every}>"

    @property
    def matrices(self) -> tuple[Array, Array, Array, Array]:
        """A, B, C and D."""
        return self.A, self.B, self.C, self.D

    def __getitem__(self, i: int) -> LinearSystem:
        """The model of state i, of an ensemble's."""
        if self.A.ndim == 2:
            raise TypeError("this is one linear model; those of an Ensemble have one a state")
        A, B, C, D = (part[i] for part in self.matrices)
        return dataclasses.replace(self, A=A, B=B, C=C, D=D)

    def sampled(self, sample_time: float) -> LinearSystem:
        """The same from sample to sample, of inputs that are held in between.

        Parameters
        ----------
        sample_time : float

        Raises
        ------
        ValueError
            If it is no positive number, or the model is sampled, or an ensemble's.

        Notes
        -----
        Exact: (F, G) are the first rows of exp(T [[A, B], [0, 0]]). Source: Franklin, Powell and Workman 1998, section 4.3.

        Examples
        --------
        >>> import mobod as mb
        >>> system, motor = mb.examples.swing_up.build_cart_and_pole()
        >>> state = system.realize_topology()
        >>> system.realize(state)
        >>> mb.linearize(system, state, [system.matter.bodies["cart"]]).sampled(0.01)
        <LinearSystem: 4 states, 1 inputs, 4 outputs, sampled every 0.01>
        """
        from scipy.linalg import expm

        self._need_one("sampled")
        T = checks.positive("sample_time", sample_time, ValueError)
        if self.sample_time is not None:
            raise ValueError(f"the model is sampled already, every {self.sample_time:g}")
        n, m = self.B.shape
        flow = expm(T * np.block([[self.A, self.B], [np.zeros((m, n + m))]]))
        return dataclasses.replace(self, A=flow[:n, :n].copy(), B=flow[:n, n:].copy(), sample_time=T)

    def calc_eigenvalues(self) -> Array:
        """The eigenvalues of A ``(n,)``, complex, those that grow fastest first; of an ensemble's a row a state."""
        if self.A.ndim > 2:
            each = [self[i].calc_eigenvalues() for i in range(len(self.A))]
            return np.array(each).reshape(self.A.shape[:2])
        if not np.isfinite(self.A).all():  # a state that has failed
            return np.full(len(self.A), np.nan, complex)
        values: Any = np.linalg.eigvals(self.A)
        growth = values.real if self.sample_time is None else abs(values)
        return values[np.lexsort((values.imag, -growth))]

    def to_scipy(self) -> Any:
        """The same as a `scipy.signal.StateSpace`, which has no names."""
        from scipy.signal import StateSpace

        self._need_one("to_scipy")
        return StateSpace(self.A, self.B, self.C, self.D, **({} if self.sample_time is None else {"dt": self.sample_time}))

    def to_control(self) -> Any:
        """The same as a `control.StateSpace`, with names, for the package python-control.

        Raises
        ------
        ImportError
            If that is not installed.
        """
        self._need_one("to_control")
        try:
            import control
        except ImportError:
            raise ImportError("to_control needs the package python-control: pip install control, or mobod[control]") from None
        names = [[name.replace(".", "_") for name in some] for some in (self.state_names, self.input_names, self.output_names)]
        dt = self.sample_time or 0  # python-control's 0 stands for continuous time
        return control.ss(self.A, self.B, self.C, self.D, dt, states=names[0], inputs=names[1], outputs=names[2])

    def _need_one(self, asked: str) -> None:
        if self.A.ndim > 2:
            raise ValueError(f"{asked} takes one model; these are {len(self.A)}: call model[i].{asked}()")
