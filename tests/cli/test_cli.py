"""The command line: what it does with a model, and what it says about what it cannot do."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod.cli.main import main
from mobod.importer.named_models import EXAMPLES
from mobod.simulation.trajectory import Trajectory

SHORT = ["--time", "0.2"]

MODEL = """
import mobod as mb

def build():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bob = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    mb.mobilizer.Pin(matter.ground, bob, X_BM=mb.Transform((0, 1, 0)), name="swing")
    mb.mobilizer.Ball(matter.bodies["swing"], bob, X_BM=mb.Transform((0, 1, 0)), name="ball")
    state = system.realize_topology()
    state.time = 3.0
    return system, state
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return str(path)


@pytest.fixture
def simulate(tmp_path):
    """Run the command and load what it saved."""

    def run(*arguments):
        path = tmp_path / "out.npz"
        assert main(["simulate", *arguments, "--quiet", "--output", str(path)]) == 0
        return Trajectory.load(path)

    return run


@pytest.fixture
def error(capsys):
    """Run the command, which has to fail in one line."""

    def run(*arguments):
        assert main(list(arguments)) == 2
        err = capsys.readouterr().err
        assert err.startswith("mobod: error: ")
        assert err.count("\n") == 1
        return err.removeprefix("mobod: error: ").strip()

    return run


def test_without_a_model_it_lists_the_examples(capsys):
    assert main(["simulate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines[1:]]
    assert {"double_pendulum", "tumbling_handle", "chain", "drop_tower", "knee", "panda", "g1"} <= set(names)
    assert all(len(line.split()) > 4 for line in lines[1:])


def test_an_example_by_name_says_how_it_went(capsys, tmp_path):
    output = tmp_path / "motion.csv"
    assert main(["simulate", "double_pendulum", "--output", str(output), *SHORT]) == 0
    out = capsys.readouterr().out
    for words in (
        "double_pendulum: 2 coordinates, 2 speeds",
        "steps taken ",
        "evaluations ",
        "energy drift ",
        "a second",
    ):
        assert words in out
    assert f"motion           {output}" in out


@pytest.mark.parametrize("name", ["panda", "panda.urdf", "double_pendulum.py", "chain", "tumbling_handle", "drop_tower"])
def test_every_example_runs_and_moves(simulate, name):
    motion = simulate(name, "--time", "0.05")
    assert np.ptp(motion.q, axis=0).max() > 1e-3


def test_a_robot_starts_in_its_own_pose_and_names_its_joints(simulate):
    motion = simulate("panda", *SHORT, "--q", "panda_joint1=30deg", "--u", "panda_joint1 = -0.5")
    first = dict(zip(motion.coordinate_names, motion.q[0], strict=True))
    assert list(first)[:2] == ["panda_joint1", "panda_joint2"]
    assert_allclose(first["panda_joint1"], np.pi / 6)
    assert first["panda_joint4"] == -2.356
    assert motion.u[0, motion.speed_names.index("panda_joint1")] == -0.5


def test_the_base_floats_as_the_example_says_unless_told_otherwise(simulate):
    assert "pelvis[6]" in simulate("g1", "--time", "0.02").coordinate_names
    assert len(simulate("g1", "--time", "0.02", "--no-floating-base").coordinate_names) == 29
    fall = simulate("panda", *SHORT, "--floating-base", "--q", "panda_link0[6]=2")
    height = fall.q[:, fall.coordinate_names.index("panda_link0[6]")]
    assert height[0] == 2.0
    assert height[-1] < 2.0


def test_a_python_file_starts_from_its_own_state(simulate, model):
    motion = simulate(model, "--time", "0.5", "--u", "swing=2", "--q", "ball[1]=0.1", "--report-interval", "0.125")
    assert_allclose(motion.time, [3.0, 3.125, 3.25, 3.375, 3.5])
    assert motion.coordinate_names == ("swing", "ball[0]", "ball[1]", "ball[2]", "ball[3]")
    assert motion.u[0, 0] == 2.0
    assert_allclose(motion.q[0, 1:], np.array([1.0, 0.1, 0.0, 0.0]) / np.sqrt(1.01))  # a quaternion is normalized


def test_a_python_file_can_import_its_neighbours(simulate, tmp_path, model):
    (tmp_path / "neighbour.py").write_text("from model import build\n")
    (tmp_path / "other.py").write_text("from neighbour import build\nTIME = 0.25\n")
    assert simulate(str(tmp_path / "other.py")).time[-1] == 3.25


@pytest.mark.parametrize("arguments", [["--gravity", "0,-2,0"], ["--gravity", "0", "-2", "0"], ["--gravity=0 -2 0"]])
def test_gravity_can_be_given_to_a_model_without(simulate, model, arguments):
    motion = simulate(*arguments, model, "--time", "1", "--q", "swing=90deg", "--accuracy", "1e-8")
    moved = motion.energy - motion.energy[0]
    assert np.ptp(motion.q[:, 0]) > 0.3
    assert_allclose(moved, 0.0, atol=1e-6)


def test_gravity_replaces_that_of_a_model(simulate):
    still = simulate("double_pendulum", "--gravity", "0,0,0", *SHORT)
    assert_array_equal(still.q[-1], still.q[0])
    sideways = simulate("panda", "--gravity", "-9.81,0,0", *SHORT)
    down = simulate("panda", *SHORT)
    assert np.abs(sideways.q[-1] - down.q[-1]).max() > 0.1


@pytest.mark.parametrize("name", ["RungeKuttaMerson", "runge-kutta-merson", "runge_kutta_merson"])
def test_an_integrator_goes_by_any_spelling(simulate, name):
    assert simulate("double_pendulum", "--integrator", name, *SHORT).statistics["integrator"] == "RungeKuttaMerson"


def test_accuracy_matters(simulate):
    rough, fine = (simulate("double_pendulum", "--time", "2", "--accuracy", a) for a in ("1e-2", "1e-9"))
    assert fine.steps_taken > 2 * rough.steps_taken
    assert fine.energy_drift < 1e-2 * rough.energy_drift


def test_pictures_are_written(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    plot, film = tmp_path / "plot.png", tmp_path / "film.gif"
    arguments = ["simulate", "double_pendulum", *SHORT, "--plot", str(plot), "--animate", str(film), "--quiet"]
    assert main(arguments) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert film.read_bytes().startswith(b"GIF89a")
    assert capsys.readouterr() == ("", "")


def test_as_a_program():
    command = [sys.executable, "-m", "mobod"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"mobod {mb.__version__}\n"
    wrong = subprocess.run([*command, "simulate", "nothing.urdf"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("mobod: error: there is no file nothing.urdf")
    assert wrong.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "duble_pendulum"], "no file duble_pendulum, and no such example; did you mean double_pendulum"),
        (
            ["simulate", "panda", "--q", "panda_joint9=1"],
            "there is no coordinate 'panda_joint9'; did you mean panda_joint",
        ),
        (["simulate", "double_pendulum", "--u", "x=1"], "there is no speed 'x'; there are upper, lower"),
        (["simulate", "panda", "--q", "panda_joint1"], "argument --q: must be NAME=VALUE"),
        (["simulate", "panda", "--q", "panda_joint1=fast"], "argument --q: must be NAME=VALUE"),
        (["simulate", "panda", "--time", "-1"], "argument --time: must be a positive number, not '-1'"),
        (["simulate", "panda", "--accuracy", "1e-30"], "argument --accuracy: must be a number from 1e-14 up to 1"),
        (["simulate", "panda", "--accuracy", "nan"], "argument --accuracy: must be a number from 1e-14 up to 1"),
        (
            ["simulate", "panda", "--gravity", "1,2"],
            "argument --gravity: must be three numbers such as 0,0,-9.81, not '1,2'",
        ),
        (["simulate", "panda", "--gravity", "9.81"], "must be three numbers such as 0,0,-9.81, not '9.81'"),
        (["simulate", "panda", "--integrator", "magic"], "there is no integrator 'magic'; there are"),
        (["simulate", "chain", "--floating-base"], "--floating-base is for URDF files"),
        (["simulate", "panda", "--output", "a.txt"], "'a.txt' must end in .npz, .csv, .parquet, .h5 or .hdf5"),
        (["simulate", "panda", "--output", "missing/a.npz"], "there is no folder missing"),
        (["simulate", "panda", "--plot", "a.bmp"], "'a.bmp' must end in .png, .pdf or .svg"),
        (["simulate", "panda", "--animate", "a.avi"], "'a.avi' must end in .gif or .mp4"),
        (["simulate", "panda", "--record", "a.npz"], "'a.npz' must end in .h5 or .hdf5; .npz is for --output"),
        (["simulate", "panda", "--animate", "a.html"], "'a.html' must end in .gif or .mp4; .html is for --replay"),
        (["simulate", "panda", "--resume"], "--resume needs --checkpoint FILE"),
        (["simulate", "panda", "--quantity", "momentun"], "there is no quantity 'momentun'; did you mean momentum"),
        (["simulate", "panda", "--body", "panda_link77"], "there is no body 'panda_link77'; did you mean 'panda_link7'?"),
        (["simulate", "panda", "--step", "0"], "argument --step: must be a positive number"),
        (["simulate", "chain", "--joint-limits"], "--joint-limits is for URDF files"),
        (["simulate", "panda", "--as-opensim"], "--as-opensim is for OpenSim files; a URDF robot has no muscles"),
        (["simulate", "chain", "--as-opensim"], "--as-opensim is for OpenSim files; a Python file builds"),
        (["so", "panda.urdf", "walk.sto", "--as-opensim"], "--as-opensim is for OpenSim files"),
        (["simulate", "panda", "--colour"], "unrecognized arguments: --colour"),
        (["dance"], "invalid choice: 'dance'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_errors_are_one_line(error, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in error(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1\n", "defines no function build() that returns (system, state)"),
        ("def build():\n    return 3\n", "build() must return (system, state); it returned int"),
        ("def build():\n    return 3, 4\n", "build() must return (system, state); it returned (int, int)"),
        ("def build():\n    x = 1\n    return x / 0\n", "line 3: ZeroDivisionError: division by zero"),
        ("def build(:\n", "line 1: SyntaxError"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        (MODEL + "TIME = 'long'\n", "TIME, how long to simulate, must be a positive number, not 'long'"),
    ],
)
def test_a_wrong_python_file_is_named_with_the_line(error, tmp_path, content, message):
    path = tmp_path / "wrong.py"
    path.write_text(content)
    told = error("simulate", str(path))
    assert str(path) in told
    assert message in told


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("robot.urdf", "<robot", "robot.urdf"),
        ("robot.urdf.xacro", "<robot/>", "is a template; make a URDF file of it: xacro"),
        ("robot.txt", "<sdf/>", "MODEL must end in .urdf"),
    ],
)
def test_a_wrong_file_is_named(error, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    assert message in error("simulate", str(tmp_path / name))


def test_a_folder_is_no_model(error, tmp_path):
    assert "is a folder; MODEL is a model file" in error("simulate", str(tmp_path))


def test_what_was_welded_is_a_warning_in_one_line(capsys, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        """<robot name="arm"><link name="base"/>
        <link name="arm"><inertial><mass value="1"/><origin xyz="0 0 -1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <link name="camera"/>
        <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
        <joint name="pan" type="continuous"><parent link="arm"/><child link="camera"/></joint></robot>"""
    )
    assert main(["simulate", str(path), *SHORT]) == 0
    err = capsys.readouterr().err
    (line,) = [line for line in err.splitlines() if line.startswith("mobod: warning: ")]
    assert "pan" in line


@pytest.mark.parametrize("arguments", [[], ["--quiet"]])
def test_a_warning_on_the_way_is_a_line_unless_quiet(capsys, monkeypatch, arguments):
    from mobod.simulation import simulate

    through = simulate.simulate

    def warn(*args, **settings):
        warnings.warn("steps have\ncome down", RuntimeWarning, stacklevel=1)
        return through(*args, **settings)

    monkeypatch.setattr(simulate, "simulate", warn)
    assert main(["simulate", "double_pendulum", *SHORT, *arguments]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "steps" in line]
    assert lines == ([] if arguments else ["mobod: warning: steps have come down"])


def test_stops_may_dissipate_nothing_but_not_less(error, capsys):
    assert main(["simulate", "panda", "--stop-dissipation", "0", "--time", "0.01", "--quiet"]) == 0
    assert "zero or more" in error("simulate", "panda", "--stop-dissipation", "-1")


def test_a_method_can_take_fixed_steps(simulate):
    assert simulate("double_pendulum", *SHORT, "--step", "0.01").steps_taken == 20


def test_the_methods_are_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    help = " ".join(capsys.readouterr().out.split())
    for kind in ("RungeKuttaMerson", *mb.integrator.__all__):
        assert kind in help or kind == "Integrator"


def test_a_long_run_is_recorded_and_resumed(tmp_path, capsys):
    pytest.importorskip("h5py")
    record, checkpoint = tmp_path / "run.h5", tmp_path / "run.ckpt"
    arguments = ["--report-interval", "0.01", "--record", str(record), "--checkpoint", str(checkpoint), "--resume"]
    arguments += ["--quantity", "momentum", "--body", "lower"]
    assert main(["simulate", "double_pendulum", "--time", "0.2", *arguments]) == 0
    assert f"recording        {record}" in capsys.readouterr().out
    assert main(["simulate", "double_pendulum", "--time", "0.5", *arguments, "--quiet"]) == 0
    system, state = mb.examples.double_pendulum.build()
    whole = mb.simulate(system, state, 0.5, report_interval=0.01, record=["momentum"], record_bodies=["lower"])
    run = Trajectory.load(record)
    assert_array_equal(run.q, whole.q)
    assert_array_equal(run.quantities["momentum"], whole.quantities["momentum"])
    assert_array_equal(run.body_poses, whole.body_poses)


def test_the_first_command_of_the_readme_closes_its_balance(capsys):
    """The arm falls on its stops, which act for less than a report: their work is followed step by step."""
    assert main(["simulate", "panda", "--time", "1"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("energy change"))
    change, work = re.fullmatch(r"energy change +(\S+); work of dissipating and driving forces (\S+)", line).groups()
    assert float(change) < -1.0 and float(work) == pytest.approx(float(change), rel=5e-3)


def test_an_audit_is_printed_when_it_is_asked_for(capsys):
    assert main(["simulate", "panda", *SHORT, "--audit", "--estimate-error"]) == 0
    out = capsys.readouterr().out
    assert (
        "energy error" in out and "by 7 MobilityLinearDampers" in out and "global error" in out and "damping of 7 joints" in out
    )
    assert main(["simulate", "double_pendulum", *SHORT]) == 0
    assert "energy error" not in capsys.readouterr().out


FAILS = """
import numpy as np
import mobod as mb

class Wall(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces += np.inf if state.time > 0.1 else 0.0

def build():
    system, state = mb.examples.double_pendulum.build()
    mb.force.Custom(mb.GeneralForceSubsystem(system), Wall())
    return system, system.realize_topology()
"""


def test_what_there_is_before_a_failure_is_kept(tmp_path, capsys):
    path, output = tmp_path / "fails.py", tmp_path / "motion.npz"
    path.write_text(FAILS)
    assert main(["simulate", str(path), "--time", "1", "--report-interval", "0.01", "--output", str(output)]) == 2
    said = capsys.readouterr()
    assert "not finite" in said.err and "what there is by then is kept" in said.out
    left = Trajectory.load(output)
    assert len(left) > 5 and left.time[-1] < 0.11


def test_joints_are_damped_and_stop_at_their_limits_unless_told_otherwise(simulate):
    pushed = ["panda", "--time", "0.5", "--u", "panda_joint4=8", "--gravity", "0,0,0"]
    kept, bare = simulate(*pushed), simulate(*pushed, "--no-joint-limits", "--no-joint-damping")
    i = kept.coordinate_names.index("panda_joint4")
    assert kept.q[:, i].max() < 0.05 < 0.3 < bare.q[:, i].max()
    assert bare.energy_drift < 1e-3 * bare.energy[0] and kept.energy[-1] < 0.9 * kept.energy[0]


def test_joints_start_inside_their_limits(capsys):
    assert main(["simulate", "panda", "--time", "0.01", "--floating-base", "--quiet"]) == 0
    robot = mb.load_urdf(EXAMPLES / "panda.urdf")
    assert any(note.startswith("joint 'panda_joint4' starts at its limit") for note in robot.report)
    assert robot.default_state().q[robot.coordinates["panda_joint4"]] < 0.0


def test_interrupting_is_no_error(monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("mobod.simulation.simulate.simulate", interrupt)
    assert main(["simulate", "double_pendulum"]) == 130
    assert capsys.readouterr().err == "mobod: interrupted\n"


CAUGHT = """
import mobod as mb

class Idle(mb.event.PeriodicHandler):
    def handle_event(self, state, accuracy):
        pass

def build():
    system, state = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]
    system.add_event_handler(mb.event.LockWhen(arm, mb.event.Coordinate(arm, 0, 0.0), name="catch"))
    system.add_event_handler(Idle(0.25))
    return system, state
"""


def test_the_summary_tells_what_happened(tmp_path, capsys):
    path, output = tmp_path / "caught.py", tmp_path / "motion.npz"
    path.write_text(CAUGHT)
    assert main(["simulate", str(path), "--time", "1", "--output", str(output)]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("events  "))
    catch, locked = Trajectory.load(output).events[-2:]
    assert lines[at] == f"{'events':<17}Idle scheduled 4 times from 0 to 0.75"
    assert lines[at + 1] == f"{'':<17}catch triggered falling at {catch.time:.6g}"
    assert lines[at + 2] == f"{'':<17}lower locked at {locked.time:.6g}, energy {locked.energy:+.3g}"
    assert any(f"and what events have changed, {locked.energy:.3g}" in line for line in lines)


def test_tendons_far_out_of_balance_are_told_of(capsys, tmp_path):
    asked = ["simulate", "leg6dof9musc", "--time", "0.001", "--output", str(tmp_path / "states.sto")]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "the tendon of 'bifemsh_r' begins with" in said and "--equilibrate" in said
    assert main([*asked, "--equilibrate"]) == 0
    assert "begins with" not in capsys.readouterr().out
    assert "/forceset/soleus_r/activation" in mb.read_sto(tmp_path / "states.sto")


def test_pictures_of_files_have_units(tmp_path):
    page, picture = tmp_path / "motion.html", tmp_path / "motion.svg"
    assert main(["simulate", "panda", "--time", "0.1", "--replay", str(page), "--plot", str(picture), "--quiet"]) == 0
    assert "energy (J)" in page.read_text()
    assert main(["simulate", "four_bar", "--time", "0.1", "--replay", str(page), "--quiet"]) == 0
    assert "energy (J)" not in page.read_text()  # a system of Python's may have any units
