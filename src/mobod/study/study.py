"""Study: the results of `run_many`, one row a state; Part: the parameters of some states, as it hands them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .files import Folder


class Part(Mapping[str, npt.NDArray[Any]]):
    """The parameters of some states of a study: ``part[name]`` has a row a state, ``len(part)`` says how many there are.

    Attributes
    ----------
    index : (m,) int array
        The states' numbers in the whole study.
    """

    def __init__(self, parameters: Mapping[str, npt.NDArray[Any]], index: npt.NDArray[np.int64], seed: int) -> None:
        self._parameters, self.index, self._seed = dict(parameters), index, seed

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        try:
            return self._parameters[name]
        except KeyError:
            raise KeyError(f"the study has no parameter {name!r}; it has {', '.join(self._parameters) or 'none'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        """The number of states, not of parameters."""
        return len(self.index)

    def __repr__(self) -> str:
        last = f" to {self.index[-1]}" if len(self) > 1 else ""
        return f"<Part of a study: state {self.index[0]}{last}, {', '.join(self) or 'no parameters'}>"

    @property
    def seeds(self) -> npt.NDArray[np.uint64]:
        """A seed of each state ``(m,)``, by its number in the study: the same whatever part it is in."""
        return np.array([self._sequence(i).generate_state(1, np.uint64)[0] for i in self.index], np.uint64)

    def generators(self) -> list[np.random.Generator]:
        """A random generator of each state, likewise."""
        return [np.random.default_rng(self._sequence(i)) for i in self.index]

    def _sequence(self, i: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._seed, spawn_key=(int(i),))


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
