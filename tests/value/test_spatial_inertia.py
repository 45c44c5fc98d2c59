"""SpatialInertia and ArticulatedInertia: against sums over points and their 6x6 matrices."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from point_clouds import clouds, points, sums

from mobod.errors import ModelError
from mobod.value import ArticulatedInertia, Inertia, MassProperties, Rotation, SpatialInertia, Transform, UnitInertia

TIGHT = 1e-11  # tens of roundings of numbers of order 1000


IDENTITY = Transform()


def of(cloud, X_FB=IDENTITY):
    """Spatial inertia of point masses, in the frame B."""
    mass, com, inertia = sums([(tuple(~X_FB @ p), m) for p, m in cloud])
    return SpatialInertia(mass, com, inertia / mass)


def assert_same(a, b):
    assert_allclose(np.asarray(a), np.asarray(b), atol=TIGHT)


@given(clouds)
def test_parts_agree_with_mass_properties(cloud):
    m = MassProperties(*sums(cloud))
    M = SpatialInertia.from_mass_properties(m)
    assert_same(M, m.to_spatial_matrix())
    assert_same(M, of(cloud))
    assert M.mass == m.mass and np.array_equal(M.com, m.com) and M.unit_inertia == m.unit_inertia
    assert_same(M.inertia, m.inertia)
    assert_allclose(M.mass_moment, m.mass * m.com)


@given(clouds, points, points)
def test_gives_the_force_that_accelerates_the_points(cloud, alpha, a):
    forces = [m * (np.array(a) + np.cross(alpha, p)) for p, m in cloud]
    expected = [sum(np.cross(p, f) for (p, _), f in zip(cloud, forces, strict=True)), sum(forces)]
    M = of(cloud)
    assert_allclose(M @ (alpha, a), expected, atol=TIGHT)
    assert_allclose(ArticulatedInertia(M) @ (alpha, a), expected, atol=TIGHT)


@given(clouds, clouds)
def test_sum_is_that_of_both_bodies(one, other):
    assert_same(of(one) + of(other), of(one + other))
    P = ArticulatedInertia(of(one))
    for total in (P + of(other), of(other) + P, P + ArticulatedInertia(of(other))):
        assert type(total) is ArticulatedInertia
        assert_same(total, of(one + other))
    assert_same((P + of(other)) - of(other), P)


@given(clouds, points, st.tuples(*[st.floats(-4, 4)] * 3))
def test_other_frames(cloud, p, angles):
    M, R_FB = of(cloud), Rotation.from_body_fixed_xyz(angles)
    assert_same(M.shift(p), of(cloud, Transform(p)))
    assert_same(M.reexpress(R_FB), of(cloud, Transform(R_FB)))
    assert_same(M.transform(Transform(R_FB, p)), of(cloud, Transform(R_FB, p)))
    assert_same(ArticulatedInertia(M).shift(p), M.shift(p))  # with offset mass center: simbody#334


def test_shapes_of_what_it_is_applied_to():
    M = of([((1.0, 2.0, 3.0), 2.0), ((0.0, -1.0, 1.0), 1.0)])
    matrix, A = np.asarray(M), np.arange(24.0).reshape(4, 2, 3)
    for operator in (M, ArticulatedInertia(M)):
        assert_allclose(operator @ A[0].ravel(), matrix @ A[0].ravel())
        assert_allclose(operator @ A[0], (matrix @ A[0].ravel()).reshape(2, 3))
        assert_allclose(operator @ A, [operator @ a for a in A])
        columns = A.reshape(4, 6).T
        assert_allclose(operator @ columns, matrix @ columns)
        assert_allclose(columns.T @ operator, columns.T @ matrix)


def test_ground():
    ground = SpatialInertia.trusted(math.inf, np.zeros(3), np.eye(3))
    body = of([((1.0, 2.0, 3.0), 2.0)])
    assert np.array_equal(np.asarray(ground), np.diag(np.full(6, math.inf)))
    turned = ground.reexpress(Rotation.about_axis(1, "x"))
    assert np.array_equal(np.asarray(turned), np.asarray(ground))
    assert ground + body == body + ground == ground == ground.transform(Transform())
    assert ground.mass == math.inf and not ground.mass_moment.any()
    assert not np.isnan(np.asarray(ground.inertia)).any()
    assert np.array_equal(np.asarray(ArticulatedInertia(ground)), np.asarray(ground))


def test_massless():
    nothing = SpatialInertia(0, (1, 2, 3), UnitInertia(1, 1, 1))
    body = of([((1.0, 2.0, 3.0), 2.0)])
    assert not np.asarray(nothing).any() and nothing.unit_inertia == UnitInertia.point_mass_at_origin()
    assert not np.asarray(nothing + nothing).any() and not np.asarray(nothing.shift((1, 2, 3))).any()
    assert_same(nothing + body, body)


def test_blocks_of_an_articulated_inertia():
    P = ArticulatedInertia(of([((1.0, 2.0, 3.0), 2.0)]))
    matrix = np.asarray(P)
    assert np.array_equal(P.inertia, matrix[:3, :3]) and np.array_equal(P.mass_moment, matrix[:3, 3:])
    assert np.array_equal(P.mass, 2 * np.eye(3))
    assert ArticulatedInertia(matrix) == P
    with pytest.raises(ValueError, match="read-only"):
        P.mass[0, 0] = 1


@pytest.mark.parametrize("kind", [lambda M: M, ArticulatedInertia])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda M: pickle.loads(pickle.dumps(M))])
def test_copies_are_equal(kind, again):
    M = kind(of([((1.0, 2.0, 3.0), 2.0)]))
    other = again(M)
    assert type(other) is type(M) and other == M and other != 1


def test_as_array_with_dtype_and_copy():
    M = of([((1.0, 2.0, 3.0), 2.0)])
    assert np.asarray(M).shape == (6, 6) and np.asarray(M, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="always a copy"):
        np.array(M, copy=False)


def test_repr():
    M = SpatialInertia(2, (0, 0, 1), UnitInertia(2, 2, 1))
    assert repr(M).startswith("SpatialInertia(mass=2, com=[0., 0., 1.], unit_inertia=[[2., 0., 0.]")
    assert eval(repr(M)) == M and eval(repr(ArticulatedInertia(M))) == ArticulatedInertia(M)


M = SpatialInertia(2, (0, 0, 0), UnitInertia(1, 1, 1))
BAD = [
    (lambda: SpatialInertia(-1, (0, 0, 0), UnitInertia(1, 1, 1)), ModelError, "mass must not be negative"),
    (lambda: SpatialInertia(1, (0, 2, 0), UnitInertia(1, 1, 1)), ModelError, "about the mass center"),
    (lambda: SpatialInertia(1, (0, 0, 0), Inertia(1, 1, 1)), TypeError, "must be a UnitInertia"),
    (lambda: M @ (1, 2, 3), ValueError, r"shape \(3,\)"),
    (lambda: M @ np.zeros((3, 2)), ValueError, r"shape \(3, 2\)"),
    (lambda: M @ M, TypeError, "unsupported operand"),
    (lambda: M + 1, TypeError, "unsupported operand"),
    (lambda: ArticulatedInertia(np.eye(3)), ValueError, r"\(6, 6\)"),
    (lambda: ArticulatedInertia(np.triu(np.ones((6, 6)))), ModelError, "symmetric"),
    (lambda: ArticulatedInertia(-np.eye(6)), ModelError, "negative eigenvalue; one is -1"),
    (lambda: ArticulatedInertia(M) - ArticulatedInertia(np.diag([9.0] * 6)), ModelError, "negative eigenvalue"),
    (lambda: M.shift((1, 2)), ValueError, r"p has to have shape \(3,\)"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
