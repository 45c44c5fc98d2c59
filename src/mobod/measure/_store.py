"""What measures keep in states without taking part in realizing them.

`Subsystem.allocate_discrete_variable` and its kin make the system one that Python realizes, since whoever calls them has hooks.
A measure that only keeps a value there has none, so it allocates here.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..resources import NEVER, CacheEntry, DiscreteVariable, Part
from ..stage import Stage

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem


def part(subsystem: Subsystem, state: State) -> Part:
    """What the subsystem has in the state."""
    return state._upd_resources().part(subsystem._subsystem_index)


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
