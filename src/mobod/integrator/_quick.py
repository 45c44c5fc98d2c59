"""Quick: a step from Python in one compiled call. What that call takes is looked at once, and kept until something changes.

With a small model, looking at the state, the settings and the agenda before each step takes ten times what the step does.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..state.validity import EVERYTHING, unchanged_bit
from ..value.stage import ACCELERATION, Stage
from . import _runge_kutta as rk

if TYPE_CHECKING:
    from ..state.state import State
    from .base import Integrator

#: Steps in one call, so that Ctrl-C takes effect between calls.
_STEPS = 256
#: The bit of a state's `valid` that every setter clears, and what is valid after a step.
UNCHANGED = unchanged_bit(Stage.REPORT)
_AT_END = EVERYTHING | UNCHANGED


class Quick:
    """The arguments of an integrator's kernel for steps that end where they are told to, and nothing else happens.

    Parameters
    ----------
    integrator : Integrator
        At a realized state, with all that stepping needs; `is_possible` of it holds.
    """

    __slots__ = ("alone", "arguments", "block", "code", "control", "counts", "end", "is_ready", "last", "state", "token")

    def __init__(self, integrator: Integrator) -> None:
        state, counts = integrator.get_state(), integrator.counts
        integrator.choose_routines()
        times, row = np.zeros(1), np.zeros((1, len(state.y_values)))
        kernel = type(integrator).kernel
        self.arguments = (*integrator.arguments(), times, row, integrator.no_energies)
        self.code: Any = kernel.code or kernel.code_for(state.block, *self.arguments)
        if integrator.system.calls_python:
            self.code = partial(integrator.call_back, self.code)
        self.state, self.token, self.block = state, state.token, state.block
        # assigning to a memoryview takes a third of the time of assigning to an array
        self.end: Any = memoryview(times)  # type: ignore[arg-type]
        self.counts: Any = memoryview(counts)  # type: ignore[arg-type]
        self.control: Any = memoryview(integrator.control)  # type: ignore[arg-type]
        self.last = np.inf if integrator.final_time is None else integrator.final_time
        #: Whether nothing else than the steps happens, which the time stepper knows.
        self.alone = False
        #: Whether nobody has used the integrator's arrays since `get_ready`.
        self.is_ready = False

    def get_ready(self) -> None:
        """Set what other ways of stepping set otherwise."""
        self.counts[rk.NO_INTERPOLATION], self.counts[rk.LIMIT], self.is_ready = 1, _STEPS, True
        self.control[rk.FINAL_TIME] = self.last

    def go(self, end: float) -> int:
        """Step to *end* and not beyond, from the state as it is; REACHED, or why not."""
        state, counts = self.state, self.counts
        self.end[0] = end
        valid = state.valid
        if not valid & UNCHANGED:
            counts[rk.CHANGED] = 1 + (valid & EVERYTHING)
        counts[rk.REPORT] = 0
        status: int = self.code(self.block, *self.arguments)
        if status == rk.REACHED:
            state.valid, state.stage_number = _AT_END, ACCELERATION
        return status


def is_possible(integrator: Any, simple: bool) -> bool:
    """Whether nothing but its kernel has a part in its steps; *simple* says so of its class."""
    state = integrator.get_state()
    return bool(
        simple
        and state.resources is None
        and not integrator.system.is_interpreted
        and integrator.held is None
        and integrator.internal_step_limit is None
        and not integrator.return_every_internal_step
        and integrator.termination is None
        and not remembers(state)
        and state.tree.counts["num_contact_elements"] == 0
    )


def remembers(state: State) -> bool:
    """Whether measures or contacts keep something from step to step."""
    return bool(state.tree.counts["measure_memory_size"] or state.tree.counts["bristle_rows"])
