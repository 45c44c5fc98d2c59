"""Integrator: advances a state in time. What every method shares.

A Runge-Kutta method is a file beside this one with a table: a row for each stage (c_s, a_s1, a_s2, ...), one for the step's
end (1, b_1, b_2, ...) and one for the error (0, e_1, e_2, ...). Other explicit methods have a kernel of their own, made of an
attempt; see `stepping.loop` for the algorithm. `BDF` steps from Python.
"""

from __future__ import annotations

import functools
import math
import time as _clock
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Job, Kernel, Routine, compile_ahead, run_noting, with_refusals_apart
from ..control.custom import controllers_of
from ..errors import ConvergenceError, ModelError, TopologyError
from ..event import Termination, TerminationReason
from ..force.contact.bristle import begin_bristles
from ..force.contact.step_limit import limit_step
from ..mobilizer import q_rates
from ..state.state import State
from ..state.validity import EVERYTHING, KINEMATICS
from ..stepping import beginning, event_search, interpolation, loop, record as rk, rows
from ..stepping.evaluate import ALWAYS, FULL_NEWTON
from ..system.arguments import check_system
from ..system.in_python import Held, keeper, prescriber, realize_with, realized_by_python, realizer
from ..system.system import MultibodySystem
from ..tree.measures import begin_step
from ..tree.prescribe import prescribe
from ..tree.project import project as project_on_manifolds
from ..tree.realize import advance, advance_holding, dynamics, kinematics, realize
from ..tree.sampling import begin_sampling, due_of, next_sample_of
from ..unilateral.stepped import refuse_stepped
from ..value.attributes import Sealed
from ..value.callers import callers_level
from ..value.checks import finite, flag, positive
from ..value.stage import Stage
from . import _diagnosis, _failure
from .hindrances import Hindrances
from .quick import Quick, is_possible, remembers
from .weights import error_weights, free_variables, longest_step, measured_variables

#: Rows for intermediate values of methods that have no table.
_ROWS_BETWEEN = 5
#: The resolution of time, as a part of the run's end time.
_RESOLUTION = 2.0**-52
#: Steps before the first look at the clock.
_FIRST_CHUNK = 64
_ACCELERATION = int(Stage.ACCELERATION)
#: What says that routines are to be chosen, whose addresses are of a process and of a state.
_TO_BE_CHOSEN = {"_goes_compiled": None, "_goes_plain": False, "_chosen_for": None}
_STATISTICS = (
    rk.STEPS,
    rk.ATTEMPTS,
    rk.EVALUATIONS,
    rk.ERROR_FAILURES,
    rk.CONVERGENCE_FAILURES,
    rk.REALIZATION_FAILURES,
    rk.PROJECTION_FAILURES,
    rk.Q_PROJECTIONS,
    rk.U_PROJECTIONS,
    rk.ITERATIONS,
)


class Integrator(Sealed):
    """Advances a state of a system in time, with control of the local error. Base class of the methods.

    Parameters
    ----------
    system : MultibodySystem
        Its topology is realized, at the latest when stepping begins.
    accuracy : float
        Largest local error of a step in any of q, u, z and what particles have, relative for what exceeds 1. The state's
        weights when stepping begins scale it: variables with weight w are absolute below 1 / w. See `State.u_weights`, from
        which those of q follow, and `State.z_weights`.
    constraint_tolerance : float, optional
        How far from their manifold constraints may be; a tenth of the accuracy unless given.
    initial_step_size, min_step_size, max_step_size : float, optional
        Chosen by the method, zero, and unlimited unless given; time. Where rigid contacts with friction go by events, and
        forces are functions of time, a tenth of the time scale: longer steps may go past a load that what sticks holds.
    fixed_step_size : float, optional
        Take steps of this size and control no error: then the accuracy is what methods that iterate do so to, and sets the
        constraint tolerance.
    final_time : float, optional
        No step goes beyond it, and `TimeStepper.step_to` ends there.
    internal_step_limit : int, optional
        `TimeStepper.step_to` gives up after as many steps without reaching its time; unlimited unless given.

    Raises
    ------
    ValueError
        If a number is not positive, or a smallest step exceeds a largest.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.RungeKuttaMerson(system, accuracy=1e-6, max_step_size=0.1)
    >>> method.accuracy, method.constraint_tolerance, method.get_method_name()
    (1e-06, 1e-07, 'RungeKuttaMerson')
    """

    INNER = frozenset(
        """
        advance aim_at allow_interpolation arguments arrive_at_end arrive_at_event attach begin_compiled begin_run call_back
        calling calls_witnesses can_run_compiled can_watch check_inertia
        choose_routines control counts ends_at_stage entry_points error_order fail final_time find find_quick
        flight_resolution follow_jump
        follows_jumps forget_steps get_room goes_on held hindrances kept kernel leave_at leaves_out previous_time quick restart
        return_every_internal_step sample set_out_for search_events share_witnesses singularities step_and_report
        steps_contacts table take_up termination try_step why_too_small
        """.split()
    )

    #: The method's table, of a Runge-Kutta method.
    table: ClassVar[Array] = np.zeros((_ROWS_BETWEEN + 2, _ROWS_BETWEEN + 1))
    #: `order`: the global error shrinks with this power of the step; `error_order`: so does the estimate of a step's error.
    order: ClassVar[int]
    error_order: ClassVar[int]
    has_error_control: ClassVar[bool] = True
    #: Whether an attempt leaves the record realized at its end; tables say it themselves.
    ends_at_stage: ClassVar[bool] = False
    #: Whether its steps have unilateral contacts in them, which others run by events.
    steps_contacts: ClassVar[bool] = False
    #: Whether `follow_jump` is to be called.
    follows_jumps: ClassVar[bool] = False
    #: The loop over steps.
    kernel: ClassVar[Kernel] = loop.advance
    #: Whether that leaves out forces that the state has at the end of a step.
    leaves_out: ClassVar[bool] = False
    #: What searches a step for events.
    find: ClassVar[Routine] = event_search.find

    _state: State  #: Of the run; None before one has begun.
    accuracy: float
    initial_step_size: float | None
    fixed_step_size: float | None
    min_step_size: float | None
    max_step_size: float | None
    final_time: float | None
    internal_step_limit: int | None

    def __init__(
        self,
        system: MultibodySystem,
        *,
        accuracy: float = 1e-3,
        constraint_tolerance: float | None = None,
        initial_step_size: float | None = None,
        fixed_step_size: float | None = None,
        min_step_size: float | None = None,
        max_step_size: float | None = None,
        final_time: float | None = None,
        internal_step_limit: int | None = None,
    ) -> None:
        if type(self) is Integrator:
            raise TypeError("Integrator is the base class; make one of the methods in mobod.integrator")
        check_system(type(self).__name__, system)
        self.system = system
        self._state = None  # type: ignore[assignment]
        #: Why the simulation has ended, set by the time stepper; None before.
        self.termination: Termination | None = None
        #: Why a part in Python that kernels have called had no result, at the last point where one had none.
        self._refusal: Exception | None = None
        #: Control and counts when that was raised which a run is to end with.
        self._noted: tuple[Array, npt.NDArray[np.int64]] | None = None
        #: What steps from Python need, or None where it is to be found out.
        self.quick: Quick | None = None
        self.control = np.zeros(rk.CONTROL_SIZE)
        self.counts = np.zeros(rk.COUNTS_SIZE, np.int64)
        self.hindrances = Hindrances(self)
        #: Mobility forces beside those of the elements; or what computes them of a state, for the whole run.
        self.held: Held | None = None
        #: Whether kernels alone realize, as `_runs_compiled` was when routines were chosen; None where they are to be chosen.
        self._goes_compiled: bool | None = None
        #: Whether these call nothing back either.
        self._goes_plain = False
        #: The token of the state's Instance variables that routines and arrays were chosen for; None where more counts.
        self._chosen_for: object | None = None
        #: These forces, and the rows that records share.
        self._held_rows: tuple[Any, Array] | None = None
        #: What the arrays for steps are for: see `get_room`.
        self._room: tuple[Any, ...] | None = None
        #: Whether a run is to go on where a step of another has ended, whose state fulfils its constraints to the bit.
        self.goes_on = False
        self._infinity_norm = True
        self._project_every_step = True
        self._project_interpolated_states = True
        self.allow_interpolation = True
        self._force_full_newton = False
        self.return_every_internal_step = False
        self.accuracy = _accuracy(accuracy)
        self._tolerance = _optional("constraint_tolerance", constraint_tolerance)
        self.initial_step_size = _optional("initial_step_size", initial_step_size)
        self.fixed_step_size = _optional("fixed_step_size", fixed_step_size)
        self.min_step_size, self.max_step_size = _bounds(min_step_size, max_step_size)
        self.final_time = _final_time(final_time)
        self.internal_step_limit = _step_limit(internal_step_limit)

    def attach(self, state: State) -> None:
        """Go on from *state* in place of the present one: after a change of record, or from a checkpoint."""
        self._state, self.quick, self._goes_compiled, self._goes_plain = state, None, None, False
        self._chosen_for = None

    @property
    def constraint_tolerance(self) -> float:
        """Largest distance of constraints from their manifold; a tenth of the accuracy unless given."""
        return 0.1 * self.accuracy if self._tolerance is None else self._tolerance

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, accuracy {self.accuracy:g}, {self.get_num_steps_taken()} steps taken>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_refusal": None, "_noted": None, "quick": None, "_room": None, **_TO_BE_CHOSEN}

    # ------------------------------------------------------------------------------------------ settings

    def set_accuracy(self, accuracy: float) -> None:
        """Change the largest local error of a step.

        All settings but the initial step size can be changed before `TimeStepper.initialize` and during the run, and hold from
        the next step on. A value that is refused leaves the setting as it was.
        """
        self.accuracy = _accuracy(accuracy)
        self._apply()

    def set_constraint_tolerance(self, tolerance: float | None) -> None:
        """Change how far from their manifold constraints may be; None for a tenth of the accuracy."""
        self._tolerance = _optional("constraint_tolerance", tolerance)
        self._apply()

    def set_initial_step_size(self, size: float | None) -> None:
        """Change the size of the first step after `TimeStepper.initialize`; None to let the method choose."""
        self.initial_step_size = _optional("initial_step_size", size)

    def set_fixed_step_size(self, size: float | None) -> None:
        """Take steps of this size and control no error; None to choose steps by their errors."""
        self.fixed_step_size = _optional("fixed_step_size", size)
        self._apply()

    def set_minimum_step_size(self, size: float | None) -> None:
        """Change the smallest step that may be tried; None for none."""
        self.min_step_size, self.max_step_size = _bounds(size, self.max_step_size)
        self._apply()

    def set_maximum_step_size(self, size: float | None) -> None:
        """Change the largest step that may be tried; None for none."""
        self.min_step_size, self.max_step_size = _bounds(self.min_step_size, size)
        self._apply()

    def set_final_time(self, time: float | None) -> None:
        """Change the time beyond which no step goes; None for none. `ValueError` if a step has gone beyond it."""
        final = _final_time(time)
        if final is not None and self._state is not None and final < self.get_advanced_time():
            raise ValueError(f"final_time {final} is before {self.get_advanced_time()}, where the last step ended")
        self.final_time = final
        self._apply()

    def set_internal_step_limit(self, limit: int | None) -> None:
        """Change how many steps `TimeStepper.step_to` takes before it gives up; None for any number."""
        self.internal_step_limit = _step_limit(limit)
        self.quick = None

    def set_use_infinity_norm(self, use: bool) -> None:
        """Hold the largest error of all variables to the accuracy, as is done unless set, or the root of their mean square.

        In a mechanism of many coordinates the mean averages away one that is wrong. Simbody takes the mean unless told.
        """
        self._infinity_norm = flag("use", use)
        self._apply()

    def is_infinity_norm_in_use(self) -> bool:
        """True if a step's error is the largest of its variables' errors."""
        return self._infinity_norm

    def set_project_every_step(self, every: bool) -> None:
        """Project each step's end onto the manifolds of quaternions and constraints, as is done unless set otherwise.

        If False, only where it is farther from them than the constraint tolerance.
        """
        self._project_every_step = flag("every", every)
        self._apply()

    def set_project_interpolated_states(self, project: bool) -> None:
        """Project the states of reports between steps, too, as is done unless set otherwise."""
        self._project_interpolated_states = flag("project", project)
        self._apply()

    def set_allow_interpolation(self, allow: bool) -> None:
        """Interpolate reports between steps, as is done unless set otherwise. If False, steps end at report times."""
        self.allow_interpolation = flag("allow", allow)
        self._apply()

    def set_force_full_newton(self, force: bool) -> None:
        """Compute projection's matrix anew in each iteration; not done unless set. Quaternions need no iteration."""
        self._force_full_newton = flag("force", force)
        self._apply()

    def set_return_every_internal_step(self, every: bool) -> None:
        """Set whether `TimeStepper.step_to` returns after each step, with the state where that ended; not unless set."""
        self.return_every_internal_step = flag("every", every)
        self.quick = None

    def _apply(self) -> None:
        """Put the settings where the kernels find them."""
        self.quick = None
        control, counts = self.control, self.counts
        control[rk.FINAL_TIME] = np.inf if self.final_time is None else self.final_time
        control[rk.TARGET] = np.inf
        control[rk.ACCURACY] = self.accuracy
        control[rk.TOLERANCE] = self.constraint_tolerance
        control[rk.MIN_STEP] = self.min_step_size or 0.0
        by_events = self.fixed_step_size is None and not self.steps_contacts
        control[rk.MAX_STEP] = self.max_step_size or (longest_step(self.system) if by_events else np.inf)
        control[rk.FIXED_STEP] = self.fixed_step_size or 0.0
        counts[rk.ERROR_ORDER] = self.error_order
        counts[rk.MEAN_NORM] = not self._infinity_norm
        counts[rk.PROJECTION] = ALWAYS * self._project_every_step + FULL_NEWTON * self._force_full_newton
        counts[rk.PROJECT_REPORTS] = self._project_interpolated_states
        counts[rk.NO_INTERPOLATION] = not self.allow_interpolation
        counts[rk.ENDS_AT_STAGE], counts[rk.FORESEEN] = self._ends_of_table()
        counts[rk.WANTED] = EVERYTHING

    @classmethod
    @functools.cache
    def _ends_of_table(cls) -> tuple[bool, int]:
        """True if an attempt leaves the record realized at its end; and the row with the rates foreseen there."""
        # a table whose last stage is the end of the step: the rates there are the next step's first
        of_table = len(cls.table) > 2 and cls.table.any()
        stages = np.flatnonzero(cls.table[:-2, 0] == 1.0)
        ends = cls.ends_at_stage or bool(of_table and np.array_equal(cls.table[-3], cls.table[-2]))
        return ends, rk.FIRST_STAGE + int(stages[-1]) if len(stages) else rk.RATE

    # ------------------------------------------------------------------------------------------ stepping

    @classmethod
    @functools.cache
    def entry_points(cls) -> list[Job]:
        """The kernels that stepping calls whatever the system, to be compiled ahead; fewer if not all parts are *compiled*."""
        block, integers, row, rows = np.zeros(1, np.int64), np.zeros(rk.COUNTS_SIZE, np.int64), np.zeros(1), np.zeros((1, 1))
        jobs = [Job(routine) for routine in (advance, kinematics, dynamics)]
        jobs += [Job(realize, (block, 0, 0, 0)), Job(interpolation.interpolate, (block, rows, 0.0, 0.0, 0.0))]
        jobs.append(Job(beginning.start, (block, rows, row, integers)))
        jobs.append(Job(loop.project_report, (block, row, integers)))
        return [*jobs, Job(cls.kernel, (block, rows, rows, row, integers, row, rows, row))]

    def _jobs(self, state: State) -> list[Job]:
        """The kernels that stepping *state* calls, to be compiled ahead."""
        jobs = self.entry_points()
        return [*jobs, *[Job(prescribe)] * state.has_known, *[Job(project_on_manifolds)] * state.is_constrained]

    def begin_run(self, state: State) -> None:
        """Start at *state*, which from now on is what is integrated."""
        if state.system is not self.system:
            raise TopologyError("the state is of another system than the integrator")
        final = np.inf if self.final_time is None else self.final_time
        if state.time > final:
            raise ValueError(f"the state's time {state.time} is beyond final_time {final}")
        if not self.steps_contacts:
            refuse_stepped(self.system)
        compile_ahead(self._jobs(state))
        # bad values raise an error here that names them, rather than a failed step
        if not self.goes_on:
            self.system.project(state, self.constraint_tolerance)
        self.system.realize(state)
        if state.tree.counts["num_controllers"]:
            begin_sampling(state.block)
        self._state, self._room, self._chosen_for, self.termination = state, None, None, None
        self.reset_all_statistics()
        self.counts[rk.PASSES] = 0
        self.hindrances.begin(state.time)
        self.hindrances.begin_delays()
        self.check_inertia(state)
        text = _diagnosis.contradictory_accelerations(self.system, state)
        if text:
            warnings.warn(text, RuntimeWarning, stacklevel=callers_level())
        self.control[rk.STEP] = self.fixed_step_size or self.initial_step_size or 0.0
        self.control[rk.LAST_STEP] = 0.0
        self.counts[rk.PROJECTED] = self.goes_on
        self._begin()

    def restart(self, longest: float = np.inf) -> None:
        """Go on from the state after an event handler has changed it, at its time; keeps statistics and step size.

        The first step is at most *longest*: free flight has no error at any step, and a very long one would miss a bounce.
        """
        state, control = self._state, self.control
        if state.stage_number < Stage.MODEL:
            self.system.realize_model(state)
        if not (self._is_as_it_was(state) and self._moves_freely()):
            self.system.project(state, self.constraint_tolerance)
        self.system.realize(state)
        if control[rk.FIXED_STEP] == 0.0:
            control[rk.STEP] = max(control[rk.MIN_STEP], min(control[rk.STEP], longest))
        self._begin()

    def follow_jump(self, state: State, calls: Sequence[Any], which: Sequence[Any]) -> None:
        """Handlers are about to change the state by *calls*, as the witnesses *which* have changed sign."""

    def _is_as_it_was(self, state: State) -> bool:
        """True if all that the arrays for steps and the routines were chosen by is as it was then: after most events."""
        same = self._chosen_for is not None and self._chosen_for is state.instance_token
        return same and state is self._state and state.resources is None

    def _moves_freely(self) -> bool:
        """True if there is nothing that y is to be projected onto, nor prescribed, by the routines that were chosen."""
        counts = self.counts
        known = counts.item(rk.PRESCRIBER) or self.system.custom_motions
        return not (counts.item(rk.PROJECTOR) or counts.item(rk.QUATERNIONS) or known)

    def get_room(self, state: State) -> None:
        """Make arrays for steps of *state*, whose Instance stage is realized, with the settings in them.

        Those that are there stay, if what is integrated and how it is weighted are as they were: after an event, mostly.
        """
        if not self._is_as_it_was(state):
            self._make_room(state)
            self.choose_routines()
            fixed = self._goes_plain and self.held is None and state.resources is None
            self._chosen_for = state.instance_token if fixed else None
        control = self.control
        control[rk.TIME] = control[rk.PREVIOUS_TIME] = state.time
        control[rk.COLLAPSE] = 0.0
        control[rk.PERMITTED_STEP], control[rk.LAST_ERROR], control[rk.STRAIN] = -1.0, 0.0, 0.0

    def _make_room(self, state: State) -> None:
        """Make arrays for steps, unless those that are there do."""
        self._state, resources = state, state.resources
        known = state.field("prescribed").tobytes(), state.field("prescribed_level").tobytes()
        plain = resources is None or (not resources.weights and len(state.u_values) == state.tree.nu)
        room = (state.tree, len(state.y_values), known, resources is None) if plain else None
        if room is None or room != self._room:
            self._table = np.ascontiguousarray(self.table)
            stages = self._table.shape[1] - 1
            self.work = np.zeros((rk.FIRST_STAGE + stages + rk.ROWS_AFTER, len(state.y_values)))
            measured = measured_variables if type(self).kernel is loop.advance else free_variables
            self.work[rk.FIRST_STAGE + stages] = error_weights(state) * measured(state)
            plain = len(state.q_values) == state.tree.nq and (state.tree.fields["rates"] == q_rates.SAME).all()
            self.counts[rk.PLAIN_RATES] = plain
            self.no_energies, self._room = np.zeros(0), room
            self._apply()

    def _begin(self) -> None:
        """Begin at the state, which is realized."""
        state, control = self._state, self.control
        self.get_room(state)
        tries = not control[rk.STEP] > 0.0
        if self._goes_plain:
            kernel, given = beginning.start, (state.block, self.work, control, self.counts)
            state.valid, status = 0, (kernel.code or kernel.code_for(*given))(*given)
        else:
            status = self._call_as_chosen(beginning.start, self.work, control, self.counts)
        if status == rk.NOT_PROJECTED:
            reason = _diagnosis.not_projected(self.system, state, self.constraint_tolerance)
            failed = ConvergenceError(f"the state at time {state.time:.9g} cannot be brought to its constraints")
            failed.diagnosis = getattr(reason, "diagnosis", None)
            raise failed from reason
        if status:
            raise ModelError(f"the accelerations of the state at time {state.time:.9g} are not finite, where stepping begins")
        if tries or state.resources is not None or not self._goes_compiled:  # the first step is chosen by trying one
            self.leave_at(float(control[rk.TIME]))
        else:
            self.arrive_at_end()

    def _call(self, kernel: Any, *args: Any) -> int:
        """Run *kernel*, which calls back what Python computes."""
        self.choose_routines()
        return self._call_as_chosen(kernel, *args)

    def _call_as_chosen(self, kernel: Any, *args: Any) -> int:
        """The same, where the state needs the routines that it did last."""
        state = self._state
        if self._goes_compiled is None:
            self.choose_routines()
        state.valid = 0
        if self._goes_plain:
            return int(kernel(state.block, *args))
        if self._goes_compiled:
            return self.call_back(kernel, state.block, *args)
        with realized_by_python(state, self.held):
            return self.call_back(kernel, state.block, *args)

    def call_back(self, kernel: Callable[..., Any], *args: Any) -> int:
        """Run a kernel that calls parts in Python; if one of these has raised an error, it is raised at the last good state."""
        try:
            status, refusal = run_noting(self._note, kernel, *args)
        except BaseException:
            state, control = self.get_state(), self.control
            if self._noted is not None:  # what the kernel has found out since then is of no use
                control[:], self.counts[:] = self._noted
                self._noted = None
            interpolation.interpolate(state.block, self.work, control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.TIME])
            state.invalidate_q()
            state.lower_to(int(Stage.INSTANCE))
            raise
        if refusal is not self._refusal:  # to set an attribute takes half as long as a small step
            self._refusal = refusal
        return status

    def _note(self) -> None:
        """A callback has raised an error."""
        self._noted = self.control.copy(), self.counts.copy()

    @property
    def _calls_back(self) -> bool:
        """True if kernels call Python for parts of the system, or of steps."""
        return self.system.calls_back

    @property
    def _runs_compiled(self) -> bool:
        """True if kernels alone realize: else they call Python for it, as it has hooks, or forces beside the elements'."""
        return not (self.system.is_interpreted or callable(self.held))

    def _holding(self, held: Any) -> int:
        """The address of the routine that realizes with *held* mobility forces, which the state's record then has."""
        record = self._state.record
        if self._held_rows is None or self._held_rows[0] is not held:
            self._held_rows = held, held.reshape(-1, 1)
        if record.witness_numbers is not self._held_rows[1]:
            record.share("witness_numbers", self._held_rows[1])
        return advance_holding.address()

    def choose_routines(self) -> None:
        """Put the addresses of the routines that the state needs where kernels find them."""
        state, counts = self._state, self.counts
        put_routines(counts, state)
        self._goes_compiled = self._runs_compiled
        self._goes_plain = self._goes_compiled and not self._calls_back
        if self._goes_compiled:
            if self.held is not None:
                counts[rk.ROUTINE] = self._holding(self.held)
        else:
            counts[rk.ROUTINE] = realizer.address()
            counts[rk.PRESCRIBER] = prescriber.address() if state.has_known else 0
            counts[rk.KEEPER] = 0 if state.resources is None else keeper.address()

    def take_up(self, longest: float = np.inf) -> None:
        """Go on from the state as its user has changed it since the last step, at its time; otherwise as `restart`."""
        state, control = self._state, self.control
        plain = state.stage_number > Stage.INSTANCE and state.resources is None and not remembers(state)
        if not (plain and self._is_simple() and self._goes_compiled in (None, self._runs_compiled)):
            state.end_step(state.time)
            self.restart(longest)
            return
        if state.valid & KINEMATICS != KINEMATICS and not (self._is_as_it_was(state) and self._moves_freely()):
            self.system.project(state, self.constraint_tolerance)
        self._realize_held()
        begin = rows.begin_at
        (begin.code or begin.code_for(state.block, self.work))(state.block, self.work)
        control[rk.TIME] = control[rk.PREVIOUS_TIME] = state.time
        control[rk.PERMITTED_STEP], control[rk.LAST_ERROR], control[rk.STRAIN] = -1.0, 0.0, 0.0
        if control[rk.FIXED_STEP] == 0.0:
            control[rk.STEP] = max(control[rk.MIN_STEP], min(control[rk.STEP], longest))

    def _realize_held(self) -> None:
        """Realize the state, with the forces that act beside those of the elements."""
        realize_with(self._state, self.held)

    def sample(self) -> float:
        """Sample the controllers that are due where the last step ended: for steps from Python. The time of the next sample."""
        state, time = self._state, float(self.control[rk.TIME])
        if not state.tree.counts["num_controllers"]:
            return np.inf
        following = float(next_sample_of(state.block))
        if following <= time:
            self.leave_at(time)
            due = [force for c, force in enumerate(controllers_of(self.system)) if due_of(state.block, c) <= time]
            if any([force.sample(state) for force in due]):
                self.fail(rk.NOT_SAMPLED)
            self._realize_held()
            rows.set_rate(state.block, self.work)
            following = float(next_sample_of(state.block))
        return following

    def _is_simple(self) -> bool:
        """True if its kernel takes the steps, and all that it needs of the last one is in `work` and `control`."""
        return type(self).try_step is Integrator.try_step

    def calling(self, kernel: Callable[..., int]) -> Callable[..., int]:
        """The kernel of steps as it is called in one call from Python."""
        return partial(self.call_back, kernel) if self.system.calls_back else kernel

    def find_quick(self) -> Quick | None:
        """Keep what steps from Python need, of a state realized at the end of the last step; None where they need more."""
        if is_possible(self, self._is_simple()):
            self.quick = Quick(self)
        return self.quick

    def can_run_compiled(self, state: State) -> bool:
        """True if runs of states like this one, without events, need no Python, in a loop of the method's own for one state."""
        return False

    def begin_compiled(self, state: State) -> None:
        """Begin a run by kernels alone, of a state whose record is used for nothing else."""
        self.get_room(state)
        self.control[rk.STEP] = self.fixed_step_size or self.initial_step_size or 0.0

    def check_inertia(self, state: State) -> None:
        """Raise `ModelError` where massless links leave a mobility of *state*, which has articulated inertias, no inertia."""
        _diagnosis.refuse_rounding_for_inertia(self.system, state)

    def forget_steps(self) -> None:
        """A run begins of which nothing is known but its state: for what a method keeps beside `work` and `control`."""

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of every kernel that steps, after the block."""
        return self.work, self._table, self.control, self.counts

    def aim_at(self, end: float) -> None:
        """Set the end of the run: no step may be shorter than the resolution of time there."""
        resolved = _RESOLUTION * abs(end) if math.isfinite(end) else 0.0
        self.control[rk.MIN_STEP] = max(self.min_step_size or 0.0, resolved)

    def advance(self, times: Array, results: Array, energies: Array, limit: int) -> int:
        """Report at *times* from number ``counts[REPORT]`` on; at most *limit* steps.

        It runs the method's kernel in calls of about a tenth of a second, so that Ctrl-C, which leaves the state at the last
        step, takes effect.
        """
        counts, control, end = self.counts, self.control, self.counts.item(rk.STEPS) + limit
        hindrances = self.hindrances
        chunk = _FIRST_CHUNK // 8 if hindrances.find_paths() else _FIRST_CHUNK
        while True:
            counts[rk.LIMIT] = min(chunk, end - counts.item(rk.STEPS))
            clock = _clock.perf_counter()
            try:
                status = self.try_step(times, results, energies)
            except KeyboardInterrupt:
                self.leave_at(float(control[rk.TIME]))
                raise
            if counts.item(rk.PASSES) == 1:
                hindrances.warn_of_passing()
            hindrances.look()
            if status == rk.COLLAPSED:
                hindrances.warn_of_short_steps()
            elif status == rk.STEP_TOO_SMALL and hindrances.can_pass_jump():
                counts[rk.FORCED] = 1
            elif status != rk.PAUSED or counts.item(rk.STEPS) >= end:
                return status
            if _clock.perf_counter() - clock < 0.1:
                chunk = min(2 * chunk, 1 << 30)

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """`advance` once."""
        kernel = type(self).kernel
        if self.held is not None:  # others may have used its rows
            return self._call(kernel, *self.arguments(), times, results, energies)
        if not self._goes_plain:
            return self._call_as_chosen(kernel, *self.arguments(), times, results, energies)
        state = self._state
        state.valid, given = 0, (state.block, *self.arguments(), times, results, energies)
        status: int = (kernel.code or kernel.code_for(*given))(*given)
        return status

    def step_and_report(self, step: Callable[[float], int], times: Array, results: Array, energies: Array) -> int:
        """`try_step` of a method whose steps Python takes: ``step(report)`` takes one, DONE where that went well."""
        control, counts, state = self.control, self.counts, self._state
        taken = 0
        while counts[rk.REPORT] < len(times):
            k = int(counts[rk.REPORT])
            if times[k] <= min(control[rk.TIME], control[rk.TARGET]):
                self.leave_at(float(times[k]))
                results[k] = state.y_values
                if len(energies) == len(times):
                    energies[k] = self.system.calc_energy(state)
                counts[rk.REPORT] += 1
                continue
            if control[rk.TIME] >= control[rk.TARGET]:
                return rk.REACHED
            if taken >= counts[rk.LIMIT]:
                return rk.PAUSED
            status = step(float(times[k]))
            if status != rk.DONE:
                return status
            if counts[rk.WATCHES] != 0:
                return rk.SUSPECT
            taken += 1
        return rk.REACHED

    def _begin_step(self, time: float) -> None:
        """Notify what has a memory that a step begins at *time*: for steps that Python takes."""
        state = self.get_state()
        if state.resources is not None and self.system.is_interpreted:
            state.resources.apply_updates(time)
            begin_bristles(state.record)
        elif state.tree.remembers:
            self._call(begin_step)

    def arrive_at_end(self) -> None:
        """The loop has returned after a step: the state is at its end, realized, as the step's last evaluation has left it."""
        control, state = self.control, self._state
        state.record.time[0, 0] = control[rk.TIME]
        if self._goes_compiled:
            state.valid, state.stage_number = EVERYTHING, _ACCELERATION

    def kept(self) -> tuple[Array, npt.NDArray[np.int64], Array]:
        """Copies of what `restart` changes."""
        return self.control.copy(), self.counts.copy(), self.work.copy()

    def flight_resolution(self, q: Array) -> tuple[float, float, bool]:
        """The duration and height below which a flight between impacts at *q* is not resolved, and whether flights gain energy.

        Zero where steps shrink with the flights.
        """
        return 2.0 * float(self.control[rk.FIXED_STEP]), 0.0, False

    def _lowest_flight(self, q: Array, errors: float) -> float:
        """The height that corresponds to so many tolerated errors of a step."""
        return errors * self.accuracy * max(1.0, float(np.abs(q).max(initial=0.0)))

    def previous_time(self) -> float:
        """The time at which the last step began."""
        return self.control.item(rk.PREVIOUS_TIME)

    def set_out_for(self, time: float) -> None:
        """The time that the run is to come to, by which its progress is judged."""
        self.hindrances.progress.goal = time

    def singularities(self) -> dict[str, str]:
        """Messages about mobilizers near a singular configuration, by name."""
        return self.system.get_matter_subsystem().singularities(self._state)

    @property
    def can_watch(self) -> bool:
        """True if its loop over steps looks at compiled witnesses, as `stepping.witnesses` says."""
        return self._is_simple() and self.held is None  # whose forces are where witnesses have their numbers

    @property
    def calls_witnesses(self) -> bool:
        """True if it calls back those that only Python knows, too: from kernels."""
        return self.can_watch and self._runs_compiled

    def share_witnesses(self, integers: npt.NDArray[np.int64], numbers: Array) -> None:
        """Give the state's record the pools of witnesses."""
        record = self._state.record
        if record.witness_integers is not integers:
            record.share("witness_integers", integers)
        if record.witness_numbers is not numbers:
            record.share("witness_numbers", numbers)

    def search_events(self, end: float) -> int:
        """Search the last step for events from SOUGHT up to *end*: see `stepping.event_search`."""
        kernel, looks = event_search.search_now, self.counts.item(rk.LOOKER)
        table = self.work if looks else self.arguments()[1]
        given = self.work, table if isinstance(table, np.ndarray) else self.work, self.control, self.counts, end
        if looks:  # which knows the method
            status, _ = with_refusals_apart(kernel, self._state.block, *given)
        elif self._goes_plain:
            block, self._state.valid = self._state.block, 0
            status = (kernel.code or kernel.code_for(block, *given))(block, *given)
            if status == rk.FOUND and self.arrive_at_event():
                return status
        else:
            status = self._call_as_chosen(kernel, *given)
        self._state.invalidate_q()
        return int(status)

    def arrive_at_event(self) -> bool:
        """A search has found an event: whether the state is there, realized, as the search has left its record."""
        state, control = self._state, self.control
        whole = self._goes_plain and state.resources is None and self.counts.item(rk.WANTED) == EVERYTHING
        if not whole or control.item(rk.AT) != control.item(rk.EVENT):
            return False
        state.valid, state.stage_number = EVERYTHING, _ACCELERATION
        return True

    def leave_at(self, time: float, stage: Stage = Stage.ACCELERATION) -> None:
        """Put the state at *time*, within the last step, and realize it."""
        self.get_state().invalidate_q()  # before y changes: an interrupt from here on finds a state that is not realized
        self._interpolate(time)
        self._settle(time, time < self.control[rk.TIME], stage)

    def _interpolate(self, time: float) -> None:
        """Put y at *time*, within the last step."""
        block, kernel, control = self.get_state().block, interpolation.interpolate, self.control
        given = block, self.work, control[rk.PREVIOUS_TIME], control[rk.TIME], float(time)
        (kernel.code or kernel.code_for(*given))(*given)

    def _settle(self, time: float, interpolated: bool, stage: Stage) -> None:
        """Prescribe, project and realize the state, whose y has been set."""
        state = self._state
        state.move_to(time)
        counts = self.counts
        projects = interpolated and self._project_interpolated_states
        if counts[rk.PRESCRIBER] and not (projects and counts[rk.PROJECTOR]):  # the projection does it, too
            self.system.prescribe(state)
        if projects and (counts[rk.PROJECTOR] or counts[rk.QUATERNIONS]):
            self._call_as_chosen(loop.project_report, self.control, counts)
            state.invalidate_q()
        self.system.realize(state, stage)

    def fail(self, status: int) -> None:
        """Leave the state at the last accepted step, and raise the error that explains why the integration stopped."""
        _failure.fail(self, status, self._refusal)

    def why_too_small(self) -> str:
        """Likely causes of steps that are too small, and remedies."""
        return (
            f"the system is too stiff for {type(self).__name__}, or a mobilizer at a singularity; try a larger accuracy "
            "number, a smaller min_step_size, or mobod.integrator.BDF for a stiff one"
        )

    # ------------------------------------------------------------------------------------------ what it did

    def get_state(self) -> State:
        """The state being integrated, itself and not a copy."""
        if self._state is None:
            raise ModelError("the integrator has no state yet; call TimeStepper.initialize(state)")
        return self._state

    def get_time(self) -> float:
        """The time of that state."""
        return self.get_state().time

    def is_state_interpolated(self) -> bool:
        """True if that state lies within the last step, and not at its end, `get_advanced_time`."""
        return self.get_state().time < self.get_advanced_time()

    def is_simulation_over(self) -> bool:
        """True if the simulation has ended, at the final time or because a handler has asked for it."""
        return self.termination is not None

    def get_termination_reason(self) -> TerminationReason:
        """Why the simulation has ended; `ModelError` while it has not: ask `is_simulation_over` first."""
        if self.termination is None:
            raise ModelError("the simulation has not ended, so that there is no reason; ask is_simulation_over() first")
        return self.termination.reason

    def get_num_steps_taken(self) -> int:
        """Accepted steps."""
        return self.counts.item(rk.STEPS)

    def get_num_steps_attempted(self) -> int:
        """Attempted steps: the accepted ones, and failures of every kind."""
        return int(self.counts[rk.ATTEMPTS])

    def get_num_error_test_failures(self) -> int:
        """Attempts whose error estimate was too large."""
        return int(self.counts[rk.ERROR_FAILURES])

    def get_num_convergence_test_failures(self) -> int:
        """Attempts whose iteration did not converge."""
        return int(self.counts[rk.CONVERGENCE_FAILURES])

    def get_num_realization_failures(self) -> int:
        """Attempts in which a value was not finite, or a user's part raised an error."""
        return int(self.counts[rk.REALIZATION_FAILURES])

    def get_num_projection_failures(self) -> int:
        """Attempts whose end could not be projected onto the constraint manifold."""
        return int(self.counts[rk.PROJECTION_FAILURES])

    def get_num_realizations(self) -> int:
        """Evaluations of the accelerations."""
        return int(self.counts[rk.EVALUATIONS])

    def get_num_q_projections(self) -> int:
        """Projections that changed q: of quaternions alone, if there are no constraints."""
        return int(self.counts[rk.Q_PROJECTIONS])

    def get_num_u_projections(self) -> int:
        """Projections that changed u."""
        return int(self.counts[rk.U_PROJECTIONS])

    def get_num_iterations(self) -> int:
        """Iterations in all attempts, of methods that iterate; 0 of the others."""
        return int(self.counts[rk.ITERATIONS])

    def get_num_projections(self) -> int:
        """Projections that changed q or u, those that changed both counted twice."""
        return self.get_num_q_projections() + self.get_num_u_projections()

    def reset_all_statistics(self) -> None:
        """Count from zero again."""
        for place in _STATISTICS:
            self.counts[place] = 0
        self.control[rk.FIRST_STEP] = 0.0

    def get_actual_initial_step_size_taken(self) -> float:
        """Size of the first step, since statistics were last reset; 0 before it. Time."""
        return float(self.control[rk.FIRST_STEP])

    def get_previous_step_size_taken(self) -> float:
        """Size of the last step; time."""
        return float(self.control[rk.LAST_STEP])

    def get_predicted_next_step_size(self) -> float:
        """Size of the next attempt; time."""
        return float(self.control[rk.STEP])

    def get_advanced_state(self) -> State:
        """A copy of the state at `get_advanced_time`, realized to ACCELERATION."""
        state = self.get_state()
        time, advanced = state.time, self.get_advanced_time()
        if time == advanced:
            return state.copy()
        try:
            self.leave_at(advanced)
            return state.copy()
        finally:
            self.leave_at(time)

    def get_advanced_time(self) -> float:
        """The time at which the last step ended: at or beyond the state's time, which reports interpolate."""
        return self.control.item(rk.TIME)

    def get_accuracy_in_use(self) -> float:
        """Largest local error of a step."""
        return self.accuracy

    def get_constraint_tolerance_in_use(self) -> float:
        """Largest distance of constraints from their manifold."""
        return self.constraint_tolerance

    def get_method_name(self) -> str:
        """The method's name."""
        return type(self).__name__

    def get_method_min_order(self) -> int:
        """The lowest order of the method."""
        return self.order

    def get_method_max_order(self) -> int:
        """The order of the method, or its highest: its error in a given time shrinks with this power of the step."""
        return self.order

    def method_has_error_control(self) -> bool:
        """True if the method estimates its errors, and so can choose its steps."""
        return self.has_error_control


def put_routines(plan: npt.NDArray[np.int64], state: State, limits: bool = True, **scalar: bool) -> None:
    """Put the addresses of the package's routines that a state needs into a plan of runs, for records of a scalar."""
    limits = limits and state.tree.counts["num_contact_elements"] > 0
    plan[rk.LIMITER] = limit_step.address(**scalar) if limits else 0
    plan[rk.RELAXES] = len(state.z_values) > 0
    plan[rk.QUATERNIONS] = len(state.tree.quaternions) > 0
    plan[rk.PROJECTOR] = project_on_manifolds.address(**scalar) if state.is_constrained else 0
    plan[rk.ROUTINE] = advance.address(**scalar)
    plan[rk.PRESCRIBER] = prescribe.address(**scalar) if state.has_known else 0
    plan[rk.KEEPER] = 0


def _optional(what: str, value: float | None) -> float | None:
    return None if value is None else positive(what, value, ValueError)


def _accuracy(value: float) -> float:
    accuracy = positive("accuracy", value, ValueError)
    if not 1e-14 <= accuracy < 1.0:
        raise ValueError(f"accuracy has to be from 1e-14, near rounding, to below 1, got {value}")
    return accuracy


def _bounds(smallest: float | None, largest: float | None) -> tuple[float | None, float | None]:
    low, high = _optional("min_step_size", smallest), _optional("max_step_size", largest)
    if low and high and low > high:
        raise ValueError(f"min_step_size {low} exceeds max_step_size {high}")
    return low, high


def _final_time(time: float | None) -> float | None:
    return None if time is None else finite("final_time", time, ValueError)


def _step_limit(limit: int | None) -> int | None:
    if limit is None:
        return None
    steps = finite("internal_step_limit", limit, ValueError)
    if steps < 1.0 or int(steps) != steps:
        raise ValueError(f"internal_step_limit has to be a whole number, 1 or more, got {limit}")
    return int(steps)
