"""Chunks of work that threads take while they are at it: counters in an array, which kernels change.

A thread that had to ask Python for its next chunk would wait for the others, of which one at a time can be in Python. Each
has a part of its own, the same in each call, whose states, results and counter so stay in its cache: 256 states of ten pins
took a seventh less than with chunks in the order in which threads come. Only who has done his own takes of another's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import counter
from ..compiling import compiled, generic

# places: items that are done; how many there are, how many a chunk, not 0 once a thread has failed or Ctrl-C has come, which
# long work looks at, the task's number, how many parts there are, one a thread, and how many items a part; how many helpers are
# in their kernel, at work or awake; then of each part the items that were taken. What several threads write is in cache lines
# of its own, and so are the parts
DONE, ITEMS, SIZE, STOPPED, TASK, PARTS, PART, INSIDE, TAKEN = 0, 16, 17, 18, 19, 20, 21, 32, 48
_LINE = 16
# of another array: how often helpers were called, for how many tries those stay awake who have worked, and for which task the
# last call was, 0 for none of theirs; and, for the caller alone, 1 where they were called before its kernel began
CALLS, TRIES, CALLED, TOLD = 0, 1, 2, 16
#: What `next_call` returns where there is none.
NONE = -1


def new_calls() -> npt.NDArray[np.int64]:
    """The counter of calls."""
    return np.zeros(2 * _LINE, np.int64)


def new_chunks(items: int, size: int, threads: int = 1, task: int = 0) -> npt.NDArray[np.int64]:
    """The counters of so many items, in chunks of this size, for so many threads."""
    size = max(1, size)
    counters = np.zeros(TAKEN + _LINE * threads, np.int64)
    counters[ITEMS], counters[SIZE], counters[TASK] = items, size, task
    counters[PARTS], counters[PART] = threads, -(-items // (size * threads)) * size
    return counters


@compiled
def open_again(chunks: Any, calls: Any, threads: int) -> bool:
    """Offer all chunks anew. True if all helpers are awake in the task's kernel: they are called at once.

    They hear of it while the caller's arguments are still on their way to its kernel. Others are called by Python, and must not
    be told before the caller has left it.
    """
    counter.add(chunks, DONE, -counter.value(chunks, DONE))  # before there is something to take, which may be done at once
    for part in range(chunks[PARTS]):
        chunks[TAKEN + _LINE * part] = part * chunks[PART]
    calls[CALLED] = chunks[TASK]
    awake = counter.value(chunks, INSIDE) + 1 >= threads
    calls[TOLD] = 0
    if awake:
        calls[TOLD] = 1
        counter.add(calls, CALLS, 1)
    return awake


def take_away(chunks: npt.NDArray[np.int64]) -> None:
    """Withdraw the chunks that nobody has taken."""
    chunks[TAKEN::_LINE] = chunks[ITEMS]


@generic
def take(chunks: Any, worker: int) -> int:
    """The first item of a chunk that nobody else has: of this worker's own part, else of another's; ITEMS if there is none."""
    for turn in range(chunks[PARTS]):
        part = (worker + turn) % chunks[PARTS]
        place, end = TAKEN + _LINE * part, min((part + 1) * chunks[PART], chunks[ITEMS])
        if counter.value(chunks, place) < end:
            begin = counter.add(chunks, place, chunks[SIZE])
            if begin < end:
                return int(begin)
    return int(chunks[ITEMS])


@generic
def end_of(chunks: Any, begin: int) -> int:
    """One past the last item of the chunk that begins there."""
    return min(begin + chunks[SIZE], chunks[ITEMS])


@generic
def finish(chunks: Any, items: int) -> None:
    """So many items more are done: their results are seen by whom sees the number."""
    counter.add(chunks, DONE, items)


@generic
def begin_work(worker: int, chunks: Any, calls: Any) -> int:
    """A thread's kernel begins: the number of the call that it follows, for `next_call`.

    Helpers that are awake in another kernel hear now that the caller begins, when they find Python free.
    """
    if worker != 0:
        counter.add(chunks, INSIDE, 1)
    else:
        if calls[TOLD] == 0:
            counter.add(calls, CALLS, 1)
        calls[TOLD] = 0
    return counter.value(calls, CALLS)


@generic
def leave_work(worker: int, chunks: Any) -> None:
    """A thread's kernel ends before there is nothing more to take."""
    if worker != 0:
        counter.add(chunks, INSIDE, -1)


@generic
def next_call(worker: int, chunks: Any, calls: Any, call: int) -> int:
    """A thread finds nothing more to take: the number of the call with which a helper goes on, NONE where its kernel ends.

    The caller waits until the others are done; a helper for the task's next call, out of Python's way.
    """
    if worker == 0:
        wait_for(chunks, calls[TRIES])
        return NONE
    for _ in range(calls[TRIES]):
        if counter.value(calls, CALLS) != call:
            break
        counter.pause()
    new = counter.value(calls, CALLS)  # read before it is asked what was called: one more is seen at once
    if new != call and counter.value(calls, CALLED) == chunks[TASK]:
        return int(new)
    leave_work(worker, chunks)
    return NONE


@generic
def shared(share: Any) -> Any:
    """Yield the items that this thread gets of all; a helper that hears of a task's next call goes on with that.

    *share* is the thread's number as a worker, the counters of chunks, and those of calls.
    """
    worker, chunks, calls = share
    call = begin_work(worker, chunks, calls)
    while call != NONE:
        begin, done = take(chunks, worker), 0
        while begin < chunks[ITEMS]:
            end = end_of(chunks, begin)
            for item in range(begin, end):  # noqa: UP028  (Numba has no `yield from`)
                yield item
            done += end - begin
            begin = take(chunks, worker)
        finish(chunks, done)  # once: each time, the line goes from one processor to the other
        call = next_call(worker, chunks, calls, call)


@generic
def wait_for(chunks: Any, tries: int) -> None:
    """Wait until all is done, for so many tries."""
    for _ in range(tries):
        if counter.value(chunks, DONE) >= chunks[ITEMS]:
            break
        counter.pause()


@compiled
def wait(chunks: Any, tries: int) -> bool:
    """The same, and whether all is. Others can be in Python meanwhile."""
    wait_for(chunks, tries)
    return counter.value(chunks, DONE) >= chunks[ITEMS]
