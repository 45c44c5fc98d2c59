"""Shapes: what they refuse, the boxes that contain them, what they are drawn as."""

import numpy as np
import pytest
from scenes import DIRECTIONS, SHAPES, TORUS, cloud, support

import mobod as mb
from mobod.contact.pairs._core import cell, core_of, support as farthest

contact = mb.contact
BAD = (0.0, -1.0, np.nan, np.inf)


@pytest.mark.parametrize("value", BAD)
def test_lengths_are_above_zero_and_finite(value):
    for make in (
        lambda: contact.Capsule(value, 1.0),
        lambda: contact.Capsule(1.0, value),
        lambda: contact.Cylinder(value, 1.0),
        lambda: contact.Brick((1.0, value, 1.0)),
        lambda: contact.Ellipsoid((1.0, 1.0, value)),
        lambda: contact.Torus(value, 0.1),
        lambda: contact.Torus(1.0, value),
    ):
        with pytest.raises(mb.ModelError):
            make()
    if value == np.inf:
        assert contact.Cylinder(1.0, value).is_unbounded
    else:
        with pytest.raises(mb.ModelError, match="half_length"):
            contact.Cylinder(1.0, value)


def test_what_is_no_length_is_a_type_error():
    for make in (lambda: contact.Capsule("1", 1.0), lambda: contact.Brick("abc"), lambda: contact.ConvexHull("abc")):
        with pytest.raises(TypeError):
            make()
    for make in (lambda: contact.Brick((1.0, 1.0)), lambda: contact.Ellipsoid(1.0)):
        with pytest.raises(ValueError, match="shape"):
            make()


def test_a_torus_has_a_hole():
    with pytest.raises(mb.ModelError, match=r"tube_radius.*less than torus_radius, 0\.5"):
        contact.Torus(0.5, 0.5)


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((0, 3)),
        np.zeros((8, 3)),
        np.eye(3),
        [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0.5, 0.5, 0)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, np.nan)],
        np.ones(3),
    ],
)
def test_hulls_of_flat_or_bad_points_are_refused(points):
    with pytest.raises(mb.ModelError, match="ConvexHull"):
        contact.ConvexHull(points)


def test_a_hull_has_polygons_for_faces():
    hull = SHAPES["table"]
    assert len(hull.vertices) == 8 and sorted(map(len, hull.faces)) == [4] * 6
    for face, plane in zip(hull.faces, hull.planes, strict=True):
        a, b, c = hull.vertices[list(face[:3])]
        outward = np.cross(b - a, c - b)
        assert np.allclose(outward / np.linalg.norm(outward), plane[:3])
        assert (hull.vertices @ plane[:3] <= plane[3] + 1e-15).all()
    inside = contact.ConvexHull(np.vstack([hull.vertices, np.zeros((1, 3))]))
    assert len(inside.vertices) == 8
    far = contact.ConvexHull(cloud(30, (1e-3, 2e-3, 1e-3)) + 1.0)
    assert len(far.vertices) == 30


@pytest.mark.parametrize("name", [*SHAPES, "torus"])
def test_boxes_contain_their_shapes_tightly(name):
    shape = SHAPES.get(name, TORUS)
    center, half = map(np.asarray, shape.bounds())
    axes = np.eye(3)
    assert np.allclose(support(shape, axes), center + half, atol=1e-15)
    assert np.allclose(support(shape, -axes), half - center, atol=1e-15)


@pytest.mark.parametrize("name", [*SHAPES, "torus", "endless"])
def test_they_look_as_they_are(name):
    shape = contact.Cylinder(0.3, np.inf) if name == "endless" else SHAPES.get(name, TORUS)
    parts = [np.asarray(X @ one.calc_mesh()[0]) for one, X in shape.decorations()]
    vertices = np.vstack(parts)
    if name == "endless":
        assert np.abs(vertices[:, 2]).max() > 5.0
        return
    reach = (vertices @ DIRECTIONS.T).max(axis=0)
    expected = support(shape, DIRECTIONS)
    # a drawn sphere is a polyhedron inside it
    assert (reach <= expected + 1e-12).all() and (reach > 0.85 * expected).all()


def test_two_endless_surfaces_are_refused():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    mb.CompliantContactSubsystem(system)
    rubber = contact.Material(1e5)
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    body.add_contact_surface(contact.Surface(contact.Cylinder(0.1, np.inf), rubber))
    matter.ground.add_contact_surface(contact.Surface(contact.HalfSpace(), rubber))
    with pytest.raises(mb.ModelError, match="Cylinder"):
        system.realize_topology()


def test_of_a_hull_the_farthest_vertex_is_found_from_any_other_one(rng):
    """Those that are climbed are so from a cell of directions, wherever the search was last."""
    hull = mb.contact.ConvexHull(rng.normal(size=(200, 3)))
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    mb.CompliantContactSubsystem(system)
    matter.ground.add_contact_surface(mb.contact.Surface(hull, mb.contact.Material(1.0)))
    record = system.realize_topology().record
    core = core_of(record, 0, 0, 0)
    axes = np.concatenate([np.eye(3), -np.eye(3), [(1.0, 1.0, 1.0), (-1.0, 1.0, -1.0), (0.0, -1.0, 1.0)]])
    ways = np.concatenate([axes, rng.normal(size=(100, 3)), np.zeros((1, 3)), np.full((1, 3), np.nan)])
    begun = farthest_in_cell = 0
    for d in ways:
        most = (hull.vertices @ d).max()
        _, v = farthest(record, core, tuple(d.tolist()), int(rng.integers(len(hull.vertices))))
        assert 0 <= v < len(hull.vertices)
        if np.isfinite(d).all():
            assert hull.vertices[v] @ d >= most - 1e-15
            first = hull.integers()[hull.integers()[5] + cell(tuple(d.tolist()))]
            begun += 1
            farthest_in_cell += hull.vertices[first] @ d > 0.8 * most
    assert farthest_in_cell > 0.9 * begun, "a cell is where its directions are"
