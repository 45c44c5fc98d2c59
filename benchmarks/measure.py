"""Timing: repeated, warmed up, with the spread that a shared machine adds."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Effort:
    """How long to measure: ``rounds`` times round all engines, ``repeats`` of ``seconds`` in each.

    Many short rounds tell more than a few long ones: a shared machine may run at half its rate for
    seconds on end, and what is compared has to be measured in the same weather.
    """

    rounds: int
    repeats: int
    seconds: float


THOROUGH = Effort(rounds=15, repeats=4, seconds=0.005)
QUICK = Effort(rounds=3, repeats=3, seconds=0.002)


def time_calls(
    call: Callable, arguments: Sequence[tuple], repeats: int, seconds: float, clock: Callable[[], float] = perf_counter
) -> list[float]:
    """Microseconds of a call from Python, ``repeats`` times over, going through ``arguments``.

    With `time.thread_time` as the *clock* what others do on the machine counts little: for calls of one thread that are longer
    than a processor stays with them.
    """

    def run(batch: Sequence[tuple]) -> float:
        start = clock()
        for args in batch:
            call(*args)
        return clock() - start

    run(arguments[:1])  # warm up
    once = max(run(arguments[:1]), 1e-7)
    n = max(1, round(seconds / once))
    batch = [arguments[i % len(arguments)] for i in range(n)]
    return [1e6 * run(batch) / n for _ in range(repeats)]


def empty_sweep(arguments: Sequence[tuple], repeats: int, seconds: float) -> list[float]:
    """Apply ``time_calls`` to a function that does nothing."""
    return time_calls(lambda *args: None, arguments, repeats, seconds)


def summary(rounds: Sequence[Sequence[float]]) -> dict:
    """Median, minimum and interquartile range of all samples, and the minimum of each round."""
    samples = [sample for samples in rounds for sample in samples]
    quartiles = statistics.quantiles(samples, n=4) if len(samples) > 1 else [samples[0]] * 3
    return {
        "median": statistics.median(samples),
        "min": min(samples),
        "spread": quartiles[2] - quartiles[0],
        "rounds": [min(samples) for samples in rounds],
    }


def ratio(slow: dict | None, fast: dict | None) -> float | None:
    """How many times as fast one is as the other, from summaries; None if either is missing.

    The median of the rounds' ratios: minima over the whole run may come from different weather.
    """
    if not slow or not fast:
        return None
    pairs = zip(slow["rounds"], fast["rounds"], strict=True)
    return statistics.median(a / b for a, b in pairs)
