"""The names of the parameters that a user's functions get: given with them, and what one is read and changed by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..value.checks import suggest
from .state import State


def names_and_values(parameters: Any) -> tuple[tuple[str, ...], Any]:
    """The names of a mapping and a list of its values; of a sequence no names and itself."""
    if not isinstance(parameters, Mapping):
        return (), parameters
    names = tuple(parameters)
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"a parameter's name is a word such as 'stiffness', not {name!r}")
    return names, list(parameters.values())


class NamedParameters:
    """An element with ``get_parameters`` and ``set_parameters``, whose parameters may have names: a mapping was given."""

    INNER = frozenset({"with_names"})

    #: Names of the parameters, in the order in which functions get them; empty where a sequence was given.
    parameter_names: tuple[str, ...] = ()
    if TYPE_CHECKING:
        name: Any
        get_parameters: Any
        set_parameters: Any

    def get_parameter(self, state: State, name: str) -> float:
        """The parameter of this name in this state. Needs MODEL."""
        return float(self.get_parameters(state)[self._number_of_parameter(name)])

    def set_parameter(self, state: State, name: str, value: float) -> None:
        """Change the parameter of this name in this state, as ``set_parameters``; the others stay."""
        self.set_parameters(state, {name: value})

    def with_names(self, parameters: Any, now: Any) -> Any:
        """The numbers *now* with those that a mapping names put in their places; a sequence as it is."""
        if not isinstance(parameters, Mapping):
            return parameters
        values = np.array(now, np.float64)
        for name, value in parameters.items():
            values[self._number_of_parameter(name)] = value
        return values

    def _number_of_parameter(self, name: str) -> int:
        if name not in self.parameter_names:
            if not self.parameter_names:
                raise ValueError(f"parameters of {self!r} have no names; give them as a mapping: parameters={{{name!r}: ...}}")
            raise ValueError(f"{self!r} has no parameter {name!r}; {suggest(str(name), self.parameter_names)}")
        return self.parameter_names.index(name)
