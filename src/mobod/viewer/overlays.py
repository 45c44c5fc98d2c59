"""Overlays of a mechanism: frames, mass centers, inertia ellipsoids, joint axes, names, collision shapes, forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import decoration
from ..algebra.arrays import Array
from ..decoration.geometry import Plane
from ..force.contact.of_system import find_contacts
from ..shapes.contact_arrows import calc_forces, find_pushes, limit_arrows
from ..shapes.normals import split_at_creases
from ..value import Rotation, Transform
from ..value.stage import Stage
from .bodies import Bodies

if TYPE_CHECKING:
    from viser import ViserServer

    from ..state.state import State
    from ..system.system import MultibodySystem
    from ..value.annotations import Model

_FINE = 1.5  # resolution of spheres
_AXES, _FORCES, _COLLISION, _ELLIPSOID = (150, 60, 190), (230, 90, 0), (60, 160, 90), (70, 110, 200)
_WRAP = (80, 190, 200)


class Overlays:
    """Overlays of the bodies, each kind made when it is first asked for.

    Parameters
    ----------
    server : ViserServer
    system : MultibodySystem
    bodies : Bodies
    state : State
        At Stage.POSITION or above.
    wraps : sequence of (int, Decoration)
        Surfaces that paths bend over: a body's number, and the surface in its frame.
    """

    NAMES = (
        "frames",
        "mass centers",
        "inertia ellipsoids",
        "joint axes",
        "names",
        "collision shapes",
        "contact forces",
        "wrap surfaces",
    )

    def __init__(
        self,
        server: ViserServer,
        system: MultibodySystem,
        bodies: Bodies,
        state: State,
        wraps: Sequence[tuple[int, decoration.Decoration]] = (),
    ) -> None:
        self._scene = server.scene
        self._system, self._bodies = system, bodies
        self._size = bodies.mechanism.size
        self._made: dict[str, list[Any]] = {}
        self._shown: set[str] = set()
        self._makers: dict[str, Callable[[State], list[Any]]] = {
            "frames": self._make_frames,
            "mass centers": self._make_mass_centers,
            "inertia ellipsoids": self._make_ellipsoids,
            "names": self._make_names,
            "collision shapes": self._make_collision_shapes,
            "joint axes": self._make_axes,
            "contact forces": self._make_forces,
            "wrap surfaces": lambda _: [
                self._add_shape(f"{bodies.name_of(b)}/wrap{number}", one, _WRAP, 0.4) for number, (b, one) in enumerate(wraps)
            ],
        }
        self._contacts, self._pushes = find_contacts(system), find_pushes(system)
        self._force_scale = 0.0

    def show(self, name: str, yes: bool, state: State) -> None:
        """Show one kind, or do not."""
        if yes and name not in self._made:
            self._made[name] = self._makers[name](state)
        for node in self._made.get(name, []):
            node.visible = yes
        (self._shown.add if yes else self._shown.discard)(name)
        self.update(state)

    def explain_nothing(self, name: str) -> str:
        """Why there is nothing to see of one kind, where there is nothing."""
        if name == "contact forces" and self._contacts is None and not self._pushes:
            return "This system has no contact surfaces and no measured loads, so that there are no contact forces."
        if name == "collision shapes" and not self._made[name]:
            return "This system has no collision shapes. Files' own are read with collision=True, and by mobod view --floor."
        if name == "wrap surfaces" and not self._made[name]:
            return "This model has no wrap objects: OpenSim's files have such."
        if name == "joint axes" and len(self._made[name][0].points) < 2:
            return "No joint of this system has an axis: none has one to three speeds."
        return ""

    def update(self, state: State) -> None:
        """Bring what does not move with one body to a new pose."""
        if "joint axes" in self._shown:
            self._made["joint axes"][0].points = self._place_axes(state)
        if "contact forces" in self._shown:
            (node,) = self._made["contact forces"]
            arrows = self._place_forces(state)
            node.visible = len(arrows) > 0
            if len(arrows):
                node.points = arrows.astype(np.float32)

    # ------------------------------------------------------------------------------------------ what moves with a body

    def _make_frames(self, state: State) -> list[Any]:
        length = 0.06 * self._size
        return [
            self._scene.add_frame(f"{self._bodies.name_of(b)}/frame", axes_length=length, axes_radius=0.03 * length)
            for b in range(len(self._bodies.frames))
        ]

    def _make_mass_centers(self, state: State) -> list[Any]:
        made = []
        for b, link in enumerate(self._bodies.mechanism.links):
            if link.mass > 0.0:
                name, place = f"{self._bodies.name_of(b)}/center", tuple(link.com)
                ball = self._scene.add_icosphere(name, radius=0.01 * self._size, color=(20, 20, 20), position=place)
                made.append(ball)
        return made

    def _make_ellipsoids(self, state: State) -> list[Any]:
        """Those of equal density that have the body's mass and inertia: I_x = m (b^2 + c^2) / 5, and so on round."""
        made = []
        vertices, triangles = decoration.Sphere(1.0).calc_mesh(_FINE)
        for b, link in enumerate(self._bodies.mechanism.links):
            if not link.mass > 0.0 or link.inertia is None:
                continue
            moments, axes = np.linalg.eigh(link.inertia)
            radii = np.sqrt(np.maximum(2.5 * (moments.sum() - 2.0 * moments) / link.mass, 0.0))
            if not radii.max() > 0.0:
                continue
            axes = axes * np.linalg.det(axes)
            points = (vertices * np.maximum(radii, 0.01 * radii.max())) @ axes.T + link.com
            made.append(self._add(f"{self._bodies.name_of(b)}/ellipsoid", points, triangles, _ELLIPSOID, 0.35))
        return made

    def _make_names(self, state: State) -> list[Any]:
        links = self._bodies.mechanism.links
        return [
            self._scene.add_label(f"{self._bodies.name_of(b)}/name", link.name, position=tuple(link.com))
            for b, link in enumerate(links)
            if b
        ]

    def _make_collision_shapes(self, state: State) -> list[Any]:
        made = []
        for b, mobod in enumerate(self._system.get_matter_subsystem().bodies):
            for k, (surface, X_BS) in enumerate(mobod.get_body().contact_surfaces):
                for number, (geometry, X_SD) in enumerate(surface.geometry.decorations()):
                    vertices, triangles = geometry.calc_mesh(_FINE)
                    if not len(triangles) or isinstance(geometry, Plane):
                        continue
                    points = np.asarray(X_BS @ (X_SD @ vertices))
                    name = f"{self._bodies.name_of(b)}/collision{k}_{number}"
                    made.append(self._add(name, points, triangles, _COLLISION, 0.45))
        return made

    def _add_shape(self, name: str, shape: decoration.Decoration, color: tuple[int, int, int], opacity: float) -> Any:
        vertices, triangles = shape.calc_mesh(_FINE)
        return self._add(name, vertices, triangles, color, opacity)

    def _add(self, name: str, points: Array, triangles: Any, color: tuple[int, int, int], opacity: float) -> Any:
        points, triangles, _ = split_at_creases(points, triangles)
        return self._scene.add_mesh_simple(
            name, points, triangles.astype(np.uint32), color=color, opacity=opacity, cast_shadow=False
        )

    # ------------------------------------------------------------------------------------------ what is placed at each pose

    def _make_axes(self, state: State) -> list[Any]:
        name, lines = f"{self._bodies.root}/axes", self._place_axes(state)
        return [self._scene.add_line_segments(name, lines, _AXES, thickness=3.0, thickness_units="screen")]

    def _place_axes(self, state: State) -> Array:
        """Lines (n, 2, 3) through the origins of frames M, along each direction about or along which a speed moves it."""
        half, lines = 0.08 * self._size, [np.zeros((2, 3))]
        for mobod in list(self._system.get_matter_subsystem().bodies)[1:]:
            nu = mobod.get_num_u(state)
            if not 1 <= nu <= 3:
                continue
            R_GF = mobod.get_parent_mobilized_body().get_body_rotation(state) @ mobod.get_inboard_frame(state).R
            origin = mobod.find_station_location_in_ground(state, mobod.get_outboard_frame(state).p)
            for k in range(nu):
                angular, linear = mobod.get_h_fm_col(state, k)
                along = np.asarray(R_GF) @ (angular if np.linalg.norm(angular) > 1e-9 else linear)
                length = float(np.linalg.norm(along))
                if length > 0.0:
                    lines.append(np.stack([origin - half / length * along, origin + half / length * along]))
        return np.array(lines)

    def _make_forces(self, state: State) -> list[Any]:
        size = self._size
        return [
            self._scene.add_arrows(
                f"{self._bodies.root}/forces",
                np.array([[(0.0, 0.0, 0.0), (0.0, 0.0, 1e-6)]]),
                _FORCES,
                shaft_radius=0.004 * size,
                head_radius=0.012 * size,
                head_length=0.03 * size,
            )
        ]

    def _place_forces(self, state: State) -> Array:
        self._system.realize(state, Stage.VELOCITY)
        points, forces = calc_forces(self._contacts, self._pushes, state)
        largest = float(np.linalg.norm(forces, axis=1).max(initial=0.0))
        if largest > 0.0:  # a scale that follows slowly, so that arrows do not jump
            wanted = 0.25 * self._size / largest
            self._force_scale = wanted if self._force_scale == 0.0 else min(1.02 * self._force_scale, 2.4 * wanted)
        return limit_arrows(points, self._force_scale * forces, 0.6 * self._size)


def find_wraps(model: Model | None) -> list[tuple[int, decoration.Decoration]]:
    """The surfaces of a model's file that paths bend over: the body of each, and what it looks like there."""
    wraps = (model.data if model else {}).get("wrap objects", {}).values()
    shapes = [(one.body.index, _shape_of(one.kind, one.dimensions, one.X_BW)) for one in wraps if one.active]
    return [(body, shape) for body, shape in shapes if shape is not None]


def _shape_of(kind: str, sizes: Mapping[str, Any], X: Transform) -> decoration.Decoration | None:
    if kind == "WrapCylinder":  # along z, decorations' along y
        return decoration.Cylinder(
            sizes["radius"], 0.5 * sizes["length"], X=X @ Transform(Rotation.from_body_fixed_xyz((0.5 * np.pi, 0.0, 0.0)))
        )
    if kind == "WrapSphere":
        return decoration.Sphere(sizes["radius"], X=X)
    if kind == "WrapEllipsoid":
        return decoration.Ellipsoid(sizes["dimensions"], X=X)
    if kind == "WrapTorus":
        inner, outer = sizes["inner_radius"], sizes["outer_radius"]
        return decoration.Torus(0.5 * (inner + outer), 0.5 * (outer - inner), X=X)
    return None
