"""Completion in editors: pyright finds every public name in a user's script, and takes what README shows."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mobod as mb

README = Path(__file__).parent.parent / "README.md"
ROOMS = ("mobilizer", "force", "constraint", "motion", "event", "measure", "function", "decoration", "contact", "integrator")


def test_pyright_finds_every_public_name_and_no_other(tmp_path):
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("needs basedpyright, which brings the program along")
    lines = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    lines += [f"print(mb.{name})" for name in mb.__all__ if not name.startswith("_")]
    lines += [f"print(mb.{room}.{name})" for room in ROOMS for name in getattr(mb, room).__all__]
    lines += ["lower.set_angle(state, 0.5)", "angle: float = lower.get_angle(state)"]
    wrong = ["print(mb.force.Gravitation)", "lower.set_angel(state, 0.5)"]
    (tmp_path / "user.py").write_text("\n".join([*lines, *wrong]))
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(Path(mb.__file__).parent.parent)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    found = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    assert [name for one in found for name in re.findall(r'"(\w+)" is (?:not a known|unknown)', one["message"])] == [
        "Gravitation",
        "set_angel",
    ], done.stdout
    assert len(found) == 2
