"""Second derivatives of what is found by a search: places nearest to a point, and directions of least overlap.

They are those of the implicit function, against differences of its first ones.
"""

import numpy as np
import pytest
from scenes import SHAPES, TORUS

import mobod as mb
from kinds.overlaps import Two, random_pose
from mobod.algebra import Dual
from mobod.contact import height_surface
from mobod.contact.pairs import _core, _nearest, _refine

C = mb.contact


def assert_second(f, x, rng, derivative, tolerance=1e-7):
    """Of f, which takes numbers of any kind and gives some, along two random directions."""
    a, b = rng.normal(size=(2, len(x)))

    def first(h):
        return np.array([y.tangents[0] for y in f([Dual(v, (d,)) for v, d in zip(x + h * b, a, strict=True)])])

    numbers = [Dual(Dual(v, (d,)), (Dual(e, (0.0,)),)) for v, d, e in zip(x, a, b, strict=True)]
    found = np.array([y.tangents[0].tangents[0] for y in f(numbers)])
    expected = derivative(first)
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("outside", [True, False])
def test_the_nearest_point_of_an_ellipsoid(outside, rng, derivative):
    radii = 0.5, 0.8, 0.65

    def near(x):
        distance, n, _ = _nearest.nearest_on_ellipsoid(tuple(x), radii)
        return [distance, *n]

    x = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.2, 0.25, 3) * (4.0 if outside else 1.0)
    assert_second(near, x, rng, derivative)


def test_the_foot_on_a_height_field(rng, derivative):
    """From a ball's center, and from a line."""
    grid = np.linspace(-2, 2, 9)
    two = Two(C.Sphere(0.5), C.HeightField(grid, grid, 0.2 * np.sin(grid[:, None] + 0.3 * grid)))
    model, s = two.state.record, 1 - two.lower if two.lower == 0 else 0
    for axis in ((0.0, 0.0, 0.0), (0.6, 0.64, 0.48)):

        def foot(c, axis=axis):
            place = tuple(getattr(getattr(x, "value", x), "value", getattr(x, "value", x)) for x in c)
            x, y, found = height_surface.foot(model, s, place, axis, place[:2])
            assert found
            return height_surface.settle(model, s, tuple(c), axis, x, y)

        assert_second(foot, np.array([0.21, -0.33, 0.4]), rng, derivative, 1e-6)


def test_the_direction_of_least_overlap(rng, derivative):
    """Of two ellipsoids, and of one and an edge, whose direction stays across it."""
    corner, o, eye = _core.POINT, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    first = corner, o, (0.5, 0.7, 0.6), 0.0, 0
    edge = np.array([0.1, 0.2, 1.0]) / np.linalg.norm([0.1, 0.2, 1.0])
    for what, second, e in (
        (_refine.CURVES, (corner, o, (0.4, 0.3, 0.5), 0.0, 0), o),
        (_refine.EDGE_A, (corner, o, (0.4, 0.3, 0.5), 0.0, 0), tuple(edge)),
    ):
        f = first if what == _refine.CURVES else (_core.EDGE, o, tuple(edge), 0.0, 0)

        def direction(p, what=what, f=f, g=second, e=e):
            place = np.array([getattr(getattr(x, "value", x), "value", getattr(x, "value", x)) for x in p])
            n = tuple(place / np.linalg.norm(place))
            for _ in range(30):
                n, moved = _refine.newton(what, f, g, eye, o, eye, tuple(place), n, e)
            assert 0.0 <= moved < 1e-12
            zero = 0.0 * p[0]
            n = n[0] + zero, n[1] + zero, n[2] + zero
            for _ in range(2):  # as `general_convex` does
                n, _ = _refine.newton(what, f, g, eye, o, eye, tuple(p), n, e)
            return n

        assert_second(direction, np.array([0.5, 0.3, 0.1]), rng, derivative)


HILLS = C.HeightField(
    np.linspace(-2, 2, 9), np.linspace(-2, 2, 9), 0.2 * np.sin(np.add.outer(np.arange(9), 0.3 * np.arange(9)))
)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "first, second",
    [("ellipsoid", "cylinder"), ("ellipsoid", HILLS), ("brick", HILLS), ("torus", "capsule"), ("ellipsoid", "table")],
    ids=lambda one: one if isinstance(one, str) else "field",
)
def test_accelerations_of_what_touches(first, second, rng, derivative):
    """Whole systems, along a random change of q."""
    shapes = {"torus": TORUS, **SHAPES}
    two = Two(shapes[first], shapes.get(second, second) if isinstance(second, str) else second)
    system, state = two.system, two.state
    for _ in range(200):
        state.q = np.concatenate([np.r_[random_pose(rng).R.to_quaternion(), random_pose(rng, 0.4).p] for _ in range(2)])
        system.realize(state)
        if len(points := two.contacts.get_contacts(state)) and 0.01 < points["depth"].max() < 0.1:
            break
    a = rng.normal(size=12)
    N = np.array([system.matter.multiply_by_n(state, False, e) for e in np.eye(12)]).T

    def first_ones(h):
        other = state.copy()
        other.q = state.q + h * (N @ a)
        system.normalize_quaternions(other)
        system.realize(other)
        return system.calc_forward_dynamics_derivatives(other).q

    found, expected = system.calc_forward_dynamics_second_derivatives(state, q=a).q, derivative(lambda h: first_ones(0.3 * h))
    np.testing.assert_allclose(found, expected / 0.3, atol=1e-5 * np.abs(expected).max())
