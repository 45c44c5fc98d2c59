"""SDF files as plain data: scopes (models and worlds) with links, joints and frames, and where each was read.

Units are SDF's: metres, kilograms, seconds, radians. Poses are relative to frames by name, as in the file; `frames` finds
where they are. `reader` makes these from files, `describe` a mechanism of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from ...algebra.arrays import Array
from ...value import Transform
from ..mechanism.reading import Place
from ..mechanism.shapes import Geometry, Vector3
from ..report import Report

JointType = Literal["revolute", "continuous", "prismatic", "ball", "universal", "revolute2", "screw", "fixed"]


class Pose(NamedTuple):
    """A frame in another that goes by name; the empty name is the default of what has the pose."""

    X: Transform
    relative_to: str = ""


Rgba: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class ShapeElement:
    """A visual or a collision: its shape, pose, and colour if it has one."""

    name: str
    geometry: Geometry
    pose: Pose
    rgba: Rgba | None
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class Inertial:
    """Mass, and inertia (3, 3) about the mass centre; the pose is their frame in the link's, or in one that it names."""

    mass: float
    tensor: Array
    pose: Pose
    place: Place


@dataclass(slots=True, eq=False)
class Link:
    """A body."""

    name: str
    pose: Pose
    inertial: Inertial
    visuals: list[ShapeElement]
    collisions: list[ShapeElement]
    gravity: bool
    place: Place
    losses: list[tuple[str, str]] = field(default_factory=list)
    """Parts left out that change its motion, where it has one: the report's sentence, and whose it is."""


@dataclass(frozen=True, slots=True)
class Mimic:
    """To follow an axis of another joint, `q = multiplier (q_other - reference) + offset`."""

    joint: str
    axis: int
    multiplier: float
    offset: float
    reference: float


@dataclass(frozen=True, slots=True)
class Axis:
    """A joint's axis, in the frame that it names (the joint's own where that is empty), and what acts about or along it."""

    xyz: Vector3 = (0.0, 0.0, 1.0)
    expressed_in: str = ""
    lower: float = -float("inf")
    upper: float = float("inf")
    effort: float = float("inf")
    velocity: float = float("inf")
    stiffness: float | None = None
    dissipation: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    spring_stiffness: float = 0.0
    spring_reference: float = 0.0
    initial_position: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two links, or frames fixed to them. A screw advances by `screw_pitch` a turn."""

    name: str
    type: JointType
    parent: str
    child: str
    pose: Pose
    axes: tuple[Axis, ...]
    screw_pitch: float
    place: Place
    rotor_inertia: float = 0.0
    """Times the square of the reduction, as Drake's extension says."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that a file names, and what it is fixed to; the empty name is its model."""

    name: str
    pose: Pose
    attached_to: str
    place: Place


@dataclass(slots=True, eq=False)
class Scope:
    """A model, with what is in it, or a world. `version` is that of its file, whose rules hold in it."""

    name: str
    is_world: bool
    version: tuple[int, ...]
    place: Place
    pose: Pose = field(default_factory=lambda: Pose(Transform()))
    static: bool = False
    self_collide: bool = False
    canonical: str = ""
    placement_frame: str = ""
    parent: Scope | None = None
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)
    gravity: Vector3 | None = None
    missing: set[str] = field(default_factory=set)
    """Names of included models that are not there."""

    def __repr__(self) -> str:
        """Its kind and its name."""
        return f"<{'world' if self.is_world else 'model'} {self.name!r}>"


@dataclass(slots=True, eq=False)
class SdfDocument:
    """An SDF file with all that it includes, each part checked by itself: one model, or a world that holds what there is."""

    path: str
    top: Scope
    report: Report
    """Parts dropped or approximated in reading, a sentence each."""
    faults: list[str]
    """Faults of the file that were put up with, worth a warning; these are among the notes."""
