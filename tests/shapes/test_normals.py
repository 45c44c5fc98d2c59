"""Normals: smooth on what is round, split at edges, however faces are triangulated and vertices repeated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mobod import decoration
from mobod.shapes.normals import calc_corner_normals, split_at_creases


def test_a_sphere_is_smooth():
    vertices, triangles = decoration.Sphere(2.0).calc_mesh(2.0)
    normals = calc_corner_normals(vertices, triangles)
    assert_allclose(normals, vertices[triangles] / 2.0, atol=0.06)  # of a polyhedron, near those of the sphere


def test_a_box_has_three_normals_at_each_corner():
    points, triangles, normals = split_at_creases(*decoration.Brick((1, 2, 3)).calc_mesh())
    assert len(points) == 24 and len(triangles) == 12
    assert_allclose(np.sort(np.abs(normals), axis=1), [[0, 0, 1]] * 24, atol=1e-12)


@pytest.mark.parametrize("repeated", [False, True])
def test_a_cylinder_is_round_with_flat_ends(repeated):
    vertices, triangles = decoration.Cylinder(1.0, 2.0).calc_mesh()
    if repeated:  # as STL files have it: each face with vertices of its own
        vertices, triangles = vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
    corners, normals = vertices[triangles], calc_corner_normals(vertices, triangles)
    ends = np.ptp(corners[..., 1], axis=1) < 1e-9
    assert_allclose(np.abs(normals[ends]), np.broadcast_to([0, 1, 0], normals[ends].shape), atol=1e-12)
    round_part = corners[~ends] * [1, 0, 1]
    assert_allclose(normals[~ends], round_part, atol=1e-9)


def test_faces_without_area_are_left_out():
    points, triangles, normals = split_at_creases(np.eye(3), np.array([[0, 1, 2], [0, 0, 1]]))
    assert len(triangles) == 1 and len(points) == 3
    assert_allclose(normals, np.full((3, 3), 3**-0.5))


def test_no_faces_have_no_normals():
    points, triangles, normals = split_at_creases(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    assert len(points) == len(triangles) == len(normals) == 0
