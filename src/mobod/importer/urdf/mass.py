"""Mass properties of a URDF file's links: what is physical, what can be made so, what is refused.

A rigid body's principal central moments are integrals of squared distances over its mass, so that
each is at most the sum of the other two. With p1 <= p2 <= p3, the *defect* of a tensor is
p3 - p1 - p2 in units of the largest of them; it is above zero if the tensor is not that of a body.
Published robots break the rule in three ways:

- By rounding: a defect up to `ROUNDING`. The tensor is replaced by the nearest physical one, below.
- In a link that fixed joints tie to others: a camera, an antenna, a fingertip. Dynamics only ever
  sees the rigid group, so the link's mass properties are counted with those of the links that it is
  fixed to. That changes no motion; if the group is physical, nothing is wrong.
- Otherwise no body moves as described, and the file is refused.

The nearest physical tensor is meant in terms of the second moments of the mass distribution, which
are S = trace(I)/2 - I for the tensor I: those of S that are negative are set to zero. See Wensing,
Kim, Slotine 2018, "Linear matrix inequalities for physically consistent inertial parameter
identification".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from .document import Inertial, Joint, UrdfDocument, Vector3
from .tree import UrdfTree

ROUNDING = 0.01
"""Defect that rounding to two digits explains."""

POINT_MASS_RADIUS = 1e-8
"""A radius of gyration below this (10 nm) is a zero with the dust of someone's arithmetic on it."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkMass:
    """Mass, mass centre, and inertia about the mass centre, in the link's frame."""

    mass: float
    com: Array
    central_inertia: Array

    @property
    def inertia(self) -> Array:
        """Inertia about the origin of the link's frame."""
        return self.central_inertia + _point_inertia(self.mass, self.com)


MASSLESS = LinkMass(0.0, np.zeros(3), np.zeros((3, 3)))


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


def calc_link_masses(document: UrdfDocument, tree: UrdfTree) -> tuple[dict[str, LinkMass], list[str]]:
    """Find physical mass properties for every link.

    Parameters
    ----------
    document : UrdfDocument
        The links.
    tree : UrdfTree
        Their order.

    Returns
    -------
    masses : dict of str to LinkMass
        By link name, in the order of the tree; a link without mass has `MASSLESS`.
    notes : list of str
        What was changed, a sentence each.

    Raises
    ------
    ModelError
        The inertia of a link (or of the links that fixed joints make one body) is not that of any
        body.
    """
    own = {link: _link_mass(document.links[link].inertial) for link in tree.inboard_joint}
    suspects = _find_suspects(own)
    if not suspects:
        return own, []
    return _Repair(document, tree, own).run(suspects)


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


class _Repair:
    """Deals with links whose inertia no body has, tips first: what a link takes over is settled."""

    def __init__(self, document: UrdfDocument, tree: UrdfTree, masses: dict[str, LinkMass]) -> None:
        self.document = document
        self.tree = tree
        self.masses = masses
        self.notes: list[str] = []
        self.culprit: dict[str, str] = {}  # link -> the link whose numbers made it non-physical
        self.fixed_children: dict[str, list[Joint]] = {}
        for _, joint in tree.moving_order:
            if joint.type == "fixed":
                self.fixed_children.setdefault(joint.parent, []).append(joint)

    def run(self, suspects: list[str]) -> tuple[dict[str, LinkMass], list[str]]:
        place = {link: number for number, link in enumerate(self.tree.inboard_joint)}
        for link in sorted(suspects, key=place.__getitem__, reverse=True):
            self.settle(link)
        return self.masses, self.notes

    def settle(self, link: str) -> None:
        """Make `link` physical; what it cannot keep goes to its parent, and so on."""
        while True:
            moments = _principal_moments(self.masses[link].central_inertia)
            defect = _defect(moments)
            if defect <= 1e-9:
                return
            culprit = self.culprit.get(link, link)
            if defect <= ROUNDING:
                self.round_up(link, culprit, defect)
                return
            joint = self.tree.inboard_joint[link]
            if joint is None or joint.type != "fixed":
                self.gather_group(link, culprit)
                return
            if culprit == link:
                self.notes.append(
                    f"line {self.line(link)}: the inertia of link {link!r} is not that of a body "
                    f"(principal moments {_show(moments)}); its mass is counted with that of "
                    f"{joint.parent!r}, to which it is fixed, which leaves the motion as it is"
                )
            self.masses[joint.parent] = _combine(
                self.masses[joint.parent],
                self.masses[link],
                rotation_matrix(joint.origin.rpy),
                np.array(joint.origin.xyz),
            )
            self.masses[link] = MASSLESS
            link = joint.parent
            self.culprit.setdefault(link, culprit)

    def round_up(self, link: str, culprit: str, defect: float) -> None:
        mass = self.masses[link]
        self.masses[link] = LinkMass(mass.mass, mass.com, _nearest_physical(mass.central_inertia))
        if defect > 1e-6:
            self.notes.append(
                f"line {self.line(culprit)}: the inertia of link {link!r} misses that of a body by "
                f"{100 * defect:.2g} %; the nearest physical one is used"
            )

    def gather_group(self, lead: str, culprit: str) -> None:
        """Count the mass of all that is fixed to `lead` with it; refuse what remains wrong."""
        total = self.masses[lead]
        gathered: list[str] = []
        pending = [(lead, np.eye(3), np.zeros(3))]
        while pending:
            link, R_lead, p_lead = pending.pop()
            for joint in self.fixed_children.get(link, ()):
                p = p_lead + R_lead @ np.array(joint.origin.xyz)
                R = R_lead @ rotation_matrix(joint.origin.rpy)
                total = _combine(total, self.masses[joint.child], R, p)
                gathered.append(joint.child)
                pending.append((joint.child, R, p))
        moments = _principal_moments(total.central_inertia)
        defect = _defect(moments)
        if defect > ROUNDING:
            together = f" (with the links fixed to it: {_show(moments)})" if gathered else ""
            raise ModelError(
                f"{self.document.path}:{self.line(culprit)}: link {culprit!r}: its inertia is "
                f"not that of any body: the principal moments are "
                f"{_show(self.file_moments(culprit))}{together}, and each has to be positive and "
                "at most the sum of the other two"
            )
        self.masses[lead] = total
        for link in gathered:
            self.masses[link] = MASSLESS
        self.notes.append(
            f"line {self.line(culprit)}: the inertia of link {culprit!r} is not that of a body; "
            f"the masses of all links fixed to {lead!r} are counted with it, which leaves the "
            "motion as it is"
        )
        if defect > 1e-9:
            self.round_up(lead, culprit, defect)

    def line(self, link: str) -> int:
        """Return the line of the link's <inertial>."""
        inertial = self.document.links[link].inertial
        return self.document.links[link].line if inertial is None else inertial.line

    def file_moments(self, link: str) -> Array:
        """Return the principal moments as the file gives them."""
        return _principal_moments(_link_mass(self.document.links[link].inertial).central_inertia)


def _principal_moments(inertia: Array) -> Array:
    """Return the principal moments, smallest first."""
    moments: Array = np.linalg.eigvalsh(inertia).astype(np.float64, copy=False)
    return moments


def _defect(moments: Array) -> float:
    scale = float(np.abs(moments).max())
    return float(moments[2] - moments[1] - moments[0]) / scale if scale > 0.0 else 0.0


def _nearest_physical(inertia: Array) -> Array:
    moments, axes = np.linalg.eigh(inertia)
    spread = np.maximum(0.5 * moments.sum() - moments, 0.0)  # S of the module's docstring
    tensor: Array = (axes * (spread.sum() - spread)) @ axes.T
    return 0.5 * (tensor + tensor.T)


def _point_inertia(mass: float, p: Array) -> Array:
    tensor: Array = mass * (float(p @ p) * np.eye(3) - np.outer(p, p))
    return tensor


def _combine(a: LinkMass, b: LinkMass, R: Array, p: Array) -> LinkMass:
    """Return the mass properties of both in a's frame; R and p are b's frame in a's."""
    mass = a.mass + b.mass
    if mass == 0.0:
        return MASSLESS
    com_b = p + R @ b.com
    com = (a.mass * a.com + b.mass * com_b) / mass
    central = (
        a.central_inertia
        + R @ b.central_inertia @ R.T
        + _point_inertia(a.mass, a.com - com)
        + _point_inertia(b.mass, com_b - com)
    )
    return LinkMass(mass, com, 0.5 * (central + central.T))


def _show(moments: Array) -> str:
    return ", ".join(f"{moment:.4g}" for moment in moments)
