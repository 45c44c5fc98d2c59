"""Coordinate: one generalized coordinate of a mobilizer.

m = q_i   m' = q_dot_i   m'' = q_dot_dot_i
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value.checks import integer
from ..value.stage import Stage
from .base import Joined, Measure, NotCompiled
from .program import Program
from .routines import by_address

_STAGES = (Stage.MODEL, Stage.VELOCITY, Stage.ACCELERATION)


@generic
def operate(model: Any, i: int, out: int) -> None:
    """Integers: the place of q, and the order of derivative."""
    place, order = model.measure_code[i], model.measure_code[i + 1]
    y = load(model.q, place, 0)
    if order == 1:
        y = load(model.q_dot, place, 0)
    elif order == 2:
        y = load(model.q_dot_dot, place, 0)
    store(model.measure_values, out, 0, y)


operation = by_address(operate)


class Coordinate(Measure):
    """A coordinate q of a mobilizer, with its two derivatives. Needs MODEL; q_dot VELOCITY, q_dot_dot ACCELERATION.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose coordinate.
    which : int
        Which of its coordinates, from 0 on.

    Raises
    ------
    TypeError
        If *mobod* is no mobilized body.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    0.4
    """

    def __init__(self, subsystem: Joined, mobod: MobilizedBody, which: int = 0, *, name: str | None = None) -> None:
        self.mobod, self.which_coordinate = _checked_body("Coordinate", mobod), integer("which", which)
        if self.which_coordinate < 0:
            raise IndexError(f"coordinates of {mobod.name!r} are counted from 0, got {which}")
        super().__init__(subsystem, name=name)

    def _calc(self, state: State, deriv_order: int) -> Any:
        mobod, which = self.mobod, self.which_coordinate
        tree = state.tree_of(mobod, "get_value")
        b = mobod.index
        first, n = int(tree.first_q[b]), int(tree.num_q[b])
        if which >= n:
            raise IndexError(f"{self!r} asks for coordinate {which} of {mobod.name!r}, which has {n} in this state")
        return float((state.q_values, state.q_dot_view, state.q_dot_dot_view)[deriv_order][first + which])

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return 2

    def depends_on(self, deriv_order: int) -> Stage:
        return _STAGES[deriv_order]

    def write_value(self, program: Program, order: int) -> int:
        b, which = self.mobod.index, self.which_coordinate
        if which >= program.tree.num_q[b]:
            raise NotCompiled(f"{self!r} asks for coordinate {which} of {self.mobod.name!r}, which it has not")
        return program.call(operation, program.tree.first_q[b] + which, order, results=1)


def _checked_body(kind: str, mobod: Any) -> Any:
    if not hasattr(mobod, "find_station_location_in_ground"):
        raise TypeError(f"a {kind} measure is of a MobilizedBody, not of {mobod!r}")
    return mobod
