"""Bad paths are found before a run starts; files that go away during one cost nothing."""

import os
import sys

import numpy as np
import pytest
from processes import run

import mobod as mb


@pytest.fixture
def model():
    return mb.examples.double_pendulum.build()


@pytest.mark.parametrize("argument", ["record_to", "checkpoint"])
@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("nowhere/run.h5", FileNotFoundError, "is in a folder that is not there; make it first: 'nowhere/run.h5'"),
        (5, TypeError, "is the name of a file, not 5"),
        ("", TypeError, "is the name of a file, not ''"),
        ("folder.h5", IsADirectoryError, "is a folder, not a file: 'folder.h5'"),
    ],
)
def test_a_bad_path_is_found_before_the_run(model, tmp_path, monkeypatch, argument, path, error, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.h5").mkdir()
    asked = []
    with pytest.raises(error, match=f"{argument}.*{message}"):
        mb.simulate(*model, 1.0, **{argument: path}, record={"x": lambda state: asked.append(0) or 1.0})
    assert not asked and os.listdir(tmp_path) == ["folder.h5"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user with limited rights")
def test_no_right_to_write_is_found_before_the_run(model, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="record_to"):
        mb.simulate(*model, 1.0, record_to=tmp_path / "run.h5")


def test_one_file_for_both_is_refused(model, tmp_path):
    (tmp_path / "link.h5").symlink_to(tmp_path / "run.h5")
    for other in ("run.h5", "link.h5"):
        with pytest.raises(ValueError, match="record_to and checkpoint are the same file"):
            mb.simulate(*model, 1.0, record_to=tmp_path / "run.h5", checkpoint=tmp_path / other)


def test_a_cell_that_is_run_twice(model, tmp_path):
    """The first trajectory keeps its rows, though its file has been replaced."""
    system, state = model
    first = mb.simulate(system, state, 1.0, record_to=tmp_path / "run.h5")
    state.q = state.q + 0.1
    second = mb.simulate(system, state, 1.0, record_to=tmp_path / "run.h5")
    assert not np.array_equal(first.q, second.q)
    assert np.array_equal(mb.Trajectory.load(tmp_path / "run.h5").q, second.q)
    assert os.listdir(tmp_path) == ["run.h5"]


def test_a_file_keeps_its_rights_and_its_link(model, tmp_path):
    run = mb.simulate(*model, 0.1)
    run.save(tmp_path / "real.npz")
    (tmp_path / "real.npz").chmod(0o640)
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    run.save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink() and (tmp_path / "real.npz").stat().st_mode & 0o777 == 0o640
    before = os.umask(0o022)
    os.umask(before)
    run.save(tmp_path / "new.npz")
    assert (tmp_path / "new.npz").stat().st_mode & 0o777 == 0o666 & ~before


@pytest.mark.parametrize("how", ["removed", "renamed", "replaced"])
def test_a_recording_that_goes_away_meanwhile(model, tmp_path, how):
    system, state = model
    path, done = tmp_path / "run.h5", []

    def take_away(time, end):
        if path.exists() and not done and time > 0.5:
            done.append(how)
            if how == "renamed":
                path.rename(tmp_path / "elsewhere.h5")
            else:
                path.unlink()
            if how == "replaced":
                path.write_bytes(b"another file")

    keywords = {"report_interval": 0.01, "checkpoint": tmp_path / "run.ckpt", "checkpoint_interval": 0.0}
    with pytest.warns(RuntimeWarning, match=r"run\.h5 was moved, removed or replaced while it was recorded to"):
        run = mb.simulate(system, state, 50.0, **keywords, record_to=path, progress=take_away)
    assert done and np.array_equal(run.q, mb.simulate(system, state, 50.0, report_interval=0.01).q)
    if how == "renamed":
        assert np.array_equal(mb.Trajectory.load(tmp_path / "elsewhere.h5").q, run.q)


def test_two_runs_do_not_record_to_one_file(model, tmp_path):
    system, state = model
    tried = []

    def again(time, end):
        if not tried:
            tried.append(0)
            with pytest.raises(BlockingIOError, match=r"another run is recording to this file.*run\.h5"):
                mb.simulate(system, state, 1.0, record_to=tmp_path / "run.h5")

    mb.simulate(system, state, 1.0, record_to=tmp_path / "run.h5", progress=again)
    assert tried


WATCHED = """
from multiprocessing import get_context
import time

def write():
    system, state = mb.examples.double_pendulum.build()
    mb.simulate(system, state, 60.0, report_interval=0.01, record=["momentum"], record_to="run.h5", checkpoint="run.ckpt",
                checkpoint_interval=0.0)

if __name__ == "__main__":
    writer = get_context("fork").Process(target=write)
    writer.start()
    lengths = []
    while writer.is_alive():
        if os.path.exists("run.h5"):
            run = mb.Trajectory.load("run.h5")
            assert np.isfinite(run.q).all() and np.isfinite(run.quantities["momentum"]).all()
            lengths.append(len(run))
        time.sleep(0.02)
    assert writer.exitcode == 0 and lengths == sorted(lengths), lengths
    print(len(set(lengths)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_recording_is_read_while_it_grows(tmp_path):
    assert int(run(WATCHED, tmp_path)) >= 1
