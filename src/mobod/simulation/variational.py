"""Runge-Kutta steps that carry variations of the motion, or keep what the adjoint needs to go back over them.

Each step is differentiated as it is taken:

    y_s = y_0 + h sum a_sj k_j                      S_s = S_0 + h sum a_sj K_j,  K_s = J(y_s) S_s + B(y_s)

so that variations have the method's order, and its estimate of their error: steps are chosen by the errors of y and of S. The
end is projected as the state is. At an event, at time t with g(t, y) = 0 and the reset R,

    S+ = dR (S- + f- dt) + (dR/dt - f+) dt            dt = -(dg S-) / (dg/dt along the motion)

and dR alone where its time is given. Steps end where there is a report, so that nothing is interpolated. Source: Hairer,
Norsett and Wanner 1993, I.14; Hiskens and Pai 2000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..event import EventHandler
from ..event._agenda import Call
from ..event._watch import Watched
from ..integrator import Integrator
from ..integrator import _runge_kutta as rk
from ..integrator._evaluate import Interpreted
from ..state.fields import PARAMETERS
from ..state.state import State
from ..system import differences
from ..system.variations import Directions, Variations
from ..tree.measures import begin_step
from ..value.stage import Stage
from .checkpoint import integrator_keywords
from .sensitivities import Sensitivities

#: Steps of differences of what handlers do: contacts that are moved by the square of it still touch.
_STEP = 1e-6
#: Rates of a model's numbers, set by a handler, that are no rounding.
_SET = 1e-5
#: Of the gap's rate along the motion, the least part of the size of its terms that is not grazing.
_GRAZING = 1e-9


class Step:
    """An accepted step: where it began, y there, its size, and how the change at its end is projected."""

    def __init__(self, time: float, h: float, y: Array, template: State, end: State | None) -> None:
        self.time, self.h, self.y, self.template, self.end = time, h, y, template, end


class Jump:
    """An event: how changes of y before it, and of the model's numbers, are changes after it."""

    def __init__(self, time: float, by_y: Array, by_settings: Array) -> None:
        self.time, self.by_y, self.by_settings = time, by_y, by_settings


class Variational(Integrator):
    """A Runge-Kutta method whose steps carry variations.

    Parameters
    ----------
    like : Integrator
        Whose method and settings it has.
    variations : Variations
    keeps_tape : bool
        Whether steps and jumps are kept for the adjoint; there are no variations then.
    """

    def __init__(self, like: Integrator, variations: Variations, keeps_tape: bool = False) -> None:
        super().__init__(like.system, **integrator_keywords(like))
        for name, value in vars(like).items():
            if isinstance(value, bool):
                setattr(self, name, value)
        self.table, self.order, self.error_order = like.table, like.order, like.error_order  # type: ignore[misc]
        self.like, self.variations, self.directions = like, variations, variations.directions
        self.allow_interpolation = False
        self.S = np.zeros((variations.ny, 0 if keeps_tape else len(self.directions)))
        self.weights = np.zeros((len(self.directions), self.S.shape[1]))
        if not keeps_tape:
            self.weights[:] = np.diag(self.directions.of_settings.astype(float))
        #: Variations at the ends of steps, before events there: of displacements, and of y.
        self._found: dict[float, tuple[Array, Array]] = {}
        self.tape: list[Step | Jump] | None = [] if keeps_tape else None
        self._before: tuple[float, Array, Array] | None = None
        self._jumped: tuple[Array, list[Step | Jump]] | None = None
        self._begun = False

    def get_method_name(self) -> str:
        """The method's name."""
        return self.like.get_method_name()

    def at(self, times: Array) -> Sensitivities:
        """Sensitivities at times of reports; before events there."""
        of, n = self.variations, len(self.directions)
        v = np.array([self._found[time][0] for time in times.tolist()]).reshape(len(times), of.nu, n)
        S = np.array([self._found[time][1] for time in times.tolist()]).reshape(len(times), of.ny, n)
        return Sensitivities(self.directions.names, v, S[:, of.nq : of.nq + of.nu], S[:, of.nq + of.nu :], S[:, : of.nq])

    def _keep(self, state: State, S: Array) -> None:
        """Keep variations at the state's time, unless there are some from before an event."""
        if state.time not in self._found:
            self._found[state.time] = self.variations.tangent(state, S)[: self.variations.nu], S

    # ------------------------------------------------------------------------------------------ stepping

    def _begin(self) -> None:
        super()._begin()
        state = self._state
        assert state is not None
        of = self.variations
        if not self._begun:
            self._begun = True
            if self.tape is None:
                self.S = of.raw(state, self.directions.of_start)
                self.S = of.project(state, self.S, self.weights)
                self._keep(state, self.S)
        elif self._jumped is not None:
            S, tape = self._jumped
            # the step in which the event was found went beyond it
            self._found = {time: found for time, found in self._found.items() if time <= state.time}
            if self.tape is None:
                self.S = of.project(state, S, self.weights)
            else:
                self.tape = [*tape[:-1], self._projected(tape[-1], state)]  # type: ignore[arg-type]
        self._template, self._before, self._jumped = state.copy(), None, None

    def _projected(self, jump: Jump, state: State) -> Jump:
        of, settings = self.variations, np.diag(self.directions.of_settings.astype(float))
        none = np.zeros((len(self.directions), of.ny))
        return Jump(jump.time, of.project(state, jump.by_y, none), of.project(state, jump.by_settings, settings))

    def try_step(self, times: Array, results: Array, energies: Array, kernel: Any, more: tuple[Any, ...]) -> int:
        """Steps until a report, each differentiated."""
        return self.step_and_report(self._step, times, results, energies)

    def _step(self, report: float) -> int:
        control, counts, state = self.control, self.counts, self._state
        assert state is not None
        if control[rk.STEP] < control[rk.COLLAPSE]:
            control[rk.COLLAPSE] = rk.COLLAPSE_RATIO * control[rk.STEP]
            return rk.COLLAPSED
        time, y, S = float(control[rk.TIME]), self.work[rk.Y].copy(), self.S
        self.leave_at(time)
        first = self._rates(state, S)
        limit = np.inf
        if state.tree.counts["num_contact_elements"]:
            self._call(rk.permit, self.work, control, counts)
            limit = float(control[rk.PERMITTED_STEP])
        stop = min(float(control[rk.FINAL_TIME]), report)
        fixed = float(control[rk.FIXED_STEP])
        while True:
            h = fixed or min(float(control[rk.STEP]), float(control[rk.MAX_STEP]))
            limited = h > limit and not fixed
            h = limit if limited else h
            clipped = h > 0.999 * (stop - time)
            h, end = (stop - time, stop) if clipped else (h, time + h)
            counts[rk.ATTEMPTS] += 1
            self._begin_step(time)
            tried, failure, error = self._attempt(time, h, y, S, first), rk.REALIZATION_FAILURES, 1e300
            if tried is not None:
                failure, error = rk.ERROR_FAILURES, 0.0 if fixed or counts[rk.FORCED] else tried[2]
            if tried is not None and error <= control[rk.ACCURACY]:
                status = self._call(rk.finish_at, self.work, control, counts, end, tried[0])
                if status == rk.DONE:
                    break
                failure, error = rk.PROJECTION_FAILURES, 1e300
                self._restore(time, y)
            if failure != rk.PROJECTION_FAILURES:
                counts[failure] += 1
            if fixed or h <= control[rk.MIN_STEP] or time + 0.1 * h == time:
                return {rk.REALIZATION_FAILURES: rk.NOT_FINITE, rk.PROJECTION_FAILURES: rk.NOT_PROJECTED}.get(
                    failure, rk.STEP_TOO_SMALL
                )
            shrink = 0.1
            if error < 1e299:
                shrink = max(0.1, min(0.9, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / self.error_order)))
            control[rk.STEP] = max(control[rk.MIN_STEP], shrink * h)
        self._before = time, y, S
        control[rk.PREVIOUS_TIME], control[rk.TIME], control[rk.LAST_STEP] = time, end, h
        if counts[rk.STEPS] == 0:
            control[rk.FIRST_STEP] = h
        counts[rk.STEPS] += 1
        control[rk.COLLAPSE] = max(control[rk.COLLAPSE], rk.COLLAPSE_RATIO * h)
        if not fixed and not counts[rk.FORCED]:
            growth = min(5.0, 0.8 * (control[rk.ACCURACY] / error) ** (1.0 / self.error_order)) if error > 0.0 else 5.0
            if (growth > 1.1 or growth < 1.0) and (not (clipped or limited) or growth * h > control[rk.STEP]):
                control[rk.STEP] = max(control[rk.MIN_STEP], growth * h)
        counts[rk.FORCED] = 0
        self.leave_at(end)
        if self.tape is None:
            self.S = self.variations.project(state, tried[1], self.weights)
            self._keep(state, self.S)
        else:
            self.tape.append(Step(time, h, y, self._template, state.copy() if self._has_manifolds(state) else None))
        return rk.DONE

    def _begin_step(self, time: float) -> None:
        """Let measures that remember begin a step."""
        state = self._state
        assert state is not None
        if self.system.is_interpreted:
            Interpreted(self.system, state).begin_step(time)
        elif state.tree.remembers:
            self._call(begin_step)

    def _has_manifolds(self, state: State) -> bool:
        return state.is_constrained or bool(state.tree.quaternions) or state.has_known

    def _restore(self, time: float, y: Array) -> None:
        state = self._state
        assert state is not None
        state.y_values[:], state.record.time[0, 0] = y, time

    def _rates(self, state: State, S: Array) -> Array:
        """Rates of S at the state, which is realized."""
        if not S.shape[1]:
            return S
        J, B = self.variations.rates(state)
        found: Array = J @ S + B
        return found

    def _attempt(self, time: float, h: float, y: Array, S: Array, first: Array) -> tuple[Array, Array, float] | None:
        """Y and S at the end of a step, not projected, and the largest error of both; None where it is not finite."""
        state, table = self._state, self._table
        assert state is not None
        model, stages = Interpreted(self.system, state), table.shape[1] - 1
        rates, of_S = np.zeros((stages, len(y))), np.zeros((stages, *S.shape))
        rates[0], of_S[0] = self.work[rk.RATE], first
        known = np.zeros(len(y), bool) if not state.has_known else self.variations.known(state)
        for s in range(1, stages):
            state.y_values[:] = y + h * (table[s, 1 : 1 + s] @ rates[:s])
            state.record.time[0, 0] = time + table[s, 0] * h
            self.counts[rk.EVALUATIONS] += 1
            if model.evaluate() or not np.isfinite(state.record.y_dot).all():
                return None
            rates[s] = state.record.y_dot[:, 0]
            here = S + h * np.tensordot(table[s, 1 : 1 + s], of_S[:s], 1)
            here[known] = 0.0
            of_S[s] = self._rates(state, here)
        y_end, S_end = y + h * (table[stages, 1:] @ rates), S + h * np.tensordot(table[stages, 1:], of_S, 1)
        weights = self.work[len(self.work) - 4]
        error = h * (table[stages + 1, 1:] @ rates)
        self.work[len(self.work) - 3] = error
        largest = _largest(weights, error, y, y_end)
        scaled = weights[:, None] * self.directions.scales[: S.shape[1]]
        of_error = h * np.tensordot(table[stages + 1, 1:], of_S, 1)
        return y_end, S_end, max(largest, _largest(scaled, of_error, S, S_end))

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
        n, settings = len(self.directions), np.diag(self.directions.of_settings.astype(float))
        by_y = self._across(state, calls, which, np.eye(of.ny), np.zeros((n, of.ny)))
        by_settings = self._across(state, calls, which, np.zeros((of.ny, n)), settings)
        self._jumped = np.zeros(0), [*at, Jump(time, by_y, by_settings)]

    def shorten(self, state: State) -> None:
        """The run ends at a state within the last step."""
        self.tape = self._tape_to(state)

    def _tape_to(self, state: State) -> list[Step | Jump]:
        """The tape, the last step of which ends at the state."""
        at = list(self.tape or [])
        if at and self._before is not None and state.time < float(self.control[rk.TIME]):
            began, y, _ = self._before
            at.pop()
            if state.time > began:
                end = state.copy() if self._has_manifolds(state) else None
                at.append(Step(began, state.time - began, y, self._template, end))
        return at

    def _taken_to(self, time: float) -> Array:
        """S at a time within the last step, which is taken once more as far as that."""
        if self._before is None or time >= float(self.control[rk.TIME]):
            return self.S
        assert self._state is not None
        began, y, S = self._before
        if time <= began:
            return S
        state, work = self._state, self.work
        kept = work.copy()
        try:
            state.y_values[:], state.record.time[0, 0] = y, began
            Interpreted(self.system, state).evaluate()
            work[rk.RATE] = state.record.y_dot[:, 0]
            tried = self._attempt(began, time - began, y, S, self._rates(state, S))
        finally:
            work[:] = kept
            self.leave_at(time)
        assert tried is not None
        return self.variations.project(state, tried[1], self.weights)

    def _across(self, state: State, calls: Sequence[Call], which: Sequence[Watched], S: Array, weights: Array) -> Array:
        """S after the event, from that before."""
        of, system = self.variations, self.system
        before = np.concatenate([state.q_dot_view, state.u_dot_view, state.z_dot_view])[:, None]
        kept = [(owner, kept_attributes(owner)) for owner, _ in calls if isinstance(owner, EventHandler)]

        def after(other: State) -> State:
            try:
                for _, call in calls:
                    call(other)
                    system.realize_model(other)
                    system.realize(other)
            finally:  # each call finds the handlers as the event does
                for owner, values in kept:
                    put_back(owner, _copied(values))
            return other

        def y_after(other: State) -> Array:
            after(other)
            return np.concatenate([other.y_values, _numbers_of(other)])

        def by(changes: Array, of_settings: Array, value: Any, times: Array, step: float) -> Array:
            return np.array(
                [
                    of.along(state, one, weight, value, Stage.ACCELERATION, time=time, step=step)
                    for one, weight, time in zip(of.tangent(state, changes).T, of_settings.T, times.tolist(), strict=True)
                ]
            ).T

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
            f = np.concatenate([other.q_dot_view, other.u_dot_view, other.z_dot_view])[:, None]
        # moved along the motion to where the event is, so that handlers see the same event, and by little
        rates = by(S + before * shifts, weights, y_after, shifts, _STEP)
        set_by_handlers = rates[of.ny :]
        if weights.any():
            set_by_handlers = set_by_handlers - by(0.0 * S, weights, _numbers_of, 0.0 * shifts, _STEP)
        if kept and np.abs(set_by_handlers).max(initial=0.0) > _SET:
            names = " and ".join(type(owner).__name__ for owner, _ in kept)
            raise ModelError(
                f"at time {state.time:.9g} {names} sets parameters to what depends on the state, such as where a constraint "
                "holds; sensitivities follow q, u and z alone: let the handler leave parameters as they are, and set q and u"
            )
        found = rates[: of.ny].reshape(S.shape) - f * shifts
        return found


def _largest(weights: Array, error: Array, begin: Array, end: Array) -> float:
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
    """What a handler keeps, its lists copied."""
    return _copied(vars(owner))


def put_back(owner: Any, values: dict[str, Any]) -> None:
    """Give a handler what it has kept."""
    vars(owner).clear()
    vars(owner).update(values)


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, list) else value for name, value in values.items()}


def variational(like: Integrator, state: State, directions: Directions, keeps_tape: bool = False) -> Variational:
    """The same method, with variations."""
    if type(like).kernel is not rk.advance or type(like).try_step is not Integrator.try_step:
        raise ValueError(
            f"{like.get_method_name()} has no sensitivities; take a Runge-Kutta method: RungeKuttaMerson, RungeKuttaFeldberg, "
            "RungeKutta3 or RungeKutta2"
        )
    return Variational(like, Variations(like.system, state, directions), keeps_tape)


__all__ = ["Jump", "Step", "Variational", "kept_attributes", "put_back", "variational"]
