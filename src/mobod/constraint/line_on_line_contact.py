"""LineOnLineContact: a line of one body touches a line of another; they may be made not to slip on each other.

Lines through P_1 and P_2 along d_1 and d_2, p = P_2 - P_1. With m = d_1 x d_2, sigma = +-|m| and n = m / sigma, of the sign for
which n.(s_1 - s_2) is not negative, s being the directions out of the bodies, the closest points are

    Q_1 = P_1 + t_1 d_1, Q_2 = P_2 + t_2 d_2,     t_1 = -p.(n x d_2) / sigma, t_2 = -p.(n x d_1) / sigma

and the equations are those of `_contact` with z = n, x = d_1, y = n x d_1, C midway between Q_1 and Q_2, and separation p.n.
Seen from the first body, with the rates e = w x d_2 of d_2 and v_P of P_2, and n' = (m' - n (n.m')) / sigma, m' = d_1 x e,

    Q_1 + (p.n) n = Q_2 for all times     gives t_1' = -g.(n x d_2) / sigma, t_2' = -g.(n x d_1) / sigma
    g = v_P + t_2 e - (p.n) n'     C' = (t_1' d_1 + v_P + t_2' d_2 + t_2 e) / 2     x' = 0, y' = n' x d_1

Parallel lines touch with n = s_1, and Q_1 and Q_2 are midway between either P and the foot of the other P, as in Simbody. They
are parallel below an angle of 1e-10. Source: the conventions of Simbody 3.7; the derivation of the rates is ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import decoration
from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load9
from ..algebra.order import larger, size_of
from ..algebra.scalar import one, sqrt, where, zero
from ..compiling import generic
from ..state import parameters
from ..state.state import State
from ..value import Rotation, Transform
from ..value.checks import flag, positive
from . import _contact, _relative, access
from ._parameters import FIRST, SECOND, Mark, body_of
from .base import AnyBody

#: The square of the sine below which lines are parallel.
PARALLEL = 1e-20


@generic
def _geometry(model: Any, c: int) -> Any:
    """d_1, d_2, n, 1 / sigma (zero where parallel), P_1 and P_2 from their bodies' origins, p, t_1 and t_2."""
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    R1 = mat33.mul(load9(model.R_GB, b1, 0), access.matrix(model, c, 0))
    R2 = mat33.mul(load9(model.R_GB, b2, 0), access.matrix(model, c, 12))
    P1 = access.from_origin(model, b1, access.vector(model, c, 9))
    P2 = access.from_origin(model, b2, access.vector(model, c, 21))
    p = vec3.sub(_relative.place(model, b1, b2, P2), P1)
    d1, d2, s1, s2 = (R1[0], R1[3], R1[6]), (R2[0], R2[3], R2[6]), (R1[2], R1[5], R1[8]), (R2[2], R2[5], R2[8])
    m = vec3.cross(d1, d2)
    square = vec3.dot(m, m)
    crossed = square > PARALLEL
    sine = sqrt(where(crossed, square, one(square)))
    sigma = where(vec3.dot(m, vec3.sub(s1, s2)) >= 0.0, sine, -sine)
    inverse = where(crossed, 1.0 / sigma, zero(sigma))
    n = (where(crossed, m[0] * inverse, s1[0]), where(crossed, m[1] * inverse, s1[1]), where(crossed, m[2] * inverse, s1[2]))
    t1 = where(crossed, -inverse * vec3.dot(p, vec3.cross(n, d2)), 0.5 * vec3.dot(p, d1))
    t2 = where(crossed, -inverse * vec3.dot(p, vec3.cross(n, d1)), -0.5 * vec3.dot(p, d2))
    return d1, d2, n, inverse, P1, P2, p, t1, t2


@generic
def _arms(model: Any, c: int, d1: Any, d2: Any, P1: Any, p: Any, t1: Any, t2: Any) -> Any:
    """C from either body's origin."""
    half = zero(t1) + 0.5
    apart = vec3.add_scaled(vec3.add_scaled(p, t2, d2), t1, d1)  # Q_1 and Q_2 from P_1, added
    arm1 = vec3.add_scaled(P1, half, apart)
    return arm1, _relative.place(model, access.body(model, c, 1), access.body(model, c, 0), arm1)


@generic
def positions(model: Any, c: int) -> None:
    """perr and forces. Parameters: both frames, then the half lengths, which only pictures and `overhang` need."""
    d1, d2, n, _, P1, _, p, t1, t2 = _geometry(model, c)
    arm1, arm2 = _arms(model, c, d1, d2, P1, p, t1, t2)
    access.put_position_error(model, c, 0, vec3.dot(p, n))
    _contact.write_rows(model, c, access.integer(model, c, 0), arm1, arm2, d1, vec3.cross(n, d1), n)


@generic
def overhang(model: Any, c: int) -> Any:
    """The distance of C beyond the end of the edge that it is farther beyond; not above zero within both."""
    d1, d2, _, _, _, _, p, t1, t2 = _geometry(model, c)
    half = zero(t1) + 0.5
    to_C = vec3.scale(half, vec3.add_scaled(vec3.add_scaled(p, t2, d2), t1, d1))  # from P_1
    first = size_of(vec3.dot(d1, to_C)) - access.number(model, c, 24)
    return larger(first, size_of(vec3.dot(d2, vec3.sub(to_C, p))) - access.number(model, c, 25))


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    d1, d2, n, inverse, P1, P2, p, t1, t2 = _geometry(model, c)
    arm1, arm2 = _arms(model, c, d1, d2, P1, p, t1, t2)
    b1, b2 = access.body(model, c, 0), access.body(model, c, 1)
    v, w = _relative.velocity(model, b1, b2, arm1, arm2), _relative.angular_velocity(model, b1, b2)
    e, v_P = vec3.cross(w, d2), vec3.add(v, vec3.cross(w, vec3.sub(P2, arm2)))
    m_dot = vec3.cross(d1, e)
    n_dot = vec3.scale(inverse, vec3.add_scaled(m_dot, -vec3.dot(n, m_dot), n))
    moving = vec3.add_scaled(v_P, t2, e)
    g = vec3.add_scaled(moving, -vec3.dot(p, n), n_dot)
    t1_dot = -inverse * vec3.dot(g, vec3.cross(n, d2))
    t2_dot = -inverse * vec3.dot(g, vec3.cross(n, d1))
    C_dot = vec3.scale(zero(t1) + 0.5, vec3.add_scaled(vec3.add_scaled(moving, t2_dot, d2), t1_dot, d1))
    a = vec3.add(_relative.offset(model, b1, b2, arm1, arm2, v), vec3.cross(w, vec3.sub(C_dot, v)))
    _contact.write_offset(model, c, 0, n, n_dot, v, a)
    if access.integer(model, c, 0):
        access.put_acceleration_offset(model, c, 1, vec3.dot(d1, a))
        _contact.write_offset(model, c, 2, vec3.cross(n, d1), vec3.cross(n_dot, d1), v, a)


class LineOnLineContact(_contact.Contact):
    """Keeps two lines in touch, as edges of two bodies: one equation of positions, two of velocities where slip is forbidden.

    Parameters
    ----------
    body1, body2 : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    frame1, frame2 : Transform
        A frame on each body: its origin is the edge's center, its x axis along the edge, its z axis out of the body.
    half_length1, half_length2 : float
        Half the edges' lengths, positive. For drawing only: the lines have no ends.
    enforce_rolling : bool
        Whether slip is forbidden.

    Notes
    -----
    In method names F is the first body, B the second. The lines must not be parallel: there the normal, which turns with the
    lines, is undefined. Forces of contact and friction have any size and sign: the user switches the constraint on and off.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> across = mb.Transform(mb.Rotation.about_axis(1.5, 'z'))
    >>> part = mb.constraint.LineOnLineContact(matter.ground, mb.Transform(), 1.0, one, across, 1.0, False)
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_translation(state, (0.0, 0.0, 0.1))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> one.get_body_origin_location(state).round(3)
    array([0., 0., 0.])
    """

    routine = access.by_address(positions, velocities)

    def __init__(
        self,
        body1: AnyBody,
        frame1: Transform,
        half_length1: float,
        body2: AnyBody,
        frame2: Transform,
        half_length2: float,
        enforce_rolling: bool,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._rolling = flag("enforce_rolling", enforce_rolling)
        self.default_numbers = self.declared(
            name, frame1=frame1, half_length1=half_length1, frame2=frame2, half_length2=half_length2
        )
        super().__init__([body1, body2], disabled_by_default=disabled_by_default, name=name)

    get_mobilized_body_f = body_of("mobilized_body_f", 0, "the first one")
    get_mobilized_body_b = body_of("mobilized_body_b", 1, "the second one")
    get_default_frame1, set_default_frame1, get_frame1, set_frame1 = parameters.frame(
        "frame1", "the frame of the edge on the first body"
    ).accessors()
    get_default_frame2, set_default_frame2, get_frame2, set_frame2 = parameters.frame(
        "frame2", "the frame of the edge on the second body"
    ).accessors()
    get_default_half_length1, set_default_half_length1, get_half_length1, set_half_length1 = parameters.scalar(
        "half_length1", "length", positive, "half the length of the edge on the first body"
    ).accessors()
    get_default_half_length2, set_default_half_length2, get_half_length2, set_half_length2 = parameters.scalar(
        "half_length2", "length", positive, "half the length of the edge on the second body"
    ).accessors()

    def find_force_on_body_b_in_g(self, state: State) -> Array:
        """The force on the second body, at the contact point, in Ground ``(3,)``; zero where disabled. Needs ACCELERATION."""
        return self._applied(state, 1)[1]

    def find_contact_frame_in_g(self, state: State) -> Transform:
        """The contact frame in Ground, whether enabled or not: x along the first line, z the normal. Needs POSITION."""
        Q1, Q2, d1, n, _ = self._find_closest(state)
        return Transform(Rotation(np.column_stack([d1, np.cross(n, d1), n])), (Q1 + Q2) / 2.0)

    def find_closest_points_in_g(self, state: State) -> tuple[Array, Array, bool]:
        """The closest points of both lines in Ground, and whether these are parallel. Needs POSITION.

        Of parallel lines the points are midway between each line's own center and the foot of the other line's.
        """
        Q1, Q2, _, _, parallel = self._find_closest(state)
        return Q1, Q2, parallel

    def find_separation(self, state: State) -> float:
        """Distance of the lines along the normal, negative where they penetrate, whether enabled or not. Needs POSITION."""
        Q1, Q2, _, n, _ = self._find_closest(state)
        return float((Q2 - Q1) @ n)

    def _find_closest(self, state: State) -> tuple[Array, Array, Array, Array, bool]:
        """Q_1, Q_2, d_1, n, and whether the lines are parallel, as the kernels have them."""
        X1 = self.constrained_bodies[0].get_body_transform(state) @ self.get_frame1(state)
        X2 = self.constrained_bodies[1].get_body_transform(state) @ self.get_frame2(state)
        R1, R2, P1, P2 = np.asarray(X1.R), np.asarray(X2.R), np.asarray(X1.p), np.asarray(X2.p)
        d1, d2, p = R1[:, 0], R2[:, 0], P2 - P1
        m = np.cross(d1, d2)
        if m @ m <= PARALLEL:
            return P1 + 0.5 * (p @ d1) * d1, P2 - 0.5 * (p @ d2) * d2, d1, R1[:, 2], True
        sigma = float(np.linalg.norm(m)) * (1.0 if m @ (R1[:, 2] - R2[:, 2]) >= 0.0 else -1.0)
        n = m / sigma
        t1, t2 = -(p @ np.cross(n, d2)) / sigma, -(p @ np.cross(n, d1)) / sigma
        return P1 + t1 * d1, P2 + t2 * d2, d1, n, False

    def marks(self, state: State) -> list[Mark]:
        frames = self.get_frame1(state), self.get_frame2(state)
        halves = self.get_half_length1(state), self.get_half_length2(state)
        return [
            (body, decoration.Line(X @ (-half, 0, 0), X @ (half, 0, 0), color=color, line_width=3.0))
            for body, X, half, color in zip(self.constrained_bodies, frames, halves, (FIRST, SECOND), strict=True)
        ]
