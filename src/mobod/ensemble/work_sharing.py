"""Work shared among threads: the caller's own, and helpers that stay for the next call.

Waking a thread takes some ten microseconds, making one more: so helpers are kept, and woken only for enough work. The caller
begins at once, and each free thread takes the next chunk: a helper that wakes late, or never, costs nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from queue import SimpleQueue
from typing import Any

#: ``work(worker, begin, end)`` does items *begin* to *end* as worker number *worker*: 0 is the caller.
Work = Callable[[int, int, int], object]

#: Less than this is not worth a helper; s. Measured: two threads break even at 50 us on a machine that is free.
WORTH = 100e-6
#: After so many calls the slower way is measured again: the load by other processes changes.
AGAIN = 64
#: Chunks a thread, so that the last to finish is not waited for long.
CHUNKS = 4


class Helpers:
    """Threads that help with a caller's work: made when they are first called, and gone with this object.

    A process that is forked makes its own. Which thread does what is left to chance: *work* must not depend on it.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._process, self._count = -1, 0
        #: Of each kind of work: what an item takes alone and with help, s, and how often it was done.
        self._paces: dict[Hashable, _Paces] = {}

    def __reduce__(self) -> tuple[Any, ...]:  # threads can be neither copied nor pickled
        return Helpers, ()

    def share(self, kind: Hashable, work: Work, items: int, threads: int) -> None:
        """Do all of *work*; timings of earlier work of the same *kind* decide whether helpers are woken."""
        threads = min(threads, items)
        if threads == 1:
            work(0, 0, items)
            return
        paces = self._paces.setdefault(kind, _Paces())
        with_help = self._pays(paces, items)
        begin = time.perf_counter()
        if with_help:
            job = _Job(work, items, min(items, CHUNKS * threads))
            self._call(job, threads - 1)
            job.lead()
        else:
            work(0, 0, items)
        paces.learn(with_help, (time.perf_counter() - begin) / items)

    def join(self, work: Callable[[int], object], threads: int) -> None:
        """Call ``work(worker)`` on each thread, the caller's first; those that wake late may find nothing left to do."""
        if threads == 1:
            work(0)
            return
        job = _Job(lambda worker, begin, end: work(worker), threads, threads)
        self._call(job, threads - 1)
        job.lead()

    def _pays(self, paces: _Paces, items: int) -> bool:
        """Whether waking helpers pays, by the timings so far."""
        if paces.alone * items < WORTH:  # or nothing is known yet
            return False
        better = paces.helped < paces.alone
        again = paces.count % AGAIN == 0 or paces.count & (paces.count - 1) == 0  # the first calls compile, and make threads
        return better != again

    def _call(self, job: _Job, helpers: int) -> None:
        if self._process != os.getpid():  # threads do not survive a fork
            self._jobs, self._process, self._count = SimpleQueue(), os.getpid(), 0
        while self._count < helpers:
            threading.Thread(target=_help, args=(self._jobs,), name="mobod-helper", daemon=True).start()
            self._count += 1
            weakref.finalize(self, self._jobs.put, None)
        for _ in range(helpers):
            self._jobs.put(job)


class _Paces:
    """Recent times per item of one kind of work."""

    def __init__(self) -> None:
        self.alone = self.helped = 0.0
        self.count = 0

    def learn(self, with_help: bool, pace: float) -> None:
        """Take a better value at once, and a worse one little by little: a thread may have been kept waiting by others."""
        before = self.helped if with_help else self.alone
        pace = pace if pace < before or before == 0.0 else before + 0.2 * (pace - before)
        if with_help:
            self.helped = pace
        else:
            self.alone = pace
        self.count += 1


def _help(jobs: SimpleQueue[_Job | None]) -> None:
    """The loop of a helper thread, until it is told to end."""
    while (job := jobs.get()) is not None:
        job.join()
        del job  # and with it what it refers to, while waiting for the next


class _Job:
    """Work in chunks, each taken by the next free thread."""

    def __init__(self, work: Work, items: int, chunks: int) -> None:
        self._work, self._items, self.chunks = work, items, chunks
        self._next, self._workers = itertools.count(), itertools.count(1)  # taking from these is atomic
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def _bound(self, chunk: int) -> int:
        return self._items * chunk // self.chunks

    def join(self) -> None:
        """Help, and say of each chunk that it is done."""
        worker = 0
        while (chunk := next(self._next)) < self.chunks:
            worker = worker or next(self._workers)
            error: BaseException | None = None
            try:
                self._work(worker, self._bound(chunk), self._bound(chunk + 1))
            except BaseException as raised:
                error = raised
            self._done.put(error)

    def lead(self) -> None:
        """Work along until all is done."""
        mine = dropped = 0
        error: BaseException | None = None
        try:
            while (chunk := next(self._next)) < self.chunks:
                mine += 1
                self._work(0, self._bound(chunk), self._bound(chunk + 1))
        except BaseException as raised:
            error = raised
            while next(self._next) < self.chunks:
                dropped += 1
        others = self.chunks - mine - dropped
        while others:  # until no helper writes any more, even after Ctrl-C
            try:
                error = self._done.get() or error
                others -= 1
            except BaseException as raised:
                error = raised
        if error is not None:
            raise error
