"""Inputs of a linear model: mobilities, and numbers of the model that a state can have of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.differences import along
from ..derivative.settings import Setting, find
from ..mobilizer.base import MobilizedBody
from ..simulation.names import speed_names
from ..state.state import State
from ..value.checks import suggest
from ..value.stage import Stage


class Inputs:
    """Inputs of a linear model: mobilities, by the index of u, and settings; a number an input.

    Parameters
    ----------
    system : MultibodySystem
    state : State
    given : sequence or None
        Pairs ``(mobod, which_u)``, bodies with one mobility, names of mobilities, or what `settings.find` takes, whose numbers
        follow each other; None stands for every mobility.
    """

    def __init__(self, system: Any, state: State, given: Sequence[Any] | None) -> None:
        self._system = system
        names = speed_names(system, state)[: state.tree.nu]
        self.names: list[str] = []
        self._each: list[int | tuple[Setting, int]] = []
        if given is None:
            self._each, self.names = list(range(len(names))), [f"{name}.force" for name in names]
            return
        named = system.get_matter_subsystem().mobilities_by_name()
        for one in listed("inputs", given):
            if isinstance(one, (tuple, MobilizedBody)) or (isinstance(one, str) and one in named):
                self._each.append(mobility_of(system, state, one))
                self.names.append(f"{names[self._each[-1]]}.force")  # type: ignore[index]
                continue
            if isinstance(one, str) and "." not in one:
                raise ValueError(f"{INPUT}, got {one!r}; of mobilities {suggest(one, list(named))}")
            setting = find(system, one)
            self._each += [(setting, i) for i in range(setting.size)]
            self.names += setting.names

    def __len__(self) -> int:
        return len(self._each)

    def calc_rates(self, state: State, mobility_forces: Array) -> Array:
        """Derivatives of u_dot by the inputs, from those by *mobility_forces* ``(nu, nu)``."""
        columns = np.zeros((state.tree.nu, len(self)))
        for k, one in enumerate(self._each):
            if isinstance(one, int):
                columns[:, k] = mobility_forces[:, one]
        if self.settings:
            columns[:, self.of_settings] = self._system.calc_parameter_derivatives(state, self.settings)
        return columns

    @property
    def settings(self) -> list[Setting]:
        """The settings, in order."""
        return list(dict.fromkeys(one[0] for one in self._each if not isinstance(one, int)))

    @property
    def of_settings(self) -> list[int]:
        """The inputs that are numbers of settings."""
        return [k for k, one in enumerate(self._each) if not isinstance(one, int)]

    @property
    def of_mobilities(self) -> list[tuple[int, int]]:
        """The inputs that are forces on mobilities, each with its mobility."""
        return [(k, one) for k, one in enumerate(self._each) if isinstance(one, int)]

    def pushed(self, state: State, k: int) -> Callable[[float], State]:
        """The state, realized to ACCELERATION, at input k larger by h, as a function of h."""
        one = self._each[k]

        def at(h: float) -> State:
            if not isinstance(one, int):
                other = one[0].moved(state, one[1], h)
                self._system.realize(other)
                return other
            other = state.copy()
            other.u = state.u
            self._system.realize(other, Stage.DYNAMICS)
            other.record.mobility_forces[one, 0] += h  # as though an element had added it
            self._system.realize(other)
            return other

        return at

    def differences(self, state: State, of: Iterable[int], values: Callable[[State], Array], size: int) -> Array:
        """Derivatives of values of a state ``(size, len(self))`` by some inputs, zeros by the others."""
        found = np.zeros((size, len(self)))
        for k in of:
            pushed, one = self.pushed(state, k), self._each[k]
            h = 1e-2 if isinstance(one, int) else one[0].step(state, one[1])
            found[:, k] = along(lambda h, pushed=pushed: values(pushed(h)), h)  # type: ignore[misc]
        return found

    def moved(self, state: State, changes: Array) -> State:
        """A copy of the state with all inputs changed; they have to be settings."""
        for k, change in enumerate(changes):
            one = self._each[k]
            assert not isinstance(one, int)
            state = one[0].moved(state, one[1], float(change))
        return state


def every_mobility(system: Any, state: State) -> list[tuple[Any, int]]:
    """All mobilities, as pairs."""
    num_u = state.tree.num_u
    return [(body, i) for body in system.get_matter_subsystem().body_list[1:] for i in range(num_u[body.index])]


def listed(what: str, given: Any) -> Sequence[Any]:
    """Inputs or outputs: a list, or a tuple that is no single pair; text alone would count letter by letter."""
    single = isinstance(given, Sequence) and len(given) == 2 and isinstance(given[0], MobilizedBody)
    single = single and isinstance(given[1], (int, np.integer, np.ndarray))  # a mobility, or a station
    if isinstance(given, str) or not isinstance(given, Sequence) or single:
        raise TypeError(f"{what} has to be a list, such as [{given!r}], not {given!r}")
    return given


INPUT = "an input is (mobod, which_u), a body with one mobility, a mobility's name, a setter, or 'element.parameter'"


def mobility_of(system: Any, state: State, pair: Any, what: str = INPUT) -> int:
    """The index among u of a pair (mobod, which_u); *what* the caller takes is said where it is none."""
    if not isinstance(pair, (MobilizedBody, str)) and (not isinstance(pair, Sequence) or len(pair) != 2):
        raise ValueError(f"{what}, got {pair!r}")
    body, i = system.get_matter_subsystem().find_mobility(pair)
    return int(body.u_slice(state).start + i)
