"""Whose line a warning is about."""

from __future__ import annotations

import sys


def callers_level() -> int:
    """The ``stacklevel`` with which a warning of the calling function names the line outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__.partition(".")[0]:
        level, frame = level + 1, frame.f_back
    return level
