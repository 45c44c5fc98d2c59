"""Quick: a step from Python in one compiled call. What that call takes is looked at once, and kept until something changes.

With a small model, looking at the state, the settings and the agenda before each step takes ten times what the step does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..state.validity import EVERYTHING, unchanged_bit
from ..stepping import loop, record as rk
from ..value.stage import ACCELERATION, TIME, Stage

if TYPE_CHECKING:
    from ..algebra.arrays import Array
    from ..state.state import State
    from .base import Integrator
    from .watch import Watch

#: Steps in one call, so that Ctrl-C takes effect between calls.
_STEPS = 256
#: ``ask(state, include_current_time)`` tells when something is due next.
Ask = Callable[[Any, bool], float]
REPORT = int(Stage.REPORT)
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

    __slots__ = (
        "_control",
        "_counts",
        "_first",
        "_interpolates",
        "_leaves_out",
        "_look",
        "_return",
        "_warn",
        "alone",
        "arguments",
        "asks",
        "block",
        "code",
        "control",
        "counts",
        "due",
        "end",
        "handlers",
        "instance_token",
        "is_plain",
        "is_ready",
        "last",
        "moves",
        "reporters",
        "state",
        "token",
        "watch",
    )

    def __init__(self, integrator: Integrator) -> None:
        state, counts = integrator.get_state(), integrator.counts
        integrator.choose_routines()
        times, row = np.zeros(1), np.zeros((1, len(state.y_values)))
        kernel = type(integrator).kernel
        self._first, self._interpolates = integrator.arguments(), integrator.allow_interpolation
        self.arguments = (*self._first, times, row, integrator.no_energies)
        self.code: Any = integrator.calling(kernel.code or kernel.code_for(state.block, *self.arguments))
        self._leaves_out = integrator.leaves_out
        self.state, self.token, self.block = state, state.token, state.block
        #: As the state's was when this was last looked at: contacts may slide since, or witnesses be others.
        self.instance_token = state.instance_token
        # assigning to a memoryview takes a third of the time of assigning to an array
        self.end: Any = memoryview(times)  # type: ignore[arg-type]
        self._counts, self._control = counts, integrator.control
        self.counts: Any = memoryview(counts)  # type: ignore[arg-type]
        self.control: Any = memoryview(integrator.control)  # type: ignore[arg-type]
        self.last = np.inf if integrator.final_time is None else integrator.final_time
        #: Whether nothing is kept from step to step beside y, which handlers would have to see ended.
        self.is_plain = state.resources is None and not (remembers(state) or state.tree.counts["num_contact_elements"])
        self._warn = integrator.hindrances.warn_of_passing if state.tree.counts["num_contact_elements"] else None
        self._look = integrator.hindrances.look_at_delays if integrator.hindrances.delays else None
        #: Whether nothing else than the steps happens before `due`, which the time stepper knows.
        self.alone, self.due = False, self.last
        #: What is asked for its next time before each step, if anything: of handlers, and of reporters.
        self.handlers: Sequence[Ask] = ()
        self.reporters: Sequence[Ask] = ()
        #: The witnesses that the loop looks at, and whether these or others are to be asked.
        self.watch: Watch | None = None
        self.asks = self.moves = False
        self._return: Any = None
        #: Whether nobody has used the integrator's arrays since `get_ready`.
        self.is_ready: bool = False

    def look_at(self, watch: Watch | None, due: float, handlers: Sequence[Ask], reporters: Sequence[Ask]) -> None:
        """Say what else there is beside the steps: witnesses, the next event that is known, and who is to be asked."""
        self.handlers, self.reporters = handlers, reporters
        self.instance_token = self.state.instance_token
        self.due, self.alone = min(self.last, due), True
        self.asks = watch is not None or bool(handlers or reporters)
        self.watch_by(watch)

    def watch_by(self, watch: Watch | None) -> None:
        """Let the loop look at witnesses, if there are any."""
        self.is_ready = self.is_ready and watch is self.watch
        self.watch, self.moves = watch, self._leaves_out or (watch is not None and watch.moves)
        if self.moves:
            back = loop.return_to_end
            self._return = back.code or back.code_for(self.block, self._first[0], self._control, self._counts)

    def get_ready(self) -> None:
        """Set what other ways of stepping set otherwise."""
        self.counts[rk.NO_INTERPOLATION], self.counts[rk.LIMIT], self.is_ready = 1, _STEPS, True
        self.control[rk.FINAL_TIME] = self.last
        if self.watch is not None:
            self.counts[rk.WATCHES] = self.watch.enter_loop(False)

    def go(self, end: float) -> int:
        """Step to *end* and not beyond, from the state as it is; REACHED, or why not."""
        self.end[0] = end
        self.counts[rk.REPORT] = 0
        status = self._call(self.arguments)
        if self.moves and status == rk.REACHED:
            self._return(self.block, self._first[0], self._control, self._counts)
        return status

    def go_through(self, end: float, times: Array, results: Array, energies: Array) -> int:
        """`go`, with reports on the way from the one on that the counts tell."""
        counts, control = self.counts, self.control
        counts[rk.NO_INTERPOLATION] = not self._interpolates
        control[rk.FINAL_TIME] = control[rk.TARGET] = end
        work = self._first[0]
        try:
            status = self._call((*self._first, times, results, energies))
            if status == rk.REACHED:
                loop.return_to_end(self.block, work, self._control, self._counts)
            return status
        finally:
            counts[rk.NO_INTERPOLATION] = 1
            control[rk.FINAL_TIME], control[rk.TARGET] = self.last, np.inf

    def _call(self, arguments: tuple[Any, ...]) -> int:
        state = self.state
        valid = state.valid
        if not valid & UNCHANGED:
            self.counts[rk.CHANGED] = 1 + (valid & EVERYTHING)
        status: int = self.code(self.block, *arguments)
        if status == rk.REACHED:
            state.valid, state.stage_number = _AT_END, ACCELERATION
            resources = state.resources
            if resources is not None:  # of the other stages the bits tell it
                resources.versions[TIME] += 1
                resources.versions[REPORT] += 1
        if self._warn is not None and self.counts[rk.PASSES] == 1:
            self._warn()
        if self._look is not None:
            self._look()
        return status


def is_possible(integrator: Any, simple: bool) -> bool:
    """True if nothing but its kernel has a part in its steps; *simple* says so of its class."""
    state = integrator.get_state()
    return bool(
        simple
        and state.stage_number >= ACCELERATION
        and not integrator.system.is_interpreted
        and integrator.held is None
        and integrator.internal_step_limit is None
        and not integrator.return_every_internal_step
        and integrator.termination is None
    )


def remembers(state: State) -> bool:
    """True if measures or contacts keep something from step to step."""
    return bool(state.tree.counts["measure_memory_size"] or state.tree.counts["bristle_rows"])
