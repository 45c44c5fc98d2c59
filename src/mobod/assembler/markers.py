"""Markers: points fixed on bodies, with observed locations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.state import State
from ..tree import normal_equations
from ..value.checks import shaped, vector
from ._normal import Normal
from ._observed import Observed


class Markers(Observed):
    """Points fixed on bodies and fitted to observed locations in Ground, as in motion capture.

    As a goal: half the weighted mean of the squared distances, `sum w |p - p_observed|^2 / (2 sum w)`. As a requirement: all
    three components of each difference. Observations that are NaN are missing, and their markers do not count in that frame.

    Parameters
    ----------
    name : str
        For messages.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    >>> state = system.realize_topology()
    >>> markers = mb.assembler.Markers()
    >>> markers.add_marker("tip", pin, (1, 0, 0))
    0
    >>> markers.move_all_observations([(0.8, 0.6, 0)])
    >>> assembler = mb.Assembler(system)
    >>> index = assembler.adopt_assembly_goal(markers)
    >>> goal = assembler.assemble(state)
    >>> print(f"{state.q[0]:.4f}")
    0.6435
    """

    _what, shape = "marker", (3,)
    is_spatial = True

    def __init__(self, name: str = "Markers") -> None:
        super().__init__(name)

    def add_marker(self, name: str | None, body: Any, station: npt.ArrayLike, weight: float = 1.0) -> int:
        """Fix a marker on a body; its index.

        Parameters
        ----------
        name : str or None
            Unique among the markers; one is made where it is empty.
        body : body
            By object, index or name. One on Ground does not count.
        station : (3,) array_like
            Where it is, in the body's frame; length.
        weight : float
            Its weight relative to the others; zero leaves it out.
        """
        return self._add_sensor(name, body, vector("the station of a marker", station), weight)

    def get_num_markers(self) -> int:
        """Number of markers."""
        return len(self._names)

    def get_marker_name(self, marker: int) -> str:
        """A marker's name."""
        return self._names[self._sensor_index(marker)]

    def get_marker_index(self, name: str) -> int:
        """The index of the marker with a name; `KeyError` where there is none."""
        return self._sensor_index(name)

    def get_marker_weight(self, marker: int | str) -> float:
        """A marker's weight."""
        return self._weights[self._sensor_index(marker)]

    def change_marker_weight(self, marker: int | str, weight: float) -> None:
        """Change a marker's weight; the Assembler stays initialized."""
        self._change_weight(marker, weight)

    def get_marker_body(self, marker: int | str) -> Any:
        """The body that a marker is fixed on, as it was given."""
        return self._bodies[self._sensor_index(marker)]

    def get_marker_station(self, marker: int | str) -> Array:
        """A marker's station on its body ``(3,)``, in the body's frame."""
        return self._sensors[self._sensor_index(marker)].copy()

    def get_markers_on_body(self, body: Any) -> list[int]:
        """The indices of the markers fixed on a body."""
        return self._sensors_on(body)

    def get_observation_index_for_marker(self, marker: int | str) -> int | None:
        """The index of a marker's observation in a frame; None where there is none."""
        return self._observation_for(marker)

    def get_marker_index_for_observation(self, observation: int) -> int | None:
        """The marker of an observation; None if the observation is ignored."""
        return self._sensor_for(observation)

    def has_marker(self, observation: int) -> bool:
        """True if an observation is of some marker."""
        return self._sensor_for(observation) is not None

    def move_one_observation(self, observation: int, location: npt.ArrayLike) -> None:
        """Take what was observed ``(3,)`` in Ground; NaN where it is missing."""
        self._move(observation, shaped("an observed location", location, (3,)))

    def move_all_observations(self, observations: npt.ArrayLike) -> None:
        """Take a whole frame ``(num_observations, 3)`` in Ground; NaN where one is missing."""
        self._move_all(observations)

    # ------------------------------------------------------------------------------------------ what is found

    def find_current_marker_location(self, marker: int | str) -> Array:
        """Location of a marker in Ground ``(3,)``, in the Assembler's internal state."""
        index = self._sensor_index(marker)
        state, b = self._body_now(index)
        return state.record.p_GB[b, :3] + state.R_GB[b] @ self._sensors[index]

    def find_current_marker_error(self, marker: int | str) -> float:
        """Distance of a marker from its observation; zero where there is none."""
        return float(np.sqrt(self.find_current_marker_error_squared(marker)))

    def find_current_marker_error_squared(self, marker: int | str) -> float:
        """The square of that."""
        observed = self._observed(marker)
        if observed is None:
            return 0.0
        apart = self.find_current_marker_location(marker) - observed
        return float(apart @ apart)

    def find_current_marker_errors(self) -> Array:
        """Distance of each marker from its observation ``(num_markers,)``; NaN where there is none."""
        errors = np.full(len(self._names), np.nan)
        for i in range(len(self._names)):
            if self._observed(i) is not None:
                errors[i] = self.find_current_marker_error(i)
        return errors

    # ------------------------------------------------------------------------------------------ the condition

    def calc_errors(self, state: State) -> Array:
        """Location less observation, of those that are observed and count ``(3 m,)``."""
        self._need_ready()
        present = self._present()
        b = self._used_bodies[present]
        p = state.record.p_GB[b, :3] + np.einsum("tij,tj->ti", state.R_GB[b], self._used_sensors[present])
        return (p - self._targets[present]).ravel()

    def calc_goal(self, state: State) -> float:
        """Half the weighted mean of the squared distances."""
        self._need_ready()
        arguments = self._used_bodies, self._used_sensors, self._targets, self._active_weights
        return self._scale * float(normal_equations.sum_of_squares(state.block, *arguments))

    def jacobian_u(self, state: State) -> Array:
        present = self._present()
        matter = self.get_matter_subsystem()
        return matter.frame_jacobian(state, "Markers", self._used_bodies[present], self._used_sensors[present], 3)

    def in_use(self) -> tuple[npt.NDArray[np.int64], Array, npt.NDArray[np.int64], Array]:
        """Of those that draw the system: bodies, stations, which observation each is, and weights."""
        return self._used_bodies, self._used_sensors, self._places, self._used_weights

    def added_to(self, state: State, weight: float, normal: Normal) -> float:
        w = (weight * self._scale) * self._active_weights
        return normal.add_stations(state, self._used_bodies, self._used_sensors, self._targets, w)

    def report(self, state: State) -> list[tuple[str, float]]:
        errors = np.abs(self.calc_errors(state).reshape(-1, 3)).max(axis=1, initial=0.0)
        return [(f"marker {self._names[self.used[i]]!r}", float(e)) for i, e in zip(self._present(), errors, strict=True)]
