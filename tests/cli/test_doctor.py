"""`mobod doctor`: what it says of an installation, and what where something is wrong."""

import os

import pytest

import mobod
from mobod.cli import doctor
from mobod.cli.main import main


def test_it_says_what_there_is_and_that_it_works(capsys, monkeypatch):
    monkeypatch.setenv("MOBOD_QUIET", "1")
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    lines = {line[:16].strip(): line[16:] for line in said.splitlines()}
    assert lines["mobod"].startswith(f"{mobod.__version__} in ")
    assert f"of {os.cpu_count()} cores" in lines["processor"]
    assert {"Python", "system", "numba", "numpy", "scipy", "cache", "extra plot"} <= set(lines)
    assert "MOBOD_QUIET=1" in lines["settings"]
    assert lines["objects"] == "read by their layout"
    assert lines["compiling"].endswith("functions of Numba replaced meanwhile")
    tests = [lines[f"test {name}"] for name in doctor.TESTS]
    assert len(tests) == 3 and all(text.startswith("ok, ") for text in tests)


def test_it_says_what_of_others_is_not_relied_on(monkeypatch):
    monkeypatch.setattr("mobod.algebra.object_layout.why_plain", lambda: "free-threaded Python")
    monkeypatch.setattr("mobod.compiling.numba_patches.why_unpatched", lambda: "MOBOD_NUMBA_PATCHES=0")
    said = dict(doctor._insides())
    assert said["objects"] == "not read by their layout, so that calls take 30 us longer: free-threaded Python"
    assert said["compiling"] == "Numba as it is: MOBOD_NUMBA_PATCHES=0"


def test_a_failed_test_is_told_with_its_error(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "END", (0.0, 0.0))
    monkeypatch.setattr(doctor, "TESTS", {"motion": doctor.TESTS["motion"]})
    assert main(["doctor"]) == 2
    said = capsys.readouterr()
    assert "FAILED: ArithmeticError: a double pendulum is off by 1.2, its energy by" in said.out
    assert said.err == "mobod: error: 1 of 1 tests failed; please report it, with all of this\n"


def test_what_is_missing_is_told_with_what_installs_it(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda package: "" if package == "h5py" else "1.0")
    monkeypatch.setattr(doctor, "TESTS", {})
    assert main(["doctor"]) == 0
    if "extra record" in (said := capsys.readouterr().out):  # where mobod is installed, and not only on the path
        assert "lacks h5py: pip install 'mobod[record]'" in said


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    from mobod import compiling

    tmp_path.chmod(0o500)
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path / "cache")
    assert "not writable" in dict(doctor._cache())["cache"]
