"""Seen: points, contact forces and measures of all states of an ensemble, for a task's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..ensemble.ensemble import Ensemble
from ..errors import ModelError
from ..force import ElasticFoundation, ExponentialSpring, HuntCrossley, SmoothSphereHalfSpace
from ..state.state import State
from ..value.stage import Stage
from .task import Points

Array = npt.NDArray[Any]
_OF_CONTACT = (SmoothSphereHalfSpace, ExponentialSpring, HuntCrossley, ElasticFoundation)


class Seen:
    """Quantities computed of all states before a task's functions look at them.

    Parameters
    ----------
    ensemble : Ensemble
    points : list of (MobilizedBody, (3,) array)
    more : mapping
        ``"contacts"``, bodies, and ``"sensors"``, measures.

    Raises
    ------
    ModelError
        If contact forces are asked for, and nothing has compliant contact.
    """

    def __init__(self, ensemble: Ensemble, points: Points, more: Mapping[str, Sequence[Any]]) -> None:
        self._ensemble, self._points = ensemble, points
        matter, system = ensemble.system.get_matter_subsystem(), ensemble.system
        self._bodies = [matter.find_body(body).index for body in more.get("contacts", ())]
        self._measures = list(more.get("sensors", ()))
        self._elements = [
            force for force in system.all_forces() if isinstance(force, _OF_CONTACT) or force.entry().contact is not None
        ]
        if self._bodies and not self._elements:
            raise ModelError(
                f"contact forces are asked for, and {system.name!r} has no compliant contact: forces of rigid contact are "
                "impulses of steps, which an ensemble does not keep"
            )
        self._stage = Stage.ACCELERATION if self._measures else Stage.VELOCITY
        self._num_sensors = 0
        if self._measures:
            ensemble.realize(self._stage)
            self._num_sensors = self._sensors().shape[1]

        n, is_none = len(ensemble), not (self._points or self._bodies or self._measures)
        self._nothing = (np.zeros((n, 0, 6)), np.zeros((n, 0, 3)), np.zeros((n, 0))) if is_none else None

    def shapes(self) -> tuple[tuple[int, int], tuple[int]]:
        """Of contacts and of sensors, of one state."""
        return (len(self._bodies), 3), (self._num_sensors,)

    def look(self) -> tuple[Array, Array, Array]:
        """Points ``(n, k, 6)``, contact forces ``(n, c, 3)`` and sensors ``(n, s)``."""
        if self._nothing is not None:
            return self._nothing
        ensemble = self._ensemble
        n = len(ensemble)
        out = np.zeros((n, len(self._points), 6))
        ensemble.realize(self._stage)
        if self._points:
            X, V = ensemble.body_transforms, ensemble.body_velocities
            for k, (body, station) in enumerate(self._points):
                arm = X[:, body.index, :3, :3] @ station
                out[:, k, :3] = X[:, body.index, :3, 3] + arm
                out[:, k, 3:] = V[:, body.index, 1] + np.cross(V[:, body.index, 0], arm)
        contacts = np.zeros((n, len(self._bodies), 3))
        if self._bodies:
            contacts[:] = ensemble.calc_force_contribution(*self._elements)[:, self._bodies, 1]
        return out, contacts, self._sensors() if self._measures else np.zeros((n, 0))

    def _sensors(self) -> Array:
        def values(state: State) -> Array:
            return np.concatenate([np.ravel(one.get_value(state)) for one in self._measures])

        found = self._ensemble.get_each(values)  # all of them at once: a state is made for each call
        return found if isinstance(found, np.ndarray) else np.full((len(self._ensemble), self._num_sensors), np.nan)
