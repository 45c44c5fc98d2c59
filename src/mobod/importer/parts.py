"""Parts that readers of several formats build alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import body
from ..algebra.arrays import Array
from ..value import MassProperties
from ..value.inertia import point_inertia


@dataclass(frozen=True, slots=True, eq=False)
class LinkMass:
    """Mass, mass centre, and inertia about the mass centre, in the link's frame; any of them may be zero."""

    mass: float
    com: Array
    central_inertia: Array

    @property
    def inertia(self) -> Array:
        """Inertia about the origin of the link's frame."""
        return self.central_inertia + point_inertia(self.com, self.mass)


MASSLESS = LinkMass(0.0, np.zeros(3), np.zeros((3, 3)))


#: What stands for the mass of an inertia without, in kg for each kg m^2: too little to be seen beside any length of a robot.
_NO_MASS = 1e-12


def make_body(mass: LinkMass) -> body.Body:
    """Make a body with these mass properties, which may be those of no body: whoever calls says so."""
    if mass.mass > 0.0:
        return body.Rigid(MassProperties.trusted(mass.mass, mass.com.copy(), mass.inertia))
    if mass.central_inertia.any():
        tensor = mass.central_inertia.copy()
        return body.Rigid(MassProperties.trusted(_NO_MASS * float(np.abs(tensor).max()), np.zeros(3), tensor))
    return body.Massless()


def rotation_matrix(rpy: tuple[float, float, float]) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll): takes vectors from the rotated frame to the outer one."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_taking(which: int, axis: Array) -> Array:
    """Return a rotation that takes the coordinate axis `which` to the unit vector `axis`.

    It is the shortest one, after half a turn if the two point away from each other.
    """
    if axis[which] < 0.0:  # the shortest one would nearly divide by zero
        A = -rotation_taking(which, -axis)
        kept = (which + 1) % 3
        A[:, kept] = -A[:, kept]
        return A
    i, j = (which + 1) % 3, (which + 2) % 3
    a, b, c = axis[i], axis[j], axis[which]
    A = np.zeros((3, 3))
    A[which, which], A[i, which], A[j, which] = c, a, b
    A[which, i], A[which, j] = -a, -b
    A[i, i], A[j, j] = 1.0 - a * a / (1.0 + c), 1.0 - b * b / (1.0 + c)
    A[i, j] = A[j, i] = -a * b / (1.0 + c)
    return A


def plural(count: int, one: str, many: str) -> str:
    """Say how many there are."""
    return f"{count} {one if count == 1 else many}"
