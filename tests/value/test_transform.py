"""Transform: composition, points, the ways to make one, and errors that help."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as ScipyRotation

from mobod.errors import ModelError
from mobod.value import Inertia, Rotation, Transform

numbers = st.floats(-4.0, 4.0)
triples = st.tuples(numbers, numbers, numbers)
transforms = st.builds(lambda q, p: Transform(Rotation.from_body_fixed_xyz(q), p), triples, triples)

# tens of roundings of numbers of order 1 to 10
TIGHT = 1e-13


def assert_same(X, Y):
    assert_allclose(np.asarray(X), np.asarray(Y), atol=TIGHT)


@given(transforms, transforms)
def test_products_and_inverses_are_those_of_the_matrices(X, Y):
    assert_same(X @ Y, np.asarray(X) @ np.asarray(Y))
    assert_same(X @ ~X, np.eye(4))
    assert_same(~X, np.linalg.inv(np.asarray(X)))
    assert_same(~(X @ Y), ~Y @ ~X)


@given(transforms, transforms, triples)
def test_points_follow_products(X, Y, p):
    assert_allclose((X @ Y) @ p, X @ (Y @ p), atol=TIGHT)
    assert_allclose(~X @ (X @ p), p, atol=TIGHT)
    assert_allclose(X @ p, (np.asarray(X) @ (*p, 1))[:3], atol=TIGHT)


def test_points_in_rows():
    X = Transform(Rotation.about_axis(0.3, (1, 2, 3)), (1, 2, 3))
    points = np.arange(12.0).reshape(4, 3)
    assert_allclose(X @ points, [X @ p for p in points], atol=TIGHT)
    assert_allclose(X @ points.tolist(), X @ points)
    assert_allclose(X @ points.reshape(2, 2, 3), (X @ points).reshape(2, 2, 3))


def test_the_ways_to_make_one():
    R, p = Rotation.about_axis(0.3, "x"), (1, 2, 3)
    assert_same(Transform(), np.eye(4))
    assert Transform(p) == Transform(p=p) == Transform(None, p) == Transform(Rotation(), p) == Transform(np.eye(3), p)
    assert Transform(R) == Transform(R=R) == Transform(np.asarray(R)) == Transform(R, (0, 0, 0))
    X = Transform(R, p)
    assert Transform(X) == Transform.from_matrix(np.asarray(X)) == Transform(np.asarray(R), np.array(p)) == X
    assert X.R == R and X.p.tolist() == [1, 2, 3]
    assert (X @ R).p.tolist() == [1, 2, 3]
    assert_same(X @ R, X @ Transform(R))
    assert_same(R @ X, Transform(R) @ X)


def test_the_rotation_is_made_once():
    X = Transform.trusted(np.eye(3), np.zeros(3))
    assert X.R is X.R


def test_does_not_share_memory_with_what_it_was_made_of():
    R, p, matrix = np.eye(3), np.zeros(3), np.eye(4)
    X, Y = Transform(R, p), Transform.from_matrix(matrix)
    R[:] = p[:] = matrix[:] = 9
    assert X == Y == Transform()


def test_cannot_be_changed():
    X = Transform((1, 2, 3))
    with pytest.raises(ValueError, match="read-only"):
        X.p[0] = 5
    with pytest.raises(AttributeError):
        X.p = (0, 0, 0)
    with pytest.raises(AttributeError):
        X.other = 1


def test_as_array_with_dtype_and_copy():
    X = Transform((1, 2, 3))
    assert np.asarray(X).dtype == np.float64 and np.asarray(X).shape == (4, 4)
    assert np.asarray(X, dtype=np.float32).dtype == np.float32
    mine = np.asarray(X)
    mine[0, 3] = 9  # the caller's own
    assert X.p[0] == 1
    with pytest.raises(ValueError, match="always a copy"):
        np.array(X, copy=False)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda X: pickle.loads(pickle.dumps(X))])
def test_copies_are_equal_and_closed(again):
    X = Transform(Rotation.about_axis(1, "y"), (1, 2, 3))
    other = again(X)
    assert type(other) is Transform and other == X and other.R == X.R
    assert not other.p.flags.writeable and not np.asarray(other.R).flags.writeable


def test_equality_is_by_value():
    assert Transform() != Transform((0, 0, 1)) and Transform() != Rotation() and Transform() != 3


def test_repr_is_short_and_can_be_read_back():
    assert repr(Transform()) == "Transform()"
    assert repr(Transform((0, 1, 0.5))) == "Transform(p=[0. , 1. , 0.5])"
    X = Transform(Rotation.about_axis(1, "y"), (1, 2, 3))
    assert "\n" not in repr(X)
    assert_allclose(np.asarray(eval(repr(X))), np.asarray(X), atol=1e-7)  # printed with 8 digits


UPPER = np.eye(4)
UPPER[3, 0] = 1

BAD = [
    (lambda: Transform((1, 2)), ValueError, r"a location \(3,\).*\(2,\)"),
    (lambda: Transform(np.eye(4)), ValueError, "from_matrix"),
    (lambda: Transform((0, 0, 0), (1, 2, 3)), ValueError, r"\(3, 3\)"),
    (lambda: Transform(Rotation(), (1, 2)), ValueError, r"location p.*\(3,\)"),
    (lambda: Transform((0, 0, math.nan)), ModelError, "location p of a Transform has to be finite"),
    (lambda: Transform(2 * np.eye(3)), ModelError, "orthonormal"),
    (lambda: Transform("x"), TypeError, "numbers"),
    (lambda: Transform(Transform(), (1, 2, 3)), TypeError, "ambiguous"),
    (lambda: Transform(ScipyRotation.identity()), TypeError, "from_scipy"),
    (lambda: Transform.from_matrix(np.eye(3)), ValueError, r"\(4, 4\)"),
    (lambda: Transform.from_matrix(UPPER), ModelError, "last row.*transposed"),
    (lambda: Transform.from_matrix(2 * np.eye(4)), ModelError, "last row"),
    (lambda: Transform() @ (1, 2, 3, 4), ValueError, r"\(4,\)"),
    (lambda: Transform() @ Inertia(1, 1, 1), TypeError, "unsupported operand"),
    (lambda: [1, 2] @ Transform(), TypeError, "unsupported operand"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
