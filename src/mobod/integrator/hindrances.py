"""Hindrances of a run, told while it goes: singular mobilizers, jumps of accelerations, paths that jump, steps without an end.

And steps that are longer than delays. Each is a warning, once a run.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..force.transmission.base import warn_of_ways_through
from ..measure.delay import Delay
from ..state.state import State
from ..stepping import record as rk
from ..system.system import MultibodySystem
from ..value.callers import callers_level
from ..value.stage import Stage
from . import _diagnosis, jumps
from .slow_runs import Progress, say

if TYPE_CHECKING:
    from .base import Integrator

#: Jumps of the accelerations that are passed within so many of the shortest steps, before a run ends: it would last for ever.
_MOST_JUMPS, _FAR_FROM_JUMPS = 100, 1e4
#: How often a run looks for paths that jump: steps shrink at each impact, too.
_MOST_LOOKS = 30
#: The part of the longest step seen that is a short one, where a path may have jumped.
_SHORT = 0.1


class Hindrances:
    """Hindrances of a run of an integrator, and what has been told of them.

    Attributes
    ----------
    progress : Progress
        How far the run has come, and where it is to come to.
    warned : set of str
        What has been warned of: the names of mobilizers, forces and variables, and "progress".
    """

    def __init__(self, integrator: Integrator) -> None:
        self._integrator = integrator
        self.begin(0.0)

    def begin(self, time: float) -> None:
        """A run begins, of which nothing has been told."""
        self.warned: set[str] = set()
        self.progress = Progress()
        self.progress.begin(0, time)
        #: Forces along paths that may jump and have not been told of; how often the run has looked for jumps; its longest step.
        self._paths: list[Any] | None = None
        self._looks_at_paths, self._longest = 0, 0.0
        #: Measures that are late, and have not been told of.
        self.delays: list[Delay] = []
        #: How often a jump of the accelerations has been passed since, with next to no progress.
        self._jumps, self._jumps_from = 0, -np.inf

    def begin_delays(self) -> None:
        """Find measures that are late, where a run begins whose state has been made ready."""
        state = self._integrator.get_state()
        self.delays = acting_delays(self._integrator.system)
        for one in self.delays:
            one.begin_run(state)

    # ------------------------------------------------------------------------------------------ after some steps

    def find_paths(self) -> list[Any]:
        """The forces along paths that may jump, of which the run has not told yet, with their paths."""
        if self._paths is None:
            state = self._integrator.get_state()
            self._paths = jumps.wrapped_paths(self._integrator.system, state)
            if state.stage_number >= Stage.POSITION:
                warn_of_ways_through([path for _, path in self._paths], state)
        return self._paths

    def look(self) -> None:
        """Warn where there are so many steps to go that the run hardly gets on; make it return where paths may have jumped."""
        integrator, control = self._integrator, self._integrator.control
        if control.item(rk.FIXED_STEP) == 0.0 and "progress" not in self.warned:
            time = control.item(rk.TIME)
            found = self.progress.find_rest(integrator.counts.item(rk.STEPS), time)
            if found is not None:
                self.warned.add("progress")
                integrator.leave_at(time)
                state, goal = integrator.get_state().copy(), self.progress.goal
                text = say(integrator.system, state, goal, *found, control, integrator.max_step_size)
                integrator.leave_at(time)
                _warn(text)
        if self.delays:
            self.look_at_delays()
        if self._paths:  # the loop is to return where steps become short beside those so far, rather than have collapsed
            self._longest = max(self._longest, float(control[rk.LAST_STEP]))
            if self._looks_at_paths < _MOST_LOOKS and control[rk.STEP] > _SHORT * self._longest:
                control[rk.COLLAPSE] = max(control[rk.COLLAPSE], _SHORT * self._longest)

    def look_at_delays(self) -> None:
        """Warn of delays within which steps have been longer, where values that are not known yet were read."""
        for one in self.delays:
            step = one.longest_step(self._integrator.get_state())
            if step > 0.0:
                self.delays = [other for other in self.delays if other is not one]
                self.warned.add(one.name or type(one).__name__)
                _warn(one.say_longest(step))

    def warn_of_short_steps(self) -> None:
        """Warn of mobilizers near a singular configuration, and of paths that jump, when steps have shrunk far."""
        integrator = self._integrator
        time, step = float(integrator.control[rk.TIME]), float(integrator.control[rk.STEP])
        integrator.leave_at(time)
        for name, text in integrator.singularities().items():
            self._warn_of(name, f"at time {time:.9g} steps have come down to {step:.3g}: {text}")
        self._warn_of_paths()

    def warn_of_passing(self) -> None:
        """Warn that a step that may not be shorter may have carried two surfaces through each other."""
        integrator, control = self._integrator, self._integrator.control
        integrator.counts[rk.PASSES] = 2
        names = _diagnosis.limiting_surfaces(integrator.system, integrator.get_state())
        fixed = control[rk.FIXED_STEP] > 0.0
        what = f"fixed_step_size {control[rk.FIXED_STEP]:.3g}" if fixed else f"min_step_size {control[rk.MIN_STEP]:.3g}"
        remedy = "a smaller one, or none, so that steps are chosen by their errors" if fixed else "a smaller one"
        _warn(
            f"by time {float(control[rk.TIME]):.9g}, with {what}, a step may have carried {names[0]!r} and {names[1]!r} "
            f"through each other, or farther into each other than the smaller one is thick, unnoticed; take {remedy}"
        )

    # ------------------------------------------------------------------------------------------ where steps are too small

    def can_pass_jump(self) -> bool:
        """True if steps became too small at a jump of the accelerations, which a step may then pass with a warning.

        Not where that is of no use: where the motion comes back to the jump at once, as it does along one.
        """
        integrator, control = self._integrator, self._integrator.control
        if control[rk.FIXED_STEP] > 0.0:
            return False
        time = float(control[rk.TIME])
        shortest = max(np.spacing(abs(time)), 0.0 if integrator.min_step_size else float(control[rk.MIN_STEP]))
        if abs(time - self._jumps_from) > _FAR_FROM_JUMPS * shortest:
            self._jumps_from, self._jumps = time, 0
        self._jumps += 1
        if self._jumps > _MOST_JUMPS:
            return False
        self._warn_of_paths()
        found = jumps.of_rates(self._line(integrator.get_state(), self._last_try()))
        integrator.leave_at(time)
        if found is not None:
            self._warn_of(*found)
        return found is not None

    def _last_try(self) -> float:
        """The step that is tried next."""
        control = self._integrator.control
        return float(min(control[rk.STEP], control[rk.MAX_STEP], control[rk.FINAL_TIME] - control[rk.TIME]))

    def _line(self, state: State, h: float) -> jumps.Line:
        """The line along which the last step's end goes on, for a time h."""
        integrator = self._integrator
        y, rate = integrator.work[rk.Y].copy(), integrator.work[rk.RATE].copy()
        return jumps.Line(integrator.system, state, y, float(integrator.control[rk.TIME]), rate, h)

    def _warn_of_paths(self) -> None:
        """Warn, once a run for each, of paths that jump within the last try."""
        paths = self.find_paths()
        if not paths or self._looks_at_paths == _MOST_LOOKS:
            return
        self._looks_at_paths += 1
        tried = max(float(self._integrator.control[rk.SIZE]), self._last_try())
        told = jumps.of_paths(self._line(self._integrator.get_state().copy(), tried), paths)
        self._paths = [one for one in paths if one[0].name not in told]
        for text in told.values():
            _warn(text)

    def _warn_of(self, name: str, text: str) -> None:
        if name not in self.warned:
            self.warned.add(name)
            _warn(text)


def acting_delays(system: MultibodySystem) -> list[Delay]:
    """The measures of a system that are late, and read what is not known yet where steps are longer than that."""
    measures = [one for subsystem in system.subsystems for one in subsystem.acting_measures]
    return [one for one in measures if isinstance(one, Delay) and not one.get_can_use_current_value()]


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=callers_level())
