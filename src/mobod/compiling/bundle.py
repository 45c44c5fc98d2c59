"""Compiled code that comes with a wheel: files of the cache, packed, made for a level of processors and not for one of them.

A wheel for a platform has a zip file for each level in the package's folder `bundles`, made by `tools/compile_kernels.py` in a
process in which Numba makes code for that level. What is in it has the names and the checksums of the files in `store`, so that
code made of anything else, by another Numba or for another Python, is not found there, and is compiled as ever.
"""

from __future__ import annotations

import functools
import json
import mmap
import os
import zipfile
from collections.abc import Iterable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from . import notice, store

FOLDER = Path(__file__).resolve().parent.parent / "bundles"
_V3 = ("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
#: Levels of processors by LLVM's names, the best first, each with the features that code made for it may use. `generic` is what
#: every 64-bit Arm processor has.
LEVELS: Mapping[str, tuple[str, ...]] = {"x86-64-v4": _V4, "x86-64-v3": _V3, "generic": ("neon",)}


class Bundle(NamedTuple):
    """One file of `FOLDER`.

    Attributes
    ----------
    level : str
        The processors that it is for: a key of `LEVELS`.
    archive : ZipFile
    names : frozenset of str
        Of the files of compiled code that are in it.
    made_by : dict of str
        The versions that the code was made by, as `versions` gives them.
    """

    level: str
    archive: zipfile.ZipFile
    names: frozenset[str]
    made_by: dict[str, str]


class _Mapped(mmap.mmap):
    """A file in memory, whose position a child process does not share with its parent."""

    def seekable(self) -> bool:
        """True: `zipfile` asks, and the class of Python 3.11 has no such method."""
        return True


def versions() -> dict[str, str]:
    """Versions of what makes compiled code, which have to be the same where it is loaded."""
    import llvmlite
    import numba

    return {"Numba": numba.__version__, "llvmlite": llvmlite.__version__, "Python": EXTENSION_SUFFIXES[0].strip(".")}


def supported_levels() -> list[str]:
    """The levels whose code this processor can run, the best first."""
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return [level for level, needed in LEVELS.items() if all(features.get(feature) for feature in needed)]


@functools.cache
def bundles() -> tuple[Bundle, ...]:
    """Those of this installation that this processor can run; none where Numba is told which processor to compile for.

    ``MOBOD_BUNDLES=0`` leaves them alone.
    """
    if _left_alone() or not FOLDER.is_dir():
        return ()
    found = []
    for level in supported_levels():
        file = FOLDER / f"{level}.zip"
        try:
            with open(file, "rb") as stream:
                mapped = _Mapped(stream.fileno(), 0, access=mmap.ACCESS_READ)
            archive = zipfile.ZipFile(cast("IO[bytes]", mapped))
            found.append(Bundle(level, archive, frozenset(archive.namelist()), json.loads(archive.comment)))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            notice.warn_of_file(f"{file}, compiled code that came with mobod, cannot be read ({error}): install mobod anew")
    return tuple(found)


def read(name: str, bundle: Bundle) -> bytes | None:
    """The code of a name that is in a bundle; None if it is damaged."""
    try:
        data = store.checked(bundle.archive.read(name))
    except (OSError, zipfile.BadZipFile, ValueError):
        data = None
    if data is None:
        notice.warn_of_file(f"{name}, compiled code that came with mobod, is damaged; it is compiled anew")
    return data


def pack(names: Iterable[str], file: Path) -> None:
    """Write a bundle of files of the cache.

    Parameters
    ----------
    names : iterable of str
        Of files of the cache.
    file : Path
        Is overwritten.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(names):  # with a date of its own, so that equal code makes equal files
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (store.cache_folder() / name).read_bytes())
        archive.comment = json.dumps(versions()).encode()


def describe() -> str:
    """The compiled code of this installation that is used, in words."""
    if not FOLDER.is_dir():
        return "none with this installation: compiled when first needed"
    used = bundles()
    if not used:
        there = ", ".join(file.stem for file in sorted(FOLDER.glob("*.zip")))
        why = "left alone by MOBOD_BUNDLES, NUMBA_CPU_NAME or NUMBA_CPU_FEATURES" if _left_alone() else "not for this processor"
        return f"for {there}, {why}: compiled when first needed"
    best, here = used[0], versions()
    differ = [f"{what} {made}, here {here[what]}" for what, made in best.made_by.items() if here.get(what) != made]
    if differ:
        return f"made by {'; '.join(differ)}: not used, compiled when first needed"
    return f"{len(best.names)} for {best.level}"


def _left_alone() -> bool:
    """True if the user has said so, or which processor code is to be made for."""
    from numba.core import config

    told = (getattr(config, name) for name in ("CPU_NAME", "CPU_FEATURES"))
    return os.environ.get("MOBOD_BUNDLES") == "0" or any(one is not None for one in told)


def processor_of(level: str, codegen: Any) -> tuple[str, str, str]:
    """Numba's name for the processor in a process that makes code for a level: see `Codegen.magic_tuple`."""
    triple, _, _ = codegen.magic_tuple()
    return triple, level, ""
