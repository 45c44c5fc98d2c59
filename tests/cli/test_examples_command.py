"""`mobod examples`: lists, simulates and copies the bundled examples."""

import subprocess
import sys

import numpy as np
import pytest

from mobod.cli.main import main
from mobod.importer.named_models import find_examples
from mobod.simulation.trajectory import Trajectory


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def error(capsys):
    def run(*arguments):
        assert main(list(arguments)) == 2
        return capsys.readouterr().err.removeprefix("mobod: error: ").strip()

    return run


@pytest.mark.parametrize("arguments", [[], ["list"]])
def test_it_lists_them(capsys, arguments):
    assert main(["examples", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == sorted(find_examples())


@pytest.mark.parametrize("name", ["panda", "four_bar", "leg6dof9musc"])
def test_a_copy_moves_as_the_example_does(here, capsys, name):
    assert main(["examples", "copy", name, "mine"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert all((here / line).is_file() for line in said[:-1])
    command = said[-1].removeprefix("simulate it with: mobod ").split()
    short = ["--time", "0.05", "--quiet", "--output"]
    assert main([*command, *short, "copy.npz"]) == 0
    assert main(["examples", "run", name, *short, "bundled.npz"]) == 0
    assert np.array_equal(Trajectory.load("copy.npz").q, Trajectory.load("bundled.npz").q)


def test_what_an_example_reads_is_copied_with_it(here):
    assert main(["examples", "copy", "g1_falls"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["g1.urdf", "g1_falls.py"]


def test_nothing_is_written_over_unless_told(here, error):
    (here / "panda.toml").write_text("mine")
    assert error("examples", "copy", "panda") == "panda.toml is there already; --overwrite writes over it"
    assert [path.name for path in here.iterdir()] == ["panda.toml"]
    assert main(["examples", "copy", "panda", "--overwrite"]) == 0
    assert (here / "panda.toml").read_text().startswith("# Franka")


def test_errors_name_what_there_is(here, error):
    assert error("examples", "copy", "pandas") == "there is no example 'pandas'; did you mean panda?"
    assert "did you mean four_bar" in error("examples", "run", "fourbar")
    assert "invalid choice: 'fly'" in error("examples", "fly")
    (here / "file").write_text("")
    assert error("examples", "copy", "panda", "file") == "file is a file; FOLDER is one to copy to"


MANY = """
import sys
from mobod.cli import main
main.make_parser = lambda *_: print("x" * 1_000_000)
sys.exit(main.main([]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_who_reads_the_first_lines_only_hears_of_no_error():
    with subprocess.Popen([sys.executable, "-c", MANY], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        writer.stdout.read(10)
        writer.stdout.close()
        assert (writer.stderr.read(), writer.wait()) == (b"", 1)
