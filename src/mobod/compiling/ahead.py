"""Compiling ahead: kernels known to be needed are compiled by several processes at once, which share the disk cache.

The first process hands a list of fingerprints to workers, which find the same kernels by these and compile those that no
process has claimed yet. A process that needs a kernel compiled by another loads it from the cache. `MOBOD_WORKERS` is the
number of workers, 0 for none.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import gc
import importlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._garbage import not_collected
from . import bundle, engine, fingerprint, kernels, notice, routines, store

#: Processes beside the first one, at most: there are few large kernels.
MOST_WORKERS = 3
#: A worker that has been idle for so long ends, in seconds.
PATIENCE = 30.0


#: Kernels that have been found compiled, with the types of their arguments.
_there: set[tuple[Any, tuple[Any, ...]]] = set()


@dataclass(eq=False)
class Job:
    """A kernel with example arguments, or a routine with the arguments of `Routine.address`."""

    what: Any
    like: tuple[Any, ...] = ()
    #: Whether it has been found compiled.
    _is_there: bool = False

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.what.python.__module__.removeprefix('mobod.')}.{self.what.python.__qualname__}"

    def do(self) -> None:
        """Compile or load it."""
        if isinstance(self.what, kernels.Kernel):
            self.what.compile_for(self._types())
        else:
            self.what.address(*self.like)

    def is_there(self) -> bool:
        """True if nothing needs to be compiled, in this process or on the disk."""
        if self._is_there:
            return True
        if not isinstance(self.what, kernels.Kernel):
            return bool(self.what.is_compiled_for(*self.like))
        types = self._types()
        if (self.what, types) not in _there and self.what.is_compiled_for(types):
            _there.add((self.what, types))  # looking at the disk takes half a millisecond
        self._is_there = (self.what, types) in _there
        return self._is_there

    def _types(self) -> tuple[Any, ...]:
        return tuple(map(engine.numba().typeof, self.like))

    def message(self) -> list[str]:
        """Its description for a worker."""
        like = self._types() if isinstance(self.what, kernels.Kernel) else self.like
        return [fingerprint.fingerprint(self.what.python), base64.b64encode(pickle.dumps(like)).decode()]


def compile_ahead(jobs: Iterable[Job], most: int = MOST_WORKERS) -> None:
    """Compile missing *jobs* with several processes; afterwards each is compiled, or being compiled by another process.

    One missing job is compiled when it is needed. Without other processes of its own this one still leaves alone what another
    one compiles, such as a run beside it or another worker of the tests, and takes what is next.

    Parameters
    ----------
    jobs : iterable of Job
    most : int
        How many other processes there are to be, at most.
    """
    if "numba" not in sys.modules:  # each model comes here, and what the user has frozen takes long to count
        with not_collected():
            engine.numba()
    missing = [job for job in jobs if not isinstance(job.what, routines.UsersRoutine) and not job.is_there()]
    if len(missing) < 2:
        return
    missing.sort(key=lambda job: -fingerprint.size(job.what.python))  # the largest first, to balance the load
    count = min(_workers_wanted(), most)
    if count > 0:
        _ask_workers(missing, count)
    with notice.Progress(len(missing), str(store.cache_folder())) as progress, not_collected():
        for job in missing:
            progress.at(job.name)
            # errors of a kernel are raised where it is needed
            with contextlib.suppress(Exception), store.not_waiting():
                job.do()


def get_ready() -> None:
    """Before a first run: a worker imports Numba while this process imports the model."""
    if not _workers and not store.has_any() and not bundle.FOLDER.is_dir():
        _start_workers(min(_workers_wanted(), 1))


def routines_of_package() -> list[Job]:
    """Every routine of the kinds that have been imported, for single states."""
    return [Job(what) for what in kernels.marked if isinstance(what, routines.Routine)]


def _workers_wanted() -> int:
    wanted = os.environ.get("MOBOD_WORKERS")
    if wanted is not None:
        return int(wanted) if wanted.isdecimal() else 0
    # in an application that embeds Python, sys.executable is the application itself
    if not os.path.basename(sys.executable or "").lower().startswith("python"):
        return 0
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors - 1


_workers: list[subprocess.Popen[str]] = []


def _ask_workers(jobs: Sequence[Job], count: int) -> None:
    """Hand the list to workers, which are started if there are none."""
    modules = [name for name in list(sys.modules) if name.partition(".")[0] == __name__.partition(".")[0]]
    text = json.dumps({"modules": modules, "jobs": [job.message() for job in jobs]}) + "\n"
    _start_workers(min(count, len(jobs) - 1))
    for worker in _workers:
        assert worker.stdin is not None
        with contextlib.suppress(OSError):
            worker.stdin.write(text)
            worker.stdin.flush()


def _start_workers(count: int) -> None:
    """Start so many worker processes, where that is possible; without them it takes longer."""
    _workers[:] = [worker for worker in _workers if worker.poll() is None]
    with contextlib.suppress(OSError):
        while len(_workers) < count:
            _workers.append(_start())


def _start() -> subprocess.Popen[str]:
    package = __name__.partition(".")[0]
    path = [str(Path(__file__).resolve().parents[2]), *filter(None, sys.path)]
    settings = {"MOBOD_WORKERS": "0", "MOBOD_QUIET": "1", "PYTHONPATH": os.pathsep.join(path)}
    if not _workers:
        atexit.register(_end_workers)
    # in a session of its own: an interrupt is for the first process, whose end ends the others
    return subprocess.Popen(
        [sys.executable, "-c", f"from {package}.compiling.ahead import work; work()"],
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def _end_workers() -> None:
    for worker in _workers:
        with contextlib.suppress(OSError):
            assert worker.stdin is not None
            worker.stdin.close()
    for worker in _workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(2.0)


# ---------------------------------------------------------------------------------------------- the other process


def work() -> None:
    """The loop of a worker: compile the jobs on its lists until they are done, or the first process ends."""
    gc.disable()  # what compiling makes lives on, and this process does not live long
    lists: list[Any] = []
    come, idle = threading.Semaphore(0), PATIENCE

    def listen() -> None:
        for line in sys.stdin:
            lists.append(json.loads(line))
            come.release()
        store.release_claims()
        os._exit(0)  # in the middle of whatever it is

    threading.Thread(target=listen, daemon=True).start()
    # while the first process imports the model; `engine.numba` would say now which modules add to it
    importlib.import_module("numba.extending")
    while come.acquire(timeout=idle):
        given = lists.pop(0)
        for name in given["modules"]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        engine.numba()
        known = {fingerprint.fingerprint(what.python): what for what in kernels.marked}
        for print_, like in given["jobs"]:
            if print_ in known:
                with contextlib.suppress(Exception), store.not_waiting():
                    what, arguments = known[print_], pickle.loads(base64.b64decode(like))
                    what.compile_for(arguments) if isinstance(what, kernels.Kernel) else what.address(*arguments)
