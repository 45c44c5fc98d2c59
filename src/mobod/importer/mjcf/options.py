"""What the file says of MuJoCo's solver, and what else has no counterpart: reported."""

from __future__ import annotations

from .source import Source


def report(source: Source) -> None:
    """Every option that is not as MuJoCo has it unless told, and every feature that is switched off."""
