"""Progress of work: a bar that moves where somebody watches, a line now and then in a log."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: Seconds between two lines in a log.
BETWEEN = 30.0
_MOVING = "{desc}{percentage:3.0f}%|{bar}| {n:.4g}/{total:.4g} {unit} [{elapsed}<{remaining}]"
_LINE = "mobod: {desc}{n:.4g} of {total:.4g} {unit}, {elapsed} gone, {remaining} left"


def make_bar(total: float | None, unit: str, what: str = "") -> Any:
    """A progress bar of tqdm's over *total* units, which shows itself if the work takes longer than a second.

    On a terminal and in a notebook it moves; elsewhere, where each move would stay, it is a line every `BETWEEN` seconds.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'mobod[progress]'") from None
    settings: dict[str, Any] = {"total": total, "unit": unit, "desc": what}
    if is_watched():
        return tqdm(**settings, delay=1.0, bar_format=_MOVING)
    return tqdm(**settings, delay=BETWEEN, mininterval=BETWEEN, maxinterval=math.inf, miniters=0, bar_format=_LINE, file=_Log())


def is_watched() -> bool:
    """True if what is written to standard error can be written over: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Log:
    """A file to which tqdm writes lines in place of what moves."""

    def write(self, text: str) -> None:
        """Print what is to be seen as a line."""
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self) -> None:
        """As files have it."""
        sys.stderr.flush()


@contextlib.contextmanager
def shown(
    progress: bool | Callable[[int, int], Any] | None, total: int | None, unit: str, what: str = ""
) -> Iterator[Callable[[int, int], Any]]:
    """The function to call with how much is done, and of how much: a bar where *progress* is True, or the user's own."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda done, of: None
        return
    with make_bar(total, unit, what) as bar:

        def show(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield show
