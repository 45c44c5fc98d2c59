"""A URDF file as plain data: links, joints, and the line each was read from.

Units are URDF's: metres, kilograms, seconds, radians. Nothing here knows of the engine; every class
is frozen, and every number in it has been checked to be finite (limits may be infinite).
`reader` makes these from a file, `describe` a mechanism of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..mechanism.shapes import Geometry, Vector3
from ..report import Report

JointType = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"]


@dataclass(frozen=True, slots=True)
class Origin:
    """A frame in another: its origin, and its axes turned by Rz(yaw) Ry(pitch) Rx(roll)."""

    xyz: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass, and inertia about the mass centre; `origin` is their frame in the link's frame. The mass alone may be zero."""

    mass: float
    ixx: float
    iyy: float
    izz: float
    ixy: float
    ixz: float
    iyz: float
    origin: Origin
    line: int


@dataclass(frozen=True, slots=True)
class Visual:
    """The look of a link: one shape, its pose in the link's frame, its colour if it has one."""

    geometry: Geometry
    origin: Origin
    rgba: tuple[float, float, float, float] | None
    line: int


@dataclass(frozen=True, slots=True)
class Collision:
    """A shape that touches others: its pose in the link's frame, and its name if it has one."""

    geometry: Geometry
    origin: Origin
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A body. `inertial` is None if the file gives none, or neither mass nor inertia."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Visual, ...]
    line: int
    collisions: tuple[Collision, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of a joint, kept as data; None where the file does not say."""

    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Viscous damping and Coulomb friction of a joint, kept as data."""

    damping: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, slots=True)
class Mimic:
    """To follow another joint, `q = multiplier * q_other + offset`; kept as data."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two links.

    `origin` is the joint's frame in the parent link's frame; the child link's frame coincides with
    it at zero coordinates. `axis` is a unit vector in the joint's frame: of rotation, of
    translation, or normal to the plane of a planar joint.
    """

    name: str
    type: JointType
    parent: str
    child: str
    origin: Origin
    axis: Vector3
    limit: Limit | None
    dynamics: Dynamics
    mimic: Mimic | None
    line: int


@dataclass(frozen=True, slots=True)
class Actuator:
    """A motor of a transmission: its rotor's inertia about its own axis, and its turns for one of the joint's."""

    name: str
    reduction: float = 1.0
    rotor_inertia: float = 0.0


@dataclass(frozen=True, slots=True)
class Transmission:
    """Actuators and the joints they drive; what its kind does with several of them is not of the format."""

    name: str
    type: str
    joints: tuple[str, ...]
    actuators: tuple[Actuator, ...]
    line: int


@dataclass(frozen=True, slots=True)
class UrdfDocument:
    """A URDF file whose every part has been checked by itself (not that they form a tree)."""

    path: str
    name: str
    links: dict[str, Link]
    joints: dict[str, Joint]
    notes: Report = field(default_factory=Report)
    """Parts dropped or approximated in reading, a sentence each."""
    transmissions: dict[str, Transmission] = field(default_factory=dict)
    faults: tuple[str, ...] = field(default=())
    """Faults of the file that were put up with: the first of the notes, and worth a warning."""
