"""The impulses of random problems fulfil Coulomb's law."""

import numpy as np
import pytest

from mobod.unilateral import _cones, _solve


def solve(W, b, kinds, starts, coefficients, tolerance):
    m = len(b)
    gamma, work, counts = np.zeros(m), np.zeros((_solve.WORK_ROWS, m)), np.zeros(2, np.int64)
    scratch = np.zeros((m, 3)), np.zeros((m, m)), np.zeros(m, np.int64)
    arrays = np.array(kinds), np.array(starts), np.array(coefficients, float)
    residual = _solve.solve(W, b, *arrays, gamma, work, *scratch, tolerance, 200, counts, False, np.zeros(len(kinds)))
    return gamma, W @ gamma + b, residual


@pytest.mark.parametrize("redundant", [False, True])
def test_random_contacts(rng, redundant):
    for _ in range(40):
        n = int(rng.integers(1, 8))
        nu = int(rng.integers(2, 8)) if redundant else 3 * n + 2
        J, A = rng.normal(size=(3 * n, nu)), rng.normal(size=(nu, nu))
        W, b, mu = J @ np.linalg.solve(A @ A.T + np.eye(nu), J.T), J @ rng.normal(size=nu), rng.uniform(0.0, 0.7, n)
        gamma, v, residual = solve(W, b, [_cones.CONE] * n, range(0, 3 * n + 1, 3), mu, 1e-9)
        if redundant and residual > 1e-9:  # no law says that there is one solution, nor that this way finds it
            continue
        assert residual <= 1e-9
        near = 1e-6 * max(1.0, abs(gamma).max())
        for k in range(n):
            (g, *f), (s, *t) = gamma[3 * k : 3 * k + 3], v[3 * k : 3 * k + 3]
            assert g >= -near and s >= -near and abs(g * s) < near
            assert np.hypot(*f) <= mu[k] * g + near
            if np.hypot(*t) > 1e-4 and g > 1e-4:  # friction opposes the slip, as large as it can be
                assert np.asarray(f) == pytest.approx(-mu[k] * g * np.asarray(t) / np.hypot(*t), abs=1e-3 * max(1.0, g))


def test_other_blocks_are_bilateral_one_sided_and_bounded(rng):
    J = rng.normal(size=(5, 8))
    W, b = J @ J.T, J @ rng.normal(size=8)
    kinds = [_cones.FREE, _cones.HALF, _cones.DISK, _cones.DISK]
    gamma, v, residual = solve(W, b, kinds, [0, 1, 2, 4, 5], [0.0, 0.0, 0.1, 0.2], 1e-10)
    assert residual <= 1e-10 and v[0] == pytest.approx(0.0, abs=1e-9)
    assert gamma[1] >= 0.0 and v[1] >= -1e-9 and abs(gamma[1] * v[1]) < 1e-9
    assert np.hypot(*gamma[2:4]) <= 0.1 + 1e-9 and abs(gamma[4]) <= 0.2 + 1e-9
    assert np.hypot(*gamma[2:4]) == pytest.approx(0.1) or abs(v[2:4]).max() < 1e-9


@pytest.mark.parametrize("kind", [_cones.CONE, _cones.DISK])
def test_the_derivative_of_the_projection(rng, kind):
    for _ in range(50):
        y, d, h = rng.normal(size=3), rng.normal(size=3), 1e-6
        mu = rng.uniform(0.1, 1.5)
        ends = []
        for step in (h, -h):
            out, D = np.zeros(3), np.zeros((3, 3))
            _cones.project(kind, mu, 0, 3, y + step * d, out, D)
            ends.append(out)
        out, D = np.zeros(3), np.zeros((3, 3))
        _cones.project(kind, mu, 0, 3, y, out, D)
        # next to an edge of the regions the difference is of both
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(D @ d, abs=1e-4)
