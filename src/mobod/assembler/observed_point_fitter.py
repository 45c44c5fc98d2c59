"""ObservedPointFitter: the configuration that fits points of bodies to observed locations in the least-squares sense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..state.state import State
from ..system.system import MultibodySystem
from ..value.attributes import Sealed
from .base import Assembler
from .markers import Markers


class ObservedPointFitter(Sealed):
    """Fits a system to observed points in one call; see `Assembler` for more conditions and for tracking.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> error = mb.ObservedPointFitter.find_best_fit(system, state, ["lower"], [[(0, 0, 0)]], [[(1.2, -1.0, 0)]])
    >>> error < 1e-3
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> system.matter.bodies["lower"].get_body_origin_location(state).round(2)
    array([ 1.2, -1. ,  0. ])
    """

    @staticmethod
    def find_best_fit(
        system: MultibodySystem,
        state: State,
        bodies: Sequence[Any],
        stations: Sequence[npt.ArrayLike],
        target_locations: Sequence[npt.ArrayLike],
        weights: Sequence[npt.ArrayLike] | None = None,
        tolerance: float = 0.001,
    ) -> float:
        """Move q so that stations are as near as can be to their targets.

        Parameters
        ----------
        system : MultibodySystem
        state : State
            Where to start; its q alone are changed. Constraints, locks and prescribed motions are kept.
        bodies : sequence of nb bodies
            By object, index or name.
        stations : sequence of nb (n, 3) array_like
            Points of each body, in its frame; as many as you like.
        target_locations : sequence of nb (n, 3) array_like
            Where these were observed, in Ground.
        weights : sequence of nb (n,) array_like, optional
            How much each counts; 1 unless given.
        tolerance : float
            The accuracy of the fit; see `Assembler.set_accuracy`.

        Returns
        -------
        float
            The weighted root mean square of the distances that are left; length.

        Raises
        ------
        ValueError
            If numbers of bodies, stations, targets and weights differ.
        ConvergenceError
            If constraints cannot be met. The state is then as it was.
        """
        if not len(bodies) == len(stations) == len(target_locations) or (weights is not None and len(weights) != len(bodies)):
            raise ValueError(
                f"there are {len(bodies)} bodies, {len(stations)} lists of stations, {len(target_locations)} of targets"
                f"{'' if weights is None else f' and {len(weights)} of weights'}; there has to be one of each a body"
            )
        markers, observed, total = Markers(), [], 0.0
        for i, body in enumerate(bodies):
            points = np.asarray(stations[i], dtype=np.float64).reshape(-1, 3)
            targets = np.asarray(target_locations[i], dtype=np.float64).reshape(-1, 3)
            counts = np.ones(len(points)) if weights is None else np.asarray(weights[i], dtype=np.float64).reshape(-1)
            if not len(points) == len(targets) == len(counts):
                raise ValueError(
                    f"{system.get_matter_subsystem().find_body(body)!r} has {len(points)} stations, {len(targets)} targets and "
                    f"{len(counts)} weights; there has to be one of each a station"
                )
            for point, count in zip(points, counts, strict=True):
                markers.add_marker(None, body, point, float(count))
            observed.append(targets)
            total += float(counts.sum())
        if total == 0.0:
            raise ValueError("there is no station with a weight to fit")
        assembler = Assembler(system)
        assembler.set_accuracy(tolerance)
        assembler.adopt_assembly_goal(markers)
        markers.move_all_observations(np.concatenate(observed))
        return float(np.sqrt(2.0 * assembler.assemble(state)))
