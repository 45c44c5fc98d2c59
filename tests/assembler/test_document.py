"""What docs/assembly.md shows is true."""

import re
from pathlib import Path

import numpy as np

import mobod as mb

PAGE = Path(__file__).parent.parent.parent / "docs" / "assembly.md"


def test_the_page_on_assembly_runs(capsys):
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), names)
    assert capsys.readouterr().out.endswith("(50, 5) True\n")
    state, system = names["state"], names["system"]
    for q in (state.q, names["q"][-1]):
        state.q = q
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-8
