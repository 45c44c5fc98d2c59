"""A disk that is full, or a limit of a file's size: an error that names file and cause; nothing that was there is lost."""

import errno
import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from processes import run

import mobod as mb

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

RECORD = """
system, state = mb.examples.double_pendulum.build()
keywords = {"report_interval": 0.001, "record": ["momentum"], "accuracy": 1e-6}
whole = mb.simulate(system, state, 10.0, **keywords)
files = {"record_to": "run.h5", "checkpoint": "run.ckpt", "checkpoint_interval": 0.0}
seed, count = map(int, sys.argv[1:])
for size in np.random.default_rng(seed).integers(1, 1_000_000, count).tolist() if seed else [700_000]:
    for name in ("run.h5", "run.ckpt"):
        if os.path.exists(name):
            os.unlink(name)
    try:
        with files_of_at_most(size):
            mb.simulate(system, state, 10.0, **keywords, **files)
    except OSError as error:
        assert "run." in str(error) and "File too large" in str(error), error
        partial = error.trajectory
        assert np.array_equal(partial.q, whole.q[: len(partial)])
        assert np.array_equal(partial.quantities["momentum"], whole.quantities["momentum"][: len(partial)])
        there = 0
        if os.path.exists("run.h5"):
            loaded = mb.Trajectory.load("run.h5")
            there = len(loaded)
            assert 0 < there <= len(partial) and np.array_equal(loaded.q, whole.q[:there])
        print(size, there, len(partial))
    assert sorted(os.listdir(".")) in ([], ["run.ckpt"], ["run.h5"], ["run.ckpt", "run.h5"]), os.listdir(".")
    again = mb.simulate(system, state, 10.0, **keywords, **files, resume=os.path.exists("run.ckpt"))
    assert np.array_equal(again.q, whole.q) and np.array_equal(again.energy, whole.energy)
"""


def test_a_recording_meets_a_limit(tmp_path):
    _, there, partial = map(int, run(RECORD, tmp_path, 0, 0).split())
    assert 0 < there < partial < 10_001


@pytest.mark.long
def test_a_recording_meets_many_limits(tmp_path):
    found = run(
        RECORD, tmp_path, os.environ.get("MOBOD_TEST_SEED", "1"), max(4, int(os.environ.get("MOBOD_FAULTS", "600")) // 150)
    )
    assert len(found.splitlines()) > 2


SAVE = """
system, state = mb.examples.double_pendulum.build()
run = mb.simulate(system, state, 5.0, report_interval=0.001)
for name in sys.argv[1:]:
    write = {".png": run.plot, ".pdf": run.plot, ".gif": run.animate}.get(os.path.splitext(name)[1], run.save)
    open(name, "w").write("what was there")
    try:
        with files_of_at_most(4000):
            write(name)
    except OSError as error:
        assert name in str(error) and "File too large" in str(error), error
    else:
        raise AssertionError(f"{name} has been written")
    assert open(name).read() == "what was there" and os.listdir(".") == [name], os.listdir(".")
    write(name)
    assert os.path.getsize(name) > 4000 and os.listdir(".") == [name], os.listdir(".")
    os.unlink(name)
"""


def test_earlier_files_stay(tmp_path):
    run(SAVE, tmp_path, "run.npz", "run.csv", "run.parquet", "run.h5")


@pytest.mark.long
def test_earlier_pictures_stay(tmp_path):
    run(SAVE.replace("5.0", "0.5"), tmp_path, "run.png", "run.pdf", "run.gif")


CHECKPOINT = """
system, state = mb.examples.double_pendulum.build()
stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
stepper.initialize(state)
stepper.step_to(0.5)
stepper.save_checkpoint("run.ckpt")
before = open("run.ckpt", "rb").read()
stepper.step_to(1.0)
try:
    with files_of_at_most(500):
        stepper.save_checkpoint("run.ckpt")
except OSError as error:
    assert "run.ckpt" in str(error) and "File too large" in str(error), error
assert open("run.ckpt", "rb").read() == before and os.listdir(".") == ["run.ckpt"]
"""


def test_an_earlier_checkpoint_stays(tmp_path):
    run(CHECKPOINT, tmp_path)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB, where one may be made."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True)
    if done.returncode:
        pytest.skip("needs the right to mount")
    yield place
    gc.collect()  # what a run that ended has open
    subprocess.run(["umount", place], check=True)


def test_a_disk_that_is_full_and_then_is_not(small_disk):
    system, state = mb.examples.double_pendulum.build()
    keywords = {"report_interval": 0.001, "checkpoint": small_disk / "run.ckpt", "checkpoint_interval": 0.0}
    whole = mb.simulate(system, state, 20.0, report_interval=0.001)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(500_000))
    with pytest.raises(OSError, match=r"No space left on device.*run\.") as caught:
        mb.simulate(system, state, 20.0, **keywords, record_to=small_disk / "run.h5")
    assert caught.value.errno == errno.ENOSPC
    partial = caught.value.trajectory
    assert len(partial) and np.array_equal(partial.q, whole.q[: len(partial)])
    there = mb.Trajectory.load(small_disk / "run.h5")
    assert 0 < len(there) <= len(partial) and np.array_equal(there.q, whole.q[: len(there)])
    del partial, there, caught
    filler.unlink()
    again = mb.simulate(system, state, 12.0, **keywords, record_to=small_disk / "run.h5", resume=True)
    assert np.array_equal(again.q, whole.q[: len(again)]) and len(again) == 12_001
