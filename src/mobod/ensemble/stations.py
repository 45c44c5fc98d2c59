"""Points of bodies, in many states: where they are, how they move, and what forces at them do to mobilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.stage import Stage
from .operators import Operators


class Stations(Operators):
    """The part of `Ensemble` that has stations."""

    __slots__ = ()

    def find_station_location_in_ground(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """Locations of stations of every state ``(n, nt, 3)``, in Ground. Needs POSITION.

        Parameters
        ----------
        on_body_b : body or sequence of nt bodies
            As for a single state; the same for all.
        station_p_in_b : (3,) or (nt, 3) array_like

        Returns
        -------
        (n, nt, 3) array, or (n, 3) for one bare task

        See Also
        --------
        MobilizedBody.find_station_location_in_ground : the same of one state.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.find_station_location_in_ground("lower", (0, -1, 0)).shape
        (10, 3)
        """
        self._need("find_station_location_in_ground", Stage.POSITION)
        bodies, arms, bare = self._arms(on_body_b, station_p_in_b)
        return _one(self.body_transforms[:, :, :3, 3][:, bodies] + arms, bare)

    def find_station_velocity_in_ground(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """Velocities of stations of every state ``(n, nt, 3)``, or ``(n, 3)`` for one bare task, in Ground. Needs VELOCITY.

        See `find_station_location_in_ground`.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.u = np.linspace(0.0, 1.0, 20).reshape(10, 2)
        >>> ensemble.realize()
        >>> ensemble.find_station_velocity_in_ground("lower", (0, -1, 0)).shape
        (10, 3)
        """
        self._need("find_station_velocity_in_ground", Stage.VELOCITY)
        bodies, arms, bare = self._arms(on_body_b, station_p_in_b)
        V = self.body_velocities[:, bodies]
        return _one(V[:, :, 1] + np.cross(V[:, :, 0], arms), bare)

    def find_station_acceleration_in_ground(self, on_body_b: Any, station_p_in_b: npt.ArrayLike) -> Array:
        """Accelerations of stations of every state ``(n, nt, 3)``, or ``(n, 3)`` of one bare, in Ground. Needs ACCELERATION.

        See `find_station_location_in_ground`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.find_station_acceleration_in_ground("lower", (0, -1, 0)).shape
        (10, 3)
        """
        self._need("find_station_acceleration_in_ground", Stage.ACCELERATION)
        bodies, arms, bare = self._arms(on_body_b, station_p_in_b)
        w, A = self.body_velocities[:, :, 0][:, bodies], self.body_accelerations[:, bodies]
        return _one(A[:, :, 1] + np.cross(A[:, :, 0], arms) + np.cross(w, np.cross(w, arms)), bare)

    def multiply_by_station_jacobian_transpose(
        self, on_body_b: Any, station_p_in_b: npt.ArrayLike, f_gp: npt.ArrayLike
    ) -> Array:
        """Generalized forces of forces at stations, of every state ``(n, nu)``. Needs POSITION.

        Parameters
        ----------
        on_body_b : body or sequence of nt bodies
        station_p_in_b : (3,) or (nt, 3) array_like
        f_gp : (n, nt, 3) array_like
            In Ground; ``(n, 3)`` for one bare task; without the n for all states alike.

        Raises
        ------
        ValueError
            If an argument has another shape.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_station_jacobian_transpose("lower", (0, -1, 0), (1.0, 0.0, 0.0)).shape
        (10, 2)
        """
        asked = "multiply_by_station_jacobian_transpose"
        return self._jacobian_transpose_times(asked, on_body_b, station_p_in_b, "f_gp", f_gp, (3,))

    def multiply_by_frame_jacobian_transpose(self, on_body_b: Any, origin_ao_in_b: npt.ArrayLike, F_ga: npt.ArrayLike) -> Array:
        """Generalized forces of torques and forces at frames ``(n, nt, 2, 3)``, of every state ``(n, nu)``. Needs POSITION.

        See `multiply_by_station_jacobian_transpose`.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.multiply_by_frame_jacobian_transpose("lower", (0, -1, 0), np.ones((2, 3))).shape
        (10, 2)
        """
        asked = "multiply_by_frame_jacobian_transpose"
        return self._jacobian_transpose_times(asked, on_body_b, origin_ao_in_b, "F_ga", F_ga, (2, 3))

    def _jacobian_transpose_times(
        self, asked: str, bodies: Any, stations: npt.ArrayLike, what: str, forces: npt.ArrayLike, shape: tuple[int, ...]
    ) -> Array:
        indices, _, bare = self.tasks(bodies, stations)
        rows = self._rows(what, forces, shape if bare else (len(indices), *shape)).reshape(self._n, -1)
        J = self.frame_jacobian(asked, bodies, stations, int(np.prod(shape)))
        return np.einsum("nij,ni->nj", J, rows)

    def _arms(self, on_body_b: Any, stations: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Array, bool]:
        """Bodies, vectors from their origins to the stations ``(n, nt, 3)``, in Ground, and whether it was one task."""
        bodies, points, bare = self.tasks(on_body_b, stations)
        return bodies, np.einsum("ntij,tj->nti", self.body_transforms[:, bodies, :3, :3], points[..., 0]), bare


def _one(found: Array, bare: bool) -> Array:
    return found[:, 0].copy() if bare else found
