"""Three equations that keep two rotations alike, for the kinds that have them.

With b the axes of the base's rotation and f those of the follower's, which turn with their bodies, for i, j = x, y and y, z and
z, x:

    perr = f_i . b_j     verr = w.(f_i x b_j)     aerr = w'.(f_i x b_j) + w.((w x f_i) x b_j)

with w the angular velocity of the follower in the base, and w' its rate seen from there. A positive multiplier is a torque
-f_i x b_j on the follower. Axes that point the other way satisfy them too. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.mat33 import column as _column
from ..algebra.memory import load9
from ..algebra.scalar import zero
from ..compiling import generic
from . import _relative, access


@generic
def _axes(model: Any, c: int, i: int, at: int) -> Any:
    """The axes of constrained body *i*'s rotation, whose nine numbers start at *at*, as columns."""
    return mat33.mul(load9(model.R_GB, access.body(model, c, i), 0), access.matrix(model, c, at))


@generic
def write_positions(model: Any, c: int, at: int) -> None:
    """perr and torques of the constraint's first three equations; the base's nine numbers start at *at*."""
    base, follower = _axes(model, c, 0, at), _axes(model, c, 1, at + 9)
    o = zero(base[0])
    for k in range(3):
        f, b = _column(follower, k), _column(base, (k + 1) % 3)
        n = vec3.cross(f, b)
        access.put_position_error(model, c, k, vec3.dot(f, b))
        access.put_wrench(model, c, k, 0, vec3.neg(n), (o, o, o))
        access.put_wrench(model, c, k, 1, n, (o, o, o))


@generic
def write_velocities(model: Any, c: int, at: int) -> None:
    """Offsets aerr - G udot."""
    base, follower = _axes(model, c, 0, at), _axes(model, c, 1, at + 9)
    w = _relative.angular_velocity(model, access.body(model, c, 0), access.body(model, c, 1))
    turning = _relative.angular_offset(model, access.body(model, c, 0), w)
    for k in range(3):
        f, b = _column(follower, k), _column(base, (k + 1) % 3)
        own = vec3.dot(w, vec3.cross(vec3.cross(w, f), b))
        access.put_acceleration_offset(model, c, k, vec3.dot(turning, vec3.cross(f, b)) + own)
