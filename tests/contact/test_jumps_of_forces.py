"""Forces that jump, and forces that are not the slope of their energy: `jumps` hunts for both on random ways."""

import numpy as np
import pytest
from jumps import ALL, PAIRS, Way, hunt, scene_of
from scenes import SHAPES, Scene, random_pose

import mobod as mb

#: What faces, edges and rims do where one takes over from another, which the documentation says: of what is round with anything
#: nothing jumps.
ANGULAR = {"cylinder", "brick", "hull", "mesh"}
#: The most by which a force may differ from the slope: of what bends, the depth over the length along which it does.
MOST, OF_ANGULAR = 0.05, 0.2


def jumping(first, second):
    """True if both have edges, whose directions can change at once; of two meshes the nearest face does."""
    if "mesh" in (first, second):
        return first == second
    return {first, second} <= ANGULAR


@pytest.mark.parametrize("pair", [("capsule", "ellipsoid"), ("capsule", "brick")], ids=",".join)
def test_forces_of_what_is_round_do_not_jump(pair):
    jumps, slopes = hunt(*pair, 2, seed=5)
    assert jumps.max() < 0.04 and slopes.max() < MOST


@pytest.mark.parametrize("pair", [("cylinder", "brick"), ("cylinder", "cylinder")], ids=",".join)
def test_cylinders_go_over_from_one_direction_to_another_without_a_jump(pair):
    """These ways jumped by up to 1.9 and 1.8; forces are the slope of their energy."""
    jumps, slopes = hunt(*pair, 8)
    assert jumps.max() < 0.04
    assert np.quantile(slopes, 0.9) < 1e-3 and slopes.max() < OF_ANGULAR


@pytest.mark.parametrize(
    ("pair", "way"), [(("hull", "hull"), 8), (("hull", "hull"), 35), (("brick", "hull"), 20), (("capsule", "hull"), 35)]
)
def test_faces_at_edges_that_cross_share_smoothly(pair, way):
    """Of both near the edges' normal, which jumped by 0.17; cuts round a corner: 0.05, 0.06; a capsule along an edge: 0.28."""
    jump, _ = Way(scene_of(*pair), False, np.random.default_rng([1711, way])).largest_jump()
    assert jump < 0.04


@pytest.mark.parametrize(
    ("pair", "seed", "way"),
    [
        (("cylinder", "brick"), 1711, 7),
        (("cylinder", "brick"), 1711, 13),
        (("cylinder", "hull"), 1711, 9),
        (("cylinder", "hull"), 1711, 18),
        (("cylinder", "cylinder"), 1711, 25),
        (("hull", "hull"), 1711, 13),
        (("cylinder", "cylinder"), 1, 14),
        (("cylinder", "cylinder"), 2024, 55),
        (("cylinder", "hull"), 2024, 26),
    ],
)
def test_directions_near_each_other_all_share_and_end_smoothly(pair, seed, way):
    """A side and a rim, a face and a rim, guessed at as one: 0.08, 0.11, 0.07, 0.06, 0.07; four of hulls: 0.06.

    Then two of rims, whose least overlap ends in none: 0.16, 0.05; and a side that comes to lie level: 0.05.
    """
    jump, _ = Way(scene_of(*pair), False, np.random.default_rng([seed, way])).largest_jump()
    assert jump < 0.04


@pytest.mark.parametrize(
    ("pair", "way"), [(("hull", "torus"), 0), (("hull", "torus"), 3), (("hull", "torus"), 12), (("hull", "torus"), 16),
                      (("torus", "torus"), 0)],
)  # fmt: skip
def test_places_where_a_ring_touches_come_and_go_with_no_force(pair, way):
    """They jumped by 0.08, 0.37, 0.61, 0.66, 0.36; forces are the slope of their energy."""
    one = Way(scene_of(*pair), False, np.random.default_rng([1, way]))
    assert one.largest_jump()[0] < 0.003
    assert max(one.unexplained(np.random.default_rng(way), 20)) < MOST


@pytest.mark.parametrize(("second", "number"), [("cylinder", 73), ("capsule", 20), ("hull", 124)])
def test_another_place_of_a_ring_becomes_the_deepest_with_no_jump(second, number):
    """Of two minima, with a maximum inside between them, neither has more than its share: these jumped by 0.23, 0.05, 0.05."""
    scene, rng = Scene(ALL["torus"], SHAPES[second]), np.random.default_rng(5)
    for _ in range(number):
        X, Y = random_pose(rng), mb.Transform(random_pose(rng).R)
        center = 0.9 * X.p / np.linalg.norm(X.p) * rng.uniform(0.5, 0.8)
    points = scene.put(mb.Transform(X.R, center), Y)
    one, two = np.argsort(points["depth"])[[-1, 0]]
    arms = np.cross(points["point"] - center, points["normal"])
    forces, places = [], []
    for angle in np.linspace(-0.015, 0.015, 601):
        turn = mb.Rotation.about_axis(angle, arms[one] - arms[two])
        points = scene.put(mb.Transform(turn @ X.R, center), Y)
        places.append(points["point"][np.argmax(points["depth"])])
        forces.append(scene.contacts.get_contacts(scene.state)["force"][0])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() > 0.1
    sizes, jumps = np.linalg.norm(forces, axis=1), np.linalg.norm(np.diff(forces, axis=0), axis=1)
    assert (jumps / sizes[1:]).max() < 0.01


def test_a_ring_lies_on_a_face_on_four_places_that_go_one_by_one():
    """A quarter of a turn apart, each as on a plane; where the ring leans until only one is left they go with no force."""
    scene = Scene(mb.contact.Brick((1.0, 1.0, 0.2)), ALL["torus"])
    flat = scene.put(mb.Transform(), mb.Transform((0.0, 0.0, 0.299)))
    assert len(flat) == 4 and np.allclose(flat["depth"], 1e-3)
    loads = []
    for lean in np.linspace(0.0, 6e-3, 601):
        scene.put(mb.Transform(), mb.Transform(mb.Rotation.about_axis(lean, "x"), (0.0, 0.0, 0.299)))
        loads.append(scene.contacts.get_contacts(scene.state)["force"][0])
    assert np.abs(np.diff(loads, axis=0)).max() < 0.01 * np.linalg.norm(loads[0])


@pytest.mark.parametrize("first", ["cylinder", "brick", "hull"])
def test_faces_of_a_mesh_go_over_from_one_side_to_another_without_a_jump(first):
    """These ways jumped by up to 1.1, 1.8 and 1.1."""
    jumps, slopes = hunt(first, "mesh", 5)
    assert jumps.max() < 0.04 and np.quantile(slopes, 0.9) < 0.01


def test_what_is_deepest_below_a_face_is_so_along_its_normal():
    """It was what is so along a direction near by, the other end of an edge that lies along the face: 0.28."""
    jump, _ = Way(scene_of("brick", "brick"), False, np.random.default_rng([1, 19])).largest_jump()
    assert jump < 0.04


def test_bricks_go_over_from_one_direction_to_another_without_a_jump():
    """Five of these ways jumped by 0.7 to 1.6 where the direction of least overlap changes."""
    jumps, slopes = hunt("brick", "brick", 8)
    assert jumps.max() < 0.04 and np.quantile(slopes, 0.9) < 1e-5 and slopes.max() < 2e-3


def test_a_corner_bears_alike_whichever_of_its_faces_is_the_nearest():
    """1e5 N/m each, so half of that; 2.5 % less where its deepest place goes over to its face's."""
    scene, depth, rng = Scene(SHAPES["brick"], SHAPES["hull"]), 0.005, np.random.default_rng(7)
    vertices, forces = SHAPES["hull"].vertices, []
    for _ in range(60):
        q = rng.normal(size=4)
        R = mb.Rotation.from_quaternion(q / np.linalg.norm(q))
        heights = np.sort(vertices @ np.asarray(R)[2])
        lowest = vertices[np.argmin(vertices @ np.asarray(R)[2])]
        if heights[1] - heights[0] > depth:
            points = scene.put(mb.Transform(), mb.Transform(R, np.array((0.0, 0.0, 0.2 - depth)) - R @ lowest))
            forces.append(points["force"].sum(axis=0)[2] / (5e4 * depth))
    assert len(forces) > 20
    assert 0.97 < min(forces) and max(forces) < 1.001


def test_an_edge_that_lies_across_another_bears_alike_whichever_end_is_lower():
    """Up to there the two edges' normal decides, from there on the face's, which bears along the edge."""
    scene, energies = Scene(SHAPES["brick"], SHAPES["brick"]), []
    for lean in (-1e-2, -1e-7, 1e-7):
        R = mb.Rotation.about_axis(lean, "x") @ mb.Rotation.about_axis(0.1, "y")
        edge = np.array((0.3, 0.0, -0.2))  # at x = 0.25, y = 0.3 in the middle, 3 mm below the top
        scene.put(mb.Transform(), mb.Transform(R, np.array((0.25, 0.3, 0.197)) - R @ edge))
        energies.append(scene.contacts.get_contacts(scene.state)["potential_energy"][0])
    assert energies[1] == pytest.approx(energies[2], rel=0.03)
    assert energies[0] > 0.5 * energies[1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("pair", PAIRS, ids=",".join)
def test_a_hunt_for_jumps(pair):
    jumps, slopes = hunt(*pair, 20)
    assert np.quantile(slopes, 0.9) < 0.01
    if not (
        "mesh" in pair and set(pair) <= ANGULAR
    ):  # where the cosine changes the energy does, and the force knows nothing of it
        assert slopes.max() < (OF_ANGULAR if jumping(*pair) else MOST)
    if not jumping(*pair):
        assert jumps.max() < 0.04
    elif set(pair) <= {"cylinder", "brick", "hull"}:
        assert jumps.max() < 0.1 and (jumps > 0.04).sum() <= (1 if pair == ("cylinder", "hull") else 0)
