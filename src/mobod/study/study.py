"""Study: what `run_many` has found, one row a state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .files import Folder

#: Before the name of what all states of a chunk share, such as the times of reports.
SHARED = "shared "


class Study(Mapping[str, npt.NDArray[Any]]):
    """Results of many runs: ``study[name]`` has a row a state, in the order of the parameters.

    Of a study that is kept in files, they are read when they are asked for, one name at a time.

    Attributes
    ----------
    parameters : dict of str to (n, ...) array
        What it was made with.
    """

    def __init__(
        self,
        parameters: Mapping[str, npt.NDArray[Any]],
        n: int,
        chunks: Sequence[tuple[int, int]],
        source: Folder | Mapping[tuple[int, int], Mapping[str, npt.NDArray[Any]]],
    ) -> None:
        self.parameters, self._n, self._chunks, self._source = dict(parameters), n, list(chunks), source
        self._names = list(self._of(self._chunks[0]))

    def _of(self, chunk: tuple[int, int], name: str | None = None) -> Mapping[str, npt.NDArray[Any]]:
        return self._source.load(*chunk, name) if isinstance(self._source, Folder) else self._source[chunk]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name in self._names:
            return np.concatenate([self._of(chunk, name)[name] for chunk in self._chunks])
        if SHARED + name in self._names:
            first, *others = (self._of(chunk, SHARED + name)[SHARED + name] for chunk in self._chunks)
            if not all(np.array_equal(first, other) for other in others):
                raise ValueError(f"{name} differs from chunk to chunk; let build return it with a row a state")
            return first
        raise KeyError(f"the study has no {name!r}; it has {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(SHARED) for name in self._names)

    def __len__(self) -> int:
        """Number of results of each state; `num_states` says how many states."""
        return len(self._names)

    @property
    def num_states(self) -> int:
        """Number of states."""
        return self._n

    def __repr__(self) -> str:
        return f"<Study of {self._n} states: {', '.join(self)}>"

    def to_xarray(self) -> Any:
        """Parameters and results as an ``xarray.Dataset`` along the dimension ``state`` (needs xarray).

        Examples
        --------
        ``study.to_xarray().to_dataframe()``, ``.sel``, ``.plot``, ``.to_netcdf(path)``.
        """
        from ..ensemble.labelled import xarray

        module = xarray("Study.to_xarray")
        shared = {name: self[name] for name in self if SHARED + name in self._names}
        found = {name: _labelled(name, self[name], shared) for name in self if name not in shared}
        # parameters are coordinates, by which results are selected and plotted
        labels = {name: _labelled(name, values, {}) for name, values in self.parameters.items()}
        along = {name: ((name,), values) for name, values in shared.items() if values.ndim == 1}
        return module.Dataset(found, coords={"state": np.arange(self._n), **labels, **along})


def _labelled(name: str, values: npt.NDArray[Any], shared: Mapping[str, Any]) -> tuple[tuple[str, ...], npt.NDArray[Any]]:
    """An array with names of its dimensions: the second is that of time where it is as long."""
    time = shared.get("time")
    timed = time is not None and values.ndim > 1 and values.shape[1] == len(time)
    more = [f"{name}_{i}" for i in range(1, values.ndim)]
    if timed:
        more[0] = "time"
    return ("state", *more), values
