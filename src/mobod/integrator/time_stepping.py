"""TimeStepping: rigid contact with friction by a problem at the level of velocities, once a step.

    v* = J (u_0 + h udot_0)     v_1 = v* + J M^-1 J^T gamma     u_1 = u_0 + h udot_0 + M^-1 J^T gamma     q_1 = q_0 + h N u_1

udot_0 has all forces and bilateral constraints, and no contact; gamma are impulses that fulfil Coulomb's law with v_1, see
`unilateral.stepped.solve`, with v_n >= -gap / h in place of v_n >= 0: what would go through comes to touch. What comes there
without restitution, faster than its capture speed and beside friction, stops with the step: u_1 is then of a second problem in
which v_n >= 0 of these. Rows of bilateral constraints are among those of J, for which v_1 is v*. Impacts with restitution come
first, of contacts that would touch within the step. Then q and u are projected as with other methods. M^-1 is that of free
mobilities, so that locks and motions are kept.

Springs, dampers and stops of single mobilities are implicit, as `unilateral.stepped.joints` says: M is with what they add.

Source: Stewart and Trinkle 1996 (time stepping at the level of velocities); Hairer, Norsett and Wanner 1993, II.4 (step
doubling); Hairer and Wanner 1996, IV.7 (the linearly implicit method).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Callback, Job
from ..errors import ConvergenceError
from ..force.contact.element import STEPPED
from ..state.state import State
from ..state.validity import EVERYTHING
from ..stepping import record as rk
from ..system.system import MultibodySystem
from ..unilateral.base import TRANSITION_SPEED
from ..unilateral.problem import (
    ContactRows,
    Problem,
    constraints_of,
    joined,
    moves_something,
    rows_of_constraint,
    rows_of_surfaces,
    select,
    space_for,
)
from ..unilateral.stepped import Stepped, space as names
from ..unilateral.stepped.equations import GAP_RECOVERY, NO_DEPTH
from ..unilateral.stepped.given_rows import find_push
from ..unilateral.stepped.joints import joints_of
from ..unilateral.stepped.space import Space
from ..unilateral.stepped.step import step_one
from ..value.stage import Stage
from . import contact_steps as steps
from .base import Integrator

#: Gaps that close within so many steps at the largest approach seen take part from the beginning.
_REACH = 2.0
#: After so many rounds of impacts within a step what still approaches is stopped: it goes to and fro between two contacts.
_MOST_ROUNDS = 200
#: The coefficient of friction up to which nothing has been seen to fail. With larger ones two points that press against each
#: other sideways, with hardly any normal impulses, may have no solution, and looking for one takes seconds.
_STEEP = 100.0


class TimeStepping(Integrator):
    """Rigid contact and friction, step by step: many contacts, any number of them touching and letting go within a step.

    Parameters
    ----------
    system : MultibodySystem
    fixed_step_size : float, optional
        Take steps of this size; without it steps are chosen by *accuracy*.
    **settings
        Those of `Integrator`. With *accuracy* two half steps are taken for one, and their difference is the error.

    Notes
    -----
    First order. Springs, dampers and stops of single mobilities (`MobilityLinearSpring`, `MobilityLinearDamper`,
    `MobilityLinearStop`, `MobilityPolynomialSpring`, `MobilityPolynomialDamper`, `GlobalDamper`, and an `Actuator` of one
    coordinate) are implicit in the speeds, by their slopes where the step begins, so that they may be as stiff as they like;
    those on coordinates whose rates are not speeds, and all other forces, are explicit.

    Unilateral contacts, and friction of known normal force, act without being enabled in the state: those enabled
    are switched off when a run begins. Between steps q and u are interpolated linearly.

    Impacts with restitution happen at the beginning of the step in which they would come, others at its end. A step without
    contact that could close takes no problem to solve. `get_contact_impulses` has those of the last step.

    Surfaces of a `CompliantContactSubsystem`, and those that `contact.rigid` has left to it, are stepped as well, by the points
    that the narrow phase finds where a step begins: in place of the forces of their materials, which give way here as a
    spring does that is implicit in the speeds; or without giving way. Where there are no parts in Python, kernels alone take
    the steps (`unilateral.stepped.solve`), among whose rows are unilateral contacts, friction of a constant normal force, and
    constraints of bodies and mobilizers on up to two paths from Ground. The other steps are Python's, with the same solver
    for rows of any kind: with other constraints, friction, or followers of cams; and those in which a contact strikes and has
    a restitution. A problem whose residual stays above a millionth of the largest velocity is counted, `get_num_unconverged`,
    above a thousandth it ends the run. With friction above 100 points that press against each other sideways may jam, which
    ends it with an error that says so.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.TimeStepping(system, fixed_step_size=0.01)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 1)
    """

    INNER = frozenset({"begin_apart", "find_end", "sources"})

    order = 1
    error_order = 2
    steps_contacts = True
    kernel, find, leaves_out = steps.advance, steps.find, True

    def __init__(self, system: MultibodySystem, *, fixed_step_size: float | None = None, **settings: Any) -> None:
        super().__init__(system, fixed_step_size=fixed_step_size, **settings)
        #: Sources of what may touch, beside the unilateral contacts: functions of a realized state that return `ContactRows`.
        self.sources: list[Callable[[State], ContactRows]] = []
        self._names: list[str] = []
        self._starts: Any = np.zeros(1, np.int64)
        self._impulses = np.zeros(0)
        self._failure: ConvergenceError | None = None
        #: Whether a contact with restitution has closed in the run.
        self._closes = False
        #: What is stepped.
        self._stepped = Stepped(system)
        #: Forces that are implicit; what problems of Python's steps are solved in, and whether such forces act in this step.
        self._joints: Any = np.zeros((0, 5), np.int64)
        self._space: Space | None = None
        self._pushed = False

    def __getstate__(self) -> dict[str, Any]:
        kept = {**super().__getstate__(), "_space": None}  # addresses are of this process
        kept.pop("_callback", None)
        return kept

    @functools.cached_property
    def _callback(self) -> Callback:
        """Called by kernels for an end of a step that Python finds, as they call `step_one`."""

        def compute(scalar: str, pointer: int, block: int, row: int) -> None:
            space = self._stepped.space
            try:
                y = self._advance_by(float(space.measures[names.SIZE]))
            except ConvergenceError as error:
                self._failure = error
                raise
            space.tries[row] = y
            if self._stepped.space is not space:  # as there was no room in it: the loop is to go on with the other
                self.counts[rk.LIMIT] = 0

        return Callback(compute, lambda *asked: None, refuses=(ConvergenceError,))

    @property
    def _in_kernels(self) -> bool:
        """True if kernels have taken the last step."""
        space = self._stepped.space
        return space is not None and not space.counts[names.IS_PYTHONS]

    # ------------------------------------------------------------------------------------------ what it did

    def get_contact_impulses(self) -> dict[str, Array]:
        """The impulses of the last step ``(1,)`` or ``(3,)``, by the contact's name: normal, then friction along x and y.

        Divided by `get_previous_step_size_taken` they are mean forces; with *accuracy* they are those of the second half, and
        half of it divides them. Contacts without impulse are left out.
        """
        if self._in_kernels:
            return self._stepped.impulses()
        found = {}
        for k, name in enumerate(self._names):
            own = self._impulses[self._starts[k] : self._starts[k + 1]]
            if name and own.any():
                found[name] = own.copy()
        return found

    def get_contact_points(self) -> npt.NDArray[Any]:
        """The points at which surfaces touched in the last step, with its impulses as mean forces, in Ground.

        With *accuracy* they are those of its second half.

        Returns
        -------
        structured array
            ``surface1 < surface2``, places in `CompliantContactSubsystem.surfaces`; ``body1, body2``; ``point`` (3);
            ``normal`` (3), from 1 to 2; ``depth``; ``slip`` (3), the tangential velocity of 2 from 1 after the step; ``force``
            (3) and ``moment`` (3), by which it resists rolling and spinning, on body 2.
        """
        return self._stepped.points()

    def get_largest_relative_residual(self) -> float:
        """Of problems of surfaces in kernels, the largest residual as a part of the largest velocity that touches."""
        space = self._stepped.space
        return 0.0 if space is None else float(space.measures[names.LARGEST_RELATIVE])

    def get_num_unconverged(self) -> int:
        """Number of problems of surfaces that have kept a residual of more than a millionth of the largest velocity."""
        return int(self._stepped.unconverged)

    def get_largest_residual(self) -> float:
        """The largest residual of complementarity in the run, a velocity, of problems as they were solved."""
        space = self._stepped.space
        return 0.0 if space is None else float(space.measures[names.LARGEST])

    def get_num_problems(self) -> int:
        """Number of problems that were solved in the run."""
        space = self._stepped.space
        return 0 if space is None else int(space.counts[names.PROBLEMS])

    def get_num_newton_steps(self) -> int:
        """Number of steps of Newton's method that these took; also in `get_num_iterations`."""
        space = self._stepped.space
        return 0 if space is None else int(space.counts[names.NEWTON])

    # ------------------------------------------------------------------------------------------ stepping

    @classmethod
    @functools.cache
    def entry_points(cls) -> list[Job]:
        """As of other integrators; the loop over steps is compiled where it is needed."""
        return [job for job in super().entry_points() if job.what is not cls.kernel]

    def _jobs(self, state: State) -> list[Job]:
        row, rows = np.zeros(1), np.zeros((1, 1))
        arguments = state.block, rows, self._stepped.space.words, self.control, self.counts, row, rows, row
        jobs = [*super()._jobs(state), Job(steps.advance, arguments)]
        return [*jobs, Job(step_one)] if self._steps_in_kernels(state) else jobs

    def begin_run(self, state: State) -> None:
        """Start at *state*, in which contacts are switched off."""
        matter = self.system.get_matter_subsystem()
        for contact in matter.unilateral_contacts:
            contact.disable(state)
        for friction in matter.state_limited_frictions:
            friction.disable(state)
        self._impulses, self._names, self._closes = np.zeros(0), [], False
        self._resting = np.zeros(0)
        self._stepped = Stepped(self.system)
        self._joints = joints_of(self.system.all_forces(), state.tree)
        self._space = space_for(state, self._joints)
        self._stepped.begin(state)
        super().begin_run(state)

    @property
    def _calls_back(self) -> bool:
        return True

    def _call_as_chosen(self, kernel: Any, *args: Any) -> int:
        """As of other integrators; kernels apply no forces of surfaces that are stepped, nor where a run begins again."""
        state = self._state
        with self._stepped.without_forces(state):
            return super()._call_as_chosen(kernel, *args)

    def _steps_in_kernels(self, state: State) -> bool:
        """True if there is nothing that Python has a part in, or that kernels do not know."""
        if self.sources or self.system.is_interpreted:
            return False
        return self._stepped.steps_all(state)

    def can_run_compiled(self, state: State) -> bool:
        """True if kernels know all that can touch, and find out themselves whether anything does."""
        return self._steps_in_kernels(state)

    def _is_simple(self) -> bool:
        """True if kernels step: with forces of surfaces left out, see `calling`. Before a run `can_run_compiled` tells."""
        return self._state is None or self._steps_in_kernels(self._state)

    def calling(self, kernel: Callable[..., int]) -> Callable[..., int]:
        """As of other integrators; kernels apply no forces of surfaces that are stepped."""
        state = self.get_state()
        on = self._stepped.leave_out_forces(state)
        enabled = state.own_fields["force_enabled"]
        enabled[on] = 1

        def call(*arguments: Any) -> int:
            enabled[on] = STEPPED
            try:
                return kernel(*arguments)
            finally:
                enabled[on] = 1

        return call

    def begin_compiled(self, state: State) -> None:
        """As of other integrators; kernels apply no forces of surfaces that are stepped."""
        self._stepped.begin(state)
        self._stepped.leave_out_forces(state)
        self.system.realize(state, Stage.INSTANCE)  # beneath which that takes a state
        super().begin_compiled(state)

    def forget_steps(self) -> None:
        """No impulses are known of steps before."""
        names.clear(names.address_of(self._stepped.space))

    def begin_apart(self, state: State) -> None:
        """Prepare for `find_end`, of states that kernels load into *state*."""
        self._state, self._joints = state, joints_of(self.system.all_forces(), state.tree)
        self._space = space_for(state, self._joints)
        self._stepped.begin(state)

    def find_end(self, space: Space) -> Array:
        """y at the end of a step by Python, from the state as kernels have realized it; *space* has its size.

        Of steps before is known what the space keeps. `ConvergenceError` where there is no end, or no room in the space.
        """
        self._impulses, self._names = np.zeros(0), []
        self._stepped.take(space)
        y = self._advance_by(float(space.measures[names.SIZE]))
        if self._stepped.space is not space:
            raise ConvergenceError("there is no room for what touches")
        return y

    def arguments(self) -> tuple[Any, ...]:
        """As of other integrators; the words of what stepping works in are in the table's place."""
        work, _, control, counts = super().arguments()
        return work, self._stepped.space.words, control, counts

    def try_step(self, times: Array, results: Array, energies: Array) -> int:
        """Take steps and reports, as `Integrator.advance` asks for them: what kernels do not know Python finds for them."""
        state = self._state
        while True:
            if self._stepped.space is None or self._stepped.space.tries.shape[1] != len(state.y_values):
                self._stepped.begin(state)
                self.quick = None  # which has the arrays from before
            space, in_kernels = self._stepped.space, self._steps_in_kernels(state)
            python = 0 if in_kernels and not self._closes else self._callback.address()
            space.words[-names.ROUTINE] = step_one.address() if in_kernels else python
            space.counts[names.BY_PYTHON], self._failure = python, None
            try:
                status = super().try_step(times, results, energies)
            finally:
                space.counts[names.BY_PYTHON] = 0
            if status == steps.CLOSES:
                self._closes = True
                continue
            if status != steps.NO_ROOM:
                break
            self._stepped.enlarge()
            self.quick = None
        if status == steps.NO_IMPULSES and not self._in_kernels and self._failure:
            raise self._failure
        if status == steps.NO_IMPULSES:
            one, two = (self._stepped.name_of(int(space.counts[which])) for which in (names.WORST_1, names.WORST_2))
            self.leave_at(float(self.control[rk.TIME]))
            steepest = self._stepped.largest_friction
            remedy = "try a smaller step, or another start if they are held, or pressed together by friction"
            if steepest > _STEEP:
                remedy = (
                    f"something there has a friction of {steepest:.4g}, with which points that press against each other "
                    f"sideways jam: give its material at most {_STEEP:g}, a cone of {np.degrees(np.arctan(_STEEP)):.1f} "
                    "degrees, with which nothing slides either"
                )
            raise ConvergenceError(
                f"at time {float(self.control[rk.TIME]):.9g} the impulses of what touches have not been found: a residual of "
                f"{float(space.measures[names.RESIDUAL]):.3g} (velocity) is left, most of all between {one!r} and {two!r}; "
                f"{remedy}"
            )
        return status

    def arrive_at_end(self) -> None:
        """As of other integrators; the state is realized with the forces of all surfaces."""
        super().arrive_at_end()
        if self._stepped:
            self.leave_at(float(self.control[rk.TIME]))

    def _realized(self) -> State:
        """The state, which kernels have realized."""
        state = self._state
        if not self.system.is_interpreted:
            state.valid, state.stage_number = EVERYTHING, int(Stage.ACCELERATION)
        return state

    def _advance_by(self, h: float) -> Array:
        """y a step on from the state as it is realized."""
        state = self._realized()
        record, tree = state.record, state.tree
        nu, first_u = tree.nu, len(state.q_values)
        y, rate = state.y_values.copy(), record.y_dot[:, 0].copy()
        u = state.u_values[:nu].copy()
        bare = u + h * rate[first_u : first_u + nu]
        new = bare + self._push(state, h)
        new, moving = self._through_contacts(state, u, new, bare, h)
        y += h * rate
        particles = record.particle_velocity[:, 0]
        n = len(particles)
        if n:
            first = len(y) - 2 * n
            y[first : first + n] = y[first : first + n] + h * (y[first + n :] - particles)
        y[first_u : first_u + nu] = new
        matter = self.system.get_matter_subsystem()
        y[: tree.nq] = state.q_values[: tree.nq] + h * matter.multiply_by_n(state, False, moving)
        return y

    def _push(self, state: State, h: float) -> Array | float:
        """The change of speeds within the step by springs and dampers of joints: see `unilateral.stepped.joints`."""
        if self._space is None:  # of a checkpoint
            self._space = space_for(state, self._joints)
        push = np.zeros(state.tree.nu)
        self._pushed = bool(len(self._joints)) and find_push(state.block, self._space.words.ctypes.data, h, push)
        return push if self._pushed else 0.0

    def _through_contacts(self, state: State, u: Array, free: Array, bare: Array, h: float) -> tuple[Array, Array]:
        """The new speeds, and those of the coordinates within the step.

        *free* are those without contact, and *bare* those without what joints do, too.
        """
        rows, frictions = self._touching(state, h)
        count = len(rows.gaps)
        held = self._pushed and state.is_constrained  # what joints do goes through the constraints
        if not count and not frictions and not held:
            return free, free
        normals = rows.starts[:-1]
        rates_0, rates_1 = rows.J[normals] @ u, rows.J[normals] @ free
        possible = np.isfinite(rows.gaps) & moves_something(state, rows.J[normals])
        near = possible & (rows.gaps + h * np.minimum(rates_0, rates_1) <= 0.0)
        touching = ~np.isnan(rows.targets())  # surfaces: found as they touch
        near |= touching
        fastest = _REACH * h * float(np.abs(np.concatenate([rates_0, rates_1, [0.0]])).max())
        near |= possible & near.any() & (rows.gaps <= fastest)
        if not near.any() and not frictions and not held:
            self._impulses = np.zeros(0)
            self._names = []
            return free, free
        while True:
            own = select(rows, near)
            problem = Problem(state, own, frictions, self._space)
            self._space = problem.space
            new, moving = self._solve(problem, u, free, bare, h)
            rates = np.minimum(rows.J[normals] @ moving, rows.J[normals] @ new)
            missed = possible & ~near & ~touching & (rows.gaps + h * rates < -1e-12 * h * max(fastest / h, 1.0))
            if not missed.any():
                return new, moving
            near |= missed

    def _solve(self, problem: Problem, u: Array, free: Array, bare: Array, h: float) -> tuple[Array, Array]:
        rows, normals = problem.rows, problem.normals
        ties = slice(problem.contact_rows, problem.contact_rows + len(problem.bilateral.offset))
        apart = problem.J[ties] @ (free - bare)  # accelerations fulfil constraints, and what joints do goes through them
        free, total = self._strike(problem, u, free, h)
        b = problem.J @ free + problem.offsets()
        b[ties] = apart
        of_gaps = np.where(rows.gaps > 0.0, -rows.gaps, GAP_RECOVERY * np.maximum(0.0, -rows.gaps - NO_DEPTH)) / h
        targets = rows.targets()
        gamma = self._warm(problem)
        aims = np.where(np.isnan(targets), of_gaps, targets)
        after = problem.solve(b, gamma, targets=aims)
        moving: Array = free + problem.MinvJT @ gamma
        pressed = gamma[normals] > 0.0
        stops = np.isnan(targets) & (rows.restitution == 0.0) & pressed & (after[normals] < -rows.capture_speed)
        if stops.any() and (pressed & (rows.friction > 0.0)).any():
            after = problem.solve(b, gamma, targets=np.where(stops, 0.0, aims))
        counts, measures = self._stepped.space.counts, self._stepped.space.measures
        measures[names.LARGEST] = max(measures[names.LARGEST], problem.residual)
        counts[names.PROBLEMS] += 1
        counts[[names.OUTER, names.NEWTON]] += problem.counts
        self._names, self._starts, self._impulses = problem.names, problem.starts, gamma
        self._impulses = gamma + total
        self._resting = gamma
        if self._stepped:
            n = self._stepped.num_points
            own = slice(int(problem.starts[problem.num_contacts - n]), int(problem.starts[problem.num_contacts]))
            others = int(problem.starts[len(problem.names) - problem.num_frictions])
            self._stepped.keep(gamma[own].reshape(n, 3), after[own].reshape(n, 3), gamma[others:], h)
        new: Array = free + problem.MinvJT @ gamma
        return new, moving

    def _strike(self, problem: Problem, u: Array, free: Array, h: float) -> tuple[Array, Array]:
        """The speeds *free* after impacts with restitution, also of what these close within the step, and the impulses."""
        rows, normals = problem.rows, problem.normals
        v, total = problem.J @ u + problem.offsets(), np.zeros(len(problem.J))
        struck = np.zeros(len(rows.gaps), bool)
        while True:
            closing = (rows.restitution > 0.0) & (rows.gaps + h * v[normals] <= 0.0)
            if not (closing & ~struck & (v[normals] < -rows.capture_speed)).any():
                return free + problem.MinvJT @ total, total
            struck |= closing
            v, more = problem.strike(v, struck, 0.0, _MOST_ROUNDS)
            total += more

    def _warm(self, problem: Problem) -> Array:
        """The impulses of the last step, where to begin."""
        gamma = np.zeros(len(problem.J))
        if len(self._impulses) == len(gamma) and self._names == problem.names:
            gamma[:] = self._resting
        return gamma

    def _touching(self, state: State, h: float) -> tuple[ContactRows, list[tuple[str, Array, float]]]:
        """All that may touch, and friction of known normal force."""
        matter = self.system.get_matter_subsystem()
        rows = constraints_of(state)
        frictions: list[tuple[str, Array, float]] = []
        if self._stepped:
            touching, frictions = rows_of_surfaces(self._stepped, state, h)
            rows = joined([rows, touching])
        else:
            self._stepped.space.counts[names.KEPT] = 0  # they are of a step before this one
        if self.sources:
            rows = joined([rows, *(source(state) for source in self.sources)])
        for one in matter.state_limited_frictions:
            mu = one.calc_effective_cof(state, TRANSITION_SPEED, one.get_slip_speed(state))
            frictions.append((one.name, rows_of_constraint(state, one.stick), h * mu * one.get_normal_force_magnitude(state)))
        return rows, frictions

    def _interpolate(self, time: float) -> None:
        previous, last = float(self.control[rk.PREVIOUS_TIME]), float(self.control[rk.TIME])
        if not previous < time < last:
            super()._interpolate(time)
            return
        part = (time - previous) / (last - previous)
        self.get_state().y_values[:] = (1.0 - part) * self.work[rk.Y_PREVIOUS] + part * self.work[rk.Y]
