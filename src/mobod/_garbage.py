"""Imports, and compiling, without the collection of garbage: nearly all that they make lives on."""

import contextlib
import gc
from collections.abc import Iterator

#: So many new objects are never looked through at once: those of a first run.
_MANY = 1_500_000


class _Seen:
    """Objects made since all were looked through last, in so many pauses, and how many were left then."""

    new = left = 0


@contextlib.contextmanager
def not_collected() -> Iterator[None]:
    """Pause the collection of garbage, which takes a sixth of the time until a first result.

    At the end all objects count as old, as if they had been looked through, where there are many new ones. They are indeed
    when those are more than were left the last time: what Numba leaves would fill the memory of a process that compiles much.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            new = gc.get_count()[0]
            # few new objects are looked through in no time; what the user has frozen would thaw, too, and takes long to count
            if new > gc.get_threshold()[0] and gc.get_freeze_count() == 0:
                _Seen.new += new
                is_due = _Seen.new > max(_MANY, _Seen.left)
                if is_due:
                    gc.collect()
                gc.freeze()
                if is_due:
                    _Seen.new, _Seen.left = 0, gc.get_freeze_count()
                gc.unfreeze()
            gc.enable()
