"""A mechanism as files of all formats describe it: links, joints between them, and what the file says acts at the joints.

A joint's frame J is fixed to its parent and to its child, and is in one place where its coordinates are zero. Lengths, masses
and angles are in the units of the system. A *place* is where in the file something was read, as reports name it: "line 12".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ...errors import ModelError
from ...value import Transform
from ..parts import MASSLESS, LinkMass
from ..report import Report
from .shapes import Geometry

Kind: TypeAlias = Literal["fixed", "revolute", "prismatic", "screw", "planar", "universal", "ball", "free"]
#: Coordinates and speeds of joints that have no axes of their own; of the others, as many as axes.
NUM_Q: dict[str, int] = {"fixed": 0, "planar": 3, "ball": 4, "free": 7}
NUM_U: dict[str, int] = {"fixed": 0, "planar": 3, "ball": 3, "free": 6}
Rgba: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Visual:
    """The look of a link: a shape, its pose in the link's frame, its colour if it has one."""

    geometry: Geometry
    X: Transform
    rgba: Rgba | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Collision:
    """A shape that touches others: its pose in the link's frame, and its name."""

    geometry: Geometry
    X: Transform
    name: str
    place: str = ""


@dataclass(slots=True, eq=False)
class Link:
    """A body. `X_WL` is where it starts if no joint carries it; a *static* one is a part of Ground.

    Where `mass_place` is empty, nobody is told of an inertia that no body has. Links of one *group* do not touch each other;
    where it is empty, that is said by joints alone.
    """

    name: str
    mass: LinkMass = MASSLESS
    mass_place: str = ""
    visuals: Sequence[Visual] = ()
    collisions: Sequence[Collision] = ()
    X_WL: Transform = field(default_factory=Transform)
    static: bool = False
    gravity: bool = True
    group: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Mimic:
    """To follow an axis of another joint, `q = multiplier * q_other + offset`."""

    joint: str
    axis: int = 0
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A unit vector in the joint's frame, and what acts about or along it; what is not said is zero, or infinite."""

    direction: Sequence[float] = (0.0, 0.0, 1.0)
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = 0.0
    stop_stiffness: float | None = None
    stop_dissipation: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    spring_stiffness: float = 0.0
    spring_rest: float = 0.0
    start: float = 0.0
    mimic: Mimic | None = None

    @property
    def is_limited(self) -> bool:
        """True if it has a limit to either side."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)


@dataclass(slots=True, eq=False)
class Joint:
    """A joint between two links, None of them being Ground, which lets the child move in its parent.

    Revolute, prismatic and screw joints have one axis (a planar one too, its normal), universal ones two; a screw advances by
    `advance` a radian. A joint that is reached from its child is built reversed, so that its coordinates keep their meaning.
    """

    name: str
    kind: Kind
    parent: str | None
    child: str | None
    X_PJ: Transform = field(default_factory=Transform)
    X_CJ: Transform = field(default_factory=Transform)
    axes: Sequence[Axis] = ()
    advance: float = 0.0
    rotor_inertia: float = 0.0
    place: str = ""


@dataclass(slots=True, eq=False)
class Mechanism:
    """All of a file, each part checked by itself.

    Attributes
    ----------
    path, name : str
        The file, and what it calls the model.
    links, joints : dict
        By name, in the file's order. A joint may close a loop.
    report : Report
        What was dropped or approximated in reading.
    faults : list of str
        What is wrong with the file and was put up with, worth a warning.
    root : str
        The link that stands for the base, if the format has such a thing: where it has not enough mass to move freely, that is
        an error.
    """

    path: str
    name: str
    links: dict[str, Link]
    joints: dict[str, Joint]
    report: Report = field(default_factory=Report)
    faults: list[str] = field(default_factory=list)
    root: str = ""

    def fail(self, place: str, what: str) -> ModelError:
        """The error that something is wrong at a place, to be raised."""
        where = f"{self.path}:{place.removeprefix('line ')}" if place.startswith("line ") else place or self.path
        return ModelError(f"{where}: {what}")
