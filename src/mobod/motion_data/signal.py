"""Interpolation and filters of the columns of tables, and their gaps: a gap of one number is one of its whole column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..value import checks

#: How uneven times may be, as a part of their step, for a filter; files write them with three to six decimals.
UNEVEN = 0.05

#: Rows on either side of one that a windowed filter weighs.
_HALF = 50


def even_step(time: Array) -> float:
    """The step of evenly spaced times."""
    if len(time) < 2:
        raise ValueError(f"a filter needs rows at even times; there are {len(time)}")
    step = float((time[-1] - time[0]) / (len(time) - 1))
    worst = float(np.abs(np.diff(time) - step).max())
    if worst > UNEVEN * step:
        raise ValueError(
            f"a filter needs evenly spaced rows; steps here are off {step:g} by up to {worst:g}: resample first, "
            "table.resampled(rate=...)"
        )
    return step


def stretches(there: Any) -> Iterator[slice]:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], there.astype(np.int8), [0]])))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        yield slice(int(first), int(end))


def butterworth(step: float, cutoff: float, order: int) -> Callable[[Array], Array]:
    """A filter of columns, forward and backward."""
    checks.among("the order of a filter that runs both ways, half of it each way,", order, (2, 4, 6, 8, 10, 12))
    from scipy.signal import butter, sosfiltfilt

    half = order // 2
    each = cutoff / (np.sqrt(2.0) - 1.0) ** (0.5 / half)
    if not 0.0 < each < 0.5 / step:
        raise ValueError(
            f"the cutoff has to be above 0 and, for {1.0 / step:g} rows a second, below {0.5 / step * cutoff / each:g}"
            if cutoff > 0.0
            else f"the cutoff has to be above 0, not {cutoff!r}"
        )
    sections = butter(half, each, fs=1.0 / step, output="sos")
    pad = 3 * (2 * len(sections) + 1 - min((sections[:, 2] == 0).sum(), (sections[:, 5] == 0).sum()))

    def filtered(column: Array) -> Array:
        result = column.copy()
        for run in stretches(present(column)):
            if run.stop - run.start > pad:
                result[run] = sosfiltfilt(sections, column[run], axis=0)
        return result

    return filtered


def filtered_as_opensim(time: Array, rows: Array, cutoff: float, windowed: bool) -> tuple[Array, Array]:
    """Times and rows as OpenSim's tools filter them: turned over at both ends, resampled, low-passed.

    Rows are added at either end, reflected in the end's point, half of all; uneven steps are resampled at the shortest one by
    natural splines of degree 5; a Butterworth filter of order 3 runs forward and backward, its first three numbers those of
    the signal. For *windowed*, as CMC and RRA do it, 60 rows are added, and each is the mean of the 101 around it, with
    Hamming's weights times those of the ideal low pass.
    """
    from scipy.interpolate import make_interp_spline

    time, rows = (_turned_over(x, 60 if windowed else len(x) // 2) for x in (time, rows))
    steps = np.diff(time)
    step = float(steps.min())
    if (time[-1] - time[0]) / len(steps) - step > np.finfo(float).eps:
        ends = [(order, np.zeros(rows.shape[1])) for order in (3, 4)]
        count = int(np.floor((time[-1] - time[0]) / step + 1e-9)) + 1
        at = np.append(time[0] + step * np.arange(count), [])
        rows, time = make_interp_spline(time, rows, 5, bc_type=(ends, ends))(at), at
    if windowed:
        k = np.arange(-_HALF, _HALF + 1)
        weights = np.sinc(2.0 * cutoff * step * k) * (0.54 + 0.46 * np.cos(np.pi * k / _HALF))
        longer = _turned_over(rows, _HALF)
        return time, np.stack([np.convolve(one, weights / weights.sum(), "valid") for one in longer.T], axis=1)
    from scipy.signal import butter, lfilter, lfiltic

    b, a = butter(3, min(cutoff, 0.49 / step), fs=1.0 / step)

    def passed(column: Array) -> Array:
        start = lfiltic(b, a, column[2::-1], column[2::-1])
        return np.concatenate([column[:3], lfilter(b, a, column[3:], zi=start)[0]])

    return time, np.stack([passed(passed(column)[::-1])[::-1] for column in rows.T], axis=1)


def _turned_over(x: Array, count: int) -> Array:
    """With so many rows more at either end, reflected in the end's point; again and again where there are too few."""
    while count > 0:
        n = min(count, len(x) - 1)
        x, count = np.concatenate([2.0 * x[0] - x[n:0:-1], x, 2.0 * x[-1] - x[-2 : -n - 2 : -1]]), count - n
    return x


def present(column: Array) -> Any:
    """At which times all numbers of a column are there."""
    return np.isfinite(column.reshape(len(column), -1)).all(axis=1)


def interpolated(time: Array, column: Array, at: Array, degree: int) -> Array:
    """The column at other times; gaps where one of the neighbours is one."""
    checks.among("the degree of interpolation", degree, (1, 3, 5))
    from scipy.interpolate import make_interp_spline

    result = np.full((len(at), *column.shape[1:]), np.nan)
    slack = 1e-9 * (time[-1] - time[0]) / max(1, len(time) - 1)
    for run in stretches(present(column)):
        t = time[run]
        inside = (at >= t[0] - slack) & (at <= t[-1] + slack)
        if inside.any():
            fit = min(degree, len(t) - 1)
            fit -= 1 - fit % 2 if fit else 0
            result[inside] = (
                make_interp_spline(t, column[run], fit)(np.clip(at[inside], t[0], t[-1])) if fit > 0 else column[run]
            )
    return result


def filled(time: Array, column: Array, longest: float) -> Array:
    """The column with gaps filled that are not longer, nor at an end."""
    there = present(column)
    if there.all() or there.sum() < 2:
        return column
    from scipy.interpolate import make_interp_spline

    known = np.flatnonzero(there)
    through = make_interp_spline(time[known], column[known], min(3, len(known) - 1) // 2 * 2 + 1 if len(known) > 3 else 1)
    result = column.copy()
    for gap in stretches(~there):
        if gap.start > 0 and gap.stop < len(time) and time[gap.stop] - time[gap.start - 1] <= longest:
            result[gap] = through(time[gap])
    return result
