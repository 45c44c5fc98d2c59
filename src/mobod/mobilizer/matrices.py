"""Small matrices that operators make of vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra.arrays import Array

#: The place of each entry of a symmetric 3 x 3 matrix among xx yy zz xy xz yz.
_PLACES_OF_SIX = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])


def full(six: Sequence[float] | Array) -> Array:
    """3 x 3 from xx yy zz xy xz yz."""
    return np.asarray(six)[_PLACES_OF_SIX]


def cross_by(w: Array) -> Array:
    """The matrix W with r @ W = w x r, for one r or for rows of several; np.cross takes ten times as long."""
    x, y, z = w.tolist()
    return np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))
