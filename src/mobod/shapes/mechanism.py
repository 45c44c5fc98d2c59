"""The shapes of a system, placed at a pose: faces, lines and texts, each fixed to a body."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.arrays import Array
from ..decoration.geometry import COLORS, Point, Sphere
from ..force.contact.force_plate import find_up
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.stage import Stage
from .normals import calc_corner_normals
from .shape_maker import Label, Link, Plane, Segment, ShapeMaker, Surface

#: Which of a box's corners are high in x, y and z.
CORNERS: NDArray[np.bool_] = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=bool)

#: Faces with an edge longer than this part of the whole are divided, since what sorts faces by depth looks at their middles.
LONGEST = 0.09

#: But none once there are so many: drawing them takes time.
MOST_FACES = 4000


class Mechanism:
    """The shapes of a system's bodies; made once, placed at any number of poses.

    Parameters
    ----------
    links : sequence of Link
        Ground, and the bodies, each after its parent.
    X_GB : (nb, 4, 4) array
        A typical pose; it decides how thick sticks are.
    up : array_like (3,), default y
        Direction that is up on the picture, in Ground.
    sticks : bool, default True
        Whether bodies without decorations are drawn, as sticks.
    ties : sequence of Segment
        Lines between bodies, those of constraints.
    detail : float, default 1
        Factor on the number of triangles along curves; that of pictures is 1.

    Attributes
    ----------
    size : float
        Extent of the whole at the typical pose; length.
    links : list of Link
        The bodies, as they were given.
    surfaces : list of Surface
    segments : list of Segment
    texts : list of Label
    planes : list of Plane
        Planes without end, each fixed to a body; they take no room.
    segment_color : (ns, 4) array
        Red, green, blue, opacity.
    segment_width : (ns,) array
        In points.
    tip : tuple of (int, (3,) array) or None
        Body and station at the far end, if the mechanism is a single chain.
    """

    def __init__(
        self,
        links: Sequence[Link],
        X_GB: ArrayLike,
        up: ArrayLike = (0.0, 1.0, 0.0),
        sticks: bool = True,
        ties: Sequence[Segment] = (),
        detail: float = 1.0,
    ) -> None:
        pose = np.asarray(X_GB, dtype=np.float64)
        shapes = ShapeMaker(links, pose, sticks, ties, detail)
        self.up: Array = np.asarray(up, dtype=np.float64) / np.linalg.norm(up)
        self.size = shapes.size
        self.links = list(links)
        self.surfaces: list[Surface] = shapes.surfaces
        self.segments: list[Segment] = shapes.segments
        self.texts: list[Label] = shapes.texts
        self.planes: list[Plane] = shapes.planes
        self._masses = np.array([link.mass for link in links])
        self._mass_centers = np.array([link.com for link in links])

        self._segments = _join([[s.points] for s in self.segments], (0, 2, 3))
        self._segment_body = np.array([s.bodies for s in self.segments], dtype=np.intp).reshape(-1, 2)
        self.segment_color = _join([[(*s.color, s.opacity)] for s in self.segments], (0, 4))
        self.segment_width = np.array([s.width for s in self.segments])

        self._box_body, self._box_corners = self._calc_boxes(len(links))
        self.tip = self._find_tip(links, pose)

    @cached_property
    def _faces(self) -> tuple[Array, Array, NDArray[np.intp]]:
        """All triangles, cut until shading at corners looks smooth, the normals there (nf, 3, 3), their surfaces' numbers.

        Pages, which shade each pixel, ask for none of it.
        """
        parts = [(part.points, calc_corner_normals(part.vertices, part.triangles)) for part in self.surfaces]
        longest, many = LONGEST * self.size, sum(len(points) for points, _ in parts)
        for number, (points, normals) in enumerate(parts):
            if many <= MOST_FACES:
                parts[number] = _divide(points, normals, longest)
                many += len(parts[number][0]) - len(points)
        counts = [len(points) for points, _ in parts]
        joined = [_join([part[k] for part in parts], (0, 3, 3)) for k in (0, 1)]
        return joined[0], joined[1], np.repeat(np.arange(len(parts)), counts)

    @cached_property
    def _face_body(self) -> NDArray[np.intp]:
        return np.array([one.body for one in self.surfaces], dtype=np.intp)[self._faces[2]]

    @cached_property
    def face_color(self) -> Array:
        """Red, green, blue, opacity of each face of all surfaces together, (nf, 4)."""
        return _join([[(*one.color, one.opacity)] for one in self.surfaces], (0, 4))[self._faces[2]]

    @cached_property
    def face_closed(self) -> NDArray[np.bool_]:
        """True if the back of each face is never seen, (nf,)."""
        return np.array([one.closed for one in self.surfaces], dtype=bool)[self._faces[2]]

    @classmethod
    def of(cls, system: MultibodySystem, state: State, detail: float = 1.0) -> Mechanism:
        """Make the shapes of a system at a state, which is realized to `Stage.POSITION` if it is not yet."""
        X_GB = find_body_transforms(system, state)
        sticks = system.get_matter_subsystem().get_show_default_geometry()
        links = _read_links(system, state)
        ties = _read_constraints(system, state, links)
        return cls(links, X_GB, find_up(system, state, (0.0, 1.0, 0.0)), sticks, ties, detail)

    def find_corners(self) -> tuple[Array, Array, Array, NDArray[np.intp]]:
        """Find the corners of all triangles, each three after another, in the frames of their bodies.

        Places and normals (n, 3), colours (n, 4), and twice the body's number, and one where the back is never seen (n,).
        """
        colors = np.repeat(self.face_color, 3, axis=0)
        bodies = np.repeat(2 * self._face_body + self.face_closed, 3)
        return self._faces[0].reshape(-1, 3), self._faces[1].reshape(-1, 3), colors, bodies

    def place_faces(self, X_GB: Array) -> Array:
        """Find all triangles in Ground, (nf, 3, 3), at poses (nb, 4, 4) of the bodies."""
        X = X_GB[self._face_body]
        return np.asarray(self._faces[0] @ X[:, :3, :3].transpose(0, 2, 1) + X[:, None, :3, 3])

    def turn_normals(self, X_GB: Array) -> Array:
        """Find the normals by which faces are lit at their corners, in Ground, (nf, 3, 3)."""
        return np.asarray(self._faces[1] @ X_GB[self._face_body, :3, :3].transpose(0, 2, 1))

    def place_segments(self, X_GB: Array) -> Array:
        """Find all lines in Ground, (ns, 2, 3), at poses (nb, 4, 4) of the bodies."""
        X = X_GB[self._segment_body]
        return np.asarray(np.einsum("nkij,nkj->nki", X[..., :3, :3], self._segments) + X[..., :3, 3])

    def place_texts(self, X_GB: Array) -> Array:
        """Find all texts in Ground, (n, 3), at poses (nb, 4, 4) of the bodies."""
        return np.array([X_GB[body, :3, :3] @ station + X_GB[body, :3, 3] for body, station, *_ in self.texts])

    def calc_corners(self, X_GB: Array, particles: Array) -> Array:
        """Calculate the corners (..., n, 3) of the boxes around the bodies' shapes, and of that around the particles.

        Poses are (..., nb, 4, 4), locations of the particles (..., np, 3).
        """
        X = X_GB[..., self._box_body, :, :]
        corners = self._box_corners @ np.swapaxes(X[..., :3, :3], -1, -2) + X[..., None, :3, 3]
        corners = np.asarray(corners.reshape(*X_GB.shape[:-3], -1, 3))
        if particles.shape[-2] == 0:
            return corners if corners.shape[-2] else X_GB[..., :3, 3]  # if there are no shapes: the bodies' origins
        low, high = particles.min(axis=-2)[..., None, :], particles.max(axis=-2)[..., None, :]
        return np.concatenate([corners, np.where(CORNERS, high, low)], axis=-2)

    def find_marker(self, X_GB: Array) -> Array:
        """Find the point whose path is drawn, (..., 3): the tip of a chain, or else the mass center."""
        if self.tip is not None:
            body, station = self.tip
            return np.asarray(X_GB[..., body, :3, :3] @ station + X_GB[..., body, :3, 3])
        centers = np.einsum("...bij,bj->...bi", X_GB[..., :3, :3], self._mass_centers) + X_GB[..., :3, 3]
        total = float(self._masses.sum()) or 1.0
        return np.asarray(np.einsum("b,...bi->...i", self._masses, centers) / total)

    def _calc_boxes(self, count: int) -> tuple[NDArray[np.intp], Array]:
        """Find which bodies have a shape, and the corners (n, 8, 3) of the boxes around these shapes."""
        stations = np.array([station for _, station, *_ in self.texts]).reshape(-1, 3)
        points = np.concatenate([self._segments.reshape(-1, 3), stations])
        labelled = np.array([body for body, *_ in self.texts], dtype=np.intp)
        bodies = np.concatenate([self._segment_body.ravel(), labelled])
        low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        np.minimum.at(low, bodies, points)
        np.maximum.at(high, bodies, points)
        for part in self.surfaces:
            used = part.vertices[part.triangles.ravel()]
            low[part.body] = np.minimum(low[part.body], used.min(axis=0, initial=np.inf))
            high[part.body] = np.maximum(high[part.body], used.max(axis=0, initial=-np.inf))
        drawn = np.flatnonzero(np.isfinite(low[:, 0]))
        return drawn, np.where(CORNERS, high[drawn, None], low[drawn, None])

    def _find_tip(self, links: Sequence[Link], X_GB: Array) -> tuple[int, Array] | None:
        """Find the far end of what moves last, if that is one body (and what is welded to it)."""
        root = list(range(len(links)))  # of the group of bodies that are welded together
        for body, link in enumerate(links):
            if body and link.nu == 0:
                root[body] = root[link.parent]
        inner = {root[link.parent] for body, link in enumerate(links) if body and root[body] != root[link.parent]}
        outer = set(root) - inner - {0}
        if len(outer) != 1:
            return None
        (last,) = outer
        joint = X_GB[last, :3, :3] @ links[last].X_BM[:3, 3] + X_GB[last, :3, 3]
        mine = [part for part in self.surfaces if root[part.body] == last and len(part.triangles)]
        if not mine:
            return last, links[last].com
        points = np.concatenate([part.points.reshape(-1, 3) for part in mine])
        bodies = np.repeat([part.body for part in mine], [3 * len(part.triangles) for part in mine])
        X = X_GB[bodies]
        distance = np.linalg.norm(np.einsum("nij,nj->ni", X[:, :3, :3], points) + X[:, :3, 3] - joint, axis=1)
        farthest = np.argmax(distance)
        body = int(bodies[farthest])
        center = X_GB[body, :3, :3] @ links[body].com + X_GB[body, :3, 3]
        if np.linalg.norm(center - joint) > 0.6 * distance.max():
            return body, links[body].com  # a bob: its middle says more than a point on its surface
        return body, points[farthest]


def find_body_transforms(system: MultibodySystem, state: State) -> Array:
    """Find the poses of all bodies in Ground, (nb, 4, 4), realizing the state to `Stage.POSITION` first."""
    system.realize(state, Stage.POSITION)
    return np.array([np.asarray(body.get_body_transform(state)) for body in system.get_matter_subsystem().bodies])


def _read_links(system: MultibodySystem, state: State) -> list[Link]:
    links = []
    bodies = list(system.get_matter_subsystem().bodies)
    for mobod in bodies:
        decorations = [(geometry, np.asarray(X)) for geometry, X in mobod.get_body().decorations]
        if mobod.is_ground():  # its frames F and M are its own
            decorations += [(one, np.asarray(X)) for X, one in mobod.inboard_decorations + mobod.outboard_decorations]
            links.append(Link("ground", -1, 0, decorations=decorations))
            continue
        parent = int(mobod.get_parent_mobilized_body().get_mobilized_body_index())
        X_PF = np.asarray(mobod.get_inboard_frame(state))
        X_BM = np.asarray(mobod.get_outboard_frame(state))
        decorations += [(geometry, X_BM @ np.asarray(X)) for X, geometry in mobod.outboard_decorations]
        decorations += [(geometry, np.eye(4)) for geometry in mobod.calc_decorations(state)]
        links[parent].decorations += [(geometry, X_PF @ np.asarray(X)) for X, geometry in mobod.inboard_decorations]
        properties = mobod.get_body_mass_properties(state)
        links.append(
            Link(
                name=mobod.name,
                parent=parent,
                nu=mobod.get_num_u(state),
                X_PF=X_PF,
                X_BM=X_BM,
                mass=float(properties.mass),
                com=np.asarray(properties.com),
                inertia=np.asarray(properties.central_inertia),
                decorations=decorations,
            )
        )
    return links


def _read_constraints(system: MultibodySystem, state: State, links: Sequence[Link]) -> list[Segment]:
    """Put the decorations of the enabled constraints on the links of their bodies; return the lines between bodies.

    The points by which they hold a body are put on its link too: a point or a ball that is drawn on it, and the end of a
    line to another body. A line, a plane or a frame alone tells of no point.
    """
    ties: list[Segment] = []
    matter = system.get_matter_subsystem()
    for i in range(matter.get_num_constraints()):
        constraint = matter.get_constraint(i)
        if constraint.is_disabled(state):
            continue
        links[0].marks += constraint.calc_decorations(state)
        for body, geometry in constraint.marks(state):
            link = links[body.get_mobilized_body_index()]
            link.marks.append(geometry)
            if isinstance(geometry, Point):
                link.held.append(np.asarray(geometry.X @ geometry.point, dtype=np.float64))
            elif isinstance(geometry, Sphere):
                link.held.append(np.asarray(geometry.X.p, dtype=np.float64))
        for one, point, other, other_point, color in constraint.lines(state):
            bodies = one.get_mobilized_body_index(), other.get_mobilized_body_index()
            ends = np.array([point, other_point], dtype=np.float64)
            for index, end in zip(bodies, ends, strict=True):
                links[index].held.append(end)
            ties.append(Segment(bodies, ends, COLORS[color], 2.5))
    return ties


def _divide(points: Array, normals: Array, longest: float) -> tuple[Array, Array]:
    """Halve faces (n, 3, 3) at their longest edges until no edge is longer, or three times; normals at corners likewise."""
    for _ in range(3):
        lengths = np.linalg.norm(points - np.roll(points, -1, axis=1), axis=2)  # of the edge that begins at each corner
        long = lengths.max(axis=1) > longest
        if not long.any():
            break
        rows, a = np.arange(int(long.sum())), np.argmax(lengths[long], axis=1)
        b, c = (a + 1) % 3, (a + 2) % 3
        halves = []
        for array in (points, normals):
            one = array[long]
            start, end, apex = one[rows, a], one[rows, b], one[rows, c]
            middle = 0.5 * (start + end)
            two = [np.stack([start, middle, apex], axis=1), np.stack([middle, end, apex], axis=1)]
            halves.append(np.concatenate([array[~long], *two]))
        points, normals = halves
    return points, normals


def _join(parts: Sequence[Any], empty: tuple[int, ...]) -> Array:
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts]) if parts else np.zeros(empty)
