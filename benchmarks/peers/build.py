"""Compile a peer's own C or C++ loop when first wanted, and keep it until its source changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / ".build"
# False: what takes minutes to compile is left out, unless it was compiled before
compile_slow = True


class Unavailable(Exception):
    """A peer, or its compiled loop, cannot be had here; the message says what is missing."""


def build_folder() -> Path:
    """Make the folder of compiled loops and scratch files; it ignores itself in git."""
    BUILD.mkdir(exist_ok=True)
    (BUILD / ".gitignore").write_text("*\n")
    return BUILD


def compile_program(source: Path, flags: list[str], libraries: list[str] | None = None, slow: bool = False) -> Path:
    """Compile one source file to a program of its own, or reuse the one compiled before.

    Raises
    ------
    Unavailable
        If there is no compiler, or the source does not compile with the headers that are there.
    """
    name = "g++" if source.suffix == ".cpp" else "gcc"
    compiler = os.environ.get("CXX" if source.suffix == ".cpp" else "CC") or shutil.which(name)
    if not compiler:
        raise Unavailable(f"no {name}")
    command = [compiler, *flags, str(source), *(libraries or [])]
    header = source.parent / "loop.h"
    key = hashlib.sha256("\0".join(command).encode() + source.read_bytes() + header.read_bytes())
    program = build_folder() / f"{source.stem}-{key.hexdigest()[:16]}"
    if not program.exists():
        if slow and not compile_slow:
            raise Unavailable(f"{source.name} takes minutes to compile: run once without --quick")
        duration = "a few minutes" if slow else "a few seconds"
        print(f"compiling {source.name}, {duration} ...", file=sys.stderr, flush=True)
        scratch = program.with_suffix(f".{os.getpid()}")
        done = subprocess.run([*command, "-o", str(scratch)], capture_output=True, text=True)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), "")
            raise Unavailable(f"{source.name} does not compile: {first.strip()[-200:]}")
        scratch.replace(program)
    return program


def run_program(program: Path, *arguments: object, folder: Path | None = None) -> str:
    """Run a compiled loop and return what it prints."""
    env = dict(os.environ)
    if folder:  # where its shared libraries are
        env["LD_LIBRARY_PATH"] = os.pathsep.join(part for part in (str(folder), env.get("LD_LIBRARY_PATH")) if part)
    # in that folder, since MuJoCo leaves a log of its warnings where it runs
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, env=env, cwd=build_folder())
    if done.returncode:
        raise RuntimeError(f"{program.name} failed: {done.stderr.strip()[-400:]}")
    return done.stdout
