"""Rows of pairs in Duals and in lanes: tangents equal differences, lanes single states; forces derive from energy."""

import numpy as np
import pytest
from scenes import CONVEX, HALF_SPACE, SHAPES, TORUS, Scene, random_pose

import mobod as mb
from mobod import Stage

OTHERS = [(name, "torus") for name in SHAPES if name not in ("hull", "table")] + [("torus", "torus"), ("torus", "table")]
PLANES = [("half-space", name) for name in [*SHAPES, "torus"]]
ALL = {"torus": TORUS, "half-space": HALF_SPACE, **SHAPES}


@pytest.mark.long
def test_tangents_of_faces_that_bear_each_other(rng):
    """One pair of the search among convex shapes, whose routine is that of all others: that it is compiled for Duals at all."""
    check_tangents("brick", "brick", rng)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first, second", [*CONVEX, *OTHERS, *PLANES], ids=lambda name: name)
def test_tangents_are_differences(first, second, rng):
    check_tangents(first, second, rng)


def check_tangents(first, second, rng):
    scene, h, compared = Scene(ALL[first], ALL[second]), 1e-6, 0
    for _ in range(40):
        poses = random_pose(rng), random_pose(rng)
        if first == "half-space":
            poses = mb.Transform(), poses[1]
        if len(scene.put(*poses)) == 0:
            continue
        q = scene.state.q.copy()
        dq = rng.normal(size=q.size)
        if (first, second) in (("brick", "torus"), ("cylinder", "torus"), ("ellipsoid", "torus"), ("torus", "table")):
            if scene.rows(q)[:, 6].max() > 0.9 * TORUS.tube_radius:
                continue  # the circle goes through faces and edges, see _ring
        rows, low, high = scene.rows(q), scene.rows(q - h * dq), scene.rows(q + h * dq)
        if not len(low) == len(rows) == len(high):
            continue
        expected = (high - low) / (2.0 * h)
        curvature = np.abs(high + low - 2.0 * rows)[:, :8].max() / h
        if curvature > 1e-2 or np.abs(expected).max() > 1e3:
            continue  # a feature changes within the step, or nearly
        wider = [scene.rows(q + side * 3.0 * h * dq) for side in (1.0, -1.0)]
        if not len(wider[0]) == len(wider[1]) == len(rows):
            continue
        if np.abs(wider[0] - wider[1] - 6.0 * h * expected).max() > 1e-5 * h * max(1.0, np.abs(expected).max()):
            continue  # steps of two sizes disagree: rings that are nearly parallel touch at a place that rounding moves
        values, tangents = scene.tangents(q, dq)
        assert np.abs(values[: len(rows)] - rows).max() < 1e-9 * max(1.0, np.abs(rows).max())
        # differences: a millionth of third derivatives, which grow as features are small; rounding of 1e-15 / h; of tori
        # the derivative of g is a difference itself
        tolerance = 1e-3 if "torus" in (first, second) else 1e-5
        assert np.abs(tangents[: len(rows)] - expected).max() < tolerance * max(1.0, np.abs(expected).max()) + 1e-3 * curvature
        compared += 1
    assert compared > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("first, second", [("sphere", "ellipsoid"), ("ellipsoid", "ellipsoid"), ("sphere", "torus")])
def test_lanes_are_single_states(first, second, rng):
    scene = Scene(ALL[first], ALL[second])
    states = []
    for _ in range(11):
        scene.put(random_pose(rng, 0.25), random_pose(rng, 0.25))
        scene.state.u = rng.normal(size=12)
        states.append(scene.state.copy())
    ensemble = mb.Ensemble(scene.system, len(states))
    ensemble.q, ensemble.u = np.array([s.q for s in states]), np.array([s.u for s in states])
    ensemble.realize(Stage.ACCELERATION)
    for k, state in enumerate(states):
        scene.system.realize(state, Stage.ACCELERATION)
        # the force goes with depth to 3/2, of depths that differ by rounding
        assert np.allclose(ensemble.u_dot[k], state.u_dot, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("first, second", [("sphere", "sphere"), ("sphere", "capsule"), ("half-space", "sphere")])
def test_forces_of_round_things_are_the_derivative_of_their_energy(first, second, rng):
    """At rest: the force on the second body along a translation is what the potential energy loses along it."""
    scene, h, compared = Scene(ALL[first], ALL[second]), 1e-6, 0
    for _ in range(20):
        X, Y = random_pose(rng), random_pose(rng)
        points = scene.put(X, Y)
        if len(points) != 1:
            continue
        energies, direction = [], rng.normal(size=3)
        for side in (h, -h):
            scene.put(X, mb.Transform(Y.R, Y.p + side * direction))
            energies.append(scene.contacts.get_contacts(scene.state)["potential_energy"].sum())
        expected = (energies[1] - energies[0]) / (2.0 * h)
        force = points["force"][0] @ direction
        least = 1e-5 * max(1.0, abs(force))
        if second == "capsule":
            z, shape = abs((~Y @ points["point"][0])[2]), ALL[second]
            if shape.half_length - 0.3 * shape.radius < z < shape.half_length:
                # its curvature goes over to that of the end, which the depth's part of that length of the force leaves out
                least = points["depth"][0] / (0.3 * shape.radius) * np.linalg.norm(points["force"])
        assert abs(force - expected) < least
        compared += 1
    assert compared > 5
