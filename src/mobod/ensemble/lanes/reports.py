"""Reports of lanes within their last steps."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import load, load_lane, store, where
from ...compiling import apart, generic
from ...stepping.evaluate import prescribe, project_lanes
from ...stepping.interpolation import interpolate, interpolate_linearly
from ...stepping.record import AT, EVENT, PREVIOUS_TIME, PROJECT_REPORTS, TIME, TOLERANCE
from .layout import BETWEEN, CONTACT, DUE, HALT, METHOD, REPORT, STATE


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
            if at <= control[TIME, 0, lane] and at <= min(control[HALT, 0, lane], control[EVENT, 0, lane]):
                control[AT, 0, lane] = at
                marks[DUE, 0, lane] = 1.0
                found = True
    return found


@apart
def put(model: Any, run: Any) -> None:
    """y of lanes at their times AT, within their last steps or at the ends of these, into the record."""
    control, work = run.control, run.work
    previous, time, at = load(control, PREVIOUS_TIME, 0), load(control, TIME, 0), load(control, AT, 0)
    if run.plan[METHOD] == CONTACT:
        interpolate_linearly(model, work, previous, time, at)
    else:
        interpolate(model, work, previous, time, at)


@apart
def settle_between(model: Any, run: Any, marks: Any, mark: int) -> None:
    """The record at lanes' times AT: `put`, with what is prescribed there; lanes that are marked are projected."""
    plan, control = run.plan, run.control
    at, time = load(control, AT, 0), load(control, TIME, 0)
    put(model, run)
    prescribe(model, plan)
    if plan[PROJECT_REPORTS] != 0:
        between = where(at < time, where(load(marks, mark, 0) > 0.0, 1.0, 0.0 * at), 0.0 * at)
        store(marks, BETWEEN, 0, between)
        any_between = False
        for lane in range(8):
            any_between = any_between or marks[BETWEEN, 0, lane] > 0.0
        if any_between:
            project_lanes(model, plan, between, 1.0, run.settings[TOLERANCE])


@apart
def report(model: Any, run: Any, lanes: Any, marks: Any, first: int, results: Any) -> None:
    """A report of each lane that is marked, into its row of the results."""
    settle_between(model, run, marks, DUE)
    for lane in range(8):
        if marks[DUE, 0, lane] > 0.0:
            s, k = lanes[STATE, lane], lanes[REPORT, lane]
            for i in range(model.ny):
                results[s - first, k, i] = load_lane(model.y, i, 0, lane)
            lanes[REPORT, lane] = k + 1
