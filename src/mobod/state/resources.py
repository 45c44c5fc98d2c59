"""Resources: what the subsystems have allocated in one state.

q, u and z are in the state's record, after the matter's; kept here is each subsystem's range of them. Discrete variables,
cache entries, slots for errors and event triggers, and weights are kept here with their values. What was allocated while a
stage was being realized is dropped when that stage is invalidated, as in Simbody's `State`.

Validity. A stage has a version, which changes when the stage is invalidated. For POSITION and above the setters of q, u and z
stay fast: they only clear bits of `State.valid`, and the version is counted up when it is next read (`version`). An entry is
valid if it was marked at the present versions and with the present prerequisites.
"""

from __future__ import annotations

import copy as _copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import StageError, TopologyError
from ..value.stage import INSTANCE, MODEL, POSITION, REPORT, TOPOLOGY, Stage
from .validity import unchanged_bit

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem
    from .allocation import Allocation
    from .state import State


#: By subsystem and index, discrete variables as `Resources.settings` tells them.
Settings = dict[tuple[int, int], tuple[int, Any]]

#: Beyond every stage: for entries that are computed on demand.
NEVER = 10

#: Values that need no copy.
_IMMUTABLE = {bool, int, float, complex, str, bytes}

#: What lies in the record.
VARIABLES = ("q", "u", "z")
#: Errors of constraints, of which each subsystem has a run of slots.
ERRORS = ("q_err", "u_err", "u_dot_err")


class DiscreteVariable:
    """A discrete variable; if it updates itself, also the index of the cache entry with its next value."""

    __slots__ = ("allocated", "changes", "invalidates", "last_update_time", "update", "value")

    def __init__(self, value: Any, invalidates: int, allocated: int) -> None:
        self.value, self.invalidates, self.allocated = value, invalidates, allocated
        self.update = -1
        self.last_update_time = np.nan
        self.changes = 0


class CacheEntry:
    """A value computed from the state, and its prerequisites."""

    __slots__ = ("allocated", "computed_by", "depends_on", "mark", "marks", "of_variables", "prerequisites", "value")

    def __init__(
        self,
        value: Any,
        depends_on: int,
        computed_by: int,
        allocated: int,
        of_variables: tuple[str, ...] = (),
        prerequisites: tuple[tuple[str, int, int], ...] = (),
    ) -> None:
        self.value, self.depends_on, self.computed_by, self.allocated = value, depends_on, computed_by, allocated
        #: Those of q, u and z that it depends on.
        self.of_variables = of_variables
        #: ("variable" or "entry", subsystem, index).
        self.prerequisites = prerequisites
        #: The value of `Resources._key` when it was last marked as realized (True) or not (False).
        self.mark: tuple[Any, bool] | None = None
        self.marks = 0


class _Copying:
    """Copies of values of one state that share with each other what the values share, and the system and its parts with all."""

    def __init__(self, system: MultibodySystem) -> None:
        self._system, self._knows_parts = system, False
        self._memo: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        if value is None or type(value) in _IMMUTABLE:
            return value
        if not (self._knows_parts or (type(value) is np.ndarray and not value.dtype.hasobject)):
            self._memo.update(_parts(self._system))  # of which there may be thousands
            self._knows_parts = True
        return _copy.deepcopy(value, self._memo)

    def of_each(self, ones: list[Any]) -> list[Any]:
        """Copies, with values of their own, of variables or entries."""
        copies = []
        for one in ones:
            other = object.__new__(type(one))  # `copy.copy` takes ten times as long
            for name in one.__slots__:
                setattr(other, name, getattr(one, name))
            other.value = self(one.value)
            copies.append(other)
        return copies


class Part:
    """The resources of one subsystem."""

    def __init__(self) -> None:
        #: For each of q, u and z: (stage below which it was allocated, initial values).
        self.runs: dict[str, list[tuple[int, Array]]] = {name: [] for name in VARIABLES}
        #: Slots of errors by name, and of event triggers by stage: (stage below which they were allocated, how many).
        self.slots: dict[str | int, list[tuple[int, int]]] = {}
        self.variables: list[DiscreteVariable] = []
        self.entries: list[CacheEntry] = []

    def drop(self, stage: int) -> None:
        """Forget what was allocated while *stage* or one above was being realized."""
        for runs in (self.runs, self.slots):
            for name, run in runs.items():
                runs[name] = [one for one in run if one[0] < stage - 1]  # type: ignore[index, misc]
        self.variables = [variable for variable in self.variables if variable.allocated < stage - 1]
        self.entries = [entry for entry in self.entries if entry.allocated < stage - 1]

    def copy(self, copying: _Copying) -> Part:
        """A copy with values of its own."""
        other = Part()
        other.restore(self.snapshot())
        other.variables, other.entries = copying.of_each(self.variables), copying.of_each(self.entries)
        return other

    def snapshot(self) -> tuple[Any, ...]:
        """The lists of allocations, without values, for `restore`."""
        return (
            {k: v[:] for k, v in self.runs.items()},
            {k: v[:] for k, v in self.slots.items()},
            self.variables[:],
            self.entries[:],
        )

    def restore(self, kept: tuple[Any, ...]) -> None:
        """Forget what was allocated since the snapshot."""
        self.runs, self.slots, self.variables, self.entries = kept


class Resources:
    """The resources of the subsystems in one state.

    Parameters
    ----------
    num_subsystems : int
    """

    def __init__(self, num_subsystems: int) -> None:
        self.parts: dict[int, Part] = {}
        self.versions = [0] * (REPORT + 1)
        #: While hooks are called: the stage that is being realized, and the subsystem whose turn it is.
        self.step, self.turn = 0, num_subsystems
        #: Whether the state is being realized now: hooks must not realize it again.
        self.realizing = False
        #: For q, u and z: where each subsystem's run starts, and how long it is.
        self.places: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in VARIABLES}
        #: Stages by which some entry is computed: only at these does `finish` mark entries.
        self.computing: set[int] = set()
        self.weights: dict[str, Array] = {}
        self.slots: dict[str | int, Array] = {}
        self.slot_places: dict[str | int, dict[int, tuple[int, int]]] = {}
        self._slots_version: tuple[int, int] | None = None
        #: For subsystems that were advanced beyond the state's stage: the version of each stage at that time.
        self.ahead: dict[int, dict[int, int]] = {}
        #: Values that variables take at the beginning of the next step.
        self.pending: dict[tuple[int, int], Any] = {}

    def copy(self, system: MultibodySystem) -> Resources:
        """A deep copy that refers to the same system and its parts; no hook is at work on it."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        copying = _Copying(system)
        other.parts = {subsystem: part.copy(copying) for subsystem, part in self.parts.items()}
        other.versions, other.computing = self.versions[:], set(self.computing)
        for name in ("places", "slot_places", "ahead"):
            setattr(other, name, {key: dict(one) for key, one in getattr(self, name).items()})
        for name in ("weights", "slots", "pending"):
            setattr(other, name, {key: copying(one) for key, one in getattr(self, name).items()})
        other.be_at_rest()
        return other

    def be_at_rest(self) -> None:
        """Forget that hooks are running: a copy may have been made while one was."""
        self.step, self.realizing = 0, False

    def part(self, subsystem: int) -> Part:
        """The resources of *subsystem*; none at first."""
        return self.parts.setdefault(subsystem, Part())

    # ------------------------------------------------------------------------------------------ stages and versions

    def version(self, state: State, stage: int) -> int:
        """A number that stays the same as long as *stage* is not invalidated."""
        if stage >= POSITION:
            bit = unchanged_bit(stage)
            if not state.valid & bit:
                state.valid |= bit
                self.versions[stage] += 1
        return self.versions[stage]

    def invalidate(self, stage: int, reached: int = 0) -> None:
        """Invalidate stages from *stage* on, in a state at *reached*; those from POSITION on are handled by `State.valid`."""
        for s in range(stage, POSITION):
            self.versions[s] += 1
        if stage <= INSTANCE and stage <= reached:
            for part in self.parts.values():
                part.drop(stage)
            if self.pending:
                self.pending = {key: value for key, value in self.pending.items() if key[1] < len(self.part(key[0]).variables)}

    def stage_of(self, state: State, subsystem: int) -> int:
        """The stage of *subsystem*: the state's, or the one below until its hook has run; or the one it was advanced to."""
        stage = self.step - (subsystem >= self.turn) if self.step else state.stage_number
        ahead = self.ahead.get(subsystem)
        if ahead:
            while stage < REPORT and ahead.get(stage + 1) == self.version(state, stage + 1):
                stage += 1
        return stage

    def finish(self, state: State, subsystem: int, stage: int) -> None:
        """*subsystem* has completed *stage*: marks the entries that it computes by that stage."""
        part = self.parts.get(subsystem)
        for entry in part.entries if part is not None else ():
            if entry.computed_by == stage:
                key = self._key(state, entry)
                if key is not None and entry.mark != (key, False):
                    entry.mark = key, True
                    entry.marks += 1

    def advance(self, state: State, subsystem: int, stage: int) -> None:
        """*subsystem* is at *stage*, one more than it was, whatever the state's."""
        self.ahead.setdefault(subsystem, {})[stage] = self.version(state, stage)
        self.finish(state, subsystem, stage)

    def snapshot(self) -> dict[int, tuple[Any, ...]]:
        """The present allocations, for `restore`."""
        return {subsystem: part.snapshot() for subsystem, part in self.parts.items()}

    def restore(self, kept: dict[int, tuple[Any, ...]]) -> None:
        """Forget what was allocated since snapshots were taken of the parts, and slots that were made with it."""
        self._slots_version = None
        for subsystem, part in self.parts.items():
            part.restore(kept.get(subsystem) or Part().snapshot())

    # ------------------------------------------------------------------------------------------ q, u, z

    def lay_out(self, order: Iterable[int], built_in: dict[str, dict[int, int]]) -> dict[str, dict[int, tuple[int, int]]]:
        """Each subsystem's range of q, u and z; those that kernels know, *built_in* by name and subsystem, come first."""
        places: dict[str, dict[int, tuple[int, int]]] = {}
        order = list(order)
        for name in VARIABLES:
            at, of_this, known = 0, places.setdefault(name, {}), built_in[name]
            for subsystem in sorted(order, key=lambda one: one not in known):
                part = self.parts.get(subsystem)
                n = known.get(subsystem, 0)
                n += sum(len(values) for _, values in part.runs[name]) if part is not None else 0
                of_this[subsystem] = at, n
                at += n
        return places

    def initial(self, name: str, subsystem: int) -> Array:
        """The values that a subsystem's q, u or z were allocated with."""
        part = self.parts.get(subsystem)
        values = [values for _, values in part.runs[name]] if part is not None else []
        return np.concatenate([np.zeros(0), *values])

    # ------------------------------------------------------------------------------------------ slots

    def lay_out_slots(self, state: State) -> None:
        """Make the slots of errors and event triggers, once the state is at INSTANCE; they are zero then."""
        version = self.versions[MODEL], self.versions[INSTANCE]
        if self._slots_version == version:
            return
        self._slots_version = version
        order = subsystem_order(state.system)
        self.slots, self.slot_places = {}, {}
        for name in (*ERRORS, *range(TOPOLOGY, REPORT + 1)):
            at, of_this = 0, self.slot_places.setdefault(name, {})
            for subsystem in order:
                part = self.parts.get(subsystem)
                n = state.num_matter_errors(name) if subsystem == order[0] and name in ERRORS else 0
                n += sum(count for _, count in part.slots.get(name, ())) if part is not None else 0
                of_this[subsystem] = at, n
                at += n
            self.slots[name] = np.zeros(at)
        self.slots["multipliers"] = np.zeros(len(self.slots["u_dot_err"]))
        self.slot_places["multipliers"] = self.slot_places["u_dot_err"]

    # ------------------------------------------------------------------------------------------ discrete variables

    def change(self, subsystem: int, index: int, time: float) -> DiscreteVariable:
        """A variable is set: its next value, computed from the old one, becomes invalid."""
        variable = self.part(subsystem).variables[index]
        variable.changes += 1
        variable.last_update_time = time
        self.pending.pop((subsystem, index), None)
        if variable.update >= 0:
            self.unmark(self.part(subsystem).entries[variable.update])
        return variable

    def settings(self, system: MultibodySystem, before: Settings | None = None) -> Settings:
        """The variables that do not update themselves: a change count and a copy of the value for each.

        Copies in *before* are reused where nothing has changed since.
        """
        found, before = {}, before or {}
        for subsystem, part in self.parts.items():
            for index, variable in enumerate(part.variables):
                if variable.update < 0:
                    known = before.get((subsystem, index))
                    same = known is not None and known[0] == variable.changes
                    found[subsystem, index] = (
                        known if same and known is not None else (variable.changes, own_copy(variable.value, system))
                    )
        return found

    def keep_updates(self, state: State) -> None:
        """At the end of a step: keep the realized next values, for `apply_updates` at the beginning of the next step.

        Reports interpolated in between realize the state at earlier times.
        """
        self.pending = {}
        state.system.remember(state)
        for subsystem, part in self.parts.items():
            for index, variable in enumerate(part.variables):
                if variable.update >= 0 and self.is_realized(state, subsystem, variable.update):
                    self.pending[subsystem, index] = own_copy(part.entries[variable.update].value, state.system)

    def apply_updates(self, time: float) -> None:
        """Exchange the variables with the next values that were kept; no stage is invalidated."""
        for (subsystem, index), value in self.pending.items():
            part = self.part(subsystem)
            variable = part.variables[index]
            entry = part.entries[variable.update]
            entry.value, variable.value = variable.value, value
            variable.changes += 1
            variable.last_update_time = time
            self.unmark(entry)
        self.pending = {}

    # ------------------------------------------------------------------------------------------ cache entries

    def _key(self, state: State, entry: CacheEntry) -> Any:
        """A value to compare of all that an entry's value depends on; None where a prerequisite is out of date."""
        key: list[Any] = [self.version(state, entry.depends_on)]
        for name in entry.of_variables:
            key.append(getattr(state, f"{name}_values").tobytes())
        for what, subsystem, index in entry.prerequisites:
            part = self.part(subsystem)
            if what == "variable":
                key.append(part.variables[index].changes)
            elif self.is_realized(state, subsystem, index):
                key.append(part.entries[index].marks)
            else:
                return None
        return tuple(key)

    def is_realized(self, state: State, subsystem: int, index: int) -> bool:
        """True if an entry's value is up to date."""
        entry = self.part(subsystem).entries[index]
        reached = max(state.stage_number, self.stage_of(state, subsystem))
        return reached >= entry.depends_on and entry.mark is not None and entry.mark == (self._key(state, entry), True)

    def mark(self, state: State, subsystem: int, index: int) -> None:
        """Mark an entry's value as up to date; `StageError` if one of its prerequisites is not."""
        entry = self.part(subsystem).entries[index]
        key = self._key(state, entry)
        if key is None:
            first = next(p for p in entry.prerequisites if p[0] == "entry" and not self.is_realized(state, p[1], p[2]))
            raise StageError(
                f"cache entry {index} cannot be up to date before cache entry {first[2]} of "
                f"{state.system.subsystems[first[1]]!r}, on which it depends; realize that one first"
            )
        entry.mark = key, True
        entry.marks += 1

    @staticmethod
    def unmark(entry: CacheEntry) -> None:
        """Mark an entry's value as out of date."""
        if entry.mark is not None:
            entry.mark = entry.mark[0], False
        entry.marks += 1


def own_copy(value: Any, system: MultibodySystem) -> Any:
    """A copy of a user's value that shares nothing with it; the system and its parts are the same in both."""
    if value is None or type(value) in _IMMUTABLE:
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.copy(order="K")
    if type(value) in (tuple, list) and all(one is None or type(one) in _IMMUTABLE for one in value):
        return type(value)(value)  # no need to look for parts of the system, of which there may be thousands
    return _copy.deepcopy(value, _parts(system))


def _parts(system: MultibodySystem) -> dict[int, Any]:
    """A deepcopy memo in which the system and its parts are their own copies.

    Parts of a model compare by identity: a copied body would not belong to the system.
    """
    found: list[Any] = [system, *system.subsystems, *system.event_handlers, *system.event_reporters]
    found += [measure for subsystem in system.subsystems for measure in subsystem.own_measures]
    found += system.all_forces()
    if system.matter is not None:
        bodies = system.matter.body_list
        found += [*bodies, *system.matter.constraints, *(one.driver for one in bodies if one.driver is not None)]
    found += [one.implementation for one in found if getattr(one, "implementation", None) is not None]
    return {id(one): one for one in found}


def subsystem_order(system: MultibodySystem) -> list[int]:
    """The subsystems in the order of their resources: the matter, whose q and u the kernels know, then the others."""
    matter = system.get_matter_subsystem().subsystem_index
    return [matter, *(i for i in range(len(system.subsystems)) if i != matter)]


def index_in(subsystem: Allocation, state: State, asked: str) -> int:
    """The subsystem's index, for a state of its own system; `TopologyError` for any other."""
    system = subsystem.system
    if system is None:
        raise TopologyError(
            f"{asked}: {subsystem!r} is in no system; call system.adopt_subsystem(it), or name one when making it"
        )
    if state.system is not system or state.version != system.topology_version:
        state.check_owner(system, f"{asked} of {subsystem!r}")
    return subsystem.subsystem_index


def named(stage: int) -> str:
    """A stage's name, for messages."""
    return Stage(stage).name
