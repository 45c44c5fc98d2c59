"""Rotation: identities, round trips (near pi and at the Euler singularity), SciPy's answers, and errors that help."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as ScipyRotation

from mobod.errors import ModelError
from mobod.value import Inertia, Rotation

angles = st.floats(-4.0, 4.0)
angle_triples = st.tuples(angles, angles, angles)
components = st.floats(-1.0, 1.0).map(lambda x: 0.0 if abs(x) < 1e-150 else x)
directions = st.tuples(components, components, components).filter(lambda v: max(map(abs, v)) > 0.0)
quaternions = st.tuples(components, components, components, components).filter(lambda q: max(map(abs, q)) > 0.0)

# tens of roundings of numbers of order 1
TIGHT = 1e-14


def assert_rotation(R):
    matrix = np.asarray(R)
    assert_allclose(matrix.T @ matrix, np.eye(3), atol=TIGHT)
    assert np.linalg.det(matrix) > 0


def assert_same(R, S, atol=TIGHT):
    assert_allclose(np.asarray(R), np.asarray(S), atol=atol)


@given(quaternions)
def test_every_quaternion_makes_a_rotation_and_comes_back(wxyz):
    R = Rotation.from_quaternion(wxyz)
    assert_rotation(R)
    q = R.to_quaternion()
    assert q[0] >= 0 and abs(np.linalg.norm(q) - 1) < TIGHT
    assert_same(Rotation.from_quaternion(q), R)
    assert_same(Rotation.from_quaternion(np.negative(wxyz)), R)


@given(quaternions)
def test_quaternion_agrees_with_scipy(wxyz):
    w, x, y, z = (np.array(wxyz) / np.abs(wxyz).max()).tolist()
    theirs = ScipyRotation.from_quat((x, y, z, w))
    assert_same(Rotation.from_quaternion(wxyz), theirs.as_matrix())
    assert_same(Rotation.from_scipy(theirs), theirs.as_matrix())
    assert_allclose(Rotation.from_quaternion(wxyz).to_scipy().as_matrix(), theirs.as_matrix(), atol=TIGHT)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (1, 1, 0), (0, -1, 1), (1, 2, 3)])
def test_quaternion_of_half_a_turn_has_a_positive_first_component(axis):
    q = Rotation.from_quaternion((0, *axis)).to_quaternion()
    expected = np.array(axis) / np.linalg.norm(axis)
    expected *= np.sign(expected[np.flatnonzero(expected)[0]])
    assert_allclose(q, (0, *expected), atol=TIGHT)
    assert not np.signbit(q[q == 0]).any()


def test_quaternion_of_extreme_length_is_normalized():
    for length in (1e-300, 1e300):
        assert_same(Rotation.from_quaternion((length, 0, 0, length)), Rotation.about_axis(math.pi / 2, "z"))


@given(angle_triples)
def test_body_fixed_angles_agree_with_scipy_and_come_back(q):
    R = Rotation.from_body_fixed_xyz(q)
    assert_rotation(R)
    assert_same(R, ScipyRotation.from_euler("XYZ", q).as_matrix())
    q0, q1, q2 = R.to_body_fixed_xyz()
    assert abs(q0) <= math.pi and abs(q1) <= math.pi / 2 and abs(q2) <= math.pi
    assert_same(Rotation.from_body_fixed_xyz((q0, q1, q2)), R)


@given(angles, angles, st.sampled_from([1, -1]), st.floats(-18, -1).map(lambda e: 10.0**e) | st.just(0.0))
def test_body_fixed_angles_come_back_at_and_near_the_singularity(q0, q2, side, distance):
    R = Rotation.from_body_fixed_xyz((q0, side * (math.pi / 2 - distance), q2))
    back = R.to_body_fixed_xyz()
    assert np.isfinite(back).all()
    assert_same(Rotation.from_body_fixed_xyz(back), R)


@pytest.mark.parametrize("side", [1, -1])
def test_third_angle_is_zero_at_the_singularity(side):
    q = Rotation.from_body_fixed_xyz((0.3, side * math.pi / 2, 0.4)).to_body_fixed_xyz()
    assert_allclose(q, (0.3 + side * 0.4, side * math.pi / 2, 0), atol=1e-14)


def test_body_fixed_angles_in_their_range_come_back_as_they_were():
    for q in ((0.1, 0.2, 0.3), (-3, 1.5, 2), (3, -1.5, -3), (0, 0, 0)):
        assert_allclose(Rotation.from_body_fixed_xyz(q).to_body_fixed_xyz(), q, atol=1e-13)  # divided by cos(1.5)


@given(angles, directions)
def test_about_axis_agrees_with_scipy(angle, axis):
    u = np.array(axis) / np.abs(axis).max()
    u /= np.linalg.norm(u)
    R = Rotation.about_axis(angle, axis)
    assert_rotation(R)
    assert_same(R, ScipyRotation.from_rotvec(angle * u).as_matrix())
    assert_allclose(R @ u, u, atol=TIGHT)


@given(
    st.one_of(
        st.floats(0, math.pi),
        st.floats(-16, 0).map(lambda e: 10.0**e),
        st.floats(-16, 0).map(lambda e: math.pi - 10.0**e),
    ),
    directions,
)
def test_angle_and_axis_come_back_also_near_zero_and_pi(angle, axis):
    R = Rotation.about_axis(angle, axis)
    back, u = R.to_angle_axis()
    assert 0 <= back <= math.pi
    assert abs(np.linalg.norm(u) - 1) < TIGHT
    assert abs(back - angle) < TIGHT
    assert_same(Rotation.about_axis(back, u), R)


def test_axes_have_length_one_and_are_square_where_rounding_is_largest():
    R = Rotation.from_two_axes((-0.8203125, -0.8203125, -0.822265625), "x", (-0.8203125, -0.822265625, -0.8203125), "y")
    assert_rotation(R)
    for angle in (5e-324, 1e-311, 1e-300):
        _, axis = Rotation.from_quaternion((1.0, 0.0, angle, angle)).to_angle_axis()
        assert abs(np.linalg.norm(axis) - 1) < TIGHT


def test_small_angle_keeps_its_digits():
    angle, axis = Rotation.about_axis(1e-9, (1, 2, 2)).to_angle_axis()
    assert angle == pytest.approx(1e-9, rel=1e-14)
    assert_allclose(axis, np.array([1, 2, 2]) / 3, rtol=1e-14)


def test_no_rotation_has_angle_zero_about_x():
    angle, axis = Rotation().to_angle_axis()
    assert angle == 0.0 and axis.tolist() == [1, 0, 0]


@pytest.mark.parametrize(("i", "letter"), list(enumerate("xyz")))
def test_coordinate_axes_by_letter_index_and_vector(i, letter):
    R = Rotation.about_axis(0.7, letter)
    assert R == Rotation.about_axis(0.7, i) == Rotation.about_axis(0.7, letter.upper())
    assert R == Rotation.about_axis(0.7, np.int64(i))
    assert_same(R, Rotation.about_axis(0.7, np.eye(3)[i]))
    q = [0.0, 0.0, 0.0]
    q[i] = 0.7
    assert_same(R, Rotation.from_body_fixed_xyz(q))


@given(directions, directions, st.permutations("xyz"))
def test_two_axes(u, v, axes):
    first, second, _ = axes
    a, b = (np.array(w) / np.abs(w).max() for w in (u, v))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    sine = np.linalg.norm(np.cross(a, b))
    if sine < 1e-6:
        return
    R = Rotation.from_two_axes(u, first, v, second)
    assert_rotation(R)
    assert_allclose(getattr(R, f"{first}_axis"), a, atol=TIGHT)
    perpendicular = b - (a @ b) * a
    assert_allclose(getattr(R, f"{second}_axis"), perpendicular / np.linalg.norm(perpendicular), atol=TIGHT / sine)


@given(directions, st.sampled_from("xyz"))
def test_one_axis(u, axis):
    R = Rotation.from_one_axis(u, axis)
    assert_rotation(R)
    a = np.array(u) / np.abs(u).max()
    assert_allclose(getattr(R, f"{axis}_axis"), a / np.linalg.norm(a), atol=TIGHT)


@given(angle_triples, angle_triples)
def test_product_and_inverse(p, q):
    R, S = Rotation.from_body_fixed_xyz(p), Rotation.from_body_fixed_xyz(q)
    assert_same(R @ S, np.asarray(R) @ np.asarray(S))
    assert_same(R @ ~R, Rotation())
    assert_same(~(R @ S), ~S @ ~R)
    assert ~~R == R and R.T == ~R


def test_vectors_are_turned_one_by_one_and_in_rows():
    R = Rotation.from_body_fixed_xyz((0.1, 0.2, 0.3))
    v = np.random.default_rng(1).normal(size=(4, 3, 3))
    matrix = np.asarray(R)
    assert_allclose(R @ v[0, 0], matrix @ v[0, 0], atol=TIGHT)
    assert_allclose(R @ v[0], [matrix @ w for w in v[0]], atol=TIGHT)
    assert_allclose(R @ v, np.einsum("ij,abj->abi", matrix, v), atol=TIGHT)
    assert_allclose(R @ (1, 0, 0), R.x_axis)
    assert_allclose(R @ [0, 1, 0], R.y_axis)
    assert_allclose(R @ np.array([0, 0, 1], dtype=np.int32), R.z_axis)
    assert_allclose(v[0, 0] @ R, ~R @ v[0, 0], atol=TIGHT)
    assert (R @ np.zeros((0, 3))).shape == (0, 3)


def test_matrix_is_kept_to_the_bit_or_repaired():
    R = Rotation.from_body_fixed_xyz((1, 2, 3))
    assert Rotation(np.asarray(R)) == R and Rotation(R) == R
    rough = Rotation(np.asarray(R, dtype=np.float32))
    assert_rotation(rough)
    assert_same(rough, R, atol=1e-6)  # single precision


def test_does_not_share_memory_with_what_it_was_made_of():
    matrix = np.eye(3)
    R = Rotation(matrix)
    matrix[0, 0] = 5
    assert R == Rotation()


def test_cannot_be_changed():
    R = Rotation()
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(R)[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        R.x_axis[0] = 2
    with pytest.raises(AttributeError):
        R.x_axis = (1, 0, 0)
    with pytest.raises(AttributeError):
        R.other = 1


def test_as_array_with_dtype_and_copy():
    R = Rotation.about_axis(0.1, "x")
    assert np.asarray(R).dtype == np.float64 and np.asarray(R).shape == (3, 3)
    assert np.asarray(R, dtype=np.float32).dtype == np.float32
    mine = np.array(R)
    mine[0, 0] = 7  # a copy, the caller's own
    assert np.asarray(R)[0, 0] == 1
    assert np.shares_memory(np.asarray(R, copy=False), np.asarray(R))
    with pytest.raises(ValueError, match="copy"):
        np.array(R, dtype=np.float32, copy=False)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda R: pickle.loads(pickle.dumps(R))])
def test_copies_are_equal_and_closed(again):
    R = Rotation.about_axis(0.3, (1, 2, 3))
    other = again(R)
    assert type(other) is Rotation and other == R
    assert not np.asarray(other).flags.writeable


def test_equality_is_by_value():
    assert Rotation() == Rotation(np.eye(3))
    assert Rotation() != Rotation.about_axis(1e-15, "z")
    assert Rotation() != "x" and Rotation() != Inertia(1, 1, 1)


def test_repr_can_be_read_back():
    R = Rotation.about_axis(math.pi / 6, "z")
    assert "\n" not in repr(R)
    assert_same(eval(repr(R)), R, atol=1e-7)  # printed with 8 digits


BAD = [
    (lambda: Rotation(2 * np.eye(3)), ModelError, "orthonormal.*by up to 3"),
    (lambda: Rotation(1e200 * np.ones((3, 3))), ModelError, "orthonormal"),
    (lambda: Rotation(np.diag([1, 1, -1])), ModelError, "right-handed"),
    (lambda: Rotation(np.full((3, 3), np.nan)), ModelError, "has to be finite"),
    (lambda: Rotation((1, 0, 0)), ValueError, r"\(3, 3\).*\(3,\)"),
    (lambda: Rotation([[1, 0], [0]]), ValueError, "rows of different lengths"),
    (lambda: Rotation("x"), TypeError, "has to be real numbers, got 'x'"),
    (lambda: Rotation(ScipyRotation.identity()), TypeError, "from_scipy"),
    (lambda: Rotation.from_scipy(np.eye(3)), TypeError, "scipy.spatial.transform.Rotation"),
    (lambda: Rotation.from_scipy(ScipyRotation.identity(2)), ValueError, "holds 2"),
    (lambda: Rotation.from_quaternion((0, 0, 0, 0)), ModelError, "length zero"),
    (lambda: Rotation.from_quaternion((1, 0, 0)), ValueError, r"quaternion.*\(4,\).*\(3,\)"),
    (lambda: Rotation.from_quaternion((1, 0, 0, math.inf)), ModelError, "quaternion.*finite"),
    (lambda: Rotation.from_body_fixed_xyz((0, 0, math.nan)), ModelError, "angles has to be finite"),
    (lambda: Rotation.from_body_fixed_xyz((0, 0, 1j)), TypeError, "numbers"),
    (lambda: Rotation.about_axis(math.inf, "x"), ModelError, "angle has to be finite"),
    (lambda: Rotation.about_axis((1, 2), "x"), ValueError, "angle has to be one number"),
    (lambda: Rotation.about_axis("30deg", "x"), TypeError, "angle has to be a number"),
    (lambda: Rotation.about_axis(1, (0, 0, 0)), ModelError, "axis is a direction"),
    (lambda: Rotation.about_axis(1, "w"), ValueError, '"x", "y" or "z".*\'w\''),
    (lambda: Rotation.about_axis(1, 3), ValueError, "0, 1 or 2, got 3"),
    (lambda: Rotation.about_axis(1, True), ValueError, "got True"),
    (lambda: Rotation.from_two_axes((1, 0, 0), "x", (2, 0, 0), "y"), ModelError, "parallel.*from_one_axis"),
    (lambda: Rotation.from_two_axes((1, 0, 0), "x", (0, 2, 0), 0), ValueError, "must differ"),
    (lambda: Rotation.from_two_axes((0, 0, 0), "x", (0, 2, 0), "y"), ModelError, "u_first is a direction"),
    (lambda: Rotation() @ (1, 2), ValueError, r"shape \(2,\)"),
    (lambda: Rotation() @ 2, ValueError, r"shape \(\)"),
    (lambda: Rotation() @ Inertia(1, 1, 1), TypeError, "unsupported operand"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_it_is_indexed_as_its_matrix_is():
    R = Rotation.about_axis(0.3, "z")
    assert_allclose(R[:, 0], R.x_axis, atol=0)
    assert R[1, 0] == np.sin(0.3)
    with pytest.raises(ValueError, match="read-only"):
        R[:, 0][0] = 2.0
