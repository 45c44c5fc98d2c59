"""Derivatives of prescribed speeds by q: those of motions that their users write may depend on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..motion import Custom
from ..motion.protocol import VELOCITY
from ..state.state import State
from ..value.stage import Stage
from .coordinates import displacements
from .differences import columns


def of_prescribed_speeds(system: Any, state: State) -> Array:
    """Derivatives of prescribed u by displacements ``(nu, nu)``, by differences of fourth order."""
    tree = state.tree
    by = np.zeros(tree.nu, bool)
    for body in system.get_matter_subsystem().body_list[1:]:
        is_given = abs(int(state.field("prescribed_level")[body.index])) == VELOCITY
        if is_given and isinstance(body.driver, Custom) and not state.field("lock_level")[body.index]:
            # compiled functions take the mobilizer's own q, others what they want
            by[slice(None) if body.driver.routine is None else body.u_slice(state)] = True
    if not by.any():
        return np.zeros((tree.nu, tree.nu))
    here, N = np.array(state.q_values), displacements(state)

    def prescribed(change: Array) -> Array:
        other = state.copy()
        other.q = here + np.concatenate([change, np.zeros(len(here) - len(change))])
        system.normalize_quaternions(other)
        system.realize(other, Stage.TIME)
        system.prescribe(other)
        return np.array(other.u_values[: tree.nu])

    of, found = np.flatnonzero(by), np.zeros((tree.nu, tree.nu))
    found[:, of] = columns(lambda k, h: prescribed(h * N[:, of[k]]), len(of), tree.nu)
    return found
