"""Views: from which side to look at a mechanism, gravity down, and at how much of the space around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algebra.arrays import Array
from .mechanism import Mechanism
from .shape_maker import Plane

NOTHING = np.zeros((0, 3))
"""No points."""

ELEVATION = 14.0
"""Of the camera above the floor; degrees."""


@dataclass(frozen=True)
class View:
    """A camera's direction and the box of space that it shows.

    Parameters
    ----------
    R_DG : (3, 3) array
        Orientation of Ground in the display's frame D, whose z axis is up.
    azimuth : float
        Of the camera about D's z axis, from its x axis; degrees.
    low, high : (3,) array
        The box that is shown, in D; length.
    """

    R_DG: Array
    azimuth: float
    low: Array
    high: Array

    @property
    def toward_camera(self) -> Array:
        """Unit vector toward the camera, in D."""
        azimuth, elevation = np.radians([self.azimuth, ELEVATION])
        flat = np.cos(elevation)
        return np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])

    @property
    def has_numbers_left(self) -> bool:
        """True if Matplotlib draws the upright axis, and its numbers, at the left edge of the box."""
        return self.azimuth % 180.0 < 90.0

    def calc_extent(self) -> tuple[float, float]:
        """Calculate how wide and how high the box looks; length."""
        choice = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=bool)
        corners = np.where(choice, self.high, self.low)
        right = np.cross([0.0, 0.0, 1.0], self.toward_camera)
        right /= np.linalg.norm(right)
        above = np.cross(self.toward_camera, right)
        return float(np.ptp(corners @ right)), float(np.ptp(corners @ above))

    def moved_to(self, center: Array) -> View:
        """Make the same view of a box of the same size about another center, in D."""
        half = (self.high - self.low) / 2.0
        return View(self.R_DG, self.azimuth, center - half, center + half)


def find_display_rotation(up: Array) -> Array:
    """Find R_DG, (3, 3): D's z axis is up, its x axis is Ground's x, or as near as can be."""
    x = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[2]
    x = x - (x @ up) * up
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(up, x), up])


def find_view(mechanism: Mechanism, X_GB: Array, particles: Array, further: Array = NOTHING) -> View:
    """Find the view that shows all of a motion, (nt, nb, 4, 4) and (nt, np, 3), and looks at its plane if it has one.

    It holds *further* points in Ground (n, 3), too, such as a cable's.
    """
    R_DG = find_display_rotation(mechanism.up)
    corners = mechanism.calc_corners(X_GB, particles).reshape(-1, 3) @ R_DG.T
    azimuth = _find_azimuth(corners[:, :2])
    corners = np.concatenate([corners, further @ R_DG.T])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return View(R_DG, azimuth, *_padded(low, high, mechanism.size))


def find_close_view(mechanism: Mechanism, X_GB: Array, particles: Array, view: View) -> View:
    """Find a view large enough for the mechanism at any one pose, for following it on its way; of a point the whole view."""
    corners = mechanism.calc_corners(X_GB, particles) @ view.R_DG.T
    size = np.ptp(corners, axis=1).max(axis=0)
    if not size.any():
        return view
    return View(view.R_DG, view.azimuth, *_padded(-size / 2.0, size / 2.0, mechanism.size))


def find_level_planes(mechanism: Mechanism, X_GB: Array, R_DG: Array) -> list[tuple[Plane, float]]:
    """Find the planes that are level at a pose (nb, 4, 4), seen from above, and their heights in D."""
    found = []
    for plane in mechanism.planes:
        X = R_DG @ X_GB[plane.body, :3]
        if (X[:, :3] @ plane.normal)[2] > 1.0 - 1e-9:
            found.append((plane, float((X[:, :3] @ plane.point + X[:, 3])[2])))
    return found


def find_center(mechanism: Mechanism, X_GB: Array, particles: Array, view: View) -> Array:
    """Find the middle of the mechanism at a pose, in D."""
    corners = mechanism.calc_corners(X_GB, particles) @ view.R_DG.T
    return np.asarray((corners.min(axis=0) + corners.max(axis=0)) / 2.0)


def _padded(low: Array, high: Array, least: float) -> tuple[Array, Array]:
    """Leave a margin, and give what is flat some depth, and *least* to what is no more than a point."""
    size, middle = high - low, (low + high) / 2.0
    largest = float(size.max())
    if largest <= 1e-9 * float(np.abs(middle).max()):  # rounding, or nothing at all
        return middle - 0.5 * least, middle + 0.5 * least
    half = np.maximum(0.53 * size, 0.12 * largest)
    middle[2] += max(float(half[2] - 0.5 * size[2]), 0.0) - 0.02 * largest  # the floor stays close below
    return middle - half, middle + half


def _find_azimuth(points: Array) -> float:
    """Find where to look from at horizontal points (n, 2): their broad side, 30 degrees off; -60 if they have none."""
    moments, axes = np.linalg.eigh(np.cov(points.T, bias=True))  # divided by n: there may be one point
    rounding = 1e-18 * float(np.square(points).max())
    if moments[1] <= max(1.8 * float(moments[0]), rounding):
        return -60.0
    normal = float(np.degrees(np.arctan2(axes[1, 0], axes[0, 0])))
    normal = (normal + 135.0) % 180.0 - 135.0  # of the two sides the one nearer to -y and x
    return normal + 30.0
