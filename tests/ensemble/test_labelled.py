"""Ensembles and motions as arrays with names."""

import numpy as np
import pytest

import mobod as mb


@pytest.fixture(autouse=True)
def _with_xarray():
    pytest.importorskip("xarray")


@pytest.fixture
def ensemble():
    system, state = mb.examples.double_pendulum.build()
    made = mb.Ensemble(system, 5, state=state)
    made.upd_q()[:, 0] = np.linspace(0.0, 1.0, 5)
    made.realize()
    return made


def test_an_ensemble_is_a_dataset(ensemble):
    table = ensemble.to_xarray()
    assert set(table.data_vars) == {"time", "q", "u"} and table.sizes == {"state": 5, "coordinate": 2, "speed": 2}
    names = mb.simulate(ensemble.get_state(0).system, ensemble.get_state(0), 0.1).coordinate_names
    np.testing.assert_array_equal(table["q"].sel(coordinate=names[0]), ensemble.q[:, 0])
    more = ensemble.to_xarray("body_transforms", "calc_kinetic_energy", "calc_mobilizer_reaction_forces", "calc_m")
    assert more["calc_mobilizer_reaction_forces"].dims == ("state", "body", "part", "axis")
    body = more["body"].values[2]
    force = more["calc_mobilizer_reaction_forces"].sel(body=body, part="linear", axis="y")
    np.testing.assert_array_equal(force, ensemble.calc_mobilizer_reaction_forces()[:, 2, 1, 1])
    assert more["calc_m"].dims == ("state", "calc_m_1", "calc_m_2")
    ensemble.upd_q()[...] = 9.0
    assert table["q"].values.max() == 1.0 or table["q"].values.max() < 9.0, "its own numbers"
    with pytest.raises(ValueError, match="stage of an ensemble is no array"):
        ensemble.to_xarray("stage")


def test_motions_are_a_dataset(ensemble):
    motions = ensemble.simulate(0.2, report_interval=0.1)
    table = motions.to_xarray()
    assert table["q"].dims == ("state", "time", "coordinate") and not table["failed"].any()
    np.testing.assert_array_equal(table["u"].sel(time=0.2), motions.u[:, 2])
    np.testing.assert_array_equal(table["end_time"], motions.end_time)
    ensemble.reset(time=np.arange(5.0))
    apart = ensemble.simulate(0.2, report_interval=0.1).to_xarray()
    assert apart["q"].dims == ("state", "report", "coordinate") and apart["time"].shape == (5, 3)
