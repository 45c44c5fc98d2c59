"""What shows how far long work has come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def shown(progress: bool | Callable[[int, int], Any] | None, total: int, unit: str) -> Iterator[Callable[[int, int], Any]]:
    """What to call with how much is done, and of how much: a bar where *progress* is True, or what the user gives."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda done, of: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install 'mobod[progress]'") from None
    with tqdm(total=total, unit=f" {unit}") as bar:

        def show(done: int, of: int) -> None:
            bar.update(done - bar.n)

        yield show
