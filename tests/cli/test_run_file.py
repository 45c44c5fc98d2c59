"""Run files: what they say is what is simulated, and what they cannot say is an error with the line."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.cli.arguments import make_parser
from mobod.cli.main import main
from mobod.cli.run_file import KEYS, SECTIONS, read_run_file, with_run_file
from mobod.importer.named_models import EXAMPLES
from pages import text_of


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="run.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def error(write, capsys):
    """Simulate a run file, which has to fail in one line; what it says after the file's name."""

    def run(text):
        path = write(text)
        assert main(["simulate", path]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"mobod: error: {path}") and err.count("\n") == 1
        return err.removeprefix(f"mobod: error: {path}").strip()

    return run


WHOLE = """
model = "panda"
time = 0.2
report_interval = 0.01

[options]
gravity = [0, 0, -1.62]
joint_damping = true
joint_limits = false

[q]
panda_joint1 = "30deg"
panda_joint2 = -0.5

[u]
panda_joint1 = -0.5

[integrator]
name = "runge-kutta-merson"
accuracy = 1e-6
max_step_size = 0.005

[record]
file = "run.h5"
quantities = ["kinetic_energy", "mass_center"]
bodies = ["panda_link7"]

[checkpoint]
file = "run.ckpt"
interval = 5
resume = true

[output]
motion = "motion.npz"

[audit]
print = true
"""


def test_a_run_file_says_it_all(write, capsys):
    path = write(WHOLE)
    assert main(["simulate", path]) == 0
    said = capsys.readouterr().out
    assert "energy error" in said and "MobilityLinearDamper" in said and "limits of 7 joints: kept as data" in said
    run, motion = mb.Trajectory.load(Path(path).parent / "run.h5"), mb.Trajectory.load(Path(path).parent / "motion.npz")
    assert np.array_equal(run.q, motion.q) and len(run) == 21
    first = dict(zip(run.coordinate_names, run.q[0], strict=True))
    assert_allclose((first["panda_joint1"], first["panda_joint2"]), (np.pi / 6, -0.5))
    assert run.u[0, 0] == -0.5 and run.statistics["max_step_size"] == 0.005 and run.statistics["accuracy"] == 1e-6
    assert set(run.quantities) == {"kinetic_energy", "mass_center"} and run.body_names == ("panda_link7",)
    model = mb.load_urdf(EXAMPLES / "panda.urdf", gravity=(0, 0, -1.62), joint_damping=True)
    state = model.default_state()
    state.q, state.u = run.q[0], run.u[0]
    integrator = mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-6, max_step_size=0.005)
    again = mb.simulate(model.system, state, 0.2, integrator=integrator, report_interval=0.01)
    assert np.array_equal(again.q, run.q)
    # once more goes on from the checkpoint, which is at the end; the command line's word goes before the file's
    assert main(["simulate", path, "--time", "0.3", "--quiet"]) == 0
    assert len(mb.Trajectory.load(Path(path).parent / "run.h5")) == 31


def test_a_python_model_brings_quantities(write):
    write(
        "import mobod as mb\n"
        "def build():\n    return mb.examples.double_pendulum.build()\n"
        "def QUANTITIES(system):\n    tip = system.matter.bodies['lower']\n"
        "    return {'tip': lambda state: tip.find_station_location_in_ground(state, (0, -1, 0))}\n",
        "model.py",
    )
    path = write('model = "model.py"\ntime = 0.1\n[record]\nquantities = ["tip", "momentum"]\n[output]\nmotion = "out.npz"\n')
    assert main(["simulate", path, "--quiet"]) == 0
    out = mb.Trajectory.load("out.npz")
    assert out.quantities["tip"].shape == (201, 3) and out.quantities["momentum"].shape == (201, 2, 3)


PANDA = 'model = "panda"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PANDA + 'timee = 1\n', ", line 2: there is no key 'timee'; did you mean time?"),
        ("time = 1\n", "has no model; begin with model ="),
        (PANDA + '\n[integrater]\n', ", line 3: there is no section [integrater]; did you mean integrator?"),
        (PANDA + '[integrator]\nacuracy = 1e-3\n', "there is no key 'acuracy' in [integrator]; did you mean accuracy?"),
        (PANDA + '[integrator]\nname = "RungeKuta"\n', ", line 3: there is no integrator 'RungeKuta'; did you mean"),
        (PANDA + 'integrator.accuracy = "x"\n', ", line 2: accuracy must be a positive number, not 'x'"),
        (PANDA + '[record]\nfiles = "a.h5"\n', ", line 3: there is no key 'files' in [record]; did you mean file"),
        (PANDA + '[checkpoint]\ninterval = 0\n', ", line 3: interval must be a positive number, not 0"),
        (PANDA + 'time = "ten"\n', ", line 2: time must be a positive number, not 'ten'"),
        (PANDA + 'time = true\n', ", line 2: time must be a positive number, not True"),
        (PANDA + '[options]\ngravity = [1, 2]\n', ", line 3: gravity must be three numbers such as"),
        (PANDA + '[options]\njoint_limits = "yes"\n', ", line 3: joint_limits must be true or false, not 'yes'"),
        (PANDA + '[q]\npanda_joint1 = "fast"\n', ', line 3: panda_joint1 must be a number or a text such as "30deg"'),
        (PANDA + '[q]\n"panda_joint1" = [1]\n', ", line 3: panda_joint1 must be a number"),
        (PANDA + '[record]\nquantities = "x"\n', ", line 3: quantities must be a list of names"),
        (PANDA + '[audit]\nwork = "often"\n', ', line 3: work must be "reports" or "steps"'),
        (PANDA + 'time = \n', "is not TOML: Invalid value (at line 2"),
    ],
)  # fmt: skip
def test_what_it_cannot_say_is_an_error_with_the_line(error, text, message):
    assert message in error(text)


def test_what_the_model_does_not_have_is_an_error(write, capsys):
    assert main(["simulate", write('model = "panda"\n[q]\nelbow = 1\n'), "--quiet"]) == 2
    assert "there is no coordinate 'elbow'" in capsys.readouterr().err
    assert main(["simulate", write('model = "panda"\n[record]\nquantities = ["momentun"]\n'), "--quiet"]) == 2
    assert "there is no quantity 'momentun'; did you mean momentum" in capsys.readouterr().err
    assert main(["simulate", write('model = "nothing.urdf"\n'), "--quiet"]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main(["simulate", "missing.toml"]) == 2
    assert "there is no file missing.toml" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["joint_limits", "joint_damping", "floating_base"])
def test_a_no_of_the_command_line_goes_before_the_files_yes(write, option):
    path = write(PANDA + f"[options]\n{option} = true\n[audit]\nprint = true\n")
    for arguments, expected in (([], True), ([f"--no-{option.replace('_', '-')}"], False)):
        merged = with_run_file(make_parser(None, None).parse_args(["simulate", path, *arguments]))
        assert getattr(merged, option) is expected
        assert merged.audit is True, "a switch that was left alone says nothing"


def test_zero_is_a_word_too(write):
    path = write(PANDA + "[options]\nstop_dissipation = 2.0\n")
    merged = with_run_file(make_parser(None, None).parse_args(["simulate", path, "--stop-dissipation", "0"]))
    assert merged.stop_dissipation == 0.0


def test_keywords_of_another_integrator_are_left_out_with_a_note(write, capsys):
    path = write('model = "double_pendulum"\ntime = 0.1\n[integrator]\nname = "BDF"\nsolver = "scipy"\naccuracy = 1e-5\n')
    assert main(["simulate", path, "--integrator", "RungeKuttaMerson"]) == 0
    said = capsys.readouterr().out
    assert "note: RungeKuttaMerson takes no solver; the run file's solver = 'scipy' is left out" in said
    written = Path(path).parent / "other.toml"
    assert main(["simulate", path, "--integrator", "RungeKuttaMerson", "--write-run-file", str(written)]) == 0
    assert read_run_file(written)["integrator_keywords"] == {"accuracy": 1e-5}


def test_what_was_asked_for_can_be_written_and_read_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = [
        "simulate",
        "panda",
        "--time",
        "0.5",
        "--q",
        "panda_joint1=30deg",
        "--u",
        "panda_joint2=-1",
        "--accuracy",
        "1e-7",
    ]
    arguments += ["--gravity", "0,0,-1.62", "--no-joint-limits", "--record", "run.h5", "--body", "panda_link1", "--audit"]
    assert main([*arguments, "--write-run-file", "run.toml"]) == 0
    assert "run file" in capsys.readouterr().out and not Path("run.h5").exists(), "nothing runs"
    found = read_run_file(tmp_path / "run.toml")
    options = make_parser(None, None).parse_args(arguments)
    assert found["model"] == "panda" and found["integrator_keywords"] == {"accuracy": 1e-7}
    for name in ("time", "q", "u", "bodies", "joint_limits", "audit"):
        assert found[name] == getattr(options, name), name
    assert found["record"] == tmp_path / "run.h5" and tuple(found["gravity"]) == options.gravity
    assert "quantities" not in found and "# quantities =" in Path("run.toml").read_text(), "what was not said is a comment"
    assert main([*arguments, "--write-run-file", "run.toml"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_page_on_run_files_is_true(write, capsys):
    page = text_of("run_files.md")
    example = re.search(r"```toml\n(.*?)```", page, flags=re.DOTALL).group(1)
    path = write(example)
    assert main(["simulate", path, "--time", "0.1"]) == 0
    assert "energy error" in capsys.readouterr().out
    for section in SECTIONS:
        assert f"[{section}]" in page
    for section, keys in KEYS.items():
        for key in keys:
            assert f"`{key}`" in page, f"{key} of [{section}]"
