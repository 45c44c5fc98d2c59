"""mobod view: serves a page until Ctrl-C, of a model or of its motion."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

import mobod as mb
from mobod.cli.main import main
from mobod.examples import double_pendulum


def serve(*arguments):
    """Its first line, and the page it serves; Ctrl-C ends it."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "mobod", "view", *arguments, "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert url, line + process.stderr.read()
        page = urllib.request.urlopen(url.group(), timeout=20).read()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
        return line, page
    finally:
        process.kill()
        process.communicate()


def test_a_model_is_served_until_ctrl_c():
    pytest.importorskip("viser")
    line, page = serve("double_pendulum", "--port", "8333")
    assert line.startswith("double_pendulum: http://127.0.0.1:") and b"<html" in page[:2000].lower()


def test_a_motion_is_served_with_its_model(tmp_path):
    pytest.importorskip("viser")
    system, state = double_pendulum.build()
    path = tmp_path / "swing.npz"
    mb.simulate(system, state, 0.5).save(path)
    line, _ = serve(str(path), "--of", "double_pendulum")
    assert line.startswith(f"{path} of double_pendulum: http://")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run.npz"], "run.npz is a motion, which does not say of what: mobod view run.npz --of MODEL"),
        (["panda", "--of", "panda"], "--of is for a motion's file"),
        (["pandda"], "there is no file pandda"),
        (["panda", "--q", "nothing=1"], "there is no coordinate 'nothing'"),
    ],
)
def test_what_cannot_be_viewed_is_said(capsys, arguments, message):
    assert main(["view", *arguments, "--no-browser"]) == 2
    assert message in capsys.readouterr().err


def test_a_replay_is_written(tmp_path, capsys):
    for name in ("swing.html", "swing.glb"):
        path = tmp_path / name
        assert main(["simulate", "double_pendulum", "--time", "0.2", "--replay", str(path)]) == 0
        assert path.stat().st_size > 1000
        assert f"replay           {path}" in capsys.readouterr().out
    assert main(["simulate", "double_pendulum", "--replay", "swing.gif"]) == 2
    assert "must end in .html, .htm or .glb" in capsys.readouterr().err
