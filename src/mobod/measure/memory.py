"""Memory: base of the measures that remember something of the past.

What is remembered lies in the state, in a variable that updates itself: at the end of each step its next value, which
`_following` makes of the last one and of the state there, becomes what is remembered. Within a step the value is that of the
beginning, and the measure's value is found from the next one. So reports between steps, rejected steps, copies
of states and changes by event handlers need nothing special.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..value.stage import Stage
from . import _store
from .base import Measure, NotCompiled


class Memory(Measure):
    """A measure that remembers. Base class of `Delay`, `Differentiate`, `Extreme` and `SampleAndHold`.

    A kind provides `looks_at`, the measure that it remembers something of; `_first(state)`, what it remembers where a run
    starts; and `_following(state, kept)`, what it remembers after this state, *kept* being what it does now. What is
    remembered is a tuple that nobody changes. For compiled steps it provides `memory_size`, `_unpacked`, `write_value` and
    `write_memory`.
    """

    #: What a change by hand invalidates.
    _invalidates: ClassVar[Stage] = Stage.DYNAMICS
    _place = -1

    def initialize(self, state: State) -> None:
        """Forget what this state remembers, and begin anew with what is there now.

        The state is realized as far as the operand needs, and falls to VELOCITY at most.

        Raises
        ------
        StageError
            If the state is below MODEL.
        """
        self._need_model(state, "initialize")
        if self.takes_part():
            self._need_subsystem().get_system().realize(state, max(self.needs(), Stage.TIME))
            self._set_memory(state, self._first(state))

    # ------------------------------------------------------------------------------------------ what a kind provides

    def looks_at(self) -> Measure:
        raise NotImplementedError

    def needs(self) -> Stage:
        """The stage at which the value to remember is known."""
        return self.looks_at().depends_on(0)

    def _first(self, state: State) -> Any:
        raise NotImplementedError

    def _following(self, state: State, kept: Any) -> Any:
        raise NotImplementedError

    def memory_size(self) -> int:
        """Number of values that compiled steps keep of it, the first of which says whether there is anything."""
        raise NotCompiled

    def _check_needs(self) -> None:
        """Refuse to be compiled where the value to remember is known after a step only."""
        if self.needs() > Stage.ACCELERATION:
            raise NotCompiled

    def _unpacked(self, kept: Array) -> Any:
        """The memory as `_first` gives it, of the numbers after the first."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------ what is remembered

    def _sources(self) -> tuple[Measure, ...]:
        return (self.looks_at(),)

    def memory(self, state: State) -> Any:
        """The state's memory; None before a run has begun."""
        if self.memory_run is None:
            return _store.part(self._need_subsystem(), state).variables[self._place].value
        kept = state.record.measure_memory[self.memory_run, 0]
        return self._unpacked(kept[1:]) if kept[0] else None

    def _set_memory(self, state: State, value: Any) -> None:
        if self.memory_run is None:
            self._need_subsystem().upd_discrete_variable(state, self._place, value)
            return
        record = state.record
        self.write(record, "measure_memory", value)
        record.measure_next[self.memory_run] = record.measure_memory[self.memory_run]
        state.invalidate_from(int(self._invalidates))

    def write(self, record: Any, name: str, value: Any) -> None:
        """Write *value* into a field of the record's: `measure_memory`, or `measure_next` behind it."""
        getattr(record, name)[self.memory_run, 0] = np.concatenate([[1.0], *(np.ravel(one) for one in value)])

    def what_is_lost(self, state: State) -> str:
        """A sentence on what compiled steps had no room for, and the remedy; empty where nothing is missing."""
        return ""

    def next_memory(self, state: State) -> Any:
        """The memory after this state, at which the operand is known; found anew each time, as operands may change."""
        kept = self.memory(state)
        return self._first(state) if kept is None else self._following(state, kept)

    # ------------------------------------------------------------------------------------------ for the base class

    def allocate(self, state: State) -> None:
        if not self.takes_part():
            return
        needed = self.needs()
        if needed > Stage.ACCELERATION:
            raise ModelError(
                f"{self!r} follows {self.looks_at()!r}, which needs Stage.{needed.name}; integrators realize no further "
                "than ACCELERATION"
            )
        if self.memory_run is not None:  # kept in the record; the variable says that there is what only a run has
            self._place = _store.allocate_variable(self._need_subsystem(), state, self._invalidates, None)
            return
        self._place = self._need_subsystem().allocate_auto_update_discrete_variable(
            state, self._invalidates, None, max(needed, Stage.TIME)
        )

    def _now_or_default(self, state: State) -> Any:
        """Before a run has begun: the operand's present value, where that is known yet."""
        looks_at = self.looks_at()
        return looks_at.get_value(state) if state.stage_number >= looks_at.depends_on(0) else self._given(self.default)

    def has_begun(self, state: State) -> bool:
        return self.memory(state) is not None

    def begin(self, state: State) -> None:
        self.initialize(state)

    def remember(self, state: State) -> None:
        # a state that nobody steps remembers nothing: its memory begins with a run
        if self.memory(state) is not None and state.stage_number >= self.needs():
            subsystem, resources = self._need_subsystem(), state.resources
            assert resources is not None
            part = resources.part(subsystem.subsystem_index)
            update = part.variables[self._place].update
            part.entries[update].value = self.next_memory(state)
            resources.mark(state, subsystem.subsystem_index, update)

    def _accept(self, undo: Callable[[], None]) -> None:
        """An operand has been replaced: refuse it if that closes a circle, else tell the system."""
        try:
            self._check_no_circle()
        except ValueError:
            undo()
            raise
        self.invalidate_topology()


class OfOperand(Memory):
    """One that remembers something of its operand, which can be replaced."""

    operand: Measure

    def get_operand_measure(self) -> Measure:
        """The measure that it looks at."""
        return self.operand

    def set_operand_measure(self, operand: Measure) -> None:
        """Look at another measure of the same size: a topological change."""
        kept, self.operand = self.operand, self._replaced("the operand", operand)
        self._accept(lambda: setattr(self, "operand", kept))

    def operands(self) -> tuple[Measure, ...]:
        return (self.operand,)

    def looks_at(self) -> Measure:
        return self.operand
