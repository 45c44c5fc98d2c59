"""Manifolds of flat faces and lines: forces that do not jump as their points come and go."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scenes import Scene, coals, random_pose, support

import mobod as mb

contact = mb.contact
LOWER, UPPER = contact.Brick((0.5, 0.4, 0.1)), contact.Brick((0.2, 0.3, 0.1))
DEPTH = 1e-4


def press(scene, X):
    """The force along z, and the moments across it, of the second shape at X on the first at the origin."""
    scene.put(mb.Transform(), X)
    (row,) = scene.contacts.get_contacts(scene.state)
    return np.array([row["force"][2], *(row["moment"] + np.cross(row["point"] - X.p, row["force"]))[:2]])


@pytest.mark.parametrize("upper", [UPPER, contact.Cylinder(0.25, 0.1), contact.ConvexHull(np.random.default_rng(2).permutation(
    [(x, y, z) for x in (-0.2, 0.2) for y in (-0.3, 0.3) for z in (-0.1, 0.1)]))])  # fmt: skip
@pytest.mark.parametrize("way", ["turning", "sliding", "flush"])
def test_forces_do_not_jump_where_corners_of_the_manifold_come_and_go(upper, way):
    """The brick turns about the vertical, slides over the edge, or turns with its side flush with the other's."""
    scene = Scene(LOWER, upper)
    forces = []
    for s in np.linspace(0.0, 1.0, 401):
        turn, aside = (1.5 * s, 0.35) if way == "turning" else (0.1, 0.25 + 0.4 * s) if way == "sliding" else (1e-4 * s, 0.3)
        forces.append(press(scene, mb.Transform(mb.Rotation.about_axis(turn, "z"), (aside, 0.0, 0.2 - DEPTH))))
    forces = np.array(forces)
    jumps = np.abs(np.diff(forces, axis=0)).max(axis=0)
    largest = np.abs(forces[:, 0]).max()
    assert jumps[0] < 0.02 * largest
    assert jumps[1:].max() < 0.02 * 0.3 * largest


@pytest.mark.parametrize(
    ("shape", "turn"),
    [
        (contact.Sphere(0.1), 0.0),
        (contact.Capsule(0.1, 0.2), 0.0),
        (contact.Capsule(0.1, 0.2), 0.6),
        (contact.Ellipsoid((0.15, 0.1, 0.1)), 0.6),
    ],
)
@pytest.mark.parametrize(
    "lower", [LOWER, contact.ConvexHull(np.multiply(list(np.ndindex(2, 2, 2)), 2.0) * (0.5, 0.4, 0.1) - (0.5, 0.4, 0.1))]
)
def test_forces_do_not_jump_where_what_is_round_slides_over_an_edge(lower, shape, turn):
    scene, R = Scene(lower, shape), mb.Rotation.about_axis(turn, "y")
    height = 0.1 + support(shape, np.asarray(R).T @ (0.0, 0.0, -1.0)) - 1e-3
    forces = []
    for x in np.linspace(0.4, 0.7, 2401):
        X = mb.Transform(R, (x, 0.0, height))
        forces.append(press(scene, X)[0] if len(scene.put(mb.Transform(), X)) else 0.0)
    assert forces[0] > 0.0 and forces[-1] == 0.0
    assert max(forces) < (1.05 if turn and isinstance(shape, contact.Capsule) else 1.01) * forces[0]
    if not turn or isinstance(shape, contact.Ellipsoid):
        assert np.abs(np.diff(forces)).max() < 0.05 * forces[0]


def test_what_lies_across_an_edge_goes_off_it_without_a_jump():
    """A capsule tilted a little, its deeper end over the edge last: its force was halved there, and more."""
    scene = Scene(LOWER, contact.Capsule(0.1, 0.2))
    for tilt in (0.003, 0.02, -0.003):
        R, height = mb.Rotation.about_axis(np.pi / 2 + tilt, "y"), 0.2 - 2e-3 + 0.2 * abs(tilt)
        places = [mb.Transform(R, (x, 0.0, height)) for x in np.linspace(0.2, 0.75, 1101)]
        forces = [scene.put(mb.Transform(), X)["force"].sum(axis=0)[2] for X in places]
        assert forces[0] > 0.0 and forces[-1] == 0.0
        assert np.abs(np.diff(forces)).max() < 0.05 * forces[0]


def test_the_force_of_a_cut_is_the_gradient_of_its_energy():
    """A capsule that lies flat across an edge, pushed off it; and it lies still there, in the steps that that takes."""
    scene = Scene(LOWER, contact.Capsule(0.1, 0.2))
    R = mb.Rotation.about_axis(np.pi / 2, "y")
    found = [scene.put(mb.Transform(), mb.Transform(R, (0.3 + x, 0.0, 0.2 - 2e-3))) for x in np.linspace(0.01, 0.39, 400)]
    energies, aside = [one["potential_energy"].sum() for one in found], [one["force"][:, 0].sum() for one in found]
    slope = -np.gradient(energies, np.linspace(0.01, 0.39, 400))
    assert_allclose(aside[1:-1], slope[1:-1], rtol=2e-3, atol=2e-3 * slope.max())
    assert slope.max() > 0.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (LOWER, contact.Capsule(0.1, 0.2)),
        (LOWER, contact.Cylinder(0.1, 0.2)),
        (contact.Capsule(0.1, 0.3), contact.Cylinder(0.2, 0.5)),
    ],
)
def test_tangents_of_what_leans_are_differences(first, second, rng):
    scene, leaning, h = Scene(first, second), 0, 1e-7
    for _ in range(12):
        if first is LOWER:
            R = mb.Rotation.about_axis(rng.uniform(-0.5, 0.5), "z") @ mb.Rotation.about_axis(np.pi / 2 - 0.003, "y")
            X = mb.Transform(R, (0.5 + rng.uniform(-0.18, 0.18), rng.uniform(-0.2, 0.2), 0.2 - 2e-3))
        else:
            X = mb.Transform(mb.Rotation.about_axis(1e-3 * rng.normal(), "y"), (0.297, 0.0, rng.uniform(-0.7, 0.7)))
        scene.put(mb.Transform(), X)
        q = scene.state.q.copy()
        dq = rng.normal(size=len(q))
        rows, low, high = scene.rows(q), scene.rows(q - h * dq), scene.rows(q + h * dq)
        if not len(low) == len(rows) == len(high) or np.abs(high + low - 2.0 * rows)[:, :8].max() > 1e-3 * h:
            continue  # what touches changes within the step
        expected, (_, tangents) = (high - low) / (2.0 * h), scene.tangents(q, dq)
        off = np.abs(tangents[: len(rows)] - expected).max(axis=0)
        assert (off < 1e-5 * np.maximum(1.0, np.abs(expected).max(axis=0))).all()
        leaning += np.ptp(rows[:, 3:6], axis=0).max() > 1e-9
    assert leaning > 0


@pytest.mark.parametrize("friction", ["stribeck", "bristle"])
def test_a_capsule_across_an_edge_does_not_tremble(friction):
    """It took ten to forty times the steps, without end."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, friction=friction)
    material = contact.Material(1e6, dissipation=1.0, static_friction=0.6, dynamic_friction=0.5)
    matter.ground.add_contact_surface(contact.Surface(LOWER, material))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.1, 0.1, 0.3))))
    capsule = mb.mobilizer.Free(matter.ground, body)
    capsule.add_contact_surface(contact.Surface(contact.Capsule(0.1, 0.2), material))
    state = system.realize_topology()
    R = mb.Rotation.about_axis(0.2, "z") @ mb.Rotation.about_axis(np.pi / 2 + 0.01, "y")
    capsule.set_q_to_fit_transform(state, mb.Transform(R, (0.45, 0.0, 0.205)))
    run = mb.simulate(system, state, 5.0, integrator=mb.integrator.RungeKuttaMerson(system, accuracy=1e-3))
    assert run.statistics["steps_attempted"] < 1000
    assert np.abs(run.u[-1, 3:]).max() < 5e-3


def test_a_cylinder_that_stands_up_goes_over_from_its_side_to_its_end():
    """By the cosine of its axis, from 0.9 to 0.99, as a smooth step; the lower end of its side has the number 12."""
    shape = contact.Cylinder(0.1, 0.1)
    scene = Scene(contact.Brick((0.5, 0.5, 0.1)), shape)
    for cosine, share in ((0.98, 0.0343), (0.985, 0.00895), (0.99, 0.0)):  # 1 - x^2 (3 - 2 x)
        R = mb.Rotation.about_axis(np.arccos(cosine), "y")
        height = 0.1 + support(shape, np.asarray(R).T @ (0.0, 0.0, -1.0)) - 0.02
        points = scene.put(mb.Transform(), mb.Transform(R, (0.03, 0.02, height)))
        assert points["force"][points["feature"] == 12, 2].sum() / (5e4 * 0.02) == pytest.approx(share, rel=0.01, abs=1e-12)
        assert (points["feature"] != 12).sum() >= 8


def test_a_brick_within_a_face_bears_as_on_a_plane():
    on_brick, on_plane = Scene(LOWER, UPPER), Scene(contact.HalfSpace(), UPPER)
    wanted = press(on_plane, mb.Transform((0.0, 0.0, 0.1 - DEPTH)))
    for turn in (0.0, 0.3):
        X = mb.Transform(mb.Rotation.about_axis(turn, "z"), (0.02, 0.03, 0.2 - DEPTH))
        assert_allclose(press(on_brick, X), wanted, rtol=1e-9, atol=1e-9 * wanted[0])


def test_aligned_bricks_that_hardly_overlap_bear_alike_in_either_order_and_at_the_least_tilts(rng):
    """Of vertices that are as deep one was taken: of the first of these 14 % by the order, and as much at tilts of 1e-9."""
    first = (0.3, 0.4, 0.2)
    cases = [(first, first, (0.4484, 0.6073, 0.399), 0.0)]
    for turn in (0.0, 0.0, 0.0, 0.4):
        a, b, over = rng.uniform(0.2, 0.5, 3), rng.uniform(0.2, 0.5, 3), rng.uniform(0.02, 0.15, 2)
        x, y = a[:2] + b[:2] - over
        if turn > 0.0:  # a corner within the edge
            c, s = np.cos(turn), np.sin(turn)
            x, y = a[0] + b[0] * c + b[1] * s - over[0], b[0] * s - b[1] * c
        cases.append((a, b, (x, y, a[2] + b[2] - 0.001), turn))
    for a, b, apart, turn in cases:
        scenes, wanted = (Scene(contact.Brick(a), contact.Brick(b)), Scene(contact.Brick(b), contact.Brick(a))), None
        for tilt in (0.0, 1e-9, 1e-8):
            for axis in ((1.0, 0.3, 0.0), (-1.0, 0.3, 0.0), (-1.0, -0.3, 0.0), (1.0, -0.3, 0.0)):
                R = mb.Rotation.about_axis(tilt, axis) @ mb.Rotation.about_axis(turn, "z")
                poses = mb.Transform(), mb.Transform(R, apart)
                for order in (0, 1):
                    rows = scenes[order].put(*(poses if order == 0 else poses[::-1]))
                    loads = (1.0 - 2.0 * order) * np.append(
                        rows["force"].sum(axis=0), np.cross(rows["point"] - a, rows["force"]).sum(axis=0)
                    )
                    wanted = loads if wanted is None else wanted
                    assert_allclose(loads, wanted, atol=0.01 * abs(wanted).max())
        assert wanted[2] > 1.0


def test_cylinders_side_by_side_touch_along_a_line(rng):
    coal = pytest.importorskip("coal", reason="coal is not installed")
    first, second = contact.Cylinder(0.3, 0.5), contact.Cylinder(0.2, 0.4)
    scene = Scene(first, second)
    for _ in range(20):
        angle, along, depth = rng.uniform(0, 2 * np.pi), rng.uniform(-0.6, 0.6), 10 ** rng.uniform(-5, -2)
        where = (0.5 - depth) * np.array([np.cos(angle), np.sin(angle), 0.0]) + np.array([0.0, 0.0, along])
        X = mb.Transform(mb.Rotation.about_axis(rng.choice([0.0, np.pi]), "x"), where)
        rows = scene.put(mb.Transform(), X)
        assert len(rows) == 2
        ends = max(-0.5, along - 0.4), min(0.5, along + 0.4)
        assert_allclose(np.sort(rows["point"][:, 2]), ends, atol=1e-12)
        assert_allclose(rows["depth"], depth, rtol=1e-9)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        places = [coal.Transform3s(), coal.Transform3s(np.asarray(X.R), np.asarray(X.p))]
        shapes = [coals(coal, one) for one in (first, second)]
        assert coal.collide(shapes[0], places[0], shapes[1], places[1], request, result)
        assert_allclose(result.getContact(0).penetration_depth, -depth, rtol=1e-3, atol=5e-6)


def test_of_cylinders_that_cross_the_crossing_is_what_touches():
    scene = Scene(contact.Cylinder(0.3, 0.5), contact.Cylinder(0.2, 0.4))
    (row,) = scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(0.5, "x"), (0.4999, 0.0, 0.0)))
    assert_allclose(row["depth"], 1e-4, rtol=1e-6)
    # nearly parallel, and tilted towards each other: the end that is deeper
    rows = scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(0.004, "y"), (0.4999, 0.0, 0.0)))
    assert len(rows) == 1


def test_a_capsule_along_a_cylinder_touches_at_both_ends_of_what_they_share(rng):
    scene = Scene(contact.Capsule(0.1, 0.3), contact.Cylinder(0.2, 0.5))
    for _ in range(10):
        along, depth = rng.uniform(-0.7, 0.7), 10 ** rng.uniform(-6, -2)
        rows = scene.put(mb.Transform(), mb.Transform((0.3 - depth, 0.0, along)))
        assert_allclose(np.sort(rows["point"][:, 2]), (max(-0.3, along - 0.5), min(0.3, along + 0.5)), atol=1e-12)
        assert_allclose(rows["point"][:, :2], [[0.1 - 0.5 * depth, 0.0]] * 2, atol=1e-12)
        assert_allclose(rows["depth"], depth, rtol=1e-8)
        assert_allclose(rows["normal"][:, 0], 1.0, atol=1e-3)


def test_the_point_of_parallel_edges_is_on_both():
    """A capsule along an edge of a brick, and edges along each other: any point of the line would be as deep."""
    edge_up = mb.Rotation.about_axis(np.pi / 4, "z")
    for first, second, reach in (
        (contact.Capsule(0.1, 0.3), contact.Brick((0.5, 0.5, 2.0)), 0.1 + np.sqrt(0.5)),
        (contact.Brick((0.1, 0.1, 0.3)), contact.Brick((0.5, 0.5, 2.0)), np.sqrt(0.02) + np.sqrt(0.5)),
    ):
        rows = Scene(first, second).put(mb.Transform(edge_up), mb.Transform(edge_up, (reach - 1e-5, 0.0, 0.4)))
        assert 0.7e-5 < rows["depth"].max() < 1.0001e-5
        assert (np.abs(rows["point"][:, 2]) < 0.3 + 1e-9).all()


def test_capsules_whose_axes_cross_are_pushed_square_to_both(rng):
    """Axes that cross, or lie in one line, are apart by rounding alone, in a direction that says nothing."""
    scene = Scene(contact.Capsule(0.2, 0.4), contact.Capsule(0.1, 0.3))
    for angle in (0.0, 0.5 * np.pi, 1.0):
        for _ in range(20):
            X = random_pose(rng, 1.0)
            R = X.R @ mb.Rotation.about_axis(angle, "y")
            s, t = rng.uniform(-0.3, 0.3, 2)
            Y = mb.Transform(R, X.p + s * np.asarray(X.R)[:, 2] - t * np.asarray(R)[:, 2])
            (row,) = scene.put(X, Y)
            assert_allclose(row["depth"], 0.3, atol=1e-14)
            assert_allclose([row["normal"] @ np.asarray(turn)[:, 2] for turn in (X.R, R)], 0.0, atol=1e-9)


def test_capsules_lie_on_each_other_as_nearly_parallel_as_they_like():
    """The depth is continuous in the angle down to none at all."""
    scene = Scene(contact.Capsule(0.07, 0.27), contact.Capsule(0.32, 0.32))
    for angle in 10.0 ** np.arange(-12, -2):
        for axis in ("x", "y"):
            (row,) = scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(angle, axis), (0.37, 0.0, 0.0)))
            gain = 0.27 * np.tan(angle) if axis == "y" else 0.0
            assert_allclose(row["depth"], 0.02 + gain, atol=max(1e-15, 0.3 * angle**2))
