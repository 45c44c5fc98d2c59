"""NoSlip1D: two bodies do not slip against each other along a direction, at a point: one equation of velocities.

    verr = n.(v_1 - v_0)     aerr = n.(a_1 - a_0) + n'.(v_1 - v_0)

of the material points of both bodies at a point P, which is fixed on a third body, the case, as the direction n is; measured in
the Ancestor body A. With both bodies' motion in Ground that is n.(a_1 - a_0) + ((w_A + w_case) x n).(v_1 - v_0). It is not the
rate of verr in general, since other points come to be at P. A positive multiplier is a force -n on body 1.
Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from .._jit import generic
from ..algebra import vec3
from ..algebra.memory import load3
from ..errors import TopologyError
from ..value import Transform
from . import _access, _relative
from ._parameters import BETWEEN, Mark, Parametrized, display_size
from .base import bodies_named, station
from .base import direction as _direction

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state import State
    from .base import AnyBody

Array = npt.NDArray[np.float64]


@generic
def _geometry(model: Any, c: int) -> Any:
    """n, both bodies, the point from their origins, the case. Integers: which constrained bodies are case, 0, 1; Ancestor."""
    case = _access.body(model, c, _access.integer(model, c, 0))
    b0 = _access.body(model, c, _access.integer(model, c, 1))
    b1 = _access.body(model, c, _access.integer(model, c, 2))
    n = _access.from_origin(model, case, _access.vector(model, c, 3))
    arm = _access.from_origin(model, case, _access.vector(model, c, 0))
    return n, b0, b1, _relative.place(model, b0, case, arm), _relative.place(model, b1, case, arm), case


@generic
def positions(model: Any, c: int) -> None:
    """Forces along n. Parameters: point and direction."""
    n, _, _, arm0, arm1, _ = _geometry(model, c)
    _access.put_force(model, c, 0, _access.integer(model, c, 1), arm0, vec3.neg(n))
    _access.put_force(model, c, 0, _access.integer(model, c, 2), arm1, n)


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
    n, b0, b1, arm0, arm1, case = _geometry(model, c)
    dv = vec3.sub(_access.velocity_at(model, b1, arm1), _access.velocity_at(model, b0, arm0))
    da = vec3.sub(_access.centripetal(model, b1, arm1), _access.centripetal(model, b0, arm0))
    w = vec3.add(load3(model.V_GB, _access.integer(model, c, 3), 0), load3(model.V_GB, case, 0))
    _access.put_acceleration_offset(model, c, 0, vec3.dot(n, da) + vec3.dot(vec3.cross(w, n), dv))


class NoSlip1D(Parametrized):
    """Forbids two bodies to slip against each other along a direction, as gears do: one equation of velocities.

    Parameters
    ----------
    case_body : MobilizedBody, int or str
        The body that point and direction are fixed to, as a gearbox: any, one of the two among them.
    contact_point : (3,) array_like
        Where the two touch, from the case's origin and in its frame; length.
    direction : (3,) array_like
        The direction without slip, in the case's frame, of any length but zero.
    body0, body1 : MobilizedBody, int or str
        The two bodies, one of which may be Ground. One of the three has to be given as an object.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Notes
    -----
    The error is a velocity; the multiplier is minus the force on body 1 along the direction. The case bears no force.

    The acceleration error is that of the material points, as Simbody has it. Where the point of contact moves along a body in
    three dimensions, as on a coin's rim, that is not the rate of the velocity error: use a `SpeedCoupler` or a `Custom` there,
    as the example ``rolling_coin`` does.
    """

    routine = _access.by_address(positions, velocities)
    _direction_display_length = 1.0
    _point_display_radius = 0.05

    def __init__(
        self,
        case_body: AnyBody,
        contact_point: npt.ArrayLike,
        direction: npt.ArrayLike,
        body0: AnyBody,
        body1: AnyBody,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._values = [*station("contact_point", contact_point), *_direction("direction", direction)]
        case_body, body0, body1 = bodies_named(type(self).__name__, [case_body, body0, body1])
        if body0 is body1:
            raise TopologyError(f"NoSlip1D would tie {body0!r} to itself; give it two different bodies")
        bodies = list(dict.fromkeys([case_body, body0, body1]))
        self._which = [bodies.index(body) for body in (case_body, body0, body1)]
        super().__init__(bodies, equations=(0, 1, 0), disabled_by_default=disabled_by_default, name=name)

    def _integers(self) -> list[int]:
        return [*self._which, self.get_ancestor_mobilized_body().get_mobilized_body_index()]

    def _tied_bodies(self) -> list[MobilizedBody]:
        return [self._bodies[self._which[1]], self._bodies[self._which[2]]]

    def get_case_mobilized_body_index(self) -> int:
        """Index of the case."""
        return self._bodies[self._which[0]].get_mobilized_body_index()

    def get_moving_body_mobilized_body_index(self, which: int) -> int:
        """Index of body 0 or 1."""
        if which not in (0, 1):
            raise IndexError(f"{self!r} has moving bodies 0 and 1; no number {which}")
        return self._bodies[self._which[1 + which]].get_mobilized_body_index()

    def get_default_contact_point(self) -> Array:
        """The point, from the origin of the case and in its frame, that states start with ``(3,)``."""
        return self._default(0, 3)

    def set_default_contact_point(self, contact_point: npt.ArrayLike) -> NoSlip1D:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(0, station("contact_point", contact_point))
        return self

    def get_contact_point(self, state: State) -> Array:
        """The point, from the origin of the case and in its frame, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_contact_point", 0, 3)

    def set_contact_point(self, state: State, contact_point: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._change_numbers(state, "set_contact_point", 0, station("contact_point", contact_point))

    def get_default_direction(self) -> Array:
        """The direction, of length 1, in the frame of the case, that states start with ``(3,)``."""
        return self._default(3, 3)

    def set_default_direction(self, direction: npt.ArrayLike) -> NoSlip1D:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(3, _direction("direction", direction))
        return self

    def get_direction(self, state: State) -> Array:
        """The direction, of length 1, in the frame of the case, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_direction", 3, 3)

    def set_direction(self, state: State, direction: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._change_numbers(state, "set_direction", 3, _direction("direction", direction))

    def get_velocity_error(self, state: State) -> float:
        """The velocity of slip along the direction. Needs VELOCITY."""
        return self._the_only(state, "get_velocity_error", self.get_velocity_errors_as_vector(state))

    def get_acceleration_error(self, state: State) -> float:
        """Its error at the level of accelerations. Needs ACCELERATION."""
        return self._the_only(state, "get_acceleration_error", self.get_acceleration_errors_as_vector(state))

    def get_multiplier(self, state: State) -> float:
        """Its multiplier, of the sign opposite to forces. Needs ACCELERATION."""
        return self._the_only(state, "get_multiplier", self.get_multipliers_as_vector(state))

    def get_force_at_contact_point(self, state: State) -> float:
        """The force on body 1 along the direction. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    def get_direction_display_length(self) -> float:
        """The length of the line that pictures show along the direction; length. For drawing only."""
        return self._direction_display_length

    def set_direction_display_length(self, length: float) -> NoSlip1D:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._direction_display_length = display_size("length", length)
        return self

    def get_point_display_radius(self) -> float:
        """The radius of the point that pictures show; length. For drawing only."""
        return self._point_display_radius

    def set_point_display_radius(self, radius: float) -> NoSlip1D:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._point_display_radius = display_size("radius", radius)
        return self

    def _marks(self, state: State) -> list[Mark]:
        case, p = self._bodies[self._which[0]], self.get_contact_point(state)
        marks: list[Mark] = []
        if self._direction_display_length > 0.0:
            half = 0.5 * self._direction_display_length * self.get_direction(state)
            marks.append((case, decoration.Line(p - half, p + half, color=BETWEEN)))
        if self._point_display_radius > 0.0:
            marks.append((case, decoration.Sphere(self._point_display_radius, X=Transform(p), color=BETWEEN)))
        return marks
