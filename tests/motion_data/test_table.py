"""Tables: slicing, resampling, filtering, gaps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

T = np.arange(400) / 200.0


def wave(hertz, phase=0.0):
    return np.sin(2.0 * np.pi * hertz * T + phase)


def test_a_table_is_a_mapping_that_cannot_change():
    table = mb.Table([0, 1], {"a": [1, 2], "m": np.ones((2, 3))}, name="x", metadata={"k": "v"}, report=["something."])
    assert list(table) == ["a", "m"] and "a" in table and "b" not in table and len(table) == 2
    assert table.rate == 1.0 and table.metadata == {"k": "v"} and table.report == ["something."]
    assert repr(table) == "<Table 'x': 2 times from 0 to 1, 2 columns>"
    with pytest.raises(KeyError, match="no column 'mm'"):
        table["mm"]
    for array in (table["a"], table.time):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_other_tables_of_a_table():
    table = mb.Table(T, {"a": wave(1), "b": wave(2), "m": np.stack([T, 2 * T, 3 * T], axis=1)})
    part = table.between(0.5, 1.0)
    assert part.time[0] == 0.5 and part.time[-1] == 1.0 and len(part) == 101
    assert table.only(["b"]).labels == ("b",)
    assert table.renamed({"a": "c"}).labels == ("c", "b", "m")
    assert np.array_equal(table.with_columns({"d": 2 * T})["d"], 2 * T)
    assert table.split().labels == ("a", "b", "mx", "my", "mz")
    assert_allclose(table.split()["my"], 2 * T)
    with pytest.raises(ValueError, match=r"no time between 5 and 6; it goes from 0 to 1\.995"):
        table.between(5, 6)
    with pytest.raises(ValueError, match=r"two columns would get one label.*'b'"):
        table.renamed({"a": "b"})


def test_resampling_is_exact_for_what_splines_are(rng):
    table = mb.Table(T, {"a": wave(1.5), "m": np.stack([T**3, T, T * T], axis=1)})
    at = np.sort(rng.uniform(0.0, T[-1], 50))
    again = table.resampled(at)
    assert_allclose(again["m"], np.stack([at**3, at, at * at], axis=1), atol=1e-12)
    assert_allclose(again["a"], np.sin(2 * np.pi * 1.5 * at), atol=1e-6)
    assert_allclose(table.resampled(rate=50.0).time, np.arange(100) / 50.0)
    with pytest.raises(ValueError, match=r"at times between 0 and 1\.995"):
        table.resampled([5.0])
    with pytest.raises(ValueError, match="either at times or at a rate"):
        table.resampled()


def test_a_filter_halves_the_power_at_its_cutoff_and_delays_nothing():
    for order in (2, 4, 8):
        for hertz, gain in ((1.0, 1.0), (6.0, np.sqrt(0.5)), (60.0, 0.0)):
            out = mb.Table(T, {"a": wave(hertz)}).filtered(6.0, order)["a"][100:-100]
            assert_allclose(out, gain * wave(hertz)[100:-100], atol=0.03)


def test_gaps_stay_gaps_unless_they_are_filled():
    y = np.stack([wave(1), wave(1, 1.0), T], axis=1)
    holes = y.copy()
    holes[:5] = holes[50:60] = holes[100:160] = np.nan
    table = mb.Table(T, {"m": holes})
    filtered = table.filtered(20.0)
    assert np.array_equal(np.isnan(filtered["m"]), np.isnan(holes))
    assert_allclose(filtered["m"][200:300], y[200:300], atol=1e-2)
    filled = table.with_gaps_filled(0.1)["m"]
    assert np.isnan(filled[:5]).all() and np.isnan(filled[100:160]).all()
    assert_allclose(filled[50:60], y[50:60], atol=1e-4)
    assert np.isfinite(table.with_gaps_filled()["m"][5:]).all()
    assert np.isnan(table.resampled([0.26, 0.3])["m"]).any(axis=1).tolist() == [True, False]


def test_a_data_frame():
    pytest.importorskip("pandas")
    frame = mb.Table([0, 1], {"a": [1, 2], "m": [[1, 2, 3], [4, 5, 6]]}).to_pandas()
    assert list(frame.columns) == ["a", "m_x", "m_y", "m_z"] and frame.index.name == "time" and frame["m_z"][1] == 6


WRONG = {
    "times": (lambda: mb.Table([1, 0], {}), r"times of a Table ascend; time\[0\] is 1.0 and time\[1\] is 0.0"),
    "nan": (lambda: mb.Table([0, np.nan], {}), "times of a Table ascend"),
    "shape": (lambda: mb.Table([0, 1], {"a": [1, 2, 3]}), r"column 'a' has the shape \(3,\); with 2 times it is \(2,\)"),
    "uneven": (lambda: mb.Table([0, 1, 3], {}).filtered(0.1), "evenly spaced rows; steps here.*resampled"),
    "cutoff": (lambda: mb.Table(T, {}).filtered(300.0), "below"),
    "negative": (lambda: mb.Table(T, {}).filtered(-1.0), "above 0, not -1"),
    "order": (lambda: mb.Table(T, {}).filtered(6.0, 3), "half of it each way, has to be 2, 4, .* or 12, not 3"),
    "rate": (lambda: mb.Table(T, {}).resampled(rate=0), "above zero, not 0"),
    "degree": (lambda: mb.Table(T, {"a": T}).resampled([0.1], degree=2), "degree of interpolation has to be 1, 3 or 5, not 2"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        call()
