"""Driver: follows a path at a speed, by the wheels that steer and those that drive.

The driver looks ahead along the path by the way d = max(T v, d_0) from its point nearest to the car, and steers at that point,
(a, b) ahead and to the left of the rear axle: the circle through it has the curvature 2 b / (a^2 + b^2), and

    delta = atan(L 2 b / (a^2 + b^2))     torque = kp (delta - q) - kd u on what steers     effort = k (v_0 - v) on what drives

Source: Coulter 1992, Implementation of the Pure Pursuit Path Tracking Algorithm, CMU-RI-TR-92-01.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..force.base import listed_mobilities
from ..force.subsystem import GeneralForceSubsystem
from ..mobilizer.base import MobilizedBody
from ..value.checks import finite, numbers, positive
from .coordinates import Coordinates
from .custom import Custom
from .pose import Pose
from .velocity import Velocity

#: Parameters before the path: how many steer, v_0, L, T, d_0, kp, kd, k.
_NAMES = "steered", "speed", "wheelbase", "preview_time", "preview_distance", "kp", "kd", "speed_gain"
_BEFORE = len(_NAMES)


def follow(X: Any, V: Any, x: Any, memory: Any, parameters: Any) -> Any:
    """The torques on what steers, then the efforts on what drives."""
    steering, path = int(parameters[0]), parameters[_BEFORE:]
    last = len(path) // 2 - 1
    px, py, ax, ay = X[0, 3], X[1, 3], X[0, 0], X[1, 0]
    size = np.sqrt(ax * ax + ay * ay)
    ax, ay = ax / size, ay / size
    speed = V[3] * ax + V[4] * ay
    # the nearest point, not before that of the last sample
    k, t, least = int(memory[0]), 0.0, 1e300
    begin = k
    for i in range(begin, min(begin + 50, last)):
        dx, dy = path[2 * i + 2] - path[2 * i], path[2 * i + 3] - path[2 * i + 1]
        along = ((px - path[2 * i]) * dx + (py - path[2 * i + 1]) * dy) / (dx * dx + dy * dy)
        along = min(1.0, max(0.0, along))
        ex, ey = path[2 * i] + along * dx - px, path[2 * i + 1] + along * dy - py
        if ex * ex + ey * ey < least:
            least, k, t = ex * ex + ey * ey, i, along
    memory[0] = float(k)
    left = max(parameters[3] * speed, parameters[4])
    qx, qy = path[2 * last], path[2 * last + 1]
    for i in range(k, last):
        dx, dy = path[2 * i + 2] - path[2 * i], path[2 * i + 3] - path[2 * i + 1]
        length = np.sqrt(dx * dx + dy * dy)
        if left <= (1.0 - t) * length or i == last - 1:  # beyond the end it goes on straight
            qx, qy = path[2 * i] + (t + left / length) * dx, path[2 * i + 1] + (t + left / length) * dy
            break
        left, t = left - (1.0 - t) * length, 0.0
    a, b = (qx - px) * ax + (qy - py) * ay, (qy - py) * ax - (qx - px) * ay
    delta = np.arctan(parameters[2] * 2.0 * b / (a * a + b * b))
    efforts = np.zeros(x.shape[1])
    for i in range(x.shape[1]):
        if i < steering:
            efforts[i] = parameters[5] * (delta - x[0, i]) - parameters[6] * x[1, i]
        else:
            efforts[i] = parameters[7] * (parameters[1] - speed)
    return efforts


class Driver(Custom):
    """A driver that follows a path in the x-y plane at a speed, by torques on what steers and on what drives.

    Parameters
    ----------
    car : MobilizedBody
        The body that is to follow: x of its frame points ahead, y to the left.
    path : (n, 2) array_like
        Points of the path in Ground, two or more, in their order; beyond the last one it goes on straight.
    speed : float
        That is wished, above zero; length/time.
    steering, driven : iterable of (MobilizedBody, int), MobilizedBody or str
        The mobilities whose angles turn wheels to the left, and those of wheels that roll forwards.
    wheelbase : float
        L, above zero; length.
    rear_axle : (3,) array_like
        A point of the rear axle, in the car's frame.
    preview_time, preview_distance : float
        T, and d_0: how far it looks ahead, above zero.
    steering_gains : pair of float
        kp, torque/angle; kd, torque*time/angle: of what steers, of the inertia I, kd is to be less than 2 I by the sample time.
    speed_gain : float
        k: effort on each driven mobility, by the lack of speed.
    limits : pair of floats or arrays, optional
        Of efforts, those on what steers first.
    sample_time : float

    Raises
    ------
    TypeError, ValueError
        If the path is not made of points, or a number is none.
    ModelError
        If two points that follow each other are the same, or a number is out of its range.

    Notes
    -----
    Its parameters are the number of mobilities that steer, v_0, L, T, d_0, kp, kd, k, and the path's points, x and y in turns;
    the first have names, ``steered``, ``speed``, ``wheelbase``, ``preview_time``, ``preview_distance``, ``kp``, ``kd`` and
    ``speed_gain``.

    Examples
    --------
    A state of its own in which it wishes to go slower:

    >>> import mobod as mb
    >>> system, state = mb.examples.car.build()
    >>> driver = system.forces.get_force("driver")
    >>> driver.set_parameter(state, "speed", 15.0)
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        car: MobilizedBody,
        path: ArrayLike,
        speed: float,
        *,
        steering: Iterable[Any],
        driven: Iterable[Any],
        wheelbase: float,
        rear_axle: ArrayLike = (0.0, 0.0, 0.0),
        preview_time: float = 0.5,
        preview_distance: float = 4.0,
        steering_gains: Sequence[float] = (8e3, 80.0),
        speed_gain: float = 500.0,
        limits: tuple[Any, Any] | None = None,
        sample_time: float = 0.002,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        points = numbers("path", path)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
            raise ValueError(f"the path of a Driver is points (n, 2), two or more, not of the shape {points.shape}")
        if not np.all(np.isfinite(points)) or not np.all(np.abs(np.diff(points, axis=0)).max(axis=1) > 0.0):
            raise ModelError("the path of a Driver has to be finite, and each point another one than that before")
        steers, drives = listed_mobilities(steering), listed_mobilities(driven)
        gains = numbers("steering_gains", steering_gains)
        if gains.shape != (2,) or not np.isfinite(gains).all():
            raise ValueError(f"steering_gains are two finite numbers, kp and kd, not {steering_gains!r}")
        values = {"speed": speed, "wheelbase": wheelbase, "preview_time": preview_time, "preview_distance": preview_distance}
        own = [positive(f"{what} of a Driver", value) for what, value in values.items()]
        super().__init__(
            forces,
            follow,
            [*steers, *drives],
            sample_time=sample_time,
            inputs={"X": Pose(car, rear_axle), "V": Velocity(car, rear_axle), "x": Coordinates()},
            memory=[0.0],
            parameters=[
                float(len(steers)),
                *own,
                *gains.tolist(),
                finite("speed_gain of a Driver", speed_gain),
                *points.ravel().tolist(),
            ],
            limits=limits,
            disabled_by_default=disabled_by_default,
            name=name,
        )
        self._path, self.parameter_names = points, _NAMES

    @property
    def path(self) -> Array:
        """The points ``(n, 2)``."""
        return self._path.copy()
