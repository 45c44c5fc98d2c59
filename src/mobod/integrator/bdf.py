"""BDF: backward differentiation formulas of orders 1 to 5, implicit, for stiff systems; by CVODE, or else by SciPy's solver.

    sum_k a_k y_{n-k} = h b f(t_n, y_n)

solved by Newton's iteration with J = df/dy, which `_implicit` gives. Sources: Hairer and Wanner 1996, V.1; Hindmarsh and others
2005 (CVODE); Shampine and Reichelt 1997 (SciPy's).
"""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..stage import Stage
from ..tree.measures import begin_step
from . import _implicit
from . import _runge_kutta as rk
from ._solvers import Cvode, Problem, Scipy
from .base import Integrator

if TYPE_CHECKING:
    from ..system import MultibodySystem

Array = npt.NDArray[np.float64]
_SOLVERS: dict[str, type[Cvode] | type[Scipy]] = {"cvode": Cvode, "scipy": Scipy}
#: Quaternions may be off by so much in a solver that cannot be corrected: nothing depends on their norm.
_LARGEST_DRIFT = 0.01
#: Times the accuracy: how far off the constraints' manifold the values of such a solver may get before it begins anew on it.
_FAR = 10.0

#: Variables whose matrix of derivatives, dense and kept several times, still fits: 0.8 GB each.
_MOST = 10_000

#: Flights between impacts that are less high than so many errors are within a step.
_FLIGHT = 4.0


@functools.cache
def _has_cvode() -> bool:
    return importlib.util.find_spec("sksundae") is not None


class BDF(Integrator):
    """Backward differentiation formulas of variable order: for stiff systems, whose steps stability alone would keep short.

    Parameters
    ----------
    system : MultibodySystem
    solver : str, optional
        ``"cvode"``, of SUNDIALS, which needs the package scikit-sundae (``pip install mobod[stiff]``), or ``"scipy"``.
        The first where it is installed, unless given.
    **settings
        Those of `Integrator`. With *fixed_step_size* steps end at multiples of that size, and are shorter where the accuracy
        asks: what an implicit method of variable order does without control of its errors is of no use.

    Raises
    ------
    ValueError
        If the solver is another.
    ImportError
        If it is not installed.
    ModelError
        When a run begins with more than 10,000 variables: particles have six each.

    Notes
    -----
    Steps are taken from Python, the rates and their derivatives in one compiled call each. A step costs some hundred
    microseconds beside them: for systems that are not stiff `RungeKuttaMerson` is faster.

    The solvers bound the root of the mean square of all errors. Unless `set_use_infinity_norm` says that a mean will do, they
    are given a tolerance that bounds the largest.

    Quaternions are normalized after each step. CVODE does not let its own values be changed; there the state is normalized and
    the solver goes on from what it has, on whose norm nothing depends; likewise with constraints, until what it has is ten
    times the accuracy off their manifold, where it begins anew. It also does not tell of tries in vain, nor of the step that
    it plans; statistics count what is seen of its tries, and the step predicted is the last.
    """

    order = 5
    error_order = 1

    def __init__(self, system: MultibodySystem, *, solver: str | None = None, **settings: Any) -> None:
        super().__init__(system, **settings)
        if solver not in (None, *_SOLVERS):
            raise ValueError(f"solver has to be one of {', '.join(map(repr, _SOLVERS))}, got {solver!r}")
        if solver == "cvode" and not _has_cvode():
            raise ImportError("CVODE needs scikit-sundae: pip install scikit-sundae (or mobod[stiff]); or take solver='scipy'")
        self._kind = solver or ("cvode" if _has_cvode() else "scipy")
        self._solver: Cvode | Scipy | None = None
        self._problem: Problem | None = None
        #: What SciPy's solver has to go on from, of a run that was read from a file.
        self._past: dict[str, Any] | None = None
        self._stop = -np.inf
        #: Time and y at which the last step's rates were first not finite.
        self._bad: tuple[float, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        past = self._solver.past() if isinstance(self._solver, Scipy) else self._past
        return {**super().__getstate__(), "_solver": None, "_problem": None, "_past": past}

    def get_method_min_order(self) -> int:
        """The lowest order: 1, with which it starts."""
        return 1

    def get_solver_name(self) -> str:
        """``"cvode"`` or ``"scipy"``."""
        return self._kind

    def _apply(self) -> None:
        super()._apply()
        self._solver = self._past = None  # made anew, with these settings, for the next step

    def _begin(self) -> None:
        state = self._state
        assert state is not None
        ny, number = len(state._y), state._tree.num_particles
        if ny > _MOST:
            of_particles = f", {6 * number} of them of {number} particles" if number else ""
            raise ModelError(
                f"BDF solves for all variables at once: {ny}{of_particles}, whose matrix of derivatives takes "
                f"{8e-9 * ny**2:.3g} GB; it is meant for {_MOST} at most. Take RungeKuttaMerson, or Verlet"
            )
        self._solver, self._past, self._stop = None, None, -np.inf
        self._y, self._rates, self._moved, self._jacobian = np.zeros(ny), np.zeros(ny), np.zeros(ny), np.zeros((ny, ny))
        super()._begin()

    # ------------------------------------------------------------------------------------------ stepping

    def _find_rates(self, time: float, y: Array, out: Array) -> bool:
        self._y[:] = y
        if self._call(_implicit.find_rates, self._counts, time, self._y, self._rates) or not np.isfinite(self._rates).all():
            if self._bad is None and np.isfinite(y).all():
                self._bad = time, y.copy()
            out[:] = np.nan
            return False
        out[:] = self._rates
        return True

    def _find_jacobian(self, time: float, y: Array, out: Array) -> bool:
        self._y[:] = y
        weights = self._work[len(self._work) - 4]
        arguments = (self._counts, time, self._y, weights, self._moved, self._rates, self._jacobian)
        if self._call(_implicit.find_jacobian, *arguments) or not np.isfinite(self._jacobian).all():
            return False
        out[:] = self._jacobian
        return True

    def _flight_resolution(self) -> tuple[float, float, bool]:
        """Begun anew, the method is of order 1, and a flight of the size of its errors is within a step that is a line."""
        return 0.0, self._lowest_flight(_FLIGHT), False

    def _make_solver(self, time: float, stop: float) -> Cvode | Scipy:
        """A solver at the last step's end."""
        control = self._control
        weights = self._work[len(self._work) - 4]
        tolerance = self.accuracy
        if self._infinity_norm:  # err <= rtol |y| + atol is twice err <= accuracy max(|y|, 1 / w), and a mean hides the largest
            tolerance /= 2.0 * np.sqrt(max(1, len(weights)))
        with np.errstate(divide="ignore"):
            absolute = np.where(weights > 0.0, tolerance / weights, 1e100)
        forced = self._counts[rk.FORCED] != 0
        smallest = 0.0 if forced else control[rk.MIN_STEP]
        first = max(control[rk.STEP], smallest)
        largest = max(smallest, min(control[rk.MAX_STEP], control[rk.FIXED_STEP] or np.inf))
        self._problem = Problem(self._find_rates, self._find_jacobian, tolerance, absolute, first, smallest, largest)
        self._problem.begin(time)
        return _SOLVERS[self._kind](self._problem, time, self._work[rk.Y].copy(), stop)

    def _try(self, times: Array, results: Array, energies: Array, kernel: Any, more: tuple[Any, ...]) -> int:
        control, counts, state = self._control, self._counts, self._state
        assert state is not None
        taken = 0
        while counts[rk.REPORT] < len(times):
            k = int(counts[rk.REPORT])
            if times[k] <= control[rk.TIME]:
                self._leave_at(float(times[k]))
                results[k] = state._y
                if len(energies) == len(times):
                    energies[k] = self._system.calc_energy(state)
                counts[rk.REPORT] += 1
                continue
            if taken >= counts[rk.LIMIT]:
                return rk.PAUSED
            if control[rk.STEP] < control[rk.COLLAPSE]:
                control[rk.COLLAPSE] = rk.COLLAPSE_RATIO * control[rk.STEP]
                return rk.COLLAPSED
            status = self._step(float(times[k]))
            if status != rk.DONE:
                return status
            taken += 1
        return rk.REACHED

    def _step(self, report: float) -> int:
        """One step from the last one's end."""
        control, counts, state = self._control, self._counts, self._state
        assert state is not None
        time = float(control[rk.TIME])
        stop = float(control[rk.FINAL_TIME])
        if counts[rk.NO_INTERPOLATION]:
            stop = min(stop, report)
        if control[rk.FIXED_STEP] > 0.0:
            if self._stop <= time:
                self._stop = time + float(control[rk.FIXED_STEP])
            stop = min(stop, self._stop)
        while True:
            if len(state._y) == 0:
                end, y, taken = (stop if np.isfinite(stop) else report), np.zeros(0), True
                self._problem = None
                counts[rk.ATTEMPTS] += 1
            else:
                end, y, taken = self._take(time, stop)
            h = end - time
            clipped = end >= stop
            failure = rk.REACHED
            if not taken or not h > 4.0 * np.spacing(time):
                failure = rk.NOT_FINITE if self._problem is not None and not all(self._problem.finite) else rk.STEP_TOO_SMALL
            elif h < 0.999 * control[rk.MIN_STEP] and not clipped and not counts[rk.FORCED]:
                failure = rk.STEP_TOO_SMALL
            if failure:
                self._solver = None
                control[rk.STEP] = max(control[rk.MIN_STEP], min(control[rk.STEP], max(h, 4.0 * np.spacing(time))))
                return int(failure)
            projected = self._call(_finish, self._work, control, counts, end, np.ascontiguousarray(y))
            if projected == rk.DONE:
                break
            self._solver = None
            control[rk.STEP] = 0.1 * h
            if control[rk.STEP] <= control[rk.MIN_STEP] or time + 0.1 * h == time:
                return int(projected)
        self._keep_to(y)
        control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.LAST_STEP] = time, end, h
        if counts[rk.STEPS] == 0:
            control[rk.FIRST_STEP] = h
        counts[rk.STEPS] += 1
        counts[rk.FORCED] = 0
        planned = self._solver.next_step() if self._solver is not None else 0.0
        if planned or not clipped or h > control[rk.STEP]:
            control[rk.STEP] = max(planned or h, control[rk.MIN_STEP])
        control[rk.COLLAPSE] = max(control[rk.COLLAPSE], rk.COLLAPSE_RATIO * h)
        return rk.DONE

    def _take(self, time: float, stop: float) -> tuple[float, Array, bool]:
        """Where the solver's next step ends, y there, and whether there is one; tries are counted."""
        counts = self._counts
        self._revive(stop)
        solver, self._solver = self._solver, None  # none, should a user's part or Ctrl-C end the step in the middle
        if self._system._is_interpreted:
            self._call(_begin_step, time)
        elif self._state is not None and self._state._tree.counts["measure_memory_size"]:
            self._call(begin_step)
        if solver is None:
            solver = self._make_solver(time, stop)
        problem = self._problem
        assert problem is not None
        problem.begin(time)
        self._bad = None
        taken = solver.step(stop)
        self._solver = solver
        counts[rk.ATTEMPTS] += len(problem.tries)
        counts[rk.ITERATIONS] += problem.calls
        for i in range(len(problem.tries) - bool(taken and problem.tries)):
            if not problem.finite[i]:
                failure = rk.REALIZATION_FAILURES
            elif i + 1 < len(problem.tries) and _is_retry(problem.tries[i] - time, problem.tries[i + 1] - time, solver.RETRY):
                failure = rk.CONVERGENCE_FAILURES
            else:
                failure = rk.ERROR_FAILURES
            counts[failure] += 1
        return solver.time, solver.y, taken

    def _revive(self, stop: float = np.inf) -> None:
        """Have SciPy's solver again as it was when the run was written to a file, with its past; nothing is counted for it."""
        past, self._past = self._past, None
        if past is not None:
            counts = self._counts.copy()
            solver = self._make_solver(float(past["t"]), max(stop, float(past["t"]) + 1.0))
            assert isinstance(solver, Scipy)
            solver.recall(past)
            self._solver = solver
            self._counts[:] = counts

    def _keep_to(self, y: Array) -> None:
        """Let the solver go on from the step's end as it has been projected, *y* being what it was."""
        solver = self._solver
        if solver is None:
            return
        now, weights = self._work[rk.Y], self._work[len(self._work) - 4]
        if isinstance(solver, Scipy):
            if not np.array_equal(now, y):
                solver.correct(now)
            return
        assert self._state is not None
        drift = weights * np.abs(now - y)
        if self._state._is_constrained:  # off the manifold is an error as any other, and begun anew it would take short steps
            far = drift > max(self.constraint_tolerance, _FAR * self.accuracy) * np.maximum(1.0, weights * np.abs(y))
        else:
            far = drift > _LARGEST_DRIFT
        if far.any():
            self._solver = None

    def _fail(self, status: int) -> None:
        if status == rk.NOT_FINITE and self._bad is not None:
            assert self._state is not None
            self._state._record.time[0, 0], self._state._y[:] = self._bad
        super()._fail(status)

    def _leave_at(self, time: float, stage: Stage = Stage.ACCELERATION) -> None:
        """Put the state at *time*, by the solver's own polynomial where that is within the last step, and realize it."""
        state, control = self._state, self._control
        assert state is not None
        self._revive()
        if self._solver is None or not control[rk.PREVIOUS_TIME] < time < control[rk.TIME]:
            super()._leave_at(time, stage)
            return
        state._y[:] = self._solver.at(time)
        self._settle(time, True, stage)


class _Function:
    """A function that `Integrator._call` can run by Python, as it does kernels."""

    def __init__(self, function: Any) -> None:
        self.python = function


_begin_step = _Function(rk.begin_step_of)
_finish = rk.finish_at


def _is_retry(h: float, next_h: float, ratio: float) -> bool:
    """Whether a try of a step is followed by the one that comes after no convergence, rather than after a large error."""
    return abs(next_h / h - ratio) < 1e-6
