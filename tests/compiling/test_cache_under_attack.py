"""The cache of compiled code: flipped bits, links, folders that others can write, other processors, two machines at once."""

import errno
import os
import threading

import numpy as np
import pytest

from mobod.compiling import store
from mobod.compiling.disk_cache import DiskCache

SEED = int(os.environ.get("MOBOD_TEST_SEED", "20261128"))
NAME = f"tree.kernel-{32 * '0'}.bin"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache of one's own, in this process."""
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / store.NAME)
    store._warn_of_strangers.cache_clear()
    return tmp_path / store.NAME


def test_no_flipped_bit_goes_unnoticed(folder):
    rng = np.random.default_rng(SEED)
    code = rng.bytes(3000)
    store.write(NAME, code)
    whole = (folder / NAME).read_bytes()
    assert store.read(NAME) == code
    bits = [*range(8 * (len(store.HEADER) + 40)), *rng.integers(0, 8 * len(whole), 1000).tolist()]
    for bit in bits:
        hurt = bytearray(whole)
        hurt[bit // 8] ^= 1 << bit % 8
        assert store.checked(bytes(hurt)) is None, f"seed {SEED}: bit {bit}"
    for length in rng.integers(0, len(whole), 100):
        assert store.checked(whole[:length]) is None and store.checked(whole + rng.bytes(int(length) + 1)) is None
    (folder / NAME).write_bytes(hurt)
    with pytest.warns(UserWarning, match="compiled code, is damaged; it is compiled anew"):
        assert store.read(NAME) is None


def test_a_full_disk_is_told_and_fills_up_with_nothing(folder, monkeypatch):
    """Each kernel, and each claim to compile one, made a folder of which the mark could not be written."""

    def fail(file, data):
        file.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.notice, "_warned", [])
    monkeypatch.setattr(store.Path, "write_bytes", fail)
    store.Claim(NAME).release()
    with pytest.warns(UserWarning, match=r"cannot be kept in .*No space left"):
        store.write(NAME, b"code")
    assert not list(folder.parent.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="no rights of others here")
def test_a_folder_that_everybody_can_write_is_told_once(folder, recwarn):
    store.write(NAME, b"code")
    assert store.read(NAME) == b"code" and not recwarn
    folder.chmod(0o777)
    store._warn_of_strangers.cache_clear()
    with pytest.warns(UserWarning, match=r"every user of this machine can put code into .*, and that code is run"):
        assert store.read(NAME) == b"code"
    recwarn.clear()
    assert store.read(NAME) == b"code" and not recwarn


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users here")
def test_a_folder_of_another_user_is_told(folder, monkeypatch):
    store.write(NAME, b"code")
    if (owner := folder.stat().st_uid) == 0:
        os.chown(folder, owner := 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(UserWarning, match=rf"the user of number {owner} of this machine can put code into"):
        store.read(NAME)


@pytest.mark.skipif(os.name != "posix", reason="links need rights here")
def test_links_lead_nowhere(folder, tmp_path):
    """A link in place of a file is replaced, and not written through; one in place of the folder is somebody else's."""
    (precious := tmp_path / "precious").write_bytes(b"of the user")
    store.write(NAME, b"code")
    (folder / NAME).unlink()
    (folder / NAME).symlink_to(precious)
    with pytest.warns(UserWarning, match="is damaged"):
        assert store.read(NAME) is None
    store.write(NAME, b"code again")
    assert precious.read_bytes() == b"of the user" and store.read(NAME) == b"code again" and not (folder / NAME).is_symlink()
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    store.clear_cache()
    assert (elsewhere / NAME).exists()


def test_another_processor_has_other_files():
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    triple, *rest = codegen.magic_tuple()

    class Another:
        def __init__(self, *magic):
            self.magic_tuple = lambda: magic

    def kernel(x):
        return x

    kernel.__module__ = "mobod.tree.kernel"
    cache = DiskCache(kernel)
    names = {cache._name((), one) for one in (codegen, Another("riscv64", *rest), Another(triple, "another", "+none"))}
    assert len(names) == 3 and None not in names


def test_two_machines_without_locks_share_a_folder(folder, monkeypatch):
    """A network file system that knows no locks: each compiles for itself, and whoever reads finds the whole of one's code."""

    def no_locks(descriptor):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(store, "_lock", no_locks)
    codes = [bytes([k]) * 200_000 for k in range(4)]
    store.write(NAME, codes[0])
    failed = []

    def work(k):
        for _ in range(30):
            store.Claim(NAME).release()
            store.write(NAME, codes[k])
            if (found := store.read(NAME)) not in codes:
                failed.append(found)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed and [file.name for file in folder.iterdir() if file.name.endswith(".part")] == []
