"""Whatever happens to a file's bytes: reading it is an error that names it, or gives what was written; no crash, no hang."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from damage import KINDS, TEXT, content, damaged, outcome, write_all

import mobod as mb

#: How many files the long test damages; 10,000 take some ten minutes.
LONG = int(os.environ.get("MOBOD_FAULTS", "600"))

WORKER = """
import faulthandler, sys
faulthandler.dump_traceback_later(60, exit=True)  # nothing hangs
from pathlib import Path
import numpy as np
from damage import TEXT, content, damaged, outcome
seed, count = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(seed)
for path in map(Path, sys.argv[3:]):
    data, whole = path.read_bytes(), content(path)
    hurt = path.with_name(f"hurt-{seed}{path.suffix}")
    seen = {}
    for _ in range(count):
        faulthandler.dump_traceback_later(60, exit=True)
        changed, what = damaged(data, rng)
        hurt.write_bytes(changed)
        found = outcome(hurt, whole)
        if found == "other content" and path.suffix in TEXT:
            found = "other text"
        if found not in ("same", "error", "other text"):
            hurt.with_name(f"kept-{seed}{path.suffix}").write_bytes(changed)
            print("WRONG", path, what, found)
            sys.exit(1)
        seen[found] = seen.get(found, 0) + 1
    print(path.name, seen, flush=True)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder, write_all(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_some_damaged_files(files, kind, rng, tmp_path):
    whole, path = (files[0] / f"run{kind}").read_bytes(), tmp_path / f"hurt{kind}"
    path.write_bytes(whole)
    known = content(path)
    for _ in range(25):
        changed, what = damaged(whole, rng)
        path.write_bytes(changed)
        found = outcome(path, known)
        assert found in ("same", "error") or (kind in TEXT and found == "other content"), (what, found)


@pytest.mark.long
def test_many_damaged_files(files):
    """In a process of its own, which a crash would end, and a watchdog ends where nothing comes back for a minute."""
    root = Path(__file__).parent
    seed = int(os.environ.get("MOBOD_TEST_SEED", "0")) or 1
    paths = [files[0] / f"run{kind}" for kind in KINDS]
    command = [sys.executable, "-c", WORKER, str(seed), str(LONG // len(KINDS)), *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_damaged_recording_gives_what_is_whole(files, tmp_path):
    folder, run = files
    data = bytearray((folder / "run.h5").read_bytes())
    row = np.asarray(run.q)[70:71].tobytes()
    at = bytes(data).index(row)
    data[at] ^= 1
    path = tmp_path / "run.h5"
    path.write_bytes(data)
    hurt = mb.Trajectory.load(path)
    assert np.array_equal(hurt.u, run.u)
    with pytest.raises(
        mb.ModelError, match=r"run\.h5 is not a recording, or is damaged.*Its first 0 rows are whole.*salvage=True"
    ):
        np.asarray(hurt.q)


@pytest.mark.parametrize("part", [0.2, 0.6, 0.9])
def test_a_recording_that_is_cut_short(tmp_path, part):
    """It is told at once, and its first rows can be had; resuming says the same."""
    system, state = mb.examples.double_pendulum.build()
    keywords = {"report_interval": 0.001, "record_to": tmp_path / "run.h5", "checkpoint": tmp_path / "run.ckpt"}
    run = mb.simulate(system, state, 30.0, **keywords)
    whole = np.array(run.q)
    data = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "run.h5").write_bytes(data[: int(part * len(data))])
    with pytest.raises(
        mb.ModelError, match=r"run\.h5 is not a recording, or is damaged.*(rows are whole|Nothing can be read)"
    ) as caught:
        mb.Trajectory.load(tmp_path / "run.h5")
    with pytest.raises(mb.ModelError, match=r"run\.h5 is not a recording, or is damaged"):
        mb.simulate(system, state, 40.0, **keywords, resume=True)
    if "rows are whole" in str(caught.value):
        saved = mb.Trajectory.load(tmp_path / "run.h5", salvage=True)
        assert 0 < len(saved) < len(whole) or part < 0.5
        assert np.array_equal(saved.q, whole[: len(saved)])
        saved.save(tmp_path / "saved.npz")


def test_a_file_that_is_none(tmp_path):
    for extension in (".h5", ".npz", ".parquet", ".csv"):
        path = tmp_path / f"missing{extension}"
        with pytest.raises(FileNotFoundError, match="missing"):
            mb.Trajectory.load(path)
        path.write_bytes(b"")
        with pytest.raises(mb.ModelError, match="missing"):
            mb.Trajectory.load(path)


def test_a_recording_of_another_program_is_told(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1.0]
    with pytest.raises(mb.ModelError, match="is not a recording: it holds x"):
        mb.Trajectory.load(tmp_path / "other.h5")
