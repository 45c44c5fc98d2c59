"""Files as they are found: last rows twice, empty columns, blanks in place of tabs."""

import numpy as np
import pytest

import mobod as mb


def test_a_time_that_comes_twice_is_dropped_and_said(tmp_path):
    path = tmp_path / "states.sto"
    path.write_text("states\nnRows=3\nendheader\ntime\ta\n0\t1\n0.1\t2\n0.1\t3\n")
    table = mb.read_sto(path)
    np.testing.assert_array_equal(table["a"], [1, 3])  # as OpenSim's Storage does
    assert any("rows are dropped" in line and "0.1" in line for line in table.report)
    path.write_text("states\nnRows=3\nendheader\ntime\ta\n0\t1\n0.1\t2\n0.05\t3\n")
    with pytest.raises(ValueError, match="ascend"):
        mb.read_sto(path)


def test_states_of_opensims_tracking_tools_begin_with_a_header_of_no_columns(tmp_path):
    path = tmp_path / "walk_states.sto"
    head = "UNKNOWN\nversion=1\nnRows=0\nnColumns=1\ninDegrees=no\nendheader\ntime\n{}"
    for word in ("endheader\n", "header\n", "\nendheader\n", ""):  # it writes over the first what it has not closed yet
        path.write_text(head.format(word) + "time\tknee/value\n0\t0.1\n0.5\t0.2\n")
        assert mb.read_sto(path)["knee/value"].tolist() == [0.1, 0.2]


def test_tabs_between_labels_without_columns(tmp_path):
    path = tmp_path / "states.sto"
    path.write_text("states\nendheader\ntime\ta\t\tb\n0\t1\t2\n")
    table = mb.read_sto(path)
    assert table.labels == ("a", "b") and table["b"][0] == 2 and len(table.report) == 1


@pytest.mark.parametrize(
    ("word", "scale"), [("yes", np.pi / 180), ("no", 1.0), ("True", np.pi / 180), ("0", 1.0), ("maybe", None)]
)
def test_in_degrees_is_yes_or_no(tmp_path, word, scale):
    path = tmp_path / "walk.mot"
    path.write_text(f"walk\nversion=1\ninDegrees={word}\nendheader\ntime\tknee_angle\n0\t90\n")
    if scale is None:
        with pytest.raises(ValueError, match=r"walk\.mot, line 3: inDegrees is yes or no, not 'maybe'"):
            mb.read_sto(path)
    else:
        assert mb.read_sto(path)["knee_angle"][0] == pytest.approx(90 * scale)


@pytest.mark.parametrize("word", ["Time", "Times"])
def test_a_trc_file_with_blanks_in_its_header(tmp_path, word):
    path = tmp_path / "static.trc"
    path.write_text(
        "PathFileType\t4\t(X/Y/Z) static\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n 200.0   200.0   2   2 mm\n"
        f"Frame#\t{word}   R.Shoulder    L.Shoulder   \n               X1  Y1  Z1   X2  Y2  Z2\n\n"
        "\t1\t0.0\t1\t2\t3\t4\t5\t6\n\t2\t0.1\t1\t2\t3\t4\t5\t7\n"
    )
    table = mb.read_trc(path)
    assert table.labels == ("R.Shoulder", "L.Shoulder")
    np.testing.assert_allclose(table["L.Shoulder"], [[0.004, 0.005, 0.006], [0.004, 0.005, 0.007]])


def test_numbers_are_written_so_that_they_read_back_the_same(tmp_path):
    rng = np.random.default_rng(3)
    values = rng.normal(size=50) * 10.0 ** rng.integers(-30, 30, 50)
    values[:4] = 0.0, -0.0, 0.1, 1e22
    for more in ([], [np.nan]):
        column = np.concatenate([values, more])
        mb.write_sto(tmp_path / "out.sto", mb.Table(np.arange(len(column)), {"a": column}))
        np.testing.assert_array_equal(mb.read_sto(tmp_path / "out.sto")["a"], column)


SIMM = "name walk\ndatacolumns 3\ndatarows 1\nrange 0.0 0.0\nendheader\n"
WORDS = "Coordinates\nnRows=1\nnColumns=3\n\nUnits are S.I. units (second, ...)\nAngles are in degrees.\n\nendheader\n"


@pytest.mark.parametrize(
    ("name", "header", "scale", "said"),
    [
        # as OpenSim 4.6's Storage takes them, but for the two of its own words, which it passes over
        ("a.mot", SIMM, np.pi / 180, "no version and no inDegrees"),
        ("a.sto", SIMM, 1.0, ""),
        ("a.mot", "walk\nversion=0\nendheader\n", np.pi / 180, "no version"),
        ("a.sto", WORDS, np.pi / 180, "as it says in words"),
        ("a.mot", WORDS, np.pi / 180, "as it says in words"),
        ("a.sto", WORDS.replace("nRows", "version=1\nnRows"), 1.0, "read as radians, as OpenSim does"),
        ("a.sto", WORDS.replace("Angles", "The angles"), 1.0, ""),
        ("a.mot", "walk\nversion=1\nendheader\n", 1.0, ""),
        ("a.mot", "walk\ninDegrees=no\nendheader\n", 1.0, ""),
        ("a.mot", WORDS.replace("degrees", "radians"), 1.0, "angles are in radians, as it says in words"),
    ],
)
def test_files_without_a_version_are_in_degrees_where_they_are_for_opensim(tmp_path, name, header, scale, said):
    path = tmp_path / name
    path.write_text(f"{header}time\thip_flexion_r\tpelvis_tx\n0\t90\t2\n")
    table = mb.read_sto(path)
    assert table["hip_flexion_r"][0] == pytest.approx(90 * scale) and table["pelvis_tx"][0] == 2.0
    assert bool(table.report) == bool(said) and all(said in line for line in table.report)
    for degrees in (False, True):
        asked = mb.read_sto(path, degrees=degrees)
        assert asked["hip_flexion_r"][0] == pytest.approx(np.deg2rad(90) if degrees else 90) and not asked.report
    with pytest.raises(TypeError, match="degrees of read_sto has to be True or False, not 'no'"):
        mb.read_sto(path, degrees="no")


def test_loads_of_a_file_without_a_version_are_no_angles(tmp_path):
    (tmp_path / "grf.mot").write_text(SIMM.replace("3", "4") + "time\tplate1\tplate2\tplate3\n0\t1\t800\t3\n")
    (tmp_path / "loads.xml").write_text(
        "<OpenSimDocument><ExternalLoads><objects><ExternalForce name='right'><applied_to_body>foot</applied_to_body>"
        "<force_identifier>plate</force_identifier></ExternalForce></objects><datafile>grf.mot</datafile>"
        "</ExternalLoads></OpenSimDocument>"
    )
    (load,) = mb.biomechanics.read_external_loads(tmp_path / "loads.xml")
    np.testing.assert_array_equal(load.force, [[1.0, 800.0, 3.0]])
