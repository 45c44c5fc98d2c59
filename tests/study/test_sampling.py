"""Designs of experiments fill their ranges."""

import numpy as np
import pytest
import scipy.stats

import mobod as mb

RANGES = {"mass": (0.5, 2.0), "place": ((0, 0, -1), (1, 2, 1)), "length": scipy.stats.norm(1.0, 0.1)}


@pytest.mark.parametrize("method", ["sobol", "halton", "latin", "uniform"])
def test_values_are_in_their_ranges_and_repeat_with_the_seed(method):
    found = mb.sample_parameters(RANGES, 100, method=method, seed=4)
    assert {name: values.shape for name, values in found.items()} == {"mass": (100,), "place": (100, 3), "length": (100,)}
    assert found["mass"].min() >= 0.5 and found["mass"].max() <= 2.0
    assert (found["place"] >= (0, 0, -1)).all() and (found["place"] <= (1, 2, 1)).all()
    again, other = (mb.sample_parameters(RANGES, 100, method=method, seed=seed) for seed in (4, 5))
    assert all(np.array_equal(found[name], again[name]) for name in found)
    assert not np.array_equal(found["mass"], other["mass"])


def test_sobol_and_latin_hypercube_are_more_even_than_chance():
    for method in ("sobol", "latin"):
        values = mb.sample_parameters({"x": (0.0, 1.0), "y": (0.0, 1.0)}, 64, method=method)
        for name in "xy":
            assert np.bincount((values[name] * 64).astype(int), minlength=64).tolist() == [1] * 64, "one in each cell"
    # the inverse of the distribution makes its moments
    lengths = mb.sample_parameters(RANGES, 1024)["length"]
    assert abs(lengths.mean() - 1.0) < 1e-3 and abs(lengths.std() - 0.1) < 2e-3


def test_the_first_points_stay_when_there_are_more():
    few, many = (mb.sample_parameters({"x": (0.0, 1.0)}, n)["x"] for n in (16, 100))
    assert np.array_equal(few, many[:16])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"ranges": {}}, ValueError, "no parameter"),
        ({"ranges": ["mass"]}, TypeError, "ranges has to be a Mapping, such as"),
        ({"ranges": {"mass": 3.0}}, TypeError, r"range of mass has to be \(low, high\)"),
        ({"ranges": {"mass": (2.0, 1.0)}}, ValueError, "range of mass has to go from a low to a higher"),
        ({"ranges": {"mass": (0.0, np.inf)}}, ValueError, "both finite"),
        ({"ranges": {"mass": (0.0, (1.0, 2.0))}}, ValueError, "bounds of mass have shapes"),
        ({"n": 0}, ValueError, "n has to be"),
        ({"method": "grid"}, ValueError, "method has to be 'sobol'.*not 'grid'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        mb.sample_parameters(**{"ranges": RANGES, "n": 8} | arguments)
