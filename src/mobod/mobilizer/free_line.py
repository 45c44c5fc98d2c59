"""FreeLine: any motion of a line, M's z axis, that does not spin about itself. 7 coordinates (or 6), 5 speeds.

q is the quaternion of R_FM (or its body-fixed x-y-z angles), then p_FM
u is the x and y components of w_FM, expressed in M, then v_FM, expressed in F
H_FM = [x y 0; 0 0 1], x and y of M in F   HDot_FM u = 0   q_dot = N(q) u, N as of a LineOrientation and 1
Source: Seth et al. 2010; q and u as Simbody 3.7 defines them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra.scalar import one, zero
from ..value import Rotation, Transform
from . import _line
from ._by_address import BY_ADDRESS
from ._by_orientation import by_orientation
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


@generic
def place(R: Any, rest: Any, p: Any) -> Any:  # p_FM
    return rest


@generic
def hinge(R: Any, rest: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o, i = zero(R[0]), one(R[0])
    x, y = _line.axes(R)
    none = o, o, o
    return (x, none), (y, none), (none, (i, o, o)), (none, (o, i, o)), (none, (o, o, i))


functions = by_orientation(place, hinge, num_u=5, num_rest=3)


class FreeLine(MobilizedBody):
    """Move a line, the z axis of M, in any way without spin about it: a quaternion (or three angles) and p_FM; five speeds.

    For bodies without inertia about a line, as of points on it: a Free would have a mobility with nothing to move. A body that
    has inertia about z, too, does not spin about it either, as seen from F. Why q is the whole orientation:
    see `LineOrientation`.
    """

    facts = Facts(
        BY_ADDRESS,
        num_q=7,
        num_u=5,
        constant_hinge=False,
        is_line=True,
        slides_in_every_way=True,
        **functions._asdict(),
    )

    def get_default_transform(self) -> Transform:
        """X_FM of a default state."""
        return Transform(Rotation.from_quaternion(self._default_q[:4]), self._default_q[4:])

    def set_default_transform(self, X_FM: Transform) -> FreeLine:
        """Change X_FM of a default state; a topological change."""
        self.set_default_q([*X_FM.R.to_quaternion(), *X_FM.p])
        return self

    def get_transform(self, state: State) -> Transform:
        """The pose that q stands for: X_FM, or X_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state)

    def set_transform(self, state: State, X_FM: Transform) -> None:
        """Set q to a pose: X_FM, or X_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_transform, X_FM)

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set the orientation and leave the translation; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, R_FM)

    def get_translation(self, state: State) -> Array:
        """The translation ``(3,)`` that q stands for. Needs MODEL."""
        return self.get_q_as_vector(state)[-3:]

    def set_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set the translation and leave the orientation; the state falls to TIME at most."""
        self._fit(state, self._fit_translation, self._vector("translation", p_FM, 3))

    def get_angular_velocity(self, state: State) -> Array:
        """The x and y components ``(2,)`` of w_FM in M, or of w_MF in F of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state)[:2]

    def set_angular_velocity(self, state: State, w_FM_M: ArrayLike) -> None:
        """Set these components and leave the linear velocity; the state falls to POSITION at most."""
        self.set_u(state, [*self._vector("angular velocity", w_FM_M, 2), *self.get_u_as_vector(state)[2:]])

    def get_linear_velocity(self, state: State) -> Array:
        """v_FM ``(3,)`` in F, or v_MF in M of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state)[2:]

    def set_linear_velocity(self, state: State, v_FM: ArrayLike) -> None:
        """Set the linear velocity and leave the angular one; the state falls to POSITION at most."""
        self.set_u(state, [*self.get_u_as_vector(state)[:2], *self._vector("linear velocity", v_FM, 3)])

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:4] = R.to_quaternion()

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[4:] = p
