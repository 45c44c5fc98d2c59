"""`mobod export-c` writes what `mobod.export_c` does."""

import pytest

from mobod.cli.main import main


def test_a_bundled_model_becomes_c(tmp_path, capsys):
    arguments = ["--function", "mass_matrix", "--parameter", "lower.mass", "--station", "lower=0,-1,0", "--real", "float"]
    assert main(["export-c", "double_pendulum", str(tmp_path / "a.c"), *arguments]) == 0
    assert "mass_matrix, stations" in capsys.readouterr().out
    header = (tmp_path / "a.h").read_text()
    assert "typedef float a_real;" in header and "p[0]  lower.mass" in header and "stations[0]  lower" in header


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["double_pendulum", "a.cc"], "end in .c"),
        (["rattleback", "a.c"], "'contact'"),
        (["double_pendulum", "a.c", "--station", "lower=1,2"], "BODY=X,Y,Z"),
        (["double_pendulum", "a.c", "--station", "hand=1,2,3"], "no body 'hand'"),
        (["double_pendulum", "a.c", "--parameter", "lower.weight"], "no parameter 'weight'"),
    ],
)
def test_what_cannot_be_is_one_line(arguments, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export-c", *arguments]) == 2
    assert says in capsys.readouterr().err and not list(tmp_path.iterdir())
