"""Compiled code that comes with the package: used where it fits, checked, and nobody's trouble where it does not.

Each test puts a bundle of two small kernels into a copy of the package, and runs fresh processes on an empty cache.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_disk_cache import NORMALIZE, NORMALIZED, copied, edit, files, run

from mobod.compiling import bundle

LEVELS = bundle.supported_levels()
pytestmark = pytest.mark.skipif(not LEVELS, reason="this processor is of no level that bundles are made for")
PACK = """
from mobod.compiling import bundle, store
import pathlib
bundle.pack(store.used, pathlib.Path({file!r}))
"""
DESCRIBE = "from mobod.compiling import bundle; print(bundle.describe())"


@functools.cache
def made(folder):
    """A bundle of the kernels of `NORMALIZE`, for the best level of this processor."""
    file = Path(folder) / f"{LEVELS[0]}.zip"
    out, _ = run(NORMALIZE + PACK.format(file=str(file)), folder, NUMBA_CPU_NAME=LEVELS[0], NUMBA_CPU_FEATURES="")
    assert out == NORMALIZED
    return file


@pytest.fixture(autouse=True)
def compiles_for_this_processor(monkeypatch):
    """Whatever the other tests compile for."""
    for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "MOBOD_BUNDLES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def package(tmp_path, folder):
    """A copy of the package with the bundle."""
    package = copied(tmp_path)
    shutil.copytree(made(folder).parent, package / "bundles", ignore=lambda path, names: {*names} - {made(folder).name})
    return package


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def in_bundle(package):
    return package / "bundles" / f"{LEVELS[0]}.zip"


def test_what_is_bundled_is_not_compiled(package, cache):
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and err == ""
    assert not cache.exists()


def test_it_has_the_kernels_that_its_process_used_and_says_what_made_them(folder):
    with zipfile.ZipFile(made(folder)) as archive:
        assert len(archive.namelist()) == len(files(folder))
        assert json.loads(archive.comment) == bundle.versions()


def test_it_can_be_left_alone(package, cache):
    out, err = run(NORMALIZE, cache, package, MOBOD_BUNDLES="0")
    assert out == NORMALIZED and "compiling" in err and files(cache)


def test_who_names_a_processor_gets_code_for_it(package, cache):
    out, err = run(NORMALIZE, cache, package, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert out == NORMALIZED and "compiling" in err and files(cache)


def test_a_kernel_that_has_been_edited_is_compiled(package, cache):
    edit(package / "compiling" / "engine.py", '"error_model": "numpy"', '"error_model": "python"')
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "compiling" in err and files(cache)


@pytest.mark.parametrize("at", [0.3, 0.6])
def test_a_damaged_kernel_is_a_warning_and_compiled(package, cache, at):
    with zipfile.ZipFile(in_bundle(package)) as archive:
        contents, comment = {name: archive.read(name) for name in archive.namelist()}, archive.comment
    with zipfile.ZipFile(in_bundle(package), "w") as archive:
        archive.comment = comment
        for name, data in contents.items():  # a bit is wrong, and the archive's own sums are right
            wrong = int(at * len(data))
            archive.writestr(name, data[:wrong] + bytes([data[wrong] ^ 4]) + data[wrong + 1 :])
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "damaged" in err and "came with mobod" in err and files(cache)


def test_a_bundle_that_cannot_be_read_is_a_warning(package, cache):
    in_bundle(package).write_bytes(in_bundle(package).read_bytes()[:-2000])
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "install mobod anew" in err and files(cache)


def test_code_for_other_processors_is_left_alone(package, cache):
    other = next(level for level in bundle.LEVELS if level not in LEVELS)
    in_bundle(package).rename(in_bundle(package).with_stem(other))
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "compiling" in err and files(cache)
    assert run(DESCRIBE, cache, package)[0] == f"for {other}, not for this processor: compiled when first needed"


def test_children_of_one_process_read_it_at_once(package, cache):
    """A file whose position parent and children share would give each the others' bytes."""
    code = """
import multiprocessing, mobod
from mobod.compiling import bundle
(one,) = bundle.bundles()
want = {name: one.archive.read(name) for name in one.names}
def same(_):
    return all(one.archive.read(name) == data for _ in range(200) for name, data in want.items())
with multiprocessing.get_context("fork").Pool(4) as pool:
    print(all(pool.map(same, range(4))))
"""
    if sys.platform != "linux":
        pytest.skip("no forks")
    assert run(code, cache, package)[0] == "True"


def test_the_doctor_says_which_is_used(package, cache):
    count = len(zipfile.ZipFile(in_bundle(package)).namelist())
    assert run(DESCRIBE, cache, package)[0] == f"{count} for {LEVELS[0]}"
    assert "MOBOD_BUNDLES" in run(DESCRIBE, cache, package, MOBOD_BUNDLES="0")[0]
    with zipfile.ZipFile(in_bundle(package), "a") as archive:
        archive.comment = json.dumps({**bundle.versions(), "Numba": "0.1"}).encode()
    assert run(DESCRIBE, cache, package)[0].startswith("made by Numba 0.1, here ")
    shutil.rmtree(package / "bundles")
    assert run(DESCRIBE, cache, package)[0] == "none with this installation: compiled when first needed"


def test_a_wheel_for_this_platform_has_them(folder, tmp_path):
    pytest.importorskip("hatchling")
    root = Path(__file__).parent.parent.parent
    if not (root / "hatch_build.py").is_file():
        pytest.skip("no checkout")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]

    def build(source):
        return subprocess.run(command, cwd=root, env={**os.environ, "MOBOD_BUNDLES_FROM": str(source)}, capture_output=True)

    assert build(folder).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    assert "-any" not in wheel.name and "-none-" not in wheel.name
    assert f"mobod/bundles/{LEVELS[0]}.zip" in zipfile.ZipFile(wheel).namelist()
    nothing = build(tmp_path / "none")
    assert nothing.returncode != 0 and b"compile_kernels.py" in nothing.stderr
