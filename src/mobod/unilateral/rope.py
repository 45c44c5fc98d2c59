"""Rope: two points cannot be farther apart than a length.

gap = length - |p|; the position error is that of a rod, so that its sign is -1.
"""

from __future__ import annotations

import numpy.typing as npt

from ..algebra.arrays import Array
from ..constraint import Rod
from ..constraint.base import AnyBody
from ..state.of_each import of_each, rows_of
from ..state.state import State
from ..value import checks
from .base import UnilateralContact
from .between_bodies import bodies_and_name


class Rope(UnilateralContact):
    """A rope without mass that cannot be stretched: going taut is an impact.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        One of them may be given by its index or name, one may be Ground.
    station1, station2 : (3,) array_like
        Its ends, each in its body's frame; length.
    length : float
        Positive.
    restitution : float
        From 0 to 1.
    name : str, optional

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> part = mb.contact.Rope(matter.ground, (0, 0, 0), ball, (0, 0, 0), 1.0)
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> round(float(part.calc_gap(state)), 6)
    0.5
    """

    normal: Rod

    def __init__(
        self,
        body1: AnyBody,
        station1: npt.ArrayLike,
        body2: AnyBody,
        station2: npt.ArrayLike,
        length: float,
        restitution: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        checks.between("restitution", restitution, 0.0, 1.0)
        (first, second), own = bodies_and_name("Rope", [body1, body2], name)
        rod = Rod(first, station1, second, station2, length, disabled_by_default=True, name=f"{own}: normal")
        super().__init__(rod, sign=-1, restitution=restitution, name=own)

    def get_length(self, state: State) -> float:
        """Its length. Needs MODEL."""
        return self.normal.get_length(state)

    @of_each(lambda rope, template, values, present: rows_of(rope.normal.set_length, template, values, present))
    def set_length(self, state: State, length: float) -> None:
        """Change its length in this state, which falls to MODEL at most. Needs MODEL."""
        self.normal.set_length(state, length)

    def get_tension(self, state: State) -> float:
        """The force with which it pulls; zero where it is slack. Needs ACCELERATION."""
        return self.calc_normal_force(state)

    def where_to_display(self, state: State) -> Array:
        first, second = self.normal.constrained_bodies
        a = first.find_station_location_in_ground(state, self.normal.get_station1(state))
        b = second.find_station_location_in_ground(state, self.normal.get_station2(state))
        return 0.5 * (a + b)
