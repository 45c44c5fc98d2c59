"""The commands ik and id: what they write, and what they say about what they cannot do."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.cli.main import main

sys.path.insert(0, str(Path(__file__).parent.parent / "biomechanics"))
from test_inverse_kinematics import TIME, leg, motion_of, seen_by


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a recording; any model file is the leg's."""
    monkeypatch.setattr("mobod.importer.formats.load", lambda path: leg())
    model = leg()
    q = motion_of(model)
    mb.write_trc(tmp_path / "walk.trc", seen_by(model, q)[0])
    weight = np.tile([0.0, 100.0, 0.0], (40, 1))
    mb.write_sto(tmp_path / "grf.mot", mb.Table(TIME, {"v": weight, "p": 0 * weight}).split())
    (tmp_path / "grf.xml").write_text(
        "<OpenSimDocument><ExternalLoads><objects><ExternalForce name='r'><applied_to_body>foot</applied_to_body>"
        "<force_identifier>v</force_identifier><point_identifier>p</point_identifier></ExternalForce></objects>"
        "<datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>"
    )
    (tmp_path / "leg.osim").write_text("<OpenSimDocument/>")
    monkeypatch.chdir(tmp_path)
    return tmp_path, q


def test_from_markers_to_forces(files, capsys):
    pytest.importorskip("matplotlib")
    folder, q = files
    results = ["--output", "walk.mot", "--report", "residuals.sto", "--plot", "walk.png"]
    assert main(["ik", "leg.osim", "walk.trc", *results]) == 0
    shown = capsys.readouterr().out
    assert "leg: 11 coordinates, 16 markers" in shown and "foot3" in shown and "motion           walk.mot" in shown
    model = leg()
    motion = mb.read_sto("walk.mot", model=model)
    assert_allclose(motion["knee"], q[:, model.coordinates["knee"]], atol=1e-5)
    assert motion.metadata["inDegrees"] == "yes" and mb.read_sto("residuals.sto")["foot3"].max() < 1e-5
    assert (folder / "walk.png").stat().st_size > 10_000
    wanted = ["--loads", "grf.xml", "--output", "forces.sto", "--plot", "forces.png", "--reactions", "reactions.sto"]
    assert main(["id", "leg.osim", "walk.mot", *wanted, "--start", "0.1", "--end", "0.2"]) == 0
    assert "knee_moment" in capsys.readouterr().out
    forces = mb.read_sto("forces.sto")
    assert len(forces) == 11 and "ty_force" in forces and mb.read_sto("reactions.sto")["foot_force"].shape == (11, 3)
    assert main(["ik", "leg.osim", "walk.trc", "--quiet"]) == 0 and capsys.readouterr().out == ""


SETUP = """<OpenSimDocument><InverseKinematicsTool><model_file>leg.osim</model_file><marker_file>walk.trc</marker_file>
<output_motion_file>some.mot</output_motion_file><results_directory>out</results_directory>
<time_range>0.05 0.1</time_range><accuracy>1e-6</accuracy><constraint_weight>Inf</constraint_weight><IKTaskSet><objects>
<IKMarkerTask name="foot0"><apply>true</apply><weight>2</weight></IKMarkerTask>{more}
<IKMarkerTask name="pelvis0"><apply>false</apply></IKMarkerTask>
<IKCoordinateTask name="knee"><apply>true</apply><weight>1e-4</weight><value_type>manual_value</value_type><value>0.3</value>
</IKCoordinateTask></objects></IKTaskSet></InverseKinematicsTool></OpenSimDocument>"""


def test_setup_files_of_opensim(files, capsys):
    _, q = files
    more = "".join(f'<IKMarkerTask name="{name}"><weight>1</weight></IKMarkerTask>' for name in list(leg().markers)[1:12])
    Path("ik.xml").write_text(SETUP.format(more=more))
    assert main(["ik", "ik.xml"]) == 0  # into the file that the setup names
    motion = mb.read_sto("some.mot", model=leg())
    assert len(motion) == 6
    assert_allclose(motion["tx"], q[5:11, leg().coordinates["tx"]], atol=2e-3)
    errors = mb.read_sto("out/mobod_ik_marker_errors.sto")  # unless the file says otherwise
    assert errors.labels == ("total_squared_error", "marker_error_RMS", "marker_error_max") and len(errors) == 6
    assert not Path("out/mobod_ik_model_marker_locations.sto").exists()
    mb.write_sto("pull.mot", mb.Table(TIME, {"tx": np.full(40, 0.7)}))
    pull = (
        '<IKCoordinateTask name="tx"><weight>1e6</weight><value_type>{}</value_type></IKCoordinateTask></objects></IKTaskSet>'
        "<coordinate_file>pull.mot</coordinate_file><report_marker_locations>true</report_marker_locations>"
    )
    for word, value in (("from_file", 0.7), ("default_value", 0.0)):
        Path("ik.xml").write_text(SETUP.format(more=more).replace("</objects></IKTaskSet>", pull.format(word)))
        assert main(["ik", "ik.xml", "--quiet"]) == 0
        assert_allclose(mb.read_sto("some.mot", model=leg())["tx"], value, atol=1e-3)
    places = mb.read_sto("out/mobod_ik_model_marker_locations.sto")
    assert "foot0_tx" in places and len(places) == 6
    listed = re.findall(r'IKMarkerTask name="(\w+)"><(?!apply>false)', Path("ik.xml").read_text())
    assert len(places.labels) == 3 * len(listed) < 3 * len(leg().markers)  # errors are of these alone, too
    errors = mb.read_sto("out/mobod_ik_marker_errors.sto")
    assert_allclose(errors["total_squared_error"], len(listed) * errors["marker_error_RMS"] ** 2, rtol=1e-9)
    setup = (
        "<OpenSimDocument><InverseDynamicsTool><model_file>leg.osim</model_file><coordinates_file>some.mot</coordinates_file>"
        "<external_loads_file>grf.xml</external_loads_file><time_range>0.05 0.1</time_range>"
        "<lowpass_cutoff_frequency_for_coordinates>-1</lowpass_cutoff_frequency_for_coordinates>"
        "<results_directory>out</results_directory><output_gen_force_file>f.sto</output_gen_force_file></InverseDynamicsTool>"
        "</OpenSimDocument>"
    )
    Path("id.xml").write_text(setup)
    capsys.readouterr()
    assert main(["id", "id.xml"]) == 0
    assert len(mb.read_sto("out/f.sto")) == 6
    assert main(["ik", "id.xml"]) == 2
    assert "id.xml is a setup of InverseDynamicsTool: use mobod id" in capsys.readouterr().err
    Path("id.xml").write_text(setup.replace("some.mot", "none.mot"))
    assert main(["id", "id.xml"]) == 2
    assert "the file that id.xml names is not there" in capsys.readouterr().err
    Path("ik.xml").write_text(SETUP.format(more="").replace("1e-6", "tiny"))
    assert main(["ik", "ik.xml"]) == 2
    assert "ik.xml:1: the <accuracy> is a number, not 'tiny'" in capsys.readouterr().err
    Path("ik.xml").write_text("<OpenSimDocument><RRATool/></OpenSimDocument>")
    assert main(["ik", "ik.xml"]) == 2
    assert "holds none of InverseKinematicsTool" in capsys.readouterr().err


def test_parts_of_setups_in_other_files_and_files_in_place_of_those_they_name(files, capsys):
    Path("ik.xml").write_text(SETUP.format(more=""))
    assert main(["ik", "ik.xml", "--quiet"]) == 0
    whole = mb.read_sto("some.mot")
    start, end = "<IKTaskSet>", "</IKTaskSet>"
    before, tasks, behind = re.split(f"{start}|{end}", Path("ik.xml").read_text())
    Path("parts").mkdir()
    Path("parts/tasks.xml").write_text(f"<OpenSimDocument>{start}{tasks}{end}</OpenSimDocument>")
    before = before.replace("leg.osim", "C:\\lab\\subject.osim").replace("walk.trc", "C:\\lab\\trial.trc")
    Path("ik.xml").write_text(before + '<IKTaskSet file="parts/tasks.xml"/>' + behind)
    assert main(["ik", "ik.xml", "walk.trc"]) == 2
    assert (
        "subject.osim: the file that ik.xml names is not there; give one in its place with --model" in capsys.readouterr().err
    )
    assert main(["ik", "ik.xml", "walk.trc", "--model", "leg.osim", "--quiet"]) == 0
    found = mb.read_sto("some.mot")
    assert found.labels == whole.labels
    for label in whole.labels:
        assert_allclose(found[label], whole[label], atol=0.0)
    assert main(["ik", "leg.osim", "walk.trc", "--model", "leg.osim"]) == 2
    assert "in place of the one that a setup file names, and leg.osim is none" in capsys.readouterr().err
    Path("parts/tasks.xml").write_text(f"<OpenSimDocument><defaults/>{start}{tasks}{end}</OpenSimDocument>")
    Path("some.mot").unlink()
    assert main(["ik", "ik.xml", "walk.trc", "--model", "leg.osim", "--quiet"]) == 0
    found = mb.read_sto("some.mot")
    assert all(np.array_equal(found[label], whole[label]) for label in whole.labels)
    Path("parts/tasks.xml").write_text("<OpenSimDocument/>")
    assert main(["ik", "ik.xml", "walk.trc", "--model", "leg.osim"]) == 2
    assert "tasks.xml:1: <OpenSimDocument> is empty" in capsys.readouterr().err
    Path("ik.xml").write_text(before.replace("C:\\lab\\subject.osim", "") + '<IKTaskSet file="none.xml"/>' + behind)
    assert main(["ik", "ik.xml", "walk.trc"]) == 2
    assert "ik.xml:3: <IKTaskSet> is in the file 'none.xml', which is not there" in capsys.readouterr().err
    Path("ik.xml").write_text(before.replace("C:\\lab\\subject.osim", "") + behind)
    assert main(["ik", "ik.xml", "walk.trc"]) == 2
    assert "ik.xml names no model_file; give one with --model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ik", "leg.osim"], "takes a MODEL and MARKERS"),
        (["id", "leg.osim"], "takes a MODEL and a MOTION"),
        (["ik", "leg.osim", "walk.trc", "--weight", "foot0"], "must be MARKER=WEIGHT"),
        (["ik", "leg.osim", "walk.trc", "--output", "walk.xyz"], "walk.xyz"),
        (["ik", "leg.osim", "walk.trc", "--plot", "none/walk.png"], "there is no folder none"),
        (["ik", "leg.osim", "none.trc"], "No such file"),
    ],
)
def test_what_is_wrong_is_one_line(files, capsys, arguments, message):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
