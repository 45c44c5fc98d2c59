"""Quaternions of many rotations at once, as browsers and files take them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..algebra.arrays import Array


def to_quaternions(R: Array) -> Array:
    """Quaternions (..., 4), scalar first, of rotations (..., 3, 3); along the first axis each is near the one before."""
    found = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat(scalar_first=True).reshape(*R.shape[:-2], 4)
    if found.ndim > 2 and len(found) > 1:
        turned = np.einsum("...i,...i->...", found[1:], found[:-1]) < 0.0
        found[1:] *= np.where(np.cumsum(turned, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return np.asarray(found)
