"""StationLocation: where a point of a body is in Ground.

m = p_GS   m' = v_GS   m'' = a_GS
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9
from ..algebra.scalar import store
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from .base import Joined, Measure
from .coordinate import _checked_body
from .program import Program
from .routines import by_address, number

_STAGES = (Stage.POSITION, Stage.VELOCITY, Stage.ACCELERATION)
_ASKED = ("find_station_location_in_ground", "find_station_velocity_in_ground", "find_station_acceleration_in_ground")


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Integers: the body, the place of the station's numbers, and the order of derivative."""
    b, x, order = model.measure_code[i], model.measure_code[i + 1], model.measure_code[i + 2]
    r = mat33.mul_vec(load9(model.R_GB, b, 0), (number(model, x), number(model, x + 1), number(model, x + 2)))
    found = vec3.add(load3(model.p_GB, b, 0), r)
    if order > 0:
        w = load3(model.V_GB, b, 0)
        turned = vec3.cross(w, r)
        found = vec3.add(load3(model.V_GB, b, 3), turned)
        if order > 1:
            found = vec3.add(load3(model.A_GB, b, 3), vec3.cross(load3(model.A_GB, b, 0), r))
            found = vec3.add(found, vec3.cross(w, turned))
    for k in range(3):
        store(model.measure_values, out + k, 0, found[k])


operation = by_address(operate)


class StationLocation(Measure):
    """The location in Ground ``(3,)`` of a point fixed on a body, with its velocity and acceleration. Needs POSITION.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose point.
    station : (3,) array_like
        The point, from the body's origin, in the body's frame; the origin unless given.

    Raises
    ------
    TypeError
        If *mobod* is no mobilized body.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.StationLocation(system.matter, system.matter.bodies["lower"], (0, 1, 0))
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.get_value(state).round(3)
    array([ 0.296, -0.955,  0.   ])
    """

    def __init__(
        self,
        subsystem: Joined,
        mobod: MobilizedBody,
        station: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        name: str | None = None,
    ) -> None:
        self.mobod = _checked_body("StationLocation", mobod)
        self.station = checks.vector("the station of a StationLocation", station)
        super().__init__(subsystem, (3,), name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        return getattr(self.mobod, _ASKED[deriv_order])(state, self.station)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return 2

    def depends_on(self, deriv_order: int) -> Stage:
        return _STAGES[deriv_order]

    def write_value(self, program: Program, order: int) -> int:
        return program.call(operation, self.mobod.index, program.keep(self.station), order, results=3)
