"""Forces whose functions are a user's and get parameters, which a state can have of its own: the base of these kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Callback, Routine
from ..state.named_parameters import NamedParameters
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.state import State
from ..value.checks import array
from ..value.rows import as_array
from .base import Force


def _rows_of_each(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    """Parameters, a set of them a state."""
    field, first, _ = element.number_place(template, "set_parameters")
    shape, given = element.get_default_parameters().shape, as_array(values)
    if given is None or given.shape[1:] != shape:
        return None
    flat = given.reshape(len(given), -1)
    return numbers_at(field, first + element.place_of_parameters, flat, flat.shape[1])


class OfFunctions(NamedParameters, Force):
    """A force that a user writes as functions; its parameters are its numbers from `place_of_parameters` on."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "routine"}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self.routine = self._routine_again()

    def _routine_again(self) -> Routine | Callback:
        """Its routine, for a copy: compiled code is not copied, but found again by the functions that it was made of."""
        raise NotImplementedError

    def _shape_of_parameters(self) -> tuple[int, ...]:
        """The shape that users give them in."""
        return (len(self.default_numbers) - self.place_of_parameters,)

    def number_runs(self) -> Mapping[str, tuple[int, int]]:
        return {"parameters": (self.place_of_parameters, len(self.default_numbers) - self.place_of_parameters)}

    def get_default_parameters(self) -> Array:
        """The parameters of its functions in a default state, in the shape in which they were given."""
        return np.reshape(self.default_numbers[self.place_of_parameters :], self._shape_of_parameters())

    def set_default_parameters(self, parameters: npt.ArrayLike | Mapping[str, float]) -> Self:
        """Change them, all, or those that a mapping names. A topological change. Returns the force."""
        self.default_numbers[self.place_of_parameters :] = self._as_many(parameters, self.get_default_parameters()).tolist()
        self.defaults_changed()
        return self

    def get_parameters(self, state: State) -> Array:
        """The parameters of its functions in this state, in the shape of `get_default_parameters`. Needs MODEL."""
        run = self.number_run(state, "get_parameters")[self.place_of_parameters :]
        return run.reshape(self._shape_of_parameters()).copy()

    @of_each(_rows_of_each)
    def set_parameters(self, state: State, parameters: npt.ArrayLike | Mapping[str, float]) -> None:
        """Change them in this state, all, or those that a mapping names; it falls to MODEL at most."""
        if not self.put_in(state, parameters, self.place_of_parameters, self._shape_of_parameters()):
            values = self._as_many(parameters, self.get_parameters(state))
            self.number_run(state, "set_parameters", True)[self.place_of_parameters :] = values

    def _as_many(self, parameters: Any, now: Array) -> Array:
        parameters = self.with_names(parameters, now)
        given: Array = array(f"parameters of {self._name!r}", parameters, np.shape(now))
        return given.ravel()
