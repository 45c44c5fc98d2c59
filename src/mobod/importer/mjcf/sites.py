"""Sites: frames fixed to bodies."""

from __future__ import annotations

import numpy as np

from ...mobilizer.base import MobilizedBody
from ...value import Transform
from .bodies import Tree
from .source import Source, rotation_of

#: A body, and a frame on it.
Placed = tuple["MobilizedBody", Transform]


def find_sites(source: Source, tree: Tree) -> list[Placed]:
    """The body and the frame of each site, by MuJoCo's id."""
    m = source.m
    bodies, places = m.site_bodyid.tolist(), np.array(m.site_pos)
    return [(tree.bodies[b], Transform.trusted(rotation_of(m.site_quat[s]), places[s])) for s, b in enumerate(bodies)]
