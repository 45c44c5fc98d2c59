"""States of a motion: a sequence of them, made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from ..state.state import State
    from .trajectory import Trajectory


class States(Sequence["State"]):
    """The states of a trajectory: each a copy of the caller's own, made when it is asked for, to be realized."""

    def __init__(self, trajectory: Trajectory, indices: range, template: State) -> None:
        self._trajectory = trajectory
        self._indices = indices
        self.template = template

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> States: ...
    def __getitem__(self, index: int | slice) -> State | States:
        if isinstance(index, slice):
            return States(self._trajectory, self._indices[index], self.template)
        try:
            i = self._indices[index]
        except IndexError:
            raise IndexError(f"there are {len(self)} states; no number {index}") from None
        state = self.template.copy()
        self._fill(state, i, 0)
        return state

    def walk(self, indices: ArrayLike) -> Iterator[State]:
        """One state after the other in the place of the one before, for those who look and let go: no copies."""
        state, changes = self.template.copy(), 0
        for i in np.asarray(indices).tolist():
            changes = self._fill(state, self._indices[i], changes)
            yield state

    def _fill(self, state: State, i: int, changes: int) -> int:
        """Give *state*, which has seen so many *changes* of Instance variables, those of row *i*; changes until then."""
        known = self._trajectory.changes
        until = sum(change[0] <= i for change in known)
        if until != changes:
            template = self.template
            own, settings = known[until - 1][1:] if until else (template.kept_fields, template.settings())
            state.take_own(own)
            state.take_settings(settings)
        state.time = float(self._trajectory.time[i])
        state.q = self._trajectory.q[i]
        state.u = self._trajectory.u[i]
        if self._trajectory.z.shape[1]:
            state.z = self._trajectory.z[i]
        if self._trajectory.particle_locations.shape[1]:
            assert self._trajectory.system is not None
            matter = self._trajectory.system.get_matter_subsystem()
            matter.set_all_particle_locations(state, self._trajectory.particle_locations[i])
            matter.set_all_particle_velocities(state, self._trajectory.particle_velocities[i])
        return until

    def __iter__(self) -> Iterator[State]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} states of {self._trajectory!r}>"
