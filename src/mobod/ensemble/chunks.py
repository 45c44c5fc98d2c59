"""Chunks of work that threads take while they are at it: counters in an array, which kernels change.

A thread that had to ask Python for its next chunk would wait for the others, of which one at a time can be in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import counter
from ..compiling import compiled, generic

# places: items that were taken, items that are done; how many there are, how many a chunk, not 0 once a thread has failed or
# Ctrl-C has come, which long work looks at, and the task's number; how many helpers are in its kernel, at work or awake. What
# several threads write is in cache lines of its own
NEXT, DONE, ITEMS, SIZE, STOPPED, TASK, INSIDE = 0, 16, 32, 33, 34, 35, 48
_PLACES = 64
# of another array: how often helpers were called, for how many tries those stay awake who have worked, and for which task the
# last call was, 0 for none of theirs
CALLS, TRIES, CALLED = 0, 16, 17


def new_calls() -> npt.NDArray[np.int64]:
    """The counter of calls."""
    return np.zeros(32, np.int64)


def new_chunks(items: int, size: int, task: int = 0) -> npt.NDArray[np.int64]:
    """The counters of so many items, in chunks of this size."""
    counters = np.zeros(_PLACES, np.int64)
    counters[ITEMS], counters[SIZE], counters[TASK] = items, max(1, size), task
    return counters


@generic
def take(chunks: Any) -> int:
    """The first item of a chunk that nobody else has; there is none if it is not below ITEMS."""
    return counter.add(chunks, NEXT, chunks[SIZE])


@generic
def end_of(chunks: Any, begin: int) -> int:
    """One past the last item of the chunk that begins there."""
    return min(begin + chunks[SIZE], chunks[ITEMS])


@generic
def finish(chunks: Any, items: int) -> None:
    """So many items more are done: their results are seen by whom sees the number."""
    counter.add(chunks, DONE, items)


@generic
def begin_work(worker: int, calls: Any) -> int:
    """The caller's kernel begins: helpers that are awake hear of it now, when they find Python free. What it was called."""
    if worker == 0:
        counter.add(calls, CALLS, 1)
    return counter.value(calls, CALLS)


@generic
def stay_awake(worker: int, calls: Any, call: int) -> None:
    """A helper whose kernel has done its part waits here for the next call, out of Python's way, for so many tries."""
    if worker != 0:
        for _ in range(calls[TRIES]):
            if counter.value(calls, CALLS) != call:
                break
            counter.pause()


@generic
def shared(share: Any) -> Any:
    """Yield the items that this thread gets of all; a helper that hears of a task's next call goes on with that.

    *share* is the thread's number as a worker, the counters of chunks, and those of calls.
    """
    worker, chunks, calls = share
    if worker != 0:
        counter.add(chunks, INSIDE, 1)
    call, again = begin_work(worker, calls), True
    while again:
        begin = take(chunks)
        while begin < chunks[ITEMS]:
            end = end_of(chunks, begin)
            for item in range(begin, end):  # noqa: UP028  (Numba has no `yield from`)
                yield item
            finish(chunks, end - begin)
            begin = take(chunks)
        stay_awake(worker, calls, call)
        last, call = call, counter.value(calls, CALLS)  # read before it is asked what was called: one more is seen at once
        again = worker != 0 and call != last and counter.value(calls, CALLED) == chunks[TASK]
    if worker != 0:
        counter.add(chunks, INSIDE, -1)


@compiled
def wait(counters: Any, place: int, least: int, tries: int) -> bool:
    """Wait until an element is so large, for so many tries; whether it is. Others can be in Python meanwhile."""
    for _ in range(tries):
        if counter.value(counters, place) >= least:
            return True
        counter.pause()
    return False
