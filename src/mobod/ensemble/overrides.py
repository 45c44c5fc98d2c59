"""Overrides of a single state of an ensemble: what it has apart from the others, as event handlers have left it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.fields import GROUPED, SHORTCUTS
from ..state.resources import Settings, own_copy
from ..state.state import State

#: The fields that say which constraints are enabled, and which contacts slide.
ENABLED = "constraint_enabled", "friction_rows"


class Overrides(NamedTuple):
    """Overrides of a single state: locks, parameters, what is enabled, modes of motions, discrete variables.

    Attributes
    ----------
    own : dict
        Its own Instance fields, all of them.
    settings : dict
        Subsystems' discrete variables that do not update themselves; none where these are as the others have them.
    weights : dict of str to array
    by_constraints : bool
        Whether nothing is other than what the states share but which constraints are enabled, and which contacts slide.
    """

    own: dict[str, npt.NDArray[Any]]
    settings: Settings
    weights: dict[str, Array]
    by_constraints: bool = False

    @classmethod
    def of(cls, state: State, with_settings: bool) -> Overrides:
        """Those of a state."""
        own = {name: array.copy() for name, array in state.own_fields.items()}
        settings = state.settings() if with_settings else {}
        return cls(own, settings, _weights(state, copied=True))

    def put_fields(self, state: State) -> None:
        """Copy the fields, and what subsystems do not keep, to *state*."""
        state.take_own(self.own)
        if self.weights:
            state.upd_resources().weights = {name: array.copy() for name, array in self.weights.items()}

    def copy(self, state: State) -> Overrides:
        """One of the same values, which may hold parts of the system of *state*."""
        settings = {place: (count, own_copy(value, state.system)) for place, (count, value) in self.settings.items()}
        return self._replace(settings=settings)


def find_overrides(
    state: State,
    shared: State,
    own: Mapping[str, npt.NDArray[Any]],
    set_each: Container[tuple[int, int]],
    before: Overrides | None,
) -> Overrides | None:
    """The overrides of *state*; None where it is as *shared*, with fields of its own and the variables that were set.

    Flags of work that can be left out do not matter, nor how enabled constraints are grouped, which follows from which are, nor
    where mobilizers were locked that no longer are. *before* are those that it had when its run began.
    """
    fields = state.own_fields.keys() | shared.own_fields.keys() | own.keys()
    if fields:
        fields = fields.difference(SHORTCUTS, GROUPED)
        if not state.field("lock_level").any():
            fields = fields.difference(("lock_q", "lock_u"))
    has_set = before is not None and bool(before.settings)
    has_set = has_set or any(
        count != shared_count + (place in set_each) for place, count, shared_count in _change_counts(state, shared)
    )
    others = (
        has_set
        or not all(same(state.field(name), own.get(name, shared.field(name))) for name in fields if name not in ENABLED)
        or not _alike(_weights(state), _weights(shared))
    )
    if others or not all(same(state.field(name), shared.field(name)) for name in fields.intersection(ENABLED)):
        return Overrides.of(state, has_set)._replace(by_constraints=not others)
    return None


def is_plain(state: State) -> bool:
    """True if a state has nothing of its own but its variables, so that of two such states none has overrides."""
    return state.resources is None and not state.own_fields


def same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """True if two arrays are equal; most are to the bit, which is seen in a tenth of the time."""
    return a.tobytes() == b.tobytes() or np.array_equal(a, b)


def _change_counts(state: State, shared: State) -> list[tuple[tuple[int, int], int, int]]:
    """Of each discrete variable that does not update itself, how often it was changed in both states."""
    if state.resources is None:
        return []
    known = {} if shared.resources is None else shared.resources.parts
    found = []
    for i, part in state.resources.parts.items():
        theirs = known[i].variables if i in known else []
        for k, variable in enumerate(part.variables):
            if variable.update < 0:
                found.append(((i, k), variable.changes, theirs[k].changes if k < len(theirs) else 0))
    return found


def _weights(state: State, copied: bool = False) -> dict[str, Array]:
    weights = {} if state.resources is None else state.resources.weights
    return {name: array.copy() for name, array in weights.items()} if copied else weights


def _alike(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """True if weights are the same; those that nobody has set are ones."""
    if not a and not b:
        return True
    one = np.float64(1.0)
    return all(bool(np.all(a.get(name, one) == b.get(name, one))) for name in a.keys() | b.keys())
