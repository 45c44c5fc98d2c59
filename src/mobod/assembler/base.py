"""Assembler: coordinates that fulfil constraints and other requirements, and come close to goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ConvergenceError, MobodError, ModelError
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..system.matter import SimbodyMatterSubsystem
from ..system.system import MultibodySystem
from ..value.attributes import Sealed
from ..value.checks import flag, index_of, instance, not_negative, number, numbers
from ..value.progress import shown
from ..value.stage import Stage
from ._following import Following, can_follow
from ._observed import Observed
from ._problem import Counts, Problem, Values
from ._solve import Search, assemble
from ._variables import Variables, num_orientation_q
from .condition import Condition
from .system_constraints import SystemConstraints

_DEFAULT_ACCURACY = 1e-3


class Assembler(Sealed):
    """Finds coordinates q that fulfil a system's constraints and other requirements, and minimize goals.

    Requirements (weight infinite) have to be fulfilled to a tolerance: the constraints' position errors unless their weight is
    changed, and conditions adopted with `adopt_assembly_error`. Goals (finite weights) are summed, and made as small as the
    requirements allow. Coordinates can be locked, or restricted to a range; locks and prescribed motions of the state are
    kept.

    Parameters
    ----------
    system : MultibodySystem
        With a realized topology.

    Attributes
    ----------
    All settings are methods. A change of them is taken up by the next `assemble`, `track` or `initialize`.

    Notes
    -----
    Only q of the state changes. Coordinates that nothing depends on stay where they are. A state in which everything
    required holds is never made worse; see ``docs/how-to/assembly.md``.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    >>> one = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)))
    >>> two = mb.mobilizer.Pin(one, link, X_BM=mb.Transform((0, 1, 0)))
    >>> ball = mb.constraint.Rod(matter.ground, (1, 0, 0), two, (0, 0, 0), 1.0)
    >>> state = system.realize_topology()
    >>> assembler = mb.Assembler(system)
    >>> assembler.lock_mobilizer(one)
    >>> goal = assembler.assemble(state)
    >>> system.realize(state, mb.Stage.POSITION)
    >>> bool(abs(state.q_err[0]) < 1e-9 and state.q[0] == 0.0)
    True
    """

    def __init__(self, system: MultibodySystem) -> None:
        instance("system of an Assembler", system, MultibodySystem, "mobod.MultibodySystem()")
        self._system = system
        self._state: State = system.get_default_state()
        self._accuracy = 0.0
        self._tolerance = 0.0
        self._rms = False
        self._numerical_gradient = False
        self._numerical_jacobian = False
        self._locked_mobilizers: set[int] = set()
        self._locked_q: set[tuple[int, int]] = set()
        self._ranges: dict[tuple[int, int], tuple[float, float]] = {}
        self._conditions: list[Condition] = []
        self._weights: list[float] = []
        self._reporters: list[Callable[[State], Any]] = []
        self.problem: Problem | None = None
        self._feasible: Problem | None = None
        self.variables: Variables | None = None
        self._num_steps = 0
        self._num_initializations = 0
        self._system_constraints = self.adopt(SystemConstraints(), np.inf)

    def __repr__(self) -> str:
        return f"<Assembler of {self._system.name!r}: {len(self._conditions)} conditions>"

    # ------------------------------------------------------------------------------------------ settings

    def set_error_tolerance(self, tolerance: float = 0.0) -> None:
        """Set the largest error that requirements may keep; zero for a tenth of the accuracy."""
        self._tolerance = not_negative("the error tolerance", tolerance, ValueError)

    def get_error_tolerance_in_use(self) -> float:
        """The tolerance that the next assembly has: 1e-4 unless it, or an accuracy, was set."""
        return self._tolerance or self.get_accuracy_in_use() / 10.0

    def set_accuracy(self, accuracy: float = 0.0) -> None:
        """Set how closely goals are minimized, as a part of the remaining displacement; zero for 1e-3.

        A search ends when a step promises to lower the goal by less than the square of it.
        """
        value = number("the accuracy", accuracy)
        if not 0.0 <= value < 1.0:
            raise ValueError(f"the accuracy has to be at least 0 and below 1, got {accuracy}")
        self._accuracy = value

    def get_accuracy_in_use(self) -> float:
        """The accuracy that the next assembly has."""
        return self._accuracy or _DEFAULT_ACCURACY

    def set_use_rms_error_norm(self, yes: bool) -> None:
        """Hold the root mean square of all errors, rather than the largest, to the tolerance."""
        self.uninitialize()
        self._rms = flag("yes", yes)

    def is_using_rms_error_norm(self) -> bool:
        """True if the tolerance is one of the root mean square of all errors."""
        return self._rms

    def set_force_numerical_gradient(self, yes: bool) -> None:
        """Find gradients of goals by differences, to check a condition's own."""
        self.uninitialize()
        self._numerical_gradient = flag("yes", yes)

    def set_force_numerical_jacobian(self, yes: bool) -> None:
        """Find Jacobians of errors by differences, to check a condition's own."""
        self.uninitialize()
        self._numerical_jacobian = flag("yes", yes)

    def add_reporter(self, reporter: Callable[[State], Any]) -> None:
        """Call *reporter* with the internal state after each assembly step that succeeded."""
        if not callable(reporter):
            raise TypeError(f"a reporter is called with a state; {reporter!r} cannot be called")
        self._reporters.append(reporter)

    # ------------------------------------------------------------------------------------------ conditions

    def adopt(self, condition: Condition, weight: float) -> int:
        instance("condition of an Assembler", condition, Condition, "mobod.assembler.Markers(...)")
        if condition.is_in_assembler():
            raise ModelError(f"{condition!r} is in an Assembler already")
        value = _condition_weight(weight)
        self.uninitialize()
        condition.assembler, condition.condition_index = self, len(self._conditions)
        self._conditions.append(condition)
        self._weights.append(value)
        return condition.condition_index

    def adopt_assembly_error(self, condition: Condition) -> int:
        """Require a condition's errors to vanish; its index."""
        return self.adopt(condition, np.inf)

    def adopt_assembly_goal(self, condition: Condition, weight: float = 1.0) -> int:
        """Add *weight* times a condition's goal to the sum that is minimized; its index.

        A weight of zero leaves it out, an infinite one makes it a requirement.
        """
        return self.adopt(condition, weight)

    def get_num_conditions(self) -> int:
        """Number of conditions; number 0 is that of the system's constraints."""
        return len(self._conditions)

    def get_assembly_condition(self, condition: int) -> Condition:
        """A condition by its index."""
        return self._conditions[self._condition_index(condition)]

    def _condition_index(self, condition: int | Condition) -> int:
        if isinstance(condition, Condition):
            if getattr(condition, "assembler", None) is not self:
                raise ModelError(f"{condition!r} is not in this Assembler")
            return condition.condition_index
        return index_of(len(self._conditions), condition, self, "conditions")

    def set_assembly_condition_weight(self, condition: int | Condition, weight: float) -> None:
        """Give a condition another weight: zero leaves it out, infinity makes it a requirement."""
        index, value = self._condition_index(condition), _condition_weight(weight)
        self.uninitialize()
        self._weights[index] = value

    def get_assembly_condition_weight(self, condition: int | Condition) -> float:
        """The weight of a condition; infinite for requirements."""
        return self._weights[self._condition_index(condition)]

    def set_system_constraints_weight(self, weight: float) -> None:
        """Make the system's constraints a goal, with a finite weight; infinity makes them a requirement again."""
        self.set_assembly_condition_weight(self._system_constraints, weight)

    def get_system_constraints_weight(self) -> float:
        """The weight of the system's constraints; infinite unless it was set."""
        return self._weights[self._system_constraints]

    # ------------------------------------------------------------------------------------------ locks and ranges

    def find_body(self, mobod: Any) -> MobilizedBody:
        return self.get_matter_subsystem().find_body(mobod)

    def _coordinate(self, mobod: Any, which_q: int) -> tuple[int, int]:
        body = self.find_body(mobod)
        most = body.facts.num_q
        index_of(most, which_q, body, "q")
        return body.index, int(which_q)

    def lock_mobilizer(self, mobod: Any) -> None:
        """Keep all q of a mobilizer where they are."""
        index = self.find_body(mobod).index
        self.uninitialize()
        self._locked_mobilizers.add(index)

    def unlock_mobilizer(self, mobod: Any) -> None:
        """Unlock a mobilizer; q that were locked one by one stay locked."""
        index = self.find_body(mobod).index
        self.uninitialize()
        self._locked_mobilizers.discard(index)

    def lock_q(self, mobod: Any, which_q: int) -> None:
        """Keep one q of a mobilizer where it is.

        Components of a quaternion cannot be locked one by one, which the next assembly says: lock the mobilizer, or assemble
        a state that uses angles (`SimbodyMatterSubsystem.convert_to_euler_angles`).
        """
        one = self._coordinate(mobod, which_q)
        self.uninitialize()
        self._locked_q.add(one)

    def unlock_q(self, mobod: Any, which_q: int) -> None:
        """Unlock one q; it still stands where its mobilizer is locked."""
        one = self._coordinate(mobod, which_q)
        self.uninitialize()
        self._locked_q.discard(one)

    def restrict_q(self, mobod: Any, which_q: int, low: float, high: float) -> None:
        """Keep one q within a range, exactly; infinite limits are none. Of components of quaternions, see `lock_q`.

        A q that starts outside is put on the limit first.
        """
        one = self._coordinate(mobod, which_q)
        low, high = number("the lower limit", low), number("the upper limit", high)
        if not low <= high or (np.isinf(low) and low > 0) or (np.isinf(high) and high < 0):
            raise ValueError(f"a range goes from a lower to an upper limit, got [{low}, {high}]")
        self.uninitialize()
        self._ranges.pop(one, None)
        if low > -np.inf or high < np.inf:
            self._ranges[one] = low, high

    def unrestrict_q(self, mobod: Any, which_q: int) -> None:
        """Remove the range of one q."""
        one = self._coordinate(mobod, which_q)
        self.uninitialize()
        self._ranges.pop(one, None)

    # ------------------------------------------------------------------------------------------ initialization

    def get_multibody_system(self) -> MultibodySystem:
        """The system."""
        return self._system

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """Its matter."""
        return self._system.get_matter_subsystem()

    def get_internal_state(self) -> State:
        """The Assembler's own state, in the representation of orientations of the one that it was given. Do not change it."""
        return self._state

    def set_internal_state(self, state: State) -> None:
        """Take a copy of *state* to work on."""
        state.check_owner(self._system, "set_internal_state")
        self._system.realize_model(state)
        self.uninitialize()
        self._state = state.copy()

    def is_initialized(self) -> bool:
        """True if nothing has been changed since the last initialization."""
        return self.problem is not None

    def uninitialize(self) -> None:
        """Make the next assembly initialize again."""
        if self.problem is not None:
            self.problem = self._feasible = self.variables = None
            for condition in self._conditions:
                condition.uninitialize_condition()

    def initialize(self, state: State | None = None) -> None:
        """Settle which q are free, and prepare the conditions; `assemble` does so by itself.

        Parameters
        ----------
        state : State, optional
            To work on a copy of; the internal state as it is unless given.

        Raises
        ------
        ValueError
            If a component of a quaternion is locked or restricted.
        """
        if state is not None:
            self.set_internal_state(state)
        if self.problem is not None:
            return
        state = self._state
        if state.version != self._system.topology_version:
            state = self._state = self._system.get_default_state()
        self._system.realize(state, Stage.INSTANCE)
        self._prescribe()
        tree, matter = state.tree, self.get_matter_subsystem()
        free = np.zeros(state.q_values.size, np.bool_)
        free[matter.get_free_q_index(state)] = True
        lower, upper = np.full(state.q_values.size, -np.inf), np.full(state.q_values.size, np.inf)
        for b in self._locked_mobilizers:
            free[tree.q_slices[b]] = False
        for b, which in sorted(self._locked_q):
            free[self._single_q(b, which, "locked")] = False
        for (b, which), (low, high) in sorted(self._ranges.items()):
            q = self._single_q(b, which, "restricted")
            lower[q], upper[q] = low, high
        for place in np.flatnonzero(free & ((state.q_values < lower) | (state.q_values > upper))):
            state.upd_q()[place] = np.clip(state.q_values[place], lower[place], upper[place])
        self.variables = Variables(state, free, lower, upper)
        self._num_initializations += 1
        counts = Counts()
        requirements: list[Condition] = []
        goals: list[tuple[Condition, float]] = []
        try:
            self._system.realize(state, Stage.POSITION)
            for condition in self._conditions:
                condition.initialize_condition()
            for condition, weight in zip(self._conditions, self._weights, strict=True):
                if weight == 0.0 or (condition is self._conditions[0] and not condition.get_num_errors(state)):
                    continue
                if np.isinf(weight):
                    requirements.append(condition)
                else:
                    goals.append((condition, weight))
            keywords = {
                "numerical_gradient": self._numerical_gradient,
                "numerical_jacobian": self._numerical_jacobian,
                "rms": self._rms,
            }
            problem = Problem(self._system, state, self.variables, goals, requirements, **keywords)
            problem.counts = counts
            feasible = problem
            if goals and requirements:
                feasible = Problem(self._system, state, self.variables, [], requirements, **keywords)
                feasible.counts = counts
        except BaseException:
            for condition in self._conditions:
                condition.uninitialize_condition()
            raise
        self.problem, self._feasible, self._num_steps = problem, feasible, 0

    def _single_q(self, b: int, which: int, what: str) -> int:
        """A q of the state that moves by itself."""
        state, body = self._state, self.get_matter_subsystem().body_list[b]
        tree, together = state.tree, 0
        together = num_orientation_q(body, state)
        if which >= tree.num_q[b]:
            raise ValueError(f"q[{which}] of {body.name!r} is {what}, but it has {tree.num_q[b]} q in this state")
        if which < together:
            raise ValueError(
                f"q[{which}] of {body.name!r} is {what}, but is part of an orientation that moves as a whole: lock the "
                "mobilizer, or assemble a state with angles, matter.convert_to_euler_angles(state)"
            )
        return tree.first_q[b] + which

    def q_index(self, mobod: Any, which_q: int) -> int:
        """The place of a q in the internal state."""
        body = self.find_body(mobod)
        tree = self._state.tree
        index_of(int(tree.num_q[body.index]), which_q, body, "q in this state")
        return int(tree.first_q[body.index] + which_q)

    def _prescribe(self) -> None:
        """Set the prescribed q of the internal state, and normalize its quaternions."""
        state = self._state
        self._system.prescribe(state, Stage.POSITION)
        self.get_matter_subsystem().normalize_quaternions(state)

    def _ready(self) -> Problem:
        self.initialize()
        assert self.problem is not None
        return self.problem

    def realized(self) -> State:
        """The internal state, with positions."""
        self._system.realize(self._state, Stage.POSITION)
        return self._state

    # ------------------------------------------------------------------------------------------ assembly

    def assemble(self, state: State | None = None) -> float:
        """Change q so that all requirements hold, and goals are small; no assumption is made about the start.

        Parameters
        ----------
        state : State, optional
            Where to start, and what gets the result: its q alone. Without one, the internal state is used, and changed.

        Returns
        -------
        float
            The goal that was reached: the weighted sum of all goals, zero where there are none.

        Raises
        ------
        ConvergenceError
            If the requirements cannot be met. The message has the remaining error of each, ``diagnosis`` the diagnosis of
            the constraints at the end of the search. The state and the internal state are as they were.

        Notes
        -----
        The minimum found is a local one. If requirements cannot be met from the start, other starts around it are tried,
        the same each time.
        """
        if state is not None:
            self.set_internal_state(state)
        before = self._state.q_values.copy()
        problem = self._ready()
        assert self._feasible is not None
        tolerance = self.get_error_tolerance_in_use()
        try:
            self._system.realize(self._state, Stage.POSITION)
            found = assemble(problem, self._feasible, self.get_accuracy_in_use(), tolerance)
            if found.norm > tolerance:
                raise self._failure("assembled", found, tolerance)
        except BaseException:
            self._put_back(before)
            raise
        return self._done(found, state)

    def track(self, frame_time: float | None = None) -> float:
        """Assemble again after a small change, from where the internal state is: of observations, weights or time.

        Parameters
        ----------
        frame_time : float, optional
            The new time of the internal state, to which prescribed motions are followed.

        Returns
        -------
        float
            The goal that was reached. `update_from_internal_state` hands on the coordinates.

        Raises
        ------
        ConvergenceError
            If the requirements cannot be met from there; `assemble` may still find a way. The internal state is as it was.
        """
        problem, state = self._ready(), self._state
        before, time = state.q_values.copy(), state.time
        tolerance = self.get_error_tolerance_in_use()
        try:
            if frame_time is not None:
                if not np.isfinite(frame_time):
                    raise ValueError(f"frame_time has to be finite, got {frame_time}")
                state.time = frame_time
                if state.has_known:
                    self._prescribe()
            self._system.realize(state, Stage.POSITION)
            found = Search(problem, self.get_accuracy_in_use(), tolerance).run()
            if found.norm > tolerance:
                raise self._failure("tracked", found, tolerance)
        except BaseException:
            state.time = time
            self._put_back(before)
            raise
        return self._done(found, None)

    def following(self, times: Array | None, observations: Array) -> Following | None:
        """A compiled loop over a recording, where markers alone decide; None where `track` is needed. Initializes."""
        problem = self._ready()
        if self._reporters or not can_follow(problem):
            return None
        return Following(problem, self.get_accuracy_in_use(), times, observations)

    def _done(self, found: Values, state: State | None) -> float:
        self._num_steps += 1
        if state is not None:
            self.update_from_internal_state(state)
        for reporter in self._reporters:
            reporter(self._state)
        return found.f

    def _put_back(self, q: Array) -> None:
        self._state.q = q

    def track_frames(
        self,
        observations: npt.ArrayLike,
        times: npt.ArrayLike | None = None,
        *,
        condition: Observed | None = None,
        progress: bool | Callable[[int, int], Any] | None = None,
    ) -> Array:
        """Track a whole recording: inverse kinematics of every frame, each from where the last one ended.

        Parameters
        ----------
        observations : (nt, num_observations, 3) array_like
            What was observed in each frame, as `assembler.Markers` takes it: NaN where a marker is missing. Of
            `assembler.OrientationSensors` ``(nt, num_observations, 3, 3)``.
        times : (nt,) array_like, optional
            The frames' times; prescribed motions are followed to them.
        condition : Markers or OrientationSensors, optional
            What is observed: needed where the Assembler has several of these.
        progress : bool or callable, optional
            True shows a progress bar (needs tqdm); a callable gets the number of frames done, and of all, now and then.

        Returns
        -------
        (nt, nq) array
            The coordinates of each frame.

        Raises
        ------
        ConvergenceError
            If requirements cannot be met in a frame, which the message names. The internal state is that of the frame before.

        Notes
        -----
        The first frame is assembled, from the internal state; see `set_internal_state`. A frame without any observation
        leaves q as it was.
        """
        observed = self._observed(condition)
        frames = numbers("observations", observations)
        shape = observed.get_num_observations(), *observed.shape
        if frames.shape[1:] != shape:
            raise ValueError(f"observations have shape (frames, {', '.join(map(str, shape))}), got {frames.shape}")
        moments = None if times is None else numbers("times", times)
        if moments is not None and moments.shape != (len(frames),):
            raise ValueError(f"there is a time for each of {len(frames)} frames; got {moments.shape}")
        self.initialize()
        q = np.empty((len(frames), self._state.q_values.size))
        following = self.following(moments, frames)
        goals, i = np.empty(len(frames)), 0
        with shown(progress, len(frames), "frames") as show:
            while i < len(frames):
                if following is not None and i:
                    i = following.run(i, min(i + 64, len(frames)), q, goals)
                    show(i, len(frames))
                    if i == len(frames):
                        break
                frame = frames[i]
                observed.move_all_observations(frame)
                moment = None if moments is None else float(moments[i])
                try:
                    if i == 0:
                        if moment is not None:
                            self._state.time = moment
                            self._prescribe()
                        self.assemble()
                    else:
                        self.track(moment)
                except ConvergenceError as error:
                    again = ConvergenceError(f"frame {i} of {len(frames)}: {error}")
                    again.diagnosis = error.diagnosis
                    raise again from None
                q[i] = self._state.q_values
                i += 1
                if i % 64 == 0 or i == len(frames):
                    show(i, len(frames))
        return q

    def _observed(self, condition: Observed | None) -> Observed:
        if condition is not None:
            self._condition_index(condition)
            return condition
        found = [one for one in self._conditions if isinstance(one, Observed)]
        if len(found) != 1:
            raise ValueError(f"this Assembler has {len(found)} conditions that are observed; say which with condition=")
        return found[0]

    def update_from_internal_state(self, state: State) -> None:
        """Give *state* the q of the internal state, and nothing else; orientations are converted where they differ."""
        state.check_owner(self._system, "update_from_internal_state")
        self._system.realize_model(state)
        own = self._state
        if state.use_euler_angles == own.use_euler_angles:
            state.q = own.q_values
        else:
            matter_q = self.get_matter_subsystem().converted(own.q_values, own.tree, state.tree)
            state.upd_q()[: len(matter_q)] = matter_q

    # ------------------------------------------------------------------------------------------ what was reached

    def calc_current_goal(self) -> float:
        """The weighted sum of the goals where the internal state is."""
        problem = self._ready()
        self.realized()
        return problem.goal()

    def calc_current_error_norm(self) -> float:
        """The largest error of the requirements there (or their root mean square), to compare with the tolerance."""
        problem = self._ready()
        self.realized()
        return problem.norm(problem.errors())

    def _failure(self, what: str, found: Values, tolerance: float) -> ConvergenceError:
        """Errors that are left, by constraint and by condition; the state is where the search ended."""
        problem, state = self._ready(), self._state
        problem.move_to(found.q)
        left = [one for condition in problem.requirements for one in condition.report(state)]
        left.sort(key=lambda one: -one[1])
        worst = "; ".join(f"{error:.3g} of {name}" for name, error in left[:6] if error > tolerance or one_of_few(left))
        more = sum(error > tolerance for _, error in left[6:])
        free = self.get_num_free_qs()
        message = (
            f"the system cannot be {what}: errors are left of {worst or 'nothing finite'}"
            f"{f' and {more} more' if more else ''}, "
            f"the tolerance is {tolerance:.3g}; {free} of {state.q_values.size} q are free"
        )
        held = sorted(self._locked_mobilizers | {b for b, _ in self._locked_q} | {b for b, _ in self._ranges})
        if held:
            bodies = self.get_matter_subsystem().body_list
            message += f" (the Assembler locks or restricts {', '.join(repr(bodies[b].name) for b in held[:6])})"
        diagnosis = None
        try:
            diagnosis = self._system.diagnose_constraints(state, max(tolerance, 1e-9))
        except (MobodError, ArithmeticError, ValueError):
            message += ". (No diagnosis: the mass matrix is singular there)"
        if diagnosis is not None and diagnosis.equations:
            message += f". Where the search ended:\n{diagnosis}"
        error = ConvergenceError(message)
        error.diagnosis = diagnosis
        return error

    # ------------------------------------------------------------------------------------------ free coordinates

    def _initialized_variables(self) -> Variables:
        self.initialize()
        assert self.variables is not None
        return self.variables

    def get_num_free_qs(self) -> int:
        """Number of q that may change: neither locked nor prescribed."""
        return len(self._variables_now().free_q)

    def _variables_now(self) -> Variables:
        """While conditions are being initialized, too."""
        return self.variables if self.variables is not None else self._initialized_variables()

    def get_q_index_of_free_q(self, free_q: int) -> int:
        """The index in the state's q of a free q."""
        free = self._variables_now().free_q
        return int(free[index_of(len(free), free_q, self, "free q")])

    def get_free_q_index_of_q(self, q: int) -> int | None:
        """The index among the free q of a q of the state; None where it is not free."""
        free = self._variables_now().free_q
        place = int(np.searchsorted(free, index_of(self._state.q_values.size, q, self, "q")))
        return place if place < len(free) and free[place] == q else None

    def get_free_q_bounds(self, free_q: int) -> tuple[float, float]:
        """The range of a free q, infinite where there is none."""
        q = self.get_q_index_of_free_q(free_q)
        variables = self._variables_now()
        if variables.lower is None or variables.upper is None:
            return -np.inf, np.inf
        place = np.flatnonzero(variables.q_of_x == q)
        return (-np.inf, np.inf) if not len(place) else (float(variables.lower[place[0]]), float(variables.upper[place[0]]))

    # ------------------------------------------------------------------------------------------ statistics

    def _counts(self) -> Counts:
        return Counts() if self.problem is None else self.problem.counts

    def get_num_goal_evals(self) -> int:
        """Number of times that goals were computed since the initialization."""
        return self._counts().goals

    def get_num_error_evals(self) -> int:
        """Number of times that errors were computed."""
        return self._counts().errors

    def get_num_goal_gradient_evals(self) -> int:
        """Number of times that gradients of goals were computed."""
        return self._counts().gradients

    def get_num_error_jacobian_evals(self) -> int:
        """Number of times that Jacobians of errors were computed."""
        return self._counts().jacobians

    def get_num_assembly_steps(self) -> int:
        """Number of calls of `assemble` and `track` that have succeeded since the initialization."""
        return self._num_steps

    def get_num_initializations(self) -> int:
        """Number of times that the Assembler was initialized."""
        return self._num_initializations

    def reset_stats(self) -> None:
        """Set all these numbers to zero."""
        self._num_steps = self._num_initializations = 0
        if self.problem is not None and self._feasible is not None:
            self.problem.counts = self._feasible.counts = Counts()


def one_of_few(left: list[tuple[str, float]]) -> bool:
    """True to name errors below the tolerance too: if only their root mean square exceeds it."""
    return len(left) <= 6


def _condition_weight(weight: float) -> float:
    value = number("the weight of a condition", weight)
    if not value >= 0.0:
        raise ValueError(f"the weight of a condition has to be zero, positive, or infinite for a requirement; got {weight}")
    return value
