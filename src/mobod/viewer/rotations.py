"""Quaternions of many rotations at once, as browsers and files take them."""

import numpy as np

from ..algebra.arrays import Array


def to_quaternions(R: Array) -> Array:
    """Quaternions (..., 4), scalar first, of rotations (..., 3, 3); along the first axis each is near the one before.

    As `Rotation.to_quaternion` for one, which says where the formula is from. SciPy takes 0.3 s to be imported.
    """
    m = R.reshape(-1, 3, 3)
    x, y, z = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    yz, zx, xy = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    x_y, x_z, y_z = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    # row k is the quaternion times 4 times its component k: that of the largest divides by nothing small
    rows = np.array([
        (1.0 + x + y + z, yz, zx, xy),
        (yz, 1.0 + x - y - z, x_y, x_z),
        (zx, x_y, 1.0 - x + y - z, y_z),
        (xy, x_z, y_z, 1.0 - x - y + z),
    ])  # fmt: skip
    largest = np.argmax(np.einsum("kkn->kn", rows), axis=0)
    found = rows[largest, :, np.arange(len(m))]
    found = (found / np.linalg.norm(found, axis=1, keepdims=True)).reshape(*R.shape[:-2], 4)
    if found.ndim > 2 and len(found) > 1:
        turned = np.einsum("...i,...i->...", found[1:], found[:-1]) < 0.0
        found[1:] *= np.where(np.cumsum(turned, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return found
