"""Result: a value that other code computes and sets, valid as long as what it was computed from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import StageError
from ..state.resources import CacheEntry
from ..state.state import State
from ..value.checks import flag
from ..value.stage import Stage
from . import _store
from .base import Joined, Measure, check_shape


class Result(Measure):
    """A value computed elsewhere, kept with the state that it was computed from.

    Parameters
    ----------
    depends_on : Stage
        What the value was computed from: it is out of date once this stage, or one below, is invalidated.
    invalidated : Stage, optional
        What a change of the value invalidates, with all above; nothing unless given. Above *depends_on*.
    default_value : float or (n,) array_like
        Gives its size, and what `upd_value` shows at first.

    Raises
    ------
    ValueError
        If *invalidated* is not above *depends_on*.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> height = mb.measure.Result(system.matter, mb.Stage.POSITION)
    >>> state = system.realize_topology()
    >>> system.realize(state, mb.Stage.POSITION)
    >>> height.set_value(state, system.matter.bodies["lower"].get_body_origin_location(state)[1])
    >>> height.get_value(state)
    -2.0
    """

    def __init__(
        self,
        subsystem: Joined,
        depends_on: Stage,
        invalidated: Stage | None = None,
        *,
        default_value: npt.ArrayLike = 0.0,
        name: str | None = None,
    ) -> None:
        self._first, self._invalidated = _stages(depends_on, invalidated)
        self._presumed = False
        self._place = -1
        super().__init__(subsystem, check_shape(np.shape(default_value), "a Result"), default=default_value, name=name)

    # ------------------------------------------------------------------------------------------ in a state

    def set_value(self, state: State, value: npt.ArrayLike) -> None:
        """Set the value and mark it valid.

        Parameters
        ----------
        state : State
            At least one stage below the one that the value depends on: the code that computes it is working on that.
        value : float or (n,) array_like

        Raises
        ------
        StageError
            If the state is further below.
        ValueError
            If the value has not the measure's size.
        """
        entry = self._entry(state, "set_value")
        array = self._valued(value, "the value")
        self._need_almost(state, "set_value")
        entry.value = array
        self._invalidate(state)
        self.mark_as_valid(state)

    def upd_value(self, state: State) -> npt.NDArray[np.float64]:
        """The value as an array to be written, shape ``()`` or ``(n,)``; out of date until `mark_as_valid` is called."""
        entry = self._entry(state, "upd_value")
        self.mark_as_not_valid(state)
        return entry.value

    def mark_as_valid(self, state: State) -> None:
        """Say that the value is up to date; `StageError` where the state is too low for it to have been computed."""
        self._entry(state, "mark_as_valid")
        self._need_almost(state, "mark_as_valid")
        assert state.resources is not None
        state.resources.mark(state, self._need_subsystem().subsystem_index, self._place)

    def mark_as_not_valid(self, state: State) -> None:
        """Say that the value is out of date; what depends on it is invalidated."""
        entry = self._entry(state, "mark_as_not_valid")
        assert state.resources is not None
        state.resources.unmark(entry)
        self._invalidate(state)

    def is_valid(self, state: State) -> bool:
        """True if `get_value` would give a value: nothing has changed since it was set."""
        self._entry(state, "is_valid")
        assert state.resources is not None
        if self._presumed and state.stage_number >= self._first:
            return True
        return state.resources.is_realized(state, self._need_subsystem().subsystem_index, self._place)

    # ------------------------------------------------------------------------------------------ its stages

    def set_depends_on_stage(self, depends_on: Stage) -> None:
        """Say what the value is computed from: a topological change; `ValueError` unless below what it invalidates."""
        self._first, self._invalidated = _stages(depends_on, self._invalidated)
        self.invalidate_topology()

    def get_invalidated_stage(self) -> Stage | None:
        """The stage that a change of the value invalidates; None for none."""
        return self._invalidated

    def set_invalidated_stage(self, invalidated: Stage | None) -> None:
        """Say what a change invalidates: a topological change; `ValueError` unless above what it depends on."""
        self._first, self._invalidated = _stages(self._first, invalidated)
        self.invalidate_topology()

    def set_is_presumed_valid_at_depends_on_stage(self, presume: bool) -> None:
        """Set whether the value counts as valid wherever its stage is realized, marked or not: a topological change.

        For values that are always written by that stage, by someone who cannot mark them. Nothing checks that.
        """
        self._presumed = flag("presume", presume)
        self.invalidate_topology()

    def get_is_presumed_valid_at_depends_on_stage(self) -> bool:
        """True if the value counts as valid wherever its stage is realized."""
        return self._presumed

    # ------------------------------------------------------------------------------------------ for the base class

    def allocate(self, state: State) -> None:
        self._place = _store.allocate_entry(self._need_subsystem(), state, self._first, self.default)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if not self.is_valid(state):
            raise StageError(
                f"the value of {self.name!r} is out of date: it has not been set since Stage.{self._first.name} was last "
                "invalidated; call set_value(state, value), or upd_value and mark_as_valid"
            )
        return self._given(_store.part(self._need_subsystem(), state).entries[self._place].value)

    def depends_on(self, deriv_order: int) -> Stage:
        return self._first

    def _entry(self, state: State, asked: str) -> CacheEntry:
        self.check_owner(state, asked)
        return _store.part(self._need_subsystem(), state).entries[self._place]

    def _need_almost(self, state: State, asked: str) -> None:
        before = Stage(self._first - 1)
        if state.stage_number < before:
            self.refuse(state, asked, before)

    def _invalidate(self, state: State) -> None:
        if self._invalidated is not None:
            state.invalidate_from(int(self._invalidated))


def _stages(depends_on: Any, invalidated: Any) -> tuple[Stage, Stage | None]:
    if not isinstance(depends_on, Stage) or not (invalidated is None or isinstance(invalidated, Stage)):
        raise TypeError(f"the stages of a Result have to be Stages, not {depends_on!r} and {invalidated!r}")
    first = max(depends_on, Stage.TOPOLOGY)
    if invalidated is not None and invalidated <= first:
        raise ValueError(
            f"a Result that depends on {first.name} cannot invalidate {invalidated.name}: that would make it out of date "
            "itself; invalidate a stage above"
        )
    return first, invalidated
