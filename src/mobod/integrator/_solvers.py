"""The two solvers that `BDF` can step with, behind one interface: CVODE of SUNDIALS, and SciPy's.

Both take one step at a time, and interpolate y within the last one. They do not report attempts; these are counted by the
times at which they evaluate the rates, see `Problem`.
"""

from __future__ import annotations

import contextlib
import copy
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..algebra.arrays import Array


class Problem:
    """An initial value problem: rates, their derivatives, tolerances, bounds of the step; and a log of the attempts.

    Parameters
    ----------
    rates : callable
        ``rates(time, y, out) -> bool`` fills *out*, with NaN and False where something is not finite.
    jacobian : callable
        ``jacobian(time, y, out) -> bool`` likewise.
    rtol, atol : float, (n,) array
        Tolerances of the root of the mean square of errors, relative plus absolute.
    first_step, min_step, max_step : float
        The last may be infinite.
    """

    def __init__(
        self,
        rates: Callable[[float, Array, Array], bool],
        jacobian: Callable[[float, Array, Array], bool],
        rtol: float,
        atol: Array,
        first_step: float,
        min_step: float,
        max_step: float,
    ) -> None:
        self._rates, self._jacobian = rates, jacobian
        self.rtol, self.atol = rtol, atol
        self.first_step, self.min_step, self.max_step = first_step, min_step, max_step
        self._begin = -np.inf
        #: Since the last `begin`: the time of each attempt, whether its rates were finite, and how often they were evaluated.
        self.tries: list[float] = []
        self.finite: list[bool] = []
        self.calls = 0

    def begin(self, time: float) -> None:
        """A step begins at *time*."""
        self._begin = time
        self.tries, self.finite, self.calls = [], [], 0

    def rates(self, time: float, y: Array, out: Array) -> None:
        """Fill *out* with the rates."""
        good = self._rates(time, y, out)
        if time > self._begin:
            self.calls += 1
            if not self.tries or self.tries[-1] != time:
                self.tries.append(time)
                self.finite.append(True)
            self.finite[-1] &= good

    def jacobian(self, time: float, y: Array, out: Array) -> None:
        """Fill *out* with the derivatives of the rates; zeros where they are not finite, and the step is tried again then."""
        if not self._jacobian(time, y, out):
            out[:] = 0.0


class Cvode:
    """CVODE of SUNDIALS, by scikit-sundae."""

    #: An attempt whose iteration did not converge is followed by one of this part of its step.
    RETRY = 0.25

    def __init__(self, problem: Problem, time: float, y: Array, stop: float) -> None:
        from sksundae.cvode import CVODE

        self._stop, self._looked_back = stop, False

        def rates(t: float, y: Array, out: Array) -> None:
            problem.rates(t, y, out)

        def jacobian(t: float, y: Array, y_dot: Array, out: Array) -> None:
            problem.jacobian(t, y, out)

        self._solver = CVODE(
            rates,
            jacfn=jacobian,
            method="BDF",
            rtol=problem.rtol,
            atol=problem.atol,
            first_step=min(problem.first_step, problem.max_step),
            min_step=problem.min_step,
            max_step=min(problem.max_step, 1e100),
            max_num_steps=1 << 30,
        )
        self._solver.init_step(time, y)
        self.time, self.y = time, y

    def step(self, stop: float) -> bool:
        """One step, not beyond *stop*; whether it was taken."""
        self._stop = stop
        target, options = stop if np.isfinite(stop) else self.time + 1e6, self._not_beyond()
        with _without_complaints():
            result = self._solver.step(target, method="onestep", **options)
            if self._looked_back and result.success and float(result.t) <= self.time:
                result = self._solver.step(target, method="onestep", **options)  # the first took it back to where it was
        self._looked_back = False
        self.time, self.y = float(result.t), np.array(result.y)
        return bool(result.success)

    def at(self, time: float) -> Array:
        """Y at a time within the last step."""
        self._looked_back = True
        return np.array(self._solver.step(time, method="normal", **self._not_beyond()).y)

    def _not_beyond(self) -> dict[str, float]:
        return {"tstop": self._stop} if np.isfinite(self._stop) else {}

    def next_step(self) -> float:
        """The next step's size as planned; 0 where it is not told."""
        return 0.0


class _Output:
    """A stream that drops what scikit-sundae prints of a failed step; the integrator's own error says more."""

    def __init__(self, stream: Any) -> None:
        self.stream, self._dropped = stream, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> Any:
        """Pass on what is not such a message, nor the end of its line."""
        dropped, self._dropped = self._dropped, bool(_COMPLAINT.match(text))
        return len(text) if self._dropped or (dropped and text == "\n") else self.stream.write(text)


#: One thread at a time puts another in the place of the stream.
_ALONE = threading.RLock()
_COMPLAINT = re.compile(r"\n\[\w+, Error: -?\d+\] ")


@contextlib.contextmanager
def _without_complaints() -> Iterator[None]:
    with _ALONE:
        stream = sys.stdout
        if stream is None:
            yield
            return
        quiet: Any = _Output(stream)
        sys.stdout = quiet
        try:
            yield
        finally:
            if sys.stdout is quiet:
                sys.stdout = stream


class Scipy:
    """SciPy's BDF, quasi-constant steps; source: Shampine and Reichelt 1997."""

    RETRY = 0.5

    def __init__(self, problem: Problem, time: float, y: Array, stop: float) -> None:
        from scipy.integrate import BDF

        def rates(t: float, y: Array) -> Array:
            out = np.empty(len(y))
            problem.rates(t, y, out)
            return out

        def jacobian(t: float, y: Array) -> Array:
            out = np.empty((len(y), len(y)))
            problem.jacobian(t, y, out)
            return out

        first = min(problem.first_step, problem.max_step, stop - time)
        self._solver: Any = BDF(
            rates,
            time,
            y,
            stop,
            max_step=problem.max_step,
            rtol=max(problem.rtol, 1e-13),
            atol=problem.atol,
            jac=jacobian,
            first_step=first,
        )
        self._dense: Any = None
        self.time, self.y = time, y

    def step(self, stop: float) -> bool:
        """One step, not beyond *stop*; whether it was taken."""
        solver = self._solver
        solver.t_bound, solver.status = stop, "running"
        self._dense = None
        with np.errstate(all="ignore"):  # of tries that are not finite
            solver.step()
        self.time, self.y = float(solver.t), solver.y.copy()
        return bool(solver.status != "failed")

    def past(self) -> dict[str, Any]:
        """The solver's history, for a checkpoint: all but the functions that it calls."""
        return copy.deepcopy({name: value for name, value in vars(self._solver).items() if not callable(value)})

    def recall(self, past: dict[str, Any]) -> None:
        """Restore a history from `past`, to the bit."""
        vars(self._solver).update(copy.deepcopy(past))
        self._dense = None
        self.time, self.y = float(self._solver.t), self._solver.y.copy()

    def correct(self, y: Array) -> None:
        """Go on from *y* in place of the last step's end: the newest of the values that its polynomial goes through."""
        with contextlib.suppress(AttributeError):
            self._solver.D[0] = y
        self._solver.y = y.copy()

    def at(self, time: float) -> Array:
        """Y at a time within the last step."""
        if self._dense is None:
            self._dense = self._solver.dense_output()
        return np.array(self._dense(time))

    def next_step(self) -> float:
        """The next step's size as planned."""
        return float(self._solver.h_abs)
