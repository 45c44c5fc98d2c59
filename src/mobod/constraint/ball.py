"""Ball: a point of one body and a point of another coincide: three equations of positions.

    perr = p_2 - p_1 in the Ancestor body A       verr, aerr = v_2(C) - v_1(C), a_2(C) - a_1(C) in A

with C at point 2, and the motions those of the material points there: off the manifold these are not the rates of perr,
but forces at C are equal and opposite. Measured and expressed in A; a_2 - a_1 in A is that in Ground less 2 w_A x (v_2 - v_1).
Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .. import decoration
from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load3, load9
from ..algebra.scalar import zero
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Transform
from . import access
from ._parameters import BETWEEN, FIRST, SECOND, Equations, Line, Mark, displayed, index_of
from .base import AnyBody


@generic
def arms(model: Any, c: int) -> Any:
    """C from either body's origin, in Ground, and p_2 - p_1. Stations are the first six parameters."""
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    r1 = access.from_origin(model, b1, access.vector(model, c, 0))
    r2 = access.from_origin(model, b2, access.vector(model, c, 3))
    C = vec3.add(load3(model.p_GB, b2, 0), r2)
    arm1 = vec3.sub(C, load3(model.p_GB, b1, 0))
    return arm1, r2, vec3.sub(arm1, r1)


@generic
def positions(model: Any, c: int) -> None:
    """perr, and forces along the axes of A at C."""
    write_positions(model, c, 0)


@generic
def write_positions(model: Any, c: int, first: int) -> None:
    """The three equations from number *first* of the constraint on."""
    arm1, arm2, apart = arms(model, c)
    R_GA = load9(model.R_GB, access.integer(model, c, 0), 0)
    error = mat33.transpose_mul_vec(R_GA, apart)
    for k in range(3):
        axis = R_GA[0], R_GA[3], R_GA[6]
        e = error[0]
        if k == 1:
            axis, e = (R_GA[1], R_GA[4], R_GA[7]), error[1]
        elif k == 2:
            axis, e = (R_GA[2], R_GA[5], R_GA[8]), error[2]
        access.put_position_error(model, c, first + k, e)
        access.put_force(model, c, first + k, 0, arm1, vec3.neg(axis))
        access.put_force(model, c, first + k, 1, arm2, axis)


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    write_velocities(model, c, 0)


@generic
def write_velocities(model: Any, c: int, first: int) -> None:
    """The same for the three equations from number *first* on."""
    arm1, arm2, _ = arms(model, c)
    b1, b2, A = access.body(model, c, 0), access.body(model, c, 1), access.integer(model, c, 0)
    dv = vec3.sub(access.velocity_at(model, b2, arm2), access.velocity_at(model, b1, arm1))
    da = vec3.sub(access.centripetal(model, b2, arm2), access.centripetal(model, b1, arm1))
    turning = vec3.cross(load3(model.V_GB, A, 0), dv)
    offset = mat33.transpose_mul_vec(load9(model.R_GB, A, 0), vec3.add_scaled(da, zero(dv[0]) - 2.0, turning))
    access.put_acceleration_offset(model, c, first, offset[0])
    access.put_acceleration_offset(model, c, first + 1, offset[1])
    access.put_acceleration_offset(model, c, first + 2, offset[2])


class Ball(Equations):
    """Makes two points coincide, as a ball joint does: three equations of positions.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    station1, station2 : (3,) array_like
        The points, from each body's origin and in its frame; length.

    Notes
    -----
    Errors are lengths along the axes of the Ancestor body: the outermost common ancestor of both. The multipliers are minus the
    force on body 2.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.Ball(matter.ground, (1, 0, 0), one, (0, 0, 0))
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.2, 0.9, 0.3))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([1., 0., 0.])
    """

    routine = access.by_address(positions, velocities)
    reads_ancestor = True
    _default_radius = 0.1

    def __init__(
        self,
        body1: AnyBody,
        station1: npt.ArrayLike,
        body2: AnyBody,
        station2: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self.default_numbers = self.declared(name, station1=station1, station2=station2)
        super().__init__([body1, body2], equations=(3, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def pack_integers(self) -> list[int]:
        return [self.get_ancestor_mobilized_body().get_mobilized_body_index()]

    get_body1_mobilized_body_index = index_of("body1", 0, "the first one")
    get_body2_mobilized_body_index = index_of("body2", 1, "the second one")
    get_default_station1, set_default_station1, get_station1, set_station1 = parameters.vector(
        "station1", "length", "the point on the first body, from its origin and in its frame"
    ).accessors()
    get_default_station2, set_default_station2, get_station2, set_station2 = parameters.vector(
        "station2", "length", "the point on the second body, likewise"
    ).accessors()
    get_default_radius, set_default_radius = displayed("default_radius", "r", "the radius that pictures show it with; length")

    def get_ball_reaction_force_on_body1(self, state: State) -> Array:
        """The force that is exerted on body 1, at the place of point 2, in body 1's frame ``(3,)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 0)[1]

    def get_ball_reaction_force_on_body2(self, state: State) -> Array:
        """The force that is exerted on body 2, at its point, in body 2's frame ``(3,)``. Needs ACCELERATION."""
        return self._applied_in_body(state, 1)[1]

    def marks(self, state: State) -> list[Mark]:
        r, points = self._default_radius, (self.get_station1(state), self.get_station2(state))
        if r == 0.0:
            return []
        return [
            (body, decoration.Sphere(size, X=Transform(point), color=color, opacity=0.5))
            for body, point, color, size in zip(self.constrained_bodies, points, (FIRST, SECOND), (r, 0.9 * r), strict=True)
        ]

    def lines(self, state: State) -> list[Line]:
        body1, body2 = self.constrained_bodies
        return [(body1, self.get_station1(state), body2, self.get_station2(state), BETWEEN)]
