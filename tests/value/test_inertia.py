"""Inertia and UnitInertia: shapes against their integrals, shifts against sums over points, and what no body has."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from point_clouds import clouds, points, sums

from mobod.errors import ModelError
from mobod.value import Inertia, MassProperties, Rotation, UnitInertia

TIGHT = 1e-12  # tens of roundings of numbers of order 100


def assert_same(actual, expected, atol=TIGHT):
    assert_allclose(np.asarray(actual), np.asarray(expected), atol=atol)


def test_entries_and_matrix_say_the_same():
    J = Inertia(2, 3, 4, 0.1, 0.2, 0.3)
    matrix = [[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]]
    assert_same(J, matrix, atol=0)
    assert J == Inertia(matrix) == Inertia(2, 3, 4, xy=0.1, xz=0.2, yz=0.3) == Inertia(J)
    assert J.moments.tolist() == [2, 3, 4] and J.products.tolist() == [0.1, 0.2, 0.3]
    assert J._six().tolist() == [2, 3, 4, 0.1, 0.2, 0.3]


@given(clouds)
def test_every_cloud_of_points_has_an_inertia(cloud):
    mass, _, inertia = sums(cloud)
    J = Inertia(inertia)
    assert_same(J, inertia)
    total = sum((Inertia.point_mass_at(p, m) for p, m in cloud[1:]), Inertia.point_mass_at(*cloud[0]))
    assert_same(total, inertia)
    assert_same(J - Inertia.point_mass_at(*cloud[0]), inertia - np.asarray(Inertia.point_mass_at(*cloud[0])))
    assert_same(J / mass * mass, inertia)


@given(clouds, points)
def test_shifts_are_the_sums_about_the_other_point(cloud, p):
    mass, com, about_origin = sums(cloud)
    _, _, central = sums(cloud, com)
    _, _, about_p = sums(cloud, p)
    assert_same(Inertia(about_origin).shift_to_centroid(com, mass), central)
    assert_same(Inertia(central).shift_from_centroid(com, mass), about_origin)
    assert_same(Inertia(central).shift_from_centroid(np.array(p) - com, mass), about_p)
    G = UnitInertia(about_origin / mass)
    assert_same(G.shift_to_centroid(com) * mass, central)
    assert_same(G.shift_to_centroid(com).shift_from_centroid(com, mass=1), G)


@given(clouds, st.tuples(*[st.floats(-4, 4)] * 3))
def test_reexpress_gives_the_sums_in_the_other_axes(cloud, angles):
    _, _, inertia = sums(cloud)
    R_FB = Rotation.from_body_fixed_xyz(angles)
    _, _, in_B = sums([(tuple(~R_FB @ p), m) for p, m in cloud])
    J = Inertia(inertia).reexpress(R_FB)
    assert_same(J, in_B)
    assert np.array_equal(np.asarray(J), np.asarray(J).T)
    assert_same(J.reexpress(~R_FB), inertia)
    assert type(UnitInertia(inertia).reexpress(np.asarray(R_FB))) is UnitInertia


def moments_of(inside, box, n=60):
    """Unit inertia of a uniform solid: the mean over the points of a grid that are inside."""
    x, y, z = np.meshgrid(*[(np.arange(n) + 0.5) / n * 2 * h - h for h in box], indexing="ij")
    chosen = inside(x, y, z)
    xx, yy, zz = ((c[chosen] ** 2).mean() for c in (x, y, z))
    return np.array([yy + zz, xx + zz, xx + yy])


@pytest.mark.parametrize(
    ("shape", "inside", "box"),
    [
        (UnitInertia.sphere(2), lambda x, y, z: x**2 + y**2 + z**2 < 4, (2, 2, 2)),
        (UnitInertia.brick((1, 2, 3)), lambda x, y, z: x == x, (1, 2, 3)),
        (UnitInertia.ellipsoid(1, 2, 3), lambda x, y, z: x**2 + y**2 / 4 + z**2 / 9 < 1, (1, 2, 3)),
        (UnitInertia.cylinder_along_x(1, 3), lambda x, y, z: y**2 + z**2 < 1, (3, 1, 1)),
        (UnitInertia.cylinder_along_y(1, 3), lambda x, y, z: x**2 + z**2 < 1, (1, 3, 1)),
        (UnitInertia.cylinder_along_z(1, 3), lambda x, y, z: x**2 + y**2 < 1, (1, 1, 3)),
    ],
)
def test_shapes_are_the_means_over_their_points(shape, inside, box):
    assert_allclose(shape.moments, moments_of(inside, box), rtol=5e-3)  # of the grid
    assert not shape.products.any()
    UnitInertia(np.asarray(shape))  # physical


def test_flat_and_thin_shapes_are_physical():
    for G in (UnitInertia.brick(1, 2, 0), UnitInertia.brick(0, 0, 3), UnitInertia.cylinder_along_z(0, 1)):
        assert UnitInertia(np.asarray(G)) == G
    assert UnitInertia.brick(1, 2, 3) == UnitInertia.brick([1, 2, 3])
    assert not np.asarray(UnitInertia.point_mass_at_origin()).any()
    assert not np.asarray(Inertia.point_mass_at_origin()).any()
    assert UnitInertia.point_mass_at((1, 2, 3)) * 2 == Inertia.point_mass_at((1, 2, 3), 2)


def test_rounding_is_let_through():
    for scale in (1e-200, 1e-12, 1.0, 1e12, 1e200):
        Inertia(scale, scale, 2 * scale * (1 + 1e-13))
        Inertia(scale, scale, -1e-13 * scale)
        Inertia([[scale, 1e-14 * scale, 0], [0, scale, 0], [0, 0, scale]])


def test_subnormal_numbers_are_let_through():
    assert np.asarray(Inertia.point_mass_at((0, 0, 7e-161), 1)).any()
    Inertia(np.asarray(Inertia.point_mass_at((0, 0, 7e-161), 1)))
    Inertia(5e-324, 0, 0)


@pytest.mark.parametrize("two", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
def test_multiplied_by_a_number_from_either_side(two):
    G = UnitInertia(1, 2, 3)
    for J in (G * two, two * G, Inertia(1, 2, 3) * two, two * Inertia(1, 2, 3)):
        assert type(J) is Inertia and J == Inertia(2, 4, 6)


def test_works_in_numpy_expressions():
    J = Inertia(1, 2, 3)
    assert np.array_equal(J - np.eye(3), np.diag([0, 1, 2])) and np.array_equal(np.eye(3) + J, np.diag([2, 3, 4]))
    assert np.allclose(J, np.diag([1, 2, 3])) and np.abs(J).sum() == 6 and np.trace(J) == 6
    assert np.array_equal(J * np.eye(3), np.diag([1, 2, 3]))
    assert (J @ (1, 1, 1)).tolist() == [1, 2, 3]
    assert (J @ np.ones((2, 3))).tolist() == [[1, 2, 3], [1, 2, 3]]
    assert np.array_equal(np.eye(3) @ J, np.diag([1, 2, 3]))


@pytest.mark.parametrize("kind", [Inertia, UnitInertia])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda J: pickle.loads(pickle.dumps(J))])
def test_copies_are_equal_and_closed(kind, again):
    J = kind(1, 2, 3, 0.1)
    other = again(J)
    assert type(other) is kind and other == J and not np.asarray(other).flags.writeable


def test_cannot_be_changed():
    J = Inertia(1, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(J)[0, 0] = 2
    J.moments[0] = 7  # the caller's own
    assert J.moments[0] == 1
    with pytest.raises(AttributeError):
        J.moments = (1, 1, 1)


def test_kinds_are_not_equal():
    assert Inertia(1, 1, 1) != UnitInertia(1, 1, 1)


def test_repr_can_be_read_back():
    assert eval(repr(Inertia(1, 2, 2.5, 0.125))) == Inertia(1, 2, 2.5, 0.125)


def test_as_array_with_dtype_and_copy():
    J = Inertia(1, 2, 3)
    assert np.asarray(J, dtype=np.float32).dtype == np.float32
    assert np.array(J).flags.writeable and np.shares_memory(np.asarray(J), np.asarray(J))


BAD = [
    (lambda: Inertia(-1, 1, 1), ModelError, "negative moment.*-1, 1, 1"),
    (lambda: Inertia(1, 1, 3), ModelError, "of no body.*1, 1, 3"),
    (lambda: UnitInertia(1, 1, 3), ModelError, "the UnitInertia .* of no body"),
    (lambda: Inertia(1, 1, 1, 2), ModelError, "negative moment.*products"),
    # the diagonal alone obeys the triangle inequality, the principal moments do not
    (lambda: Inertia(3, 3, 3, 1, 1, 1), ModelError, "of no body"),
    (lambda: Inertia(1, 1, math.nan), ModelError, "zz of the Inertia has to be finite"),
    (lambda: Inertia(1, 1), TypeError, "one moment is missing"),
    (lambda: Inertia(1), TypeError, "three moments, or one"),
    (lambda: Inertia((1, 1, 1)), TypeError, "three moments, or one"),
    (lambda: Inertia(np.eye(2)), ValueError, r"\(3, 3\)"),
    (lambda: Inertia([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ModelError, "symmetric"),
    (lambda: Inertia("a", 1, 1), TypeError, "xx of the Inertia has to be a number, got 'a'"),
    (lambda: Inertia(UnitInertia(1, 1, 1)), TypeError, "multiply or divide it by the mass"),
    (lambda: UnitInertia(Inertia(1, 1, 1)), TypeError, "multiply or divide it by the mass"),
    (lambda: Inertia(1, 1, 1) * -1, ModelError, "has to be zero or more"),
    (lambda: Inertia(1, 1, 1) * math.nan, ModelError, "has to be finite"),
    (lambda: Inertia(1, 1, 1) / 0, ZeroDivisionError, "zero"),
    (lambda: Inertia(1, 1, 1) * Inertia(1, 1, 1), TypeError, "unsupported operand"),
    (lambda: Inertia(1, 1, 1) + UnitInertia(1, 1, 1), TypeError, "unsupported operand"),
    (lambda: Inertia(1, 1, 1) - Inertia(2, 2, 2), ModelError, "difference"),
    (lambda: Inertia(1, 1, 1) @ Rotation(), TypeError, "unsupported operand"),
    (lambda: Inertia(1, 1, 1) @ (1, 2), ValueError, r"\(2,\)"),
    (lambda: Inertia(1, 1, 1).shift_to_centroid((0, 2, 0), 1), ModelError, "about the mass center already"),
    (lambda: Inertia(1, 1, 1).shift_to_centroid((0, 2), 1), ValueError, r"p has to have shape \(3,\)"),
    (lambda: Inertia(1, 1, 1).shift_from_centroid((0, 2, 0), -1), ModelError, "mass has to be zero or more"),
    (lambda: UnitInertia(1, 1, 1).shift_from_centroid((0, 2, 0), 2), ValueError, "multiply it by the mass"),
    (lambda: Inertia.point_mass_at((1e200, 0, 0), 1) - Inertia(1, 1, 1), ModelError, "too large"),
    (lambda: MassProperties(1, (0, 0, 0), (1, 2, 3)), TypeError, r"not \(1, 2, 3\); did you mean Inertia\(1, 2, 3\)\?"),
    (lambda: UnitInertia.sphere(-1), ModelError, "radius has to be zero or more"),
    (lambda: UnitInertia.brick((1, -2, 3)), ModelError, "half_lengths must not be negative"),
    (lambda: UnitInertia.brick(1, 2), TypeError, "one number is missing"),
    (lambda: UnitInertia.brick(1), ValueError, r"half_lengths has to have shape \(3,\)"),
    (lambda: UnitInertia.ellipsoid((1, 2)), ValueError, r"radii has to have shape \(3,\)"),
    (lambda: UnitInertia.cylinder_along_z(1, math.inf), ModelError, "half_length has to be finite"),
    (lambda: Inertia(1, 1, 1).reexpress(2 * np.eye(3)), ModelError, "orthonormal"),
    (lambda: Inertia(1, 1, 1) * MassProperties(1, (0, 0, 0), Inertia(1, 1, 1)), TypeError, "unsupported operand"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
