"""Pieces of a path that its wrap objects lie beside, for taut paths, whose order of surfaces is fixed.

OpenSim tries each object on all pieces within its range, in every pose anew. Here an object stays on the piece that OpenSim
bends over it most often, among the default pose and some at random; one that it never uses, on the piece that is nearest in
the default pose. Where it has no quadrant, the place at which OpenSim's path first bent over it is the hint for the side.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...algebra.arrays import Array
from ...force import TransmissionSpring
from ...force.transmission import Path
from ...value.stage import Stage
from .building import Building, Section
from .path_lengths import assembled

#: Poses at random beside the default one.
_POSES = 6


def find_sections(build: Building) -> list[list[Section]]:
    """Of each of the builder's paths the sections of its surfaces, none where there are none."""
    wrapped = [path if type(path) is Path and path.surfaces else None for _, path, _ in build.paths]
    for path in wrapped:
        if path is not None and path.user is None:
            TransmissionSpring(build.model.forces, path)
    state = assembled(build)
    counts: list[dict[int, list[int]]] = [{} for _ in wrapped]
    hints: list[dict[int, Array]] = [{} for _ in wrapped]
    rng = np.random.default_rng(0)
    ranges = [(one.mobod, one.which, one.range) for one in build.coordinates if one.mobod is not None]
    for pose in range(1 + _POSES):
        if pose:
            for mobod, which, (low, high) in ranges:
                if np.isfinite([low, high]).all() and not mobod.is_locked(state):
                    mobod.set_one_q(state, which, float(rng.uniform(max(low, -2.0), min(high, 2.0))))
            build.model.system.realize(state, Stage.POSITION)
        for k, path in enumerate(wrapped):
            for w, point, place in path.find_bends(state) if path is not None else ():
                counts[k].setdefault(w, []).append(point)
                hints[k].setdefault(w, place)
    state = assembled(build)
    return [[] if path is None else _sections(path, state, counts[k], hints[k]) for k, path in enumerate(wrapped)]


def _sections(path: Path, state: object, counts: dict[int, list[int]], hints: dict[int, Array]) -> list[Section]:
    points, centers = path.calc_points_and_surfaces(state)  # type: ignore[arg-type]
    found = []
    for w, center in enumerate(centers):
        lines = [_beside(a, b, center) for a, b in pairwise(points)]
        first, last = path.ranges[w]
        if counts.get(w):
            point = max(set(counts[w]), key=counts[w].count)
        else:
            point = min(range(first, max(last, first + 1)), key=lambda k: lines[k][1])
        found.append(Section(point, hints.get(w), point + lines[point][0]))
    return found


def _beside(a: Array, b: Array, center: Array) -> tuple[float, float]:
    """The place of a center along a line, 0 to 1, and its distance from it."""
    way = b - a
    t = float(np.clip((center - a) @ way / max(float(way @ way), 1e-300), 0.0, 1.0))
    return t, float(np.linalg.norm(a + t * way - center))
