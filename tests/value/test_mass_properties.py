"""MassProperties: consistency with sums over points, frames, and what no body has."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from point_clouds import clouds, points, sums

from mobod.errors import ModelError
from mobod.value import Inertia, MassProperties, Rotation, Transform, UnitInertia

TIGHT = 1e-12  # tens of roundings of numbers of order 100


IDENTITY = Transform()


def of(cloud, X_BC=IDENTITY):
    """Mass properties of point masses, in the frame C."""
    return MassProperties(*sums([(tuple(~X_BC @ p), m) for p, m in cloud]))


def assert_same(a, b):
    assert_allclose(a.mass, b.mass, rtol=1e-14)
    assert_allclose(a.com, b.com, atol=TIGHT)
    assert_allclose(np.asarray(a.inertia), np.asarray(b.inertia), atol=TIGHT)


@given(clouds)
def test_parts_agree(cloud):
    mass, com, inertia = sums(cloud)
    m = MassProperties(mass, com, inertia)
    assert m.mass == mass and np.array_equal(m.com, com) and type(m.inertia) is Inertia
    assert_allclose(np.asarray(m.unit_inertia) * mass, inertia, atol=TIGHT)
    assert_allclose(np.asarray(m.central_inertia), sums(cloud, com)[2], atol=TIGHT)
    assert_same(m, MassProperties(mass, com, m.unit_inertia))
    assert m == MassProperties(mass, com, m.inertia)


@given(clouds, points, st.tuples(*[st.floats(-4, 4)] * 3))
def test_other_frames(cloud, p, angles):
    m, R_BC = of(cloud), Rotation.from_body_fixed_xyz(angles)
    assert_same(m.reexpress(R_BC), of(cloud, Transform(R_BC)))
    assert_same(m.calc_shifted_mass_props(p), of(cloud, Transform(p)))
    assert_same(m.calc_transformed_mass_props(Transform(R_BC, p)), of(cloud, Transform(R_BC, p)))


@given(clouds, points, points)
def test_spatial_matrix_gives_the_kinetic_energy(cloud, w, v):
    M = of(cloud).to_spatial_matrix()
    V = np.concatenate([w, v])
    energy = sum(0.5 * m * np.sum((np.array(v) + np.cross(w, p)) ** 2) for p, m in cloud)
    assert_allclose(0.5 * V @ M @ V, energy, atol=1e-11)  # roundings of numbers of order 1000
    assert np.array_equal(M, M.T)


def test_unit_inertia_is_scaled_by_the_mass():
    m = MassProperties(2, (0, 0, 0), UnitInertia(1, 2, 3))
    assert m.inertia == Inertia(2, 4, 6) and m.unit_inertia == UnitInertia(1, 2, 3)


def test_massless():
    m = MassProperties(0, (0, 0, 0), Inertia.point_mass_at_origin())
    assert m == MassProperties(0, (0, 0, 0), UnitInertia(1, 1, 1))
    assert not np.asarray(m.unit_inertia).any() and not np.asarray(m.central_inertia).any()
    assert m.is_exactly_massless() and m.is_exactly_central()
    assert not m.to_spatial_matrix().any()
    assert m.calc_transformed_mass_props(Transform((1, 2, 3))).mass == 0


def test_infinite_mass_stays_free_of_nan():
    ground = MassProperties.trusted(math.inf, np.zeros(3), np.diag(np.full(3, math.inf)))
    for m in (ground, ground.calc_transformed_mass_props(Transform(Rotation.about_axis(1, "x"), (1, 2, 3)))):
        for part in (m.com, m.inertia, m.unit_inertia, m.central_inertia, m.to_spatial_matrix()):
            assert not np.isnan(np.asarray(part)).any()
    assert ground.unit_inertia == UnitInertia(1, 1, 1)
    assert np.array_equal(ground.to_spatial_matrix().diagonal(), np.full(6, math.inf))
    assert pickle.loads(pickle.dumps(ground)) == ground


def test_far_mass_center_is_judged_by_the_rounding_of_its_inertia():
    com = np.array([1e6, -2e6, 3e6])
    G = UnitInertia.sphere(1).shift_from_centroid(com)
    assert_allclose(MassProperties(3, com, G).central_inertia.moments, 1.2, atol=0.1)  # 1e13 roundings of 2e-16


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal_and_closed(again):
    m = MassProperties(2, (0, 0, 1), Inertia(4, 4, 1))
    other = again(m)
    assert type(other) is MassProperties and other == m and not other.com.flags.writeable
    assert not np.asarray(other.inertia).flags.writeable


def test_cannot_be_changed_and_shares_nothing():
    com = np.zeros(3)
    m = MassProperties(1, com, Inertia(1, 1, 1))
    com[0] = 9
    assert m.com[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        m.com[0] = 9
    with pytest.raises(AttributeError):
        m.mass = 2


def test_repr_and_equality():
    m = MassProperties(2, (0, 0, 1), Inertia(4, 4, 1))
    assert repr(m).startswith("MassProperties(mass=2, com=[0., 0., 1.], inertia=[[4., 0., 0.]")
    assert eval(repr(m)) == m
    assert m != MassProperties(2, (0, 0, 1), Inertia(4, 4, 2)) and m != 2


ONE = Inertia(1, 1, 1)
BAD = [
    (lambda: MassProperties(-1, (0, 0, 0), ONE), ModelError, "mass must not be negative; it is -1.0; .*Massless"),
    (lambda: MassProperties(math.nan, (0, 0, 0), ONE), ModelError, "mass has to be finite"),
    (lambda: MassProperties(math.inf, (0, 0, 0), ONE), ModelError, "mass has to be finite"),
    (lambda: MassProperties("1", (0, 0, 0), ONE), TypeError, "mass has to be a number"),
    (lambda: MassProperties(1, (0, 0), ONE), ValueError, r"mass center com has to have shape \(3,\)"),
    (lambda: MassProperties(1, (0, 0, math.inf), ONE), ModelError, "mass center com has to be finite"),
    (lambda: MassProperties(1, (0, 2, 0), ONE), ModelError, "about the mass center.*shift_from_centroid"),
    (lambda: MassProperties(1, (0, 2, 0), UnitInertia(1, 1, 1)), ModelError, "about the mass center"),
    (lambda: MassProperties(1, (1e200, 0, 0), ONE), ModelError, "too large"),
    (lambda: MassProperties(0, (0, 0, 0), ONE), ModelError, "without mass has no inertia"),
    (lambda: MassProperties(1, (0, 0, 0), np.diag([1, 1, 3])), ModelError, "of no body"),
    (lambda: MassProperties(1, (0, 0, 0), (1, 1, 1)), TypeError, "three moments, or one"),
    (lambda: MassProperties(1, (0, 0, 0), Rotation()), TypeError, "must be an Inertia"),
    (lambda: MassProperties(1, (0, 0, 0), ONE).calc_shifted_mass_props(3), ValueError, "new_origin_b"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_sum_is_that_of_two_bodies_fastened_to_each_other(rng):
    """By points: any body is the sum of its points, in whatever frame each was given."""

    def point(mass, place):
        x, y, z = place
        inertia = mass * np.array(
            [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
        )
        return MassProperties(mass, place, inertia)

    masses, places = rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3))
    X_BC = Transform(
        Rotation.from_quaternion(np.array([0.5, 0.5, -0.1, 0.7]) / np.linalg.norm([0.5, 0.5, -0.1, 0.7])), (1, 2, 3)
    )
    whole = sum(point(m, p) for m, p in zip(masses, places, strict=True))
    first = sum(point(m, p) for m, p in zip(masses[:3], places[:3], strict=True))
    second = sum(point(m, (~X_BC) @ p) for m, p in zip(masses[3:], places[3:], strict=True))
    found = first + second.calc_transformed_mass_props(~X_BC)
    assert found.mass == pytest.approx(whole.mass)
    assert_allclose(found.com, whole.com, atol=1e-14)
    assert_allclose(np.asarray(found.inertia), np.asarray(whole.inertia), atol=1e-12)
    nothing = MassProperties(0.0, (0, 0, 0), np.zeros((3, 3)))
    assert nothing + whole == whole and (nothing + nothing).mass == 0.0
    with pytest.raises(TypeError):
        whole + 1.0
