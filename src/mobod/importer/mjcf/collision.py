"""Geoms as surfaces of contact, where they are asked for: contype and conaffinity, exclusions and pairs as in the file.

Two geoms may touch where one's contype has a bit in common with the other's conaffinity, they are on bodies that can move
against each other, neither body is the other's parent (unless that is the world), and the file does not exclude the bodies;
or where the file pairs them. Bodies of which no two geoms may touch exclude each other; of other bodies, geoms that may not
touch have a clique in common. Materials are the reader's: MuJoCo's solref and solimp are of its solver.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ... import contact
from ...errors import ModelError
from ...force.contact.subsystem import CompliantContactSubsystem
from ...value import Transform
from ..model import Model
from .bodies import Tree
from .geoms import geom_frame, mesh_arrays
from .source import Source, listed, plural

#: Stiffness and dissipation of all surfaces, unless a material is given; friction is the geom's.
STIFFNESS, DISSIPATION = 1e7, 1.0
#: What those are: see `Report.lose`.
_LEFT = "geoms of contact, which touch nothing"


def add_surfaces(source: Source, tree: Tree, model: Model, material: Any) -> None:
    """Give bodies the surfaces of the geoms that may touch something, and the system contacts."""
    if material is not None and not isinstance(material, contact.Material):
        raise TypeError(f"collision_material has to be a contact.Material(stiffness, ...), not {material!r}")
    model.contacts = CompliantContactSubsystem(model.system)
    if source.disabled("CONTACT"):
        return
    m = source.m
    pairs = {frozenset((int(a), int(b))) for a, b in zip(m.pair_geom1, m.pair_geom2, strict=True)}
    paired = {g for pair in pairs for g in pair}
    candidates = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g] or g in paired]
    shapes: dict[int, tuple[contact.Shape, Transform]] = {}
    left = []
    for g in candidates:
        found = None if source.geoms[g] in source.stand_ins else _shape(source, g)
        if found is None:
            left.append(source.geoms[g])
        else:
            shapes[g] = found
    bodies = m.geom_bodyid.tolist()
    may = {pair for pair in combinations(shapes, 2) if bodies[pair[0]] != bodies[pair[1]] and _may_touch(source, *pair, pairs)}
    touched = {g for pair in may for g in pair}
    touching = [g for g in shapes if g in touched]
    between = {frozenset((bodies[a], bodies[b])) for a, b in may}
    cliques: dict[int, list[str]] = {g: [] for g in touching}
    for a, b in combinations(touching, 2):
        if bodies[a] != bodies[b] and frozenset((bodies[a], bodies[b])) in between and (a, b) not in may:
            for g in (a, b):
                cliques[g].append(f"geoms {a} and {b}")
    for g in touching:
        shape, X = shapes[g]
        velocity = m.geom_surfacevel[g, :3] if np.any(m.geom_surfacevel[g, :3]) else None
        own = material or _material(m, g)
        surface = contact.Surface(shape, own, cliques=cliques[g], name=source.geoms[g], velocity=velocity, draws=False)
        tree.bodies[bodies[g]].add_contact_surface(surface, X)
    model.contacts.set_adjacent_bodies_touch(True)
    for one, other in combinations(sorted({bodies[g] for g in touching}), 2):
        if frozenset((one, other)) not in between:
            model.contacts.exclude(tree.bodies[one], tree.bodies[other])
    source.depart(
        f"{plural(len(touching), 'geom')}: surfaces of contact, of a material that gives way"
        f"{'' if material else f' (stiffness {STIFFNESS:g})'}; solref, solimp, margin, gap left out"
    )
    _report(source, touching, pairs)
    if left:
        source.lose(f"{plural(len(left), 'geom')} {listed(left)}: no surface of contact", _LEFT, len(left))


def _material(m: Any, g: int) -> contact.Material:
    """Of a geom: torsional and rolling friction where its condim has them."""
    friction, spinning, rolling = (float(x) for x in m.geom_friction[g])
    dimension = int(m.geom_condim[g])
    return contact.Material(
        STIFFNESS,
        DISSIPATION,
        static_friction=friction,
        dynamic_friction=friction,
        spinning_friction=spinning if dimension >= 4 else 0.0,
        rolling_friction=rolling if dimension >= 6 else 0.0,
    )


def _report(source: Source, touching: list[int], pairs: set[frozenset[int]]) -> None:
    """Report parameters of the file's surfaces that materials do not have."""
    m = source.m
    turning = m.geom_surfacevel[:, 3:]
    for field, what in (
        (turning, "rotation of the surface"),
        (m.geom_adhesion, "adhesion"),
        (m.geom_priority, "priority"),
        (m.geom_condim == 1, "contact without friction"),
    ):
        names = [source.geoms[g] for g in touching if np.any(field[g])]
        if names:
            source.depart(f"{what} of {plural(len(names), 'geom')} {listed(names)}: left out")
    if pairs:
        source.depart(
            f"friction and other numbers of {plural(len(pairs), 'pair')} of geoms: left out, those of the geoms count"
        )


def _may_touch(source: Source, a: int, b: int, pairs: set[frozenset[int]]) -> bool:
    m = source.m
    if frozenset((a, b)) in pairs:
        return True
    if not (m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]):
        return False
    one, other = int(m.geom_bodyid[a]), int(m.geom_bodyid[b])
    weld_one, weld_other = int(m.body_weldid[one]), int(m.body_weldid[other])
    if weld_one == weld_other:
        return False
    if not source.disabled("FILTERPARENT"):
        parents = [int(m.body_weldid[m.body_parentid[weld]]) for weld in (weld_one, weld_other)]
        if weld_one and weld_other and (parents[0] == weld_other or parents[1] == weld_one):
            return False
    low, high = min(one, other), max(one, other)
    signatures = m.exclude_signature.tolist()
    return (low << 16) + high not in signatures and (high << 16) + low not in signatures


def _shape(source: Source, g: int) -> tuple[contact.Shape, Transform] | None:
    m, kinds = source.m, source.mujoco.mjtGeom
    kind, size, X = int(m.geom_type[g]), [float(x) for x in m.geom_size[g]], geom_frame(source, g)
    makers: dict[Any, Any] = {
        kinds.mjGEOM_PLANE: contact.HalfSpace,
        kinds.mjGEOM_SPHERE: lambda: contact.Sphere(size[0]),
        kinds.mjGEOM_CAPSULE: lambda: contact.Capsule(size[0], size[1]),
        kinds.mjGEOM_CYLINDER: lambda: contact.Cylinder(size[0], size[1]),
        kinds.mjGEOM_BOX: lambda: contact.Brick(size),
        kinds.mjGEOM_ELLIPSOID: lambda: contact.Ellipsoid(size),
        kinds.mjGEOM_MESH: lambda: contact.ConvexHull(mesh_arrays(source, int(m.geom_dataid[g]))[0]),
        kinds.mjGEOM_HFIELD: lambda: _field(source, int(m.geom_dataid[g])),
    }
    for own, make in makers.items():
        if kind == int(own):
            try:
                return make(), X
            except (ValueError, ModelError) as error:
                source.lose(f"geom {source.geoms[g]!r} is no surface of contact: {error}", _LEFT)
    return None


def _field(source: Source, h: int) -> contact.Shape:
    m = source.m
    rows, columns, first = int(m.hfield_nrow[h]), int(m.hfield_ncol[h]), int(m.hfield_adr[h])
    x_half, y_half, top, _ = (float(size) for size in m.hfield_size[h])
    z = top * np.array(m.hfield_data[first : first + rows * columns], float).reshape(rows, columns)
    return contact.HeightField(np.linspace(-x_half, x_half, columns), np.linspace(-y_half, y_half, rows), z.T)
