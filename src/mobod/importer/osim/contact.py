"""Contact shapes, and the forces between them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ... import contact, force
from ...errors import ModelError
from ...force.smooth_sphere_half_space import DYNAMIC
from ...mobilizer.base import MobilizedBody
from ...value import Rotation, Transform
from ...value.checks import suggest
from .building import Building, Shape
from .document import Item

KINDS = ("ContactSphere", "ContactHalfSpace", "ContactMesh", "ContactEllipsoid", "ContactCylinder", "ContactTorus")
#: What those are that touch nothing: see `Report.lose`.
_SHAPES = "contact shapes, which touch nothing"
#: The shapes between which OpenSim's forces act; others may be listed there.
_TAKEN = {
    "HuntCrossleyForce": (contact.Sphere, contact.HalfSpace, contact.Ellipsoid),
    "ElasticFoundationForce": (contact.Sphere, contact.HalfSpace, contact.TriangleMesh),
}
#: What takes the z axis to where a half-space of OpenSim's ends: against its x axis.
_OUTWARD = Transform(Rotation.about_axis(-0.5 * math.pi, (0.0, 1.0, 0.0)))


def read_shapes(build: Building) -> None:
    """Read the shapes that contact forces name; one that cannot be used is reported."""
    for item in build.components.all(*KINDS):
        item.is_read = True
        body, X_BF = build.frame(item, "frame")
        R = Rotation.from_body_fixed_xyz(item.finite("orientation", (0.0, 0.0, 0.0)))
        X = X_BF @ Transform(R, item.finite("location", (0.0, 0.0, 0.0)))
        try:
            geometry = _read_geometry(build, item)
        except (OSError, ValueError, ModelError, ImportError) as error:
            build.lose(item, f"{item.tag} {item.name!r} touches nothing: {error}", _SHAPES)
            geometry = None
        build.shapes[build.components.name_of(item)] = Shape(item, body, X, geometry)
    for item in build.document.objects("ContactGeometrySet"):
        if not item.is_read:
            build.lose(item, f"a contact shape of a kind that is not known, {item.tag}; known are {', '.join(KINDS)}", _SHAPES)


def _read_geometry(build: Building, item: Item) -> contact.Shape | None:
    match item.tag:
        case "ContactSphere":
            return contact.Sphere(item.number("radius", math.nan))
        case "ContactHalfSpace":
            return contact.HalfSpace((-1.0, 0.0, 0.0))
        case "ContactEllipsoid":
            return contact.Ellipsoid(item.vector("radii", (math.nan,) * 3))
        case "ContactTorus":
            return contact.Torus(item.number("torus_radius", math.nan), item.number("tube_radius", math.nan))
        case "ContactCylinder":
            return contact.Cylinder(item.number("radius", math.nan), math.inf)
        case _:
            return contact.TriangleMesh.from_file(Path(build.path).parent / item.text("filename"))


def find_shape(build: Building, owner: Item, named: str) -> Shape:
    """Find a shape by its name or path."""
    last = named.rpartition("/")[2]
    shape = build.shapes.get(last)
    if shape is None:
        owner.refuse(
            f"{owner.tag} {owner.name!r} names the contact shape {named!r}, and there is none; "
            f"{suggest(last, list(build.shapes))}"
        )
    return shape


def material_of(build: Building, item: Item) -> contact.Material:
    """Read a material; friction that grows with sliding is taken as it is."""
    names = ("stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction")
    values = {name: item.number(name, 0.0) for name in names}
    static, dynamic = values["static_friction"], values["dynamic_friction"]
    made = contact.Material(**{**values, "dynamic_friction": min(static, dynamic)})
    if dynamic > static:
        object.__setattr__(made, "dynamic_friction", dynamic)
        build.report.append(
            item.note(f"dynamic friction, {dynamic:g}, is more than static friction, {static:g}: both are taken as they are")
        )
    return made


def listed_surfaces(build: Building, item: Item, name: str) -> Callable[..., force.base.Force] | None:
    """HuntCrossleyForce and ElasticFoundationForce: a material for each group of shapes; all these touch each other."""
    is_mesh = item.tag == "ElasticFoundationForce"
    placed: list[tuple[MobilizedBody, contact.Surface, Transform]] = []
    of_meshes: contact.Material | None = None
    groups = next((group for group in item.children if group.tag.endswith("ContactParametersSet")), None)
    inner = None if groups is None else groups.find("objects")
    if groups is not None:
        groups.is_read = True
    pairs: list[tuple[Shape, contact.Material | None]] = []
    for parameters in [] if inner is None else inner.children:
        parameters.is_read = True
        shapes = [find_shape(build, item, one) for one in parameters.word_list("geometry")]
        has_mesh = any(isinstance(one.geometry, contact.TriangleMesh) for one in shapes)
        if is_mesh and not has_mesh:
            parameters.read_all()
            pairs += [(one, None) for one in shapes]
            continue
        made = material_of(build, parameters)
        of_meshes = of_meshes or made
        pairs += [(one, made) for one in shapes]
    usual = of_meshes or contact.Material(1.0)
    for shape, made_of in pairs:
        if shape.geometry is None:
            continue
        if not isinstance(shape.geometry, _TAKEN[item.tag]):
            taken = "; an ElasticFoundationForce takes it" if isinstance(shape.geometry, contact.TriangleMesh) else ""
            build.report.append(
                item.note(
                    f"{item.tag} {item.name!r} leaves out the {shape.item.tag} {shape.item.name!r}, as OpenSim does, whose law "
                    f"has no such shape{taken}"
                )
            )
            continue
        placed.append((shape.body, contact.Surface(shape.geometry, made_of or usual), shape.X_BS))
    speed = item.number("transition_velocity", 0.01)
    kind = force.ElasticFoundation if is_mesh else force.HuntCrossley
    if is_mesh and not any(isinstance(surface.geometry, contact.TriangleMesh) for _, surface, _ in placed):
        build.lose(
            item, f"ElasticFoundationForce {item.name!r} has no mesh that could be read, so that nothing touches", _SHAPES
        )
        return None
    return partial(kind, build.model.forces, placed, speed)


def smooth_sphere(build: Building, item: Item, name: str) -> Callable[..., force.base.Force]:
    """SmoothSphereHalfSpaceForce."""
    sphere, space = (find_shape(build, item, item.text(f"socket_{socket}")) for socket in ("sphere", "half_space"))
    for tag in ("force_visualization_radius", "force_visualization_scale_factor"):
        item.find(tag)
    if not isinstance(sphere.geometry, contact.Sphere):
        item.refuse(
            f"SmoothSphereHalfSpaceForce {item.name!r} takes a ContactSphere; {sphere.item.name!r} is a {sphere.item.tag}"
        )
    material = material_of(build, item)
    usual = {
        "transition_velocity": 0.01,
        "constant_contact_force": 1e-5,
        "hertz_smoothing": 300.0,
        "hunt_crossley_smoothing": 50.0,
    }
    own: dict[str, Any] = {tag: item.number(tag, value) for tag, value in usual.items()}
    center, radius, X = np.asarray(sphere.X_BS.p), sphere.geometry.radius, space.X_BS @ _OUTWARD
    smaller = dataclasses.replace(material, dynamic_friction=min(material.dynamic_friction, material.static_friction))

    def make(**options: Any) -> force.base.Force:
        made = force.SmoothSphereHalfSpace(
            build.model.forces, sphere.body, center, radius, space.body, X, smaller, **own, **options
        )
        made.default_numbers[DYNAMIC] = material.dynamic_friction  # it may be the larger one here
        return made

    return make
