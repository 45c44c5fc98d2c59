"""A hunt for jumps: one surface slides over another along random smooth ways, and what its force does on them.

A way is a pose of the second surface by a number s from 0 to 1: it turns about an axis as its origin goes round the first,
DEPTH deep at the knots, which bisection finds. Where the force changes most between two neighbours of the SAMPLES poses the
interval is halved, and halved again: what is left of the change as the interval is a millionth of a sample's is a jump. The
slope of the energy is a difference along the ways, too, and along a translation, the power of the force at each of them.

Run as a script it prints the table of `docs/how-to/contact.md`:

    PYTHONPATH=tests/contact python tests/contact/jumps.py WAYS [FIRST,SECOND ...]
"""

import sys

import numpy as np
from scenes import SHAPES, TORUS, Scene, cloud

import mobod as mb

contact = mb.contact
DEPTH, SAMPLES, KNOTS, HALVINGS = 0.005, 300, 16, 20
_X = np.linspace(-2.0, 2.0, 13)
ALL = {
    **{name: shape for name, shape in SHAPES.items() if name != "table"},
    "torus": TORUS,
    "mesh": contact.TriangleMesh(*(lambda hull: (hull.vertices, hull.faces))(contact.ConvexHull(cloud(60, (0.5, 0.4, 0.3))))),
}
GROUNDS = {
    "half-space": contact.HalfSpace((0.0, 0.0, 1.0)),
    "height field": contact.HeightField(_X, _X, 0.08 * np.sin(2.0 * _X)[:, None] * np.cos(1.5 * _X)),
}
PAIRS = [(a, b) for a in GROUNDS for b in ALL] + [(a, b) for i, a in enumerate(ALL) for b in list(ALL)[i:]]


class Way:
    """Poses of the second surface, near the first one's."""

    def __init__(self, scene, on_ground, rng):
        self.scene = scene
        q, spin = rng.normal(size=4), rng.normal(size=3)
        self.R, self.spin = mb.Rotation.from_quaternion(q / np.linalg.norm(q)), 0.5 * spin / np.linalg.norm(spin)
        if on_ground:
            self.begin, self.end = np.append(rng.uniform(-0.5, 0.5, 2), 1.0), np.append(rng.uniform(-0.5, 0.5, 2), 1.0)
            self.center = np.array([0.0, 0.0, -1.0])
        else:
            self.begin = rng.normal(size=3)
            self.begin /= np.linalg.norm(self.begin)
            self.end, self.center = self.begin + 0.6 * rng.normal(size=3) / 3**0.5, np.zeros(3)
        self.knots = np.linspace(0.0, 1.0, KNOTS)
        self.reach = np.array([self._touching(s) for s in self.knots]) - DEPTH

    def _direction(self, s):
        d = self.begin + s * (self.end - self.begin)
        return d / np.linalg.norm(d)

    def _rotation(self, s):
        angle = np.linalg.norm(self.spin)
        return mb.Rotation.about_axis(s * angle, self.spin / angle) @ self.R

    def _touching(self, s):
        R, d, near, far = self._rotation(s), self._direction(s), 0.0, 3.0
        # from outside: what is deep inside may not touch, as in a torus
        for reach in np.linspace(3.0, 0.0, 61):
            if len(self.scene.put(mb.Transform(), mb.Transform(R, self.center + reach * d))):
                near = reach
                break
            far = reach
        while far - near > 1e-5:
            middle = 0.5 * (near + far)
            if len(self.scene.put(mb.Transform(), mb.Transform(R, self.center + middle * d))):
                near = middle
            else:
                far = middle
        return near

    def pose(self, s):
        """Of the second surface."""
        return mb.Transform(self._rotation(s), self.center + np.interp(s, self.knots, self.reach) * self._direction(s))

    def load(self, X):
        """Force on the second surface, and moment about its origin by a length of half a metre; and the energy."""
        self.scene.put(mb.Transform(), X)
        rows = self.scene.contacts.get_contacts(self.scene.state)
        if not len(rows):
            return np.zeros(6), 0.0
        row = rows[0]
        moment = row["moment"] + np.cross(row["point"] - X.p, row["force"])
        return np.append(row["force"], 2.0 * moment), float(row["potential_energy"])

    def largest_jump(self):
        """Over the greatest force on the way: what is left of the three greatest changes; and where they are."""
        places = np.linspace(0.0, 1.0, SAMPLES + 1)
        loads = [self.load(self.pose(s))[0] for s in places]
        change = np.linalg.norm(np.diff(loads, axis=0), axis=1)
        greatest, worst, where = max(np.linalg.norm(load[:3]) for load in loads), 0.0, 0.0
        for i in np.argsort(change)[-3:]:
            low, high, a, b = places[i], places[i + 1], loads[i], loads[i + 1]
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                load = self.load(self.pose(middle))[0]
                if np.linalg.norm(load - a) > np.linalg.norm(b - load):
                    high, b = middle, load
                else:
                    low, a = middle, load
            if np.linalg.norm(b - a) > worst:
                worst, where = np.linalg.norm(b - a), low
        return (worst / greatest if greatest else 0.0), where

    def unexplained(self, rng, count=8):
        """At random places: the power along a random direction less the slope of the energy, over the force."""
        found = []
        for s in rng.uniform(size=count):
            X, v, h = self.pose(s), rng.normal(size=3), 1e-7
            v /= np.linalg.norm(v)
            load, energy = self.load(X)
            if energy > 0.0:
                after, before = (self.load(mb.Transform(X.R, X.p + side * h * v))[1] for side in (1.0, -1.0))
                found.append(abs(load[:3] @ v + (after - before) / (2.0 * h)) / np.linalg.norm(load[:3]))
        return found


def scene_of(first, second):
    """Two surfaces by their names here."""
    return Scene({**ALL, **GROUNDS}[first], ALL[second])


def hunt(first, second, ways, seed=1):
    """Jumps on some ways, and what of the slopes of energies the forces do not explain."""
    scene, jumps, slopes = scene_of(first, second), [], []
    for i in range(ways):
        rng = np.random.default_rng([seed, i])
        way = Way(scene, first in GROUNDS, rng)
        jumps.append(way.largest_jump()[0])
        slopes += way.unexplained(rng)
    return np.array(jumps), np.array(slopes)


def main(ways, wanted):
    """Print a line each pair."""
    for one in wanted:
        jumps, slopes = hunt(*one, ways)
        print(
            f"{one[0]:>12} {one[1]:<10} largest jump {jumps.max():6.3f}  over 4 %: {(jumps > 0.04).sum():3} of {len(jumps)}",
            f"  slopes: 90 % {np.quantile(slopes, 0.9):8.1e}  worst {slopes.max():6.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), [tuple(one.split(",")) for one in sys.argv[2:]] or PAIRS)
