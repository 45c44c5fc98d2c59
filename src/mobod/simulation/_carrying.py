"""Parts shared by integrators that carry variations of the motion, or keep steps for the adjoint to go back over.

Ends of steps are projected as the state is. At an event, at time t with g(t, y) = 0 and the reset R,

    S+ = dR (S- + f- dt) + (dR/dt - f+) dt            dt = -(dg S-) / (dg/dt along the motion)

and dR alone where its time is given. A sample of a controller is a reset of what it holds. Steps end where there is a report,
so that nothing is interpolated. Source: Hiskens and Pai 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..algebra.arrays import Array
from ..derivative import differences
from ..errors import ModelError
from ..event import EventHandler
from ..event.agenda import Call
from ..event.watched import Watched
from ..state.fields import PARAMETERS
from ..state.impulses import Impulses
from ..state.state import State
from ..stepping import record as rk
from ..system.forward_sensitivities import Variations
from ..tree.sampling import next_sample_of
from ..value.stage import Stage
from .sensitivities import Sensitivities, parts_of

if TYPE_CHECKING:
    from ..compiling import Kernel
    from ..integrator import Integrator

    Base = Integrator
else:
    Base = object

#: Steps of differences of what handlers do: contacts that are moved by the square of it still touch.
_STEP = 1e-6
#: Rates of a model's numbers, set by a handler, that are no rounding.
_SET = 1e-5
#: Errors of constraints that differences by such steps do not see.
_CLOSE = 1e-12
#: Of the gap's rate along the motion, the least part of the size of its terms that is not grazing.
_GRAZING = 1e-9


class TapedStep:
    """An accepted step: where it began, y there, its size, and how the change at its end is projected."""

    def __init__(self, time: float, h: float, y: Array, template: State, end: State | None) -> None:
        self.time, self.h, self.y, self.template, self.end = time, h, y, template, end


class Jump:
    """An event: changes of y after it, by `Variations.every_change` before it."""

    def __init__(self, time: float, by_all: Array) -> None:
        self.time, self.by_all = time, by_all

    def back(self, adjoint: Array) -> tuple[Array, Array]:
        """The adjoint before it, and what directions have in it."""
        found = self.by_all.T @ adjoint
        return found[: len(adjoint)], found[len(adjoint) :]


class Carrying(Base):
    """The part of an integrator that carries variations; it comes before the integrator's class among the bases.

    A class made with it keeps in ``_before`` where its last step began: the time, y and S.
    """

    def carry(self, like: Integrator, variations: Variations, keeps_tape: bool = False) -> None:
        """Begin to: from now on steps are differentiated.

        Parameters
        ----------
        like : Integrator
            Whose switches it has.
        variations : Variations
        keeps_tape : bool
            Whether steps and jumps are kept for the adjoint; there are no variations then.
        """
        for name, value in vars(like).items():
            if isinstance(value, bool):
                setattr(self, name, value)
        self.like, self.variations, self.directions = like, variations, variations.directions
        self.allow_interpolation = False
        self.S = np.zeros((variations.ny, 0 if keeps_tape else len(self.directions)))
        self.weights = np.zeros((len(self.directions), self.S.shape[1]))
        if not keeps_tape:
            self.weights[:] = np.diag(self.directions.of_settings.astype(float))
        #: Variations at the ends of steps, before events there: of displacements, and of y.
        self._found: dict[float, tuple[Array, Array]] = {}
        self.tape: list[TapedStep | Jump] | None = [] if keeps_tape else None
        self._before: tuple[float, Array, Array] | None = None
        self._jumped: tuple[Array, list[TapedStep | Jump]] | None = None
        self._begun = False

    def at(self, times: Array) -> Sensitivities:
        """Sensitivities at times of reports; before events there."""
        of, n = self.variations, len(self.directions)
        rows = np.array([np.vstack(self._found[time]) for time in times.tolist()]).reshape(len(times), of.nu + of.ny, n)
        return Sensitivities(self.directions.names, **parts_of(rows, of.sizes))

    def _keep(self, state: State, S: Array) -> None:
        """Keep variations at the state's time, unless there are some from before an event."""
        if state.time not in self._found:
            self._found[state.time] = self.variations.tangent(state, S)[: self.variations.nu], S

    def _taken_to(self, time: float) -> Array:
        """S at a time within the last step, projected."""
        raise NotImplementedError

    def _shortened(self, state: State) -> TapedStep | Jump:
        """The last step as far as a state within it."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------ stepping

    def get_method_name(self) -> str:
        """The method's name."""
        return self.like.get_method_name()

    def _is_simple(self) -> bool:
        """Steps are more than the method's kernel, which is not to be called in their place."""
        return False

    def step_once(self, kernel: Kernel, arguments: tuple[Any, ...], stop: float) -> int:
        """One step of a kernel's, not beyond *stop*."""
        counts, row = self.counts, np.empty((1, len(self.work[rk.Y])))
        kept = int(counts[rk.LIMIT]), int(counts[rk.REPORT])
        counts[rk.LIMIT], counts[rk.REPORT] = 1, 0
        status = self._call(kernel, *arguments, np.array([stop]), row, self.no_energies)
        counts[rk.LIMIT], counts[rk.REPORT] = kept
        return rk.DONE if status in (rk.PAUSED, rk.REACHED, rk.SUSPECT) else status

    def _begin(self) -> None:
        super()._begin()
        state = self._state
        of = self.variations
        if not self._begun:
            self._begun = True
            if self.tape is None:
                self.S = of.at_start(state)
                self.S = of.project(state, self.S, self.weights)
                self._keep(state, self.S)
        elif self._jumped is not None:
            S, tape = self._jumped
            # the step in which the event was found went beyond it
            self._found = {time: found for time, found in self._found.items() if time <= state.time}
            if self.tape is None:
                self.S = of.project(state, S, self.weights)
            else:
                jump = cast("Jump", tape[-1])
                weights = of.every_change()[1]
                self.tape = [*tape[:-1], Jump(jump.time, of.project(state, jump.by_all, weights))]
        self._template, self._before, self._jumped = state.copy(), None, None

    def sample(self) -> float:
        """As of other integrators; what controllers hold changes with the state that they are sampled at."""
        state, of, time = self._state, self.variations, float(self.control[rk.TIME])
        if not state.tree.counts["num_controllers"] or next_sample_of(state.block) > time:
            return super().sample()
        self.leave_at(time)
        if self.tape is None:
            self.S = of.through_sample(state, self.S, self.weights)
        else:
            self.tape.append(Jump(time, of.through_sample(state, *of.every_change())))
        following = super().sample()
        self.counts[rk.EVALUATIONS] += 1  # as loops count it
        if self.tape is not None:
            self._template = state.copy()
        return following

    # ------------------------------------------------------------------------------------------ events

    follows_jumps = True

    def follow_jump(self, state: State, calls: Sequence[Call], which: Sequence[Watched]) -> None:
        """Find out how an event at the state, which handlers are about to change, changes variations."""
        of, time, tape = self.variations, state.time, self.tape
        S = self.S if tape is not None else self._taken_to(time)
        at = self._tape_to(state)
        if tape is None:
            self._keep(state, S)
            self._jumped = self._across(state, calls, which, S, self.weights), at
            return
        self._jumped = np.zeros(0), [*at, Jump(time, self._across(state, calls, which, *of.every_change()))]

    def shorten(self, state: State) -> None:
        """The run ends at a state within the last step."""
        self.tape = self._tape_to(state)

    def _tape_to(self, state: State) -> list[TapedStep | Jump]:
        """The tape, the last step of which ends at the state."""
        at = list(self.tape or [])
        if at and self._before is not None and state.time < float(self.control[rk.TIME]):
            at.pop()
            if state.time > self._before[0]:
                at.append(self._shortened(state))
        return at

    def _across(self, state: State, calls: Sequence[Call], which: Sequence[Watched], S: Array, weights: Array) -> Array:
        """S after the event, from that before."""
        of, system = self.variations, self.system
        before = of.with_held(state.record.y_dot[:, 0])[:, None]
        kept = [(owner, kept_attributes(owner)) for owner, _ in calls if isinstance(owner, EventHandler)]

        def after(other: State) -> State:
            other.impulses = Impulses(np.inf)  # handlers set locks by impulses there, too
            try:
                for _, call in calls:
                    call(other)
                    system.realize_model(other)
                    system.realize(other)
            finally:  # each call finds the handlers as the event does
                for owner, values in kept:
                    put_back(owner, _copied(values))
            return other

        leaves_off = state.tree.counts["nc"] > 0 and self._is_off(after(state.copy()))

        def y_after(other: State) -> Array:
            after(other)
            if leaves_off:
                system.project(other, min(self.constraint_tolerance, _CLOSE))
            return np.concatenate([of.whole_y(other), _numbers_of(other)])

        def by(changes: Array, of_settings: Array, value: Any, times: Array, step: float) -> Array:
            return of.along_each(state, changes, of_settings, value, Stage.ACCELERATION, times, step)

        n = S.shape[1]
        shifts, f = np.zeros(n), np.zeros_like(before)
        if which:
            one = which[0]

            def gap(at: State) -> Any:
                return [one.value(at)]

            nothing = np.zeros((len(self.directions), 1))
            rate = float(by(before, nothing, gap, np.ones(1), differences.STEP).item())
            of_gap = by(S, weights, gap, np.zeros(n), differences.STEP).reshape(n)
            if not abs(rate) > _GRAZING:
                raise ModelError(
                    f"at time {state.time:.9g} {one.name!r} only grazes: its rate is {rate:.3g}, and the time of the event "
                    "does not depend smoothly on where the motion began"
                )
            shifts = -of_gap / rate
            other = after(state.copy())
            system.project(other, self.constraint_tolerance)
            system.realize(other)
            f = of.with_held(other.record.y_dot[:, 0])[:, None]
        # moved along the motion to where the event is, so that handlers see the same event, and by little
        rates = by(S + before * shifts, weights, y_after, shifts, _STEP)
        set_by_handlers = rates[of.ny :]
        if weights.any():
            set_by_handlers = set_by_handlers - by(0.0 * S, weights, _numbers_of, 0.0 * shifts, _STEP)
        if kept and np.abs(set_by_handlers).max(initial=0.0) > _SET:
            names = " and ".join(type(owner).__name__ for owner, _ in kept)
            raise ModelError(
                f"at time {state.time:.9g} {names} sets parameters to what depends on the state, such as where a constraint "
                "holds, or sets one that sensitivities are asked by; they follow q, u and z alone: let the handler leave these "
                "parameters as they are, and set q and u"
            )
        return rates[: of.ny].reshape(S.shape) - f * shifts

    def _is_off(self, state: State) -> bool:
        """True if constraints are missed, so that projecting the state changes with more than the manifold's tangents."""
        errors = [np.abs(one).max(initial=0.0) for one in (state.q_err, state.u_err)] if state.is_constrained else [0.0]
        return float(max(errors)) > self.constraint_tolerance


def largest_error(weights: Array, error: Array, begin: Array, end: Array) -> float:
    """The largest error, relative where the variable exceeds one over its weight."""
    if not error.size:
        return 0.0
    size = np.abs(weights * error) / np.maximum(1.0, np.maximum(np.abs(weights * begin), np.abs(weights * end)))
    largest = float(size.max())
    return largest if np.isfinite(largest) else 1e300


def _numbers_of(state: State) -> Array:
    """All numbers of the model, as they are in a state."""
    return np.nan_to_num(np.concatenate([state.field(name).ravel() for name in PARAMETERS]), posinf=0.0, neginf=0.0)


def kept_attributes(owner: Any) -> dict[str, Any]:
    """The attributes that a handler keeps, its lists copied."""
    return _copied(vars(owner))


def put_back(owner: Any, values: dict[str, Any]) -> None:
    """Give a handler what it has kept."""
    vars(owner).clear()
    vars(owner).update(values)


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, list) else value for name, value in values.items()}
