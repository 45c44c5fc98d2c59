"""EnabledSets: states of an ensemble by the constraints that are enabled, and the contacts that slide: each set has lanes.

A lane needs the same equations as its neighbours. So each set has runs of its own, of the same kernels: a state whose contact
closes, slips, sticks or opens leaves its lane there, waits, and goes on in a lane of the other set.
"""

# ruff: noqa: SLF001  (it is a part of its ensemble, in a class of its own)
from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..state.fields import GROUPED
from ..state.state import State
from .lane_runs import LaneRuns
from .overrides import ENABLED, Overrides
from .states import memory_of

#: A set: of each constraint whether it is enabled, and which contacts slide, as bytes.
Enabled = bytes
#: What a state owns in which other constraints are enabled.
_FIELDS = (*ENABLED, *GROUPED)


class EnabledSets:
    """The runs in lanes of each set that has come up.

    Parameters
    ----------
    ensemble : Ensemble
    lanes : LaneRuns
        Of the set that the states share.
    given : tuple
        With what those are made, beside the state.
    """

    def __init__(self, ensemble: Any, lanes: LaneRuns, given: tuple[Any, ...]) -> None:
        self._ensemble_alive, self._lanes, self._given = weakref.ref(ensemble), lanes, given
        self.shared: Enabled = b"".join(ensemble._template.field(name).tobytes() for name in ENABLED)
        self._runs: dict[Enabled, LaneRuns] = {self.shared: lanes}
        #: Whether states can leave their lanes for others.
        self._is_open = lanes.hands_over and lanes.stepped is None

    @property
    def _ensemble(self) -> Any:
        return self._ensemble_alive()

    def of(self, i: int) -> Enabled | None:
        """The set that is enabled in state *i*; None where it has other overrides, or lanes do not do."""
        return self._of_overrides(self._ensemble._overrides.get(i))

    def _of_overrides(self, overrides: Overrides | None) -> Enabled | None:
        if overrides is None:
            return self.shared
        if not (overrides.by_constraints and self._is_open):
            return None
        shared = self._ensemble._template
        return b"".join(overrides.own.get(name, shared.field(name)).tobytes() for name in ENABLED)

    def takes(self, state: State, overrides: Overrides | None) -> Enabled | None:
        """The set in whose lanes a state with these overrides can go on; None where it cannot. Needs ACCELERATION."""
        found = self._of_overrides(overrides)
        contacts = self._lanes.contacts
        if found is None or (contacts is not None and not contacts.can_be_in_lanes(state)):
            return None
        return found

    def begin(self, i: int, state: State) -> None:
        """State *i*, which is at *state*, is about to go on in a lane."""
        if state.slides and self._lanes.contacts is not None:
            self._lanes.contacts.keep_least_slips(state)
            self._ensemble._memory[i] = memory_of(state.record)

    def takes_back(self, state: State, overrides: Overrides | None, is_sound: bool) -> bool:
        """True if the next step of such a state is taken in a lane; one that is not sound is not realized."""
        return self.takes(state, overrides) is not None if is_sound else overrides is None

    def runs_of(self, enabled: Enabled, i: int) -> LaneRuns:
        """The runs of a set, which state *i* has."""
        found = self._runs.get(enabled)
        if found is None:
            state, own = self._ensemble._template.copy(), self._ensemble._overrides[i].own
            state.take_own({**state.own_fields, **{name: own[name] for name in _FIELDS if name in own}})
            given = state, *self._given, self._lanes
            found = LaneRuns(*given)
            self._ensemble._make_ready(found, state)
            self._runs[enabled] = found  # once it is complete: an interrupt may come meanwhile
        return found

    def sorted(self, which: Iterable[int]) -> list[tuple[LaneRuns, npt.NDArray[np.int64]]]:
        """States that wait for lanes, by the runs that these are of."""
        groups: dict[Enabled, list[int]] = {}
        for i in which:
            enabled = self.of(i)
            assert enabled is not None
            groups.setdefault(enabled, []).append(i)
        return [(self.runs_of(enabled, own[0]), np.array(own, np.int64)) for enabled, own in groups.items()]
