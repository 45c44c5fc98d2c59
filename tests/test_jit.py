"""The cache of compiled code: never stale, never in the way. Each test runs fresh processes on a cache of its own.

The kernel that they compile is a small one: the normalization of a quaternion.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import mobod
import mobod as mb
from mobod import _jit

PACKAGE = Path(mobod.__file__).parent
NORMALIZE = """
import mobod as mb
system = mb.MultibodySystem()
matter = mb.SimbodyMatterSubsystem(system)
mb.mobilizer.Ball(matter.ground, mb.body.Rigid())
state = system.realize_topology()
state.q = (0, 0, 3, 4)
system.project_q(state)
print(state.q.round(12).tolist())
"""
NORMALIZED = "[0.0, 0.0, 0.6, 0.8]"


@functools.cache
def untouched():
    """A copy of the package, so that somebody's edit in the middle of a test does not matter."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return copied(folder)


def copied(folder):
    return Path(shutil.copytree(PACKAGE, Path(folder) / "copy" / "mobod", ignore=shutil.ignore_patterns("__pycache__")))


def start(code, cache, package=None, **environment):
    package = untouched() if package is None else package
    path = {"PYTHONPATH": str(package.parent), "MOBOD_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    inherited = {key: value for key, value in os.environ.items() if key != "MOBOD_QUIET"}
    return subprocess.Popen(
        [sys.executable, "-W", "default", "-c", code],
        env={**inherited, **path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err


def run(*args, **environment):
    return finish(start(*args, **environment))


def files(cache):
    return sorted(cache.rglob("*.bin"))


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to be edited."""
    return copied(tmp_path)


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_importing_the_package_imports_neither_numba_nor_scipy(tmp_path):
    out, _ = run(
        "import sys, mobod; print([m for m in ('numba', 'llvmlite', 'scipy', 'matplotlib') if m in sys.modules])", tmp_path
    )
    assert out == "[]"


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "compiling" in err and str(tmp_path) in err, "a first run says that it compiles"
    assert "for the first time" in err and "once" not in err, "another kind of part compiles again"
    kept = files(tmp_path)
    assert kept and all(len(file.parent.name) == 24 for file in kept)
    stamps = [file.stat().st_mtime_ns for file in kept]
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "compiling" not in err
    assert [file.stat().st_mtime_ns for file in files(tmp_path)] == stamps
    assert not list(tmp_path.rglob("*.part"))


def test_an_edited_kernel_is_compiled_anew_and_an_edit_elsewhere_is_not(tmp_path, package):
    """An edit in a file other than the entry point's: what Numba's own cache does not see."""
    cache = tmp_path / "cache"
    assert run(NORMALIZE, cache, package)[0] == NORMALIZED
    (package / "matter.py").write_text((package / "matter.py").read_text() + "\n# no kernel\n")
    assert "compiling" not in run(NORMALIZE, cache, package)[1]
    edit(package / "algebra" / "quaternion.py", "s = 1.0 / sqrt(", "s = 2.0 / sqrt(")
    out, err = run(NORMALIZE, cache, package)
    assert out == "[0.0, 0.0, 1.2, 1.6]" and "compiling" in err
    assert len({file.parent for file in files(cache)}) == 2
    edit(package / "algebra" / "quaternion.py", "s = 2.0 / sqrt(", "s = 1.0 / sqrt(")
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "compiling" not in err, "taken back, the first version is still there"


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path):
    """A folder below a file cannot be made, even by root."""
    blocker = tmp_path / "file"
    blocker.write_text("")
    out, err = run(NORMALIZE, blocker / "cache")
    assert out == NORMALIZED and "Warning" in err and "MOBOD_CACHE_DIR" in err


def test_a_damaged_file_is_replaced(tmp_path):
    assert run(NORMALIZE, tmp_path, MOBOD_QUIET="1") == (NORMALIZED, ""), "asked to be quiet, it is"
    for damage in (lambda data: data[: len(data) // 2], lambda data: b"nonsense" * 100):
        for file in files(tmp_path):
            file.write_bytes(damage(file.read_bytes()))
        out, err = run(NORMALIZE, tmp_path)
        assert out == NORMALIZED and "unusable" in err
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "unusable" not in err and "compiling" not in err


def test_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    processes = [start(NORMALIZE, tmp_path) for _ in range(2)]
    assert [finish(process)[0] for process in processes] == [NORMALIZED] * 2
    assert not list(tmp_path.rglob("*.part"))
    assert "compiling" not in run(NORMALIZE, tmp_path)[1]


def test_versions_that_nobody_used_for_two_months_go(tmp_path):
    old, recent, foreign = tmp_path / ("0" * 24), tmp_path / ("1" * 24), tmp_path / "somebody's"
    for folder in (old, recent, foreign):
        folder.mkdir()
    long_ago = time.time() - 70 * 86400
    os.utime(old, (long_ago, long_ago))
    os.utime(foreign, (long_ago, long_ago))
    run(NORMALIZE, tmp_path)
    assert not old.exists() and recent.exists() and foreign.exists()


def test_the_cache_is_cleared_when_asked(tmp_path):
    kept = tmp_path / "cache" / ("0" * 24) / "kernel.bin"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"compiled")
    run("import mobod._jit as jit; jit.clear_cache()", tmp_path / "cache")
    assert not files(tmp_path)


# ---------------------------------------------------------------------------------------------- in this process


def test_kernels_live_in_hashed_folders_only():
    def stray(x):
        return x

    for mark in (_jit.generic, _jit.compiled, _jit.routine, _jit.compiled_form_of(stray)):
        with pytest.raises(RuntimeError, match="kernels live in"):
            mark(stray)


def test_every_folder_with_kernels_is_hashed():
    """Nothing outside the hashed folders uses a decorator of `_jit`, or Numba itself."""
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        inside = file.relative_to(PACKAGE).parts[0] in _jit.KERNEL_FOLDERS or file.name == "_jit.py"
        if not inside:
            assert "import numba" not in text and "from numba" not in text, file
            assert "@generic" not in text and "@compiled" not in text and "@routine" not in text, file
            harmless = "cache_folder", "clear_cache", "is_generic"
            assert "_jit import" not in text or any(name in text for name in harmless), file


def test_a_kernel_keeps_its_name_its_docstring_and_its_source():
    from mobod.tree.rates import multiply_by_n

    assert multiply_by_n.__name__ == "multiply_by_n" and multiply_by_n.__doc__.startswith("out = N v")
    assert "multiply_by_n" in repr(multiply_by_n) and callable(multiply_by_n.python)


def test_the_code_of_a_kernel_does_what_its_dispatcher_does(make):
    from mobod.tree.mass_matrix import multiply_by_m

    model = make.tree()
    state = model.randomize()
    model.system.realize(state, mb.Stage.POSITION)
    a, by_code, by_dispatcher = make.vector(len(state.u)), np.empty(len(state.u)), np.empty(len(state.u))
    code = multiply_by_m.code_for(state._block, a, by_code)
    assert multiply_by_m.code is code
    code(state._block, a, by_code)
    multiply_by_m.dispatcher(state._block, a, by_dispatcher)
    assert np.array_equal(by_code, by_dispatcher) and np.any(by_code)
