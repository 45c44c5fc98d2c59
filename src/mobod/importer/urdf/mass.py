"""Mass properties of a URDF file's links, as the file gives them, and which of them no body has.

A rigid body's principal central moments are integrals of squared distances over its mass, so that
each is at most the sum of the other two. With p1 <= p2 <= p3, the *defect* of a tensor is
p3 - p1 - p2 in units of the largest of them; it is above zero if the tensor is not that of a body.
Published robots break the rule by rounding, and worse. Their numbers are kept all the same, as
Pinocchio keeps them: the equations of motion take any tensor, and what is fixed together often has a
sum that some body has. What exceeds `ROUNDING` is named, for whoever loads the file to say, or to refuse.

A link without mass may have an inertia (a rotor, the foot of a published robot). If it is fixed to
another link, its inertia is counted with that one's: an inertia without a mass is the same about
every point, and so needs only to be turned.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ..parts import MASSLESS, LinkMass
from .document import Inertial, UrdfDocument, Vector3
from .tree import UrdfTree

ROUNDING = 0.01
"""Defect that rounding to two digits explains."""

POINT_MASS_RADIUS = 1e-8
"""A radius of gyration below this (10 nm) is a zero with the dust of someone's arithmetic on it."""


def rotation_matrix(rpy: Vector3) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll): takes vectors from the rotated frame to the outer one."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, rpy), map(math.cos, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


class LinkMasses(NamedTuple):
    """What `calc_link_masses` finds."""

    masses: dict[str, LinkMass]
    notes: list[str]
    impossible: list[str]


def calc_link_masses(document: UrdfDocument, tree: UrdfTree) -> LinkMasses:
    """Find the mass properties of every link.

    Parameters
    ----------
    document : UrdfDocument
        The links.
    tree : UrdfTree
        Their order.

    Returns
    -------
    masses : dict of str to LinkMass
        By link name, in the order of the tree; a link without mass and inertia has `MASSLESS`.
    notes : list of str
        What was moved, and inertias that miss those of bodies by no more than rounding does, a sentence each.
    impossible : list of str
        Links with an inertia that no body has, and what it is, a sentence each.
    """
    own = {link: _link_mass(document.links[link].inertial) for link in tree.inboard_joint}
    notes, impossible = [], []
    for link in _find_suspects(own):
        inertial = document.links[link].inertial
        assert inertial is not None
        moments: Array = np.linalg.eigvalsh(own[link].central_inertia).astype(np.float64, copy=False)
        defect = defect_of(moments)
        if defect > ROUNDING:
            impossible.append(f"line {inertial.line}: link {link!r}, with principal moments {show_moments(moments)}")
        elif defect > 1e-6:
            notes.append(
                f"line {inertial.line}: the inertia of link {link!r} misses that of a body by {100 * defect:.2g} %, as by "
                "rounding; it is kept as it is"
            )
    return LinkMasses(own, [*notes, *_move_to_what_has_mass(document, tree, own)], impossible)


def _move_to_what_has_mass(document: UrdfDocument, tree: UrdfTree, masses: dict[str, LinkMass]) -> list[str]:
    """Count inertias without mass with the links they are fixed to, tips first; what was moved, a sentence each."""
    notes = []
    for link, joint in reversed(tree.moving_order):
        mass = masses[link]
        if mass.mass > 0.0 or not mass.central_inertia.any() or joint.type != "fixed":
            continue
        R, parent = rotation_matrix(joint.origin.rpy), masses[joint.parent]
        moved = R @ mass.central_inertia @ R.T
        masses[joint.parent] = LinkMass(parent.mass, parent.com, parent.central_inertia + 0.5 * (moved + moved.T))
        masses[link] = MASSLESS
        inertial = document.links[link].inertial
        if inertial is not None:
            notes.append(
                f"line {inertial.line}: link {link!r} has an inertia and no mass: it is counted with that of "
                f"{joint.parent!r}, to which it is fixed"
            )
    return notes


def _link_mass(inertial: Inertial | None) -> LinkMass:
    if inertial is None:
        return MASSLESS
    i = inertial
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    if np.abs(tensor).max() <= i.mass * POINT_MASS_RADIUS**2:
        return LinkMass(i.mass, np.array(i.origin.xyz), np.zeros((3, 3)))
    if any(i.origin.rpy):
        R = rotation_matrix(i.origin.rpy)
        tensor = R @ tensor @ R.T
        tensor = 0.5 * (tensor + tensor.T)
    return LinkMass(i.mass, np.array(i.origin.xyz), tensor)


def _find_suspects(masses: dict[str, LinkMass]) -> list[str]:
    """Links whose defect is more than arithmetic leaves. All at once, to be quick."""
    names = list(masses)
    moments = np.linalg.eigvalsh(np.array([masses[name].central_inertia for name in names]))
    excess = moments[:, 2] - moments[:, 1] - moments[:, 0]
    scale = np.abs(moments).max(axis=1)
    return [name for name, bad in zip(names, excess > 1e-9 * scale, strict=True) if bad]


def defect_of(moments: Array) -> float:
    """By how much the largest principal moment is above the sum of the others, as a part of the largest."""
    scale = float(np.abs(moments).max())
    return float(moments[2] - moments[1] - moments[0]) / scale if scale > 0.0 else 0.0


def show_moments(moments: Array) -> str:
    """Write them for a sentence."""
    return ", ".join(f"{moment:.4g}" for moment in moments)
