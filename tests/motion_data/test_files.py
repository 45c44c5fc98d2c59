"""Files of motion: what is read is what was written, and what OpenSim and ezc3d read; torn files say where."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

FOLDER = os.environ.get("MOBOD_TEST_MODELS")
TRC = """PathFileType\t4\t(X/Y/Z)\tsome.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t3\t2\tmm\t100\t1\t3
Frame#\tTime\tHead\t\t\tToe L\t\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.00\t1000\t2000\t3000\t10\t20\t30
2\t0.01\t\t\t\t11\t21\tNaN
3\t0.02\t1002\t2002\t3002\t12\t22\t32\t
"""
MOT = """first trial
nRows=2
nColumns=4
inDegrees=yes
# a comment with words
endheader

time\thip\tpelvis_tx\tground_force_vx
0.0\t90\t0.5\t700
0.1\t180\t0.6\t710
"""


def write(folder, name, text, **options):
    path = folder / name
    path.write_bytes(text.encode(**options))
    return path


def test_a_trc_file(tmp_path):
    for text in (TRC, TRC.replace("\n", "\r\n"), "\ufeff" + TRC):
        table = mb.read_trc(write(tmp_path, "some.trc", text))
        assert table.labels == ("Head", "Toe L") and table.name == "some" and len(table) == 3
        assert_allclose(table.time, [0.0, 0.01, 0.02])
        assert_allclose(table["Head"], [[1, 2, 3], [np.nan] * 3, [1.002, 2.002, 3.002]])
        assert_allclose(table["Toe L"][1], [0.011, 0.021, np.nan])
    meters = mb.read_trc(write(tmp_path, "m.trc", TRC.replace("\tmm\t", "\tm\t").replace("\t3\t2\tm", "\t9\t2\tm")))
    assert_allclose(meters["Head"][0], [1000, 2000, 3000])
    assert meters.report == ["the header's NumFrames is 9; there are 3."]


def test_a_mot_file(tmp_path):
    table = mb.read_sto(write(tmp_path, "a.mot", MOT))
    assert table.labels == ("hip", "pelvis_tx", "ground_force_vx") and table.name == "first trial"
    assert_allclose(table["hip"], [np.pi / 2, np.pi])
    assert_allclose(table["pelvis_tx"], [0.5, 0.6])
    assert_allclose(table["ground_force_vx"], [700, 710])
    radians = mb.read_sto(write(tmp_path, "b.mot", MOT.replace("=yes", "=no").replace("\t", "   ")))
    assert_allclose(radians["hip"], [90, 180])
    twice = mb.read_sto(write(tmp_path, "c.mot", MOT.replace("pelvis_tx", "ground_force_vx")))
    assert twice.labels == ("hip", "ground_force_vx", "ground_force_vx_2")
    assert twice.report == ["the label 'ground_force_vx' comes again; this column is called 'ground_force_vx_2'."]


def test_the_model_says_which_columns_are_angles(tmp_path):
    class Some:
        angles, coordinates = {"hip"}, {"hip": 0, "slide": 1}

    text = MOT.replace("pelvis_tx", "slide").replace("hip", "/jointset/a/hip/value").replace("ground_force_vx", "hip_u")
    table = mb.read_sto(write(tmp_path, "a.mot", text), model=Some)
    assert_allclose(table["/jointset/a/hip/value"], [np.pi / 2, np.pi])
    assert_allclose(table["slide"], [0.5, 0.6])
    assert_allclose(table["hip_u"], np.deg2rad([700, 710]))


def test_the_old_header_of_simm(tmp_path):
    text = "name old\ndatacolumns 3\ndatarows 2\notherdata 1\nrange 0 1\nendheader\n  time   a_tx  b_tx\n 0 1 2\n 1 3 4e-1\n"
    table = mb.read_sto(write(tmp_path, "old.mot", text))
    assert table.name == "old" and table.metadata["datacolumns"] == "3"
    assert_allclose(table["b_tx"], [2.0, 0.4])


@pytest.mark.parametrize(("kind", "shape"), [("Vec3", (3,)), ("Quaternion", (4,)), ("SpatialVec", (2, 3))])
def test_elements_of_several_numbers(tmp_path, rng, kind, shape):
    table = mb.Table([0.0, 0.1, 0.25], {name: rng.normal(size=(3, *shape)) for name in ("a", "b")}, name="v")
    mb.write_sto(tmp_path / "v.sto", table)
    again = mb.read_sto(tmp_path / "v.sto")
    assert again.metadata["DataType"] == kind and again.labels == ("a", "b")
    assert np.array_equal(again["b"], table["b"]) and np.array_equal(again.time, table.time)


def test_what_is_written_is_read_again_to_the_bit(tmp_path, rng):
    time = np.cumsum(rng.uniform(0.001, 0.1, 50))
    scalars = mb.Table(time, {"hip": rng.normal(size=50), "pelvis_tx": rng.normal(size=50)}, name="motion")
    mb.write_sto(tmp_path / "a.mot", scalars)
    again = mb.read_sto(tmp_path / "a.mot")
    assert again.name == "motion" and all(np.array_equal(again[label], scalars[label]) for label in scalars)
    mb.write_sto(tmp_path / "a.mot", scalars, degrees=True)
    assert "inDegrees=yes" in (tmp_path / "a.mot").read_text()
    again = mb.read_sto(tmp_path / "a.mot")
    assert_allclose(again["hip"], scalars["hip"], rtol=1e-15)
    assert np.array_equal(again["pelvis_tx"], scalars["pelvis_tx"])
    places = rng.normal(size=(50, 3))
    places[3:7] = np.nan
    markers = mb.Table(time, {"A": places, "B b": rng.normal(size=(50, 3))})
    mb.write_trc(tmp_path / "m.trc", markers, units="m")
    again = mb.read_trc(tmp_path / "m.trc")
    assert again.labels == markers.labels and np.array_equal(again["A"], places, equal_nan=True)
    mb.write_trc(tmp_path / "m.trc", markers)
    assert_allclose(mb.read_trc(tmp_path / "m.trc")["B b"], markers["B b"], rtol=1e-15)


def test_long_files_are_read_to_the_bit_of_python_s_float(tmp_path, rng):
    """From 64 KiB on a compiled reader reads them; what it cannot be sure of, and what is torn, is left to Python."""
    ways = ("{!r}", "{:.6f}", "{:.17g}", "{:.10e}", "{:.0f}", "{:.15f}", "{:+.3E}")
    fields = [way.format(x) for way in ways for x in (rng.normal(size=600) * 10.0 ** rng.integers(-25, 25, 600)).tolist()]
    fields += [
        "-0.0",
        "0e400",
        "1e-400",
        "1.",
        "+.5",
        "-.5e2",
        "9007199254740993",
        "9007199254740992.5",
        "0.5000000000000000001",
        "0." + 30 * "0",
        "0.00000000000000000012345678901234567",
        "-000000000000000000000000012.5",
        "0000000000000000001234567890123456789",
    ]
    rows = [f"{0.25 * k}\t{field}\t{field} \t7" for k, field in enumerate(fields)]
    header = "nColumns=4\nendheader\ntime\ta\tb\tc\n"
    expected = np.array([float(field) for field in fields])
    for text in ("\n".join(rows) + "\n", "\n\n".join(rows), "\n".join(f"  {row}\t" for row in rows)):
        assert len(text) > 1 << 16
        table = mb.read_sto(write(tmp_path, "long.sto", header + text))
        for label in ("a", "b"):
            assert np.array_equal(table[label].view(np.int64), expected.view(np.int64))
        assert (table["c"] == 7.0).all() and len(table) == len(fields)
    gaps = [row.removesuffix("7") + ("NaN" if k % 2 else "") for k, row in enumerate(rows)]
    for some in (gaps, [row.removesuffix("NaN") for row in gaps]):
        table = mb.read_sto(write(tmp_path, "gaps.sto", header + "\n".join(some) + "\n"))
        assert np.isnan(table["c"]).all() and np.array_equal(table["a"], expected)
    for fault, what in (("1.5\t2\t3", "the row is torn"), ("1.5\t2\tx\t3", "'x' is no number"), ("1.5\t2-1\t3\t4", "'2-1' is")):
        torn = [*rows[:100], fault, *rows[100:]]
        with pytest.raises(ValueError, match=f"line 104: .*{what}"):
            mb.read_sto(write(tmp_path, "torn.sto", header + "\n".join(torn)))


TORN_TRC = {
    "no trc": (TRC[4:], "line 1: a TRC file begins with PathFileType"),
    "unit": (TRC.replace("\tmm\t", "\tparsec\t"), "line 3: the unit of length 'parsec' is unknown; known are centi"),
    "columns": (TRC.replace("Frame#\tTime", "Time\tFrame#"), "line 4: the columns begin with Frame# and Time"),
    "nameless": (TRC.replace("Head", "").replace("Toe L", ""), "line 4: no marker is named"),
    "short": (TRC.replace("\t20\t30", "\t20"), "line 7: a frame of 2 markers has 8 numbers, this one 7: the row is torn"),
    "word": (TRC.replace("2002", "2oo2"), "line 9: '2oo2' is no number"),
    "backward": (TRC.replace("0.02", "0.005"), r"times of a Table ascend; time\[1\] is 0.01 and time\[2\] is 0.005"),
}
TORN_STO = {
    "no end": (MOT.replace("endheader\n", ""), "line 7: endheader is missing before the labels"),
    "header only": ("a\nnRows=2\n", "line 2: endheader is missing: the header has no end"),
    "no labels": ("a\nendheader\n", "line 3: the labels of the columns are missing"),
    "no time": (MOT.replace("time\thip", "hip\ttime"), "line 8: the first column is time, not 'hip'"),
    "short": (MOT.replace("\t710", ""), "line 10: a row of time and 3 columns has 4 numbers, this one 3: the row is torn"),
    "long": (MOT.replace("\t700", "\t700\t1"), "line 9: .* has 4 numbers, this one 5"),
    "type": (MOT.replace("inDegrees=yes", "DataType=Vec9"), "DataType 'Vec9' is unknown; known are double"),
    "commas": (MOT.replace("inDegrees=yes", "DataType=Vec3"), "line 9: .* has 6 commas, this one 0"),
}


@pytest.mark.parametrize("name", TORN_TRC)
def test_a_torn_trc_file_says_where(tmp_path, name):
    text, message = TORN_TRC[name]
    with pytest.raises(ValueError, match=f"torn.trc.*{message}"):
        mb.read_trc(write(tmp_path, "torn.trc", text))


@pytest.mark.parametrize("name", TORN_STO)
def test_a_torn_storage_file_says_where(tmp_path, name):
    text, message = TORN_STO[name]
    with pytest.raises(ValueError, match=f"torn.sto.*{message}"):
        mb.read_sto(write(tmp_path, "torn.sto", text))


def test_rows_whose_faults_add_up_are_found(tmp_path):
    text = MOT.replace("\t700", "\t700\t1").replace("\t710", "")
    with pytest.raises(ValueError, match="line 9"):
        mb.read_sto(write(tmp_path, "torn.sto", text))


def test_files_that_are_not_there_and_folders(tmp_path):
    for read in (mb.read_trc, mb.read_sto, mb.read_c3d):
        with pytest.raises((FileNotFoundError, ImportError)):
            read(tmp_path / "none.trc")
    with pytest.raises(TypeError, match="name of a file, not 3"):
        mb.read_sto(3)
    with pytest.raises(ValueError, match="'knee' is no marker"):
        mb.write_trc(tmp_path / "x.trc", mb.Table([0.0], {"knee": [1.0]}))
    with pytest.raises(ValueError, match="columns of one type; these have Vec3, double"):
        mb.write_sto(tmp_path / "x.sto", mb.Table([0.0], {"knee": [1.0], "m": [[1.0, 2.0, 3.0]]}))


# ---------------------------------------------------------------------------------------------- beside OpenSim and ezc3d


@pytest.fixture(scope="module")
def osim():
    found = pytest.importorskip("opensim")
    found.Logger.setLevelString("Off")
    return found


def test_opensim_reads_what_is_written(osim, tmp_path, rng):
    time = 0.01 * np.arange(20)
    table = mb.Table(time, {"A": rng.normal(size=(20, 3)), "B": rng.normal(size=(20, 3))})
    mb.write_trc(tmp_path / "a.trc", table)
    theirs = osim.TimeSeriesTableVec3(str(tmp_path / "a.trc"))
    for k, label in enumerate(theirs.getColumnLabels()):
        column = np.array([[theirs.getRowAtIndex(i)[k][j] for j in range(3)] for i in range(20)])
        assert_allclose(column, 1000.0 * table[label], rtol=1e-14)
    mb.write_sto(tmp_path / "v.sto", table)
    theirs = osim.TimeSeriesTableVec3(str(tmp_path / "v.sto"))
    assert theirs.getNumRows() == 20 and theirs.getRowAtIndex(3)[1][2] == table["B"][3, 2]
    mb.write_sto(tmp_path / "s.sto", mb.Table(time, {"hip": rng.normal(size=20)}))
    theirs = osim.TimeSeriesTable(str(tmp_path / "s.sto"))
    assert_allclose(theirs.getIndependentColumn(), time)


def test_what_opensim_writes_is_read(osim, tmp_path, rng):
    time, places = 0.02 * np.arange(12), rng.normal(size=(12, 2, 3))
    places[4:6, 1] = np.nan
    table = osim.TimeSeriesTableVec3()
    for t, row in zip(time.tolist(), places.tolist(), strict=True):
        table.appendRow(t, osim.RowVectorVec3([osim.Vec3(*p) for p in row]))
    labels = osim.StdVectorString()
    for label in ("one", "two"):
        labels.append(label)
    table.setColumnLabels(labels)
    table.addTableMetaDataString("DataRate", "50")
    table.addTableMetaDataString("Units", "mm")
    osim.TRCFileAdapter().write(table, str(tmp_path / "a.trc"))
    osim.STOFileAdapterVec3.write(table, str(tmp_path / "a.sto"))
    for k, label in enumerate(("one", "two")):
        assert_allclose(mb.read_trc(tmp_path / "a.trc")[label], 1e-3 * places[:, k], rtol=0, atol=1e-7)
        assert_allclose(mb.read_sto(tmp_path / "a.sto")[label], 1e-3 * places[:, k], rtol=1e-12)


PLATE = """
import ezc3d, numpy as np, sys
given = np.load(sys.argv[1])
file = ezc3d.c3d()
file["header"]["points"]["frame_rate"] = 100.0
point, analog = file["parameters"]["POINT"], file["parameters"]["ANALOG"]
point["RATE"]["value"], point["LABELS"]["value"], point["UNITS"]["value"] = [100], ["A", "B", "B"], ["mm"]
analog["RATE"]["value"], analog["LABELS"]["value"] = [1000], ["Fx", "Fy", "Fz", "Mx", "My", "Mz"]
analog["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"]
file["data"]["points"], file["data"]["analogs"] = given["points"], given["channels"][None]
corners = np.array([[400.0, 300, 0], [0, 300, 0], [0, 0, 0], [400, 0, 0]]).T.reshape(3, 4, 1)
plate = file["parameters"]["FORCE_PLATFORM"]
plate["USED"]["value"], plate["TYPE"]["value"] = [1], [2]
plate["CHANNEL"]["value"], plate["CORNERS"]["value"] = np.arange(1, 7).reshape(6, 1), corners
plate["ORIGIN"]["value"] = np.zeros((3, 1))
file.write(sys.argv[2])
point["UNITS"]["value"] = []
file.write(sys.argv[3])
"""


@pytest.mark.filterwarnings("ignore")  # its wrapper is made by an old SWIG
def test_a_c3d_file(tmp_path, rng):
    ezc3d = pytest.importorskip("ezc3d")
    points = np.ones((4, 3, 10))
    points[:3] = 1000.0 * rng.normal(size=(3, 3, 10))
    points[:3, 1, 4] = np.nan
    channels = rng.normal(size=(6, 100))
    channels[2] += 500.0
    channels[3:] *= 1e4
    np.savez(tmp_path / "a.npz", points=points, channels=channels)
    # in a process of its own: the wrappers of ezc3d and opensim, made by one tool, disturb each other's lists of text
    files = [str(tmp_path / name) for name in ("a.npz", "a.c3d", "no_unit.c3d")]
    subprocess.run([sys.executable, "-c", PLATE, *files], check=True)
    bare = mb.read_c3d(files[2]).markers
    assert_allclose(bare["A"], 1e-3 * points[:3, 0].T, rtol=1e-6)
    assert any("no unit of length; millimetres are taken" in line for line in bare.report), bare.report
    R = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
    found = mb.read_c3d(tmp_path / "a.c3d")
    assert found.markers.labels == ("A", "B", "B_2") and len(found.markers.report) == 1
    assert_allclose(found.markers["A"], 1e-3 * points[:3, 0].T, rtol=1e-6)
    assert np.isnan(found.markers["B"][4]).all() and np.isfinite(found.markers["B"][5]).all()
    assert_allclose(found.analog["Fz"], channels[2], rtol=1e-6)
    assert found.analog.metadata["Mz"] == "Nmm" and found.analog.rate == pytest.approx(1000.0)
    turned = mb.read_c3d(tmp_path / "a.c3d", rotation=R)
    assert_allclose(turned.markers["A"], found.markers["A"] @ R.T, atol=1e-12)
    for end in "vpm":
        assert_allclose(turned.forces[f"ground_force_1_{end}"], found.forces[f"ground_force_1_{end}"] @ R.T, atol=1e-9)
    # force and torque at the centre of pressure stand for the plate's whole wrench about its centre
    theirs = ezc3d.c3d(str(tmp_path / "a.c3d"), extract_forceplat_data=True)["data"]["platform"][0]
    force, at, free = (found.forces[f"ground_force_1_{end}"] for end in "vpm")
    center = found.corners[0].mean(axis=0)
    assert_allclose(force, theirs["force"].T, rtol=1e-6)
    assert_allclose(at, 1e-3 * theirs["center_of_pressure"].T, rtol=1e-5, atol=1e-6)
    assert_allclose(np.cross(at - center, force) + free, 1e-3 * theirs["moment"].T, rtol=1e-5, atol=1e-4)
    assert_allclose(free[:, :2], 0.0, atol=1e-12)


@pytest.mark.skipif(not FOLDER, reason="MOBOD_TEST_MODELS names no folder")
def test_files_of_opensim_are_read_as_opensim_reads_them(osim):
    paths = sorted(Path(FOLDER).glob("osim/**/*.trc"))[:12]
    for path in paths:
        ours, theirs = mb.read_trc(path), osim.TimeSeriesTableVec3(str(path))
        assert list(theirs.getColumnLabels()) == list(ours.labels)
        scale = 1e-3 if theirs.getTableMetaDataString("Units") == "mm" else 1.0
        column = theirs.getDependentColumnAtIndex(0)
        first = np.array([[column[i][j] for j in range(3)] for i in range(theirs.getNumRows())])
        assert_allclose(ours[ours.labels[0]], scale * first, rtol=1e-12, equal_nan=True)


def test_places_are_in_metres_whatever_the_unit(tmp_path):
    path = tmp_path / "markers.sto"
    path.write_text("DataType=Vec3\nversion=3\nUnits=mm\nendheader\ntime\tA\n0\t1000,2000,3000\n1\t1,2,3\n")
    assert_allclose(mb.read_sto(path)["A"][0], [1.0, 2.0, 3.0])
    path.write_text(path.read_text().replace("=mm", "=parsec"))
    with pytest.raises(ValueError, match="parsec"):
        mb.read_sto(path)
    path.write_text("Units=mm\nendheader\ntime\ta\n0\t1\n")
    assert "units are mm" in mb.read_sto(path).report[0]


def test_what_an_old_compiler_prints_for_no_number_is_a_gap(tmp_path):
    path = tmp_path / "old.sto"
    path.write_text("endheader\ntime\ta\tb\n0\t1\t1.#QNAN\n1\t-1.#IND\t2 # a comment\n")
    table = mb.read_sto(path)
    assert_allclose(table["a"], [1.0, np.nan])
    assert_allclose(table["b"], [np.nan, 2.0])
    path.write_text("endheader\ntime\ta\n0\t5#6\n")
    with pytest.raises(ValueError, match="5#6"):
        mb.read_sto(path)
