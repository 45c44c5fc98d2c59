"""Choices lane by lane, in plain Python; compiled, a path in lanes has the bits of one state (tests of paths)."""

import math

import numpy as np
import pytest

from mobod.algebra.masks import both, either, in_any, load_at, no, pick3, store_at
from mobod.force.transmission._lines import angle_of


@pytest.mark.parametrize("function, table", [(both, np.logical_and), (either, np.logical_or)])
def test_pairs_of_truth_values(function, table):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert (function(a, b) == table(a, b)).all() and (function(a, True) == table(a, True)).all()
    assert all(function(bool(x), bool(y)) is bool(table(x, y)) for x, y in zip(a, b, strict=True))


def test_not_and_any():
    a = np.array([True, False])
    assert (no(a) == [False, True]).all() and no(True) is False
    assert in_any(a) and not in_any(np.zeros(2, bool)) and in_any(True) and not in_any(False)


def test_rows_of_each_lane():
    rows = np.arange(24.0).reshape(3, 1, 8)
    place = np.array([0.0, 1, 2, 0, 1, 2, 0, 1])
    assert (load_at(rows, 0, place) == rows[place.astype(int), 0, range(8)]).all()
    mask = place > 0.5
    expected = rows.copy()
    expected[place[mask].astype(int), 0, np.flatnonzero(mask)] = -1.0
    store_at(rows, 0, place, mask, np.full(8, -1.0))
    assert (rows == expected).all()
    one = np.arange(3.0)[:, None]
    store_at(one, 1, 1.0, False, 5.0)
    store_at(one, 0, 1.0, True, 7.0)
    assert one[:, 0].tolist() == [0.0, 7.0, 2.0] and load_at(one, 1, 1.0) == 2.0
    assert pick3(False, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)) == (4.0, 5.0, 6.0)


def test_angles_are_those_of_the_c_library():
    seed = 5
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(2000, 2)) * 10.0 ** rng.integers(-8, 9, size=(2000, 2))
    pairs = [*pairs.tolist(), (0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (1.0, -1.0)]
    for y, x in pairs:
        assert angle_of(y, x) == pytest.approx(math.atan2(y, x), rel=5e-16, abs=1e-300), (seed, y, x)
