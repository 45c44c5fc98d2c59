"""OrientationSensors: frames fixed on bodies, with observed orientations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.state import State
from ..value import Rotation
from ..value.checks import numbers, shaped
from ._attitude import rotation_vectors
from ._normal import Normal
from ._observed import Observed


class OrientationSensors(Observed):
    """Frames fixed on bodies and fitted to observed orientations in Ground, as from inertial measurement units.

    As a goal: half the weighted mean of the squared angles that are left, sum w a^2 / (2 sum w). As a requirement: the three
    components of each rotation vector. Observations with NaN are missing, and their sensors do not count in that frame.

    Parameters
    ----------
    name : str
        For messages.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> sensors = mb.assembler.OrientationSensors()
    >>> number = sensors.add_o_sensor("on the arm", arm, mb.Rotation())
    >>> sensors.move_all_observations([mb.Rotation.about_axis(0.7, "z")])
    >>> assembler = mb.Assembler(system)
    >>> goal = assembler.adopt_assembly_goal(sensors)
    >>> assembler.assemble(state) < 1e-6
    True
    >>> round(float(state.q.sum()), 3)  # both angles together
    0.7
    """

    _what, shape = "orientation sensor", (3, 3)
    is_spatial = True

    def __init__(self, name: str = "OrientationSensors") -> None:
        super().__init__(name)

    def add_o_sensor(self, name: str | None, body: Any, orientation: Any, weight: float = 1.0) -> int:
        """Fix a sensor on a body; its index.

        Parameters
        ----------
        name : str or None
            Unique among the sensors; one is made where it is empty.
        body : body
            By object, index or name. One on Ground does not count.
        orientation : Rotation or (3, 3) array_like
            R_BS: the sensor's axes in the body's frame.
        weight : float
            Its weight relative to the others; zero leaves it out.
        """
        R = np.array(orientation if isinstance(orientation, Rotation) else Rotation(orientation), dtype=np.float64)
        return self._add_sensor(name, body, R, weight)

    def get_num_o_sensors(self) -> int:
        """Number of sensors."""
        return len(self._names)

    def get_o_sensor_name(self, o_sensor: int) -> str:
        """A sensor's name."""
        return self._names[self._sensor_index(o_sensor)]

    def get_o_sensor_index(self, name: str) -> int:
        """The index of the sensor with a name; `KeyError` where there is none."""
        return self._sensor_index(name)

    def get_o_sensor_weight(self, o_sensor: int | str) -> float:
        """Weight of a sensor."""
        return self._weights[self._sensor_index(o_sensor)]

    def change_o_sensor_weight(self, o_sensor: int | str, weight: float) -> None:
        """Change a sensor's weight; the Assembler stays initialized."""
        self._change_weight(o_sensor, weight)

    def get_o_sensor_body(self, o_sensor: int | str) -> Any:
        """The body that a sensor is fixed on, as it was given."""
        return self._bodies[self._sensor_index(o_sensor)]

    def get_o_sensor_station(self, o_sensor: int | str) -> Rotation:
        """R_BS: the sensor's axes in the body's frame."""
        return Rotation.trusted(self._sensors[self._sensor_index(o_sensor)].copy())

    def get_o_sensors_on_body(self, body: Any) -> list[int]:
        """The indices of the sensors fixed on a body."""
        return self._sensors_on(body)

    def get_observation_index_for_o_sensor(self, o_sensor: int | str) -> int | None:
        """The index of a sensor's observation in a frame; None where there is none."""
        return self._observation_for(o_sensor)

    def get_o_sensor_index_for_observation(self, observation: int) -> int | None:
        """The sensor that an observation is of; None where it is of no interest."""
        return self._sensor_for(observation)

    def has_o_sensor(self, observation: int) -> bool:
        """True if an observation is of some sensor."""
        return self._sensor_for(observation) is not None

    def move_one_observation(self, observation: int, orientation: Any) -> None:
        """Take R_GS as it was observed; a matrix of NaN where it is missing."""
        R = shaped("an observed orientation", orientation, (3, 3))
        self._move(observation, _orthogonal(R[None])[0])

    def move_all_observations(self, observations: Any) -> None:
        """Take a whole frame of R_GS ``(num_observations, 3, 3)``; NaN where one is missing."""
        rotations = [numbers("an observed orientation", R) for R in observations]
        if len(rotations) != self.get_num_observations() or any(R.shape != (3, 3) for R in rotations):
            raise ValueError(f"a frame has {self.get_num_observations()} matrices of 3 x 3, got {len(rotations)}")
        self._move_all(_orthogonal(np.reshape(rotations, (-1, 3, 3))))

    # ------------------------------------------------------------------------------------------ what is found

    def find_current_o_sensor_orientation(self, o_sensor: int | str) -> Rotation:
        """R_GS of a sensor, in the Assembler's internal state."""
        index = self._sensor_index(o_sensor)
        state, b = self._body_now(index)
        return Rotation.trusted(state.R_GB[b] @ self._sensors[index])

    def find_current_o_sensor_error(self, o_sensor: int | str) -> float:
        """The angle between a sensor and its observation; zero where there is none."""
        observed = self._observed(o_sensor)
        if observed is None:
            return 0.0
        R = np.asarray(self.find_current_o_sensor_orientation(o_sensor)) @ observed.T
        return float(np.linalg.norm(rotation_vectors(R[None])[0]))

    # ------------------------------------------------------------------------------------------ the condition

    def _vectors(self, state: State, present: npt.NDArray[np.int64]) -> Array:
        """In Ground, the rotation vectors from observations to sensors."""
        self._need_ready()
        R = state.R_GB[self._used_bodies[present]] @ self._used_sensors[present]
        return rotation_vectors(R @ self._targets[present].transpose(0, 2, 1))

    def calc_errors(self, state: State) -> Array:
        """Rotation vectors in Ground from observation to sensor, of those that are observed and count ``(3 m,)``."""
        return self._vectors(state, self._present()).ravel()

    def calc_goal(self, state: State) -> float:
        """Half the weighted mean of the squared angles."""
        present = self._present()
        squares = np.sum(self._vectors(state, present) ** 2, axis=1)
        return 0.5 * self._scale * float(self._active_weights[present] @ squares)

    def jacobian_u(self, state: State) -> Array:
        # w stands for the rate of the rotation vector: they differ by terms normal to it, and Newton's step is the same
        b = self._used_bodies[self._present()]
        J = self.get_matter_subsystem().frame_jacobian(state, "OrientationSensors", b, np.zeros((len(b), 3)), 6)
        return J.reshape(len(b), 6, -1)[:, :3].reshape(3 * len(b), -1)

    def added_to(self, state: State, weight: float, normal: Normal) -> float:
        present = self._present()
        w = (weight * self._scale) * self._active_weights[present]
        return normal.add_attitudes(state, self._used_bodies[present], self._vectors(state, present), w)

    def report(self, state: State) -> list[tuple[str, float]]:
        errors = np.abs(self.calc_errors(state).reshape(-1, 3)).max(axis=1, initial=0.0)
        return [
            (f"orientation sensor {self._names[self.used[i]]!r}", float(e))
            for i, e in zip(self._present(), errors, strict=True)
        ]


def _orthogonal(R: Array) -> Array:
    """Refuse matrices that are no rotations; what is not finite is missing."""
    there = np.isfinite(R).all(axis=(1, 2))
    bad = np.abs(R[there] @ R[there].transpose(0, 2, 1) - np.eye(3)).max(initial=0.0)
    if bad > 1e-6 or (np.linalg.det(R[there]) < 0.0).any():
        raise ValueError(
            f"an observed orientation is no rotation: R R^T is off the identity by {bad:.3g}, or it is a reflection"
        )
    return R
