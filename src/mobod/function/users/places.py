"""The line of an error in a user's file: of Numba's, by the lines that its message names, or one that the function raises."""

from __future__ import annotations

import dis
import linecache
import re
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any


def line_in_message(parts: Sequence[Any], message: str) -> str | None:
    """The first line that a message of Numba's names and that one of some functions has: the innermost is named first.

    Parameters
    ----------
    parts : sequence of function
    message : str
        Without colours.

    Returns
    -------
    str or None
        The line's text, its number and its file: ``'y = f(x)' (line 3 of law.py)``.
    """
    unknown = re.search(r"name '(\w+)' is not defined|Untyped global name '(\w+)'|module .* has no attribute '(\w+)'", message)
    if unknown:  # of which Numba does not say where it stands
        return _line_with_name(parts, unknown[1] or unknown[2] or unknown[3])
    found: list[tuple[int, str, int]] = []
    for part in parts:
        code = part.__code__
        first, last = code.co_firstlineno, _last_line(code)
        # File "../law.py", line 3, and (../law.py:3) or (../law.py (3)): its name alone, since folders are as seen from here
        for match in re.finditer(rf"(?<![\w.]){re.escape(Path(code.co_filename).name)}\"?,? ?(?:line |:)?\(?(\d+)", message):
            if first <= int(match[1]) <= last:
                found.append((match.start(), code.co_filename, int(match[1])))
    return _shown(*min(found)[1:]) if found else None


def line_of_error(function: Any, error: BaseException) -> str | None:
    """The innermost line of a function's file at which an error was raised, as `line_in_message` gives it; None if in none."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return _shown(file, lines[-1]) if file is not None and lines else None


def _last_line(code: CodeType) -> int:
    """The last line of a function, with those that are written inside it."""
    inner = [_last_line(one) for one in code.co_consts if isinstance(one, CodeType)]
    return max([line for _, _, line in code.co_lines() if line is not None] + inner)


def _line_with_name(parts: Sequence[Any], name: str) -> str | None:
    """The first line of some functions that uses a global name, or an attribute."""
    for part in parts:
        for one in dis.get_instructions(part.__code__):
            if (
                one.argval == name
                and one.opname.startswith(("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"))
                and one.positions
                and one.positions.lineno
            ):
                return _shown(part.__code__.co_filename, one.positions.lineno)
    return None


def _shown(file: str, line: int) -> str:
    return f"{linecache.getline(file, line).strip()!r} (line {line} of {Path(file).name})"
