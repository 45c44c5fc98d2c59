"""Poses of components: by their paths, and frames that are fixed to frames, down to a body.

A path is what OpenSim gives a component: ``/bodyset/tibia``, ``/jointset/knee/tibia_offset``. Sockets name components by such
paths, from the root or from the component that has the socket; older files often by the last name alone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import numpy as np

from ...algebra.arrays import Array
from ...value import Rotation, Transform
from ...value.checks import suggest
from .document import Item

#: Properties of the model that hold components, and the path of each.
SETS = {
    "BodySet": "/bodyset",
    "JointSet": "/jointset",
    "ConstraintSet": "/constraintset",
    "MarkerSet": "/markerset",
    "ForceSet": "/forceset",
    "ContactGeometrySet": "/contactgeometryset",
    "ControllerSet": "/controllerset",
    "ProbeSet": "/probeset",
    "ComponentSet": "/componentset",
}
FRAMES = ("Ground", "Body", "PhysicalOffsetFrame", "OffsetFrame", "StationDefinedFrame", "IMU")
STATIONS = ("Station", "Marker")
#: Signed axes, as StationDefinedFrame names them.
_AXES = {f"{sign}{axis}": (k, -1.0 if sign == "-" else 1.0) for k, axis in enumerate("xyz") for sign in ("+", "-", "")}
IDENTITY = Transform()


class Components:
    """All components of a model by path, and the frames among them by where they are."""

    def __init__(self, model: Item) -> None:
        self.model = model
        self.paths: dict[str, Item] = {}
        self.path_of: dict[int, str] = {}
        self._by_name: dict[str, list[Item]] = {}
        self._places: dict[int, tuple[Item, Transform]] = {}
        #: Those whose names come twice, and are numbered.
        self.renamed: list[Item] = []
        self.ground = self._ground(model)
        for item in model.objects("components"):
            self._enter(item, "")
        for tag, path in SETS.items():
            for item in model.objects(tag):
                self._enter(item, path)
        for item in self.all("IMU"):  # a marker's like: a frame that is fixed in another
            item.is_read = True

    def _ground(self, model: Item) -> Item:
        ground = model.find("Ground")
        if ground is None:
            ground = Item(model.path, type(model.element)("Ground", {"name": "ground"}, model.element.line), model)
        self._enter(ground, "")
        self.paths.setdefault("/ground", ground)
        self._by_name.setdefault("ground", [ground])
        return ground

    def _enter(self, item: Item, above: str) -> None:
        name = item.name or item.tag.lower()
        path = f"{above}/{name}"
        number = 0
        while path in self.paths:  # as OpenSim numbers names that come twice
            number += 1
            path = f"{above}/{name}_{number}"
        if number and item.name:
            self.renamed.append(item)
        self.paths[path] = item
        self.path_of[id(item)] = path
        self._by_name.setdefault(name, []).append(item)
        for tag in ("frames", "components", "coordinates"):
            for part in item.objects(tag):
                self._enter(part, path)

    def all(self, *tags: str) -> Iterator[Item]:
        """Yield the components of some kinds, in the order of the file."""
        return (item for item in self.paths.values() if item.tag in tags)

    def name_of(self, item: Item) -> str:
        """The last name of its path, which no other beside it has."""
        return self.path_of[id(item)].rpartition("/")[2]

    # ------------------------------------------------------------------------------------------ sockets

    def find(self, owner: Item, socket: str, tags: tuple[str, ...], *, prefix: str = "socket_") -> Item:
        """Find the component of some kind that a socket of the owner names.

        Raises
        ------
        ModelError
            The socket is not there, or names nothing of that kind.
        """
        named = owner.text(prefix + socket)
        if not named:
            owner.refuse(f"{owner.tag} {owner.name!r} does not say its {socket}")
        found = self.look_up(owner, named, tags)
        if found is None:
            names = [name for name, items in self._by_name.items() if any(item.tag in tags for item in items)]
            owner.refuse(
                f"the {socket} of {owner.tag} {owner.name!r} is {named!r}, and there is none; "
                f"{suggest(named.rpartition('/')[2], names)}"
            )
        return found

    def look_up(self, owner: Item, named: str, tags: tuple[str, ...]) -> Item | None:
        """Find a component by a path from the root, from the owner or from what it is part of, or by its last name."""
        start = self.path_of.get(id(owner), "/")
        ways = [named] if named.startswith("/") else [f"{start}/{named}", f"{posixpath.dirname(start)}/{named}"]
        for way in ways:
            found = self.paths.get(posixpath.normpath(way))
            if found is not None and found.tag in tags:
                return found
        alike = [item for item in self._by_name.get(named.rpartition("/")[2], []) if item.tag in tags]
        return alike[0] if alike else None

    # ------------------------------------------------------------------------------------------ frames

    def frame(self, owner: Item, socket: str, *, prefix: str = "socket_") -> tuple[Item, Transform]:
        """Find the frame that a socket names: the body that it is fixed to, and where in it."""
        return self.place(self.find(owner, socket, FRAMES, prefix=prefix))

    def place(self, frame: Item) -> tuple[Item, Transform]:
        """Find the body that a frame is fixed to, and where in it.

        Raises
        ------
        ModelError
            Frames are fixed to each other in a ring, or to nothing.
        """
        chain: list[Item] = []
        X, at = IDENTITY, frame
        while id(at) not in self._places and at.tag not in ("Body", "Ground", "StationDefinedFrame"):
            if any(at is other for other in chain):
                names = " -> ".join(one.name for one in [*chain, at])
                at.refuse(f"frames are fixed to each other in a ring: {names}")
            chain.append(at)
            at = self.find(at, "frame" if at.tag == "IMU" else "parent", FRAMES)
        if id(at) not in self._places:
            self._places[id(at)] = self._of_stations(at, chain) if at.tag == "StationDefinedFrame" else (at, IDENTITY)
        body, X = self._places[id(at)]
        for one in reversed(chain):
            X = X @ self.offset(one)
            self._places[id(one)] = body, X
        return self._places[id(frame)]

    def offset(self, frame: Item) -> Transform:
        """The place of an offset frame in its parent."""
        if frame.tag == "IMU":
            return IDENTITY
        R = Rotation.from_body_fixed_xyz(frame.finite("orientation", (0.0, 0.0, 0.0)))
        return Transform(R, frame.finite("translation", (0.0, 0.0, 0.0)))

    def station(self, item: Item) -> tuple[Item, Array]:
        """Find the body that a station or marker is on, and where on it."""
        body, X = self.frame(item, "parent_frame")
        return body, X @ item.finite("location", (0.0, 0.0, 0.0))

    def _of_stations(self, frame: Item, chain: list[Item]) -> tuple[Item, Transform]:
        """A frame through three points, with its origin at a fourth."""
        if getattr(self, "_open", None) is None:
            self._open: list[Item] = []
        if any(frame is other for other in self._open):
            frame.refuse(f"frames are fixed to each other in a ring, through the stations of {frame.name!r}")
        self._open.append(frame)
        points = []
        bodies = []
        for socket in ("point_a", "point_b", "point_c", "origin_point"):
            body, point = self.station(self.find(frame, socket, STATIONS))
            bodies.append(body)
            points.append(np.asarray(point))
        self._open.pop()
        if any(body is not bodies[0] for body in bodies):
            frame.refuse(f"the stations of {frame.name!r} are on several bodies: {', '.join(b.name for b in bodies)}")
        first, second = (
            _AXES.get(frame.text(tag, default).strip()) for tag, default in (("ab_axis", "+x"), ("ab_x_ac_axis", "+y"))
        )
        if first is None or second is None or first[0] == second[0]:
            frame.refuse(f"ab_axis and ab_x_ac_axis of {frame.name!r} must be two axes, such as +x and +y")
        ab, ac = points[1] - points[0], points[2] - points[0]
        normal = np.cross(ab, ac)
        if not np.linalg.norm(normal) > 1e-12 * np.linalg.norm(ab) * np.linalg.norm(ac):
            frame.refuse(f"point_a, point_b and point_c of {frame.name!r} lie on one line; they must make a triangle")
        R = np.zeros((3, 3))
        R[:, first[0]] = first[1] * ab / np.linalg.norm(ab)
        R[:, second[0]] = second[1] * normal / np.linalg.norm(normal)
        third = 3 - first[0] - second[0]
        R[:, third] = np.cross(R[:, (third + 1) % 3], R[:, (third + 2) % 3])
        return bodies[0], Transform(Rotation(R), points[3])
