"""History: a measure's values at the ends of past steps, and interpolation between them.

With rates, each step is the cubic of both ends' values and rates (Hermite). Without, it is the polynomial through up to two
samples on either side (Lagrange). Two samples of one time are a jump there, and no polynomial reaches across.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .samples import FEWEST, FURTHEST, NEAREST, ROUNDING


class History:
    """Samples of a measure in the order of time. Immutable: states and their copies share it.

    Parameters
    ----------
    times : (n,) array
    values : (n, ...) array
    rates : (n, ...) array or None
    """

    __slots__ = ("rates", "times", "values")

    def __init__(self, times: Array, values: Array, rates: Array | None) -> None:
        self.times, self.values, self.rates = times, values, rates

    def __reduce__(self) -> tuple[Any, ...]:
        return History, (self.times, self.values, self.rates)

    def __deepcopy__(self, memo: Any) -> History:
        return self

    def followed_by(self, time: float, value: Array, rate: Array | None, earliest: float, closest: float) -> History:
        """The history with one more sample, without later ones, and without those not needed for times from *earliest* on.

        The newest sample goes where it and the new one are less than *closest* after the one before.
        """
        times = self.times
        end = int(np.searchsorted(times, time, side="right"))  # samples at this time stay
        at_once = end - int(np.searchsorted(times, time, side="left"))
        if at_once and self._is_like(end - 1, value, rate):
            end -= 1
        elif at_once > 1:  # what was there before the jump, and what is there now
            end -= 1
        elif not at_once and end > 1 and times[end - 2] < times[end - 1] and time - times[end - 2] < closest:
            end -= 1
        first = int(np.searchsorted(times[:end], earliest, side="right")) - 2
        first = max(0, min(first, end + 1 - FEWEST))
        kept = slice(first, end)
        return History(
            np.append(times[kept], time),
            np.concatenate([self.values[kept], value[None]]),
            None if self.rates is None or rate is None else np.concatenate([self.rates[kept], rate[None]]),
        )

    def _is_like(self, i: int, value: Array, rate: Array | None) -> bool:
        """True if a sample equals number *i* but for rounding."""
        if not np.allclose(self.values[i], value, rtol=ROUNDING, atol=ROUNDING):
            return False
        return rate is None or self.rates is None or np.allclose(self.rates[i], rate, rtol=ROUNDING, atol=ROUNDING)

    def at(self, when: float, linear: bool) -> Any:
        """The value at a time: before the oldest sample that sample's, beyond the newest by extrapolation."""
        times, values, n = self.times, self.values, len(self.times)
        after = int(np.searchsorted(times, when, side="right"))
        if after == 0:
            return values[0]
        i = min(after, n - 1)  # the step from sample i - 1 to sample i
        if times[after - 1] == when:
            return values[after - 1]
        rates = None if linear else self.rates
        is_far = after == n and when - times[i] > FURTHEST * (times[i] - times[i - 1])
        if n == 1 or times[i] == times[i - 1] or is_far:  # the newest stands alone
            return values[-1] if rates is None else values[-1] + (when - times[-1]) * rates[-1]
        h = times[i] - times[i - 1]
        s = (when - times[i - 1]) / h
        if linear:
            return values[i - 1] + s * (values[i] - values[i - 1])
        if rates is not None:
            r = 1.0 - s
            ends = r * r * (1.0 + 2.0 * s) * values[i - 1] + s * s * (1.0 + 2.0 * r) * values[i]
            return ends + h * s * r * (r * rates[i - 1] - s * rates[i])
        return self._through(when, *self._around(i, extrapolated=after == n))

    def _around(self, i: int, extrapolated: bool) -> tuple[int, int]:
        """First sample, and the one after the last, for a polynomial over the step that ends with sample *i*."""
        times = self.times
        first, end = i - 1, i + 1
        nearest = NEAREST * (times[i] - times[i - 1])
        while first > 0 and first > i - (3 if extrapolated else 2) and times[first] - times[first - 1] > nearest:
            first -= 1
        if end < len(times) and times[end] - times[end - 1] > nearest:
            end += 1
        return first, end

    def _through(self, when: float, first: int, end: int) -> Any:
        """Lagrange's polynomial through samples *first* to *end* - 1."""
        times, total = self.times[first:end], np.zeros_like(self.values[0])
        for k in range(end - first):
            others = np.delete(times, k)
            total = total + np.prod((when - others) / (times[k] - others)) * self.values[first + k]
        return total
