"""The pose of OpenSim's ConstantCurvatureJoint: a flexible rod that bends in an arc.

    R_FM = Rx(a) Rz(b) Ry(c)    p_FM = L (e_x (1 - cos t) / (t sin t), sin t / t, e_z (1 - cos t) / (t sin t))

with (a, b, c) = q + neutral angles, e = R_FM y and t the angle between e and y, where cos t = e_y. Near t = 0 the two
quotients are their series. (OpenSim puts the tip at L e for sin t < 0.001, where it jumps by 0.0005 L.)
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, rotation
from ...algebra.scalar import atan2, sincos, sqrt, where
from ...compiling import generic

#: sin^2 t below which series take the place of quotients: their sixth power is below rounding.
_SMALL = 2e-3


@generic
def transform(q: Any, parameters: Any) -> Any:
    """X_FM; parameters: the neutral angles about x, z, y, and the length."""
    length = parameters[3]
    sa, ca = sincos(q[0] + parameters[0])
    sb, cb = sincos(q[1] + parameters[1])
    R = mat33.mul(
        rotation.about_x(q[0] + parameters[0]),
        mat33.mul(rotation.about_z(q[1] + parameters[1]), rotation.about_y(q[2] + parameters[2])),
    )
    x, y, z = -1.0 * sb, ca * cb, sa * cb
    s2 = x * x + z * z
    bent = s2 > _SMALL
    safe = where(bent, s2, s2 * 0.0 + 0.5)
    s = sqrt(safe)
    t = atan2(s, where(bent, y, y * 0.0 + s))
    t2 = s2 * (1.0 + s2 * (1.0 / 3.0 + s2 * (8.0 / 45.0 + s2 * (4.0 / 35.0 + s2 * 128.0 / 1575.0))))
    across = where(
        bent,
        (1.0 - where(bent, y, s)) / (t * s),
        0.5 + t2 * (1.0 / 24.0 + t2 * (1.0 / 240.0 + t2 * (17.0 / 40320.0 + t2 * 31.0 / 725760.0))),
    )
    along = where(bent, s / t, 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0))))
    return R, (length * x * across, length * along, length * z * across)
