"""Joints that move no mass.

A joint that can move while nothing with inertia moves has no equation of motion: the mass matrix is
singular. Leaves without mass are the common case (camera frames on a pan joint, fingers in a model
for walking), two hinges on one axis with nothing between them a rare one. Massless links inside a
chain are as a rule fine, and common: a ball joint made of three hinges.

This is decided by the geometry of motions that cost no kinetic energy. For a link, let N be the
space of spatial velocities that it can have at no energy, if everything outboard of it is free to
follow. For a rigid body by itself, N is {0}; for a rod, a turn about its axis; for a point mass,
any turn about the point; without mass, everything. A joint adds its own motions to the N of the
link it carries, as those need not be followed; several things on one link intersect. A joint moves
no mass if one of its motions is in the N of its child link.

The exact null space of the articulated inertia is the same thing; here it needs no numbers for the
mass. Angles are taken at a general position, so that a passing alignment of axes does not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...value import Transform
from ..parts import LinkMass
from .description import Joint
from .order import Branch

_SOLID = np.zeros((6, 0))
_SMALL = 1e-9  # of unit vectors; rounding leaves 1e-15, and real geometry is coarser than a nanometre


class Idle(NamedTuple):
    """Branches to weld, base first: with them welded, all others move mass. And free links that have not enough of it."""

    branches: list[Branch]
    light_bases: list[Branch]


def find_idle(branches: Sequence[Branch], masses: Mapping[str, LinkMass], static: set[str]) -> Idle:
    """Find what would have no equation of motion.

    Parameters
    ----------
    branches : sequence of Branch
        The links, depth first.
    masses : dict of str to LinkMass
        By link.
    static : set of str
        Links that are parts of Ground.
    """
    idle: list[Branch] = []
    light: list[Branch] = []
    free_motions = {link: _own_free_motions(mass) for link, mass in masses.items()}
    for number, branch in reversed(list(enumerate(branches))):
        N = free_motions.pop(branch.link)
        if branch.joint is None:
            if branch.link not in static and N.shape[1] > 0:
                (idle if N.shape[1] == 6 else light).append(branch)
            continue
        if N.shape[1] == 0 and (branch.inboard is None or free_motions[branch.inboard].shape[1] == 0):
            continue  # both links are solid, as nearly all are
        q = 0.3 + math.fmod(0.618034 * number, 1.0)  # any general position
        H, X_IB = _relative_motion(branch, q)
        if H.shape[1] > 0:
            if N.shape[1] > 0 and _rank([N, H]) < N.shape[1] + H.shape[1]:
                idle.append(branch)
            else:
                N = np.linalg.qr(np.hstack([N, H]))[0]
        if branch.inboard is not None:
            free_motions[branch.inboard] = _intersection(free_motions[branch.inboard], _orthonormal(_seen_from(X_IB, N)))
    idle.reverse()
    return Idle(idle, light)


def _own_free_motions(mass: LinkMass) -> Array:
    """N of a link by itself; columns are (angular velocity, velocity of the origin)."""
    moments, axes = np.linalg.eigh(mass.central_inertia)
    # negative ones, which no body has, are not zero either
    turns = axes[:, np.abs(moments) <= 1e-12 * np.abs(moments).max()]
    if mass.mass == 0.0:  # an inertia by itself resists turns alone
        return np.eye(6)[:, 3:] if turns.shape[1] == 0 else np.hstack([np.eye(6)[:, 3:], np.vstack([turns, 0.0 * turns])])
    if turns.shape[1] == 0:
        return _SOLID
    return _orthonormal(np.vstack([turns, np.cross(mass.com, turns, axisa=0, axisb=0, axisc=0)]))


def _relative_motion(branch: Branch, q: float) -> tuple[Array, Transform]:
    """Hinge columns in the link's frame, and the link's pose in the inboard one's at q."""
    joint = branch.joint
    assert joint is not None
    H, X = _motion_of_joint(joint, q)
    X_IJ, X_BJ = joint.X_PJ, joint.X_CJ
    if branch.reversed:
        H, X, X_IJ, X_BJ = _seen_from(X, H), ~X, X_BJ, X_IJ
    return _seen_from(X_BJ, H), X_IJ @ X @ ~X_BJ


def _motion_of_joint(joint: Joint, q: float) -> tuple[Array, Transform]:
    """Hinge columns in the child's joint frame, and that frame's pose in the parent's at q."""
    here, kind = np.zeros(3), joint.kind
    axes = [np.array(axis.direction) for axis in joint.axes]
    if kind == "ball":
        return np.eye(6)[:, :3], Transform.trusted(_turn(np.array([0.48, 0.6, 0.64]), q), here)
    if kind == "free":
        return np.eye(6), Transform.trusted(_turn(np.array([0.48, 0.6, 0.64]), q), np.array([q, 0.5 * q, 0.25 * q]))
    if kind == "fixed":
        return _SOLID, Transform()
    axis = axes[0]
    if kind == "prismatic":
        return np.concatenate([here, axis])[:, None], Transform.trusted(np.eye(3), q * axis)
    if kind == "planar":
        in_plane = _orthonormal(np.eye(3) - np.outer(axis, axis))
        H = np.zeros((6, 3))
        H[:3, 0] = axis
        H[3:, 1:] = in_plane
        return H, Transform.trusted(_turn(axis, q), in_plane @ np.array([q, 0.5 * q]))
    if kind == "universal":
        second = _turn(axes[1], 0.7 * q)
        H = np.zeros((6, 2))
        H[:3] = np.column_stack([second.T @ axis, axes[1]])
        return H, Transform.trusted(_turn(axis, q) @ second, here)
    return np.concatenate([axis, joint.advance * axis])[:, None], Transform.trusted(_turn(axis, q), joint.advance * q * axis)


def _turn(axis: Array, angle: float) -> Array:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)


def _seen_from(X: Transform, velocities: Array) -> Array:
    """Spatial velocities in a frame, as columns, expressed in another one at its origin; X is the pose of the former."""
    w = X.R.matrix @ velocities[:3]
    return np.vstack([w, X.R.matrix @ velocities[3:] + np.cross(np.array(X.p), w, axisa=0, axisb=0, axisc=0)])


def _intersection(a: Array, b: Array) -> Array:
    """Vectors in both spaces: those without a part orthogonal to either."""
    if b.shape[1] == 6 or a.shape[1] == 0:
        return a
    if a.shape[1] == 6 or b.shape[1] == 0:
        return b
    beyond = np.vstack([np.eye(6) - a @ a.T, np.eye(6) - b @ b.T])
    _, sizes, rows = np.linalg.svd(beyond)
    return rows[sizes <= _SMALL].T


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of what the columns span."""
    if columns.shape[1] in (0, 6):
        return columns
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > _SMALL * sizes[0]]


def _rank(blocks: list[Array]) -> int:
    return int(np.linalg.matrix_rank(np.hstack(blocks), tol=_SMALL))
