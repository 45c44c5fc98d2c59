"""The tuple algebra against NumPy: every function, as Python, compiled, and in lanes, on numbers that Hypothesis chooses.

Tolerance: 1e-13 of the product of the sizes that go in, tens of roundings.
"""

import numpy as np
import three_forms
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from mobod.algebra import articulated, mat33, rotation, spatial, sym33, vec3

ROUNDING = 1e-13


def numbers(rows, low=-10.0, high=10.0):
    return arrays(np.float64, (rows, 8), elements=st.floats(low, high, width=64, allow_subnormal=False))


few = settings(max_examples=25, deadline=None, derandomize=True)


def full(S):
    xx, yy, zz, xy, xz, yz = S
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(S):
    return np.array([S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2]])


def tilde(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def parts(column, shapes):
    first = 0
    for shape in shapes:
        yield column[first : first + shape] if shape else column[first]
        first += max(shape, 1)


def check(function, shapes, data, expected, scale_of=None):
    """Every form of *function* equals *expected* of the same arguments."""
    wanted = np.array([np.hstack([np.ravel(x) for x in expected(*parts(case, shapes))]) for case in data.T]).T
    size = max(1.0, np.abs(data).max()) ** 3  # no function here multiplies more than three of its numbers
    for form, result in three_forms.in_every_form(function, shapes, data):
        assert np.abs(result - wanted).max() <= ROUNDING * size, (function.__name__, form)


VECTORS = [
    (vec3.add, (3, 3), lambda a, b: [a + b]),
    (vec3.sub, (3, 3), lambda a, b: [a - b]),
    (vec3.neg, (3,), lambda a: [-a]),
    (vec3.scale, (0, 3), lambda s, a: [s * a]),
    (vec3.add_scaled, (3, 0, 3), lambda a, s, b: [a + s * b]),
    (vec3.dot, (3, 3), lambda a, b: [a @ b]),
    (vec3.add_dot, (0, 3, 3), lambda x, a, b: [x + a @ b]),
    (vec3.cross, (3, 3), lambda a, b: [np.cross(a, b)]),
    (mat33.mul_vec, (9, 3), lambda A, v: [A.reshape(3, 3) @ v]),
    (mat33.transpose_mul_vec, (9, 3), lambda A, v: [A.reshape(3, 3).T @ v]),
    (mat33.mul, (9, 9), lambda A, B: [A.reshape(3, 3) @ B.reshape(3, 3)]),
    (mat33.mul_about_z, (9, 0, 0), lambda A, c, s: [A.reshape(3, 3) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])]),
    (mat33.mul_transpose, (9, 9), lambda A, B: [A.reshape(3, 3) @ B.reshape(3, 3).T]),
    (mat33.transpose, (9,), lambda A: [A.reshape(3, 3).T]),
    (mat33.add, (9, 9), lambda A, B: [A + B]),
    (sym33.mul_vec, (6, 3), lambda S, v: [full(S) @ v]),
    (sym33.add, (6, 6), lambda S, T: [S + T]),
    (sym33.sub, (6, 6), lambda S, T: [S - T]),
    (sym33.mul_mat, (6, 9), lambda S, A: [full(S) @ A.reshape(3, 3)]),
    (sym33.rotate, (9, 6), lambda R, S: [six(R.reshape(3, 3) @ full(S) @ R.reshape(3, 3).T)]),
    (sym33.point_mass, (0, 3), lambda m, r: [six(m * (r @ r * np.eye(3) - np.outer(r, r)))]),
    (spatial.shift_motion, (3, 3, 3), lambda w, v, r: [w, v + np.cross(w, r)]),
    (spatial.shift_force, (3, 3, 3), lambda t, f, r: [t + np.cross(r, f), f]),
    (
        spatial.mul_inertia,
        (0, 3, 6, 3, 3),
        lambda m, mc, I, w, v: [full(I) @ w + np.cross(mc, v), m * v + np.cross(w, mc)],
    ),
    (
        spatial.shift_inertia,  # with the mass center anywhere
        (0, 3, 6, 3),
        lambda m, mc, I, r: [
            mc + m * r,
            six(
                full(I)
                + 2.0 * (r @ mc) * np.eye(3)
                - np.outer(r, mc)
                - np.outer(mc, r)
                + m * (r @ r * np.eye(3) - np.outer(r, r))
            ),
        ],
    ),
    (articulated.add, (6, 9, 6, 6, 9, 6), lambda J, F, M, J2, F2, M2: [J + J2, F + F2, M + M2]),
    (
        articulated.mul_vec,
        (6, 9, 6, 3, 3),
        lambda J, F, M, w, v: [whole(J, F, M) @ np.concatenate([w, v])],
    ),
    (
        articulated.of_rigid_body,
        (0, 3, 6),
        lambda m, mc, I: [I, tilde(mc), six(m * np.eye(3))],
    ),
    (articulated.shift, (6, 9, 6, 3), lambda J, F, M, r: unpacked(phi(r) @ whole(J, F, M) @ phi(r).T)),
    (articulated.shift_linear, (6, 3), lambda M, r: unpacked(phi(r) @ whole(np.zeros(6), np.zeros(9), M) @ phi(r).T)),
]


def phi(r):
    """Shifts forces from a point at r to the origin."""
    return np.block([[np.eye(3), tilde(r)], [np.zeros((3, 3)), np.eye(3)]])


def whole(J, F, M):
    F = np.reshape(F, (3, 3))
    return np.block([[full(J), F], [F.T, full(M)]])


def unpacked(P):
    return [six(P[:3, :3]), P[:3, 3:], six(P[3:, 3:])]


def pytest_generate_tests(metafunc):
    if "entry" in metafunc.fixturenames:
        metafunc.parametrize("entry", VECTORS, ids=lambda e: f"{e[0].__module__.rpartition('.')[2]}.{e[0].__name__}")


@few
@given(data=st.data())
def test_function_is_what_matrices_say(entry, data):
    function, shapes, expected = entry
    check(function, shapes, data.draw(numbers(sum(max(s, 1) for s in shapes))), expected)


def test_columns_of_a_matrix_and_of_the_unit_matrix():
    A = np.arange(9.0)
    for k in range(3):
        assert mat33.column(tuple(A), k) == tuple(A.reshape(3, 3)[:, k])
        assert vec3.unit(A[0], k) == tuple(np.eye(3)[k])
    assert vec3.unit(A[0], -1) == vec3.unit(A[0], 3) == (0.0, 0.0, 0.0)


def test_every_function_of_the_tuple_algebra_is_compared():
    compared = {entry[0] for entry in VECTORS}
    compared |= {articulated.eliminate, articulated.eliminate_two, articulated.eliminate_slides}
    compared |= {articulated.eliminate_rotations, sym33.inverse, sym33.of_product, mat33.column, vec3.unit}
    for module in (vec3, mat33, sym33, spatial, articulated):
        for name, value in vars(module).items():
            if callable(value) and getattr(value, "__module__", "") == module.__name__ and "articulated" not in name:
                assert value in compared, f"{module.__name__}.{name}"


# ---------------------------------------------------------------------------------------------- laws, beside the numbers


@few
@given(numbers(12))
def test_a_shift_of_motion_and_one_of_force_keep_the_power(data):
    """(w, v) . (t, f) is the same at either point."""
    for case in data.T:
        w, v, t, f = case.reshape(4, 3)
        r = np.array([0.3, -0.7, 1.1])
        w2, v2 = spatial.shift_motion(tuple(w), tuple(v), tuple(r))
        t1, f1 = spatial.shift_force(tuple(t), tuple(f), tuple(r))
        power = np.dot(w, t1) + np.dot(v, f1)
        assert abs(power - (np.dot(w2, t) + np.dot(v2, f))) <= 1e-12 * max(1.0, np.abs(case).max() ** 2)


@few
@given(numbers(6, -3.0, 3.0))
def test_shifting_an_inertia_there_and_back_restores_it(data):
    for case in data.T:
        r, mc = tuple(case[:3]), tuple(case[3:])
        inertia = (3.0, 4.0, 5.0, 0.1, 0.2, 0.3)
        there = spatial.shift_inertia(2.0, mc, inertia, r)
        back = spatial.shift_inertia(2.0, *there, tuple(-x for x in r))
        assert np.allclose(back[0], mc, rtol=0, atol=1e-13) and np.allclose(back[1], inertia, rtol=0, atol=1e-12)


def positive_definite(rng):
    A = rng.normal(size=(6, 6))
    return A @ A.T + 0.5 * np.eye(6)


def test_freeing_directions_is_the_schur_complement(rng):
    """One to six directions, one after the other, against P - P H (H^T P H + R)^-1 H^T P; the gains too."""
    for n in range(1, 7):
        P = np.array([positive_definite(rng) for _ in range(8)])
        # orthonormal columns: no pivot h^T P h is then below P's smallest eigenvalue, a half
        H, R = np.linalg.qr(rng.normal(size=(8, 6, n)))[0], rng.uniform(0.0, 1.0, (8, n))
        data = np.array([np.concatenate([np.ravel(x) for x in unpacked(p)]) for p in P]).T
        for _, form in three_forms.FORMS.items():
            rows = data
            for i in range(n):
                given_now = np.vstack([rows, H[:, :, i].T, R[:, i]])
                result = form(articulated.eliminate, (6, 9, 6, 3, 3, 0), given_now)
                before = [whole(c[:6], c[6:15], c[15:]) for c in rows.T]
                rows = result[:21]
                for case in range(8):
                    h, p = H[case, :, i], before[case]
                    d = h @ p @ h + R[case, i]
                    assert np.allclose(result[21:27, case], p @ h / d, rtol=0, atol=1e-10)
                    assert np.isclose(result[27, case], 1.0 / d, rtol=1e-9)
            for case in range(8):
                p, h, r = P[case], H[case], np.diag(R[case])
                schur = p - p @ h @ np.linalg.solve(h.T @ p @ h + r, h.T @ p)
                # roundings of P, times its condition of at most a few hundred
                assert np.allclose(
                    whole(rows[:6, case], rows[6:15, case], rows[15:, case]), schur, rtol=0, atol=1e-8 * np.abs(p).max()
                )


def test_a_freed_direction_takes_no_force(rng):
    P, h = positive_definite(rng), rng.normal(size=6)
    J, F, M, *_ = articulated.eliminate(*(tuple(np.ravel(x)) for x in unpacked(P)), tuple(h[:3]), tuple(h[3:]), 0.0)
    assert np.allclose(whole(J, F, M) @ h, 0.0, atol=1e-12 * np.abs(P).max() * np.abs(h).max())


def test_all_rotations_freed_at_once_are_three_directions_freed_in_turn(rng):
    """Whatever the three directions, P+ is the same; K and J^-1 are its blocks' own."""
    J, F, M = (tuple(np.ravel(x)) for x in unpacked(positive_definite(rng)))
    left, J_inverse, K, d_inverse = articulated.eliminate_rotations(J, F, M)
    assert np.allclose(full(J_inverse) @ full(J), np.eye(3), atol=1e-12)
    assert np.allclose(np.reshape(K, (3, 3)), full(J_inverse) @ np.reshape(F, (3, 3)), atol=1e-12)
    assert np.isclose(d_inverse, 1.0 / np.linalg.det(full(J)), rtol=1e-12)
    J2, F2, M2 = J, F, M
    for h in rng.normal(size=(3, 3)):
        J2, F2, M2, *_ = articulated.eliminate(J2, F2, M2, tuple(h), (0.0, 0.0, 0.0), 0.0)
    P = np.abs(whole(J, F, M)).max()
    assert np.allclose(left, M2, atol=1e-10 * P)  # three random directions lose some digits
    assert np.allclose(J2, 0.0, atol=1e-10 * P) and np.allclose(F2, 0.0, atol=1e-10 * P)


def test_two_directions_freed_at_once_are_both_freed_in_turn(rng):
    J, F, M = (tuple(np.ravel(x)) for x in unpacked(positive_definite(rng)))
    h, k = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    sides = tuple(h[:3]), tuple(h[3:]), tuple(k[:3]), tuple(k[3:])
    *left, first, second = articulated.eliminate_two(J, F, M, *sides, 0.3, 0.7)
    *rest, gw, gv, d_inverse = articulated.eliminate(J, F, M, tuple(h[:3]), tuple(h[3:]), 0.3)
    for found, expected in zip(first, (gw, gv, d_inverse), strict=True):
        assert np.allclose(found, expected, rtol=1e-12)
    *rest, gw, gv, d_inverse = articulated.eliminate(*rest, tuple(k[:3]), tuple(k[3:]), 0.7)
    for found, expected in zip(second, (gw, gv, d_inverse), strict=True):
        assert np.allclose(found, expected, rtol=1e-10)
    assert np.allclose(whole(*left), whole(*rest), atol=1e-11 * np.abs(whole(J, F, M)).max())


def test_three_slides_freed_at_once_are_three_directions_freed_in_turn(rng):
    J, F, M = (tuple(np.ravel(x)) for x in unpacked(positive_definite(rng)))
    axes = [tuple(axis) for axis in np.linalg.qr(rng.normal(size=(3, 3)))[0]]
    left, *found = articulated.eliminate_slides(J, F, M, *axes)
    rest = J, F, M
    for axis, (gw, gv, d_inverse) in zip(axes, found, strict=True):
        *rest, pw, pv, e_inverse = articulated.eliminate(*rest, (0.0, 0.0, 0.0), axis, 0.0)
        assert np.allclose(gw, pw, rtol=1e-10) and np.allclose(gv, pv, rtol=1e-10) and np.isclose(d_inverse, e_inverse)
    size = np.abs(whole(J, F, M)).max()
    assert np.allclose(left, rest[0], atol=1e-11 * size)
    assert np.allclose(rest[1], 0.0, atol=1e-11 * size) and np.allclose(rest[2], 0.0, atol=1e-11 * size)


def test_of_product_is_the_product_where_that_is_symmetric(rng):
    A, S = rng.normal(size=(3, 3)), full(rng.normal(size=6))
    assert np.allclose(full(sym33.of_product(tuple(A.ravel()), tuple((S @ A).ravel()))), A.T @ S @ A, atol=1e-13)


@few
@given(numbers(3, -4.0, 4.0))
def test_rotations_are_what_their_names_say(data):
    def about(axis, angle):
        s, c = np.sin(angle), np.cos(angle)
        i, k = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[i, i], R[i, k], R[k, i], R[k, k] = c, -s, s, c
        return R

    check(rotation.about_z, (0,), data[2:], lambda c: [about(2, c)])
    check(rotation.about_x_then_y, (0, 0), data[:2], lambda a, b: [about(0, a) @ about(1, b)])
    check(rotation.body_fixed_xyz, (0, 0, 0), data, lambda a, b, c: [about(0, a) @ about(1, b) @ about(2, c)])
    check(rotation.identity, (0,), data[:1], lambda a: [np.eye(3)])
