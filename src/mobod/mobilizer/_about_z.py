"""Kinds whose first coordinate is the angle about the z axis that F and M share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..value import Rotation
from ._named import coordinate
from .base import MobilizedBody


class AboutZ(MobilizedBody):
    """A kind that turns about z by its first coordinate."""

    get_default_angle, set_default_angle, get_angle, set_angle = coordinate("angle", 0, "the angle about z", "angle")

    def _fit_rotation(self, R: Rotation, q: Array, *parameters: Any) -> None:
        # the angle that maximizes the trace of R^T Rz(q)
        M = np.asarray(R)
        q[0] = np.arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])
