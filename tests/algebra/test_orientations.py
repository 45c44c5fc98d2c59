"""Quaternions and body-fixed angles: rotations, their rates, inverses, transposes and the rates of these.

Tolerances: 1e-13 for numbers of order one; 1e-9 against fourth-order differences.
"""

import numpy as np
import pytest
import three_forms

from mobod.algebra import euler_xyz, quaternion, rotation

KINDS = {
    "quaternion": (quaternion, 4, lambda q: quaternion.to_rotation(q)),
    "euler": (euler_xyz, 3, lambda q: rotation.body_fixed_xyz(*q)),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def coordinates(rng, n):
    """Angles away from the singularity; quaternions of any length around one."""
    return rng.uniform(-1.2, 1.2, n) if n == 3 else rng.normal(size=n)


def matrix(multiply, n):
    return np.array([multiply(tuple(column)) for column in np.eye(n)]).T


def spin(R, R_dot):
    S = R_dot @ R.T
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def test_rotations_are_rotations(kind, rng, close):
    _, n, rotate = kind
    for _ in range(20):
        R = np.reshape(rotate(tuple(coordinates(rng, n))), (3, 3))
        close(R @ R.T, np.eye(3), 1e-14)
        assert np.linalg.det(R) > 0.0


def test_n_inverse_gives_the_angular_velocity_in_the_outer_frame(kind, rng, derivative, close):
    module, n, rotate = kind
    for _ in range(10):
        q, u = coordinates(rng, n), rng.normal(size=3)
        q_dot = np.array(module.multiply_by_n(tuple(q), tuple(u)))
        R_dot = derivative(lambda h, q=q, q_dot=q_dot: np.reshape(rotate(tuple(q + h * q_dot)), (3, 3)))
        R = np.reshape(rotate(tuple(q)), (3, 3))
        close(spin(R, R_dot), u, 1e-9)
        close(module.multiply_by_n_inv(tuple(q), tuple(q_dot)), u, 1e-13)


def test_transposes_and_inverses_belong_together(kind, rng, close):
    module, n, _ = kind
    q = tuple(coordinates(rng, n))
    N = matrix(lambda v: module.multiply_by_n(q, v), 3)
    N_inv = matrix(lambda v: module.multiply_by_n_inv(q, v), n)
    close(N_inv @ N, np.eye(3), 1e-13)
    close(matrix(lambda v: module.multiply_by_n_transpose(q, v), n), N.T, 1e-14)
    close(matrix(lambda v: module.multiply_by_n_inv_transpose(q, v), 3), N_inv.T, 1e-14)
    if n == 4:
        close(np.array(q) @ N, np.zeros(3), 1e-14, 1.0)  # rates keep the norm


def test_rates_of_n_are_its_differences(kind, rng, derivative, close):
    module, n, _ = kind
    q, q_dot, v = coordinates(rng, n), rng.normal(size=n), tuple(rng.normal(size=3))
    if n == 4:
        return  # N is linear in q: NDot is N of q_dot
    rate = derivative(lambda h: np.array(module.multiply_by_n(tuple(q + h * q_dot), v)))
    close(module.multiply_by_n_dot(tuple(q), tuple(q_dot), v), rate, 1e-8)
    rate = derivative(lambda h: np.array(module.multiply_by_n_inv(tuple(q + h * q_dot), v)))
    close(module.multiply_by_n_inv_dot(tuple(q), tuple(q_dot), v), rate, 1e-9)
    for name in ("multiply_by_n_dot", "multiply_by_n_inv_dot"):
        plain = matrix(lambda x, name=name: getattr(module, name)(tuple(q), tuple(q_dot), x), 3)
        turned = matrix(lambda x, name=name: getattr(module, f"{name}_transpose")(tuple(q), tuple(q_dot), x), 3)
        close(turned, plain.T, 1e-13)


def test_columns_of_angle_rates_are_those_of_n_inverse(rng, close):
    """At every q, the singular one included."""
    q, q_dot = rng.uniform(-3.0, 3.0, 3), tuple(rng.normal(size=3))
    for middle in (q[1], np.pi / 2):
        at = (float(q[0]), float(middle), float(q[2]))
        close(np.array(euler_xyz.rate_columns(at)).T, matrix(lambda v, at=at: euler_xyz.multiply_by_n_inv(at, v), 3), 1e-15)
        rates = matrix(lambda v, at=at: euler_xyz.multiply_by_n_inv_dot(at, q_dot, v), 3)
        _, y, z = euler_xyz.rate_columns(at)
        close(euler_xyz.rates_of_columns(q_dot, y, z), rates @ q_dot, 1e-14)


def test_n_of_a_quaternion_is_linear_in_it(rng, close):
    q, p = rng.normal(size=4), rng.normal(size=4)
    v = tuple(rng.normal(size=3))
    both = np.array(quaternion.multiply_by_n(tuple(q), v)) + np.array(quaternion.multiply_by_n(tuple(p), v))
    close(quaternion.multiply_by_n(tuple(q + p), v), both, 1e-14)


def test_a_quaternion_stands_for_the_rotation_of_its_direction(rng, close):
    q = rng.normal(size=4)
    unit = quaternion.normalize(tuple(q))
    close(quaternion.norm_squared(unit), 1.0, 1e-15)
    for scale in (1e-3, -1.0, 50.0):
        close(quaternion.to_rotation(tuple(scale * q)), quaternion.to_rotation(unit), 1e-15)


FUNCTIONS = [
    (quaternion.to_rotation, (4,)),
    (quaternion.normalize, (4,)),
    (quaternion.norm_squared, (4,)),
    (quaternion.multiply_by_n, (4, 3)),
    (quaternion.multiply_by_n_transpose, (4, 4)),
    (quaternion.multiply_by_n_inv, (4, 4)),
    (quaternion.multiply_by_n_inv_transpose, (4, 3)),
    (euler_xyz.rate_columns, (3,)),
    (euler_xyz.rates_of_columns, (3, 3, 3)),
    (euler_xyz.multiply_by_n, (3, 3)),
    (euler_xyz.multiply_by_n_transpose, (3, 3)),
    (euler_xyz.multiply_by_n_inv, (3, 3)),
    (euler_xyz.multiply_by_n_inv_transpose, (3, 3)),
    (euler_xyz.multiply_by_n_dot, (3, 3, 3)),
    (euler_xyz.multiply_by_n_dot_transpose, (3, 3, 3)),
    (euler_xyz.multiply_by_n_inv_dot, (3, 3, 3)),
    (euler_xyz.multiply_by_n_inv_dot_transpose, (3, 3, 3)),
]


@pytest.mark.parametrize(("function", "shapes"), FUNCTIONS, ids=lambda x: getattr(x, "__name__", ""))
def test_all_three_forms_agree(function, shapes, rng, close):
    numbers = rng.uniform(-1.2, 1.2, (sum(shapes), 8))
    results = dict(three_forms.in_every_form(function, shapes, numbers))
    close(results["float64"], results["python"], 1e-13)
    close(results["lanes"], results["python"], 1e-13)
