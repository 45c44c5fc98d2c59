"""Reports of lanes within their last steps."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane
from ...compiling import apart, generic
from ...stepping.evaluate import settle_between
from ...stepping.interpolation import interpolate_linearly
from ...stepping.method.method import interpolate
from ...stepping.record import AT, EVENT, PREVIOUS_TIME, REPORT, STATE, TIME
from .layout import CONTACT, DUE, METHOD


@generic
def find_due(control: Any, lanes: Any, marks: Any, times: Any) -> bool:
    """Mark lanes with a report within their last step, and whether there are any; the others look at their step's end."""
    found, nt = False, times.shape[1]
    for lane in range(8):
        marks[DUE, 0, lane] = 0.0
        control[AT, 0, lane] = control[TIME, 0, lane]
        s, k = lanes[STATE, lane], lanes[REPORT, lane]
        if s >= 0 and k < nt:
            at = times[s if times.shape[0] > 1 else 0, k]
            if at <= control[TIME, 0, lane] and at <= control[EVENT, 0, lane]:
                control[AT, 0, lane] = at
                marks[DUE, 0, lane] = 1.0
                found = True
    return found


@apart
def put(model: Any, run: Any, at: Any) -> None:
    """y of lanes at times, within their last steps or at the ends of these, into the record."""
    if run.plan[METHOD] == CONTACT:
        interpolate_linearly(model, run.work, load(run.control, PREVIOUS_TIME, 0), load(run.control, TIME, 0), at)
    else:
        interpolate(model, run, at)


@apart
def put_settled(model: Any, run: Any, marks: Any, mark: int) -> None:
    """The record at lanes' times AT: `put`, with what is prescribed there; lanes that are marked are projected."""
    at = load(run.control, AT, 0)
    put(model, run, at)
    settle_between(model, run, at, load(marks, mark, 0))


@apart
def report(model: Any, run: Any, lanes: Any, marks: Any, first: int, results: Any) -> None:
    """A report of each lane that is marked, into its row of the results."""
    put_settled(model, run, marks, DUE)
    for lane in range(8):
        if marks[DUE, 0, lane] > 0.0:
            s, k = lanes[STATE, lane], lanes[REPORT, lane]
            for i in range(model.ny):
                results[s - first, k, i] = load_lane(model.y, i, 0, lane)
            lanes[REPORT, lane] = k + 1
