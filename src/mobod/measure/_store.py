"""State variables of measures that take no part in realizing states.

`Subsystem.allocate_discrete_variable` and the like make the system one that Python realizes, since their callers have hooks.
A measure that only keeps a value there has none, so it allocates here.
"""

from __future__ import annotations

import copy
from typing import Any

from ..state.resources import NEVER, CacheEntry, DiscreteVariable, Part
from ..state.state import State
from ..state.subsystem import Subsystem
from ..value.stage import Stage


def part(subsystem: Subsystem, state: State) -> Part:
    """The subsystem's part of the state."""
    return state.upd_resources().part(subsystem.subsystem_index)


def allocate_variable(subsystem: Subsystem, state: State, invalidates: Stage, value: Any) -> int:
    """A discrete variable; its index."""
    variables = part(subsystem, state).variables
    variables.append(DiscreteVariable(copy.deepcopy(value), int(invalidates), int(Stage.EMPTY)))
    return len(variables) - 1


def allocate_z(subsystem: Subsystem, state: State, values: Any) -> int:
    """Auxiliary variables, whose rates compiled steps find; the place of the first among the subsystem's."""
    runs = part(subsystem, state).runs["z"]
    first = sum(len(run) for _, run in runs)
    runs.append((int(Stage.EMPTY), values.copy()))
    return first


def allocate_entry(subsystem: Subsystem, state: State, depends_on: Stage, value: Any) -> int:
    """A cache entry that is valid where it is marked; its index."""
    entries = part(subsystem, state).entries
    entries.append(CacheEntry(copy.deepcopy(value), int(depends_on), NEVER, int(Stage.EMPTY)))
    return len(entries) - 1
