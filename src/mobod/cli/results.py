"""Files that commands write: looked at before the work, and what is said on the way."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import CommandError
from ..value.checks import check_extension

FIGURES = (".png", ".pdf", ".svg")


def check_result(path: Path | None, known: Sequence[str] | None) -> None:
    """Find out before working whether a result can be written there; its extension has to be one of those *known*."""
    if path is None:
        return
    if known is not None:
        check_extension(path, known)
    if path.is_dir():
        raise CommandError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise CommandError(f"{path}: there is no folder {path.parent}")


def check_pictures(*paths: Path | None) -> None:
    """Refuse pictures where nothing can draw them."""
    if any(paths) and not is_installed("matplotlib"):
        raise CommandError("a picture needs Matplotlib: pip install 'mobod[plot]'")


def is_installed(package: str) -> bool:
    """True if a package of that name can be imported."""
    return importlib.util.find_spec(package) is not None


def speaker(quiet: bool) -> Callable[[str], None]:
    """A function that prints a line, or nothing."""
    return (lambda text: None) if quiet else print
