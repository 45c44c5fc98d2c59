"""Pairs with a half-space and with a torus: against coal's point distances, by hand, and where flat things bear."""

import numpy as np
import pytest
from scenes import HALF_SPACE, SHAPES, TORUS, Scene, coals, coals_distance, contact, overlap, random_pose, support
from scipy.optimize import minimize_scalar

import mobod as mb

AXIS = HALF_SPACE.normal


@pytest.mark.parametrize("name", [*SHAPES, "torus"])
def test_a_half_space_finds_what_is_lowest(name, rng):
    shape = SHAPES.get(name, TORUS)
    scene = Scene(HALF_SPACE, shape)
    for _ in range(40):
        X = random_pose(rng)
        points = scene.put(mb.Transform(), X)
        deepest = support(shape, -(AXIS @ np.asarray(X.R))) - AXIS @ X.p
        assert (len(points) > 0) == (deepest > 0.0)
        if len(points):
            assert np.allclose(points["normal"], AXIS, atol=1e-15)
            assert abs(points["depth"].max() - deepest) < 1e-14
            assert len(set(points["feature"])) == len(points)


def test_corners_below_a_half_space_are_all_there(rng):
    for shape in (SHAPES["brick"], SHAPES["hull"]):
        scene = Scene(HALF_SPACE, shape)
        if isinstance(shape, contact.Brick):
            signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            corners = signs * shape.half_lengths
        else:
            corners = shape.vertices
        for _ in range(20):
            X = random_pose(rng)
            depth = -(corners @ np.asarray(X.R).T + X.p) @ AXIS
            points = scene.put(mb.Transform(), X)
            assert np.allclose(np.sort(points["depth"]), np.sort(depth[depth > 0.0]), atol=1e-14)


def upright(angle, height, axis="x"):
    """A pose over a half-space whose normal is AXIS, tilted by an angle."""
    R = mb.Rotation.from_one_axis(AXIS, "z") @ mb.Rotation.about_axis(angle, axis)
    return mb.Transform(R, height * np.asarray(AXIS))


@pytest.mark.parametrize(
    "name, angle, height, count",
    [("cylinder", 0.0, 0.399, 4), ("cylinder", np.pi / 2, 0.299, 2), ("cylinder", 1e-13, 0.399, 4), ("torus", 0.0, 0.099, 4),
     ("torus", np.pi / 2, 0.499, 1), ("capsule", np.pi / 2, 0.199, 2), ("brick", 0.0, 0.199, 4), ("ellipsoid", 0.0, 0.199, 1)],
)  # fmt: skip
def test_what_lies_flat_bears_on_several_points(name, angle, height, count):
    points = Scene(HALF_SPACE, SHAPES.get(name, TORUS)).put(mb.Transform(), upright(angle, height))
    assert len(points) == count
    assert np.allclose(points["depth"], 1e-3, atol=1e-10)
    # 1e-13: rounding of a rotation and of lengths around one
    assert np.allclose(points["point"].mean(axis=0) - points["point"].mean(axis=0) @ AXIS * AXIS, height * 0.0, atol=0.6)


def lowest_near(f, t):
    """A least value near t, and where, by ever finer grids: f may have kinks."""
    span, value = 0.02, f(t)
    for _ in range(7):
        places = t + np.linspace(-span, span, 21)
        values = [f(x) for x in places]
        t, value, span = places[np.argmin(values)], min(values), span / 8.0
    return t, value


@pytest.mark.parametrize("name", [*SHAPES, "torus"])
def test_a_torus_touches_where_its_circle_is_nearest(name, rng):
    """Coal has the distance of a small ball at a point of the circle; the least along the circle is the torus'."""
    coal = pytest.importorskip("coal", reason="coal is not installed")
    shape = SHAPES.get(name, contact.Torus(0.35, 0.15))
    scene = Scene(TORUS, shape) if name in ("hull", "table", "torus") else Scene(shape, TORUS)
    geometries = () if name == "torus" else (coal.Sphere(1e-3), coals(coal, shape))
    touching = in_one = 0
    for _ in range(30):
        X, Y = random_pose(rng), random_pose(rng)
        points = scene.put(X, Y)
        P, Q = (X, Y) if scene.shapes[0] is TORUS else (Y, X)

        def far(t, P=P, Q=Q):
            center = P @ (TORUS.torus_radius * np.array([np.cos(t), np.sin(t), 0.0]))
            if name == "torus":
                x = ~Q @ center
                return np.hypot(np.hypot(x[0], x[1]) - shape.torus_radius, x[2]) - shape.tube_radius
            return coals_distance(coal, geometries, (mb.Transform(center), Q)) + 1e-3

        grid = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)
        values = np.array([far(t) for t in grid])
        lowest = np.flatnonzero((values <= np.roll(values, 1)) & (values <= np.roll(values, -1)))
        starts = grid[lowest[np.argsort(values[lowest])[:4]]]
        options = {"xatol": 1e-9}
        least = min((lowest_near(far, t) for t in starts), key=lambda one: one[1])
        depth = TORUS.tube_radius - least[1]
        if depth < 1e-6:
            assert len(points) == 0 or depth > -1e-6
            continue
        touching += 1
        found = points["depth"].max()
        if name in ("brick", "hull", "table") and depth - found > 1e-6:
            # two minima nearer to each other than a thirtieth of the circle are taken for one: which has to be one of them
            in_one += 1
            around = least[0] + np.linspace(-np.pi / 15, np.pi / 15, 401)
            f = np.array([far(t) for t in around])
            lowest = 1 + np.flatnonzero((f[1:-1] <= f[:-2]) & (f[1:-1] <= f[2:]))
            minima = [
                minimize_scalar(far, bounds=around[[i - 1, i + 1]], method="bounded", options=options).fun for i in lowest
            ]
            depth = TORUS.tube_radius - min(minima, key=lambda f: abs(TORUS.tube_radius - f - found))
        # coal's distance of a center deep inside a curved body can be more than the least
        assert abs(found - depth) < 1e-6 or (name in ("cylinder", "ellipsoid") and found < depth)
    assert touching > 5 and in_one <= 1


def test_a_ring_around_a_rod_touches_all_around_and_lies_flat_on_a_box():
    rod = Scene(contact.Cylinder(0.31, 1.0), TORUS)
    points = rod.put(mb.Transform(), mb.Transform((0.0, 0.0, 0.0)))
    assert len(points) == 4 and np.allclose(points["depth"], 0.01, atol=1e-12)
    moved = rod.put(mb.Transform(), mb.Transform((0.02, 0.0, 0.0)))
    assert np.isclose(moved["depth"].max(), 0.03, atol=1e-9)
    flat = Scene(contact.Brick((1.0, 1.0, 0.1)), TORUS).put(mb.Transform(), mb.Transform((0.1, 0.2, 0.199)))
    assert len(flat) == 4 and np.allclose(flat["depth"], 0.001, atol=1e-12)
    assert np.allclose(flat["point"].mean(axis=0), (0.1, 0.2, 0.0995), atol=1e-9)


def test_linked_rings_touch_where_they_are_nearest(rng):
    scene = Scene(TORUS, TORUS)
    points = scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(np.pi / 2, "x"), (0.25, 0.0, 0.0)))
    # the circles' nearest points are (0.4, 0, 0) and (-0.15, 0, 0), (0.65, 0, 0): 0.25 from each other, more than two tubes
    assert len(points) == 0
    points = scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(np.pi / 2, "x"), (0.65, 0.0, 0.0)))
    assert np.isclose(points["depth"].max(), 0.05, atol=1e-12)


def test_either_order_of_two_tori_is_one_contact(rng):
    """Where they overlap deeply force and torque differed in a quarter of these poses, by up to 80 %."""
    other, deep = contact.Torus(0.35, 0.15), 0
    scenes = Scene(TORUS, other), Scene(other, TORUS)
    for _ in range(300):
        X, Y = random_pose(rng), random_pose(rng)
        loads, energies = [], []
        for scene, poses, sign in zip(scenes, ((X, Y), (Y, X)), (1.0, -1.0), strict=True):
            deep += len(scene.put(*poses)) > 1
            found = scene.contacts.get_contacts(scene.state)
            energies.append(found["potential_energy"].sum())
            loads.append(sign * np.hstack([found["force"], np.cross(found["point"], found["force"])]).sum(axis=0))
        assert np.isclose(*energies, rtol=1e-9)
        assert np.allclose(*loads, atol=1e-6 * np.linalg.norm(loads[0]))  # of places: where circles run beside each other
    assert deep > 100


def test_overlap_helper_is_that_of_spheres():
    spheres = SHAPES["sphere"], SHAPES["sphere"]
    poses = mb.Transform(), mb.Transform((0.5, 0, 0))
    assert np.isclose(overlap(spheres, poses, np.array([1.0, 0, 0])), 0.2)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(mb.contact.Brick((1.0, 1.0, 0.2)), id="brick"),
        pytest.param(mb.contact.Ellipsoid((1.0, 0.8, 0.2)), id="ellipsoid", marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("torus_first", [False, True])
def test_derivatives_where_a_torus_touches_at_a_place_that_is_looked_at(shape, torus_first):
    """By symmetry the minimum is a sixteenth of the circle, whose slope is zero but for rounding: they were off by 2 to 7 %."""
    scene = Scene(*((TORUS, shape) if torus_first else (shape, TORUS)))
    for lean, axis, spin in ((0.1, "x", 0.0), (0.1, "y", 0.0), (0.5, "x", np.pi / 2), (0.5, "y", np.pi)):
        turn = mb.Rotation.about_axis(lean, axis) @ mb.Rotation.about_axis(spin, "z")
        poses = [mb.Transform(turn, (0.0, 0.0, 0.27 + 0.4 * np.sin(lean))), mb.Transform()]
        assert len(scene.put(*(poses if torus_first else poses[::-1]))) == 1
        system, state = scene.system, scene.state.copy()
        system.realize(state)
        found = system.calc_forward_dynamics_derivatives(state)[0]
        for k, way in enumerate(np.eye(len(state.u))):
            moved = []
            for step in (1e-6, -1e-6):
                other = state.copy()
                other.q = state.q + step * system.matter.multiply_by_n(state, False, way)
                system.realize(other)
                moved.append(other.u_dot)
            assert np.allclose(found[:, k], (moved[0] - moved[1]) / 2e-6, rtol=0.0, atol=1e-6 * np.abs(found).max())
