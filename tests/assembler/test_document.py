"""What docs/how-to/assembly.md shows is true."""

import numpy as np

import mobod as mb
from pages import run


def test_the_page_on_assembly_runs(capsys):
    names = run("assembly.md")
    assert capsys.readouterr().out.endswith("(50, 5) True\n")
    state, system = names["state"], names["system"]
    for q in (state.q, names["q"][-1]):
        state.q = q
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-8
