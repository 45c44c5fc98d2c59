"""Messages on a run whose steps have become so many that it hardly goes on, and on what limits them.

The fastest rate of dy/dt = f(y) is found by powers of its Jacobian J along differences, |J J v| / |v| growing to its square:
two at a time, so that vibrations, whose eigenvalues are a pair, count as decays do. Which force it is by is told by what each
adds to the accelerations, M^-1 J_G^T dF, along that direction v.
Source: Golub and Van Loan 2013, Matrix Computations, 7.3.1 (the power method).
"""

from __future__ import annotations

import time as _clock
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import seconds_spent
from ..control.custom import controllers_of
from ..force.contact.element import ContactElement
from ..state.state import State
from ..stepping import record as rk
from ..system.system import MultibodySystem
from ..value.stage import Stage
from ._diagnosis import limiting_surfaces, name_of

#: Steps between two looks; or wall seconds, if there were some steps in them.
LOOK, WAIT, FEW = 1 << 16, 5.0, 100
#: What is worth saying: so many steps to go; or so many, if they will take so many seconds.
MOST, MANY, LONG = 10_000_000, 300_000, 60.0
#: Steps times the fastest rate: above the first, they are bounded by stability; below the second, by what is not smooth. That
#: is of an accuracy of 1e-4; errors of low order, of its root, allow less where more is asked for.
STIFF, ROUGH, UNSTABLE = 0.3, 0.03, 30.0
#: So many steps are looked along for what jumps.
_WAY = 20.0
#: Pairs of powers, and the difference that each is found by as a part of y.
_PAIRS, _DIFFERENCE = 8, 1e-7
#: A force is named alone if it is so many times as strong as the next.
_BY_FAR = 3.0


def _seconds() -> float:
    """The clock, without the time in which kernels were compiled."""
    return _clock.perf_counter() - seconds_spent()


class Progress:
    """Progress of a run.

    Attributes
    ----------
    goal : float
        Where it is to come to; infinite where that is not known.
    """

    def __init__(self) -> None:
        self.goal = np.inf
        self._steps, self._time, self._clock, self._next = 0, -np.inf, 0.0, FEW

    def begin(self, steps: int, time: float) -> None:
        """A run begins, or goes on."""
        self._steps, self._time, self._clock, self._next = steps, time, _seconds(), steps + FEW

    def find_rest(self, steps: int, time: float) -> tuple[float, float] | None:
        """The number of steps that are left, and their mean size lately; None where that is not worth saying."""
        done = steps - self._steps
        if done < 0 or time < self._time:
            self.begin(steps, time)
            return None
        if steps < self._next:  # a look at the clock takes as long as a small step
            return None
        now, self._next = _seconds(), steps + FEW
        if done < LOOK and now - self._clock < WAIT:
            return None
        mean, seconds = (time - self._time) / done, now - self._clock
        self.begin(steps, time)
        if not (self.goal < np.inf and time < self.goal):
            return None
        rest = (self.goal - time) / mean if mean > 0.0 else np.inf
        if rest > MOST or (rest > MANY and rest * seconds / done > LONG):
            return rest, mean
        return None


def say(system: MultibodySystem, state: State, goal: float, rest: float, mean: float, control: Array, sizes: Any) -> str:
    """The message; the state, at the end of a step, is a copy that may be changed. *sizes* are ``max_step_size`` if given."""
    what = _limits(system, state, mean, control, sizes)
    return (
        f"at time {state.time:.9g} steps are {mean:.3g} long on average, and to time {goal:.9g} there are about "
        f"{rest:,.0f} more of them; {what}"
    )


def _limits(system: MultibodySystem, state: State, mean: float, control: Array, max_step_size: float | None) -> str:
    if max_step_size is not None and mean > 0.4 * max_step_size:
        return f"max_step_size={max_step_size:g} limits them: give a larger one"
    for law in controllers_of(system):
        if mean > 0.1 * law.sample_time:
            return (
                f"the law {law.name!r} is sampled each {law.sample_time:g}, and no step goes beyond: give a longer sample_time"
            )
    if control[rk.LIMITED] > 0.0:
        first, second = limiting_surfaces(system, state)
        return (
            f"how near {first!r} and {second!r} are, for how fast they approach, limits them: give them more room, or "
            "fixed_step_size"
        )
    found = find_fastest(system, state)
    if found is None:
        return "an implicit method, mobod.integrator.BDF, may take fewer"
    rate, which, by = found
    rough = ROUGH * min(1.0, (control[rk.ACCURACY] / 1e-4) ** 0.5)
    if not rough < mean * rate < UNSTABLE:  # a difference across a jump is a rate that no step would be stable at
        jumping = _by_force(system, state, state.y_values.copy(), _WAY * mean * state.record.y_dot[:, 0])
        return (
            f"nothing that moves smoothly asks for that, so that a force jumps{jumping}. Make it smoother, or what is soft and "
            "deep in each other harder; mobod.integrator.TimeStepping steps over what jumps"
        )
    stiff = "the steps are as long as its stability allows" if mean * rate > STIFF else "they follow it as asked for"
    return (
        f"the fastest motion has a rate of {rate:.3g} per unit of time, most of all in {name_of(system, state, which)}{by}, "
        f"and {stiff}. Softer springs and contacts, weaker dampers, more mass, and friction that grows over a larger "
        "transition_velocity take fewer steps; so does mobod.integrator.BDF where nothing vibrates, and "
        "mobod.integrator.TimeStepping where it is contact"
    )


def find_fastest(system: MultibodySystem, state: State) -> tuple[float, int, str] | None:
    """The fastest rate, the number in y that moves most in its direction, and by which force it is, in words."""
    try:
        return _find_fastest(system, state)
    except Exception:  # a user's part may fail nearby; this is no place to raise its error
        return None


def _find_fastest(system: MultibodySystem, state: State) -> tuple[float, int, str] | None:
    y, first = state.y_values.copy(), len(state.q_values)
    size = max(1.0, float(np.abs(y).max(initial=0.0)))

    def rates(at: Array, stage: Stage = Stage.ACCELERATION) -> Array:
        state.y_values[:] = at
        state.invalidate_q()
        system.realize(state, stage)
        return np.asarray(state.record.y_dot[:, 0]).copy()

    f = rates(y)
    v = np.random.default_rng(0).standard_normal(len(y))
    squared = 0.0
    for _ in range(_PAIRS):
        v /= np.linalg.norm(v)
        twice = v
        for _ in range(2):
            norm = float(np.linalg.norm(twice))
            if not norm > 0.0:
                return None
            h = _DIFFERENCE * size / norm
            twice = (rates(y + h * twice) - f) / h
        squared, v = float(np.linalg.norm(twice)), twice
        if not np.isfinite(squared):
            return None
    if not squared > 0.0:
        return None
    v /= np.linalg.norm(v)
    rate = squared**0.5
    speeds = slice(first, first + state.tree.nu)
    # a vibration is seen as speeds in one half of it and as positions in the other
    of_forces = _by_force(system, state, y, _DIFFERENCE * size * v)
    rates(y)
    moved = np.abs((v if np.abs(v[speeds]).any() else f)[speeds])
    which = first + int(np.argmax(moved)) if len(moved) and moved.any() else int(np.argmax(np.abs(v)))
    return rate, which, of_forces


def _by_force(system: MultibodySystem, state: State, y: Array, dy: Array) -> str:
    """The force that changes the accelerations most from y to y + dy, in words."""
    matter = system.get_matter_subsystem()
    forces = [force for force in system.all_forces() if not force.is_disabled(state)]

    def pushes(at: Array) -> list[Array]:
        state.y_values[:] = at
        state.invalidate_q()
        system.realize(state, Stage.DYNAMICS)
        found = []
        for force in forces:
            on_bodies, _, on_mobilities = force.calc_force_contribution(state)
            found.append(on_mobilities + matter.multiply_by_system_jacobian_transpose(state, on_bodies))
        return found

    changes = [after - before for before, after in zip(pushes(y), pushes(y + dy), strict=True)]
    state.y_values[:] = y
    state.invalidate_q()
    system.realize(state, Stage.DYNAMICS)
    sizes = sorted(
        ((float(np.abs(matter.multiply_by_m_inv(state, one)).max(initial=0.0)), i) for i, one in enumerate(changes)),
        reverse=True,
    )
    if not sizes or not sizes[0][0] > 0.0:
        return ""
    named = sizes[: 2 if len(sizes) > 1 and sizes[1][0] * _BY_FAR > sizes[0][0] else 1]
    names = [_named(system, state, forces[i], y, dy) for _, i in named]
    return f", by {' and '.join(names)}"


def _named(system: MultibodySystem, state: State, force: Any, y: Array, dy: Array) -> str:
    """A force's name; of contact that of the two surfaces between which it changes most from y to y + dy."""
    subsystem: Any = next((one for one in system.force_subsystems if hasattr(one, "get_contacts")), None)
    if not isinstance(force, ContactElement) or subsystem is None:
        return repr(force.name)
    changes: dict[tuple[int, int], Array] = {}
    for at, sign in ((y + dy, 1.0), (y, -1.0)):
        state.y_values[:] = at
        state.invalidate_q()
        system.realize(state, Stage.DYNAMICS)
        for row in subsystem.get_contacts(state):
            pair = int(row["surface1"]), int(row["surface2"])
            changes[pair] = changes.get(pair, np.zeros(3)) + sign * row["force"]
    if not changes:
        return repr(force.name)
    first, second = (subsystem.surfaces[i].name for i in max(changes, key=lambda pair: float(np.linalg.norm(changes[pair]))))
    return f"the contact of {first!r} and {second!r}"
