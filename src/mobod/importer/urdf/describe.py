"""From a `UrdfDocument` to the mechanism that it describes.

A URDF joint's frame is its child link's frame where its coordinates are zero; the root link is welded to Ground, or free.
"""

from __future__ import annotations

import math

import numpy as np

from ...value import Transform
from ..mechanism import Axis, Collision, Joint, Link, Mechanism, Mimic, Visual
from ..mechanism.description import Kind
from ..parts import MASSLESS, LinkMass, rotation_matrix
from ..report import Report
from . import document as urdf
from .tree import find_root

KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "ball",  # of Bullet's and other readers, not of the format
}

POINT_MASS_RADIUS = 1e-8
"""A radius of gyration below this (10 nm) is a zero with the dust of someone's arithmetic on it."""


def describe(document: urdf.UrdfDocument, floating_base: bool = False) -> Mechanism:
    """Describe the mechanism of a document.

    Raises
    ------
    ModelError
        The links are no tree.
    """
    root = find_root(document)
    links = {name: _describe_link(link) for name, link in document.links.items()}
    links[root].static = not floating_base
    mechanism = Mechanism(
        path=document.path,
        name=document.name,
        links=links,
        joints={},
        report=document.notes,
        faults=list(document.faults),
        root=root,
    )
    rotors = _find_rotors(document, mechanism.report)
    for name, joint in document.joints.items():
        mechanism.joints[name] = _describe_joint(joint, rotors.get(name, 0.0))
    return mechanism


def _describe_link(link: urdf.Link) -> Link:
    collisions = link.collisions
    alone = len(collisions) == 1
    inertial = link.inertial
    return Link(
        link.name,
        mass=MASSLESS if inertial is None else _mass_of(inertial),
        mass_place="" if inertial is None else f"line {inertial.line}",
        visuals=[Visual(one.geometry, transform(one.origin), one.rgba, f"line {one.line}") for one in link.visuals],
        collisions=[
            Collision(
                one.geometry,
                transform(one.origin),
                one.name or (link.name if alone else f"{link.name}[{number}]"),
                f"line {one.line}",
            )
            for number, one in enumerate(collisions)
        ],
        place=f"line {link.line}",
    )


def _describe_joint(joint: urdf.Joint, rotor_inertia: float) -> Joint:
    lower, upper = find_bounds(joint)
    effort = joint.limit.effort if joint.limit is not None else None
    mimic = None if joint.mimic is None else Mimic(joint.mimic.joint, 0, joint.mimic.multiplier, joint.mimic.offset)
    axis = Axis(
        joint.axis,
        lower=lower,
        upper=upper,
        effort=0.0 if effort is None else effort,
        damping=joint.dynamics.damping,
        friction=joint.dynamics.friction,
        mimic=mimic,
    )
    return Joint(
        joint.name,
        KINDS[joint.type],
        joint.parent,
        joint.child,
        X_PJ=transform(joint.origin),
        axes=[axis],
        rotor_inertia=rotor_inertia,
        place=f"line {joint.line}",
    )


def find_bounds(joint: urdf.Joint) -> tuple[float, float]:
    """The range of a joint's coordinate; all numbers where it has no limits."""
    limit = joint.limit
    if joint.type not in ("revolute", "prismatic") or limit is None or (limit.lower is None and limit.upper is None):
        return -math.inf, math.inf
    return limit.lower or 0.0, limit.upper or 0.0  # URDF's defaults


def _find_rotors(document: urdf.UrdfDocument, report: Report) -> dict[str, float]:
    """Rotors of transmissions, as inertias of joints of one coordinate."""
    inertias: dict[str, float] = {}
    for transmission in document.transmissions.values():
        reflected = sum(actuator.rotor_inertia * actuator.reduction**2 for actuator in transmission.actuators)
        if reflected == 0.0:
            continue
        joint = document.joints.get(transmission.joints[0]) if len(transmission.joints) == 1 else None
        if joint is None or joint.type not in ("revolute", "continuous", "prismatic"):
            report.depart(
                f"line {transmission.line}: the rotors of transmission {transmission.name!r} are left out: it is not of one "
                "joint that moves about or along one axis"
            )
            continue
        inertias[joint.name] = inertias.get(joint.name, 0.0) + reflected
    return inertias


def _mass_of(inertial: urdf.Inertial) -> LinkMass:
    i = inertial
    tensor = np.array([[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]])
    if np.abs(tensor).max() <= i.mass * POINT_MASS_RADIUS**2:
        return LinkMass(i.mass, np.array(i.origin.xyz), np.zeros((3, 3)))
    if any(i.origin.rpy):
        R = rotation_matrix(i.origin.rpy)
        tensor = R @ tensor @ R.T
        tensor = 0.5 * (tensor + tensor.T)
    return LinkMass(i.mass, np.array(i.origin.xyz), tensor)


def transform(origin: urdf.Origin) -> Transform:
    """The pose of a frame in the one outside it."""
    return Transform.trusted(rotation_matrix(origin.rpy), np.array(origin.xyz))
