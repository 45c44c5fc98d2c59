"""Rotation vectors of many matrices at once."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array


def rotation_vectors(R: Array) -> Array:
    """Axis times angle, 0 to pi, of rotation matrices ``(n, 3, 3)``: ``(n, 3)``.

    Through the quaternion whose largest component comes from a root, which is as accurate at pi as it is at zero. At pi either
    axis is right. Source: Shepperd 1978.
    """
    d = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    trace = d[0] + d[1] + d[2]
    four = np.empty((len(R), 4, 4))  # 4 q q^T
    four[:, 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        four[:, 1 + i, 1 + i] = 1.0 + 2.0 * d[i] - trace
        four[:, 0, 1 + i] = four[:, 1 + i, 0] = R[:, k, j] - R[:, j, k]
        four[:, 1 + j, 1 + k] = four[:, 1 + k, 1 + j] = R[:, k, j] + R[:, j, k]
    rows = np.arange(len(R))
    largest = np.argmax(four[:, [0, 1, 2, 3], [0, 1, 2, 3]], axis=1)
    q = four[rows, largest]
    q /= np.sqrt(np.einsum("ni,ni->n", q, q))[:, None]
    q *= np.where(q[:, :1] < 0.0, -1.0, 1.0)
    s = np.sqrt(np.einsum("ni,ni->n", q[:, 1:], q[:, 1:]))
    angle = 2.0 * np.arctan2(s, q[:, 0])
    return q[:, 1:] * np.where(s > 1e-12, angle / np.where(s > 1e-12, s, 1.0), 2.0)[:, None]
