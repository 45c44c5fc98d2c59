"""Choices lane by lane: what is true of a number in each lane, and rows that each lane takes by itself.

A comparison of lanes is true or false in each; of one state it is a truth value, and these functions are ``and``, ``or`` and
``not``. A loop that goes on while `in_any` lane has something to do, and changes numbers by ``where`` alone, is one source for
both: a single state takes no branch that it does not need, and no lane depends on its neighbours. What ``where`` takes is no
root or quotient by itself: LLVM makes branches of these for one state, at which sums of products are rounded otherwise.

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import generic
from .scalar import load, where


def both(a: Any, b: Any) -> Any:
    """True in the lanes in which both are."""
    return np.logical_and(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a) and bool(b)


def either(a: Any, b: Any) -> Any:
    """True in the lanes in which one of them is, or both."""
    return np.logical_or(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a) or bool(b)


def no(a: Any) -> Any:
    """True in the lanes in which it is not."""
    return np.logical_not(a) if isinstance(a, np.ndarray) else not a


def in_any(a: Any) -> bool:
    """True if it is true in any lane."""
    return bool(a.any() if isinstance(a, np.ndarray) else a)


def load_at(rows: Any, first: int, place: Any) -> Any:
    """The number in row *first* + *place* of a field; *place* is a whole number, 0 or more, in each lane its own."""
    if not isinstance(place, np.ndarray):
        return load(rows, first + int(place), 0)
    found = [load(rows, first + int(k), 0) for k in place]
    return np.array([x[lane] if isinstance(x, np.ndarray) else x for lane, x in enumerate(found)])


def store_at(rows: Any, first: int, place: Any, mask: Any, value: Any) -> None:
    """Put *value* into row *first* + *place* of a field, in the lanes in which *mask* holds; elsewhere nothing changes."""
    if isinstance(place, np.ndarray):
        for lane in np.flatnonzero(mask):
            rows[first + int(place[lane]), 0, lane] = value[lane]
    elif mask:
        if hasattr(rows, "store"):
            rows.store(first + int(place), 0, value)
        elif rows.ndim == 1:
            rows[first + int(place)] = value
        else:
            rows[first + int(place), 0] = value


@generic
def pick3(mask: Any, a: Any, b: Any) -> Any:
    """Of two times three numbers the first where *mask* holds, else the second."""
    return where(mask, a[0], b[0]), where(mask, a[1], b[1]), where(mask, a[2], b[2])
