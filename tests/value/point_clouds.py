"""Mass properties that are physical by construction: point masses scattered at random."""

import numpy as np
from hypothesis import strategies as st

coordinates = st.floats(-2.0, 2.0)
points = st.tuples(coordinates, coordinates, coordinates)
clouds = st.lists(st.tuples(points, st.floats(0.1, 3.0)), min_size=1, max_size=6)


def sums(cloud, origin=(0.0, 0.0, 0.0)):
    """Mass, mass center and inertia about the origin: their defining sums."""
    p = np.array([point for point, _ in cloud]) - origin
    m = np.array([mass for _, mass in cloud])
    inertia = sum(mi * ((r @ r) * np.eye(3) - np.outer(r, r)) for r, mi in zip(p, m, strict=True))
    return float(m.sum()), m @ p / m.sum(), inertia
