"""Controllers in a linear model: as though their laws acted all the time, or as they do, at samples.

With efforts e = E(x, m, w) of the state, of what laws remember and of the inputs, and what a sample adds to the memory,

    x' = A x + B w + B_e e        m' = (M(x, m, w) - m) / T

B_e being that of forces on their mobilities. Sampled every T, with the plant's F, G and G_e of what is held,

    x+ = F x + G w + G_e e            m+ = M(x, m, w)

E and M are differentiated as `derivative.laws` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..control.custom import Custom, controllers_of
from ..derivative.differences import columns
from ..derivative.laws import of_samples
from ..derivative.settings import seeds_of
from ..errors import ModelError
from ..state.state import State
from ..tree import sampling
from ..value.stage import Stage
from . import manifold
from .inputs import Inputs


class Laws:
    """The controllers that are switched on in a state.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At ACCELERATION.

    Attributes
    ----------
    system : MultibodySystem
    state : State
        A copy of it in which they exert what their laws give there, realized.
    pairs : list
        Of what they act on, a body's number and a mobility's each.
    by_differences : list of str
        The laws that `differentiate` has taken differences of.
    memory_names, effort_names : lists of str
        Of what they remember, and of their efforts, a number each.

    Raises
    ------
    ModelError
        If a sensor is late: there is no linear model of a delay with so few states.
    """

    def __init__(self, system: Any, state: State) -> None:
        self.system = system
        self._all = [one for one in controllers_of(system) if not one.is_disabled(state)]
        for one in self._all:
            if len(one.entry().memory) > sampling.EFFORTS + one.get_num_efforts() + len(one.get_memory(state)):
                raise ModelError(
                    f"a sensor of {one.name!r} is late, which no linear model in continuous time with its states has; "
                    "give it delay=0, or differentiate the run: simulate(..., sensitivities=['q', 'u'])"
                )
        self.by_differences: list[str] = []
        self.pairs = [pair for one in self._all for pair in _mobilities(one)]
        self._periods = [one.sample_time for one in self._all for _ in range(len(one.get_memory(state)))]
        self.memory_names = [f"{one.name}.memory[{k}]" for one in self._all for k in range(len(one.get_memory(state)))]
        self.effort_names = [f"{one.name}.efforts[{k}]" for one in self._all for k in range(one.get_num_efforts())]
        self.state = state.copy()
        efforts = self.efforts(state)[: len(self.pairs)]
        for one in self._all:
            n, first = one.get_num_efforts(), one.first_memory + sampling.EFFORTS
            self.state.record.control_memory[first : first + n, 0], efforts = efforts[:n], efforts[n:]
        self.state.u = state.u  # forces have changed
        system.realize(self.state)

    def places_of(self, controller: Custom) -> list[int]:
        """The efforts that are a controller's."""
        if controller not in self._all:
            raise ModelError(f"{controller.name!r} is no controller of {self.system.name!r} that is switched on in this state")
        of = [one for one in self._all for _ in range(one.get_num_efforts())]
        return [i for i, one in enumerate(of) if one is controller]

    def find_sample_time(self) -> float:
        """The sample time, which all have to have."""
        if not self._all:
            raise ModelError(f"no controller is switched on in {self.system.name!r}, and a sampled loop has its sample time")
        first = self._all[0]
        for one in self._all:
            if one.sample_time != first.sample_time:
                raise ModelError(
                    f"{first.name!r} is sampled every {first.sample_time:g} and {one.name!r} every {one.sample_time:g}; a "
                    "sampled linear model has one sample time: give both the same, or disable one in the state"
                )
        return first.sample_time

    def efforts(self, state: State) -> Array:
        """Efforts, and the rates of what is remembered, that laws give at a state at VELOCITY."""
        other, before, after, efforts = state.copy(), [], [], []
        for one in self._all:
            before.append(one.get_memory(state))
            one.sample(other)
            after.append(one.get_memory(other))
            efforts.append(one.get_efforts(other))
        rates = (np.concatenate([*after, []]) - np.concatenate([*before, []])) / np.array(self._periods)
        return np.concatenate([*efforts, rates])

    def differentiate(self, inputs: Inputs, n: int) -> tuple[Array, Array, Array]:
        """Derivatives of `efforts` by n states, by what is remembered, and by inputs."""
        state, k, failed = self.state, len(self.memory_names), dict.fromkeys(self._all, "")
        said: dict[Custom, str] = {}
        found = np.zeros((len(self.pairs) + k, n + k + len(inputs)))
        if not self.system.calls_python:
            changes, of = self._changes(n), [*range(n + k), *(n + k + i for i in inputs.of_settings)]
            after, said, failed = of_samples(state, self._all, changes, seeds_of(inputs.settings, state))
            before = np.zeros_like(after)
            before[:, : n + k] = changes["control_memory"]
            found[:, of] = self._rates(before, after)
        if failed:
            rows = np.concatenate([self._rows_of(one) for one in failed])
            found[rows] = np.hstack(self._differences(inputs, n))[rows]
        self.by_differences = [f"the law of {one.name}" for one in self._all if one in failed or one in said]
        return found[:, :n], found[:, n : n + k], found[:, n + k :]

    def _changes(self, n: int) -> dict[str, Array]:
        """Of what laws depend on by themselves, by n states and by what is remembered, a column each."""
        state, count = self.state, n + len(self.memory_names)
        nu, nz = state.tree.nu, len(state.z_view)
        found = {"q": np.zeros((state.tree.nq, count)), "u": np.zeros((nu, count)), "z": np.zeros((nz, count))}
        found["q"][:, np.r_[:nu, 2 * nu + nz : n]] = manifold.displacements_and_turns(state)
        found["u"][:, nu : 2 * nu], found["z"][:, 2 * nu : 2 * nu + nz] = np.eye(nu), np.eye(nz)
        found["control_memory"] = np.zeros((len(state.record.control_memory), count))
        found["control_memory"][self._memory_places(), n + np.arange(len(self.memory_names))] = 1.0
        return found

    def _memory_places(self) -> Any:
        """The places in `control_memory` of what laws remember."""
        return np.array([place for one in self._all for place in _places(one, self.state)[1]], int)

    def _rates(self, before: Array, after: Array) -> Array:
        """Changes of `efforts`, from those of `control_memory` before and after samples."""
        held = np.array([place for one in self._all for place in _places(one, self.state)[0]], int)
        kept = self._memory_places()
        rates: Array = (after[kept] - before[kept]) / np.reshape(self._periods, (-1, 1))
        return np.vstack([after[held], rates])

    def _rows_of(self, which: Custom) -> Any:
        """The rows of `efforts` that are a controller's."""
        of_efforts = np.concatenate([np.full(one.get_num_efforts(), one is which) for one in self._all])
        of_memory = np.concatenate([np.full(len(one.get_memory(self.state)), one is which) for one in self._all])
        return np.flatnonzero(np.concatenate([of_efforts, of_memory]))

    def _differences(self, inputs: Inputs, n: int) -> tuple[Array, Array, Array]:
        """The same by differences of fourth order."""
        state = self.state
        nu, nz = state.tree.nu, len(state.z_view)

        def at_variable(k: int, h: float) -> State:
            return manifold.displaced(state, k, h, n - nu - nz)

        def at_memory(k: int, h: float) -> State:
            other = state.copy()
            for one in self._all:
                numbers = one.get_memory(state)
                if 0 <= k < len(numbers):
                    numbers[k] += h
                    one.set_memory(other, numbers)
                k -= len(numbers)
            return other

        size = len(self.pairs) + len(self.memory_names)

        def rows(move: Callable[[int, float], State], count: int) -> Array:
            return columns(lambda k, h: self._efforts_at(move(k, h)), count, size)

        by_inputs = inputs.differences(state, inputs.of_settings, self.efforts, size)
        return rows(at_variable, n), rows(at_memory, len(self.memory_names)), by_inputs

    def _efforts_at(self, state: State) -> Array:
        self.system.realize(state, Stage.VELOCITY)
        return self.efforts(state)


def _places(one: Custom, state: State) -> tuple[range, range]:
    """The places in `control_memory` of a controller's efforts, and of what its law remembers."""
    first = one.first_memory + sampling.EFFORTS
    middle = first + one.get_num_efforts()
    return range(first, middle), range(middle, middle + len(one.get_memory(state)))


def _mobilities(one: Custom) -> list[tuple[int, int]]:
    return list(zip(one.pairs[::2], one.pairs[1::2], strict=True))
