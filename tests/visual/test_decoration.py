"""Decorations: checked data, and closed surfaces of the right size."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import decoration

TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
ARROW = decoration.Arrow((0, 0, 0), (0, 0, 2), tip_length=0.5)
SOLIDS = [
    (decoration.Sphere(2.0), 4 / 3 * np.pi * 8),
    (decoration.Ellipsoid((1, 2, 3)), 4 / 3 * np.pi * 6),
    (decoration.Brick((1, 2, 3)), 48.0),
    (decoration.Cylinder(2.0, 3.0), np.pi * 4 * 6),
    (decoration.Cone((1, 2, 3), (1, 0, 0), height=3.0, base_radius=2.0), np.pi * 4),
    (decoration.Torus(3.0, 0.5), 2 * np.pi**2 * 3 * 0.25),
    (ARROW, np.pi * 0.15**2 * 0.5 / 3),
    (decoration.Mesh(*TETRAHEDRON), 1 / 6),
    (decoration.Brick((1, 1, 1), scale=(-1, 2, 3)), 48.0),  # a mirror leaves the outside outside
]


def calc_volume(vertices, triangles):
    """Divergence theorem: positive only if faces are counter-clockwise seen from outside."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize(("solid", "volume"), SOLIDS, ids=lambda value: type(value).__name__)
def test_a_surface_is_closed_and_encloses_its_volume(solid, volume):
    vertices, triangles = solid.calc_mesh(resolution=4)
    # polygons with 64 and more sides lie up to 1 % within their circles, the tube of a torus with 36 up to 2 %
    assert_allclose(calc_volume(vertices, triangles), volume, rtol=0.03)
    assert solid.is_closed


def test_placement_and_scale_apply_in_turn():
    X = mb.Transform(mb.Rotation.about_axis(np.pi / 2, "z"), (10, 0, 0))
    vertices, _ = decoration.Brick((1, 1, 1), X=X, scale=(1, 2, 3)).calc_mesh()
    assert_allclose(np.ptp(vertices, axis=0), (4, 2, 6), atol=1e-12)
    assert_allclose(vertices.mean(axis=0), (10, 0, 0), atol=1e-12)
    (line,) = decoration.Line((0, 0, 0), (1, 0, 0), X=X, scale=2).calc_lines()
    assert_allclose(line, [(10, 0, 0), (10, 2, 0)], atol=1e-12)


def test_a_cylinder_is_along_y_and_a_circle_in_the_xy_plane():
    vertices, _ = decoration.Cylinder(1, 5).calc_mesh()
    assert_allclose(np.ptp(vertices, axis=0), (2, 10, 2))
    (line,) = decoration.Circle(2).calc_lines()
    assert_allclose(np.linalg.norm(line[:, :2], axis=1), 2.0)
    assert_array_equal(line[:, 2], 0.0)
    assert_allclose(line[0], line[-1], atol=1e-12)


def test_resolution_changes_what_is_round():
    few, many = (len(decoration.Sphere().calc_mesh(resolution)[1]) for resolution in (0.5, 2))
    assert few < many
    assert len(decoration.Brick().calc_mesh(4)[1]) == 12


def test_a_mesh_with_a_hole_is_not_closed():
    assert not decoration.Mesh(TETRAHEDRON[0], TETRAHEDRON[1][:3]).is_closed


def test_colors_by_name_by_number_and_by_hexadecimal():
    sphere = decoration.Sphere(color="Grey")
    assert sphere.color == (0.5, 0.5, 0.5)
    sphere.color = "#ff0033"
    assert sphere.color == (1.0, 0.0, 0.2)
    sphere.color = np.array([0, 0.5, 1])
    assert sphere.color == (0.0, 0.5, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: decoration.Sphere(0), "Sphere.radius must be positive; it is 0"),
        (lambda: decoration.Sphere(np.nan), "Sphere.radius must be finite"),
        (lambda: decoration.Brick((1, -1, 1)), "Brick.half_lengths must be positive"),
        (lambda: decoration.Brick((1, 1)), "Brick.half_lengths must have the shape"),
        (lambda: decoration.Sphere(color="reddish"), "Sphere.color must be red, green and blue .* it is 'reddish'"),
        (lambda: decoration.Sphere(color="#12345g"), "Sphere.color must be"),
        (lambda: decoration.Sphere(color=(255, 0, 0)), "Sphere.color must be between 0 and 1"),
        (lambda: decoration.Sphere(opacity=2), "Sphere.opacity must be between 0 and 1; it is 2"),
        (lambda: decoration.Sphere(scale=(1, 0, 1)), "Sphere.scale must not be zero"),
        (lambda: decoration.Sphere(representation="solid"), "Sphere.representation must be one of surface, wireframe"),
        (lambda: decoration.Arrow((1, 2, 3), (1, 2, 3)), "Arrow needs two different points"),
        (lambda: decoration.Cone(direction=(0, 0, 0)), "Cone.direction must have a direction"),
        (lambda: decoration.Mesh([(0, 0, 0)], [(0, 0, 1)]), r"must index the 1 vertices; face 0 is \(0, 0, 1\)"),
        (lambda: decoration.Mesh([(0, 0, 0)], [(0, 0)]), "three vertices or more each; face 0 has 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_assignment_is_checked_too_and_a_failed_one_changes_nothing():
    sphere = decoration.Sphere(2.0)
    with pytest.raises(ValueError, match=r"Sphere\.radius must be positive"):
        sphere.radius = -1.0
    assert sphere.radius == 2.0


def test_the_base_class_and_wrong_types_are_refused():
    with pytest.raises(TypeError, match="Decoration is not created by itself"):
        decoration.Decoration()
    with pytest.raises(TypeError, match=r"Text.text must be a string, not 3"):
        decoration.Text(3)
    with pytest.raises(TypeError):
        decoration.Mesh([(0, 0, 0)])


def test_decorations_can_be_copied_pickled_and_read():
    brick = decoration.Brick((1, 2, 3), color="red", X=mb.Transform((1, 0, 0)))
    for other in (copy.deepcopy(brick), pickle.loads(pickle.dumps(brick))):
        assert_array_equal(other.half_lengths, (1, 2, 3))
        assert other.X == brick.X
        assert other is not brick
    assert "half_lengths=array([1., 2., 3.])" in repr(brick)


def test_a_mesh_file_names_the_package_that_reads_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ImportError, match="needs trimesh: pip install trimesh"):
        decoration.MeshFile(tmp_path / "arm.stl").calc_mesh()
