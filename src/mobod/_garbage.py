"""Imports, and compiling, without the collection of garbage: nearly all that they make lives on."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def not_collected() -> Iterator[None]:
    """Pause the collection of garbage, which takes a sixth of the time until a first result.

    At the end all objects count as old, as if they had been looked through.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if gc.get_freeze_count() == 0:  # else something of the user's would thaw, too
                gc.freeze()
                gc.unfreeze()
            gc.enable()
