"""Gap: how far two points, or the balls around them, are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import vec3
from ..algebra.scalar import sqrt, where, zero
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from .routines import by_address, number, station, vector
from .witness import Witness, check_body


@generic
def look(model: Any, i: int, n: int) -> Any:
    """Integers: the bodies. Numbers: the stations, and the length."""
    p1, v1 = station(model, model.witness_integers[i], vector(model, n))
    p2, v2 = station(model, model.witness_integers[i + 1], vector(model, n + 3))
    d = vec3.sub(p2, p1)
    length = sqrt(vec3.dot(d, d))
    divisor = where(length > 1e-300, length, 1e-300 + zero(length))
    return length - number(model, n + 6), vec3.dot(d, vec3.sub(v2, v1)) / divisor


class Gap(Witness):
    """`|p2 - p1| - length`: how far two points of bodies are apart; with the sum of two radii as *length*, two balls.

    Parameters
    ----------
    body1, body2 : MobilizedBody
    length : float
        Distance of the points at which the gap is closed.
    station1, station2 : (3,) array_like
        The points, each in its body's frame.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> system.add_event_handler(mb.event.StopWhen(mb.event.Gap(system.matter.ground, arm, 1.5)))
    >>> motion = mb.simulate(system, state, 5.0)
    >>> end = motion.states[-1]
    >>> system.realize(end, mb.Stage.POSITION)
    >>> bool(abs((arm.get_body_origin_location(end) ** 2).sum() ** 0.5 - 1.5) < 1e-3)
    True
    """

    required_stage = Stage.POSITION
    has_rate = True
    rate_stage = Stage.VELOCITY
    routine = by_address(look)

    def __init__(
        self,
        body1: MobilizedBody,
        body2: MobilizedBody,
        length: float,
        station1: npt.ArrayLike = (0.0, 0.0, 0.0),
        station2: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        check_body("body1", "Gap", body1)
        check_body("body2", "Gap", body2)
        self._bodies, self._length = (body1, body2), checks.positive("length, at which a gap is closed,", length, ValueError)
        self._stations = checks.vector("station1", station1), checks.vector("station2", station2)

    def __repr__(self) -> str:
        return f"<Gap between {self._bodies[0].name!r} and {self._bodies[1].name!r}>"

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [body.index for body in self._bodies], [*self._stations[0], *self._stations[1], self._length]

    def _between(self, state: State) -> npt.NDArray[np.float64]:
        (a, b), (s, t) = self._bodies, self._stations
        i, k, R, p = a.index, b.index, state.R_GB, state.record.p_GB
        d: npt.NDArray[np.float64] = p[k] + R[k].dot(t) - p[i] - R[i].dot(s)
        return d

    def _velocity_between(self, state: State) -> npt.NDArray[np.float64]:
        (a, b), (s, t) = self._bodies, self._stations
        (wa, va), (wb, vb) = state.V_GB[a.index], state.V_GB[b.index]
        R = state.R_GB
        v: npt.NDArray[np.float64] = vb + _cross(wb, R[b.index].dot(t)) - va - _cross(wa, R[a.index].dot(s))
        return v

    def calc_value(self, state: State) -> float:
        """Width of the gap. Needs POSITION."""
        d = self._between(state)
        return float(d.dot(d)) ** 0.5 - self._length

    def calc_rate(self, state: State) -> float:
        """Rate of that. Needs VELOCITY."""
        d = self._between(state)
        return float(d.dot(self._velocity_between(state))) / float(d.dot(d)) ** 0.5

    def calc_direction(self, state: State) -> npt.NDArray[np.float64]:
        """J2^T n - J1^T n ``(nu,)``, n being the direction from the first point to the second. Needs POSITION."""
        d = self._between(state)
        n = d / np.linalg.norm(d)
        h: npt.NDArray[np.float64] = state.system.get_matter_subsystem().multiply_by_station_jacobian_transpose(
            state, self._bodies, np.array(self._stations), np.array([-n, n])
        )
        return h

    def calc_acceleration(self, state: State) -> float:
        """Second rate of the width. Needs ACCELERATION."""
        d, v = self._between(state), self._velocity_between(state)
        a1, a2 = (
            body.find_station_acceleration_in_ground(state, station)
            for body, station in zip(self._bodies, self._stations, strict=True)
        )
        length = float(np.linalg.norm(d))
        along = float(d @ v) / length
        return float(d @ (a2 - a1)) / length + (float(v @ v) - along**2) / length


def _cross(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()  # np.cross takes ten times as long
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))
