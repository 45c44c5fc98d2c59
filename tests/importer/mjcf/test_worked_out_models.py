"""Worked-out models of others, where the environment variable MOBOD_TEST_MODELS names a folder of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
from against_mujoco import Comparison

FOLDER = Path(os.environ.get("MOBOD_TEST_MODELS", "none")) / "mjcf"
FILES = sorted(FOLDER.rglob("*.xml"))
#: What the report says is left out, and the quantities that depend on it.
LEFT_OUT = {
    "actuatorgravcomp": ("passive", "actuator", "qacc"),
    "actuatorfrcrange": ("actuator", "qacc"),
    "armature of": ("M", "bias", "qacc"),
    "is not simulated:": ("actuator", "qacc"),
}


@pytest.mark.skipif(not FILES, reason="MOBOD_TEST_MODELS names no folder with mjcf/ in it")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_worked_out_model_is_as_in_mujoco(path):
    comparison = Comparison(path)
    errors = comparison.run()
    text = "\n".join(comparison.model.report)
    excused = tuple(start for word, starts in LEFT_OUT.items() if word in text for start in starts)
    wrong = {name: error for name, error in errors.items() if error > 1e-9 and not name.startswith(excused)}
    assert not wrong, f"{wrong}\n{text}"
