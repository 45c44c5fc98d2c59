"""BDF: backward differentiation formulas of orders 1 to 5, implicit, for stiff systems; compiled, or by CVODE or SciPy.

    sum_k a_k y_{n-k} = h b f(t_n, y_n)

solved by Newton's iteration with J = df/dy, which `_implicit` gives; `_bdf_steps` has the compiled loop. Sources: Hairer and
Wanner 1996, V.1; Hindmarsh and others 2005 (CVODE); Shampine and Reichelt 1997 (the compiled loop, and SciPy's).
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import Job
from ..errors import ModelError
from ..state.state import State
from ..stepping import controller, limits, loop, record as rk
from ..system.system import MultibodySystem
from ..value import checks
from . import _bdf_steps as bdf, _implicit
from ._solvers import Cvode, Problem, Scipy
from .base import Integrator

_COMPILED = "compiled"
_SOLVERS: dict[str, type[Cvode] | type[Scipy]] = {"cvode": Cvode, "scipy": Scipy}
#: Largest deviation of a quaternion's norm inside a solver that cannot be corrected; nothing depends on the norm.
_LARGEST_DRIFT = 0.01
#: Largest distance of such a solver from the constraint manifold, times the accuracy, before it is restarted on it.
_FAR = 10.0

#: Below this rounding is taken for error.
_LEAST_TOLERANCE = 1e-13

#: Most variables: their dense Jacobian, of which several are kept, takes 0.8 GB.
_MOST = 10_000

#: Flights between impacts that are lower than so many errors are within a step.
_FLIGHT = 4.0


@functools.cache
def _has_cvode() -> bool:
    return importlib.util.find_spec("sksundae") is not None


class BDF(Integrator):
    """Backward differentiation formulas of variable order: for stiff systems, where stability limits explicit steps.

    Parameters
    ----------
    system : MultibodySystem
    solver : str, optional
        ``"compiled"``, the package's own, unless given; ``"cvode"``, of SUNDIALS, which needs the package scikit-sundae
        (``pip install mobod[stiff]``), or ``"scipy"``.
    **settings
        Those of `Integrator`. With *fixed_step_size* steps end at multiples of that size, and are shorter where the accuracy
        requires it: an implicit method of variable order is of no use without error control.

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
    Steps are compiled, with Newton's iteration and its matrix; the algorithm is that of SciPy's solver (Shampine and Reichelt
    1997). Where all explicit methods need short steps it is faster; for systems that are not stiff `RungeKuttaMerson` is.

    The other solvers step from Python, which takes some hundred microseconds a step, the rates and their derivatives in one
    compiled call each. CVODE does not let its own values be changed: it goes on from them, which does no harm to quaternions,
    and is restarted when they are ten times the accuracy off the constraint manifold. It reports neither failed attempts nor
    the next step size: statistics count the attempts seen from outside, and the predicted step is the last one.

    The solvers bound the root mean square of all errors. Unless `set_use_infinity_norm` chooses that norm, they are given a
    tolerance that bounds the largest. The state is normalized and projected after each step.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.BDF(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 5)
    """

    INNER = frozenset({"memory", "solver"})

    order = 5
    error_order = 1
    kernel = bdf.advance
    find = bdf.find

    def __init__(self, system: MultibodySystem, *, solver: str | None = None, **settings: Any) -> None:
        super().__init__(system, **settings)
        solvers = _COMPILED, *_SOLVERS
        checks.among("solver", solver, (None, *solvers))
        if solver == "cvode" and not _has_cvode():
            raise ImportError(
                "CVODE needs scikit-sundae: pip install scikit-sundae (or mobod[stiff]); or take solver='compiled'"
            )
        self.solver = solver or _COMPILED
        self.control = np.zeros(bdf.CONTROL_SIZE)
        self._solver: Cvode | Scipy | None = None
        self._problem: Problem | None = None
        #: The history that SciPy's solver starts from, when the run was read from a file.
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
        """``"compiled"``, ``"cvode"`` or ``"scipy"``."""
        return self.solver

    @property
    def _is_compiled(self) -> bool:
        return self.solver == _COMPILED

    def _apply(self) -> None:
        super()._apply()
        # what is known of the past does not hold with other settings
        self._solver = self._past = None
        self.control[bdf.ORDER] = 0.0
        self.control[bdf.TOLERANCE] = self._tolerance_of_mean()

    def get_room(self, state: State) -> None:
        """As of other integrators, with matrices."""
        ny, number = len(state.y_values), state.tree.num_particles
        if ny > _MOST:
            of_particles = f", {6 * number} of them of {number} particles" if number else ""
            raise ModelError(
                f"BDF solves for all variables at once: {ny}{of_particles}, whose matrix of derivatives takes "
                f"{8e-9 * ny**2:.3g} GB; it is meant for {_MOST} at most. Take RungeKuttaMerson, or Verlet"
            )
        self._solver, self._past, self._stop = None, None, -np.inf
        if self._is_compiled:
            self.memory = np.zeros((bdf.JACOBIAN + 2 * ny, ny))
        else:
            self._y, self._rates, self._moved, self._jacobian = np.zeros(ny), np.zeros(ny), np.zeros(ny), np.zeros((ny, ny))
        self.control[bdf.STOP], self.control[bdf.ORDER], self.quick = -np.inf, 0.0, None
        super().get_room(state)

    def can_run_compiled(self, state: State) -> bool:
        """Unless there are too many variables, or another solver steps."""
        return self._is_compiled and len(state.y_values) <= _MOST

    def _tolerance_of_mean(self) -> float:
        """The tolerance of the root mean square of errors; below the accuracy where it is to bound the largest.

        err <= tolerance (|y| + 1 / w) is twice err <= accuracy max(|y|, 1 / w), and a mean hides the largest.
        """
        ny = 0 if self._state is None else len(self._state.y_values)
        tolerance = 0.5 * self.accuracy / np.sqrt(max(1, ny)) if self._infinity_norm else self.accuracy
        return max(float(tolerance), _LEAST_TOLERANCE)

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the kernel that steps, after the block."""
        return self.work, self.memory, self.control, self.counts

    def _jobs(self, state: State) -> list[Job]:
        return [job for job in super()._jobs(state) if self._is_compiled or job.what is not type(self).kernel]

    def _is_simple(self) -> bool:
        return self._is_compiled

    def take_up(self, longest: float = np.inf) -> None:
        """As of other integrators; what is known of the past does not hold for the state as it is now."""
        self.control[bdf.ORDER] = 0.0
        super().take_up(longest)

    # ------------------------------------------------------------------------------------------ stepping

    def sample(self) -> float:
        """As of other integrators; efforts that have changed end what the solver knows of the past."""
        before = self.work[rk.RATE].copy()
        following = super().sample()
        if not np.array_equal(before, self.work[rk.RATE]):
            self._solver = self._past = None
        return following

    def _find_rates(self, time: float, y: Array, out: Array) -> bool:
        self._y[:] = y
        if self._call(_implicit.find_rates, self.counts, time, self._y, self._rates) or not np.isfinite(self._rates).all():
            if self._bad is None and np.isfinite(y).all():
                self._bad = time, y.copy()
            out[:] = np.nan
            return False
        out[:] = self._rates
        return True

    def _find_jacobian(self, time: float, y: Array, out: Array) -> bool:
        self._y[:] = y
        weights = self.work[len(self.work) - 4]
        arguments = (self.counts, time, self._y, weights, self._moved, self._rates, self._jacobian)
        if self._call(_implicit.find_jacobian, *arguments) or not np.isfinite(self._jacobian).all():
            return False
        out[:] = self._jacobian
        return True

    def flight_resolution(self, q: Array) -> tuple[float, float, bool]:
        """After a restart the method is of order 1: flights as low as its errors are within a single linear step."""
        return 0.0, self._lowest_flight(q, _FLIGHT), False

    def _make_solver(self, time: float, stop: float) -> Cvode | Scipy:
        """A solver at the last step's end."""
        control = self.control
        weights = self.work[len(self.work) - 4]
        tolerance = self._tolerance_of_mean()
        with np.errstate(divide="ignore"):
            absolute = np.where(weights > 0.0, tolerance / weights, 1e100)
        forced = self.counts[rk.FORCED] != 0
        smallest = 0.0 if forced else self.min_step_size or 0.0
        first = max(control[rk.STEP], smallest)
        largest = max(smallest, min(control[rk.MAX_STEP], control[rk.FIXED_STEP] or np.inf))
        self._problem = Problem(self._find_rates, self._find_jacobian, tolerance, absolute, first, smallest, largest)
        self._problem.begin(time)
        return _SOLVERS[self.solver](self._problem, time, self.work[rk.Y].copy(), stop)

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """`advance` once; by a solver that steps from Python, one step."""
        if self._is_compiled:
            return super().try_step(times, results, energies)
        return self.step_and_report(self._step, times, results, energies)

    def _step(self, report: float) -> int:
        """One step from the last one's end."""
        control, counts, state = self.control, self.counts, self._state
        if control[rk.STEP] < control[rk.COLLAPSE]:
            control[rk.COLLAPSE] = controller.COLLAPSE_RATIO * control[rk.STEP]
            return rk.COLLAPSED
        time = float(control[rk.TIME])
        stop = min(float(control[rk.FINAL_TIME]), self.sample())
        if counts[rk.NO_INTERPOLATION]:
            stop = min(stop, report)
        if control[rk.FIXED_STEP] > 0.0:
            near = 10.0 * bdf.RESOLUTION * abs(time)  # as in the compiled loop
            if self._stop <= time + near:
                self._stop = time + float(control[rk.FIXED_STEP])
            if self._stop < stop - near:
                stop = self._stop
        if state.tree.counts["num_contact_elements"] and len(state.y_values):
            self._call(limits.permit, self.work, control, counts)
            stop = min(stop, time + max(float(control[rk.PERMITTED_STEP]), 16.0 * np.spacing(time)))
        while True:
            if len(state.y_values) == 0:
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
            projected = self._call(_finish, self.work, control, counts, end, np.ascontiguousarray(y))
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
        control[rk.COLLAPSE] = max(control[rk.COLLAPSE], controller.COLLAPSE_RATIO * h)
        return rk.DONE

    def _take(self, time: float, stop: float) -> tuple[float, Array, bool]:
        """The time at the end of the solver's next step, y there, and whether it succeeded; counts attempts."""
        counts = self.counts
        self._revive(stop)
        solver, self._solver = self._solver, None  # none, should a user's part or Ctrl-C end the step in the middle
        self._begin_step(time)
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
        """Restore SciPy's solver, with its history, from a checkpoint; counts no evaluation for it."""
        past, self._past = self._past, None
        if past is not None:
            counts = self.counts.copy()
            solver = self._make_solver(float(past["t"]), max(stop, float(past["t"]) + 1.0))
            assert isinstance(solver, Scipy)
            solver.recall(past)
            self._solver = solver
            self.counts[:] = counts

    def _keep_to(self, y: Array) -> None:
        """Continue the solver from the projected end of the step; *y* is the end before projection."""
        solver = self._solver
        if solver is None:
            return
        now, weights = self.work[rk.Y], self.work[len(self.work) - 4]
        if isinstance(solver, Scipy):
            if not np.array_equal(now, y):
                solver.correct(now)
            return
        drift = weights * np.abs(now - y)
        if self._state.is_constrained:  # off the manifold is an error as any other, and begun anew it would take short steps
            far = drift > max(self.constraint_tolerance, _FAR * self.accuracy) * np.maximum(1.0, weights * np.abs(y))
        else:
            far = drift > _LARGEST_DRIFT
        if far.any():
            self._solver = None

    def fail(self, status: int) -> None:
        """Raise what a step that failed with *status* means to the user."""
        if status == rk.NOT_FINITE and self._bad is not None:
            self._state.record.time[0, 0], self._state.y_values[:] = self._bad
        super().fail(status)

    def why_too_small(self) -> str:
        """Likely causes of steps that are too small, and remedies."""
        return (
            "a force jumps or grows without bound there, or a mobilizer is at a singularity; make a jump an event, or the "
            "force smoother; try a smaller accuracy number, where the iteration begins nearer, or a smaller min_step_size"
        )

    def _interpolate(self, time: float) -> None:
        """By the solver's own polynomial, where there is one."""
        state, control = self.get_state(), self.control
        self._revive()
        known = self._solver is not None or (self._is_compiled and control[bdf.ORDER] > 0.0)
        if not (known and control[rk.PREVIOUS_TIME] < time < control[rk.TIME]):
            super()._interpolate(time)
        elif self._solver is None:
            bdf.interpolate(state.block, self.memory, control, time)
        else:
            state.y_values[:] = self._solver.at(time)


_finish = loop.finish_at


def _is_retry(h: float, next_h: float, ratio: float) -> bool:
    """True if the next attempt has the size that follows a failure to converge, rather than a large error."""
    return abs(next_h / h - ratio) < 1e-6
