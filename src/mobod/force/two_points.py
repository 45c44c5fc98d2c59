"""Forces between two points: where the points are, and a force along the line between them.

r = p_G2 - p_G1   x = |r|   d = r / x   a force f d on point 1 and -f d on point 2: f > 0 pulls them together

Where the points coincide the line has no direction, and there is no force. Integers: the two bodies. Numbers: the two stations,
three each, then the kind's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.scalar import one, where
from ..compiling import generic
from ..decoration.rubber_band_line import Line
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from .base import Force, body_index
from .pools import numbers3
from .subsystem import GeneralForceSubsystem

#: Where a kind's own numbers begin.
OWN = 6


@generic
def arms(model: Any, integers: int, numbers: int) -> Any:
    """The two bodies, the stations from their origins in Ground, and r."""
    b1, b2 = model.force_integers[integers], model.force_integers[integers + 1]
    s1 = mat33.mul_vec(load9(model.R_GB, b1, 0), numbers3(model, numbers))
    s2 = mat33.mul_vec(load9(model.R_GB, b2, 0), numbers3(model, numbers + 3))
    r = vec3.sub(vec3.add(load3(model.p_GB, b2, 0), s2), vec3.add(load3(model.p_GB, b1, 0), s1))
    return b1, b2, s1, s2, r


@generic
def square(r: Any) -> Any:
    """True if the points are apart, and then r.r; else 1, a safe divisor."""
    rr = vec3.dot(r, r)
    return rr > 0.0, where(rr > 0.0, rr, one(rr))


@generic
def rate(model: Any, b1: int, b2: int, s1: Any, s2: Any, r: Any) -> Any:
    """r times the velocity of point 2 from point 1: x times the rate of x."""
    w1, v1 = load_spatial(model.V_GB, b1)
    w2, v2 = load_spatial(model.V_GB, b2)
    v = vec3.sub(vec3.add(v2, vec3.cross(w2, s2)), vec3.add(v1, vec3.cross(w1, s1)))
    return vec3.dot(r, v)


@generic
def pull(model: Any, b1: int, b2: int, s1: Any, s2: Any, f: Any) -> None:
    """The vector f on point 1, and -f on point 2."""
    add_spatial(model.body_forces, b1, vec3.cross(s1, f), f)
    g = vec3.neg(f)
    add_spatial(model.body_forces, b2, vec3.cross(s2, g), g)


class TwoPoints(Force):
    """A force between two points; the base of its kinds."""

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        station1: npt.ArrayLike,
        body2: MobilizedBody,
        station2: npt.ArrayLike,
        disabled_by_default: bool,
        name: str | None,
        **own: float,
    ) -> None:
        bodies = [body_index(forces, "body1", body1), body_index(forces, "body2", body2)]
        numbers = self.declared(name, station1=station1, station2=station2, **own)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = bodies, numbers

    def reach(self) -> tuple[list[int], list[int]] | None:
        return None if self.used_functions else (self.default_integers[:2], [])

    def get_body1(self) -> MobilizedBody:
        """The body of the first point."""
        return self._body(0)

    def get_body2(self) -> MobilizedBody:
        """The body of the second point."""
        return self._body(1)

    get_default_station1, set_default_station1, get_station1, set_station1 = parameters.vector(
        "station1", "length", "the first point, in its body"
    ).accessors()
    get_default_station2, set_default_station2, get_station2, set_station2 = parameters.vector(
        "station2", "length", "the second point, in its body"
    ).accessors()

    def calc_lines(self, state: State) -> list[Line]:
        """From one point to the other."""
        one, other = self.default_integers[:2]
        return [((one, np.asarray(self.get_station1(state))), (other, np.asarray(self.get_station2(state))))]

    def calc_length(self, state: State) -> float:
        """The distance between the points, length. Needs POSITION."""
        self._check(state, "calc_length")
        state.need_positions(self.get_body1(), "calc_length")
        i, _, x, _ = self.span
        r = arms(state.record, i, x)[4]
        return float(np.sqrt(vec3.dot(r, r)))
