"""Torus and HeightField: the surface's nearest point, and the ring of balls that is the torus' tube, see `_ring`.

Law HERTZ with the curvatures of both. Of each place along the circle one nearest point is looked for, from below the place: a
hollow narrower than the tube touches it on one side.
"""

from typing import Any

from ...algebra import sym33, vec3
from ...compiling import apart, generic
from ..height_surface import foot, highest, normal, settle, surface
from ._core import bare3
from ._ring import torus_with

_FAR = 1e30


@apart
def _near(model: Any, s: int, x: Any, lane: int) -> Any:
    """Distance, normal and shape operator as in `_nearest`; far away where the nearest point is on the border, or beyond."""
    o, at, none = 0.0 * x[0], bare3(x), (0.0, 0.0, 0.0)
    u, v, found = foot(model, s, at, none, (at[0], at[1]))
    if not found:
        return o + _FAR, (o, o, o + 1.0), (o, o, o, o, o, o)
    p, q = settle(model, s, x, none, u, v)
    z, z_x, z_y, z_xx, z_xy, z_yy = surface(model, s, p, q)
    n, w = normal(z_x, z_y)
    # with P = 1 - n n^T and the Hessian H of z(x, y), S = -P H P / w
    bent = sym33.rotate(_projector(n), (-z_xx / w, -z_yy / w, o, -z_xy / w, o, o))
    return vec3.dot(n, vec3.sub(x, (p, q, z))), n, bent


@generic
def _projector(n: Any) -> Any:
    xy, xz, yz = -n[0] * n[1], -n[0] * n[2], -n[1] * n[2]
    return 1.0 - n[0] * n[0], xy, xz, xy, 1.0 - n[1] * n[1], yz, xz, yz, 1.0 - n[2] * n[2]


@generic
def _is_far(model: Any, s: int, x: Any, reach: float) -> bool:
    return x[2] - reach > highest(model, s, x[0], x[1], reach, reach)[0]


torus_height_field = torus_with(_near, "torus_height_field", True, _is_far)
