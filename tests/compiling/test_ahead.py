"""Compiling ahead, by several processes: they share the work, say how far it is, and leave nothing behind."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import mobod

SOURCE = Path(mobod.__file__).parent.parent


def run(code, cache, **environment):
    """In a fresh process; *cache* None for the cache that all tests share."""
    settings = {"PYTHONPATH": str(SOURCE), **({"MOBOD_CACHE_DIR": str(cache)} if cache else {}), **environment}
    inherited = {key: value for key, value in os.environ.items() if key not in ("MOBOD_QUIET", "MOBOD_WORKERS")}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env={**inherited, **settings}, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done


COUNTED = """
import atexit
from numba.core import event
recorder = event.RecordingListener()
event.register("numba:compile", recorder)
atexit.register(lambda: print("compiled", len(recorder.buffer) // 2))
"""
#: Three small kernels.
THREE = (
    COUNTED
    + """
import numpy as np
from mobod.compiling import Job, ahead, compile_ahead
import mobod.state.fields
from mobod.tree import momentum, rates
block, out = np.zeros(1, np.int64), np.zeros((1, 1))
jobs = [Job(momentum.calc_momentum, (block, out)), Job(momentum.calc_kinetic_energy, (block, out))]
jobs.append(Job(rates.normalize_quaternions, (block,)))
compile_ahead(jobs)
for job in jobs:
    job.do()
    assert job.is_there()
print("workers", len(ahead._workers))
"""
)


def counts(done):
    return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}


def files(cache):
    """All but files of parts: a part is in the file of whichever kernel was the first to have it."""
    return sorted(file.name for file in cache.rglob("*") if file.is_file() and file.suffix != ".parts")


def test_processes_share_the_work_and_find_the_same_names(tmp_path):
    alone = run(THREE, tmp_path / "alone", MOBOD_WORKERS="0")
    assert counts(alone)["workers"] == 0
    shared = run(THREE, tmp_path / "shared", MOBOD_WORKERS="2")
    assert counts(shared)["workers"] == 2
    assert files(tmp_path / "shared") == files(tmp_path / "alone"), "the same files, and nothing else"
    again = run(THREE, tmp_path / "shared", MOBOD_WORKERS="2")
    assert counts(again) == {"workers": 0, "compiled": 0} and "compiling" not in again.stderr


def test_what_another_process_compiles_is_left_to_it_and_the_others_are_compiled(tmp_path):
    """Without processes of its own, too: those that run tests would wait for each other's kernels one after the other."""
    claimed = """
from mobod.compiling import disk_cache, engine, store
from numba.core.registry import cpu_target
engine.numba()
cache = disk_cache.DiskCache(jobs[0].what.python)
name = cache._name(cache._key(jobs[0]._types()), cpu_target.target_context.codegen().magic_tuple())
claim = store.Claim(name)  # as another process would
compile_ahead(jobs)
print("ahead", sum(job.is_there() for job in jobs))
claim.release()
"""
    done = counts(run(THREE.replace("compile_ahead(jobs)\n", claimed), tmp_path, MOBOD_WORKERS="0"))
    assert done["ahead"] == 2 and done["compiled"] > 2


def test_a_worker_ends_with_the_process_that_started_it(tmp_path):
    code = THREE.replace('print("workers", len(ahead._workers))', 'print("pid", ahead._workers[0].pid); import os; os._exit(0)')
    pid = counts(run(code, tmp_path, MOBOD_WORKERS="1", MOBOD_QUIET="1", PYTHONUNBUFFERED="1"))["pid"]
    deadline = time.monotonic() + 30.0
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(pid)


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_progress_is_told_where_it_is_wanted(capsys, monkeypatch):
    from mobod.compiling import notice

    monkeypatch.delenv("MOBOD_QUIET", raising=False)
    clock = iter(range(0, 400, 7))
    monkeypatch.setattr(notice.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(notice, "_line", notice._Line())
    for terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal, raising=False)
        with notice.Progress(4, "folder") as progress:
            for name in "abcd":
                progress.at(name)
    told = capsys.readouterr().err
    changing, _, plain = told.rpartition("\r\x1b[K")
    assert "\r\x1b[Kmobod: compiling 4 of 4: d" in changing
    assert plain.splitlines() == ["mobod: compiling 2 of 4: b", "mobod: compiling 4 of 4: d"]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with notice.one_kernel("realize", 12.3):
        pass
    said = capsys.readouterr().err
    assert "\r\x1b[Kmobod: compiling realize, kernel " in said and said.endswith(" of this run, 12 s so far\r\x1b[K")
    monkeypatch.setenv("MOBOD_QUIET", "1")
    with notice.Progress(1, "folder") as progress:
        progress.at("a")
    assert capsys.readouterr().err == ""


def test_loading_a_package_is_told_where_it_takes_long(capsys, monkeypatch):
    from mobod.compiling import notice

    monkeypatch.delenv("MOBOD_QUIET", raising=False)
    monkeypatch.setattr(notice, "PATIENCE", 0.05)
    threads = threading.active_count()
    for package, wait, told in (("Slow", 0.5, True), ("Quick", 0.0, False), ("Sys", 0.5, False)):  # the last is loaded
        with notice.loading(package):
            time.sleep(wait)
        said = capsys.readouterr().err
        assert said.startswith(f"mobod: loading {package}") if told else said == ""
    assert threading.active_count() == threads


def test_a_model_is_compiled_ahead(tmp_path):
    """`mobod warmup`, after which the first simulation compiles nothing: it uses no code that `warmup` has not used."""
    (tmp_path / "model.py").write_text("import mobod as mb\n\ndef build():\n    return mb.examples.double_pendulum.build()\n")
    command = "from mobod.cli.main import main; from mobod.compiling import store; assert main({}) == 0; "
    command += "print('used', *store.used)"
    model = str(tmp_path / "model.py")
    warmed = run(command.format(["warmup", model]), None, MOBOD_WORKERS="0").stdout
    simulated = run(command.format(["simulate", model, "--quiet"]), None, MOBOD_WORKERS="0")
    assert "compiling" not in simulated.stderr and "compiled code is in" in warmed
    used, ahead = (set(out.splitlines()[-1].split()) for out in (simulated.stdout, warmed))
    assert "used" in used and len(used) > 5 and used <= ahead


def test_a_model_does_not_wait_until_what_is_frozen_is_counted(monkeypatch, users_collections):
    """A tenth of a second for a million objects, with each model: the counting is for imports."""
    mobod.examples.double_pendulum.build()
    monkeypatch.setattr("gc.get_freeze_count", lambda: 1 / 0)
    mobod.examples.double_pendulum.build()
