"""Records of Duals whose parameters have tangents, for kernels that differentiate many states by numbers of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS, DualRows, aligned_zeros, value_blocks
from ..state.fields import PARAMETERS
from ..state.state import State
from .jvp import new_record_at
from .settings import Setting


class SeededRecord:
    """A record of Duals at a state, all of whose parameters are parts of one array, so that a place in it says which.

    Parameters
    ----------
    state : State

    Attributes
    ----------
    record : Record
        Kept, as kernels know its memory by addresses.
    numbers : array
        All parameters with their tangents.
    """

    def __init__(self, state: State) -> None:
        self.record = record = new_record_at(state, own_parameters=True)
        self._places: dict[str, int] = {}
        arrays = {name: getattr(record, name).array for name in PARAMETERS}
        self.numbers = aligned_zeros(sum(array.size for array in arrays.values()))
        at = 0
        for name, array in arrays.items():
            part = self.numbers[at : at + array.size].reshape(array.shape)
            part[...] = array
            record.share(name, part)
            self._places[name] = at
            at += array.size

    def places_of(self, field: str) -> npt.NDArray[np.int64]:
        """Places of a field's values among the numbers ``(rows * columns,)``."""
        of_field: DualRows = getattr(self.record, field)
        rows, columns = of_field.values.shape
        first = self._places[field] + TANGENTS * of_field.array.shape[2] * np.arange(rows)
        return (first[:, None] + np.arange(columns)).ravel()

    def seeds_of(
        self, state: State, settings: Sequence[Setting], columns: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[np.int64], Array]:
        """Numbers of the model that change with those of settings in a state, by place and column, and their rates."""
        places, rates = [], []
        each = [seeds for setting in settings for seeds in setting.seeds(state)]
        for column, seeds in zip(np.arange(len(each)) if columns is None else np.asarray(columns), each, strict=True):
            for field, rows, numbers, values in seeds:
                of_field: DualRows = getattr(self.record, field)
                blocks, width = value_blocks(of_field.values.shape[1]), of_field.array.shape[2]
                where = self._places[field] + TANGENTS * (rows * width + blocks + numbers)
                places += [(place, int(column)) for place in np.broadcast_to(where, np.shape(values)).tolist()]
                rates += np.asarray(values, np.float64).ravel().tolist()
        return np.array(places, np.int64).reshape(-1, 2), np.array(rates, np.float64)


def side_by_side(each: Sequence[tuple[npt.NDArray[np.int64], Array]]) -> tuple[npt.NDArray[np.int64], Array]:
    """Seeds of many states, as many of each: those that are missing are of no column."""
    seeds = np.full((len(each), max(len(rates) for _, rates in each), 2), -1)
    found = np.zeros(seeds.shape[:2])
    for i, (places, rates) in enumerate(each):
        seeds[i, : len(rates)], found[i, : len(rates)] = places, rates
    return seeds, found
