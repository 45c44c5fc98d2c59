"""calc_gradient: of a number that a motion ends in, by any number of initial values and parameters, for a few runs' cost.

The discrete adjoint of the Runge-Kutta steps that were taken, with their sizes held, from the last to the first:

    l_s = h b_s lambda + h sum_{j>s} a_js mu_j,   mu_s = J(y_s)^T l_s          lambda := lambda + sum mu_s

and the gradient by parameters is the sum of B(y_s)^T l_s; projections and events are passed by their transposes. Only y at the
beginning of each step is kept; the stages are computed once more. Source: Hager 2000; Sandu 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..integrator import Integrator, RungeKuttaMerson
from ..state.state import State
from ..system.arguments import check_state
from ..system.forward_sensitivities import Directions
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage
from ._carrying import Carrying, Jump, TapedStep
from .step_status import StepStatus
from .time_stepper import TimeStepper
from .variational import Variational, variational

#: Of a run whose caller does not say: more than of `simulate`, since differences to measured data are small.
ACCURACY = 1e-6


class Gradient(NamedTuple):
    """A loss, its gradient ``(n,)``, and what each entry is by.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> found = mb.calc_gradient(system, state, 0.5, lambda end: float(end.q[0]), ["u", "gravity_0.magnitude"])
    >>> found.names
    ['upper.u', 'lower.u', 'gravity_0.magnitude']
    """

    value: float
    gradient: Array
    names: list[str]


def calc_gradient(
    system: MultibodySystem,
    state: State,
    time: float,
    loss: Callable[[State], float],
    parameters: Sequence[Any],
    *,
    times: npt.ArrayLike | None = None,
    integrator: Integrator | type[Integrator] | None = None,
    accuracy: float | None = None,
) -> Gradient:
    """Simulate from *state* for as long as *time*, and differentiate a number that depends on where the motion comes.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to start, at MODEL or above; left as it is.
    time : float
        How long.
    loss : callable
        Of a state at ACCELERATION; a number. It may depend on parameters of the state, too.
    parameters : sequence
        ``"q"``, ``"u"``, ``"z"``, ``"particle_locations"``, ``"particle_velocities"`` for all initial displacements, speeds,
        auxiliary variables, and those of particles, ``"body.q"``, ``"body.u"`` for those of one mobilizer, and parameters by
        ``"element.parameter"`` or their setter, as `simulate` takes them.
    times : (n,) array_like, optional
        At which the loss is taken and summed, ``state.time`` tells which it is; the end alone unless given. For a loss that
        is an integral, add a `measure.Integrate` and take its value at the end.
    integrator : Integrator or class, optional
        Any but `TimeStepping`; `RungeKuttaMerson` unless given.
    accuracy : float, optional
        Largest local error of a step; 1e-6 unless given.

    Returns
    -------
    named tuple ``(value, gradient, names)``
        The loss, its derivatives ``(n,)`` with a number each, and what these are by, as `Sensitivities.names`.

    Raises
    ------
    ValueError, TypeError
        If an argument makes no sense, or the integrator is `TimeStepping`.
    ConvergenceError
        If the motion cannot be followed.
    ModelError
        If an event only grazes, or the loss is not finite.

    See Also
    --------
    simulate : ``sensitivities=`` is the better choice for few parameters and many results.

    Notes
    -----
    The discrete adjoint of the steps taken: its cost hardly grows with the number of parameters. Of methods that are no
    explicit Runge-Kutta methods, such as `BDF`, the derivatives over each step are found by all variables as it is taken, and
    go back from there. Events are passed by their
    jump terms, handlers being called with states moved a little; the loss is differentiated by differences of fourth order.
    Source: Hager 2000; Sandu 2006.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> found = mb.calc_gradient(system, state, 0.5, lambda end: float(end.q[0]), ["u", "gravity_0.magnitude"])
    >>> len(found.gradient)
    3
    """
    check_state("calc_gradient", system, state)
    return differentiate(Wanted(system, state, time, loss, parameters, times, integrator, accuracy), state)


class Wanted:
    """The checked arguments of `calc_gradient`, for a state and others like it."""

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        time: float,
        loss: Callable[[State], float],
        parameters: Sequence[Any],
        times: npt.ArrayLike | None,
        integrator: Integrator | type[Integrator] | None,
        accuracy: float | None,
    ) -> None:
        if not callable(loss):
            raise TypeError(f"loss is a callable of a state that gives a number, not {loss!r}")
        self.system, self.loss, self.parameters, self._times = system, loss, parameters, times
        self._duration = checks.positive("time", time, ValueError)
        self.when(state)
        if integrator is None or isinstance(integrator, type):
            kind = RungeKuttaMerson if integrator is None else integrator
            integrator = kind(system, accuracy=ACCURACY if accuracy is None else accuracy)
        elif accuracy is not None:
            raise ValueError(f"accuracy={accuracy!r} beside an integrator that has its own, {integrator.accuracy:g}")
        self.integrator = integrator

    def when(self, state: State) -> Array:
        """The times at which the loss is taken of a run that begins at a state."""
        end = state.time + self._duration
        when = np.array([end]) if self._times is None else np.sort(checks.numbers("times", self._times).reshape(-1))
        if not len(when) or when[0] < state.time or when[-1] > end * (1.0 + 1e-12) + 1e-12:
            raise ValueError(f"times have to be from {state.time:g} to {end:g}, where the run ends, got {self._times!r}")
        return when


#: What rates depend on at the stages of a step: of each its J, its B, and what is prescribed.
Stages: TypeAlias = "tuple[list[Array], list[Array], list[tuple[Array, Array] | None]]"


def differentiate(
    wanted: Wanted, state: State, stages_of: Callable[[Variational, list[TapedStep]], list[Stages]] | None = None
) -> Gradient:
    """The gradient from one state on; *stages_of* finds those of all steps of a run, which otherwise are found one by one."""
    system = wanted.system
    if state.stage < Stage.MODEL:
        system.realize_model(state := state.copy())
    directions = Directions(system, state, wanted.parameters)
    run = variational(wanted.integrator, state, directions, keeps_tape=True)
    stepper = TimeStepper(system, run)
    stepper.initialize(state)
    start = stepper.state.copy()
    value, looks = 0.0, []
    for at in wanted.when(state).tolist():
        status = stepper.step_to(at)
        here = stepper.state.copy()
        if status is StepStatus.END_OF_SIMULATION:
            run.shorten(here)
        value += _number(wanted.loss(here), here)
        looks.append((len(run.tape or ()), *_derivatives(run, here, wanted.loss)))
        if status is StepStatus.END_OF_SIMULATION:
            break
    known: dict[int, Stages] = {}
    if stages_of is not None and isinstance(run, Variational):
        steps = [one for one in run.tape or [] if isinstance(one, TapedStep)]
        known = dict(zip(map(id, steps), stages_of(run, steps), strict=False))
    return Gradient(value, _backward(run, start, looks, known), directions.names)


def _number(value: Any, state: State) -> float:
    """A loss, checked."""
    found = checks.number("the loss", value)
    if not np.isfinite(found):
        raise ModelError(f"the loss at time {state.time:.9g} is {found}")
    return float(found)


def _derivatives(run: Carrying, state: State, loss: Callable[[State], float]) -> tuple[Array, Array]:
    """Derivatives of the loss at a state, by y ``(ny,)`` and by the settings ``(n,)``."""
    of = run.variations
    (by,), (by_settings,) = of.by_differences(state, lambda other: _number(loss(other), other), 1)
    _, back = of.changes(state)
    return np.concatenate([by[: of.nv] @ back, by[of.nv :]]), by_settings


def _backward(run: Carrying, start: State, looks: list[tuple[int, Array, Array]], known: Mapping[int, Stages]) -> Array:
    """Back over the tape, the loss's derivatives being added where it was taken: the gradient."""
    of, tape = run.variations, run.tape or []
    adjoint, gradient = np.zeros(of.ny), np.zeros(len(run.directions))
    waiting = list(looks)
    for place in range(len(tape), -1, -1):
        while waiting and waiting[-1][0] == place:
            _, by_y, by_settings = waiting.pop()
            adjoint, gradient = adjoint + by_y, gradient + by_settings
        if place == 0:
            break
        one = tape[place - 1]
        if isinstance(one, Jump):
            adjoint, more = one.back(adjoint)
        else:
            assert isinstance(run, Variational)
            adjoint, more = _step_back(run, one, known.get(id(one)) or _stages(run, one), adjoint)
        gradient = gradient + more
    adjoint, more = _unproject(run, start, adjoint)
    return gradient + more + of.at_start(start).T @ adjoint


def _unproject(run: Carrying, state: State, adjoint: Array) -> tuple[Array, Array]:
    """The adjoint before the projection that ended at a state, and what parameters have in that."""
    return Jump(state.time, run.variations.project(state, *run.variations.every_change())).back(adjoint)


def _stages(run: Variational, step: TapedStep) -> Stages:
    """The points at which a step's stages take their rates, computed once more."""
    of, table = run.variations, run.table
    stages, h = table.shape[1] - 1, step.h
    state = step.template.copy()
    rates, by_y, by_settings, prescribed = np.zeros((stages, of.num_integrated)), [], [], []
    for s in range(stages):
        state.y_values[:] = step.y + h * (table[s, 1 : 1 + s] @ rates[:s])
        state.record.time[0, 0] = step.time + table[s, 0] * h
        state.invalidate_q()
        if state.has_known:
            run.system.prescribe(state)
        run.system.realize(state)
        rates[s] = state.record.y_dot[:, 0]
        J, B = of.rates(state)
        by_y.append(J)
        by_settings.append(B)
        prescribed.append(of.prescribed(state))
    return by_y, by_settings, prescribed


def _step_back(run: Variational, step: TapedStep, found: Stages, adjoint: Array) -> tuple[Array, Array]:
    """The adjoint at the beginning of a step, and what parameters have in it."""
    of, table, gradient, (by_y, by_settings, prescribed) = run.variations, run.table, np.zeros(len(run.directions)), found
    stages, h = table.shape[1] - 1, step.h
    if step.end is not None:
        adjoint, gradient = _unproject(run, step.end, adjoint)
    of_stages = np.zeros((stages, of.ny))
    for s in range(stages - 1, -1, -1):
        weight = h * (table[stages, 1 + s] * adjoint + table[s + 1 : stages, 1 + s] @ of_stages[s + 1 :])
        of_stages[s] = by_y[s].T @ weight
        gradient = gradient + by_settings[s].T @ weight
        what = prescribed[s]
        if s > 0 and what is not None:
            gradient = gradient + what[1].T @ of_stages[s]
            of_stages[s] = what[0].T @ of_stages[s]
    return adjoint + of_stages.sum(axis=0), gradient
