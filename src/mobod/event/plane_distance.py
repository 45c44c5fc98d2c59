"""PlaneDistance: how far a point of a body is above a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..stage import Stage
from .witness import Witness, check_body

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State


class PlaneDistance(Witness):
    """n . p - height: how far a point p of a body, or a ball around it, is above a plane fixed in Ground.

    Parameters
    ----------
    mobod : MobilizedBody
    station : (3,) array_like
        The point, in the body's frame.
    normal : (3,) array_like
        Normal of the plane in Ground, of any length.
    height : float
        Distance of the plane from Ground's origin, along the normal.
    radius : float
        Of the ball around the point: its lowest point is watched. Its turning is not, which is of no account without friction.

    Raises
    ------
    TypeError
        If *mobod* is no body.
    ValueError
        If numbers are not finite, the normal has no direction, or the radius is negative.
    """

    required_stage = Stage.POSITION
    has_rate = True

    def __init__(
        self,
        mobod: MobilizedBody,
        station: npt.ArrayLike = (0.0, 0.0, 0.0),
        normal: npt.ArrayLike = (0.0, 1.0, 0.0),
        height: float = 0.0,
        radius: float = 0.0,
    ) -> None:
        check_body("mobod", "PlaneDistance", mobod)
        self._mobod, self._b = mobod, mobod.get_mobilized_body_index()
        self._station, n = _vector("station", station), _vector("normal", normal)
        length = float(np.linalg.norm(n))
        if not length > 0.0:
            raise ValueError("the normal of a plane has no direction: all of its components are zero")
        if not np.isfinite(height) or not 0.0 <= radius < np.inf:
            raise ValueError(f"height has to be finite and radius not negative, got {height} and {radius}")
        self._n, self._offset = n / length, float(height) + float(radius)
        self._is_origin = not self._station.any()

    def __repr__(self) -> str:
        return f"<PlaneDistance of {self._mobod.name!r}, normal {self._n}>"

    def _packed(self, state: State) -> tuple[list[int], list[float]]:
        return [2, self._b], [*self._station, *self._n, self._offset]

    def calc_value(self, state: State) -> float:
        """Distance. Needs POSITION."""
        n, p = self._n, state._record.p_GB[self._b]
        above = n.dot(p)
        if not self._is_origin:
            above += n.dot(state._R_GB[self._b].dot(self._station))
        return float(above) - self._offset

    def calc_rate(self, state: State) -> float:
        """Rate of the distance. Needs VELOCITY."""
        w, v = state._V_GB[self._b]
        rate = float(self._n.dot(v))
        if not self._is_origin:
            rx, ry, rz = state._R_GB[self._b].dot(self._station).tolist()
            (wx, wy, wz), (nx, ny, nz) = w.tolist(), self._n.tolist()
            rate += nx * (wy * rz - wz * ry) + ny * (wz * rx - wx * rz) + nz * (wx * ry - wy * rx)
        return rate

    def calc_direction(self, state: State) -> npt.NDArray[np.float64]:
        """J^T n ``(nu,)``, J being the point's Jacobian. Needs POSITION."""
        matter = state._system.get_matter_subsystem()
        h: npt.NDArray[np.float64] = matter.multiply_by_station_jacobian_transpose(state, self._mobod, self._station, self._n)
        return h

    def calc_acceleration(self, state: State) -> float:
        """Second rate of the distance. Needs ACCELERATION."""
        return float(self._n @ self._mobod.find_station_acceleration_in_ground(state, self._station))


def _vector(name: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
    v = np.array(value, dtype=np.float64)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise ValueError(f"{name} has to be three finite numbers, got {value!r}")
    return v
