"""Runs that are killed at random moments, in the middle of a write too, go on to the bits that they would have come to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mobod as mb

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
#: How many runs the exhaustive test kills; 1,000 take some ten minutes.
MANY = int(os.environ.get("MOBOD_FAULTS", "600")) // 20
KEYWORDS = {"accuracy": 1e-7, "report_interval": 0.002, "record": ["momentum"], "checkpoint_interval": 0.0}
TIME = 8.0
#: How many calls change files, at least, in `write_with_a_fault`; and what can happen there.
PLACES, FAULTS = 75, ("killed", "full", "ctrl-c")


def same(run, whole):
    for name in ("time", "q", "u", "energy"):
        assert np.array_equal(getattr(run, name), getattr(whole, name)), name
    assert np.array_equal(run.quantities["momentum"], whole.quantities["momentum"])
    assert run.steps_taken == whole.steps_taken


def kill_and_go_on(rng, count):
    """Kill as many runs, some several times, and finish them; how many had begun to write."""
    system, state = mb.examples.double_pendulum.build()
    folder = Path.cwd()
    clock = time.perf_counter()
    whole = mb.simulate(
        system, state, TIME, **{**KEYWORDS, "checkpoint": folder / "warm.ckpt", "record_to": folder / "warm.h5"}
    )
    lasts = time.perf_counter() - clock
    begun = killed = 0
    while killed < count:
        files = {"checkpoint": folder / "run.ckpt", **({"record_to": folder / "run.h5"} if rng.random() < 0.7 else {})}
        for place in folder.glob("*run*"):
            place.unlink()
        for _ in range(int(rng.integers(1, 4))):
            child = os.fork()
            if child == 0:
                try:
                    mb.simulate(system, state, TIME, **KEYWORDS, **files, resume=True)
                finally:
                    os._exit(0)
            time.sleep(float(rng.uniform(0.0, lasts)))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            killed += 1
            if (folder / "run.h5").exists():
                there = mb.Trajectory.load(folder / "run.h5")
                assert np.array_equal(there.q, whole.q[: len(there)])
                begun += 1
        same(mb.simulate(system, state, TIME, **KEYWORDS, **files, resume=True), whole)
        parts = (".part.h5", ".part.ckpt")  # of a write that was cut off
        left = sorted(place.name for place in folder.glob("*run*") if not place.name.endswith(parts))
        assert left == sorted(place.name for place in files.values()), left
        print(killed, "killed,", begun, "of them with rows in the file", flush=True)
    return begun


def test_a_few_killed_runs(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kill_and_go_on(rng, 5)


def in_a_small_process(folder, *arguments):
    """Run this file: a process that has run tests takes three times as long for each of some hundred forks."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
def test_many_killed_runs(rng, tmp_path):
    in_a_small_process(tmp_path, "kill", rng.integers(1 << 31), MANY)


def write_with_a_fault(how, place):
    """Write to a recording; before call number *place* of those that change files a fault comes. Its exit code."""
    from mobod.simulation.hdf5_file import FileRows

    calls = 0

    def watched(call, name):
        def instead(*arguments, **more):
            nonlocal calls
            calls += 1
            if how == "full" and calls >= place and name == "pwrite":
                raise OSError(28, os.strerror(28))
            if calls == place and how == "killed":
                os._exit(1)
            if calls == place and how == "ctrl-c":
                os.kill(os.getpid(), signal.SIGINT)
            return call(*arguments, **more)

        return instead

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("pwrite", "ftruncate", "fsync", "replace"):
        setattr(os, name, watched(getattr(os, name), name))
    try:
        rows = FileRows("run.h5", {"coordinate_names": ["a"], "speed_names": ["a"]})
        for k in range(2):  # what is written later is written as the second time
            t = np.arange(50.0) + 50.0 * k
            rows.append({"time": t, "q": t[:, None], "u": t[:, None], "energy": t})
            rows.flush()
        rows.close()
    except (OSError, KeyboardInterrupt):
        return 1
    return 0 if calls < place else 2


def cut_off(how, place, folder):
    """Write with a fault at a place, and look at what is left; the exit code."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.chdir(folder)
            code = write_with_a_fault(how, place)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1, 2), (place, code)
    if (folder / "run.h5").exists():
        run = mb.Trajectory.load(folder / "run.h5")
        assert len(run) in (50, 100) and np.array_equal(run.q[:, 0], np.arange(float(len(run)))), place
        go_on(folder / "run.h5", len(run))
    return code


@pytest.mark.exhaustive
def test_every_place_where_a_recording_can_be_cut_off(tmp_path):
    """Not at random moments but at all: before each call that changes a file, the process ends, or the disk is full."""
    pytest.importorskip("h5py")
    in_a_small_process(tmp_path, "cut off")


@pytest.mark.parametrize("how", FAULTS)
def test_some_places_where_a_recording_can_be_cut_off(rng, tmp_path, how):
    pytest.importorskip("h5py")
    for place in rng.choice(np.arange(1, PLACES + 1), 4, replace=False):
        assert cut_off(how, int(place), tmp_path / f"{how}-{place}") != 0, f"fewer than {PLACES} places"


def go_on(path, rows):
    from mobod.simulation.hdf5_file import FileRows

    again = FileRows.go_on(path, rows)
    t = rows + np.arange(7.0)
    again.append({"time": t, "q": t[:, None], "u": t[:, None], "energy": t})
    again.close()
    assert np.array_equal(mb.Trajectory.load(path).q[:, 0], np.arange(rows + 7.0))
    assert not path.with_name("run.h5.journal").exists()


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        written = kill_and_go_on(np.random.default_rng(int(sys.argv[2])), int(sys.argv[3]))
        assert written > 0, "none of the runs had written rows"
    else:
        for fault in FAULTS:
            places = next(k for k in range(1, 1000) if cut_off(fault, k, Path.cwd() / f"{fault}-{k}") == 0)
            assert places > PLACES, f"{fault}: all places have been tried, {places}"
