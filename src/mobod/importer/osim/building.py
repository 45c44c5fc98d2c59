"""The parts made of a document so far, and how they find each other: frames, bodies, paths, contact shapes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from ... import contact, force
from ...algebra.arrays import Array
from ...force.subsystem import GeneralForceSubsystem
from ...force.transmission import FunctionBasedPath, Path
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ...value import Transform
from ...value.checks import suggest
from ..model import Model
from ..report import Report
from ..xml_element import Element
from .coordinates import Coordinate
from .coupler import DependentCoordinate
from .document import Item
from .frames import FRAMES, Components


class Shape(NamedTuple):
    """A shape on a body."""

    item: Item
    body: MobilizedBody
    X_BS: Transform
    geometry: contact.Shape | None


@dataclass(eq=False)
class PathWrap:
    """A wrap of a path: its object, its method, and its points from and to (from 1; -1 for any)."""

    wrap_object: str
    method: str
    range: tuple[int, int]


class Section(NamedTuple):
    """A section of a taut path over a wrap object: behind which point, past what, and how far along the path."""

    point: int
    hint: Array | None
    rank: float


class Building:
    """A model that is being made; `model` and `report` grow on the way."""

    def __init__(
        self,
        document: Item,
        path: str,
        strict: bool,
        mesh_dirs: Sequence[str | os.PathLike[str]],
        report: Report,
        gravity: npt.ArrayLike | None = None,
        muscles_act: bool = True,
        sections: Sequence[Sequence[Section]] | None = None,
        as_opensim: bool = False,
    ) -> None:
        self.muscles_act = muscles_act
        #: Whether OpenSim's faults are repeated; the numbers that all muscles then have of the first of their kind.
        self.as_opensim = as_opensim
        self.of_the_first: dict[str, dict[str, float]] = {}
        #: Of taut paths, in the order of `paths`: see `geodesics`.
        self.sections = sections
        self.document = document
        self.path = path
        self.strict = strict
        self.mesh_dirs = mesh_dirs
        self.report = report
        self.components = Components(document)
        #: Of contact, by name.
        self.shapes: dict[str, Shape] = {}
        self.mobods: dict[int, MobilizedBody] = {}
        self.coordinates: list[Coordinate] = []
        self.couplers: list[DependentCoordinate] = []
        #: Of each element that has a path: the element, the path, if it has two points or more, and what it wraps.
        self.paths: list[tuple[Element, Path | FunctionBasedPath | None, list[PathWrap]]] = []
        #: What paths bend over, by the wrap object.
        self.surfaces: dict[object, Any] = {}
        self.model = self._empty(gravity)

    def _empty(self, asked: npt.ArrayLike | None) -> Model:
        system = MultibodySystem()
        matter = SimbodyMatterSubsystem(system)
        forces = GeneralForceSubsystem(system)
        gravity = self.document.finite("gravity", (0.0, -9.80665, 0.0))
        return Model(
            name=self.document.name,
            system=system,
            matter=matter,
            forces=forces,
            gravity=force.Gravity(forces, matter, gravity if asked is None else asked),
            bodies={},
            coordinates={},
            speeds={},
            report=self.report,
        )

    def lose(self, item: Item, sentence: str, what: str = "", option: str = "") -> None:
        """Report something of the mechanism that is left out, and counts as read; *what* it is, if it moves anything."""
        item.read_all()
        if what:
            self.report.lose(item.note(sentence), what, option=option)
        else:
            self.report.depart(item.note(sentence))

    def frame(self, item: Item, socket: str, *, prefix: str = "socket_") -> tuple[MobilizedBody, Transform]:
        """Find the mobilized body that a socket's frame is fixed to, and where in it."""
        base, X = self.components.frame(item, socket, prefix=prefix)
        return self.mobods[id(base)], X

    def mobod_named(self, item: Item, name: str) -> MobilizedBody:
        """Find the mobilized body of a frame that a property names."""
        return self.place_named(item, name)[0]

    def place_named(self, item: Item, name: str) -> tuple[MobilizedBody, Transform]:
        """Find the mobilized body of a frame that a property names, and where in it."""
        found = self.components.look_up(item, name, FRAMES)
        if found is None:
            item.refuse(
                f"{item.tag} {item.name!r} names the body {name!r}, and there is none; {suggest(name, list(self.model.bodies))}"
            )
        base, X = self.components.place(found)
        return self.mobods[id(base)], X
