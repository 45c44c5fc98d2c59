"""What steps ask of the system, in two forms: compiled, and interpreted for systems with parts in Python.

A method's source says `evaluate(model, plan)`. In a kernel, *model* is the record, of one state or of several, and the compiled
form is called; run by Python, it is an `Interpreted` and the call goes through `MultibodySystem.realize`. The algorithm is the
same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra import quaternion
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, num_lanes, one, store, where, zero
from ..compiling import compiled, compiled_form_of, generic
from ..constraint._protocol import PROJECT_Q, PROJECT_U
from ..control.custom import controllers_of
from ..errors import ConvergenceError, ModelError
from ..force import _dispatch as forces
from ..force.contact import step_limit
from ..force.contact.bristle import begin_bristles, finish_bristles
from ..mobilizer import _rates
from ..mobilizer.access import vector4
from ..motion.protocol import SET_Q, SET_U
from ..state.validity import ARTICULATED, FORCES, KINEMATICS, NO_MOBILIZERS, NO_RATES, POSITIONS, UNCHECKED
from ..system import prescription, projection
from ..tree import measures, momentum, sampling
from ..tree import project as projection_steps
from ..tree.project import begin_projection, has_taken_steps
from ..tree.realize import nothing_of
from .record import CONTROLLER, HOLDS, PRESCRIBER, PROJECTOR, QUATERNIONS, ROUTINE, WANTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..algebra.arrays import Array
    from ..state.state import State
    from ..system.system import MultibodySystem

#: What `project` returns the sum of.
CHANGED_Q, CHANGED_U = 1, 2
#: What it takes the sum of as choices.
ALWAYS, FULL_NEWTON = 1, 2


class Interpreted:
    """A state being integrated by Python: what the record is to a kernel. Mobility forces may act beside the elements'."""

    def __init__(self, system: MultibodySystem, state: State, held: Array | Callable[[State], Array] | None = None) -> None:
        self._held = held
        self.system, self.state, self.block, self.ny = system, state, state.block, len(state.y_values)
        self.prescribed = state.has_known
        self.constrained = state.is_constrained
        #: Why the last evaluation failed.
        self.error: ModelError | None = None

    def evaluate(self) -> int:
        """Realize the state, of which kernels have changed time and y, to ACCELERATION; 0, or what `realize` returns."""
        try:
            self.prescribe()
            self.realize()
        except ModelError as error:
            self.error = error
            return 1
        return 0

    def realize(self) -> None:
        """Realize the state to ACCELERATION, with the forces beside the elements'."""
        if self._held is not None:
            from ..value.stage import Stage

            self.system.realize(self.state, Stage.DYNAMICS)
            held = self._held(self.state) if callable(self._held) else self._held
            self.state.record.mobility_forces[: len(held), 0] += held
        self.system.realize(self.state)

    def finish_step(self) -> int:
        """A step has ended at the state as realized: keep the next values of variables that update themselves."""
        if self.state.resources is not None:
            self.state.resources.keep_updates(self.state)
        finish_bristles(self.state.record)
        return 0

    def begin_step(self, time: float) -> int:
        """A step begins at *time*: these variables take their next values."""
        if self.state.resources is not None:
            self.state.resources.apply_updates(time)
        begin_bristles(self.state.record)
        return 0

    def prescribe(self) -> None:
        """Set the q and u that locks and motions prescribe, after kernels have changed q, u and time."""
        from ..value.stage import Stage

        state = self.state
        state.time = state.record.time[0, 0]
        state.invalidate_q()
        if self.prescribed:
            self.system.realize(state, Stage.TIME)
            prescription.prescribe_state(self.system, state)

    def evaluate_speeds(self) -> int:
        """`evaluate`, where kernels have left the matter's q and the particles' locations as they were at the last."""
        state = self.state
        if len(state.q_values) > state.tree.nq:  # subsystems' coordinates change with their rates
            return self.evaluate()
        try:
            state.invalidate_u()
            if self.prescribed:
                prescription.set_u(self.system, state)
            self.realize()
        except ModelError as error:
            self.error = error
            return 1
        return 0

    def move(self) -> int:
        """Realize the state, of which kernels have changed time and y, to VELOCITY; nothing is prescribed."""
        from ..value.stage import Stage

        state = self.state
        try:
            state.time = state.record.time[0, 0]
            state.invalidate_q()
            self.system.realize(state, Stage.VELOCITY)
        except ModelError as error:
            self.error = error
            return 1
        return 0

    def project(self, choices: int, tolerance: float) -> int:
        """Bring y, of which kernels have changed time too, to its manifolds."""
        from ..value.stage import Stage

        state = self.state
        changed = int(normalize(state.block, choices, tolerance))
        if not self.constrained:
            return changed
        state.time = state.record.time[0, 0]
        state.invalidate_q()
        least = int(choices & ALWAYS != 0)
        try:
            if projection.project(self.system, state, PROJECT_Q, tolerance, least):
                changed |= CHANGED_Q
            self.system.realize(state, Stage.POSITION)
            if projection.project(self.system, state, PROJECT_U, tolerance, least):
                changed |= CHANGED_U
        except (ConvergenceError, ModelError):
            return -1
        return changed

    def next_sample(self) -> float:
        """When a controller is to be sampled next."""
        return sampling.next_sample_of(self.block) if self.state.tree.counts["num_controllers"] else sampling.NEVER

    def sample(self, time: float) -> int:
        """Sample the controllers that are due."""
        return sample_controllers(self.system, self.state, time)

    def permitted_step(self, address: int, part: float, h: float) -> float:
        """The longest step that surfaces permit."""
        return float(step_limit.permitted_step_of(self.block, address, part, h))

    def energy(self) -> float:
        """Kinetic and potential energy of the state, of which kernels have changed time and y."""
        from ..value.stage import Stage

        state = self.state
        state.time = state.record.time[0, 0]
        state.invalidate_q()
        self.system.realize(state, Stage.DYNAMICS)
        return self.system.calc_energy(state)


def sample_controllers(system: MultibodySystem, state: State, time: float) -> int:
    """Sample the controllers that are due at *time*, where the state is realized; it falls to VELOCITY. 0 if that went well."""
    status = 0
    for c, force in enumerate(controllers_of(system)):
        if sampling.due_of(state.block, c) <= time:
            status |= force.sample(state)
    return status


def evaluate(model: Any, plan: Any, held: Any = None) -> Any:
    """Set prescribed q and u, and compute the rates of y; 0 if these are finite, else NaN."""
    return of_status(model.evaluate())


@compiled_form_of(evaluate)
def _evaluate(model: Any, plan: Any, held: Any = None) -> Any:
    valid = 0
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_Q, 0)
        status = call_routine(plan[ROUTINE], model, 0, POSITIONS | plan[WANTED] & UNCHECKED)
        if status != 0:
            return soundness(model, status)
        call_routine(plan[PRESCRIBER], model, SET_U, 0)
        valid = POSITIONS
    return _find_rates(model, plan, valid, held)


def evaluate_rest(model: Any, plan: Any, valid: int) -> Any:
    """`evaluate`, of a record in which some results are *valid*."""
    return of_status(model.evaluate())


@compiled_form_of(evaluate_rest)
def _evaluate_rest(model: Any, plan: Any, valid: int) -> Any:
    if valid & KINEMATICS != KINEMATICS:
        return evaluate(model, plan)
    return _find_rates(model, plan, valid)


def evaluate_speeds(model: Any, plan: Any, held: Any = None) -> Any:
    """`evaluate`, where time and the matter's q and the particles' locations are as they were at the last."""
    return of_status(model.evaluate_speeds())


@compiled_form_of(evaluate_speeds)
def _evaluate_speeds(model: Any, plan: Any, held: Any = None) -> Any:
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_U, 0)
    return _find_rates(model, plan, POSITIONS | ARTICULATED, held)


@generic
def _find_rates(model: Any, plan: Any, valid: int, held: Any = None) -> Any:
    """Compute the rates of y, where some results are *valid* already, with the forces beside those of the elements."""
    if held is not None:
        if plan[HOLDS] != 0 or plan[CONTROLLER] != 0:
            before = KINEMATICS | FORCES
            call_routine(plan[ROUTINE], model, valid, plan[WANTED] & (before | UNCHECKED | NO_RATES | NO_MOBILIZERS))
            _add_forces(model, plan, held)
            valid = valid | before
    return soundness(model, call_routine(plan[ROUTINE], model, valid, plan[WANTED]))


@generic
def _add_forces(model: Any, plan: Any, held: Any) -> None:
    """The mobility forces that are held, and the controller's, beside those of the elements."""
    if plan[HOLDS] != 0 or plan[WANTED] & FORCES == 0:
        for i in range(model.nu):
            f = load(held, i, 0)
            if plan[WANTED] & FORCES != 0:  # else the elements' only force is gravity, as an acceleration of Ground
                f = f + load(model.mobility_forces, i, 0)
            store(model.mobility_forces, i, 0, f)
    if plan[CONTROLLER] != 0:
        call_routine(plan[CONTROLLER], model, 0, 0)


@generic
def soundness(model: Any, status: int) -> Any:
    """0 where the rates are finite, else NaN; of one state the routine's *status* says it."""
    sound = 0.0 * load(model.time, 0, 0)
    if num_lanes(sound) == 1:
        return zero(sound) + of_status(status)
    sound = nothing_of(model.u_dot, model.nu, sound)
    sound = nothing_of(model.q_dot, model.nq, sound)
    return nothing_of(model.particle_acceleration, model.particle_size, sound)


@generic
def of_status(status: int) -> float:
    """0, or NaN for a status that says that something was not finite."""
    return 0.0 if status == 0 else float("nan")


def move(model: Any, plan: Any) -> Any:
    """Realize positions and velocities, and thereby q_dot, at y; nothing is prescribed. 0 where y is finite, else NaN."""
    return of_status(model.move())


@compiled_form_of(move)
def _move(model: Any, plan: Any) -> Any:
    return of_status(call_routine(plan[ROUTINE], model, 0, KINEMATICS | plan[WANTED] & UNCHECKED))


@compiled
def normalize(block: Any, choices: int, tolerance: float) -> int:
    """Scale quaternions of y to length 1, all of them or those off by more than the tolerance: CHANGED_Q or 0."""
    model = attach(block)
    changed = 0
    for b in range(1, model.nb):
        if model.has_quaternion[b] == 1:
            if (
                choices & ALWAYS != 0
                or abs(quaternion.norm_squared(vector4(model.q, model.first_q[b])) - 1.0) > 2.0 * tolerance
            ):
                _rates.normalize(model, b)
                changed = CHANGED_Q
    return changed


def project(model: Any, plan: Any, choices: int, tolerance: float) -> int:
    """Project q and u of one state at y onto their manifolds: the one place where a step, or a report, is projected.

    Parameters
    ----------
    model : record, or Interpreted
        Its y comes from an attempt or an interpolation; prescribed variables have their values.
    plan : array
        Of a run.
    choices : int
        A sum: ALWAYS, to project even within the tolerance, and FULL_NEWTON, to compute the iteration matrix anew each time.
    tolerance : float
        How far from their manifolds constraints may be.

    Returns
    -------
    int
        The sum of CHANGED_Q and CHANGED_U where these have changed, 0 where y is as it was, below 0 where that failed.
    """
    return model.project(choices, tolerance)


@compiled_form_of(project)
def _project(model: Any, plan: Any, choices: int, tolerance: float) -> int:
    changed = normalize(model, choices, tolerance)
    if plan[PROJECTOR] != 0:
        least = 0
        if choices & ALWAYS != 0:
            least = 1
        begin_projection(model, tolerance, least)
        if call_routine(plan[PROJECTOR], model, PROJECT_Q, plan[ROUTINE]) != 0:
            return -1
        if has_taken_steps(model):
            changed = changed | CHANGED_Q
        if call_routine(plan[PROJECTOR], model, PROJECT_U, plan[ROUTINE]) != 0:
            return -1
        if has_taken_steps(model):
            changed = changed | CHANGED_U
    return changed


@generic
def project_lanes(model: Any, plan: Any, mark: Any, least: float, tolerance: float) -> Any:
    """Project q and u of the lanes that are marked onto their manifolds; 1 where that failed."""
    if plan[QUATERNIONS] != 0:
        for b in range(1, model.nb):
            _rates.normalize(model, b)
    missed = zero(mark)
    if plan[PROJECTOR] != 0:
        reach = where(mark > 0.0, tolerance + zero(mark), 1e300)
        store(model.projection, projection_steps.TOLERANCE, 0, reach)
        store(model.projection, projection_steps.LEAST, 0, where(mark > 0.0, least + zero(mark), 0.0))
        for what in (PROJECT_Q, PROJECT_U):
            call_routine(plan[PROJECTOR], model, what, plan[ROUTINE])
            missed = where(load(model.projection, projection_steps.ERROR, 0) <= reach, missed, one(mark))
    return where(mark > 0.0, missed, zero(mark))


def prescribe(model: Any, plan: Any) -> None:
    """Set the prescribed q and u at y."""
    model.prescribe()


@compiled_form_of(prescribe)
def _prescribe(model: Any, plan: Any) -> None:
    if plan[PRESCRIBER] != 0:
        call_routine(plan[PRESCRIBER], model, SET_Q, 0)
        call_routine(plan[ROUTINE], model, 0, POSITIONS | plan[WANTED] & UNCHECKED)
        call_routine(plan[PRESCRIBER], model, SET_U, 0)


def finish_step(model: Any) -> int:
    """Called at the end of each step, with the state realized there: for parts that remember."""
    return model.finish_step()


@compiled_form_of(finish_step)
def _finish_step(model: Any) -> int:
    if model.measure_memory_size > 0:
        call_routine(model.measures[0], model, model.measure_runs[1], model.measure_runs[2])
    if model.bristle_rows > 0:
        finish_bristles(model)
    return 0


def begin_step(model: Any, time: float) -> int:
    """Called at the beginning of each attempt at a step."""
    return model.begin_step(time)


@compiled_form_of(begin_step)
def _begin_step(model: Any, time: float) -> int:
    measures.apply(model)
    if model.bristle_rows > 0:
        begin_bristles(model)
    return 0


def next_sample(model: Any) -> float:
    """When a controller is to be sampled next."""
    return model.next_sample()


@compiled_form_of(next_sample)
def _next_sample(model: Any) -> float:
    return sampling.next_sample(model)


def sample(model: Any, time: float) -> int:
    """Sample the controllers that are due at *time*, where the record is realized; 0 where that went well."""
    return model.sample(time)


@compiled_form_of(sample)
def _sample(model: Any, time: float) -> int:
    return sampling.sample_due(model, time)


def permitted_step(model: Any, address: int, part: float, h: float) -> float:
    """The longest step up to *h* in which no two surfaces go deeper into each other than by a *part* of the smaller one.

    The record is realized at the step's beginning; *address* is that of `step_limit.limit_step`.
    """
    return model.permitted_step(address, part, h)


@compiled_form_of(permitted_step)
def _permitted_step(model: Any, address: int, part: float, h: float) -> float:
    return step_limit.permitted_step(model, address, part, h)


def energy(model: Any, plan: Any) -> float:
    """Kinetic and potential energy at y; positions and velocities are computed afresh."""
    return model.energy()


@compiled_form_of(energy)
def _energy(model: Any, plan: Any) -> float:
    call_routine(plan[ROUTINE], model, 0, KINEMATICS)
    return momentum.kinetic_energy(model) + forces.total_potential_energy(model)
