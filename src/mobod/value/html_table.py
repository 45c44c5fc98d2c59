"""Tables as HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST_ROWS = 30
"""Of longer tables the first; a line says how many there are more."""

_TABLE = "border-collapse:collapse;margin:4px 0;font-variant-numeric:tabular-nums"
_CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid #e4e4e4"


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> str:
    """A table as HTML, with what is written in it as it is; numbers with six digits."""
    every = list(rows)
    head = "".join(f'<th style="{_CELL}">{html.escape(name)}</th>' for name in header)
    lines = ["".join(f'<td style="{_CELL}">{html.escape(_text(value))}</td>' for value in row) for row in every[:most]]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    more = f"<div>and {len(every) - most} more</div>" if len(every) > most else ""
    return f'<div><b>{html.escape(title)}</b></div><table style="{_TABLE}"><tr>{head}</tr>{body}</table>{more}'


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return ", ".join(_text(float(one)) for one in value.ravel())
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    return str(value)
