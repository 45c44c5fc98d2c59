"""Reports of readers of models: a sentence a finding, and which of them change what the file means."""

from __future__ import annotations

import html
import sys
import warnings
from collections.abc import Iterable

from ..errors import ModelError, ModelWarning

#: Lines of an error that has more.
_MOST = 10


class Report(list[str]):
    """The lines of a report, in their order: a list, which prints as a line each.

    No line is said twice. What a reader says by `append` is as the file means it. `depart` is for what is approximated or
    left out, which ``strict=True`` refuses, `lose` for what changes the motion besides, which `finish` warns of.

    Attributes
    ----------
    departures : list of str
        Those of the lines that say what is approximated or left out.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        super().__init__(lines)
        self.departures: list[str] = []
        self._losses: dict[tuple[str, str], int] = {}

    def append(self, line: str) -> None:
        """Say it, unless it is said."""
        if line not in self:
            super().append(line)

    def depart(self, line: str) -> None:
        """Say what is approximated or left out."""
        if line not in self.departures:
            self.append(line)
            self.departures.append(line)

    def lose(self, line: str, what: str, count: int = 1, option: str = "") -> None:
        """Say what is left out and changes the motion: so many of *what*, and the option that brings them back."""
        self.depart(line)
        self._losses[what, option] = self._losses.get((what, option), 0) + count

    def finish(self, path: str, strict: bool) -> None:
        """Say, once the whole file has been read, what the model lacks: by one warning, or by an error where it is *strict*."""
        if strict and self.departures:
            shown = "\n  ".join(self.departures[:_MOST])
            more = f"\n  and {len(self.departures) - _MOST} more" if len(self.departures) > _MOST else ""
            raise ModelError(f"{path}: strict, and not all of the model is simulated:\n  {shown}{more}")
        if self._losses:
            lost = [f"{what}: {count}{f' ({option})' if option else ''}" for (what, option), count in self._losses.items()]
            warnings.warn(
                f"{path}: not all that moves the model is simulated: {'; '.join(lost)}. Its report has a line for each; "
                "strict=True refuses",
                ModelWarning,
                stacklevel=outside(),
            )

    def __repr__(self) -> str:
        """The lines, numbered; an empty report says so."""
        if not self:
            return "nothing dropped or approximated"
        width = len(str(len(self)))
        return "\n".join(f"{k:{width}d}  {line}" for k, line in enumerate(self, 1))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The lines as notebooks show them."""
        return f"<ol>{''.join(f'<li>{html.escape(line)}</li>' for line in self)}</ol>" if self else html.escape(repr(self))


def outside() -> int:
    """The number of calls to the first function outside the package, as `warnings` counts from this one's caller."""
    level, frame, package = 1, sys._getframe(1), __name__.partition(".")[0]  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
