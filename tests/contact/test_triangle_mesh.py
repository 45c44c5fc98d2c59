"""Triangle meshes: what is refused, the tree of boxes, and the faces inside half-spaces, convex shapes and other meshes.

Inside and nearest are judged by brute force: winding numbers (van Oosterom and Strackee 1983), all triangles one by one, and
points all over the other shape's surface.
"""

import time

import numpy as np
import pytest

import mobod as mb
from kinds.overlaps import Two, cube, horseshoe, icosphere, random_pose, tangents_are_differences
from mobod.contact import TriangleMesh, mesh_tree
from mobod.contact.access import FACE
from mobod.contact.pairs.convex_triangle_mesh import box_in

C = mb.contact
#: How often the faces of an icosahedron are divided for a large mesh.
MANY = 6


def winding(vertices, faces, points):
    """How often the mesh is around each point: 1 inside, 0 outside."""
    total = np.zeros(len(points))
    for i, x in enumerate(points):
        a, b, c = np.moveaxis(vertices[faces] - x, 1, 0)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        triple = np.einsum("ij,ij->i", a, np.cross(b, c))
        below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        total[i] = 2.0 * np.arctan2(triple, below).sum() / (4.0 * np.pi)
    return total


def distance_to_triangles(corners, x):
    """From x to each triangle: to its plane where the foot is inside, else to the nearest of its sides."""
    a, b, c = np.moveaxis(corners, 1, 0)
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    height = ((x - a) * n).sum(1)
    foot = x - height[:, None] * n
    inside = np.ones(len(a), bool)
    best = np.full(len(a), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, foot - p) * n).sum(1) >= 0.0
        t = np.clip(((x - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(x - p - t[:, None] * (q - p), axis=1))
    return np.where(inside, np.abs(height), best)


# ---------------------------------------------------------------------------------------------- the shape


def test_volume_area_and_centroid_are_those_of_the_body():
    box = TriangleMesh(cube((0.5, 1.0, 1.5))[0] + (1.0, 2.0, 3.0), cube()[1])
    assert np.isclose(box.volume, 6.0) and np.isclose(box.area, 22.0) and np.allclose(box.centroid, (1, 2, 3))
    body = TriangleMesh(*horseshoe())
    assert np.isclose(body.volume, 5.0) and np.isclose(body.area, 22.0)
    assert np.allclose(body.centroid, (0.0, (3 * -0.5 + 2 * 0.5) / 5, 0.0))
    assert body.num_faces == 44
    assert np.allclose(body.bounds().half_lengths, (1.5, 1.0, 0.5))
    (drawn, X), *rest = body.decorations()
    assert drawn.is_closed and not rest and np.allclose(X.p, 0)


def test_the_volume_of_a_ball_of_triangles_converges_to_the_balls():
    """The error of a polyhedron with corners on the sphere goes with the square of its faces' size: quarters."""
    errors = [4.0 / 3.0 * np.pi - TriangleMesh(*icosphere(1.0, k)).volume for k in (1, 2, 3)]
    assert np.allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.1)


def test_an_open_mesh_names_its_faces_and_the_remedy():
    vertices, faces = cube()
    with pytest.raises(mb.ModelError, match=r"has to be closed; 3 edges have one face only, of faces .*repair=True"):
        TriangleMesh(vertices, faces[1:])
    with pytest.raises(mb.ModelError, match=r"each edge has to have two faces; .* have more, of faces .*leave out double"):
        TriangleMesh(vertices, np.concatenate([faces, faces]))


def test_vertices_at_one_place_are_one():
    vertices, faces = cube()
    soup = TriangleMesh(vertices[faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    assert np.isclose(soup.volume, 1.0) and len(soup.vertices) == 36


def test_faces_that_disagree_or_look_inwards_are_refused_or_turned():
    vertices, faces = cube(times=1)
    mixed = faces.copy()
    mixed[[3, 17, 30]] = mixed[[3, 17, 30], ::-1]
    with pytest.raises(mb.ModelError, match=r"counter-clockwise .* faces .*3, .*do not agree; turn some round, .*orient=True"):
        TriangleMesh(vertices, mixed)
    with pytest.raises(mb.ModelError, match=r"the mesh is inside out, of volume -1; turn its faces round.* or say orient=True"):
        TriangleMesh(vertices, faces[:, ::-1])
    for given in (mixed, faces[:, ::-1], mixed[:, ::-1]):
        turned = TriangleMesh(vertices, given, orient=True)
        assert np.isclose(turned.volume, 1.0)


def test_one_piece_inside_out_is_found_but_a_cavity_is_none(rng):
    v, f = cube()
    w, g = cube((0.2, 0.2, 0.2))
    both = np.concatenate([f, len(v) + g[:, ::-1]])
    hollow = TriangleMesh(np.concatenate([v, w]), both)
    assert np.isclose(hollow.volume, 1.0 - 0.064)
    apart = np.concatenate([v, w + np.array((2.0, 0.0, 0.0))])
    with pytest.raises(mb.ModelError, match=r"the piece of face 12 is inside out, of volume -0.064"):
        TriangleMesh(apart, both)
    assert np.isclose(TriangleMesh(apart, both, orient=True).volume, 1.064)


def test_degenerate_faces_and_numbers_are_named():
    vertices, faces = cube()
    line = np.concatenate([faces, [[0, 1, 1]]])
    with pytest.raises(mb.ModelError, match=r"faces need an area; face 12 is degenerate.*repair=True"):
        TriangleMesh(vertices, line)
    bad = vertices.copy()
    bad[2, 1] = np.nan
    with pytest.raises(mb.ModelError, match="vertices have to be finite; vertex 2 is of 8 not"):
        TriangleMesh(bad, faces)
    with pytest.raises(IndexError, match=r"index the 8 vertices from 0 on; face 12 is \[0, 1, 8\]"):
        TriangleMesh(vertices, np.concatenate([faces, [[0, 1, 8]]]))
    with pytest.raises(TypeError, match="faces have to be integers"):
        TriangleMesh(vertices, faces.astype(float))
    with pytest.raises(ValueError, match=r"shape \(nf, 3\)"):
        TriangleMesh(vertices, faces.ravel())
    with pytest.raises(ValueError, match="different lengths"):
        TriangleMesh(vertices, [[0, 1, 2], [0, 1, 2, 3]])
    with pytest.raises(ValueError, match="vectors"):
        TriangleMesh(vertices[:, :2], faces)
    with pytest.raises(mb.ModelError, match="has to have a volume"):
        TriangleMesh(vertices[:3], [[0, 1, 2], [0, 2, 1]])


def test_from_a_file_scaled(tmp_path):
    vertices, faces = cube()
    text = "\n".join(["v {} {} {}".format(*v) for v in 1000.0 * vertices] + ["f {} {} {}".format(*(f + 1)) for f in faces])
    (tmp_path / "cube.obj").write_text(text)
    assert np.isclose(TriangleMesh.from_file(tmp_path / "cube.obj", 0.001).volume, 1.0)
    assert np.isclose(TriangleMesh.from_file(str(tmp_path / "cube.obj")).volume, 1e9)
    with pytest.raises(mb.ModelError, match="scale has to be positive"):
        TriangleMesh.from_file(tmp_path / "cube.obj", -1.0)
    (tmp_path / "open.obj").write_text("\n".join(text.split("\n")[:-1]))
    with pytest.raises(mb.ModelError, match=r"open\.obj: a mesh has to be closed"):
        TriangleMesh.from_file(tmp_path / "open.obj")
    with pytest.raises(FileNotFoundError):
        TriangleMesh.from_file(tmp_path / "none.obj")


def test_repair_says_what_it_needs(tmp_path, monkeypatch):
    vertices, faces = cube()
    lines = ["v {} {} {}".format(*v) for v in vertices] + ["f {} {} {}".format(*(f + 1)) for f in faces[1:]]
    (tmp_path / "open.obj").write_text("\n".join(lines))
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ImportError, match=r"repairing the mesh .*open\.obj needs trimesh: pip install mobod\[mesh\]"):
        TriangleMesh.from_file(tmp_path / "open.obj", repair=True)


def test_repair_closes_a_hole(tmp_path):
    pytest.importorskip("trimesh")
    pytest.importorskip("networkx")
    vertices, faces = cube()
    lines = ["v {} {} {}".format(*v) for v in vertices] + ["f {} {} {}".format(*(f + 1)) for f in faces[1:]]
    (tmp_path / "open.obj").write_text("\n".join(lines))
    assert np.isclose(TriangleMesh.from_file(tmp_path / "open.obj", repair=True).volume, 1.0)


# ---------------------------------------------------------------------------------------------- the tree


def test_every_face_is_in_one_leaf_whose_boxes_contain_it():
    vertices, faces = icosphere(1.0, 3)
    mesh = TriangleMesh(vertices, faces)
    integers, constants = np.array(mesh.integers()), mesh.constants()
    count, levels, first = integers[:3]
    each = integers[mesh_tree.HEADER :].reshape(count, mesh_tree.INTEGERS)
    assert sorted(each[:, 0]) == list(range(len(faces)))
    boxes, numbers = constants[:first].reshape(-1, 6), constants[first : first + 16 * count].reshape(count, 16)
    corners = numbers[:, :9].reshape(-1, 3, 3)
    assert np.array_equal(corners, vertices[faces][each[:, 0]])
    for j in range(1 << levels):
        node, own = (1 << levels) + j, slice((count * j) >> levels, (count * (j + 1)) >> levels)
        assert 0 < own.stop - own.start <= 4
        while node:
            assert (np.abs(corners[own] - boxes[node, :3]) <= boxes[node, 3:] + 1e-15).all()
            node >>= 1


def test_a_large_mesh_is_made_quickly():
    """80 000 faces in less than 3 s of a processor, with its checks; 0.6 s were measured."""
    vertices, faces = icosphere(1.0, MANY)
    start = time.process_time()
    mesh = TriangleMesh(vertices, faces)
    assert time.process_time() - start < 3.0 and mesh.num_faces == 20 * 4**MANY


def test_the_nearest_point_of_a_triangle_is_that_of_brute_force(rng):
    """All seven regions, of which 4 to 6 are sides; where each is found by shares of two sides from the first corner."""
    parts = set()
    for _ in range(200):
        a, b, c, x = rng.uniform(-1.0, 1.0, (4, 3))
        v, w, part = mesh_tree.nearest_of_triangle(*map(tuple, (x, a, b, c)))
        found = np.linalg.norm(x - a - v * (b - a) - w * (c - a))
        assert found == pytest.approx(distance_to_triangles(np.array([[a, b, c]]), x)[0], abs=1e-12)
        parts.add(part)
    assert parts == set(range(7))


@pytest.mark.parametrize("body", [icosphere, horseshoe, cube])
def test_nearest_and_inside_are_those_of_brute_force(body, rng):
    """Normals of corners and edges decide what is inside; also for points whose nearest one is on a concave edge."""
    vertices, faces = body(times=1)
    two = Two(C.Sphere(0.1), TriangleMesh(vertices, faces))
    model = two.state.record
    corners, points = vertices[faces], rng.uniform(-1.3, 1.3, (150, 3)) * np.abs(vertices).max(axis=0)
    inside = winding(vertices, faces, points) > 0.5
    assert 5 < inside.sum() < 145
    for x, is_inside in zip(points, inside, strict=True):
        x = tuple(x.tolist())
        f = mesh_tree.nearest_face(model, 1, x, int(rng.integers(len(faces))))
        depth, n = mesh_tree.nearest_on_mesh(model, 1, x, f)
        distances = distance_to_triangles(corners, np.array(x))
        best = distances.min()
        assert np.isclose(abs(depth), best, rtol=1e-12) or np.isclose(distances[mesh_tree.users_number(model, 1, f)], best)
        assert (depth > 0) == is_inside
        if is_inside:
            assert np.isclose(np.linalg.norm(n), 1.0) and np.isclose(depth, best, rtol=1e-12)
            assert distance_to_triangles(corners, np.add(x, np.multiply(depth, n))).min() < 1e-12


# ---------------------------------------------------------------------------------------------- with a half-space


def buoyancy(rows):
    return (rows.one * rows.two * rows.depth).sum()


def test_what_is_fully_below_displaces_its_volume_exactly(rng):
    """A pyramid hangs from a polygon in the plane: over each face depth is linear, and its mean that at the centroid."""
    n = 9
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    ring = rng.uniform(0.5, 1.5, n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    vertices = np.concatenate([ring, [(0.1, -0.1, -0.8), (0.0, 0.05, 0.6)]])
    faces = [f for i in range(n) for j in [(i + 1) % n] for f in ((i, n, j), (i, j, n + 1))]
    two = Two(C.HalfSpace(), TriangleMesh(vertices, faces))
    X = mb.Transform(mb.Rotation.about_axis(0.7, rng.normal(size=3)), rng.normal(size=3))
    rows = two.place(X, X).rows()
    area = 0.5 * np.cross(ring, np.roll(ring, -1, axis=0))[:, 2].sum()
    assert np.isclose(buoyancy(rows), area * 0.8 / 3.0, rtol=1e-13)
    assert rows.count == n and (rows.law == FACE).all() and (rows.side == 1).all()
    assert sorted(rows.feature) == list(range(0, 2 * n, 2))


def test_the_displaced_volume_of_a_ball_converges(rng):
    """A cap of a sphere, pi h^2 (R - h / 3); the error falls with the size of the faces, about squared."""
    tilt, h = mb.Rotation.about_axis(1.0, rng.normal(size=3)), 0.4
    errors = []
    for times in (2, 3, 4):
        two = Two(C.HalfSpace(), TriangleMesh(*icosphere(1.0, times)))
        two.place(mb.Transform(), mb.Transform(tilt, (0.3, 0.2, 1.0 - h)))
        errors.append(abs(buoyancy(two.rows()) / (np.pi * h * h * (1.0 - h / 3.0)) - 1.0))
    assert errors[2] < 5e-3 and errors[2] < 0.35 * errors[0]


def test_rows_of_a_half_space_are_those_of_all_faces_one_by_one(rng):
    vertices, faces = icosphere(0.7, 2)
    two = Two(C.HalfSpace((1.0, 2.0, 2.0)), TriangleMesh(vertices, faces))
    for _ in range(5):
        X, Y = random_pose(rng, 0.4), random_pose(rng, 0.4)
        rows = two.place(X, Y).rows()
        n = X.R @ (np.array([1.0, 2.0, 2.0]) / 3.0)
        corners = (Y @ vertices)[faces]
        normals, areas = mesh_tree.normals_and_areas(corners)
        depth, cosine = (X.p - corners.mean(axis=1)) @ n, -normals @ n
        found = np.flatnonzero((depth > 0.0) & (cosine > 0.0))
        assert sorted(rows.feature) == found.tolist()
        at = rows.feature
        assert np.allclose(rows.depth, depth[at], atol=1e-14) and np.allclose(rows.two, cosine[at], atol=1e-14)
        assert np.allclose(rows.one, areas[at], rtol=1e-13) and np.allclose(rows.normal, n, atol=1e-14)
        assert np.allclose(rows.point, corners.mean(axis=1)[at] + 0.5 * depth[at, None] * n, atol=1e-14)


# ---------------------------------------------------------------------------------------------- with convex shapes


def test_the_box_around_a_turned_box_is_the_least_one(rng):
    for _ in range(5):
        X, center, half = random_pose(rng, 0.5), rng.normal(size=3), rng.uniform(0.1, 1.0, 3)
        corners = X @ (center + half * (2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0))
        c, h = box_in(tuple(np.asarray(X.R).ravel()), tuple(X.p), tuple(center), tuple(half))
        assert np.allclose(corners.min(axis=0), np.subtract(c, h), atol=1e-14)
        assert np.allclose(corners.max(axis=0), np.add(c, h), atol=1e-14)


def _hull_planes(hull):
    return lambda p: (p @ hull.planes[:, :3].T - hull.planes[:, 3]).max(axis=-1)


HULL = C.ConvexHull(np.random.default_rng(5).normal(size=(24, 3)) * 0.5)
#: Each shape with a function that is below zero inside and zero on its surface, there with a gradient of length one about.
SHAPES = {
    "sphere": (C.Sphere(0.8), lambda p: np.linalg.norm(p, axis=-1) - 0.8),
    "capsule": (
        C.Capsule(0.5, 0.4),
        lambda p: np.linalg.norm(p - np.clip(p, (0, 0, -0.4), (0, 0, 0.4)), axis=-1) - 0.5,
    ),
    "cylinder": (C.Cylinder(0.6, 0.5), lambda p: np.maximum(np.hypot(p[..., 0], p[..., 1]) - 0.6, abs(p[..., 2]) - 0.5)),
    "endless cylinder": (C.Cylinder(0.6, np.inf), lambda p: np.hypot(p[..., 0], p[..., 1]) - 0.6),
    "brick": (C.Brick((0.7, 0.5, 0.6)), lambda p: (abs(p) - (0.7, 0.5, 0.6)).max(axis=-1)),
    "ellipsoid": (C.Ellipsoid((0.8, 0.5, 0.65)), lambda p: 0.5 * (np.linalg.norm(p / (0.8, 0.5, 0.65), axis=-1) - 1.0)),
    "oblate": (C.Ellipsoid((0.8, 0.4, 0.8)), lambda p: 0.5 * (np.linalg.norm(p / (0.8, 0.4, 0.8), axis=-1) - 1.0)),
    "torus": (C.Torus(0.6, 0.3), lambda p: np.hypot(np.hypot(p[..., 0], p[..., 1]) - 0.6, p[..., 2]) - 0.3),
    "hull": (HULL, _hull_planes(HULL)),
}


def on_surface(inside, rng, count=4000):
    """Points all over a surface: where rays from points inside leave it."""
    start = rng.uniform(-1.0, 1.0, (40 * count, 3))
    start = start[inside(start) < 0.0][:count]
    along = rng.normal(size=start.shape)
    along /= np.linalg.norm(along, axis=1)[:, None]
    low, high = np.zeros(len(start)), np.full(len(start), 1e-3)
    while (grow := inside(start + high[:, None] * along) < 0.0).any():
        high[grow] *= 1.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_in = inside(start + middle[:, None] * along) < 0.0
        low, high = np.where(is_in, middle, low), np.where(is_in, high, middle)
    return start + high[:, None] * along


@pytest.mark.parametrize("name", SHAPES)
def test_faces_inside_a_shape_and_how_deep(name, rng):
    """s + depth n is on the surface, and no point of the surface is nearer."""
    shape, inside = SHAPES[name]
    vertices, faces = horseshoe(2)
    two = Two(shape, TriangleMesh(vertices, faces))
    cloud = on_surface(inside, rng) if "endless" not in name else None
    seen = 0
    for _ in range(12):  # of three poses, one in twenty has fewer faces inside than are asked for
        X, Y = random_pose(rng, 0.4), random_pose(rng, 0.8)
        rows = two.place(X, Y).rows(compiled=True)
        corners = ((~X @ Y) @ vertices)[faces]
        s, (normals, areas) = corners.mean(axis=1), mesh_tree.normals_and_areas(corners)
        assert (inside(s[rows.feature]) < 0.0).all() and len(set(rows.feature)) == rows.count
        n = rows.normal @ np.asarray(X.R)
        assert np.allclose(np.linalg.norm(n, axis=1), 1.0, atol=1e-14)
        at, part = s[rows.feature], rows.one / areas[rows.feature]
        alone = part > 1.0 - 1e-9  # elsewhere sides share that are nearest by less than 2.5 %
        assert np.allclose(inside((at + rows.depth[:, None] * n)[alone]), 0.0, atol=1e-12)
        assert (part > 0.3).all() and (alone.all() or name in ("cylinder", "brick", "hull"))
        assert np.allclose(rows.point, X @ (at + 0.5 * rows.depth[:, None] * n), atol=1e-13)
        assert np.allclose(rows.two, -(n * normals[rows.feature]).sum(1))
        assert (rows.two > 0.0).all() and (rows.side == 1).all() and (rows.law == FACE).all()
        if cloud is not None:
            for p, depth, one in zip(at, rows.depth, alone, strict=True):
                assert np.linalg.norm(cloud - p, axis=1).min() >= depth - 1e-12
                assert one or -1.03 * depth < inside(p) <= -depth
        seen += rows.count
        if name == "sphere":  # what is inside and has no row looks away
            absent = np.setdiff1d(np.flatnonzero(inside(s) < 0.0), rows.feature)
            assert ((s * normals).sum(1)[absent] >= 0.0).all()
    assert seen > 20


@pytest.mark.parametrize("shape", [C.Sphere(0.8), C.Ellipsoid((0.8, 0.5, 0.65)), C.Capsule(0.5, 0.4), C.Torus(0.6, 0.3)])
def test_centroids_at_a_center_or_on_an_axis_have_a_normal(shape):
    """A mesh whose face has its centroid at the origin: all that is nearest is equally so."""
    vertices, faces = cube((1.0, 1.0, 1.0))
    s = vertices[faces].mean(axis=1)
    two = Two(shape, TriangleMesh(vertices, faces))
    for f in range(12):
        offset = np.array((0.6, 0.0, 0.0)) if isinstance(shape, C.Torus) else np.zeros(3)
        rows = two.place(mb.Transform(), mb.Transform(offset - s[f])).rows()
        assert np.isfinite(rows.normal).all() and np.isfinite(rows.depth).all()
        assert np.allclose(np.linalg.norm(rows.normal, axis=1), 1.0)


def test_the_depth_in_an_ellipsoid_along_its_axes():
    """Of centroids near the center it is the least radius, which Newton's method has to find where its equation is steepest."""
    radii = np.array((0.8, 0.3, 0.5))
    vertices, faces = icosphere(1e-3, 0)
    two = Two(C.Ellipsoid(radii), TriangleMesh(vertices, faces))
    for x in (0.0, 0.1, 0.3):
        rows = two.place(mb.Transform(), mb.Transform((x, 0.0, 0.0))).rows()
        # of the plane curve x^2 / a^2 + y^2 / b^2 = 1 the point nearest to (x, 0), x < (a^2 - b^2) / a
        depth = 0.3 * np.sqrt(1.0 - x**2 / (0.8**2 - 0.3**2))
        assert np.allclose(rows.depth, depth, atol=2e-3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "oblate"])
def test_tangents_with_a_shape(name, rng):
    two = Two(SHAPES[name][0], TriangleMesh(*horseshoe(1)))
    while tangents_are_differences(two, [random_pose(rng, 0.3), random_pose(rng, 0.6)], rng) == 0:
        pass


def test_tangents_with_a_half_space(rng):
    two = Two(C.HalfSpace(), TriangleMesh(*icosphere(0.7, 1)))
    assert tangents_are_differences(two, [random_pose(rng, 0.1), random_pose(rng, 0.2)], rng) > 10


# ---------------------------------------------------------------------------------------------- with each other


def test_two_meshes_have_rows_of_both_sides_as_brute_force_finds_them(rng):
    bodies = horseshoe(1), icosphere(0.8, 2)
    two = Two(*(TriangleMesh(*body) for body in bodies))
    seen = 0
    for _ in range(4):
        X = random_pose(rng, 0.3), random_pose(rng, 0.9)
        rows = two.place(*X).rows(compiled=True)
        expected = 0
        for side in range(2):
            own, other = bodies[side], bodies[1 - side]
            corners = (X[side] @ own[0])[own[1]]
            s, (normals, areas) = corners.mean(axis=1), mesh_tree.normals_and_areas(corners)
            its = (X[1 - side] @ other[0])[other[1]]
            inside = winding(X[1 - side] @ other[0], other[1], s) > 0.5
            mine = rows.side == side
            feature = rows.feature[mine] - (len(bodies[0][1]) if side else 0)
            assert inside[feature].all()
            n = rows.normal[mine] * (1.0 if side else -1.0)
            for f, depth, normal in zip(feature, rows.depth[mine], n, strict=True):
                assert np.isclose(depth, distance_to_triangles(its, s[f]).min(), rtol=1e-10)
                assert distance_to_triangles(its, s[f] + depth * normal).min() < 1e-12
            assert np.allclose(rows.two[mine], -(normals[feature] * n).sum(1), atol=1e-13)
            assert np.allclose(rows.one[mine], areas[feature])
            for f in np.setdiff1d(np.flatnonzero(inside), feature):  # they look away from the nearest face of the other
                face = distance_to_triangles(its, s[f]).argmin()
                assert mesh_tree.normals_and_areas(its[[face]])[0][0] @ normals[f] > -1.0 + 1e-9
            expected += len(feature)
        assert expected == rows.count
        seen += rows.count
    assert seen > 20


def test_meshes_far_apart_or_near_do_not_touch():
    two = Two(TriangleMesh(*cube(times=1)), TriangleMesh(*cube(times=1)))
    for x in (5.0, 1.0001):
        assert two.place(mb.Transform(), mb.Transform((x, 0.1, 0.2))).rows().count == 0
    rows = two.place(mb.Transform(), mb.Transform((0.99, 0.1, 0.2))).rows()
    assert rows.count > 0 and np.allclose(rows.depth, 0.01) and np.allclose(rows.normal, (1.0, 0.0, 0.0))


@pytest.mark.exhaustive
def test_tangents_of_two_meshes(rng):
    two = Two(TriangleMesh(*horseshoe(1)), TriangleMesh(*icosphere(0.8, 2)))
    while tangents_are_differences(two, [random_pose(rng, 0.2), random_pose(rng, 0.8)], rng) == 0:
        pass


# ---------------------------------------------------------------------------------------------- in a system


def test_a_mesh_rests_in_a_system_of_eight_states_as_in_one(rng):
    """Rows that one state has and another has not: of lanes each has its own."""
    two = Two(C.Sphere(0.5), TriangleMesh(*icosphere(0.5, 1)))
    ensemble = mb.Ensemble(two.system, 3)
    states = [two.state.copy() for _ in range(3)]
    for i, state in enumerate(states):
        two.bodies[1].set_q_to_fit_translation(state, (0.8 + 0.15 * i, 0.1, 0.05))
        two.system.realize(state, mb.Stage.ACCELERATION)
    ensemble.q = np.array([state.q for state in states])
    ensemble.realize(mb.Stage.ACCELERATION)
    assert np.abs(states[0].u_dot).max() > 1.0 and np.abs(states[2].u_dot).max() < 1e-12
    for i, state in enumerate(states):
        assert np.allclose(ensemble.u_dot[i], state.u_dot, rtol=1e-12, atol=1e-12)
