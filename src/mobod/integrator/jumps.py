"""Jumps of accelerations, looked for where steps have become short: whose they are, and which paths jump there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..force.base import Force
from ..force.transmission import Transmission
from ..state.state import State
from ..system.system import MultibodySystem
from ._diagnosis import name_of

#: A change that is still this part of its size after so many halvings of the interval is a jump. Halvings end at the
#: resolution of time, but there have to be some.
_HALVINGS, _FEWEST, _LEFT = 30, 4, 0.5
#: Parts of a path's length, and of its largest moment arm, by which it jumps at least: far above what it changes by in the
#: interval that is left, and above the ends of iterations.
_OF_LENGTH, _OF_ARM = 1e-6, 1e-3
#: What every sentence about a path says.
PATH_JUMPS = "jumps: its length by"
#: How far about a jump its size is taken, in parts of the step: where a path turns over from one side of a surface to the other
#: it may be straight between.
_ABOUT = 0.1


@dataclass(frozen=True)
class Line:
    """The states on the line from *y* at *time* along *rate*, for a time h and a bit.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Taken along, and left somewhere on the line.
    y : (ny,) ndarray
    time : float
    rate : (ny,) ndarray
    h : float
    """

    system: MultibodySystem
    state: State
    y: Array
    time: float
    rate: Array
    h: float

    def realize_at(self, s: float) -> Array:
        """The rates of y at a time s from the line's begin, where the state is put."""
        state = self.state
        state.y_values[:] = self.y + s * self.rate
        state.time = self.time + s
        state.invalidate_q()
        if state.has_known:
            self.system.prescribe(state)
        self.system.realize(state)
        return state.record.y_dot[:, 0].copy()

    def find_jump(self) -> tuple[int, float, float, float, float] | None:
        """The number in y whose rate jumps most, the ends of a short interval in which it does, and its rates there.

        None where rates change no faster than the interval is long, or cannot be computed.
        """
        time = self.time
        if not np.isfinite(self.rate).all():
            return None
        try:
            a, b = 0.0, 1.1 * self.h
            at_a, at_b = self.realize_at(a), self.realize_at(b)
            if not (np.isfinite(at_a).all() and np.isfinite(at_b).all()):
                return None
            which = int(np.argmax(np.abs(at_b - at_a)))
            whole, halvings = abs(at_b[which] - at_a[which]), 0
            while halvings < _HALVINGS:
                middle = 0.5 * (a + b)
                if time + a == time + middle or time + b == time + middle:
                    break
                halvings += 1
                at = self.realize_at(middle)
                if abs(at[which] - at_a[which]) > abs(at_b[which] - at[which]):
                    b, at_b = middle, at
                else:
                    a, at_a = middle, at
        except ModelError:
            return None
        if halvings < _FEWEST or not abs(at_b[which] - at_a[which]) > _LEFT * whole > 0.0:
            return None
        return which, a, b, float(at_a[which]), float(at_b[which])


def of_rates(line: Line) -> tuple[str, str] | None:
    """Whose accelerations jump most on a line, and a sentence about it; None where none do."""
    found = line.find_jump()
    if found is None:
        return None
    which, _, b, before, after = found
    whose = name_of(line.system, line.state, which)
    return whose, (
        f"near time {line.time + b:.9g} the rate of {whose}, jumps from {before:.6g} to {after:.6g}: a force is "
        f"discontinuous there. A step of {line.h:.3g} has passed it without meeting the accuracy. Make it an event, make the "
        "force smoother, or give a larger accuracy number or a smaller min_step_size"
    )


def wrapped_paths(system: MultibodySystem, state: State) -> list[tuple[Force, Transmission]]:
    """The forces that act along a path that may jump, and these paths."""
    enabled = state.field("force_enabled").tolist()
    return [(force, path) for force, path in system.paths_that_may_jump if enabled[force.element]]


def of_paths(line: Line, paths: list[tuple[Force, Transmission]]) -> dict[str, str]:
    """Sentences about those paths that jump where accelerations do, by the names of their forces."""
    found = line.find_jump()
    if found is None:
        return {}
    _, a, b, *_ = found
    told: dict[str, str] = {}
    about = _ABOUT * line.h
    states = [line.state.copy() for _ in range(4)]
    try:
        for state, s in zip(states, (a, b, a - about, b + about), strict=True):
            replace(line, state=state).realize_at(s)
    except ModelError:
        return {}
    before, after = states[2:]
    for force, path in paths:
        lengths, arms = zip(*((path.calc_length(one), path.calc_moment_arms(one)) for one in states), strict=True)
        went = 0.5 * (path.calc_speed(before) + path.calc_speed(after)) * (b - a + 2.0 * about)
        length = min(abs(lengths[1] - lengths[0]), abs(lengths[3] - lengths[2] - went))
        turn = np.abs(arms[3] - arms[2])
        slight = _OF_ARM * np.abs(arms).max(initial=0.0)
        turns = min(turn.max(initial=0.0), np.abs(arms[1] - arms[0]).max(initial=0.0)) > slight
        if not (length > _OF_LENGTH * max(map(abs, lengths)) or turns):
            continue
        which = int(np.argmax(turn))
        which_u = name_of(line.system, before, len(before.q_values) + which)
        told[force.name] = (
            f"near time {line.time + b:.9g} the path of {type(force).__name__} {force.name!r} {PATH_JUMPS} "
            f"{length:.2g}, its moment arm about {which_u}, from {arms[2][which]:.4g} to {arms[3][which]:.4g}"
            f"{path.explain_jump(before, after)}"
        )
    return told
