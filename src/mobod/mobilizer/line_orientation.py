"""LineOrientation: any orientation of a line, M's z axis, that does not spin about itself. 4 coordinates (or 3), 2 speeds.

q is the quaternion of R_FM, or after a modelling choice the body-fixed x-y-z angles
u is the x and y components of w_FM, expressed in M
R_FM = R(q)   p_FM = 0   H_FM = [x y; 0], x and y of M in F   HDot_FM u = 0   q_dot = N(q) u, N as in `_line`
Source: Seth et al. 2010; q and u as Simbody 3.7 defines them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra.scalar import zero
from ..value import Rotation
from . import _line
from ._by_address import BY_ADDRESS
from ._by_orientation import by_orientation
from .base import Array, ArrayLike, Facts, MobilizedBody

if TYPE_CHECKING:
    from ..state import State


@generic
def place(R: Any, rest: Any, p: Any) -> Any:  # p_FM
    o = zero(R[0])
    return o, o, o


@generic
def hinge(R: Any, rest: Any, p: Any) -> Any:  # columns of H_FM, expressed in F
    o = zero(R[0])
    x, y = _line.axes(R)
    return (x, (o, o, o)), (y, (o, o, o))


functions = by_orientation(place, hinge, num_u=2)


class LineOrientation(MobilizedBody):
    """Turn a line, the z axis of M, in any way about the point that F and M share, without spin about it.

    For bodies without inertia about a line, as of points on it: a Ball would have a mobility with nothing to move. A body that
    has inertia about z, too, does not spin about it either, as seen from F.

    Notes
    -----
    Two angles would be enough for where the line points, but not everywhere without a singularity, and not for how M is turned
    about it: turning about x and y in turn turns M about z as well. So q is the whole orientation, a quaternion or by modelling
    choice three angles, singular where the second of them is a right angle.
    """

    facts = Facts(BY_ADDRESS, num_q=4, num_u=2, constant_hinge=False, is_line=True, **functions._asdict())

    def get_default_rotation(self) -> Rotation:
        """R_FM of a default state."""
        return Rotation.from_quaternion(self._default_q)

    def set_default_rotation(self, R_FM: Rotation) -> LineOrientation:
        """Change R_FM of a default state; a topological change."""
        self.set_default_q(R_FM.to_quaternion())
        return self

    def get_rotation(self, state: State) -> Rotation:
        """The rotation that q stands for: R_FM, or R_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state).R

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q to a rotation: R_FM, or R_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, R_FM)

    def get_angular_velocity(self, state: State) -> Array:
        """u: the x and y components ``(2,)`` of w_FM in M, or of w_MF in F of a reversed mobilizer. Needs MODEL."""
        return self.get_u_as_vector(state)

    def set_angular_velocity(self, state: State, w_FM_M: ArrayLike) -> None:
        """Set u, the x and y components ``(2,)`` of the angular velocity; the state falls to POSITION at most."""
        self.set_u(state, w_FM_M)

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:4] = R.to_quaternion()
