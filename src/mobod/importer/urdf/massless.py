"""Which joints of a URDF file move no mass.

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

import numpy as np

from ...algebra.arrays import Array
from ..parts import LinkMass
from .document import Joint
from .mass import rotation_matrix
from .tree import UrdfTree

_SOLID = np.zeros((6, 0))
_SMALL = 1e-9  # of unit vectors; rounding leaves 1e-15, and real geometry is coarser than a nanometre


def find_idle_joints(tree: UrdfTree, masses: dict[str, LinkMass]) -> tuple[list[Joint], bool]:
    """Find the movable joints that would have no equation of motion.

    Parameters
    ----------
    tree : UrdfTree
        Links and joints.
    masses : dict of str to LinkMass
        Mass properties by link.

    Returns
    -------
    joints : list of Joint
        Joints to weld, base first. With them welded, all others move mass.
    base_moves_mass : bool
        Whether the root link could be a floating base: every motion of it has kinetic energy.
    """
    idle: list[Joint] = []
    free_motions = {link: _own_free_motions(mass) for link, mass in masses.items()}
    for number, (link, joint) in reversed(list(enumerate(tree.moving_order))):
        N = free_motions.pop(link)
        if N.shape[1] == 0 and free_motions[joint.parent].shape[1] == 0:
            continue  # both links are solid, as nearly all are
        q = 0.3 + math.fmod(0.618034 * number, 1.0)  # any general position
        H, R, p = _joint_geometry(joint, q)
        if H.shape[1] > 0:
            if N.shape[1] > 0 and _rank([N, H]) < N.shape[1] + H.shape[1]:
                idle.append(joint)
            else:
                N = np.linalg.qr(np.hstack([N, H]))[0]
        free_motions[joint.parent] = _intersection(free_motions[joint.parent], _shift_to_parent(N, joint, R, p))
    idle.reverse()
    return idle, free_motions[tree.root].shape[1] == 0


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


def _joint_geometry(joint: Joint, q: float) -> tuple[Array, Array, Array]:
    """Hinge columns in the child's frame, and the child's pose in the joint's frame at q."""
    axis = np.array(joint.axis)
    still, here = np.eye(3), np.zeros(3)
    if joint.type in ("revolute", "continuous"):
        return np.concatenate([axis, here])[:, None], _turn(axis, q), here
    if joint.type == "prismatic":
        return np.concatenate([here, axis])[:, None], still, q * axis
    if joint.type == "planar":
        in_plane = _orthonormal(np.eye(3) - np.outer(axis, axis))
        H = np.zeros((6, 3))
        H[:3, 0] = axis
        H[3:, 1:] = in_plane
        return H, _turn(axis, q), in_plane @ np.array([q, 0.5 * q])
    if joint.type == "spherical":
        return np.eye(6)[:, :3], _turn(np.array([0.48, 0.6, 0.64]), q), here
    if joint.type == "floating":
        return np.eye(6), _turn(np.array([0.48, 0.6, 0.64]), q), np.array([q, 0.5 * q, 0.25 * q])
    return _SOLID, still, here


def _turn(axis: Array, angle: float) -> Array:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R: Array = np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K)
    return R


def _shift_to_parent(N: Array, joint: Joint, R_JC: Array, p_JC: Array) -> Array:
    """Express the child's spatial velocities in the parent's frame, at the parent's origin."""
    if N.shape[1] in (0, 6):
        return N
    R_PJ = rotation_matrix(joint.origin.rpy)
    R = R_PJ @ R_JC
    p = np.array(joint.origin.xyz) + R_PJ @ p_JC
    w = R @ N[:3]
    return _orthonormal(np.vstack([w, R @ N[3:] + np.cross(p, w, axisa=0, axisb=0, axisc=0)]))


def _intersection(a: Array, b: Array) -> Array:
    """Vectors in both spaces: those without a part orthogonal to either."""
    if b.shape[1] == 6 or a.shape[1] == 0:
        return a
    if a.shape[1] == 6 or b.shape[1] == 0:
        return b
    outside = np.vstack([np.eye(6) - a @ a.T, np.eye(6) - b @ b.T])
    _, sizes, rows = np.linalg.svd(outside)
    common: Array = rows[sizes <= _SMALL].T
    return common


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of what the columns span."""
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return basis[:, sizes > _SMALL * sizes[0]]


def _rank(blocks: list[Array]) -> int:
    return int(np.linalg.matrix_rank(np.hstack(blocks), tol=_SMALL))
