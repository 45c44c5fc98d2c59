"""Height fields: the surface against SciPy's splines; what touches it against closed forms and brute force.

A parabola is a bicubic spline of itself, so that where a ball lies in a gutter is known.
"""

import numpy as np
import pytest
from scipy.interpolate import RectBivariateSpline
from scipy.optimize import minimize
from scipy.spatial import cKDTree

import mobod as mb
from kinds.overlaps import Two, cube, icosphere, random_pose, run, tangents_are_differences
from mobod.contact import HeightField, TriangleMesh, height_surface
from mobod.contact.access import CORNER, FACE, HERTZ
from mobod.contact.pairs.ellipsoid_height_field import _equations

C = mb.contact


def hills(rng, nx=13, ny=17, size=0.25, even=False):
    """A field of random heights, smooth ones, over four by four."""
    x, y = np.linspace(-2.0, 2.0, nx), np.linspace(-2.0, 2.0, ny)
    if not even:
        x[1:-1] += rng.uniform(-0.4, 0.4, nx - 2) * (x[1] - x[0])
        y[1:-1] += rng.uniform(-0.4, 0.4, ny - 2) * (y[1] - y[0])
    a, b, c, d = rng.uniform(-1.0, 1.0, 4)
    return HeightField(x, y, size * (np.sin(2.0 * x + a)[:, None] * np.cos(1.5 * y + b) + c * x[:, None] * 0.3 + d * 0.2 * y))


def flat(slope=0.0):
    x = np.linspace(-3.0, 3.0, 5)
    return HeightField(x, x, slope * x[:, None] + 0.0 * x)


def gutter(a):
    """z = a x^2."""
    x = np.linspace(-2.0, 2.0, 21)
    return HeightField(x, x[::4], (a * x * x)[:, None] + 0.0 * x[::4])


#: A bowl z = a (x^2 + y^2).
def bowl(a):
    x = np.linspace(-2.0, 2.0, 21)
    return HeightField(x, x, a * (x[:, None] ** 2 + x**2))


# ---------------------------------------------------------------------------------------------- the surface


@pytest.mark.parametrize("shape", [(13, 17), (4, 5)])
@pytest.mark.parametrize("even", [True, False])
def test_the_surface_is_scipys_bicubic_spline(shape, even, rng):
    field = hills(rng, *shape, even=even)
    spline = RectBivariateSpline(field.x, field.y, field.z, s=0)
    model = Two(C.Sphere(0.1), field).state.record
    points = rng.uniform(-2.0, 2.0, (60, 2))
    assert np.allclose(field.calc_height(*points.T), spline(*points.T, grid=False), atol=1e-12)
    for x, y in [*points, (-2.0, -2.0), (2.0, 2.0), (2.0, -2.0)]:
        found = height_surface.surface(model, 1, float(x), float(y))
        orders = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
        expected = [spline(x, y, dx=i, dy=j, grid=False) for i, j in orders]
        assert np.allclose(found, expected, atol=1e-9), "SciPy's coefficients, by another way, have these roundings"


@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_points_are_a_line_or_a_parabola(n, rng):
    x = np.linspace(0.0, 1.0, n)
    field = HeightField(x, x, (x**2)[:, None] + 3.0 * x)
    at = rng.uniform(0.0, 1.0, 10)
    assert np.allclose(field.calc_height(at, 0.5), (at**2 if n == 3 else at) + 1.5, atol=1e-14)
    assert np.isnan(field.calc_height(1.1, 0.5)) and np.isnan(field.calc_height(0.5, -0.1))


def test_bounds_hold_everywhere(rng):
    """Of the box, and of height and upward curvature over any rectangle."""
    field = hills(rng)
    model = Two(C.Sphere(0.1), field).state.record
    center, half = (np.array(side) for side in field.bounds())
    for _ in range(40):
        x, y, a, b = rng.uniform((-2, -2, 0, 0), (2, 2, 1.5, 1.5))
        height, bent = height_surface.highest(model, 1, x, y, a, b)
        px, py = (np.clip(rng.uniform(c - w, c + w, 30), -2.0, 2.0) for c, w in ((x, a), (y, b)))
        for one in zip(px.tolist(), py.tolist(), strict=True):
            z, _, _, xx, xy, yy = height_surface.surface(model, 1, *one)
            assert z <= height + 1e-12 and center[2] - half[2] < z <= center[2] + half[2] + 1e-12
            assert np.linalg.eigvalsh([[xx, xy], [xy, yy]])[1] <= bent + 1e-9
    assert center[2] - half[2] <= field.z.min() - 4.0


def test_bad_input():
    x = np.linspace(0.0, 1.0, 4)
    with pytest.raises(mb.ModelError, match=r"x of a HeightField has to ascend, got 1, 0.5 in places 1 and 2"):
        HeightField([0.0, 1.0, 0.5], x, np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"z has to have shape \(4, 3\)"):
        HeightField(x, x[:3], np.zeros((3, 4)))
    with pytest.raises(mb.ModelError, match="z has to be finite"):
        HeightField(x, x, np.full((4, 4), np.nan))
    with pytest.raises(ValueError, match="y of a HeightField has to be a list of two numbers or more"):
        HeightField(x, [0.0], np.zeros((4, 1)))
    with pytest.raises(TypeError, match="z has to be real numbers"):
        HeightField(x, x, [["a"] * 4] * 4)


def test_it_draws_itself(rng):
    field = hills(rng, 5, 9)
    (mesh, X), *rest = field.decorations()
    assert not rest and np.allclose(X.p, 0.0)
    points = np.asarray(mesh.vertices)
    assert np.allclose(points[:, 2], field.calc_height(points[:, 0], points[:, 1]))
    a, b, c = np.moveaxis(points[np.array(mesh.faces)], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all(), "faces look up"


def test_a_half_space_has_no_law_with_it():
    for shape in (C.HalfSpace(), flat()):
        with pytest.raises((mb.ModelError, KeyError)):
            Two(shape, flat())


# ---------------------------------------------------------------------------------------------- balls


@pytest.mark.parametrize("slope", [0.0, 0.7])
def test_on_a_plane_a_sphere_is_as_on_a_half_space(slope, rng):
    field, n = flat(slope), np.array((-slope, 0.0, 1.0)) / np.hypot(1.0, slope)
    two = Two(C.Sphere(0.3), field)
    for _ in range(20):
        X, c = random_pose(rng), rng.uniform(-0.5, 0.5, 3)
        rows = two.place(X @ c, X).rows()
        height = n @ c
        if height >= 0.3:
            assert rows.count == 0
            continue
        assert rows.count == 1 and np.allclose(rows.normal, -(X.R @ n), atol=1e-13)
        assert np.allclose(rows.depth, 0.3 - height, atol=1e-14) and (rows.law == HERTZ).all()
        assert np.allclose(rows.point, X @ (c - 0.5 * (height + 0.3) * n), atol=1e-13)
        assert np.allclose([rows.one, rows.two], 1.0 / 0.3)


def test_a_sphere_in_a_gutter_touches_both_sides():
    """Where the distance from (0, h) to z = a x^2 is least: x^2 = (h - 1 / (2 a)) / a."""
    a, h, radius = 3.0, 0.45, 0.42
    x = np.sqrt((h - 0.5 / a) / a)
    distance = np.hypot(x, h - a * x * x)
    rows = Two(C.Sphere(radius), gutter(a)).place(mb.Transform((0.0, 0.1, h)), mb.Transform()).rows()
    assert rows.count == 2 and len(set(rows.feature)) == 2
    assert np.allclose(rows.depth, radius - distance, atol=1e-13)
    assert np.allclose(np.sort(rows.normal[:, 0]), np.array((-1.0, 1.0)) * x / distance, atol=1e-12)
    hollow = 2.0 * a / (1.0 + 4.0 * a * a * x * x) ** 1.5
    assert np.allclose(rows.one, 1.0 / radius) and np.allclose(rows.two, max(1.0 / radius - hollow, 0.05 / radius))


def test_relative_curvature_in_a_bowl_and_on_a_dome_and_where_it_would_vanish():
    """At the lowest point, 1 / R - 2 a; not below a twentieth of 1 / R, where the ball fits the bowl."""
    for a in (-1.0, -0.3, 0.3, 1.0, 1.6):
        rows = Two(C.Sphere(0.3), bowl(a)).place(mb.Transform((0.0, 0.0, 0.29)), mb.Transform()).rows()
        expected = max(1.0 / 0.3 - 2.0 * a, 0.05 / 0.3)
        assert rows.count == 1 and np.allclose([rows.one, rows.two], expected, rtol=1e-9)
        assert np.allclose(rows.depth, 0.01)


def test_spheres_touch_hills_where_brute_force_says(rng):
    """Each row a local minimum of the distance from the center; the least of all is among them."""
    field, seen = hills(rng, size=0.4), 0
    two = Two(C.Sphere(0.5), field)
    grid = np.linspace(-1.999, 1.999, 400)
    height = field.calc_height(grid[:, None], grid[None, :])
    for _ in range(25):
        x, y = rng.uniform(-1.4, 1.4, 2)
        c = np.array((x, y, float(field.calc_height(x, y)) + rng.uniform(0.1, 0.6)))
        rows = two.place(mb.Transform(c), mb.Transform()).rows()
        distance = np.sqrt((grid[:, None] - x) ** 2 + (grid[None, :] - y) ** 2 + (height - c[2]) ** 2)
        if distance.min() > 0.501:
            assert rows.count == 0
            continue
        seen += rows.count
        deepest = 0.5 - distance.min()
        # a point of the grid is up to 0.005 aside in x and y, which counts the more the closer the center is
        fine = 1e-4 + 5e-5 / distance.min()
        assert abs(max(rows.depth, default=0.0) - max(deepest, 0.0)) < fine, "as fine as the grid of brute force"
        for point, n, depth in zip(rows.point, rows.normal, rows.depth, strict=True):
            p = point - 0.5 * depth * n  # on the field
            assert np.isclose(float(field.calc_height(p[0], p[1])), p[2], atol=1e-12)
            assert np.allclose(c + (0.5 - depth) * n, p, atol=1e-12)
            near = rng.normal(size=(200, 2)) * 1e-3 + p[:2]
            others = np.column_stack([near, field.calc_height(*near.T)])
            assert (np.linalg.norm(others - c, axis=1) >= 0.5 - depth - 1e-12).all()
    assert seen > 5


def test_outside_the_grid_and_far_above_there_is_nothing(rng):
    two = Two(C.Sphere(0.3), flat())
    for c in ((3.2, 0.0, 0.1), (0.0, -3.01, 0.0), (0.0, 0.0, 0.31), (9.0, 9.0, -1.0)):
        assert two.place(mb.Transform(c), mb.Transform()).rows().count == 0
    deep = two.place(mb.Transform((0.1, 0.2, -1.0)), mb.Transform()).rows()
    assert deep.count == 1 and np.allclose(deep.depth, 1.3) and np.allclose(deep.normal, (0.0, 0.0, -1.0))


def test_a_pose_that_is_no_number_touches_nothing():
    two = Two(C.Sphere(0.3), flat())
    assert two.place(mb.Transform(), mb.Transform()).rows(compiled=True).count == 1
    two.state.record.surface_frame[0, 9:12] = np.nan
    assert run(two.routine, two.state.record, two.pair, True) == 0


# ---------------------------------------------------------------------------------------------- other shapes


def test_an_ellipsoid_on_a_plane_is_at_its_lowest_point(rng):
    """Support n.M n = h^2; curvatures those of the section: the eigenvalues of h T^t M^-1 T in the plane's tangents T."""
    radii = np.array((0.3, 0.5, 0.8))
    two = Two(C.Ellipsoid(radii), flat(0.3))
    n = np.array((-0.3, 0.0, 1.0)) / np.hypot(1.0, 0.3)
    for _ in range(10):
        X = mb.Transform(random_pose(rng).R, (0.1, 0.2, 0.2))
        rows = two.place(X, mb.Transform()).rows()
        R = np.asarray(X.R)
        M = R @ np.diag(radii**2) @ R.T
        h = np.sqrt(n @ M @ n)
        assert rows.count == 1 and np.allclose(rows.depth, h - n @ X.p, atol=1e-13)
        assert np.allclose(rows.normal, -n, atol=1e-13)
        assert np.allclose(rows.point, X.p - M @ n / h + 0.5 * rows.depth[0] * n, atol=1e-12)
        T = np.linalg.svd(n[None])[2][1:].T
        k = np.linalg.eigvalsh(h * T.T @ np.linalg.inv(M) @ T)
        assert np.allclose([rows.two[0], rows.one[0]], k, rtol=1e-9)


def test_the_matrix_of_an_ellipsoids_search_is_the_slope_of_its_equations(rng):
    """Of a polynomial surface; a search with a wrong one finds the same place, in more steps."""
    a = rng.normal(size=10)

    def at(x, y):
        z = a @ (1.0, x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3)
        z_x = a[[1, 3, 4, 6, 7, 8]] @ (1.0, 2.0 * x, y, 3.0 * x * x, 2.0 * x * y, y * y)
        z_y = a[[2, 4, 5, 7, 8, 9]] @ (1.0, x, 2.0 * y, x * x, 2.0 * x * y, 3.0 * y * y)
        z_xx, z_xy = a[[3, 6, 7]] @ (2.0, 6.0 * x, 2.0 * y), a[[4, 7, 8]] @ (1.0, 2.0 * x, 2.0 * y)
        return z, z_x, z_y, z_xx, z_xy, a[[5, 8, 9]] @ (2.0, 2.0 * x, 6.0 * y)

    L, c, x, y, h = rng.normal(size=(3, 3)), tuple(rng.normal(size=3)), 0.3, -0.2, 1e-6
    M = tuple((L @ L.T).ravel())

    def mismatch(x, y):
        return np.array(_equations(at(x, y), x, y, c, M)[0])

    _, metric, k, *_ = _equations(at(x, y), x, y, c, M)
    slopes = np.column_stack([mismatch(x + h, y) - mismatch(x - h, y), mismatch(x, y + h) - mismatch(x, y - h)]) / (2.0 * h)
    matrix = np.array([[metric[0], metric[1]], [metric[1], metric[2]]]) + np.reshape(k, (2, 2))
    assert np.allclose(matrix, -slopes, rtol=1e-6, atol=1e-6 * abs(slopes).max())


def test_an_ellipsoid_of_equal_radii_is_a_sphere(rng):
    field = hills(rng, size=0.3)
    one, other = Two(C.Sphere(0.4), field), Two(C.Ellipsoid((0.4, 0.4, 0.4)), field)
    for _ in range(8):
        x, y = rng.uniform(-1.2, 1.2, 2)
        X = mb.Transform(random_pose(rng).R, (x, y, float(field.calc_height(x, y)) + rng.uniform(0.25, 0.4)))
        a, b = one.place(X, mb.Transform()).rows(), other.place(X, mb.Transform()).rows()
        if a.count != 1 or b.count != 1:
            continue
        for name in ("point", "normal", "depth", "one", "two"):
            assert np.allclose(getattr(a, name), getattr(b, name), atol=1e-8), name


def test_an_ellipsoid_on_hills_has_a_common_normal(rng):
    radii = np.array((0.3, 0.4, 0.6))
    field, seen = hills(rng, size=0.3), 0
    two = Two(C.Ellipsoid(radii), field)
    for _ in range(20):
        x, y = rng.uniform(-1.2, 1.2, 2)
        X = mb.Transform(random_pose(rng).R, (x, y, float(field.calc_height(x, y)) + 0.3))
        rows = two.place(X, mb.Transform()).rows()
        for point, n, depth in zip(rows.point, rows.normal, rows.depth, strict=True):
            p, q = point - 0.5 * depth * n, ~X @ (point + 0.5 * depth * n)
            assert np.isclose(float(field.calc_height(p[0], p[1])), p[2], atol=1e-10)
            assert np.isclose(((q / radii) ** 2).sum(), 1.0, atol=1e-10)
            out = X.R @ (q / radii**2)
            assert np.allclose(out / np.linalg.norm(out), n, atol=1e-9)
            seen += 1

        def gap(v, X=X):
            """Of the ellipsoid over the field, straight down: below zero somewhere if they overlap."""
            s = X @ (radii * v / np.linalg.norm(v))
            return s[2] - float(field.calc_height(s[0], s[1]))

        starts = rng.normal(size=(12, 3))
        least = min(gap(v) for v in starts)
        best = minimize(gap, starts[np.argmin([gap(v) for v in starts])], method="Nelder-Mead").fun if least > 0 else least
        assert (rows.count > 0) == (best < 0.0) or abs(best) < 1e-3
    assert seen > 10


@pytest.mark.parametrize(
    "shape",
    [C.Capsule(0.2, 0.5), C.Brick((0.2, 0.3, 0.4)), C.ConvexHull(np.random.default_rng(3).normal(size=(12, 3)) * 0.3)],
    ids=["capsule", "brick", "hull"],
)
def test_points_of_a_body_on_a_plane(shape, rng):
    """The depth of each: the ends of a capsule are spheres, corners are corners."""
    two = Two(shape, flat(0.2))
    n = np.array((-0.2, 0.0, 1.0)) / np.hypot(1.0, 0.2)
    if isinstance(shape, C.Capsule):
        corners, radius, law = np.array([(0, 0, 0.5), (0, 0, -0.5)]), 0.2, HERTZ
    elif isinstance(shape, C.Brick):
        corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * shape.half_lengths
        radius, law = 0.0, CORNER
    else:
        corners, radius, law = shape.vertices, 0.0, CORNER
    for _ in range(10):
        X = mb.Transform(random_pose(rng).R, (0.1, 0.2, rng.uniform(0.0, 0.3)))
        depth = radius - (X @ corners) @ n
        rows = two.place(X, mb.Transform()).rows()
        assert np.allclose(rows.depth, depth[depth > 0.0], atol=1e-12) and (rows.law == law).all()
        assert np.allclose(rows.normal, -n, atol=1e-12)
        s = (X @ corners)[depth > 0.0]
        assert np.allclose(rows.point, s + (0.5 * rows.depth - radius)[:, None] * n, atol=1e-12)
        if law == CORNER:
            assert rows.feature.tolist() == np.flatnonzero(depth > 0.0).tolist() and not rows.one.any()


def test_a_capsule_and_a_cylinder_lie_on_a_ridge(rng):
    """z = -a x^2, the axis across at height h above its top: the side touches there, where curvatures are 1/r and 2 a."""
    a, h, r = 0.8, 0.18, 0.2
    upright = mb.Rotation.about_axis(np.pi / 2, "y")
    for shape in (C.Capsule(r, 0.6), C.Cylinder(r, 0.6), C.Cylinder(r, np.inf)):
        rows = Two(shape, gutter(-a)).place(mb.Transform(upright, (0.1, 0.0, h)), mb.Transform()).rows()
        assert rows.count == 1 and np.allclose(rows.depth, r - h, atol=1e-12)
        assert np.allclose(rows.point, (0.0, 0.0, -0.5 * (r - h)), atol=1e-10)
        assert np.allclose([rows.one[0], rows.two[0]], [1.0 / r, 2.0 * a], rtol=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 0.3, np.pi / 2])
def test_the_rims_of_a_cylinder_on_a_plane(tilt):
    """Its lowest point is among the four of a rim; upright all four are, and they are spread evenly."""
    r, half = 0.3, 0.5
    X = mb.Transform(mb.Rotation.about_axis(tilt, "y"), (0.0, 0.0, r * np.sin(tilt) + half * np.cos(tilt) - 0.01))
    rows = Two(C.Cylinder(r, half), flat()).place(X, mb.Transform()).rows()
    assert (rows.law == CORNER).all() and np.isclose(rows.depth.max(), 0.01)
    assert rows.count == {0.0: 4, 0.3: 1}.get(tilt, 2)
    if tilt == 0.0:
        assert np.allclose(rows.point[:, :2].sum(axis=0), 0.0, atol=1e-14)
        assert np.allclose(rows.point[:, :2].T @ rows.point[:, :2], 2.0 * r * r * np.eye(2), atol=1e-13)


def test_a_torus_on_a_plane_is_as_on_a_half_space_and_lies_flat(rng):
    slope = 0.2
    n = np.array((-slope, 0.0, 1.0)) / np.hypot(1.0, slope)
    two, other = Two(C.Torus(0.4, 0.1), flat(slope)), Two(C.HalfSpace(n), C.Torus(0.4, 0.1))
    for _ in range(10):
        X = mb.Transform(random_pose(rng).R, (0.1, 0.2, rng.uniform(0.2, 0.5)))
        a, b = two.place(X, mb.Transform()).rows(compiled=True), other.place(mb.Transform(), X).rows()
        assert a.count > 0 or max(b.depth, default=0.0) <= 0.0
        for row in range(min(a.count, 1)):
            deepest = np.argmax(b.depth)
            assert np.isclose(a.depth.max(), b.depth[deepest], atol=1e-12)
            row = np.argmax(a.depth)
            assert np.allclose(a.point[row], b.point[deepest], atol=1e-6) and np.allclose(a.normal[row], -n, atol=1e-9)
            assert np.isclose(a.one[row], b.one[deepest]) and np.isclose(a.two[row], b.two[deepest], rtol=1e-6)
    lying = mb.Transform(mb.Rotation.about_axis(-np.arctan(slope), "y"), (0.1, 0.2, 0.1 * slope) + 0.099 * n)
    rows = two.place(lying, mb.Transform()).rows(compiled=True)
    assert rows.count >= 4 and np.allclose(rows.depth, 0.001, atol=1e-9)


@pytest.mark.parametrize("tangents", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_a_torus_on_hills_touches_where_brute_force_says(tangents, rng):
    field, seen = hills(rng, size=0.3), 0
    two, t = Two(C.Torus(0.4, 0.1), field), np.linspace(0.0, 2 * np.pi, 721)
    grid = np.linspace(-1.999, 1.999, 500)
    z = field.calc_height(grid[:, None], grid[None, :])
    surface = np.stack([*np.broadcast_arrays(grid[:, None], grid[None, :]), z], axis=-1).reshape(-1, 3)
    tree = cKDTree(surface)
    for _ in range(24):
        x, y = rng.uniform(-1.2, 1.2, 2)
        X = mb.Transform(random_pose(rng).R, (x, y, float(field.calc_height(x, y)) + rng.uniform(0.25, 0.5)))
        circle = X @ (0.4 * np.column_stack([np.cos(t), np.sin(t), 0.0 * t]))
        above = circle[:, 2] > field.calc_height(circle[:, 0], circle[:, 1])
        if not above.all():
            continue
        least = tree.query(circle)[0].min()
        rows = two.place(X, mb.Transform()).rows(compiled=True)
        assert abs(max(rows.depth, default=0.0) - max(0.1 - least, 0.0)) < 1e-3 + 1e-4 / max(least, 1e-2)
        if rows.count and rows.depth.max() < 0.09:
            own = tangents and seen == 0
            seen += tangents_are_differences(two, [X, mb.Transform()], rng, tolerance=1e-3) if own else 1
    assert seen > 1


def test_faces_of_a_mesh_below_the_surface(rng):
    vertices, faces = icosphere(0.5, 2)
    field = hills(rng, size=0.2)
    two = Two(TriangleMesh(vertices, faces), field)
    seen = 0
    for _ in range(5):
        x, y = rng.uniform(-1.0, 1.0, 2)
        X = mb.Transform(random_pose(rng).R, (x, y, float(field.calc_height(x, y)) + 0.3))
        rows = two.place(X, mb.Transform()).rows(compiled=True)
        s = (X @ vertices)[faces].mean(axis=1)
        below = np.flatnonzero(s[:, 2] < field.calc_height(s[:, 0], s[:, 1]))
        assert set(rows.feature) <= set(below.tolist()) and (rows.law == FACE).all() and (rows.side == 0).all()
        p = s[rows.feature] - rows.depth[:, None] * rows.normal
        assert np.allclose(p[:, 2], field.calc_height(p[:, 0], p[:, 1]), atol=1e-12)
        assert np.allclose(rows.point, s[rows.feature] - 0.5 * rows.depth[:, None] * rows.normal, atol=1e-13)
        seen += rows.count
    assert seen > 10


def test_a_mesh_on_a_plane_is_as_on_a_half_space(rng):
    mesh = TriangleMesh(*cube((0.3, 0.4, 0.5), 2))
    one, other = Two(C.HalfSpace(), mesh), Two(mesh, flat())
    for _ in range(5):
        X = mb.Transform(random_pose(rng).R, (0.1, 0.2, 0.1))
        a, b = one.place(mb.Transform(), X).rows(), other.place(X, mb.Transform()).rows()
        assert a.count == b.count and a.feature.tolist() == b.feature.tolist()
        assert np.allclose(a.normal, -b.normal) and (a.side == 1).all() and (b.side == 0).all()
        for name in ("point", "depth", "one", "two"):
            assert np.allclose(getattr(a, name), getattr(b, name), atol=1e-12), name


# ---------------------------------------------------------------------------------------------- derivatives, energy

BODIES = {
    "sphere": C.Sphere(0.5),
    "capsule": C.Capsule(0.3, 0.4),
    "cylinder": C.Cylinder(0.3, 0.4),
    "brick": C.Brick((0.3, 0.4, 0.5)),
    "ellipsoid": C.Ellipsoid((0.3, 0.45, 0.4)),
    "hull": C.ConvexHull(np.random.default_rng(3).normal(size=(12, 3)) * 0.4),
    "mesh": TriangleMesh(*icosphere(0.5, 1)),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BODIES)
def test_tangents_are_differences(name, rng):
    """Curvatures are no function with a third derivative across cells: they are left out, as are those of one value."""
    field = hills(rng, size=0.25)
    two, seen = Two(BODIES[name], field), 0
    for _ in range(40):
        x, y = rng.uniform(-0.8, 0.8, 2)
        tilt = random_pose(rng, 0.2)
        height = float(field.calc_height(x, y)) + 0.25
        pose = mb.Transform(random_pose(rng).R, (x, y, height))
        two.place(tilt @ pose, tilt)
        if two.rows(compiled=True).count == 0:
            continue
        columns = (0, 1, 2, 3, 4, 5, 6) + ((8, 9) if name == "mesh" else ())
        seen += tangents_are_differences(two, [tilt @ pose, tilt], rng, tolerance=2e-5, columns=columns)
        if seen >= 3:
            break
    assert seen


def test_tangents_of_a_sphere_on_a_plane_are_finite():
    """Its two curvatures are one, and the root between them has no derivative there."""
    two = Two(C.Sphere(0.3), flat())
    along = [np.concatenate([np.zeros(9), (0.3, 0.2, -1.0)]), np.zeros(12)]
    _, tangents = two.tangents([mb.Transform((0.1, 0.2, 0.25)), mb.Transform()], along)
    assert np.allclose(tangents[0, :10], (0.3, 0.2, -0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), atol=1e-12)


def test_a_ball_rolls_in_a_bowl_without_loss():
    """No friction, no dissipation: the energy stays, so the force is that of the energy's slope in all of the field."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, 0.0, -9.81))
    mb.CompliantContactSubsystem(system)
    rubber = C.Material(stiffness=1e6)
    matter.ground.add_contact_surface(C.Surface(bowl(0.4), rubber))
    ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    ball.add_contact_surface(C.Surface(C.Sphere(0.1), rubber))
    state = system.realize_topology()
    ball.set_q_to_fit_translation(state, (0.5, 0.2, 0.25))
    system.realize(state, mb.Stage.ACCELERATION)
    before = system.calc_energy(state)
    run = mb.simulate(system, state, 0.5, accuracy=1e-7)
    after = run.states[-1] if hasattr(run, "states") else run.state
    system.realize(after, mb.Stage.ACCELERATION)
    assert abs(system.calc_energy(after) - before) < 1e-4 * 9.81 * 0.5
    assert after.q[-3:][0] < 0.4, "it has rolled"
