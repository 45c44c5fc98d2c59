"""`mobod simulate MODEL --floor`: a floor under anything."""

import numpy as np
import pytest

import mobod as mb
from mobod.cli.main import main
from mobod.importer.named_models import summarize

BOX = """<robot name="box"><link name="box"><inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>{}</link></robot>"""
SHAPE = '<geometry><box size="0.2 0.2 0.2"/></geometry>'


@pytest.fixture
def write(tmp_path):
    def write(*kinds):
        path = tmp_path / "box.urdf"
        path.write_text(BOX.format("".join(f"<{kind}>{SHAPE}</{kind}>" for kind in kinds)))
        return path

    return write


def fall(path, tmp_path, *more):
    out = tmp_path / "out.npz"
    arguments = ["simulate", str(path), "--floating-base", "--q", "box[6]=0.15", "--time", "1.5", "--output", str(out), *more]
    assert main(arguments) == 0
    return mb.Trajectory.load(out)


def test_collision_shapes_lie_on_the_floor(write, tmp_path, capsys):
    quantities = ["--quantity", "contact_wrenches", "--quantity", "contacts"]
    # on a hard floor it trembles by some microns, at which Hunt and Crossley's dissipation is small, and forces tell nothing
    soft = ["--floor-stiffness", "2e4", "--time", "3"]
    run = fall(write("visual", "collision"), tmp_path, "--floor", *soft, *quantities)
    assert run.q[-1, 6] == pytest.approx(0.1, abs=2e-3)
    assert run.quantities["contact_wrenches"][-1, 1, 1, 2] == pytest.approx(2 * 9.81, rel=0.05)
    assert len(run.contacts_at(-1)) == 1
    assert "1 collision shape: surfaces of contact" in capsys.readouterr().out


def test_where_there_are_none_its_looks_do(write, tmp_path, capsys):
    run = fall(write("visual"), tmp_path, "--floor")
    assert run.q[-1, 6] == pytest.approx(0.1, abs=2e-3)
    assert "8 spheres" in capsys.readouterr().out


def test_where_it_has_no_looks_its_inertia_does(write, tmp_path):
    run = fall(write(), tmp_path, "--floor", "--q", "box[6]=0.3")
    assert run.q[-1, 6] == pytest.approx(np.sqrt(2.5 * 0.02 / 2), abs=5e-3)


def test_height_and_material_are_said(write, tmp_path):
    run = fall(
        write("collision"), tmp_path, "--floor", "--floor-height", "-0.5", "--floor-stiffness", "1e6", "--floor-friction=0"
    )
    assert run.q[-1, 6] == pytest.approx(-0.4, abs=5e-3)


def test_the_floor_goes_below_what_starts_below_it(write, tmp_path, capsys):
    run = fall(write("collision"), tmp_path, "--floor", "--q", "box[6]=-1")
    assert run.q[-1, 6] == pytest.approx(-1.0, abs=2e-3)
    assert "the floor is at -1.1" in capsys.readouterr().out


def test_an_example_gets_one_too(tmp_path, capsys):
    assert main(["simulate", "double_pendulum", "--floor", "--floor-height=-1.3", "--time", "1", "--quiet"]) == 0
    assert main(["simulate", "double_pendulum", "--floor-height", "1", "--time", "1"]) == 2
    assert "--floor-height is of a floor" in capsys.readouterr().err


def test_a_run_file_asks_for_it(write, tmp_path, capsys):
    write("collision")
    (tmp_path / "run.toml").write_text(
        'model = "box.urdf"\ntime = 1.0\n[options]\nfloating_base = true\nfloor = true\nfloor_height = -0.1\n'
        '[output]\nmotion = "out.npz"\n'
    )
    assert main(["simulate", str(tmp_path / "run.toml"), "--quiet"]) == 0
    assert mb.Trajectory.load(tmp_path / "out.npz").q[-1, 6] == pytest.approx(0.0, abs=2e-3)


def test_a_model_with_a_floor_gets_no_other(tmp_path, capsys):
    pytest.importorskip("mujoco")
    path = tmp_path / "ball.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.3"><freejoint name="ball"/>'
        '<geom size="0.1"/></body></worldbody></mujoco>'
    )
    out = tmp_path / "out.npz"
    assert main(["simulate", str(path), "--floor", "--time", "2", "--output", str(out)]) == 0
    assert mb.Trajectory.load(out).q[-1, 6] == pytest.approx(0.1, abs=1e-3)
    assert "a floor of its own" in capsys.readouterr().out
    assert main(["simulate", str(path), "--time", "0.1"]) == 0
    assert "note: 2 geoms of contact drawn only" in capsys.readouterr().out


def test_notes_that_differ_in_names_and_numbers_are_one():
    notes = ["a.osim:3: muscle 'x' is out", "a.osim:44: muscle 'y2' is out", "a mesh is missing"]
    assert summarize(notes, "a.osim") == ["line 3: muscle 'x' is out; and 1 more like it", "a mesh is missing"]
