"""Simbody: a C++ program of its own, compiled against libsimbody-dev if that is there."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from ..models import Model
from .build import Unavailable, compile_program, run_program
from .engine import Array, Engine, write_model

SOURCE = Path(__file__).with_name("simbody.cpp")


@functools.cache
def _flags() -> tuple[list[str], list[str]]:
    """Compiler and linker flags, from pkg-config where it knows Simbody, else Debian's layout."""
    compile_flags, link_flags = ["-I/usr/include/simbody"], []
    if shutil.which("pkg-config"):
        asked = subprocess.run(["pkg-config", "--cflags", "--libs", "simbody"], capture_output=True, text=True)
        if asked.returncode == 0:
            words = asked.stdout.split()
            compile_flags += [word for word in words if word.startswith("-I")]
            link_flags += [word for word in words if word.startswith("-L")]
    return compile_flags, [*link_flags, "-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon"]


@functools.cache
def _program() -> Path:
    """Compile the program."""
    compile_flags, link_flags = _flags()
    # no -DNDEBUG: Simbody's classes differ by it, and a library built without it then crashes
    return compile_program(SOURCE, ["-O3", "-march=native", "-w", *compile_flags], link_flags)


class Simbody(Engine):
    """Simbody's C++, which has no Python of its own."""

    name = "Simbody"

    @classmethod
    def missing(cls) -> str | None:
        """Say what is missing: the compiler, or Simbody's headers."""
        try:
            _program()
        except Unavailable as reason:
            return str(reason)
        return None

    @classmethod
    def version(cls) -> str:
        """Version of the library that the program is linked to."""
        linked = subprocess.run(["ldd", str(_program())], capture_output=True, text=True).stdout
        found = re.search(r"libSimTKsimbody\.so\.([\d.]+)", linked)
        return found.group(1) if found else "unknown"

    def __init__(self, model: Model):
        super().__init__(model)
        if reason := self.missing():
            raise Unavailable(reason)

    def _run(self, q: Array, u: Array, command: str, *arguments: object) -> dict:
        path = write_model(self.model, self.scratch_file(".txt"), q, u)
        return json.loads(run_program(_program(), command, path, *arguments))

    def u_dots(self, q: Array, u: Array) -> dict[str, Array]:
        """Simbody's coordinates are the neutral ones."""
        return {"C++": np.array(self._run(q, u, "udot", 1, 1e-6)["udot"])}

    def compiled_loop(self, repeats: int, seconds: float) -> list[float]:
        """Set q and u in the State, realize to Acceleration."""
        return self._run(*self.model.random_state(0), "udot", repeats, seconds)["microseconds"]

    def simulate(self, q: Array, u: Array, time: float, accuracy: float, samples: int = 1, repeats: int = 1) -> dict:
        """Run Runge-Kutta-Merson: wall ``seconds``, counts of steps, and ``q`` sampled evenly."""
        result = self._run(q, u, "simulate", repeats, time, accuracy, samples)
        result["q"] = np.reshape(result["q"], (samples, self.model.nq))
        return result
