"""Realizing states: by one kernel, or stage by stage in systems with parts in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array, ArrayLike
from ..compiling import with_refusals_apart
from ..constraint import protocol as constraint_what
from ..errors import ModelError, StageError
from ..force.transmission.base import warn_of_ways_through
from ..mobilizer.custom_python import write_position, write_velocity
from ..state import validity
from ..state.stage_hooks import refuse_change
from ..state.state import State
from ..tree import constraints, realize as _realize
from ..value import checks
from ..value.stage import INSTANCE, MODEL, Stage
from . import prescription
from .explanation import Explaining

#: For the stages most often passed to `realize`: the number and the bits requested of the kernels.
_STAGE_ACCELERATION, _TO_ACCELERATION = Stage.ACCELERATION, (int(Stage.ACCELERATION), validity.WANTED[Stage.ACCELERATION])
_STAGE_VELOCITY, _TO_VELOCITY = Stage.VELOCITY, (int(Stage.VELOCITY), validity.WANTED[Stage.VELOCITY])
_STAGE_POSITION, _TO_POSITION = Stage.POSITION, (int(Stage.POSITION), validity.WANTED[Stage.POSITION])


#: The stages' names in those of hooks; integers in place of members of the enumeration, which take longer to compare.
_NAMES = tuple(Stage(step).name.lower() for step in range(int(Stage.REPORT) + 1))
_AT_POSITION, _AT_VELOCITY, _AT_DYNAMICS, _AT_ACCELERATION = range(int(Stage.POSITION), int(Stage.ACCELERATION) + 1)
#: What z, or another force's parameters, take away without lowering the stage.
_FORCES = validity.FORCES
_realize_at, _realize_with, _NOT_PLAIN = _realize.realize_at, _realize.realize_with, _realize.NOT_PLAIN


class Realizing(Explaining):
    """The part of `MultibodySystem` that realizes states."""

    _address: int
    plain_routine: npt.NDArray[np.int64] | None

    def realize(
        self,
        state: State,
        stage: Stage = Stage.ACCELERATION,
        *,
        q: ArrayLike | None = None,
        u: ArrayLike | None = None,
        mobility_forces: ArrayLike | None = None,
    ) -> None:
        """Realize *state* through *stage*: compute the results of that stage that are not valid yet.

        Parameters
        ----------
        state : State
            Made by this system, at MODEL or above; its results are found in it afterwards.
        stage : Stage
            ACCELERATION unless given.
        q : (nq,) array_like, optional
            Assigned first, as by ``state.q = q``; together with *u* in half the time of two assignments.
        u : (nu,) array_like, optional
        mobility_forces : (nu,) array_like, optional
            Generalized forces of this call alone, beside those of the elements, as of motors that a program sets at every
            step: accelerations and multipliers are those with them until something changes, or the next such call. Applied
            forces that are read off the state are the elements'.

        Raises
        ------
        StageError
            If the state is below MODEL.
        ValueError, TypeError
            If *q*, *u* or *mobility_forces* has another shape, holds no numbers, if these forces are not finite, or the stage
            is below ACCELERATION, which they do not change; nothing is then assigned.
        TopologyError
            If the state is another system's, or older than a change of this one.
        ModelError
            If q, u or time is not finite, a mobility moves no inertia, or a particle's mass is not positive. The state is
            then as it was, with *q* and *u* assigned.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> state.u = 0.0, 0.0
        >>> system.realize(state, mb.Stage.VELOCITY)
        >>> state.stage.name
        'VELOCITY'
        >>> system.realize(state, q=(0.1, 0.2), u=(1.0, 0.0))
        >>> state.q
        array([0.1, 0.2])
        """
        # kept short: with the setters of q and u, this is all that Python adds to the kernel's time
        try:
            token = state.token
        except AttributeError:
            raise TypeError(f"realize takes a State, then a Stage; the first is {state!r}") from None
        if token is not self.topology_token:
            state.check_owner(self, "realize")
        if stage is _STAGE_ACCELERATION:
            level, wanted = _TO_ACCELERATION
        elif stage is _STAGE_VELOCITY:
            level, wanted = _TO_VELOCITY
        elif stage is _STAGE_POSITION:
            level, wanted = _TO_POSITION
        else:
            level = int(_stage_of(stage))
            wanted = validity.WANTED[level]
        if mobility_forces is not None:
            self._realize_with(state, level, wanted, q, u, mobility_forces)
            return
        if q is not None or u is not None:
            if (
                q is not None
                and self.plain_routine is not None
                and self._realize_at(state, level, wanted, q, state.u_values if u is None else u)
            ):
                return
            state.assign(q, u)
        reached = state.stage_number
        if reached >= level:
            return
        if self.is_interpreted or reached < INSTANCE:
            if reached == MODEL:
                self.get_matter_subsystem().check_particle_masses(state)
            if reached < MODEL or self.is_interpreted:
                self._realize_interpreted(state, Stage(stage))
                return
        valid = state.valid
        if wanted & ~valid:
            kernel, at_first = self._kernel, False
            if kernel is None:
                kernel, at_first = self._choose_kernel(), True
            status = kernel(state.block, self._address, valid, wanted)
            if status:
                self.explain(state, status)
            state.valid = valid | wanted
            if at_first and level >= _AT_POSITION:
                state.stage_number = level
                warn_of_ways_through(filter(None, (force.acts_along() for force in self.all_forces())), state)
        state.stage_number = level

    def _realize_at(self, state: State, level: int, wanted: int, q: ArrayLike, u: ArrayLike) -> bool:
        """Assign q and u and realize in one kernel, which looks at both arrays itself; False if nothing has been done.

        In Python an assignment alone takes as long as one body's dynamics.
        """
        if level < _AT_POSITION or state.stage_number < INSTANCE:
            return False
        code = _realize_at.code or _realize_at.load()
        status = code(state.block, self.plain_routine, wanted, state.q_values, state.u_values, q, u)
        if not status:
            state.valid = wanted
            state.stage_number = level
            return True
        if status == _NOT_PLAIN:
            return False
        state.invalidate_q()
        self.explain(state, status)
        return True

    def _realize_with(
        self, state: State, level: int, wanted: int, q: ArrayLike | None, u: ArrayLike | None, forces: ArrayLike
    ) -> None:
        """`realize` with forces on the mobilities beside the elements', for this call alone."""
        if level < _AT_ACCELERATION:
            raise ValueError(f"mobility_forces change accelerations alone; realize to ACCELERATION, not {Stage(level).name}")
        if self.plain_routine is not None and state.stage_number >= INSTANCE:
            own_q, own_u, valid = state.q_values, state.u_values, 0
            if q is None and u is None:
                valid = state.valid & ~validity.ACCELERATIONS
            code = _realize_with.code or _realize_with.load()
            given = own_q if q is None else q, own_u if u is None else u, forces
            status = code(state.block, self.plain_routine, valid, wanted, own_q, own_u, *given)
            if not status:
                state.valid = valid | wanted
                state.stage_number = level
                return
            if status != _NOT_PLAIN:
                state.invalidate_q()
                self.explain(state, status)
        f = checks.array("mobility_forces", forces, (state.tree.nu,), ValueError)
        if q is not None or u is not None:
            state.assign(q, u)
        self._realize_step_by_step_with(state, f)
        if level > _AT_ACCELERATION:
            self.realize(state, Stage(level))

    def _realize_step_by_step_with(self, state: State, forces: Array) -> None:
        """The same in systems with parts in Python, and for arguments that are not plain arrays."""
        of_mobilities = state.record.mobility_forces
        if self.is_interpreted:
            self.realize(state, Stage.VELOCITY)
            state.valid &= ~(_FORCES | validity.ACCELERATIONS)
            state.lower_to(_AT_VELOCITY)
            self._realize_interpreted(state, Stage.ACCELERATION, forces)
            of_mobilities[: len(forces), 0] -= forces
            return
        self.realize(state, Stage.DYNAMICS)
        kept = of_mobilities.copy()
        state.valid &= ~validity.ACCELERATIONS
        state.lower_to(_AT_DYNAMICS)
        of_mobilities[: len(forces), 0] += forces
        try:
            self.realize(state)
        finally:
            of_mobilities[:] = kept

    def _realize_interpreted(self, state: State, stage: Stage, more: Array | None = None) -> None:
        """The same stage by stage, with Python's parts called where their turn comes; *more* are forces on mobilities."""
        if state.stage_number < Stage.MODEL:
            raise StageError("realize needs Stage.MODEL; call system.realize_model(state)")
        before, resources = (state.stage_number, state.valid), state.resources
        if resources is not None and resources.realizing:
            raise StageError(
                f"realize to Stage.{stage.name}: this state is being realized, through {state.stage.name} so far, and a "
                "hook or a calc_ method of a part of yours asks for more; use what is there, do it at a later stage's "
                "hook, or realize state.copy()"
            )
        # allocations of INSTANCE's hooks are undone if they fail
        allocated = resources.snapshot() if resources is not None and before[0] < Stage.INSTANCE else {}
        try:
            if resources is not None:
                resources.realizing = True
            for step in range(max(state.stage_number, MODEL) + 1, int(stage) + 1):
                wanted, name = validity.WANTED[step] & ~state.valid, _NAMES[step]
                told = False
                if resources is not None:
                    self._check_subsystems(state, step)
                if step == INSTANCE:
                    for motion in self.custom_motions:
                        state.settle_motion(motion.mobod, asked=True)
                if wanted & validity.ACCELERATIONS:
                    prescription.set_known_u_dot(self, state)
                if wanted:
                    told = self.compute(state, wanted) == step
                if step == _AT_DYNAMICS and wanted & validity.FORCES and more is not None:
                    state.record.mobility_forces[: len(more), 0] += more
                if not told:  # a mobilizer's hooks for positions and velocities run before its columns are evaluated
                    for body in self._interpreted_bodies:
                        assert body.interpreter is not None
                        body.interpreter.realize(name, state)
                if state.stage_number < step - 1:  # mobilizers, constraints and motions are part of the matter
                    refuse_change(state, step, self._matter)
                state.stage_number = step
                if resources is not None:
                    resources.step, resources.turn = step, 0
                for constraint in self._interpreted_constraints:
                    if step <= Stage.INSTANCE or not constraint.is_disabled(state):
                        assert constraint.interpreter is not None
                        constraint.interpreter.realize(name, state)
                        if state.stage_number < step:
                            refuse_change(state, step, constraint)
                for part in (*self.forces_in_python, *self.custom_motions):
                    getattr(part.implementation, f"realize_{name}")(state)
                    if state.stage_number < step:
                        refuse_change(state, step, part)
                self._tell_subsystems(state, step)
                if resources is not None:
                    resources.step = 0
                    if step == _AT_ACCELERATION:
                        self._check_rates(state)
        except BaseException:
            # as it was, unless a part has changed it, which leaves less
            state.stage_number, state.valid = min(before[0], state.stage_number), before[1] & state.valid
            if resources is not None:
                resources.step = 0
                if before[0] < Stage.INSTANCE:
                    resources.restore(allocated)
            raise
        finally:
            if resources is not None:
                resources.realizing = False

    def compute(self, state: State, wanted: int) -> int:
        """Compute the results requested that are not valid.

        Mobilizers that Python computes write their rows before the sweeps, and constraints theirs after them.

        Returns
        -------
        int
            The last stage whose hooks of these mobilizers were called; 0 if none were.
        """
        missing, told = wanted & ~state.valid, 0
        if self._interpreted_bodies or self._interpreted_constraints:
            for entry, write, stage in (
                (validity.POSITIONS, write_position, Stage.POSITION),
                (validity.VELOCITIES, write_velocity, Stage.VELOCITY),
            ):
                if missing & entry:
                    if self._interpreted_bodies:
                        self._check_input(state, entry)
                        for body in self._interpreted_bodies:
                            write(body, state)
                        told = int(stage)
                    self._kernel_call(state, entry)
                    self._write_constraints(state, entry)
        self._kernel_call(state, wanted)
        return told

    def _write_constraints(self, state: State, entry: int) -> None:
        """Write the rows of enabled constraints in Python, and compute what follows from them."""
        what = constraint_what.POSITIONS if entry == validity.POSITIONS else constraint_what.VELOCITIES
        try:
            for constraint in self._interpreted_constraints:
                interpreter = constraint.interpreter
                if interpreter is None or constraint.is_disabled(state):
                    continue
                if entry == validity.POSITIONS:
                    interpreter.write_positions(state)
                else:
                    interpreter.write_velocities(state)
                constraints.complete(state.record, constraint.index, what)
        except BaseException:
            state.valid &= 0 if entry == validity.POSITIONS else ~validity.CLEARED_BY_U
            raise

    def _check_input(self, state: State, entry: int) -> None:
        """Refuse values that are not finite, as the kernels do, before a user's function sees them."""
        tree = state.tree
        values = state.q_values[: tree.nq] if entry == validity.POSITIONS else state.u_values[: tree.nu]
        if not (np.isfinite(values).all() and np.isfinite(state.record.time[0, 0])):
            self.explain(state, _realize.BAD_INPUT)

    def _check_subsystems(self, state: State, step: int) -> None:
        """Refuse values of subsystems' q, u and z that are not finite, before anything is computed from them."""
        if step < _AT_POSITION or step > _AT_DYNAMICS:
            return
        tree = state.tree
        if step == _AT_POSITION:
            name, first, values = "q", tree.nq, state.q_values
        elif step == _AT_VELOCITY:
            name, first, values = "u", tree.nu, state.u_values
        else:
            name, first, values = "z", 0, state.z_values
        if len(values) > first and not np.isfinite(values[first:]).all():
            i = first + int(np.flatnonzero(~np.isfinite(values[first:]))[0])
            raise ModelError(f"{self.owner_of(state, name, i)}, is {values[i]}; every {name} has to be finite")

    def _check_rates(self, state: State) -> None:
        """Refuse rates that a subsystem has written and that are not finite."""
        record, tree = state.record, state.tree
        if len(record.y_dot) == tree.nq + tree.nu or np.isfinite(record.y_dot).all():
            return
        for name, column in (("q", record.q_dot), ("u", record.u_dot), ("z", record.z_dot)):
            wrong = np.flatnonzero(~np.isfinite(column[:, 0]))
            if len(wrong):
                i = int(wrong[0])
                raise ModelError(f"the rate of {self.owner_of(state, name, i)}, is {column[i, 0]}; it has to be finite")

    def _kernel_call(self, state: State, wanted: int) -> None:
        if wanted & ~state.valid:
            kernel = self._kernel or self._choose_kernel()
            status = kernel(state.block, self._address, state.valid, wanted)
            if status:
                self.explain(state, status)
            state.valid |= wanted

    def _choose_kernel(self) -> Any:
        """The kernel that realizes states; with users' compiled functions it checks their results, too."""
        checked = any(body.is_of_users_functions for body in self.get_matter_subsystem().body_list)
        self._address = _realize.advance.address()
        self.plain_routine = None if checked or self.calls_back else np.array([self._address])
        if checked:
            kernel = _realize.realize_checked
            self._kernel = kernel.code or kernel.code_for(np.zeros(1, np.int64), 0, 0, 0)
        else:
            self._kernel = _realize.realize_state.code or _realize.realize_state.load()
        if self.calls_back:
            self._kernel = _then_raising(self._kernel)
        return self._kernel


def _then_raising(kernel: Callable[..., int]) -> Callable[..., int]:
    """A kernel that calls Python back, and then raises what that has raised."""

    def call(block: Any, address: int, valid: int, wanted: int) -> int:
        status, refused = with_refusals_apart(kernel, block, address, valid, wanted)
        if refused is not None:
            raise refused
        return status

    return call


def _stage_of(stage: Any) -> Stage:
    try:
        return Stage(stage)
    except ValueError:
        raise TypeError(f"realize takes a Stage such as mobod.Stage.POSITION, not {stage!r}") from None
