"""Table: labelled columns over time, such as markers, coordinates or forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.attributes import Sealed
from ..value.checks import number, numbers, suggest
from . import signal

if TYPE_CHECKING:
    import pandas as pd

#: What a column of each shape is, and how its numbers are named in a data frame.
KINDS = {(): ("",), (3,): ("x", "y", "z"), (4,): ("w", "x", "y", "z"), (2, 3): ("rx", "ry", "rz", "x", "y", "z")}


class Table(Sealed):
    """Labelled columns over time.

    Parameters
    ----------
    time : array_like (nt,)
        Ascending; seconds.
    columns : mapping of str to array_like
        Each ``(nt,)``, ``(nt, 3)`` for markers and vectors, ``(nt, 4)`` for quaternions (w, x, y, z) or ``(nt, 2, 3)`` for
        spatial vectors. NaN is a gap.
    name : str
        Of the data, or its file.
    metadata : mapping of str to str, optional
        What else the file's header says.
    report : sequence of str
        What reading it found, a sentence each.

    Attributes
    ----------
    time : (nt,) ndarray
    labels : tuple of str
        Of the columns, in their order; ``table[label]`` is one, read-only.
    name : str
    metadata : dict of str to str
    report : list of str

    Raises
    ------
    ValueError
        If columns and times do not fit together, or times do not ascend.

    Examples
    --------
    >>> table = Table([0.0, 0.5, 1.0], {"knee": [0.1, 0.2, 0.4]})
    >>> table["knee"]
    array([0.1, 0.2, 0.4])
    >>> table.between(0.5, 1.0)
    <Table: 2 times from 0.5 to 1, 1 column>
    """

    time: Array
    labels: tuple[str, ...]
    name: str
    metadata: dict[str, str]
    report: list[str]

    def __init__(
        self,
        time: npt.ArrayLike,
        columns: Mapping[str, npt.ArrayLike],
        *,
        name: str = "",
        metadata: Mapping[str, str] | None = None,
        report: Sequence[str] = (),
    ) -> None:
        self.time = _frozen(numbers("the times of a Table", time))
        if self.time.ndim != 1:
            raise ValueError(f"the times of a Table have the shape (nt,), not {self.time.shape}")
        back = np.flatnonzero(~(np.diff(self.time) > 0.0))
        if len(back) or not np.isfinite(self.time).all():
            k = int(back[0]) if len(back) else int(np.flatnonzero(~np.isfinite(self.time))[0])
            after = f" and time[{k + 1}] is {float(self.time[k + 1])!r}" if len(back) else ""
            raise ValueError(f"the times of a Table ascend; time[{k}] is {float(self.time[k])!r}{after}")
        self._columns: dict[str, Array] = {}
        for label, values in columns.items():
            column = _frozen(numbers(f"the column {label!r}", values))
            if column.shape[:1] != self.time.shape or column.shape[1:] not in KINDS:
                raise ValueError(
                    f"the column {label!r} has the shape {column.shape}; with {len(self.time)} times it is "
                    f"({len(self.time)},), or has 3, 4 or (2, 3) numbers a time"
                )
            self._columns[str(label)] = column
        self.labels = tuple(self._columns)
        if not isinstance(name, str):
            raise TypeError(f"name of a Table is text, not {name!r}")
        self.name, self.metadata, self.report = name, dict(metadata or {}), list(report)

    # ------------------------------------------------------------------------------------------ as a mapping

    def __len__(self) -> int:
        """Number of times."""
        return len(self.time)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._columns

    def __getitem__(self, label: str) -> Array:
        if label not in self._columns:
            raise KeyError(f"this table has no column {label!r}; {suggest(str(label), self.labels)}")
        return self._columns[label]

    def __repr__(self) -> str:
        span = f" from {self.time[0]:g} to {self.time[-1]:g}" if len(self) else ""
        title = f" {self.name!r}" if self.name else ""
        n = len(self.labels)
        return f"<Table{title}: {len(self)} time{'s' * (len(self) != 1)}{span}, {n} column{'s' * (n != 1)}>"

    @property
    def rate(self) -> float:
        """Rows a second, the mean; NaN of less than two rows."""
        return float((len(self) - 1) / (self.time[-1] - self.time[0])) if len(self) > 1 else np.nan

    # ------------------------------------------------------------------------------------------ other tables

    def between(self, start: float = -np.inf, end: float = np.inf) -> Table:
        """The rows from *start* to *end*, both included; a billionth of the step is allowed for rounding."""
        slack = 1e-9 / self.rate if len(self) > 1 else 0.0
        start, end = number("the start", start), number("the end", end)
        there = (self.time >= start - slack) & (self.time <= end + slack)
        if not there.any():
            span = f"; it goes from {self.time[0]:g} to {self.time[-1]:g}" if len(self) else "; it is empty"
            raise ValueError(f"the table has no time between {start:g} and {end:g}{span}")
        return self._with(self.time[there], {label: self._columns[label][there] for label in self.labels})

    def with_columns(self, columns: Mapping[str, npt.ArrayLike]) -> Table:
        """This table with further columns, or others in place of those of the same label."""
        return self._with(self.time, {**self._columns, **columns})

    def only(self, labels: Sequence[str]) -> Table:
        """This table with these columns alone, in this order."""
        return self._with(self.time, {label: self[label] for label in labels})

    def split(self, ends: Sequence[str] = ("x", "y", "z")) -> Table:
        """This table with each vector as three columns of numbers: ``force`` becomes ``forcex``, ``forcey``, ``forcez``.

        So OpenSim's files of ground forces have them, ``ground_force_vx`` and so on.
        """
        columns: dict[str, Array] = {}
        for label, column in self._columns.items():
            vector = column.shape[1:] == (3,)
            columns |= {f"{label}{end}": column[:, k] for k, end in enumerate(ends)} if vector else {label: column}
        return self._with(self.time, columns)

    def renamed(self, names: Mapping[str, str]) -> Table:
        """This table with other labels, by the old ones; the others keep theirs."""
        for label in names:
            self[label]
        new = [names.get(label, label) for label in self.labels]
        if len(set(new)) < len(new):
            raise ValueError(f"two columns would get one label: {sorted(one for one in set(new) if new.count(one) > 1)}")
        return self._with(self.time, dict(zip(new, self._columns.values(), strict=True)))

    def resampled(self, times: npt.ArrayLike | None = None, *, rate: float | None = None, degree: int = 3) -> Table:
        """This table at other times, by splines.

        Parameters
        ----------
        times : array_like (n,), optional
            Within the table's times.
        rate : float, optional
            In place of times: so many a second, from the first time on.
        degree : {1, 3, 5}
            Of the interpolating splines.

        Notes
        -----
        Where a gap is next to a time there is one in the result.
        """
        if (times is None) == (rate is None):
            raise ValueError("a table is resampled either at times or at a rate")
        if rate is not None:
            if not number("the rate", rate) > 0.0:
                raise ValueError(f"the rate is so many rows a second, above zero, not {rate!r}")
            count = int(np.floor((self.time[-1] - self.time[0]) * rate * (1.0 + 1e-12) + 1e-9)) + 1
            times = self.time[0] + np.arange(count) / rate
        at = np.asarray(numbers("the times", times), dtype=np.float64)
        slack = 1e-9 / self.rate
        if at.ndim != 1 or not len(at) or at.min() < self.time[0] - slack or at.max() > self.time[-1] + slack:
            raise ValueError(f"a table is resampled at times between {self.time[0]:g} and {self.time[-1]:g}; got {times!r}")
        return self._with(at, {label: signal.interpolated(self.time, c, at, degree) for label, c in self._columns.items()})

    def filtered(self, cutoff: float, order: int = 4) -> Table:
        """This table without what is faster than *cutoff*, and without delay.

        Parameters
        ----------
        cutoff : float
            Where the filter lets half of the power pass, of both passes together; 1/time. Below half the rate of rows.
        order : int
            Of the Butterworth filter of both passes together, even: it runs forward and backward, each with half of it.

        Raises
        ------
        ValueError
            If the rows are not evenly spaced (resample them), too few, or the cutoff is too high.

        Notes
        -----
        SciPy's ``butter`` and ``sosfiltfilt``, padded at the ends; the cutoff of each pass is raised, so that both passes
        together have the given one (Winter 2009, Biomechanics and Motor Control of Human Movement, section 3.4.4.2). Stretches
        between gaps are filtered one by one, those too short for the filter left as they are; gaps stay gaps.
        """
        step = signal.even_step(self.time)
        filtered = signal.butterworth(step, number("the cutoff", cutoff), order)
        return self._with(self.time, {label: filtered(column) for label, column in self._columns.items()})

    def with_gaps_filled(self, longest: float = np.inf) -> Table:
        """This table with gaps filled by cubic splines through what is around them.

        Parameters
        ----------
        longest : float
            Longer gaps stay; time. Gaps at the beginning and at the end always stay.
        """
        longest = number("the longest gap", longest)
        return self._with(self.time, {label: signal.filled(self.time, c, longest) for label, c in self._columns.items()})

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with time as its index; of vectors one column a number, ``label_x``.

        Needs ``pip install mobod[table]``.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("Table.to_pandas needs pandas: pip install 'mobod[table]'") from None
        columns = {}
        for label, column in self._columns.items():
            flat = column.reshape(len(self), -1)
            for k, end in enumerate(KINDS[column.shape[1:]]):
                columns[f"{label}_{end}" if end else label] = flat[:, k]
        return pd.DataFrame(columns, index=pd.Index(self.time, name="time"))

    def _with(self, time: Array, columns: Mapping[str, Any]) -> Table:
        return Table(time, columns, name=self.name, metadata=self.metadata, report=self.report)


def _frozen(array: Array) -> Array:
    found = np.array(array, dtype=np.float64)
    found.setflags(write=False)
    return found
