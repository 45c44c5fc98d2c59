"""Elements of an integer array that several threads count with: each change is whole, and seen by all.

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from typing import Any


def add(counters: Any, place: int, amount: int) -> int:
    """Add to an element; what it was before. What was written before is seen by those who see the sum."""
    before = counters[place]
    counters[place] = before + amount
    return int(before)


def value(counters: Any, place: int) -> int:
    """An element as other threads have left it, with all that they wrote before."""
    return int(counters[place])


def pause() -> None:
    """Tell the processor that a loop waits for another thread."""
