"""Normals of surfaces: smooth where faces meet at a small angle, split at creases.

The normal at a corner of a face is the mean of those of the faces around the vertex that lie within the crease angle of this
one, each weighted by its angle there (Thürmer and Wüthrich 1998), so that it does not depend on how faces are triangulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, Indices

CREASE = 40.0
"""Faces that meet at a larger angle have an edge between them; degrees. A prism of nine sides or more looks round."""

MOST = 64
"""At a vertex of more faces than this each keeps its own normal: it is the middle of a fan, or an apex."""


def calc_corner_normals(vertices: Array, triangles: Indices, crease: float = CREASE) -> Array:
    """Calculate the unit normal at each corner of each triangle, (nt, 3, 3); zero where a triangle has no area."""
    corners = vertices[triangles]
    faces = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    count = 3 * len(triangles)
    if count == 0:
        return np.zeros((0, 3, 3))
    weights = _calc_angles(corners).ravel()
    # files repeat the vertices that their faces share: those in one place, but for rounding, are one
    low, extent = corners.min(axis=(0, 1)), float(np.ptp(corners, axis=(0, 1)).max()) or 1.0
    cells = np.round((corners.reshape(-1, 3) - low) * (2.0**20 / extent)).astype(np.int64)
    _, place = np.unique(cells @ np.array([1 << 42, 1 << 21, 1]), return_inverse=True)
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    own = np.repeat(faces, 3, axis=0)
    partners = np.where(sizes <= MOST, sizes, 0)[place]
    # every corner with every corner at its place
    mine = np.repeat(np.arange(count), partners)
    step = np.arange(len(mine)) - np.repeat(np.cumsum(partners) - partners, partners)
    other = order[np.repeat(starts[place], partners) + step]
    near = np.einsum("ij,ij->i", own[mine], own[other]) >= np.cos(np.radians(crease))
    mine, other = mine[near], other[near]
    weighted = own[other] * weights[other, None]
    sums = np.column_stack([np.bincount(mine, column, count) for column in weighted.T])
    alone = (np.square(sums).sum(axis=1) < 1e-24) | (partners == 0)
    return np.where(alone[:, None], own, _unit(sums)).reshape(-1, 3, 3)


def split_at_creases(vertices: Array, triangles: Indices, crease: float = CREASE) -> tuple[Array, Indices, Array]:
    """Give each vertex one normal: repeat it where its faces disagree, and leave out faces without area.

    Returns
    -------
    vertices, triangles : arrays
        As before, with the vertices on creases repeated.
    normals : (nv, 3) array
        A unit vector each.
    """
    normals = calc_corner_normals(vertices, triangles, crease)
    solid = np.square(normals).sum(axis=(1, 2)) > 1.0
    points, normals = vertices[triangles[solid]].reshape(-1, 3), normals[solid].reshape(-1, 3)
    keys = np.hstack([points, np.round(normals * 1e3)])  # a thousandth: what no shading shows
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return points[first], np.asarray(index, np.int64).reshape(-1, 3), normals[first]


def _calc_angles(corners: Array) -> Array:
    """The angle of each triangle at each of its corners, (nt, 3)."""
    along = [_unit(corners[:, (k + 1) % 3] - corners[:, k]) for k in range(3)]
    cosines = [-np.einsum("ij,ij->i", along[k], along[k - 1]) for k in range(3)]
    return np.arccos(np.clip(np.stack(cosines, axis=1), -1.0, 1.0))


def _unit(vectors: Any) -> Array:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300)
