"""PlaneDistance: how far a point of a body is above a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import vec3
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from .routines import by_address, number, station, vector
from .witness import Witness, check_body


@generic
def look(model: Any, i: int, n: int) -> Any:
    """Integers: the body. Numbers: the station, the normal, and the height."""
    p, v = station(model, model.witness_integers[i], vector(model, n))
    normal = vector(model, n + 3)
    return vec3.dot(normal, p) - number(model, n + 6), vec3.dot(normal, v)


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
        Of the ball around the point: its lowest point is watched. Its rotation has no effect without friction.

    Raises
    ------
    TypeError
        If *mobod* is no body.
    ValueError
        If numbers are not finite, the normal has no direction, or the radius is negative.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> system.add_event_handler(mb.event.StopWhen(mb.event.PlaneDistance(arm, (0, 0, 0), (0, 1, 0), 0.0)))
    >>> motion = mb.simulate(system, state, 5.0)
    >>> end = motion.states[-1]
    >>> system.realize(end, mb.Stage.POSITION)
    >>> bool(abs(arm.get_body_origin_location(end)[1]) < 1e-3)
    True
    """

    required_stage = Stage.POSITION
    has_rate = True
    rate_stage = Stage.VELOCITY
    routine = by_address(look)

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
        self._station, self._n = checks.vector("station", station), checks.unit("normal", normal)
        self._offset = checks.finite("height", height) + checks.not_negative("radius", radius)
        self._is_origin = not self._station.any()

    def __repr__(self) -> str:
        return f"<PlaneDistance of {self._mobod.name!r}, normal {self._n}>"

    @property
    def station(self) -> npt.NDArray[np.float64]:
        """The point, in the body's frame: (3,), read-only, as compiled steps have it; watch another by another witness."""
        fixed = self._station.view()
        fixed.setflags(write=False)
        return fixed

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [self._b], [*self._station, *self._n, self._offset]

    def calc_value(self, state: State) -> float:
        """Distance. Needs POSITION."""
        n, p = self._n, state.record.p_GB[self._b]
        above = n.dot(p)
        if not self._is_origin:
            above += n.dot(state.R_GB[self._b].dot(self._station))
        return float(above) - self._offset

    def calc_rate(self, state: State) -> float:
        """Rate of the distance. Needs VELOCITY."""
        w, v = state.V_GB[self._b]
        rate = float(self._n.dot(v))
        if not self._is_origin:
            rx, ry, rz = state.R_GB[self._b].dot(self._station).tolist()
            (wx, wy, wz), (nx, ny, nz) = w.tolist(), self._n.tolist()
            rate += nx * (wy * rz - wz * ry) + ny * (wz * rx - wx * rz) + nz * (wx * ry - wy * rx)
        return rate

    def calc_direction(self, state: State) -> npt.NDArray[np.float64]:
        """J^T n ``(nu,)``, J being the point's Jacobian. Needs POSITION."""
        matter = state.system.get_matter_subsystem()
        h: npt.NDArray[np.float64] = matter.multiply_by_station_jacobian_transpose(state, self._mobod, self._station, self._n)
        return h

    def calc_acceleration(self, state: State) -> float:
        """Second rate of the distance. Needs ACCELERATION."""
        return float(self._n @ self._mobod.find_station_acceleration_in_ground(state, self._station))
