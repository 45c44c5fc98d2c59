"""Which coordinates and speeds turn bodies."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_angle(mobod: Any, state: Any, k: int) -> bool:
    """True if coordinate *k* of a mobilized body turns it: where its speed's column of the hinge matrix does."""
    nu = mobod.get_num_u(state)
    if mobod.get_num_q(state) != nu:
        k -= 1  # after a quaternion, which has one more than its angular velocity
    return k < nu and turns(mobod, state, k)


def turns(mobod: Any, state: Any, k: int) -> bool:
    """True if speed *k* of a mobilized body turns it."""
    return bool(np.linalg.norm(mobod.get_h_fm_col(state, k)[0]) > 1e-9)
