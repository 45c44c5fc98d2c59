"""Work shared among threads: the caller's own, and helpers that stay for the next call.

Waking a thread takes 20 to 60 us, making one more, and what a helper does in Python 5 us. So helpers are kept; one that has
just worked waits for the next call awake for a while, and goes on without a word where that is of the same task; and none is
called for little work. The caller begins at once, and each free thread takes the next chunk: a helper that comes late, or
never, costs nothing.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Hashable
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiling import raise_kept
from .chunks import (
    CALLED,
    CALLS,
    DONE,
    ITEMS,
    STOPPED,
    TAKEN,
    TOLD,
    TRIES,
    end_of,
    finish,
    new_calls,
    new_chunks,
    open_again,
    take,
    take_away,
    wait,
)

Counters = npt.NDArray[np.int64]
#: ``work(worker, chunks, calls)`` does chunks as worker number *worker*, as long as there are any: 0 is the caller. Kernels
#: take them by the functions of `chunks`; `by_chunks` is for those that do not.
Work = Callable[[int, Counters, Counters], object]

#: Less than this is not worth a helper; s. Measured: two threads that are awake break even at 5 us, others at 50 us.
WORTH = 6e-6
#: After so many calls that were timed the slower way is measured again, for so many: the load changes, and helpers have to be
#: awake. More often at first: the first calls compile, and make threads.
AGAIN, SOON, TRIALS = 256, 16, 4
#: Timing takes 0.6 us. Calls shorter than this, s, are then timed one in so many, once it is known what pays.
SHORT, ONE_IN = 1e-4, 8
#: Chunks a thread, so that the last to finish is not waited for long.
CHUNKS = 16
#: So long a thread waits awake, s.
AWAKE = 100e-6
#: Help has to be better by this, so that it is no matter of chance which way is taken where both are alike.
BETTER = 0.97


class Paces:
    """Recent times per item of one kind of work, alone and with help, s.

    Attributes
    ----------
    count, untimed : int
        How often it was timed, and how often it is to be done without.
    with_help : bool
        How it is done then: as at the last time.
    trying : bool or None
        Which way is being measured again, the slower one; None between such trials.
    """

    def __init__(self) -> None:
        self.alone = self.helped = 0.0
        self.count = self.untimed = 0
        self.with_help = False
        self.trying: bool | None = None

    def learn(self, with_help: bool, pace: float) -> None:
        """Follow the values little by little: a thread may have been kept waiting by others, and now and then one is lucky.

        At first a better one is taken at once: those before were of compiling, and of making threads. The first with help
        after one without says nothing of those that follow it, since helpers had to be woken.
        """
        self.count += 1
        if with_help and not self.with_help:
            self.with_help = True
            return
        self.with_help = with_help
        before = self.helped if with_help else self.alone
        if before != 0.0 and (pace > before or self.count >= 4 * SOON):
            pace = before + 0.2 * min(pace - before, before)
        if with_help:
            self.helped = pace
        else:
            self.alone = pace

    def choose(self) -> bool:
        """Choose if helpers are called: where they pay, and now and then the other way, to see if that has become better."""
        better = self.helped < BETTER * self.alone
        if not self.is_trial:
            self.trying = None
            return better
        if self.trying is None:
            self.trying = not better
        return self.trying

    @property
    def is_trial(self) -> bool:
        """True if the slower way is to be measured again."""
        return self.count % (SOON if self.count < 4 * SOON else AGAIN) < TRIALS


class Task:
    """Work that is shared, once or again and again: with the same arrays, whatever has been written into these meanwhile.

    Parameters
    ----------
    work : callable
        See `Work`. Which thread does what is left to chance: it must not depend on it.
    items : int
        How many there are.
    multiple : int
        Chunks are of a multiple of so many.
    paces : Paces, optional
        Of the same kind of work, by which it is known whether helpers pay.
    """

    def __init__(self, work: Work, items: int, multiple: int = 1, paces: Paces | None = None) -> None:
        self.work, self.items, self.multiple = work, items, multiple
        #: As many threads can have some of it.
        self.threads = -(-items // multiple)
        self.paces = Paces() if paces is None else paces
        self.alone = new_chunks(items, items)
        #: As it was shared last.
        self.job: _Job | None = None


class Helpers:
    """Threads that help with a caller's work: made when they are first called, and gone with this object.

    A process that is forked makes its own.
    """

    def __init__(self) -> None:
        self._forget()
        self._paces: dict[Hashable, Paces] = {}

    def __reduce__(self) -> tuple[Any, ...]:  # threads can be neither copied nor pickled
        return Helpers, ()

    def paces_of(self, kind: Hashable) -> Paces:
        """Measured paces of a kind of work: of a few kinds, which are kept."""
        return self._paces.setdefault(kind, Paces())

    def share(self, task: Task, threads: int) -> None:
        """Do all of a task; timings decide whether helpers are called."""
        paces, items = task.paces, task.items
        if paces.untimed:
            paces.untimed -= 1
            if paces.with_help:
                self.share_all(task, threads)
            else:
                self._do_alone(task)
            return
        if threads == 1 or task.threads == 1:
            self._do_alone(task)
            return
        with_help = self._pays(paces, items)
        begin = time.perf_counter()
        if with_help:
            self.share_all(task, threads)
        else:
            self._do_alone(task)
        spent = time.perf_counter() - begin
        paces.learn(with_help, spent / items)
        if spent < WORTH and not with_help:
            paces.untimed = SOON
        elif spent < SHORT and not paces.is_trial:
            paces.untimed = ONE_IN - 1

    def _do_alone(self, task: Task) -> None:
        task.alone[DONE] = task.alone[TAKEN] = 0
        self._calls[CALLED] = 0
        task.work(0, task.alone, self._calls)
        raise_kept()

    def share_all(self, task: Task, threads: int) -> None:
        """Do all of a task, on so many threads."""
        if threads > task.threads:
            threads = task.threads
        if threads == 1:
            self._do_alone(task)
            return
        if self._forks != _forks:  # which threads do not survive
            self._forget()
        job = task.job
        if job is None or job.helpers is not self._jobs or job.threads != threads:
            size = -(-task.items // (CHUNKS * threads * task.multiple)) * task.multiple
            chunks = new_chunks(task.items, size, threads, next(_numbers))
            job = task.job = _Job(task.work, chunks, self._jobs, threads)
        try:
            job.lead(self._calls, self._call)
        except BaseException:
            task.job = None  # the next call begins with counters of its own
            raise

    def _pays(self, paces: Paces, items: int) -> bool:
        """True if calling helpers pays, by the timings so far."""
        if paces.alone * items < WORTH:  # or nothing is known yet
            return False
        return paces.choose()

    def _forget(self) -> None:
        #: Of each helper its own, so that worker number k is one thread: late for one job, it is not yet in the next.
        self._jobs: list[SimpleQueue[_Job | None]] = []
        self._calls = new_calls()
        self._forks = _forks

    def _call(self, job: _Job) -> None:
        helpers = job.threads - 1
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


#: Of tasks; 0 is none.
_numbers = itertools.count(1)
#: How often this process and those that it comes from were forked: to ask for the process's number takes 0.15 us.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def by_chunks(work: Callable[[int, int, int], object]) -> Work:
    """``work(worker, begin, end)`` for one chunk after the other."""
    lock = threading.Lock()

    def do(worker: int, chunks: Counters, calls: Counters) -> None:
        while True:
            with lock:
                begin = take(chunks, worker)
            if begin >= chunks[ITEMS]:
                return
            end = int(end_of(chunks, begin))
            work(worker, begin, end)
            with lock:
                finish(chunks, end - begin)

    return do


def _help(worker: int, jobs: SimpleQueue[_Job | None], calls: Counters) -> None:
    """The loop of a helper thread, until it is told to end."""
    while (job := jobs.get()) is not None:
        job.join(worker, calls)
        del job  # and with it what it refers to, while waiting for the next


class _Job:
    """A task as threads see it: done by the caller and those helpers who come in time.

    Parameters
    ----------
    work : callable
    chunks : array
    helpers : list
        With whom it is shared.
    threads : int
        Among how many, the caller included.
    """

    def __init__(self, work: Work, chunks: Counters, helpers: object, threads: int) -> None:
        self._work, self.chunks, self._items = work, chunks, int(chunks[ITEMS])
        self.helpers, self.threads = helpers, threads
        self._gate = threading.Condition(threading.Lock())
        self._is_open, self._inside, self._opened = False, 0, 0
        self._error: BaseException | None = None

    def join(self, worker: int, calls: Counters) -> None:
        """Help, unless it is too late."""
        with self._gate:
            if not self._is_open:
                return
            self._inside += 1
        error: BaseException | None = None
        try:
            opened = -1
            while self._is_open and opened != self._opened:  # it may have been opened while this helper was on its way out
                opened = self._opened
                self._work(worker, self.chunks, calls)
                raise_kept()
        except BaseException as raised:
            error = raised
            self.chunks[STOPPED] = 1
        with self._gate:
            self._error = error or self._error
            self._inside -= 1
            self._gate.notify_all()

    def lead(self, calls: Counters, call: Callable[[_Job], None]) -> None:
        """Offer all chunks anew, *call* helpers who are not awake, and work along until all is done."""
        error: BaseException | None = None
        chunks = self.chunks
        try:
            self._opened += 1
            self._is_open = True
            begin = open_again.code or open_again.code_for(chunks, calls, self.threads)
            if not begin(chunks, calls, self.threads):
                call(self)
            self._work(0, chunks, calls)
            raise_kept()
            if chunks[DONE] >= self._items or wait(chunks, int(calls[TRIES])):  # work in Python has not waited
                self._is_open = False
                return
        except BaseException as raised:
            error = raised
            chunks[STOPPED] = 1
            take_away(chunks)
        calls[CALLED] = calls[TOLD] = 0
        calls[CALLS] += 1  # who has done his part leaves at once
        self._is_open = False
        while True:  # until no helper writes any more, even after Ctrl-C
            try:
                with self._gate:
                    while self._inside:
                        self._gate.wait()
                break
            except BaseException as raised:
                error = raised
                chunks[STOPPED] = 1
        error, self._error = self._error or error, None
        if error is not None:
            raise error


@functools.cache
def _tries_a_second() -> float:
    """The number of times a second that `wait` looks at its counter: a few are tried, as others may take the processor."""
    chunks, tries, least = new_chunks(1, 1), 2000, np.inf
    wait(chunks, 1)
    for _ in range(5):
        begin = time.perf_counter()
        wait(chunks, tries)
        least = min(least, time.perf_counter() - begin)
    return tries / least
