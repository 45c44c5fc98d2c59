"""Poses of a mechanism along a trajectory, at times of one's choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from ..errors import TopologyError
from ..state.state import State
from .mechanism import Mechanism, find_body_transforms

if TYPE_CHECKING:
    from ..value.annotations import Trajectory


MOST = 5000
"""Of more particles than this, so many are drawn."""


def calc_poses(trajectory: Trajectory, times: Array, detail: float = 1.0) -> tuple[Mechanism, Array, Array]:
    """Calculate the poses of all bodies, and where particles are, at times of one's choice.

    Parameters
    ----------
    trajectory : Trajectory
        With a system, and at least one time.
    times : (n,) array
        Between two rows of the trajectory, q is interpolated linearly; a quaternion need not be normalized here.
    detail : float, default 1
        As of `Mechanism`.

    Returns
    -------
    mechanism : Mechanism
        The shapes, sized at the first time.
    X_GB : (n, nb, 4, 4) array
        The poses.
    particles : (n, np, 3) array
        Locations in Ground, interpolated linearly; of many particles a part.
    """
    system = trajectory.system
    if system is None or len(trajectory) == 0:
        raise ValueError("a picture of the mechanism needs a trajectory with a system and at least one time")
    state = trajectory.states[0]
    try:
        mechanism = Mechanism.of(system, state, detail)
    except TopologyError as error:
        raise TopologyError(
            f"{system!r} was changed after this motion, by a decoration for instance, and cannot draw it; simulate again"
        ) from error
    before, after, weights = calc_weights(trajectory.time, times)
    poses = [find_body_transforms(system, now) for now, _ in states_at(trajectory, times)]
    every = -(-trajectory.particle_locations.shape[1] // MOST) or 1
    particles = trajectory.particle_locations[:, ::every]
    weights = weights[:, None, None]
    return mechanism, np.array(poses), (1.0 - weights) * particles[before] + weights * particles[after]


def states_at(trajectory: Trajectory, times: Array) -> Iterator[tuple[State, int]]:
    """One state that goes through times of one's choice, its q, u and z interpolated, and the row that is nearest."""
    state = trajectory.states[0]
    rows = {name: getattr(trajectory, name) for name in ("q", "u", "z")}
    own = {name: of for name, of in rows.items() if of.shape == (len(trajectory.time), len(getattr(state, name)))}
    for time, i, j, weight in zip(times, *calc_weights(trajectory.time, times), strict=True):
        state.time = float(time)
        for name, of in own.items():
            setattr(state, name, (1.0 - weight) * of[i] + weight * of[j])
        yield state, int(i if weight < 0.5 else j)


def calc_weights(own: Array, times: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Find the rows of times *own* before and after each of others, and the weight (n,) of the one after."""
    after = np.clip(np.searchsorted(own, times, side="right"), 1, max(len(own) - 1, 1))
    before, after = after - 1, np.minimum(after, len(own) - 1)
    span = own[after] - own[before]
    return before, after, np.clip((times - own[before]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
