"""The base of Markers and OrientationSensors: sensors with names and weights, and the order of observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..value.checks import index_of, not_negative, shaped
from .condition import Condition


class Observed(Condition):
    """Sensors fixed on bodies, and observations of them, frame by frame.

    A subclass says what a sensor is called, and the shape of an observation.
    """

    _what = "sensor"
    shape: tuple[int, ...] = (3,)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._names: list[str] = []
        self._bodies: list[Any] = []
        self._sensors: list[Array] = []
        self._weights: list[float] = []
        self._by_name: dict[str, int] = {}
        self._order: list[int | None] = []
        self._observation_of: list[int | None] = []
        self._observations = np.zeros((0, *self.shape))
        self._is_ordered = False

    # ------------------------------------------------------------------------------------------ sensors

    def _add_sensor(self, name: str | None, body: Any, sensor: Array, weight: float) -> int:
        value = not_negative(f"the weight of a {self._what}", weight, ValueError)
        index = len(self._names)
        text = (name or "").strip() or f"{self._what}_{index}"
        if text in self._by_name:
            raise ModelError(f"there is a {self._what} {text!r} already; names are unique among them")
        self.uninitialize_assembler()
        self._names.append(text)
        self._by_name[text] = index
        self._bodies.append(body)
        self._sensors.append(sensor)
        self._weights.append(value)
        self._is_ordered = False
        self._order, self._observation_of = [], []
        self._observations = np.zeros((0, *self.shape))
        return index

    def _sensor_index(self, sensor: int | str) -> int:
        if isinstance(sensor, str):
            if sensor not in self._by_name:
                raise KeyError(f"there is no {self._what} {sensor!r}; there are {self._names}")
            return self._by_name[sensor]
        return index_of(len(self._names), sensor, self, f"{self._what}s")

    def _change_weight(self, sensor: int | str, weight: float) -> None:
        index, value = self._sensor_index(sensor), not_negative(f"the weight of a {self._what}", weight, ValueError)
        self._weights[index] = value
        if self._is_ready:
            self._pack()

    # ------------------------------------------------------------------------------------------ observations

    def define_observation_order(self, observation_order: Sequence[int | str | None] = ()) -> None:
        """Define the sensor of each observation of a frame.

        Parameters
        ----------
        observation_order : sequence of int, str or None
            A sensor's index or name for each observation; None or an unknown name for data to be ignored. Empty, the default,
            means one observation a sensor, in their order.

        Raises
        ------
        ValueError
            If a sensor is named twice.

        Notes
        -----
        All observations are missing afterwards. Adding a sensor forgets the order.
        """
        order: list[int | None] = []
        for one in observation_order if len(observation_order) else range(len(self._names)):
            if isinstance(one, str):
                order.append(self._by_name.get(one))
            elif one is None or (isinstance(one, (int, np.integer)) and one < 0):
                order.append(None)
            else:
                order.append(self._sensor_index(one))
        found: list[int | None] = [None] * len(self._names)
        for place, index in enumerate(order):
            if index is None:
                continue
            if found[index] is not None:
                raise ValueError(
                    f"{self._what} {self._names[index]!r} is given for observations {found[index]} and {place}; "
                    f"each {self._what} has one at most"
                )
            found[index] = place
        self.uninitialize_assembler()
        self._order, self._observation_of = order, found
        self._observations = np.full((len(order), *self.shape), np.nan)
        self._is_ordered = True

    def _ordered(self) -> None:
        if not self._is_ordered:
            self.define_observation_order()

    def get_num_observations(self) -> int:
        """Number of observations that a frame has, ignored ones included."""
        self._ordered()
        return len(self._order)

    def _observation_index(self, observation: int) -> int:
        self._ordered()
        return index_of(len(self._order), observation, self, "observations")

    def _observation_for(self, sensor: int | str) -> int | None:
        self._ordered()
        return self._observation_of[self._sensor_index(sensor)]

    def _sensor_for(self, observation: int) -> int | None:
        return self._order[self._observation_index(observation)]

    def _observed(self, sensor: int | str) -> Array | None:
        """The observation of a sensor; None where there is none, or it is missing."""
        place = self._observation_for(sensor)
        there = place is not None and np.isfinite(self._observations[place]).all()
        return self._observations[place] if there else None

    def _sensors_on(self, body: Any) -> list[int]:
        matter = self.get_matter_subsystem()
        b = matter.find_body(body)
        return [i for i, one in enumerate(self._bodies) if matter.find_body(one) is b]

    def _body_now(self, index: int) -> tuple[State, int]:
        """The Assembler's internal state, and the number of a sensor's body in it."""
        assembler = self.get_assembler()
        return assembler.realized(), assembler.get_matter_subsystem().find_body(self._bodies[index]).index

    def has_observation(self, sensor: int | str) -> bool:
        """True if frames have an observation of a sensor, which may be missing in some."""
        return self._observation_for(sensor) is not None

    def get_observation(self, observation: int) -> Any:
        """The last observation; NaN where it is missing."""
        return self._observations[self._observation_index(observation)].copy()

    def get_all_observations(self) -> Array:
        """All observations of the last frame ``(num_observations, ...)``; NaN where they are missing."""
        self._ordered()
        return self._observations.copy()

    def move_all_observations(self, observations: Any) -> None:
        """Take a whole frame; a subclass says of what shape."""
        self._move_all(observations)

    def _move(self, observation: int, value: Array) -> None:
        self._observations[self._observation_index(observation)] = value
        if self._is_ready:
            self._take()

    def _move_all(self, values: Any) -> None:
        self._ordered()
        self._observations[...] = shaped("the observations of a frame", values, self._observations.shape)
        if self._is_ready:
            self._take()

    # ------------------------------------------------------------------------------------------ for the solver

    #: Whether the arrays of the solver are there.
    _is_ready = False

    def initialize_condition(self) -> None:
        """Find the bodies, and put what is observed of them into arrays."""
        matter = self.get_matter_subsystem()
        self.body_indices = [matter.find_body(body).index for body in self._bodies]
        self._ordered()
        self._is_ready = True
        self._pack()

    def uninitialize_condition(self) -> None:
        """Forget these arrays."""
        self._is_ready = False

    def _pack(self) -> None:
        """Collect the sensors in use: observed ones with a weight, not on Ground."""
        used = [
            i
            for i, (body, place) in enumerate(zip(self.body_indices, self._observation_of, strict=True))
            if place is not None and body > 0 and self._weights[i] > 0.0
        ]
        self.used = np.array(used, np.int64)
        self._used_bodies = np.array([self.body_indices[i] for i in used], np.int64)
        self._used_sensors = np.ascontiguousarray(np.array([self._sensors[i] for i in used]).reshape(len(used), *self.shape))
        self._used_weights = np.array([self._weights[i] for i in used])
        self._places = np.array([self._observation_of[i] for i in used], np.int64)
        self._in_order = bool(np.array_equal(self._places, np.arange(len(self._order))))
        self._take()

    def _take(self) -> None:
        """Take their observations and weights; weight zero if one is missing."""
        self._targets = self._observations.copy() if self._in_order else self._observations[self._places]
        flat = self._targets.sum(axis=tuple(range(1, self._targets.ndim)))
        there = np.isfinite(flat)
        self._all_there = bool(there.all())
        if self._all_there:
            self._active_weights = self._used_weights
        else:
            self._active_weights = np.where(there, self._used_weights, 0.0)
            self._targets[~there] = 0.0
        self._there = there
        total = float(self._active_weights.sum())
        self._scale = 1.0 / total if total > 0.0 else 0.0

    def _need_ready(self) -> None:
        if not self._is_ready:
            raise ModelError(f"{self!r} is not initialized; call assembler.initialize(state)")

    def _present(self) -> npt.NDArray[np.int64]:
        """The indices of the sensors in use that are observed in this frame."""
        return np.flatnonzero(self._there)

    def squares(self, state: State) -> float | None:
        return None
