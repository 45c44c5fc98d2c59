"""Part: the parameters of some states of a study, as `run_many` hands them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt


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
