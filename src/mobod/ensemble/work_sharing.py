"""Work shared among threads: the caller's own, and helpers that stay for the next call.

Waking a thread takes 20 to 60 us, making one more. So helpers are kept; one that has just worked waits for the next call awake
for a while; and none is called for little work. The caller begins at once, and each free thread takes the next chunk: a helper
that comes late, or never, costs nothing.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from .chunks import CALLS, DONE, ITEMS, NEXT, SIZE, TRIES, new_calls, new_chunks, wait

Counters = npt.NDArray[np.int64]
#: One more place in the counters of chunks: not 0 once a thread has failed, or Ctrl-C has come. Long work looks there.
STOPPED = 34
#: ``work(worker, chunks, calls)`` does chunks as worker number *worker*, as long as there are any: 0 is the caller. Kernels
#: take them by the functions of `chunks`; `by_chunks` is for those that do not.
Work = Callable[[int, Counters, Counters], object]

#: Less than this is not worth a helper; s. Measured: two threads that are awake break even at 10 us, others at 50 us.
WORTH = 30e-6
#: After so many calls the slower way is measured again, for so many: the load changes, and helpers have to be awake.
AGAIN, TRIALS = 256, 4
#: Chunks a thread, so that the last to finish is not waited for long.
CHUNKS = 8
#: So long a thread waits awake, s.
AWAKE = 150e-6


class Helpers:
    """Threads that help with a caller's work: made when they are first called, and gone with this object.

    A process that is forked makes its own. Which thread does what is left to chance: *work* must not depend on it.
    """

    def __init__(self) -> None:
        self._process = -1
        self._forget()
        #: Of each kind of work: what an item takes alone and with help, s, and how often it was done.
        self._paces: dict[Hashable, _Paces] = {}

    def __reduce__(self) -> tuple[Any, ...]:  # threads can be neither copied nor pickled
        return Helpers, ()

    def share(self, kind: Hashable, work: Work, items: int, threads: int, multiple: int = 1) -> None:
        """Do all of *work*, in chunks of a *multiple*; timings of work of the same *kind* decide whether helpers are called."""
        threads = min(threads, -(-items // multiple))
        if threads == 1:
            work(0, new_chunks(items, items), self._calls)
            return
        paces = self._paces.setdefault(kind, _Paces())
        with_help = self._pays(paces, items)
        begin = time.perf_counter()
        if with_help:
            self.share_all(work, items, threads, multiple)
        else:
            work(0, new_chunks(items, items), self._calls)
        paces.learn(with_help, (time.perf_counter() - begin) / items)

    def share_all(self, work: Work, items: int, threads: int, multiple: int = 1) -> None:
        """Do all of *work*, on so many threads."""
        threads = min(threads, -(-items // multiple))
        size = -(-items // (CHUNKS * threads * multiple)) * multiple
        job = _Job(work, new_chunks(items, size if threads > 1 else items))
        self._call(job, threads - 1)
        job.lead(self._calls)

    def _pays(self, paces: _Paces, items: int) -> bool:
        """Whether calling helpers pays, by the timings so far."""
        if paces.alone * items < WORTH:  # or nothing is known yet
            return False
        better = paces.helped < paces.alone
        # the first calls compile, and make threads
        again = paces.count % AGAIN < TRIALS or paces.count & (paces.count - 1) == 0
        return better != again

    def _forget(self) -> None:
        #: Of each helper its own, so that worker number k is one thread: late for one job, it is not yet in the next.
        self._jobs: list[SimpleQueue[_Job | None]] = []
        self._calls = new_calls()

    def _call(self, job: _Job, helpers: int) -> None:
        if self._process != os.getpid():  # threads do not survive a fork
            self._forget()
            self._process = os.getpid()
        while len(self._jobs) < helpers:
            self._calls[TRIES] = AWAKE * _tries_a_second()
            jobs: SimpleQueue[_Job | None] = SimpleQueue()
            what = len(self._jobs) + 1, jobs, self._calls
            try:
                threading.Thread(target=_help, args=what, name="mobod-helper", daemon=True).start()
            except RuntimeError:  # as many as there can be, or the interpreter ends: those who are there do the work
                break
            self._jobs.append(jobs)
            weakref.finalize(self, jobs.put, None)
        for jobs in self._jobs[:helpers]:
            jobs.put(job)


def by_chunks(work: Callable[[int, int, int], object]) -> Work:
    """``work(worker, begin, end)`` for one chunk after the other."""
    lock = threading.Lock()

    def do(worker: int, chunks: Counters, calls: Counters) -> None:
        items, size = int(chunks[ITEMS]), int(chunks[SIZE])
        while True:
            with lock:
                begin = int(chunks[NEXT])
                chunks[NEXT] = begin + size
            if begin >= items:
                return
            end = min(begin + size, items)
            work(worker, begin, end)
            with lock:
                chunks[DONE] += end - begin

    return do


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


def _help(worker: int, jobs: SimpleQueue[_Job | None], calls: Counters) -> None:
    """The loop of a helper thread, until it is told to end."""
    while (job := jobs.get()) is not None:
        job.join(worker, calls)
        del job  # and with it what it refers to, while waiting for the next


class _Job:
    """Work that is shared: done by the caller and those helpers who come in time."""

    def __init__(self, work: Work, chunks: Counters) -> None:
        self._work, self._chunks = work, chunks
        self._gate, self._inside, self._closed = threading.Lock(), 0, False
        self._left: SimpleQueue[BaseException | None] = SimpleQueue()

    def join(self, worker: int, calls: Counters) -> None:
        """Help, unless it is too late, and say when that is over."""
        with self._gate:
            if self._closed:
                return
            self._inside += 1
        error: BaseException | None = None
        try:
            self._work(worker, self._chunks, calls)
        except BaseException as raised:
            error = raised
            self._chunks[STOPPED] = 1
        self._left.put(error)

    def lead(self, calls: Counters) -> None:
        """Work along until all is done."""
        error: BaseException | None = None
        chunks = self._chunks
        try:
            self._work(0, chunks, calls)
            items = int(chunks[ITEMS])
            if wait(chunks, DONE, items, int(calls[TRIES])):
                self._closed = True
                return
        except BaseException as raised:
            error = raised
            chunks[STOPPED], chunks[NEXT] = 1, chunks[ITEMS]  # nobody takes more
        calls[CALLS] += 1  # who has done his part leaves at once
        with self._gate:
            self._closed = True
            others = self._inside
        while others:  # until no helper writes any more, even after Ctrl-C
            try:
                error = self._left.get() or error
                others -= 1
            except BaseException as raised:
                error = raised
                chunks[STOPPED] = 1
        if error is not None:
            raise error


@functools.cache
def _tries_a_second() -> float:
    """How often `wait` looks at its counter: the most of a few times, for others may take the processor meanwhile."""
    counters, tries, least = np.zeros(1, np.int64), 2000, np.inf
    wait(counters, 0, 1, 1)
    for _ in range(5):
        begin = time.perf_counter()
        wait(counters, 0, 1, tries)
        least = min(least, time.perf_counter() - begin)
    return tries / least
