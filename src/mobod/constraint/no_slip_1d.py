"""NoSlip1D: two bodies do not slip against each other along a direction, at a point: one equation of velocities.

    verr = n.(v_1 - v_0)     aerr = n.(a_1 - a_0) + n'.(v_1 - v_0)

of the material points of both bodies at a point P, which is fixed on a third body, the case, as the direction n is; measured in
the Ancestor body A. With both bodies' motion in Ground that is n.(a_1 - a_0) + ((w_A + w_case) x n).(v_1 - v_0). It is not the
rate of verr in general, since other points come to be at P; that rate is, with v_c of the case at P and its w,

    n.(a_1 - a_0 + w_1 x (v_c - v_1) - w_0 x (v_c - v_0)) + (w_case x n).(v_1 - v_0)

A positive multiplier is a force -n on body 1.
Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .. import decoration
from ..algebra import vec3
from ..algebra.memory import load3
from ..compiling import generic
from ..errors import TopologyError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import Transform, checks
from . import _relative, access
from ._parameters import BETWEEN, BetweenBodies, Mark, displayed
from .base import AnyBody, bodies_named
from .floats import OneVelocity


@generic
def _geometry(model: Any, c: int) -> Any:
    """n, both bodies, the point from their origins, the case, and from its origin.

    Integers: which constrained bodies are case, 0, 1; Ancestor; whether aerr is the rate of verr.
    """
    case = access.body(model, c, access.integer(model, c, 0))
    b0 = access.body(model, c, access.integer(model, c, 1))
    b1 = access.body(model, c, access.integer(model, c, 2))
    n = access.from_origin(model, case, access.vector(model, c, 3))
    arm = access.from_origin(model, case, access.vector(model, c, 0))
    return n, b0, b1, _relative.place(model, b0, case, arm), _relative.place(model, b1, case, arm), case, arm


@generic
def positions(model: Any, c: int) -> None:
    """Forces along n. Parameters: point and direction."""
    n, _, _, arm0, arm1, _, _ = _geometry(model, c)
    access.put_force(model, c, 0, access.integer(model, c, 1), arm0, vec3.neg(n))
    access.put_force(model, c, 0, access.integer(model, c, 2), arm1, n)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    n, b0, b1, arm0, arm1, case, arm = _geometry(model, c)
    v0, v1, w = access.velocity_at(model, b0, arm0), access.velocity_at(model, b1, arm1), load3(model.V_GB, case, 0)
    dv, da = vec3.sub(v1, v0), vec3.sub(access.centripetal(model, b1, arm1), access.centripetal(model, b0, arm0))
    if access.integer(model, c, 4) == 1:
        v = access.velocity_at(model, case, arm)
        da = vec3.add(da, vec3.cross(load3(model.V_GB, b1, 0), vec3.sub(v, v1)))
        da = vec3.sub(da, vec3.cross(load3(model.V_GB, b0, 0), vec3.sub(v, v0)))
    else:
        w = vec3.add(load3(model.V_GB, access.integer(model, c, 3), 0), w)
    access.put_acceleration_offset(model, c, 0, vec3.dot(n, da) + vec3.dot(vec3.cross(w, n), dv))


class NoSlip1D(BetweenBodies, OneVelocity):
    """Forbids two bodies to slip against each other along a direction, as gears do: one equation of velocities.

    Parameters
    ----------
    case_body : MobilizedBody, int or str
        The body that point and direction are fixed to, such as a gearbox: any body, also one of the two.
    contact_point : (3,) array_like
        Where the two touch, from the case's origin and in its frame; length.
    direction : (3,) array_like
        The direction without slip, in the case's frame, of any length but zero.
    body0, body1 : MobilizedBody, int or str
        The two bodies, one of which may be Ground. One of the three has to be given as an object.
    rate_of_error : bool
        Whether the acceleration error is the rate of the velocity error, as it has to be where the direction leans.

    Notes
    -----
    The error is a velocity; the multiplier is minus the force on body 1 along the direction. The case bears no force.

    The acceleration error is that of the material points, as Simbody has it, unless *rate_of_error* is set. It is the rate of
    the velocity error for wheels on parallel axes and a direction along both their ways; not if the direction is the normal of
    a tooth's flank, so that shafts bear what teeth press. Where the point of contact moves along a body and the case with it,
    as on a coin's rim, use a `SpeedCoupler` or a `Custom`, as the example ``rolling_coin`` does.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> wheel = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.5, 0.1)))
    >>> first = mb.mobilizer.Pin(matter.ground, wheel, X_PF=mb.Transform((-0.5, 0, 0)))
    >>> second = mb.mobilizer.Pin(matter.ground, wheel, X_PF=mb.Transform((0.5, 0, 0)))
    >>> part = mb.constraint.NoSlip1D(matter.ground, (0, 0, 0), (0, 1, 0), first, second)
    >>> state = system.realize_topology()
    >>> first.set_rate(state, 2.0)
    >>> system.project(state)
    True
    >>> bool(abs(first.get_rate(state) + second.get_rate(state)) < 1e-4)
    True
    """

    routine = access.by_address(positions, velocities)
    reads_ancestor = True
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
        rate_of_error: bool = False,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, contact_point=contact_point, direction=direction)
        case_body, body0, body1 = bodies_named(type(self).__name__, [case_body, body0, body1])
        if body0 is body1:
            raise TopologyError(f"NoSlip1D would tie {body0!r} to itself; give it two different bodies")
        bodies = list(dict.fromkeys([case_body, body0, body1]))
        self._is_rate = checks.flag("rate_of_error", rate_of_error)
        self._which = [bodies.index(body) for body in (case_body, body0, body1)]
        super().__init__(bodies, equations=(0, 1, 0), disabled_by_default=disabled_by_default, name=name)

    def pack_integers(self) -> list[int]:
        ancestor = self.get_ancestor_mobilized_body().get_mobilized_body_index()
        return [*self._which, ancestor, int(self._is_rate)]

    def tied_bodies(self) -> list[MobilizedBody]:
        return [self.constrained_bodies[self._which[1]], self.constrained_bodies[self._which[2]]]

    def get_case_mobilized_body_index(self) -> int:
        """Index of the case."""
        return self.constrained_bodies[self._which[0]].get_mobilized_body_index()

    def get_moving_body_mobilized_body_index(self, which: int) -> int:
        """Index of body 0 or 1."""
        if which not in (0, 1):
            raise IndexError(f"{self!r} has moving bodies 0 and 1; no number {which}")
        return self.constrained_bodies[self._which[1 + which]].get_mobilized_body_index()

    get_default_contact_point, set_default_contact_point, get_contact_point, set_contact_point = parameters.vector(
        "contact_point", "length", "the point, from the origin of the case and in its frame"
    ).accessors()
    get_default_direction, set_default_direction, get_direction, set_direction = parameters.direction(
        "direction", "the direction, in the frame of the case"
    ).accessors()

    def get_force_at_contact_point(self, state: State) -> float:
        """The force on body 1 along the direction. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    get_direction_display_length, set_direction_display_length = displayed(
        "direction_display_length", "length", "the length of the line that pictures show along the direction; length"
    )
    get_point_display_radius, set_point_display_radius = displayed(
        "point_display_radius", "radius", "the radius of the point that pictures show; length"
    )

    def marks(self, state: State) -> list[Mark]:
        case, p = self.constrained_bodies[self._which[0]], self.get_contact_point(state)
        marks: list[Mark] = []
        if self._direction_display_length > 0.0:
            half = 0.5 * self._direction_display_length * self.get_direction(state)
            marks.append((case, decoration.Line(p - half, p + half, color=BETWEEN)))
        if self._point_display_radius > 0.0:
            marks.append((case, decoration.Sphere(self._point_display_radius, X=Transform(p), color=BETWEEN)))
        return marks
