"""Force plates: the wrench of all contacts of a body, and the center of pressure.

With F the force on the body and m the moment about a point o of the plane whose unit normal is n,

    p = o + n x m / (n . F)

is the point of the plane about which the moment has no part in the plane: m - (p - o) x F is along n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...algebra.arrays import Array
from ...value import checks
from ..gravity import Gravity
from ..uniform_gravity import UniformGravity

if TYPE_CHECKING:
    from ...mobilizer.base import MobilizedBody
    from ...state.state import State
    from ...value.annotations import MultibodySystem

#: A force along the normal that is so small a part of all forces there is rounding.
_ROUNDING = 1e-12


class ForcePlate:
    """The part of `CompliantContactSubsystem` that adds up the contacts of bodies."""

    if TYPE_CHECKING:  # what the subsystem has besides

        def get_system(self) -> MultibodySystem: ...
        def get_contacts(self, state: State) -> npt.NDArray[Any]: ...

    def calc_body_wrench(
        self, state: State, body: MobilizedBody, *, point: npt.ArrayLike | None = None, other_body: MobilizedBody | None = None
    ) -> Array:
        """Calculate the moment and the force of all contacts on a body, in Ground. Needs VELOCITY.

        Parameters
        ----------
        state : State
        body : MobilizedBody
            On which they act; Ground, too: a floor feels what stands on it.
        point : (3,) array_like, optional
            About which the moment is, in Ground; the body's origin unless given.
        other_body : MobilizedBody, optional
            Of its contacts with this body alone, such as those of a foot with the floor.

        Returns
        -------
        (2, 3) array
            Moment, force*length; force. Zero where nothing touches.

        Raises
        ------
        StageError
            If the state is not at VELOCITY.
        TypeError, TopologyError
            If one is no body of the system's.
        """
        system = self.get_system()
        matter = system.get_matter_subsystem()
        which = int(matter.find_body(body).index)
        other = None if other_body is None else int(matter.find_body(other_body).index)
        about = None if point is None else checks.vector("point", point)
        rows = self.get_contacts(state)
        if about is None:
            about = _origins(state)[which]
        if other is not None:
            rows = rows[(rows["body1"] == other) | (rows["body2"] == other)]
        return _wrench(rows, which, about)

    def calc_body_wrenches(self, state: State) -> Array:
        """Calculate the moments and the forces of all contacts on each body, in Ground. Needs VELOCITY.

        Returns
        -------
        (nb, 2, 3) array
            As of `calc_body_wrench`, each about its body's origin; Ground's is the first.
        """
        return body_wrenches(self.get_contacts(state), state)

    def calc_center_of_pressure(
        self,
        state: State,
        body: MobilizedBody,
        normal: npt.ArrayLike | None = None,
        *,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        other_body: MobilizedBody | None = None,
    ) -> Array:
        """Calculate where the contacts' moment on a body has no part parallel to a plane. Needs VELOCITY.

        Parameters
        ----------
        state : State
        body : MobilizedBody
            On which the contacts act.
        normal : (3,) array_like, optional
            Of the plane, in Ground; against gravity unless given, z where there is none.
        point : (3,) array_like, optional
            Of the plane, in Ground; Ground's origin unless given.
        other_body : MobilizedBody, optional
            Of its contacts with this body alone.

        Returns
        -------
        (3,) array
            A point of the plane, in Ground. NaN where no force is along the normal: nothing touches, or what touches only
            rubs.

        Raises
        ------
        StageError
            If the state is not at VELOCITY.
        TypeError, ValueError, ModelError
            If the normal is no direction, the point no vector, or a body not one of the system's.
        """
        n = find_up(self.get_system(), state) if normal is None else checks.unit("normal", normal)
        o = checks.vector("point", point)
        moment, force = self.calc_body_wrench(state, body, point=o, other_body=other_body)
        return _center(n, o, moment, force)

    def calc_centers_of_pressure(
        self, state: State, normal: npt.ArrayLike | None = None, *, point: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> Array:
        """Calculate the centers of pressure of all bodies in one plane. Needs VELOCITY.

        Returns
        -------
        (nb, 3) array
            As of `calc_center_of_pressure`, NaN for bodies that bear nothing; Ground's is the first.
        """
        n = find_up(self.get_system(), state) if normal is None else checks.unit("normal", normal)
        return centers_of_pressure(self.calc_body_wrenches(state), state, n, checks.vector("point", point))


def body_wrenches(rows: npt.NDArray[Any], state: State) -> Array:
    """Moment and force of contacts on each body, about its origin, ``(nb, 2, 3)``, of rows as `get_contacts` has them."""
    origins = _origins(state)
    moments, forces = np.zeros((2, len(origins), 3))
    for name, sign in (("body1", -1.0), ("body2", 1.0)):
        arms = rows["point"] - origins[rows[name]]
        np.add.at(moments, rows[name], sign * (rows["moment"] + np.cross(arms, rows["force"])))
        np.add.at(forces, rows[name], sign * rows["force"])
    return np.stack([moments, forces], axis=1)


def centers_of_pressure(wrenches: Array, state: State, n: Array, o: Array) -> Array:
    """The points ``(nb, 3)`` of the plane with the normal *n* through *o* about which such wrenches have no part in it."""
    moments = wrenches[:, 0] + np.cross(_origins(state) - o, wrenches[:, 1])
    return np.array([_center(n, o, m, f) for m, f in zip(moments, wrenches[:, 1], strict=True)])


def find_up(system: MultibodySystem, state: State, otherwise: npt.ArrayLike = (0.0, 0.0, 1.0)) -> Array:
    """The direction against gravity; where there is none, that out of a half-space, or what is given."""
    total = np.zeros(3)
    for force in system.all_forces():
        if isinstance(force, Gravity | UniformGravity) and not force.is_disabled(state):
            total += force.get_gravity_vector(state)
    size = float(np.linalg.norm(total))
    return -total / size if size > 0.0 else np.array(otherwise)


def _origins(state: State) -> Array:
    """p_GB of all bodies."""
    return np.asarray(state.record.p_GB).reshape(-1, 3)


def _wrench(rows: npt.NDArray[Any], body: int, about: Array) -> Array:
    """The sum over those rows that are of a body."""
    sign = (rows["body2"] == body) * 1.0 - (rows["body1"] == body)
    forces = sign[:, None] * rows["force"]
    moments = sign[:, None] * rows["moment"] + np.cross(rows["point"] - about, forces)
    return np.stack([moments.sum(axis=0), forces.sum(axis=0)])


def _center(n: Array, o: Array, moment: Array, force: Array) -> Array:
    load = float(n @ force)
    if not abs(load) > _ROUNDING * float(np.abs(force).sum()):
        return np.full(3, np.nan)
    return np.asarray(o + np.cross(n, moment) / load)
