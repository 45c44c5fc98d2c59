"""Readers of links and joints: errors and notes with their lines, what is left out, and checks of shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from ...errors import ModelError
from ..report import Report
from ..xml_element import Element
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Sphere

#: float() also takes underscores, "infinity" and other alphabets' digits, which the formats do not.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: Larger lengths and masses are typing errors, and would overflow.
LARGEST = 1e30


class Place(NamedTuple):
    """The file and line of an element."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


#: Elements of simulators that join or pull links, which no format has.
JOINTS_AND_FORCES = {"force_element", "loop_joint", "drake:joint", "drake:linear_bushing_rpy", "drake:ball_constraint"}
#: What `Report.lose` counts where resistance acts on several coordinates at once.
RESISTANCE_LEFT_OUT = "joints of several coordinates whose resistance is left out"


class Reading:
    """Reads one file, and what it includes; collects notes on the way."""

    def __init__(self, path: str, collisions: bool, strict: bool) -> None:
        self.path, self.collisions, self.strict = path, collisions, strict
        self.file = path  # the one that is being read
        self.notes = Report()
        self.faults: list[str] = []
        self.dropped: dict[str, list[Place]] = {}  # what was left out -> where it was

    def place(self, where: Element | Place | int) -> Place:
        """The line of that, in the file that is being read."""
        if isinstance(where, Place):
            return where
        return Place(self.file, where if isinstance(where, int) else where.line)

    def where(self, where: Element | Place | int) -> str:
        """The same in words: the line, and the file if it is another."""
        place = self.place(where)
        return f"line {place.line}" if place.file == self.path else str(place)

    def fail(self, where: Element | Place | int, problem: str) -> NoReturn:
        """Refuse the file."""
        raise ModelError(f"{self.place(where)}: {problem}")

    def note(self, where: Element, text: str) -> None:
        """Say how something is read."""
        self.notes.append(f"{self.where(where)}: {text}")

    def depart(self, where: Element, text: str) -> None:
        """Say what is approximated or left out."""
        self.notes.depart(f"{self.where(where)}: {text}")

    def fault(self, where: Element, problem: str, remedy: str) -> None:
        """Put up with what is wrong and leaves no doubt of what was meant; refuse it if strict."""
        if self.strict:
            self.fail(where, problem)
        self.faults.append(f"{self.where(where)}: {problem}; {remedy}")

    def drop(self, where: Element, what: str) -> None:
        """Leave something out that says nothing of the motion."""
        self.dropped.setdefault(what, []).append(self.place(where))

    def notes_on_dropped(self) -> list[str]:
        """A line for each kind of thing that was left out."""
        return [
            f"{self.where(places[0])}: {what} is ignored"
            if len(places) == 1
            else f"{what} is ignored, {len(places)} times (first on {self.where(places[0])})"
            for what, places in self.dropped.items()
        ]

    def first(self, element: Element, tag: str, whose: str) -> Element | None:
        """The first child of that tag; a note where there are more."""
        found = list(element.find_all(tag))
        if len(found) > 1:
            self.depart(found[1], f"{whose} has {len(found)} <{tag}> elements; the first is used")
        return found[0] if found else None

    def shape(self, element: Element, readers: Mapping[str, Callable[[Element], Geometry]], whose: str) -> Geometry:
        """The shape of an element, whose sizes are not negative."""
        geometry = readers[element.tag](element)
        smallest = min(_sizes(geometry))
        if smallest < 0.0:
            self.fail(element, f"{whose}: {element.tag} has a negative size ({smallest:g})")
        return geometry


def _sizes(geometry: Geometry) -> tuple[float, ...]:
    """Numbers that must not be negative; a mesh can be mirrored by its scale."""
    match geometry:
        case Box(size) | Ellipsoid(size):
            return size
        case Cylinder(radius, length) | Capsule(radius, length) | Cone(radius, length):
            return radius, length
        case Sphere(radius):
            return (radius,)
        case _:
            return (0.0,)


def shorten(value: str) -> str:
    """A value in quotes, cut where nobody would read on."""
    return repr(value if len(value) <= 40 else value[:37] + "...")
