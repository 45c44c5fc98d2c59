"""The cache of compiled code: never stale, never in the way. Each test runs fresh processes on a cache of its own.

The kernels that they compile are small ones: a length, and the normalization of a quaternion.
"""

import atexit
import functools
import inspect
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import mobod
import mobod as mb

PACKAGE = Path(mobod.__file__).parent
NORMALIZE = """
import numpy as np
import small_kernels
q = np.array([5.0, 0.0, 0.0, 0.0])
small_kernels.put_length(q)
q[:] = 0, 0, 3, 4
small_kernels.put_normalized(q)
print(q.round(12).tolist())
"""
NORMALIZED = "[0.0, 0.0, 0.6, 0.8]"


@functools.cache
def untouched():
    """A copy of the package, so that somebody's edit in the middle of a test does not matter."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return copied(folder)


def copied(folder):
    """With its bytecode, which Python takes only where a file's time and length are as they were."""
    return Path(shutil.copytree(PACKAGE, Path(folder) / "copy" / "mobod"))


@functools.cache
def compiled():
    """A cache in which the kernels are."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    assert run(NORMALIZE, folder, MOBOD_QUIET="1") == (NORMALIZED, ""), "asked to be quiet, it is"
    return Path(folder)


def fill(cache):
    shutil.copytree(compiled(), cache, dirs_exist_ok=True)


def start(code, cache, package=None, **environment):
    package = untouched() if package is None else package
    places = os.pathsep.join([str(package.parent), str(Path(__file__).parent)])
    path = {"PYTHONPATH": places, "MOBOD_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    inherited = {key: value for key, value in os.environ.items() if key != "MOBOD_QUIET"}
    return subprocess.Popen(
        [sys.executable, "-W", "default", "-c", code],
        env={**inherited, **path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return out.strip(), err


def run(*args, **environment):
    return finish(start(*args, **environment))


def files(cache):
    return sorted(cache.rglob("*.bin"))


def is_claimed(cache):
    """A process compiles for this cache; `os.walk` passes over what another one renames meanwhile (`rglob` raises)."""
    return any(name.endswith(".lock") for _, _, names in os.walk(cache) for name in names)


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to be edited."""
    return copied(tmp_path)


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "compiling" in err and str(tmp_path) in err, "a first run says that it compiles"
    assert "for the first time" in err and "once" not in err, "another kind of part compiles again"
    kept = files(tmp_path)
    assert kept and {file.parent for file in kept} == {tmp_path / "mobod-compiled"}
    stamps = [file.stat().st_mtime_ns for file in kept]
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "compiling" not in err
    assert [file.stat().st_mtime_ns for file in files(tmp_path)] == stamps
    assert not list(tmp_path.rglob("*.part"))


ADVANCE = "from mobod.tree import realize; print(realize.advance.address() > 0)"


def parts(cache):
    return sorted(cache.rglob("*.parts"))


@pytest.mark.parametrize(("damage", "new"), [(None, 0), ("the list of parts", 0), ("half of it", 1)])
def test_a_kernel_made_of_parts_on_the_disk_is_the_same_to_the_byte(tmp_path, damage, new):
    fill_with_advance(tmp_path)
    (kernel,), (kept,) = files(tmp_path), parts(tmp_path)
    code = kernel.read_bytes()
    kernel.unlink()
    data = bytearray(whole := kept.read_bytes())
    if damage == "half of it":
        data = data[: len(data) // 2]
    elif damage is not None:
        data[100] ^= 1
    kept.write_bytes(data)
    assert run(ADVANCE, tmp_path)[0] == "True"
    assert files(tmp_path) == [kernel] and kernel.read_bytes() == code
    assert len(parts(tmp_path)) == 1 + new, "what cannot be read is compiled anew, and nothing else is"
    assert new or kept.read_bytes() == whole


@functools.cache
def with_advance():
    """A cache with a kernel of the package and its parts."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    assert run(ADVANCE, folder)[0] == "True"
    return folder


def fill_with_advance(cache):
    shutil.copytree(with_advance(), cache, dirs_exist_ok=True)


def test_a_part_that_calls_a_users_function_is_not_kept():
    """What else its code depends on is not known as a whole."""
    from mobod.compiling import engine
    from mobod.compiling.parts import number_of
    from mobod.tree import realize

    engine.make_jitable(own)
    assert number_of(realize.advance.python) is not None
    wrapped = FunctionType(calls.__code__, {"own": own, "__name__": "mobod.tree.made"}, "calls")
    assert wrapped.__module__ == "mobod.tree.made" and number_of(wrapped) is None


def own(x):
    return x + 1.0


def calls(x):
    return own(x)


def test_what_code_was_made_of_is_read_once_another_kernel_calls_it(tmp_path):
    """LLVM would take twice as long for that as for loading the code."""
    fill(tmp_path)
    count = """
import llvmlite.binding as llvm
read, parse = [], llvm.parse_bitcode
llvm.parse_bitcode = lambda *given: read.append(given) or parse(*given)
"""
    call = """
from mobod.compiling import compiled
print(len(read))
@compiled
def put_half_length(x):
    small_kernels.put_length(x)
    x[0] *= 0.5
x = np.array([3.0, 4.0])
put_half_length(x)
print(x[0], len(read))
small_kernels.put_length(x)
put_half_length(x)
print(len(read))
"""
    assert run(count + NORMALIZE + call, tmp_path)[0].splitlines() == [NORMALIZED, "0", "2.5 1", "1"]


def test_an_edited_kernel_is_compiled_anew_and_an_edit_elsewhere_is_not(tmp_path, package):
    """An edit in a file other than the entry point's: what Numba's own cache does not see."""
    cache = tmp_path / "cache"
    assert run(NORMALIZE, cache, package)[0] == NORMALIZED
    once = files(cache)
    edit(package / "algebra" / "quaternion.py", '"""q / |q|."""', '"""q / |q|, of length 1."""\n    # plain')
    edit(package / "algebra" / "quaternion.py", "@generic\ndef normalize(", "def unused(): ...\n\n\n@generic\ndef normalize(")
    assert "compiling" not in run(NORMALIZE, cache, package)[1]
    edit(package / "algebra" / "quaternion.py", "s = 1.0 / sqrt(", "s = 2.0 / sqrt(")
    out, err = run(NORMALIZE, cache, package)
    assert out == "[0.0, 0.0, 1.2, 1.6]" and "compiling" in err
    assert set(once) < set(files(cache))
    edit(package / "algebra" / "quaternion.py", "s = 2.0 / sqrt(", "s = 1.0 / sqrt(")
    out, err = run(NORMALIZE, cache, package)
    assert out == NORMALIZED and "compiling" not in err, "taken back, the first version is still there"


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path):
    """A folder below a file cannot be made, even by root."""
    blocker = tmp_path / "file"
    blocker.write_text("")
    out, err = run(NORMALIZE, blocker / "cache")
    assert out == NORMALIZED and "Warning" in err and "MOBOD_CACHE_DIR" in err


def flipped(data, bit):
    data = bytearray(data)
    data[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(data)


def test_a_damaged_file_is_replaced(tmp_path, rng):
    fill(tmp_path)
    first, second = kept = files(tmp_path)
    for one, other in (
        (lambda data: flipped(data, int(rng.integers(8 * len(data)))), lambda data: data[: len(data) // 2]),
        (lambda data: b"nonsense" * 100, lambda data: data),
    ):
        were = [file.read_bytes() for file in kept]
        first.write_bytes(one(were[0]))
        second.write_bytes(other(were[1]))
        out, err = run(NORMALIZE, tmp_path)
        assert out == NORMALIZED and "damaged" in err and "compiling" in err
        assert files(tmp_path) == kept and [file.read_bytes() for file in kept] == were
    out, err = run(NORMALIZE, tmp_path)
    assert out == NORMALIZED and "damaged" not in err and "compiling" not in err


COUNTING = """
import atexit
from numba.core import event
recorder = event.RecordingListener()
event.register("numba:compile", recorder)
atexit.register(lambda: print(len(recorder.buffer) // 2))
"""


def test_processes_that_meet_at_an_empty_cache_share_the_work(tmp_path):
    alone = run(COUNTING + NORMALIZE, tmp_path / "alone")[0].split("\n")
    processes = [start(COUNTING + NORMALIZE, tmp_path / "together") for _ in range(3)]
    results = [finish(process)[0].split("\n") for process in processes]
    assert [line for line, _ in [alone, *results]] == [NORMALIZED] * 4
    assert sum(int(count) for _, count in results) == int(alone[1]) > 0
    assert not list(tmp_path.rglob("*.part")) and not list(tmp_path.rglob("*.lock"))


def test_who_waits_for_a_process_that_dies_compiles_itself(tmp_path):
    endless = "import time\nfrom mobod.compiling import store\nstore.write = lambda *_: time.sleep(1000)\n"
    killed = start(endless + NORMALIZE, tmp_path)
    deadline = time.monotonic() + 60
    while not is_claimed(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    waiting = start(NORMALIZE, tmp_path)
    time.sleep(2.0)
    assert waiting.poll() is None, "it waits for the other"
    killed.kill()
    killed.communicate()
    assert list(tmp_path.rglob("*.lock")), "it was killed in the middle"
    assert finish(waiting)[0] == NORMALIZED
    assert len(files(tmp_path)) == 2 and not list(tmp_path.rglob("*.lock"))


SIMULATE = """
import mobod as mb
system = mb.MultibodySystem()
matter = mb.SimbodyMatterSubsystem(system)
pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (1, 0, 0), mb.UnitInertia(1, 2, 2))))
state = system.realize_topology()
mb.simulate(system, state, 0.1)
"""


@pytest.mark.seconds
@pytest.mark.parametrize("delay", [0.0, 0.7])
def test_an_interrupt_stops_compiling(delay, tmp_path):
    process = start(SIMULATE, tmp_path)
    assert "compiling" in process.stderr.readline()
    time.sleep(delay)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - asked < 5.0
    assert process.returncode != 0 and out == "" and "KeyboardInterrupt" in err
    assert not list(tmp_path.rglob("*.part")) and not list(tmp_path.rglob("*.lock"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_compiles_gives_a_child_that_can(tmp_path):
    code = f"""
import os, sys, threading, time
import mobod.compiling, small_kernels  # a fork while another thread imports is Python's own trouble

{inspect.getsource(is_claimed)}

def run():
    exec({NORMALIZE!r}, {{}})

thread = threading.Thread(target=run)
thread.start()
deadline = time.monotonic() + 60
children = []
for delay in (0.01, 0.0, 0.05, 0.1):  # before it compiles and while it does
    time.sleep(delay)
    child = os.fork()
    if not child:
        run()
        os._exit(0)
    children.append(child)
    while not is_claimed({str(tmp_path)!r}) and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.002)
thread.join()
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
"""
    out, _ = run(code, tmp_path, PYTHONUNBUFFERED="1")
    # a line's end is written by itself: lines can come before the ends of others
    assert out.replace("]", "] ").split() == (5 * NORMALIZED.replace("]", "] ")).split()


# ---------------------------------------------------------------------------------------------- what is not ours


def made_long_ago(path):
    long_ago = time.time() - 70 * 86400
    os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    return path


def test_nothing_of_the_users_is_removed(tmp_path):
    """`MOBOD_CACHE_DIR` in a folder with other things: these stay, whatever they are called and however old they are."""
    (tmp_path / ("0" * 24)).mkdir()
    mine = tmp_path / ("0" * 24) / "thesis.txt"
    mine.write_text("all of it")
    made_long_ago(mine.parent)
    fill(tmp_path)
    name = files(tmp_path)[0].name
    own = tmp_path / "mobod-compiled"
    others = [own / "notes.txt", own / f"{'x' * 8}-{'0' * 32}.bin"]  # one of them with a name like ours
    for file in others:
        file.write_text("not compiled code")
    made_long_ago(own / "CACHEDIR.TAG")
    (own / f"link-{'0' * 32}.bin").symlink_to(mine)
    run(NORMALIZE, tmp_path)
    run("from mobod.compiling import clear_cache; clear_cache()", tmp_path)
    assert not (own / name).exists()
    assert mine.read_text() == "all of it" and all(file.exists() for file in others) and own.exists()


def test_a_folder_that_is_somebody_elses_is_left_alone(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    precious = theirs / f"kernel-{'0' * 32}.bin"
    precious.write_bytes(b"mobod compiled code 1\n")
    for name, make in (("link", lambda at: at.symlink_to(theirs)), ("folder", lambda at: shutil.copytree(theirs, at))):
        (tmp_path / name).mkdir()
        make(tmp_path / name / "mobod-compiled")
        out, err = run(NORMALIZE + "from mobod.compiling import clear_cache; clear_cache()", tmp_path / name)
        assert out == NORMALIZED and "has not made" in err and err.count("Warning") == 1
        assert (tmp_path / name / "mobod-compiled" / precious.name).exists()
        assert len(list((tmp_path / name).iterdir())) == 1


def test_what_nobody_used_for_two_months_goes_and_so_do_unfinished_files(tmp_path):
    fill(tmp_path)
    (used,) = {file for file in files(tmp_path)[:1]}
    old, recent = (used.with_name(f"{n}-{n * 32}.bin") for n in "12")
    for file in (old, recent):
        file.write_bytes(used.read_bytes())
    part, lock = used.with_name(f"{used.name}.{'0' * 16}.part"), used.with_name(f"{old.name}.lock")
    for file in (part, lock):
        file.write_bytes(b"")
    for file in (old, part, lock, used, used.with_name("CACHEDIR.TAG")):
        made_long_ago(file)
    assert "compiling" not in run(NORMALIZE, tmp_path)[1], "what is used counts as new"
    made_long_ago(used.with_name("CACHEDIR.TAG"))
    files(tmp_path)[-1].unlink()
    assert "compiling" in run(NORMALIZE, tmp_path)[1]
    assert recent.exists() and used.exists() and not old.exists() and not part.exists() and not lock.exists()


def test_the_cache_is_cleared_when_asked(tmp_path):
    fill(tmp_path)
    assert files(tmp_path)
    run("from mobod.compiling import clear_cache; clear_cache()", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_reads_a_cache_that_was_filled_ahead():
    code = """
import os, warnings
from mobod.compiling import store
names = [f"kernel-{i:032x}.bin" for i in range(3)]
claim = store.Claim(names[0])
store.write(names[0], b"code")
claim.release()
os.setuid(65534)
assert store.read(names[0]) == b"code" and store.read(names[1]) is None
for name in names[1:]:
    store.Claim(name).release()
    store.write(name, b"more")
assert store.read(names[1]) is None
"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        _, err = run(code, Path(folder) / "cache")
        assert err.count("Warning") == 1 and "MOBOD_CACHE_DIR" in err, "one warning, not one a kernel"
        assert len(files(Path(folder))) == 1 and not list(Path(folder).rglob("*.lock"))


# ---------------------------------------------------------------------------------------------- in this process


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
    code = multiply_by_m.code_for(state.block, a, by_code)
    assert multiply_by_m.code is code
    code(state.block, a, by_code)
    multiply_by_m.dispatcher(state.block, a, by_dispatcher)
    assert np.array_equal(by_code, by_dispatcher) and np.any(by_code)


def test_code_that_another_process_reads_as_it_is_written_again_is_no_trouble(tmp_path, monkeypatch, recwarn):
    """Windows puts no file in the place of an open one; its name says what is in it, so that either will do."""
    from mobod.compiling import store

    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "cache")
    name = "kernel-" + 32 * "0" + ".bin"
    store.write(name, b"code")

    def refuse(*_):
        raise PermissionError(13, "it is open")

    monkeypatch.setattr(store.os, "replace", refuse)
    store.write(name, b"code")
    assert store.read(name) == b"code" and not recwarn.list
    assert [file.name for file in (tmp_path / "cache").glob("kernel*")] == [name]
    monkeypatch.setattr(store.notice, "_warned", [])
    with pytest.warns(UserWarning, match="compiled code cannot be kept"):
        store.write(name.replace("0", "1"), b"code")


def test_code_is_loaded_when_a_function_has_moved_to_another_module(monkeypatch):
    """A later version may have renamed the module of a function that a kernel reaches, and compiles to the same."""
    import io
    import pickle

    from numba.core.environment import Environment
    from numba.core.serialize import dumps

    from mobod.compiling import disk_cache

    def environment(name):
        found = Environment({"__name__": "mobod.of_an_earlier_version"})
        found.consts[:], found.env_name = [name, 7], name
        return found

    parts = "code", (environment("its own"), environment("another's"))
    now, before = dumps(disk_cache._without_modules(parts)), dumps(parts)
    monkeypatch.setattr(Environment, "_memo", {})
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(before)
    for data in (now, before):
        monkeypatch.setattr(Environment, "_memo", {})
        code, found = disk_cache._Unpickler(io.BytesIO(data)).load()
        assert code == "code" and [one.consts for one in found] == [["its own", 7], ["another's", 7]]
        assert [one.env_name for one in found] == ["its own", "another's"]


def test_a_part_of_types_that_another_version_has_is_compiled_anew(monkeypatch):
    """What names a class that is not there any more cannot be unpickled, and is as if it were not on the disk."""
    from mobod.compiling import parts as kept

    for pickled in (b"cmobod\nNoSuchType\n.", b"cmobod.nowhere\nType\n.", b"no pickle"):
        monkeypatch.setattr(kept, "_read", lambda _key, found=pickled: found)
        assert kept.load("a part", None) is None
