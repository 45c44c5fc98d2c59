"""Checks of users' parts by finite differences: steps, comparisons, and the report of what is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array

#: Step of the differences in time, for rates of order one: of fourth order, their error is then about 1e-10.
STEP = 3e-4
#: How many random configurations are tried for each one at which the part can be.
TRIES = 30


@dataclasses.dataclass(frozen=True)
class Findings:
    """The result of a check of a part, by its name."""

    name: str
    places: Any
    errors: dict[str, float]
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return not self.findings

    def __str__(self) -> str:
        count = self.places if isinstance(self.places, int) else len(self.places)
        lines = [f"{self.name}, at {count} places: {'all belongs together' if self.ok else 'does not belong together'}"]
        lines += [f"  {error:9.1e}  {check}" for check, error in self.errors.items()]
        return "\n".join(lines + [f"- {text}" for text in self.findings])


class Comparison:
    """The largest error of each check, and what there is to say of those that are too large."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.errors: dict[str, float] = {}
        self.findings: dict[tuple[str, int], str] = {}  # the first of each kind says enough

    def note(self, check: str, found: Any, expected: Any, text: str, number: int = 0) -> None:
        """Record the error and, where it is too large, a message."""
        found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
        error = float(np.abs(found - expected).max(initial=0.0)) / max(1.0, float(np.abs(expected).max(initial=0.0)))
        self.errors[check] = max(self.errors.get(check, 0.0), error)
        if error > self.tolerance:
            self.findings.setdefault((check, number), text)


def derivative(f: Callable[[float], Array]) -> Array:
    """The derivative of a function of time, now."""
    h = STEP
    return np.asarray((8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h))


def short(x: Any) -> str:
    """Numbers with six digits, rounding taken for zero."""
    array = np.asarray(x, dtype=np.float64)
    array = np.where(np.abs(array) < 1e-9, 0.0, array)
    return "[" + ", ".join(short(row) for row in array) + "]" if array.ndim else f"{float(array):.6g}"
