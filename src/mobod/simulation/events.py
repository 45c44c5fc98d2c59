"""Events: what happened in a run, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.html_table import html_table
from .event_log import BEFORE, Label

if TYPE_CHECKING:
    import pandas as pd

#: Lines that are printed of a longer table.
_MOST_LINES = 40
COLUMNS = ("time", "name", "kind", "direction", "witness", "energy")


class Event(NamedTuple):
    """One thing that happened.

    Attributes
    ----------
    time : float
        When, as exactly as it was localized.
    name : str
        Of the handler or reporter; of what was set or struck: a mobilizer, a constraint, a contact; or of a subsystem.
    kind : str
        ``"triggered"`` where a witness changed sign, ``"scheduled"`` where a handler was due, ``"changed"`` of others, such
        as contacts, that changed the energy then; and what followed, at the same
        time: ``"locked"``, ``"unlocked"``, ``"enabled"`` or ``"disabled"`` of a constraint, ``"driven"`` or ``"let go"`` by a
        motion, ``"attached"`` or ``"detached"`` of a mass, ``"struck"`` by an impact, ``"closed"``, ``"opened"``,
        ``"stuck"``, ``"slid"`` of a unilateral contact.
    direction : str
        ``"rising"`` or ``"falling"``, of a witness.
    witness : str
        What changed sign.
    energy : float
        What kinetic and potential energy it added, below zero where it was lost; of a handler what it did beside what
        followed, so that the sum of all is what events have changed; mass*length^2/time^2.
    impulse : array
        Of what was set, on the mobilities of a mobilizer ``(nu,)``, force*time or torque*time; of a constraint or a contact
        (along the normal, and the two directions of friction), by each equation as multipliers are; of `ImpactWhen` along the
        gap; of a mass on its body (torque, force), at its origin and in Ground. Empty where nothing acted by an impulse.
    state : int
        Which state of an ensemble; 0 of a run of one.
    """

    time: float
    name: str
    kind: str
    direction: str
    witness: str
    energy: float
    impulse: Array
    state: int


class Events(Sequence[Event]):
    """The events of a run: ``trajectory.events``, and of all states of an ensemble ``motions.events``.

    ``events[3]`` is an `Event`, ``events["time"]`` a column as an array, ``events[events["name"] == "latch"]`` some of them.
    ``print(events)`` is a table. Scheduled reporters are not in it.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> system.add_event_handler(mb.event.LockWhen(arm, mb.event.Coordinate(arm, 0, 0.0), name="latch"))
    >>> motion = mb.simulate(system, state, 1.0, accuracy=1e-6)
    >>> print(motion.events)
    time      name   kind       direction  witness                         energy    impulse
    0.793052  latch  triggered  falling    <Coordinate 0 of 'lower' at 0>  0
    0.793052  lower  locked                                                -15.6689  2.5165
    """

    def __init__(self, rows: Any, labels: Sequence[Sequence[str]], states: npt.NDArray[np.int64] | None = None) -> None:
        self._rows, self._states = np.asarray(rows, dtype=np.float64), states
        self._labels: list[Label] = [tuple(one) for one in labels]  # type: ignore[misc]
        if self._rows.ndim != 2 or self._rows.shape[1] < BEFORE:
            raise ValueError(f"rows of events have {BEFORE} numbers or more, and the shape is {self._rows.shape}")
        places, most = self._rows[:, 1].tolist(), max(1, len(labels))
        if any(len(one) != 4 for one in self._labels) or not all(0 <= place < most for place in places):
            raise ValueError(f"the events do not fit their {len(labels)} labels of name, kind, direction and witness")

    @property
    def rows(self) -> Array:
        """The numbers, see `event_log`."""
        return self._rows

    @property
    def labels(self) -> list[Label]:
        """The words."""
        return self._labels

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, key: int) -> Event: ...
    @overload
    def __getitem__(self, key: str) -> npt.NDArray[Any]: ...
    @overload
    def __getitem__(self, key: slice | npt.NDArray[Any]) -> Events: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice | np.ndarray | list):
            return Events(self._rows[key], self._labels, None if self._states is None else self._states[key])
        try:
            row = self._rows[key]
        except IndexError as error:
            raise IndexError(f"there are {len(self)} events; no number {key!r}") from error
        words = self._labels[int(row[1])]
        state = 0 if self._states is None else int(self._states[key])
        return Event(float(row[0]), *words, float(row[2]), row[BEFORE : BEFORE + int(row[3])].copy(), state)

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(len(self)))

    def _column(self, name: str) -> npt.NDArray[Any]:
        if name == "time" or name == "energy":
            return self._rows[:, 0 if name == "time" else 2].copy()
        if name == "state":
            return np.zeros(len(self), np.int64) if self._states is None else self._states.copy()
        if name == "impulse":
            found = np.empty(len(self), object)
            found[:] = [one.impulse for one in self]
            return found
        if name not in COLUMNS:
            raise KeyError(f"events have no column {name!r}; they have {', '.join(COLUMNS)}, impulse and state")
        of_labels = np.array([label[COLUMNS.index(name) - 1] for label in self._labels], object)
        return np.asarray(of_labels[self._rows[:, 1].astype(np.int64)] if len(self) else np.empty(0, object))

    def to_pandas(self) -> pd.DataFrame:
        """Make a table: a row an event, with the columns of `Event`; of an ensemble ``state`` comes first.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install 'mobod[table]'") from error
        names = [*([] if self._states is None else ["state"]), *COLUMNS, "impulse"]
        return pandas.DataFrame({name: self[name] for name in names})

    # ------------------------------------------------------------------------------------------ as text

    def _texts(self, most: int) -> tuple[list[str], list[list[str]]]:
        """A header, and the rows as words."""
        header = [*([] if self._states is None else ["state"]), *COLUMNS, "impulse"]
        lines = []
        for one in self[:most]:
            numbers = " ".join(f"{value:.6g}" for value in one.impulse)
            line = [f"{one.time:.6g}", one.name, one.kind, one.direction, one.witness, f"{one.energy:.6g}", numbers]
            lines.append(line if self._states is None else [str(one.state), *line])
        return header, lines

    def __str__(self) -> str:
        if not len(self):
            return "no events"
        header, lines = self._texts(_MOST_LINES)
        widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
        text = ["  ".join(word.ljust(n) for word, n in zip(line, widths, strict=True)).rstrip() for line in (header, *lines)]
        if len(self) > _MOST_LINES:
            text.append(f"and {len(self) - _MOST_LINES} more")
        return "\n".join(text)

    def __repr__(self) -> str:
        return f"<Events: {len(self)}>"

    def _repr_html_(self) -> str:
        header, lines = self._texts(_MOST_LINES)
        return html_table(f"{len(self)} events", header, lines, _MOST_LINES)


def no_events() -> Events:
    """A table without rows."""
    return Events(np.zeros((0, BEFORE)), ())


def joined(of_states: Mapping[int, Events]) -> Events:
    """The events of several runs as one table, those of the first state first."""
    labels: dict[Label, int] = {}
    width = max((one.rows.shape[1] for one in of_states.values()), default=BEFORE)
    tables, states = [np.zeros((0, width))], [np.zeros(0, np.int64)]
    for i in sorted(of_states):
        one = of_states[i]
        places = np.array([labels.setdefault(label, len(labels)) for label in one.labels], np.int64)
        table = np.full((len(one), width), np.nan)
        table[:, : one.rows.shape[1]] = one.rows
        if len(one):
            table[:, 1] = places[one.rows[:, 1].astype(np.int64)]
        tables.append(table)
        states.append(np.full(len(one), i))
    return Events(np.concatenate(tables), list(labels), np.concatenate(states))
