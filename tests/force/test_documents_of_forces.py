"""The examples of the guide to custom forces run, and show what they say."""

import pytest

from pages import run


def test_the_examples_of_the_guide_to_custom_forces_run(capsys):
    names = run("custom_forces.md")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "True"
    assert float(said[1]) == pytest.approx(0.1 * 2.718281828459045**-1, abs=1e-6)
    assert names["state"].u_dot[0] == pytest.approx(-1.0 + 0.25)  # the pull of the planet, and the wind on two units of mass
