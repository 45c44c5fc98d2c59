"""Loops over the eight corners of a box: all at once where a number is one float64, one by one where it fills a register.

A float64 leaves seven eighths of a vector register empty, in which eight corners take little longer than one; lanes of states
and Duals fill it by themselves. With x any number of the record, such a loop is

    for turn in range(num_turns(x)):
        i, j, k = signs(turn, x)
        total = total + together(..., x)

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def num_turns(x: Any) -> int:
    """Number of turns that a loop over the eight corners has: 1 of a float64, else 8."""
    return 1 if isinstance(x, (float, int)) else 8


def signs(turn: int, x: Any) -> Any:
    """1.0 or -1.0 along x, y and z: of all corners as lanes where x is a float64, else of corner *turn*."""
    corner: Any = np.arange(8) if isinstance(x, (float, int)) else turn
    return tuple(2.0 * (corner >> axis & 1) - 1.0 for axis in range(3))


def together(value: Any, x: Any) -> Any:
    """The sum of a value over the corners of one turn: of its lanes where x is a float64, else itself."""
    return float(np.sum(value)) if isinstance(x, (float, int)) else value
